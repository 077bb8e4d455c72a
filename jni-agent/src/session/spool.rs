//! Windows: what was counted since the last time, into a spool folder, again and again.
//!
//! A window is the difference of two readings of all counts, each of which ends one window and begins the
//! next. So windows add up to what one profile at the end would have said, whenever they could be written:
//! while there is no room, the reading that ended the last window that was written stays the beginning.

use std::path::{Path, PathBuf};
use std::thread::JoinHandle;
use std::time::SystemTime;

use trodden_profile::facts::{self, Facts};
use trodden_profile::options::ProfileOptions;
use trodden_profile::output::{self, ForeignLink, NewFile, OutputError, check_links};
use trodden_profile::spool::{
    HMAC_END, Key, KeyError, SpoolError, WindowName, build_name, bytes_in, clear, identity,
};
use trodden_profile::{MergeError, Profile, SubtractError, WriteError, subtract};

use crate::jvm::Jni;
use crate::log::{error, info, warning};
use crate::recorders::{ReadError, UnderWay};
use crate::session::agent::{Agent, Control, unix_millis};
use crate::session::dump::{DumpError, add_source, dump, file_name, find_unmatched, save, totals};
use crate::session::patterns::Unmatched;

/// Milliseconds of a day of UTC.
const DAY: u64 = 24 * 60 * 60 * 1000;

