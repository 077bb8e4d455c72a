//! For the terminal.

use std::collections::HashSet;
use std::fmt::Write;

use trodden_insight::gate::Verdict;
use trodden_insight::gate::{GateComparison, Grew, TestChange};
use trodden_profile::TestCounts;

use crate::words::{seconds, thousands};

/// Tests shown that are neither broken nor unstable.
const MOST: usize = 20;

/// Methods named as those that grew in several tests.
const MOST_GROWN: usize = 3;

/// The result in one sentence.
pub(super) fn headline(compared: &GateComparison) -> String {
    let tests = |n: usize| match n {
        1 => "1 test".to_owned(),
        n => format!("{} tests", thousands(n as u64)),
    };
    // What ran between tests is compared as well, and no test.
    let are_tests = |test: &&TestChange| TestCounts::is_test(&test.name);
    let tests_compared = compared.tests.iter().filter(are_tests);
    let mut said = match (compared.fail_on, compared.count(Verdict::Broken)) {
        _ if compared.tests.iter().any(|test| test.own_limit) => match compared.count(Verdict::Broken) {
            0 => "No test does more work than it may".to_owned(),
            1 => "1 test does more work than it may".to_owned(),
            n => format!("{n} tests do more work than they may"),
        },
        (Some(limit), 0) => format!("No test does over {} more work than before", limit_words(limit)),
        (Some(limit), 1) => format!("1 test does over {} more work than before", limit_words(limit)),
        (Some(limit), n) => format!("{n} tests do over {} more work than before", limit_words(limit)),
        (None, _) => format!("{} compared", tests(tests_compared.clone().count())),
    };
    for (verdict, word) in [
        (
            Verdict::Changed,
            if compared.fail_on.is_some() {
                "changed within that"
            } else {
                "changed"
            },
        ),
        (Verdict::Same, "the same"),
        (
            Verdict::Unsure,
            "unclear: runs of one build differ by as much, or other threads did the work",
        ),
        (Verdict::New, "new"),
        (Verdict::Gone, "gone"),
    ] {
        match tests_compared
            .clone()
            .filter(|test| test.verdict == verdict)
            .count()
        {
            0 => {}
            n => _ = write!(said, "; {} {word}", tests(n)),
        }
    }
    said + "."
}

/// For a terminal; `colour` adds ANSI styles.
pub fn text(compared: &GateComparison, colour: bool) -> String {
    let mut out = format!("{}\n", headline(compared));
    if let Some(said) = grown(compared, |title| title.to_owned()) {
        let _ = writeln!(out, "Grew most: {said}.");
    }
    let listed = compared.worth_a_word();
    let mut told = HashSet::new();
    for (shown, test) in listed.iter().enumerate() {
        if shown >= MOST && test.verdict != Verdict::Broken {
            let _ = writeln!(
                out,
                "… and {} more (all of them in --format json)",
                listed.len() - shown
            );
            break;
        }
        out += &line(test, colour, &mut told);
    }
    out += &list(
        "More calls of code that is not counted (the JDK, libraries), whose work is not in these numbers",
        &calling_more(compared),
    );
    out += &list(
        "More objects and arrays made by counted code",
        &allocating_more(compared),
    );
    for (about, tests) in unstable(compared) {
        out += &list(about, &tests);
    }
    out
}

/// In which methods tests do more work, if it is more than one test that does: `a.B.c() in 12 tests (3 of them over
/// the limit)`.
pub(super) fn grown(compared: &GateComparison, name: fn(&str) -> String) -> Option<String> {
    let methods = compared.grown_methods();
    if methods.iter().map(|(_, tests, _)| tests).sum::<usize>() < 2 {
        return None;
    }
    let mut said: Vec<String> = Vec::new();
    for (title, tests, broken) in methods.iter().take(MOST_GROWN) {
        let plural = if *tests == 1 { "test" } else { "tests" };
        let over = match *broken {
            0 => String::new(),
            broken if broken == *tests => " (over the limit)".to_owned(),
            broken => format!(" ({broken} of them over the limit)"),
        };
        said.push(format!("{} in {tests} {plural}{over}", name(title)));
    }
    match methods.len().saturating_sub(MOST_GROWN) {
        0 => {}
        1 => said.push("1 more method".to_owned()),
        n => said.push(format!("{n} more methods")),
    }
    Some(said.join("; "))
}

