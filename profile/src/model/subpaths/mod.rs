//! Hot subpaths in a profile: sequences of basic blocks across loops and calls, with estimated counts.
//!
//! After Oren, Matias and Sagiv, *Online Subpath Profiling* (CC 2002, "OSP"). How they are sampled is the business of
//! `trodden-analyses`; here they are data.

mod accuracy;
mod codec;
mod merge;
pub(crate) mod section;
mod threshold;

pub use accuracy::{ExactSubpaths, OFTEN, RankedSubpath, SubpathAccuracy, subpath_accuracy};
pub use threshold::KNOWN_SUBPATH;

use crate::model::map::MethodMap;

/// The sampled subpaths of a run, all threads together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Subpaths {
    /// Lengths that were drawn, in option syntax.
    pub lengths: String,
    /// In which order blocks of callers and callees stand: `path-ends` or `calls`.
    pub order: String,
    /// What makes two subpaths the same one: `rotation`, or `xor` for the paper's code.
    pub identity: String,
    /// Where subpaths were to begin: `anywhere`, `prefer:WEIGHT` or `headers`.
    pub starts: String,
    /// Bytes that the sample of a thread was allowed.
    pub footprint: u64,
    /// Blocks of a thread after which older ones count half, if they do.
    pub half_life: Option<u64>,
    /// Number of the last blocks of each thread that count, if that was asked for.
    pub sliding_window: Option<u64>,
    /// Of a running program only what ran in these bursts, in option syntax; `None`: all of it.
    pub bursts: Option<String>,
    /// Threads that executed blocks.
    pub threads: u64,
    /// Blocks that they executed (with a half-life, older ones count less; with a window, those in it).
    pub blocks: u64,
    /// Places where a subpath might have begun: the blocks, or the loop headers if only those count.
    pub places: u64,
    /// Samples ever taken, and blocks in them.
    pub drawn: u64,
    /// See [`drawn`](Self::drawn).
    pub drawn_blocks: u64,
    /// Mean distance between samples at the end: the smallest and the largest of any thread and length.
    pub distance: (u64, u64),
    /// Bytes of the largest sample of a thread, and of what else sampling needed.
    pub peak_bytes: u64,
    /// See [`peak_bytes`](Self::peak_bytes).
    pub working_bytes: u64,
    /// Subpaths, by estimate, the most frequent first.
    pub subpaths: Vec<Subpath>,
}

/// A subpath of the sample.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Subpath {
    /// Blocks.
    pub length: u32,
    /// How often it is in the sample.
    pub sampled: u64,
    /// How often it was executed, by the sample.
    pub estimate: u64,
    /// The interval that holds the true count in 95 % of all cases.
    pub low: u64,
    /// See [`low`](Self::low).
    pub high: u64,
    /// Its blocks: a rotation that was sampled. None, if it came once and there was no room to keep them.
    pub runs: Vec<SubpathRun>,
    /// Blocks at its end that are not known.
    pub missing: u32,
}

/// A part of one path, once or several times in a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SubpathRun {
    /// Index of the class in [`Profile::classes`](crate::Profile::classes).
    pub class: usize,
    /// Index of the method in [`ClassMap::methods`](crate::ClassMap::methods).
    pub method: usize,
    /// Path number.
    pub path: u64,
    /// First block of the path that belongs to it, counted from the path's first.
    pub from: u32,
    /// Number of blocks that belong to it.
    pub blocks: u32,
    /// How many times it comes in a row.
    pub times: u32,
}

impl SubpathRun {
    /// Its blocks in the method, once, and whether the first one is where a path begins in a loop's header. `None` if the path does not
    /// have them.
    pub fn blocks_in(&self, map: &MethodMap) -> Option<(Vec<usize>, bool)> {
        let path = map.dag.regenerate(&map.graph, self.path).ok()?;
        let header = self.from == 0 && path.start == trodden_numbering::StartKind::Header;
        let all = path.blocks(&map.graph);
        let begin = self.from as usize;
        let some = all.get(begin..begin.checked_add(self.blocks as usize)?)?;
        Some((some.iter().map(|block| block.index()).collect(), header))
    }
}

impl Subpaths {
    /// Was everything counted, so that there is nothing to estimate?
    pub fn is_exact(&self) -> bool {
        let exact = |subpath: &Subpath| subpath.low == subpath.high && subpath.sampled == subpath.estimate;
        self.distance == (1, 1) && self.subpaths.iter().all(exact)
    }

    /// Subpaths in the sample, with and without repetitions.
    pub fn sampled(&self) -> (u64, u64) {
        let all = self.subpaths.iter().map(|subpath| subpath.sampled);
        (all.fold(0, u64::saturating_add), self.subpaths.len() as u64)
    }

    /// A subpath's estimate as a share of the places where it might have begun, 0 to 1.
    pub fn share(&self, subpath: &Subpath) -> f64 {
        match self.places {
            0 => 0.0,
            places => (subpath.estimate as f64 / places as f64).min(1.0),
        }
    }
}

/// Where the least rotation of a sequence begins, in linear time and without memory: two candidates race, and whichever
/// loses a comparison is out together with those that follow it up to there. (After Booth, *Lexicographically least circular
/// substrings*, 1980, and Shiloach's variant of 1981.)
///
/// ```
/// assert_eq!(trodden_profile::least_rotation(&[3, 1, 2, 1, 1, 2]), 3);
/// ```
pub fn least_rotation<T: Ord>(items: &[T]) -> usize {
    let n = items.len();
    let at = |i: usize| &items[if i < n { i } else { i - n }];
    let (mut one, mut other, mut same) = (0, 1, 0);
    while one < n && other < n && same < n {
        match at(one + same).cmp(at(other + same)) {
            std::cmp::Ordering::Equal => {
                same += 1;
                continue;
            }
            std::cmp::Ordering::Greater => one += same + 1,
            std::cmp::Ordering::Less => other += same + 1,
        }
        if one == other {
            other += 1;
        }
        same = 0;
    }
    one.min(other).min(n.saturating_sub(1))
}
