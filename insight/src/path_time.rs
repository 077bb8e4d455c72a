//! Time of methods, blocks and paths: CPU samples, brought together with counts of paths.
//!
//! Samples fall into blocks, and paths go through blocks. A sample belongs to a block if a frame of the method was there:
//! what a block calls is in its time, so a path that leads to a slow call has that call's time. A block's time is divided
//! among the paths through it by their counts, as if each execution of the block took as long as any other. That is an
//! assumption, so it is kept apart from what is certain: blocks that one path alone goes through. Where the path register was
//! read from frames (probe `safepoint`) nothing is assumed: the readings in a block tell by which prefixes time came there.
//! Nor is it where samples waited for their path to end ([`trodden_profile::PathsAtPlaces`]): they are divided by their answers, with
//! the error of a draw of that many.

mod division;
mod groups;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap, HashSet};

use trodden_profile::{CpuFrame, CpuSamples, CpuTime, MethodMap, MethodTime, Profile};

pub use division::{Division, Part, ROUNDING, Through, Wait, WaitsInBlock, in_parts};
use groups::divide;
pub(crate) use groups::joint_error;
pub use groups::{Groups, PathTime};

/// Where a method's time goes.
#[derive(Clone, Debug, PartialEq)]
pub struct TimeView {
    /// Samples whose innermost frame was in the method.
    pub own: CpuTime,
    /// Samples in the method and in methods without path map that it called, directly or through others of those. Over all
    /// methods with path map these sum up to at most the program's time.
    pub near: CpuTime,
    /// Samples with the method on the stack, whatever it called.
    pub total: CpuTime,
    /// The program's time, but for lost samples.
    pub program: CpuTime,
    /// `near` as a share of the program's time, 0 to 1.
    pub share: f64,
    /// `total` as a share of the program's time, 0 to 1.
    pub total_share: f64,
    /// Per block: samples in it or in what it called. These and what is in none add up to `total`: where the method called
    /// itself, a sample is in the block of the innermost call.
    pub blocks: Vec<CpuTime>,
    /// Samples that are in no block of a counted path: it is not known which paths took them.
    pub unplaced: CpuTime,
    /// Samples on paths that an exception cut off when it left the method: they are in no path's count.
    pub cut_off: CpuTime,
    /// Number of samples whose path is known: its end was seen, or no other counted path goes through the block.
    pub answered: u64,
    /// Samples that are divided among paths by their counts.
    pub by_counts: f64,
}

impl TimeView {
    /// The part of the method's samples that is divided among paths by their counts, 0 to 1.
    pub fn share_by_counts(&self) -> f64 {
        self.by_counts / self.total.samples.max(1) as f64
    }

    /// The time of groups of the method's paths.
    pub fn of_groups(&self, division: &Division, groups: &Groups) -> Vec<PathTime> {
        let placed = self
            .blocks
            .iter()
            .fold(CpuTime::default(), |sum, &time| sum.plus(time));
        let unplaced = self.total.less(placed);
        divide((&self.blocks, unplaced), division, groups).groups
    }
}

/// Class, name and descriptor of a method.
pub type Names<'n> = (&'n str, &'n str, &'n str);

/// The methods that have a path map, of this run or of an earlier one.
pub fn measured(profile: &Profile) -> HashSet<Names<'_>> {
    let mut names = HashSet::new();
    let earlier = profile.memory.iter().flat_map(|memory| &memory.found.classes);
    for class in profile.classes.iter().chain(earlier) {
        let methods = class.map.methods.iter();
        names.extend(methods.map(|map| (&*class.map.name, &*map.name, &*map.descriptor)));
    }
    names
}

/// Times of all methods of a profile, computed once for all who show them.
#[derive(Debug)]
pub struct Times<'p> {
    /// The samples.
    pub samples: &'p CpuSamples,
    /// The program's time, but for lost samples.
    pub total: CpuTime,
    /// Per frame: its time, by place.
    pub methods: Vec<MethodTime>,
    /// Per frame: has it a path map?
    pub mapped: Vec<bool>,
    /// Per frame: samples that have it as their nearest frame with a path map, or as their innermost frame, if there is no such
    /// frame, by the place where it was. Each sample is with one place of one frame, so these sum up to the program's time.
    pub near_places: Vec<BTreeMap<Option<u16>, CpuTime>>,
    /// The same of all places together.
    pub near: Vec<CpuTime>,
    frames: HashMap<Names<'p>, usize>,
}

/// Samples of a run from which they say where its time was: the 95 % interval of a share is within 10 points of it then.
pub const ENOUGH_SAMPLES: u64 = 100;

impl<'p> Times<'p> {
    /// The samples, if they are [enough](ENOUGH_SAMPLES) to say where the time was.
    pub fn if_enough(&self) -> Option<&Self> {
        (self.total.samples >= ENOUGH_SAMPLES).then_some(self)
    }

