//! How much two path forests agree.

use std::collections::BTreeMap;

use super::merge::in_numbers_of;
use super::{KPaths, PathForest};
use crate::model::map::MethodMap;
use crate::model::profile::Profile;
use crate::model::translate::same_paths;

/// Result of [`kpaths_overlap`]. Overlaps are from 0, nothing in common, to 1, the same shares everywhere; they do not
/// change if all counters of a forest are multiplied, or if the two are exchanged.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KPathsOverlap {
    /// `k` of both forests.
    pub k: [u32; 2],
    /// For each length that both could count, from 1: length 1 is the overlap of the plain path profiles.
    pub levels: Vec<LevelOverlap>,
    /// Methods whose share of the path ends, or the sequences within them, differ most; worst first.
    pub methods: Vec<MethodOverlap>,
    /// Methods in one forest that the other cannot know: no such class bytes, or cut into other paths.
    pub unmatched_methods: usize,
}

/// Sequences of one length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LevelOverlap {
    /// Paths in each.
    pub length: u32,
    /// Sum over all sequences of the lesser of its shares of all occurrences of sequences of this length in either
    /// forest. `None` if one of the forests has none.
    pub overlap: Option<f64>,
    /// Different sequences in each forest.
    pub sequences: [u64; 2],
    /// Different sequences in both.
    pub common: u64,
}

/// One method's part.
#[derive(Clone, Debug, PartialEq)]
pub struct MethodOverlap {
    /// Internal class name.
    pub class: String,
    /// Method name.
    pub name: String,
    /// Method descriptor.
    pub descriptor: String,
    /// Its share of all path ends in each forest.
    pub share: [f64; 2],
    /// Overlap of its sequences of the greatest common length alone; `None` if one of the forests has none.
    pub overlap: Option<f64>,
}

impl MethodOverlap {
    /// How much of the whole disagrees because of this method: what its shares differ by, and what its sequences differ
    /// by, weighted with the share.
    pub fn difference(&self) -> f64 {
        let weight = self.share[0].min(self.share[1]);
        (self.share[0] - self.share[1]).abs() + weight * (1.0 - self.overlap.unwrap_or(1.0))
    }
}

/// The methods listed at most.
const WORST: usize = 20;

type Key<'a> = (&'a str, [u8; 32], &'a str, &'a str);

/// One method in both profiles, in the numbers of the first.
struct Pair<'a> {
    key: Key<'a>,
    forests: [PathForest; 2],
}

/// Compares the path forests of two profiles; `None` if one of them has none.
///
/// For sequences of each length up to the lesser `k`: the degree of overlap of the two distributions. Numbers of paths
/// are translated where the profiles number them differently.
pub fn kpaths_overlap(a: &Profile, b: &Profile) -> Option<KPathsOverlap> {
    let (ka, kb) = (a.kpaths.as_ref()?, b.kpaths.as_ref()?);
    let mut result = KPathsOverlap {
        k: [ka.k, kb.k],
        ..KPathsOverlap::default()
    };
    let pairs = pairs(sides(a, ka), sides(b, kb), &mut result.unmatched_methods);
    let deepest = ka.k.min(kb.k);
    let mut levels = vec![Sums::default(); deepest as usize];
    let mut totals = vec![[0u128; 2]; deepest as usize];
    for pair in &pairs {
        for (sum, own) in totals.iter_mut().zip(level_totals(pair, deepest)) {
            sum[0] += own[0];
            sum[1] += own[1];
        }
    }
    for pair in &pairs {
        walk(&pair.forests, deepest, |length, counts| {
            let level = length as usize - 1;
            levels[level].add(counts, totals[level]);
        });
        let own = level_totals(pair, deepest);
        // The deepest level that either forest of the method reaches.
        let Some(level) = own.iter().rposition(|t| t[0] > 0 || t[1] > 0) else {
            continue;
        };
        let mut sums = Sums::default();
        walk(&pair.forests, deepest, |length, counts| {
            if length as usize == level + 1 {
                sums.add(counts, own[level]);
            }
        });
        let share = |side: usize| match totals[0][side] {
            0 => 0.0,
            whole => own[0][side] as f64 / whole as f64,
        };
        result.methods.push(MethodOverlap {
            class: pair.key.0.to_owned(),
            name: pair.key.2.to_owned(),
            descriptor: pair.key.3.to_owned(),
            share: [share(0), share(1)],
            overlap: sums.overlap(own[level]),
        });
    }
    result
        .methods
        .sort_by(|x, y| y.difference().total_cmp(&x.difference()));
    result.methods.truncate(WORST);
    result.levels = (1..)
        .zip(levels.iter().zip(&totals))
        .map(|(length, (sums, &totals))| LevelOverlap {
            length,
            overlap: sums.overlap(totals),
            sequences: sums.sequences,
            common: sums.common,
        })
        .collect();
    Some(result)
}

