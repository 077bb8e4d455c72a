//! From a profile to instructions per method and path.

use std::collections::{BTreeMap, HashSet};

use trodden_numbering::{Path, PathEnd, StartKind};
use trodden_profile::{Callee, MethodPart, Profile, ShapeHasher, TestCounts, facts};

use super::{GateMethod, GatePath, LISTED, MOST_METHODS, MOST_PATHS, Outside};
use crate::diff::{Side, route, sides};
use crate::names;

/// The counts of one run of a test.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    /// Executed instructions.
    pub instructions: u64,
    /// Of these, those of threads that were there before the test, or outlived it: their work may be another test's.
    pub others: u64,
    /// Allocated bytes, if they are known.
    pub allocated: Option<u64>,
    /// How long it took, in nanoseconds, if that is known: with the probes in it.
    pub nanos: Option<u64>,
    /// Executed instructions that make an object or arrays, if they are known.
    pub allocations: Option<u64>,
    /// Calls that leave what is counted.
    pub outside: Outside,
    /// The test's own limit, in its own words.
    pub max_growth: Option<String>,
    /// True for a benchmark, whose numbers are those of a million operations.
    pub per_operations: bool,
    /// By class and name.
    pub methods: BTreeMap<(String, String), MeasuredMethod>,
    /// The part that the numbers lack, if they lack something.
    pub lacks: Option<Lacks>,
}

/// Why the numbers are less than all that ran, or no numbers at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lacks {
    /// Several tests ran at the same time: which of them did the work is not known.
    Together,
    /// Not all paths were counted.
    NotExact,
    /// Path ends were lost, this number of them.
    Lost(u64),
    /// An older profile, whose instructions are estimated from bytes.
    Instructions,
}

/// The counts of one method in a run.
#[derive(Clone, Debug, Default)]
pub struct MeasuredMethod {
    /// Its sums; paths with a share of the work only.
    pub shown: GateMethod,
    /// What it is called by.
    pub own: Callee,
    /// The methods that it calls.
    pub callees: Vec<Callee>,
}

/// Operations of a benchmark that a gate file speaks of.
const OPERATIONS: u64 = 1_000_000;

/// The counted methods of a profile, as call instructions name them.
struct Counted {
    classes: HashSet<u32>,
    methods: HashSet<u32>,
}

impl Counted {
    fn of(profile: &Profile) -> Self {
        let mut counted = Counted {
            classes: HashSet::new(),
            methods: HashSet::new(),
        };
        for class in &profile.classes {
            for method in &class.map.methods {
                let callee = Callee::new(&class.map.name, &method.name, &method.descriptor);
                counted.classes.insert(callee.owner);
                // No constructor takes another's place.
                if method.name != "<init>" {
                    counted.methods.insert(callee.method);
                }
            }
        }
        counted
    }

    /// Calls of a method's blocks that leave what is counted. An interface without code is not among the counted
    /// classes, so of a class that is not there the method decides.
    fn outside(&self, side: &Side) -> Outside {
        let mut outside = Outside::default();
        let Some(shape) = &side.map.shape else {
            return outside;
        };
        let mut calls = shape.calls.iter();
        for (block, times) in shape.blocks.iter().zip(&side.edges.blocks) {
            for callee in calls.by_ref().take(block.calls as usize) {
                let sum = match (
                    self.classes.contains(&callee.owner),
                    self.methods.contains(&callee.method),
                ) {
                    (true, _) => continue,
                    (false, true) => &mut outside.perhaps,
                    (false, false) => &mut outside.calls,
                };
                *sum = sum.saturating_add(*times);
            }
        }
        outside
    }
}

impl Measured {
    /// Measures a run: one profile, or the merged ones of the JVMs that did it.
    pub fn new(profile: &Profile) -> Self {
        let profile = profile.printable();
        Measured {
            nanos: Some((profile.run.seconds * 1e9) as u64),
            ..Self::of_sides(&profile, &Counted::of(&profile), &sides(&profile))
        }
    }

    /// Measures each test, if the profile tells them apart.
    pub fn tests(profile: &Profile) -> BTreeMap<String, Self> {
        let profile = profile.printable();
        let counted = Counted::of(&profile);
        let of_test = |test: &TestCounts| {
            let mut measured = Self::of_sides(&profile, &counted, &sides_of_test(&profile, &test.methods));
            let others = sides_of_test(&profile, &test.others)
                .into_iter()
                .map(|side| side.work);
            measured.others = others.fold(0, u64::saturating_add);
            measured.allocated = test.allocated;
            // How long a million operations take is said by JMH, which measures it better.
            measured.nanos = test.nanos.filter(|_| test.operations == 0);
            measured.max_growth.clone_from(&test.max_growth);
            if test.operations > 0 {
                measured.per_operation(test.operations);
            }
            if test.name == TestCounts::TOGETHER {
                measured.lacks = Some(Lacks::Together);
            }
            (test.name.clone(), measured)
        };
        profile.by_test.iter().map(of_test).collect()
    }

