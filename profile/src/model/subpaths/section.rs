//! Hot subpaths as a kind of data.

use super::{Subpaths, codec, merge};
use crate::model::codec::{Checked, Tag, WriteError};
use crate::model::errors::MergeError;
use crate::model::fault::{Fault, ensure};
use crate::model::places::method;
use crate::model::profile::Profile;
use crate::model::section::{Section, SectionReader};
use crate::options::MAX_SUBPATH;

/// Hot subpaths as a kind of data.
pub(crate) struct Kind;

impl Section for Kind {
    fn tags(&self) -> &'static [Tag] {
        &[codec::ABOUT, codec::WINDOW, codec::BURSTS, codec::LIST]
    }

    fn write(&self, profile: &Profile, out: &mut Vec<u8>) -> Result<(), WriteError> {
        profile
            .subpaths
            .iter()
            .try_for_each(|subpaths| codec::write(subpaths, out))
    }

    fn reader(&self) -> Box<dyn SectionReader> {
        Box::new(codec::Reading::default())
    }

    fn check(&self, profile: &Profile) -> Checked {
        profile
            .subpaths
            .iter()
            .try_for_each(|subpaths| subpaths.check(profile))
    }

    fn texts<'p>(&self, profile: &'p Profile) -> Vec<&'p str> {
        let Some(about) = &profile.subpaths else {
            return Vec::new();
        };
        let texts = [&about.lengths, &about.order, &about.identity, &about.starts];
        let bursts = about.bursts.iter();
        (texts.into_iter().chain(bursts)).map(String::as_str).collect()
    }

    fn texts_mut<'p>(&self, profile: &'p mut Profile) -> Vec<&'p mut String> {
        let Some(about) = &mut profile.subpaths else {
            return Vec::new();
        };
        let texts = [
            &mut about.lengths,
            &mut about.order,
            &mut about.identity,
            &mut about.starts,
        ];
        texts.into_iter().chain(about.bursts.iter_mut()).collect()
    }

    fn estimates(&self, profile: &Profile) -> Option<&'static str> {
        profile.subpaths.as_ref().map(|_| "subpaths")
    }

    fn classes(&self, profile: &Profile, found: &mut dyn FnMut(usize)) {
        let subpaths = profile.subpaths.iter().flat_map(|about| &about.subpaths);
        subpaths
            .flat_map(|subpath| &subpath.runs)
            .for_each(|run| found(run.class));
    }

    fn merge(&self, inputs: &[&Profile], merged: &mut Profile) -> Result<(), MergeError> {
        merged.subpaths = merge::merge(inputs, &merged.classes)?;
        Ok(())
    }
}

impl Subpaths {
    /// Checks the rules.
    fn check(&self, profile: &Profile) -> Checked {
        for subpath in &self.subpaths {
            let (bounds, length) = (subpath.low..=subpath.high, subpath.length.into());
            Fault::range("estimate of a subpath", subpath.estimate, bounds)?;
            Fault::range("blocks of a subpath", length, 0..=MAX_SUBPATH.into())?;
            let mut blocks = u64::from(subpath.missing);
            for run in &subpath.runs {
                let paths = method(profile, (run.class, run.method), "a subpath")?.num_paths();
                ensure(run.path < paths, || Fault::NoPath("a subpath", run.path))?;
                blocks = blocks.saturating_add(u64::from(run.blocks) * u64::from(run.times));
            }
            Fault::number("blocks of a subpath", blocks, length)?;
        }
        Ok(())
    }
}
