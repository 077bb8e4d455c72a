//! `trodden gate record`: a command is run under exact counting, several times, and what its tests did is
//! written down.

use std::collections::BTreeMap;
use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use clap::Args;
use trodden_insight::coverage::holds_probes;
use trodden_insight::gate::Measured;
use trodden_profile::Profile;
use trodden_profile::options::{Action, AgentCommand, FilePattern, ProfileOptions, check_place};

use crate::agent_library;
use crate::error::CliError;
use crate::gate::listener;
use crate::gate::written::{TESTS, write};
use crate::output;
use crate::recorded_commit;
use crate::run::{Launcher, exit_code, supervise};

/// Runs a command and writes down how much work each of its tests does.
#[derive(Args)]
pub struct RecordArgs {
    /// The file, for `gate compare`; small text, fit for version control.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// How often the command is run; what differs between runs is flagged as unstable.
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=100))]
    runs: u32,
    /// Count these classes: JaCoCo's wildcards, several separated by commas [default: all but the JDK's; of
    /// builds by Maven and Gradle, the project's].
    #[arg(long, value_name = "PATTERNS")]
    include: Option<String>,
    /// Classes that are not counted.
    #[arg(long, value_name = "PATTERNS")]
    exclude: Option<String>,
    /// Write down how many bytes tests allocate, too; they are not quite the same twice.
    #[arg(long)]
    allocated: bool,
    /// Write down how long tests take, too: the least and the most of the runs, with the probes in them. No
    /// two files are the same then.
    #[arg(long)]
    time: bool,
    /// Keep the profiles here as well, for `trodden diff` and `trodden tests`, with the commit that they are
    /// of.
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
    /// Take a command that ends with another code than 0 for good.
    #[arg(long)]
    ignore_exit_code: bool,
    /// The command: a java launcher, or any program that starts one.
    #[arg(trailing_var_arg = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// Runs `trodden gate record`.
pub fn record(args: &RecordArgs) -> Result<ExitCode, CliError> {
    // The file may be meant for the same folder.
    if let Some(keep) = &args.keep {
        std::fs::create_dir_all(keep).map_err(|e| CliError::file(keep, e))?;
        // Until the profiles are those of this run.
        recorded_commit::keep(keep, None)?;
    }
    check_place(&args.output).map_err(CliError::failed)?;
    let commit = recorded_commit::current();
    let mut runs = Vec::new();
    for number in 1..=args.runs {
        runs.push(run(args, number)?);
    }
    if let Some(keep) = &args.keep {
        recorded_commit::keep(keep, commit.as_deref())?;
    }
    write(&args.output, &runs, true)?;
    Ok(ExitCode::SUCCESS)
}

/// Runs the command once.
fn run(args: &RecordArgs, number: u32) -> Result<BTreeMap<String, Measured>, CliError> {
    let failed = |e| CliError::Failed(format!("cannot make a directory: {e}"));
    let folder = tempfile::Builder::new()
        .prefix("trodden-gate-")
        .tempdir()
        .map_err(failed)?;
    let (program, arguments) = args
        .command
        .split_first()
        .ok_or_else(|| CliError::Usage("error: no command is given".to_owned()))?;
    let launcher = Launcher::for_program(program);
    let mut options = options(args, folder.path())?;
    if let Launcher::Build(tool) = launcher {
        // It says what is counted; once is enough.
        options.output.quiet = number > 1;
        tool.prepare(&mut options, &env::current_dir().unwrap_or_default());
    }
    options.output.quiet = true;
    let agent = AgentCommand {
        action: Action::Start,
        options,
    };
    let mut command = Command::new(program);
    // Only where there may be tests: it needs a module that a JVM of few modules lacks.
    let tests = args.command.iter().any(|word| {
        ["junit", "testng"]
            .iter()
            .any(|name| word.to_string_lossy().contains(name))
    });
    let listener = match launcher {
        Launcher::Java | Launcher::Other if !tests => None,
        _ => Some(listener::write(folder.path())?),
    };
    launcher.prepare(
        &mut command,
        arguments,
        &agent_library::find()?,
        &agent.to_agent_string(),
        listener.as_deref(),
    )?;
    if launcher != Launcher::Java {
        command.stderr(Stdio::piped());
    }
    let (status, _) = supervise(&mut command, program)?;
    let code = exit_code(status);
    if code != 0 && !args.ignore_exit_code {
        return Err(CliError::Failed(format!(
            "the command failed with exit code {code}, so its work is not recorded (--ignore-exit-code records it)"
        )));
    }
    let profiles = profiles(folder.path())?;
    if profiles.is_empty() {
        let again = match (number, launcher) {
            (1, _) | (_, Launcher::Java) => "",
            _ => "; in a second run it may have found nothing to do: let it run all again, or use --runs 1",
        };
        return Err(CliError::Failed(format!(
            "no JVM was counted in run {number} ({}{again})",
            launcher.nothing_written()
        )));
    }
    let mut tests = BTreeMap::new();
    for (name, profiles) in profiles {
        let profile = merged(profiles)?;
        if number == 1 && profile.classes.iter().any(|class| holds_probes(&class.map)) {
            output::complain(&format!(
                "{name}: the classes hold JaCoCo's probes, which are counted as work; without them: -Djacoco.skip=true \
                 under Maven, jacoco.enabled = false under Gradle"
            ));
        }
        if let Some(keep) = &args.keep {
            keep_profile(keep, &name, number, &profile)?;
        }
        match Measured::tests(&profile) {
            apart if apart.is_empty() => {
                let whole = Measured::new(&profile);
                // A JVM in which nothing was to count, such as that of a wrapper, is no test.
                if whole.instructions > 0 {
                    tests.insert(name, whole);
                }
            }
            apart => tests.extend(apart),
        }
    }
    if !args.allocated {
        tests.values_mut().for_each(|test| test.allocated = None);
    }
    if !args.time {
        tests.values_mut().for_each(|test| test.nanos = None);
    }
    if tests.is_empty() {
        return Err(CliError::Failed(format!(
            "nothing was counted in run {number}: no class ran that --include and --exclude select"
        )));
    }
    Ok(tests)
}

