//! The files of a run: those that the agent is to write, those that it wrote, and what is made of them.

use std::collections::HashMap;
use std::env;
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use tempfile::TempDir;
use trodden_profile::options::{FileFormat, FilePattern};
use trodden_profile::output::{RUN_FOLDER, hold};
use trodden_report::ReportOptions;

use super::launcher::Launcher;
use crate::error::CliError;
use crate::merge::load_merged;
use crate::output;
use crate::render::{self, Format};

/// Identity and age of a file: changes when it is rewritten.
type Stamp = (u64, i64, i64, u64);

/// Where a run's result goes.
pub struct Destination {
    /// The file that the user asked for, made absolute.
    wanted: FilePattern,
    /// The file that the agent is to write.
    agent: FilePattern,
    /// Holds the agent's files if they are not the result themselves, and the lock that says that we live.
    parts: Option<(TempDir, File)>,
    /// Where the agent's files go if the result cannot be made.
    directory: PathBuf,
    /// Files that were there before.
    before: HashMap<PathBuf, Stamp>,
}

/// A file that is there after a run.
pub struct RunResult {
    /// Where.
    pub path: PathBuf,
    /// True if it is a report, and no profile.
    pub report: bool,
}

impl Destination {
    /// Plans the files of a run.
    pub fn new(file: &FilePattern, launcher: Launcher) -> Result<Self, CliError> {
        let wanted = absolute(file)?;
        let sample = expand(&wanted, std::process::id())?;
        let stream = output::is_stream(&sample);
        // Next to a device or a pipe there is no place for other files.
        let directory = match sample.parent() {
            Some(parent) if !stream => parent.to_owned(),
            _ => env::temp_dir(),
        };
        output::clear_leftovers(&directory);
        // Several JVMs would overwrite one file, and the agent writes profiles only.
        let shared = launcher.starts_several() && !wanted.has_pid();
        let whole = matches!(wanted.format(), FileFormat::Trodden | FileFormat::Trace);
        if wanted.format() == FileFormat::Trace && shared {
            return Err(CliError::Usage(format!(
                "error: the command may start several JVMs, and traces cannot be merged: give each its own, with %p in '{file}'"
            )));
        }
        if wanted.format() == FileFormat::Trace && stream {
            return Err(CliError::Usage(format!(
                "error: a trace needs a regular file, and '{file}' is none"
            )));
        }
        let (agent, parts) = if whole && !shared && !stream {
            (wanted.clone(), None)
        } else {
            let failed = |e| CliError::file(&directory, format!("cannot make a directory: {e}"));
            let parts = tempfile::Builder::new()
                .prefix(RUN_FOLDER)
                .tempdir_in(&directory)
                .map_err(failed)?;
            let lock = hold(parts.path()).map_err(failed)?;
            let prefix = FilePattern::literal(&text(parts.path())?);
            let pattern = format!("{prefix}/%p.trodden");
            (pattern.parse().map_err(CliError::failed)?, Some((parts, lock)))
        };
        let mut destination = Destination {
            wanted,
            agent,
            parts,
            directory,
            before: HashMap::new(),
        };
        destination.before = destination.matching().into_iter().collect();
        Ok(destination)
    }

    /// The agent's option `file`.
    pub fn agent_pattern(&self) -> &FilePattern {
        &self.agent
    }

    /// The file that was asked for.
    pub fn wanted(&self) -> &FilePattern {
        &self.wanted
    }

    fn matching(&self) -> Vec<(PathBuf, Stamp)> {
        let env = |name: &str| env::var(name).ok();
        let Ok(sample) = expand(&self.agent, 0) else {
            return Vec::new();
        };
        let entries = sample.parent().and_then(|directory| fs::read_dir(directory).ok());
        let mut found: Vec<(PathBuf, Stamp)> = entries
            .into_iter()
            .flatten()
            .flatten()
            .filter(|entry| {
                entry
                    .path()
                    .to_str()
                    .is_some_and(|path| self.agent.matches(path, env))
            })
            .filter_map(|entry| {
                // The name may be a link: what it leads to is written.
                let data = fs::metadata(entry.path()).ok().filter(fs::Metadata::is_file)?;
                Some((
                    entry.path(),
                    (data.ino(), data.mtime(), data.mtime_nsec(), data.len()),
                ))
            })
            .collect();
        found.sort();
        found
    }

