//! How counts came about: the only place that knows it from the facts of a run.

use crate::model::counts::MethodCounts;
use crate::model::facts;
use crate::model::profile::{Profile, RunInfo};
use crate::model::several::values;
use crate::options::Probe;

const AUTO: &str = Probe::Auto.name();
const COUNTERS: &str = Probe::Counters.name();
/// No probe that can be asked for: structural profiles have it.
const STRUCTURAL: &str = "structural";

/// The basis of counts, and the number of events that were counted for them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CountBasis {
    /// Executions, each of which was counted.
    Exact,
    /// Numbers of samples: only their shares say something about executions.
    Sampled(Rate),
    /// Executions in the whole run, as estimated from samples of which each represents several (schedules
    /// `span:…`).
    Weighted(Rate),
    /// Executions in the whole run, of which a part was counted and the rest estimated from it.
    Estimated(Rate),
}

/// Counted events for each execution (or sample) that counts state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    mean: f64,
    is_uniform: bool,
}

impl Rate {
    /// Each one was counted.
    const ONE: Rate = Rate {
        mean: 1.0,
        is_uniform: true,
    };

    /// The mean over all counts, greater than 0 and at most 1.
    pub fn mean(self) -> f64 {
        self.mean
    }

    /// The rate of each count; `None` where counts of several origins were added up, or where it is not
    /// known.
    pub fn of_each(self) -> Option<f64> {
        self.is_uniform.then_some(self.mean)
    }
}

impl CountBasis {
    /// Counted events for each execution (or sample) that the counts state.
    pub fn rate(self) -> Rate {
        match self {
            CountBasis::Exact => Rate::ONE,
            CountBasis::Sampled(rate) | CountBasis::Weighted(rate) | CountBasis::Estimated(rate) => rate,
        }
    }

    /// For one method's counts, where `self` is of the whole profile. `place`: position of the class, and of
    /// the method in it.
    pub fn of_method(self, profile: &Profile, place: (u32, u32)) -> CountBasis {
        if self == CountBasis::Exact {
            return self;
        }
        let counts_paths = profile.run.all_probes_are(&[AUTO, COUNTERS]);
        let observed = profile
            .observations
            .binary_search_by_key(&place, |one| (one.class, one.method));
        let Ok(at) = observed else {
            // It had its probes all the time.
            return if counts_paths { CountBasis::Exact } else { self };
        };
        let class = profile.classes.get(place.0 as usize);
        let counts = class.and_then(|class| class.counts.get(place.1 as usize));
        let all = counts.map_or(0.0, sum);
        let counted = profile.observations[at].counted as f64;
        CountBasis::Estimated(Rate {
            mean: mean(counted, all),
            // Windows of loops were combined into paths: no path end was counted as such.
            is_uniform: counts_paths && counted > 0.0,
        })
    }
}

impl RunInfo {
    /// Returns true if each of its probes is one of these. Merged runs have several.
    pub(crate) fn all_probes_are(&self, wanted: &[&str]) -> bool {
        values(&self.probe).all(|probe| wanted.contains(&probe))
    }
}

impl Profile {
    /// How the counts of its methods came about.
    pub fn count_basis(&self) -> CountBasis {
        let run = &self.run;
        if run.exact {
            return CountBasis::Exact;
        }
        if run.all_probes_are(&[AUTO, COUNTERS, STRUCTURAL]) {
            // Which methods, and how much of each, is in the observations.
            return CountBasis::Estimated(Rate {
                is_uniform: false,
                ..Rate::ONE
            });
        }
        let is_span = |schedule: &str| schedule.starts_with("span:");
        let schedules = run.schedule.iter().flat_map(|schedule| values(schedule));
        let has_spans = schedules.clone().any(is_span);
        let one_probe = values(&run.probe).nth(1).is_none();
        if one_probe && !has_spans {
            return CountBasis::Sampled(Rate::ONE);
        }
        let samples = run.facts.get(facts::SAMPLES).filter(|&samples| samples > 0);
        let counts = self.classes.iter().flat_map(|class| &class.counts);
        let all: f64 = counts.map(sum).sum();
        let rate = Rate {
            mean: samples.map_or(1.0, |samples| mean(samples as f64, all)),
            is_uniform: one_probe && samples.is_some() && schedules.clone().all(is_span),
        };
        if has_spans {
            CountBasis::Weighted(rate)
        } else {
            CountBasis::Sampled(rate)
        }
    }
}

fn mean(counted: f64, all: f64) -> f64 {
    if all > 0.0 && counted > 0.0 {
        (counted / all).min(1.0)
    } else {
        1.0
    }
}

fn sum(counts: &MethodCounts) -> f64 {
    let all = counts.paths.values().chain(counts.partial.values());
    all.map(|&count| count as f64).sum()
}
