//! Starts JVMs and waits for them.

use std::ffi::OsString;
use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use wait_timeout::ChildExt;

use crate::error::{Error, Result, io};
use crate::lines::{self, Iteration};
use crate::parts::Parts;
use crate::workload::Workload;
use crate::workspace::Jdk;

/// What in a configuration's options stands for the exact profile of a former run of the workload.
pub const FORMER: &str = "{former}";

/// A configuration: a name and the agent's options, or no agent at all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Config {
    /// Name in tables.
    pub name: String,
    /// Options for the agent in its own syntax; `None` runs without the agent.
    pub options: Option<String>,
    /// Further options for the JVM, such as another agent.
    pub jvm: Vec<String>,
    /// Words in front of `java`, of a command that starts it.
    pub launcher: Vec<String>,
}

impl Config {
    /// A configuration by its short name (`base`, or a probe strategy), or as `NAME:OPTIONS`.
    ///
    /// # Errors
    /// If it is neither.
    pub fn parse(text: &str) -> Result<Config> {
        let (name, options) = match text.split_once(':') {
            Some((name, options)) if !name.is_empty() => (name, Some(options.to_owned())),
            None if text == "base" => (text, None),
            None if ["yieldpoint", "counters", "safepoint"].contains(&text) => {
                (text, Some(format!("probe={text}")))
            }
            _ => {
                return Err(Error::Usage(format!(
                    "no configuration '{text}' (base, yieldpoint, counters, safepoint, or NAME:AGENT-OPTIONS)"
                )));
            }
        };
        Ok(Config {
            name: name.to_owned(),
            options,
            ..Config::default()
        })
    }

    /// Do the options speak of a former run's profile?
    pub fn wants_former(&self) -> bool {
        self.options.as_deref().is_some_and(|o| o.contains(FORMER))
    }

    /// The same, with the file of a former run's profile put in.
    pub fn with_former(&self, file: &Path) -> Config {
        let file = file.to_string_lossy();
        Config {
            options: self.options.as_ref().map(|o| o.replace(FORMER, &file)),
            ..self.clone()
        }
    }

    /// The agent option of a JVM's command line: these options, the workload's include, the profile's file.
    pub fn agent_argument(&self, agent: &Path, include: Option<&str>, profile: &Path) -> Option<OsString> {
        let options = self.options.as_ref()?;
        let mut text = OsString::from("-agentpath:");
        text.push(agent);
        text.push(format!("=start,{options},loglevel=error,file="));
        text.push(profile);
        if let Some(include) = include {
            text.push(format!(",include={include}"));
        }
        Some(text)
    }
}

/// How often a running JVM's memory is looked up.
const LOOK: Duration = Duration::from_millis(200);

/// The most memory of a process that was ever resident, in KiB.
pub fn peak(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}

/// How a JVM is run.
#[derive(Clone, Debug)]
pub struct Launch<'a> {
    /// Which JDK.
    pub jdk: &'a Jdk,
    /// Options for the JVM, such as its heap size.
    pub jvm_options: &'a [String],
    /// The agent's option, if there is an agent.
    pub agent: Option<OsString>,
    /// After how long it is killed.
    pub timeout: Duration,
    /// The one processor that it may use, by `taskset`.
    pub processor: Option<u32>,
    /// Words in front of `java`, of a command that starts it.
    pub launcher: &'a [String],
    /// How often its threads are looked up, if they are.
    pub look: Option<Duration>,
}

/// How long a workload runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// That many iterations.
    Iterations(u32),
    /// As many iterations as are needed for that many seconds of processor time.
    Seconds(u32),
}

impl From<u32> for Length {
    fn from(iterations: u32) -> Length {
        Length::Iterations(iterations)
    }
}

/// A workload's run in a JVM.
#[derive(Debug)]
pub struct Ran {
    /// Its lines.
    pub iterations: Vec<Iteration>,
    /// The JVM's side of it.
    pub outcome: Outcome,
}

/// What a JVM did.
#[derive(Debug)]
pub struct Outcome {
    /// Standard output.
    pub output: String,
    /// Standard error.
    pub errors: String,
    /// From start to exit.
    pub elapsed: Duration,
    /// Most memory that was ever resident (VmHWM) in KiB; `None` if it was never looked up.
    pub resident: Option<u64>,
    /// What its threads had done at the last look; nothing if they were not looked up.
    pub parts: Parts,
}

