//! Requests as a kind of data.

use maud::Markup;
use trodden_insight::slow::{Decoded, Limit, Slow};
use trodden_insight::view::View;

use super::{html, json, text};
use crate::section::{Extent, Json, ReportSection};
use crate::text::{Page, WIDTH};

/// Requests as a kind of data.
pub(crate) struct Kind;

impl ReportSection for Kind {
    fn key(&self) -> &'static str {
        "requests"
    }

    fn is_in(&self, view: &View) -> bool {
        view.profile.requests.is_some()
    }

    fn is_of_paths(&self) -> bool {
        false
    }

    fn has_overview(&self) -> bool {
        true
    }

    fn overview(&self, view: &View, width: usize, page: &mut Page) {
        if let Some(slow) = slow(view) {
            text::overview(&slow, &view.sources, width, page);
        }
    }

    fn text(&self, view: &View, _: &Extent, page: &mut Page) {
        self.overview(view, WIDTH, page);
    }

    fn html(&self, view: &View, _: &Extent) -> Markup {
        let Ok(decoded) = Decoded::new(view.profile, &view.sources) else {
            return Markup::default();
        };
        let slow = decoded.slow(Limit::default());
        html::section(&slow, &decoded.bands(&slow), &view.sources)
    }

    fn script(&self) -> &'static str {
        html::SCRIPT
    }

    fn style(&self) -> &'static str {
        html::STYLE
    }

    fn json<'v>(&self, view: &'v View<'v>, _: &Extent) -> Option<Json<'v>> {
        Some(Box::new(json::Document(slow(view)?)))
    }
}

/// The slowest hundredth against the others.
fn slow(view: &View) -> Option<Slow> {
    let decoded = Decoded::new(view.profile, &view.sources).ok()?;
    Some(decoded.slow(Limit::default()))
}
