//! Scale: many threads, many thread profiles, long traces.

mod merge;
mod process;
mod replay;
mod threads;

use std::path::{Path, PathBuf};

use trodden_profile::options::ProfileOptions;

use crate::arguments::JvmArgs;
use crate::error::{Error, Result};
use crate::record::Record;
use crate::workspace::{Jdk, Workspace};
use crate::{Plan, workspace};

/// What is scaled.
#[derive(clap::Subcommand)]
pub enum Scale {
    /// Merges the profiles of many threads: of a pipeline whose threads run, of threads that end, of files
    Merge {
        /// Name of the run's folder, after the date
        #[arg(long)]
        label: String,
        #[command(flatten)]
        merge: merge::Arguments,
    },
    /// Replays a trace of many gigabytes, made by repeating a recorded one
    Replay {
        /// Name of the run's folder, after the date
        #[arg(long)]
        label: String,
        #[command(flatten)]
        replay: replay::Arguments,
    },
    /// Runs the same work in 1 to 64 threads
    Threads {
        #[command(flatten)]
        jvm: JvmArgs,
        /// Name of the run's folder, after the date
        #[arg(long)]
        label: String,
        #[command(flatten)]
        threads: threads::Arguments,
    },
}

/// Measures; returns the run's folder and the summary, which it has got.
///
/// # Errors
/// If a file cannot be read or written, a program fails, or a result is not what it must be.
pub fn run(workspace: &Workspace, scale: Scale) -> Result<(PathBuf, String)> {
    let create = |label: &str, jdks: &[Jdk]| Record::create(workspace, label, jdks);
    let (record, text) = match scale {
        Scale::Merge { label, merge } => {
            let record = create(&label, &[])?;
            let text = merge::run(&merge, &record)?;
            (record, text)
        }
        Scale::Replay { label, replay } => {
            let trodden = workspace::find_trodden(workspace, replay.trodden.as_deref())?;
            let record = create(&label, &[])?;
            let text = replay::run(&replay, &trodden, &record)?;
            (record, text)
        }
        Scale::Threads { jvm, label, threads } => {
            let plan = Plan::of(workspace, jvm, 1, 1, true)?;
            let record = create(&label, &plan.jdks)?;
            let text = threads::run(&plan, workspace, &threads, &record)?;
            (record, text)
        }
    };
    record.write("summary.md", &text)?;
    Ok((record.folder().to_owned(), text))
}

/// Options by name, as they were given.
type Pairs = Vec<(String, String)>;

/// A profile's options as `NAME:OPTIONS`, such as `k16:profile=kpaths,k=16`.
fn named_options(text: &str) -> Result<(String, Pairs, ProfileOptions)> {
    let wrong = |problem: String| Error::Usage(format!("profile '{text}': {problem}"));
    let (name, options) = text
        .split_once(':')
        .ok_or_else(|| wrong("not NAME:OPTIONS".to_owned()))?;
    let mut pairs = Vec::new();
    for option in options.split(',') {
        let (key, value) = option
            .split_once('=')
            .ok_or_else(|| wrong(format!("'{option}' is not NAME=VALUE")))?;
        pairs.push((key.to_owned(), value.to_owned()));
    }
    let parsed = ProfileOptions::from_pairs(&pairs).map_err(|e| wrong(e.to_string()))?;
    Ok((name.to_owned(), pairs, parsed))
}

/// The name of a file without folder and ending.
fn stem(file: &Path) -> String {
    file.file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_a_profile_have_a_name() {
        let (name, pairs, options) = named_options("k16:profile=kpaths,k=16").unwrap();
        assert_eq!((name.as_str(), pairs.len()), ("k16", 2));
        assert_eq!(pairs[1], ("k".to_owned(), "16".to_owned()));
        assert!(options.is_given("k"));
        for bad in ["kpaths", "x:profile", "x:profile=nothing"] {
            assert!(named_options(bad).is_err(), "{bad}");
        }
    }
}
