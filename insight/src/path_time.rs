//! Time of methods, blocks and paths: CPU samples, brought together with counts of paths.
//!
//! Samples fall into blocks, and paths go through blocks. A sample belongs to a block if a frame of the method was there:
//! what a block calls is in its time, so a path that leads to a slow call has that call's time. A block's time is divided
//! among the paths through it by their counts, as if each execution of the block took as long as any other. That is an
//! assumption, so it is kept apart from what is certain: blocks that one path alone goes through. Where the path register was
//! read from frames (probe `safepoint`) nothing is assumed: the readings in a block tell by which prefixes time came there.
//! Nor is it where samples waited for their path to end ([`trodden_profile::PathsAtPlaces`]): they are divided by their answers, with
//! the error of a draw of that many.

use std::collections::{BTreeMap, HashMap, HashSet};

use trodden_numbering::BlockId;
use trodden_profile::{
    CpuFrame, CpuSamples, CpuTime, MethodMap, MethodTime, Profile, STANDARD_ERRORS, share_interval,
};

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
    /// Per block: samples in it or in what it called.
    pub blocks: Vec<CpuTime>,
    /// Samples that are in no block of a counted path: it is not known which paths took them.
    pub unplaced: CpuTime,
    /// What shares of paths are of: `blocks` and what is in none. More than `total` where the method called itself from
    /// several blocks.
    pub divided: CpuTime,
}

impl TimeView {
    /// The time of groups of the method's paths.
    pub fn of_groups(&self, division: &Division, groups: &Groups) -> Vec<PathTime> {
        let placed = self
            .blocks
            .iter()
            .fold(CpuTime::default(), |sum, &time| sum.plus(time));
        let unplaced = CpuTime {
            samples: self.divided.samples.saturating_sub(placed.samples),
            ns: self.divided.ns.saturating_sub(placed.ns),
        };
        divide(&self.blocks, unplaced, division, groups).groups
    }
}

/// The part of a method's time that a path has, or all paths that follow an edge.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PathTime {
    /// Nanoseconds, certain ones and its part of divided ones.
    pub ns: f64,
    /// Samples, likewise.
    pub samples: f64,
    /// Of the method's time, 0 to 1.
    pub share: f64,
    /// Between which bounds the share lies, whatever executions of one block take, with the error of as many samples
    /// (95 %): from what is certain to all time of the blocks that it goes through.
    pub interval: [f64; 2],
    /// Of the method's time: in blocks that only this path goes through, of those that were counted; what it has at least
    /// by the readings in each block (95 %), if there are some.
    pub certain: f64,
    /// Of the method's time: in blocks that it goes through, and in those whose paths are not known.
    pub most: f64,
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

impl<'p> Times<'p> {
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

    /// The position of a method among the frames.
    pub fn frame(&self, names: Names<'_>) -> Option<usize> {
        self.frames.get(&names).copied()
    }

    /// The paths that samples in a method were on, by block: the number of each, and its time.
    pub fn paths_of(&self, class: &str, map: &MethodMap) -> Vec<WaitsInBlock> {
        let mut blocks = vec![WaitsInBlock::new(); map.blocks.len()];
        let Some(frame) = self.frame((class, &map.name, &map.descriptor)) else {
            return blocks;
        };
        for ((bci, path), time) in self.samples.paths.of_frame(frame as u32) {
            let block = bci.and_then(|bci| map.block_at(bci.into()));
            if let Some(block) = block.and_then(|block| blocks.get_mut(block.index())) {
                block.push((path, time));
            }
        }
        for block in &mut blocks {
            block.sort_unstable_by_key(|(path, _)| *path);
            block.dedup_by(|(next, more), (path, time)| {
                let is_same = next == path;
                if is_same {
                    *time = time.plus(*more);
                }
                is_same
            });
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
        let divided = divide(&blocks, unplaced, division, &Groups::single(division.paths));
        let view = TimeView {
            own: time.all.own,
            near,
            total: time.all.total,
            program: self.total,
            share: share(near),
            total_share: share(time.all.total),
            divided: blocks.iter().fold(unplaced, |sum, &time| sum.plus(time)),
            blocks,
            unplaced: divided.unplaced,
        };
        Some((view, divided.groups))
    }
}

/// The way of a path through its method.
#[derive(Clone, Copy, Debug)]
pub struct Through<'b> {
    /// Its blocks; of a prefix those before the one where it stopped.
    pub blocks: &'b [BlockId],
    /// The block where it stopped, if it is a prefix.
    pub stopped: Option<BlockId>,
    /// Its number, if it is a whole path.
    pub number: Option<u64>,
    /// How often it was counted or read.
    pub count: u64,
}

