//! What `/proc` tells about a process that is to be attached to. Looking does not disturb it.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};

use crate::agent_library::AGENT_FILE;
use crate::error::CliError;

/// Number of SIGQUIT on Linux.
const SIGQUIT: u32 = 3;

/// Why a process cannot be attached to.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TargetError {
    /// There is no such process.
    #[error("there is no process {pid}")]
    NoProcess {
        /// Process id.
        pid: u32,
    },
    /// It belongs to someone else.
    #[error("process {pid} belongs to user id {owner}; run trodden as that user, or as root")]
    OtherUser {
        /// Process id.
        pid: u32,
        /// Its user.
        owner: u32,
    },
    /// `/proc` refuses to tell.
    #[error("cannot read {path}: {reason}")]
    Unreadable {
        /// The file.
        path: String,
        /// Why.
        reason: String,
    },
    /// No libjvm.so is mapped.
    #[error("process {pid} is no HotSpot JVM (it has no libjvm.so mapped): {command}")]
    NotJvm {
        /// Process id.
        pid: u32,
        /// Its command line.
        command: String,
    },
    /// Attaching is switched off.
    #[error("process {pid} runs with -XX:+DisableAttachMechanism; start it without, or under `trodden run`")]
    Disabled {
        /// Process id.
        pid: u32,
    },
    /// SIGQUIT would kill it.
    #[error(
        "process {pid} does not catch SIGQUIT (it runs with -Xrs, or is just starting), so it cannot be asked to open its attach socket"
    )]
    NoQuitHandler {
        /// Process id.
        pid: u32,
    },
}

/// A process, as far as attaching goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Process id as we see it.
    pub pid: u32,
    /// Process id as the process itself sees it: another inside a container.
    pub inner_pid: u32,
    /// Effective user id.
    pub uid: u32,
    /// Command line.
    pub command: Vec<String>,
    /// The mapped libjvm.so, as the process sees it.
    pub libjvm: Option<PathBuf>,
    /// Options of the JVM from its environment and command line, those that can be seen.
    pub jvm_options: Vec<String>,
    /// Does it catch SIGQUIT?
    pub catches_quit: bool,
    /// Is Trodden's agent loaded?
    pub has_agent: bool,
}

