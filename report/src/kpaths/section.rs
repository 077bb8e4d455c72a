//! Path forests as a kind of data.

use maud::Markup;
use trodden_insight::kpaths::Limits;
use trodden_insight::view::{MethodView, View};

use super::{compare, dot, html, json, text};
use crate::compare::{CompareError, Compared, Pair};
use crate::section::{Extent, Json, ReportSection};
use crate::text::Page;

/// Path forests as a kind of data.
pub(crate) struct Kind;

impl Kind {
    fn limits(extent: &Extent) -> Limits {
        extent.options.kpaths.limits(extent.least, extent.paths)
    }
}

impl ReportSection for Kind {
    fn key(&self) -> &'static str {
        "kpaths"
    }

    fn is_in(&self, view: &View) -> bool {
        view.kpaths.is_some()
    }

    fn text_of_method(&self, view: &View, method: &MethodView, extent: &Extent, page: &mut Page) {
        text::write(&text::lines(view.kpaths, method, &Self::limits(extent)), page);
    }

    fn html_of_method(&self, view: &View, method: &MethodView, extent: &Extent) -> Markup {
        html::section(view.kpaths, method, &Self::limits(extent)).unwrap_or_default()
    }

    fn dot_of_method(
        &self,
        view: &View,
        method: &MethodView,
        index: usize,
        extent: &Extent,
        out: &mut String,
    ) {
        dot::cluster(out, view.kpaths, index, method, &Self::limits(extent));
    }

    fn json<'v>(&self, view: &'v View<'v>, extent: &Extent) -> Option<Json<'v>> {
        let forests = json::forests(view, extent.top, &Self::limits(extent))?;
        Some(Box::new(forests))
    }

    fn compare(&self, pair: &Pair, notes: &mut Vec<String>) -> Result<Option<Compared>, CompareError> {
        Ok(compare::compare(pair, notes))
    }
}
