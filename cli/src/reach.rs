//! `trodden tests` and `trodden coverage --tests-for`: the tests that a change may concern, or that run a
//! line.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;
use trodden_insight::reach::{Selection, tests_for as tests_of_line, tests_of_change};
use trodden_profile::{Profile, TestCounts, printable};

use crate::coverage::{profiles, read_diff};
use crate::error::CliError;
use crate::merge::load_merged;
use crate::{output, recorded_commit};

/// Names the tests that a change may concern, one a line; all of them where that cannot be known.
#[derive(Args)]
pub struct TestsArgs {
    /// Profiles with separate counts of tests (`trodden gate record --keep FOLDER`), or folders that have
    /// some.
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// The change, as `git diff` writes it against the files that were profiled; `-` reads it from standard
    /// input [default: by git, from the commit that `trodden gate record` has noted].
    #[arg(long, value_name = "DIFF", conflicts_with = "base")]
    changed: Option<PathBuf>,
    /// The change from this commit to the files of the working tree, untracked ones included. The profiles
    /// have to be of its files.
    #[arg(long, value_name = "GITREF")]
    base: Option<String>,
    /// All tests that the profiles have, whatever has changed.
    #[arg(long, conflicts_with_all = ["changed", "base"])]
    all: bool,
}

/// The message about profiles without tests.
const NO_TESTS: &str =
    "has no separate counts of tests: trodden gate record --keep FOLDER -- COMMAND makes profiles that have";

/// Runs `trodden tests`.
pub fn tests(args: &TestsArgs) -> Result<(), CliError> {
    let profile = load_merged(&profiles(&args.files)?)?;
    if profile.by_test.is_empty() {
        return Err(CliError::file(&args.files[0], NO_TESTS));
    }
    let diff = match &args.changed {
        Some(file) => Ok(read_diff(file)?),
        None if args.all => Err("--all".to_owned()),
        None => recorded_commit::change(&args.files, args.base.as_deref())?,
    };
    let selection = match diff {
        Ok(diff) => tests_of_change(&profile, &diff).map_err(|e| match &args.changed {
            Some(file) => CliError::file(file, e),
            None => CliError::failed(e),
        })?,
        Err(why) => all(&profile, why),
    };
    for reason in &selection.all {
        output::complain(&format!("all tests: {reason}"));
    }
    for (method, tests) in &selection.methods {
        output::complain(&format!("{method}: run by {tests}"));
    }
    output::complain(&format!("{} of {} tests", selection.tests.len(), selection.of));
    let text: String = selection
        .tests
        .iter()
        .map(|name| format!("{}\n", printable(name)))
        .collect();
    output::write(None, text.as_bytes())
}

/// All tests of a profile, for a reason.
fn all(profile: &Profile, why: String) -> Selection {
    let names = profile.by_test.iter().map(|test| &test.name);
    let tests: BTreeSet<String> = names.filter(|name| TestCounts::is_test(name)).cloned().collect();
    Selection {
        of: tests.len(),
        tests,
        all: vec![why],
        ..Selection::default()
    }
}

/// Writes which tests run a line, `FILE:LINE`.
pub fn tests_for(file: &Path, profile: &Profile, place: &str, target: Option<&Path>) -> Result<(), CliError> {
    let parts = place.rsplit_once(':');
    let parsed = parts.and_then(|(file, line)| Some((file, line.parse().ok()?)));
    let Some((source, line)) = parsed.filter(|(file, _)| !file.is_empty()) else {
        let what = format!("error: --tests-for wants FILE:LINE, such as Order.java:12, not '{place}'");
        return Err(CliError::Usage(what));
    };
    if profile.by_test.is_empty() {
        return Err(CliError::file(file, NO_TESTS));
    }
    let found = tests_of_line(profile, source, line);
    if found.is_empty() {
        let what = format!("no class in the profile has code at {place}");
        return Err(CliError::Failed(what));
    }
    let mut out = String::new();
    for method in &found {
        let _ = writeln!(out, "{place} in {}", method.method);
        if method.tests.is_empty() {
            out.push_str("  no test runs it\n");
        }
        for (name, times) in &method.tests {
            let _ = writeln!(out, "  {times:>9} ×  {}", printable(name));
        }
        for (outcome, tests) in &method.outcomes {
            let names = if tests.is_empty() {
                "no test".to_owned()
            } else {
                tests.join(", ")
            };
            let _ = writeln!(out, "  {outcome}: {}", printable(&names));
        }
    }
    output::write(target, out.as_bytes())
}
