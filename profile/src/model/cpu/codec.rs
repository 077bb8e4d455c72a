//! The sections of CPU samples: writing and reading.

use super::{
    CpuFailure, CpuFrame, CpuFrameKind, CpuNode, CpuSamples, CpuTime, CpuTree, FrameLines, PathWaits,
    PathsAtPlaces,
};
use crate::model::codec::wire::{Decoded, Decoder, Encoder};
use crate::model::codec::{Tag, WriteError};
use crate::model::fault::{Fault, ensure};
use crate::model::profile::Profile;
use crate::model::section::{About, Records, SectionReader, put_packed};

/// Tag of the section about all samples.
pub(super) const ABOUT: Tag = *b"cpus";
/// Tag of the sections with methods.
pub(super) const FRAMES: Tag = *b"cpuf";
/// Tag of the sections with stacks.
pub(super) const NODES: Tag = *b"cpun";
/// Tag of the sections with lines.
pub(super) const LINES: Tag = *b"cpul";

/// Tag of the section about samples that waited for their paths.
pub(super) const WAITS: Tag = *b"cpuw";
/// Tag of the sections with the paths that samples were on.
pub(super) const PATHS: Tag = *b"cpup";

/// The name of nodes in messages.
const STACKS: &str = "stacks of CPU samples";

/// Writes the samples.
pub(super) fn write(cpu: &CpuSamples, out: &mut Vec<u8>) -> Result<(), WriteError> {
    let mut about = Encoder::default();
    about.string(&cpu.reader);
    about.uint(cpu.interval_ns);
    about.option(cpu.process_ns, Encoder::uint);
    for time in [cpu.lost, cpu.shortened, cpu.cut] {
        put_time(&mut about, time);
    }
    about.len(cpu.failed.len());
    for failed in &cpu.failed {
        about.string(&failed.reason);
        put_time(&mut about, failed.time);
    }
    about.len(cpu.frames.len());
    about.len(cpu.tree.nodes().len());
    put_packed(out, ABOUT, &about.bytes)?;

    let mut frames = Records::new(FRAMES);
    for frame in &cpu.frames {
        let plain = &mut frames.plain;
        plain.byte(match frame.kind {
            CpuFrameKind::Java => 0,
            CpuFrameKind::Native => 1,
            CpuFrameKind::Other => 2,
        });
        plain.string(&frame.class);
        plain.string(&frame.name);
        plain.string(&frame.descriptor);
        frames.end()?;
    }
    frames.append_to(out)?;

    let mut nodes = Records::new(NODES);
    let mut before = 0;
    for node in cpu.tree.nodes() {
        let plain = &mut nodes.plain;
        plain.uint(u64::from(before + 1 - node.depth));
        before = node.depth;
        plain.uint(u64::from(node.frame));
        plain.uint(node.bci.map_or(0, |bci| u64::from(bci) + 1));
        put_time(plain, node.own);
        nodes.end()?;
    }
    nodes.append_to(out)?;

    let mut lines = Records::new(LINES);
    for (frame, places) in cpu.lines.by_frame() {
        let plain = &mut lines.plain;
        plain.uint(u64::from(frame));
        plain.len(places.len());
        let (mut bci, mut line) = (0, 0);
        for (&at, &here) in places {
            plain.uint(u64::from(at - bci));
            plain.int(i64::from(here) - line);
            (bci, line) = (at, i64::from(here));
        }
        lines.end()?;
    }
    lines.append_to(out)?;

    if cpu.waits != PathWaits::default() {
        let mut waits = Encoder::default();
        for time in cpu.waits.times() {
            put_time(&mut waits, time);
        }
        put_packed(out, WAITS, &waits.bytes)?;
    }
    let mut paths = Records::new(PATHS);
    for ((frame, bci, path), time) in cpu.paths.iter() {
        let plain = &mut paths.plain;
        plain.uint(u64::from(frame));
        plain.uint(bci.map_or(0, |bci| u64::from(bci) + 1));
        plain.option(path, Encoder::uint);
        put_time(plain, time);
        paths.end()?;
    }
    paths.append_to(out)
}

fn put_time(out: &mut Encoder, time: CpuTime) {
    out.uint(time.samples);
    out.uint(time.ns);
}

fn time(d: &mut Decoder<'_>, what: &'static str) -> Decoded<CpuTime> {
    Ok(CpuTime {
        samples: d.uint(what)?,
        ns: d.uint(what)?,
    })
}

fn bci(d: &mut Decoder<'_>, what: &'static str) -> Decoded<Option<u16>> {
    match d.uint(what)? {
        0 => Ok(None),
        at => Ok(Some(u16::try_from(at - 1).map_err(|_| Fault::TooWide(what, 16))?)),
    }
}

/// What was read so far.
#[derive(Default)]
pub(super) struct Reading {
    /// With the number of frames that there should be.
    about: About<(CpuSamples, u64)>,
    frames: Vec<CpuFrame>,
    nodes: Vec<CpuNode>,
    lines: FrameLines,
    waits: PathWaits,
    paths: PathsAtPlaces,
}

