//! Estimated subpaths against counted ones (OSP section 3.1, "Accuracy of Results").

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use super::merge::blocks;
use super::{Subpath, least_rotation};
use crate::model::profile::{ClassProfile, Profile};

/// A block anywhere: class, hash of its bytes, method and block.
type Block<'p> = (&'p str, &'p [u8; 32], usize, usize);

/// How well estimates agree with exact counts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SubpathAccuracy {
    /// The first ten of the estimates, as a report ranks them.
    pub hottest: Vec<RankedSubpath>,
    /// How many of these are among the ten that really are the most frequent (equals of the tenth included).
    pub right: usize,
    /// Exact count of the tenth; 0 if there are fewer.
    pub tenth: u64,
    /// Subpaths that are at least [`OFTEN`] times in the sample.
    pub often: u64,
    /// How many of these have an interval that holds the exact count.
    pub inside: u64,
}

/// Samples from which on a subpath's interval is looked at: that of one that came into the sample once, because it came into the
/// sample, is too high by half of all cases.
pub const OFTEN: u64 = 20;

/// The first ranks that are looked at.
const HOTTEST: usize = 10;

/// A row of OSP's table 5.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RankedSubpath {
    /// Rank by exact count; of equals the first. 0 if it was not counted.
    pub rank: usize,
    /// Times in the sample.
    pub sampled: u64,
    /// Estimate.
    pub estimate: u64,
    /// Exact count; 0 if it was not counted.
    pub exact: u64,
    /// Blocks.
    pub length: u32,
}

impl RankedSubpath {
    /// The estimate's distance from the truth, as a share of it.
    pub fn error(&self) -> f64 {
        (self.estimate as f64 - self.exact as f64).abs() / self.exact.max(1) as f64
    }
}

/// How often each subpath was executed, whatever rotation of it a profile describes.
#[derive(Clone, Debug, Default)]
pub struct ExactSubpaths<'p> {
    counts: HashMap<Vec<Block<'p>>, u64>,
}

impl<'p> ExactSubpaths<'p> {
    /// Those of a profile of exact counts; subpaths without all of their blocks are left out. `None` if it has no subpaths.
    pub fn of(exact: &'p Profile) -> Option<Self> {
        let mut counts: HashMap<Vec<Block>, u64> = HashMap::new();
        for subpath in &exact.subpaths.as_ref()?.subpaths {
            if let Some(key) = canonical(subpath, &exact.classes) {
                *counts.entry(key).or_default() += subpath.estimate;
            }
        }
        Some(ExactSubpaths { counts })
    }

    /// What `rounds` rounds of a program would count, from these counts of `few` rounds and those of `more` rounds: each subpath has a
    /// part that comes once, from setting up, and one that comes in every round. Exact counts take too long for as many rounds as a
    /// sampled run has. `few` and `more` must differ.
    pub fn extrapolated(&self, few: u32, (more, others): (u32, &Self), rounds: u32) -> Self {
        let at = |key: &Vec<Block<'p>>| {
            let [a, b] = [self, others].map(|known| known.counts.get(key).copied().unwrap_or(0) as f64);
            let each = (b - a) / (f64::from(more) - f64::from(few));
            (a + each * (f64::from(rounds) - f64::from(few))).round().max(0.0) as u64
        };
        let keys = self.counts.keys().chain(others.counts.keys());
        ExactSubpaths {
            counts: keys.map(|key| (key.clone(), at(key))).collect(),
        }
    }

    /// How well a profile's estimates agree with these counts. Those of lengths of which nothing was counted are left out. `None` if it
    /// has no subpaths.
    pub fn accuracy_of(&self, estimate: &Profile) -> Option<SubpathAccuracy> {
        let judged = estimate.subpaths.as_ref()?;
        let mut ranking: Vec<u64> = self.counts.values().copied().collect();
        ranking.sort_unstable_by_key(|&count| Reverse(count));
        // Only those that were counted can be compared.
        let lengths: HashSet<usize> = self.counts.keys().map(Vec::len).collect();
        let count = |subpath: &Subpath| {
            let key = canonical(subpath, &estimate.classes)?;
            self.counts.get(&key).copied()
        };
        let mut accuracy = SubpathAccuracy {
            tenth: ranking.get(HOTTEST - 1).copied().unwrap_or(0),
            ..SubpathAccuracy::default()
        };
        for subpath in judged
            .ranking()
            .into_iter()
            .filter(|s| lengths.contains(&(s.length as usize)))
        {
            let known = count(subpath);
            if accuracy.hottest.len() < HOTTEST {
                let row = RankedSubpath {
                    rank: known.map_or(0, |own| 1 + ranking.partition_point(|&other| other > own)),
                    sampled: subpath.sampled,
                    estimate: subpath.estimate,
                    exact: known.unwrap_or(0),
                    length: subpath.length,
                };
                accuracy.right += usize::from((1..=HOTTEST).contains(&row.rank));
                accuracy.hottest.push(row);
            }
            if subpath.sampled >= OFTEN && subpath.missing == 0 {
                accuracy.often += 1;
                let held = known.is_some_and(|count| (subpath.low..=subpath.high).contains(&count));
                accuracy.inside += u64::from(held);
            }
        }
        Some(accuracy)
    }
}

/// Compares the subpaths of two profiles of the same program, the first one of exact counts. `None` if one has no subpaths.
pub fn subpath_accuracy(exact: &Profile, estimate: &Profile) -> Option<SubpathAccuracy> {
    ExactSubpaths::of(exact)?.accuracy_of(estimate)
}

/// The blocks from those of the least rotation on; `None` if not all are known.
fn canonical<'p>(subpath: &Subpath, classes: &'p [ClassProfile]) -> Option<Vec<Block<'p>>> {
    if subpath.missing > 0 {
        return None;
    }
    let all = blocks(&subpath.runs, classes)?;
    let named: Option<Vec<Block>> = all
        .into_iter()
        .map(|(class, method, block)| {
            let map = &classes.get(class)?.map;
            Some((map.name.as_str(), &map.sha256, method, block))
        })
        .collect();
    let named = named?;
    let (head, tail) = named.split_at(least_rotation(&named));
    Some([tail, head].concat())
}
