//! Counts of tests as a kind of data.

use super::{TestCounts, codec, merge, subtract};
use crate::model::codec::{Checked, Tag, WriteError};
use crate::model::errors::{MergeError, SubtractError};
use crate::model::fault::Fault;
use crate::model::parts;
use crate::model::profile::Profile;
use crate::model::section::{Section, SectionReader};

/// Counts of tests as a kind of data.
pub(crate) struct Kind;

impl Section for Kind {
    fn tags(&self) -> &'static [Tag] {
        &[codec::TESTS]
    }

    fn write(&self, profile: &Profile, out: &mut Vec<u8>) -> Result<(), WriteError> {
        codec::write(&profile.by_test, out)
    }

    fn reader(&self) -> Box<dyn SectionReader> {
        Box::new(codec::Reading)
    }

    fn check(&self, profile: &Profile) -> Checked {
        check(profile)
    }

    fn texts<'p>(&self, profile: &'p Profile) -> Vec<&'p str> {
        let of_test = |test: &'p TestCounts| [Some(test.name.as_str()), test.max_growth.as_deref()];
        (profile.by_test.iter().flat_map(of_test)).flatten().collect()
    }

    fn texts_mut<'p>(&self, profile: &'p mut Profile) -> Vec<&'p mut String> {
        let of_test = |test: &'p mut TestCounts| [Some(&mut test.name), test.max_growth.as_mut()];
        (profile.by_test.iter_mut().flat_map(of_test)).flatten().collect()
    }

    fn subtract(&self, now: &Profile, before: &Profile, rest: &mut Profile) -> Result<(), SubtractError> {
        rest.by_test = subtract::subtract(now, before)?;
        Ok(())
    }

    fn classes(&self, profile: &Profile, found: &mut dyn FnMut(usize)) {
        let methods = profile
            .by_test
            .iter()
            .flat_map(|test| test.methods.iter().chain(&test.others));
        methods.for_each(|one| found(one.class as usize));
    }

    fn merge(&self, inputs: &[&Profile], merged: &mut Profile) -> Result<(), MergeError> {
        merged.by_test = merge::merge(inputs, &merged.classes)?;
        Ok(())
    }
}

/// Tests are in order, and speak of methods and paths that are there.
fn check(profile: &Profile) -> Checked {
    Fault::order("tests", profile.by_test.is_sorted_by(|a, b| a.name < b.name))?;
    for methods in profile
        .by_test
        .iter()
        .flat_map(|test| [&test.methods, &test.others])
    {
        parts::check(profile, methods, "a test")?;
    }
    Ok(())
}
