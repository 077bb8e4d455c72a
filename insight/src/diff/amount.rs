//! How much of the same the second run did, and which differences that alone explains.
//!
//! A program that serves twice as many requests does twice as much of the same: that is no change of its behaviour. What a run
//! does once (reading its options) stays, loops over the input run twice as often, sorting it takes a little more than that.
//! So counts between 1 and *factor^1.25* times those before are explained by the amount, and nothing else is.

use super::effect::Costs;
use super::pairing::Pair;
use super::side::Side;
use crate::findings::ratio;

/// Counts of a job that is *f* times as large grow to the power of this at most: *n log n* from some hundred elements on.
const GROWTH: f64 = 1.25;
/// A loop with fewer turns does not tell how much was done.
const MIN_EXECUTIONS: u64 = 20;
/// Least share of the work, calls included, that a loop or a method must do on both sides to tell how much was done.
const MIN_CARRIED: f64 = 0.1;

/// How much of the same the second run did.
#[derive(Clone, Copy, Debug)]
pub struct Amount {
    /// 2 if it did twice as much.
    pub factor: f64,
}

impl Amount {
    /// The ratio of the turns of the outermost loop (or of the calls of such a method) of those that do much of the work on both
    /// sides, with all calls. What is within it, or is called there, may run more often per turn because something changed; the
    /// outermost one says how much the program was asked for.
    pub fn new([before, after]: [&[Side]; 2], pairs: &[Pair], costs: [&Costs; 2]) -> Self {
        let totals = [before, after].map(|sides| sides.iter().map(|s| s.work as f64).sum::<f64>().max(1.0));
        let mut carriers: Vec<Carrier> = Vec::new();
        for pair in pairs {
            let (Some(at_before), Some(at_after)) = (pair.before, pair.after) else {
                continue;
            };
            let (b, a) = (&before[at_before], &after[at_after]);
            let loops = [loops(b), loops(a)];
            let work = |which: usize, header: usize| {
                let side = [b, a][which];
                let work = |&block: &usize| {
                    side.edges.blocks[block] as f64 * costs[which].of_block(side, block) / totals[which]
                };
                // A method's entry carries all of it.
                match loops[which].iter().find(|of| of[0] == header) {
                    Some(body) => body.iter().map(work).sum(),
                    None => (0..side.map.num_blocks()).map(|block| work(&block)).sum::<f64>(),
                }
            };
            let heads = |of: &[Vec<usize>], block| of.iter().any(|body| body[0] == block);
            let of_method = pair.blocks.iter().enumerate().filter_map(|(block, other)| {
                let other = (*other)?;
                let counts = [b.edges.blocks[other], a.edges.blocks[block]];
                let is_entry = block == 0 && other == 0;
                let is_header = || heads(&loops[0], other) && heads(&loops[1], block);
                if counts[0].min(counts[1]) < MIN_EXECUTIONS || !(is_entry || is_header()) {
                    return None;
                }
                let share = work(0, other).min(work(1, block));
                (share >= MIN_CARRIED).then_some(Carrier {
                    method: at_after,
                    counts,
                    share,
                })
            });
            // Of loops in each other, the outer one does more.
            carriers
                .extend(of_method.max_by(|x, y| x.share.total_cmp(&y.share).then(y.runs().cmp(&x.runs()))));
        }
        let outermost = outermost(&carriers, |method| costs[1].reachable(method, after));
        let factor = outermost.map_or_else(
            || middle_of_entries(before, after, pairs),
            |carrier| ratio(carrier.counts[1], carrier.counts[0]),
        );
        Amount { factor }
    }

    /// True if the difference is large enough to be reported.
    pub fn is_worth_saying(factor: f64) -> bool {
        (factor - 1.0).abs() > 0.02
    }

    /// Between which ratios to those before counts are explained by the amount.
    pub fn bounds(self) -> [f64; 2] {
        let most = self.factor.powf(GROWTH);
        [most.min(1.0), most.max(1.0)]
    }

    /// The same within a method whose entries have this ratio: if the amount does not explain these, its counts should have the
    /// same ratio.
    pub fn bounds_within(self, entries: f64) -> [f64; 2] {
        let [low, high] = self.bounds();
        let is_explained = (low * (1.0 - 1e-9)..=high * (1.0 + 1e-9)).contains(&entries);
        if is_explained { [low, high] } else { [entries; 2] }
    }