    fn of_sides(profile: &Profile, counted: &Counted, sides: &[Side]) -> Self {
        let ran: Vec<&Side> = sides.iter().filter(|side| side.work > 0).collect();
        let instructions = ran.iter().fold(0u64, |sum, side| sum.saturating_add(side.work));
        let least = (instructions as f64 * LISTED) as u64;
        let mut methods: BTreeMap<_, MeasuredMethod> = BTreeMap::new();
        let mut outside = Outside::default();
        let mut allocations = Some(0u64);
        for side in &ran {
            allocations = allocations
                .zip(made(side))
                .map(|(sum, more)| sum.saturating_add(more));
            let mut shown = method(side, least);
            let calls = counted.outside(side);
            shown.outside = calls.calls;
            outside.calls = outside.calls.saturating_add(calls.calls);
            outside.perhaps = outside.perhaps.saturating_add(calls.perhaps);
            let one = methods
                .entry((shown.class.clone(), shown.name.clone()))
                .or_default();
            one.add(side, shown);
        }
        Measured {
            instructions,
            methods,
            others: 0,
            allocated: None,
            nanos: None,
            allocations,
            outside,
            max_growth: None,
            per_operations: false,
            lacks: lacks(profile, &ran),
        }
    }

    /// Of so many operations, how many there happened to be time for, to those of a million.
    fn per_operation(&mut self, operations: u64) {
        let scale = |n: &mut u64| {
            let scaled = u128::from(*n) * u128::from(OPERATIONS) + u128::from(operations / 2);
            *n = u64::try_from(scaled / u128::from(operations)).unwrap_or(u64::MAX);
        };
        self.per_operations = true;
        scale(&mut self.instructions);
        self.allocations.iter_mut().for_each(scale);
        scale(&mut self.outside.calls);
        scale(&mut self.outside.perhaps);
        for method in self.methods.values_mut() {
            let shown = &mut method.shown;
            scale(&mut shown.calls);
            scale(&mut shown.instructions);
            scale(&mut shown.outside);
            shown.paths.iter_mut().for_each(|path| scale(&mut path.count));
        }
    }

    /// The methods that are worth a line, by name.
    pub fn listed(&self) -> Vec<GateMethod> {
        let least = (self.instructions as f64 * LISTED) as u64;
        let all = self.methods.values().map(|method| &method.shown);
        let mut listed: Vec<&GateMethod> = all.filter(|method| method.instructions >= least).collect();
        listed.sort_by_key(|method| std::cmp::Reverse(method.instructions));
        listed.truncate(MOST_METHODS);
        listed.sort_by(|a, b| (&a.class, &a.name).cmp(&(&b.class, &b.name)));
        listed.into_iter().cloned().collect()
    }
}

impl MeasuredMethod {
    /// The same class may be there several times: of several loaders, or with other bytes.
    fn add(&mut self, side: &Side, shown: GateMethod) {
        self.own = Callee::new(side.class, &side.map.name, &side.map.descriptor);
        let shape = side.map.shape.as_ref();
        self.callees.extend(shape.iter().flat_map(|shape| &shape.calls));
        let (calls, instructions) = (self.shown.calls, self.shown.instructions);
        let outside = self.shown.outside;
        let mut paths = std::mem::take(&mut self.shown.paths);
        self.shown = shown;
        self.shown.calls = self.shown.calls.saturating_add(calls);
        self.shown.instructions = self.shown.instructions.saturating_add(instructions);
        self.shown.outside = self.shown.outside.saturating_add(outside);
        for path in std::mem::take(&mut self.shown.paths) {
            match paths.iter_mut().find(|known| known.key == path.key) {
                Some(known) => known.count = known.count.saturating_add(path.count),
                None => paths.push(path),
            }
        }
        paths.sort_by_key(|path| path.key);
        self.shown.paths = paths;
    }
}

fn sides_of_test<'p>(profile: &'p Profile, methods: &'p [MethodPart]) -> Vec<Side<'p>> {
    let side = |one: &'p MethodPart| Side::of_part(profile, (one.class, one.method), &one.counts);
    methods.iter().filter_map(side).collect()
}

