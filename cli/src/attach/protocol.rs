//! HotSpot's dynamic attach protocol on Linux, version 1, which JDK 9 to 25 speak.
//!
//! The JVM listens on the UNIX socket `/tmp/.java_pid<pid>` of its own file system. If it does not yet, a
//! file `.attach_pid<pid>` in its current directory (or its `/tmp`) and a SIGQUIT make it. A request is the
//! protocol version, the command and exactly three arguments, each ended by a NUL; the answer is a status
//! number on a line of its own, then text, until the JVM closes the connection. `load` takes a library's
//! path, whether it is absolute, and the agent's options.

use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::target::{self, Target, TargetError};

/// Longest argument in version 1 of the protocol, in bytes.
const MAX_ARGUMENT_LENGTH: usize = 1024;

/// How long a JVM may take over loading an agent that instruments what is loaded already.
const LOAD_TIMEOUT: Duration = Duration::from_secs(300);

/// A process that is older than this has started, whatever threads it has.
const YOUNG: Duration = Duration::from_secs(30);

/// Why a command could not be sent to a JVM.
#[derive(Debug, thiserror::Error)]
pub enum AttachError {
    /// The process is none that can be attached to.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// The socket or the trigger file gave trouble.
    #[error("process {pid}: {what}: {error}")]
    Io {
        /// Process id.
        pid: u32,
        /// The action that was tried.
        what: String,
        /// The cause.
        error: io::Error,
    },
    /// The JVM did not open its socket.
    #[error(
        "process {pid}: the JVM did not open its attach socket within {seconds} s (is it stopped, or does it run with -XX:+DisableAttachMechanism?)"
    )]
    NoSocket {
        /// Process id.
        pid: u32,
        /// How long was waited.
        seconds: u64,
    },
    /// The process that listens there is not the JVM.
    #[error("process {pid}: {path} does not belong to that process's user")]
    ForeignSocket {
        /// Process id.
        pid: u32,
        /// The socket.
        path: String,
    },
    /// A process that had this id before has left its socket, and it is not ours to remove.
    #[error(
        "process {pid}: {path} is not this JVM's but another user's, whose process had that id; only its owner or root can remove it, and until then no tool can attach"
    )]
    StaleSocket {
        /// Process id.
        pid: u32,
        /// The socket.
        path: String,
    },
    /// An argument does not fit the protocol.
    #[error(
        "the {what} is {length} bytes long, the attach protocol takes {MAX_ARGUMENT_LENGTH}; put options into a file and use --config FILE"
    )]
    TooLong {
        /// Path or options.
        what: &'static str,
        /// Its length.
        length: usize,
    },
    /// An argument holds a NUL, or is not UTF-8.
    #[error("the {what} cannot be sent: it holds a NUL or is not UTF-8")]
    BadText {
        /// Path or options.
        what: &'static str,
    },
    /// The JVM answered, and refused.
    #[error("process {pid}: the JVM could not load the agent: {message}")]
    Refused {
        /// Process id.
        pid: u32,
        /// The JVM's own words.
        message: String,
    },
}

/// The file at the place of a JVM's attach socket.
#[derive(Debug)]
pub enum AttachSocket {
    /// No socket: the JVM opens one when it is asked to.
    Absent,
    /// A socket that something listens at, with the connection to it, or that we may not connect to.
    Open(io::Result<UnixStream>),
    /// A socket that nothing listens at: a process that had the same id was killed.
    Stale,
}

impl AttachSocket {
    /// Looks there. A JVM takes a connection that ends without a request for nothing.
    pub fn at(path: &Path) -> Self {
        if !is_socket(path) {
            return AttachSocket::Absent;
        }
        match UnixStream::connect(path) {
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => AttachSocket::Stale,
            Err(error) if error.kind() == io::ErrorKind::NotFound => AttachSocket::Absent,
            connection => AttachSocket::Open(connection),
        }
    }
}

/// A JVM that can be attached to.
#[derive(Debug)]
pub struct Jvm {
    target: Target,
}

