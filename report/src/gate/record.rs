//! Several runs of the same tests put together.

use std::collections::{BTreeMap, BTreeSet};

use trodden_insight::gate::{GateFile, GateTest, Lacks, Measured, OTHERS};

use super::reason;
use crate::words;

/// The forks of a benchmark do other numbers of operations: a difference up to this share is no more than that.
const OF_OPERATIONS: f64 = 1e-4;

/// The limit of a test makes no sense.
#[derive(Debug, thiserror::Error)]
#[error("{test} has @Gate(maxGrowth = \"{words}\"), which is no percentage such as 0.5%")]
pub struct LimitError {
    test: String,
    words: String,
}

/// The work of the runs of one command, test by test. `together`: each test belongs into each run.
///
/// # Errors
/// If the limit that a test has itself is no percentage.
pub fn record(runs: &[BTreeMap<String, Measured>], together: bool) -> Result<GateFile, LimitError> {
    let names: BTreeSet<&String> = runs.iter().flat_map(BTreeMap::keys).collect();
    let mut most = 0;
    let tests = names.into_iter().map(|name| {
        let of_test: Vec<&Measured> = runs.iter().filter_map(|run| run.get(name)).collect();
        most = most.max(of_test.len());
        let wanted = if together { runs.len() } else { of_test.len() };
        test(name, &of_test, wanted)
    });
    let tests = tests.collect::<Result<_, _>>()?;
    Ok(GateFile {
        runs: u32::try_from(if together { runs.len() } else { most }).unwrap_or(u32::MAX),
        tests,
    })
}

/// `0.5%`, `0.5 %` or `0.5` as a share.
pub fn share(words: &str) -> Option<f64> {
    let number: f64 = words.trim().trim_end_matches('%').trim().parse().ok()?;
    (0.0..=100_000.0).contains(&number).then_some(number / 100.0)
}

fn test(name: &str, runs: &[&Measured], wanted: usize) -> Result<GateTest, LimitError> {
    let Some(least) = runs.iter().min_by_key(|run| run.instructions) else {
        return Ok(GateTest::default());
    };
    let limit = runs.iter().find_map(|run| run.max_growth.as_ref());
    let limit = limit.map(|words| {
        share(words).ok_or_else(|| LimitError {
            test: name.to_owned(),
            words: words.clone(),
        })
    });
    let most = runs.iter().map(|run| run.instructions).max().unwrap_or_default();
    let lacks = runs.iter().find_map(|run| run.lacks.map(lacking));
    let comparable = lacks.is_none() && runs.len() >= wanted;
    let own = || runs.iter().map(|run| run.instructions.saturating_sub(run.others));
    let own = [own().min(), own().max()].map(Option::unwrap_or_default);
    let unstable = match () {
        () if lacks.is_some() => lacks,
        () if runs.len() < wanted => Some(format!("ran in {} of {wanted} runs", runs.len())),
        () => differs(runs, least.instructions, most, own[0] == own[1]),
    };
    let times: Option<Vec<u64>> = runs.iter().map(|run| run.nanos).collect();
    Ok(GateTest {
        name: name.to_owned(),
        instructions: least.instructions,
        most,
        own: comparable.then_some(own),
        allocated: runs.iter().map(|run| run.allocated).min().flatten(),
        time: times
            .map(|times| [times.iter().min(), times.iter().max()].map(|n| n.copied().unwrap_or_default())),
        allocations: least.allocations,
        outside: Some(least.outside),
        limit: limit.transpose()?,
        unstable,
        methods: least.listed(),
    })
}

/// A gap in the numbers, as the file has it.
fn lacking(lacks: Lacks) -> String {
    match lacks {
        Lacks::Together => {
            "several tests ran at the same time, so it is not known which of them did this work".to_owned()
        }
        Lacks::NotExact => "not all paths were counted".to_owned(),
        Lacks::Lost(ends) => format!("{} path ends were lost", words::thousands(ends)),
        Lacks::Instructions => "instructions are estimated from bytes: an older profile".to_owned(),
    }
}

/// The difference between the runs, as text. `by_others`: all that differs is what others than the test's own threads did.
fn differs(runs: &[&Measured], least: u64, most: u64, by_others: bool) -> Option<String> {
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
    if most == least || by == 0 {
        return None;
    }
    let share = (most - least) as f64 / (least.max(1)) as f64;
    if share <= OF_OPERATIONS && runs.iter().all(|run| run.per_operations) {
        return None;
    }
    let run = runs.iter().find(|run| run.methods.contains_key(name))?;
    let why = match reason::of(run, name) {
        _ if by_others => format!(", all of it in {OTHERS}"),
        Some(why) => format!(", {why}"),
        None => ", for a reason that its calls do not show".to_owned(),
    };
    Some(format!(
        "differs from itself by {}, most ({} instructions) in {}.{}{why}",
        spread_percent(share),
        words::thousands(by),
        name.0,
        name.1
    ))
}

/// A share that may be tiny.
pub fn spread_percent(share: f64) -> String {
    match share * 100.0 {
        0.0 => "0 %".to_owned(),
        p if p < 0.001 => "less than 0.001 %".to_owned(),
        p if p < 1.0 => format!("{p:.3} %"),
        p => format!("{p:.1} %"),
    }
}
