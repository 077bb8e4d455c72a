//! What `trodden run` keeps from run to run, so that each makes the next one cheaper; `docs/memory.md`.

mod program;
mod store;

use std::env;
use std::ffi::OsString;
use std::fs;
use std::time::Duration;

use clap::Args;
use tempfile::TempDir;
use trodden_instrumenter::Leave;
use trodden_profile::options::{FileFormat, ProfileKind, ProfileOptions};
use trodden_profile::{Known, Memory, Profile};

use crate::output;
use program::Program;
use store::Store;

/// Options about the memory.
#[derive(Args, Clone)]
pub struct MemoryArgs {
    /// Measure everything, whatever earlier runs know; what is found is remembered.
    #[arg(long, conflicts_with = "remember")]
    full: bool,
    /// Leave alone what earlier runs know although -o or --file names a profile or data for other tools,
    /// which are whole otherwise.
    #[arg(long)]
    remember: bool,
    /// Neither use nor keep what runs of this program found.
    #[arg(long, conflicts_with_all = ["full", "remember"])]
    no_memory: bool,
    /// Shortest run that is remembered.
    #[arg(long, value_name = "DURATION", default_value = "10s", hide = true, value_parser = duration)]
    memory_after: Duration,
}

impl MemoryArgs {
    /// Measures everything, and remembers nothing.
    pub fn without(&self) -> Self {
        MemoryArgs {
            full: false,
            remember: false,
            no_memory: true,
            ..self.clone()
        }
    }
}

fn duration(text: &str) -> Result<Duration, String> {
    trodden_profile::options::parse_duration(text)
}

/// The memory of the program that is run.
pub struct ProgramMemory {
    store: Store,
    shortest: Duration,
    /// What earlier runs found, if this one uses it.
    used: Option<Used>,
}

struct Used {
    memory: Memory,
    /// Holds the files that the agent reads.
    _files: TempDir,
}

impl ProgramMemory {
    /// The memory of a `java` command, and what of it this run uses: the options get what the agent is to
    /// know. `None`: this run neither uses nor keeps any.
    pub fn of(args: &MemoryArgs, arguments: &[OsString], options: &mut ProfileOptions) -> Option<Self> {
        // Only where the agent counts what it likes: who names a probe means it.
        let plain = options.profile == [ProfileKind::Paths] && options.retires();
        if args.no_memory || !plain || options.code.memory.is_some() {
            return None;
        }
        let here = env::current_dir().ok()?;
        let variable = |name: &str| env::var(name).ok();
        let program = Program::of(arguments, variable("CLASSPATH").as_deref(), &here)?;
        let store = Store::new(&program.file_name(), &here, variable)?;
        let mut memory = ProgramMemory {
            store,
            shortest: args.memory_after,
            used: None,
        };
        if !args.full && (args.remember || is_for_people(options)) {
            match memory.plan(options) {
                Ok(used) => memory.used = used,
                Err(error) => output::complain(&format!("memory: {error}; all is measured")),
            }
        }
        Some(memory)
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
            options.code.use_profile = Some(file);
        }
        Ok(Some(Used {
            memory,
            _files: files,
        }))
    }

    /// Does this run leave methods alone? Then its profile has to be completed.
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
        if let Err(error) = self.store.change(|memory| memory.learn(profile)) {
            output::complain(&format!("memory: {error}; this run is not remembered"));
        }
    }
}

/// Is the result read by people, and not by other commands or tools? What these read is whole, unless
/// `--remember` is given. Nor is anything left alone where paths are asked for that only coverage needs.
fn is_for_people(options: &ProfileOptions) -> bool {
    let coverage = ["single-path-methods", "cut-paths", "open-paths"];
    let named = options.is_given("file");
    let page = matches!(
        options.output.file.format(),
        FileFormat::Html | FileFormat::Text | FileFormat::Svg
    );
    (!named || page) && !coverage.iter().any(|name| options.is_given(name))
}

/// Says that a profile is not whole, to whoever takes it for one.
pub fn warn_if_partial(profile: &Profile, name: &str) {
    let left = profile.skipped.iter();
    let left = left
        .filter(|skipped| Known::of_reason(&skipped.reason).is_some())
        .count();
    if left > 0 {
        output::complain(&format!(
            "{name}: {left} methods were not measured in that run, because earlier runs know them; they count as not \
             known here ('trodden run --full' measures all)"
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_other_commands_read_is_whole() {
        let people = |pairs: &[(&str, &str)]| is_for_people(&ProfileOptions::from_pairs(pairs).unwrap());
        assert!(people(&[]) && people(&[("file", "a.html")]) && people(&[("file", "a.txt")]));
        assert!(!people(&[("file", "a.trodden")]) && !people(&[("file", "a.json")]));
        assert!(!people(&[("cut-paths", "count")]));
    }
}
