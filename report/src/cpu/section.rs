//! CPU samples as a kind of data.

use maud::Markup;
use trodden_insight::cpu::CpuView;
use trodden_insight::cpu::stacks::{divided, splits};
use trodden_insight::view::View;

use super::{export, html, json, text};
use crate::exports::Export;
use crate::section::{Extent, Json, OfKinds, ReportSection};
use crate::text::Page;

/// CPU samples as a kind of data.
pub(crate) struct Kind;

impl ReportSection for Kind {
    fn key(&self) -> &'static str {
        "time"
    }

    fn is_in(&self, view: &View) -> bool {
        view.profile.cpu.is_some()
    }

    fn has_overview(&self) -> bool {
        true
    }

    fn overview(&self, view: &View, width: usize, page: &mut Page) {
        if let Some(cpu) = CpuView::of(view) {
            text::overview(&cpu, width, page);
        }
    }

    fn text(&self, view: &View, extent: &Extent, page: &mut Page) {
        // Samples are of all methods: those that were asked for have their time with their paths.
        let of_methods = extent.options.method.is_some() && view.counts_paths();
        if let Some(cpu) = CpuView::of(view).filter(|_| !of_methods) {
            text::lines(&cpu, extent.top, page);
        }
    }

    fn html(&self, view: &View, extent: &Extent) -> Markup {
        html::section(CpuView::of(view).as_ref(), view, extent.top)
    }

    fn script(&self) -> &'static str {
        include_str!("../assets/cpu.js")
    }

    fn style(&self) -> &'static str {
        include_str!("../assets/cpu.css")
    }

    fn time_stacks(&self, view: &View) -> Option<Export> {
        export::export(&CpuView::of(view)?, view)
    }

    fn json<'v>(&self, view: &'v View<'v>, extent: &Extent) -> Option<Json<'v>> {
        let (cpu, times) = (CpuView::of(view)?, view.sampled.as_ref()?);
        let divided = divided(&splits(view, times), times);
        Some(Box::new(json::document(&cpu, divided, extent.top)))
    }
}
