//! One page that needs nothing else: what changed, the branch that explains it marked in source, both runs side by side.

use maud::{DOCTYPE, Markup, PreEscaped, html};
use trodden_insight::diff::{BranchChange, Diff, MethodChange, PathChange, Reason};
use trodden_insight::source::Sources;

use super::text;
use super::text::{cause, line_list, odds, place, rate, signed_percent};
use super::time_words;
use crate::html::{bar, head, source_around};
use crate::svg;
use crate::words::thousands;

const STYLE: &str = include_str!("../assets/page.css");
/// Source lines shown around the one with the branch.
const AROUND: u32 = 4;
/// Branches and paths shown per method.
const MOST_ROWS: usize = 10;

/// One page that needs no other file; `sources` are those of the second build.
pub fn html(diff: &Diff, sources: &Sources) -> String {
    let (leading, following) = text::places_of_time(diff);
    let mut page = html! {
        (DOCTYPE)
        html lang="en" {
            (head("What changed between two runs", &html! { style { (PreEscaped(svg::STYLE)) (PreEscaped(STYLE)) } }))
            body {
                header {
                    p.brand { "trodden diff" }
                    @match (leading, following) {
                        (Some(time), _) => {
                            h1 { (time_words::headline(time)) }
                            @if text::counts_paths(diff) { p { b { (text::headline(diff)) } } }
                        }
                        (None, following) => {
                            h1 { (text::headline(diff)) }
                            @if let Some(time) = following { p { b { (time_words::headline(time)) } } }
                        }
                    }
                }
                main {
                    @if let Some(time) = leading { (time_words::time_html(diff, time)) }
                    @if !diff.methods.is_empty() { (table(diff)) }
                    @for change in &diff.methods { (method(diff, change, sources)) }
                    @if let Some(time) = following { (time_words::time_html(diff, time)) }
                }
                footer { @for line in text::closing(diff) { p { (line) } } }
            }
        }
    }
    .into_string();
    page.push('\n');
    page
}

fn table(diff: &Diff) -> Markup {
    html! {
        section #methods {
            h2 { "Methods, by what their change did to the executed work" }
            div.scroll { table.sortable {
                thead { tr {
                    th scope="col" { "Method" }
                    th.num scope="col" { "Work" }
                    @if diff.time.is_some() { th.num scope="col" { "CPU time" } }
                    th.num scope="col" { "Calls before" }
                    th.num scope="col" { "Calls after" }
                    th scope="col" { "Cause" }
                } }
                tbody { @for change in &diff.methods { tr {
                    td { a href={ "#" (anchor(change)) } { (change.title()) } }
                    td.num { (signed_percent(change.share)) }
                    @if let Some(time) = &change.time { td.num { (time_words::brief(time)) } }
                    td.num { (thousands(change.entries[0])) }
                    td.num { (thousands(change.entries[1])) }
                    td { (cause(diff, change)) }
                } } }
            } }
        }
    }
}

fn method(diff: &Diff, change: &MethodChange, sources: &Sources) -> Markup {
    let open = change.reason != Reason::Consequence;
    html! {
        details.method id=(anchor(change)) open[open] {
            summary {
                h2 { (change.title()) }
                span.facts { (signed_percent(change.share)) " of the work"
                    @if let Some(time) = &change.time { " · " (time_words::share(time)) }
                    @if let Some(before) = &change.renamed_from { " · before: " (before) } }
            }
            p { b { (cause(diff, change)) } }
            (source(change, sources))
            @if !change.branches.is_empty() { (branches(change)) }
            @if !change.paths.is_empty() { (paths(&change.paths)) }
            @if !change.new_lines.is_empty() { p { "New code: " (line_list(&change.new_lines)) } }
            @if !change.gone_lines.is_empty() { p { "Code that is gone: " (line_list(&change.gone_lines)) } }
        }
    }
}

/// A method's name in links to it.
pub(super) fn anchor(change: &MethodChange) -> String {
    change.title().replace(' ', "")
}

/// The lines around the branch that explains the change.
fn source(change: &MethodChange, sources: &Sources) -> Markup {
    let line = change
        .cause
        .as_ref()
        .filter(|cause| !cause.is_gone)
        .and_then(|cause| cause.line);
    let file = change.source_file.as_deref();
    source_around(sources, &change.class, file, line, AROUND).unwrap_or_default()
}

fn branches(change: &MethodChange) -> Markup {
    let cause = change.cause.as_ref();
    html! {
        h3 { "Branches" }
        div.scroll { table.branches {
            thead { tr { th scope="col" { "Where" } th scope="col" { "Outcome" } th.num scope="col" { "Before" } th.num scope="col" { "After" } } }
            tbody { @for branch in change.branches.iter().take(MOST_ROWS) { tr {
                th.where scope="row" { (place(branch)) @if let Some(condition) = &branch.condition { br; code { (condition) } } }
                td { span.decision { (branch.outcome) } @if cause == Some(branch) { " " b { "← explains the change" } } }
                td.num { (share(branch, 0)) }
                td.num { (share(branch, 1)) }
            } } }
        } }
    }
}

fn share(branch: &BranchChange, which: usize) -> Markup {
    let there = if which == 0 {
        !branch.is_new
    } else {
        !branch.is_gone
    };
    html! {
        @if there {
            (bar(branch.probability[which].unwrap_or(0.0))) " " (odds(branch.probability[which]))
            br; span.soft { "of " (thousands(branch.reached[which])) " times" }
        } @else { "not there" }
    }
}

fn paths(paths: &[PathChange]) -> Markup {
    html! {
        h3 { "Paths per call" }
        div.scroll { table.branches {
            thead { tr { th scope="col" { "Path" } th.num scope="col" { "Before" } th.num scope="col" { "After" } } }
            tbody { @for path in paths.iter().take(MOST_ROWS) { tr {
                td { (path.text) }
                td.num { (rate(path.per_entry[0])) }
                td.num { (rate(path.per_entry[1])) }
            } } }
        } }
    }
}
