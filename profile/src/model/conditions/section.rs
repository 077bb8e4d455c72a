//! Conditions as a kind of data.

use super::{MethodConditions, check_conditions, codec, merge};
use crate::model::codec::{Checked, Tag, WriteError};
use crate::model::errors::{MergeError, SubtractError};
use crate::model::places;
use crate::model::profile::Profile;
use crate::model::section::{Section, SectionReader};

/// Conditions as a kind of data.
pub(crate) struct Kind;

impl Section for Kind {
    fn tags(&self) -> &'static [Tag] {
        &[codec::CONDITIONS, codec::RANGES]
    }

    fn write(&self, profile: &Profile, out: &mut Vec<u8>) -> Result<(), WriteError> {
        codec::write(&profile.conditions, out)
    }

    fn reader(&self) -> Box<dyn SectionReader> {
        Box::new(codec::Reading)
    }

    fn check(&self, profile: &Profile) -> Checked {
        for (&(class, method), of) in &profile.conditions {
            places::method(profile, (class as usize, method as usize), "conditions")?;
            check_conditions(&profile.classes[class as usize].map, method, of)?;
        }
        Ok(())
    }

    fn texts<'p>(&self, profile: &'p Profile) -> Vec<&'p str> {
        profile
            .conditions
            .values()
            .flat_map(MethodConditions::texts)
            .collect()
    }

    fn texts_mut<'p>(&self, profile: &'p mut Profile) -> Vec<&'p mut String> {
        profile
            .conditions
            .values_mut()
            .flat_map(MethodConditions::texts_mut)
            .collect()
    }

    fn subtract(&self, now: &Profile, _: &Profile, rest: &mut Profile) -> Result<(), SubtractError> {
        rest.conditions = now.conditions.clone();
        Ok(())
    }

    fn merge(&self, inputs: &[&Profile], merged: &mut Profile) -> Result<(), MergeError> {
        merged.conditions = merge::merge(inputs, &merged.classes);
        Ok(())
    }
}