impl SectionReader for Reading {
    fn section(&mut self, tag: Tag, d: &mut Decoder<'_>, _: &mut Profile) -> Decoded<()> {
        match tag {
            ABOUT => self.about(d),
            FRAMES => d.records(|d| self.frame(d)),
            LINES => d.records(|d| self.lines(d)),
            WAITS => self.waits(d),
            PATHS => d.records(|d| self.path(d)),
            _ => d.records(|d| self.node(d)),
        }
    }

    fn finish(self: Box<Self>, profile: &mut Profile) -> Decoded<()> {
        let Some((cpu, stated)) = self.about.complete(STACKS, self.nodes.len() as u64)? else {
            let rest = self.frames.len() + self.lines.by_frame().count() + self.paths.len();
            ensure(rest == 0, || Fault::Untold("parts of CPU samples", rest as u64))?;
            return Ok(());
        };
        Fault::number("methods of CPU samples", self.frames.len() as u64, stated)?;
        profile.cpu = Some(CpuSamples {
            frames: self.frames,
            tree: CpuTree::from_preorder(self.nodes)?,
            lines: self.lines,
            waits: self.waits,
            paths: self.paths,
            ..cpu
        });
        Ok(())
    }
}

impl Reading {
    fn about(&mut self, d: &mut Decoder<'_>) -> Decoded<()> {
        let cpu = CpuSamples {
            reader: d.string("reader of stacks")?,
            interval_ns: d.uint("interval")?,
            process_ns: d.option("time of the process", |d| d.uint("time of the process"))?,
            lost: time(d, "lost samples")?,
            shortened: time(d, "shortened samples")?,
            cut: time(d, "cut samples")?,
            failed: d.list("reasons", |d, _| {
                Ok(CpuFailure {
                    reason: d.string("reason")?,
                    time: time(d, "samples without a stack")?,
                })
            })?,
            ..CpuSamples::default()
        };
        let frames = d.uint("number of methods")?;
        self.about.set(STACKS, (cpu, frames), d.uint("number of stacks")?)
    }

    fn frame(&mut self, d: &mut Decoder<'_>) -> Decoded<()> {
        let number = d.byte("kind of a frame")?;
        let kind = CpuFrameKind::ALL.get(usize::from(number));
        self.frames.push(CpuFrame {
            kind: *kind.ok_or(Fault::NoSuch("kind of frame", number.into()))?,
            class: d.string("class of a frame")?,
            name: d.string("method of a frame")?,
            descriptor: d.string("descriptor of a frame")?,
        });
        Ok(())
    }

    fn node(&mut self, d: &mut Decoder<'_>) -> Decoded<()> {
        let before = self.nodes.last().map_or(0, |node| node.depth);
        let rise = d.u32("rise of a stack")?;
        let depth = before.checked_add(1).and_then(|depth| depth.checked_sub(rise));
        let node = CpuNode {
            depth: depth
                .filter(|&depth| depth > 0)
                .ok_or(Fault::AboveRoot("stack"))?,
            frame: d.u32("frame")?,
            bci: bci(d, "bytecode index of a frame")?,
            own: time(d, "samples of a stack")?,
        };
        self.nodes.push(node);
        Ok(())
    }

    fn lines(&mut self, d: &mut Decoder<'_>) -> Decoded<()> {
        let frame = d.u32("method of lines")?;
        let (mut bci, mut line) = (0u64, 0i64);
        let places = d.list("lines of a method", |d, index| {
            let step = d.uint("bytecode index of a line")?;
            bci = bci.saturating_add(step);
            line = line.saturating_add(d.int("line")?);
            let place = u16::try_from(bci).ok().filter(|_| step > 0 || index == 0);
            let place = place.ok_or(Fault::NotInOrder("lines of a method"))?;
            let line = u32::try_from(line).map_err(|_| Fault::NoSuch("line number", line))?;
            Ok((place, line))
        })?;
        let is_new = self.lines.insert(frame, places.into_iter().collect());
        Ok(ensure(is_new, || Fault::NotInOrder("methods with lines"))?)
    }

    fn waits(&mut self, d: &mut Decoder<'_>) -> Decoded<()> {
        let is_first = self.waits == PathWaits::default();
        ensure(is_first, || Fault::Twice("waiting CPU samples"))?;
        let mut times = [CpuTime::default(); 10];
        for one in &mut times {
            *one = time(d, "samples that waited")?;
        }
        self.waits = PathWaits::from_times(times);
        Ok(())
    }

    fn path(&mut self, d: &mut Decoder<'_>) -> Decoded<()> {
        let at = (
            d.u32("method of a sample's path")?,
            bci(d, "place of a sample's path")?,
            d.option("path of samples", |d| d.uint("path of samples"))?,
        );
        let is_behind = self.paths.last().is_none_or(|last| last < at);
        Fault::order("paths of CPU samples", is_behind)?;
        self.paths.add(at, time(d, "samples of a path")?);
        Ok(())
    }
}