    /// Of the samples of a profile; `known` are the methods with a path map.
    pub fn new(samples: &'p CpuSamples, known: &HashSet<Names<'_>>) -> Self {
        let names = |frame: &'p CpuFrame| (&*frame.class, &*frame.name, &*frame.descriptor);
        let mapped: Vec<bool> = samples.frames.iter().map(|f| known.contains(&names(f))).collect();
        let mut near_places = vec![BTreeMap::new(); samples.frames.len()];
        // Per depth: the nearest frame with a path map, and where it was.
        let mut stack: Vec<Option<(u32, Option<u16>)>> = Vec::new();
        for node in samples.tree.nodes() {
            stack.truncate(node.depth as usize - 1);
            let above = stack.last().copied().flatten();
            let is_mapped = mapped.get(node.frame as usize).copied().unwrap_or(false);
            let here = (node.frame, node.bci);
            let nearest = if is_mapped { Some(here) } else { above };
            stack.push(nearest);
            let (frame, bci) = nearest.unwrap_or(here);
            if let Some(places) = near_places.get_mut(frame as usize)
                && !node.own.is_none()
            {
                let time: &mut CpuTime = places.entry(bci).or_default();
                *time = time.plus(node.own);
            }
        }
        let sum =
            |places: &BTreeMap<_, CpuTime>| places.values().copied().fold(CpuTime::default(), CpuTime::plus);
        let near = near_places.iter().map(sum).collect();
        Times {
            total: samples.total(),
            methods: samples.by_place(),
            mapped,
            near_places,
            near,
            frames: samples.frames.iter().map(names).zip(0..).collect(),
            samples,
        }
    }

    /// True if the frame's method has a path map.
    pub fn is_mapped(&self, frame: u32) -> bool {
        self.mapped.get(frame as usize).copied().unwrap_or(false)
    }

    /// The position of a method among the frames.
    pub fn frame(&self, names: Names<'_>) -> Option<usize> {
        self.frames.get(&names).copied()
    }

    /// The paths that samples in a method were on, by block and place. Those of a place have its whole time together,
    /// whatever part of its samples waited.
    pub fn paths_of(&self, class: &str, map: &MethodMap) -> Vec<WaitsInBlock> {
        let mut blocks = vec![WaitsInBlock::new(); map.blocks.len()];
        let Some(frame) = self.frame((class, &map.name, &map.descriptor)) else {
            return blocks;
        };
        let places = &self.methods[frame].places;
        let mut waits: BTreeMap<u16, Vec<(Option<u64>, CpuTime)>> = BTreeMap::new();
        for ((bci, path), time) in self.samples.paths.of_frame(frame as u32) {
            if let Some(bci) = bci {
                waits.entry(bci).or_default().push((path, time));
            }
        }
        for (place, waits) in waits {
            let Some(block) = map.block_at(place.into()) else {
                continue;
            };
            let Some(block) = blocks.get_mut(block.index()) else {
                continue;
            };
            let waited: u64 = waits.iter().map(|(_, time)| time.ns).sum();
            let all = places.get(&Some(place)).map_or(0, |time| time.total.ns);
            let scale = if all == 0 {
                1.0
            } else {
                all as f64 / waited.max(1) as f64
            };
            block.extend(waits.into_iter().map(|(path, time)| Wait {
                place,
                path,
                samples: time.samples,
                ns: time.ns as f64 * scale,
            }));
        }
        blocks
    }

    /// The time of a method and of its paths, as they are divided. `None`: it has no sample.
    pub fn of(
        &self,
        (class, map): (&str, &MethodMap),
        division: &Division,
    ) -> Option<(TimeView, Vec<PathTime>)> {
        let frame = self.frame((class, &map.name, &map.descriptor))?;
        let (time, near) = (&self.methods[frame], self.near[frame]);
        let mut blocks = vec![CpuTime::default(); map.blocks.len()];
        let mut unplaced = CpuTime::default();
        for (&bci, place) in &time.places {
            let block = bci.and_then(|bci| map.block_at(bci.into()));
            match block.and_then(|block| blocks.get_mut(block.index())) {
                Some(block) => *block = block.plus(place.total),
                None => unplaced = unplaced.plus(place.total),
            }
        }
        let share = |time: CpuTime| time.ns as f64 / self.total.ns.max(1) as f64;
        let groups = Groups::single(division.paths);
        let divided = divide((&blocks, unplaced), division, &groups);
        let view = TimeView {
            own: time.all.own,
            near,
            total: time.all.total,
            program: self.total,
            share: share(near),
            total_share: share(time.all.total),
            blocks,
            unplaced: divided.unplaced,
            cut_off: divided.cut_off,
            answered: divided.answered,
            by_counts: divided.by_counts,
        };
        Some((view, divided.groups))
    }
}
