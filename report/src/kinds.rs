//! The list of all kinds of data apart from plain paths. Formats and `compare` go through it and know no kind
//! by name.

use serde::ser::SerializeMap;
use trodden_insight::view::View;

use crate::contexts;
use crate::coverage;
use crate::cpu;
use crate::kpaths;
use crate::memory;
use crate::object::Fields;
use crate::section::{Json, OfKinds, ReportSection};
use crate::slow;
use crate::structural;
use crate::subpaths;

/// All kinds, in the order in which reports show them.
pub(crate) const KINDS: [&dyn ReportSection; 8] = [
    &slow::section::Kind,
    &cpu::section::Kind,
    &coverage::section::Kind,
    &contexts::section::Kind,
    &subpaths::section::Kind,
    &kpaths::section::Kind,
    &structural::section::Kind,
    &memory::section::Kind,
];

impl OfKinds for View<'_> {
    fn standing_alone(&self) -> impl Iterator<Item = &'static dyn ReportSection> {
        KINDS
            .into_iter()
            .filter(|kind| kind.stands_alone() && kind.is_in(self))
    }

    fn counts_paths(&self) -> bool {
        self.totals.methods > 0 || self.standing_alone().next().is_none()
    }
}

/// Data of all kinds for JSON, by their keys.
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

impl Fields for Keys<'_> {
    fn write<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        self.0
            .iter()
            .try_for_each(|(key, value)| map.serialize_entry(key, value))
    }
}
