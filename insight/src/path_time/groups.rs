//! The time of groups of paths: their parts of each block's time, with bounds.

use trodden_profile::{CpuTime, STANDARD_ERRORS, share_interval};

use super::division::{Answers, Division, Part};

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
    pub(super) fn single(paths: usize) -> Self {
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

/// What a method's time comes to. Fields: see [`TimeView`](super::TimeView).
pub(super) struct Divided {
    /// The time of each group.
    pub groups: Vec<PathTime>,
    pub unplaced: CpuTime,
    pub cut_off: CpuTime,
    pub answered: u64,
    pub by_counts: f64,
}

/// Divides the time of blocks, and what is in none, among groups of the paths through them. Each sample is in one of these.
pub(super) fn divide(
    (blocks, unplaced): (&[CpuTime], CpuTime),
    division: &Division,
    groups: &Groups,
) -> Divided {
    let all = blocks.iter().fold(unplaced, |sum, &time| sum.plus(time));
    let mut sums = Sums {
        division,
        groups,
        all,
        of_block: vec![OfGroup::default(); groups.count],
        variances: vec![0.0; groups.count],
        divided: Divided {
            groups: vec![PathTime::default(); groups.count],
            unplaced,
            cut_off: CpuTime::default(),
            answered: 0,
            by_counts: 0.0,
        },
    };
    for (block, &time) in blocks.iter().enumerate().filter(|(_, time)| !time.is_none()) {
        sums.add(block, time);
    }
    sums.bounded()
}

/// The time of a block, and what is known of it.
struct Block<'d> {
    time: CpuTime,
    parts: &'d [Part],
    answers: Option<&'d Answers>,
    /// How many readings its parts are from, if they are from readings.
    readings: Option<u64>,
    /// The part that paths have, the part of these that was not divided by counts, and the part that exceptions cut off.
    placed: f64,
    known: f64,
    cut_off: f64,
}

impl<'d> Block<'d> {
    fn new(division: &'d Division, block: usize, time: CpuTime) -> Self {
        let parts = division.of_block(block);
        let answers = division.answers_in(block);
        // Parts add up to one, but for rounding, and where only samples tell.
        let placed = f64::min(parts.iter().map(|part| part.share).sum(), 1.0);
        Block {
            time,
            parts,
            answers,
            readings: division.readings_in(block),
            placed,
            known: f64::min(parts.iter().map(|part| part.known).sum(), placed),
            cut_off: answers.map_or(0.0, |answers| answers.cut_share),
        }
    }

    /// Its samples whose path is known.
    fn answered(&self) -> u64 {
        match self.answers {
            Some(answers) => answers.samples,
            None if self.parts.len() == 1 && self.readings.is_none() => self.time.samples,
            None => 0,
        }
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

/// The sums over the blocks so far.
struct Sums<'d> {
    division: &'d Division,
    groups: &'d Groups,
    /// The time of all blocks, and of none.
    all: CpuTime,
    /// Per group: of the block at hand.
    of_block: Vec<OfGroup>,
    /// Per group: the variance of its share for samples whose path was not waited for.
    variances: Vec<f64>,
    /// Shares, and bounds of them, are still in nanoseconds.
    divided: Divided,
}

impl Sums<'_> {
    fn add(&mut self, number: usize, time: CpuTime) {
        let block = Block::new(self.division, number, time);
        let divided = &mut self.divided;
        divided.cut_off = divided.cut_off.plus(part_of(time, block.cut_off));
        let unplaced = f64::max(1.0 - block.placed - block.cut_off, 0.0);
        divided.unplaced = divided.unplaced.plus(part_of(time, unplaced));
        divided.by_counts += time.samples as f64 * (block.placed - block.known);
        divided.answered += block.answered();
        for &group in self.groups.whole(number) {
            let sum = &mut divided.groups[group as usize];
            sum.ns += time.ns as f64;
            sum.samples += time.samples as f64;
            sum.answered += time.samples;
            sum.certain += time.ns as f64;
            sum.most += time.ns as f64 * f64::min(block.placed + block.cut_off, 1.0);
        }
        for group in self.parts_of_groups(number, &block) {
            let of_group = std::mem::take(&mut self.of_block[group]);
            self.add_part(group, of_group, &block);
        }
    }

    /// Adds up a block's parts for each group that it does not belong to as a whole. Returns which these are.
    fn parts_of_groups(&mut self, number: usize, block: &Block) -> Vec<usize> {
        let mut touched = Vec::new();
        let whole = self.groups.whole(number);
        for part in block.parts {
            let groups = self.groups.of_path[part.path as usize].iter();
            for &group in groups.filter(|group| !whole.contains(group)) {
                let sum = &mut self.of_block[group as usize];
                if sum.paths == 0 {
                    touched.push(group as usize);
                }
                sum.share += part.share;
                sum.known += part.known;
                sum.answered += block.answers.map_or(0, |answers| answers.of_path(part.path));
                sum.paths += 1;
            }
        }
        touched
    }

    fn add_part(&mut self, group: usize, mut of_group: OfGroup, block: &Block) {
        let time = block.time;
        of_group.share = f64::min(of_group.share, block.placed);
        let is_any = of_group.paths == block.parts.len() && block.cut_off == 0.0;
        if is_any && block.readings.is_none() {
            // Whichever path a sample was on, it is of the group.
            of_group.known = of_group.share;
            if block.answers.is_none() {
                of_group.answered = time.samples;
            }
        }
        let (least, most) = match block.readings {
            Some(all) => share_interval((of_group.share * all as f64).round() as u64, all),
            None => (of_group.known, of_group.known + block.placed - block.known),
        };
        if let Some(answers) = block.answers.filter(|_| !is_any) {
            let weight = time.ns as f64 / self.all.ns.max(1) as f64;
            let variance = answers.variance(of_group.known, block.known + block.cut_off, time.samples);
            self.variances[group] += weight * weight * variance;
        }
        let sum = &mut self.divided.groups[group];
        sum.ns += time.ns as f64 * of_group.share;
        sum.samples += time.samples as f64 * of_group.share;
        sum.answered += of_group.answered;
        sum.by_counts += time.samples as f64 * (of_group.share - of_group.known).max(0.0);
        sum.certain += time.ns as f64 * least;
        sum.most += time.ns as f64 * f64::min(most, block.placed);
    }

    /// With shares of all time, and intervals: samples may represent unequal times, so bounds are of the share of the time,
    /// with the error of that number of samples.
    fn bounded(self) -> Divided {
        let samples = self.all.samples;
        let mut divided = self.divided;
        let share = |ns: f64| f64::min(ns / self.all.ns.max(1) as f64, 1.0);
        let of = |share: f64| (share * samples as f64).round() as u64;
        for (time, variance) in divided.groups.iter_mut().zip(self.variances) {
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
        divided
    }
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
