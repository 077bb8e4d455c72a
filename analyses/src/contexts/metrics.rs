//! How near hot contexts come to the whole tree.

use super::snapshot::HotTree;
use super::tree::{NONE, ROOT};
use super::{ContextTreeBuilder, Exact, NodeId, Thresholds};

/// Errors of the counters of hot contexts, relative to the true ones, in percent.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CounterError {
    /// The largest.
    pub max: f64,
    /// The mean.
    pub average: f64,
}

/// A [`HotTree`] compared with the exact tree of the same stream: the metrics of HCCT section 5.1.
///
/// "Weight" is always the true one, from the exact tree.
#[derive(Clone, Debug, PartialEq)]
pub struct ContextAccuracy {
    /// Contexts of the hot tree, ancestors included.
    pub contexts: u64,
    /// Contexts reported as hot.
    pub hot: u64,
    /// Contexts that are hot: weight of at least `floor(phi * N)`.
    pub truly_hot: u64,
    /// Reported, but not hot.
    pub false_positives: u64,
    /// Hot, but not reported. Always 0 unless there were bursts.
    pub false_negatives: u64,
    /// Contexts of the hot tree that the exact one does not have. Always 0 for the same stream.
    pub unknown: u64,
    /// Share of all weight that is in the hot tree, from 0 to 1.
    pub overlap: f64,
    /// Hot edge coverage for each threshold asked for, from 0 to 1.
    pub coverage: Vec<(f64, f64)>,
    /// Above this threshold, hot edge coverage is complete.
    pub full_coverage_above: f64,
    /// Largest weight of a context that is not in the hot tree, in percent of the hottest in it.
    pub uncovered_max: f64,
    /// The mean of them.
    pub uncovered_average: f64,
    /// Error of the lower bounds.
    pub lower: CounterError,
    /// Error of the upper bounds.
    pub upper: CounterError,
}

impl ContextAccuracy {
    /// Compares. `taus` are the thresholds of hot edge coverage: shares of the hottest context's weight. If
    /// the hot tree was counted in bursts, its counters are scaled up to the whole.
    pub fn new(hot: &HotTree, exact: &ContextTreeBuilder<Exact>, taus: &[f64]) -> ContextAccuracy {
        let (tree, frames) = exact.parts();
        let total = exact.total();
        let threshold = Thresholds::floor(hot.phi(), total);
        let scale = total as f64 / hot.total().max(1) as f64;
        let weight_of = |node: u32| tree.count(NodeId(node));

        let mut covered = vec![false; tree.end()];
        let mut at = Vec::with_capacity(hot.nodes().len());
        let mut reported_hot = 0;
        let mut accuracy = ContextAccuracy {
            contexts: hot.nodes().len() as u64,
            hot: hot.hot().count() as u64,
            truly_hot: 0,
            false_positives: 0,
            false_negatives: 0,
            unknown: 0,
            overlap: 0.0,
            coverage: Vec::new(),
            full_coverage_above: 0.0,
            uncovered_max: 0.0,
            uncovered_average: 0.0,
            lower: CounterError::default(),
            upper: CounterError::default(),
        };
        let (mut inside, mut hottest_inside, mut compared) = (0u64, 0u64, 0u64);
        for node in hot.nodes() {
            let parent = node.parent.map_or(ROOT, |parent| at[parent as usize]);
            let found = match frames.find(node.frame) {
                Some(key) if parent != NONE => tree.find_child(parent, key),
                _ => None,
            };
            at.push(found.unwrap_or(NONE));
            let Some(found) = found else {
                accuracy.unknown += 1;
                continue;
            };
            covered[found as usize] = true;
            let weight = weight_of(found);
            inside += weight;
            hottest_inside = hottest_inside.max(weight);
            if !node.hot {
                continue;
            }
            if weight >= threshold {
                reported_hot += 1;
            } else {
                accuracy.false_positives += 1;
            }
            if let Some(bounds) = node.bounds
                && weight > 0
            {
                let error =
                    |counter: u64| (counter as f64 * scale - weight as f64).abs() / weight as f64 * 100.0;
                compared += 1;
                accuracy.lower.add(error(bounds.lower));
                accuracy.upper.add(error(bounds.upper));
            }
        }
        accuracy.lower.average /= compared.max(1) as f64;
        accuracy.upper.average /= compared.max(1) as f64;

        let (mut hottest, mut most, mut outside, mut uncovered) = (0u64, 0u64, 0u64, 0u64);
        for node in tree.preorder().skip(1) {
            let weight = weight_of(node);
            hottest = hottest.max(weight);
            accuracy.truly_hot += u64::from(weight >= threshold && weight > 0);
            if !covered[node as usize] {
                most = most.max(weight);
                outside += weight;
                uncovered += 1;
            }
        }
        accuracy.false_negatives = accuracy.truly_hot.saturating_sub(reported_hot);
        let percent = |part: f64, of: u64| if of == 0 { 0.0 } else { part / of as f64 * 100.0 };
        accuracy.overlap = inside as f64 / total.max(1) as f64;
        accuracy.uncovered_max = percent(most as f64, hottest_inside);
        accuracy.uncovered_average = percent(outside as f64 / uncovered.max(1) as f64, hottest_inside);
        accuracy.full_coverage_above = percent(most as f64, hottest) / 100.0;
        for &tau in taus {
            let (ours, all) = (tau * hottest_inside as f64, tau * hottest as f64);
            let (mut inside, mut of) = (0u64, 0u64);
            for node in tree.preorder().skip(1) {
                let weight = weight_of(node) as f64;
                inside += u64::from(covered[node as usize] && weight >= ours);
                of += u64::from(weight >= all);
            }
            accuracy.coverage.push((tau, inside as f64 / of.max(1) as f64));
        }
        accuracy
    }
}

impl CounterError {
    fn add(&mut self, error: f64) {
        self.max = self.max.max(error);
        self.average += error;
    }
}
