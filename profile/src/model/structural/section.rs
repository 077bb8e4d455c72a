//! Structural profiles as a kind of data.

use super::{codec, merge, structure_of};
use crate::model::codec::{Problem, Tag, WriteError};
use crate::model::errors::{MergeError, SubtractError};
use crate::model::profile::Profile;
use crate::model::section::{Section, SectionReader, Sections};

/// Structural profiles as a kind of data.
pub(crate) struct Kind;

impl Section for Kind {
    fn tags(&self) -> &'static [Tag] {
        &[codec::ABOUT, codec::LIST]
    }

    fn write(&self, profile: &Profile, out: &mut Sections<'_>) -> Result<(), WriteError> {
        match &profile.structural {
            Some(structural) => codec::write(structural, out),
            None => Ok(()),
        }
    }

    fn reader(&self) -> Box<dyn SectionReader> {
        Box::new(codec::Reading::default())
    }

    fn check(&self, profile: &Profile) -> Result<(), Problem> {
        let Some(structural) = &profile.structural else {
            return Ok(());
        };
        let graphs = |(class, method): (u32, u32)| {
            let class = profile.classes.get(class as usize)?;
            structure_of(&class.map.methods.get(method as usize)?.graph).ok()
        };
        structural.check(graphs).map_err(Problem::bare)
    }

    fn subtract(&self, now: &Profile, before: &Profile, _: &mut Profile) -> Result<(), SubtractError> {
        if now.structural.is_some() || before.structural.is_some() {
            Err(SubtractError::Estimates {
                what: "structural profiles",
            })
        } else {
            Ok(())
        }
    }

    fn classes(&self, profile: &Profile, found: &mut dyn FnMut(usize)) {
        let places = profile.structural.iter().flat_map(|about| about.methods.keys());
        places.for_each(|&(class, _)| found(class as usize));
    }

    fn merge(&self, inputs: &[&Profile], merged: &mut Profile) -> Result<(), MergeError> {
        merged.structural = merge::merge(inputs, &merged.classes);
        Ok(())
    }
}
