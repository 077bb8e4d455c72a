//! For a terminal: the cause first, in its source.

use trodden_insight::diff::{Amount, BranchChange, Diff, MethodChange, Reason, Summary, TimeDiff};
use trodden_insight::source::Sources;

use super::time_words;
use crate::text::{DECISION, HOT, Page, SOFT, TITLE};
use crate::words::{percent, thousands};

/// Lines of one kind that are named before the rest is only counted.
const MOST_LINES: usize = 6;
/// How far consequences of consequences are indented.
const MOST_INDENT: usize = 11;

/// The methods that were shown already: each is shown once.
pub(super) struct Shown {
    /// Findings so far.
    number: usize,
    /// Per method whose work changed.
    pub listed: Vec<bool>,
}

impl Shown {
    /// The number of the next finding.
    pub fn next(&mut self) -> usize {
        self.number += 1;
        self.number
    }
}

/// For a terminal, 100 columns wide; `color` adds ANSI styles.
pub fn text(diff: &Diff, sources: &Sources, color: bool) -> String {
    let mut page = Page::new(color);
    let (leading, following) = places_of_time(diff);
    if let Some(time) = &diff.time {
        page.wrapped(0, &time_words::headline(time));
        page.wrapped(0, &time_words::summary(time));
    }
    if counts_paths(diff) {
        page.wrapped(0, &headline(diff));
    }
    let mut shown = Shown {
        number: 0,
        listed: vec![false; diff.methods.len()],
    };
    if let Some(time) = leading {
        time_words::time_text(diff, time, &mut page, &mut shown, sources);
    }
    for (index, change) in diff.methods.iter().enumerate() {
        let follows = change.reason == Reason::Consequence && change.because_of.is_some();
        if !follows && !shown.listed[index] {
            one(diff, &mut page, index, change, &mut shown, sources);
        }
    }
    if let Some(time) = following {
        time_words::time_text(diff, time, &mut page, &mut shown, sources);
    }
    for line in closing(diff) {
        page.wrapped(0, &line);
    }
    page.out
}

/// Time leads, unless a change of the work is the larger one: then it follows.
pub(super) fn places_of_time(diff: &Diff) -> (Option<&TimeDiff>, Option<&TimeDiff>) {
    let time = diff.time.as_ref();
    let of_work = diff
        .methods
        .iter()
        .map(|change| change.share.abs())
        .fold(0.0, f64::max);
    let leads = |time: &&TimeDiff| {
        let of_time = time
            .methods
            .iter()
            .map(|change| change.near.share.abs())
            .fold(0.0, f64::max);
        diff.methods.is_empty() || of_time >= of_work
    };
    (time.filter(leads), time.filter(|time| !leads(time)))
}

/// True if the profiles count paths. Two profiles of samples alone have none.
pub(super) fn counts_paths(diff: &Diff) -> bool {
    diff.summary.work != [0; 2] || diff.time.is_none()
}

/// The whole in a sentence or two, per unit of work.
pub(super) fn headline(diff: &Diff) -> String {
    let Summary {
        work: [before, after],
        scale,
        expected,
        ..
    } = diff.summary;
    let causes = diff
        .methods
        .iter()
        .filter(|m| m.reason == Reason::Behaviour)
        .count();
    let what = match (causes, diff.methods.len()) {
        (0, 0) => "No method behaves differently".to_owned(),
        (0, 1) => "No method behaves differently, but 1 is called more or less often".to_owned(),
        (0, n) => format!("No method behaves differently, but {n} are called more or less often"),
        (1, _) => "1 method behaves differently".to_owned(),
        (n, _) => format!("{n} methods behave differently"),
    };
    // What as much as the first run did would be.
    let as_much = (before as f64 * after as f64 / expected.max(1.0)).round() as u64;
    let mut out = format!("{what}.");
    if diff.methods.is_empty() {
        out += &format!(
            " A run executes {} bytecode instructions, after as before.",
            short(before)
        );
    } else if before.abs_diff(as_much) as f64 > before as f64 * 0.001 {
        out += &format!(
            " Executed work for the same job {}: {} → {} bytecode instructions.",
            grew(before as f64, as_much as f64),
            short(before),
            short(as_much)
        );
    }
    let is_said = diff.time.as_ref().is_some_and(|time| time.scale.is_some());
    if !is_said && Amount::is_worth_saying(scale) {
        out += &format!(" The second run did {scale:.2} times as much of the same.");
    }
    out
}

fn one(
    diff: &Diff,
    page: &mut Page,
    index: usize,
    change: &MethodChange,
    shown: &mut Shown,
    sources: &Sources,
) {
    let title = page.styled(TITLE, &format!("{}. {}", shown.next(), change.title()));
    let share = page.styled(HOT, &signed_percent(change.share));
    let time = change
        .time
        .as_ref()
        .map_or(String::new(), |time| format!("; {}", time_words::share(time)));
    page.line(&format!("{title}   {share} of the work{time}"));
    if let Some(from) = &change.renamed_from {
        page.wrapped(3, &format!("was {from}"));
    }
    explained(diff, page, index, shown, sources);
}

