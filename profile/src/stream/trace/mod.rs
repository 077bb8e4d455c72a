//! The `.trace` file: the event stream of a run, to be replayed by any analysis.
//!
//! `docs/traces.md` has the grammar, `tests/trace.hex` an example. A trace is a row of sections framed like those of
//! a `.trodden` file, but written during the run: chunks of one thread's words, path maps of classes as they are
//! loaded, beginnings and ends of threads. It is read the same way, in memory that does not grow with the file. A
//! trace whose JVM was killed is good up to its last whole section.
//!
//! ```
//! use trodden_profile::RunInfo;
//! use trodden_profile::events::{EventKinds, ThreadInfo, Word};
//! use trodden_profile::trace::{TraceItem, TraceReader, TraceWriter};
//!
//! let mut trace = TraceWriter::new(Vec::new(), EventKinds::PATHS, &RunInfo::default()).unwrap();
//! trace.thread_start(&ThreadInfo { id: 1, ..ThreadInfo::default() }).unwrap();
//! trace.chunk(1, &[Word::only_path(0, 3).0]).unwrap();
//! trace.thread_end(1).unwrap();
//! let file = trace.finish(&RunInfo::default()).unwrap();
//!
//! let mut reader = TraceReader::new(&file[..]).unwrap();
//! let mut words = 0;
//! while let Some(item) = reader.next_item().unwrap() {
//!     if let TraceItem::Words { words: chunk, .. } = item {
//!         words += chunk.len();
//!     }
//! }
//! assert_eq!((words, reader.truncation()), (1, None));
//! ```

mod pack;
mod read;
mod write;

pub use read::{TraceError, TraceItem, TraceReader, Truncation};
pub use write::{PackedChunk, TraceWriter};

use crate::model::codec::{TRACE_MAGIC as MAGIC, Tag};

/// The newest version of the format that is read, and the one that is written.
pub const TRACE_VERSION: u16 = 1;
/// Most words of one chunk. The writer cuts longer ones.
pub const CHUNK_WORDS: usize = 1 << 16;

/// A thread begins.
const THREAD: Tag = *b"THRD";
/// A chunk of words.
const WORDS: Tag = *b"WORD";
/// A thread has ended.
const THREAD_END: Tag = *b"DONE";

/// Payload as an LZ4 block.
const LZ4: u8 = 2;

/// What is in a trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TraceCounts {
    /// Path maps of classes.
    pub classes: u64,
    /// Entries about classes and methods that were left unchanged.
    pub skipped: u64,
    /// Threads that began.
    pub threads: u64,
    /// Chunks of words.
    pub chunks: u64,
    /// Words.
    pub words: u64,
    /// Words that were no events, and are not in the trace.
    pub bad_words: u64,
}
