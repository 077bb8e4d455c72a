//! The sample of a fuzzer that hears which paths an input took.

use std::time::Duration;

use trodden_tests::process::Outcome;
use trodden_tests::{Result, artefacts, process};

use super::{checkout, sample_command};

/// Inputs that Jazzer tries at most: with paths it has found the three faults after less than half.
const RUNS: &str = "-runs=3000000";
const FAULTS: [&str; 3] = ["Shipping.perParcel(", "Shipping.perKilo(", "Shipping.insurance("];

#[test]
#[cfg_attr(
    feature = "change",
    ignore = "all: a fuzzer runs until it has found something"
)]
fn paths_lead_a_fuzzer_to_what_branches_do_together() -> Result<()> {
    if !process::is_there("mvn") {
        return Ok(());
    }
    let found = |paths: &str| -> Result<(Outcome, usize)> {
        let copy = checkout()?;
        let mut run = sample_command(copy.path(), "gradle-example/fuzz/run", &["-seed=1", RUNS])?;
        run.env("TRODDEN", &artefacts::artefacts()?.cli)
            .env("TRODDEN_AGENT", &artefacts::artefacts()?.agent)
            .env("PATHS", paths);
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
