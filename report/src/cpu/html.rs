//! CPU samples on the HTML page: a table of methods.

use maud::{Markup, html};

use super::{CpuView, seconds, text, title};
use crate::words::{percent, thousands};

/// The section, if there are samples.
pub(super) fn section(cpu: Option<&CpuView>, top: usize) -> Markup {
    let Some(cpu) = cpu else {
        return Markup::default();
    };
    let own = cpu.methods.iter().filter(|(_, time)| !time.all.own.is_none());
    html! {
        section #time {
            h2 { "Where the CPU time goes" }
            p.note { (text::about(cpu)) " " @if let Some(notes) = text::notes(cpu) { (notes) } }
            @if cpu.total.samples > 0 {
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
