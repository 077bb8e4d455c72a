//! Structural profiles as a kind of data.

use maud::Markup;
use trodden_insight::view::{MethodView, View};

use super::{compare, html, json, text};
use crate::compare::{CompareError, Compared, Pair};
use crate::section::{Extent, Json, ReportSection};
use crate::text::Page;

/// Structural profiles as a kind of data.
pub(crate) struct Kind;

impl ReportSection for Kind {
    fn key(&self) -> &'static str {
        "structural"
    }

    fn is_in(&self, view: &View) -> bool {
        view.profile.structural.is_some()
    }

    fn text_of_method(&self, _: &View, method: &MethodView, extent: &Extent, page: &mut Page) {
        let structure = method.structure.iter();
        for (indent, line) in structure.flat_map(|structure| text::lines(structure, extent.paths)) {
            page.wrapped(indent, &line);
        }
    }

    fn html_of_method(&self, _: &View, method: &MethodView, extent: &Extent) -> Markup {
        html::section(method.structure.as_ref(), extent.paths)
    }

    fn json_of_method<'v>(&self, method: &'v MethodView<'v>, extent: &Extent) -> Option<Json<'v>> {
        let structure = method.structure.as_ref()?;
        Some(Box::new(json::graphs(structure, extent.paths)))
    }

    fn compare(&self, pair: &Pair, _: &mut Vec<String>) -> Result<Option<Compared>, CompareError> {
        Ok(compare::compare(pair))
    }
}
