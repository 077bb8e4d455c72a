//! The file system as a process sees it. In a container, behind another root, or as another user it may not
//! find our agent library, nor the folder that its answers are to go into: then both are in its own `/tmp`,
//! which is reached through `/proc/PID/root`.

use std::env;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, chown, fchown};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, OFlags, flock};
use tempfile::TempDir;
use trodden_profile::output::{SESSION_FOLDER, clear_sessions, hold};

use super::target::{Target, TargetError};
use crate::agent_library::{self, AGENT_FILE, is_noexec};
use crate::error::CliError;

/// Folders of a process that may take what is there for a moment.
const PLACES: [&str; 3] = ["/tmp", "/var/tmp", "/dev/shm"];
/// Pause between two looks at a lock.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// A folder for what the JVM writes to us. Only its user may look inside.
pub struct Scratch(Made);

enum Made {
    /// In our temporary folder, with the lock that says that we live.
    Ours { folder: TempDir, _lock: File },
    /// In one of the process's.
    Theirs(Folder),
}

impl Scratch {
    /// Makes it.
    ///
    /// # Errors
    /// If there is no place for it.
    pub fn new(pid: u32) -> Result<Self, CliError> {
        clear_sessions(&env::temp_dir());
        let failed = |e: io::Error| CliError::Failed(format!("cannot make a temporary directory: {e}"));
        let ours = tempfile::Builder::new()
            .prefix(SESSION_FOLDER)
            .permissions(Permissions::from_mode(0o700))
            .tempdir()
            .map_err(failed)?;
        let lock = hold(ours.path()).map_err(failed)?;
        let Ok(target) = Target::inspect(pid) else {
            // The attach fails as well, with a better message.
            return Ok(Scratch(Made::Ours {
                folder: ours,
                _lock: lock,
            }));
        };
        if !target.finds(ours.path()) {
            let folder = Folder::make(&target, SESSION_FOLDER, false)?;
            return Ok(Scratch(Made::Theirs(folder)));
        }
        let own = fs::metadata(ours.path()).map_err(|e| CliError::file(ours.path(), e))?;
        if own.uid() != target.uid {
            chown(ours.path(), Some(target.uid), None).map_err(|e| CliError::file(ours.path(), e))?;
        }
        Ok(Scratch(Made::Ours {
            folder: ours,
            _lock: lock,
        }))
    }

    /// A file in it, by a name that is good for us, also when the process is gone.
    pub fn here(&self, name: &str) -> PathBuf {
        match &self.0 {
            Made::Ours { folder, .. } => folder.path().join(name),
            Made::Theirs(folder) => folder.here().join(name),
        }
    }

    /// The same file, by the name that is good for the process.
    pub fn there(&self, name: &str) -> PathBuf {
        match &self.0 {
            Made::Ours { folder, .. } => folder.path().join(name),
            Made::Theirs(folder) => folder.there.join(name),
        }
    }
}

/// The agent library, where a JVM finds it. A copy is gone when this is dropped: a JVM that has loaded it
/// keeps it, and knows it by its name.
pub struct Library {
    /// Its path, as the JVM sees it.
    pub path: PathBuf,
    _copy: Option<Folder>,
}

impl Library {
    /// The one that the JVM has loaded already, else ours, else a copy of ours.
    ///
    /// # Errors
    /// If there is none, or no place for a copy.
    pub fn place(target: &Target) -> Result<Self, CliError> {
        // Under another name the JVM would load it once more.
        if let Some(path) = &target.agent {
            return Ok(Library {
                path: path.clone(),
                _copy: None,
            });
        }
        let own = agent_library::find()?;
        if target.finds(&own) && !is_noexec(&target.outside(&own)) {
            return Ok(Library {
                path: own,
                _copy: None,
            });
        }
        let folder = Folder::make(target, "trodden-agent-", true)?;
        let copy = folder.here().join(AGENT_FILE);
        let copied = fs::copy(&own, &copy)
            .and_then(|_| fs::set_permissions(&copy, Permissions::from_mode(0o644)))
            .and_then(|()| folder.own.set_permissions(Permissions::from_mode(0o755)));
        copied.map_err(|e| CliError::file(&folder.there.join(AGENT_FILE), e))?;
        Ok(Library {
            path: folder.there.join(AGENT_FILE),
            _copy: Some(folder),
        })
    }
}

