//! A trace to its pieces, one after the other.

use std::collections::HashSet;
use std::io::{self, Read};
use std::sync::Arc;

use super::{CHUNK_WORDS, LZ4, MAGIC, THREAD, THREAD_END, TRACE_VERSION, TraceCounts, WORDS, pack};
use crate::model::codec::wire::{Decoded, Decoder};
use crate::model::codec::{
    self, CLASSES, END, Header, PLAIN, Problem, RUN, ReadError, SECTION_HEADER, SKIPPED, SectionProblem, Tag,
    validate,
};
use crate::model::conditions::MethodConditions;
use crate::model::conditions::codec::{CONDITIONS, of_class};
use crate::model::fault::{Fault, ensure};
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

/// Sections that are known.
const TAGS: [Tag; 8] = [RUN, CLASSES, CONDITIONS, SKIPPED, THREAD, WORDS, THREAD_END, END];

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
    /// Classes and methods that were left unchanged.
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
        let Some(TraceItem::Run(run)) = reader.next_section()? else {
            return Err(ReadError::Truncated {
                offset: reader.offset + reader.truncation.map_or(0, |t| t.lost),
                missing: 1,
                place: "the first section".to_owned(),
            }
            .into());
        };
        reader.first = Some(run);
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
        while !self.done {
            if let Some(item) = self.next_section()? {
                return Ok(Some(match item {
                    TraceItem::Words { thread, .. } => TraceItem::Words {
                        thread,
                        words: &self.words,
                    },
                    item => item,
                }));
            }
        }
        Ok(None)
    }

    /// The item of a section, its words in `words`; `None` for the end, and for a section that is ignored.
    fn next_section(&mut self) -> Result<Option<TraceItem<'static>>, TraceError> {
        // Stays so if anything goes wrong.
        self.done = true;
        let Some(header) = self.section()? else {
            return Ok(None);
        };
        let item = self.item(&header)?;
        self.offset += (SECTION_HEADER + self.stored.len()) as u64;
        if header.tag == END {
            self.nothing_follows()?;
        } else {
            self.done = false;
        }
        Ok(item)
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
    fn section(&mut self) -> Result<Option<Header>, TraceError> {
        let mut header = [0; SECTION_HEADER];
        let read = self.fill(&mut header)?;
        if read < header.len() {
            self.truncated(read);
            return Ok(None);
        }
        let header = Header::new(&header, self.offset);
        header.check_lengths()?;
        self.stored.clear();
        // Grows with what is really there.
        let mut payload = (&mut self.input).take(header.stored as u64);
        payload
            .read_to_end(&mut self.stored)
            .map_err(|source| TraceError::Io {
                offset: self.offset + SECTION_HEADER as u64,
                source,
            })?;
        if self.stored.len() < header.stored {
            self.truncated(SECTION_HEADER + self.stored.len());
            return Ok(None);
        }
        header.check_stored(&self.stored)?;
        self.unpack(&header)?;
        Ok(Some(header))
    }

    fn truncated(&mut self, read: usize) {
        self.truncation = Some(Truncation {
            offset: self.offset,
            lost: read as u64,
        });
    }

    fn unpack(&mut self, header: &Header) -> Result<(), ReadError> {
        self.plain.clear();
        match header.encoding {
            PLAIN => {
                header.check_plain(self.stored.len())?;
                self.plain.extend_from_slice(&self.stored);
                Ok(())
            }
            // A byte of LZ4 makes 255 at most: no more is reserved than the stored bytes can fill.
            LZ4 if header.plain > self.stored.len().saturating_mul(255) => {
                let problem = SectionProblem::Expands(self.stored.len(), header.plain);
                Err(header.error(problem))
            }
            LZ4 => {
                self.plain.resize(header.plain, 0);
                let length = lz4_flex::block::decompress_into(&self.stored, &mut self.plain);
                header.check_plain(length.map_err(|e| header.error(SectionProblem::Packing(e.to_string())))?)
            }
            other => Err(header.error(SectionProblem::Encoding(other))),
        }
    }

    fn item(&mut self, header: &Header) -> Result<Option<TraceItem<'static>>, TraceError> {
        let tag = header.tag;
        let is_first = !self.seen_run;
        if is_first && tag != RUN {
            return Err(header.error(SectionProblem::BeforeRun).into());
        }
        self.seen_run = true;
        if !TAGS.contains(&tag) {
            // As in a profile, a small first letter marks what a reader may ignore.
            if tag[0].is_ascii_lowercase() {
                return Ok(None);
            }
            return Err(header.error(SectionProblem::Unknown).into());
        }
        let mut d = Decoder::new(&self.plain);
        let mut read = || -> Decoded<Option<TraceItem<'static>>> {
            let item = match tag {
                RUN => {
                    let kinds = kinds(&mut d)?;
                    if is_first {
                        self.kinds = kinds;
                    }
                    let run = codec::read::run(&mut d)?;
                    validate::run(&run)?;
                    TraceItem::Run(run)
                }
                CLASSES => class(&mut d)?,
                CONDITIONS => {
                    let (first_method, methods) = of_class(&mut d)?;
                    TraceItem::Conditions {
                        first_method,
                        methods,
                    }
                }
                SKIPPED => TraceItem::Skipped(d.list("skipped entries", |d, _| codec::read::skipped(d))?),
                THREAD => thread(&mut d, &mut self.live)?,
                WORDS => words(&mut d, &self.live, &mut self.words)?,
                THREAD_END => thread_end(&mut d, &mut self.live)?,
                _ => {
                    end(&mut d, &mut self.counts)?;
                    return Ok(None);
                }
            };
            Ok(Some(item))
        };
        let item = read().and_then(|item| d.end().map(|()| item));
        let item = item.map_err(|problem| header.error(SectionProblem::Malformed(d.at, problem)))?;
        match &item {
            Some(TraceItem::Class { .. }) => self.counts.classes += 1,
            Some(TraceItem::Skipped(entries)) => self.counts.skipped += entries.len() as u64,
            Some(TraceItem::ThreadStart(_)) => self.counts.threads += 1,
            Some(TraceItem::Words { .. }) => {
                self.counts.chunks += 1;
                self.counts.words += self.words.len() as u64;
            }
            _ => {}
        }
        Ok(item)
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
    Ok(EventKinds::from_bits(bits).ok_or(Fault::NoSuch("set of kinds of events", bits.into()))?)
}

