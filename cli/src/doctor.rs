//! `trodden doctor`: what would fail here, and why.

use std::env;
use std::fmt::Write;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use clap::Args;

use crate::agent_library;
#[cfg(unix)]
use crate::attach::protocol::AttachSocket;
#[cfg(unix)]
use crate::attach::target::Target;
use trodden_profile::options::AgentCommand;
use trodden_profile::printable_lines;

use crate::error::CliError;
use crate::instrument::{by_reason, survey};
use crate::output;

/// Checks this machine, a running JVM, or class files and jars.
#[derive(Args)]
#[command(after_help = "Exit code: 0 if nothing would fail, 1 if something would.")]
pub struct DoctorArgs {
    /// Process ids of JVMs, class files, jars. None: this machine only.
    #[arg(value_name = "PID|FILE")]
    subjects: Vec<String>,
    /// Checks only this text, as it follows the library in `-agentpath:…=`: would the agent take it?
    #[arg(long, value_name = "TEXT", conflicts_with = "subjects")]
    agent_options: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    Good,
    Warning,
    Bad,
}

struct Findings {
    lines: Vec<(Mark, String)>,
}

impl Findings {
    fn add(&mut self, mark: Mark, text: impl Into<String>) {
        self.lines.push((mark, text.into()));
    }

    fn write(&self) -> Result<(), CliError> {
        let mut out = String::new();
        let colour = output::colour(&io::stdout());
        for (mark, text) in &self.lines {
            let (word, code) = match mark {
                Mark::Good => ("good", "32"),
                Mark::Warning => ("warn", "33"),
                Mark::Bad => ("BAD ", "31"),
            };
            let text = printable_lines(text);
            // Writing to a string cannot fail.
            let _ = if colour {
                writeln!(out, "\x1b[{code}m{word}\x1b[0m  {text}")
            } else {
                writeln!(out, "{word}  {text}")
            };
        }
        output::write(None, out.as_bytes())
    }
}

fn check_options(findings: &mut Findings, text: &str) {
    match AgentCommand::parse(text) {
        Ok(_) => findings.add(Mark::Good, "the agent takes these options"),
        Err(e) => findings.add(Mark::Bad, e.to_string()),
    }
}

