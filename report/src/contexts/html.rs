//! Contexts on the HTML page: a flame graph, and the hottest chains of calls.

use inferno::flamegraph;
use maud::{Markup, html};
use trodden_profile::options::ContextWeight;

use super::{ContextsView, Stacks};
use crate::html::bar;
use crate::words::{percent, thousands};

/// Deepest stacks of the picture.
const DEEPEST: u32 = 200;
/// What is narrower than a fifth of a pixel is left out of the picture.
const NARROWEST: u64 = 6_000;
/// Width of the picture in pixels.
const WIDTH: usize = 1110;
/// Frames of a chain that are written out.
const FRAMES: usize = 60;

/// The section.
pub(crate) fn section(view: &ContextsView, top: usize) -> Markup {
    let stacks = Stacks::of(view, DEEPEST);
    let height = 16 * stacks.depth() + 140;
    let hottest = view.hottest(top);
    let unit = match view.contexts.weight {
        ContextWeight::Calls => "Calls",
        ContextWeight::Time => "Time, ns",
        ContextWeight::Alloc => "Bytes",
    };
    html! {
        section #contexts {
            h2 { "Hot chains of calls" }
            p.note { (view.summary()) }
            @match flame_graph(&stacks) {
                Some(picture) => {
                    p.note { "Each box is a method, above the one that called it; its width is the number of " (view.contexts.weight.unit()) " of it and all \
                        that it called. Click a box to enlarge it; the search is at the top right." }
                    iframe.flame title="Flame graph of calls" style={ "width:100%;border:0;height:" (height) "px" } srcdoc=(picture) {}
                }
                None => p.empty { "No call was counted." }
            }
            @if !hottest.is_empty() {
                div.scroll { table {
                    thead { tr { th.num scope="col" { (unit) } th.num scope="col" { "At most" } th.num scope="col" { "Share" } th scope="col" { "Chain of calls" } } }
                    tbody { @for &at in &hottest { (row(view, at)) } }
                } }
            }
        }
    }
}

fn row(view: &ContextsView, at: usize) -> Markup {
    let node = &view.nodes()[at];
    let (least, most) = node.calls.unwrap_or_default();
    let share = view.share(least);
    let mut chain = Vec::new();
    let mut above = Some(at as u32);
    while let Some(at) = above.filter(|_| chain.len() < FRAMES) {
        chain.push(at as usize);
        above = view.parents[at as usize];
    }
    html! {
        tr {
            td.num { (thousands(least)) }
            td.num { @if most > least { (thousands(most)) } }
            td.num { (bar(share)) span { (percent(share)) } }
            td {
                details {
                    summary { code { (view.title(node)) } }
                    ol.chain reversed {
                        @for &at in &chain[1..] {
                            li { code { (view.title(&view.nodes()[at])) } }
                        }
                        @if above.is_some() { li { "…" } }
                    }
                    @if let Some(line) = view.call_line(at) { p.note { "Called in line " (line) "." } }
                    @if let Some(path) = view.call_path_text(at) { p.note { "Path to the call: " (path) "." } }
                }
            }
        }
    }
}

/// A page with nothing but the picture; `None` if there is nothing in it.
fn flame_graph(stacks: &Stacks) -> Option<String> {
    let lines = stacks.lines((stacks.calls() / NARROWEST).max(1));
    let mut options = flamegraph::Options::default();
    options.title = "Calls by context".to_owned();
    options.count_name = "calls".to_owned();
    options.name_type = "Method:".to_owned();
    // Fitting it to the window is left to a script that may not be run, and that does not notice when a frame grows.
    options.image_width = Some(WIDTH);
    // The same colours in every run.
    options.hash = true;
    let mut picture = Vec::new();
    flamegraph::from_lines(&mut options, lines.iter().map(String::as_str), &mut picture).ok()?;
    let picture = String::from_utf8(picture).ok()?;
    let svg = &picture[picture.find("<svg")?..];
    Some(format!(
        "<!doctype html><meta charset=\"utf-8\"><body style=\"margin:0\">{svg}</body>"
    ))
}
