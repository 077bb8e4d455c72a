//! The HTML page: one file, no network, readable without its script, understandable without the papers.
//! All text goes through maud, which escapes it; only our own style sheet and script go in raw.

pub(crate) mod embed;
mod left_out;
mod methods;
mod parts;
mod routes;

use std::collections::HashMap;

use maud::{DOCTYPE, Markup, PreEscaped, html};
use trodden_insight::left_out::LeftOut;
use trodden_insight::line_time::LineTimes;
use trodden_insight::names;
use trodden_insight::path_time::Times;
use trodden_insight::source::Sources;
use trodden_insight::view::{Reasons, View};

pub(crate) use methods::Anchors;
pub(crate) use parts::{bar, breakable, find, head, search, source_around};
pub(crate) use routes::Routes;

use crate::findings::{self, Finding};
use crate::html_method;
use crate::kinds::KINDS;
use crate::section::{Extent, OfKinds};
use crate::svg;
use crate::words::{self, thousands};

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
        let kinds = KINDS
            .into_iter()
            .filter(move |kind| kind.is_of_paths() == of_paths);
        html! { @for kind in kinds { (kind.html(view, extent)) } }
    };
    let anchors = Anchors::of(view);
    let found = findings::find(view);
    let (sections, full) = if view.counts_paths() {
        sections(view, sources, extent, &anchors, &found)
    } else {
        (Vec::new(), 0)
    };
    let title = match words::program(&view.run.command).split(' ').next() {
        Some(command) if !command.is_empty() => format!("Path profile of {command}"),
        _ => "Path profile".to_owned(),
    };
    let mut page = html! {
        (DOCTYPE)
        html lang="en" {
            (head(&title, &html! { style { (PreEscaped(style(view))) } }))
            body {
                a.skip href="#methods" { "Skip to the hot methods" }
                header {
                    p.brand { "trodden" }
                    h1 { (title) }
                    (run(view))
                }
                main {
                    (findings(&found, &anchors))
                    (of_kinds(false))
                    @if has_paths { (guide(view)) }
                    (of_kinds(true))
                    @if view.counts_paths() { (methods::section(view, &anchors, full, extent)) }
                    @for section in with_left_out(view, sources, extent, sections) { (section) }
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

/// The hottest methods, each in full: as many as were asked for, or as keep the page small; then those that findings are about.
/// With each its position, and how many the first ones are.
fn sections(
    view: &View,
    sources: &Sources,
    extent: &Extent,
    anchors: &Anchors,
    found: &[Finding],
) -> (Vec<(usize, Markup)>, usize) {
    let mut all = Vec::new();
    let mut bytes = 0;
    let chosen = extent.options.top > 0 || extent.options.method.is_some();
    let hot = extent.top.min(view.methods.len());
    let mut named: Vec<usize> = found.iter().filter_map(|finding| finding.method).collect();
    named.sort_unstable();
    named.dedup();
    let lines = line_times(view, (0..hot).chain(named.iter().copied()));
    let section = |index: usize| {
        let method = &view.methods[index];
        let kinds = html! { @for kind in KINDS { (kind.html_of_method(view, method, extent)) } };
        let place = html_method::Spot {
            rank: index + 1,
            anchor: anchors.of_method(index),
            open: index < OPEN,
        };
        let lines = lines.as_ref().and_then(|(times, lines)| {
            let of_method = lines.of_frame(times.frame(method.names())?)?;
            Some((of_method, &*times.samples.frames))
        });
        html_method::section(method, &place, sources, lines, extent.paths, kinds)
    };
    for index in 0..hot {
        let section = section(index);
        bytes += section.0.len();
        if !chosen && bytes > SECTIONS_BYTES && !all.is_empty() {
            break;
        }
        all.push((index, section));
    }
    let full = all.len();
    let rest = named.into_iter().filter(|&index| index >= full);
    all.extend(rest.map(|index| (index, section(index))));
    (all, full)
}

/// Times of the lines of these methods, if time was sampled.
fn line_times<'v, 'p>(
    view: &'v View<'p>,
    shown: impl Iterator<Item = usize>,
) -> Option<(&'v Times<'p>, LineTimes)> {
    let times = view.times()?;
    let mut maps = HashMap::new();
    for method in shown.map(|index| &view.methods[index]) {
        if let Some(frame) = times.frame(method.names()) {
            maps.insert(frame, method.map);
        }
    }
    let lines = LineTimes::new(times, |frame, bci| {
        maps.get(&(frame as usize)).and_then(|map| map.line(bci.into()))
    });
    Some((times, lines))
}

/// The methods' sections, and those of the methods whose paths are not known, by time.
fn with_left_out(
    view: &View,
    sources: &Sources,
    extent: &Extent,
    sections: Vec<(usize, Markup)>,
) -> Vec<Markup> {
    /// Share of the time from which a method without paths has a section.
    const WORTH: f64 = 0.001;
    let worth = |left: &&LeftOut| left.share(left.near) >= WORTH;
    let cards = left_out::cards(view, view.left_out.iter().filter(worth).take(extent.top), sources);
    let mut cards = cards.into_iter().peekable();
    let mut all = Vec::new();
    for (index, section) in sections {
        let ns = view.methods[index].time.as_ref().map_or(0, |time| time.near.ns);
        while let Some((_, card)) = cards.next_if(|(left, _)| left.near.ns > ns) {
            all.push(card);
        }
        all.push(section);
    }
    all.extend(cards.map(|(_, card)| card));
    all
}

/// The page's rules, and those of the kinds of data in the profile. A kind's rules are nested in its section, so that a class
/// name in one of them means nothing elsewhere.
fn style(view: &View) -> String {
    let kinds = KINDS
        .iter()
        .filter(|kind| kind.is_in(view) && !kind.style().is_empty())
        .map(|kind| format!(":where(#{}) {{\n{}}}\n", kind.key(), kind.style()));
    let page = STYLES.into_iter().map(str::to_owned);
    page.chain(kinds).chain([PRINTED.to_owned()]).collect()
}

fn script(view: &View) -> String {
    let kinds = KINDS
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
            @if view.counts_paths() && !run.has_time_only() {
            div { dt { "Paths " (words::participle(view.basis)) } dd { (thousands(view.totals.paths)) } }
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

/// The findings.
fn findings(all: &[Finding], anchors: &Anchors) -> Markup {
    html! {
        @if !all.is_empty() {
            section #findings {
                h2 { "What stands out" }
                @let (causes, asides): (Vec<_>, Vec<_>) = all.iter().partition(|finding| !finding.aside);
                ol.findings { @for one in &causes { (finding(one, anchors)) } }
                @if !asides.is_empty() {
                    h3 { "Also" }
                    ol.findings start=(causes.len() + 1) { @for one in &asides { (finding(one, anchors)) } }
                }
            }
        }
    }
}

/// A link chooses what the finding is about.
fn finding(finding: &Finding, anchors: &Anchors) -> Markup {
    let left_out = finding.not_measured.as_ref().and_then(|(class, method)| {
        let (name, descriptor) = method.split_at(method.find('(')?);
        let title = format!("{}.{}", names::dotted(class), names::signature(name, descriptor));
        Some(methods::link(&title))
    });
    html! {
        li data-kind=(finding.kind.name()) {
            p {
                @match (finding.method, &left_out) {
                    (Some(index), _) => {
                        a href=(anchors.link(index)) data-path=[finding.path] data-line=[finding.line] { (with_code(&finding.text)) }
                    }
                    (None, Some(link)) => { a href=(link) { (with_code(&finding.text)) } }
                    (None, None) => { b { (with_code(&finding.text)) } }
                }
            }
            p.note { (breakable(&finding.evidence)) }
        }
    }
}

/// Text in which backticks enclose code.
fn with_code(text: &str) -> Markup {
    html! { @for (at, part) in text.split('`').enumerate() { @if at % 2 == 1 { code { (breakable(part)) } } @else { (breakable(part)) } } }
}

fn guide(view: &View) -> Markup {
    html! {
        details.guide {
            summary { "How to read this page" }
            div.columns {
                p { "A " strong { "path" } " is one way through a method: from its entry, or from the top of a loop, to its return, or back to the \
                    top of a loop. A loop that runs ten times is ten short paths, one per round. What a path shows and a list of busy \
                    lines cannot: which decisions come " em { "together" } "." }
                p { "Paths are drawn as a row of source lines. After a line with a decision come the condition and its outcome: "
                    span.decision { code { "hit != null" } " → " b { "yes" } } ", " span.decision.not { code { "i < n" } " → " b { "done" } }
                    " (of a loop: " em { "again" } " or " em { "done" } "). Where the condition is not known there is what the bytecode did: "
                    span.decision { "taken" } " means that it jumped, " span.decision.not { "not taken" } " that it ran on." }
                p { "The " strong { "share" } " says how much of the work a path is: how often it ran, times the decisions it makes, out of all \
                    decisions of the whole program (“of this method”: out of the method’s own). Paths without any decision have a count but no share." }
                p { (words::how_counted(view.run, view.basis)) " Click a path, or press Enter on it, to mark its lines in the source and its way through the \
                    picture; at first the hottest is marked. The arrow keys left and right go along its steps. A path that begins like one above it \
                    shows only where it leaves that one until it is chosen; what the other does not have is " b { "bold" } "." }
            }
        }
    }
}

fn skipped(view: &View) -> Markup {
    let alone = "These classes and methods have no probes: of those that took CPU time the time is shown, but no path.";
    let cut = "Whole paths of these methods are counted, but none that an exception cut off.";
    let sites = "From which of their lines these methods make their calls is not known.";
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
                            li { code { (names::dotted(class)) @if let Some(method) = method { "#" (method) } } }
                        } }
                        @if list.len() > LISTED { p.note { "… and " (thousands((list.len() - LISTED) as u64)) " more." } }
                    }
                }
            }
        }
    }
}