impl Target {
    /// Looks at a process.
    ///
    /// # Errors
    /// If there is no such process, or it is another user's.
    pub fn inspect(pid: u32) -> Result<Self, TargetError> {
        let root = PathBuf::from(format!("/proc/{pid}"));
        let status = read(&root.join("status")).map_err(|error| match error {
            TargetError::Unreadable { .. } if !root.exists() => TargetError::NoProcess { pid },
            other => other,
        })?;
        let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name));
        let last_number = |text: &str| text.split_whitespace().last().and_then(|n| n.parse().ok());
        let uid = field("Uid:")
            .and_then(|ids| ids.split_whitespace().nth(1)?.parse().ok())
            .unwrap_or(u32::MAX);
        let caught = field("SigCgt:")
            .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
            .unwrap_or(0);
        let own = rustix::process::geteuid().as_raw();
        if own != 0 && own != uid {
            return Err(TargetError::OtherUser { pid, owner: uid });
        }
        let words = |text: &str| {
            text.split('\0')
                .filter(|w| !w.is_empty())
                .map(str::to_owned)
                .collect()
        };
        let command: Vec<String> = words(&read(&root.join("cmdline"))?);
        let environment: Vec<String> = words(&read(&root.join("environ")).unwrap_or_default());
        let from_environment = environment
            .iter()
            .filter_map(|entry| entry.split_once('='))
            .filter(|(name, _)| matches!(*name, "JAVA_TOOL_OPTIONS" | "JDK_JAVA_OPTIONS" | "_JAVA_OPTIONS"))
            .flat_map(|(_, value)| value.split_whitespace());
        let jvm_options = from_environment
            .map(str::to_owned)
            .chain(command.iter().skip(1).cloned())
            .collect();
        let maps = read(&root.join("maps"))?;
        let mut mapped = maps
            .lines()
            .filter_map(|line| line.find('/').map(|at| &line[at..]));
        let agent = format!("/{AGENT_FILE}");
        let has_agent = mapped.clone().any(|path| path.ends_with(&agent));
        let libjvm = mapped
            .find(|path| path.ends_with("/libjvm.so"))
            .map(PathBuf::from);
        Ok(Target {
            pid,
            inner_pid: field("NSpid:").and_then(last_number).unwrap_or(pid),
            uid,
            command,
            libjvm,
            jvm_options,
            catches_quit: caught & (1 << (SIGQUIT - 1)) != 0,
            has_agent,
        })
    }

    /// Can it be attached to, as far as can be seen?
    ///
    /// # Errors
    /// The first reason why not.
    pub fn check(&self) -> Result<(), TargetError> {
        if self.libjvm.is_none() {
            return Err(TargetError::NotJvm {
                pid: self.pid,
                command: self.command.join(" "),
            });
        }
        if self.flag("DisableAttachMechanism") == Some(true) {
            return Err(TargetError::Disabled { pid: self.pid });
        }
        Ok(())
    }

    /// Does it survive a SIGQUIT?
    ///
    /// # Errors
    /// If not.
    pub fn check_catches_quit(&self) -> Result<(), TargetError> {
        match self.catches_quit {
            true => Ok(()),
            false => Err(TargetError::NoQuitHandler { pid: self.pid }),
        }
    }

    /// A boolean `-XX` flag, if it is set where it can be seen.
    pub fn flag(&self, name: &str) -> Option<bool> {
        self.jvm_options.iter().rev().find_map(|option| {
            let option = option.strip_prefix("-XX:")?;
            match option.strip_prefix(['+', '-'])? == name {
                true => Some(option.starts_with('+')),
                false => None,
            }
        })
    }

    /// The process's `/tmp`, seen from here.
    pub fn tmp(&self) -> PathBuf {
        PathBuf::from(format!("/proc/{}/root/tmp", self.pid))
    }

    /// Facts of the JDK that the process runs: its `release` file.
    pub fn release(&self) -> Option<String> {
        // JAVA_HOME/lib/server/libjvm.so
        let home = self.libjvm.as_deref()?.ancestors().nth(3)?;
        let inside = Path::new("/proc").join(self.pid.to_string()).join("root");
        fs::read_to_string(inside.join(home.strip_prefix("/").ok()?).join("release")).ok()
    }
}

fn read(path: &Path) -> Result<String, TargetError> {
    let bytes = fs::read(path).map_err(|error: io::Error| TargetError::Unreadable {
        path: path.display().to_string(),
        reason: error.to_string(),
    })?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// When a process was started, in ticks since the system was; `None` if it is gone, or a zombie. A process
/// id alone may have become another process's.
pub fn birth(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name, in parentheses, may hold anything.
    let mut fields = stat[stat.rfind(')')? + 1..].split_whitespace();
    let state = fields.next()?;
    fields
        .nth(18)?
        .parse()
        .ok()
        .filter(|_| !matches!(state, "Z" | "X"))
}

/// Lets a process's user write into a directory of ours, and nobody else.
pub fn let_in(directory: &Path, pid: u32) -> Result<(), CliError> {
    let Ok(target) = Target::inspect(pid) else {
        // Whoever attaches finds out, and says it better.
        return Ok(());
    };
    let own = fs::metadata(directory)
        .map_err(|e| CliError::file(directory, e))?
        .uid();
    if own != target.uid {
        chown(directory, Some(target.uid), None).map_err(|e| CliError::file(directory, e))?;
        fs::set_permissions(directory, Permissions::from_mode(0o700))
            .map_err(|e| CliError::file(directory, e))?;
    }
    Ok(())
}
