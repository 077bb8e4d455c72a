//! CPU time of two runs as text: what is first on a terminal, in Markdown and on the page.

use std::fmt::Write;

use maud::{Markup, html};
use trodden_insight::cpu::title;
use trodden_insight::diff::{Amount, Diff, MethodTimeChange, PathTimeChange, TimeChange, TimeDiff};
use trodden_insight::source::Sources;

use super::html::anchor;
use super::markdown::escape;
use super::text;
use super::text::{Shown, cause, grew, signed_percent};
use crate::text::{HOT, Page, SOFT, TITLE};
use crate::words::{seconds, thousands};

/// The words for a change that chance explains.
const ALIKE: &str = "no measurable change";
/// Paths of a method in text.
const PATHS: usize = 3;

/// `+12.0 % of the CPU time (+8.1 % to +16.0 %)`.
pub(super) fn share(time: &TimeChange) -> String {
    if time.is_distinct() {
        format!(
            "{} of the CPU time ({})",
            signed_percent(time.share),
            bounds(time)
        )
    } else {
        format!("CPU time: {ALIKE}")
    }
}

/// The same for a column.
pub(super) fn brief(time: &TimeChange) -> String {
    if time.is_distinct() {
        format!("{} ({})", signed_percent(time.share), bounds(time))
    } else {
        ALIKE.to_owned()
    }
}

fn bounds(time: &TimeChange) -> String {
    let [low, high] = time.share_interval.map(signed_percent);
    format!("{low} to {high}")
}

fn both([before, after]: [f64; 2]) -> String {
    let [before, after] = [before, after].map(|ns| seconds(ns as u64));
    format!("{before} → {after}")
}

/// The time that as much work took before, and that it takes now.
fn same_work(time: &TimeChange) -> String {
    both([(time.ns[1] - time.change).max(0.0), time.ns[1]])
}

fn counts([before, after]: [u64; 2]) -> String {
    format!("×{} → ×{}", thousands(before), thousands(after))
}

/// Seconds, calls, and what it was called before.
fn facts(change: &MethodTimeChange) -> String {
    let mut text = same_work(&change.near);
    if change.total.ns != change.near.ns {
        let _ = write!(text, "; with all that it calls {}", same_work(&change.total));
    }
    match (change.measured, change.calls) {
        (true, Some(calls)) => {
            let _ = write!(text, "; {}", counts(calls));
        }
        (true, None) => text += "; its paths were counted in one run only",
        (false, _) => text += "; its paths were not counted",
    }
    if let Some(before) = &change.renamed_from {
        let _ = write!(text, "; was {}", title(before));
    }
    text
}

/// The whole, for the same work.
pub(super) fn headline(time: &TimeDiff) -> String {
    let [before, after] = time.same_work;
    let what = match time.scale {
        Some(_) => "CPU time for the same work",
        None => "CPU time",
    };
    let became = if time.is_distinct {
        grew(before, after)
    } else {
        "did not change measurably".to_owned()
    };
    let mut out = format!("{what} {became}: {}.", both(time.same_work));
    match time.scale {
        Some(scale) if Amount::is_worth_saying(scale) => {
            let in_all = time.total[1].ns as f64 / time.runs[1].max(1) as f64;
            let in_all = seconds(in_all as u64);
            let _ = write!(
                out,
                " The second run did {scale:.2} times as much of the same, in {in_all}."
            );
        }
        Some(_) => {}
        None => out += " How much each run did is not known.",
    }
    out
}

/// How many changed, how many did not.
pub(super) fn summary(time: &TimeDiff) -> String {
    let alike = thousands(time.alike as u64);
    match time.methods.len() + time.more {
        0 if time.is_distinct && time.alike > 1 => format!(
            "No method stands out among {alike}: none changed by more than two runs of one program may differ by."
        ),
        0 => format!("No method's time changed measurably ({alike} compared)."),
        1 => format!("The time of 1 method changed; that of {alike} did not measurably."),
        n => format!("The time of {n} methods changed; that of {alike} did not measurably."),
    }
}

