//! Calls of contexts per group of bursts.

use std::collections::BTreeMap;

use crate::model::burst_groups::ByGroup;

/// Calls of contexts per group of bursts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BurstGroups {
    /// Sums of all contexts.
    pub all: ByGroup,
    /// Sums of the contexts whose calls were counted, by index in the tree, ascending.
    pub contexts: Vec<(u32, ByGroup)>,
}

impl BurstGroups {
    /// Those of contexts by their indices in the tree, in any order. The same context's are added up; those without calls are left
    /// out.
    pub fn placed(all: ByGroup, by_context: impl IntoIterator<Item = (u32, ByGroup)>) -> Self {
        let mut contexts: BTreeMap<u32, ByGroup> = BTreeMap::new();
        for (at, by_group) in by_context {
            contexts.entry(at).or_default().plus(&by_group);
        }
        let contexts = contexts.into_iter();
        let contexts = contexts
            .filter(|(_, by_group)| *by_group != ByGroup::default())
            .collect();
        BurstGroups { all, contexts }
    }

    /// Those of a context, to be changed.
    pub(super) fn of_mut(&mut self, context: usize) -> Option<&mut ByGroup> {
        let at = self
            .contexts
            .binary_search_by_key(&context, |&(at, _)| at as usize);
        Some(&mut self.contexts[at.ok()?].1)
    }

    /// Those of a context, by its index in the tree.
    pub fn of(&self, context: usize) -> Option<&ByGroup> {
        let at = self
            .contexts
            .binary_search_by_key(&context, |&(at, _)| at as usize);
        Some(&self.contexts[at.ok()?].1)
    }
}
