//! The page: the answers, and a histogram of latencies in which the reader chooses a band.

use maud::{DOCTYPE, Markup, PreEscaped, html};
use serde::Serialize;
use trodden_insight::slow::{Bands, Cause, CauseKind, Slow, SlowRequests, Spot};
use trodden_insight::source::Sources;

use super::sentences;
use crate::html::embed;
use crate::html::{bar, breakable, head, source_around};
use crate::object::{Each, object};
use crate::svg;
use crate::words::thousands;

pub(super) const SCRIPT: &str = include_str!("../assets/slow.js");
pub(super) const STYLE: &str = include_str!("../assets/slow.css");
const STYLES: [&str; 4] = [
    svg::STYLE,
    include_str!("../assets/page.css"),
    include_str!("../assets/overview.css"),
    STYLE,
];
const BEGIN: &str = "  document.documentElement.classList.add(\"scripted\");\n";
const SHARED: &str = include_str!("../assets/shared.js");
/// Kinds of requests in full; a page has room for no more.
const NAMES: usize = 20;
/// Source lines shown around the one with the branch.
const AROUND: u32 = 3;
/// Size of the histogram, in its own units.
const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 150.0;

/// One page that needs no other file; `bands` are those of the requests.
pub fn html(slow: &Slow, bands: &[Bands], sources: &Sources) -> String {
    let style: String = STYLES.concat();
    let script = format!("\"use strict\";\n(() => {{\n{BEGIN}{SHARED}{SCRIPT}}})();\n");
    let mut page = html! {
        (DOCTYPE)
        html lang="en" {
            (head("What slow requests do differently", &html! { style { (PreEscaped(style)) } }))
            body {
                header { p.brand { "trodden slow" } h1 { "What slow requests do differently" } }
                main #requests { (content(slow, bands, sources)) }
                footer { "This file needs no network; keep or send it as it is." }
                script { (PreEscaped(script)) }
            }
        }
    }
    .into_string();
    page.push('\n');
    page
}

/// The section of a report's page.
pub(super) fn section(slow: &Slow, bands: &[Bands], sources: &Sources) -> Markup {
    html! {
        section #requests {
            h2 { "What slow requests do differently" }
            (content(slow, bands, sources))
        }
    }
}

fn content(slow: &Slow, bands: &[Bands], sources: &Sources) -> Markup {
    let shown = slow.requests.iter().zip(bands).take(NAMES);
    html! {
        @for (at, (of, bands)) in shown.clone().enumerate() { (requests(at, of, bands, sources)) }
        @if slow.requests.len() > NAMES {
            p.note { (thousands((slow.requests.len() - NAMES) as u64)) " more kinds of requests are not on this page." }
        }
        p.note { (sentences::recording(slow)) }
        (embed::data("requests-data", &Each(shown.map(|(of, bands)| data(of, bands, sources)))))
    }
}

fn requests(at: usize, of: &SlowRequests, bands: &Bands, sources: &Sources) -> Markup {
    let answers = sentences::answers(of);
    html! {
        div.requests data-at=(at) {
            h3 { (breakable(&sentences::headline(of))) }
            div.two {
                div {
                    (histogram(of, bands))
                    (choice(at, bands))
                }
                div {
                    div.answer {
                        p { b { (sentences::slow(of)) } }
                        ol.findings {
                            @for (at, answer) in answers.iter().enumerate() {
                                li {
                                    // No break in front of `%`.
                                    p { (breakable(&answer.replace(" %", "\u{a0}%"))) }
                                    @if let Some(cause) = of.causes.get(at) { (details(cause, sources)) }
                                }
                            }
                        }
                        @if let Some(text) = sentences::unreadable(of) { p.note { (text) } }
                    }
                    div.of-band hidden aria-live="polite" {}
                }
            }
        }
    }
}

