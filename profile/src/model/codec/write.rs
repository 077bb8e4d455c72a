//! Profile to bytes.

use trodden_numbering::{BlockId, EndCause, FlowGraph, StartKind};

use super::error::WriteError;
use super::wire::{Encoder, put_ascending};
use super::{CLASSES, END, FORMAT_VERSION, MAGIC, RUN, SKIPPED, validate};
use crate::model::counts::MethodCounts;
use crate::model::kinds::KINDS;
use crate::model::map::{BlockExit, BlockInfo, EdgeLabel, MethodMap};
use crate::model::profile::{ClassProfile, Profile, RunInfo, Skipped};
use crate::model::section::{Records, put_packed};

pub(crate) fn to_bytes(profile: &Profile) -> Result<Vec<u8>, WriteError> {
    let mut bytes = begin(&profile.run)?;
    let mut classes = Records::new(CLASSES);
    for class_profile in &profile.classes {
        validate::class(class_profile)?;
        class(&mut classes.plain, class_profile);
        classes.end()?;
    }
    classes.append_to(&mut bytes)?;
    for kind in KINDS {
        kind.check(profile)?;
        kind.write(profile, &mut bytes)?;
    }
    end(bytes, profile.classes.len(), &profile.skipped)
}

/// The bytes of a file up to its classes.
pub(crate) fn begin(about: &RunInfo) -> Result<Vec<u8>, WriteError> {
    validate::run(about)?;
    let mut bytes = MAGIC.to_vec();
    bytes.extend_from_slice(&FORMAT_VERSION.to_le_bytes());
    let mut plain = Encoder::default();
    run(&mut plain, about);
    put_packed(&mut bytes, RUN, &plain.bytes)?;
    Ok(bytes)
}

/// The bytes of a file, from those up to what was left alone.
pub(crate) fn end(mut bytes: Vec<u8>, classes: usize, left_alone: &[Skipped]) -> Result<Vec<u8>, WriteError> {
    let mut entries = Records::new(SKIPPED);
    for entry in left_alone {
        skipped(&mut entries.plain, entry);
        entries.end()?;
    }
    entries.append_to(&mut bytes)?;
    let mut plain = Encoder::default();
    plain.len(classes);
    plain.len(left_alone.len());
    put_packed(&mut bytes, END, &plain.bytes)?;
    Ok(bytes)
}

pub(crate) fn run(out: &mut Encoder, run: &RunInfo) {
    out.string(&run.jvm);
    out.string(&run.command);
    out.uint(run.started_ms);
    out.f64(run.seconds);
    out.string(&run.probe);
    out.option(run.schedule.as_deref(), Encoder::string);
    out.option(run.interval_ns, Encoder::uint);
    out.byte(u8::from(run.exact));
    out.string(&run.options);
    out.string(&run.version);
    let facts = run.facts.texts();
    out.len(facts.len());
    for (name, value) in facts {
        out.string(name);
        out.string(&value);
    }
}

pub(crate) fn class(out: &mut Encoder, class: &ClassProfile) {
    out.string(&class.map.name);
    out.bytes.extend_from_slice(&class.map.sha256);
    out.option(class.map.source_file.as_deref(), Encoder::string);
    out.len(class.map.methods.len());
    for (map, counts) in class.map.methods.iter().zip(&class.counts) {
        method(out, map);
        method_counts(out, counts);
    }
}

fn method(out: &mut Encoder, map: &MethodMap) {
    out.string(&map.name);
    out.string(&map.descriptor);
    out.uint(u64::from(map.code_length));
    out.len(map.blocks.len());
    let mut expected = 0;
    for (index, info) in map.blocks.iter().enumerate() {
        block(out, map, BlockId::new(index), info, expected);
        expected = info.end;
    }
    out.len(map.graph.entry().index());
    out.len(map.graph.extra_starts().len());
    for start in map.graph.extra_starts() {
        out.len(start.index());
    }
    out.len(map.dag.starts().len());
    for start in map.dag.starts() {
        out.byte(match start.kind {
            StartKind::Entry => 0,
            StartKind::Header => 1,
            StartKind::Handler => 2,
            StartKind::Cut => 3,
        });
        out.len(start.block.index());
        out.uint(start.value);
        out.uint(start.paths);
    }
    out.len(map.lines.len());
    let (mut bci, mut line) = (0, 0);
    for entry in &map.lines {
        out.uint(u64::from(entry.bci - bci));
        out.int(i64::from(entry.line) - i64::from(line));
        (bci, line) = (entry.bci, entry.line);
    }
    put_ascending(out, map.unobserved.iter().copied(), |_, _| ());
}

fn block(out: &mut Encoder, map: &MethodMap, id: BlockId, info: &BlockInfo, expected: u32) {
    out.int(i64::from(info.start) - i64::from(expected));
    out.uint(u64::from(info.end - info.start));
    out.uint(u64::from(info.last - info.start));
    let exit = match info.exit {
        BlockExit::FallThrough => 0,
        BlockExit::Goto => 1,
        BlockExit::Branch => 2,
        BlockExit::Switch => 3,
        BlockExit::Return => 4,
        BlockExit::Throw => 5,
    };
    let ends = match map.dag.end_cause(id) {
        None => 0,
        Some(EndCause::Header) => 1,
        Some(EndCause::Cut) => 2,
    };
    out.byte(ends << 4 | exit);
    let successors = map.graph.successors(id);
    out.len(successors.len());
    for ((to, label), &value) in successors.iter().zip(info.labels.iter()).zip(map.dag.values(id)) {
        edge_label(out, label);
        out.int(to.index() as i64 - id.index() as i64);
        out.uint(value);
    }
}

fn edge_label(out: &mut Encoder, label: &EdgeLabel) {
    let (keys, default) = match label {
        EdgeLabel::FallThrough => return out.byte(0),
        EdgeLabel::Goto => return out.byte(1),
        EdgeLabel::Taken => return out.byte(2),
        EdgeLabel::NotTaken => return out.byte(3),
        EdgeLabel::Switch { keys, default } => (keys, *default),
    };
    out.byte(if default { 5 } else { 4 });
    out.len(keys.len());
    let mut previous = 0;
    for &key in keys {
        out.int(i64::from(key) - previous);
        previous = i64::from(key);
    }
}

fn method_counts(out: &mut Encoder, counts: &MethodCounts) {
    put_ascending(out, counts.paths.keys().copied(), |out, number| {
        out.uint(counts.paths[&number]);
    });
    out.len(counts.partial.len());
    for (&(block, number), &times) in &counts.partial {
        out.uint(u64::from(block));
        out.uint(number);
        out.uint(times);
    }
}

pub(crate) fn skipped(out: &mut Encoder, skipped: &Skipped) {
    out.string(&skipped.class);
    out.option(skipped.method.as_deref(), Encoder::string);
    out.string(&skipped.reason);
}
