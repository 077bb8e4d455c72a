//! Path forests as a kind of data.

use super::{codec, merge};
use crate::model::codec::{Problem, Tag, WriteError};
use crate::model::errors::{MergeError, SubtractError};
use crate::model::profile::Profile;
use crate::model::section::{Section, SectionReader, Sections};

/// Path forests as a kind of data.
pub(crate) struct Kind;

impl Section for Kind {
    fn tags(&self) -> &'static [Tag] {
        &[codec::ABOUT, codec::TREES]
    }

    fn write(&self, profile: &Profile, out: &mut Sections<'_>) -> Result<(), WriteError> {
        match &profile.kpaths {
            Some(kpaths) => codec::write(kpaths, out),
            None => Ok(()),
        }
    }

    fn reader(&self) -> Box<dyn SectionReader> {
        Box::new(codec::Reading::default())
    }

    fn check(&self, profile: &Profile) -> Result<(), Problem> {
        let Some(kpaths) = &profile.kpaths else {
            return Ok(());
        };
        let methods = |class: usize| Some(profile.classes.get(class)?.map.methods.len());
        kpaths.check(methods).map_err(Problem::bare)
    }

    fn texts<'p>(&self, profile: &'p Profile) -> Vec<&'p str> {
        let kpaths = profile.kpaths.iter();
        kpaths.filter_map(|kpaths| kpaths.bursts.as_deref()).collect()
    }

    fn texts_mut<'p>(&self, profile: &'p mut Profile) -> Vec<&'p mut String> {
        let kpaths = profile.kpaths.iter_mut();
        kpaths.filter_map(|kpaths| kpaths.bursts.as_mut()).collect()
    }

    fn subtract(&self, now: &Profile, before: &Profile, _: &mut Profile) -> Result<(), SubtractError> {
        if now.kpaths.is_some() || before.kpaths.is_some() {
            Err(SubtractError::Estimates {
                what: "k-iteration paths",
            })
        } else {
            Ok(())
        }
    }

    fn classes(&self, profile: &Profile, found: &mut dyn FnMut(usize)) {
        let places = profile.kpaths.iter().flat_map(|kpaths| kpaths.methods.keys());
        places.for_each(|&(class, _)| found(class));
    }

    fn merge(&self, inputs: &[&Profile], merged: &mut Profile) -> Result<(), MergeError> {
        merged.kpaths = merge::merge(inputs, &merged.classes)?;
        Ok(())
    }
}
