//! Lossy Counting.

use super::{Bounds, CallingContextTree, Monitor, NodeId, Thresholds, from_32_bits, in_32_bits};

/// Lossy Counting (HCCT section 4.2): at the end of each bucket of [`Thresholds::width`] calls, contexts that
/// could not have been hot so far lose their counters.
///
/// Deterministic; may need more counters than Space Saving, by a factor that grows with the logarithm of the
/// number of calls, in practice fewer. A context is reported if its upper bound is hot, not, as in the paper,
/// whenever its counter comes within `epsilon` of that: the same guarantee with fewer false positives.
#[derive(Clone, Debug)]
pub struct LossyCounting {
    thresholds: Thresholds,
    width: u64,
    /// Monitored contexts, and what each may have had before (the paper's Δ), as [`in_32_bits`].
    counters: Vec<(NodeId, u32)>,
    total: u64,
    /// Buckets that are complete.
    buckets: u64,
    most: usize,
}

impl LossyCounting {
    /// With buckets of [`Thresholds::width`] calls.
    pub fn new(thresholds: Thresholds) -> Self {
        LossyCounting {
            thresholds,
            width: thresholds.width(),
            counters: Vec::new(),
            total: 0,
            buckets: 0,
            most: 0,
        }
    }

    /// Most contexts that were ever monitored at a time.
    pub fn most(&self) -> usize {
        self.most
    }

    #[inline(never)]
    fn end_bucket(&mut self, tree: &mut CallingContextTree, victims: &mut Vec<NodeId>) {
        // A weight may complete many buckets at once.
        self.buckets = self.total / self.width;
        let buckets = self.buckets;
        self.counters.retain(|&(context, before)| {
            let stays = tree.count(context).saturating_add(from_32_bits(before)) > buckets;
            if !stays {
                tree.set_monitored(context, false);
                victims.push(context);
            }
            stays
        });
    }

    #[inline(never)]
    fn start(&mut self, tree: &mut CallingContextTree, context: NodeId, weight: u64) {
        tree.set_count(context, weight);
        tree.set_monitored(context, true);
        let before = in_32_bits(self.buckets);
        self.counters.push((context, before));
        self.most = self.most.max(self.counters.len());
    }
}

impl Monitor for LossyCounting {
    const PRUNES: bool = true;

    #[inline(always)]
    fn update(
        &mut self,
        tree: &mut CallingContextTree,
        context: NodeId,
        weight: u64,
        victims: &mut Vec<NodeId>,
    ) {
        if !tree.add_if_monitored(context, weight) {
            self.start(tree, context, weight);
        }
        self.total = self.total.saturating_add(weight);
        if self.total - self.buckets * self.width >= self.width {
            self.end_bucket(tree, victims);
        }
    }

    fn monitored(&self, tree: &CallingContextTree, each: &mut dyn FnMut(NodeId, Bounds)) {
        for &(context, before) in &self.counters {
            let lower = tree.count(context);
            let upper = lower.saturating_add(from_32_bits(before));
            each(context, Bounds { lower, upper });
        }
    }

    fn len(&self) -> usize {
        self.counters.len()
    }

    fn absent(&self) -> u64 {
        self.buckets
    }

    fn thresholds(&self) -> Option<Thresholds> {
        Some(self.thresholds)
    }

    fn bytes(&self) -> usize {
        self.counters.capacity() * size_of::<(NodeId, u32)>()
    }

    fn clear(&mut self) {
        *self = LossyCounting::new(self.thresholds);
    }
}
