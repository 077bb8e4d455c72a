//! What became of the CPU time of methods and paths, and what of that chance does not explain.
//!
//! A method's time is a draw: so many of all samples fell into it. Both draws have their bounds (Wilson's), and the bounds of
//! the difference follow from these (Newcombe's method 10: Statistics in Medicine 17, 1998). Four standard errors are
//! taken, as for counts: with hundreds of methods, two would call chance a change again and again.

use std::collections::{HashMap, HashSet};

use trodden_numbering::{Path, PathEnd};
use trodden_profile::{CpuFrame, CpuTime, Profile, share_interval_of};

use super::DiffOptions;
use super::finding::SIGNIFICANT;
use super::pairing::Pair;
use super::paths;
use super::side::Side;
use crate::MethodPattern;
use crate::path_time::{Division, Names, PathTime, Through, Times, measured};
use crate::words::Counts;

/// Paths shown per method.
const MOST_PATHS: usize = 5;

/// CPU time of two runs.
#[derive(Debug)]
pub struct TimeDiff {
    /// Of all Java threads, before and after; lost samples are not in it.
    pub total: [CpuTime; 2],
    /// How many times the same work the second run did, by its counts: times before are multiplied by it. `None`: the counts do
    /// not tell, and times are compared as they are.
    pub scale: Option<f64>,
    /// Methods whose time changed beyond chance, and by the threshold at least; the largest change first.
    pub methods: Vec<MethodTimeChange>,
    /// How many more such methods there are.
    pub more: usize,
    /// Methods with samples whose change is not distinguishable from the error of so many samples.
    pub alike: usize,
}

/// Time before and after, and how sure the difference is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeChange {
    /// Nanoseconds, before and after, as they were sampled.
    pub ns: [f64; 2],
    /// Nanoseconds more than the same work would have taken before.
    pub change: f64,
    /// Between which bounds the change lies, with the error of so many samples on both sides (four standard errors).
    pub interval: [f64; 2],
    /// The change as a share of the program's time: that of the run that took more.
    pub share: f64,
    /// The bounds, likewise.
    pub share_interval: [f64; 2],
}

impl TimeChange {
    /// Is it more than chance explains?
    pub fn is_distinct(&self) -> bool {
        self.interval[0] > 0.0 || self.interval[1] < 0.0
    }

    /// The share that it changed by at least; 0 if chance explains it.
    pub fn at_least(&self) -> f64 {
        match self.share_interval {
            [low, _] if low > 0.0 => low,
            [_, high] if high < 0.0 => -high,
            _ => 0.0,
        }
    }
}

/// A method whose time changed.
#[derive(Debug)]
pub struct MethodTimeChange {
    /// As the second profile names it; the first, if it is only there.
    pub method: CpuFrame,
    /// Its name before, if that was another.
    pub renamed_from: Option<CpuFrame>,
    /// Has it a path map, in one of the profiles?
    pub measured: bool,
    /// Time in it, and in what it called that has no path map. Of a method without one: its own where no method with one is
    /// on the stack. So each sample is in one method.
    pub near: TimeChange,
    /// Time with all that it called.
    pub total: TimeChange,
    /// Calls, if they were counted on both sides.
    pub calls: Option<[u64; 2]>,
    /// Paths whose time changed by the threshold, the largest change first.
    pub paths: Vec<PathTimeChange>,
    /// Position among the methods that behave differently ([`Diff::methods`](super::Diff::methods)), if it is there.
    pub listed: Option<usize>,
}

/// A path, and what it took with all that it called.
#[derive(Debug)]
pub struct PathTimeChange {
    /// The path in words.
    pub text: String,
    /// Its count.
    pub count: [u64; 2],
    /// Its time. The interval holds however the time of code is divided that several paths have in common.
    pub time: TimeChange,
}

/// The methods with path maps of both sides.
pub(super) struct Pairs<'s, 'p> {
    pub before: &'s [Side<'p>],
    pub after: &'s [Side<'p>],
    pub pairs: &'s [Pair],
}

