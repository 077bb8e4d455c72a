//! The page of a class: its methods.

use std::cmp::Reverse;

use maud::{Markup, html};
use trodden_insight::coverage::{Counters, Coverage, MethodCoverage};
use trodden_insight::names;
use trodden_insight::names::dotted;

use super::{Class, INDEX, Package, cells, frame, heads, missed, most, signature, simple};
use crate::coverage::marks;

pub(super) fn page(coverage: &Coverage, package: &Package, class: &Class) -> String {
    let counted = |method: &&'_ MethodCoverage| Counters::of([*method], coverage.options.cap);
    let all: Vec<Counters> = class.methods.iter().map(counted).collect();
    let widest = most(all.iter());
    let mut methods: Vec<_> = all.iter().zip(&class.methods).collect();
    methods.sort_by_key(|(counters, _)| Reverse(missed(counters)));
    let content = html! {
        section {
            @if let Some(file) = class.file.map(|file| &package.files[file]) {
                p { "Source: " a href=(file.page) { (file.name) } }
            }
            h2 { "Methods" }
            div.scroll { table.sortable {
                thead { tr { th scope="col" data-type="text" { "Method" } (heads(coverage)) } }
                tbody { @for (counters, method) in methods { tr {
                    td data-value=(signature(method)) { (one(package, method)) }
                    (cells(coverage, counters, &widest))
                } } }
            } }
        }
    };
    let up = format!("../{INDEX}");
    let trail = [("Coverage", up.as_str()), (package.title(), INDEX)];
    frame(coverage, &dotted(simple(class.name)), "../", &trail, &content)
}

/// Its name, and the outcomes of its decisions that were never taken.
fn one(package: &Package, method: &MethodCoverage) -> Markup {
    let first = method.lines().keys().next().copied();
    html! {
        @match package.place_of(method, first) {
            Some(place) => { a href=(place) { code { (signature(method)) } } }
            None => { code { (signature(method)) } }
        }
        @if !method.ran() { " " span.badge.never { "did not run" } }
        @let never = marks::never_taken(method);
        @if !never.is_empty() {
            ul.ways { @for one in &never { li {
                @match package.place_of(method, one.at.line) {
                    Some(place) => { a href=(place) { (names::place(one.at)) } }
                    None => { (names::place(one.at)) }
                }
                ": " (one.markup())
            } } }
        }
    }
}
