//! The list of all kinds of data apart from plain paths. Formats and `compare` go through it and know no kind
//! by name.

use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::contexts;
use crate::coverage;
use crate::cpu;
use crate::kpaths;
use crate::memory;
use crate::section::{Json, ReportSection};
use crate::structural;
use crate::subpaths;
use trodden_insight::view::View;

/// All kinds, in the order in which reports show them.
pub(crate) const KINDS: [&dyn ReportSection; 7] = [
    &cpu::section::Kind,
    &coverage::section::Kind,
    &contexts::section::Kind,
    &subpaths::section::Kind,
    &kpaths::section::Kind,
    &structural::section::Kind,
    &memory::section::Kind,
];

/// Kinds of data in the profile that may be there without counts of paths.
pub(crate) fn standing_alone(view: &View<'_>) -> impl Iterator<Item = &'static dyn ReportSection> {
    KINDS
        .into_iter()
        .filter(|kind| kind.stands_alone() && kind.is_in(view))
}

/// Does the profile count paths, or would it if any had run? One of subpaths alone does not.
pub(crate) fn counts_paths(view: &View<'_>) -> bool {
    view.totals.methods > 0 || standing_alone(view).next().is_none()
}

/// What the kinds have to say in JSON, by their keys.
pub(crate) struct Keys<'v>(Vec<(&'static str, Json<'v>)>);

impl<'v> Keys<'v> {
    /// Asks all kinds.
    pub fn of(json: impl Fn(&dyn ReportSection) -> Option<Json<'v>>) -> Self {
        Keys(
            KINDS
                .iter()
                .filter_map(|kind| Some((kind.key(), json(*kind)?)))
                .collect(),
        )
    }
}

impl Serialize for Keys<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (key, value) in &self.0 {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}
