//! Methods that were counted for a part of the run only. (In the file the tag is `cove`, from an older name. Nothing to
//! do with path coverage, which `trodden-report` makes.)

mod codec;
mod merge;

use crate::model::codec::{Problem, Tag, WriteError};
use crate::model::merge::MergeError;
use crate::model::profile::Profile;
use crate::model::section::{Section, SectionReader, Sections};
use crate::model::subtract::SubtractError;

/// How much of a method's counts was really counted (probe `auto`). Methods without one were counted, or sampled, all
/// the time.
#[derive(Clone, Debug, PartialEq)]
pub struct Observation {
    /// Index of the class in the profile.
    pub class: u32,
    /// Index of the method in the class's path map.
    pub method: u32,
    /// Path ends that were counted; the rest of the method's counts is estimated from their rates.
    pub counted: u64,
    /// Seconds with probes, over all stretches.
    pub seconds: f64,
    /// Seconds of the profile until the probes were taken out the first time: so long counts are exact.
    pub until: f64,
    /// Number of stretches with probes.
    pub windows: u32,
    /// Why they were taken out the last time: `known`, `full`, `overdue` or `budget`.
    pub reason: String,
}

/// Observations as a kind of data.
pub(crate) struct Kind;

impl Section for Kind {
    fn tags(&self) -> &'static [Tag] {
        &[codec::OBSERVATIONS]
    }

    fn write(&self, profile: &Profile, out: &mut Sections<'_>) -> Result<(), WriteError> {
        codec::write(&profile.observations, out)
    }

    fn reader(&self) -> Box<dyn SectionReader> {
        Box::new(codec::Reading::default())
    }

    fn check(&self, profile: &Profile) -> Result<(), Problem> {
        check(profile).map_err(Problem::bare)
    }

    fn texts<'p>(&self, profile: &'p Profile) -> Vec<&'p str> {
        profile
            .observations
            .iter()
            .map(|one| one.reason.as_str())
            .collect()
    }

    fn texts_mut<'p>(&self, profile: &'p mut Profile) -> Vec<&'p mut String> {
        profile
            .observations
            .iter_mut()
            .map(|one| &mut one.reason)
            .collect()
    }

    fn subtract(&self, now: &Profile, before: &Profile, _: &mut Profile) -> Result<(), SubtractError> {
        if !now.observations.is_empty() || !before.observations.is_empty() {
            Err(SubtractError::Estimates {
                what: "counts of methods without probes",
            })
        } else {
            Ok(())
        }
    }

    fn merge(&self, inputs: &[&Profile], merged: &mut Profile) -> Result<(), MergeError> {
        merged.observations = merge::merge(inputs, &merged.classes);
        Ok(())
    }
}

/// Records are in order, speak of methods that are there, and their times are times.
fn check(profile: &Profile) -> Result<(), String> {
    let mut last = None;
    for one in &profile.observations {
        let class = profile.classes.get(one.class as usize);
        if class.is_none_or(|class| one.method as usize >= class.map.methods.len()) {
            return Err(format!(
                "observation of method {} of class {}, which is not there",
                one.method, one.class
            ));
        }
        let key = (one.class, one.method);
        if last >= Some(key) {
            return Err("the observations are not in order".to_owned());
        }
        last = Some(key);
        let time = |seconds: f64| seconds.is_finite() && seconds >= 0.0;
        if !time(one.seconds) || !time(one.until) {
            return Err("an observation has no duration in seconds".to_owned());
        }
    }
    Ok(())
}