    /// The profiles that have been written since [`Destination::new`].
    pub fn written(&self) -> Vec<PathBuf> {
        let new = |(path, stamp): &(PathBuf, Stamp)| self.before.get(path) != Some(stamp);
        self.matching()
            .into_iter()
            .filter(new)
            .map(|(path, _)| path)
            .collect()
    }

    /// Makes of the agent's files what was asked for. On failure they are kept.
    pub fn finish(&self, written: &[PathBuf], options: &ReportOptions) -> Result<Vec<RunResult>, CliError> {
        if self.parts.is_none() {
            let result = |path: &PathBuf| RunResult {
                path: path.clone(),
                report: false,
            };
            return Ok(written.iter().map(result).collect());
        }
        let made = self.make(written, options);
        if made.is_err() {
            self.rescue(written);
        }
        made
    }

    fn make(&self, written: &[PathBuf], options: &ReportOptions) -> Result<Vec<RunResult>, CliError> {
        let groups: Vec<(u32, &[PathBuf])> = if self.wanted.has_pid() {
            written.chunks(1).map(|one| (pid_of(&one[0]), one)).collect()
        } else {
            vec![(0, written)]
        };
        let mut results = Vec::new();
        for (pid, files) in groups {
            let profile = load_merged(files)?;
            let path = expand(&self.wanted, pid)?;
            let format = Format::of_file(self.wanted.format());
            match format {
                None => profile.save(&path).map_err(CliError::failed)?,
                Some(format) => render::write(&profile, format, options, Some(&path))?,
            }
            results.push(RunResult {
                path,
                report: format.is_some(),
            });
        }
        Ok(results)
    }

    /// Moves the agent's files out of the directory that is about to go.
    fn rescue(&self, written: &[PathBuf]) {
        for path in written {
            let kept = self.directory.join(format!("trodden-{}.trodden", pid_of(path)));
            if fs::rename(path, &kept).is_ok() {
                output::complain(&format!("kept the profile: {}", kept.display()));
            }
        }
    }
}

/// The pid in the name of one of the agent's files.
fn pid_of(path: &Path) -> u32 {
    let stem = path.file_stem().and_then(|stem| stem.to_str());
    stem.and_then(|stem| stem.parse().ok()).unwrap_or(0)
}

fn expand(pattern: &FilePattern, pid: u32) -> Result<PathBuf, CliError> {
    let env = |name: &str| env::var(name).ok();
    let name = pattern
        .expand(pid, SystemTime::now(), env)
        .map_err(CliError::failed)?;
    Ok(PathBuf::from(name))
}

/// The same pattern from the root: the command may change its directory.
pub fn absolute(pattern: &FilePattern) -> Result<FilePattern, CliError> {
    // `%{HOME}/x` may be absolute only once it is expanded.
    if expand(pattern, 0)?.is_absolute() {
        return Ok(pattern.clone());
    }
    let here = env::current_dir().map_err(|e| CliError::Failed(format!("no current directory: {e}")))?;
    within(&here, pattern)
}

/// The pattern in that folder, which may be the root itself: the names of files in there are compared with
/// it.
fn within(folder: &Path, pattern: &FilePattern) -> Result<FilePattern, CliError> {
    let folder = FilePattern::literal(text(folder)?.trim_end_matches('/'));
    let name = pattern.as_str().strip_prefix("./").unwrap_or(pattern.as_str());
    format!("{folder}/{name}").parse().map_err(CliError::failed)
}

fn text(path: &Path) -> Result<String, CliError> {
    let name = path.to_str().map(str::to_owned);
    name.ok_or_else(|| CliError::file(path, "the name is not UTF-8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_folders() {
        let name: FilePattern = "./trodden-%p.trodden".parse().unwrap();
        for (folder, whole) in [("/", "/trodden-%p.trodden"), ("/a%b", "/a%%b/trodden-%p.trodden")] {
            let found = within(Path::new(folder), &name).unwrap();
            assert_eq!(found.as_str(), whole);
            // In the form in which they are found after the run.
            let file = whole.replace("%%", "%").replace("%p", "7");
            assert!(found.matches(&file, |_| None), "{file}");
        }
    }
}