impl Jvm {
    /// Looks at a process. It is not disturbed.
    ///
    /// # Errors
    /// If there is none, it is no HotSpot JVM, or it is out of reach.
    pub fn new(pid: u32) -> Result<Self, AttachError> {
        let target = Target::inspect(pid)?;
        target.check()?;
        Ok(Jvm { target })
    }

    /// Process id, as we see it.
    pub fn pid(&self) -> u32 {
        self.target.pid
    }

    /// Loads an agent library and gives it its options (`Agent_OnAttach`).
    ///
    /// # Errors
    /// If the JVM cannot be reached in time, or says that the agent could not be loaded or refused.
    pub fn load_agent(&self, library: &Path, options: &str, timeout: Duration) -> Result<(), AttachError> {
        let library = library
            .to_str()
            .ok_or(AttachError::BadText { what: "agent's path" })?;
        for (what, text) in [("agent's path", library), ("agent's option string", options)] {
            if text.len() > MAX_ARGUMENT_LENGTH {
                return Err(AttachError::TooLong {
                    what,
                    length: text.len(),
                });
            }
            if text.contains('\0') {
                return Err(AttachError::BadText { what });
            }
        }
        let answer = self.request(&["load", library, "true", options], timeout)?;
        judge(&answer).map_err(|message| AttachError::Refused {
            pid: self.target.pid,
            message,
        })
    }

    /// Sends a command with its three arguments, and returns the whole answer.
    fn request(&self, words: &[&str; 4], timeout: Duration) -> Result<String, AttachError> {
        let mut stream = self.connect(timeout)?;
        let io = |what: &'static str| move |error| self.io(what, error);
        stream
            .set_read_timeout(Some(LOAD_TIMEOUT))
            .map_err(io("cannot set a timeout"))?;
        let mut request = b"1\0".to_vec();
        for word in words {
            request.extend_from_slice(word.as_bytes());
            request.push(0);
        }
        stream
            .write_all(&request)
            .map_err(io("cannot write to the attach socket"))?;
        let mut answer = Vec::new();
        stream
            .read_to_end(&mut answer)
            .map_err(io("no answer on the attach socket"))?;
        Ok(String::from_utf8_lossy(&answer).into_owned())
    }

    fn connect(&self, timeout: Duration) -> Result<UnixStream, AttachError> {
        let path = self.target.attach_socket();
        // Process ids come again, and a JVM that is killed leaves its socket. The next JVM with that id
        // removes it when it starts, but not where it is another user's.
        let connection = match AttachSocket::at(&path) {
            AttachSocket::Open(connection) => connection,
            AttachSocket::Absent => self.wake(&path, timeout)?,
            AttachSocket::Stale => {
                self.remove_stale(&path)?;
                self.wake(&path, timeout)?
            }
        };
        // Anyone may make a file in /tmp: talk only to what the JVM's user, or root, made.
        let owner = fs::symlink_metadata(&path)
            .map_err(|e| self.io("cannot look at the attach socket", e))?
            .uid();
        if owner != self.target.uid && owner != 0 {
            return Err(AttachError::ForeignSocket {
                pid: self.target.pid,
                path: path.display().to_string(),
            });
        }
        connection.map_err(|error| match error.kind() {
            // HotSpot gives its socket to the user that the JVM runs as.
            io::ErrorKind::PermissionDenied if owner != self.target.uid => self.stale(&path),
            _ => self.io("cannot connect to the attach socket", error),
        })
    }

    /// Removes a socket that nothing listens at.
    fn remove_stale(&self, path: &Path) -> Result<(), AttachError> {
        match fs::remove_file(path) {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Err(self.stale(path)),
            Err(error) => Err(self.io("cannot remove the attach socket of another process", error)),
        }
    }

    fn stale(&self, path: &Path) -> AttachError {
        AttachError::StaleSocket {
            pid: self.target.pid,
            path: path.display().to_string(),
        }
    }

