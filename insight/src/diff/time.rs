//! CPU time of methods and paths before and after, and what of the difference is a change.
//!
//! A method's share of the samples is a draw: both draws have their bounds (Wilson's), and the bounds of the difference follow
//! from these (Newcombe's method 10: Statistics in Medicine 17, 1998). To these come the differences between runs of one
//! program ([`spread`](super::spread)), and what all methods have in common: on a busy machine all take longer.

use std::collections::{BTreeSet, HashMap, HashSet};

use trodden_numbering::StartKind;
use trodden_profile::{CountBasis, CpuFrame, CpuTime, Profile, share_interval_of};

use super::DiffOptions;
use super::amount::{Amount, weighted_median};
use super::pairing::{Matched, Pair};
use super::paths;
use super::side::Side;
use super::spread::{self, Family};
use crate::cpu;
use crate::path_time::{Division, Names, PathTime, Through, Times, joint_error, measured};
use crate::pattern::MethodPattern;

/// Paths shown per method.
const MOST_PATHS: usize = 5;
/// Methods with less of the time are neither looked at for what all have in common, nor among those compared.
const LOOKED_AT: f64 = 0.01;
/// If other methods have less than this of the time, they do not tell what all have in common.
const MIN_OTHERS: f64 = 0.05;
/// Standard deviation of the time of all methods together between two runs of one program for the same work, as a part of it.
const TOTAL: f64 = 0.12;
/// Standard errors of a change of all time that is more than two runs of one program differ by: 95 %.
const TOTAL_ERRORS: f64 = 2.0;

/// CPU time of two runs.
#[derive(Debug)]
pub struct TimeDiff {
    /// Of all Java threads, before and after, all runs together; lost samples are not in it.
    pub total: [CpuTime; 2],
    /// Runs of either side.
    pub runs: [usize; 2],
    /// How many times as much of the same the second run did, by its counts. `None`: the counts do not tell, and times are
    /// compared by what most methods have in common.
    pub scale: Option<f64>,
    /// The time of all Java threads in one run before, and what as much work took after, in nanoseconds.
    pub same_work: [f64; 2],
    /// True if their difference is more than runs of one program differ by.
    pub is_distinct: bool,
    /// Methods whose time changed beyond chance, and by the threshold at least; the largest change first.
    pub methods: Vec<MethodTimeChange>,
    /// How many more such methods there are.
    pub more: usize,
    /// Methods with samples whose change is not distinguishable from chance and from what runs of one program differ by.
    pub alike: usize,
}

/// Time before and after, and how sure the difference is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeChange {
    /// Nanoseconds of one run, before and after, as they were sampled.
    pub ns: [f64; 2],
    /// Nanoseconds more than the same work would have taken before.
    pub change: f64,
    /// Between which bounds the change is, with the error of both sides' samples and what runs of one program differ by.
    pub interval: [f64; 2],
    /// The change as a share of the program's time: that of the run that took more.
    pub share: f64,
    /// The bounds, likewise.
    pub share_interval: [f64; 2],
}

impl MethodTimeChange {
    /// `a.b.C.m(int)`.
    pub fn title(&self) -> String {
        cpu::title(&self.method)
    }
}

impl TimeChange {
    /// True if it is more than chance explains.
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
    /// True if it has a path map, in one of the profiles.
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
pub struct Pairs<'s, 'p> {
    pub before: &'s [Side<'p>],
    pub after: &'s [Side<'p>],
    pub pairs: &'s [Pair],
}

