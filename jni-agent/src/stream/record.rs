//! A trace, written while the program runs.

use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use trodden_analyses::stream::{Recorder, TraceRecorder};
use trodden_profile::events::{EventKinds, ThreadInfo};
use trodden_profile::output::Growing;
use trodden_profile::trace::TraceWriter;
use trodden_profile::{ClassProfile, RunInfo, WriteError};

use crate::classes::Registry;
use crate::locks::lock;
use crate::log::warning;

/// Writes a trace to `FILE.part`, which gets its name when it is complete. So what has the name is whole, and
/// a JVM that was killed leaves a part that can be replayed. A device or a pipe is written to as it is.
pub struct TraceFile {
    file: PathBuf,
    growing: Growing,
    recorder: TraceRecorder<BufWriter<File>>,
    registry: Arc<Registry>,
    /// Classes of the registry that have been looked at.
    classes: Mutex<usize>,
    /// When it was begun, and how many milliseconds later the last words went out to the system.
    begun: Instant,
    flushed: AtomicU64,
}

/// Why there is no trace.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The file cannot be opened, or not get its name.
    #[error("{}: {source}", .file.display())]
    File {
        /// The file.
        file: PathBuf,
        /// The system's answer.
        source: std::io::Error,
    },
    /// It cannot be written.
    #[error("{}: {source}", .file.display())]
    Write {
        /// The file.
        file: PathBuf,
        /// The reason.
        source: WriteError,
    },
    /// It has been finished before.
    #[error("{}: the trace is complete already", .0.display())]
    Complete(PathBuf),
}

/// Chunks of this many words go out at once: a call into the system is little compared with what it took to
/// fill them.
const LARGE: usize = 1024;
/// Others wait for this many milliseconds at most, unless nothing follows.
const LATEST: u64 = 100;

impl TraceFile {
    /// Begins a trace.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn create(
        file: PathBuf,
        kinds: EventKinds,
        run: &RunInfo,
        registry: Arc<Registry>,
    ) -> Result<Self, TraceError> {
        let opened = Growing::open(&file);
        let (growing, out) = opened.map_err(|source| TraceError::File {
            file: file.clone(),
            source,
        })?;
        if let Some(earlier) = growing.earlier() {
            warning!(
                "a JVM was killed before its trace was complete; what there is of it is kept: {}",
                earlier.display()
            );
        }
        let writer = TraceWriter::new(BufWriter::new(out), kinds, run);
        let recorder = TraceRecorder::new(writer.map_err(not_written(&growing))?);
        // If the JVM is killed, what there is can be read from the very beginning.
        recorder.flush();
        Ok(TraceFile {
            file,
            growing,
            recorder,
            registry,
            classes: Mutex::default(),
            begun: Instant::now(),
            flushed: AtomicU64::new(0),
        })
    }

    /// Where the complete trace will be.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Ends the trace: nothing is written any more.
    ///
    /// # Errors
    /// If the file cannot be written, or could not be before.
    pub fn finish(&self, run: &RunInfo) -> Result<(), TraceError> {
        self.define_classes();
        self.recorder.skipped(&self.registry.left_alone.list());
        self.define_conditions();
        let finished = self.recorder.finish(run).map_err(not_written(&self.growing))?;
        let file = self.file.clone();
        match finished {
            Some(_) => (self.growing.place()).map_err(|source| TraceError::File { file, source }),
            None => Err(TraceError::Complete(file)),
        }
    }

    /// Writes what decisions mean, at the end: it is not known here which methods ran, so of all of them.
    fn define_conditions(&self) {
        for entry in self.registry.classes() {
            let class = ClassProfile {
                counts: Vec::new(),
                map: entry.map,
            };
            let conditions = self
                .registry
                .originals
                .conditions(std::slice::from_ref(&class), |_, _| true);
            let methods: Vec<_> = conditions
                .into_iter()
                .map(|((_, method), of)| (method, of))
                .collect();
            if !methods.is_empty() {
                self.recorder.conditions(entry.ids.first_method.0, &methods);
            }
        }
    }

    /// Writes the path maps of classes that have come up: words never stand before those of their methods.
    fn define_classes(&self) {
        let mut seen = lock(&self.classes);
        for entry in self.registry.classes_from(&mut seen) {
            self.recorder.define_class(entry.ids.first_method.0, &entry.map);
        }
    }
}

fn not_written(growing: &Growing) -> impl FnOnce(WriteError) -> TraceError {
    let file = growing.part().to_owned();
    |source| TraceError::Write { file, source }
}

impl Recorder for TraceFile {
    fn thread_start(&self, info: &ThreadInfo) {
        self.recorder.thread_start(info);
    }

    fn words(&self, thread: u64, words: &[u64]) {
        self.define_classes();
        self.recorder.words(thread, words);
        let now = self.begun.elapsed().as_millis() as u64;
        if words.len() >= LARGE || now >= self.flushed.load(Ordering::Relaxed) + LATEST {
            self.flushed.store(now, Ordering::Relaxed);
            self.recorder.flush();
        }
    }

    fn thread_end(&self, thread: u64) {
        self.recorder.thread_end(thread);
    }
}
