//! The lines of places that have samples, in methods without a path map: with one, the map has the lines.

use std::collections::BTreeMap;

use super::{CpuFrame, CpuSamples};

/// In place of the line where merged profiles have different ones: their samples are of several builds.
const SEVERAL: u32 = 0;

/// Lines of places in methods: by frame, then bytecode index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FrameLines(BTreeMap<u32, BTreeMap<u16, u32>>);

impl FrameLines {
    /// The line of a place in a frame, if it is known.
    pub fn line(&self, frame: usize, bci: u16) -> Option<u32> {
        let places = self.0.get(&u32::try_from(frame).ok()?)?;
        places.get(&bci).copied().filter(|&line| line != SEVERAL)
    }

    /// True for frames with a line.
    pub fn has(&self, frame: usize) -> bool {
        u32::try_from(frame).is_ok_and(|frame| self.0.contains_key(&frame))
    }

    /// The places of each frame that has some, ascending.
    pub fn by_frame(&self) -> impl Iterator<Item = (u32, &BTreeMap<u16, u32>)> {
        self.0.iter().map(|(&frame, places)| (frame, places))
    }

    /// Adds places of a frame. False: it has some already, or there are none.
    pub(super) fn insert(&mut self, frame: u32, places: BTreeMap<u16, u32>) -> bool {
        !places.is_empty() && self.0.insert(frame, places).is_none()
    }
}

impl CpuSamples {
    /// Sets the lines of places: frame, bytecode index, line. The frames are positions in the list, which may have another
    /// order than that of the samples and frames that these do not have. A place that has several lines has none.
    pub fn set_lines(&mut self, frames: &[CpuFrame], lines: impl IntoIterator<Item = (u32, u16, u32)>) {
        self.lines = FrameLines::default();
        for (frame, bci, line) in lines {
            let frame = frames
                .get(frame as usize)
                .and_then(|frame| self.frames.binary_search(frame).ok());
            let Some(frame) = frame else { continue };
            let places = self.lines.0.entry(frame as u32).or_default();
            let known = places.entry(bci).or_insert(line);
            if *known != line {
                *known = SEVERAL;
            }
        }
    }

    /// Drops the lines of all frames but those that `is_wanted` names.
    pub fn keep_lines(&mut self, is_wanted: impl Fn(&CpuFrame) -> bool) {
        let frames = &self.frames;
        let is_wanted = |frame: u32| frames.get(frame as usize).is_some_and(&is_wanted);
        self.lines.0.retain(|&frame, _| is_wanted(frame));
    }

    /// The lines as [`set_lines`](Self::set_lines) takes them, with frames of these samples.
    pub(super) fn list_lines(&self) -> impl Iterator<Item = (u32, u16, u32)> {
        let all = self.lines.by_frame();
        all.flat_map(|(frame, places)| places.iter().map(move |(&bci, &line)| (frame, bci, line)))
    }
}