/// Both runs' times.
pub(super) struct Timed<'s, 'p> {
    sides: [Times<'p>; 2],
    pairs: &'s Pairs<'s, 'p>,
    scale: Option<f64>,
    /// The program's time in the run that took more, for the same work.
    most: f64,
}

/// A time, and between which bounds it may be.
#[derive(Clone, Copy)]
struct Bounded {
    ns: f64,
    bounds: [f64; 2],
}

/// A method on both sides: positions of its frames, and of its pair.
struct Both {
    frames: [Option<usize>; 2],
    pair: Option<usize>,
}

/// If both have samples. `scale`: how many times the same work the second run did.
pub(super) fn of_runs<'s, 'p>(
    before: &'p Profile,
    after: &'p Profile,
    scale: f64,
    pairs: &'s Pairs<'s, 'p>,
) -> Option<Timed<'s, 'p>> {
    let samples = [before.cpu.as_ref()?, after.cpu.as_ref()?];
    // Probes may have been left out of one run: what a sample belongs to must not depend on that.
    let known: HashSet<Names<'_>> = measured(before).union(&measured(after)).copied().collect();
    let sides = samples.map(|samples| Times::new(samples, &known));
    // Samples of paths say how long a run was, not how much it did.
    let tells = |profile: &Profile| Counts::of(&profile.run) != Counts::Samples;
    let counted = !pairs.before.is_empty() && !pairs.after.is_empty();
    let scale = (counted && tells(before) && tells(after)).then_some(scale);
    let most = (sides[0].total.ns as f64 * scale.unwrap_or(1.0)).max(sides[1].total.ns as f64);
    Some(Timed {
        sides,
        pairs,
        scale,
        most: most.max(1.0),
    })
}

impl<'p> Timed<'_, 'p> {
    /// A part of a side's time, and what it may be by chance; `least` and `most` are where it is not known how it is divided.
    fn bounded(&self, which: usize, ns: f64, least: f64, most: f64) -> Bounded {
        let total = self.sides[which].total;
        let samples = |ns: f64| (ns / total.ns.max(1) as f64 * total.samples as f64).round() as u64;
        let bound = |ns: f64| share_interval_of(samples(ns), total.samples, SIGNIFICANT);
        let (low, high) = (bound(least).0, bound(most).1);
        let whole = total.ns as f64;
        Bounded {
            ns,
            bounds: [(low * whole).min(ns), (high * whole).max(ns)],
        }
    }

    fn of_time(&self, which: usize, time: CpuTime) -> Bounded {
        let ns = time.ns as f64;
        self.bounded(which, ns, ns, ns)
    }

    fn change(&self, [before, after]: [Bounded; 2]) -> TimeChange {
        let scale = self.scale.unwrap_or(1.0);
        let change = after.ns - before.ns * scale;
        let low = (after.ns - after.bounds[0]).hypot((before.bounds[1] - before.ns) * scale);
        let high = (after.bounds[1] - after.ns).hypot((before.ns - before.bounds[0]) * scale);
        let interval = [change - low, change + high];
        TimeChange {
            ns: [before.ns, after.ns],
            change,
            interval,
            share: change / self.most,
            share_interval: interval.map(|ns| ns / self.most),
        }
    }

    /// What is nearest to a method, and what it took with all that it called.
    fn of(&self, both: &Both) -> (TimeChange, TimeChange) {
        let change = |time: fn(&Times, usize) -> CpuTime| {
            self.change([0, 1].map(|which| {
                let side = &self.sides[which];
                let time = both.frames[which].map_or(CpuTime::default(), |frame| time(side, frame));
                self.of_time(which, time)
            }))
        };
        (
            change(|side, frame| side.near[frame]),
            change(|side, frame| side.methods[frame].all.total),
        )
    }

    fn sides_of(&self, pair: usize) -> [Option<&Side<'p>>; 2] {
        let pair = &self.pairs.pairs[pair];
        [
            pair.before.map(|at| &self.pairs.before[at]),
            pair.after.map(|at| &self.pairs.after[at]),
        ]
    }

    /// A method with a path map on one side only has its samples on the other as well, if it is there under its name: it had no
    /// probes there.
    fn both_of(&self, pair: usize) -> Both {
        let sides = self.sides_of(pair);
        Both {
            frames: [0, 1].map(|which| {
                let side = sides[which].or(sides[1 - which])?;
                self.sides[which].frame((side.class, &side.map.name, &side.map.descriptor))
            }),
            pair: Some(pair),
        }
    }

    /// The same of two methods that are one.
    pub fn of_pair(&self, pair: usize) -> (TimeChange, TimeChange) {
        self.of(&self.both_of(pair))
    }

    /// All methods with a sample, each once.
    fn methods(&self) -> Vec<Both> {
        let mut seen = [0, 1].map(|which| vec![false; self.sides[which].samples.frames.len()]);
        let mut all = Vec::new();
        let mut add = |mut both: Both| {
            for (seen, frame) in seen.iter_mut().zip(&mut both.frames) {
                *frame = frame.filter(|&at| !std::mem::replace(&mut seen[at], true));
            }
            if both.frames != [None; 2] {
                all.push(both);
            }
        };
        // What is surely one method first, whatever else has its name.
        let (of_both, of_one): (Vec<usize>, Vec<usize>) =
            (0..self.pairs.pairs.len()).partition(|&pair| self.sides_of(pair).iter().all(Option::is_some));
        of_both
            .into_iter()
            .chain(of_one)
            .for_each(|pair| add(self.both_of(pair)));
        for which in [1, 0] {
            for (at, frame) in self.sides[which].samples.frames.iter().enumerate() {
                let names = (&*frame.class, &*frame.name, &*frame.descriptor);
                let mut frames = [0, 1].map(|side| self.sides[side].frame(names));
                frames[which] = Some(at);
                add(Both { frames, pair: None });
            }
        }
        all
    }

