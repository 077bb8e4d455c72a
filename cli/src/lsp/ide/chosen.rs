//! The profile that is shown: files that are named, or the newest one in the folders.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use trodden_profile::Profile;

use super::Settings;
use crate::error::CliError;
use crate::merge::load_merged;

/// Least time between two searches for a newer profile; and how many times as long as one took.
const SEARCH_EVERY: Duration = Duration::from_secs(3);
const SEARCH_PART: u32 = 20;

/// When a file was written, and its length; none if it is not there.
type Stamp = Option<(SystemTime, u64)>;

/// The files of a profile, with their stamps when they were read.
#[derive(Debug)]
pub struct Chosen {
    files: Vec<(PathBuf, Stamp)>,
    /// True if no file was named.
    newest: bool,
    searched: RefCell<(Instant, Duration)>,
}

impl Chosen {
    /// The files to read now.
    pub fn new(settings: &Settings) -> Self {
        let newest = settings.files.is_empty();
        let begin = Instant::now();
        let files = if newest {
            newest_of(settings)
        } else {
            settings.files.clone()
        };
        let took = begin.elapsed();
        let stamped = files.into_iter().map(|file| {
            let stamp = stamp(&file);
            (file, stamp)
        });
        Chosen {
            files: stamped.collect(),
            newest,
            searched: RefCell::new((Instant::now(), took)),
        }
    }

    /// True if these are the files to read still, and none was written again.
    pub fn is_current(&self, settings: &Settings) -> bool {
        if self.files.iter().any(|(file, before)| stamp(file) != *before) {
            return false;
        }
        let (last, took) = *self.searched.borrow();
        if !self.newest || last.elapsed() < SEARCH_EVERY.max(took * SEARCH_PART) {
            return true;
        }
        let begin = Instant::now();
        let newest = newest_of(settings);
        *self.searched.borrow_mut() = (Instant::now(), begin.elapsed());
        newest.iter().eq(self.files.iter().map(|(file, _)| file))
    }

    /// Reads the profile; none if there is no file.
    pub fn load(&self) -> Result<Option<Profile>, CliError> {
        if self.files.is_empty() {
            return Ok(None);
        }
        let files: Vec<PathBuf> = self.files.iter().map(|(file, _)| file.clone()).collect();
        load_merged(&files).map(|profile| Some(profile.into_printable()))
    }

    /// The name of the first file; of several with how many more.
    pub fn name(&self) -> String {
        let name = |file: &Path| {
            file.file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned()
        };
        match self.files.as_slice() {
            [] => String::new(),
            [(one, _)] => name(one),
            [(first, _), rest @ ..] => format!("{} and {} more", name(first), rest.len()),
        }
    }

    /// When the first file was written.
    pub fn written(&self) -> Option<SystemTime> {
        self.files
            .iter()
            .find_map(|(_, stamp)| stamp.map(|(written, _)| written))
    }
}

fn newest_of(settings: &Settings) -> Vec<PathBuf> {
    let found = settings.folders.profiles().into_iter().next();
    found.into_iter().map(|found| found.path).collect()
}

fn stamp(file: &Path) -> Stamp {
    let about = file.metadata().ok()?;
    Some((about.modified().ok()?, about.len()))
}