/// A folder in the file system of a process, reached through open files: it is there for us as long as we
/// want it, even when the process and its file systems are gone. Removed when dropped.
struct Folder {
    own: File,
    parent: File,
    name: PathBuf,
    there: PathBuf,
}

impl Folder {
    /// Makes a folder that is the process's user's, or, for code, ours.
    fn make(target: &Target, prefix: &str, code: bool) -> Result<Self, CliError> {
        let mut tried = String::new();
        for place in PLACES {
            match Folder::make_in(target, Path::new(place), prefix, code) {
                Ok(folder) => return Ok(folder),
                Err(reason) => tried += &format!("\n  {place}: {reason}"),
            }
        }
        let what = if code {
            "cannot see the agent library, and there is no place to copy it to"
        } else {
            "cannot see our temporary folder, and there is no place for answers"
        };
        Err(CliError::Failed(format!(
            "process {} {what}; tried in its own file system:{tried}",
            target.pid
        )))
    }

    fn make_in(target: &Target, place: &Path, prefix: &str, code: bool) -> Result<Self, String> {
        let outside = target.outside(place);
        if code && is_noexec(&outside) {
            return Err("its file system is mounted noexec".to_owned());
        }
        let make = || -> io::Result<Self> {
            let parent = open_folder(&outside)?;
            clear_sessions(&below(&parent));
            let made = tempfile::Builder::new()
                .prefix(prefix)
                .permissions(Permissions::from_mode(0o700))
                .tempdir_in(below(&parent))?;
            let own = open_folder(made.path())?;
            // A file system without locks is no error.
            let _ = flock(&own, FlockOperation::NonBlockingLockShared);
            if !code && own.metadata()?.uid() != target.uid {
                fchown(&own, Some(target.uid), None)?;
            }
            let name = made.keep().file_name().map(PathBuf::from).unwrap_or_default();
            Ok(Folder {
                there: place.join(&name),
                own,
                parent,
                name,
            })
        };
        make().map_err(|e| e.to_string())
    }

    /// Its name for us.
    fn here(&self) -> PathBuf {
        below(&self.own)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // The file system may be full, read-only or on its way out.
        let _ = fs::remove_dir_all(below(&self.parent).join(&self.name));
    }
}

/// The path of an open folder, wherever it is mounted.
fn below(folder: &File) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", folder.as_raw_fd()))
}

/// Opens a folder; a link would lead astray, since the file system is that of the process.
fn open_folder(path: &Path) -> io::Result<File> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW;
    OpenOptions::new()
        .read(true)
        .custom_flags(flags.bits() as i32)
        .open(path)
}

/// Keeps others from loading the agent into the same JVM, perhaps from another place, until one of us has.
/// Not for longer than `patience`: then the library is in, or the JVM says what it waits for.
pub fn alone(pid: u32, patience: Duration) -> Result<(Option<File>, Target), TargetError> {
    let start = Instant::now();
    loop {
        let target = Target::inspect(pid)?;
        let folder = open_folder(&target.tmp()).ok();
        let Some(folder) = folder.filter(|_| target.agent.is_none()) else {
            return Ok((None, target));
        };
        match flock(&folder, FlockOperation::NonBlockingLockExclusive) {
            // Another one may have loaded it since the look.
            Ok(()) => return Ok((Some(folder), Target::inspect(pid)?)),
            Err(rustix::io::Errno::WOULDBLOCK) if start.elapsed() < patience => thread::sleep(POLL_INTERVAL),
            Err(_) => return Ok((None, target)),
        }
    }
}
