//! Space Saving with a lazy priority queue.

use super::{
    Bounds, CallingContextTree, Monitor, NodeId, Thresholds, from_32_bits, in_32_bits, room_for_one,
};

/// Space Saving over a fixed number of counters; the smallest one is found lazily (HCCT section 4.1, figure
/// 5).
///
/// A monitored context only has its counter increased, in its node; the queue does not hear of it. When a new
/// context needs a counter, the search for one that has the smallest value continues where the last one
/// stopped, and starts over with the next smallest value at the end. That is O(1) amortised for weights of 1
/// (the paper's lemma 1), O(w) for weights up to w; for weights such as times there is
/// [`WeightedSpaceSaving`](super::WeightedSpaceSaving).
///
/// Different from the paper: the queue keeps the value that it last saw of each counter. Counters only grow,
/// so one whose last value is above the smallest need not be looked at, and a search reads few nodes of the
/// tree. And each counter keeps the value that it took over, its largest possible error.
#[derive(Clone, Debug)]
pub struct LazySpaceSaving {
    thresholds: Thresholds,
    capacity: usize,
    contexts: Vec<NodeId>,
    /// By counter: a value that it had at some time, as [`in_32_bits`].
    seen: Vec<u32>,
    /// By counter: how much of it may be another context's, as [`in_32_bits`].
    inherited: Vec<u32>,
    /// Smallest value, when a search last ended. All counters before `at` are above it.
    min: u64,
    at: usize,
}

impl LazySpaceSaving {
    /// With [`Thresholds::width`] counters. Memory is taken as contexts come.
    pub fn new(thresholds: Thresholds) -> Self {
        LazySpaceSaving {
            thresholds,
            capacity: thresholds.width() as usize,
            contexts: Vec::new(),
            seen: Vec::new(),
            inherited: Vec::new(),
            min: 0,
            at: 0,
        }
    }

    #[inline(never)]
    fn start(
        &mut self,
        tree: &mut CallingContextTree,
        context: NodeId,
        weight: u64,
        victims: &mut Vec<NodeId>,
    ) {
        let mut value = weight;
        if self.contexts.len() < self.capacity {
            room_for_one(&mut self.contexts, self.capacity);
            room_for_one(&mut self.seen, self.capacity);
            room_for_one(&mut self.inherited, self.capacity);
            self.contexts.push(context);
            self.seen.push(in_32_bits(value));
            self.inherited.push(0);
        } else {
            let at = self.find_min(tree);
            value = self.min.saturating_add(weight);
            let victim = std::mem::replace(&mut self.contexts[at], context);
            tree.set_monitored(victim, false);
            victims.push(victim);
            self.seen[at] = in_32_bits(value);
            self.inherited[at] = in_32_bits(self.min);
        }
        tree.set_count(context, value);
        tree.set_monitored(context, true);
    }

    /// Leaves the index of a smallest counter in `at` and its value in `min`.
    fn find_min(&mut self, tree: &CallingContextTree) -> usize {
        let min = in_32_bits(self.min);
        while self.at < self.seen.len() {
            let seen = &mut self.seen[self.at];
            if *seen == min {
                let count = tree.count(self.contexts[self.at]);
                *seen = in_32_bits(count);
                if count == self.min {
                    return self.at;
                }
            }
            self.at += 1;
        }
        let mut min = u64::MAX;
        for (at, seen) in self.seen.iter_mut().enumerate() {
            if u64::from(*seen) < min {
                let count = tree.count(self.contexts[at]);
                *seen = in_32_bits(count);
                if count < min {
                    (min, self.at) = (count, at);
                }
            }
        }
        self.min = min;
        // Counters at the top of their range: any will do.
        self.at = self.at.min(self.seen.len() - 1);
        self.at
    }
}

impl Monitor for LazySpaceSaving {
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
            self.start(tree, context, weight, victims);
        }
    }

    fn monitored(&self, tree: &CallingContextTree, each: &mut dyn FnMut(NodeId, Bounds)) {
        for (&context, &inherited) in self.contexts.iter().zip(&self.inherited) {
            let upper = tree.count(context);
            let lower = upper.saturating_sub(from_32_bits(inherited));
            each(context, Bounds { lower, upper });
        }
    }

    fn len(&self) -> usize {
        self.contexts.len()
    }

    fn absent(&self) -> u64 {
        // No context was ever turned away while there were counters left. Afterwards, the last value that a
        // context lost its counter with.
        self.min
    }

    fn thresholds(&self) -> Option<Thresholds> {
        Some(self.thresholds)
    }

    fn bytes(&self) -> usize {
        let values = self.seen.capacity() + self.inherited.capacity();
        self.contexts.capacity() * size_of::<NodeId>() + values * size_of::<u32>()
    }

    fn clear(&mut self) {
        *self = LazySpaceSaving::new(self.thresholds);
    }
}
