//! Every target on the oldest and the newest JDK: the agent changes nothing that can be seen, its exact counts are
//! what the target's comments say, and they are what the oracle saw. One trial per target and JDK.

use libtest_mimic::{Arguments, Failed, Trial};
use trodden_profile::Profile;
use trodden_tests::jdk::Jdk;
use trodden_tests::process::Outcome;
use trodden_tests::target::Target;
use trodden_tests::trace::Activation;
use trodden_tests::{Result, expect, profile};

fn main() -> Result<()> {
    let arguments = Arguments::from_args();
    let mut trials = Vec::new();
    for target in Target::all()? {
        for jdk in Jdk::ends()? {
            let name = format!("{}/jdk{}", target.name, jdk.feature);
            let ignored = jdk.feature < target.jdk;
            let target = target.clone();
            let run = move || judge(&target, &jdk).map_err(|e| Failed::from(e.to_string()));
            trials.push(Trial::test(name, run).with_ignored_flag(ignored));
        }
    }
    libtest_mimic::run(&arguments, trials).exit()
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
    for probe in ["yieldpoint", "counters", "safepoint"] {
        let file = folder.path().join(format!("{probe}.trodden"));
        let outcome = profile::run_profiled(target, jdk, probe, &file)?;
        same(probe, &plain, &outcome)?;
        let found = Profile::load(&file).map_err(|e| format!("{probe}: {e}"))?;
        if found.run.probe != probe || found.classes.is_empty() {
            return Err(format!("{probe}: the profile is of {} classes", found.classes.len()).into());
        }
    }
    let exact = Profile::load(folder.path().join("counters.trodden"))?;
    right(expect::check(&expectations, &exact)?)?;
    match activations {
        Some(activations) => compare_with_oracle(&activations, &exact, &target.uncounted),
        None => Ok(()),
    }
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
