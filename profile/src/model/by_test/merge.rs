//! Counts of tests of several profiles.

use std::collections::BTreeMap;

use super::TestCounts;
use crate::model::errors::MergeError;
use crate::model::parts::{self, Parts};
use crate::model::profile::{ClassProfile, Profile};

/// Tests of the same name are added up.
pub(super) fn merge(profiles: &[&Profile], classes: &[ClassProfile]) -> Result<Vec<TestCounts>, MergeError> {
    let mut all: BTreeMap<&str, (TestCounts, [Parts; 2])> = BTreeMap::new();
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
            parts::add(profile, &test.methods, classes, methods)?;
            parts::add(profile, &test.others, classes, others)?;
        }
    }
    let tests = all.into_values().map(|(mut test, [methods, others])| {
        test.methods = parts::in_order(methods);
        test.others = parts::in_order(others);
        test
    });
    Ok(tests.collect())
}