fn details(cause: &Cause, sources: &Sources) -> Markup {
    let source = spot(&cause.kind).and_then(|spot| {
        source_around(
            sources,
            &spot.class,
            spot.source_file.as_deref(),
            spot.line,
            AROUND,
        )
    });
    html! {
        p.note { (bar(cause.slow_share)) " of the slow, " (bar(cause.other_share)) " of the others" }
        @if let Some(source) = source { (source) }
        @if let Some(with) = sentences::with(cause) { p.note { (breakable(&with)) } }
    }
}

fn spot(kind: &CauseKind) -> Option<&Spot> {
    match kind {
        CauseKind::Outcome(spot) | CauseKind::Size(spot, _) | CauseKind::Path(spot, _) => Some(spot),
        CauseKind::Collections(_) | CauseKind::Waiting(_) => None,
    }
}

/// Requests by latency, both in logarithms: those of the slow bands are marked.
fn histogram(of: &SlowRequests, bands: &Bands) -> Markup {
    let most = bands.counts.iter().copied().max().unwrap_or(0);
    let height = |count: u64| (count as f64 + 1.0).ln() / (most as f64 + 1.0).ln().max(1e-9) * HEIGHT;
    let count = bands.counts.len().max(1) as f64;
    let left = |at: usize| at as f64 / count * WIDTH;
    let marks = [0.0, 0.25, 0.5, 0.75, 1.0].map(|share| (share * count).round() as usize);
    let title = format!("Requests by latency: {}", sentences::headline(of));
    html! {
        svg.latencies role="img" aria-label=(title) viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) preserveAspectRatio="none" {
            @for (at, &requests) in bands.counts.iter().enumerate() {
                @let (from, to) = (bands.bounds_ns[at], bands.bounds_ns[at + 1]);
                rect.band.slow[from >= of.over_ns] x=(format!("{:.2}", left(at))) y=(format!("{:.2}", HEIGHT - height(requests)))
                    width=(format!("{:.2}", WIDTH / count * 0.92)) height=(format!("{:.2}", height(requests))) {
                    title { (sentences::latency(from as f64)) " to " (sentences::latency(to as f64)) ": " (thousands(requests)) " requests" }
                }
            }
        }
        div.marks aria-hidden="true" {
            @for mark in marks {
                @if let Some(&bound) = bands.bounds_ns.get(mark) { span { (sentences::latency(bound as f64)) } }
            }
        }
    }
}

/// Controls that choose a band, where there is a script.
fn choice(at: usize, bands: &Bands) -> Markup {
    let last = bands.counts.len();
    html! {
        @if last > 1 {
            div.choice.with-script {
                p.note { "Drag over the bars to choose latencies; what their requests do more often than all others is then said." }
                label for=(format!("from-{at}")) { "from" }
                input type="range" id=(format!("from-{at}")) min="0" max=(last - 1) value="0";
                label for=(format!("to-{at}")) { "to" }
                input type="range" id=(format!("to-{at}")) min="1" max=(last) value=(last);
                " " button type="button" { "Slow ones" }
            }
        }
    }
}

/// Data of the script: sums of weights by band, in thousandths, as whole numbers are shorter.
fn data(of: &SlowRequests, bands: &Bands, sources: &Sources) -> impl Serialize {
    let short = |number: f64| (number * 1e3).round() / 1e3;
    let things = bands.things.iter().map(move |(kind, sums)| {
        let near = spot(kind).and_then(|spot| {
            source_around(
                sources,
                &spot.class,
                spot.source_file.as_deref(),
                spot.line,
                AROUND,
            )
        });
        object! {
            "text": sentences::thing(kind),
            "source"?: near.map(Markup::into_string),
            "sums": sums.iter().map(|sum| short(*sum)).collect::<Vec<_>>(),
        }
    });
    object! {
        "over": bands.bounds_ns.partition_point(|&bound| bound < of.over_ns),
        "bounds": bands.bounds_ns.iter().map(|&ns| sentences::latency(ns as f64)).collect::<Vec<_>>(),
        "counts": &bands.counts,
        "weights": bands.weights.iter().map(|[sum, squares]| [short(*sum), short(*squares)]).collect::<Vec<_>>(),
        "things": things.collect::<Vec<_>>(),
    }
}
