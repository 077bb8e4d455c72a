//! What killed processes left behind: found, rescued, removed.
//!
//! Every writer holds a lock (`flock`) on what it writes, which the kernel releases when the process dies, in
//! whichever container it ran. What is locked, belongs to another user, or was changed a moment ago is left
//! alone.

use std::fs::{self, File, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::system;

/// How the names of folders begin that hold the profiles of a `trodden run`.
pub const RUN_FOLDER: &str = ".trodden-run-";
/// How the names of folders begin that hold a new folder of classes until it replaces the old one (`old`).
pub const STAGING_FOLDER: &str = ".trodden-classes-";

/// How the names of folders begin that a JVM writes its answers to a session into.
pub const SESSION_FOLDER: &str = "trodden-attach-";

/// Younger leftovers may belong to a process that has not locked them yet.
const SETTLED: Duration = Duration::from_secs(5);

/// What [`clear_leftovers`] found.
#[derive(Debug, Default)]
pub struct Leftovers {
    /// Good profiles of runs that were killed: where they are now.
    pub profiles: Vec<PathBuf>,
    /// Earlier outputs that were about to be replaced: where they are.
    pub outputs: Vec<PathBuf>,
    /// How many files and folders were removed.
    pub removed: usize,
}

/// Removes what killed processes of this user left in a folder. Profiles in it are kept: they are moved to
/// `trodden-PID.trodden` if they are `good`. What cannot be read or removed stays, without an error: this is
/// housekeeping.
pub fn clear_leftovers(folder: &Path, good: impl Fn(&Path) -> bool) -> Leftovers {
    let mut found = Leftovers::default();
    let Ok(entries) = fs::read_dir(folder) else {
        return found;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(name) = name.to_str().filter(|name| name.starts_with(".trodden-")) else {
            continue;
        };
        let path = entry.path();
        let settled = fs::symlink_metadata(&path).is_ok_and(|data| is_settled(&data));
        if !settled {
            continue;
        }
        if name.ends_with(".tmp") {
            if dead_file(&path).is_ok_and(|_lock| fs::remove_file(&path).is_ok()) {
                found.removed += 1;
            }
        } else if name.starts_with(RUN_FOLDER) {
            clear_run(folder, &path, name, &good, &mut found);
        } else if name.starts_with(STAGING_FOLDER) {
            clear_staging(&path, &mut found);
        }
    }
    found
}

/// Removes the folders of sessions that were killed: those of this user, and for root those of all users, as root gives
/// such a folder to the JVM's user. Folders that a living session [holds](hold) stay. Returns how many went.
pub fn clear_sessions(folder: &Path) -> usize {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let ours = entries.filter(|entry| {
        let name = entry.file_name();
        name.as_encoded_bytes().starts_with(SESSION_FOLDER.as_bytes())
    });
    let gone = |path: &Path| {
        let settled = fs::symlink_metadata(path).is_ok_and(|data| is_settled(&data));
        // The lock lasts until the folder is gone. A link in its place is removed, and not followed.
        settled && dead_folder(path, true).is_ok_and(|_lock| fs::remove_dir_all(path).is_ok())
    };
    ours.filter(|entry| gone(&entry.path())).count()
}

fn is_settled(data: &Metadata) -> bool {
    is_older(data, SETTLED)
}

/// True for files that were not changed for that time.
pub(crate) fn is_older(data: &Metadata, time: Duration) -> bool {
    let age = data.modified().map(|time| SystemTime::now().duration_since(time));
    matches!(age, Ok(Ok(age)) if age >= time)
}

/// Opens a regular file of this user that no living process writes; the lock on it lasts while it is open.
///
/// # Errors
/// Words that say why it is no such file.
pub(super) fn dead_file(path: &Path) -> Result<File, &'static str> {
    // Only files with a single name: another name would be hidden from whoever removes this one.
    let good = |data: &Metadata| data.is_file() && system::has_one_name(data);
    dead(path, good, false, "is there and is no regular file of this user")
}

