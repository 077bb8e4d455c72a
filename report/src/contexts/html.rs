//! Contexts on the HTML page: an icicle, methods with what they did and what was done for them, the hottest chains of calls.

use maud::{Markup, html};
use trodden_insight::contexts::ContextsView;
use trodden_profile::options::ContextWeight;

use super::icicle::Icicle;
use super::text::summary;
use crate::html::{bar, embed, find, search};
use crate::words::{percent, share_range, thousands};

/// Rows of the table of methods that stand in the page; the script makes the others.
const ROWS: usize = 30;
/// Frames of a chain that are written out.
const FRAMES: usize = 60;

/// The section.
pub(crate) fn section(view: &ContextsView, top: usize) -> Markup {
    let icicle = Icicle::of(view);
    let hottest = view.chosen(top);
    let unit = match view.contexts.weight {
        ContextWeight::Calls => "Calls",
        ContextWeight::Time => "Time, ns",
        ContextWeight::Alloc => "Bytes",
    };
    html! {
        section #contexts {
            h2 { "Chains of calls" }
            p.note { (summary(view)) }
            @if icicle.methods.is_empty() {
                p.empty { "No call was counted." }
            } @else {
                (picture(view, &icicle))
                (methods(view, &icicle, unit))
            }
            @if !hottest.is_empty() {
                h3 { "Hottest chains" }
                div.scroll { table.chains {
                    thead { tr { th.num scope="col" { (unit) } th.num scope="col" { "At most" } th.num scope="col" { "Share" } @if view.has_intervals() { th.num scope="col" { "95 % interval" } } @if view.times.is_some() { th.num scope="col" { "CPU time, own" } th.num scope="col" { "With callees" } } th scope="col" { "Chain of calls" } } }
                    tbody { @for &at in &hottest { (row(view, at)) } }
                } }
            }
        }
    }
}

fn picture(view: &ContextsView, icicle: &Icicle) -> Markup {
    html! {
        div.with-script {
            div.icicle-head {
                h3 #icicle-title { "Who called whom" }
                (find("icicle"))
                div.zoom { button #icicle-all type="button" { "Show all" } }
            }
            p.note { "Each box is a method, below the one that called it; its width is the number of " (view.contexts.weight.unit()) " of it and all \
                that it called." span.keys { " A click, or Enter, enlarges a box; arrows go from box to box." } }
            div.icicle-box { div.icicle #icicle role="tree" aria-labelledby="icicle-title" {} }
            p.note.icicle-told #icicle-told aria-live="polite" {}
            @if icicle.counted < view.contexts.calls {
                p.note { "The chains hold " (percent(view.share(icicle.counted))) " of all " (view.contexts.weight.unit())
                    "; the others belong to chains without a counter. Shares are of all." }
            }
            @if icicle.left_out > 0 {
                p.note { (thousands(icicle.left_out)) " chains with less than " (thousands(icicle.least)) " " (view.contexts.weight.unit())
                    " each are not in the picture and the callers; the numbers of methods include them." }
            }
        }
        (embed::data("contexts-data", &icicle.data(view)))
    }
}

fn methods(view: &ContextsView, icicle: &Icicle, unit: &str) -> Markup {
    html! {
        div.overview {
            div.tree-box #callers-box hidden {
                h3 #callers-title { "Callers" }
                div.scrolled { ul.treeview #callers role="tree" aria-labelledby="callers-title" {} }
            }
            div {
                h3 { "Methods" }
                (search("context-search", "class, method or package"))
                div.scrolled tabindex="0" role="region" aria-label="Methods in chains of calls" { table.sortable #context-methods {
                    thead { tr {
                        th scope="col" data-type="text" { "Method" }
                        th.num scope="col" aria-sort="descending" { "With callees" @if !icicle.whole { ", at least" } }
                        th.num scope="col" { (unit) ", own" @if !icicle.whole { ", at least" } }
                        th.num scope="col" { "Own share" }
                    } }
                    tbody { @for method in icicle.methods.iter().take(ROWS) { tr {
                        td.name { (icicle.name(method)) }
                        td.num { (bar(view.share(method.inclusive))) span { (percent(view.share(method.inclusive))) } }
                        @if method.own == 0 && !icicle.whole { td.num { "not known" } td.num {} } @else {
                            td.num { (thousands(method.own)) }
                            td.num { (percent(view.share(method.own))) }
                        }
                    } } }
                } }
                @if icicle.methods.len() > ROWS { noscript { p.note { (thousands((icicle.methods.len() - ROWS) as u64)) " more methods are not listed without the page’s script." } } }
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
            @if view.has_intervals() { td.num { (view.share_interval(at).map_or(String::new(), share_range)) } }
            @if let Some([own, whole]) = view.time_shares(at) {
                td.num { (bar(own)) span { (percent(own)) } }
                td.num { (percent(whole)) }
            }
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
