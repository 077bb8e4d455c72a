//! Exact path profile: how often each path ended.

use rustc_hash::FxHashMap;
use trodden_profile::events::{EventKinds, Kind, ThreadInfo};
use trodden_profile::{Profile, facts};

use super::{StreamAnalysis, StreamError};
use crate::MethodPlaces;

/// Counts every path end. No stack is needed: each word names its method.
#[derive(Clone, Copy, Debug, Default)]
pub struct PathCounts;

/// Counts of one thread.
#[derive(Clone, Debug, Default)]
pub struct ThreadPathCounts {
    /// By method (upper half) and path number.
    counts: FxHashMap<u64, u64>,
}

const METHOD_AND_PATH: u64 = (1 << 60) - 1;

fn ends_path(word: u64) -> bool {
    const PATHS: u32 = 1 << Kind::PathEnd as u32 | 1 << Kind::LastPath as u32 | 1 << Kind::OnlyPath as u32;
    PATHS >> (word >> 60) & 1 != 0
}

impl StreamAnalysis for PathCounts {
    type Thread = ThreadPathCounts;
    type Result = FxHashMap<u64, u64>;

    fn needs(&self) -> EventKinds {
        EventKinds::PATHS
    }

    fn thread(&self, _: &ThreadInfo) -> ThreadPathCounts {
        ThreadPathCounts::default()
    }

    fn consume(&self, thread: &mut ThreadPathCounts, words: &[u64]) {
        // Loops repeat their paths: one look-up for a run of equal words.
        let mut rest = words;
        while let Some(&word) = rest.first() {
            let run = rest.iter().take_while(|&&other| other == word).count();
            rest = &rest[run..];
            if ends_path(word) {
                *thread.counts.entry(word & METHOD_AND_PATH).or_default() += run as u64;
            }
        }
    }

    fn reset(&self, thread: &mut ThreadPathCounts) {
        thread.counts.clear();
    }

    fn result(&self) -> FxHashMap<u64, u64> {
        FxHashMap::default()
    }

    fn add(&self, result: &mut FxHashMap<u64, u64>, thread: &ThreadPathCounts) -> Result<(), StreamError> {
        for (&key, &count) in &thread.counts {
            *result.entry(key).or_default() += count;
        }
        Ok(())
    }

    fn write(
        &self,
        result: &FxHashMap<u64, u64>,
        places: &MethodPlaces,
        profile: &mut Profile,
    ) -> Result<(), StreamError> {
        let mut unknown = 0;
        for (&key, &count) in result {
            match places.place((key >> 32) as u32) {
                Some((class, method)) => {
                    let paths = &mut profile.classes[class].counts[method].paths;
                    paths.insert(u64::from(key as u32), count);
                }
                None => unknown += count,
            }
        }
        profile.run.facts.add(facts::UNKNOWN, unknown);
        Ok(())
    }
}
