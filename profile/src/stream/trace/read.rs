//! A trace to its pieces, one after the other.

use std::collections::HashSet;
use std::io::{self, Read};
use std::sync::Arc;

use super::{CHUNK_WORDS, LZ4, MAGIC, THREAD, THREAD_END, TRACE_VERSION, TraceCounts, WORDS, pack};
use crate::model::codec::read::name;
use crate::model::codec::wire::{Decoded, Decoder};
use crate::model::codec::{
    self, CLASSES, END, PLAIN, Problem, RUN, ReadError, SECTION_HEADER, SECTION_LIMIT, SKIPPED, Tag,
    section_crc, validate,
};
use crate::model::conditions::MethodConditions;
use crate::model::conditions::codec::{CONDITIONS, of_class};
use crate::model::map::ClassMap;
use crate::model::profile::{RunInfo, Skipped};
use crate::stream::events::{EventKinds, ThreadInfo};

/// Why bytes are no readable trace. Offsets are in bytes from the file's start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TraceError {
    /// The magic is missing.
    #[error("not a Trodden trace (it does not start with the magic bytes of one)")]
    NotTrace,
    /// A `.trodden` file.
    #[error("this is a profile, not a trace")]
    Profile,
    /// Written by a newer Trodden.
    #[error("trace version {version} is not supported (this build reads 1..={TRACE_VERSION})")]
    Unsupported {
        /// Version in the file.
        version: u16,
    },
    /// The file system refused.
    #[error("cannot read on at offset {offset}: {source}")]
    Io {
        /// How far reading came.
        offset: u64,
        /// Why.
        source: io::Error,
    },
    /// A section is damaged or makes no sense.
    #[error(transparent)]
    Section(#[from] ReadError),
}

/// Where a trace ends that was never finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Truncation {
    /// End of the last whole section.
    pub offset: u64,
    /// Bytes behind it that are no whole section.
    pub lost: u64,
}

/// A piece of a trace.
#[derive(Debug)]
pub enum TraceItem<'a> {
    /// About the run: once at the beginning, and again at the end when all is known.
    Run(RunInfo),
    /// The path map of a class.
    Class {
        /// Id of its first method.
        first_method: u32,
        /// The map.
        map: Arc<ClassMap>,
    },
    /// What is known of the decisions of a class's methods.
    Conditions {
        /// Id of the first method of the class.
        first_method: u32,
        /// By position of the method in its class.
        methods: Vec<(u32, MethodConditions)>,
    },
    /// What was left as it was.
    Skipped(Vec<Skipped>),
    /// A thread begins. Its id is not in use.
    ThreadStart(ThreadInfo),
    /// The next words of a thread that has begun and not ended. Each of them decodes.
    Words {
        /// The thread's id.
        thread: u64,
        /// Its words.
        words: &'a [u64],
    },
    /// A thread that has begun has ended.
    ThreadEnd(u64),
}

/// Reads a trace section by section. Give it a buffered input.
#[derive(Debug)]
pub struct TraceReader<R: Read> {
    input: R,
    /// Of the section that comes next.
    offset: u64,
    kinds: EventKinds,
    counts: TraceCounts,
    live: HashSet<u64>,
    stored: Vec<u8>,
    plain: Vec<u8>,
    words: Vec<u64>,
    /// The first section, until it is handed out.
    first: Option<RunInfo>,
    seen_run: bool,
    /// Has the end been reached, or an error?
    done: bool,
    truncation: Option<Truncation>,
}

/// What a section held, before it is handed out.
enum Piece {
    Run(RunInfo),
    Class(u32, Arc<ClassMap>),
    Conditions(u32, Vec<(u32, MethodConditions)>),
    Skipped(Vec<Skipped>),
    ThreadStart(ThreadInfo),
    Words(u64),
    ThreadEnd(u64),
    End,
    Ignored,
}

