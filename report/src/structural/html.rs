//! Loops on the HTML page: a table in each method's section.

use maud::{Markup, html};
use trodden_insight::structural::StructureView;

use super::text;
use crate::html::bar;
use crate::words::{percent, thousands};

/// The loops of a method, if they were counted.
pub(crate) fn section(view: Option<&StructureView>, paths: usize) -> Markup {
    let Some(view) = view else {
        return Markup::default();
    };
    html! {
        h4 { "Loops, each counted separately" }
        p.note { "Each loop was counted in its own windows, where an inner loop is a single step. “In the run” is the estimate for the whole run." }
        div.scroll { table {
            thead { tr {
                th scope="col" { "Path" }
                th.num scope="col" { "Share" }
                th.num scope="col" { "Counted" }
                th.num scope="col" { "In the run" }
            } }
            tbody {
                @for graph in view.graphs.iter().filter(|graph| graph.local > 0) {
                    tr {
                        th scope="rowgroup" style={ "padding-left:" (1 + 2 * graph.depth) "em" } title=(text::counted(graph)) { (text::name(graph)) }
                        td.num {}
                        td.num { (thousands(graph.local)) }
                        td.num { (thousands(graph.global)) }
                    }
                    @for path in graph.paths.iter().take(paths) {
                        tr {
                            td style={ "padding-left:" (3 + 2 * graph.depth) "em" } { (text::route(path)) }
                            td.num { (bar(text::fraction(graph, path))) span { (percent(text::fraction(graph, path))) } }
                            td.num { (thousands(path.local)) }
                            td.num { (thousands(path.global)) }
                        }
                    }
                }
            }
        } }
    }
}