#[derive(Clone, Debug, Default)]
struct Sums {
    lesser: f64,
    sequences: [u64; 2],
    common: u64,
}

impl Sums {
    fn add(&mut self, counts: [u64; 2], totals: [u128; 2]) {
        for (number, count) in self.sequences.iter_mut().zip(counts) {
            *number += u64::from(count > 0);
        }
        if counts[0] > 0 && counts[1] > 0 {
            self.common += 1;
            let share = |side: usize| counts[side] as f64 / totals[side] as f64;
            self.lesser += share(0).min(share(1));
        }
    }

    fn overlap(&self, totals: [u128; 2]) -> Option<f64> {
        (totals[0] > 0 && totals[1] > 0).then(|| self.lesser.min(1.0))
    }
}

/// Occurrences of sequences of each length.
fn level_totals(pair: &Pair<'_>, deepest: u32) -> Vec<[u128; 2]> {
    let mut totals = vec![[0; 2]; deepest as usize];
    for (side, forest) in pair.forests.iter().enumerate() {
        for node in forest.nodes().iter().filter(|node| node.length <= deepest) {
            totals[node.length as usize - 1][side] += u128::from(node.count);
        }
    }
    totals
}

/// Calls `f` with length and both counters of every sequence that is in either forest.
fn walk(forests: &[PathForest; 2], deepest: u32, mut f: impl FnMut(u32, [u64; 2])) {
    let nodes = forests.each_ref().map(|forest| forest.nodes());
    let (mut i, mut j) = (0, 0);
    loop {
        let (length, counts) = match (nodes[0].get(i), nodes[1].get(j)) {
            (None, None) => return,
            (Some(x), Some(y)) if (x.length, x.path) == (y.length, y.path) => {
                (i, j) = (i + 1, j + 1);
                (x.length, [x.count, y.count])
            }
            // The deeper one belongs to a branch that the other forest has left, see `PathForest::plus`.
            (Some(x), y) if y.is_none_or(|y| (y.length, x.path) < (x.length, y.path)) => {
                i += 1;
                (x.length, [x.count, 0])
            }
            (_, Some(y)) => {
                j += 1;
                (y.length, [0, y.count])
            }
            (Some(_), None) => return,
        };
        if length <= deepest {
            f(length, counts);
        }
    }
}

type Sides<'a> = BTreeMap<Key<'a>, Vec<(&'a MethodMap, PathForest)>>;

/// The forests by method. A class that is there more than once (loaded by two loaders) is added up.
fn sides<'a>(profile: &'a Profile, kpaths: &KPaths) -> Sides<'a> {
    let mut sides = Sides::new();
    for (&(class, method), forest) in &kpaths.methods {
        let Some(class) = profile.classes.get(class) else {
            continue;
        };
        let Some(map) = class.map.methods.get(method) else {
            continue;
        };
        let key = (&*class.map.name, class.map.sha256, &*map.name, &*map.descriptor);
        let list = sides.entry(key).or_default();
        let same = list.iter_mut().find(|(known, _)| same_paths(known, map));
        match same {
            Some((known, sum)) => {
                // What names no path, or no longer fits, cannot be compared.
                if let Ok(more) = in_numbers_of(forest, map, known) {
                    *sum = sum.plus(&more).unwrap_or_default();
                }
            }
            None => list.push((map, forest.clone())),
        }
    }
    sides
}

fn pairs<'a>(a: Sides<'a>, mut b: Sides<'a>, unmatched: &mut usize) -> Vec<Pair<'a>> {
    let mut pairs = Vec::new();
    for (key, list) in a {
        let others = b.entry(key).or_default();
        for (map, forest) in list {
            let at = others.iter().position(|(other, _)| same_paths(map, other));
            let other = at.map(|at| others.swap_remove(at));
            let other = other.map(|(from, other)| in_numbers_of(&other, from, map));
            *unmatched += usize::from(!matches!(other, Some(Ok(_))));
            pairs.push(Pair {
                key,
                forests: [forest, other.and_then(Result::ok).unwrap_or_default()],
            });
        }
    }
    for (key, list) in b {
        for (_, forest) in list {
            *unmatched += 1;
            pairs.push(Pair {
                key,
                forests: [PathForest::default(), forest],
            });
        }
    }
    pairs
}
