//! Hot subpaths as a kind of data.

use maud::Markup;
use trodden_insight::view::View;

use super::{compare, html, json, text};
use crate::compare::{CompareError, Compared, Pair};
use crate::section::{Extent, Json, ReportSection};
use crate::text::Page;

/// Hot subpaths as a kind of data.
pub(crate) struct Kind;

impl ReportSection for Kind {
    fn key(&self) -> &'static str {
        "subpaths"
    }

    fn is_in(&self, view: &View) -> bool {
        view.subpaths.is_some()
    }

    fn stands_alone(&self) -> bool {
        true
    }

    fn participle(&self, view: &View) -> &'static str {
        if view.subpaths.as_ref().is_some_and(|view| view.about.is_exact()) {
            "counted"
        } else {
            "sampled"
        }
    }

    fn text(&self, view: &View, extent: &Extent, page: &mut Page) {
        if let Some(subpaths) = &view.subpaths {
            text::lines(subpaths, extent.top, page);
        }
    }

    fn html(&self, view: &View, extent: &Extent) -> Markup {
        html::section(view.subpaths.as_ref(), extent.top)
    }

    fn json<'v>(&self, view: &'v View<'v>, extent: &Extent) -> Option<Json<'v>> {
        let subpaths = view.subpaths.as_ref()?;
        Some(Box::new(json::document(subpaths, extent.top)))
    }

    fn compare(&self, pair: &Pair, notes: &mut Vec<String>) -> Result<Option<Compared>, CompareError> {
        Ok(compare::compare(pair, notes))
    }
}