/// To which of its counted paths the time of a method's blocks belongs.
#[derive(Clone, Debug, Default)]
pub struct Division {
    /// Per block: the paths through it by their position, each with its part of the block's executions, or of its readings.
    /// None where it is not known; a single one where it is certain.
    blocks: Vec<Vec<(u32, f64)>>,
    /// Per block: how many readings of the path register its parts are from. Empty if they are from counts.
    readings: Vec<u64>,
    /// Per block: the paths of samples that waited for them, if its parts are from these.
    measured: Vec<Option<Measured>>,
    paths: usize,
}

impl Division {
    /// The division among executed paths of a method with that number of blocks. `known`: see
    /// [`MethodMap::known_blocks`](trodden_profile::MethodMap::known_blocks); `readings`: the counts are readings of the path
    /// register; `waits`: per block, the paths that samples in it were on, which replace the counts where there are some.
    pub fn new(
        blocks: usize,
        paths: &[Through],
        known: &[bool],
        readings: bool,
        waits: &[WaitsInBlock],
    ) -> Self {
        if readings {
            return Division::of_readings(blocks, paths);
        }
        let mut division = Division::of_counts(blocks, paths, known);
        division.measure(paths, waits);
        division
    }

    /// Of counted paths. `known`: per block, do the counts say how often it ran? Where a loop's iterations are not
    /// counted, other paths than the counted ones go through the block.
    fn of_counts(blocks: usize, paths: &[Through], known: &[bool]) -> Self {
        let mut division = Division::of(blocks, paths, |way| way.blocks.iter().copied().chain(way.stopped));
        for (block, parts) in division.blocks.iter_mut().enumerate() {
            if !known.get(block).copied().unwrap_or(true) {
                parts.clear();
            }
        }
        division
    }

    /// Of prefixes that were read from frames, when a thread was stopped: those read in a block tell whose its time is. Of
    /// the blocks that they went through before they tell nothing.
    fn of_readings(blocks: usize, prefixes: &[Through]) -> Self {
        let mut division = Division::of(blocks, prefixes, |way| way.stopped.into_iter());
        division.readings = vec![0; blocks];
        for way in prefixes {
            if let Some(readings) = way.stopped.and_then(|at| division.readings.get_mut(at.index())) {
                *readings += way.count;
            }
        }
        division
    }

