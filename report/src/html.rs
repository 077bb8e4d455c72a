//! The HTML page: one file, no network, readable without its script, understandable without the papers.
//! All text goes through maud, which escapes it; only our own style sheet and script go in raw.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::contexts;
use crate::findings;
use crate::kpaths::{self, Limits};
use crate::source::Sources;
use crate::structural;
use crate::subpaths;
use crate::view::{MethodView, Reasons, View};
use crate::words::{self, Counts, percent, thousands};
use crate::{html_method, svg};

const STYLE: &str = include_str!("assets/page.css");
const SCRIPT: &str = include_str!("assets/page.js");
/// Methods in the table at most: a page with 5,000 rows has about 2 MB.
const LISTED_METHODS: usize = 5_000;
/// Methods that are open when the page loads.
const OPEN: usize = 3;

pub(crate) fn write(view: &View, sources: &Sources, top: usize, paths: usize, trees: &Limits) -> String {
    let shown = &view.methods[..view.methods.len().min(top)];
    let title = match view.run.command.split(' ').next() {
        Some(command) if !command.is_empty() => format!("Path profile of {command}"),
        _ => "Path profile".to_owned(),
    };
    let mut page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) }
                // An empty icon, so that no browser goes looking for one.
                link rel="icon" href="data:,";
                style { (PreEscaped(svg::STYLE)) (PreEscaped(STYLE)) }
            }
            body {
                a.skip href="#methods" { "Skip to the hot methods" }
                header {
                    p.brand { "trodden" }
                    h1 { (title) }
                    (run(view))
                }
                main {
                    (findings(view, shown.len()))
                    @if let Some(contexts) = &view.contexts { (contexts::html_section(contexts, top)) }
                    @if view.subpaths.is_some() || view.counts_paths() { (guide(view)) }
                    (subpaths::html::section(view.subpaths.as_ref(), top))
                    @if view.counts_paths() { (table(view, shown)) }
                    @for (index, method) in shown.iter().enumerate() {
                        @let trees = kpaths::section(view.kpaths, method, trees);
                        @let loops = structural::html::section(method.structure.as_ref(), paths);
                        @let trees = Some(html! { @if let Some(trees) = trees { (trees) } (loops) });
                        (html_method::section(method, index + 1, index < OPEN, sources, paths, trees))
                    }
                    (skipped(view))
                }
                footer { "Written by Trodden " (view.run.version) ". This file needs no network; keep or send it as it is." }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    }
    .into_string();
    page.push('\n');
    page
}

fn run(view: &View) -> Markup {
    let run = view.run;
    html! {
        dl.run {
            @if !run.command.is_empty() { div.wide { dt { "Command" } dd { (command(&run.command)) } } }
            @if !run.jvm.is_empty() { div { dt { "JVM" } dd { (run.jvm) } } }
            div { dt { "Profiled" } dd { (format!("{:.1} s", run.seconds)) } }
            @if view.contexts.is_none() || !view.methods.is_empty() {
            div { dt { "Paths " (Counts::of(run).participle()) } dd { (thousands(view.totals.paths)) } }
            div { dt { "Branch decisions on them" } dd { (thousands(view.totals.flow)) } }
            div { dt { "Methods that ran" } dd { (thousands(view.totals.methods)) } }
            }
        }
        @if view.totals.unreadable > 0 {
            p.warning role="alert" {
                (thousands(view.totals.unreadable)) " counts name no path of their method and are in no sum. The file may be damaged; \
                each method lists its own."
            }
        }
    }
}

/// One line; all of it on request.
fn command(text: &str) -> Markup {
    const SHOWN: usize = 80;
    html! {
        @match text.char_indices().nth(SHOWN) {
            None => { code { (text) } }
            Some((cut, _)) => { details.command { summary { code { (&text[..cut]) "…" } } code { (text) } } }
        }
    }
}

/// What stands out.
fn findings(view: &View, shown: usize) -> Markup {
    let all = findings::find(view);
    html! {
        @if !all.is_empty() {
            section #findings {
                h2 { "What stands out" }
                ol.findings { @for finding in &all {
                    li data-kind=(finding.kind.name()) {
                        p {
                            @match finding.method.filter(|&index| index < shown) {
                                Some(index) => { a href={ "#" (anchor(&view.methods[index])) } { (finding.text) } }
                                None => { b { (finding.text) } }
                            }
                        }
                        p.note { (finding.evidence) }
                    }
                } }
            }
        }
    }
}

/// What a method is called in links to it: `com.acme.Order.price(int)`. It stays the same from report to report.
pub(crate) fn anchor(method: &MethodView) -> String {
    method.title().replace(' ', "")
}

