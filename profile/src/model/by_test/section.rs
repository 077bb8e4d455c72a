//! Counts of tests as a kind of data.

use super::{TestCounts, codec, merge, subtract};
use crate::model::codec::{Problem, Tag, WriteError};
use crate::model::errors::{MergeError, SubtractError};
use crate::model::profile::Profile;
use crate::model::section::{Section, SectionReader, Sections};

/// Counts of tests as a kind of data.
pub(crate) struct Kind;

impl Section for Kind {
    fn tags(&self) -> &'static [Tag] {
        &[codec::TESTS]
    }

    fn write(&self, profile: &Profile, out: &mut Sections<'_>) -> Result<(), WriteError> {
        codec::write(&profile.by_test, out)
    }

    fn reader(&self) -> Box<dyn SectionReader> {
        Box::new(codec::Reading::default())
    }

    fn check(&self, profile: &Profile) -> Result<(), Problem> {
        check(profile).map_err(Problem::bare)
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
fn check(profile: &Profile) -> Result<(), String> {
    for pair in profile.by_test.windows(2) {
        if pair[0].name >= pair[1].name {
            return Err("the tests are not in order".to_owned());
        }
    }
    for test in &profile.by_test {
        for methods in [&test.methods, &test.others] {
            let mut last = None;
            for one in methods {
                let class = profile.classes.get(one.class as usize);
                let Some(map) = class.and_then(|class| class.map.methods.get(one.method as usize)) else {
                    return Err(format!(
                        "a test counted method {} of class {}, which is not there",
                        one.method, one.class
                    ));
                };
                if last >= Some((one.class, one.method)) {
                    return Err("the methods of a test are not in order".to_owned());
                }
                last = Some((one.class, one.method));
                let whole = one.counts.paths.keys().all(|&path| path < map.num_paths());
                let cut = one
                    .counts
                    .partial
                    .keys()
                    .all(|&(block, _)| (block as usize) < map.blocks.len());
                if !whole || !cut {
                    return Err(format!("a test counted a path of {} that is not there", map.name));
                }
            }
        }
    }
    Ok(())
}
