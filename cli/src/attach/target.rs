//! The facts from `/proc` about a process that is to be attached to. Looking does not disturb it.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::agent_library::AGENT_FILE;

/// Number of SIGQUIT on Linux.
const SIGQUIT: u32 = 3;

/// The name, as far as Linux keeps it, of the thread that HotSpot starts when all else in it runs.
const LAST_THREAD: &str = "Notification Th";

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
    #[error("process {pid} belongs to {}; run trodden as that user, or as root", user(*owner))]
    OtherUser {
        /// Process id.
        pid: u32,
        /// Its user.
        owner: u32,
    },
    /// `/proc` cannot be read.
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
    /// Its groups, the effective one first.
    pub groups: Vec<u32>,
    /// Command line.
    pub command: Vec<String>,
    /// The mapped libjvm.so, as the process sees it.
    pub libjvm: Option<PathBuf>,
    /// Options of the JVM from its environment and command line, those that can be seen.
    pub jvm_options: Vec<String>,
    /// True if it catches SIGQUIT.
    pub catches_quit: bool,
    /// Trodden's agent, if it is loaded: the path that the process knows it by.
    pub agent: Option<PathBuf>,
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
        let group = field("Gid:").and_then(|ids| ids.split_whitespace().nth(1));
        let groups = field("Groups:").into_iter().flat_map(str::split_whitespace);
        let groups = group.into_iter().chain(groups).filter_map(|id| id.parse().ok());
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
        // The names are ours; behind another root (chroot) the process has shorter ones.
        let other_root = fs::read_link(root.join("root")).unwrap_or_else(|_| PathBuf::from("/"));
        let mapped = |file: &str| {
            let paths = maps
                .lines()
                .filter_map(|line| line.find('/').map(|at| &line[at..]))
                .map(|path| Path::new(path.strip_suffix(" (deleted)").unwrap_or(path)));
            let mut wanted = paths.filter(|path| path.ends_with(file));
            let path = wanted.next()?;
            let inside = path.strip_prefix(&other_root).unwrap_or(path);
            Some(Path::new("/").join(inside))
        };
        Ok(Target {
            pid,
            inner_pid: field("NSpid:").and_then(last_number).unwrap_or(pid),
            uid,
            groups: groups.collect(),
            command,
            libjvm: mapped("libjvm.so"),
            jvm_options,
            catches_quit: caught & (1 << (SIGQUIT - 1)) != 0,
            agent: mapped(AGENT_FILE),
        })
    }

    /// Checks that it can be attached to, as far as can be seen.
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

    /// Checks that it survives a SIGQUIT.
    ///
    /// # Errors
    /// If not.
    pub fn check_catches_quit(&self) -> Result<(), TargetError> {
        if self.catches_quit {
            Ok(())
        } else {
            Err(TargetError::NoQuitHandler { pid: self.pid })
        }
    }

    /// A boolean `-XX` flag, if it is set where it can be seen.
    pub fn flag(&self, name: &str) -> Option<bool> {
        self.jvm_options.iter().rev().find_map(|option| {
            let option = option.strip_prefix("-XX:")?;
            if option.strip_prefix(['+', '-'])? == name {
                Some(option.starts_with('+'))
            } else {
                None
            }
        })
    }

    /// The process's `/tmp`, seen from here.
    pub fn tmp(&self) -> PathBuf {
        self.outside(Path::new("/tmp"))
    }

    /// Where the JVM's attach socket is, or will be, seen from here.
    pub fn attach_socket(&self) -> PathBuf {
        self.tmp().join(format!(".java_pid{}", self.inner_pid))
    }

    /// An absolute path of the process's, seen from here.
    pub fn outside(&self, path: &Path) -> PathBuf {
        let root = Path::new("/proc").join(self.pid.to_string()).join("root");
        root.join(path.strip_prefix("/").unwrap_or(path))
    }

    /// True if it has the same root and the same mounts as we have.
    pub fn shares_root(&self) -> bool {
        let of = |process: &str| {
            let root = fs::metadata(format!("/proc/{process}/root")).map(|data| (data.dev(), data.ino()));
            let mounts = fs::read_link(format!("/proc/{process}/ns/mnt"));
            root.and_then(|root| Ok((root, mounts?))).ok()
        };
        of("self") == of(&self.pid.to_string())
    }

    /// True if this absolute path of ours is the same file for the process, and its user may read it.
    pub fn finds(&self, ours: &Path) -> bool {
        let Ok(ours) = ours.canonicalize() else {
            return false;
        };
        let same = match (fs::metadata(&ours), fs::metadata(self.outside(&ours))) {
            (Ok(ours), Ok(theirs)) => (ours.dev(), ours.ino()) == (theirs.dev(), theirs.ino()),
            // We may not look through its eyes, so there is nothing that we could put before them.
            (_, Err(error)) if error.kind() == io::ErrorKind::PermissionDenied => true,
            _ => false,
        };
        // A folder of ours will be handed over.
        let mut above = ours.ancestors().skip(usize::from(ours.is_dir()));
        same && (self.uid == rustix::process::geteuid().as_raw() || above.all(|path| self.may_read(path)))
    }

    /// True if its user may read a file, or go through a folder, by its permissions.
    fn may_read(&self, path: &Path) -> bool {
        let Ok(data) = fs::metadata(path) else {
            return false;
        };
        let wanted = if data.is_dir() { 0o1 } else { 0o4 };
        let shift = match () {
            () if data.uid() == self.uid => 6,
            () if self.groups.contains(&data.gid()) => 3,
            () => 0,
        };
        self.uid == 0 || (data.mode() >> shift) & wanted != 0
    }

    /// Facts of the JDK that the process runs: its `release` file.
    pub fn release(&self) -> Option<String> {
        // JAVA_HOME/lib/server/libjvm.so
        let home = self.libjvm.as_deref()?.ancestors().nth(3)?;
        fs::read_to_string(self.outside(&home.join("release"))).ok()
    }

    /// The JDK's version, such as `17.0.9`: `JAVA_VERSION="17.0.9"` in its `release` file.
    pub fn java_version(&self) -> Option<String> {
        let release = self.release()?;
        let line = release
            .lines()
            .find_map(|line| line.strip_prefix("JAVA_VERSION="))?;
        Some(line.trim_matches('"').to_owned())
    }
}