impl<R: Read> TraceReader<R> {
    /// Reads the header.
    ///
    /// # Errors
    /// If this is no trace, or one of a newer version.
    pub fn new(input: R) -> Result<Self, TraceError> {
        let mut reader = TraceReader {
            input,
            offset: 0,
            kinds: EventKinds::default(),
            counts: TraceCounts::default(),
            live: HashSet::new(),
            stored: Vec::new(),
            plain: Vec::new(),
            words: Vec::new(),
            first: None,
            seen_run: false,
            done: false,
            truncation: None,
        };
        let mut header = [0; 10];
        let read = reader.fill(&mut header)?;
        let magic = &header[..read.min(8)];
        if magic == codec::MAGIC {
            return Err(TraceError::Profile);
        }
        if read == 0 || *magic != MAGIC[..magic.len()] {
            return Err(TraceError::NotTrace);
        }
        if read < header.len() {
            return Err(ReadError::Truncated {
                offset: read as u64,
                missing: (header.len() - read) as u64,
                place: "the file header".to_owned(),
            }
            .into());
        }
        let version = u16::from_le_bytes([header[8], header[9]]);
        if !(1..=TRACE_VERSION).contains(&version) {
            return Err(TraceError::Unsupported { version });
        }
        reader.offset = header.len() as u64;
        // What all else is read with.
        match reader.piece_of_next_section()? {
            Some(Piece::Run(run)) => reader.first = Some(run),
            _ => {
                return Err(ReadError::Truncated {
                    offset: reader.offset + reader.truncation.map_or(0, |t| t.lost),
                    missing: 1,
                    place: "the first section".to_owned(),
                }
                .into());
            }
        }
        Ok(reader)
    }

    /// Kinds of events that were recorded.
    pub fn kinds(&self) -> EventKinds {
        self.kinds
    }

    /// Bytes read so far.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// What has been read so far; at the end of a whole trace, what is in it.
    pub fn counts(&self) -> TraceCounts {
        self.counts
    }

    /// After the last item: where the trace is cut off, if it is. Then the recording was not ended: the JVM was
    /// killed, or is still running.
    pub fn truncation(&self) -> Option<Truncation> {
        self.truncation
    }

