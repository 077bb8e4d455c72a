//! Sticky Sampling.

use super::random::Random;
use super::{Bounds, CallingContextTree, ContextError, Monitor, NodeId, Thresholds};

/// Sticky Sampling (Manku and Motwani, VLDB 2002; HCCT section 2.2): a context that has no counter gets one
/// with a probability that falls during the run; from then on it is counted exactly.
///
/// Everything that is said of its counters holds with probability `1 - delta`. It needs `2 / epsilon * ln(1 /
/// (phi * delta))` counters at most on average, however long the stream. The paper found it slower and less
/// accurate than the others; it is here to be compared with.
#[derive(Clone, Debug)]
pub struct StickySampling {
    thresholds: Thresholds,
    delta: f64,
    seed: u64,
    width: u64,
    /// `ln(1 / (phi * delta)) / epsilon`.
    period: f64,
    contexts: Vec<NodeId>,
    total: u64,
    /// One in `2^rate` is sampled, until `total` gets to `until`.
    rate: u32,
    until: u64,
    random: Random,
}

impl StickySampling {
    /// May fail with probability `delta`. Equal seeds give equal results.
    pub fn new(thresholds: Thresholds, delta: f64, seed: u64) -> Result<Self, ContextError> {
        if !(delta > 0.0 && delta < 1.0) {
            return Err(ContextError::Delta(delta));
        }
        let mut sampling = StickySampling {
            thresholds,
            delta,
            seed,
            width: thresholds.width(),
            period: 0.0,
            contexts: Vec::new(),
            total: 0,
            rate: 0,
            until: 0,
            random: Random::new(seed),
        };
        sampling.period = sampling.width as f64 * (1.0 / (thresholds.phi() * delta)).ln();
        sampling.until = (2.0 * sampling.period).ceil() as u64;
        Ok(sampling)
    }

    /// Counters that it needs on average, at most.
    pub fn expected_counters(&self) -> f64 {
        2.0 * self.period
    }

    #[inline(never)]
    fn start(&mut self, tree: &mut CallingContextTree, context: NodeId, weight: u64) {
        // Each unit of the weight is an occurrence of its own; those from the first sampled one on count.
        let skipped = self.random.failures(self.rate);
        if skipped < weight {
            tree.set_count(context, weight - skipped);
            tree.set_monitored(context, true);
            self.contexts.push(context);
        }
    }

    /// Half as many occurrences are sampled from now on: makes the counters what they would be had that
    /// always been so.
    #[inline(never)]
    fn halve(&mut self, tree: &mut CallingContextTree, victims: &mut Vec<NodeId>) {
        self.rate += 1;
        // 2t occurrences at rate 1, 2t at rate 1/2, 4t at 1/4, 8t at 1/8, ...
        self.until = (2.0 * self.period * 2f64.powi(self.rate as i32)).ceil() as u64;
        let random = &mut self.random;
        self.contexts.retain(|&context| {
            let count = tree.count(context);
            // The occurrence that was sampled would have been so at the new rate in one of two cases. If not,
            // the next one is to be sampled that would have been. (Manku and Motwani toss fair coins for
            // those, too: but they were not sampled at the old rate, they came after one that was. That
            // leaves too many counters.)
            let lost = match random.failures(1) {
                0 => 0,
                _ => 1 + random.failures(self.rate),
            };
            let stays = lost < count;
            if stays {
                tree.set_count(context, count - lost);
            } else {
                tree.set_monitored(context, false);
                victims.push(context);
            }
            stays
        });
    }
}

impl Monitor for StickySampling {
    const PRUNES: bool = true;

    #[inline(always)]
    fn update(
        &mut self,
        tree: &mut CallingContextTree,
        context: NodeId,
        weight: u64,
        victims: &mut Vec<NodeId>,
    ) {
        self.total = self.total.saturating_add(weight);
        while self.total > self.until && self.rate < 62 {
            self.halve(tree, victims);
        }
        if !tree.add_if_monitored(context, weight) {
            self.start(tree, context, weight);
        }
    }

    fn monitored(&self, tree: &CallingContextTree, each: &mut dyn FnMut(NodeId, Bounds)) {
        let error = self.absent();
        for &context in &self.contexts {
            let lower = tree.count(context);
            let upper = lower.saturating_add(error);
            each(context, Bounds { lower, upper });
        }
    }

    fn len(&self) -> usize {
        self.contexts.len()
    }

    fn absent(&self) -> u64 {
        match self.rate {
            0 => 0,
            _ => self.total / self.width,
        }
    }

    fn thresholds(&self) -> Option<Thresholds> {
        Some(self.thresholds)
    }

    fn bytes(&self) -> usize {
        self.contexts.capacity() * size_of::<NodeId>()
    }

    fn clear(&mut self) {
        // Another sequence of random numbers than before, though one that depends on the seed alone.
        let seed = self.seed.wrapping_add(1);
        if let Ok(fresh) = StickySampling::new(self.thresholds, self.delta, seed) {
            *self = fresh;
        }
    }
}
