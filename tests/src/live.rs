//! Profiles that appear while the program runs (option `dump`), of a program that runs until it receives a
//! command to stop.

use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use trodden_profile::Profile;

use crate::jdk::Jdk;
use crate::profile::{self, Counts};
use crate::stress::java;
use crate::{Result, process};

/// Longest time to wait for what should appear at once; on a busy machine, seconds become minutes.
const PATIENCE: Duration = Duration::from_secs(600);

/// The result of a run.
#[derive(Debug)]
pub struct Run {
    /// Rounds that the program ran, each the same.
    pub rounds: u64,
    /// Profiles written during the run that differ, in order, and the one that was written at the end.
    pub dumps: Vec<Profile>,
}

/// Runs `stress/Steady.java` under the agent, with a dump every few milliseconds, until `enough` says that a
/// dump during the run is the last that is needed.
///
/// # Errors
/// If the program fails, a dump cannot be read, something else is next to it, or none is enough for ten
/// minutes.
pub fn steady(jdk: &Jdk, options: &str, mut enough: impl FnMut(&Profile) -> bool) -> Result<Run> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("live.trodden");
    let options = format!("{options},dump=30ms");
    let flags = [
        "-Xcheck:jni".to_owned(),
        profile::agent_flag(&options, "SteadyWork", &file)?,
    ];
    let mut child = java("Steady", jdk, &flags, &[])?
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let mut dumps: Vec<Profile> = Vec::new();
    let since = Instant::now();
    let watched = loop {
        if since.elapsed() > PATIENCE {
            break Err(format!("no dump was enough for {PATIENCE:?}").into());
        }
        match next(&file, dumps.last()) {
            Ok(Some(dump)) => {
                let last = enough(&dump);
                dumps.push(dump);
                if last {
                    break Ok(());
                }
            }
            Ok(None) => std::thread::sleep(Duration::from_millis(5)),
            Err(e) => break Err(e),
        }
    };
    // The end of its standard input is its sign to stop.
    drop(child.stdin.take());
    let output = process::wait(child, PATIENCE)?;
    watched?;
    let output = output.success()?;
    if !output.stderr.is_empty() {
        return Err(format!("standard error: {}", output.stderr).into());
    }
    dumps.push(Profile::load(&file)?);
    profile::nothing_beside(&file)?;
    let [rounds] = output.numbers()?;
    Ok(Run { rounds, dumps })
}

/// The dump that is there now, if it is another than `last`. A file that is there must be whole at any
/// moment.
fn next(file: &Path, last: Option<&Profile>) -> Result<Option<Profile>> {
    if !file.exists() {
        return Ok(None);
    }
    let dump = Profile::load(file).map_err(|e| format!("a dump during the run: {e}"))?;
    Ok((last != Some(&dump)).then_some(dump))
}

/// Exact counts of one round.
///
/// # Errors
/// If the program fails, or counts nothing.
pub fn one_round(jdk: &Jdk) -> Result<Counts> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("once.trodden");
    let flags = [profile::agent_flag("counters", "SteadyWork", &file)?];
    process::run(&mut java("Steady", jdk, &flags, &["1"])?, PATIENCE)?.success()?;
    let counts = profile::counts(&Profile::load(&file)?);
    if counts.len() != 4 {
        return Err(format!("counted only {counts:?}").into());
    }
    Ok(counts)
}
