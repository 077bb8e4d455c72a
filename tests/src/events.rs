//! The event stream end to end: live analyses, traces and their replay, and what commands from outside do
//! with them.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use trodden_profile::{MethodConditions, Profile};

use crate::jdk::Jdk;
use crate::process::{self, Outcome};
use crate::profile::{self, Counts, SUSPICIOUS, agent_flag, nothing_beside};
use crate::stress::java;
use crate::trace::MethodId;
use crate::{Result, artefacts};

/// The program of `stress/`.
const PROGRAM: &str = "Streams";
/// Its classes that are profiled.
const INCLUDE: &str = "Streams*";
/// Longest time for a run.
const LIMIT: Duration = Duration::from_secs(300);

/// Analyses of the stream.
pub const ANALYSES: &str = "profile=paths+kpaths,k=4";

/// Runs the program without the agent.
///
/// # Errors
/// If it cannot be run. How it ends is no error.
pub fn plain(jdk: &Jdk, arguments: &[&str]) -> Result<Outcome> {
    process::run(
        &mut java(PROGRAM, jdk, &SUSPICIOUS.map(str::to_owned), arguments)?,
        LIMIT,
    )
}

/// Runs the program under the agent: its outcome and profile.
///
/// # Errors
/// If it cannot be run, or there is no profile.
pub fn live(jdk: &Jdk, probe: &str, arguments: &[&str]) -> Result<(Outcome, Profile)> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("live.trodden");
    let outcome = under_agent(jdk, probe, arguments, &file)?;
    let profile = Profile::load(&file).map_err(|e| format!("{e}\n{outcome:#?}"))?;
    Ok((outcome, profile))
}

/// Runs the program and records its stream, then replays that: the outcome and the profile that the replay
/// made.
///
/// # Errors
/// If one of the two fails, or leaves something else behind.
pub fn recorded(jdk: &Jdk, arguments: &[&str]) -> Result<(Outcome, Profile)> {
    let folder = tempfile::tempdir()?;
    let trace = folder.path().join("run.trace");
    let outcome = under_agent(jdk, &format!("events,{ANALYSES}"), arguments, &trace)?;
    nothing_beside(&trace).map_err(|e| format!("{e}\n{outcome:#?}"))?;
    Ok((outcome, replay(&trace)?.0))
}

/// Replays a trace; the profile, and what was said on the way.
///
/// # Errors
/// If it cannot be replayed.
pub fn replay(trace: &Path) -> Result<(Profile, String)> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("replayed.trodden");
    let mut command = Command::new(&artefacts::artefacts()?.cli);
    command
        .arg("replay")
        .arg(trace)
        .args(["--profile", "paths+kpaths", "--k", "4", "--output"])
        .arg(&file);
    let said = process::run(&mut command, LIMIT)?.success()?.stderr;
    Ok((Profile::load(&file)?, said))
}

fn under_agent(jdk: &Jdk, probe: &str, arguments: &[&str], file: &Path) -> Result<Outcome> {
    let mut flags = SUSPICIOUS.map(str::to_owned).to_vec();
    flags.push(agent_flag(probe, INCLUDE, file)?);
    process::run(&mut java(PROGRAM, jdk, &flags, arguments)?, LIMIT)
}

/// A number among a profile's facts.
///
/// # Errors
/// If it is not there.
pub fn fact(profile: &Profile, name: &str) -> Result<u64> {
    let value = profile.run.facts.text(name);
    Ok(value
        .ok_or_else(|| format!("no fact {name} in {:?}", profile.run.facts))?
        .parse()?)
}

/// Nothing is lost, and everything fits together.
///
/// # Errors
/// If not.
pub fn whole(profile: &Profile) -> Result<()> {
    for name in ["lost", "panics"] {
        if fact(profile, name)? != 0 {
            return Err(format!("{name}: {:?}", profile.run.facts).into());
        }
    }
    // Analyses report them only where there are any.
    for name in ["orphans", "lost_exits", "gaps", "bad_words", "kpaths_unknown"] {
        if profile.run.facts.text(name).is_some_and(|value| value != "0") {
            return Err(format!("{name}: {:?}", profile.run.facts).into());
        }
    }
    Ok(())
}

/// Runs the program with exact counters, with live analyses and from a trace, and compares all
/// that comes out, and that the program did what it does without the agent. `steady` picks what of its output
/// is always the same. Returns the counts.
///
/// # Errors
/// If anything differs, is lost or does not fit together.
pub fn all_ways(jdk: &Jdk, arguments: &[&str], steady: fn(&str) -> &str) -> Result<(Counts, Profile)> {
    let mut plain = plain(jdk, arguments)?;
    plain.stdout = steady(&plain.stdout).to_owned();
    let same = |how: &str, mut outcome: Outcome| -> Result<()> {
        outcome.stdout = steady(&outcome.stdout).to_owned();
        if outcome == plain {
            Ok(())
        } else {
            Err(format!("{how}: {plain:#?} became {outcome:#?}").into())
        }
    };
    let (outcome, counters) = live(jdk, "counters", arguments)?;
    same("counters", outcome)?;
    let counts = profile::counts(&counters);
    // Counters show activations that are open at the end too: events do not know them as such.
    let known = decisions(&counters, &counts);
    if known.is_empty() {
        return Err("the profile says nothing about conditions".into());
    }
    let mut forests = None;
    let mut last = counters;
    for how in ["live", "trace"] {
        let (outcome, found) = match how {
            "trace" => recorded(jdk, arguments)?,
            _ => live(jdk, &format!("events,{ANALYSES}"), arguments)?,
        };
        same(how, outcome)?;
        whole(&found).map_err(|e| format!("{how}: {e}"))?;
        if profile::counts(&found) != counts {
            return Err(format!("{how}: {}", difference(&counts, &profile::counts(&found))).into());
        }
        if decisions(&found, &counts) != known {
            return Err(format!("{how}: other conditions than with counters").into());
        }
        let sequences = profile::forests(&found)?;
        let single = sequences.iter().map(|(id, all)| {
            let all = all.iter().filter(|(s, _)| s.len() == 1);
            (id.clone(), all.map(|(s, &n)| (s[0], n)).collect())
        });
        if single.collect::<Counts>() != counts {
            return Err(format!("{how}: level 1 of the forests is not the profile of paths").into());
        }
        match &forests {
            None => forests = Some(sequences),
            Some(first) if *first == sequences => {}
            Some(_) => return Err(format!("{how}: other sequences than live").into()),
        }
        last = found;
    }
    Ok((counts, last))
}