    /// The next piece; `None` at the end. (Not an iterator: words are lent.)
    ///
    /// # Errors
    /// If a section is damaged or makes no sense. What came before it is good; nothing comes after it.
    pub fn next_item(&mut self) -> Result<Option<TraceItem<'_>>, TraceError> {
        if let Some(run) = self.first.take() {
            return Ok(Some(TraceItem::Run(run)));
        }
        while let Some(piece) = self.piece_of_next_section()? {
            return Ok(Some(match piece {
                Piece::Run(run) => TraceItem::Run(run),
                Piece::Class(first_method, map) => TraceItem::Class { first_method, map },
                Piece::Conditions(first_method, methods) => TraceItem::Conditions {
                    first_method,
                    methods,
                },
                Piece::Skipped(entries) => TraceItem::Skipped(entries),
                Piece::ThreadStart(thread) => TraceItem::ThreadStart(thread),
                Piece::Words(thread) => TraceItem::Words {
                    thread,
                    words: &self.words,
                },
                Piece::ThreadEnd(thread) => TraceItem::ThreadEnd(thread),
                Piece::End | Piece::Ignored => continue,
            }));
        }
        Ok(None)
    }

    fn piece_of_next_section(&mut self) -> Result<Option<Piece>, TraceError> {
        if self.done {
            return Ok(None);
        }
        // Stays so if anything goes wrong.
        self.done = true;
        let Some(tag) = self.section()? else {
            return Ok(None);
        };
        let piece = self.piece(tag)?;
        self.offset += (SECTION_HEADER + self.stored.len()) as u64;
        match piece {
            Piece::End => self.nothing_follows()?,
            _ => self.done = false,
        }
        Ok(Some(piece))
    }

    /// Reads until the buffer is full or the file ends; how much.
    fn fill(&mut self, buffer: &mut [u8]) -> Result<usize, TraceError> {
        let mut read = 0;
        while read < buffer.len() {
            match self.input.read(&mut buffer[read..]) {
                Ok(0) => break,
                Ok(n) => read += n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(source) => {
                    return Err(TraceError::Io {
                        offset: self.offset + read as u64,
                        source,
                    });
                }
            }
        }
        Ok(read)
    }

    /// Reads a section into `stored` and unpacks it into `plain`. `None` if the file is cut off.
    fn section(&mut self) -> Result<Option<Tag>, TraceError> {
        let mut header = [0; SECTION_HEADER];
        let read = self.fill(&mut header)?;
        if read < header.len() {
            self.truncated(read);
            return Ok(None);
        }
        let number = |i: usize| u32::from_le_bytes([header[i], header[i + 1], header[i + 2], header[i + 3]]);
        let tag = [header[0], header[1], header[2], header[3]];
        let (stored_length, plain_length, stated) = (number(5) as usize, number(9) as usize, number(13));
        let claimed = stored_length.max(plain_length);
        if claimed > SECTION_LIMIT {
            return Err(ReadError::TooLarge {
                section: name(tag),
                offset: self.offset,
                claimed: claimed as u64,
                limit: SECTION_LIMIT as u64,
            }
            .into());
        }
        self.stored.clear();
        // Grows with what is really there.
        let mut payload = (&mut self.input).take(stored_length as u64);
        payload
            .read_to_end(&mut self.stored)
            .map_err(|source| TraceError::Io {
                offset: self.offset + SECTION_HEADER as u64,
                source,
            })?;
        if self.stored.len() < stored_length {
            self.truncated(SECTION_HEADER + self.stored.len());
            return Ok(None);
        }
        let found = section_crc(&header[..SECTION_HEADER - 4], &self.stored);
        if found != stated {
            return Err(ReadError::Checksum {
                section: name(tag),
                offset: self.offset,
                found,
                stated,
            }
            .into());
        }
        self.unpack(tag, header[4], plain_length)?;
        Ok(Some(tag))
    }

    fn truncated(&mut self, read: usize) {
        self.truncation = Some(Truncation {
            offset: self.offset,
            lost: read as u64,
        });
    }

    fn unpack(&mut self, tag: Tag, encoding: u8, plain_length: usize) -> Result<(), ReadError> {
        let fail = |reason: String| ReadError::Unpack {
            section: name(tag),
            offset: self.offset,
            reason,
        };
        self.plain.clear();
        match encoding {
            PLAIN if self.stored.len() != plain_length => Err(fail(format!(
                "it holds {} bytes, its header says {plain_length}",
                self.stored.len()
            ))),
            PLAIN => {
                self.plain.extend_from_slice(&self.stored);
                Ok(())
            }
            // A byte of LZ4 makes 255 at most: no more is reserved than the stored bytes can fill.
            LZ4 if plain_length > self.stored.len().saturating_mul(255) => Err(fail(format!(
                "{} bytes cannot unpack to {plain_length}",
                self.stored.len()
            ))),
            LZ4 => {
                self.plain.resize(plain_length, 0);
                match lz4_flex::block::decompress_into(&self.stored, &mut self.plain) {
                    Ok(found) if found == plain_length => Ok(()),
                    Ok(found) => Err(fail(format!(
                        "it holds {found} bytes, its header says {plain_length}"
                    ))),
                    Err(e) => Err(fail(e.to_string())),
                }
            }
            other => Err(fail(format!("unknown encoding {other}"))),
        }
    }

    fn piece(&mut self, tag: Tag) -> Result<Piece, TraceError> {
        let order = |problem| ReadError::Order {
            section: name(tag),
            offset: self.offset,
            problem,
        };
        if !self.seen_run && tag != RUN {
            return Err(order("comes before the section 'RUN '").into());
        }
        let mut d = Decoder::new(&self.plain);
        let piece = match tag {
            RUN => {
                let kinds = kinds(&mut d).map_err(Problem::bare);
                let first = !std::mem::replace(&mut self.seen_run, true);
                kinds.and_then(|kinds| {
                    if first {
                        self.kinds = kinds;
                    }
                    let run = codec::read::run(&mut d)?;
                    validate::run(&run).map(|()| Piece::Run(run))
                })
            }
            CLASSES => class(&mut d),
            CONDITIONS => of_class(&mut d)
                .map(|(first_method, methods)| Piece::Conditions(first_method, methods))
                .map_err(Problem::bare),
            SKIPPED => d
                .list("skipped entries", |d, _| codec::read::skipped(d))
                .map(Piece::Skipped)
                .map_err(Problem::bare),
            THREAD => thread(&mut d, &mut self.live).map_err(Problem::bare),
            WORDS => words(&mut d, &self.live, &mut self.words).map_err(Problem::bare),
            THREAD_END => thread_end(&mut d, &mut self.live).map_err(Problem::bare),
            END => end(&mut d, &mut self.counts).map_err(Problem::bare),
            // As in a profile, a small first letter marks what a reader may ignore.
            [first, ..] if first.is_ascii_lowercase() => return Ok(Piece::Ignored),
            _ => {
                return Err(ReadError::UnknownSection {
                    section: name(tag),
                    offset: self.offset,
                }
                .into());
            }
        };
        let piece = match piece {
            Ok(_) if !d.is_at_end() => Err(Problem::bare("there is more than belongs here".to_owned())),
            piece => piece,
        };
        let piece = piece.map_err(|problem| ReadError::Malformed {
            section: name(tag),
            offset: self.offset,
            at: d.at as u64,
            problem: Box::new(problem),
        })?;
        match &piece {
            Piece::Class(..) => self.counts.classes += 1,
            Piece::Skipped(entries) => self.counts.skipped += entries.len() as u64,
            Piece::ThreadStart(_) => self.counts.threads += 1,
            Piece::Words(_) => {
                self.counts.chunks += 1;
                self.counts.words += self.words.len() as u64;
            }
            Piece::Run(_) | Piece::Conditions(..) | Piece::ThreadEnd(_) | Piece::End | Piece::Ignored => {}
        }
        Ok(piece)
    }

    fn nothing_follows(&mut self) -> Result<(), TraceError> {
        let extra = io::copy(&mut self.input, &mut io::sink()).map_err(|source| TraceError::Io {
            offset: self.offset,
            source,
        })?;
        if extra > 0 {
            return Err(ReadError::Trailing {
                offset: self.offset,
                extra,
            }
            .into());
        }
        Ok(())
    }
}

