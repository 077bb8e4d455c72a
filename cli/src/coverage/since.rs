//! The profiles of a time: of a folder, by the date of the run.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use trodden_insight::coverage::{KnownClass, newest_build};
use trodden_profile::Profile;
use trodden_profile::options::parse_duration;

use crate::error::CliError;
use crate::output::complain;

/// The profiles that are named, and those in folders that are.
pub fn files(named: &[PathBuf]) -> Result<Vec<PathBuf>, CliError> {
    let mut all = Vec::new();
    for path in named {
        if !path.is_dir() {
            all.push(path.clone());
            continue;
        }
        let before = all.len();
        below(path, &mut all).map_err(|e| CliError::file(path, e))?;
        all[before..].sort();
        if all.len() == before {
            return Err(CliError::file(path, "has no profiles (.trodden)"));
        }
    }
    Ok(all)
}

fn below(folder: &Path, all: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        // Links to folders may lead in circles.
        if entry.file_type()?.is_dir() {
            below(&path, all)?;
        } else if path.extension().is_some_and(|end| end == "trodden") {
            all.push(path);
        }
    }
    Ok(())
}

/// The coverage of those of these runs that ended within this time before now. Files that cannot be read,
/// were recorded otherwise, or are older are left out, and that is said.
pub fn load(files: &[PathBuf], time: &str, known: Option<&[KnownClass]>) -> Result<Profile, CliError> {
    let time = parse_duration(time).map_err(|why| CliError::Usage(format!("error: --since: {why}")))?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let from = now.saturating_sub(time).as_millis() as f64;
    let (mut chosen, mut older, mut others) = (Vec::new(), 0, 0);
    for file in files {
        match Profile::load(file) {
            // One bad file in a folder of a month's is no reason to report nothing.
            Err(error) => complain(&format!("left out: {error}")),
            Ok(profile) if profile.coverage.is_none() => others += 1,
            Ok(profile) => {
                let run = &profile.run;
                // When it began is not known of a run without a date.
                let ended = run.started_ms as f64 + run.seconds * 1e3;
                if run.started_ms == 0 || ended >= from {
                    chosen.push(profile)
                } else {
                    older += 1
                }
            }
        }
    }
    let left_out = [
        (older, "older"),
        (others, "without coverage (--profile coverage)"),
    ];
    let left_out = left_out.iter().filter(|(count, _)| *count > 0);
    let words: Vec<String> = left_out.map(|(count, why)| format!("{count} {why}")).collect();
    let words = match words.as_slice() {
        [] => String::new(),
        words => format!("; left out: {}", words.join(", ")),
    };
    if chosen.is_empty() {
        return Err(CliError::Failed(format!("no profile is of this time{words}")));
    }
    complain(&format!("{} profiles are of this time{words}", chosen.len()));
    newest_build(&chosen, known).map_err(CliError::failed)
}
