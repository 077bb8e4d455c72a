//! Coverage of a change: outcomes on changed lines that nothing took, and methods with changed lines that
//! never ran.

use std::cmp::Reverse;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use trodden_numbering::{BlockId, FlowGraph};
use trodden_profile::{ClassMap, ExecutedPath};

use super::{BranchCoverage, Coverage, MethodCoverage, OutcomeCoverage, Ratio};
use crate::decisions::Decision;
use crate::source::below;
use crate::unified_diff::{ChangeError, FileChange, Piece, parse};

/// Lines that a change puts into files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangedLines {
    /// By path after the change, as the diff has it: from the repository's root.
    pub files: BTreeMap<String, BTreeSet<u32>>,
}

impl ChangedLines {
    /// The new lines of a diff, as `git diff` writes it. Lines that were only taken out are none, nor are
    /// files that are gone.
    ///
    /// # Errors
    /// If it is no diff.
    pub fn of_diff(text: &str) -> Result<Self, ChangeError> {
        let lines = |file: FileChange| {
            let lines: BTreeSet<u32> = file.pieces.iter().flat_map(Piece::new_lines).collect();
            file.new_path
                .filter(|_| !lines.is_empty())
                .map(|path| (path, lines))
        };
        let mut files: BTreeMap<String, BTreeSet<u32>> = BTreeMap::new();
        for (path, lines) in parse(text)?.into_iter().filter_map(lines) {
            files.entry(path).or_default().extend(lines);
        }
        Ok(ChangedLines { files })
    }

    /// The file that a class's source is: the one whose path ends with the class's package and source file.
    /// Sources in other languages than Java may leave the beginning of the package out, or all of it.
    fn file_of(&self, coverage: &Coverage, class: &ClassMap, release: Option<u32>) -> Option<&str> {
        let name = class.source_file.as_deref()?;
        let own = below(&class.name, name)?.to_string_lossy().into_owned();
        let ends = |path: &str, end: &str| {
            path.strip_suffix(end)
                .is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
        };
        let with = |end: &str| -> Vec<&str> {
            let paths = self.files.keys().map(String::as_str);
            paths.filter(|path| ends(path, end)).collect()
        };
        let mut end = own.as_str();
        let mut found = with(end);
        while let (true, false, Some((_, shorter))) =
            (found.is_empty(), name.ends_with(".java"), end.split_once('/'))
        {
            end = shorter;
            found = with(end);
        }
        // Of several modules with a file of that name: the one where the sources have it.
        let place = || {
            coverage
                .source_of((&class.name, name), release)
                .unwrap_or_default()
        };
        let in_sources = |path: &&&str| ends(&place(), path);
        match found.as_slice() {
            [] => None,
            [one] => Some(one),
            several => several.iter().find(in_sources).or(several.first()).copied(),
        }
    }
}

/// Coverage of a change.
#[derive(Clone, Debug, Default)]
pub struct ChangeCoverage<'c> {
    /// Code that nothing ran, by file, line and place in the code.
    pub untaken: Vec<Untaken<'c>>,
    /// Changed lines with code that ran, of those with code.
    pub lines: Ratio,
    /// Outcomes on changed lines that were taken, of all.
    pub outcomes: Ratio,
    /// Changed files of which no class is known.
    pub unknown: Vec<String>,
}

/// Code on a changed line that nothing ran.
#[derive(Clone, Debug)]
pub struct Untaken<'c> {
    /// The file, as the diff has it.
    pub file: String,
    /// The line; of a method its first changed one.
    pub line: u32,
    /// The method.
    pub method: &'c MethodCoverage,
    /// The missing part of it.
    pub what: Missed,
}

/// A part of a method that did not run.
#[derive(Clone, Debug)]
pub enum Missed {
    /// A whole method.
    Method {
        /// Its position among those of its class with the same name, but for a lambda's number, and descriptor,
        /// from 0.
        position: usize,
    },
    /// An outcome of a decision, in a method that ran.
    Outcome(Box<MissedOutcome>),
}

