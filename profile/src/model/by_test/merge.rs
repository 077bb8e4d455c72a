//! Counts of tests of several profiles.

use std::collections::BTreeMap;

use super::{TestCounts, TestMethod};
use crate::model::counts::MethodCounts;
use crate::model::errors::MergeError;
use crate::model::places::{no_such_path, place};
use crate::model::profile::{ClassProfile, Profile};
use crate::model::translate::Renumbering;

/// Methods of a test by position of class and method.
type Methods = BTreeMap<(u32, u32), MethodCounts>;

/// Tests of the same name are added up.
pub(super) fn merge(profiles: &[&Profile], classes: &[ClassProfile]) -> Result<Vec<TestCounts>, MergeError> {
    let mut all: BTreeMap<&str, (TestCounts, [Methods; 2])> = BTreeMap::new();
    for profile in profiles {
        for test in &profile.by_test {
            let (sum, [methods, others]) = all.entry(&test.name).or_insert_with(|| {
                let first = TestCounts {
                    name: test.name.clone(),
                    allocated: Some(0),
                    nanos: Some(0),
                    ..TestCounts::default()
                };
                (first, Default::default())
            });
            sum.times = sum.times.saturating_add(test.times);
            sum.operations = sum.operations.saturating_add(test.operations);
            // They come from one source; if not, one of them, whatever the order of profiles.
            let limits = [sum.max_growth.take(), test.max_growth.clone()];
            sum.max_growth = limits.into_iter().flatten().min();
            let both = |a: Option<u64>, b: Option<u64>| a.zip(b).map(|(a, b)| a.saturating_add(b));
            sum.allocated = both(sum.allocated, test.allocated);
            sum.nanos = both(sum.nanos, test.nanos);
            for one in &test.methods {
                add(profile, one, classes, methods)?;
            }
            for one in &test.others {
                add(profile, one, classes, others)?;
            }
        }
    }
    let tests = all.into_values().map(|(mut test, [methods, others])| {
        let method = |((class, method), counts)| TestMethod {
            class,
            method,
            counts,
        };
        test.methods = methods.into_iter().map(method).collect();
        test.others = others.into_iter().map(method).collect();
        test
    });
    Ok(tests.collect())
}

fn add(
    profile: &Profile,
    one: &TestMethod,
    classes: &[ClassProfile],
    methods: &mut Methods,
) -> Result<(), MergeError> {
    // Of a method that is not there, nothing can be said; a writer refuses it.
    let Some((class, method)) = place(profile, one.class as usize, one.method as usize, classes) else {
        return Ok(());
    };
    let own = &profile.classes[one.class as usize].map.methods[one.method as usize];
    let merged = &classes[class].map;
    let numbers = Renumbering::new(own, &merged.methods[method]);
    let counts = numbers
        .counts(&one.counts)
        .map_err(no_such_path(&merged.name, own))?;
    let sum = methods.entry((class as u32, method as u32)).or_default();
    sum.add(&counts);
    Ok(())
}