/// Both runs' times.
pub struct Timed<'s, 'p> {
    /// All runs of a side together.
    sides: [Times<'p>; 2],
    /// Each of them.
    each: [Vec<Times<'p>>; 2],
    pairs: &'s Pairs<'s, 'p>,
    amount: Option<Amount>,
    methods: Vec<Looked>,
    /// Positions in `methods` of those of pairs.
    of_pair: HashMap<usize, usize>,
    /// The time that as much work as the second run did would have taken before.
    expected: f64,
    /// The program's time in the run that took more, for the same work.
    most: f64,
    /// After in terms of what is expected, and its weight, of each method that has much of the time; ascending.
    ratios: Vec<(f64, f64, usize)>,
    /// Classes whose code changed somewhere.
    changed: HashSet<&'p str>,
    /// Standard errors that a change has to exceed: of methods whose code is as before, and of others.
    critical: [f64; 2],
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

/// A method with samples.
struct Looked {
    both: Both,
    /// Its time nearest to it, in one run.
    near: [f64; 2],
    /// The factor of its time before, for as much work.
    factor: f64,
}

/// The common part of all methods but one.
#[derive(Clone, Copy)]
struct Common {
    /// After in terms of what is expected.
    factor: f64,
    /// Its standard error.
    error: f64,
}

/// If both have samples. `runs`: all of a side together; `each` of them; `amount`: how much of the same the second did.
pub fn of_runs<'s, 'p>(
    runs: [&'p Profile; 2],
    each: [&'p [Profile]; 2],
    amount: Amount,
    pairs: &'s Pairs<'s, 'p>,
) -> Option<Timed<'s, 'p>> {
    let samples = [runs[0].cpu.as_ref()?, runs[1].cpu.as_ref()?];
    // Probes may have been left out of one run: what a sample belongs to must not depend on that.
    let known = known(runs);
    let sides = samples.map(|samples| Times::new(samples, &known));
    let each = each.map(|runs| -> Vec<Times<'_>> {
        let samples = runs.iter().filter_map(|run| run.cpu.as_ref());
        samples.map(|samples| Times::new(samples, &known)).collect()
    });
    // Samples of paths say how long a run was, not how much it did.
    let tells = |profile: &Profile| !matches!(profile.count_basis(), CountBasis::Sampled(_));
    let counted = !pairs.before.is_empty() && !pairs.after.is_empty();
    let mut timed = Timed {
        sides,
        each,
        pairs,
        amount: (counted && tells(runs[0]) && tells(runs[1])).then_some(amount),
        methods: Vec::new(),
        of_pair: HashMap::new(),
        expected: 0.0,
        most: 1.0,
        ratios: Vec::new(),
        changed: changed_classes(runs),
        critical: [0.0; 2],
    };
    timed.methods = timed.all_methods();
    timed.look();
    Some(timed)
}

/// Classes that both have, with other bytes.
fn changed_classes<'p>([before, after]: [&'p Profile; 2]) -> HashSet<&'p str> {
    let of = |run: &'p Profile| -> HashMap<&'p str, BTreeSet<[u8; 32]>> {
        let mut all: HashMap<&str, BTreeSet<[u8; 32]>> = HashMap::new();
        for class in &run.classes {
            all.entry(&class.map.name).or_default().insert(class.map.sha256);
        }
        all
    };
    let before = of(before);
    let other = |(class, bytes): (&'p str, BTreeSet<[u8; 32]>)| {
        before
            .get(class)
            .is_some_and(|known| *known != bytes)
            .then_some(class)
    };
    of(after).into_iter().filter_map(other).collect()
}

/// Methods whose time is their own, not that of their callers: those of classes with counts, methods without a branch among them.
fn known<'p>(runs: [&'p Profile; 2]) -> HashSet<Names<'p>> {
    let of = |run: &'p Profile| run.classes.iter().map(|class| &*class.map.name);
    let classes: HashSet<&str> = runs.into_iter().flat_map(of).collect();
    let frames = runs
        .into_iter()
        .flat_map(|run| run.cpu.iter().flat_map(|samples| &samples.frames));
    let own = frames.filter(|frame| classes.contains(&*frame.class));
    let counted = measured(runs[0]).into_iter().chain(measured(runs[1]));
    counted
        .chain(own.map(|frame| (&*frame.class, &*frame.name, &*frame.descriptor)))
        .collect()
}

