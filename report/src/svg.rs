//! The control-flow graph as SVG: inline for the HTML page, or standalone.

use std::collections::HashSet;

use maud::{Markup, PreEscaped, html};
use trodden_insight::view::{MethodView, View};
use trodden_numbering::EdgeRef;
use trodden_profile::BlockExit;

use crate::layout::{self, Drawing};
use crate::words::{self, thousands};

/// Looks of the graph; the page's own style sheet builds on the same classes and variables.
pub(crate) const STYLE: &str = include_str!("assets/graph.css");

/// The graph of one method as an `<svg>` element; `prefix` keeps ids apart on one page. `None` if it cannot be
/// drawn.
pub(crate) fn inline(view: &MethodView, prefix: &str) -> Option<Markup> {
    let drawing = layout::place(view)?;
    let title = format!("Control-flow graph of {}", view.title());
    Some(html! {
        svg.cfg role="img" aria-label=(title) width=(n(drawing.width)) height=(n(drawing.height))
            viewBox={ "0 0 " (n(drawing.width)) " " (n(drawing.height)) } {
            (content(view, &drawing, prefix))
        }
    })
}

/// How many blocks [`inline`] leaves out.
pub(crate) fn hidden_blocks(view: &MethodView) -> usize {
    view.map.blocks.len().saturating_sub(layout::MAX_BLOCKS)
}

/// The graphs of the hottest `top` methods, one below the other, as a file of its own.
pub(crate) fn standalone(view: &View, top: usize) -> String {
    const CAPTION: f64 = 44.0;
    let mut body = Vec::new();
    let (mut width, mut height) = (320.0f64, 0.0f64);
    for (index, method) in view.methods.iter().take(top).enumerate() {
        let mut caption = method.title();
        let drawing = layout::place(method);
        match &drawing {
            Some(d) if d.hidden > 0 => {
                caption += &format!(
                    " ({} of {} blocks: the hot part)",
                    d.blocks.len(),
                    method.map.blocks.len()
                )
            }
            Some(_) => {}
            None => caption += " (its path map is damaged and cannot be drawn)",
        }
        width = width.max(caption.chars().count() as f64 * 9.0 + 24.0);
        body.push(html! {
            text.caption x="12" y=(n(height + 28.0)) { (caption) }
            @if let Some(d) = &drawing {
                g transform={ "translate(0 " (n(height + CAPTION)) ")" } { (content(method, d, &format!("g{index}-"))) }
            }
        });
        height += CAPTION;
        if let Some(d) = &drawing {
            width = width.max(d.width);
            height += d.height;
        }
    }
    if body.is_empty() {
        body.push(html! { text.caption x="12" y="28" { "No path was counted." } });
        height = CAPTION;
    }
    let markup = html! {
        (PreEscaped("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"))
        svg xmlns="http://www.w3.org/2000/svg" width=(n(width)) height=(n(height)) viewBox={ "0 0 " (n(width)) " " (n(height)) } {
            style { (PreEscaped(STYLE)) }
            rect.paper width="100%" height="100%" {}
            @for part in &body { (part) }
        }
    };
    let mut out = markup.into_string();
    out.push('\n');
    out
}

fn content(view: &MethodView, drawing: &Drawing, prefix: &str) -> Markup {
    let hot = view.hottest();
    let hot_edges: HashSet<EdgeRef> = hot.iter().flat_map(|p| p.edges.iter().copied()).collect();
    let hot_blocks: HashSet<usize> = hot
        .iter()
        .flat_map(|p| p.description.blocks.iter().map(|b| b.index()))
        .collect();
    let most = view.edges.blocks.iter().copied().max().unwrap_or(0).max(1);
    html! {
        defs {
            // One marker per look: a marker does not take its line's colour.
            @for look in ["plain", "hot"] {
                marker class={ "head " (look) } id={ (prefix) (look) } viewBox="0 0 10 10" refX="9" refY="5"
                    markerUnits="userSpaceOnUse" markerWidth="9" markerHeight="9" orient="auto-start-reverse" {
                    path d="M0 0L10 5L0 10z" {}
                }
            }
        }
        @for curve in &drawing.edges {
            @let info = &view.map.blocks[curve.edge.from.index()];
            @let known = view.edge_count(curve.edge);
            @let count = known.unwrap_or(0);
            @let on = hot_edges.contains(&curve.edge);
            @let marker = format!("url(#{prefix}{})", if on { "hot" } else { "plain" });
            g.edge.never[known == Some(0)].on-path[on] data-edge={ (curve.edge.from.index()) ":" (curve.edge.index) } {
                path d=(curve.data) fill="none"
                    marker-start=[curve.reversed.then_some(&marker)]
                    marker-end=[(!curve.reversed).then_some(&marker)]
                    stroke-width=(n(1.0 + 2.5 * count as f64 / most as f64)) {
                    title { (times(known)) }
                }
                @if let (BlockExit::Branch | BlockExit::Switch, Some(_)) = (info.exit, info.labels.get(curve.edge.index as usize)) {
                    text x=(n(curve.label_at.0)) y=(n(curve.label_at.1)) text-anchor="middle" { (view.decisions().outcome_or_label(view.map, curve.edge)) }
                }
            }
        }
        @for placed in &drawing.blocks {
            @let known = view.block_count(placed.block);
            @let count = known.unwrap_or(0);
            @let middle = placed.x + placed.width / 2.0;
            g.block.never[known == Some(0)].on-path[hot_blocks.contains(&placed.block)] data-block=(placed.block)
                style={ "--heat:" (format!("{:.3}", count as f64 / most as f64)) } {
                title { (placed.label) ": ran " (times(known)) }
                rect x=(n(placed.x)) y=(n(placed.y)) width=(n(placed.width)) height=(n(placed.height)) rx="5" {}
                text x=(n(middle)) y=(n(placed.y + placed.height / 2.0 - 2.0)) text-anchor="middle" { (placed.label) }
                text.count x=(n(middle)) y=(n(placed.y + placed.height / 2.0 + 12.0)) text-anchor="middle" { (match known { Some(count) => format!("{}×", thousands(count)), None => words::count(None) }) }
            }
        }
    }
}

fn times(count: Option<u64>) -> String {
    match count {
        Some(count) => format!("{} times", thousands(count)),
        None => "not known how often".to_owned(),
    }
}

fn n(value: f64) -> String {
    format!("{value:.1}")
}