fn class(d: &mut Decoder<'_>) -> Decoded<TraceItem<'static>> {
    let first_method = d.u32("id of the first method")?;
    let class = codec::read::class(d)?;
    validate::class(&class)?;
    if class.counts.iter().any(|counts| !counts.is_empty()) {
        return Err(Problem::of_class(&class.map.name, Fault::Counted));
    }
    let map = class.map;
    Ok(TraceItem::Class { first_method, map })
}

fn thread(d: &mut Decoder<'_>, live: &mut HashSet<u64>) -> Decoded<TraceItem<'static>> {
    let thread = ThreadInfo {
        id: d.uint("thread")?,
        is_virtual: d.boolean("virtual")?,
        name: d.string("name of a thread")?,
    };
    ensure(live.insert(thread.id), || Fault::Running(thread.id))?;
    Ok(TraceItem::ThreadStart(thread))
}

fn words(d: &mut Decoder<'_>, live: &HashSet<u64>, words: &mut Vec<u64>) -> Decoded<TraceItem<'static>> {
    let thread = d.uint("thread")?;
    ensure(live.contains(&thread), || Fault::NotRunning(thread))?;
    let count = d.count("words")?;
    Fault::range("words of a chunk", count as u64, 0..=CHUNK_WORDS as u64)?;
    words.clear();
    pack::unpack(d, count, words)?;
    Ok(TraceItem::Words { thread, words: &[] })
}

fn thread_end(d: &mut Decoder<'_>, live: &mut HashSet<u64>) -> Decoded<TraceItem<'static>> {
    let thread = d.uint("thread")?;
    ensure(live.remove(&thread), || Fault::NotRunning(thread))?;
    Ok(TraceItem::ThreadEnd(thread))
}

fn end(d: &mut Decoder<'_>, found: &mut TraceCounts) -> Decoded<()> {
    for (what, found) in [
        ("classes", found.classes),
        ("skipped entries", found.skipped),
        ("threads", found.threads),
        ("chunks", found.chunks),
        ("words", found.words),
    ] {
        Fault::number(what, found, d.uint(what)?)?;
    }
    found.bad_words = d.uint("bad words")?;
    Ok(())
}
