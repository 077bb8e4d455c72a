//! CPU time of two runs, in words: what stands first in text, Markdown and on the page.

use std::fmt::Write;

use maud::{Markup, html};

use super::finding::Diff;
use super::html::anchor;
use super::markdown::escape;
use super::text::{grew, signed_percent};
use super::time::{MethodTimeChange, PathTimeChange, TimeChange, TimeDiff};
use crate::cpu::title;
use crate::text::{DECISION, HOT, Page, SOFT, TITLE};
use crate::words::{seconds, thousands};

/// What is said of a change that chance explains.
const ALIKE: &str = "not distinguishable";
/// Paths of a method in text.
const PATHS: usize = 3;

/// `+12.0 % of the CPU time (+8.1 % to +16.0 %)`.
pub(super) fn share(time: &TimeChange) -> String {
    match time.is_distinct() {
        true => format!(
            "{} of the CPU time ({})",
            signed_percent(time.share),
            bounds(time)
        ),
        false => format!("CPU time: {ALIKE}"),
    }
}

/// The same for a column.
pub(super) fn brief(time: &TimeChange) -> String {
    match time.is_distinct() {
        true => format!("{} ({})", signed_percent(time.share), bounds(time)),
        false => ALIKE.to_owned(),
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

fn counts([before, after]: [u64; 2]) -> String {
    format!("×{} → ×{}", thousands(before), thousands(after))
}

impl MethodTimeChange {
    /// `a.b.C.m(int)`.
    pub fn title(&self) -> String {
        title(&self.method)
    }

    /// Seconds, calls, and what it was called before.
    fn facts(&self) -> String {
        let mut text = both(self.near.ns);
        if self.total.ns != self.near.ns {
            let _ = write!(text, "; with all that it calls {}", both(self.total.ns));
        }
        match (self.measured, self.calls) {
            (true, Some(calls)) => {
                let _ = write!(text, "; {}", counts(calls));
            }
            (true, None) => text += "; its paths were counted in one run only",
            (false, _) => text += "; its paths were not counted",
        }
        if let Some(before) = &self.renamed_from {
            let _ = write!(text, "; was {}", title(before));
        }
        text
    }
}

impl TimeDiff {
    /// What became of the whole.
    pub(super) fn headline(&self) -> String {
        let [before, after] = self.total;
        let [samples, others] = [before, after].map(|time| thousands(time.samples));
        let mut out = format!(
            "CPU time {}: {} → {} ({samples} and {others} samples)",
            grew(before.ns, after.ns),
            seconds(before.ns),
            seconds(after.ns)
        );
        match self.scale {
            Some(scale) if (scale - 1.0).abs() > 0.02 => {
                let _ = write!(out, ", of which {scale:.2} times the same work");
            }
            Some(_) => {}
            None => out += "; whether as much was done is not known",
        }
        out + "."
    }

    /// How many changed, how many did not.
    fn summary(&self) -> String {
        let changed = match self.methods.len() + self.more {
            0 => "No method takes other time than before".to_owned(),
            1 => "1 method takes other time than before".to_owned(),
            n => format!("{n} methods take other time than before"),
        };
        match self.alike {
            0 => format!("{changed}."),
            n => format!(
                "{changed}; of {} the change is {ALIKE} from chance (four standard errors of the samples).",
                thousands(n as u64)
            ),
        }
    }
}

impl Diff {
    /// What counts say of a method whose time changed.
    fn reason(&self, change: &MethodTimeChange) -> Option<String> {
        let listed = &self.methods[change.listed?];
        Some(format!(
            "{} ({} of the work)",
            self.cause(listed),
            signed_percent(listed.share)
        ))
    }

    /// For a terminal, in front of all else.
    pub(super) fn time_text(&self, time: &TimeDiff, page: &mut Page) {
        page.wrapped(0, &time.headline());
        page.wrapped(0, &time.summary());
        for (index, change) in time.methods.iter().enumerate() {
            let title = page.styled(TITLE, &format!("{}. {}", index + 1, change.title()));
            let share = page.styled(HOT, &signed_percent(change.near.share));
            page.line(&format!(
                "{title}   {share} of the time ({})",
                bounds(&change.near)
            ));
            page.wrapped(3, &change.facts());
            if let Some(reason) = self.reason(change) {
                let reason = page.styled(DECISION, &reason);
                page.wrapped(3, &reason);
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
    pub(super) fn time_markdown(&self, time: &TimeDiff) -> String {
        let mut out = format!("**{}** {}\n\n", escape(&time.headline()), escape(&time.summary()));
        if !time.methods.is_empty() {
            out += "| method | change of the CPU time | time | what the counts say |\n| --- | ---: | ---: | --- |\n";
        }
        for change in &time.methods {
            let _ = writeln!(
                out,
                "| {} | {} | {} | {} |",
                escape(&change.title()),
                brief(&change.near),
                escape(&change.facts()),
                escape(&self.reason(change).unwrap_or_default())
            );
            for path in change.paths.iter().take(PATHS) {
                let _ = writeln!(
                    out,
                    "| path {} | {} | {}; {} | |",
                    escape(&path.text),
                    brief(&path.time),
                    both(path.time.ns),
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
    pub(super) fn time_html(&self, time: &TimeDiff) -> Markup {
        html! {
            section #time {
                h2 { "Methods, by the change of their CPU time" }
                p.note { (time.summary()) " A method's time is its own and that of what it calls whose paths are not counted, so each \
                    sample is in one method; paths have all that they call. Intervals hold however shared code is divided." }
                @if !time.methods.is_empty() {
                    div.scroll { table.sortable {
                        thead { tr {
                            th scope="col" { "Method" }
                            th.num scope="col" { "Change" }
                            th.num scope="col" { "Between" }
                            th.num scope="col" { "Time" }
                            th scope="col" { "What the counts say" }
                        } }
                        tbody { @for change in &time.methods { (self.time_rows(change)) } }
                    } }
                }
            }
        }
    }

    fn time_rows(&self, change: &MethodTimeChange) -> Markup {
        html! {
            tr {
                td { b {
                    @match change.listed {
                        Some(at) => a href={ "#" (anchor(&self.methods[at])) } { (change.title()) },
                        None => (change.title()),
                    }
                } }
                td.num { (signed_percent(change.near.share)) }
                td.num { (bounds(&change.near)) }
                td { (change.facts()) }
                td { @if let Some(reason) = self.reason(change) { (reason) } }
            }
            @for path in &change.paths { (path_row(path)) }
        }
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
            td { (both(path.time.ns)) }
            td { (counts(path.count)) }
        }
    }
}