/// An outcome that nothing took.
#[derive(Clone, Debug)]
pub struct MissedOutcome {
    /// The decision.
    pub branch: BranchCoverage,
    /// The outcome.
    pub outcome: OutcomeCoverage,
    /// Its position among those of its class with the same method, condition and outcome, from 0. Lines that
    /// come or go elsewhere do not change it.
    pub position: usize,
    /// The nearest path that ran; none if it is not known which paths ran.
    pub nearest: Option<NearestRun>,
}

impl MissedOutcome {
    /// True if some other outcome of the decision was taken.
    pub fn is_decided(&self) -> bool {
        self.branch.outcomes.iter().any(|outcome| outcome.count > 0)
    }
}

/// A path that ran and comes near a decision.
#[derive(Clone, Debug)]
pub struct NearestRun {
    /// The path.
    pub ran: ExecutedPath,
    /// True if it comes to the decision; else it only comes as near as any.
    pub reaches: bool,
}

/// The same outcome for a programmer: field initialisers are in all constructors, and a class may be there in
/// several versions.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Same<'l> {
    file: &'l str,
    line: u32,
    /// Class; method, with its descriptor unless it is a constructor; condition; outcome.
    names: [String; 4],
    /// Position among equals on the line.
    position: usize,
}

impl<'c> ChangeCoverage<'c> {
    /// Finds what of a change ran.
    pub fn new(coverage: &'c Coverage, change: &ChangedLines) -> Self {
        let mut gathering = Gathering::default();
        let mut known: BTreeSet<&str> = BTreeSet::new();
        let mut files: HashMap<&str, Option<&str>> = HashMap::new();
        for method in &coverage.methods {
            let file = files
                .entry(method.class())
                .or_insert_with(|| change.file_of(coverage, &method.class, method.release));
            if let Some((file, lines)) = file.and_then(|file| change.files.get_key_value(file)) {
                known.insert(file);
                gathering.add(method, file, lines);
            }
        }
        let without_code = coverage.without_code.iter();
        known.extend(without_code.filter_map(|class| change.file_of(coverage, class, None)));
        let mut found = ChangeCoverage {
            lines: gathering.lines.values().map(|&ran| Ratio::one(ran)).sum(),
            outcomes: gathering.outcomes.values().map(|one| Ratio::one(one.taken)).sum(),
            ..ChangeCoverage::default()
        };
        found.untaken = gathering.idle_methods(coverage);
        let missed = gathering.outcomes.into_values();
        let mut missed: Vec<One> = missed
            .filter(|one| !one.taken && one.missed.method.ran())
            .collect();
        missed.sort_by_key(|one| one.order);
        found.untaken.extend(missed.into_iter().map(|one| one.missed));
        let files = change.files.keys();
        let unknown = files.filter(|file| is_source(file) && !known.contains(file.as_str()));
        found.unknown = unknown.cloned().collect();
        // Stable: what is on one line keeps its order.
        found
            .untaken
            .sort_by(|a, b| (&a.file, a.line).cmp(&(&b.file, b.line)));
        found
    }
}

