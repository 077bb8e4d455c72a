//! What was counted during tests between two readings.

use std::collections::BTreeMap;

use super::TestCounts;
use crate::model::counts::MethodPart;
use crate::model::errors::SubtractError;
use crate::model::places::{fell, place, take_off};
use crate::model::profile::Profile;

/// Of tests that ended in between, what they counted then.
pub(super) fn subtract(now: &Profile, before: &Profile) -> Result<Vec<TestCounts>, SubtractError> {
    let earlier: BTreeMap<&str, &TestCounts> =
        before.by_test.iter().map(|test| (&*test.name, test)).collect();
    let mut rest = Vec::new();
    for test in &now.by_test {
        let Some(then) = earlier.get(&*test.name) else {
            rest.push(test.clone());
            continue;
        };
        let less = |now: u64, then: u64| now.checked_sub(then).ok_or_else(|| test_fell(test));
        let both = |now: Option<u64>, then: Option<u64>| match now.zip(then) {
            Some((now, then)) => less(now, then).map(Some),
            None => Ok(None),
        };
        let left = TestCounts {
            name: test.name.clone(),
            times: less(test.times, then.times)?,
            operations: less(test.operations, then.operations)?,
            max_growth: test.max_growth.clone(),
            allocated: both(test.allocated, then.allocated)?,
            nanos: both(test.nanos, then.nanos)?,
            methods: methods(now, &test.methods, before, &then.methods)?,
            others: methods(now, &test.others, before, &then.others)?,
        };
        if left.times > 0 || !left.methods.is_empty() {
            rest.push(left);
        }
    }
    let is_there = |then: &&TestCounts| now.by_test.iter().any(|test| test.name == then.name);
    match before.by_test.iter().find(|then| !is_there(then)) {
        Some(gone) => Err(test_fell(gone)),
        None => Ok(rest),
    }
}

fn test_fell(test: &TestCounts) -> SubtractError {
    SubtractError::Fell {
        what: format!("test {}", test.name),
    }
}

fn methods(
    now: &Profile,
    methods: &[MethodPart],
    before: &Profile,
    then: &[MethodPart],
) -> Result<Vec<MethodPart>, SubtractError> {
    let mut rest = methods.to_vec();
    for one in then {
        let found = place(before, one.class as usize, one.method as usize, &now.classes);
        let at = found.and_then(|(class, method)| {
            let place = (class as u32, method as u32);
            rest.iter().position(|one| (one.class, one.method) == place)
        });
        let class = &before.classes[one.class as usize].map;
        let map = &class.methods[one.method as usize];
        let Some(left) = at.map(|at| &mut rest[at]) else {
            return Err(fell(&class.name, map));
        };
        let target = &now.classes[left.class as usize].map;
        let to = &target.methods[left.method as usize];
        take_off(&mut left.counts, &target.name, to, map, &one.counts)?;
    }
    rest.retain(|one| !one.counts.is_empty());
    Ok(rest)
}
