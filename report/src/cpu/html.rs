//! CPU samples on the HTML page: an icicle of stacks, and a table of methods.

use maud::{Markup, html};
use trodden_insight::cpu::{CpuView, title};
use trodden_insight::view::View;

use super::flame::{self, Data};
use super::text;
use crate::html::{bar, breakable, embed, find};
use crate::words::{TIME_WITH_CALLEES, percent, seconds, thousands};

/// The section, if there are samples.
pub(super) fn section(cpu: Option<&CpuView>, view: &View, top: usize) -> Markup {
    let Some(cpu) = cpu else {
        return Markup::default();
    };
    let own = cpu.methods.iter().filter(|(_, time)| !time.all.own.is_none());
    html! {
        section #time {
            h2 { "Where the CPU time goes" }
            p.note { (text::about(cpu)) " " @if let Some(notes) = text::notes(cpu) { (notes) } }
            @if !cpu.few {
                @if let Some(data) = flame::data(cpu, view) { (picture(&data)) }
                div.overview { div.scrolled tabindex="0" role="region" aria-label="Methods by CPU time" { table.sortable {
                    thead { tr {
                        th scope="col" data-type="text" { "Method" }
                        th.num scope="col" aria-sort="descending" title="CPU time in the method itself" { "Self" }
                        th.num scope="col" title=(TIME_WITH_CALLEES) { "With callees" }
                        th.num scope="col" title="CPU time in the method itself" { "Self, time" }
                        th.num scope="col" title="Samples in the method itself" { "Samples" }
                    } }
                    tbody { @for (frame, time) in own.take(top) { tr {
                        @let (own, total) = (cpu.share(time.all.own), cpu.share(time.all.total));
                        td.name data-value=(title(frame)) { code { (breakable(&title(frame))) } }
                        td.num data-value=(own) { (bar(own)) span { (percent(own)) } }
                        td.num data-value=(total) { (percent(total)) }
                        td.num data-value=(time.all.own.ns) { (seconds(time.all.own.ns)) }
                        td.num data-value=(time.all.own.samples) { (thousands(time.all.own.samples)) }
                    } } }
                } } }
            }
        }
    }
}

/// The icicle, and how to read it.
fn picture(data: &Data) -> Markup {
    let (left_out, least) = data.left_out;
    html! {
        div.with-script {
            div.icicle-head {
                h3 #time-title { "Who called whom, by CPU time" }
                (find("time"))
                div.zoom {
                    @if data.can_split { button #time-split type="button" aria-pressed="false" { "Split by path" } " " }
                    button #time-all type="button" { "Show all" }
                }
            }
            p.note { "Each box is a method, below the one that called it; its width is its CPU time with callees."
                span.keys { " A click, or Enter, enlarges a box; arrows go from box to box." } }
            @if data.can_split {
                p.note { span.keys { "▸, or the key P, splits a method by the paths that led to its calls; what is below a path was called on it." }
                    span.call.way.sample style="--sure:100%" {} "certain: the path was seen, or no other counted path goes there"
                    span.call.way.sample {} "divided among paths by how often they ran"
                    span.call.way.unknown.sample {} "not known" }
                p.note { (percent(data.divided.share())) " of the samples in methods with counted paths are divided ("
                    (thousands(data.divided.by_counts.round() as u64)) " of " (thousands(data.divided.samples)) ")." }
            }
            div.icicle-box { div.icicle #time-icicle role="tree" aria-labelledby="time-title" {} }
            p.note.icicle-told #time-told aria-live="polite" {}
            @if left_out > 0 {
                p.note { (thousands(left_out)) " chains with less than " (seconds(least)) " each are not in the picture." }
            }
        }
        (embed::data("time-data", data))
    }
}
