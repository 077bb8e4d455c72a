//! Time of methods, blocks and paths: CPU samples, brought together with counts of paths.
//!
//! Samples fall into blocks, and paths go through blocks. A sample belongs to a block if a frame of the method was there:
//! what a block calls is in its time, so a path that leads to a slow call has that call's time. A block's time is divided
//! among the paths through it by their counts, as if each execution of the block took as long as any other. That is an
//! assumption, so it is kept apart from what is certain: blocks that one path alone goes through.

use std::collections::{HashMap, HashSet};

use trodden_numbering::BlockId;
use trodden_profile::{CpuSamples, CpuTime, MethodMap, MethodTime, Profile, share_interval};

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
}

/// A path's part of its method's time.
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
    /// Of the method's time: in blocks that only this path goes through, of those that were counted.
    pub certain: f64,
}

/// Times of all methods of a profile, by their names.
pub(crate) struct Times<'p> {
    /// The program's time, but for lost samples.
    pub total: CpuTime,
    methods: HashMap<(&'p str, &'p str, &'p str), (MethodTime, CpuTime)>,
}

impl<'p> Times<'p> {
    /// Of the samples of a profile.
    pub fn new(samples: &'p CpuSamples, profile: &Profile) -> Self {
        let mut known: HashSet<(&str, &str, &str)> = HashSet::new();
        for class in &profile.classes {
            let methods = class.map.methods.iter();
            known.extend(methods.map(|map| (&*class.map.name, &*map.name, &*map.descriptor)));
        }
        let mapped: Vec<bool> = samples
            .frames
            .iter()
            .map(|frame| known.contains(&(&*frame.class, &*frame.name, &*frame.descriptor)))
            .collect();
        let mut near = vec![CpuTime::default(); samples.frames.len()];
        // Per depth: the nearest frame with a path map.
        let mut stack: Vec<Option<u32>> = Vec::new();
        for node in samples.tree.nodes() {
            stack.truncate(node.depth as usize - 1);
            let above = stack.last().copied().flatten();
            let is_mapped = mapped.get(node.frame as usize).copied().unwrap_or(false);
            let nearest = if is_mapped { Some(node.frame) } else { above };
            stack.push(nearest);
            if let Some(time) = nearest.and_then(|frame| near.get_mut(frame as usize)) {
                *time = time.plus(node.own);
            }
        }
        let frames = samples.frames.iter();
        let times = samples.by_place().into_iter().zip(near);
        Times {
            total: samples.total(),
            methods: frames
                .map(|frame| (&*frame.class, &*frame.name, &*frame.descriptor))
                .zip(times)
                .collect(),
        }
    }

    /// The time of a method and of its paths, which have these blocks and counts, in their order. `None`: it has no sample.
    /// `known`: per block, do the counts say how often it ran?
    pub fn of(
        &self,
        (class, map): (&str, &MethodMap),
        paths: &[(&[BlockId], u64)],
        known: &[bool],
    ) -> Option<(TimeView, Vec<PathTime>)> {
        let (time, near) = self.methods.get(&(class, &*map.name, &*map.descriptor))?;
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
        let divided = divide(&blocks, unplaced, paths, known);
        let view = TimeView {
            own: time.all.own,
            near: *near,
            total: time.all.total,
            program: self.total,
            share: share(*near),
            total_share: share(time.all.total),
            blocks,
            unplaced: divided.unplaced,
        };
        Some((view, divided.paths))
    }
}

struct Divided {
    paths: Vec<PathTime>,
    unplaced: CpuTime,
}

/// Divides the time of blocks among the paths through them.
fn divide(blocks: &[CpuTime], unplaced: CpuTime, paths: &[(&[BlockId], u64)], known: &[bool]) -> Divided {
    // How often each block ran, on how many different paths.
    let mut executions = vec![(0u64, 0u32); blocks.len()];
    for (through, count) in paths.iter().filter(|(_, count)| *count > 0) {
        for block in *through {
            if let Some((times, paths)) = executions.get_mut(block.index()) {
                *times = times.saturating_add(*count);
                *paths += 1;
            }
        }
    }
    let all = blocks.iter().fold(unplaced, |sum, &time| sum.plus(time));
    let mut unplaced = unplaced;
    // Where a loop's iterations are not counted, other paths than the counted ones go through the block.
    let is_known = |block: usize| known.get(block).copied().unwrap_or(true) && executions[block].0 > 0;
    for (block, &time) in blocks.iter().enumerate() {
        if !is_known(block) {
            unplaced = unplaced.plus(time);
        }
    }
    let share = |ns: f64| ns / all.ns.max(1) as f64;
    // Samples may stand for unequal times: bounds are of the share of the time, with the error of so many samples.
    let samples = |share: f64| (share * all.samples as f64).round() as u64;
    let of_path = |&(through, count): &(&[BlockId], u64)| {
        let mut time = PathTime::default();
        let [mut certain, mut reach] = [0.0, unplaced.ns as f64];
        for block in through.iter().map(|b| b.index()).filter(|&b| b < blocks.len()) {
            if !is_known(block) || count == 0 {
                continue;
            }
            let (times, paths) = executions[block];
            let part = count as f64 / times as f64;
            time.ns += blocks[block].ns as f64 * part;
            time.samples += blocks[block].samples as f64 * part;
            reach += blocks[block].ns as f64;
            if paths == 1 {
                certain += blocks[block].ns as f64;
            }
        }
        time.share = share(time.ns);
        time.certain = share(certain);
        time.interval = [
            share_interval(samples(time.certain), all.samples).0,
            share_interval(samples(share(reach)), all.samples).1,
        ];
        time
    };
    Divided {
        paths: paths.iter().map(of_path).collect(),
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

    /// Blocks 0 → 1 or 2 → 3; 90 times by 1, 10 times by 2.
    fn diamond(blocks: &[CpuTime; 4], known: [bool; 4], unplaced: CpuTime) -> Divided {
        let (left, right) = ([block(0), block(1), block(3)], [block(0), block(2), block(3)]);
        divide(blocks, unplaced, &[(&left, 90), (&right, 10)], &known)
    }

    #[test]
    fn what_is_certain_and_what_is_divided() {
        let found = diamond(&[time(100), time(50), time(800), time(50)], [true; 4], time(0));
        let [left, right] = found.paths[..] else { panic!() };
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
        let [left, right] = found.paths[..] else { panic!() };
        assert_eq!((left.share, right.share), (0.3, 0.0));
        assert_eq!(found.unplaced, time(70));
        assert!(
            right.interval[1] > 0.7 && left.interval[1] > 0.99,
            "{left:?} {right:?}"
        );
    }

    #[test]
    fn no_path_no_time() {
        let found = divide(&[time(5)], time(0), &[(&[block(0)], 0)], &[true]);
        assert_eq!((found.paths[0].share, found.unplaced), (0.0, time(5)));
    }
}
