//! Observations as a kind of data.

use super::{codec, merge};
use crate::model::codec::{Problem, Tag, WriteError};
use crate::model::errors::{MergeError, SubtractError};
use crate::model::profile::Profile;
use crate::model::section::{Section, SectionReader, Sections};

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
