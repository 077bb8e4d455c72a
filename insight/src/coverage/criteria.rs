//! MC/DC and prime paths of a method, where they are asked for.

use std::collections::BTreeSet;

use super::{Coverage, CoverageOptions, MethodCoverage, PrimePaths, Ratio};
use crate::criteria::{self, Followed};

impl MethodCoverage {
    /// Finds what the options ask for.
    pub(super) fn judge(&mut self, options: &CoverageOptions, followed: Followed<'_>) {
        if options.mcdc {
            let own: BTreeSet<usize> = self.branches().iter().map(|branch| branch.block).collect();
            self.mcdc = Some(criteria::mcdc(self.map(), &self.counts, |block| {
                own.contains(&block)
            }));
        }
        if let Some(cap) = options.prime_paths {
            self.prime_paths = Some(criteria::prime_paths(self.map(), &self.counts, followed, cap));
        }
    }

    /// Outcomes of conditions that decided on their own; none of none if MC/DC was not asked for.
    pub fn mcdc_ratio(&self) -> Ratio {
        let decisions = self.mcdc.iter().flatten();
        let ratios = decisions.map(|decision| Ratio {
            covered: decision.covered(),
            total: decision.total(),
        });
        ratios.sum()
    }

    /// Prime paths that ran, of those of which it is known, and the number of others.
    pub fn prime_path_ratio(&self) -> (Ratio, u64) {
        let Some(PrimePaths::All(paths)) = &self.prime_paths else {
            return (Ratio::default(), 0);
        };
        let known = paths.iter().filter_map(|path| path.covered);
        let ratio: Ratio = known.map(Ratio::one).sum();
        (ratio, paths.len() as u64 - ratio.total)
    }
}

impl Coverage {
    /// How many prime paths there are of which it is not known whether they ran, and the length of sequences
    /// of paths that would tell. `None` if all is known.
    pub fn unknown_prime_paths(&self) -> Option<(u64, u32)> {
        let all = self
            .methods
            .iter()
            .filter_map(|method| method.prime_paths.as_ref());
        let paths = all.flat_map(|paths| match paths {
            PrimePaths::All(paths) => &paths[..],
            PrimePaths::TooMany => &[],
        });
        let unknown = paths.filter(|path| path.covered.is_none());
        unknown.fold(None, |sum, path| {
            let (count, needs) = sum.unwrap_or((0, 2));
            Some((count + 1, path.needs.max(needs)))
        })
    }
}
