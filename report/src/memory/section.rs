//! Methods of earlier runs as a kind of data.

use maud::{Markup, html};
use trodden_insight::view::{MethodView, View};
use trodden_profile::Known;

use crate::object::object;
use crate::section::{Extent, Json, ReportSection};
use crate::text::Page;
use crate::words;

/// Methods of earlier runs as a kind of data.
pub(crate) struct Kind;

impl ReportSection for Kind {
    fn key(&self) -> &'static str {
        "earlier"
    }

    fn is_in(&self, view: &View) -> bool {
        about(view).is_some()
    }

    fn has_overview(&self) -> bool {
        true
    }

    fn overview(&self, view: &View, width: usize, page: &mut Page) {
        if let Some(about) = about(view) {
            crate::text::wrap(&about, width)
                .iter()
                .for_each(|line| page.line(line));
            page.line("");
        }
    }

    fn text(&self, view: &View, _: &Extent, page: &mut Page) {
        if let Some(about) = about(view) {
            page.wrapped(0, &about);
            page.line("");
        }
    }

    fn text_of_method(&self, _: &View, method: &MethodView, _: &Extent, page: &mut Page) {
        if let Some(earlier) = &method.earlier {
            page.wrapped(3, &super::mark(earlier));
        }
    }

    fn html(&self, view: &View, _: &Extent) -> Markup {
        html! { @if let Some(about) = about(view) { section #earlier { p.note { (about) } } } }
    }

    fn html_of_method(&self, _: &View, method: &MethodView, _: &Extent) -> Markup {
        html! { @if let Some(earlier) = &method.earlier { p.note { "The " (super::mark(earlier)) "." } } }
    }

    fn json_of_method<'v>(&self, method: &'v MethodView<'v>, _: &Extent) -> Option<Json<'v>> {
        let earlier = method.earlier.as_ref()?;
        Some(Box::new(object! {
            "run": earlier.run.number,
            "started_ms": earlier.run.started_ms,
            "seconds": earlier.run.seconds,
            "jvm": &earlier.run.jvm,
            "version": &earlier.run.version,
            "because": match earlier.known {
                Known::Settled => "settled",
                Known::Cold => "cold",
            },
        }))
    }
}

/// A sentence about all of them; nothing if there are none.
fn about(view: &View) -> Option<String> {
    let number = view
        .methods
        .iter()
        .filter(|method| method.earlier.is_some())
        .count();
    if number == 0 {
        return None;
    }
    Some(format!(
        "{} had no probes in this run (--again): their counts are those of the earlier run that is named with them, and in no \
         sum; times are this run's.",
        words::methods(number as u64)
    ))
}
