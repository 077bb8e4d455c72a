//! Several runs of the same tests put together.

use std::collections::{BTreeMap, BTreeSet};

use super::{GateFile, GateTest, Measured, reason};
use crate::words;

/// What the runs of one command did, test by test.
pub fn record(runs: &[BTreeMap<String, Measured>]) -> GateFile {
    let names: BTreeSet<&String> = runs.iter().flat_map(BTreeMap::keys).collect();
    let tests = names.into_iter().map(|name| {
        let of_test: Vec<&Measured> = runs.iter().filter_map(|run| run.get(name)).collect();
        test(name, &of_test, runs.len())
    });
    GateFile {
        runs: u32::try_from(runs.len()).unwrap_or(u32::MAX),
        tests: tests.collect(),
    }
}

fn test(name: &str, runs: &[&Measured], wanted: usize) -> GateTest {
    let Some(least) = runs.iter().min_by_key(|run| run.instructions) else {
        return GateTest::default();
    };
    let most = runs.iter().map(|run| run.instructions).max().unwrap_or_default();
    let lacks = runs.iter().find_map(|run| run.lacks.clone());
    let unstable = match () {
        () if lacks.is_some() => lacks,
        () if runs.len() < wanted => Some(format!("ran in {} of {wanted} runs", runs.len())),
        () => differs(runs, least.instructions, most),
    };
    GateTest {
        name: name.to_owned(),
        instructions: least.instructions,
        most,
        allocated: None,
        unstable,
        methods: least.listed(),
    }
}

/// What differs between the runs, in words.
fn differs(runs: &[&Measured], least: u64, most: u64) -> Option<String> {
    let mut names: BTreeSet<&(String, String)> = BTreeSet::new();
    names.extend(runs.iter().flat_map(|run| run.methods.keys()));
    let spread = |name: &(String, String)| {
        let of = |run: &&Measured| run.methods.get(name).map_or(0, |m| m.shown.instructions);
        let counts = || runs.iter().map(of);
        counts().max().unwrap_or(0) - counts().min().unwrap_or(0)
    };
    let worst = names.into_iter().map(|name| (spread(name), name));
    // The first of several that are alike: always the same one.
    let (by, name) = worst.max_by(|a, b| a.0.cmp(&b.0).then(b.1.cmp(a.1)))?;
    if by == 0 {
        return None;
    }
    let run = runs.iter().find(|run| run.methods.contains_key(name))?;
    let why = reason::of(run, name).map_or_else(
        || ", for a reason that its calls do not tell".to_owned(),
        |why| format!(", {why}"),
    );
    let share = (most - least) as f64 / (least.max(1)) as f64;
    Some(format!(
        "differs from itself by {}, most ({} instructions) in {}.{}{why}",
        spread_percent(share),
        words::thousands(by),
        name.0,
        name.1
    ))
}

/// A share that may be tiny.
pub(super) fn spread_percent(share: f64) -> String {
    match share * 100.0 {
        0.0 => "0 %".to_owned(),
        p if p < 0.001 => "less than 0.001 %".to_owned(),
        p if p < 1.0 => format!("{p:.3} %"),
        p => format!("{p:.1} %"),
    }
}
