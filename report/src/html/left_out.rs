//! Methods whose paths are not known, on the page: their time by line, and why.

use std::cmp::Reverse;
use std::collections::HashMap;

use maud::{Markup, html};
use trodden_insight::left_out::{LeftOut, line};
use trodden_insight::line_time::{LineTime, LineTimes};
use trodden_insight::names::{dotted, signature};
use trodden_insight::path_time::Times;
use trodden_insight::source::Sources;
use trodden_insight::view::View;
use trodden_profile::MethodMap;

use super::bar;
use crate::hotspot;
use crate::html_method::callees;
use crate::words::{self, percent};

/// Lines of a method at most.
const LINES: usize = 40;
/// Share of the time from which a section is open when the page loads.
const OPEN: f64 = 0.05;

/// A section for each.
pub(super) fn cards<'v, 'p: 'v>(
    view: &'v View<'p>,
    chosen: impl Iterator<Item = &'v LeftOut<'p>>,
    sources: &Sources,
) -> Vec<(&'v LeftOut<'p>, Markup)> {
    let chosen: Vec<&LeftOut> = chosen.collect();
    let Some(times) = view.times().filter(|_| !chosen.is_empty()) else {
        return Vec::new();
    };
    let frames: HashMap<usize, Option<&MethodMap>> =
        chosen.iter().map(|left| (left.frame, left.map)).collect();
    // Without a path map and lines the bytecode index is all that is known of a place.
    let is_bare =
        |frame: usize| frames.get(&frame).is_none_or(|map| map.is_none()) && !times.samples.lines.has(frame);
    let lines = LineTimes::new(times, |frame, bci| {
        let frame = frame as usize;
        let map = *frames.get(&frame)?;
        if is_bare(frame) {
            Some(bci.into())
        } else {
            line(times, frame, map, bci)
        }
    });
    let card = |left: &'v LeftOut<'p>| {
        let of_class = view
            .profile
            .classes
            .iter()
            .find(|class| class.map.name == left.class);
        let file = of_class.and_then(|class| class.map.source_file.as_deref());
        let source = sources.find(left.class, file);
        let text = |line: u32| {
            let text = source.as_ref()?.lines.get(line.checked_sub(1)? as usize)?;
            Some(text.trim().to_owned())
        };
        (left, section(left, is_bare(left.frame), times, &lines, text))
    };
    chosen.into_iter().map(card).collect()
}

fn section(
    left: &LeftOut,
    bytecode: bool,
    times: &Times,
    lines: &LineTimes,
    text: impl Fn(u32) -> Option<String>,
) -> Markup {
    let mut of_lines: Vec<(u32, &LineTime)> = Vec::new();
    of_lines.extend(
        lines
            .of_frame(left.frame)
            .into_iter()
            .flatten()
            .map(|(&line, time)| (line, time)),
    );
    of_lines.sort_by_key(|&(line, time)| (Reverse(time.ns), line));
    let share = |ns: u64| (ns as f64 / left.total.ns.max(1) as f64).min(1.0);
    html! {
        details.method.left-out open[left.share(left.near) >= OPEN] {
            summary {
                span.anchor id=(left.title().replace(' ', "")) {}
                h2 { span { span.package { (dotted(left.class)) "." } wbr; (signature(left.name, left.descriptor)) } }
                span.facts {
                    (bar(left.share(left.near))) b title=(words::OWN_TIME) { (percent(left.share(left.near))) } " own time · "
                    span title=(words::TIME_WITH_CALLEES) { (percent(left.share(left.total))) " with callees" } " · paths not known"
                }
            }
            p { "Its paths are not known: " (left.reason) "." }
            @if let Some(branches) = &left.hotspot { (hotspot::html(branches)) }
            @if !of_lines.is_empty() {
                p.note { "Shares are of the method's time with callees. "
                    @if bytecode { "Which lines these are is not known; numbers with @ are bytecode indices." } }
                div.scroll { table.source {
                    thead { tr { th scope="col" { "Line" } th.num scope="col" { "Time" } th scope="col" { "Code" } } }
                    tbody { @for (line, time) in of_lines.iter().take(LINES) { tr {
                        td.line { @if bytecode { "@" } (line) }
                        td.num.time { (bar(share(time.ns))) (percent(share(time.ns))) }
                        td.text { @if let Some(text) = text(*line).filter(|_| !bytecode) { code { (text) } } (callees(time, &times.samples.frames, share)) }
                    } } }
                } }
                @if of_lines.len() > LINES { p.note { "… and " (of_lines.len() - LINES) " more, with less." } }
            }
        }
    }
}
