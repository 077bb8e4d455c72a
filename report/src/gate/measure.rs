//! From a profile to instructions per method and path.

use std::collections::BTreeMap;

use trodden_numbering::{Path, PathEnd, StartKind};
use trodden_profile::{Callee, Profile, ShapeHasher, facts};

use super::{GateMethod, GatePath, LISTED, MOST_METHODS, MOST_PATHS};
use crate::diff::{Side, path_in_words, sides};
use crate::words;

/// What one run of a test did.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    /// Executed instructions.
    pub instructions: u64,
    /// By class and name.
    pub(super) methods: BTreeMap<(String, String), MeasuredMethod>,
    /// What the numbers lack, if they lack something.
    pub lacks: Option<String>,
}

/// What one method did in a run.
#[derive(Clone, Debug, Default)]
pub(super) struct MeasuredMethod {
    /// Its sums; paths with a share of the work only.
    pub shown: GateMethod,
    /// What it is called by.
    pub own: Callee,
    /// What it calls.
    pub callees: Vec<Callee>,
}

impl Measured {
    /// Measures a run: one profile, or the merged ones of the JVMs that did it.
    pub fn new(profile: &Profile) -> Self {
        let profile = profile.printable();
        let sides = sides(&profile);
        let ran: Vec<&Side> = sides.iter().filter(|side| side.work > 0).collect();
        let instructions = ran.iter().fold(0u64, |sum, side| sum.saturating_add(side.work));
        let least = (instructions as f64 * LISTED) as u64;
        let mut methods: BTreeMap<_, MeasuredMethod> = BTreeMap::new();
        for side in &ran {
            let shown = method(side, least);
            let one = methods
                .entry((shown.class.clone(), shown.name.clone()))
                .or_default();
            one.add(side, shown);
        }
        Measured {
            instructions,
            methods,
            lacks: lacks(&profile, &ran),
        }
    }

    /// The methods that are worth a line, by name.
    pub(super) fn listed(&self) -> Vec<GateMethod> {
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
        let mut paths = std::mem::take(&mut self.shown.paths);
        self.shown = shown;
        self.shown.calls = self.shown.calls.saturating_add(calls);
        self.shown.instructions = self.shown.instructions.saturating_add(instructions);
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

fn method(side: &Side, least: u64) -> GateMethod {
    let mut paths: BTreeMap<u64, (Path, u64, u64)> = BTreeMap::new();
    for (path, count) in side.paths() {
        let (key, length) = (key(side, &path), length(side, &path));
        let known = paths.entry(key).or_insert((path, 0, length));
        known.1 = known.1.saturating_add(count);
    }
    let work = |count: u64, length: u64| count.saturating_mul(length);
    let mut most: Vec<(&u64, &(Path, u64, u64))> = paths
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
        class: words::dotted(side.class),
        name: words::signature(&side.map.name, &side.map.descriptor),
        code: side.map.shape.as_ref().map_or(0, |shape| shape.code),
        file: side.source_file.map(|file| match side.class.rsplit_once('/') {
            Some((package, _)) => format!("{package}/{file}"),
            None => file.to_owned(),
        }),
        line: line.min(),
        calls: side.entries,
        instructions: side.work,
        paths: most
            .into_iter()
            .map(|(&key, (path, count, length))| GatePath {
                key,
                count: *count,
                length: *length,
                text: path_in_words(side, path),
            })
            .collect(),
    }
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

/// What a path is known by in other builds.
fn key(side: &Side, path: &Path) -> u64 {
    let mut hasher = ShapeHasher::default();
    for name in [side.class, &side.map.name, &side.map.descriptor] {
        hasher.add_bytes(name.as_bytes());
    }
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
    hasher.finish()
}

/// Why the numbers are less than all that ran, or no numbers at all.
fn lacks(profile: &Profile, ran: &[&Side]) -> Option<String> {
    let lost = profile.run.facts.get(facts::LOST).unwrap_or(0);
    match () {
        () if !profile.run.exact => Some("not all paths were counted".to_owned()),
        () if lost > 0 => Some(format!("{} path ends were lost", words::thousands(lost))),
        () if ran.iter().any(|side| side.map.shape.is_none()) => {
            Some("instructions are estimated from bytes: an older profile".to_owned())
        }
        () => None,
    }
}
