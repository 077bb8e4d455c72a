//! To which paths the time of a method's blocks belongs: by counts, by readings, or by samples that saw their path's end.

use std::collections::{BTreeMap, HashMap};

use trodden_numbering::BlockId;
use trodden_profile::{CUT_OFF, MethodMap, UnequalSamples};

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
    pub(super) paths: usize,
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
    pub(super) fn of_counts(blocks: usize, paths: &[Through], known: &[bool]) -> Self {
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
    pub(super) fn of_readings(blocks: usize, prefixes: &[Through]) -> Self {
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
    pub(super) fn answers_in(&self, block: usize) -> Option<&Answers> {
        self.answers.get(block)?.as_ref()
    }

    /// How many readings a block's parts are from, if all are from readings.
    pub(super) fn readings_in(&self, block: usize) -> Option<u64> {
        self.readings.get(block).copied()
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
pub(super) struct Answers {
    /// All of them; where some represent more time, as many equal ones as would be as certain.
    pub samples: u64,
    /// By position of the path.
    by_path: BTreeMap<u32, u64>,
    /// The part of the block's time that samples have whose path an exception cut off.
    pub cut_share: f64,
}

impl Answers {
    fn of(waits: &[Wait], positions: &HashMap<u64, u32>) -> Self {
        let mut by_path: BTreeMap<u32, u64> = BTreeMap::new();
        let (mut cut_ns, mut seen) = (0.0, UnequalSamples::default());
        for wait in waits {
            let Some(path) = wait.path else { continue };
            if path == CUT_OFF {
                cut_ns += wait.ns;
            } else if let Some(&position) = positions.get(&path) {
                *by_path.entry(position).or_default() += wait.samples;
            } else {
                continue;
            }
            seen.add(wait.samples, wait.ns);
        }
        let all: f64 = waits.iter().map(|wait| wait.ns).sum();
        Answers {
            samples: seen.number(),
            by_path,
            cut_share: cut_ns / all.max(1.0),
        }
    }

    /// Those of a path.
    pub fn of_path(&self, path: u32) -> u64 {
        self.by_path.get(&path).copied().unwrap_or_default()
    }

    /// The variance of a part of the block's time, for those of its samples that did not answer. `seen`: the part whose path
    /// was seen. As after one more sample on either side: a few equal ones prove little (Agresti and Coull, "Approximate is
    /// better than exact for interval estimation of binomial proportions", 1998).
    pub fn variance(&self, part: f64, seen: f64, samples: u64) -> f64 {
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
    pub(super) place: u16,
    /// The path's number; `None`: not seen.
    pub(super) path: Option<u64>,
    pub(super) samples: u64,
    pub(super) ns: f64,
}

/// The waits of a block, by place.
pub type WaitsInBlock = Vec<Wait>;
