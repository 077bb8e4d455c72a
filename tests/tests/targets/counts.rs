//! Every target on the oldest and the newest JDK: the agent changes nothing that can be seen, its exact
//! counts are what the target's comments say, and they are what the oracle saw. One trial per target and JDK.

use std::collections::BTreeMap;

use libtest_mimic::Trial;
use trodden_profile::Profile;
use trodden_tests::jdk::Jdk;
use trodden_tests::process::Outcome;
use trodden_tests::profile::SequenceCounts;
use trodden_tests::target::Target;
use trodden_tests::trace::{Activation, MethodId};
use trodden_tests::{Result, expect, profile};

pub fn trials() -> Result<Vec<Trial>> {
    Target::trials("counts", &Jdk::both()?, |_| false, judge)
}

fn judge(target: &Target, jdk: &Jdk) -> Result<()> {
    let expectations = expect::parse(&target.text)?;
    if expectations.is_empty() {
        return Err("a target without expectations".into());
    }
    let activations = if target.oracle {
        // The oracle alone, without the agent: are the expectations right?
        let activations = profile::run_oracle(target, jdk, &profile::run_unchecked(target, jdk)?)?;
        right(expect::check(
            &expectations,
            &profile::of_oracle(target, &activations)?,
        )?)
        .map_err(|e| format!("by the oracle: {e}"))?;
        Some(activations)
    } else {
        None
    };
    let plain = profile::run_plain(target, jdk)?;
    let folder = tempfile::tempdir()?;
    let mut profiles = BTreeMap::new();
    for probe in [
        "yieldpoint",
        "counters",
        AUTO,
        "safepoint",
        "events",
        KPATHS,
        CUTS,
    ] {
        let file = folder.path().join("profile.trodden");
        let outcome = profile::run_profiled(target, jdk, probe, &file)?;
        same(probe, &plain, &outcome)?;
        let found = Profile::load(&file).map_err(|e| format!("{probe}: {e}"))?;
        if !probe.starts_with(&found.run.probe) || found.classes.is_empty() {
            return Err(format!("{probe}: the profile is of {} classes", found.classes.len()).into());
        }
        profiles.insert(probe, found);
    }
    for probe in ["counters", AUTO, "events", KPATHS, CUTS] {
        let exact = &profiles[probe];
        // These programs end before anything is known well enough to be counted no more.
        if !exact.run.exact {
            return Err(format!("{probe}: not exact").into());
        }
        let judged = || {
            right(expect::check(&expectations, exact)?)?;
            match &activations {
                Some(activations) => {
                    compare_with_oracle(activations, exact, &target.uncounted)?;
                    match probe {
                        CUTS => compare_cuts(activations, exact, target),
                        _ => Ok(()),
                    }
                }
                None => Ok(()),
            }
        };
        judged().map_err(|e| format!("{probe}: {e}"))?;
    }
    let forests = &profiles[KPATHS];
    let uncounted = |id: &MethodId| target.uncounted.contains(&id.name);
    match activations {
        Some(activations) => {
            let expected = profile::brute_force(&profile::oracle_paths(&activations, forests)?, K);
            compare_sequences(&expected, &profile::forests(forests)?, uncounted)
        }
        // Without the oracle, single paths at least.
        None => compare_sequences(
            &single(profile::counts(forests)),
            &profile::forests(forests)?,
            |id| uncounted(id),
        ),
    }
}

/// Longest sequences of paths that are compared.
const K: usize = 4;
/// With a budget within which all of this is cheap, so that nothing loses its probes however slow the machine
/// is.
const AUTO: &str = "auto,budget=100%";
/// Probe and options that profile them.
const KPATHS: &str = "events,profile=paths+kpaths,k=4";

/// Probe and options that count paths that are cut off, in methods with a single path too.
const CUTS: &str = "counters,profile=coverage,coverage=paths";

fn compare_cuts(activations: &[Activation], profile: &Profile, target: &Target) -> Result<()> {
    let (mut expected, mut found) = (
        profile::oracle_cuts(activations, profile)?,
        profile::cut_counts(profile),
    );
    let is_counted =
        |id: &MethodId| !target.uncounted.contains(&id.name) && !target.unsteady.contains(&id.name);
    expected.retain(|id, _| is_counted(id));
    found.retain(|id, _| is_counted(id));
    for method in expected.keys().chain(found.keys()) {
        let (expected, found) = (expected.get(method), found.get(method));
        if expected != found {
            return Err(
                format!("cut paths of {method:?}:\nexpected {expected:?}\nfound    {found:?}").into(),
            );
        }
    }
    Ok(())
}

fn single(counts: profile::Counts) -> SequenceCounts {
    let sequences =
        |counts: BTreeMap<u64, u64>| counts.into_iter().map(|(path, n)| (vec![path], n)).collect();
    counts
        .into_iter()
        .map(|(id, counts)| (id, sequences(counts)))
        .collect()
}

/// Holds what was found against what is expected, up to the length of the longest expected sequence.
fn compare_sequences(
    expected: &SequenceCounts,
    found: &SequenceCounts,
    uncounted: impl Fn(&MethodId) -> bool,
) -> Result<()> {
    let longest = expected
        .values()
        .flat_map(|c| c.keys().map(Vec::len))
        .max()
        .ok_or("nothing is expected")?;
    let cut = |counts: Option<&BTreeMap<Vec<u64>, u64>>| -> BTreeMap<Vec<u64>, u64> {
        let counts = counts.into_iter().flatten();
        counts
            .filter(|(sequence, _)| sequence.len() <= longest)
            .map(|(s, n)| (s.clone(), *n))
            .collect()
    };
    for method in expected.keys().chain(found.keys()).filter(|id| !uncounted(id)) {
        let (expected, found) = (cut(expected.get(method)), cut(found.get(method)));
        if expected != found {
            return Err(
                format!("sequences of {method:?}:\nexpected {expected:?}\nfound    {found:?}").into(),
            );
        }
    }
    Ok(())
}

fn right(wrong: Vec<String>) -> Result<()> {
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(wrong.join("\n").into())
    }
}

fn same(probe: &str, plain: &Outcome, profiled: &Outcome) -> Result<()> {
    if plain == profiled {
        return Ok(());
    }
    Err(format!("{probe} changed what the program does:\n{plain:#?}\n{profiled:#?}").into())
}

fn compare_with_oracle(activations: &[Activation], exact: &Profile, uncounted: &[String]) -> Result<()> {
    let seen = profile::oracle_counts(activations, exact)?;
    let counted = profile::counts(exact);
    if seen.is_empty() {
        return Err("the oracle saw no path".into());
    }
    for method in seen.keys().chain(counted.keys()) {
        let (seen, counted) = (seen.get(method), counted.get(method));
        if seen != counted && !uncounted.contains(&method.name) {
            return Err(format!("{method:?}:\noracle  {seen:?}\ncounted {counted:?}").into());
        }
    }
    Ok(())
}
