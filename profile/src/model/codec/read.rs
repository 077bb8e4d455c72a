//! Bytes to profile.

use std::borrow::Cow;
use std::collections::HashSet;
use std::hash::Hash;
use std::io::Read;
use std::sync::Arc;

use flate2::bufread::ZlibDecoder;
use trodden_numbering::{BlockId, EndCause, PathDag, PathStart, Rows, SimpleGraph, StartKind};

use super::error::{Checked, Problem, ReadError, SectionProblem};
use super::wire::{Decoded, Decoder, ascending};
use super::{
    CLASSES, END, FORMAT_VERSION, Header, MAGIC, PLAIN, RUN, SECTION_HEADER, SKIPPED, Tag, ZLIB,
    unpacked_limit, validate,
};
use crate::model::counts::MethodCounts;
use crate::model::facts::Facts;
use crate::model::fault::Fault;
use crate::model::kinds::KINDS;
use crate::model::map::{BlockExit, BlockInfo, ClassMap, EdgeLabel, LineEntry, MethodMap};
use crate::model::profile::{ClassProfile, Profile, RunInfo, Skipped};
use crate::model::section::SectionReader;

pub(crate) fn read(bytes: &[u8]) -> Result<Profile, ReadError> {
    let mut at = header(bytes)?;
    check_sum(bytes, at)?;
    let mut contents = Contents {
        profile: Profile::default(),
        equal: Equal::default(),
        readers: KINDS.iter().map(|kind| kind.reader()).collect(),
    };
    let mut seen_run = false;
    loop {
        let (header, stored) = section(bytes, at)?;
        let plain = unpack(&header, stored)?;
        at += SECTION_HEADER + stored.len();
        let tag = header.tag;
        if seen_run == (tag == RUN) {
            return Err(header.error(if seen_run {
                SectionProblem::Twice
            } else {
                SectionProblem::BeforeRun
            }));
        }
        seen_run = true;
        let is_common = [RUN, CLASSES, SKIPPED, END].contains(&tag);
        if !is_common && !KINDS.iter().any(|kind| kind.tags().contains(&tag)) {
            // As in PNG, a small first letter marks what a reader may ignore: later versions can add to a file.
            if tag[0].is_ascii_lowercase() {
                continue;
            }
            return Err(header.error(SectionProblem::Unknown));
        }
        let mut d = Decoder::new(&plain);
        let read = contents.section(tag, &mut d).and_then(|()| d.end());
        read.map_err(|problem| header.error(SectionProblem::Malformed(d.at, problem)))?;
        if tag == END {
            break;
        }
    }
    if at < bytes.len() {
        return Err(ReadError::Trailing {
            offset: at as u64,
            extra: (bytes.len() - at) as u64,
        });
    }
    Ok(contents.profile)
}

/// The contents that were read so far.
struct Contents {
    profile: Profile,
    equal: Equal,
    readers: Vec<Box<dyn SectionReader>>,
}

impl Contents {
    fn section(&mut self, tag: Tag, d: &mut Decoder<'_>) -> Decoded<()> {
        let profile = &mut self.profile;
        match tag {
            RUN => {
                profile.run = run(d)?;
                validate::run(&profile.run)
            }
            CLASSES => d.records(|d| {
                let mut class = class(d)?;
                validate::class(&class)?;
                self.equal.share(&mut class);
                profile.classes.push(class);
                Ok(())
            }),
            SKIPPED => d.records(|d| {
                profile.skipped.push(skipped(d)?);
                Ok(())
            }),
            END => {
                // All classes are known now, so what speaks of them can be checked.
                for (kind, reader) in KINDS.into_iter().zip(std::mem::take(&mut self.readers)) {
                    reader.finish(profile)?;
                    kind.check(profile)?;
                }
                let (classes, skipped) = (profile.classes.len(), profile.skipped.len());
                Fault::number("classes", classes as u64, d.uint("number of classes")?)?;
                Ok(Fault::number(
                    "skipped entries",
                    skipped as u64,
                    d.uint("number of skipped entries")?,
                )?)
            }
            _ => {
                let readers = KINDS.iter().zip(&mut self.readers);
                { readers }
                    .filter(|(kind, _)| kind.tags().contains(&tag))
                    .try_for_each(|(_, reader)| reader.section(tag, d, profile))
            }
        }
    }
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

/// Refuses a file that claims to unpack to more than [`unpacked_limit`], before any of it is unpacked.
fn check_sum(bytes: &[u8], mut at: usize) -> Result<(), ReadError> {
    let mut claimed = 0;
    // What is wrong with a section is found when it is read.
    while let Some(header) = bytes.get(at..).and_then(<[u8]>::first_chunk) {
        let header = Header::new(header, at as u64);
        claimed += header.plain as u64;
        at = at.saturating_add(SECTION_HEADER + header.stored);
    }
    let limit = unpacked_limit(bytes.len());
    if claimed > limit {
        return Err(ReadError::UnpacksTooFar { claimed, limit });
    }
    Ok(())
}

/// The section at an offset, whose checksum is right, and its stored bytes.
fn section(bytes: &[u8], start: usize) -> Result<(Header, &[u8]), ReadError> {
    let rest = &bytes[start..];
    let Some(header) = rest.first_chunk() else {
        let place = "a section header (there is no end marker)";
        return Err(truncated(bytes, start + SECTION_HEADER, place));
    };
    let header = Header::new(header, start as u64);
    header.check_lengths()?;
    let Some(stored) = rest[SECTION_HEADER..].get(..header.stored) else {
        let place = format!("section '{}' that starts at offset {start}", header.name());
        return Err(truncated(bytes, start + SECTION_HEADER + header.stored, &place));
    };
    header.check_stored(stored)?;
    Ok((header, stored))
}

fn unpack<'a>(header: &Header, stored: &'a [u8]) -> Result<Cow<'a, [u8]>, ReadError> {
    match header.encoding {
        PLAIN => {
            header.check_plain(stored.len())?;
            Ok(Cow::Borrowed(stored))
        }
        ZLIB => {
            // One byte more than stated, to notice when there is more. Grows with what really comes out.
            let mut plain = Vec::new();
            let mut decoder = ZlibDecoder::new(stored);
            let mut limited = decoder.by_ref().take(header.plain as u64 + 1);
            limited
                .read_to_end(&mut plain)
                .map_err(|e| header.error(SectionProblem::Packing(e.to_string())))?;
            header.check_plain(plain.len())?;
            if decoder.total_in() != stored.len() as u64 {
                return Err(header.error(SectionProblem::Trailing));
            }
            Ok(Cow::Owned(plain))
        }
        other => Err(header.error(SectionProblem::Encoding(other))),
    }
}

