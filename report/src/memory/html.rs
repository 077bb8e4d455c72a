//! Methods that earlier runs know, on the HTML page.

use maud::{Markup, html};

use super::{RememberedView, about, date, weight};
use crate::text::route;
use crate::words::{percent, thousands};

/// Paths of each method.
const PATHS: usize = 5;

/// The section, if there are such methods.
pub(super) fn section(all: &[RememberedView], top: usize) -> Markup {
    if all.is_empty() {
        return Markup::default();
    }
    html! {
        section #remembered {
            h2 { "Known from earlier runs" }
            p.note { (about(all)) " First column: " (weight(all)) "." }
            @for one in all.iter().take(top) {
                details {
                    summary {
                        (percent(one.time.unwrap_or(one.about.decisions))) " " code { (one.method.title()) } " "
                        span.badge { "run " (one.run.number) ", " (date(one.run.started_ms)) }
                    }
                    p.note { (one.when()) "." }
                    ul { @for path in one.method.paths.iter().take(PATHS) {
                        li {
                            (percent(path.share_of_method)) ", " (thousands(path.count)) " times: "
                            (route(path, one.method.map, one.method.decisions()))
                        }
                    } }
                }
            }
            @if all.len() > top { p.note { "… and " (thousands((all.len() - top) as u64)) " more." } }
        }
    }
}
