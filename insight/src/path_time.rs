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
    CUT_OFF, CpuFrame, CpuSamples, CpuTime, MethodMap, MethodTime, Profile, STANDARD_ERRORS, share_interval,
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
    /// Samples on paths that an exception cut off when it left the method: they are in no path's count.
    pub cut_off: CpuTime,
    /// Number of samples whose path is known: its end was seen, or no other counted path goes through the block.
    pub answered: u64,
    /// Samples that are divided among paths by their counts.
    pub by_counts: f64,
    /// What shares of paths are of: `blocks` and what is in none. More than `total` where the method called itself from
    /// several blocks.
    pub divided: CpuTime,
}

impl TimeView {
    /// The part of the method's samples that is divided among paths by their counts, 0 to 1.
    pub fn share_by_counts(&self) -> f64 {
        self.by_counts / self.divided.samples.max(1) as f64
    }

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
        divide((&self.blocks, unplaced), self.total.samples, division, groups).groups
    }
}

/// The part of a method's time that a path has, or all paths that follow an edge.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PathTime {
    /// Nanoseconds, certain ones and its part of divided ones.
    pub ns: f64,
    /// Samples, likewise.
    pub samples: f64,
    /// Number of samples that are known to be its own: the path's end was seen, or no other counted path goes through the
    /// block.
    pub answered: u64,
    /// Samples of it that it has by division by counts.
    pub by_counts: f64,
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
        let divided = divide((&blocks, unplaced), time.all.total.samples, division, &groups);
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
            cut_off: divided.cut_off,
            answered: divided.answered,
            by_counts: divided.by_counts,
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
    /// True if it begins in an exception handler: another path was cut off there.
    pub catches: bool,
}

/// The part of a block's time that a path has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Part {
    /// The path, by its position.
    pub path: u32,
    /// Its part, 0 to 1.
    pub share: f64,
    /// As much of the part as was not divided by counts: all of it, if no other counted path goes through the block or if it is
    /// from readings; else that of samples whose path was seen.
    pub known: f64,
}