/// Every path of every method is counted, also those that an exception or the end of the JVM cuts off.
fn options(args: &RecordArgs, folder: &Path) -> Result<ProfileOptions, CliError> {
    let folder = folder
        .to_str()
        .ok_or_else(|| CliError::file(folder, "the name is not UTF-8"))?;
    let file = format!("{}/%p.trodden", FilePattern::literal(folder));
    let mut pairs = vec![("profile", "coverage"), ("coverage", "paths"), ("file", &file)];
    pairs.extend(args.include.as_deref().map(|patterns| ("include", patterns)));
    let exclude = args
        .exclude
        .as_deref()
        .map(|own| format!("{own},{}", listener::CLASSES));
    pairs.push(("exclude", exclude.as_deref().unwrap_or(listener::CLASSES)));
    ProfileOptions::from_pairs(&pairs).map_err(|e| CliError::Usage(format!("error: {e}")))
}

/// The profiles of all JVMs, by what they ran.
fn profiles(folder: &Path) -> Result<BTreeMap<String, Vec<Profile>>, CliError> {
    let mut found: BTreeMap<String, Vec<Profile>> = BTreeMap::new();
    let mut files: Vec<PathBuf> = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(|e| CliError::file(folder, e))? {
        files.push(entry.map_err(|e| CliError::file(folder, e))?.path());
    }
    files.sort();
    for file in files
        .iter()
        .filter(|file| file.extension().is_some_and(|e| e == "trodden"))
    {
        let profile = Profile::load(file).map_err(CliError::failed)?;
        found.entry(name(&profile.run.command)).or_default().push(profile);
    }
    Ok(found)
}

fn merged(mut profiles: Vec<Profile>) -> Result<Profile, CliError> {
    match profiles.len() {
        1 => Ok(profiles.remove(0)),
        _ => trodden_profile::merge(&profiles).map_err(|e| CliError::Failed(format!("cannot merge: {e}"))),
    }
}

fn keep_profile(folder: &Path, name: &str, run: u32, profile: &Profile) -> Result<(), CliError> {
    let plain: String = name
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || "._-$".contains(c) {
                c
            } else {
                '_'
            }
        })
        .collect();
    let file = folder.join(format!("{plain}-{run}.trodden"));
    profile.save(&file).map_err(CliError::failed)
}

/// The name of the program of a JVM, by its command line: the main class or the jar, without folders and
/// without what build tools number.
fn name(command: &str) -> String {
    let first = match command.find(".jar") {
        Some(at) if !command[..at].contains(' ') => &command[..at + 4],
        _ => command.split(' ').next().unwrap_or_default(),
    };
    let first = if first.ends_with(".jar") {
        first.rsplit('/').next().unwrap_or(first)
    } else {
        first
    };
    match first {
        "" => "unnamed".to_owned(),
        jar if jar.starts_with("surefire") && jar.ends_with(".jar") => TESTS[0].to_owned(),
        "org.apache.maven.surefire.booter.ForkedBooter" => TESTS[0].to_owned(),
        "worker.org.gradle.process.internal.worker.GradleWorkerMain" => TESTS[1].to_owned(),
        name => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_jvm_is_named_by_what_it_runs() {
        for (command, expected) in [
            ("shop.Server 12 fast", "shop.Server"),
            ("/home/me/app-1.0.jar --port 8", "app-1.0.jar"),
            ("shop.Server a.jar", "shop.Server"),
            ("shop/shop.Server", "shop/shop.Server"),
            (
                "/a/target/surefire/surefirebooter-20260101120000123_3.jar /a/x",
                "tests (Surefire)",
            ),
            (
                "worker.org.gradle.process.internal.worker.GradleWorkerMain 'Gradle Test Executor 7'",
                "tests (Gradle)",
            ),
            ("", "unnamed"),
        ] {
            assert_eq!(name(command), expected, "{command}");
        }
    }
}
