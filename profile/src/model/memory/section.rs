//! Memory as a kind of data.

use std::collections::BTreeSet;

use super::{codec, merge};
use crate::model::codec::{Problem, Tag, WriteError};
use crate::model::errors::{MergeError, SubtractError};
use crate::model::profile::Profile;
use crate::model::section::{Section, SectionReader, Sections};

/// Memory as a kind of data.
pub(crate) struct Kind;

impl Section for Kind {
    fn tags(&self) -> &'static [Tag] {
        &[codec::STEADY, codec::RUNS, codec::FOUND, codec::ABOUT]
    }

    fn write(&self, profile: &Profile, out: &mut Sections<'_>) -> Result<(), WriteError> {
        codec::write(profile, out)
    }

    fn reader(&self) -> Box<dyn SectionReader> {
        Box::new(codec::Reading::default())
    }

    fn check(&self, profile: &Profile) -> Result<(), Problem> {
        check_steady(profile, &profile.steady).map_err(Problem::bare)?;
        let check = profile.memory.as_ref().map_or(Ok(()), |memory| memory.check());
        check.map_err(Problem::bare)
    }

    fn subtract(&self, now: &Profile, before: &Profile, _: &mut Profile) -> Result<(), SubtractError> {
        if [now, before]
            .iter()
            .any(|one| one.memory.is_some() || !one.steady.is_empty())
        {
            Err(SubtractError::Estimates {
                what: "what earlier runs know",
            })
        } else {
            Ok(())
        }
    }

    fn merge(&self, inputs: &[&Profile], merged: &mut Profile) -> Result<(), MergeError> {
        merge::merge(inputs, merged);
        Ok(())
    }
}

fn check_steady(profile: &Profile, steady: &BTreeSet<(u32, u32)>) -> Result<(), String> {
    let is_there = |&(class, method): &(u32, u32)| {
        let class = profile.classes.get(class as usize);
        class.is_some_and(|class| (method as usize) < class.map.methods.len())
    };
    match steady.iter().find(|place| !is_there(place)) {
        None => Ok(()),
        Some((class, method)) => Err(format!(
            "method {method} of class {class} is called steady, and is not there"
        )),
    }
}
