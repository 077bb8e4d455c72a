//! Work of a kind of data in reports and comparisons. Each kind is a folder, whose `section.rs` implements
//! [`ReportSection`], and a line in [`KINDS`](crate::kinds::KINDS).

use maud::{Markup, html};
use trodden_insight::view::{MethodView, View};

use crate::compare::{CompareError, Compared, Pair};
use crate::exports::Export;
use crate::options::ReportOptions;
use crate::text::Page;

/// How much of a profile a format shows.
#[derive(Clone, Copy)]
pub(crate) struct Extent<'o> {
    /// Methods, or whatever a kind lists, at most.
    pub top: usize,
    /// Paths of a method at most.
    pub paths: usize,
    /// Least share that is worth a line here, unless an option says otherwise.
    pub least: f64,
    /// Options of the report.
    pub options: &'o ReportOptions,
}

/// Data of a kind, for JSON.
pub(crate) type Json<'v> = Box<dyn erased_serde::Serialize + 'v>;

/// How a kind of data is shown. It takes the data from [`View::profile`] or from the view model; what it does
/// not show in some format it leaves out. The implementor has no state.
pub(crate) trait ReportSection: Sync {
    /// Its key in JSON: in the report, in a method, and in a comparison.
    fn key(&self) -> &'static str;

    /// True if the profile has such data.
    fn is_in(&self, view: &View) -> bool;

    /// True if a profile with such data counts paths only on request.
    fn stands_alone(&self) -> bool {
        false
    }

    /// Were `counted` or `sampled`, if it stands alone.
    fn participle(&self, _: &View) -> &'static str {
        "counted"
    }

    /// True if it is made of paths, so that the guide to paths comes first.
    fn is_of_paths(&self) -> bool {
        true
    }

    /// True if it has something of the selected methods, although these have no path.
    fn has_chosen(&self, _: &View) -> bool {
        false
    }

    /// True if the first screen has an overview of it.
    fn has_overview(&self) -> bool {
        false
    }

    /// For the first screen of a terminal with so many columns, in front of everything else.
    fn overview(&self, _: &View, _width: usize, _: &mut Page) {}

    /// For a terminal, in front of the methods.
    fn text(&self, _: &View, _: &Extent, _: &mut Page) {}

    /// For a terminal, behind a method's paths.
    fn text_of_method(&self, _: &View, _: &MethodView, _: &Extent, _: &mut Page) {}

    /// For the page, in front of the methods.
    fn html(&self, _: &View, _: &Extent) -> Markup {
        html! {}
    }

    /// For the page: what draws its section, in the scope of `assets/shared.js` and the others.
    fn script(&self) -> &'static str {
        ""
    }

    /// For the page: the rules of its section, which has [`key`](Self::key) as its id. They apply nowhere
    /// else.
    fn style(&self) -> &'static str {
        ""
    }

    /// For the page, in a method's section.
    fn html_of_method(&self, _: &View, _: &MethodView, _: &Extent) -> Markup {
        html! {}
    }

    /// For Graphviz, behind a method's graph; `index` is the method's number in the picture.
    fn dot_of_method(&self, _: &View, _: &MethodView, _index: usize, _: &Extent, _: &mut String) {}

    /// Its stacks, for other tools.
    fn stacks(&self, _: &View) -> Option<Export> {
        None
    }

    /// Its stacks by time, where others have other stacks.
    fn time_stacks(&self, _: &View) -> Option<Export> {
        None
    }

    /// For JSON, about the profile.
    fn json<'v>(&self, _: &'v View<'v>, _: &Extent) -> Option<Json<'v>> {
        None
    }

    /// For JSON, about a method.
    fn json_of_method<'v>(&self, _: &'v MethodView<'v>, _: &Extent) -> Option<Json<'v>> {
        None
    }

    /// Holds an estimate against the truth, if both have such data. `notes` takes what the user should know.
    ///
    /// # Errors
    /// If they do not go together.
    fn compare(&self, _: &Pair, _notes: &mut Vec<String>) -> Result<Option<Compared>, CompareError> {
        Ok(None)
    }
}

/// Facts about the kinds of data in a view, for formats: the list of kinds implements it.
pub(crate) trait OfKinds {
    /// Kinds of data in the profile that may be there without counts of paths.
    fn standing_alone(&self) -> impl Iterator<Item = &'static dyn ReportSection>;

    /// True if the profile counts paths, or would if any had run. One of subpaths alone does not.
    fn counts_paths(&self) -> bool;
}
