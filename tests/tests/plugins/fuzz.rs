//! The sample of a fuzzer that hears which paths an input took.

use std::process::Command;
use std::time::Duration;

use trodden_tests::process::Outcome;
use trodden_tests::{Result, artefacts, process};

use super::{checkout, repository};

/// Inputs that Jazzer tries at most: with paths it has found the three faults after a third of them.
const RUNS: &str = "-runs=3000000";
const FAULTS: [&str; 3] = ["Shipping.perParcel(", "Shipping.perKilo(", "Shipping.insurance("];

#[test]
fn paths_lead_a_fuzzer_to_what_branches_do_together() -> Result<()> {
    if !process::is_there("mvn") {
        return Ok(());
    }
    let found = |paths: &str| -> Result<(Outcome, usize)> {
        let copy = checkout()?;
        let mut run = Command::new(copy.path().join("gradle-example/fuzz/run"));
        run.args(["-seed=1", RUNS])
            .env("TRODDEN_REPOSITORY", repository()?)
            .env("TRODDEN", &artefacts::artefacts()?.cli)
            .env("TRODDEN_AGENT", &artefacts::artefacts()?.agent)
            .env("PATHS", paths)
            .env_remove("JAVA_TOOL_OPTIONS");
        let outcome = process::run(&mut run, Duration::from_secs(900))?;
        let found = FAULTS
            .iter()
            .filter(|fault| outcome.stderr.contains(*fault))
            .count();
        if paths == "on" {
            let file = copy.path().join("gradle-example/fuzz/target/fuzz.trodden");
            assert!(file.is_file(), "{outcome:?}");
        }
        Ok((outcome, found))
    };
    let (outcome, with) = found("on")?;
    assert_eq!((with, outcome.status.code()), (3, Some(77)), "{outcome:#?}");
    // Edges alone: the fault of nine rules is not among what it finds.
    let (outcome, without) = found("off")?;
    assert!((1..3).contains(&without), "{outcome:#?}");
    Ok(())
}
