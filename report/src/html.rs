//! The HTML page: one file, no network, readable without its script, understandable without the papers.
//! All text goes through maud, which escapes it; only our own style sheet and script go in raw.

pub(crate) mod embed;
mod methods;
mod routes;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::findings;
use crate::section::{Extent, SECTIONS};
use crate::source::Sources;
use crate::view::{Reasons, View};
use crate::words::{self, Counts, thousands};
use crate::{html_method, svg};
use methods::Anchors;
pub(crate) use routes::Routes;

const STYLES: [&str; 5] = [
    svg::STYLE,
    include_str!("assets/page.css"),
    include_str!("assets/overview.css"),
    include_str!("assets/method.css"),
    include_str!("assets/icicle.css"),
];
const PRINTED: &str = include_str!("assets/print.css");
/// Parts of the script; they share a scope of their own.
const SCRIPTS: [&str; 7] = [
    include_str!("assets/shared.js"),
    include_str!("assets/tree.js"),
    include_str!("assets/table.js"),
    include_str!("assets/methods.js"),
    include_str!("assets/method.js"),
    include_str!("assets/graph.js"),
    include_str!("assets/icicle.js"),
];
const BEGIN: &str = include_str!("assets/page.js");
/// Bytes of all methods' sections at most, unless more of them were asked for: a page that has 5,000 methods stays below 3 MB.
const SECTIONS_BYTES: usize = 2_000_000;
/// Methods that are open when the page loads.
const OPEN: usize = 3;

pub(crate) fn write(view: &View, sources: &Sources, extent: &Extent) -> String {
    let has_paths = view.counts_paths() || view.standing_alone().any(|kind| kind.is_of_paths());
    let of_kinds = |of_paths: bool| {
        let kinds = SECTIONS
            .into_iter()
            .filter(move |kind| kind.is_of_paths() == of_paths);
        html! { @for kind in kinds { (kind.html(view, extent)) } }
    };
    let anchors = Anchors::of(view);
    let sections = if view.counts_paths() {
        sections(view, sources, extent, &anchors)
    } else {
        Vec::new()
    };
    let full = sections.len();
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
                style { (PreEscaped(style(view))) }
            }
            body {
                a.skip href="#methods" { "Skip to the hot methods" }
                header {
                    p.brand { "trodden" }
                    h1 { (title) }
                    (run(view))
                }
                main {
                    (findings(view, &anchors, full))
                    (of_kinds(false))
                    @if has_paths { (guide(view)) }
                    (of_kinds(true))
                    @if view.counts_paths() { (methods::section(view, &anchors, full)) }
                    @for section in &sections { (section) }
                    (skipped(view))
                }
                p #said .unseen aria-live="polite" {}
                footer { "Written by Trodden " (view.run.version) ". This file needs no network; keep or send it as it is." }
                script { (PreEscaped(script(view))) }
            }
        }
    }
    .into_string();
    page.push('\n');
    page
}

/// The hottest methods, each in full: as many as were asked for, or as keep the page small.
fn sections(view: &View, sources: &Sources, extent: &Extent, anchors: &Anchors) -> Vec<Markup> {
    let mut all = Vec::new();
    let mut bytes = 0;
    let chosen = extent.options.top > 0 || extent.options.method.is_some();
    for (index, method) in view.methods.iter().take(extent.top).enumerate() {
        let kinds = html! { @for kind in SECTIONS { (kind.html_of_method(view, method, extent)) } };
        let place = html_method::Spot {
            rank: index + 1,
            anchor: anchors.of_method(index),
            open: index < OPEN,
        };
        let section = html_method::section(method, &place, sources, extent.paths, kinds);
        bytes += section.0.len();
        if !chosen && bytes > SECTIONS_BYTES && !all.is_empty() {
            break;
        }
        all.push(section);
    }
    all
}

/// Ours, and that of the kinds of data that are in the profile.
fn style(view: &View) -> String {
    let kinds = SECTIONS
        .iter()
        .filter(|kind| kind.is_in(view))
        .map(|kind| kind.style());
    STYLES.into_iter().chain(kinds).chain([PRINTED]).collect()
}

fn script(view: &View) -> String {
    let kinds = SECTIONS
        .iter()
        .filter(|kind| kind.is_in(view))
        .map(|kind| kind.script());
    let parts: String = SCRIPTS.into_iter().chain(kinds).chain([BEGIN]).collect();
    format!("\"use strict\";\n(() => {{\n{parts}}})();\n")
}

fn run(view: &View) -> Markup {
    let run = view.run;
    html! {
        dl.run {
            @if !run.command.is_empty() { div.wide { dt { "Command" } dd { (command(&run.command)) } } }
            @if !run.jvm.is_empty() { div { dt { "JVM" } dd { (run.jvm) } } }
            div { dt { "Profiled" } dd { (format!("{:.1} s", run.seconds)) } }
            @if view.counts_paths() {
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
fn findings(view: &View, anchors: &Anchors, full: usize) -> Markup {
    let all = findings::find(view);
    html! {
        @if !all.is_empty() {
            section #findings {
                h2 { "What stands out" }
                ol.findings { @for finding in &all {
                    li data-kind=(finding.kind.name()) {
                        p {
                            // The script tells of a method that has no section.
                            @match finding.method {
                                Some(index) => { a href=(anchors.link(index)) { (finding.text) } @if index >= full { " (not in full below)" } }
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
                    picture; at first the hottest is marked. The arrow keys left and right go along its steps. A path that begins like one above it \
                    shows only where it leaves that one until it is chosen; what the other does not have is " b { "bold" } "." }
            }
        }
    }
}

/// A search field; `found` says how many there are.
pub(crate) fn search(id: &str, found: &str) -> Markup {
    html! {
        p.search.with-script {
            label for=(id) { "Search " }
            input type="search" id=(id) aria-controls=(found) placeholder="class, method or package; press /" autocomplete="off" spellcheck="false";
            " " output id=(found) for=(id) aria-live="polite" {}
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