/// Executed instructions of a method that make an object or arrays.
fn made(side: &Side) -> Option<u64> {
    let shape = side.map.shape.as_ref()?;
    let of_block = |(block, times): (&trodden_profile::BlockShape, &u64)| {
        Some(times.saturating_mul(u64::from(block.allocations?)))
    };
    let by_block: Option<Vec<u64>> = shape
        .blocks
        .iter()
        .zip(&side.edges.blocks)
        .map(of_block)
        .collect();
    Some(by_block?.into_iter().fold(0, u64::saturating_add))
}

fn method(side: &Side, least: u64) -> GateMethod {
    let mut paths: BTreeMap<u32, (Path, u64, u64)> = BTreeMap::new();
    for (path, count) in side.paths() {
        let (key, length) = (key(side, &path), length(side, &path));
        let known = paths.entry(key).or_insert((path, 0, length));
        known.1 = known.1.saturating_add(count);
    }
    let work = |count: u64, length: u64| count.saturating_mul(length);
    let mut most: Vec<(&u32, &(Path, u64, u64))> = paths
        .iter()
        .filter(|(_, (_, count, length))| work(*count, *length) >= least)
        .collect();
    most.sort_by_key(|(key, (_, count, length))| (std::cmp::Reverse(work(*count, *length)), **key));
    most.truncate(MOST_PATHS);
    most.sort_by_key(|(key, _)| **key);
    let line = side
        .map
        .blocks
        .iter()
        .filter_map(|block| side.map.line(block.start));
    GateMethod {
        class: without_chance(&names::dotted(side.class)),
        name: names::signature(&side.map.name, &side.map.descriptor),
        code: side.map.shape.as_ref().map_or(0, |shape| shape.code),
        file: side.source_file.map(|file| match side.class.rsplit_once('/') {
            Some((package, _)) => format!("{package}/{file}"),
            None => file.to_owned(),
        }),
        line: line.min(),
        calls: side.entries,
        instructions: side.work,
        outside: 0,
        paths: most
            .into_iter()
            .map(|(&key, (path, count, length))| GatePath {
                key,
                count: *count,
                length: *length,
                text: route(side, path),
            })
            .collect(),
    }
}

/// A class's name without what a library drew by lot for it, such as `Shop$MockitoMock$EwoieJcE`.
fn without_chance(class: &str) -> String {
    let made = ["$MockitoMock$", "$ByteBuddy$", "CGLIB$$", "$HibernateProxy$"];
    let cut = made
        .iter()
        .filter_map(|mark| Some(class.find(mark)? + mark.len()));
    cut.min()
        .map_or_else(|| class.to_owned(), |at| format!("{}*", &class[..at]))
}

/// Instructions of a path. The block in which it was cut off has begun, so it counts.
fn length(side: &Side, path: &Path) -> u64 {
    let through: u64 = path
        .blocks(&side.map.graph)
        .iter()
        .map(|block| side.length(block.index()))
        .sum();
    match path.end {
        PathEnd::Stopped(block) => through + side.length(block.index()),
        PathEnd::At(..) | PathEnd::Exit(_) => through,
    }
}

/// The key of a method's path, the same in other builds.
fn key(side: &Side, path: &Path) -> u32 {
    let mut hasher = ShapeHasher::default();
    let opcodes = |block: usize| {
        let shape = side.map.shape.as_ref().and_then(|shape| shape.blocks.get(block));
        shape.map_or(side.length(block), |shape| u64::from(shape.opcodes))
    };
    hasher.add(u64::from(path.start == StartKind::Entry));
    for block in path.blocks(&side.map.graph) {
        hasher.add(opcodes(block.index()));
    }
    for edge in &path.edges {
        hasher.add(u64::from(edge.index) + 1);
    }
    if let PathEnd::Stopped(block) = path.end {
        hasher.add(opcodes(block.index()));
        hasher.add(0);
    }
    hasher.finish() as u32
}

/// Gaps in the numbers of a profile.
fn lacks(profile: &Profile, ran: &[&Side]) -> Option<Lacks> {
    let lost = profile.run.facts.get(facts::LOST).unwrap_or(0);
    match () {
        () if !profile.run.exact => Some(Lacks::NotExact),
        () if lost > 0 => Some(Lacks::Lost(lost)),
        () if ran.iter().any(|side| side.map.shape.is_none()) => Some(Lacks::Instructions),
        () => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_drawn_by_lot_are_cut() {
        assert_eq!(
            without_chance("a.Shop$MockitoMock$EwoieJcE"),
            "a.Shop$MockitoMock$*"
        );
        assert_eq!(
            without_chance("a.Shop$$EnhancerByCGLIB$$1f2e"),
            "a.Shop$$EnhancerByCGLIB$$*"
        );
        assert_eq!(without_chance("a.Shop$1"), "a.Shop$1");
    }
}
