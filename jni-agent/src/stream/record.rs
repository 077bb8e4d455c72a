//! A trace, written while the program runs.

use std::fmt::Display;
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
use trodden_profile::{ClassProfile, RunInfo};

use crate::classes::registry::Registry;
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

/// Chunks of so many words go out at once: a call into the system is little beside what it took to fill them.
const LARGE: usize = 1024;
/// Others wait for so many milliseconds at most, unless nothing follows.
const LATEST: u64 = 100;

impl TraceFile {
    /// Begins a trace.
    ///
    /// # Errors
    /// A text that names the file.
    pub fn create(
        file: PathBuf,
        kinds: EventKinds,
        run: &RunInfo,
        registry: Arc<Registry>,
    ) -> Result<Self, String> {
        let (growing, out) = Growing::open(&file).map_err(|e| about(&file, e))?;
        if let Some(earlier) = growing.earlier() {
            warning!(
                "a JVM was killed before its trace was complete; what there is of it is kept: {}",
                earlier.display()
            );
        }
        let writer =
            TraceWriter::new(BufWriter::new(out), kinds, run).map_err(|e| about(growing.part(), e))?;
        let recorder = TraceRecorder::new(writer);
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
    /// A text that names the file, also if something went wrong before.
    pub fn finish(&self, run: &RunInfo) -> Result<(), String> {
        self.define_classes();
        self.recorder.skipped(&self.registry.left_alone.list());
        self.define_conditions();
        match self.recorder.finish(run) {
            Ok(Some(_)) => self.growing.place().map_err(|e| about(&self.file, e)),
            Ok(None) => Err(about(&self.file, "the trace is complete already")),
            Err(e) => Err(about(self.growing.part(), e)),
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

fn about(file: &Path, problem: impl Display) -> String {
    format!("{}: {problem}", file.display())
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
