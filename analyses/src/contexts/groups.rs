//! How much of each counter is of which group of bursts.
//!
//! A burst is the unit of a sample of calls: calls of one burst are alike, so the error of a share can only
//! be estimated from how bursts differ. Bursts are dealt to [`BURST_GROUPS`] groups in turn, the same for all
//! threads, and each group is a sample of the whole run (the method of random groups: Wolter, *Introduction
//! to Variance Estimation*, chapter 2). Threads that do the same at the same time are in the same group, so
//! that their likeness does not count as agreement.

use rustc_hash::FxHashMap;
use trodden_profile::ByGroup;
use trodden_profile::events::BURST_GROUPS;

use super::{Bounds, CallingContextTree, Monitor, NodeId, Thresholds};

/// A streaming algorithm, and what each group of bursts added to each of its counters since the context is
/// monitored: the groups of a context add up to its lower bound (with Sticky Sampling, which lowers that by
/// lot, to no less).
#[derive(Clone, Debug)]
pub struct Grouped<A> {
    inner: A,
    groups: Groups,
    /// The group of the burst in progress.
    group: usize,
}

/// Weights per group of bursts.
#[derive(Clone, Debug, Default)]
pub struct Groups {
    /// Sums over all contexts, monitored or not.
    pub all: ByGroup,
    /// Counts of those that are monitored, in half the space: a context that is called 2^32 times within one
    /// group's bursts of a thread, which takes weeks, counts no further.
    contexts: FxHashMap<NodeId, [u32; BURST_GROUPS]>,
}

impl Groups {
    /// Those of a context, if it is monitored.
    pub fn get(&self, context: NodeId) -> Option<ByGroup> {
        Some(ByGroup(self.contexts.get(&context)?.map(u64::from)))
    }
}

impl<A: Monitor> Grouped<A> {
    /// Groups for an algorithm.
    pub fn new(inner: A) -> Self {
        Grouped {
            inner,
            groups: Groups::default(),
            group: 0,
        }
    }
}

impl<A: Monitor> Monitor for Grouped<A> {
    const PRUNES: bool = A::PRUNES;

    fn update(
        &mut self,
        tree: &mut CallingContextTree,
        context: NodeId,
        weight: u64,
        victims: &mut Vec<NodeId>,
    ) {
        self.inner.update(tree, context, weight, victims);
        let all = &mut self.groups.all.0[self.group];
        *all = all.saturating_add(weight);
        // A context that is given up begins again if it comes again: maybe at once, with this very weight.
        let contexts = &mut self.groups.contexts;
        for victim in victims {
            contexts.remove(victim);
        }
        if !A::PRUNES || tree.is_monitored(context) {
            let part = &mut contexts.entry(context).or_default()[self.group];
            *part = part.saturating_add(u32::try_from(weight).unwrap_or(u32::MAX));
        }
    }

    fn monitored(&self, tree: &CallingContextTree, each: &mut dyn FnMut(NodeId, Bounds)) {
        self.inner.monitored(tree, each);
    }

    fn len(&self) -> usize {
        self.inner.len()
    }

    fn absent(&self) -> u64 {
        self.inner.absent()
    }

    fn thresholds(&self) -> Option<Thresholds> {
        self.inner.thresholds()
    }

    fn bytes(&self) -> usize {
        let of_contexts = self.groups.contexts.capacity() * size_of::<(NodeId, [u32; BURST_GROUPS])>();
        self.inner.bytes() + of_contexts
    }

    fn clear(&mut self) {
        self.inner.clear();
        self.groups = Groups::default();
    }

    fn burst(&mut self, group: u32) {
        self.group = group as usize % BURST_GROUPS;
    }

    fn groups(&self) -> Option<&Groups> {
        Some(&self.groups)
    }
}
