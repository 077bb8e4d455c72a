//! Every target on the oldest and the newest JDK: the agent changes nothing that can be seen, its exact counts are
//! what the target's comments say, and they are what the oracle saw. One trial per target and JDK.

use libtest_mimic::{Arguments, Failed, Trial};
use trodden_profile::Profile;
use trodden_tests::jdk::Jdk;
use trodden_tests::process::Outcome;
use trodden_tests::target::Target;
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
    let wrong = expect::check(&expectations, &exact)?;
    if !wrong.is_empty() {
        return Err(wrong.join("\n").into());
    }
    if target.oracle {
        compare_with_oracle(target, jdk, &exact)?;
    }
    Ok(())
}

fn same(probe: &str, plain: &Outcome, profiled: &Outcome) -> Result<()> {
    if plain == profiled {
        return Ok(());
    }
    Err(format!("{probe} changed what the program does:\n{plain:#?}\n{profiled:#?}").into())
}

fn compare_with_oracle(target: &Target, jdk: &Jdk, exact: &Profile) -> Result<()> {
    let plain = profile::run_unchecked(target, jdk)?;
    let seen = profile::oracle_counts(target, jdk, exact, &plain)?;
    let counted = profile::counts(exact);
    if seen.is_empty() {
        return Err("the oracle saw no path".into());
    }
    for method in seen.keys().chain(counted.keys()) {
        let (seen, counted) = (seen.get(method), counted.get(method));
        if seen != counted {
            return Err(format!("{method:?}:\noracle  {seen:?}\ncounted {counted:?}").into());
        }
    }
    Ok(())
}