    /// The count without a change: the nearest one that the bounds explain.
    pub fn expected([low, high]: [f64; 2], before: f64, after: f64) -> f64 {
        after.clamp(low * before, (high * before).max(low * before))
    }
}

/// The loops of a method: blocks, the header first.
fn loops(side: &Side) -> Vec<Vec<usize>> {
    let count = side.map.num_blocks();
    let mut before = vec![Vec::new(); count];
    for block in 0..count {
        for to in side.successors(block) {
            before[to.index()].push(block);
        }
    }
    // Back edges of loops that are entered at one place lead to a block that is in front in the code, in what compilers write.
    let headers = (0..count).filter(|&header| before[header].iter().any(|&from| from >= header));
    headers
        .map(|header| {
            let mut body = vec![header];
            let mut seen = vec![false; count];
            seen[header] = true;
            let mut open: Vec<usize> = before[header]
                .iter()
                .copied()
                .filter(|&from| from >= header)
                .collect();
            while let Some(block) = open.pop() {
                if !std::mem::replace(&mut seen[block], true) {
                    body.push(block);
                    open.extend(before[block].iter().filter(|&&from| from >= header));
                }
            }
            body
        })
        .collect()
}

/// A loop or a method that does a large share of the work.
#[derive(Clone, Copy)]
struct Carrier {
    /// Position of its method on the second side.
    method: usize,
    counts: [u64; 2],
    share: f64,
}

impl Carrier {
    fn runs(&self) -> u64 {
        self.counts[0].min(self.counts[1])
    }
}

/// The one that no other one calls. Calls by way of methods without counts are not known: of several, the one that turns least often.
fn outermost(carriers: &[Carrier], reachable: impl Fn(usize) -> Vec<bool>) -> Option<Carrier> {
    let reached: Vec<Vec<bool>> = carriers.iter().map(|carrier| reachable(carrier.method)).collect();
    let is_called = |at: usize| {
        (0..carriers.len())
            .any(|other| reached[other][carriers[at].method] && !reached[at][carriers[other].method])
    };
    let outer = (0..carriers.len())
        .filter(|&at| !is_called(at))
        .map(|at| carriers[at]);
    outer.min_by(|x, y| x.runs().cmp(&y.runs()).then(y.share.total_cmp(&x.share)))
}

/// The middle of the ratios of entries, each method weighted by the logarithm of its entries, so that no hot method decides alone.
fn middle_of_entries(before: &[Side], after: &[Side], pairs: &[Pair]) -> f64 {
    let ratio = |pair: &Pair| {
        let (b, a) = (before[pair.before?].entries, after[pair.after?].entries);
        (b > 0 && a > 0).then(|| (a as f64 / b as f64, (1.0 + b.min(a) as f64).ln()))
    };
    let mut ratios: Vec<(f64, f64)> = pairs.iter().filter_map(ratio).collect();
    ratios.sort_by(|x, y| x.0.total_cmp(&y.0));
    weighted_median(&ratios).unwrap_or(1.0)
}

/// The value in the middle of the weights of sorted values.
pub fn weighted_median(sorted: &[(f64, f64)]) -> Option<f64> {
    let half = sorted.iter().map(|r| r.1).sum::<f64>() / 2.0;
    let mut sum = 0.0;
    sorted.iter().find_map(|&(value, weight)| {
        sum += weight;
        (sum >= half).then_some(value)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_larger_job_explains() {
        let twice = Amount { factor: 2.0 };
        let within = |entries, before: f64, after: f64| {
            Amount::expected(twice.bounds_within(entries), before, after) == after
        };
        // A driver's loop, what is done once, and a sort.
        assert!(within(1.0, 100.0, 200.0) && within(1.0, 100.0, 100.0) && within(2.0, 1000.0, 2200.0));
        assert!(!within(2.0, 100.0, 400.0) && !within(2.0, 100.0, 80.0));
        // A method that is called ten times as often for another reason does as much per call.
        assert!(within(10.0, 7.0, 70.0) && !within(10.0, 7.0, 14.0));
        let half = Amount { factor: 0.5 };
        assert_eq!(half.bounds(), [0.5f64.powf(GROWTH), 1.0]);
        let same = Amount { factor: 1.0 };
        assert_eq!(Amount::expected(same.bounds_within(1.0), 100.0, 101.0), 100.0);
    }
}
