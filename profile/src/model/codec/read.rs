//! Bytes to profile.

use std::borrow::Cow;
use std::collections::HashSet;
use std::hash::Hash;
use std::io::Read;
use std::sync::Arc;

use flate2::bufread::ZlibDecoder;
use trodden_numbering::{BlockId, EndCause, PathDag, PathStart, Rows, SimpleGraph, StartKind};

use super::error::{Problem, ReadError};
use super::wire::{Decoded, Decoder, ascending};
use super::{
    CLASSES, END, FORMAT_VERSION, MAGIC, PLAIN, RUN, SECTION_HEADER, SECTION_LIMIT, SKIPPED, Tag, ZLIB,
    section_crc, unpacked_limit, validate,
};
use crate::model::counts::MethodCounts;
use crate::model::facts::Facts;
use crate::model::kinds::KINDS;
use crate::model::map::{BlockExit, BlockInfo, ClassMap, EdgeLabel, LineEntry, MethodMap};
use crate::model::profile::{ClassProfile, Profile, RunInfo, Skipped};
use crate::model::section::SectionReader;

pub(crate) fn read(bytes: &[u8]) -> Result<Profile, ReadError> {
    let mut at = header(bytes)?;
    check_sum(bytes, at)?;
    let mut profile = Profile::default();
    let mut seen_run = false;
    let mut equal = Equal::default();
    let mut readers: Vec<Box<dyn SectionReader>> = KINDS.iter().map(|kind| kind.reader()).collect();
    loop {
        let frame = Frame::at(bytes, at)?;
        let plain = frame.plain()?;
        let mut decoder = Decoder::new(&plain);
        if !seen_run && frame.tag != RUN {
            return Err(frame.order("comes before the section 'RUN '"));
        }
        match frame.tag {
            RUN if seen_run => return Err(frame.order("is there twice")),
            RUN => {
                profile.run = frame.record(&mut decoder, run, validate::run)?;
                seen_run = true;
            }
            CLASSES => {
                while !decoder.is_at_end() {
                    let mut class = frame.record(&mut decoder, class, validate::class)?;
                    equal.share(&mut class);
                    profile.classes.push(class);
                }
            }
            SKIPPED => {
                while !decoder.is_at_end() {
                    let entry =
                        frame.record(&mut decoder, |d| skipped(d).map_err(Problem::bare), |_| Ok(()))?;
                    profile.skipped.push(entry);
                }
            }
            END => {
                // All classes are known now, so what speaks of them can be checked.
                for (kind, reader) in KINDS.into_iter().zip(std::mem::take(&mut readers)) {
                    let read = reader.finish(&mut profile).map_err(Problem::bare);
                    let read = read.and_then(|()| kind.check(&profile));
                    read.map_err(|problem| frame.malformed(&decoder, problem))?;
                }
                let counts = (profile.classes.len() as u64, profile.skipped.len() as u64);
                frame.record(
                    &mut decoder,
                    |d| end(d, counts).map_err(Problem::bare),
                    |_| Ok(()),
                )?;
            }
            tag => match KINDS.iter().position(|kind| kind.tags().contains(&tag)) {
                Some(kind) => {
                    let read = readers[kind].section(tag, &mut decoder, &mut profile);
                    read.map_err(|what| frame.malformed(&decoder, Problem::bare(what)))?;
                }
                // As in PNG, a small first letter marks what a reader may ignore: later versions can add to a file.
                None if tag[0].is_ascii_lowercase() => {
                    at = frame.end;
                    continue;
                }
                None => {
                    return Err(ReadError::UnknownSection {
                        section: frame.name(),
                        offset: frame.start as u64,
                    });
                }
            },
        }
        if !decoder.is_at_end() {
            return Err(frame.malformed(
                &decoder,
                Problem::bare("there is more than belongs here".to_owned()),
            ));
        }
        at = frame.end;
        if frame.tag == END {
            break;
        }
    }
    if at < bytes.len() {
        return Err(ReadError::Trailing {
            offset: at as u64,
            extra: (bytes.len() - at) as u64,
        });
    }
    Ok(profile)
}

