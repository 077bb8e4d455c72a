//! CPU samples on the HTML page: an icicle of stacks, and a table of methods.

use maud::{Markup, html};

use super::flame::{self, Data};
use super::{CpuView, text, title};
use crate::html::embed;
use crate::view::View;
use crate::words::{percent, seconds, thousands};

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
            @if cpu.total.samples > 0 {
                @if let Some(data) = flame::data(cpu, view) { (picture(&data)) }
                div.scroll { table.sortable {
                    thead { tr {
                        th.num scope="col" aria-sort="descending" { "Self" }
                        th.num scope="col" { "Total" }
                        th.num scope="col" { "Own time" }
                        th.num scope="col" { "Samples" }
                        th scope="col" data-type="text" { "Method" }
                    } }
                    tbody { @for (frame, time) in own.take(top) { tr {
                        @let (own, total) = (cpu.share(time.all.own), cpu.share(time.all.total));
                        td.num data-value=(own) { (percent(own)) }
                        td.num data-value=(total) { (percent(total)) }
                        td.num data-value=(time.all.own.ns) { (seconds(time.all.own.ns)) }
                        td.num data-value=(time.all.own.samples) { (thousands(time.all.own.samples)) }
                        td { code { (title(frame)) } }
                    } } }
                } }
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
                div.zoom {
                    @if data.can_split { button #time-split type="button" aria-pressed="false" { "Split by path" } " " }
                    button #time-all type="button" { "Show all" }
                }
            }
            p.note { "Each box is a method, below the one that called it; its width is the CPU time of it and all that it called. A click, or \
                Enter, enlarges a box; arrows go from box to box." }
            @if data.can_split {
                p.note { "▸, or the key P, splits a method by the paths that led to its calls; what stands below a path was called on it."
                    span.call.way.key style="--sure:100%" {} "certain: no other counted path goes there"
                    span.call.way.key {} "divided among paths by how often they ran"
                    span.call.way.unknown.key {} "not known" }
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