/// To which of its counted paths the time of a method's blocks belongs.
#[derive(Clone, Debug, Default)]
pub struct Division {
    /// Per block: the paths through it, each with its part of the block's time. None where they are not known. Where only
    /// samples tell, the rest to one is not known.
    blocks: Vec<Vec<Part>>,
    /// Per block: how many readings of the path register its parts are from. Empty if they are from counts.
    readings: Vec<u64>,
    /// Per block: how many samples have shown their path, if its parts are from these.
    answers: Vec<Option<Answers>>,
    /// Parts of places where samples waited, which may differ from those of their block.
    places: BTreeMap<u16, Vec<Part>>,
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
        for part in division.blocks.iter_mut().flatten() {
            part.known = part.share;
        }
        division
    }

    /// Takes the paths that samples in a block were on in place of the counts, where such samples are. That holds for a
    /// block of one path as well where exceptions cut paths off: its samples then are of a handler's path, or of none.
    fn measure(&mut self, paths: &[Through], blocks: &[WaitsInBlock]) {
        let positions: HashMap<u64, u32> = (0..)
            .zip(paths)
            .filter_map(|(position, way)| Some((way.number?, position)))
            .collect();
        let caught = paths.iter().any(|way| way.catches && way.count > 0);
        self.answers = vec![None; self.blocks.len()];
        for ((parts, answers), waits) in self.blocks.iter_mut().zip(&mut self.answers).zip(blocks) {
            if let [only] = &parts[..] {
                let is_other = |path: u64| positions.get(&path) != Some(&only.path);
                let may_be_left = caught && !paths[only.path as usize].catches;
                if !may_be_left && !waits.iter().filter_map(|wait| wait.path).any(is_other) {
                    continue;
                }
            }
            let of_block = Answers::of(waits, &positions);
            if of_block.samples == 0 {
                continue;
            }
            for waits in waits.chunk_by(|one, next| one.place == next.place) {
                let of_place = measured_parts(waits, &positions, parts);
                self.places.insert(waits[0].place, of_place);
            }
            *parts = measured_parts(waits, &positions, parts);
            *answers = Some(of_block);
        }
    }

    /// The answers of samples in a block, if its time is divided by these.
    fn answers_in(&self, block: usize) -> Option<&Answers> {
        self.answers.get(block)?.as_ref()
    }

    fn of<'b, B: Iterator<Item = BlockId>>(
        blocks: usize,
        paths: &[Through<'b>],
        at: impl Fn(&Through<'b>) -> B,
    ) -> Self {
        let mut of_blocks: Vec<Vec<Part>> = vec![Vec::new(); blocks];
        for (path, way) in (0..).zip(paths).filter(|(_, way)| way.count > 0) {
            for block in at(way) {
                if let Some(parts) = of_blocks.get_mut(block.index()) {
                    parts.push(Part {
                        path,
                        share: way.count as f64,
                        known: 0.0,
                    });
                }
            }
        }
        for parts in &mut of_blocks {
            let all: f64 = parts.iter().map(|part| part.share).sum();
            parts.iter_mut().for_each(|part| part.share /= all);
            if let [only] = &mut parts[..] {
                only.known = only.share;
            }
        }
        Division {
            blocks: of_blocks,
            paths: paths.len(),
            ..Division::default()
        }
    }

    /// The paths through a block, each with its part of the block's time. Empty: not known.
    pub fn of_block(&self, block: usize) -> &[Part] {
        self.blocks.get(block).map_or(&[], Vec::as_slice)
    }

    /// The paths through a place in the method's code, by the samples there or, if none has shown its path, as of its block.
    pub fn at(&self, map: &MethodMap, bci: Option<u16>) -> &[Part] {
        let Some(bci) = bci else { return &[] };
        if let Some(parts) = self.places.get(&bci) {
            return parts;
        }
        let block = map.block_at(bci.into());
        block.map_or(&[], |block| self.of_block(block.index()))
    }
}

/// Less than that is missing from a sum of parts by rounding.
pub const ROUNDING: f64 = 1e-9;