/// Tests that are not the same in each run, and why: by the consequence that has for them.
pub(super) fn unstable(compared: &GateComparison) -> [(&'static str, Vec<(&TestChange, String)>); 2] {
    let unstable = compared.tests.iter();
    let unstable = unstable.filter_map(|test| Some((test, test.unstable.clone()?)));
    let (others, own) = unstable.partition(|(test, _)| test.by_others);
    [
        (
            "Runs of one build differ, so such a test fails only by its own limit (@Gate), or if it grows by far more",
            own,
        ),
        (
            "Runs of one build differ only in threads that began before the test or outlived it; no test fails by their work",
            others,
        ),
    ]
}

/// Tests whose counted code makes more objects, in words, the largest growth first.
pub(super) fn allocating_more(compared: &GateComparison) -> Vec<(&TestChange, String)> {
    let more = |test| TestChange::allocates_more(test).map(|pair| (test, pair));
    let mut found: Vec<(&TestChange, [u64; 2])> = compared.tests.iter().filter_map(more).collect();
    let growth = |[b, a]: [u64; 2]| a as f64 / b.max(1) as f64;
    found.sort_by(|a, b| growth(b.1).total_cmp(&growth(a.1)).then(a.0.name.cmp(&b.0.name)));
    let said = |(test, [b, a]): (_, [u64; 2])| {
        let words = format!("{} → {} allocations", thousands(b), thousands(a));
        (test, words)
    };
    found.into_iter().map(said).collect()
}

/// Tests that call more of what is not counted, in words, the largest growth first.
pub(super) fn calling_more(compared: &GateComparison) -> Vec<(&TestChange, String)> {
    let mut found: Vec<(f64, &TestChange, String)> = Vec::new();
    for test in &compared.tests {
        if let Some([b, a]) = test.calls_out() {
            let mut said = format!("{} → {} calls", thousands(b), thousands(a));
            if let Some(method) = &test.calls_more {
                let _ = write!(said, ", most of the additional ones in {method}");
            }
            found.push((a as f64 / b.max(1) as f64, test, said));
        }
    }
    found.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.name.cmp(&b.1.name)));
    found.into_iter().map(|(_, test, said)| (test, said)).collect()
}

/// Tests, each with what is said of it, up to a number; nothing if there are none.
fn list(about: &str, tests: &[(&TestChange, String)]) -> String {
    let mut out = String::new();
    if !tests.is_empty() {
        let _ = writeln!(out, "\n{about}:");
    }
    for (test, said) in tests.iter().take(MOST) {
        let _ = writeln!(out, "  {}\n      {said}", test.name);
    }
    if tests.len() > MOST {
        let more = tests.len() - MOST;
        let _ = writeln!(out, "… and {more} more (all of them in --format json)");
    }
    out
}

/// A test, and what grew; not again what was told of another test, unless this one is broken.
fn line(test: &TestChange, colour: bool, told: &mut HashSet<(String, Option<String>)>) -> String {
    let mut out = String::new();
    let change = match test.verdict {
        Verdict::New => "new".to_owned(),
        Verdict::Gone => "gone".to_owned(),
        _ => test.change.map_or_else(|| "?".to_owned(), signed),
    };
    let (on, off) = match (colour, test.verdict) {
        (true, Verdict::Broken) => ("\x1b[1;31m", "\x1b[0m"),
        _ => ("", ""),
    };
    let allowed = match (test.own_limit, test.limit) {
        (true, Some(limit)) => format!(", its own limit is {} more", limit_words(limit)),
        _ => remark(test).map_or_else(String::new, |said| format!(", {said}")),
    };
    let _ = writeln!(
        out,
        "  {on}{change:>10}{off}  {}  {}{allowed}",
        test.name,
        numbers(test)
    );
    if let Some(said) = times_of(test) {
        let _ = writeln!(out, "              {said}");
    }
    if let Some(moved) = &test.moved {
        let new = told.insert((moved.title(), moved.path.clone()));
        if !new && test.verdict != Verdict::Broken {
            out.truncate(out.trim_end().len());
            return out + ", on a path named above\n";
        }
        let word = if test.grew().is_some() { "grew" } else { "shrank" };
        let _ = writeln!(
            out,
            "              {word}: {}  {}",
            moved.title(),
            of_method(moved)
        );
        if let Some(path) = of_path(moved) {
            let _ = writeln!(out, "              path: {path}");
        }
    }
    out
}

