//! Where memories are kept: one file per program, bounded in size and number, replaced as a whole.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use trodden_profile::{Memory, Profile};

/// Most bytes of a memory.
const LARGEST: usize = 16 << 20;
/// Most memories in a folder.
const MOST: usize = 50;
/// How long to wait for another run that writes.
const PATIENCE: Duration = Duration::from_secs(10);
/// The ending of the names of memories.
const ENDING: &str = ".memory";

/// The file of one program.
pub struct Store {
    folder: PathBuf,
    file: PathBuf,
}

impl Store {
    /// The store of a program with that file name; `None` if there is no place for it.
    pub fn new(name: &str, here: &Path, variable: impl Fn(&str) -> Option<String>) -> Option<Self> {
        let folder = folder(here, variable)?;
        let file = folder.join(format!("{name}{ENDING}"));
        Some(Store { folder, file })
    }

    /// The stored memory; an empty one if there is none.
    ///
    /// # Errors
    /// If it cannot be read, or is damaged.
    pub fn load(&self) -> Result<Memory, String> {
        let bytes = match fs::read(&self.file) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Memory::default()),
            Err(e) => return Err(format!("{}: {e}", self.file.display())),
            Ok(bytes) => bytes,
        };
        let profile = Profile::read(&bytes).map_err(|e| format!("{}: {e}", self.file.display()))?;
        Ok(profile.memory.map_or_else(Memory::default, |memory| *memory))
    }

    /// Changes what is there, alone: two runs that end together are both remembered. What is damaged is
    /// replaced.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn change(&self, change: impl FnOnce(&mut Memory)) -> Result<(), String> {
        let failed = |e: &dyn std::fmt::Display| format!("{}: {e}", self.file.display());
        fs::create_dir_all(&self.folder).map_err(|e| failed(&e))?;
        let _lock = self.lock().map_err(|e| failed(&e))?;
        let mut memory = self.load().unwrap_or_default();
        change(&mut memory);
        let bytes = bounded(memory, LARGEST).map_err(|e| failed(&e))?;
        trodden_profile::output::write(&self.file, &bytes).map_err(|e| failed(&e))?;
        keep_latest(&self.folder, ENDING, MOST);
        Ok(())
    }

    fn lock(&self) -> io::Result<File> {
        let file = self.file.with_extension("lock");
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(file)?;
        let begin = Instant::now();
        loop {
            match trodden_profile::output::lock(&file) {
                Ok(()) => return Ok(file),
                Err(e) if begin.elapsed() > PATIENCE => return Err(e),
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {
                    std::thread::sleep(Duration::from_millis(20))
                }
                // A file system without locks: the last one to end is remembered.
                Err(_) => return Ok(file),
            }
        }
    }
}

/// Removes all files of a folder with this ending but the latest ones.
pub fn keep_latest(folder: &Path, ending: &str, kept: usize) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    let mut all: Vec<(SystemTime, PathBuf)> = entries
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().ends_with(ending))
        .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
        .collect();
    all.sort();
    let old = all.len().saturating_sub(kept);
    for (_, file) in all.into_iter().take(old) {
        // Another run may have done it.
        let _ = fs::remove_file(file.with_extension("lock"));
        let _ = fs::remove_file(file);
    }
}

/// The memory as a file of at most `largest` bytes: the methods with most of the decisions.
fn bounded(mut memory: Memory, largest: usize) -> Result<Vec<u8>, trodden_profile::WriteError> {
    loop {
        let methods = memory.methods();
        let profile = Profile {
            memory: Some(Box::new(memory)),
            ..Profile::default()
        };
        match profile.to_bytes() {
            Ok(bytes) if bytes.len() <= largest => return Ok(bytes),
            Ok(_) | Err(_) if methods > 1 => {}
            other => return other,
        }
        memory = profile.memory.map_or_else(Memory::default, |memory| *memory);
        memory.shrink(methods / 2);
    }
}

/// Where runs are kept: `.trodden/` of the current folder if that is there, else in the user's cache.
/// `None` if there is no place.
pub fn folder(here: &Path, variable: impl Fn(&str) -> Option<String>) -> Option<PathBuf> {
    let own = here.join(".trodden");
    if own.is_dir() { Some(own) } else { cache(variable) }
}

fn cache(variable: impl Fn(&str) -> Option<String>) -> Option<PathBuf> {
    let absolute = |name: &str| {
        variable(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    let cache = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")))?;
    Some(cache.join("trodden"))
}

#[cfg(test)]
mod tests {
    use trodden_profile::MemoryRun;

    use super::*;

    fn store(folder: &Path) -> Store {
        Store {
            folder: folder.to_owned(),
            file: folder.join("x.memory"),
        }
    }

    fn one_more(memory: &mut Memory) {
        let number = memory.runs.last().map_or(1, |run| run.number + 1);
        memory.runs.push(MemoryRun {
            number,
            ..MemoryRun::default()
        });
    }

    #[test]
    fn places() {
        let folder = tempfile::tempdir().unwrap();
        let here = folder.path();
        let of = |variables: &[(&str, &str)]| {
            let variable = |name: &str| {
                let found = variables.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| (*value).to_owned())
            };
            Some(Store::new("x", here, variable)?.file)
        };
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[("HOME", "/h")]), Some("/h/.cache/trodden/x.memory".into()));
        assert_eq!(
            of(&[("HOME", "/h"), ("XDG_CACHE_HOME", "/c")]),
            Some("/c/trodden/x.memory".into())
        );
        // As the specification says, relative paths are ignored.
        assert_eq!(of(&[("XDG_CACHE_HOME", "c")]), None);
        fs::create_dir(here.join(".trodden")).unwrap();
        assert_eq!(of(&[("HOME", "/h")]), Some(here.join(".trodden/x.memory")));
    }

    #[test]
    fn runs_that_end_together_are_all_remembered() {
        let folder = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| store(folder.path()).change(one_more).unwrap());
            }
        });
        assert_eq!(store(folder.path()).load().unwrap().runs.len(), 8);
    }

    #[test]
    fn what_is_damaged_is_said_and_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let store = store(folder.path());
        assert_eq!(store.load(), Ok(Memory::default()));
        fs::write(&store.file, b"nonsense").unwrap();
        assert!(store.load().unwrap_err().contains("x.memory"));
        store.change(one_more).unwrap();
        assert_eq!(store.load().unwrap().runs.len(), 1);
    }

    #[test]
    fn a_folder_holds_so_many_and_no_more() {
        let folder = tempfile::tempdir().unwrap();
        for index in 0..MOST + 3 {
            fs::write(folder.path().join(format!("old{index}.memory")), b"").unwrap();
        }
        fs::write(folder.path().join("other"), b"").unwrap();
        let store = store(folder.path());
        store.change(one_more).unwrap();
        let left = fs::read_dir(folder.path()).unwrap().flatten();
        let left = left
            .filter(|entry| entry.file_name().to_string_lossy().ends_with(ENDING))
            .count();
        assert_eq!(left, MOST);
        assert!(folder.path().join("other").exists() && store.file.exists());
    }
}
