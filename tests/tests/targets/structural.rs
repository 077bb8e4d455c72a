//! `profile=structural` on real JVMs: every target against the oracle, phases, and probes that come and go.

use std::process::Command;
use std::time::Duration;

use libtest_mimic::Trial;
use trodden_profile::Profile;
use trodden_tests::jdk::Jdk;
use trodden_tests::target::{Target, left_out_of_changes, some_in_changes, trial};
use trodden_tests::{Result, artefacts, auto, build, chance, process, structural};

pub fn trials() -> Result<Vec<Trial>> {
    let judge = |target: &Target, jdk: &Jdk| structural::judge(target, jdk).map(drop);
    let targets = Target::trials("structural", &Jdk::ends()?, |target| !target.oracle, judge)?;
    let mut trials: Vec<Trial> = some_in_changes(targets).collect();
    for jdk in Jdk::ends()? {
        for (name, judge) in [
            ("loops", loops as fn(&Jdk) -> Result<()>),
            ("phases", phases),
            ("totals", totals),
            ("cycles", cycles),
        ] {
            let own = jdk.clone();
            let trial = trial(format!("structural::{name}/jdk{}", jdk.feature), move || {
                judge(&own)
            });
            trials.push(match name {
                "loops" => trial,
                _ => left_out_of_changes(trial, "ten seconds and more"),
            });
        }
    }
    Ok(trials)
}

/// The comparison with the oracle compares something: methods with loops in loops.
fn loops(jdk: &Jdk) -> Result<()> {
    let all = Target::all()?;
    let target = all.iter().find(|t| t.name == "Loops").ok_or("no target Loops")?;
    let (methods, loops) = structural::judge(target, jdk)?;
    if methods >= 5 && loops >= 5 {
        Ok(())
    } else {
        Err(format!("{methods} methods with {loops} loops were compared").into())
    }
}

/// Totals are estimates of the whole run, also of the time without probes, in which the program runs
/// faster: compared with the exact counts of another run.
fn totals(jdk: &Jdk) -> Result<()> {
    let classes = build::classes(jdk, "faults", &build::sources("faults", "java")?)?;
    let flow = |profile: &str, rounds: u32| -> Result<f64> {
        let folder = tempfile::tempdir()?;
        let file = folder.path().join("run.trodden");
        let mut run = Command::new(&artefacts::artefacts()?.cli);
        run.args(["run", "--quiet", "--profile", profile, "-o"])
            .arg(&file);
        run.arg("--").arg(jdk.command("java").get_program());
        run.arg("-cp")
            .arg(&classes)
            .args(["LockBranch", &rounds.to_string()]);
        process::run(&mut run, Duration::from_secs(300))?.success()?;
        let profile = Profile::load(&file)?;
        let counts = profile.classes.iter().flat_map(|class| &class.counts);
        Ok(counts.map(|counts| counts.total() as f64).sum())
    };
    chance::with_more(&[2, 6], |rounds| {
        let [exact, estimated] = [flow("paths", rounds)?, flow("structural", rounds)?];
        if (0.9..1.1).contains(&(estimated / exact)) {
            Ok(())
        } else {
            Err(format!("{estimated} for {exact}").into())
        }
    })
}

/// Without probes the second phase is not seen; with probes put back it is, in proportion.
fn phases(jdk: &Jdk) -> Result<()> {
    const PHASE: Duration = Duration::from_secs(10);
    // With a fixed time, probes are taken out as soon as enough is known. On a busy machine that takes
    // longer.
    chance::with_more(&[PHASE, 4 * PHASE], |phase| {
        let blind = auto::phases(jdk, ",profile=structural,budget=1%:10m", phase)?;
        if blind.windows != 1 || blind.found[1] != 0 || blind.found[0] == 0 {
            return Err(format!("without: {blind:?}").into());
        }
        Ok(())
    })?;
    // An estimate from windows of time: how fast the program is in them changes with what else runs. With
    // four times the windows it is half as far off.
    chance::with_more(&[PHASE, 4 * PHASE], |phase| {
        let seeing = auto::phases(jdk, ",profile=structural,budget=1%:1s", phase)?;
        let share = |[first, second]: [u64; 2]| second as f64 / (first + second) as f64;
        let apart = (share(seeing.found) - share(seeing.called)).abs();
        if seeing.windows < 3 || apart >= 0.25 {
            return Err(format!("with: {seeing:?}").into());
        }
        Ok(())
    })
}

fn cycles(jdk: &Jdk) -> Result<()> {
    // As in the tests of `probe=auto`.
    chance::with_more(&[12, 60], |seconds| {
        let cycles = auto::cycles(jdk, ",profile=structural", 4, Duration::from_secs(seconds))?;
        if cycles.retransformations >= 8 && cycles.rounds > 10 {
            Ok(())
        } else {
            Err(format!("{cycles:?}").into())
        }
    })
}