/// Why a test that grew does not fail, or does although it is unstable.
pub(super) fn remark(test: &TestChange) -> Option<&'static str> {
    match test.verdict {
        Verdict::Unsure if test.by_others => Some("but only in threads that may have worked for other tests"),
        Verdict::Unsure => Some("but runs of one build differ"),
        Verdict::Broken if test.far => Some("by far more than runs of one build differ"),
        _ => None,
    }
}

/// `22,103,344 → 22,329,000 instructions`.
fn numbers(test: &TestChange) -> String {
    match test.instructions {
        [Some(b), Some(a)] => format!("{} → {} instructions", thousands(b), thousands(a)),
        [None, Some(n)] | [Some(n), None] => format!("{} instructions", thousands(n)),
        [None, None] => String::new(),
    }
}

/// `time: 1.20 ms to 1.31 ms → 1.19 ms to 1.40 ms, with probes`: the ranges of the runs.
pub(super) fn times_of(test: &TestChange) -> Option<String> {
    let range = |[least, most]: [u64; 2]| match (brief(least), brief(most)) {
        (least, most) if least == most => least,
        (least, most) => format!("{least} to {most}"),
    };
    let ranges: Vec<String> = test.time.into_iter().flatten().map(range).collect();
    (!ranges.is_empty()).then(|| format!("time: {}, with probes", ranges.join(" → ")))
}

/// A time that may be short: two or more digits of it.
fn brief(nanos: u64) -> String {
    match nanos {
        0..10_000_000 => format!("{} µs", thousands(nanos / 1000)),
        _ => seconds(nanos),
    }
}

/// `12,000 → 14,000 instructions: called 20 → 40 times`.
pub(super) fn of_method(grew: &Grew) -> String {
    let count = |n: Option<u64>| n.map_or_else(|| "not listed".to_owned(), thousands);
    let [before, after] = grew.instructions;
    let mut said = format!("{} → {} instructions", count(before), count(after));
    if let ([Some(b), Some(a)], [Some(calls), Some(now)]) = (grew.instructions, grew.calls)
        && calls > 0
        && now > 0
    {
        let (each, each_now) = (b as f64 / calls as f64, a as f64 / now as f64);
        let _ = match (calls == now, (each_now / each.max(1e-9) - 1.0).abs() < 0.005) {
            (false, true) => write!(said, ", called {} → {} times", thousands(calls), thousands(now)),
            (true, _) => write!(said, ", called {} as before", times(now)),
            (false, false) => write!(
                said,
                ", called {} → {} times, each {each:.1} → {each_now:.1} instructions",
                thousands(calls),
                thousands(now)
            ),
        };
    }
    said
}

/// `22 hit != null → yes · 24, 20 → 40 times, 17 instructions each`.
pub(super) fn of_path(grew: &Grew) -> Option<String> {
    let words = grew.path.as_ref()?;
    let often = match grew.count {
        [Some(b), Some(a)] => format!("{} → {} times", thousands(b), thousands(a)),
        [None, Some(a)] => format!("{}, new", times(a)),
        [Some(b), None] => format!("{}, gone", times(b)),
        [None, None] => return None,
    };
    Some(format!(
        "{words}  ({often}, {} instructions each)",
        thousands(grew.length)
    ))
}

fn times(n: u64) -> String {
    match n {
        1 => "once".to_owned(),
        n => format!("{} times", thousands(n)),
    }
}

/// `+1.02 %`, with as many digits as it takes to see it.
pub(super) fn signed(share: f64) -> String {
    let percent = share * 100.0;
    match percent.abs() {
        0.0 => "0 %".to_owned(),
        p if p < 0.001 => format!("{percent:+.5} %"),
        p if p < 0.1 => format!("{percent:+.3} %"),
        p if p < 100.0 => format!("{percent:+.2} %"),
        _ => format!("{percent:+.0} %"),
    }
}

/// `0.5 %`.
pub(super) fn limit_words(limit: f64) -> String {
    // Without the error of a division by 100.
    let percent = (limit * 1e8).round() / 1e6;
    format!("{percent} %")
}
