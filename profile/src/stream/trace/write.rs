//! A run to a trace, piece by piece.

use std::io::Write;
use std::sync::Arc;

use super::{CHUNK_WORDS, LZ4, MAGIC, THREAD, THREAD_END, TRACE_VERSION, TraceCounts, WORDS, pack};
use crate::model::codec::wire::Encoder;
use crate::model::codec::{
    CLASSES, END, PLAIN, RUN, SKIPPED, Tag, WriteError, check_length, put_section, validate, write,
};
use crate::model::conditions::MethodConditions;
use crate::model::conditions::codec::{CONDITIONS, put_of_class};
use crate::model::counts::MethodCounts;
use crate::model::map::ClassMap;
use crate::model::profile::{ClassProfile, RunInfo, Skipped};
use crate::stream::events::{EventKinds, ThreadInfo};

/// Words of one thread, packed and compressed: what takes time can be done before the writer's lock is taken.
#[derive(Clone, Debug, Default)]
pub struct PackedChunk {
    /// Whole sections.
    bytes: Vec<u8>,
    counts: TraceCounts,
}

impl PackedChunk {
    /// Packs words of a thread. The buffers of `self` are used again.
    pub fn pack(&mut self, thread: u64, words: &[u64]) {
        self.bytes.clear();
        self.counts = TraceCounts::default();
        for words in words.chunks(CHUNK_WORDS) {
            let mut packed = Encoder::default();
            packed.bytes.reserve(words.len() * 2);
            let good = pack::pack(words, &mut packed);
            self.counts.bad_words += words.len() as u64 - good;
            if good == 0 {
                continue;
            }
            self.counts.chunks += 1;
            self.counts.words += good;
            let mut plain = Encoder::default();
            plain.uint(thread);
            plain.uint(good);
            plain.bytes.append(&mut packed.bytes);
            compressed_section(&mut self.bytes, WORDS, &plain.bytes);
        }
    }

    /// Bytes that it will take in the trace.
    pub fn size(&self) -> usize {
        self.bytes.len()
    }
}

/// Writes a trace during the run.
///
/// Threads may be interleaved; each one's chunks come in order, after its start and before its end. Classes may be defined at
/// any time. What has been written is a readable trace at every moment, but for one section that is being written.
/// Each call writes to the output directly: give it a buffer if calls are small and many, and
/// [`flush`](Self::flush) it now and then.
#[derive(Debug)]
pub struct TraceWriter<W: Write> {
    out: W,
    kinds: EventKinds,
    scratch: Vec<u8>,
    packed: PackedChunk,
    counts: TraceCounts,
    written: u64,
}

impl<W: Write> TraceWriter<W> {
    /// Begins a trace of these kinds of events. `run` is what is known so far, for the case that the run is
    /// killed.
    ///
    /// # Errors
    /// If the output fails, or `run` breaks a rule of the data model.
    pub fn new(out: W, kinds: EventKinds, run: &RunInfo) -> Result<Self, WriteError> {
        let mut writer = TraceWriter {
            out,
            kinds,
            scratch: Vec::new(),
            packed: PackedChunk::default(),
            counts: TraceCounts::default(),
            written: 0,
        };
        let mut header = MAGIC.to_vec();
        header.extend_from_slice(&TRACE_VERSION.to_le_bytes());
        writer.out.write_all(&header)?;
        writer.written = header.len() as u64;
        writer.run(run)?;
        Ok(writer)
    }

    /// What has been written.
    pub fn counts(&self) -> TraceCounts {
        self.counts
    }

    /// Bytes written.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// The path map of a class; `first_method` is the id of its first method, those of the others follow.
    ///
    /// # Errors
    /// If the output fails, or the map breaks a rule of the data model.
    pub fn define_class(&mut self, first_method: u32, class: &ClassMap) -> Result<(), WriteError> {
        // The same record as in a profile, with nothing counted.
        let profile = ClassProfile {
            counts: vec![MethodCounts::default(); class.methods.len()],
            map: Arc::new(class.clone()),
        };
        validate::class(&profile)?;
        let mut plain = Encoder::default();
        plain.uint(u64::from(first_method));
        write::class(&mut plain, &profile);
        self.section(CLASSES, &plain)?;
        self.counts.classes += 1;
        Ok(())
    }