fn guide(view: &View) -> Markup {
    html! {
        details.guide {
            summary { "How to read this page" }
            div.columns {
                p { "A " strong { "path" } " is one way through a method: from its entry, or from the top of a loop, to its return, or back to the \
                    top of a loop. A loop that runs ten times is ten short paths, one per round. What a path shows and a list of busy \
                    lines cannot: which decisions come " em { "together" } "." }
                p { "Paths are drawn as a row of source lines. After a line with a decision stands the condition and how it came out: "
                    span.decision { code { "hit != null" } " → " b { "yes" } } ", " span.decision.not { code { "i < n" } " → " b { "done" } }
                    " (of a loop: " em { "again" } " or " em { "done" } "). Where the condition is not known there is what the bytecode did: "
                    span.decision { "taken" } " means that it jumped, " span.decision.not { "not taken" } " that it ran on." }
                p { "The " strong { "share" } " says how much of the work a path stands for: how often it ran, times the decisions it makes, out of all \
                    decisions of the whole program (“of this method”: out of the method’s own). Paths without any decision have a count but no share." }
                p { (words::how_counted(view.run)) " Click a path, or press Enter on it, to mark its lines in the source and its way through the \
                    picture; at first the hottest is marked." }
            }
        }
    }
}

fn table(view: &View, shown: &[crate::MethodView]) -> Markup {
    let listed = &view.methods[..view.methods.len().min(LISTED_METHODS)];
    html! {
        section #methods {
            h2 { "Hot methods" }
            @if shown.is_empty() {
                p.empty { "No path was counted. Did the program run code that the include and exclude patterns allow, and long enough to be sampled?" }
            } @else {
                p.search { label { "Search " input type="search" #search placeholder="class, method or package; press /" autocomplete="off"; }
                    " " output #found for="search" aria-live="polite" {} }
                div.scroll { table.sortable {
                    thead { tr {
                        th scope="col" data-type="text" { "Method" }
                        th.num scope="col" aria-sort="descending" { "Share" }
                        th.num scope="col" { "Decisions" }
                        th.num scope="col" { "Times " (Counts::of(view.run).participle()) }
                        th.num scope="col" { "Paths seen" }
                        th.num scope="col" { "Paths possible" }
                    } }
                    tbody {
                        @for (index, method) in listed.iter().enumerate() {
                            tr {
                                td data-value=(method.title()) {
                                    @let name = html! { span.package { (words::dotted(method.class)) "." } wbr; b { (method.signature()) } };
                                    @if index < shown.len() { a href={ "#" (anchor(method)) } { (name) } } @else { (name) }
                                }
                                td.num data-value=(method.share) { (bar(method.share)) span { (percent(method.share)) } }
                                td.num data-value=(method.flow) { (thousands(method.flow)) }
                                td.num data-value=(method.count) { (thousands(method.count)) }
                                td.num data-value=(method.paths.len()) { (thousands(method.paths.len() as u64)) }
                                td.num data-value=(method.map.num_paths()) { (thousands(method.map.num_paths())) }
                            }
                        }
                    }
                } }
                @if view.methods.len() > shown.len() {
                    p.note { "Of the first " (thousands(shown.len() as u64)) " methods the paths are below (" code { "--top" } " for more"
                        @if view.methods.len() > listed.len() { "; " (thousands((view.methods.len() - listed.len()) as u64)) " more ran and are left out here" }
                        ")." }
                }
            }
        }
    }
}

/// A bar for a share from 0 to 1; the number stands beside it, so it is hidden from screen readers.
pub(crate) fn bar(share: f64) -> Markup {
    html! { span.bar aria-hidden="true" { i style={ "width:" (format!("{:.2}%", share.clamp(0.0, 1.0) * 100.0)) } {} } }
}

fn skipped(view: &View) -> Markup {
    let alone = "These classes and methods ran without counting, so nothing above is about them.";
    let cut = "Whole paths of these methods are counted, but none that an exception cut off.";
    let sites = "Of what these methods call it is not known from which of their lines.";
    html! {
        (reasons("Left as they were", alone, &view.skipped))
        (reasons("Without call sites", sites, &view.without_call_sites))
        (reasons("Without cut paths", cut, &view.without_cut_paths))
    }
}

fn reasons(title: &str, note: &str, all: &Reasons) -> Markup {
    /// Entries listed per reason.
    const LISTED: usize = 50;
    html! {
        @if !all.is_empty() {
            section.skipped {
                h2 { (title) }
                p.note { (note) }
                @for (reason, list) in all {
                    details {
                        summary { (reason) " " span.badge { (thousands(list.len() as u64)) } }
                        ul { @for (class, method) in list.iter().take(LISTED) {
                            li { code { (words::dotted(class)) @if let Some(method) = method { "#" (method) } } }
                        } }
                        @if list.len() > LISTED { p.note { "… and " (thousands((list.len() - LISTED) as u64)) " more." } }
                    }
                }
            }
        }
    }
}