pub(crate) fn run(d: &mut Decoder<'_>) -> Decoded<RunInfo> {
    Ok(RunInfo {
        jvm: d.string("JVM")?,
        command: d.string("command")?,
        started_ms: d.uint("start time")?,
        seconds: d.f64("seconds")?,
        probe: d.string("probe")?,
        schedule: d.option("schedule", |d| d.string("schedule"))?,
        interval_ns: d.option("interval", |d| d.uint("interval"))?,
        exact: d.boolean("exact")?,
        options: d.string("options")?,
        version: d.string("version")?,
        facts: facts(d)?,
    })
}

fn facts(d: &mut Decoder<'_>) -> Decoded<Facts> {
    let list = d.list("facts", |d, _| {
        Ok((d.string("fact")?, d.string("value of a fact")?))
    })?;
    Fault::order("facts", list.is_sorted_by(|a, b| a.0 < b.0))?;
    Ok(list.into_iter().collect())
}

pub(crate) fn skipped(d: &mut Decoder<'_>) -> Decoded<Skipped> {
    Ok(Skipped {
        class: d.string("class name")?,
        method: d.option("method", |d| d.string("method"))?,
        reason: d.string("reason")?,
    })
}

pub(crate) fn class(d: &mut Decoder<'_>) -> Checked<ClassProfile> {
    let name = d.string("class name")?;
    let (mut methods, mut counts) = (Vec::new(), Vec::new());
    let mut title = None;
    let mut read = || -> Decoded<_> {
        let sha256 = d.array("hash")?;
        let source_file = d.option("source file", |d| d.string("source file"))?;
        for _ in 0..d.count("methods")? {
            title = None;
            let (name, descriptor) = (d.string("method name")?, d.string("descriptor")?);
            title = Some(format!("{name}{descriptor}"));
            let (map, count) = method(d, name, descriptor)?;
            methods.push(map);
            counts.push(count);
        }
        Ok((sha256, source_file))
    };
    let (sha256, source_file) = read().map_err(|problem| Problem {
        class: Some(name.clone()),
        method: title,
        ..*problem
    })?;
    methods.shrink_to_fit();
    counts.shrink_to_fit();
    let map = Arc::new(ClassMap {
        name,
        sha256,
        source_file,
        methods,
    });
    Ok(ClassProfile { map, counts })
}

fn block_id(d: &mut Decoder<'_>, what: &'static str) -> Decoded<BlockId> {
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
            other => return Err(Fault::NoSuch("kind of path start", other.into()).into()),
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
            .ok_or(Fault::TooWide("bytecode index of a line", 32))?;
        line = line.saturating_add(d.int("line")?);
        let line = u32::try_from(line).map_err(|_| Fault::NoSuch("line number", line))?;
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
    Fault::order("partial paths", partial.is_sorted_by(|a, b| a.0 < b.0))?;
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
            value.ok_or(Fault::TooWide("bytecode index of a block", 32))
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
            other => return Err(Fault::NoSuch("kind of exit", other.into()).into()),
        };
        self.ends.push(match byte >> 4 {
            0 => None,
            1 => Some(EndCause::Header),
            2 => Some(EndCause::Cut),
            other => return Err(Fault::NoSuch("cause to end a path", other.into()).into()),
        });
        let labels = d.list("successors", |d, _| {
            let label = edge_label(d)?;
            let to = d.int("successor")?.checked_add(index as i64);
            let to = to.and_then(|to| u32::try_from(to).ok());
            let to = to.ok_or(Fault::TooWide("successor of a block", 32))?;
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
        other => return Err(Fault::NoSuch("edge label", other.into()).into()),
    };
    let mut previous = 0i64;
    let keys = d.list("switch keys", |d, _| {
        previous = previous.saturating_add(d.int("switch key")?);
        Ok(i32::try_from(previous).map_err(|_| Fault::TooWide("switch key", 32))?)
    })?;
    Ok(EdgeLabel::Switch { keys, default })
}