    /// What is known of the decisions of a class's methods (by position), when it is known: any time after the class
    /// itself. Readers that do not know this section ignore it.
    ///
    /// # Errors
    /// If the output fails.
    pub fn conditions(
        &mut self,
        first_method: u32,
        methods: &[(u32, MethodConditions)],
    ) -> Result<(), WriteError> {
        let mut plain = Encoder::default();
        put_of_class(&mut plain, first_method, methods);
        self.section(CONDITIONS, &plain)
    }

    /// A class or method that was left unchanged.
    ///
    /// # Errors
    /// If the output fails.
    pub fn skipped(&mut self, entries: &[Skipped]) -> Result<(), WriteError> {
        // So that no section gets too long.
        for entries in entries.chunks(1000) {
            let mut plain = Encoder::default();
            plain.len(entries.len());
            for entry in entries {
                write::skipped(&mut plain, entry);
            }
            self.section(SKIPPED, &plain)?;
            self.counts.skipped += entries.len() as u64;
        }
        Ok(())
    }

    /// A thread begins.
    ///
    /// # Errors
    /// If the output fails.
    pub fn thread_start(&mut self, thread: &ThreadInfo) -> Result<(), WriteError> {
        let mut plain = Encoder::default();
        plain.uint(thread.id);
        plain.byte(u8::from(thread.is_virtual));
        plain.string(&thread.name);
        self.section(THREAD, &plain)?;
        self.counts.threads += 1;
        Ok(())
    }

    /// The next words of a thread.
    ///
    /// # Errors
    /// If the output fails.
    pub fn chunk(&mut self, thread: u64, words: &[u64]) -> Result<(), WriteError> {
        let mut packed = std::mem::take(&mut self.packed);
        packed.pack(thread, words);
        let done = self.packed_chunk(&packed);
        self.packed = packed;
        done
    }

    /// The next words of a thread, packed already.
    ///
    /// # Errors
    /// If the output fails.
    pub fn packed_chunk(&mut self, chunk: &PackedChunk) -> Result<(), WriteError> {
        self.out.write_all(&chunk.bytes)?;
        self.written += chunk.bytes.len() as u64;
        self.counts.chunks += chunk.counts.chunks;
        self.counts.words += chunk.counts.words;
        self.counts.bad_words += chunk.counts.bad_words;
        Ok(())
    }

    /// A thread has ended.
    ///
    /// # Errors
    /// If the output fails.
    pub fn thread_end(&mut self, thread: u64) -> Result<(), WriteError> {
        let mut plain = Encoder::default();
        plain.uint(thread);
        self.section(THREAD_END, &plain)
    }

    /// Hands on what the output has buffered.
    ///
    /// # Errors
    /// If the output fails.
    pub fn flush(&mut self) -> Result<(), WriteError> {
        Ok(self.out.flush()?)
    }

    /// Ends the trace. Threads may still be running. `run` replaces what was said at the beginning.
    ///
    /// # Errors
    /// If the output fails, or `run` breaks a rule of the data model.
    pub fn finish(mut self, run: &RunInfo) -> Result<W, WriteError> {
        self.run(run)?;
        let mut plain = Encoder::default();
        let counts = self.counts;
        for count in [
            counts.classes,
            counts.skipped,
            counts.threads,
            counts.chunks,
            counts.words,
            counts.bad_words,
        ] {
            plain.uint(count);
        }
        self.section(END, &plain)?;
        self.out.flush()?;
        Ok(self.out)
    }

    fn run(&mut self, run: &RunInfo) -> Result<(), WriteError> {
        validate::run(run)?;
        let mut plain = Encoder::default();
        plain.byte(self.kinds.bits());
        write::run(&mut plain, run);
        self.section(RUN, &plain)
    }

    fn section(&mut self, tag: Tag, plain: &Encoder) -> Result<(), WriteError> {
        check_length(&plain.bytes)?;
        self.scratch.clear();
        compressed_section(&mut self.scratch, tag, &plain.bytes);
        self.out.write_all(&self.scratch)?;
        self.written += self.scratch.len() as u64;
        Ok(())
    }
}

/// Appends a section: compressed, if that makes it smaller.
fn compressed_section(out: &mut Vec<u8>, tag: Tag, plain: &[u8]) {
    // LZ4 has nothing to find in less.
    let packed = (plain.len() > 32).then(|| lz4_flex::block::compress(plain));
    let packed = packed.filter(|packed| packed.len() < plain.len());
    let (encoding, stored) = match &packed {
        Some(packed) => (LZ4, packed.as_slice()),
        None => (PLAIN, plain),
    };
    put_section(out, tag, encoding, plain.len(), stored);
}