/// The conditions of decisions in methods that are counted. Traces do not have what coverage leaves out.
fn decisions(profile: &Profile, counts: &Counts) -> BTreeMap<MethodId, MethodConditions> {
    let of = |(&(class, method), of): (&(u32, u32), &MethodConditions)| {
        let class = &profile.classes[class as usize].map;
        let of = MethodConditions {
            left_out: Vec::new(),
            copies: Vec::new(),
            restarts: Vec::new(),
            ..of.clone()
        };
        (MethodId::new(class, &class.methods[method as usize]), of)
    };
    let all = profile.conditions.iter().map(of);
    all.filter(|(id, _)| counts.get(id).is_some_and(|counts| !counts.is_empty()))
        .collect()
}

/// The first method that was not counted as expected.
pub fn difference(expected: &Counts, found: &Counts) -> String {
    let methods = expected.keys().chain(found.keys());
    for method in methods {
        let (expected, found) = (expected.get(method), found.get(method));
        if expected != found {
            return format!("{method:?}:\nexpected {expected:?}\nfound    {found:?}");
        }
    }
    "no difference".to_owned()
}

/// The program, obeying commands.
#[derive(Debug)]
pub struct Obedient {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    folder: tempfile::TempDir,
}

impl Obedient {
    /// Starts it; with the agent, if options are given. It writes to [`file`](Self::file)`(name)` then.
    ///
    /// # Errors
    /// If it does not come up.
    pub fn start(jdk: &Jdk, agent: Option<(&str, &str)>) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let mut flags = SUSPICIOUS.map(str::to_owned).to_vec();
        if let Some((options, name)) = agent {
            flags.push(agent_flag(options, INCLUDE, &folder.path().join(name))?);
        }
        let mut child = java(PROGRAM, jdk, &flags, &["obey"])?
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let mut program = Obedient {
            input: child.stdin.take().ok_or("no stdin")?,
            output: BufReader::new(child.stdout.take().ok_or("no stdout")?),
            child,
            folder,
        };
        program.ready()?;
        Ok(program)
    }

    fn ready(&mut self) -> Result<()> {
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        match line.trim() {
            "ready" => Ok(()),
            other => Err(format!("the program said {other:?}").into()),
        }
    }

    /// Lets it carry out commands: `work`; `virtual`, the same in a virtual thread; `down` and `up`, in its
    /// recursion; a number: throws over as many activations.
    ///
    /// # Errors
    /// If it does not.
    pub fn obey(&mut self, commands: &str) -> Result<()> {
        for command in commands.split_whitespace() {
            writeln!(self.input, "{command}")?;
            self.input.flush()?;
            self.ready()?;
        }
        Ok(())
    }

    /// A file in its folder.
    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Sends the agent a command, from outside. With a name, the agent is to write there.
    ///
    /// # Errors
    /// If that fails.
    pub fn tell(&self, action: &str, options: &[&str], name: Option<&str>) -> Result<()> {
        let mut command = Command::new(&artefacts::artefacts()?.cli);
        command
            .args(["attach", &self.child.id().to_string(), action])
            .args(options);
        if let Some(name) = name {
            command.arg("--file").arg(self.file(name));
        }
        process::run(&mut command, LIMIT)?.success()?;
        Ok(())
    }

    /// A profile that the agent wrote.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn profile(&self, name: &str) -> Result<Profile> {
        Ok(Profile::load(self.file(name))?)
    }

    /// Ends it regularly: returns from its recursion. Returns what it wrote to standard error, and its
    /// folder.
    ///
    /// # Errors
    /// If it does not end as it should.
    pub fn end(mut self, depth: usize) -> Result<(String, tempfile::TempDir)> {
        self.obey(&"up ".repeat(depth))?;
        writeln!(self.input, "up")?;
        drop(self.input);
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        self.child.stdout = Some(self.output.into_inner());
        let outcome = process::wait(self.child, LIMIT)?.success()?;
        match line.trim() {
            "over" => Ok((outcome.stderr, self.folder)),
            other => Err(format!("the program said {other:?}").into()),
        }
    }

    /// Kills it. Its folder.
    ///
    /// # Errors
    /// If it cannot be killed.
    pub fn kill(mut self) -> Result<tempfile::TempDir> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(self.folder)
    }
}
