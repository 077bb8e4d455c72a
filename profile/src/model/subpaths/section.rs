//! Hot subpaths as a kind of data.

use super::{codec, merge};
use crate::model::codec::{Problem, Tag, WriteError};
use crate::model::errors::{MergeError, SubtractError};
use crate::model::profile::Profile;
use crate::model::section::{Section, SectionReader, Sections};

/// Hot subpaths as a kind of data.
pub(crate) struct Kind;

impl Section for Kind {
    fn tags(&self) -> &'static [Tag] {
        &[codec::ABOUT, codec::WINDOW, codec::BURSTS, codec::LIST]
    }

    fn write(&self, profile: &Profile, out: &mut Sections<'_>) -> Result<(), WriteError> {
        match &profile.subpaths {
            Some(subpaths) => codec::write(subpaths, out),
            None => Ok(()),
        }
    }

    fn reader(&self) -> Box<dyn SectionReader> {
        Box::new(codec::Reading::default())
    }

    fn check(&self, profile: &Profile) -> Result<(), Problem> {
        let Some(subpaths) = &profile.subpaths else {
            return Ok(());
        };
        let paths = |class: usize, method: usize| {
            let class = profile.classes.get(class)?;
            Some(class.map.methods.get(method)?.num_paths())
        };
        subpaths.check(paths).map_err(Problem::bare)
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

    fn subtract(&self, now: &Profile, before: &Profile, _: &mut Profile) -> Result<(), SubtractError> {
        if now.subpaths.is_some() || before.subpaths.is_some() {
            Err(SubtractError::Estimates { what: "subpaths" })
        } else {
            Ok(())
        }
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
