//! Trees on the HTML page: nested lists that open and close without a script.

use maud::{Markup, html};
use trodden_insight::findings::ratio;
use trodden_insight::kpaths::{Fold, Limits, Line, Step, Tree, Trees, leftovers};
use trodden_insight::view::MethodView;
use trodden_profile::KPaths;

use super::margin_of;
use crate::html::bar;
use crate::html_method::route;
use crate::words::{percent, thousands};

/// Levels of lines at most: a browser that nests deeper lists shows nothing worth reading.
const DEEPEST: usize = 60;
/// Levels that are open when the page loads.
const OPEN: usize = 4;

/// The section of a method, if it has trees.
pub(crate) fn section(kpaths: Option<&KPaths>, method: &MethodView, limits: &Limits) -> Option<Markup> {
    let trees = Trees::new(kpaths, method, limits)?;
    let drawn: Vec<(&Tree, Vec<Line>)> = trees
        .trees
        .iter()
        .map(|tree| (tree, tree.lines(limits.fold(Fold::Chains))))
        .collect();
    Some(html! {
        div.kpaths {
            h3 { "What came next" }
            p.note { "Each tree starts with a path. Below it are the paths that followed in the same call, in sequences of up to " (trees.k)
                ", with their share of the line above and, in brackets, of the first path. “×4” means four times in a row. An arrow joins \
                paths that nearly always (" (percent(1.0 - trodden_insight::kpaths::LOSS)) " or more) follow each other; the shares are those of the last one. \
                Click a number to mark that path. Paths with less than " (percent(limits.min_parent)) " of the line above or "
                (percent(limits.min_root)) " of the first path are not shown." }
            @if let Some(bursts) = super::bursts(&trees) { p.note { (bursts) } }
            @if let Some(error) = super::error(&trees) { p.note { (error) } }
            div.trees {
                div { @for (i, (tree, lines)) in drawn.iter().enumerate() {
                    details.tree open[i < 3] {
                        summary { b { "path " (chip(&trees, &Step { path: tree.root().path, times: 1 })) } " " (thousands(tree.root().count))
                            " times " span.soft { "(" (percent(ratio(tree.root().count, trees.total))) (margin_of(&trees, ratio(tree.root().count, trees.total), trees.intervals[i])) " of this method’s paths)" } }
                        (below(&trees, tree, lines, &lines[0], limits))
                    }
                } }
                dl.legend { @for (number, path) in &trees.paths {
                    dt { "path " (number) }
                    dd { @match path { Ok(path) => { (route(method, path)) } Err(error) => { "names no path: " (error.to_string()) } } }
                } }
            }
            @if trees.more > 0 { p.note { "… and trees of " (thousands(trees.more as u64)) " more paths." } }
            @if !trees.last.is_empty() { p.note { "Never followed by another path: "
                @for (i, (number, count)) in trees.last.iter().take(20).enumerate() {
                    @if i > 0 { ", " } "path " (number) " (" (thousands(*count)) " times)"
                }
                @if trees.last.len() > 20 { ", …" } "." } }
        }
    })
}

fn below(trees: &Trees, tree: &Tree, lines: &[Line], line: &Line, limits: &Limits) -> Markup {
    let rest = leftovers(tree, line, limits);
    html! {
        ul {
            @for &child in &line.children {
                @let child = &lines[child];
                li {
                    @if child.depth >= DEEPEST { (branch(trees, tree, child)) @if !child.children.is_empty() { " …" } }
                    @else if child.children.is_empty() && leftovers(tree, child, limits).is_empty() { (branch(trees, tree, child)) }
                    @else {
                        details open[child.depth < OPEN] {
                            summary { (branch(trees, tree, child)) }
                            (below(trees, tree, lines, child, limits))
                        }
                    }
                }
            }
            @for (words, of_line, of_root) in &rest {
                li.soft { (shares(*of_line, "", *of_root)) (words) }
            }
        }
    }
}

fn branch(trees: &Trees, tree: &Tree, line: &Line) -> Markup {
    html! {
        (shares(line.of_parent, &margin_of(trees, line.of_parent, line.interval), tree.nodes[line.last].of_root))
        span.steps title={ (thousands(tree.nodes[line.last].count)) " times" } {
            @for (i, step) in line.steps.iter().enumerate() {
                @if i > 0 { " " span.arrow { "→" } " " }
                (chip(trees, step))
            }
        }
    }
}

fn shares(of_parent: f64, margin: &str, of_root: f64) -> Markup {
    html! { (bar(of_root)) span.shares { b { (percent(of_parent)) } (margin) " (" (percent(of_root)) ")" } " " }
}

/// A path's number; a button for the script, which a reader without script does not miss: the legend tells the path.
fn chip(trees: &Trees, step: &Step) -> Markup {
    let title = trees.routes.get(&step.path).map_or("", String::as_str);
    html! {
        span.chip.step data-goto=(step.path) title=(title) { (step.path) }
        @if step.times > 1 { span.times { " ×" (step.times) } }
    }
}
