//! Subpaths on the HTML page: a table, with the blocks of each.

use maud::{Markup, html};
use trodden_insight::names::dotted;
use trodden_insight::subpaths::{BlockStep, Part, Shown, SubpathsView, error};

use super::text;
use crate::html::bar;
use crate::words::{percent, thousands};

/// The section, if there are subpaths.
pub(crate) fn section(view: Option<&SubpathsView>, top: usize) -> Markup {
    let Some(view) = view else {
        return Markup::default();
    };
    let shown: Vec<Shown> = view.shown(top).collect();
    html! {
        section #subpaths {
            h2 { "Hot subpaths" }
            p.note { "Sequences of basic blocks that were executed one after the other, across loops and calls. " (text::about(view))
                " Each block is named by its first line; “3 × [ … ]” means three times in a row." }
            @if shown.is_empty() {
                p.empty { "The sample has none." }
            } @else {
                div.scroll { table.sortable {
                    thead { tr {
                        th.num scope="col" { "Rank" }
                        th.num scope="col" aria-sort="descending" { "Times" }
                        th.num scope="col" { "±" }
                        th.num scope="col" { "Share" }
                        th.num scope="col" { "Blocks" }
                        th.num scope="col" { "Samples" }
                        th scope="col" data-type="text" { "Subpath" }
                    } }
                    tbody { @for shown in &shown { (row(shown)) } }
                } }
                @if view.chosen.len() > shown.len() {
                    p.note { (thousands((view.chosen.len() - shown.len()) as u64)) " more are in the sample." }
                }
            }
        }
    }
}

fn row(shown: &Shown) -> Markup {
    let subpath = shown.subpath;
    html! {
        tr {
            td.num data-value=(shown.rank) { (shown.rank) }
            td.num data-value=(subpath.estimate) { (thousands(subpath.estimate)) }
            td.num data-value=(error(subpath)) title={ (thousands(subpath.low)) " to " (thousands(subpath.high)) } { (percent(error(subpath))) }
            td.num data-value=(shown.share) { (bar(shown.share)) span { (percent(shown.share)) } }
            td.num data-value=(subpath.length) { (thousands(u64::from(subpath.length))) }
            td.num data-value=(subpath.sampled) { (thousands(subpath.sampled)) }
            td data-value=(shown.rank) {
                (parts(&shown.parts, &shown.steps, &mut None))
                @if shown.missing > 0 { " … and " (thousands(u64::from(shown.missing))) " blocks that were not recorded" }
            }
        }
    }
}

fn parts<'p>(
    parts_shown: &[Part],
    steps: &[BlockStep<'p>],
    before: &mut Option<(&'p str, &'p str, &'p str)>,
) -> Markup {
    html! {
        @for part in parts_shown {
            @match part {
                Part::One(step) => {
                    @let step = &steps[*step as usize];
                    @let method = (step.class, step.method.name.as_str(), step.method.descriptor.as_str());
                    @let named = before.replace(method) == Some(method);
                    code title={ (dotted(step.class)) "." (step.method.name) (step.method.descriptor) ", bytecode index " (step.bci) } {
                        @if !named { (text::name(step)) }
                        (text::place(step))
                    }
                    " "
                }
                Part::Times(times, body) => {
                    b { (times) " × [" } " "
                    @let inside = parts(body, steps, &mut None);
                    (inside)
                    b { "]" } " "
                    @let _ = before.take();
                }
            }
        }
    }
}