/// Runs `trodden doctor`.
pub fn doctor(args: &DoctorArgs) -> Result<ExitCode, CliError> {
    let mut findings = Findings { lines: Vec::new() };
    match &args.agent_options {
        Some(text) => check_options(&mut findings, text),
        None => check_machine(&mut findings),
    }
    for subject in &args.subjects {
        match subject.parse::<u32>() {
            Ok(pid) if !Path::new(subject).exists() => check_process(&mut findings, pid),
            _ => check_file(&mut findings, Path::new(subject)),
        }
    }
    findings.write()?;
    let bad = findings.lines.iter().any(|(mark, _)| *mark == Mark::Bad);
    Ok(if bad { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn check_machine(findings: &mut Findings) {
    let java = find_java();
    match &java {
        Some(java) => check_java(findings, java),
        None => findings.add(
            Mark::Bad,
            "no java: it is neither in JAVA_HOME/bin nor on the PATH",
        ),
    }
    match agent_library::find() {
        Err(error) => findings.add(Mark::Bad, error.to_string()),
        Ok(library) => {
            findings.add(Mark::Good, format!("agent library: {}", library.display()));
            if let Some(java) = &java {
                check_agent(findings, java, &library);
            }
        }
    }
    #[cfg(unix)]
    check_sockets(findings);
}

#[cfg(unix)]
fn check_sockets(findings: &mut Findings) {
    // Attaching goes through a socket in /tmp, wherever TMPDIR points to.
    match tempfile::Builder::new()
        .prefix(".trodden-doctor-")
        .tempfile_in("/tmp")
    {
        Ok(_) => findings.add(Mark::Good, "attach sockets: /tmp can be written"),
        Err(error) => findings.add(
            Mark::Warning,
            format!("attach sockets: /tmp cannot be written: {error}"),
        ),
    }
}

/// `java` of JAVA_HOME, else of the PATH.
fn find_java() -> Option<PathBuf> {
    let home = env::var_os("JAVA_HOME").map(|home| PathBuf::from(home).join("bin"));
    let path = env::var_os("PATH").unwrap_or_default();
    let directories: Vec<PathBuf> = home.into_iter().chain(env::split_paths(&path)).collect();
    directories
        .into_iter()
        .map(|directory| directory.join(format!("java{}", env::consts::EXE_SUFFIX)))
        .find(|java| java.is_file())
}

fn check_java(findings: &mut Findings, java: &Path) {
    let shown = java.display();
    let output = Command::new(java)
        .arg("-XshowSettings:properties")
        .arg("-version")
        .stdin(Stdio::null())
        .output();
    let text = match output {
        Ok(output) if output.status.success() => String::from_utf8_lossy(&output.stderr).into_owned(),
        Ok(output) => {
            let text = String::from_utf8_lossy(&output.stderr).into_owned();
            return findings.add(Mark::Bad, format!("{shown} -version failed: {}", text.trim()));
        }
        Err(error) => return findings.add(Mark::Bad, format!("{shown} cannot be started: {error}")),
    };
    let property = |name: &str| {
        text.lines().find_map(|line| {
            let (key, value) = line.split_once(" = ")?;
            (key.trim() == name).then(|| value.trim().to_owned())
        })
    };
    let version = property("java.version").unwrap_or_default();
    let vm = property("java.vm.name").unwrap_or_default();
    let line = format!("java {version} ({vm}): {shown}");
    match feature_version(&version) {
        Some(17..) if vm.contains("OpenJ9") => {
            findings.add(Mark::Bad, format!("{line}: this is not HotSpot"))
        }
        Some(17..) => findings.add(Mark::Good, line),
        _ => findings.add(Mark::Bad, format!("{line}: Trodden needs 17 or newer")),
    }
}

/// `17` of `17.0.9`, `8` of `1.8.0_392`.
fn feature_version(version: &str) -> Option<u32> {
    let mut parts = version.split(|c: char| !c.is_ascii_digit());
    match parts.next()?.parse().ok()? {
        1 => parts.next()?.parse().ok(),
        feature => Some(feature),
    }
}

fn check_agent(findings: &mut Findings, java: &Path, library: &Path) {
    let Ok(directory) = tempfile::tempdir() else {
        return findings.add(
            Mark::Warning,
            "the agent was not tried: there is no temporary directory",
        );
    };
    let file = directory.path().join("doctor.trodden");
    let agent = format!(
        "-agentpath:{}=start,quiet,include=trodden.doctor.None,file={}",
        library.display(),
        file.display()
    );
    match Command::new(java)
        .arg(agent)
        .arg("-version")
        .stdin(Stdio::null())
        .output()
    {
        Ok(output) if output.status.success() => findings.add(Mark::Good, "agent: a JVM loads it"),
        Ok(output) => {
            let text = [output.stdout, output.stderr].concat();
            let text = String::from_utf8_lossy(&text).trim().to_owned();
            findings.add(Mark::Bad, format!("agent: the JVM does not load it: {text}"));
        }
        Err(error) => findings.add(
            Mark::Bad,
            format!("agent: cannot start {}: {error}", java.display()),
        ),
    }
}

#[cfg(not(unix))]
fn check_process(findings: &mut Findings, _: u32) {
    findings.add(Mark::Bad, agent_library::only_linux());
}

#[cfg(unix)]
fn check_process(findings: &mut Findings, pid: u32) {
    let target = match Target::inspect(pid).and_then(|target| target.check().map(|()| target)) {
        Ok(target) => target,
        Err(error) => return findings.add(Mark::Bad, error.to_string()),
    };
    let version = target.java_version().unwrap_or_default();
    let feature = feature_version(&version);
    match feature {
        Some(17..) => findings.add(Mark::Good, format!("process {pid}: HotSpot, Java {version}")),
        Some(_) => findings.add(
            Mark::Bad,
            format!("process {pid}: Java {version}; Trodden needs 17 or newer"),
        ),
        None => findings.add(
            Mark::Warning,
            format!("process {pid}: HotSpot of unknown version"),
        ),
    }
    match (
        AttachSocket::at(&target.attach_socket()),
        target.check_catches_quit(),
    ) {
        (AttachSocket::Open(_), _) => {
            findings.add(Mark::Good, format!("process {pid}: its attach socket is open"));
        }
        (_, Err(error)) => findings.add(Mark::Bad, error.to_string()),
        (AttachSocket::Stale, Ok(())) => findings.add(
            Mark::Warning,
            format!(
                "process {pid}: {} is the attach socket of a killed process that had this id; attaching removes it, if you have the right to",
                target.attach_socket().display()
            ),
        ),
        (AttachSocket::Absent, Ok(())) => findings.add(
            Mark::Good,
            format!("process {pid}: opens its attach socket when asked"),
        ),
    }
    match (target.flag("EnableDynamicAgentLoading"), feature) {
        (Some(false), _) => findings.add(
            Mark::Bad,
            format!("process {pid}: runs with -XX:-EnableDynamicAgentLoading, so no agent can be attached"),
        ),
        (None, Some(21..)) => findings.add(
            Mark::Warning,
            format!("process {pid}: prints a warning when an agent is attached (-XX:+EnableDynamicAgentLoading prevents it)"),
        ),
        _ => {}
    }
    if !target.shares_root() {
        findings.add(
            Mark::Good,
            format!(
                "process {pid}: has its own file system, as in a container; the agent library is copied into it"
            ),
        );
    }
}

fn check_file(findings: &mut Findings, path: &Path) {
    let shown = path.display();
    if !fs::metadata(path).is_ok_and(|data| data.is_file()) {
        return findings.add(Mark::Bad, format!("{shown}: there is no such file or process"));
    }
    match survey(path) {
        Err(error) => findings.add(Mark::Bad, error.to_string()),
        Ok((classes, methods, skipped)) => {
            findings.add(
                Mark::Good,
                format!("{shown}: {methods} methods of {classes} classes can carry probes"),
            );
            for (reason, examples) in by_reason(&skipped) {
                let text = format!("{shown}: {reason}: {} (such as {})", examples.len(), examples[0]);
                findings.add(Mark::Warning, text);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::feature_version;

    #[test]
    fn versions() {
        assert_eq!(feature_version("17.0.9"), Some(17));
        assert_eq!(feature_version("1.8.0_392"), Some(8));
        assert_eq!(feature_version("25-ea"), Some(25));
        assert_eq!(feature_version(""), None);
    }
}