/// Graphs and numberings that were read, each once: a program has many methods of one shape.
#[derive(Default)]
struct Equal {
    graphs: HashSet<SimpleGraph>,
    dags: HashSet<PathDag>,
}

impl Equal {
    /// Gives the methods of a class the memory of those that are equal.
    fn share(&mut self, class: &mut ClassProfile) {
        for method in &mut Arc::make_mut(&mut class.map).methods {
            once(&mut self.graphs, &mut method.graph);
            once(&mut self.dags, &mut method.dag);
        }
    }
}

fn once<T: Clone + Eq + Hash>(known: &mut HashSet<T>, one: &mut T) {
    match known.get(one) {
        Some(equal) => *one = equal.clone(),
        None => {
            known.insert(one.clone());
        }
    }
}

fn truncated(bytes: &[u8], needed: usize, place: &str) -> ReadError {
    ReadError::Truncated {
        offset: bytes.len() as u64,
        missing: (needed - bytes.len()) as u64,
        place: place.to_owned(),
    }
}

fn header(bytes: &[u8]) -> Result<usize, ReadError> {
    if bytes.is_empty() || !bytes.iter().zip(&MAGIC).all(|(a, b)| a == b) {
        return Err(if bytes.is_empty() {
            truncated(bytes, MAGIC.len(), "the magic bytes")
        } else if bytes.starts_with(&super::TRACE_MAGIC) {
            ReadError::Trace
        } else {
            ReadError::NotTrodden
        });
    }
    let Some(version) = bytes.get(MAGIC.len()..MAGIC.len() + 2) else {
        return Err(truncated(bytes, MAGIC.len() + 2, "the file header"));
    };
    let found = u16::from_le_bytes([version[0], version[1]]);
    if !(1..=FORMAT_VERSION).contains(&found) {
        return Err(ReadError::UnsupportedVersion {
            found,
            newest: FORMAT_VERSION,
        });
    }
    Ok(MAGIC.len() + 2)
}

/// What a section's header says behind tag and encoding: stored length, plain length, CRC-32.
fn numbers(header: &[u8; SECTION_HEADER]) -> [u32; 3] {
    [5, 9, 13].map(|i| u32::from_le_bytes([header[i], header[i + 1], header[i + 2], header[i + 3]]))
}

/// Refuses a file that claims to unpack to more than [`unpacked_limit`], before any of it is unpacked.
fn check_sum(bytes: &[u8], mut at: usize) -> Result<(), ReadError> {
    let mut claimed = 0;
    // What is wrong with a section is found when it is read.
    while let Some(header) = bytes.get(at..).and_then(<[u8]>::first_chunk) {
        let [stored, plain, _] = numbers(header);
        claimed += u64::from(plain);
        at = at.saturating_add(SECTION_HEADER + stored as usize);
    }
    let limit = unpacked_limit(bytes.len());
    if claimed > limit {
        return Err(ReadError::UnpacksTooFar { claimed, limit });
    }
    Ok(())
}

/// A section whose checksum was found right.
struct Frame<'a> {
    tag: Tag,
    encoding: u8,
    start: usize,
    end: usize,
    stored: &'a [u8],
    plain_length: usize,
}

impl<'a> Frame<'a> {
    fn at(bytes: &'a [u8], start: usize) -> Result<Self, ReadError> {
        let rest = &bytes[start..];
        let Some(header) = rest.first_chunk::<SECTION_HEADER>() else {
            return Err(truncated(
                bytes,
                start + SECTION_HEADER,
                "a section header (there is no end marker)",
            ));
        };
        let tag = [header[0], header[1], header[2], header[3]];
        let [stored_length, plain_length, stated] = numbers(header);
        let (stored_length, plain_length) = (stored_length as usize, plain_length as usize);
        let limit = SECTION_LIMIT;
        if stored_length > limit || plain_length > limit {
            return Err(ReadError::TooLarge {
                section: name(tag),
                offset: start as u64,
                claimed: stored_length.max(plain_length) as u64,
                limit: limit as u64,
            });
        }
        let end = start + SECTION_HEADER + stored_length;
        let Some(stored) = rest.get(SECTION_HEADER..SECTION_HEADER + stored_length) else {
            let place = format!("section '{}' that starts at offset {start}", name(tag));
            return Err(truncated(bytes, end, &place));
        };
        let found = section_crc(&header[..SECTION_HEADER - 4], stored);
        if found != stated {
            return Err(ReadError::Checksum {
                section: name(tag),
                offset: start as u64,
                found,
                stated,
            });
        }
        Ok(Frame {
            tag,
            encoding: header[4],
            start,
            end,
            stored,
            plain_length,
        })
    }