/// The share of the CPU time in Java code outside of the JDK that is in classes of both profiles.
pub fn likeness(before: &Profile, after: &Profile) -> f64 {
    let of = |profile: &Profile| -> HashMap<String, f64> {
        let mut classes = HashMap::new();
        let Some(samples) = &profile.cpu else {
            return classes;
        };
        let times = Times::new(samples, &HashSet::new());
        for (frame, near) in samples.frames.iter().zip(&times.near) {
            let is_own = !["java/", "jdk/", "sun/", "com/sun/"]
                .iter()
                .any(|jdk| frame.class.starts_with(jdk));
            if is_own && !frame.class.is_empty() {
                *classes.entry(frame.class.clone()).or_default() += near.ns as f64;
            }
        }
        classes
    };
    let (before, after) = (of(before), of(after));
    let common = |one: &HashMap<String, f64>, other: &HashMap<String, f64>| {
        let all: f64 = one.values().sum();
        let common = one.iter().filter(|(class, _)| other.contains_key(*class));
        if all > 0.0 {
            common.map(|(_, ns)| ns).sum::<f64>() / all
        } else {
            1.0
        }
    };
    common(&before, &after).max(common(&after, &before))
}

impl<'p> Timed<'_, 'p> {
    fn runs(&self, which: usize) -> f64 {
        self.each[which].len().max(1) as f64
    }

    /// The numbers for all methods: the time that is expected, their ratios to that, and how many are compared.
    fn look(&mut self) {
        self.of_pair = (0..)
            .zip(&self.methods)
            .filter_map(|(at, of)| Some((of.both.pair?, at)))
            .collect();
        self.expected = self.methods.iter().map(|of| of.near[0] * of.factor).sum();
        self.most = self
            .expected
            .max(self.methods.iter().map(|of| of.near[1]).sum())
            .max(1.0);
        let mut compared = [0; 2];
        for (at, of) in self.methods.iter().enumerate() {
            let [before, after] = [of.near[0] * of.factor, of.near[1]];
            if before.max(after) < LOOKED_AT * self.most {
                continue;
            }
            compared[usize::from(self.is_changed(of))] += 1;
            if before > 0.0 && after > 0.0 {
                self.ratios.push((after / before, before.min(after), at));
            }
        }
        self.ratios.sort_by(|x, y| x.0.total_cmp(&y.0));
        let runs = [0, 1].map(|which| self.each[which].len());
        self.critical = [
            spread::critical(Family::Unchanged, compared[0], runs),
            spread::critical(Family::Changed, compared[1], runs),
        ];
    }

    /// True if its code changed.
    fn is_changed(&self, of: &Looked) -> bool {
        let Some(pair) = of.both.pair else {
            // Nothing is known of its own code.
            let frame = |which: usize| Some(&self.sides[which].samples.frames[of.both.frames[which]?]);
            return frame(1)
                .or_else(|| frame(0))
                .is_some_and(|frame| self.changed.contains(&*frame.class));
        };
        match self.pairs.pairs[pair].matched {
            Matched::Same => false,
            // Without shapes, whether constants changed is not known.
            Matched::Graph => self
                .sides_of(pair)
                .iter()
                .flatten()
                .all(|side| side.map.shape.is_some()),
            Matched::Partial | Matched::New | Matched::Gone => true,
        }
    }

    /// The common part of all methods but this one.
    fn common(&self, but: Option<usize>) -> Common {
        let others: Vec<(f64, f64)> = (self.ratios.iter())
            .filter(|&&(_, _, at)| Some(at) != but)
            .map(|&(ratio, weight, _)| (ratio, weight))
            .collect();
        let weight: f64 = others.iter().map(|other| other.1).sum();
        if weight < MIN_OTHERS * self.most {
            return Common {
                factor: 1.0,
                error: TOTAL,
            };
        }
        Common {
            factor: weighted_median(&others).unwrap_or(1.0),
            error: 0.0,
        }
    }

    /// A part of a side's time, and what it may be by chance; `least` and `most` are where it is not known how it is divided.
    /// `spread`: standard deviation of its share between runs.
    fn bounded(&self, which: usize, [least, ns, most]: [f64; 3], spread: f64, critical: f64) -> Bounded {
        let total = self.sides[which].total;
        let samples = |ns: f64| (ns / total.ns.max(1) as f64 * total.samples as f64).round() as u64;
        let bound = |ns: f64| share_interval_of(samples(ns), total.samples, critical);
        let whole = total.ns as f64;
        let between = critical * spread * whole;
        let low = joint_error([(ns - bound(least).0 * whole).max(0.0), between]);
        let high = joint_error([(bound(most).1 * whole - ns).max(0.0), between]);
        let runs = self.runs(which);
        Bounded {
            ns: ns / runs,
            bounds: [(ns - low).max(0.0) / runs, (ns + high) / runs],
        }
    }

    /// The time of a method in a run of each side, by what its frame has.
    fn of_frames(
        &self,
        frames: [Option<usize>; 2],
        time: fn(&Times, usize) -> CpuTime,
        critical: f64,
    ) -> [Bounded; 2] {
        [0, 1].map(|which| {
            let all = &self.sides[which];
            let ns = frames[which].map_or(0.0, |frame| time(all, frame).ns as f64);
            let spread = self.spread(which, frames[which], time);
            self.bounded(which, [ns; 3], spread, critical)
        })
    }

    /// Standard deviation of the mean of a method's share between runs, beyond that of sampling.
    fn spread(&self, which: usize, frame: Option<usize>, time: fn(&Times, usize) -> CpuTime) -> f64 {
        let share = |times: &Times, frame: Option<usize>| {
            let ns = frame.map_or(0.0, |frame| time(times, frame).ns as f64);
            ns / times.total.ns.max(1) as f64
        };
        let all = &self.sides[which];
        let of_all = share(all, frame);
        let prior = spread::prior(of_all);
        let runs = &self.each[which];
        if runs.len() < 2 {
            return prior.sqrt();
        }
        let shares: Vec<f64> = (runs.iter())
            .map(|run| {
                let names = frame.map(|frame| &all.samples.frames[frame]);
                let frame = names.and_then(|of| run.frame((&of.class, &of.name, &of.descriptor)));
                share(run, frame)
            })
            .collect();
        let samples = all.total.samples.max(1) as f64 / runs.len() as f64;
        let of_sampling = of_all * (1.0 - of_all).max(0.0) / samples;
        let variance = spread::moderated(&shares, prior + of_sampling) - of_sampling;
        (variance.max(0.0) / runs.len() as f64).sqrt()
    }

    /// `factor`: what the time before is multiplied by for as much work.
    fn change(
        &self,
        [before, after]: [Bounded; 2],
        factor: f64,
        common: Common,
        critical: f64,
    ) -> TimeChange {
        let against = |factor: f64| {
            let change = after.ns - before.ns * factor;
            let error = critical * common.error * before.ns * factor;
            let below = [after.ns - after.bounds[0], before.bounds[1] - before.ns];
            let above = [after.bounds[1] - after.ns, before.ns - before.bounds[0]];
            let [low, high] =
                [below, above].map(|[after, before]| joint_error([after, before * factor, error]));
            (change, [change - low, change + high])
        };
        let in_common = against(factor * common.factor);
        let (change, interval) = match self.amount {
            // What all have in common is no change of this one, and no more is what others left to it.
            Some(_) => {
                let (change, interval) = against(factor);
                let wider = [interval[0].min(in_common.1[0]), interval[1].max(in_common.1[1])];
                (change, wider)
            }
            None => in_common,
        };
        // No more can go than all.
        let interval = [interval[0].max(-self.most), interval[1]];
        TimeChange {
            ns: [before.ns, after.ns],
            change,
            interval,
            share: change / self.most,
            share_interval: interval.map(|ns| ns / self.most),
        }
    }

    /// What a method took with all that it called. `Some` position among `methods`.
    fn total_of(&self, at: usize, critical: f64) -> TimeChange {
        let of = &self.methods[at];
        let times = self.of_frames(
            of.both.frames,
            |side, frame| side.methods[frame].all.total,
            critical,
        );
        self.change(times, of.factor, self.common(Some(at)), critical)
    }

    fn near_of(&self, at: usize, critical: f64) -> TimeChange {
        let of = &self.methods[at];
        let times = self.of_frames(of.both.frames, |side, frame| side.near[frame], critical);
        self.change(times, of.factor, self.common(Some(at)), critical)
    }

    /// Two methods that are one, with all that they called.
    pub fn of_pair(&self, pair: usize) -> TimeChange {
        let critical = self.critical[1];
        match self.of_pair.get(&pair) {
            Some(&at) => self.total_of(at, critical),
            None => {
                let none = [0, 1].map(|which| self.bounded(which, [0.0; 3], 0.0, critical));
                self.change(none, 1.0, self.common(None), critical)
            }
        }
    }

    /// The factor of the time before for as much work: the method's own work says it as far as that is more of the same.
    fn factor(&self, both: &Both, near: [f64; 2]) -> f64 {
        let Some(amount) = self.amount else { return 1.0 };
        let sides = both.pair.map_or([None; 2], |pair| self.sides_of(pair));
        let [before, after] = match sides {
            [Some(before), Some(after)] if before.work > 0 => [before, after].map(|side| side.work as f64),
            _ => near,
        };
        if before > 0.0 {
            Amount::expected(amount.bounds(), before, after) / before
        } else {
            1.0
        }
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

    /// All methods with a sample, each once.
    fn all_methods(&self) -> Vec<Looked> {
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
        let looked = all.into_iter().map(|both: Both| {
            let near = [0, 1].map(|which| {
                let side = &self.sides[which];
                both.frames[which].map_or(0.0, |frame| side.near[frame].ns as f64) / self.runs(which)
            });
            let factor = self.factor(&both, near);
            Looked { both, near, factor }
        });
        looked.collect()
    }

    /// The methods that matter, in order. `listed`: positions of pairs among those that behave differently.
    pub fn diff(
        &self,
        pattern: Option<&MethodPattern>,
        options: &DiffOptions,
        listed: &HashMap<usize, usize>,
    ) -> TimeDiff {
        let mut found: Vec<(TimeChange, usize, &CpuFrame, f64)> = Vec::new();
        let mut alike = 0;
        for (at, of) in self.methods.iter().enumerate() {
            let frame = |which: usize| Some(&self.sides[which].samples.frames[of.both.frames[which]?]);
            let Some(method) = frame(1).or_else(|| frame(0)) else {
                continue;
            };
            let wanted = pattern.is_none_or(|p| p.matches(&method.class, &method.name, &method.descriptor));
            if !wanted || of.near == [0.0; 2] {
                continue;
            }
            // Where the code or the counts say that something changed, few methods are in question.
            let is_listed = of.both.pair.is_some_and(|pair| listed.contains_key(&pair));
            let critical = self.critical[usize::from(is_listed || self.is_changed(of))];
            let near = self.near_of(at, critical);
            if !near.is_distinct() {
                alike += 1;
            } else if near.share.abs() >= options.threshold {
                found.push((near, at, method, critical));
            }
        }
        found.sort_by(|a, b| {
            let by_change = b.0.change.abs().total_cmp(&a.0.change.abs());
            by_change.then_with(|| a.2.cmp(b.2))
        });
        let more = found.len().saturating_sub(options.top);
        found.truncate(options.top);
        let methods = found.into_iter().map(|(near, at, method, critical)| {
            let both = &self.methods[at].both;
            let before = both.frames[0].map(|frame| &self.sides[0].samples.frames[frame]);
            let calls = both.pair.and_then(|pair| match self.sides_of(pair) {
                [Some(before), Some(after)] => Some([before.entries, after.entries]),
                _ => None,
            });
            MethodTimeChange {
                method: method.clone(),
                renamed_from: before.filter(|before| *before != method).cloned(),
                measured: both.pair.is_some(),
                near,
                total: self.total_of(at, critical),
                calls,
                paths: both.pair.map_or(Vec::new(), |pair| {
                    self.paths(pair, at, critical, options.threshold)
                }),
                listed: both.pair.and_then(|pair| listed.get(&pair).copied()),
            }
        });
        let methods = methods.collect();
        let total = [0, 1].map(|which| self.sides[which].total);
        let per_run = [0, 1].map(|which| total[which].ns as f64 / self.runs(which));
        let same_work = match self.amount {
            Some(_) => [per_run[0], per_run[0] * per_run[1] / self.expected.max(1.0)],
            None => per_run,
        };
        TimeDiff {
            total,
            runs: [0, 1].map(|which| self.each[which].len()),
            scale: self.amount.map(|amount| amount.factor),
            same_work,
            is_distinct: self.is_distinct(same_work),
            methods,
            more,
            alike,
        }
    }

    /// Is the time of all methods together other than before, beyond what runs of one program differ by?
    fn is_distinct(&self, [before, after]: [f64; 2]) -> bool {
        let variance: f64 = (self.each.iter())
            .map(|runs| {
                let all: Vec<f64> = runs.iter().map(|run| run.total.ns as f64).collect();
                let mean = spread::mean(&all).max(1.0);
                let parts: Vec<f64> = all.iter().map(|ns| ns / mean).collect();
                // Runs that end by the clock do not all do as much.
                let variance = spread::moderated(&parts, TOTAL * TOTAL);
                variance / runs.len().max(1) as f64
            })
            .sum();
        before > 0.0 && after > 0.0 && (after / before).ln().abs() > TOTAL_ERRORS * variance.sqrt()
    }

    /// Paths of a method on both sides, by the change of their time.
    fn paths(&self, pair: usize, method: usize, critical: f64, threshold: f64) -> Vec<PathTimeChange> {
        let [Some(before), Some(after)] = self.sides_of(pair) else {
            return Vec::new();
        };
        let sides = [before, after];
        let times = [0, 1].map(|which| of_paths(sides[which], &self.sides[which]));
        let common = self.common(Some(method));
        let of_side = |which: usize, at: &[usize]| {
            let side = sides[which];
            let (view, of_paths) = self.sides[which].of((side.class, side.map), &times[which])?;
            let whole = view.total.ns as f64;
            let sum = |part: fn(&PathTime) -> f64| at.iter().map(|&at| part(&of_paths[at])).sum::<f64>();
            let ns = sum(|time| time.ns);
            let share = ns / self.sides[which].total.ns.max(1) as f64;
            let spread = (spread::prior(share) / self.runs(which)).sqrt();
            let bounds = [
                sum(|time| time.certain) * whole,
                ns,
                sum(|time| time.most) * whole,
            ];
            Some(self.bounded(which, bounds, spread, critical))
        };
        let nothing = |which: usize| self.bounded(which, [0.0; 3], 0.0, critical);
        let factor = |[before, after]: [u64; 2]| match self.amount {
            Some(amount) if before > 0 => {
                Amount::expected(amount.bounds(), before as f64, after as f64) / before as f64
            }
            _ => 1.0,
        };
        let mut all: Vec<(TimeChange, paths::PathOfBoth)> =
            paths::of_both(&self.pairs.pairs[pair], before, after)
                .into_iter()
                .map(|both| {
                    let bounded =
                        [0, 1].map(|which| of_side(which, &both.at[which]).unwrap_or(nothing(which)));
                    (self.change(bounded, factor(both.count), common, critical), both)
                })
                .filter(|(change, _)| change.share.abs() >= threshold && change.change != 0.0)
                .collect();
        all.sort_by(|a, b| b.0.change.abs().total_cmp(&a.0.change.abs()));
        all.truncate(MOST_PATHS);
        let in_words = |(time, both): (TimeChange, paths::PathOfBoth)| PathTimeChange {
            text: paths::route(after, &both.path),
            count: both.count,
            time,
        };
        all.into_iter().map(in_words).collect()
    }
}

/// How the time of a side's blocks is divided among its paths: by the paths that its samples were on, and by counts where
/// these are not known.
fn of_paths(side: &Side, times: &Times) -> Division {
    let executed: Vec<_> = side.map.executed(side.counts).flatten().collect();
    let blocks: Vec<_> = (executed.iter())
        .map(|executed| executed.path.blocks(&side.map.graph))
        .collect();
    let ways: Vec<Through> = (executed.iter().zip(&blocks))
        .map(|(executed, blocks)| Through {
            blocks,
            stopped: executed.stopped,
            number: executed.stopped.is_none().then_some(executed.number),
            count: executed.times,
            catches: executed.path.start == StartKind::Handler,
        })
        .collect();
    let waits = times.paths_of(side.class, side.map);
    let blocks = side.map.num_blocks();
    Division::new(blocks, &ways, &side.known_blocks, side.readings, &waits)
}