/// The cause of a change, its source, and what follows from it.
pub(super) fn explained(diff: &Diff, page: &mut Page, index: usize, shown: &mut Shown, sources: &Sources) {
    let change = &diff.methods[index];
    shown.listed[index] = true;
    match &change.cause {
        Some(cause) => {
            let line = page.styled(DECISION, &cause_line(cause));
            page.wrapped(3, &line);
            let text = change.source_file.as_deref();
            if let Some((line, text)) = source_line(sources, &change.class, text, cause.line) {
                page.line(&format!("   {line:>5} │ {text}"));
            }
        }
        None => page.wrapped(3, &without_cause(diff, change)),
    }
    for (words, lines) in [
        ("new code", &change.new_lines),
        ("code that is gone", &change.gone_lines),
    ] {
        if !lines.is_empty() {
            page.wrapped(3, &format!("{words}: {}", line_list(lines)));
        }
    }
    for path in change.paths.iter().take(3) {
        let [b, a] = path.per_entry;
        let text = format!("{} → {} per call: {}", rate(b), rate(a), path.text);
        let text = page.styled(SOFT, &text);
        page.wrapped(3, &text);
    }
    consequences(diff, page, index, 3, shown);
}

/// The consequences of a change, and theirs.
fn consequences(diff: &Diff, page: &mut Page, index: usize, indent: usize, shown: &mut Shown) {
    for (next, other) in diff.methods.iter().enumerate() {
        if other.because_of != Some(index) || next == index || shown.listed[next] {
            continue;
        }
        shown.listed[next] = true;
        let what = match &other.cause {
            Some(cause) => cause_line(cause),
            None => calls(diff, other),
        };
        let text = format!(
            "→ {}: {what} ({} of the work)",
            other.title(),
            signed_percent(other.share)
        );
        page.wrapped(indent, &text);
        if indent < MOST_INDENT {
            consequences(diff, page, next, indent + 2, shown);
        }
    }
}

/// How often it was called, and how often it would have been.
pub(super) fn calls(diff: &Diff, change: &MethodChange) -> String {
    let [b, a] = change.entries;
    let scale = diff.summary.scale;
    if Amount::is_worth_saying(scale) {
        format!(
            "called {} times; before {}, which is {} for as much",
            thousands(a),
            thousands(b),
            thousands((b as f64 * scale).round() as u64)
        )
    } else {
        format!("called {} times, before {}", thousands(a), thousands(b))
    }
}

/// The branch, or the method, that explains a change.
pub(super) fn cause(diff: &Diff, change: &MethodChange) -> String {
    match (&change.cause, change.because_of) {
        (Some(cause), _) => cause_line(cause),
        (None, Some(cause)) => format!("follows from {}", diff.methods[cause].title()),
        (None, None) => without_cause(diff, change),
    }
}

/// The words for a change that no branch explains.
pub(super) fn without_cause(diff: &Diff, change: &MethodChange) -> String {
    let [b, a] = change.entries;
    match change.reason {
        Reason::Code if b == 0 => format!("new method, called {} times", thousands(a)),
        Reason::Code => format!("this method is gone; it was called {} times", thousands(b)),
        Reason::Calls | Reason::Consequence => {
            format!(
                "{}; no change of a counted method explains that",
                calls(diff, change)
            )
        }
        Reason::Behaviour => "a call does other work than before; no single branch explains that".to_owned(),
    }
}

/// Notes on the numbers.
pub(super) fn closing(diff: &Diff) -> Vec<String> {
    let mut lines = Vec::new();
    let listed = &diff.summary.matched;
    let number = |name: &str| listed.get(name).copied().unwrap_or(0);
    lines.push(format!(
        "Methods that ran: {} with the same code, {} with other names or constants, {} changed, {} new, {} gone.",
        number("same"),
        number("graph"),
        number("partial"),
        number("new"),
        number("gone")
    ));
    if let Some(which) = diff.only_timed {
        let which = ["first", "second"][which];
        lines.push(format!(
            "Only the {which} profile has CPU samples (--sample), so times are not compared."
        ));
    }
    match diff.runs {
        [1, 1] if diff.time.is_some() => lines.push(
            "One run a side: times that differ by no more than those of two runs of one program are no change. \
             Several runs show smaller ones (trodden run --repeat 5)."
                .to_owned(),
        ),
        [1, 1] => {}
        [before, after] => lines.push(format!("All numbers are means of {before} and {after} runs.")),
    }
    if diff.more > 0 {
        lines.push(format!("{} more changed (--top shows more).", diff.more));
    }
    if diff.summary.threshold > 0.0 {
        lines.push(format!(
            "Changes below {} of the work are not listed (--threshold).",
            percent(diff.summary.threshold)
        ));
    }
    if diff.summary.exact != [true, true] {
        lines.push(
            "Not every execution was counted, so only differences that chance does not explain are listed."
                .to_owned(),
        );
    }
    if !diff.summary.shapes {
        lines.push(
            "A profile of an older version does not say how many instructions ran: work is estimated from bytes."
                .to_owned(),
        );
    }
    lines
}

