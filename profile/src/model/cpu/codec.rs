//! The sections of CPU samples, both ways.

use super::{
    CpuFailure, CpuFrame, CpuFrameKind, CpuNode, CpuSamples, CpuTime, CpuTree, FrameLines, PathWaits,
    PathsAtPlaces,
};
use crate::model::codec::wire::{Decoded, Decoder, Encoder};
use crate::model::codec::{Tag, WriteError};
use crate::model::profile::Profile;
use crate::model::section::{Records, SectionReader, Sections};

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

/// Writes the samples.
pub(super) fn write(cpu: &CpuSamples, out: &mut Sections<'_>) -> Result<(), WriteError> {
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
    out.put(ABOUT, &about.bytes)?;

    let mut frames = Records::default();
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
        frames.end();
    }
    out.put_records(FRAMES, frames)?;

    let mut nodes = Records::default();
    let mut before = 0;
    for node in cpu.tree.nodes() {
        let plain = &mut nodes.plain;
        plain.uint(u64::from(before + 1 - node.depth));
        before = node.depth;
        plain.uint(u64::from(node.frame));
        plain.uint(node.bci.map_or(0, |bci| u64::from(bci) + 1));
        put_time(plain, node.own);
        nodes.end();
    }
    out.put_records(NODES, nodes)?;

    let mut lines = Records::default();
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
        lines.end();
    }
    out.put_records(LINES, lines)?;

    if cpu.waits != PathWaits::default() {
        let mut waits = Encoder::default();
        cpu.waits
            .times()
            .into_iter()
            .for_each(|time| put_time(&mut waits, time));
        out.put(WAITS, &waits.bytes)?;
    }
    let mut paths = Records::default();
    for ((frame, bci, path), time) in cpu.paths.iter() {
        let plain = &mut paths.plain;
        plain.uint(u64::from(frame));
        plain.uint(bci.map_or(0, |bci| u64::from(bci) + 1));
        plain.option(path, Encoder::uint);
        put_time(plain, time);
        paths.end();
    }
    out.put_records(PATHS, paths)
}

fn put_time(out: &mut Encoder, time: CpuTime) {
    out.uint(time.samples);
    out.uint(time.ns);
}

fn time(d: &mut Decoder<'_>, what: &str) -> Decoded<CpuTime> {
    Ok(CpuTime {
        samples: d.uint(what)?,
        ns: d.uint(what)?,
    })
}

fn bci(d: &mut Decoder<'_>, what: &str) -> Decoded<Option<u16>> {
    match d.uint(what)? {
        0 => Ok(None),
        at => Ok(Some(
            u16::try_from(at - 1).map_err(|_| format!("{} is no bytecode index", at - 1))?,
        )),
    }
}

/// What was read so far.
#[derive(Default)]
pub(super) struct Reading {
    /// With the numbers of frames and nodes that there should be. They come later.
    about: Option<(CpuSamples, u64, u64)>,
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
        profile.cpu = self.samples()?;
        Ok(())
    }
}

impl Reading {
    fn about(&mut self, d: &mut Decoder<'_>) -> Decoded<()> {
        if self.about.is_some() {
            return Err("the file tells about its CPU samples twice".to_owned());
        }
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
        self.about = Some((cpu, frames, d.uint("number of stacks")?));
        if d.is_at_end() {
            Ok(())
        } else {
            Err("something follows what is said of CPU samples".to_owned())
        }
    }

    fn frame(&mut self, d: &mut Decoder<'_>) -> Decoded<()> {
        let kind = usize::from(d.byte("kind of a frame")?);
        let kind = CpuFrameKind::ALL
            .get(kind)
            .ok_or_else(|| format!("{kind} is no kind of frame"))?;
        self.frames.push(CpuFrame {
            kind: *kind,
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
                .ok_or("a stack rises above its outermost frame")?,
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
            let place = place.ok_or_else(|| format!("the lines of method {frame} are not in order"))?;
            let line = u32::try_from(line).map_err(|_| format!("{line} is no line number"))?;
            Ok((place, line))
        })?;
        if self.lines.insert(frame, places.into_iter().collect()) {
            Ok(())
        } else {
            Err(format!("method {frame} has no lines, or has them twice"))
        }
    }

    fn waits(&mut self, d: &mut Decoder<'_>) -> Decoded<()> {
        if self.waits != PathWaits::default() {
            return Err("the file tells about waiting CPU samples twice".to_owned());
        }
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
        if self.paths.last().is_some_and(|last| last >= at) {
            return Err("the paths of CPU samples are not in order".to_owned());
        }
        self.paths.add(at, time(d, "samples of a path")?);
        Ok(())
    }

    fn samples(self) -> Decoded<Option<CpuSamples>> {
        let found = (self.frames.len() as u64, self.nodes.len() as u64);
        match self.about {
            None if found == (0, 0) && self.lines == FrameLines::default() && self.paths.is_empty() => {
                Ok(None)
            }
            None => Err("there are CPU samples, but nothing tells about them".to_owned()),
            Some((_, frames, nodes)) if (frames, nodes) != found => Err(format!(
                "the file holds {} methods and {} stacks of CPU samples, it says {frames} and {nodes}",
                found.0, found.1
            )),
            Some((cpu, ..)) => Ok(Some(CpuSamples {
                frames: self.frames,
                tree: CpuTree::from_preorder(self.nodes)?,
                lines: self.lines,
                waits: self.waits,
                paths: self.paths,
                ..cpu
            })),
        }
    }
}