/// Why a window was not written.
#[derive(Debug, thiserror::Error)]
pub enum WindowError {
    /// There are too many bytes in the folder.
    #[error(
        "the spool folder {} is full: its files have {used} bytes and spool-limit is {limit}, which leaves no room \
         for a window", .folder.display()
    )]
    Full {
        /// The folder.
        folder: PathBuf,
        /// Bytes of its files.
        used: u64,
        /// Most bytes.
        limit: u64,
    },
    /// The folder cannot be read.
    #[error(transparent)]
    Folder(#[from] SpoolError),
    /// The file cannot be written.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// The counts could not be read.
    #[error(transparent)]
    Totals(#[from] DumpError),
    /// They have no difference.
    #[error("a window cannot be made: {0}")]
    Difference(#[from] SubtractError),
    /// They contradict themselves.
    #[error("a window cannot be made: {0}")]
    Classes(#[from] MergeError),
    /// The window is no valid profile.
    #[error("a window cannot be made: {0}")]
    Bytes(#[from] WriteError),
}

/// Why no windows can be written with these options.
#[derive(Debug, thiserror::Error)]
pub enum SpoolPlaceError {
    /// Someone else could turn the folder's name to another place.
    #[error("spool: {0}")]
    Link(#[from] ForeignLink),
    /// It is a file.
    #[error("spool: {} is not a folder", .0.display())]
    NotAFolder(PathBuf),
    /// There is no such folder.
    #[error("spool: the folder {}: {source}", .folder.display())]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// The system's answer.
        source: std::io::Error,
    },
    /// There is no key.
    #[error("hmac-key: {0}")]
    Key(#[from] KeyError),
    /// No id can be made for the JVM.
    #[error("spool: there are no random numbers: {0}")]
    Random(std::io::Error),
}

/// State of windows that outlives profiles.
#[derive(Default)]
pub struct Windows {
    /// The recording in progress.
    pub spooler: Option<Spooler>,
    /// Last windows of recordings for which there was no room.
    waiting: Vec<Ready>,
}

/// Writes the windows of one recording.
pub struct Spooler {
    folder: PathBuf,
    limit: u64,
    key: Option<Key>,
    about: Facts,
    build: Build,
    jvm_id: String,
    /// Number of the next window.
    number: u64,
    /// When it began.
    started_ms: u64,
    /// All counts then.
    before: Profile,
    /// Number of the day for which there is a window with all path maps.
    day: Option<u64>,
    /// True once the warning is given that no window can be written.
    told: bool,
}

/// Which build runs.
enum Build {
    Known(String),
    /// It is being found out: the files are those of the JVM's start, so this does not wait for the first
    /// window.
    Asked(Option<JoinHandle<String>>),
}

/// A window that has but to be written.
struct Ready {
    folder: PathBuf,
    limit: u64,
    file: PathBuf,
    /// The code of the window, if there is a key, and the window. They get their names in this order.
    files: Vec<NewFile>,
    ended_ms: u64,
    /// How much is counted in it.
    path_ends: u64,
}

impl Spooler {
    /// A recording that is about to begin; `None` without a spool folder.
    ///
    /// # Errors
    /// If there is no such folder, or no key.
    pub fn new(agent: &Agent, options: &ProfileOptions) -> Result<Option<Self>, SpoolPlaceError> {
        let fleet = &options.fleet;
        let key = check_places(options)?;
        let Some(folder) = fleet.spool.as_ref().map(PathBuf::from) else {
            return Ok(None);
        };
        let jvm_id = identity::new_jvm_id().map_err(SpoolPlaceError::Random)?;
        let property = |name: &str| agent.host.jvmti.system_property(name).unwrap_or_default();
        let service = fleet.service.clone();
        let mut about = Facts::default();
        about.set(
            facts::SERVICE,
            service.unwrap_or_else(|| identity::service_of(&property("sun.java.command"))),
        );
        about.set(facts::HOST, host(options));
        let labels = fleet.labels_text();
        if !labels.is_empty() {
            about.set(facts::LABELS, labels);
        }
        if let Some(fleet) = fleet.fleet {
            about.set(facts::FLEET, format!("1/{}", fleet.of));
        }
        about.set(facts::JVM_ID, jvm_id.clone());
        let build = match &fleet.build {
            Some(build) => Build::Known(build.clone()),
            None => Build::ask(property("java.class.path"), property("sun.java.command")),
        };
        clear(&folder);
        Ok(Some(Spooler {
            folder,
            limit: fleet.limit,
            key,
            about,
            build,
            jvm_id,
            number: 1,
            started_ms: unix_millis(SystemTime::now()),
            before: Profile::default(),
            day: None,
            told: false,
        }))
    }

    /// Sets the counts that do not belong to it.
    pub fn begin_after(&mut self, before: Profile) {
        self.before = before;
    }

    /// Number of the next window, and the folder that it goes to.
    pub fn next(&self) -> (u64, &Path) {
        (self.number, &self.folder)
    }

    /// The window that ends with this reading. Nothing is changed.
    fn make(
        &mut self,
        agent: &Agent,
        now: &Profile,
        unmatched: Option<&Unmatched>,
        last: bool,
    ) -> Result<Ready, WindowError> {
        // The system's clock may have been set back.
        let ended_ms = unix_millis(SystemTime::now()).max(self.started_ms);
        let rest = subtract(now, &self.before)?;
        let counted = rest.classes_with_counts();
        let all_maps = self.day != Some(ended_ms / DAY);
        let known = |class: &trodden_profile::ClassProfile| {
            let key = (&class.map.name, class.map.sha256);
            let before = &self.before.classes;
            before
                .binary_search_by(|c| (&c.map.name, c.map.sha256).cmp(&key))
                .is_ok()
        };
        let mut window = rest.with_classes(|at, class| all_maps || counted.contains(&at) || !known(class))?;
        if all_maps {
            window.skipped = now.skipped.clone();
        }
        Unmatched::note(unmatched, &mut window.run);
        add_source(agent, &mut window);
        let facts = &mut window.run.facts;
        facts.append(self.about.clone());
        facts.set(facts::BUILD, self.build.get());
        facts.set(facts::WINDOW, self.number);
        facts.set(facts::WINDOW_STARTED_MS, self.started_ms);
        facts.set(facts::WINDOW_ENDED_MS, ended_ms);
        if self.number == 1 {
            facts.set(facts::RUNS, 1u64);
        }
        if last {
            facts.set(facts::WINDOW_LAST, true.to_string());
        }
        let counts = window.classes.iter().flat_map(|class| &class.counts);
        let path_ends = counts.fold(0u64, |sum, counts| sum.saturating_add(counts.total()));
        let bytes = window.to_bytes()?;
        let name = WindowName {
            jvm_id: self.jvm_id.clone(),
            number: self.number,
        };
        let file = self.folder.join(name.to_string());
        let mut files = Vec::new();
        if let Some(key) = &self.key {
            let mut name = file.clone().into_os_string();
            name.push(HMAC_END);
            let code = format!("{}\n", key.hmac(&bytes));
            files.push(new_file(PathBuf::from(name), code.into_bytes()));
        }
        files.push(new_file(file.clone(), bytes));
        Ok(Ready {
            folder: self.folder.clone(),
            limit: self.limit,
            file,
            files,
            ended_ms,
            path_ends,
        })
    }

    /// Writes what was counted since the last window, and begins another one.
    fn turn(&mut self, agent: &Agent, jni: Jni<'_>, control: &Control) -> Result<PathBuf, WindowError> {
        check_room(&self.folder, 0, self.limit)?;
        let now = totals(agent, jni, control, UnderWay::Nothing)?;
        let ready = self.make(agent, &now, None, false)?;
        ready.write()?;
        // The next one begins when this one ended.
        self.number += 1;
        self.started_ms = ready.ended_ms;
        self.day = Some(ready.ended_ms / DAY);
        self.before = now;
        Ok(ready.file)
    }

    /// Says once that windows wait, and once that they do no more.
    fn tell(&mut self, result: &Result<PathBuf, WindowError>) {
        match result {
            Ok(_) if self.told => {
                self.told = false;
                warning!(
                    "windows are written to {} again; nothing was lost",
                    self.folder.display()
                );
            }
            Err(e) if !self.told => {
                self.told = true;
                warning!("{e}; what is counted waits for the next window that can be written");
            }
            _ => {}
        }
    }
}

impl Build {
    fn ask(class_path: String, command: String) -> Build {
        let ask = std::thread::Builder::new().name("Trodden build".to_owned());
        let asked = ask.spawn(move || build_name(&class_path, &command));
        Build::Asked(asked.ok())
    }

    fn get(&mut self) -> String {
        if let Build::Asked(asked) = self {
            let hash = asked.take().and_then(|asked| asked.join().ok());
            *self = Build::Known(hash.unwrap_or_else(|| "missing".to_owned()));
        }
        match self {
            Build::Known(build) => build.clone(),
            Build::Asked(_) => unreachable!("it was asked for"),
        }
    }
}

impl Ready {
    fn write(&self) -> Result<(), WindowError> {
        clear(&self.folder);
        let length: usize = self.files.iter().map(|file| file.bytes.len()).sum();
        check_room(&self.folder, length as u64, self.limit)?;
        Ok(output::write_files(&self.files)?)
    }
}

fn new_file(path: PathBuf, bytes: Vec<u8>) -> NewFile {
    let mode = 0o666;
    NewFile { path, bytes, mode }
}

/// Checks that there is room for a window of a length; for anything at all, if that is 0.
fn check_room(folder: &Path, window: u64, limit: u64) -> Result<(), WindowError> {
    let used = bytes_in(folder)?;
    match used.checked_add(window) {
        Some(sum) if sum <= limit && used < limit => Ok(()),
        _ => Err(WindowError::Full {
            folder: folder.to_owned(),
            used,
            limit,
        }),
    }
}

/// Checks the spool folder, if there is one, and reads the key.
///
/// # Errors
/// If there is no such folder, or no key.
pub fn check_places(options: &ProfileOptions) -> Result<Option<Key>, SpoolPlaceError> {
    if let Some(folder) = options.fleet.spool.as_ref().map(PathBuf::from) {
        check_links(&folder)?;
        match std::fs::metadata(&folder) {
            Ok(data) if data.is_dir() => {}
            Ok(_) => return Err(SpoolPlaceError::NotAFolder(folder)),
            Err(source) => return Err(SpoolPlaceError::Folder { folder, source }),
        }
    }
    let key = options.fleet.hmac_key.as_ref();
    Ok(key.map(|file| Key::read(Path::new(file))).transpose()?)
}

/// The host as the options name it.
pub fn host(options: &ProfileOptions) -> String {
    options.fleet.host.clone().unwrap_or_else(identity::host_name)
}

/// The next window, if there are windows. Messages are given; the error is for the caller.
pub fn turn(agent: &Agent, jni: Jni<'_>, control: &mut Control) -> Option<Result<PathBuf, WindowError>> {
    let mut spooler = control.windows.spooler.take()?;
    let result = spooler.turn(agent, jni, control);
    spooler.tell(&result);
    control.windows.spooler = Some(spooler);
    Some(result)
}

/// Files that the end of a recording wrote.
#[derive(Debug, Default)]
pub struct Written {
    /// A file with all that was counted.
    pub file: Option<PathBuf>,
    /// The last window.
    pub window: Option<PathBuf>,
}

/// Ends a recording: writes its last window, or the profile, or both, from one reading. `file`: a name for
/// the profile instead of that of the options.
///
/// # Errors
/// If counts cannot be read, or the profile not be written. A window that cannot be written waits.
pub fn finish(
    agent: &Agent,
    jni: Jni<'_>,
    control: &mut Control,
    file: Option<&Path>,
    under_way: UnderWay,
) -> Result<Written, DumpError> {
    let Some(mut spooler) = control.windows.spooler.take() else {
        if file.is_none() && control.writes_windows_only() {
            // It was stopped before; that wrote all that there was.
            return Ok(Written::default());
        }
        let file = dump(agent, jni, control, file, under_way == UnderWay::Open)?;
        return Ok(Written {
            file: Some(file),
            window: None,
        });
    };
    let Some(settings) = control.settings.clone() else {
        return Err(ReadError::Nothing.into());
    };
    let unmatched = find_unmatched(agent, jni, control, &settings);
    let now = totals(agent, jni, control, under_way)?;
    let mut written = Written::default();
    match spooler.make(agent, &now, unmatched.as_ref(), true) {
        Ok(ready) => match ready.write() {
            Ok(()) => written.window = Some(ready.file),
            Err(e) => {
                spooler.tell(&Err(e));
                control.windows.waiting.push(ready);
            }
        },
        Err(e) => error!("{e}; what was counted since the last window is lost"),
    }
    let file = match file {
        Some(file) => Some(file.to_owned()),
        None if settings.options.writes_file() => Some(file_name(&settings)?),
        None => None,
    };
    if let Some(file) = file {
        save(agent, now, unmatched.as_ref(), &file)?;
        written.file = Some(file);
    }
    Ok(written)
}

impl Windows {
    /// Writes last windows that wait, as far as there is room.
    pub fn send(&mut self) {
        self.waiting.retain(|ready| match ready.write() {
            Ok(()) => {
                info!(
                    "a window that had to wait was written to {}",
                    ready.file.display()
                );
                false
            }
            Err(_) => true,
        });
    }

    /// The JVM ends: what still waits is lost.
    pub fn give_up(&mut self) {
        self.send();
        for ready in self.waiting.drain(..) {
            error!(
                "there is still no room for the last window ({}): {} path ends are lost",
                ready.file.display(),
                ready.path_ends
            );
        }
    }
}