    /// Takes the paths that samples in a block were on in place of the counts, where such samples are.
    fn measure(&mut self, paths: &[Through], blocks: &[WaitsInBlock]) {
        let positions: HashMap<u64, u32> = (0..)
            .zip(paths)
            .filter_map(|(position, way)| Some((way.number?, position)))
            .collect();
        self.measured = vec![None; self.blocks.len()];
        for ((parts, measured), found) in self.blocks.iter_mut().zip(&mut self.measured).zip(blocks) {
            if parts.len() == 1 {
                // Whatever the samples, no other path goes through it.
                continue;
            }
            let position = |path: Option<u64>| positions.get(&path?).copied();
            let (mut seen, mut unseen) = (CpuTime::default(), CpuTime::default());
            let mut by_path: BTreeMap<u32, f64> = BTreeMap::new();
            for &(path, time) in found {
                match position(path) {
                    Some(position) => {
                        seen = seen.plus(time);
                        *by_path.entry(position).or_default() += time.ns as f64;
                    }
                    None => unseen = unseen.plus(time),
                }
            }
            if seen.is_none() {
                continue;
            }
            let all = (seen.ns + unseen.ns).max(1) as f64;
            let unseen = unseen.ns as f64 / all;
            let by_count = parts.iter().map(|&(position, part)| (position, part * unseen));
            let mut divided: BTreeMap<u32, f64> = by_count.collect();
            for (&position, ns) in &by_path {
                *divided.entry(position).or_default() += ns / all;
            }
            *parts = divided.into_iter().collect();
            *measured = Some(Measured {
                samples: seen.samples,
                unseen,
                seen: by_path
                    .into_iter()
                    .map(|(position, ns)| (position, ns / all))
                    .collect(),
            });
        }
    }

    /// The paths of samples in a block, if its time is divided by these.
    fn measured_in(&self, block: usize) -> Option<&Measured> {
        self.measured.get(block)?.as_ref()
    }