/// `of_all`: for root other users' as well.
fn dead_folder(path: &Path, of_all: bool) -> Result<File, &'static str> {
    dead(path, Metadata::is_dir, of_all, "is no folder of this user")
}

fn dead(
    path: &Path,
    good: impl Fn(&Metadata) -> bool,
    of_all: bool,
    wrong: &'static str,
) -> Result<File, &'static str> {
    let file = system::open(path).map_err(|_| wrong)?;
    let data = file.metadata().map_err(|_| wrong)?;
    let allowed = system::owner(&data) == system::user() || of_all && system::user() == 0;
    if !good(&data) || !allowed {
        return Err(wrong);
    }
    match system::lock(&file) {
        Ok(()) => Ok(file),
        Err(_) => Err("is being written by another process"),
    }
}

/// Locks a folder of ours against [`clear_leftovers`] and [`clear_sessions`] while the file is open.
///
/// # Errors
/// If it cannot be opened. A file system without locks is no error.
pub fn hold(folder: &Path) -> io::Result<File> {
    let file = system::open_folder(folder)?;
    let _ = system::lock_shared(&file);
    Ok(file)
}

fn clear_run(folder: &Path, run: &Path, name: &str, good: impl Fn(&Path) -> bool, found: &mut Leftovers) {
    let Ok(_lock) = dead_folder(run, false) else {
        return;
    };
    // `trodden run` may be dead while the program that it started still runs and writes its profile at its
    // end.
    if is_named_by_a_process(name) {
        return;
    }
    let Ok(entries) = fs::read_dir(run) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        let end = path.extension().and_then(|end| end.to_str());
        if end == Some("tmp") {
            let _ = dead_file(&path).is_ok_and(|_lock| fs::remove_file(&path).is_ok());
        } else if end == Some("trodden") && good(&path) {
            found.profiles.extend(rescue(&path, folder));
        }
    }
    // Fails if there is anything in it that we do not know; then it stays.
    if fs::remove_dir(run).is_ok() {
        found.removed += 1;
    }
}

/// Moves a profile to a name that is free.
fn rescue(profile: &Path, folder: &Path) -> Option<PathBuf> {
    let stem = profile.file_stem()?.to_str()?;
    let names = std::iter::once(format!("trodden-{stem}.trodden"))
        .chain((2..1000).map(|n| format!("trodden-{stem}-{n}.trodden")));
    for kept in names.map(|name| folder.join(name)) {
        // Unlike renaming, linking fails if the name is taken.
        match fs::hard_link(profile, &kept) {
            Ok(()) => return fs::remove_file(profile).is_ok().then_some(kept),
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
            Err(_) => return None,
        }
    }
    None
}

/// Does a living process have this text in its arguments or its environment, as a program has that was
/// started by `trodden run`, or one that this program started?
fn is_named_by_a_process(text: &str) -> bool {
    let Ok(processes) = fs::read_dir("/proc") else {
        return true;
    };
    let own = std::process::id().to_string();
    let holds = |file: PathBuf| {
        let bytes = fs::read(file).unwrap_or_default();
        bytes.windows(text.len()).any(|part| part == text.as_bytes())
    };
    processes
        .flatten()
        .filter(|entry| entry.file_name().as_encoded_bytes()[0].is_ascii_digit())
        .filter(|entry| entry.file_name().to_str() != Some(&own))
        .any(|entry| holds(entry.path().join("cmdline")) || holds(entry.path().join("environ")))
}

fn clear_staging(staging: &Path, found: &mut Leftovers) {
    let Ok(_lock) = dead_folder(staging, false) else {
        return;
    };
    let old = staging.join("old");
    if fs::symlink_metadata(&old).is_ok() {
        found.outputs.push(old);
    } else if fs::remove_dir_all(staging).is_ok() {
        found.removed += 1;
    }
}
