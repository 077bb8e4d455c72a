//! Calling contexts as a kind of data.

use maud::Markup;
use trodden_insight::view::View;

use super::{collapsed, compare, html, json, text};
use crate::compare::{CompareError, Compared, Pair};
use crate::exports::Export;
use crate::section::{Extent, Json, ReportSection};
use crate::text::Page;

/// Calling contexts as a kind of data.
pub(crate) struct Kind;

impl ReportSection for Kind {
    fn key(&self) -> &'static str {
        "contexts"
    }

    fn is_in(&self, view: &View) -> bool {
        view.contexts.is_some()
    }

    fn stands_alone(&self) -> bool {
        true
    }

    fn is_of_paths(&self) -> bool {
        false
    }

    fn has_chosen(&self, view: &View) -> bool {
        view.contexts
            .as_ref()
            .is_some_and(|contexts| contexts.hot.contains(&true))
    }

    fn text(&self, view: &View, extent: &Extent, page: &mut Page) {
        if let Some(contexts) = &view.contexts {
            text::write(contexts, extent.top, page);
        }
    }

    fn html(&self, view: &View, extent: &Extent) -> Markup {
        let contexts = view.contexts.as_ref();
        contexts.map_or_else(Markup::default, |contexts| html::section(contexts, extent.top))
    }

    fn stacks(&self, view: &View) -> Option<Export> {
        view.contexts.as_ref().map(collapsed::export)
    }

    fn script(&self) -> &'static str {
        include_str!("../assets/contexts.js")
    }

    fn style(&self) -> &'static str {
        include_str!("../assets/contexts.css")
    }

    fn json<'v>(&self, view: &'v View<'v>, extent: &Extent) -> Option<Json<'v>> {
        let contexts = view.contexts.as_ref()?;
        Some(Box::new(json::document(contexts, extent.top)))
    }

    fn compare(&self, pair: &Pair, notes: &mut Vec<String>) -> Result<Option<Compared>, CompareError> {
        compare::compare(pair, notes)
    }
}
