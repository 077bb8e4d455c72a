//! Subpaths of a sample that are reported: the hottest, or those above a threshold (OSP section 2.3, "Reporting the Results").

use std::cmp::Reverse;

use super::{Subpath, Subpaths};
use crate::model::facts;
use crate::model::profile::Profile;
use crate::options::SubpathThreshold;

/// Samples from which on a subpath's estimate says something: the bounds are 60 % apart from it then.
pub const KNOWN_SUBPATH: u64 = 10;

impl Subpath {
    /// True for those that are often enough in the sample for a useful estimate.
    pub fn is_known(&self) -> bool {
        self.sampled >= KNOWN_SUBPATH
    }
}

impl Subpaths {
    /// All of them in the order of reports: first those that are [known](Subpath::is_known), then by estimate.
    ///
    /// A long subpath that was sampled once represents a thousand times as many executions as one of two blocks, and nearly all
    /// of these are luck: by estimate alone the first ranks would be those of the luckiest.
    pub fn ranking(&self) -> Vec<&Subpath> {
        let mut ranking: Vec<&Subpath> = self.subpaths.iter().collect();
        ranking.sort_by_key(|subpath| (!subpath.is_known(), Reverse(subpath.estimate), subpath.length));
        ranking
    }

    /// Leaves only those that a threshold lets through. What is lost: subpaths, and how often they were in the sample.
    fn keep(&mut self, threshold: SubpathThreshold) -> (u64, u64) {
        let before = self.sampled();
        match threshold {
            SubpathThreshold::None => {}
            SubpathThreshold::Top(number) => {
                let kept = self.ranking().into_iter().take(number.get() as usize);
                self.subpaths = kept.cloned().collect();
                self.subpaths
                    .sort_by_key(|subpath| (Reverse(subpath.estimate), subpath.length));
            }
            SubpathThreshold::Samples(number) => {
                self.subpaths.retain(|subpath| subpath.sampled >= number.get());
            }
            SubpathThreshold::Share(share) => {
                let shares: Vec<f64> = self.subpaths.iter().map(|subpath| self.share(subpath)).collect();
                let mut shares = shares.into_iter();
                self.subpaths
                    .retain(|_| shares.next().is_some_and(|own| own >= share.get()));
            }
        }
        let after = self.sampled();
        (before.1 - after.1, before.0 - after.0)
    }
}

impl Profile {
    /// Leaves only those subpaths that a threshold lets through; facts of the run say how many it did not.
    pub fn keep_subpaths(&mut self, threshold: SubpathThreshold) {
        let Some(subpaths) = &mut self.subpaths else {
            return;
        };
        let (lost, samples) = subpaths.keep(threshold);
        if lost == 0 {
            return;
        }
        self.run.facts.add(facts::SUBPATHS_LEFT_OUT, lost);
        self.run.facts.add(facts::SUBPATHS_LEFT_OUT_SAMPLES, samples);
    }

    /// Subpaths of the sample that a threshold left out, and how often they were in it.
    pub fn subpaths_left_out(&self) -> (u64, u64) {
        let fact = |fact| self.run.facts.get(fact).unwrap_or(0);
        (
            fact(facts::SUBPATHS_LEFT_OUT),
            fact(facts::SUBPATHS_LEFT_OUT_SAMPLES),
        )
    }
}