    fn name(&self) -> String {
        name(self.tag)
    }

    fn plain(&self) -> Result<Cow<'a, [u8]>, ReadError> {
        let unpack = |reason: String| ReadError::Unpack {
            section: self.name(),
            offset: self.start as u64,
            reason,
        };
        let wrong_length = |found| {
            unpack(format!(
                "it holds {found} bytes, its header says {}",
                self.plain_length
            ))
        };
        match self.encoding {
            PLAIN if self.stored.len() != self.plain_length => Err(wrong_length(self.stored.len())),
            PLAIN => Ok(Cow::Borrowed(self.stored)),
            ZLIB => {
                // One byte more than stated, to notice when there is more. Grows with what really comes out.
                let mut plain = Vec::new();
                let mut decoder = ZlibDecoder::new(self.stored);
                let mut limited = decoder.by_ref().take(self.plain_length as u64 + 1);
                limited
                    .read_to_end(&mut plain)
                    .map_err(|e| unpack(e.to_string()))?;
                if plain.len() != self.plain_length {
                    return Err(wrong_length(plain.len()));
                }
                if decoder.total_in() != self.stored.len() as u64 {
                    return Err(unpack("there is more behind its packed contents".to_owned()));
                }
                Ok(Cow::Owned(plain))
            }
            other => Err(unpack(format!("unknown encoding {other}"))),
        }
    }

    fn order(&self, problem: &'static str) -> ReadError {
        ReadError::Order {
            section: self.name(),
            offset: self.start as u64,
            problem,
        }
    }

    fn malformed(&self, decoder: &Decoder<'_>, problem: Problem) -> ReadError {
        ReadError::Malformed {
            section: self.name(),
            offset: self.start as u64,
            at: decoder.at as u64,
            problem: Box::new(problem),
        }
    }

    /// Reads one record and holds it against the data model's rules.
    fn record<T>(
        &self,
        decoder: &mut Decoder<'_>,
        get: impl FnOnce(&mut Decoder<'_>) -> Result<T, Problem>,
        check: impl FnOnce(&T) -> Result<(), Problem>,
    ) -> Result<T, ReadError> {
        let record = get(decoder).and_then(|record| check(&record).map(|()| record));
        record.map_err(|problem| self.malformed(decoder, problem))
    }
}

pub(crate) fn name(tag: Tag) -> String {
    tag.escape_ascii().to_string()
}

pub(crate) fn run(d: &mut Decoder<'_>) -> Result<RunInfo, Problem> {
    let mut read = || -> Decoded<RunInfo> {
        Ok(RunInfo {
            jvm: d.string("JVM")?,
            command: d.string("command")?,
            started_ms: d.uint("start time")?,
            seconds: f64::from_le_bytes(d.array("seconds")?),
            probe: d.string("probe")?,
            schedule: d.option("schedule", |d| d.string("schedule"))?,
            interval_ns: d.option("interval", |d| d.uint("interval"))?,
            exact: d.boolean("exact")?,
            options: d.string("options")?,
            version: d.string("version")?,
            facts: facts(d)?,
        })
    };
    read().map_err(Problem::bare)
}

fn facts(d: &mut Decoder<'_>) -> Decoded<Facts> {
    let list = d.list("facts", |d, _| {
        Ok((d.string("fact")?, d.string("value of a fact")?))
    })?;
    if !list.is_sorted_by(|a, b| a.0 < b.0) {
        return Err("the facts are not in order".to_owned());
    }
    Ok(list.into_iter().collect())
}

