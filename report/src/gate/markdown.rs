//! Markdown, for a comment on a change.

use std::fmt::Write;

use trodden_insight::gate::Verdict;
use trodden_insight::gate::{GateComparison, TestChange};

use super::text;
use super::text::{limit_words, of_method, of_path, remark, signed, times_of};
use crate::diff::escape_markdown as escape;
use crate::words::thousands;

/// Rows of a table or list.
const MOST_ROWS: usize = 50;

/// Tests that are within the limit are folded if there are more of them than this.
const MOST_OPEN: usize = 5;

/// Markdown: a sentence, a table of tests that are broken, the others folded if they are many.
pub fn markdown(compared: &GateComparison) -> String {
    let mut out = format!("**{}**\n", escape(&text::headline(compared)));
    if let Some(said) = text::grown(compared, without_package) {
        let _ = writeln!(out, "\nGrew most: {}.", escape(&said));
    }
    let listed = compared.worth_a_word();
    let broken = listed
        .iter()
        .filter(|test| test.verdict == Verdict::Broken)
        .count();
    let (open, folded) = if listed.len() - broken > MOST_OPEN {
        listed.split_at(broken)
    } else {
        (&listed[..], &[][..])
    };
    table(&mut out, open);
    out += &details("Other tests that changed", folded.iter().map(|test| item(test)));
    let reason = |(test, said): (&TestChange, String)| {
        format!("{}: {}", escape(&without_package(&test.name)), escape(&said))
    };
    for (about, tests) in [
        (
            "Tests that call more code that is not counted (the JDK, libraries)",
            text::calling_more(compared),
        ),
        (
            "Tests whose counted code makes more objects and arrays",
            text::allocating_more(compared),
        ),
    ]
    .into_iter()
    .chain(text::unstable(compared))
    {
        out += &details(about, tests.into_iter().map(reason));
    }
    out += "\nCounted: executed bytecode instructions, which depend on the code and its input, not on the machine. They are not a measure of time.\n";
    out
}

/// A list that is folded; nothing if it is empty.
fn details(about: &str, items: impl ExactSizeIterator<Item = String>) -> String {
    let number = items.len();
    if number == 0 {
        return String::new();
    }
    let mut out = format!("\n<details><summary>{about}</summary>\n\n");
    for item in items.take(MOST_ROWS) {
        let _ = writeln!(out, "- {item}");
    }
    if number > MOST_ROWS {
        let _ = writeln!(out, "- … and {} more", number - MOST_ROWS);
    }
    out + "\n</details>\n"
}

fn table(out: &mut String, tests: &[&TestChange]) {
    if tests.is_empty() {
        return;
    }
    *out += "\n| change | test | what grew |\n| ---: | --- | --- |\n";
    for test in tests.iter().take(MOST_ROWS) {
        *out += &row(test);
    }
    if tests.len() > MOST_ROWS {
        let _ = writeln!(out, "\n… and {} more.", tests.len() - MOST_ROWS);
    }
}

/// A name without the package in front: code hosts cut what is wider than their column.
fn without_package(name: &str) -> String {
    let upper = |word: &str| word.starts_with(|c: char| c.is_uppercase());
    let head = name.split(['(', ' ']).next().unwrap_or_default();
    let mut at = 0;
    for word in head.split('.') {
        if upper(word) {
            return name[at..].to_owned();
        }
        at += word.len() + 1;
    }
    name.to_owned()
}

/// `Class.name(…)` in two lines.
fn in_two_lines(name: &str) -> String {
    let name = without_package(name);
    let head = name.split(['(', ' ']).next().unwrap_or_default();
    match head
        .rfind('.')
        .filter(|_| head.starts_with(|c: char| c.is_uppercase()))
    {
        Some(at) => format!("{}<br>{}", escape(&name[..at]), escape(&name[at + 1..])),
        None => escape(&name),
    }
}

/// A test in a list: one line.
fn item(test: &TestChange) -> String {
    let count = |n: Option<u64>| n.map_or_else(|| "–".to_owned(), thousands);
    let change = match (test.verdict, test.change) {
        (Verdict::New, _) => "new".to_owned(),
        (Verdict::Gone, _) => "gone".to_owned(),
        (Verdict::Unsure, Some(change)) => {
            format!("{}, {}", signed(change), remark(test).unwrap_or_default())
        }
        (_, Some(change)) => signed(change),
        (_, None) => "?".to_owned(),
    };
    let [before, after] = test.instructions.map(count);
    let what = test.moved.as_ref().map_or_else(String::new, |moved| {
        format!(", most in {}", escape(&without_package(&moved.title())))
    });
    let name = escape(&without_package(&test.name));
    format!("{change}: {name}, {before} → {after}{what}")
}

fn row(test: &TestChange) -> String {
    let count = |n: Option<u64>| n.map_or_else(|| "–".to_owned(), thousands);
    let change = match (test.verdict, test.change) {
        (Verdict::New, _) => "new".to_owned(),
        (Verdict::Gone, _) => "gone".to_owned(),
        (Verdict::Broken, Some(change)) => match test.limit.filter(|_| test.own_limit) {
            Some(limit) => format!("**{}**<br>allowed: {}", signed(change), limit_words(limit)),
            None => match remark(test) {
                Some(said) => format!("**{}**<br>{said}", signed(change)),
                None => format!("**{}**", signed(change)),
            },
        },
        (Verdict::Unsure, Some(change)) => {
            format!("{}<br>{}", signed(change), remark(test).unwrap_or_default())
        }
        (_, Some(change)) => signed(change),
        (_, None) => "?".to_owned(),
    };
    let unknown = match test.verdict {
        Verdict::Broken | Verdict::Changed | Verdict::Unsure => "no method that the files list",
        _ => "",
    };
    let what = test.moved.as_ref().map_or_else(
        || unknown.to_owned(),
        |moved| {
            let word = if test.grew().is_some() { "" } else { "shrank: " };
            let path = of_path(moved).map_or_else(String::new, |path| format!("<br>path: {}", escape(&path)));
            format!(
                "{word}**{}**<br>{}{path}",
                escape(&without_package(&moved.title())),
                escape(&of_method(moved))
            )
        },
    );
    let [before, after] = test.instructions.map(count);
    // No line ends before a per cent sign, and none between two numbers.
    let change = change.replace(" %", "\u{a0}%");
    format!(
        "| {change} | {}<br>{before}\u{a0}→\u{a0}{after}{} | {what} |\n",
        in_two_lines(&test.name),
        times_of(test).map_or_else(String::new, |said| format!("<br>{}", escape(&said)))
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lose_their_package_alone() {
        for (name, short, lines) in [
            ("a.b.CTest.d(File)", "CTest.d(File)", "CTest<br>d(File)"),
            ("a.B$C.d(int, a.E)", "B$C.d(int, a.E)", "B$C<br>d(int, a.E)"),
            ("a.b.Main", "Main", "Main"),
            ("app-1.0.jar", "app-1.0.jar", "app-1.0.jar"),
            ("(between tests)", "(between tests)", "(between tests)"),
            ("tests (Surefire)", "tests (Surefire)", "tests (Surefire)"),
            ("", "", ""),
        ] {
            assert_eq!(
                (without_package(name).as_str(), in_two_lines(name).as_str()),
                (short, lines)
            );
        }
    }
}
