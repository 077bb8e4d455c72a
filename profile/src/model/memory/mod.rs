//! What earlier runs of a program found, so that the next one need not measure it again.
//!
//! A [`Memory`] is kept between runs, in a profile that holds nothing else; and it is in the profile of a run that left
//! methods alone, with what earlier runs found of these methods and no others. Counts of different runs are never added up:
//! each method has those of the one run that is named with them.

mod codec;
mod learn;
mod merge;
pub(crate) mod section;
mod settled;

use crate::model::fault::{Fault, ensure};
use crate::model::profile::Profile;

pub use settled::{Alike, alike};

/// A run that something is remembered of.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MemoryRun {
    /// The first one has number 1.
    pub number: u64,
    /// When it began, milliseconds since 1970-01-01 UTC.
    pub started_ms: u64,
    /// How long it was profiled.
    pub seconds: f64,
    /// The JVM.
    pub jvm: String,
    /// Version of Trodden.
    pub version: String,
}

/// The memory of a method, in addition to its path map and counts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Remembered {
    /// Number of the run that measured it.
    pub run: u64,
    /// Its share of all branch decisions in that run.
    pub decisions: f64,
    /// Its own share of the sampled CPU time of the last run that had samples; `None` if none had.
    pub time: Option<f64>,
    /// Were its paths' shares known, and the same in two parts of that run?
    pub steady: bool,
    /// Were they as in the run that measured it before? `None`: that is not known.
    pub as_before: Option<bool>,
}

impl Remembered {
    /// Are its paths known well enough not to be measured again?
    pub fn is_settled(&self) -> bool {
        match self.as_before {
            Some(alike) => alike,
            None => self.steady,
        }
    }
}

/// Why a method is not measured again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Known {
    /// Its paths are settled.
    Settled,
    /// It had next to no part in time and decisions.
    Cold,
}

impl Known {
    /// Both.
    pub const ALL: [Known; 2] = [Known::Settled, Known::Cold];

    /// [`reason`](Self::reason) of those that are settled.
    pub const SETTLED: &'static str = "not measured in this run: its paths are settled by earlier runs";

    /// [`reason`](Self::reason) of those that are cold.
    pub const COLD: &'static str = "not measured in this run: earlier runs found it to be cold";

    /// As the reason for which a method was left unchanged.
    pub const fn reason(self) -> &'static str {
        match self {
            Known::Settled => Known::SETTLED,
            Known::Cold => Known::COLD,
        }
    }

    /// The reason's meaning, if it is one of these.
    pub fn of_reason(reason: &str) -> Option<Known> {
        Known::ALL.into_iter().find(|known| known.reason() == reason)
    }
}

/// A method that the next run leaves alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeftAlone<'m> {
    /// Internal name of the class.
    pub class: &'m str,
    /// SHA-256 of its bytes when the method was measured.
    pub sha256: [u8; 32],
    /// Name.
    pub name: &'m str,
    /// Descriptor.
    pub descriptor: &'m str,
    /// [Hash of its code](crate::MethodShape::code).
    pub code: u64,
    /// Why.
    pub known: Known,
}

/// What earlier runs found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Memory {
    /// The runs, ascending.
    pub runs: Vec<MemoryRun>,
    /// Path maps, counts and conditions of the methods; nothing else is in this profile.
    pub found: Profile,
    /// Parallel to the classes of [`found`](Self::found) and their methods.
    pub about: Vec<Vec<Remembered>>,
}

impl Memory {
    /// The run of that number, if it is still known.
    pub fn run(&self, number: u64) -> Option<&MemoryRun> {
        let at = self.runs.binary_search_by_key(&number, |run| run.number);
        at.ok().map(|at| &self.runs[at])
    }

    /// Number of methods.
    pub fn methods(&self) -> usize {
        self.about.iter().map(Vec::len).sum()
    }

    /// Checks the rules.
    fn check(&self) -> Result<(), Fault> {
        Fault::order(
            "runs of a memory",
            self.runs.is_sorted_by(|a, b| a.number < b.number),
        )?;
        for run in &self.runs {
            Fault::seconds("time of a run", run.seconds)?;
        }
        let found = &self.found;
        let only = Profile {
            classes: found.classes.clone(),
            conditions: found.conditions.clone(),
            ..Profile::default()
        };
        ensure(*found == only, || Fault::MemoryOfMore)?;
        Fault::sizes(
            "known classes",
            self.about.len(),
            "classes of the memory",
            found.classes.len(),
        )?;
        for (class, about) in found.classes.iter().zip(&self.about) {
            for methods in [class.map.methods.len(), class.counts.len()] {
                Fault::sizes("known methods", about.len(), "methods of a class", methods)?;
            }
        }
        for about in self.about.iter().flatten() {
            for share in about.time.into_iter().chain([about.decisions]) {
                ensure((0.0..=1.0).contains(&share), || Fault::NotShare("memory", share))?;
            }
            let run = self.run(about.run);
            ensure(run.is_some(), || {
                Fault::NoItem("a method of the memory", "run", about.run)
            })?;
        }
        Ok(())
    }
}