    /// The methods that matter, in order. `listed`: positions of pairs among those that behave differently.
    pub fn diff(
        &self,
        pattern: Option<&MethodPattern>,
        options: &DiffOptions,
        listed: &HashMap<usize, usize>,
    ) -> TimeDiff {
        let mut found: Vec<(TimeChange, TimeChange, Both, &CpuFrame)> = Vec::new();
        let mut alike = 0;
        for both in self.methods() {
            let frame = |which: usize| Some(&self.sides[which].samples.frames[both.frames[which]?]);
            let Some(method) = frame(1).or_else(|| frame(0)) else {
                continue;
            };
            let wanted = pattern.is_none_or(|p| p.matches(&method.class, &method.name, &method.descriptor));
            let (near, total) = self.of(&both);
            if !wanted || near.ns == [0.0; 2] {
                continue;
            }
            if !near.is_distinct() {
                alike += 1;
            } else if near.share.abs() >= options.threshold {
                found.push((near, total, both, method));
            }
        }
        found.sort_by(|a, b| {
            let by_change = b.0.change.abs().total_cmp(&a.0.change.abs());
            by_change.then_with(|| a.3.cmp(b.3))
        });
        let more = found.len().saturating_sub(options.top);
        found.truncate(options.top);
        let methods = found.into_iter().map(|(near, total, both, method)| {
            let before = both.frames[0].map(|frame| &self.sides[0].samples.frames[frame]);
            let calls = both.pair.and_then(|pair| match self.sides_of(pair) {
                [Some(before), Some(after)] => Some([before.entries, after.entries]),
                _ => None,
            });
            let is_mapped = |which: usize| both.frames[which].is_some_and(|at| self.sides[which].mapped[at]);
            MethodTimeChange {
                method: method.clone(),
                renamed_from: before.filter(|before| *before != method).cloned(),
                measured: is_mapped(0) || is_mapped(1),
                near,
                total,
                calls,
                paths: both
                    .pair
                    .map_or(Vec::new(), |pair| self.paths(pair, options.threshold)),
                listed: both.pair.and_then(|pair| listed.get(&pair).copied()),
            }
        });
        TimeDiff {
            total: [0, 1].map(|which| self.sides[which].total),
            scale: self.scale,
            methods: methods.collect(),
            more,
            alike,
        }
    }

    /// Paths of a method on both sides, by the change of their time.
    fn paths(&self, pair: usize, threshold: f64) -> Vec<PathTimeChange> {
        let [Some(before), Some(after)] = self.sides_of(pair) else {
            return Vec::new();
        };
        let times = [before, after].map(|side| of_paths(side));
        let of_side = |which: usize, at: &[usize]| {
            let side = [before, after][which];
            let (view, of_paths) = self.sides[which].of((side.class, side.map), &times[which])?;
            let whole = view.divided.ns as f64;
            let sum = |part: fn(&PathTime) -> f64| at.iter().map(|&at| part(&of_paths[at])).sum::<f64>();
            Some(self.bounded(
                which,
                sum(|time| time.ns),
                sum(|time| time.certain) * whole,
                sum(|time| time.most) * whole,
            ))
        };
        let nothing = |which: usize| self.of_time(which, CpuTime::default());
        let mut all: Vec<(TimeChange, paths::PathOfBoth)> =
            paths::of_both(&self.pairs.pairs[pair], before, after)
                .into_iter()
                .map(|both| {
                    let bounded =
                        [0, 1].map(|which| of_side(which, &both.at[which]).unwrap_or(nothing(which)));
                    (self.change(bounded), both)
                })
                .filter(|(change, _)| change.share.abs() >= threshold && change.change != 0.0)
                .collect();
        all.sort_by(|a, b| b.0.change.abs().total_cmp(&a.0.change.abs()));
        all.truncate(MOST_PATHS);
        let in_words = |(time, both): (TimeChange, paths::PathOfBoth)| PathTimeChange {
            text: paths::text(after, &both.path),
            count: both.count,
            time,
        };
        all.into_iter().map(in_words).collect()
    }
}

/// How the time of a side's blocks is divided among its paths.
fn of_paths(side: &Side) -> Division {
    let with_blocks = |(path, count): (Path, u64)| (path.blocks(&side.map.graph), path.end, count);
    let paths: Vec<_> = side.paths().map(with_blocks).collect();
    let stopped = |end: &PathEnd| match end {
        PathEnd::Stopped(block) => Some(*block),
        PathEnd::Exit(_) | PathEnd::At(..) => None,
    };
    let ways: Vec<Through> = paths
        .iter()
        .map(|(blocks, end, count)| Through {
            blocks,
            stopped: stopped(end),
            count: *count,
        })
        .collect();
    match side.readings {
        true => Division::of_readings(side.map.num_blocks(), &ways),
        false => Division::new(side.map.num_blocks(), &ways, &side.known_blocks),
    }
}