/// The counts of a method whose time changed.
fn reason(diff: &Diff, change: &MethodTimeChange) -> Option<String> {
    let listed = &diff.methods[change.listed?];
    Some(format!(
        "{} ({} of the work)",
        cause(diff, listed),
        signed_percent(listed.share)
    ))
}

/// For a terminal: methods that were not shown yet. One whose time follows from another method's change comes with that.
pub(super) fn time_text(diff: &Diff, time: &TimeDiff, page: &mut Page, shown: &mut Shown, sources: &Sources) {
    for change in &time.methods {
        if change.listed.is_some_and(|at| shown.listed[at]) {
            continue;
        }
        let title = page.styled(TITLE, &format!("{}. {}", shown.next(), change.title()));
        let share = page.styled(HOT, &signed_percent(change.near.share));
        page.line(&format!(
            "{title}   {share} of the time ({})",
            bounds(&change.near)
        ));
        page.wrapped(3, &facts(change));
        if let Some(at) = change.listed {
            let work = signed_percent(diff.methods[at].share);
            page.wrapped(3, &format!("{work} of the work:"));
            text::explained(diff, page, at, shown, sources);
            // These are its paths by work, so those by time are left out.
            continue;
        }
        for path in change.paths.iter().take(PATHS) {
            let text = format!("{}, {}: {}", brief(&path.time), counts(path.count), path.text);
            let text = page.styled(SOFT, &text);
            page.wrapped(3, &text);
        }
    }
    if time.more > 0 {
        page.wrapped(0, &format!("{} more; raise --top to see them.", time.more));
    }
    page.line("");
}

/// For a comment.
pub(super) fn time_markdown(diff: &Diff, time: &TimeDiff) -> String {
    let mut out = format!("**{}** {}\n\n", escape(&headline(time)), escape(&summary(time)));
    if !time.methods.is_empty() {
        out +=
            "| method | change of the CPU time | time | what the counts say |\n| --- | ---: | ---: | --- |\n";
    }
    for change in &time.methods {
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} |",
            escape(&change.title()),
            brief(&change.near),
            escape(&facts(change)),
            escape(&reason(diff, change).unwrap_or_default())
        );
        for path in change.paths.iter().take(PATHS) {
            let _ = writeln!(
                out,
                "| path {} | {} | {}; {} | |",
                escape(&path.text),
                brief(&path.time),
                same_work(&path.time),
                counts(path.count)
            );
        }
    }
    if !time.methods.is_empty() {
        out.push('\n');
    }
    out
}

/// For the page.
pub(super) fn time_html(diff: &Diff, time: &TimeDiff) -> Markup {
    html! {
        section #time {
            h2 { "Methods, by the change of their CPU time" }
            p.note { (summary(time)) " A method's time is its own and that of code without counts that it calls (the JDK's), so the changes \
                add up. A path's time is that of everything that it calls." }
            @if !time.methods.is_empty() {
                div.scroll { table.sortable {
                    thead { tr {
                        th scope="col" { "Method" }
                        th.num scope="col" { "Change" }
                        th.num scope="col" { "Between" }
                        th.num scope="col" { "Time" }
                        th scope="col" { "What the counts say" }
                    } }
                    tbody { @for change in &time.methods { (time_rows(diff, change)) } }
                } }
            }
        }
    }
}

fn time_rows(diff: &Diff, change: &MethodTimeChange) -> Markup {
    html! {
        tr {
            td { b {
                @match change.listed {
                    Some(at) => a href={ "#" (anchor(&diff.methods[at])) } { (change.title()) },
                    None => (change.title()),
                }
            } }
            td.num { (signed_percent(change.near.share)) }
            td.num { (bounds(&change.near)) }
            td { (facts(change)) }
            td { @if let Some(reason) = reason(diff, change) { (reason) } }
        }
        @for path in &change.paths { (path_row(path)) }
    }
}

fn path_row(path: &PathTimeChange) -> Markup {
    html! {
        tr {
            td { span.soft { "path " (path.text) } }
            @if path.time.is_distinct() {
                td.num { (signed_percent(path.time.share)) }
                td.num { (bounds(&path.time)) }
            } @else {
                td.num { (ALIKE) }
                td.num {}
            }
            td { (same_work(&path.time)) }
            td { (counts(path.count)) }
        }
    }
}