/// Coverage of changed lines that is being collected.
#[derive(Default)]
struct Gathering<'c, 'l> {
    /// Changed lines with code, and if they ran.
    lines: BTreeMap<(&'l str, u32), bool>,
    /// Those that a constructor ran.
    constructed: BTreeSet<(&'l str, u32)>,
    outcomes: BTreeMap<Same<'l>, One<'c>>,
    /// Methods that never ran, with their changed lines and position among equals.
    idle: Vec<(&'l str, &'c MethodCoverage, Vec<u32>, usize)>,
    /// Methods with the same class, stable name and descriptor: their names, which are equal in all versions
    /// of a class.
    equals: HashMap<[&'c str; 3], Vec<&'c str>>,
    /// How many outcomes have had these names.
    positions: HashMap<[String; 5], usize>,
}

/// An outcome.
struct One<'c> {
    /// Number of outcomes before it.
    order: usize,
    taken: bool,
    missed: Untaken<'c>,
}

impl<'c, 'l> Gathering<'c, 'l> {
    fn add(&mut self, method: &'c MethodCoverage, file: &'l str, changed: &BTreeSet<u32>) {
        let measured = method.measured();
        let own = measured.lines.keys().filter(|line| changed.contains(line));
        let own: Vec<u32> = own.copied().collect();
        for line in &own {
            let ran = measured.lines[line].count > 0;
            *self.lines.entry((file, *line)).or_default() |= ran;
            if ran && method.map().name == "<init>" {
                self.constructed.insert((file, *line));
            }
        }
        let position = self.position(method);
        if !method.ran() && !own.is_empty() {
            self.idle.push((file, method, own, position));
        }
        let mut runs = None;
        let mut on_line: HashMap<(u32, String, String), usize> = HashMap::new();
        for branch in &measured.branches {
            for outcome in &branch.outcomes {
                let names = names(method, branch, outcome);
                let position = next(self.positions.entry(names.clone()).or_default());
                let Some(line) = branch.line.filter(|line| changed.contains(line)) else {
                    continue;
                };
                let [class, name, descriptor, condition, label] = names;
                let equals = on_line
                    .entry((line, condition.clone(), label.clone()))
                    .or_default();
                let name = if name == "<init>" {
                    name
                } else {
                    name + &descriptor
                };
                let same = Same {
                    file,
                    line,
                    names: [class, name, condition, label],
                    position: next(equals),
                };
                let taken = outcome.count > 0;
                let near = !taken && method.ran();
                let nearest = near.then(|| runs.get_or_insert_with(|| Runs::of(method)));
                let missed = MissedOutcome {
                    branch: branch.clone(),
                    outcome: outcome.clone(),
                    position,
                    nearest: nearest.and_then(|runs| runs.nearest(method, branch)),
                };
                let missed = Untaken {
                    file: file.to_owned(),
                    line,
                    method,
                    what: Missed::Outcome(Box::new(missed)),
                };
                let order = self.outcomes.len();
                self.add_outcome(same, One { order, taken, missed });
            }
        }
    }

    /// The method's position among those whose names differ by a lambda's number alone.
    fn position(&mut self, method: &'c MethodCoverage) -> usize {
        let map = method.map();
        let names = [method.class(), method.stable_name(), map.descriptor.as_str()];
        let equals = self.equals.entry(names).or_default();
        let found = equals.iter().position(|name| *name == map.name);
        found.unwrap_or_else(|| {
            equals.push(&map.name);
            equals.len() - 1
        })
    }

    fn add_outcome(&mut self, same: Same<'l>, one: One<'c>) {
        match self.outcomes.entry(same) {
            Entry::Vacant(entry) => {
                entry.insert(one);
            }
            Entry::Occupied(mut entry) => {
                let first = entry.get_mut();
                first.taken |= one.taken;
                // The version that ran says more.
                if !first.missed.method.ran() && one.missed.method.ran() {
                    first.missed = one.missed;
                }
            }
        }
    }

    /// Methods that never ran, each once. Of a constructor, field initialisers are no reason if another one
    /// ran them.
    fn idle_methods(&self, coverage: &'c Coverage) -> Vec<Untaken<'c>> {
        if self.idle.is_empty() {
            return Vec::new();
        }
        let names = |method: &'c MethodCoverage| {
            let map = method.map();
            (method.class(), map.name.as_str(), map.descriptor.as_str())
        };
        // Of several versions of a class another one may have run.
        let ran = coverage.methods.iter().filter(|method| method.ran());
        let mut seen: BTreeSet<_> = ran.map(names).collect();
        let mut found = Vec::new();
        for (file, method, own, position) in &self.idle {
            let ran = |line: u32| self.constructed.contains(&(*file, line));
            let mut own = own.iter().copied();
            let line = own.find(|&line| method.map().name != "<init>" || !ran(line));
            if let Some(line) = line.filter(|_| seen.insert(names(method))) {
                found.push(Untaken {
                    file: (*file).to_owned(),
                    line,
                    method,
                    what: Missed::Method { position: *position },
                });
            }
        }
        found
    }
}

/// Counts: the number before.
fn next(count: &mut usize) -> usize {
    *count += 1;
    *count - 1
}

/// The names by which an outcome is known again in another build: class, method, descriptor, condition,
/// outcome.
fn names(method: &MethodCoverage, branch: &BranchCoverage, outcome: &OutcomeCoverage) -> [String; 5] {
    let map = method.map();
    let condition = method.decisions.of(branch.block).and_then(Decision::phrase);
    let label = match (method.is_switch(branch), method.is_yes(outcome)) {
        (true, _) => method.label(outcome),
        (false, true) => "yes".to_owned(),
        (false, false) => "no".to_owned(),
    };
    [
        method.class().to_owned(),
        method.stable_name().to_owned(),
        map.descriptor.clone(),
        condition.unwrap_or_default(),
        label,
    ]
}

/// A file of a language that is compiled for the JVM.
fn is_source(path: &str) -> bool {
    const ENDINGS: [&str; 4] = [".java", ".kt", ".scala", ".groovy"];
    const NO_CODE: [&str; 2] = ["package-info.java", "module-info.java"];
    let name = path.rsplit('/').next().unwrap_or(path);
    ENDINGS.iter().any(|ending| name.ends_with(ending)) && !NO_CODE.contains(&name)
}

impl MethodCoverage {
    /// Its name without the number that compilers give to the body of a lambda: `lambda$price$` of
    /// `lambda$price$3`.
    pub fn stable_name(&self) -> &str {
        let name = self.map().name.as_str();
        if name.starts_with("lambda$") {
            name.trim_end_matches(|c: char| c.is_ascii_digit())
        } else {
            name
        }
    }
}

/// The paths of a method that ran, most frequent first, each with its blocks.
struct Runs {
    paths: Vec<(ExecutedPath, Vec<BlockId>)>,
    /// Per block: the first of the paths through it.
    first: Vec<Option<usize>>,
}

impl Runs {
    fn of(method: &MethodCoverage) -> Self {
        let map = method.map();
        let all = map.executed(&method.counts).flatten();
        let mut paths: Vec<(ExecutedPath, Vec<BlockId>)> = all
            .map(|ran| {
                let blocks = ran.path.blocks(&map.graph);
                (ran, blocks)
            })
            .collect();
        paths.sort_by_key(|(ran, _)| (Reverse(ran.times), ran.stopped.is_some(), ran.number));
        let mut first = vec![None; map.graph.num_blocks()];
        for (index, (_, blocks)) in paths.iter().enumerate() {
            for block in blocks {
                first[block.index()].get_or_insert(index);
            }
        }
        Runs { paths, first }
    }

    /// The most frequent path that comes to a decision; if none does, one that comes as near as any.
    fn nearest(&self, method: &MethodCoverage, branch: &BranchCoverage) -> Option<NearestRun> {
        let graph = &method.map().graph;
        let mut level = method.blocks_of(branch);
        let mut seen: BTreeSet<usize> = level.iter().copied().collect();
        let mut reaches = true;
        while !level.is_empty() {
            let ran = level.iter().filter_map(|&block| self.first[block]).min();
            if let Some((ran, _)) = ran.map(|index| &self.paths[index]) {
                return Some(NearestRun {
                    ran: ran.clone(),
                    reaches,
                });
            }
            let leads = |block: &usize| {
                graph
                    .successors(BlockId::new(*block))
                    .iter()
                    .any(|to| level.contains(&to.index()))
            };
            let before: Vec<usize> = (0..graph.num_blocks())
                .filter(|block| !seen.contains(block) && leads(block))
                .collect();
            seen.extend(&before);
            level = before;
            reaches = false;
        }
        None
    }
}