/// A user by name and number, as far as the local list of users knows the name.
pub fn user(id: u32) -> String {
    match user_name(id) {
        Some(name) => format!("user '{name}' (id {id})"),
        None => format!("user id {id}"),
    }
}

/// A user's name, if the local list of users has it.
pub fn user_name(id: u32) -> Option<String> {
    let users = fs::read_to_string("/etc/passwd").ok()?;
    let mut lines = users.lines().map(|line| line.split(':').collect::<Vec<_>>());
    let found = lines.find(|fields| fields.get(2).is_some_and(|given| given.parse() == Ok(id)));
    found.map(|fields| fields[0].to_owned())
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

/// How long ago a process was started; `None` if it is gone, or that is not known.
pub fn age(pid: u32) -> Option<Duration> {
    let uptime = fs::read_to_string("/proc/uptime").ok()?;
    let now: f64 = uptime.split_whitespace().next()?.parse().ok()?;
    let born = birth(pid)? as f64 / rustix::param::clock_ticks_per_second() as f64;
    Some(Duration::from_secs_f64((now - born).max(0.0)))
}

/// True if a JVM has come to the end of its start, as far as its threads show. (With
/// `-XX:-UseNotificationThread` they do not.)
pub fn has_started(pid: u32) -> bool {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten();
    let names = threads
        .flatten()
        .map(|thread| fs::read_to_string(thread.path().join("comm")));
    names.flatten().any(|name| name.trim_end() == LAST_THREAD)
}
