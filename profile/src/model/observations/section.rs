//! Observations as a kind of data.

use super::{codec, merge};
use crate::model::codec::{Checked, Tag, WriteError};
use crate::model::errors::MergeError;
use crate::model::fault::Fault;
use crate::model::places::method;
use crate::model::profile::Profile;
use crate::model::section::{Section, SectionReader};

/// Observations as a kind of data.
pub(crate) struct Kind;

impl Section for Kind {
    fn tags(&self) -> &'static [Tag] {
        &[codec::OBSERVATIONS]
    }

    fn write(&self, profile: &Profile, out: &mut Vec<u8>) -> Result<(), WriteError> {
        codec::write(&profile.observations, out)
    }

    fn reader(&self) -> Box<dyn SectionReader> {
        Box::new(codec::Reading)
    }

    fn check(&self, profile: &Profile) -> Checked {
        let all = &profile.observations;
        let places = all.iter().map(|one| (one.class, one.method));
        Fault::order("observations", places.is_sorted_by(|a, b| a < b))?;
        for one in all {
            let place = (one.class as usize, one.method as usize);
            method(profile, place, "an observation")?;
            Fault::seconds("time with probes", one.seconds)?;
            Fault::seconds("time of exact counts", one.until)?;
        }
        Ok(())
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

    fn estimates(&self, profile: &Profile) -> Option<&'static str> {
        let is_there = !profile.observations.is_empty();
        is_there.then_some("counts of methods without probes")
    }

    fn merge(&self, inputs: &[&Profile], merged: &mut Profile) -> Result<(), MergeError> {
        merged.observations = merge::merge(inputs, &merged.classes);
        Ok(())
    }
}