/// The branch, how often it goes that way, and how often it did.
pub(super) fn cause_line(cause: &BranchChange) -> String {
    let what = format!("{}  {}", place(cause), outcome(cause));
    let times = |which: usize| {
        let share = odds(cause.probability[which]);
        format!("{share} of {} times", thousands(cause.reached[which]))
    };
    if cause.is_gone {
        return format!("{what}: {} before; this condition is gone", times(0));
    }
    if let [Some(was), Some(now)] = cause.probability.map(|share| turns(&cause.outcome, share?))
        && !cause.is_new
    {
        return format!("{what}: {} turns each time, before {}", rounds(now), rounds(was));
    }
    match (cause.is_new, cause.probability[0]) {
        (true, _) => format!("{what}: {}; this condition is new", times(1)),
        (false, None) => format!("{what}: {}; never reached before", times(1)),
        (false, Some(_)) => format!("{what}: {}, before {}", times(1), times(0)),
    }
}

/// A condition with its outcome: `n > 3 is true`.
fn outcome(branch: &BranchChange) -> String {
    match (&branch.condition, &*branch.outcome) {
        (Some(condition), "yes") => format!("{condition} is true"),
        (Some(condition), "no") => format!("{condition} is false"),
        (Some(condition), "again" | "done") => format!("loop {condition}"),
        (Some(condition), outcome) => format!("{condition} → {outcome}"),
        (None, outcome) => format!("branch {outcome}"),
    }
}

/// How often a loop's body runs until the loop is done; `None` if the outcome is not that of a loop, or it is never done.
fn turns(outcome: &str, share: f64) -> Option<f64> {
    let done = match outcome {
        "again" => 1.0 - share,
        "done" => share,
        _ => return None,
    };
    (done > 0.0).then(|| (1.0 - done) / done)
}

fn rounds(turns: f64) -> String {
    if turns < 100.0 {
        format!("{turns:.1}")
    } else {
        short(turns.round() as u64)
    }
}

/// `line 12`, or where there are no line numbers `bytecode 7`.
pub(super) fn place(branch: &BranchChange) -> String {
    match branch.line {
        Some(line) => format!("line {line}"),
        None => format!("bytecode {}", branch.bci),
    }
}

pub(super) fn odds(share: Option<f64>) -> String {
    share.map_or_else(|| "never reached".to_owned(), percent)
}

/// A share with its sign.
pub(super) fn signed_percent(share: f64) -> String {
    let sign = if share < 0.0 { "−" } else { "+" };
    format!("{sign}{}", percent(share.abs()))
}

/// `grew by 12.0 %`.
pub(super) fn grew(before: f64, after: f64) -> String {
    if before <= 0.0 {
        return "grew from nothing".to_owned();
    }
    match after / before {
        r if r >= 3.0 => format!("grew {r:.1} times"),
        r if r >= 1.0 => format!("grew by {}", percent(r - 1.0)),
        r => format!("fell by {}", percent(1.0 - r)),
    }
}

/// Large numbers in millions, as people say them.
pub(super) fn short(number: u64) -> String {
    match number {
        0..1_000_000 => thousands(number),
        1_000_000..100_000_000 => format!("{:.1} million", number as f64 / 1e6),
        _ => format!("{} million", thousands(number / 1_000_000)),
    }
}

/// How often per activation.
pub(super) fn rate(times: f64) -> String {
    match times {
        0.0 => "never".to_owned(),
        t if t < 0.001 => "<0.001".to_owned(),
        t if t < 100.0 => format!("{t:.3}"),
        t => format!("{t:.0}"),
    }
}

pub(super) fn line_list(lines: &[u32]) -> String {
    let named: Vec<String> = lines.iter().take(MOST_LINES).map(u32::to_string).collect();
    let word = if lines.len() == 1 { "line" } else { "lines" };
    match lines.len().saturating_sub(MOST_LINES) {
        0 => format!("{word} {}", named.join(", ")),
        more => format!("{word} {} and {more} more", named.join(", ")),
    }
}

/// A line of the source, if it is there.
pub(crate) fn source_line(
    sources: &Sources,
    class: &str,
    file: Option<&str>,
    line: Option<u32>,
) -> Option<(u32, String)> {
    let line = line?;
    let text = sources.find(class, file)?;
    let text = text.lines.get(line.checked_sub(1)? as usize)?;
    Some((line, text.trim().to_owned()))
}