fn end(d: &mut Decoder<'_>, found: (u64, u64)) -> Decoded<()> {
    let stated = (d.uint("number of classes")?, d.uint("number of skipped entries")?);
    if stated == found {
        return Ok(());
    }
    Err(format!(
        "the file holds {} classes and {} skipped entries, its end says {} and {}",
        found.0, found.1, stated.0, stated.1
    ))
}

pub(crate) fn skipped(d: &mut Decoder<'_>) -> Decoded<Skipped> {
    Ok(Skipped {
        class: d.string("class name")?,
        method: d.option("method", |d| d.string("method"))?,
        reason: d.string("reason")?,
    })
}

pub(crate) fn class(d: &mut Decoder<'_>) -> Result<ClassProfile, Problem> {
    let name = d.string("class name").map_err(Problem::bare)?;
    let in_class = |what| Problem {
        class: Some(name.clone()),
        method: None,
        what,
    };
    let sha256 = d.array("hash").map_err(in_class)?;
    let source_file = d
        .option("source file", |d| d.string("source file"))
        .map_err(in_class)?;
    let number = d.count("methods").map_err(in_class)?;
    let (mut methods, mut counts) = (Vec::new(), Vec::new());
    for _ in 0..number {
        let method_name = d.string("method name").map_err(in_class)?;
        let descriptor = d.string("descriptor").map_err(in_class)?;
        let title = format!("{method_name}{descriptor}");
        let (map, count) = method(d, method_name, descriptor).map_err(|what| Problem {
            method: Some(title),
            ..in_class(what)
        })?;
        methods.push(map);
        counts.push(count);
    }
    methods.shrink_to_fit();
    let map = Arc::new(ClassMap {
        name,
        sha256,
        source_file,
        methods,
    });
    counts.shrink_to_fit();
    Ok(ClassProfile { map, counts })
}

fn block_id(d: &mut Decoder<'_>, what: &str) -> Decoded<BlockId> {
    Ok(BlockId::new(d.u32(what)? as usize))
}

fn method(d: &mut Decoder<'_>, name: String, descriptor: String) -> Decoded<(MethodMap, MethodCounts)> {
    let code_length = d.u32("code length")?;
    let mut blocks = Blocks::default();
    for index in 0..d.count("blocks")? {
        blocks.read(d, index)?;
    }
    blocks.shrink_to_fit();
    let entry = block_id(d, "entry block")?;
    let extra_starts = d.list("handlers", |d, _| block_id(d, "handler block"))?;
    let starts = d.list("path starts", |d, _| {
        let kind = match d.byte("kind of path start")? {
            0 => StartKind::Entry,
            1 => StartKind::Header,
            2 => StartKind::Handler,
            3 => StartKind::Cut,
            other => return Err(format!("{other} is no kind of path start")),
        };
        Ok(PathStart {
            kind,
            block: block_id(d, "start block")?,
            value: d.uint("start value")?,
            paths: d.uint("number of paths")?,
        })
    })?;
    let (mut bci, mut line) = (0u32, 0i64);
    let lines = d.list("line entries", |d, _| {
        let step = d.u32("bytecode index of a line")?;
        bci = bci
            .checked_add(step)
            .ok_or("a line's bytecode index does not fit 32 bits")?;
        line = line.saturating_add(d.int("line")?);
        let line = u32::try_from(line).map_err(|_| format!("{line} is no line number"))?;
        Ok(LineEntry { bci, line })
    })?;
    let unobserved = ascending(d, "unobserved paths", |_| Ok(()))?;
    let map = MethodMap {
        name,
        descriptor,
        code_length,
        blocks: blocks.infos,
        graph: SimpleGraph::from_rows(entry, blocks.successors, extra_starts),
        dag: PathDag::from_rows(blocks.ends, blocks.values, starts),
        lines,
        inlined: Vec::new(),
        unobserved: unobserved.into_iter().map(|(number, ())| number).collect(),
        shape: None,
    };
    let paths = ascending(d, "paths", |d| d.uint("count"))?.into_iter().collect();
    let partial = d.list("partial paths", |d, _| {
        Ok(((d.u32("block")?, d.uint("partial number")?), d.uint("count")?))
    })?;
    if !partial.is_sorted_by(|a, b| a.0 < b.0) {
        return Err("the partial paths are not in order".to_owned());
    }
    let partial = partial.into_iter().collect();
    Ok((map, MethodCounts { paths, partial }))
}

