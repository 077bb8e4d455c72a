//! Hot subpaths end to end: a program under the agent, and what the report says.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde::Deserialize;

use crate::jdk::Jdk;
use crate::process;
use crate::profile::{SUSPICIOUS, agent_flag};
use crate::stress::java;
use crate::{Result, artefacts};

/// Longest time for a run.
const LIMIT: Duration = Duration::from_secs(300);

/// What the report says, as far as it is looked at.
#[derive(Debug, Deserialize)]
pub struct Report {
    /// All about subpaths.
    pub subpaths: Section,
}

/// All about subpaths.
#[derive(Debug, Deserialize)]
pub struct Section {
    /// Blocks that were executed.
    pub blocks: f64,
    /// Largest sample of a thread, in bytes.
    pub peak_bytes: u64,
    /// Hottest first.
    pub subpaths: Vec<Subpath>,
}

/// One of them.
#[derive(Debug, Deserialize)]
pub struct Subpath {
    /// Blocks.
    pub length: u32,
    /// Share of the places where it might have begun.
    pub share: f64,
    /// What the text report shows.
    pub text: String,
}

/// Runs a program of `stress/` under the agent with `profile=subpaths` and further options: what the report says in JSON, and as text.
///
/// # Errors
/// If one of the two fails.
pub fn report(jdk: &Jdk, program: &str, options: &str) -> Result<(Report, String)> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("out.trodden");
    let probe = format!("events,profile=subpaths{options}");
    let mut flags = SUSPICIOUS.map(str::to_owned).to_vec();
    flags.push(agent_flag(&probe, &format!("{program}*"), &file)?);
    process::run(&mut java(program, jdk, &flags, &[])?, LIMIT)?.success()?;
    let json = show(&file, &["--format", "json", "--top", "100"])?;
    Ok((serde_json::from_str(&json)?, show(&file, &[])?))
}

fn show(file: &Path, arguments: &[&str]) -> Result<String> {
    let mut command = Command::new(&artefacts::artefacts()?.cli);
    command.arg("report").arg(file).args(arguments);
    Ok(process::run(&mut command, LIMIT)?.success()?.stdout)
}
