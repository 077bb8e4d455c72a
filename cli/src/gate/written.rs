//! The file of `gate record` and `gate collect`, and what is said of it.

use std::collections::BTreeMap;
use std::path::Path;

use trodden_insight::gate::Measured;
use trodden_profile::TestCounts;
use trodden_report::gate::{record as put_together, to_text};

use crate::error::CliError;
use crate::output;

/// JVMs in which builds run tests.
pub const TESTS: [&str; 2] = ["tests (Surefire)", "tests (Gradle)"];

/// Writes the file of some runs, and says what is in it. `together`: each test belongs into each run.
pub fn write(file: &Path, runs: &[BTreeMap<String, Measured>], together: bool) -> Result<(), CliError> {
    let made = put_together(runs, together).map_err(CliError::failed)?;
    output::write_file(file, to_text(&made).as_bytes())?;
    let tests = made
        .tests
        .iter()
        .filter(|test| TestCounts::is_test(&test.name))
        .count();
    let runs = made.runs;
    output::complain(&format!(
        "{}: {tests} {}, {runs} {}",
        file.display(),
        if tests == 1 { "test" } else { "tests" },
        if runs == 1 { "run" } else { "runs" },
    ));
    for test in made
        .tests
        .iter()
        .filter(|test| TESTS.contains(&test.name.as_str()))
    {
        output::complain(&format!(
            "{}: all tests count as one; only JUnit 5's launcher (JUnit 4 by its vintage engine; Gradle's \
             useJUnitPlatform()) and TestNG report each test",
            test.name
        ));
    }
    for test in &made.tests {
        if let Some(reason) = &test.unstable {
            output::complain(&format!("unstable: {} {reason}", test.name));
        }
    }
    Ok(())
}
