//! The HTML page: one file, no network, readable without its script, understandable without the papers.
//! All text goes through maud, which escapes it; only our own style sheet and script go in raw.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::contexts;
use crate::kpaths::{self, Limits};
use crate::source::Sources;
use crate::structural;
use crate::subpaths;
use crate::view::{Reasons, View};
use crate::words::{self, Counts, percent, thousands};
use crate::{html_method, svg};

const STYLE: &str = include_str!("assets/page.css");
const SCRIPT: &str = include_str!("assets/page.js");
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
            @if !run.command.is_empty() { div.wide { dt { "Command" } dd { code { (run.command) } } } }
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

fn guide(view: &View) -> Markup {
    html! {
        details.guide open {
            summary { "How to read this page" }
            div.columns {
                p { "A " strong { "path" } " is one way through a method: from its entry, or from the top of a loop, to its return, or back to the \
                    top of a loop. A loop that runs ten times is ten short paths, one per round. What a path shows and a list of busy \
                    lines cannot: which decisions come " em { "together" } "." }
                p { "Paths are drawn as a row of source lines. After a line with a decision stands what the compiled branch did: "
                    span.decision { "taken" } " means that it jumped, " span.decision.not { "not taken" } " that it ran on. For "
                    code { "if (x) {…}" } " compilers usually emit “jump over the body unless x”, so " em { "not taken" } " is mostly the body running; \
                    the next line in the row tells for sure." }
                p { "The " strong { "share" } " says how much of the work a path stands for: how often it ran, times the decisions it makes, out of all \
                    decisions of the whole program (“of this method”: out of the method’s own). Paths without any decision have a count but no share." }
                p { (words::how_counted(view.run)) " Click a path, or press Enter on it, to mark its lines in the source and its way through the \
                    picture; at first the hottest is marked." }
            }
        }
    }
}

fn table(view: &View, shown: &[crate::MethodView]) -> Markup {
    html! {
        section #methods {
            h2 { "Hot methods" }
            @if shown.is_empty() {
                p.empty { "No path was counted. Did the program run code that the include and exclude patterns allow, and long enough to be sampled?" }
            } @else {
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
                        @for (index, method) in shown.iter().enumerate() {
                            tr {
                                td data-value=(method.title()) {
                                    a href={ "#m" (index + 1) } { span.package { (words::dotted(method.class)) "." } wbr; b { (method.signature()) } }
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
                    p.note { (thousands((view.methods.len() - shown.len()) as u64)) " more methods ran; they are left out here." }
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