/// The blocks of a method, as far as they were read. Programs have many: what is kept has no room to spare.
#[derive(Default)]
struct Blocks {
    infos: Vec<BlockInfo>,
    ends: Vec<Option<EndCause>>,
    successors: Rows<BlockId>,
    values: Rows<u64>,
}

impl Blocks {
    fn read(&mut self, d: &mut Decoder<'_>, index: usize) -> Decoded<()> {
        let in_code = |value: Option<i64>| {
            let value = value.and_then(|v| u32::try_from(v).ok());
            value.ok_or_else(|| format!("block {index} lies outside of any code"))
        };
        let expected = self.infos.last().map_or(0, |block| block.end);
        let start = in_code(d.int("block start")?.checked_add(i64::from(expected)))?;
        let end = in_code(i64::from(start).checked_add(i64::from(d.u32("block length")?)))?;
        let last = in_code(i64::from(start).checked_add(i64::from(d.u32("last instruction")?)))?;
        let byte = d.byte("block exit")?;
        let exit = match byte & 0x0f {
            0 => BlockExit::FallThrough,
            1 => BlockExit::Goto,
            2 => BlockExit::Branch,
            3 => BlockExit::Switch,
            4 => BlockExit::Return,
            5 => BlockExit::Throw,
            other => return Err(format!("block {index}: {other} is no kind of exit")),
        };
        self.ends.push(match byte >> 4 {
            0 => None,
            1 => Some(EndCause::Header),
            2 => Some(EndCause::Cut),
            other => return Err(format!("block {index}: {other} is no cause to end a path")),
        });
        let labels = d.list("successors", |d, _| {
            let label = edge_label(d)?;
            let to = d.int("successor")?.checked_add(index as i64);
            let to = to.and_then(|to| u32::try_from(to).ok());
            let to = to.ok_or_else(|| format!("block {index} has an impossible successor"))?;
            self.successors.push(BlockId::new(to as usize));
            self.values.push(d.uint("edge value")?);
            Ok(label)
        })?;
        self.successors.end_row();
        self.values.end_row();
        self.infos.push(BlockInfo {
            start,
            end,
            last,
            exit,
            labels: shared(labels),
        });
        Ok(())
    }

    fn shrink_to_fit(&mut self) {
        self.infos.shrink_to_fit();
        self.ends.shrink_to_fit();
        self.successors.shrink_to_fit();
        self.values.shrink_to_fit();
    }
}

/// Labels as nearly all blocks have them are there once for all.
fn shared(labels: Vec<EdgeLabel>) -> Cow<'static, [EdgeLabel]> {
    const COMMON: [&[EdgeLabel]; 5] = [
        &[],
        &[EdgeLabel::FallThrough],
        &[EdgeLabel::Goto],
        &[EdgeLabel::Taken, EdgeLabel::NotTaken],
        &[EdgeLabel::NotTaken, EdgeLabel::Taken],
    ];
    let common = COMMON.into_iter().find(|common| *common == labels);
    common.map_or(Cow::Owned(labels), Cow::Borrowed)
}

fn edge_label(d: &mut Decoder<'_>) -> Decoded<EdgeLabel> {
    let default = match d.byte("edge label")? {
        0 => return Ok(EdgeLabel::FallThrough),
        1 => return Ok(EdgeLabel::Goto),
        2 => return Ok(EdgeLabel::Taken),
        3 => return Ok(EdgeLabel::NotTaken),
        4 => false,
        5 => true,
        other => return Err(format!("{other} is no edge label")),
    };
    let mut previous = 0i64;
    let keys = d.list("switch keys", |d, _| {
        previous = previous.saturating_add(d.int("switch key")?);
        i32::try_from(previous).map_err(|_| format!("the switch key {previous} does not fit 32 bits"))
    })?;
    Ok(EdgeLabel::Switch { keys, default })
}
