//! A trace of the stream.

use std::cell::RefCell;
use std::io::Write;
use std::sync::{Mutex, MutexGuard, PoisonError};

use trodden_profile::events::ThreadInfo;
use trodden_profile::trace::{PackedChunk, TraceCounts, TraceWriter};
use trodden_profile::{ClassMap, MethodConditions, RunInfo, Skipped, WriteError};

use super::Recorder;

thread_local! {
    /// Packing needs no lock, only room.
    static PACKED: RefCell<PackedChunk> = RefCell::default();
}

/// Writes the stream of a [`Pipeline`](super::Pipeline) into a trace.
///
/// The first error ends the recording; [`finish`](Self::finish) returns it. Later words are dropped.
#[derive(Debug)]
pub struct TraceRecorder<W: Write> {
    state: Mutex<State<W>>,
}

#[derive(Debug)]
struct State<W: Write> {
    writer: Option<TraceWriter<W>>,
    failed: Option<WriteError>,
}

impl<W: Write + Send> TraceRecorder<W> {
    /// Records with this writer.
    pub fn new(writer: TraceWriter<W>) -> Self {
        TraceRecorder {
            state: Mutex::new(State {
                writer: Some(writer),
                failed: None,
            }),
        }
    }

    /// The path map of a class; see [`TraceWriter::define_class`].
    pub fn define_class(&self, first_method: u32, class: &ClassMap) {
        self.with(|writer| writer.define_class(first_method, class));
    }

    /// Records the decisions of a class's methods; see [`TraceWriter::conditions`].
    pub fn conditions(&self, first_method: u32, methods: &[(u32, MethodConditions)]) {
        self.with(|writer| writer.conditions(first_method, methods));
    }

    /// Records the methods that were left without probes.
    pub fn skipped(&self, entries: &[Skipped]) {
        self.with(|writer| writer.skipped(entries));
    }

    /// Hands on what the output has buffered, so that it survives a crash of the process.
    pub fn flush(&self) {
        self.with(TraceWriter::flush);
    }

    /// Counts of the records that were written so far, and their bytes; `None` after the end or an error.
    pub fn written(&self) -> Option<(TraceCounts, u64)> {
        let state = self.lock();
        state
            .writer
            .as_ref()
            .map(|writer| (writer.counts(), writer.written()))
    }

    /// Ends the trace; threads may still be running. `None` if it was ended before.
    ///
    /// # Errors
    /// If the trace could not be written, now or before.
    pub fn finish(&self, run: &RunInfo) -> Result<Option<W>, WriteError> {
        let mut state = self.lock();
        if let Some(error) = state.failed.take() {
            return Err(error);
        }
        let writer = state.writer.take();
        writer.map(|writer| writer.finish(run)).transpose()
    }

    fn lock(&self) -> MutexGuard<'_, State<W>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with(&self, write: impl FnOnce(&mut TraceWriter<W>) -> Result<(), WriteError>) {
        let mut state = self.lock();
        if let Some(writer) = &mut state.writer
            && let Err(error) = write(writer)
        {
            state.failed = Some(error);
            state.writer = None;
        }
    }
}

impl<W: Write + Send> Recorder for TraceRecorder<W> {
    fn thread_start(&self, info: &ThreadInfo) {
        self.with(|writer| writer.thread_start(info));
    }

    fn words(&self, thread: u64, words: &[u64]) {
        // Not there any more while the thread's own locals are torn down.
        let done = PACKED.try_with(|packed| {
            let mut packed = packed.borrow_mut();
            packed.pack(thread, words);
            self.with(|writer| writer.packed_chunk(&packed));
        });
        if done.is_err() {
            self.with(|writer| writer.chunk(thread, words));
        }
    }

    fn thread_end(&self, thread: u64) {
        self.with(|writer| writer.thread_end(thread));
    }
}