/// Parts of a time by the paths of samples; what these have not shown is divided as `by_count` says. What an exception cut
/// off is in no part.
fn measured_parts(waits: &[Wait], positions: &HashMap<u64, u32>, by_count: &[Part]) -> Vec<Part> {
    let all: f64 = waits.iter().map(|wait| wait.ns).sum();
    let mut parts: BTreeMap<u32, Part> = BTreeMap::new();
    let mut seen = 0.0;
    for wait in waits {
        let Some(path) = wait.path else { continue };
        let share = wait.ns / all.max(1.0);
        if path == CUT_OFF {
            seen += share;
        } else if let Some(&path) = positions.get(&path) {
            seen += share;
            let part = parts.entry(path).or_insert(Part {
                path,
                share: 0.0,
                known: 0.0,
            });
            part.share += share;
            part.known += share;
        }
    }
    let unseen = f64::max(1.0 - seen, 0.0);
    for of_counts in by_count {
        let part = parts.entry(of_counts.path).or_insert(Part {
            share: 0.0,
            known: 0.0,
            ..*of_counts
        });
        part.share += of_counts.share * unseen;
    }
    parts.into_values().collect()
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

/// Samples in a block whose path was seen.
#[derive(Clone, Debug)]
struct Answers {
    /// All of them.
    samples: u64,
    /// By position of the path.
    by_path: BTreeMap<u32, u64>,
    /// The part of the block's time that samples have whose path an exception cut off.
    cut_share: f64,
}

impl Answers {
    fn of(waits: &[Wait], positions: &HashMap<u64, u32>) -> Self {
        let mut by_path: BTreeMap<u32, u64> = BTreeMap::new();
        let (mut cut_off, mut cut_ns) = (0, 0.0);
        for wait in waits {
            let Some(path) = wait.path else { continue };
            if path == CUT_OFF {
                cut_off += wait.samples;
                cut_ns += wait.ns;
            } else if let Some(&position) = positions.get(&path) {
                *by_path.entry(position).or_default() += wait.samples;
            }
        }
        let all: f64 = waits.iter().map(|wait| wait.ns).sum();
        Answers {
            samples: by_path.values().sum::<u64>() + cut_off,
            by_path,
            cut_share: cut_ns / all.max(1.0),
        }
    }

    /// The variance of a part of the block's time, for those of its samples that did not answer. `seen`: the part whose path
    /// was seen. As after one more sample on either side: a few equal ones prove little (Agresti and Coull, "Approximate is
    /// better than exact for interval estimation of binomial proportions", 1998).
    fn variance(&self, part: f64, seen: f64, samples: u64) -> f64 {
        let answered = self.samples as f64;
        let likely = (part / seen.max(f64::MIN_POSITIVE) * answered + 1.0) / (answered + 2.0);
        let others = (1.0 - answered / samples.max(1) as f64).max(0.0);
        seen * seen * likely * (1.0 - likely) / answered.max(1.0) * others
    }
}

/// Samples at a place that waited for their path.
#[derive(Clone, Copy, Debug)]
pub struct Wait {
    /// The place, as a bytecode index.
    place: u16,
    /// The path's number; `None`: not seen.
    path: Option<u64>,
    samples: u64,
    ns: f64,
}

/// The waits of a block, by place.
pub type WaitsInBlock = Vec<Wait>;

struct Divided {
    groups: Vec<PathTime>,
    unplaced: CpuTime,
    cut_off: CpuTime,
    answered: u64,
    by_counts: f64,
}

/// Groups of paths whose time is wanted: each path on its own, or those that go by one outcome of a decision.
#[derive(Debug, Default)]
pub struct Groups {
    /// Per path: the groups that it belongs to.
    pub of_path: Vec<Vec<u32>>,
    /// Per block: the groups that all of its time belongs to, whichever path it is of. Blocks after the last have none.
    pub of_block: Vec<Vec<u32>>,
    /// Number of groups.
    pub count: usize,
}

impl Groups {
    /// Each path on its own.
    fn single(paths: usize) -> Self {
        Groups {
            of_path: (0..paths as u32).map(|path| vec![path]).collect(),
            of_block: Vec::new(),
            count: paths,
        }
    }

    /// The groups that all of a block's time belongs to.
    fn whole(&self, block: usize) -> &[u32] {
        self.of_block.get(block).map_or(&[], Vec::as_slice)
    }

    /// The part of a block's time that a group has, 0 to 1.
    pub fn part(&self, division: &Division, block: usize, group: u32) -> f64 {
        if self.whole(block).contains(&group) {
            return 1.0;
        }
        let parts = division.of_block(block).iter();
        parts
            .filter(|part| self.of_path[part.path as usize].contains(&group))
            .map(|part| part.share)
            .sum()
    }
}

/// Parts of a block that a group of paths has together.
#[derive(Clone, Copy, Default)]
struct OfGroup {
    share: f64,
    known: f64,
    answered: u64,
    paths: usize,
}

/// Divides the time of blocks, and what is in none, among groups of the paths through them. `samples`: the
/// method's samples, each once. Where it called itself, one is in several blocks, and proves no more than one.
fn divide(
    (blocks, unplaced): (&[CpuTime], CpuTime),
    samples: u64,
    division: &Division,
    groups: &Groups,
) -> Divided {
    let all = blocks.iter().fold(unplaced, |sum, &time| sum.plus(time));
    let samples = samples.min(all.samples);
    let blocks_a_sample = all.samples as f64 / samples.max(1) as f64;
    let mut times = vec![PathTime::default(); groups.count];
    let mut divided = Divided {
        groups: Vec::new(),
        unplaced,
        cut_off: CpuTime::default(),
        answered: 0,
        by_counts: 0.0,
    };
    // Of the block at hand, per group.
    let mut parts_of = vec![OfGroup::default(); groups.count];
    let mut touched = Vec::new();
    // Per group: the variance of its share for samples whose path was not waited for.
    let mut variances = vec![0.0; groups.count];
    for (block, &time) in blocks.iter().enumerate().filter(|(_, time)| !time.is_none()) {
        let parts = division.of_block(block);
        let answers = division.answers_in(block);
        let of_readings = division.readings.get(block).copied();
        // Parts add up to one, but for rounding, and where only samples tell.
        let placed = f64::min(parts.iter().map(|part| part.share).sum(), 1.0);
        let known = f64::min(parts.iter().map(|part| part.known).sum(), placed);
        let cut_off = answers.map_or(0.0, |answers| answers.cut_share);
        divided.cut_off = divided.cut_off.plus(part_of(time, cut_off));
        divided.unplaced = divided
            .unplaced
            .plus(part_of(time, f64::max(1.0 - placed - cut_off, 0.0)));
        divided.by_counts += time.samples as f64 * (placed - known);
        divided.answered += match answers {
            Some(answers) => answers.samples,
            None if parts.len() == 1 && of_readings.is_none() => time.samples,
            None => 0,
        };
        let weight = time.ns as f64 / all.ns.max(1) as f64;
        let whole = groups.whole(block);
        for &group in whole {
            let sum = &mut times[group as usize];
            sum.ns += time.ns as f64;
            sum.samples += time.samples as f64;
            sum.answered += time.samples;
            sum.certain += time.ns as f64;
            sum.most += time.ns as f64 * f64::min(placed + cut_off, 1.0);
        }
        for part in parts {
            for &group in &groups.of_path[part.path as usize] {
                if whole.contains(&group) {
                    continue;
                }
                let sum = &mut parts_of[group as usize];
                if sum.paths == 0 {
                    touched.push(group as usize);
                }
                sum.share += part.share;
                sum.known += part.known;
                sum.answered += answers
                    .and_then(|answers| answers.by_path.get(&part.path))
                    .unwrap_or(&0);
                sum.paths += 1;
            }
        }
        for group in touched.drain(..) {
            let mut of_group = std::mem::take(&mut parts_of[group]);
            of_group.share = f64::min(of_group.share, placed);
            let is_any = of_group.paths == parts.len() && cut_off == 0.0;
            if is_any && of_readings.is_none() {
                // Whichever path a sample was on, it is of the group.
                of_group.known = of_group.share;
                if answers.is_none() {
                    of_group.answered = time.samples;
                }
            }
            let (least, most) = match of_readings {
                Some(all) => share_interval((of_group.share * all as f64).round() as u64, all),
                None => (of_group.known, of_group.known + placed - known),
            };
            if let Some(answers) = answers.filter(|_| !is_any) {
                let variance = answers.variance(of_group.known, known + cut_off, time.samples);
                variances[group] += weight * weight * variance * blocks_a_sample;
            }
            let sum = &mut times[group];
            sum.ns += time.ns as f64 * of_group.share;
            sum.samples += time.samples as f64 * of_group.share;
            sum.answered += of_group.answered;
            sum.by_counts += time.samples as f64 * (of_group.share - of_group.known).max(0.0);
            sum.certain += time.ns as f64 * least;
            sum.most += time.ns as f64 * f64::min(most, placed);
        }
    }
    let share = |ns: f64| f64::min(ns / all.ns.max(1) as f64, 1.0);
    // Samples may represent unequal times: bounds are of the share of the time, with the error of that number of samples.
    let of = |share: f64| (share * samples as f64).round() as u64;
    for (time, variance) in times.iter_mut().zip(variances) {
        time.share = share(time.ns);
        time.certain = share(time.certain);
        time.most = share(time.most + divided.unplaced.ns as f64);
        let below = time.certain - share_interval(of(time.certain), samples).0;
        let above = share_interval(of(time.most), samples).1 - time.most;
        let of_waits = STANDARD_ERRORS * f64::sqrt(variance);
        time.interval = [
            f64::max(time.certain - joint_error([below, of_waits]), 0.0),
            f64::min(time.most + joint_error([above, of_waits]), 1.0),
        ];
    }
    divided.groups = times;
    divided
}

/// The error of a sum whose parts have these errors, independently. `f64::hypot` would need a newer C library than all the rest does;
/// squares of nanoseconds and shares are far from the ends of an `f64`.
pub(crate) fn joint_error<const PARTS: usize>(errors: [f64; PARTS]) -> f64 {
    f64::sqrt(errors.iter().map(|error| error * error).sum())
}

/// A part of a time, in whole samples and nanoseconds.
fn part_of(time: CpuTime, part: f64) -> CpuTime {
    let of = |number: u64| (number as f64 * part).round() as u64;
    CpuTime {
        samples: of(time.samples),
        ns: of(time.ns),
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

    /// Each sample is in one block.
    fn each_once(blocks: &[CpuTime], unplaced: CpuTime, division: &Division, groups: &Groups) -> Divided {
        divide((blocks, unplaced), u64::MAX, division, groups)
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
            catches: false,
        }
    }

    /// Blocks 0 → 1 or 2 → 3; 90 times by 1, 10 times by 2.
    fn diamond(blocks: &[CpuTime; 4], known: [bool; 4], unplaced: CpuTime) -> Divided {
        let (left, right) = ([block(0), block(1), block(3)], [block(0), block(2), block(3)]);
        let division = Division::of_counts(4, &[way(&left, None, 90), way(&right, None, 10)], &known);
        each_once(blocks, unplaced, &division, &Groups::single(2))
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

    /// A thousand samples, each in two of four blocks: the same shares, as wide as those of a thousand.
    #[test]
    fn a_sample_in_two_blocks_proves_no_more_than_one() {
        let way = |by, count| Through {
            number: Some(by),
            ..way(&[], None, count)
        };
        let blocks = |samples| [time(samples); 4];
        let waits = |samples| {
            let wait = |path| Wait {
                place: 0,
                path: Some(path),
                samples: samples / 4,
                ns: samples as f64 / 4.0 * 1e6,
            };
            vec![vec![wait(0), wait(1)]; 4]
        };
        let of = |in_blocks, samples| {
            let division = Division::new(4, &[way(0, 1), way(1, 1)], &[true; 4], false, &waits(in_blocks));
            let all = (&blocks(in_blocks)[..], time(0));
            divide(all, samples, &division, &Groups::single(2)).groups[0]
        };
        let (twice, once) = (of(500, 1_000), of(250, 1_000));
        assert!((twice.share - once.share).abs() < 1e-9, "{twice:?} {once:?}");
        let width = |time: PathTime| time.interval[1] - time.interval[0];
        assert!(
            (width(twice) / width(once) - 1.0).abs() < 0.01,
            "{twice:?} {once:?}"
        );
        assert!(width(of(500, 2_000)) < 0.8 * width(twice));
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
        let found = each_once(
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
            of_block: Vec::new(),
            count: 2,
        };
        let found = each_once(&blocks, time(0), &division, &by_first);
        let [left, right] = found.groups[..] else { panic!() };
        assert!((left.certain - 0.46).abs() < 1e-9, "{left:?}");
        assert!((left.share - 0.468).abs() < 1e-9, "{left:?}");
        assert!(left.interval[0] > 0.42 && left.interval[1] < 0.89, "{left:?}");
        assert!((right.certain - 0.14).abs() < 1e-9, "{right:?}");
        let alone = each_once(&blocks, time(0), &division, &Groups::single(3));
        assert!(alone.groups[0].certain < 0.01, "{:?}", alone.groups[0]);
    }

    /// 0 → 1 or 2, 2 is a loop of one path whose rounds are not counted, and both go on to 3.
    #[test]
    fn what_an_outcome_alone_leads_to_is_its_own_whichever_path_it_is_of() {
        let (left, right) = ([block(0), block(1), block(3)], [block(0), block(2)]);
        let ways = [way(&left, None, 90), way(&right, None, 10)];
        let division = Division::of_counts(4, &ways, &[true, true, false, true]);
        let groups = Groups {
            of_path: vec![vec![0], vec![1]],
            of_block: vec![vec![], vec![0], vec![1], vec![]],
            count: 2,
        };
        let blocks = [20, 30, 900, 50].map(time);
        let found = each_once(&blocks, time(0), &division, &groups);
        let [left, right] = found.groups[..] else { panic!() };
        assert_eq!(found.unplaced, time(900));
        assert!(
            (right.share - 0.902).abs() < 1e-9 && (right.certain - 0.9).abs() < 1e-9,
            "{right:?}"
        );
        assert!((right.most - 0.92).abs() < 1e-9, "{right:?}");
        assert!((left.share - 0.098).abs() < 1e-9, "{left:?}");
        assert_eq!(
            (0..4).map(|at| groups.part(&division, at, 1)).collect::<Vec<_>>(),
            [0.1, 0.0, 1.0, 0.0]
        );
        // Of what is in no path the other outcome may have all but what is this one's alone; that is not looked for.
        assert!((left.most - 1.0).abs() < 1e-9, "{left:?}");
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
                    waits[3].push(Wait {
                        place: 3,
                        path: Some(path),
                        samples: 1,
                        ns: 1e6,
                    });
                }
            }
            let division = Division::new(4, &ways, &[true; 4], false, &waits);
            let found = each_once(&blocks.map(time), time(0), &division, &Groups::single(2));
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
        let found = each_once(&[time(5)], time(0), &division, &Groups::single(1));
        assert_eq!((found.groups[0].share, found.unplaced), (0.0, time(5)));
    }

    /// Paths 0 → 1 → 3 (number 7) and 0 → 2 → 3 (number 9), counted 90 and 10 times, and waits in block 0.
    fn answered(known: [bool; 4], waits: &[(u16, Option<u64>, u64)]) -> Division {
        let (left, right) = ([block(0), block(1), block(3)], [block(0), block(2), block(3)]);
        let ways = [(&left, 7, 90), (&right, 9, 10)].map(|(blocks, number, count)| Through {
            number: Some(number),
            ..way(blocks, None, count)
        });
        let waits = waits.iter().map(|&(place, path, samples)| Wait {
            place,
            path,
            samples,
            ns: samples as f64 * 1e6,
        });
        let waits = [waits.collect(), Vec::new(), Vec::new(), Vec::new()];
        Division::new(4, &ways, &known, false, &waits)
    }

    #[test]
    fn samples_that_saw_their_path_are_not_divided() {
        let division = answered([true; 4], &[(0, Some(7), 30), (0, Some(9), 60), (2, None, 10)]);
        let blocks = [time(200), time(50), time(0), time(10)];
        let found = each_once(&blocks, time(0), &division, &Groups::single(2));
        let [left, right] = found.groups[..] else { panic!() };
        // Of block 0 three tenths and nine tenths of the tenth that was not seen; of block 3 nine tenths.
        assert!(
            (left.samples - (60.0 + 18.0 + 50.0 + 9.0)).abs() < 1e-9,
            "{left:?}"
        );
        assert!((right.samples - (120.0 + 2.0 + 1.0)).abs() < 1e-9, "{right:?}");
        assert!((left.by_counts - 27.0).abs() < 1e-9 && (right.by_counts - 3.0).abs() < 1e-9);
        assert_eq!((left.answered, right.answered), (30 + 50, 60));
        assert_eq!((found.answered, found.by_counts.round()), (140, 30.0));
        assert!((left.certain - 110.0 / 260.0).abs() < 1e-9, "{left:?}");
        assert!((left.most - 140.0 / 260.0).abs() < 1e-9, "{left:?}");
        // Both together have all of it, whatever was seen.
        let both = Groups {
            of_path: vec![vec![0], vec![0]],
            of_block: Vec::new(),
            count: 1,
        };
        let both = each_once(&blocks, time(0), &division, &both).groups[0];
        assert_eq!((both.share, both.certain, both.by_counts), (1.0, 1.0, 0.0));
    }

    /// A block that one counted path goes through, with a call that throws: half of its samples saw the path of the handler,
    /// a tenth saw no path end in the method any more.
    #[test]
    fn what_an_exception_cut_off_is_not_the_returning_paths() {
        let (whole, handler) = ([block(0)], [block(1)]);
        let ways = [(&whole, 3, 90), (&handler, 4, 10)].map(|(blocks, number, count)| Through {
            number: Some(number),
            catches: number == 4,
            ..way(blocks, None, count)
        });
        let wait = |(path, samples): (Option<u64>, u64)| Wait {
            place: 0,
            path,
            samples,
            ns: samples as f64 * 1e6,
        };
        let waits = [(Some(3), 30), (Some(4), 50), (Some(CUT_OFF), 10), (None, 10)].map(wait);
        let division = Division::new(2, &ways, &[true; 2], false, &[waits.to_vec(), Vec::new()]);
        let found = each_once(&[time(1000), time(0)], time(0), &division, &Groups::single(2));
        let [returns, caught] = found.groups[..] else {
            panic!()
        };
        assert_eq!((found.cut_off, found.unplaced), (time(100), time(0)));
        assert!((returns.share - 0.4).abs() < 1e-9 && (caught.share - 0.5).abs() < 1e-9);
        let holds = |time: PathTime, share: f64| time.interval[0] < share && share < time.interval[1];
        assert!(
            holds(returns, 0.3) && holds(returns, 0.4) && !holds(returns, 0.9),
            "{returns:?}"
        );
        assert!(holds(caught, 0.5) && !holds(caught, 0.1), "{caught:?}");
        // Without an exception the block has one path, whatever the samples.
        let ways = &ways[..1];
        let division = Division::new(2, ways, &[true; 2], false, &[waits[..1].to_vec(), Vec::new()]);
        let found = each_once(&[time(1000), time(0)], time(0), &division, &Groups::single(1));
        assert_eq!((found.groups[0].certain, found.by_counts), (1.0, 0.0));
    }

    #[test]
    fn without_counts_what_was_not_seen_is_no_paths() {
        let division = answered([false, true, true, true], &[(0, Some(9), 60), (0, None, 40)]);
        let blocks = [time(100), time(100), time(0), time(0)];
        let found = each_once(&blocks, time(0), &division, &Groups::single(2));
        let [left, right] = found.groups[..] else { panic!() };
        assert_eq!((left.samples, right.samples), (100.0, 60.0));
        assert_eq!((found.unplaced, found.by_counts), (time(40), 0.0));
        assert!(
            (right.certain - 0.3).abs() < 1e-9 && (right.most - 0.5).abs() < 1e-9,
            "{right:?}"
        );
        assert!((left.most - 0.7).abs() < 1e-9, "{left:?}");
    }

    #[test]
    fn readings_are_not_divided_by_counts() {
        let (left, right) = ([block(0)], [block(0)]);
        let ways = [way(&left, Some(block(0)), 20), way(&right, Some(block(0)), 60)];
        let found = each_once(
            &[time(80)],
            time(0),
            &Division::of_readings(1, &ways),
            &Groups::single(2),
        );
        assert_eq!((found.answered, found.by_counts), (0, 0.0));
        assert!(
            found
                .groups
                .iter()
                .all(|path| path.by_counts == 0.0 && path.answered == 0)
        );
    }
}