    /// Makes the JVM open its socket, and connects to that.
    fn wake(&self, socket: &Path, timeout: Duration) -> Result<io::Result<UnixStream>, AttachError> {
        // A JVM that does not catch SIGQUIT yet, or is none, would die of it.
        self.target.check_catches_quit()?;
        self.await_start(timeout / 2);
        let _trigger = self.trigger()?;
        let pid = i32::try_from(self.target.pid).ok().and_then(Pid::from_raw);
        let pid = pid.ok_or(TargetError::NoProcess { pid: self.target.pid })?;
        kill_process(pid, Signal::QUIT).map_err(|e| self.io("cannot send SIGQUIT", e.into()))?;
        let start = Instant::now();
        let mut pause = Duration::from_millis(5);
        while !is_socket(socket) {
            if target::birth(self.target.pid).is_none() {
                return Err(TargetError::NoProcess { pid: self.target.pid }.into());
            }
            if start.elapsed() > timeout {
                return Err(AttachError::NoSocket {
                    pid: self.target.pid,
                    seconds: timeout.as_secs(),
                });
            }
            thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(200));
        }
        Ok(UnixStream::connect(socket))
    }

    /// Waits until a JVM that is just starting has started. It catches SIGQUIT some milliseconds before that.
    /// Asked in between, HotSpot may remove the socket that it has just made (it takes it for one that
    /// another process has left), or print a list of its threads to the program's standard output.
    fn await_start(&self, patience: Duration) {
        let start = Instant::now();
        while target::age(self.target.pid).is_some_and(|age| age < YOUNG)
            && !target::has_started(self.target.pid)
            && start.elapsed() < patience
        {
            thread::sleep(Duration::from_millis(5));
        }
    }

    fn trigger(&self) -> Result<Trigger, AttachError> {
        let name = format!(".attach_pid{}", self.target.inner_pid);
        let cwd = PathBuf::from(format!("/proc/{}/cwd", self.target.pid));
        let create = |path: PathBuf| match OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)
        {
            Ok(_) => Ok(Trigger { path }),
            // Left over by another attempt; it serves as well.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(Trigger { path }),
            Err(error) => Err(error),
        };
        create(cwd.join(&name))
            .or_else(|_| create(self.target.tmp().join(&name)))
            .map_err(|e| self.io("cannot make the file that triggers the attach socket", e))
    }

    fn io(&self, what: &str, error: io::Error) -> AttachError {
        AttachError::Io {
            pid: self.target.pid,
            what: what.to_owned(),
            error,
        }
    }
}

/// The trigger file, gone when dropped.
struct Trigger {
    path: PathBuf,
}

impl Drop for Trigger {
    fn drop(&mut self) {
        // The JVM may have removed it, or be gone with its directory.
        let _ = fs::remove_file(&self.path);
    }
}

fn is_socket(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|data| data.file_type().is_socket())
}

/// Fails if `load` did not succeed. The status line is about the request, a line `return code: N` about the
/// agent.
fn judge(answer: &str) -> Result<(), String> {
    let (status, text) = answer.split_once('\n').unwrap_or((answer, ""));
    let text = text.trim();
    match status.trim().parse::<i32>() {
        Ok(0) => {}
        Ok(code) if text.is_empty() => return Err(format!("error {code}")),
        Ok(_) => return Err(text.to_owned()),
        Err(_) if answer.is_empty() => return Err("it closed the connection without an answer".to_owned()),
        Err(_) => return Err(format!("unexpected answer '{}'", answer.trim())),
    }
    match text.rsplit_once("return code:").map(|(_, code)| code.trim()) {
        Some("0") => Ok(()),
        Some(code) => Err(format!("the agent refused (return code {code})")),
        None if text.is_empty() => Ok(()),
        None => Err(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_judged() {
        assert_eq!(judge("0\nreturn code: 0\n"), Ok(()));
        assert_eq!(judge("0\n"), Ok(()));
        assert_eq!(
            judge("0\nreturn code: -1\n"),
            Err("the agent refused (return code -1)".to_owned())
        );
        assert_eq!(
            judge("0\n/x.so was not loaded.\nno such file\n"),
            Err("/x.so was not loaded.\nno such file".to_owned())
        );
        assert_eq!(judge("101\n"), Err("error 101".to_owned()));
        assert_eq!(
            judge("1\nDynamic agent loading is not enabled.\n").unwrap_err(),
            "Dynamic agent loading is not enabled."
        );
        assert!(judge("").unwrap_err().contains("without an answer"));
        assert!(judge("hello").unwrap_err().contains("unexpected"));
    }
}
