//! Toy programs, brute force, and seeds.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::Arc;

use trodden_analyses::subpaths::*;
use trodden_profile::options::{SubpathIdentity, SubpathStarts};

/// At headers this many times as likely.
pub fn prefer(weight: u32) -> SubpathStarts {
    SubpathStarts::Prefer(NonZeroU32::new(weight).unwrap())
}

/// Path `n` of method 0 has these blocks; the flag says whether it begins at a loop's header.
pub struct Toy(pub Vec<(Vec<u32>, bool)>);

impl PathShapes for Toy {
    fn shape(&self, method: u32, path: u32) -> Option<Shape> {
        let (blocks, header) = self.0.get(path as usize).filter(|_| method == 0)?;
        Some(Shape {
            blocks: blocks.len() as u32,
            header: *header && !blocks.is_empty(),
        })
    }

    fn blocks(&self, _: u32, path: u32, from: u32, count: u32, out: &mut Vec<u32>) {
        let path = &self.0[path as usize].0;
        out.extend(path.iter().skip(from as usize).take(count as usize));
    }

    fn entered(&self, _: u32, _: u32, _: u16) -> Option<u32> {
        None
    }
}

/// Paths of one to five blocks, some of which share blocks; 0 and 3 begin at headers.
pub fn toy() -> Toy {
    Toy(vec![
        (vec![1, 2, 3], true),
        (vec![4], false),
        (vec![2, 3, 5, 6, 7], false),
        (vec![1, 8], true),
    ])
}

/// A stream: path numbers, each with repetitions.
pub type Stream = Vec<(u32, u32)>;

impl Toy {
    pub fn run(&self, (path, times): (u32, u32)) -> Run {
        Run {
            method: 0,
            path,
            from: 0,
            blocks: self.0[path as usize].0.len() as u32,
            times,
        }
    }

    pub fn feed(&self, stream: &[(u32, u32)], out: &mut impl BlockStream) {
        for &part in stream {
            out.run(self, self.run(part), self.0[part.0 as usize].1);
        }
    }

    /// Blocks, and which of them are headers at the beginning of a path.
    pub fn blocks_of(&self, stream: &[(u32, u32)]) -> Vec<(u64, bool)> {
        let mut all = Vec::new();
        for &(path, times) in stream {
            for _ in 0..times {
                let (blocks, header) = &self.0[path as usize];
                all.extend(
                    blocks
                        .iter()
                        .enumerate()
                        .map(|(i, &b)| (u64::from(b), *header && i == 0)),
                );
            }
        }
        all
    }
}

/// The least of all rotations, one by one.
pub fn canonical(blocks: &[u64]) -> Vec<u64> {
    let rotation = |at: usize| [&blocks[at..], &blocks[..at]].concat();
    (0..blocks.len()).map(rotation).min().unwrap_or_default()
}

/// Weighted counts of all subpaths of these lengths that begin at a place that `weigh` gives a weight.
pub fn brute_force(
    blocks: &[(u64, bool)],
    lengths: &[u32],
    weigh: impl Fn(usize, bool) -> f64,
) -> HashMap<Vec<u64>, f64> {
    let mut counts = HashMap::new();
    for &length in lengths {
        for (at, window) in blocks.windows(length as usize).enumerate() {
            let ids: Vec<u64> = window.iter().map(|&(block, _)| block).collect();
            *counts.entry(canonical(&ids)).or_default() += weigh(at, window[0].1);
        }
    }
    counts
}

/// The key of a subpath as the library has it.
pub fn key(blocks: &[u64]) -> u64 {
    identity(SubpathIdentity::Rotation, blocks)
}

pub fn sampler(options: &SubpathOptions, number: u64) -> Sampler {
    options.check().unwrap();
    Sampler::new(Arc::new(options.clone()), number, options.start)
}

pub fn estimates(samplers: &[&Sampler]) -> HashMap<u64, Subpath> {
    let options = samplers[0].options();
    let mut all = MergedSubpaths::new(options);
    samplers.iter().for_each(|sampler| all.add(sampler));
    let report = all.report(options, &Report::default());
    report.into_iter().map(|subpath| (subpath.key, subpath)).collect()
}

/// Estimates over many seeds, compared with the truth. Subpaths that are too rare for statistics are taken
/// together, by length.
pub struct Means {
    /// The group of each subpath.
    groups: HashMap<u64, usize>,
    truth: Vec<f64>,
    sums: Vec<(f64, f64)>,
    rounds: f64,
}

impl Means {
    pub fn new(truth: &HashMap<Vec<u64>, f64>) -> Self {
        let mut means = Means {
            groups: HashMap::new(),
            truth: Vec::new(),
            sums: Vec::new(),
            rounds: 0.0,
        };
        let mut rare: HashMap<usize, usize> = HashMap::new();
        for (blocks, &count) in truth {
            let new = means.truth.len();
            let group = match count {
                count if count < 5.0 => *rare.entry(blocks.len()).or_insert(new),
                _ => new,
            };
            if group == new {
                means.truth.push(0.0);
                means.sums.push((0.0, 0.0));
            }
            means.truth[group] += count;
            means.groups.insert(key(blocks), group);
        }
        means
    }

    pub fn add(&mut self, estimates: &HashMap<u64, Subpath>) {
        self.rounds += 1.0;
        let mut now = vec![0.0; self.truth.len()];
        for (key, subpath) in estimates {
            now[self.groups[key]] += subpath.estimate.value;
        }
        for ((sum, squares), value) in self.sums.iter_mut().zip(now) {
            *sum += value;
            *squares += value * value;
        }
    }

    /// No mean may be further from the truth than is likely once in 30,000 times.
    pub fn check(&self) {
        for (group, (&truth, &(sum, squares))) in self.truth.iter().zip(&self.sums).enumerate() {
            let mean = sum / self.rounds;
            let deviation = ((squares / self.rounds - mean * mean) / self.rounds).sqrt();
            let z = (mean - truth) / deviation;
            assert!(
                z.abs() < 4.2,
                "group {group}: {mean}, not {truth} ({z} standard deviations)"
            );
        }
    }
}

/// A stream without any pattern, from a seed: `parts` runs of paths.
pub fn stream(seed: u64, parts: usize, paths: u32, most_times: u32) -> Stream {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = |below: u32| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 33) as u32 % below
    };
    (0..parts).map(|_| (next(paths), 1 + next(most_times))).collect()
}
