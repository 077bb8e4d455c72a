//! Memory as a kind of data.

use super::{codec, merge};
use crate::model::codec::{Checked, Tag, WriteError};
use crate::model::errors::MergeError;
use crate::model::places::method;
use crate::model::profile::Profile;
use crate::model::section::{Section, SectionReader};

/// Memory as a kind of data.
pub(crate) struct Kind;

impl Section for Kind {
    fn tags(&self) -> &'static [Tag] {
        &[codec::STEADY, codec::RUNS, codec::FOUND, codec::ABOUT]
    }

    fn write(&self, profile: &Profile, out: &mut Vec<u8>) -> Result<(), WriteError> {
        codec::write(profile, out)
    }

    fn reader(&self) -> Box<dyn SectionReader> {
        Box::new(codec::Reading::default())
    }

    fn check(&self, profile: &Profile) -> Checked {
        for &(class, at) in &profile.steady {
            method(profile, (class as usize, at as usize), "a steady one")?;
        }
        Ok(profile.memory.iter().try_for_each(|memory| memory.check())?)
    }

    fn estimates(&self, profile: &Profile) -> Option<&'static str> {
        let is_there = profile.memory.is_some() || !profile.steady.is_empty();
        is_there.then_some("what earlier runs know")
    }

    fn merge(&self, inputs: &[&Profile], merged: &mut Profile) -> Result<(), MergeError> {
        merge::merge(inputs, merged);
        Ok(())
    }
}
