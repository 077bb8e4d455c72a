//! Where the processor's time went: stacks of Java frames, sampled by CPU time.
//!
//! The stack of a thread is recorded at intervals of its CPU time. A sample represents the CPU time since the one before it, so
//! time is known exactly in sum and by chance in its parts: [`share_interval`] says how far chance may reach. Frames are
//! those of any class, the JDK's too, and need no path map; methods of path maps are found by their names.

mod codec;
mod lines;
mod merge;
mod paths;
mod places;
pub(crate) mod section;
mod since;
mod tree;

use crate::model::fault::{Fault, ensure};

pub use lines::FrameLines;
pub use paths::{CUT_OFF, PathAtPlace, PathWaits, PathsAtPlaces, UnequalSamples, WaitsOf};
pub use places::{MethodTime, PlaceTime, STANDARD_ERRORS, share_interval, share_interval_of};
pub use tree::{CpuNode, CpuRow, CpuTree};

/// Samples, and the CPU time that they represent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CpuTime {
    /// Number of samples. Their shares have the error of a sample of that size.
    pub samples: u64,
    /// Nanoseconds of CPU time. More than samples times interval where the system's clock ticks more slowly than was asked for.
    pub ns: u64,
}

impl CpuTime {
    /// Both sums; they stop at the largest number.
    #[must_use]
    pub fn plus(self, other: CpuTime) -> CpuTime {
        CpuTime {
            samples: self.samples.saturating_add(other.samples),
            ns: self.ns.saturating_add(other.ns),
        }
    }

    /// Is there no sample?
    pub fn is_none(self) -> bool {
        self == CpuTime::default()
    }
}

/// The meaning of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CpuFrameKind {
    /// A Java method, in bytecode or compiled.
    Java,
    /// A Java method that is `native`: what it calls has no frames of its own.
    Native,
    /// No method, but what the JVM was busy with, or why the stack is not known: `[GC]`, `[unknown Java frame]`. The text is in
    /// [`CpuFrame::name`].
    Other,
}

impl CpuFrameKind {
    /// All of them, in the order of their numbers in files.
    pub const ALL: [CpuFrameKind; 3] = [CpuFrameKind::Java, CpuFrameKind::Native, CpuFrameKind::Other];
}

/// A method, as frames name it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CpuFrame {
    /// Internal name of the class, with slashes; empty if it is no method. Classes of one name are one here.
    pub class: String,
    /// Name of the method, or what it is instead.
    pub name: String,
    /// Descriptor; empty if it is no method.
    pub descriptor: String,
    /// What it is.
    pub kind: CpuFrameKind,
}

impl CpuFrame {
    /// What is no method.
    pub fn other(name: impl Into<String>) -> Self {
        CpuFrame {
            class: String::new(),
            name: name.into(),
            descriptor: String::new(),
            kind: CpuFrameKind::Other,
        }
    }
}

/// Samples whose stack is not known, and why.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CpuFailure {
    /// Why: `gc-active`, `unknown-not-java`, …
    pub reason: String,
    /// How many. They are in the tree, too, at a frame of their own.
    pub time: CpuTime,
}

/// The CPU samples of a run, all threads together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CpuSamples {
    /// How stacks were read: `async` (wherever the thread was) or `safepoint` (where it came to rest next). Several, if
    /// profiles of both were merged.
    pub reader: String,
    /// CPU time from sample to sample that was asked for, in nanoseconds; the least one of merged profiles.
    pub interval_ns: u64,
    /// CPU time of the whole process while samples were taken, threads of the JVM itself (garbage collector, compilers)
    /// included, which have no samples. `None` if it is not known.
    pub process_ns: Option<u64>,
    /// Samples in no node: there was no room for their stacks.
    pub lost: CpuTime,
    /// Samples in a node above their own, because the tree was full.
    pub shortened: CpuTime,
    /// Samples of stacks that were deeper than is recorded: they have the innermost frames below a frame that represents
    /// the others.
    pub cut: CpuTime,
    /// Samples whose stack is not known, ascending by reason. They are in the tree.
    pub failed: Vec<CpuFailure>,
    /// Methods of the tree, ascending.
    pub frames: Vec<CpuFrame>,
    /// The stacks.
    pub tree: CpuTree,
    /// Lines of methods without a path map, as far as these are known.
    pub lines: FrameLines,
    /// Paths that samples were on, where these waited for the path to end.
    pub paths: PathsAtPlaces,
    /// The outcome for samples that waited.
    pub waits: PathWaits,
}

impl CpuSamples {
    /// Sets frames, in any order and maybe several times the same, and the stacks that speak of them by position. Rows that speak of
    /// no frame are left out, with those below them.
    pub fn set_stacks(&mut self, frames: Vec<CpuFrame>, rows: &[CpuRow]) {
        let mut sorted = frames.clone();
        sorted.sort_unstable();
        sorted.dedup();
        let places: Vec<Option<u32>> = frames
            .iter()
            .map(|frame| Some(sorted.binary_search(frame).ok()? as u32))
            .collect();
        self.tree = CpuTree::from_rows(rows, |frame| places.get(frame as usize).copied().flatten());
        self.frames = sorted;
    }

    /// Sets the paths that samples were on, whose frames are positions in a list that [`set_stacks`](Self::set_stacks)
    /// was given.
    pub fn set_paths(&mut self, frames: &[CpuFrame], paths: &PathsAtPlaces) {
        self.paths = self.renumbered(frames, paths);
    }

    /// Paths whose frames are positions in a list, with positions among these frames.
    fn renumbered(&self, frames: &[CpuFrame], paths: &PathsAtPlaces) -> PathsAtPlaces {
        paths.with_frames(|frame| {
            let frame = frames.get(frame as usize)?;
            Some(self.frames.binary_search(frame).ok()? as u32)
        })
    }

    /// All samples and their time, but for lost ones.
    pub fn total(&self) -> CpuTime {
        let own = self.tree.nodes().iter().map(|node| node.own);
        own.fold(CpuTime::default(), CpuTime::plus)
    }

    /// The position of a method among the frames.
    pub fn frame(&self, class: &str, name: &str, descriptor: &str) -> Option<usize> {
        let key = |frame: &CpuFrame| {
            let names = frame
                .class
                .as_str()
                .cmp(class)
                .then(frame.name.as_str().cmp(name));
            names.then(frame.descriptor.as_str().cmp(descriptor))
        };
        self.frames.binary_search_by(key).ok()
    }

    fn check(&self) -> Result<(), Fault> {
        Fault::order("methods of CPU samples", self.frames.is_sorted_by(|a, b| a < b))?;
        let are_sorted = self.failed.is_sorted_by(|a, b| a.reason < b.reason);
        Fault::order("reasons of CPU samples without a stack", are_sorted)?;
        let with_lines = self
            .lines
            .by_frame()
            .map(|(frame, _)| ("lines of CPU samples", frame));
        let with_paths = self
            .paths
            .iter()
            .map(|((frame, ..), _)| ("the path of a CPU sample", frame));
        let in_stacks = self.tree.nodes().iter().map(|node| ("a CPU sample", node.frame));
        for (what, frame) in with_lines.chain(with_paths).chain(in_stacks) {
            let is_there = (frame as usize) < self.frames.len();
            ensure(is_there, || Fault::NoItem(what, "method", frame.into()))?;
        }
        Ok(())
    }
}