    fn of<'b, B: Iterator<Item = BlockId>>(
        blocks: usize,
        paths: &[Through<'b>],
        at: impl Fn(&Through<'b>) -> B,
    ) -> Self {
        let mut of_blocks: Vec<Vec<(u32, f64)>> = vec![Vec::new(); blocks];
        for (position, way) in (0..).zip(paths).filter(|(_, way)| way.count > 0) {
            for block in at(way) {
                if let Some(parts) = of_blocks.get_mut(block.index()) {
                    parts.push((position, way.count as f64));
                }
            }
        }
        for parts in &mut of_blocks {
            let all: f64 = parts.iter().map(|part| part.1).sum();
            parts.iter_mut().for_each(|part| part.1 /= all);
        }
        Division {
            blocks: of_blocks,
            readings: Vec::new(),
            measured: Vec::new(),
            paths: paths.len(),
        }
    }

    /// Between which bounds the part of a block's time lies that some of the paths through it have. `whole`: these are all
    /// of them.
    fn bounds(&self, block: usize, part: f64, whole: bool) -> (f64, f64) {
        match self.readings.get(block) {
            Some(&all) => share_interval((part * all as f64).round() as u64, all),
            None if whole => (1.0, 1.0),
            None => (0.0, 1.0),
        }
    }

    /// The paths through a block, by position, and which part of its time is each one's. Empty: not known.
    pub fn of_block(&self, block: usize) -> &[(u32, f64)] {
        self.blocks.get(block).map_or(&[], Vec::as_slice)
    }

    /// The same of a place in the method's code.
    pub fn at(&self, map: &MethodMap, bci: Option<u16>) -> &[(u32, f64)] {
        let block = bci.and_then(|bci| map.block_at(bci.into()));
        block.map_or(&[], |block| self.of_block(block.index()))
    }
}

/// Divides a number into parts, of which nothing is lost to rounding.
pub fn in_parts(all: u64, parts: &[(u32, f64)]) -> impl Iterator<Item = (u32, u64)> {
    let mut given = 0;
    let mut share = 0.0;
    parts.iter().enumerate().map(move |(at, &(path, part))| {
        share += part;
        let until = if at + 1 == parts.len() {
            all
        } else {
            ((all as f64 * share).round() as u64).clamp(given, all)
        };
        let own = until - given;
        given = until;
        (path, own)
    })
}

/// Samples in a block whose path was waited for.
#[derive(Clone, Debug)]
struct Measured {
    /// Samples whose path is known.
    samples: u64,
    /// The part of the block's time whose path was not seen.
    unseen: f64,
    /// Paths that were seen, by position, each with its part of the block's time.
    seen: BTreeMap<u32, f64>,
}

impl Measured {
    /// The variance of a part of the block's time, which has that number of samples, for those of them that were not asked.
    /// As after one more sample on either side: a few equal ones prove little (Agresti and Coull, "Approximate is better than
    /// exact for interval estimation of binomial proportions", 1998).
    fn variance(&self, part: f64, samples: u64) -> f64 {
        let asked = self.samples as f64;
        let seen = 1.0 - self.unseen;
        let likely = (part / seen.max(f64::MIN_POSITIVE) * asked + 1.0) / (asked + 2.0);
        let not_asked = (1.0 - asked / samples.max(1) as f64).max(0.0);
        seen * seen * likely * (1.0 - likely) / asked.max(1.0) * not_asked
    }
}

/// The paths that samples in a block were on, by number; `None`: not seen.
pub(crate) type WaitsInBlock = Vec<(Option<u64>, CpuTime)>;

struct Divided {
    groups: Vec<PathTime>,
    unplaced: CpuTime,
}

/// Groups of paths whose time is wanted: each path on its own, or those that follow an edge.
pub struct Groups {
    /// Per path: the groups that it belongs to.
    pub of_path: Vec<Vec<u32>>,
    /// Number of groups.
    pub count: usize,
}

impl Groups {
    /// Each path on its own.
    fn single(paths: usize) -> Self {
        Groups {
            of_path: (0..paths as u32).map(|path| vec![path]).collect(),
            count: paths,
        }
    }
}

/// Divides the time of blocks among groups of the paths through them.
fn divide(blocks: &[CpuTime], unplaced: CpuTime, division: &Division, groups: &Groups) -> Divided {
    let all = blocks.iter().fold(unplaced, |sum, &time| sum.plus(time));
    let mut times = vec![PathTime::default(); groups.count];
    let mut unplaced = unplaced;
    // Of the block at hand, per group: its part, and how many of the paths through the block are in it.
    let mut parts_of = vec![(0.0, 0); groups.count];
    let mut touched = Vec::new();
    // Per group: the variance of its share for samples whose path was not waited for.
    let mut variances = vec![0.0; groups.count];
    for (block, &time) in blocks.iter().enumerate().filter(|(_, time)| !time.is_none()) {
        let parts = division.of_block(block);
        if parts.is_empty() {
            unplaced = unplaced.plus(time);
        }
        let weight = time.ns as f64 / all.ns.max(1) as f64;
        for &(path, part) in parts {
            for &group in &groups.of_path[path as usize] {
                let sum = &mut parts_of[group as usize];
                if sum.1 == 0 {
                    touched.push(group as usize);
                }
                *sum = (sum.0 + part, sum.1 + 1);
            }
        }
        for group in touched.drain(..) {
            let (part, paths) = std::mem::take(&mut parts_of[group]);
            // Parts add up to one, but for rounding.
            let part = f64::min(part, 1.0);
            let (least, most) = match division.measured_in(block) {
                Some(measured) => {
                    let seen = measured.seen.iter();
                    let of_group =
                        seen.filter(|(path, _)| groups.of_path[**path as usize].contains(&(group as u32)));
                    let least: f64 = of_group.map(|(_, part)| part).sum();
                    variances[group] += weight * weight * measured.variance(least, time.samples);
                    (least, f64::min(least + measured.unseen, 1.0))
                }
                None => division.bounds(block, part, paths == parts.len()),
            };
            let of_group = &mut times[group];
            of_group.ns += time.ns as f64 * part;
            of_group.samples += time.samples as f64 * part;
            of_group.certain += time.ns as f64 * least;
            of_group.most += time.ns as f64 * most;
        }
    }
    let share = |ns: f64| f64::min(ns / all.ns.max(1) as f64, 1.0);
    // Samples may represent unequal times: bounds are of the share of the time, with the error of that number of samples.
    let samples = |share: f64| (share * all.samples as f64).round() as u64;
    for (time, variance) in times.iter_mut().zip(variances) {
        time.share = share(time.ns);
        time.certain = share(time.certain);
        time.most = share(time.most + unplaced.ns as f64);
        let below = time.certain - share_interval(samples(time.certain), all.samples).0;
        let above = share_interval(samples(time.most), all.samples).1 - time.most;
        let of_waits = STANDARD_ERRORS * f64::sqrt(variance);
        time.interval = [
            f64::max(time.certain - below.hypot(of_waits), 0.0),
            f64::min(time.most + above.hypot(of_waits), 1.0),
        ];
    }
    Divided {
        groups: times,
        unplaced,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(samples: u64) -> CpuTime {
        CpuTime {
            samples,
            ns: samples * 1_000_000,
        }
    }

    fn block(index: usize) -> BlockId {
        BlockId::new(index)
    }

    fn way(blocks: &[BlockId], stopped: Option<BlockId>, count: u64) -> Through<'_> {
        Through {
            blocks,
            stopped,
            number: None,
            count,
        }
    }

    /// Blocks 0 → 1 or 2 → 3; 90 times by 1, 10 times by 2.
    fn diamond(blocks: &[CpuTime; 4], known: [bool; 4], unplaced: CpuTime) -> Divided {
        let (left, right) = ([block(0), block(1), block(3)], [block(0), block(2), block(3)]);
        let division = Division::of_counts(4, &[way(&left, None, 90), way(&right, None, 10)], &known);
        divide(blocks, unplaced, &division, &Groups::single(2))
    }

    #[test]
    fn what_is_certain_and_what_is_divided() {
        let found = diamond(&[time(100), time(50), time(800), time(50)], [true; 4], time(0));
        let [left, right] = found.groups[..] else { panic!() };
        // 50 + 0.9 · 150 and 800 + 0.1 · 150 of 1,000.
        assert!((left.share - 0.185).abs() < 1e-9, "{left:?}");
        assert!((right.share - 0.815).abs() < 1e-9, "{right:?}");
        assert_eq!((left.certain, right.certain), (0.05, 0.8));
        // Wilson's bounds of 800 and of 950 in 1,000.
        assert!((right.interval[0] - 0.7741).abs() < 1e-3, "{right:?}");
        assert!((right.interval[1] - 0.9619).abs() < 1e-3, "{right:?}");
        assert!((left.samples + right.samples - 1000.0).abs() < 1e-6);
        assert_eq!(found.unplaced, time(0));
    }

    #[test]
    fn what_is_not_known_is_no_ones() {
        // Block 2 lies in a loop that is not counted, and ten samples have no place.
        let known = [true, true, false, true];
        let found = diamond(&[time(0), time(30), time(60), time(0)], known, time(10));
        let [left, right] = found.groups[..] else { panic!() };
        assert_eq!((left.share, right.share), (0.3, 0.0));
        assert_eq!(found.unplaced, time(70));
        assert!(
            right.interval[1] > 0.7 && left.interval[1] > 0.99,
            "{left:?} {right:?}"
        );
    }

    #[test]
    fn readings_tell_of_the_block_where_they_were_taken() {
        // 60 of 80 readings in block 3 came by 2; one was taken in 2 itself, and none in 0 and 1.
        let (left, right) = ([block(0), block(1)], [block(0), block(2)]);
        let ways = [
            way(&left, Some(block(3)), 20),
            way(&right, Some(block(3)), 60),
            way(&right[..1], Some(block(2)), 1),
        ];
        let division = Division::of_readings(4, &ways);
        let found = divide(
            &[time(10), time(20), time(70), time(900)],
            time(0),
            &division,
            &Groups::single(3),
        );
        let [left, right, earlier] = found.groups[..] else {
            panic!()
        };
        assert!((left.share - 0.225).abs() < 1e-9 && (right.share - 0.675).abs() < 1e-9);
        assert!((earlier.share - 0.07).abs() < 1e-9, "{earlier:?}");
        assert_eq!(found.unplaced, time(30));
        // Wilson's bounds of 60 in 80, of 900, and what is not known.
        assert!((right.certain - 0.9 * 0.645_3).abs() < 1e-3, "{right:?}");
        assert!((right.most - (0.9 * 0.832_0 + 0.03)).abs() < 1e-3, "{right:?}");
        // A single reading proves little.
        assert!((earlier.certain - 0.07 * 0.206_5).abs() < 1e-3, "{earlier:?}");
    }

    #[test]
    fn what_two_paths_share_is_certain_for_both_together() {
        // 0 → 1 → 3 → 4 or 6, and 0 → 2 → 3: two paths come by 1, and share its time and that of no other.
        let ways = [
            [0, 1, 3, 4].map(block),
            [0, 1, 3, 6].map(block),
            [0, 2, 3, 5].map(block),
        ];
        let ways = [
            way(&ways[0], None, 1),
            way(&ways[1], None, 1),
            way(&ways[2], None, 98),
        ];
        let division = Division::of_counts(7, &ways, &[true; 7]);
        let blocks = [0, 450, 100, 400, 5, 40, 5].map(time);
        let by_first = Groups {
            of_path: vec![vec![0], vec![0], vec![1]],
            count: 2,
        };
        let found = divide(&blocks, time(0), &division, &by_first);
        let [left, right] = found.groups[..] else { panic!() };
        assert!((left.certain - 0.46).abs() < 1e-9, "{left:?}");
        assert!((left.share - 0.468).abs() < 1e-9, "{left:?}");
        assert!(left.interval[0] > 0.42 && left.interval[1] < 0.89, "{left:?}");
        assert!((right.certain - 0.14).abs() < 1e-9, "{right:?}");
        let alone = divide(&blocks, time(0), &division, &Groups::single(3));
        assert!(alone.groups[0].certain < 0.01, "{:?}", alone.groups[0]);
    }

    /// Half of 1,000 samples are in the block that both paths share, of which the first has 30 %; a tenth of the samples waited.
    #[test]
    fn intervals_hold_where_few_samples_waited() {
        let (left, right) = ([block(0), block(1), block(3)], [block(0), block(2), block(3)]);
        let ways = [
            Through {
                number: Some(0),
                ..way(&left, None, 500)
            },
            Through {
                number: Some(1),
                ..way(&right, None, 500)
            },
        ];
        let mut random = 1u64;
        let mut draw = |share: f64| {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            ((random >> 33) as f64 / (1u64 << 31) as f64) < share
        };
        let (mut hold, mut width) = (0, 0.0);
        for _ in 0..500 {
            let mut waits: Vec<WaitsInBlock> = vec![Vec::new(); 4];
            let mut blocks = [0; 4];
            for _ in 0..1000 {
                let is_shared = draw(0.5);
                let path = u64::from(!draw(0.3));
                blocks[if is_shared { 3 } else { 1 + path as usize }] += 1;
                if draw(0.1) && is_shared {
                    waits[3].push((Some(path), time(1)));
                }
            }
            let division = Division::new(4, &ways, &[true; 4], false, &waits);
            let found = divide(&blocks.map(time), time(0), &division, &Groups::single(2));
            let [from, to] = found.groups[0].interval;
            hold += u32::from((from..=to).contains(&0.3));
            width += (to - from) / 500.0;
        }
        assert!((460..=495).contains(&hold), "{hold} of 500");
        // By hand: 1.96 · √(0.3 · 0.7 / 1000 + 0.5² · 0.3 · 0.7 / 50 · 0.9) on either side.
        assert!((width - 0.136).abs() < 0.01, "{width}");
    }

    #[test]
    fn no_path_no_time() {
        let division = Division::of_counts(1, &[way(&[block(0)], None, 0)], &[true]);
        let found = divide(&[time(5)], time(0), &division, &Groups::single(1));
        assert_eq!((found.groups[0].share, found.unplaced), (0.0, time(5)));
    }
}
