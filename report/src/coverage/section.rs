//! Coverage in reports of profiles that recorded nothing else.

use maud::{Markup, html};
use trodden_insight::coverage::{Counters, Coverage, CoverageOptions, MethodCoverage};
use trodden_insight::names;
use trodden_insight::view::View;

use super::json::part;
use super::{marks, text};
use crate::object::object;
use crate::section::{Extent, Json, ReportSection};
use crate::text::Page;
use crate::words::{percent, thousands};

/// Coverage as a kind of data.
pub(crate) struct Kind;

/// Coverage of the classes that were loaded; only the command line can know others.
fn coverage(view: &View) -> Option<Coverage> {
    view.profile.coverage.as_ref()?;
    Coverage::new(view.profile, None, |_, _, _| true, &CoverageOptions::default()).ok()
}

impl ReportSection for Kind {
    fn key(&self) -> &'static str {
        "coverage"
    }

    fn is_in(&self, view: &View) -> bool {
        view.profile.coverage.is_some()
    }

    fn stands_alone(&self) -> bool {
        true
    }

    fn is_of_paths(&self) -> bool {
        false
    }

    fn text(&self, view: &View, extent: &Extent, page: &mut Page) {
        if let Some(coverage) = coverage(view) {
            text::all(page, &coverage.printable(), extent.top);
        }
    }

    fn html(&self, view: &View, extent: &Extent) -> Markup {
        match coverage(view) {
            Some(coverage) => section(&coverage.printable(), extent.top),
            None => Markup::default(),
        }
    }

    fn json<'v>(&self, view: &'v View<'v>, _: &Extent) -> Option<Json<'v>> {
        let sums = coverage(view)?.counters();
        // `trodden coverage --format json` has the rest.
        Some(Box::new(object! {
            "branches": part(sums.branches),
            "lines": part(sums.lines),
            "methods": part(sums.methods),
            "classes": part(sums.classes),
        }))
    }
}

fn section(coverage: &Coverage, top: usize) -> Markup {
    let sums = coverage.counters();
    let rows = [
        ("branches", sums.branches),
        ("lines", sums.lines),
        ("methods", sums.methods),
        ("classes", sums.classes),
    ];
    let missing = marks::lacking(coverage);
    html! {
        section #coverage {
            h2 { "Coverage: what ran, of what could" }
            p.note { "Of the classes that were loaded. " code { "trodden coverage" } " with " code { "--classes" }
                " counts those that were not, and makes LCOV and JaCoCo's XML." }
            table {
                tbody { @for (name, ratio) in rows { tr {
                    th scope="row" { (name) }
                    td { (ratio.share().map_or("–".to_owned(), percent)) }
                    td { (text::of(ratio)) }
                } } }
            }
            @for (_, method) in missing.iter().take(top) { (one(method)) }
            @if missing.len() > top {
                p.note { "… and " (thousands((missing.len() - top) as u64)) " more methods lack something." }
            }
        }
    }
}

fn one(method: &MethodCoverage) -> Markup {
    let map = method.map();
    let sums = Counters::of([method], u64::MAX);
    let never = marks::never_taken(method);
    html! {
        details {
            summary {
                code { (names::dotted(method.class())) "." (names::signature(&map.name, &map.descriptor)) } " "
                span.badge { (text::of(sums.branches)) " branches, " (text::of(sums.lines)) " lines" }
            }
            @if !method.ran() { p.note { "Did not run." } }
            @if !never.is_empty() { ul { @for never in &never { li { (names::place(never.at)) ": " (never.markup()) } } } }
        }
    }
}