impl Launch<'_> {
    /// Runs a workload and parses its lines.
    ///
    /// # Errors
    /// If it fails, hangs, or prints something else.
    pub fn run_workload(&self, workload: &Workload, warmup: u32, length: impl Into<Length>) -> Result<Ran> {
        let length = length.into();
        let (option, number) = match length {
            Length::Iterations(iterations) => ("--iterations", iterations),
            Length::Seconds(seconds) => ("--seconds", seconds),
        };
        let mut arguments = workload.arguments.clone();
        for (option, value) in [("--warmup", warmup), (option, number)] {
            arguments.push(option.into());
            arguments.push(value.to_string().into());
        }
        let outcome = self.run(&workload.name, &arguments)?;
        let parsed = lines::parse_iterations(&outcome.output)?;
        let measured = parsed.iter().filter(|i| i.number >= 0);
        let complete = match length {
            Length::Iterations(iterations) => measured.count() == iterations as usize,
            Length::Seconds(seconds) => {
                measured.map(|i| i.cpu_nanos).sum::<u64>() >= u64::from(seconds) * 1_000_000_000
            }
        };
        if complete {
            Ok(Ran {
                iterations: parsed,
                outcome,
            })
        } else {
            Err(Error::Program {
                program: workload.name.clone(),
                problem: format!("ended before {option} {number}"),
            })
        }
    }

    /// The command that starts a JVM in a folder, with these arguments after the JVM's own options.
    pub fn command(&self, arguments: &[OsString], folder: &Path) -> Command {
        let mut words: Vec<OsString> = Vec::new();
        if let Some(processor) = self.processor {
            words.extend(["taskset".into(), "-c".into(), processor.to_string().into()]);
        }
        words.extend(self.launcher.iter().map(OsString::from));
        words.push(self.jdk.java().into());
        let mut command = Command::new(&words[0]);
        command
            .args(&words[1..])
            .args(self.jvm_options)
            .args(&self.agent)
            .args(arguments)
            .current_dir(folder)
            .env_remove("JAVA_TOOL_OPTIONS")
            .env_remove("JDK_JAVA_OPTIONS");
        command
    }

    /// Runs a JVM with these arguments after the JVM's own options.
    ///
    /// # Errors
    /// If it cannot be started, fails, or hangs; with the end of its standard error.
    pub fn run(&self, program: &str, arguments: &[OsString]) -> Result<Outcome> {
        let folder = tempfile::tempdir().map_err(io("create a folder in", std::env::temp_dir()))?;
        // Into files, not pipes: nobody has to run beside the JVM to read them.
        let (out, err) = (folder.path().join("out"), folder.path().join("err"));
        let mut command = self.command(arguments, folder.path());
        command
            .stdin(Stdio::null())
            .stdout(File::create(&out).map_err(io("create", &out))?)
            .stderr(File::create(&err).map_err(io("create", &err))?);
        let start = Instant::now();
        let mut child = command.spawn().map_err(io("start", self.jdk.java()))?;
        let (mut resident, mut parts) = (None, Parts::default());
        let status = loop {
            let rest = self.timeout.saturating_sub(start.elapsed());
            let status = child
                .wait_timeout(rest.min(self.look.unwrap_or(LOOK)))
                .map_err(io("wait for", self.jdk.java()))?;
            if status.is_some() || rest.is_zero() {
                break status;
            }
            resident = peak(child.id()).or(resident);
            if self.look.is_some() {
                parts.look(child.id());
            }
        };
        let elapsed = start.elapsed();
        let problem = match status {
            Some(status) if status.success() => {
                let output = std::fs::read_to_string(&out).map_err(io("read", &out))?;
                let errors = std::fs::read(&err).map_err(io("read", &err))?;
                return Ok(Outcome {
                    output,
                    errors: String::from_utf8_lossy(&errors).into_owned(),
                    elapsed,
                    resident,
                    parts,
                });
            }
            Some(status) => status.to_string(),
            None => {
                // Errors here mean that it ended in this very moment.
                let _ = child.kill();
                let _ = child.wait();
                format!("still running after {} s", self.timeout.as_secs())
            }
        };
        let errors = std::fs::read(&err).map_err(io("read", &err))?;
        let errors = String::from_utf8_lossy(&errors[errors.len().saturating_sub(2000)..]).into_owned();
        Err(Error::Program {
            program: program.to_owned(),
            problem: format!("{problem}\n{errors}"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn configurations() {
        assert_eq!(Config::parse("base").unwrap().options, None);
        assert_eq!(
            Config::parse("counters").unwrap().options.as_deref(),
            Some("probe=counters")
        );
        let own = Config::parse("ag:probe=yieldpoint,schedule=ag:64:17").unwrap();
        assert_eq!(own.name, "ag");
        assert_eq!(own.options.as_deref(), Some("probe=yieldpoint,schedule=ag:64:17"));
        assert!(Config::parse("fast").is_err());
        assert!(Config::parse(":probe=counters").is_err());
    }

    #[test]
    fn memory_of_a_process() {
        assert!(peak(std::process::id()).unwrap() > 0);
        assert_eq!(peak(u32::MAX), None);
    }

    #[test]
    fn agent_arguments() {
        let argument = |c: &str, include| {
            let config = Config::parse(c).unwrap();
            config.agent_argument(Path::new("/x/lib.so"), include, Path::new("/y/p.trodden"))
        };
        assert_eq!(argument("base", Some("a.*")), None);
        assert_eq!(
            argument("counters", Some("a.*")).unwrap(),
            "-agentpath:/x/lib.so=start,probe=counters,loglevel=error,file=/y/p.trodden,include=a.*"
        );
    }
}
