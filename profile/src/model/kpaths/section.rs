//! Path forests as a kind of data.

use super::{KPaths, codec, merge};
use crate::model::burst_groups::BURST_GROUPS;
use crate::model::codec::{Checked, Tag, WriteError};
use crate::model::errors::MergeError;
use crate::model::fault::{Fault, ensure};
use crate::model::places::method;
use crate::model::profile::Profile;
use crate::model::section::{Section, SectionReader};
use crate::options::MAX_K;

/// Path forests as a kind of data.
pub(crate) struct Kind;

impl Section for Kind {
    fn tags(&self) -> &'static [Tag] {
        &[codec::ABOUT, codec::TREES, codec::GROUPS]
    }

    fn write(&self, profile: &Profile, out: &mut Vec<u8>) -> Result<(), WriteError> {
        profile
            .kpaths
            .iter()
            .try_for_each(|kpaths| codec::write(kpaths, out))
    }

    fn reader(&self) -> Box<dyn SectionReader> {
        Box::new(codec::Reading::default())
    }

    fn check(&self, profile: &Profile) -> Checked {
        profile.kpaths.iter().try_for_each(|kpaths| kpaths.check(profile))
    }

    fn texts<'p>(&self, profile: &'p Profile) -> Vec<&'p str> {
        let kpaths = profile.kpaths.iter();
        kpaths.filter_map(|kpaths| kpaths.bursts.as_deref()).collect()
    }

    fn texts_mut<'p>(&self, profile: &'p mut Profile) -> Vec<&'p mut String> {
        let kpaths = profile.kpaths.iter_mut();
        kpaths.filter_map(|kpaths| kpaths.bursts.as_mut()).collect()
    }

    fn estimates(&self, profile: &Profile) -> Option<&'static str> {
        profile.kpaths.as_ref().map(|_| "k-iteration paths")
    }

    fn classes(&self, profile: &Profile, found: &mut dyn FnMut(usize)) {
        // Groups are parts of these.
        let places = profile.kpaths.iter().flat_map(|kpaths| kpaths.methods.keys());
        places.for_each(|&(class, _)| found(class));
    }

    fn merge(&self, inputs: &[&Profile], merged: &mut Profile) -> Result<(), MergeError> {
        merged.kpaths = merge::merge(inputs, &merged.classes)?;
        Ok(())
    }
}

impl KPaths {
    /// Checks what [`PathForest`] alone cannot know.
    fn check(&self, profile: &Profile) -> Checked {
        let k = u64::from(self.k);
        Fault::range("k", k, 2..=MAX_K.into())?;
        let groups = self.groups.len() as u64;
        if groups > 0 {
            Fault::number("groups of bursts", groups, BURST_GROUPS as u64)?;
            let sums = self.sum_of_groups().map_err(Fault::Forests)?;
            ensure(sums == self.methods, || Fault::Groups)?;
        }
        let forests = self.groups.iter().chain([&self.methods]).flatten();
        for (&place, forest) in forests {
            method(profile, place, "a path forest")?;
            Fault::range("paths of a sequence", forest.longest().into(), 0..=k)?;
            let errors = forest.missing_by_length().len() as u64;
            Fault::range("lengths of sequences with errors", errors, 0..=k - 1)?;
        }
        Ok(())
    }
}
