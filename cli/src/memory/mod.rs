//! The memory that `trodden run` keeps from run to run, so that one with `--again` is cheaper;
//! `docs/production.md`.

mod program;
mod store;

use std::env;
use std::ffi::OsString;
use std::fs;
use std::time::Duration;

use clap::Args;
use tempfile::TempDir;
use trodden_instrumenter::Leave;
use trodden_profile::options::{ProfileKind, ProfileOptions, UseProfile, format_duration, parse_duration};
use trodden_profile::{Known, Memory, Profile};

use crate::error::CliError;
use crate::output;
use program::Program;
use store::Store;
pub use store::{folder, keep_latest};

/// Options about the memory.
#[derive(Args, Clone)]
pub struct MemoryArgs {
    /// Measure only what earlier runs of the same command do not know well, which is cheaper; of the rest the
    /// report has what they found, marked with the run and its age. Without it everything is measured.
    #[arg(long)]
    again: bool,
    /// Shortest run that is remembered.
    #[arg(long, value_name = "DURATION", default_value = "10s", hide = true, value_parser = parse_duration)]
    memory_after: Duration,
}

/// The memory of the program that is run.
pub struct ProgramMemory {
    store: Store,
    shortest: Duration,
    /// True if [`--again`](MemoryArgs) was given.
    again: bool,
    /// The memory of earlier runs, if this one uses it.
    used: Option<Used>,
}

struct Used {
    memory: Memory,
    /// Holds the files that the agent reads.
    _files: TempDir,
}

impl ProgramMemory {
    /// The memory of a command, which begins with `java` if `is_java`. With `--again` the options get what
    /// the agent is to know. `None`: runs of this kind are not remembered.
    ///
    /// # Errors
    /// If `--again` cannot be done with this command or these options.
    pub fn new(
        args: &MemoryArgs,
        is_java: bool,
        arguments: &[OsString],
        options: &mut ProfileOptions,
    ) -> Result<Option<Self>, CliError> {
        let place = place(is_java, arguments, options);
        if !args.again {
            return Ok(place.ok().map(|store| ProgramMemory {
                store,
                shortest: args.memory_after,
                again: false,
                used: None,
            }));
        }
        let store = place.map_err(|why| CliError::Usage(format!("error: --again {why}")))?;
        let mut memory = ProgramMemory {
            store,
            shortest: args.memory_after,
            again: true,
            used: None,
        };
        match memory.plan(options) {
            Ok(Some(used)) => memory.used = Some(used),
            Ok(None) => output::complain(&format!(
                "--again: no earlier run of this command with these arguments is known well enough (runs of {} or more \
                 are kept); everything is measured",
                format_duration(args.memory_after)
            )),
            Err(error) => output::complain(&format!("--again: {error}; everything is measured")),
        }
        Ok(Some(memory))
    }

    fn plan(&self, options: &mut ProfileOptions) -> Result<Option<Used>, String> {
        let memory = self.store.load()?;
        if memory.left_alone().next().is_none() {
            return Ok(None);
        }
        let failed = |e: &dyn std::fmt::Display| format!("cannot write a plan: {e}");
        let files = tempfile::Builder::new()
            .prefix("trodden-plan-")
            .tempdir()
            .map_err(|e| failed(&e))?;
        let text = |name: &str| {
            let path = files.path().join(name);
            path.to_str()
                .map(str::to_owned)
                .ok_or_else(|| failed(&"the folder's name is not UTF-8"))
        };
        let plan = text("plan")?;
        fs::write(&plan, Leave::text(memory.left_alone())).map_err(|e| failed(&e))?;
        options.code.memory = Some(plan);
        let guide = memory.guide();
        if options.code.use_profile.is_none() && !guide.classes.is_empty() {
            let file = text("guide.trodden")?;
            guide.save(&file).map_err(|e| failed(&e))?;
            options.code.use_profile = Some(UseProfile::Former(file));
        }
        Ok(Some(Used {
            memory,
            _files: files,
        }))
    }

    /// True if this run leaves methods alone. Then its profile has to be completed.
    pub fn is_used(&self) -> bool {
        self.used.is_some()
    }

    /// Puts into a profile what earlier runs found of the methods that it left alone.
    pub fn complete(&self, profile: &mut Profile) {
        if let Some(used) = &self.used {
            profile.memory = used.memory.of_left_alone(profile).map(Box::new);
        }
    }

    /// Remembers what a run found.
    pub fn keep(&self, profile: &Profile) {
        if profile.run.seconds < self.shortest.as_secs_f64() {
            return;
        }
        let kept = self.store.change(|memory| memory.learn(profile));
        // A run without --again loses nothing by it.
        if let Err(error) = kept
            && self.again
        {
            output::complain(&format!("--again: {error}; this run is not remembered"));
        }
    }
}

/// Where runs of a command are remembered, or why they are not: what follows `--again` in a message.
fn place(is_java: bool, arguments: &[OsString], options: &ProfileOptions) -> Result<Store, String> {
    if !is_java {
        return Err("needs a java command: what other commands start may differ each time".to_owned());
    }
    if options.profile != [ProfileKind::Paths] || !options.retires() || options.code.memory.is_some() {
        return Err(
            "is for the default profile (--profile paths, --probe auto, no --schedule, no --memory)"
                .to_owned(),
        );
    }
    let here = env::current_dir().map_err(|e| format!("needs a current directory: {e}"))?;
    let variable = |name: &str| env::var(name).ok();
    let program = Program::new(arguments, variable("CLASSPATH").as_deref(), &here)
        .ok_or("needs a command that names a main class, jar or module (not @FILE, not a source file)")?;
    Store::new(&program.file_name(), &here, variable)
        .ok_or_else(|| "needs a place for what runs find: neither HOME nor XDG_CACHE_HOME is set".to_owned())
}

/// Says that a profile is not whole, where it is read as one.
pub fn warn_if_partial(profile: &Profile, name: &str) {
    let left = profile.skipped.iter();
    let left = left
        .filter(|skipped| Known::of_reason(&skipped.reason).is_some())
        .count();
    if left > 0 {
        output::complain(&format!(
            "{name}: {left} methods were not measured in that run, because earlier runs know them; they count as not \
             known here (a run without --again measures everything)"
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_done_again_is_said() {
        let why = |is_java, words: &str, pairs: &[(&str, &str)]| {
            let words: Vec<OsString> = words.split(' ').map(OsString::from).collect();
            let options = ProfileOptions::from_pairs(pairs).unwrap();
            place(is_java, &words, &options).err().unwrap()
        };
        for (why, expected) in [
            (why(false, "test", &[]), "java command"),
            (why(true, "Main.java", &[]), "source file"),
            (why(true, "Main", &[("probe", "counters")]), "default profile"),
            (why(true, "Main", &[("profile", "contexts")]), "default profile"),
            (
                why(true, "Main", &[("profile", "coverage"), ("coverage", "paths")]),
                "default profile",
            ),
        ] {
            assert!(why.contains(expected), "{why}");
        }
    }
}