fn kinds(d: &mut Decoder<'_>) -> Decoded<EventKinds> {
    let bits = d.byte("kinds of events")?;
    EventKinds::from_bits(bits).ok_or_else(|| format!("{bits:#04x} are no kinds of events"))
}

fn class(d: &mut Decoder<'_>) -> Result<Piece, Problem> {
    let first_method = d.u32("id of the first method").map_err(Problem::bare)?;
    let class = codec::read::class(d)?;
    validate::class(&class)?;
    if class.counts.iter().any(|counts| *counts != Default::default()) {
        return Err(Problem {
            class: Some(class.map.name.clone()),
            method: None,
            what: "a class in a trace has no counts, but there are some".to_owned(),
        });
    }
    Ok(Piece::Class(first_method, class.map))
}

fn thread(d: &mut Decoder<'_>, live: &mut HashSet<u64>) -> Decoded<Piece> {
    let thread = ThreadInfo {
        id: d.uint("thread")?,
        is_virtual: d.boolean("virtual")?,
        name: d.string("name of a thread")?,
    };
    if !live.insert(thread.id) {
        return Err(format!("thread {} begins, but it is running", thread.id));
    }
    Ok(Piece::ThreadStart(thread))
}

fn words(d: &mut Decoder<'_>, live: &HashSet<u64>, words: &mut Vec<u64>) -> Decoded<Piece> {
    let thread = d.uint("thread")?;
    if !live.contains(&thread) {
        return Err(format!("thread {thread} is not running"));
    }
    let count = d.count("words")?;
    if count > CHUNK_WORDS {
        return Err(format!("a chunk of {count} words is longer than {CHUNK_WORDS}"));
    }
    words.clear();
    pack::unpack(d, count, words)?;
    Ok(Piece::Words(thread))
}

fn thread_end(d: &mut Decoder<'_>, live: &mut HashSet<u64>) -> Decoded<Piece> {
    let thread = d.uint("thread")?;
    if !live.remove(&thread) {
        return Err(format!("thread {thread} ends, but it is not running"));
    }
    Ok(Piece::ThreadEnd(thread))
}

fn end(d: &mut Decoder<'_>, found: &mut TraceCounts) -> Decoded<Piece> {
    let stated = TraceCounts {
        classes: d.uint("number of classes")?,
        skipped: d.uint("number of skipped entries")?,
        threads: d.uint("number of threads")?,
        chunks: d.uint("number of chunks")?,
        words: d.uint("number of words")?,
        bad_words: d.uint("number of bad words")?,
    };
    found.bad_words = stated.bad_words;
    if stated != *found {
        return Err(format!("the trace holds {found:?}, its end says {stated:?}"));
    }
    Ok(Piece::End)
}
