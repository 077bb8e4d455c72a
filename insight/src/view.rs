//! The view model: what every format shows, computed once.

mod build;

use std::cell::OnceCell;
use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use trodden_numbering::{BlockId, EdgeRef, FlowGraph, Path, PathEnd, RegenerateError, StartKind};
use trodden_profile::{
    BlockExit, ClassProfile, CountBasis, EdgeProfile, EndKind, ExecutedPath, KPaths, Key, MethodConditions,
    MethodCounts, MethodMap, Observation, PathDescription, PathForest, Place, Profile, RunInfo,
    UnreadableCount, path_key,
};

use crate::contexts::ContextsView;
use crate::decisions::Decisions;
use crate::left_out::LeftOut;
use crate::memory::Earlier;
use crate::names;
use crate::only_by::reached_only_by;
use crate::path_time::{Division, Groups, Names, PathTime, Through, TimeView, Times, WaitsInBlock};
use crate::source::{SourceText, Sources, below};
use crate::structural::StructureView;
use crate::subpaths::SubpathsView;

/// By reason: classes, or methods of them.
pub type Reasons<'p> = BTreeMap<&'p str, Vec<(&'p str, Option<&'p str>)>>;

/// A whole profile, hottest method first: by time if there are samples of it, else by decisions.
#[derive(Debug)]
pub struct View<'p> {
    /// The profile itself.
    pub profile: &'p Profile,
    /// About the run.
    pub run: &'p RunInfo,
    /// How the counts came about.
    pub basis: CountBasis,
    /// Sums over the whole profile, whatever was selected.
    pub totals: Totals,
    /// The selected methods that ran, or whose counts cannot be read, by time ([`TimeView::near`]), then flow, count, name.
    pub methods: Vec<MethodView<'p>>,
    /// Methods without any count: class and method map.
    pub idle: Vec<(&'p str, &'p MethodMap)>,
    /// Methods with CPU time whose paths are not known, most time first.
    pub left_out: Vec<LeftOut<'p>>,
    /// Methods without probes: reason to (class, method) entries.
    pub skipped: Reasons<'p>,
    /// Methods whose callees have no call sites, by reason.
    pub without_call_sites: Reasons<'p>,
    /// Methods whose cut paths are not counted though those of others are, by reason.
    pub without_cut_paths: Reasons<'p>,
    /// The k-iteration path forest, if the profile has one.
    pub kpaths: Option<&'p KPaths>,
    /// The calling contexts, if the profile has any.
    pub contexts: Option<ContextsView<'p>>,
    /// The hot subpaths, if the profile has some: those that touch the selected methods.
    pub subpaths: Option<SubpathsView<'p>>,
    /// CPU time of all methods, if the profile has samples, however few.
    pub sampled: Option<Times<'p>>,
    /// Where source text is found.
    pub sources: Rc<Sources>,
}

/// Sums over the whole profile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Paths counted or sampled, with partial samples.
    pub paths: u64,
    /// Branch flow, PEP 6.3: the sum of `freq(p) * branches(p)`.
    pub flow: u64,
    /// Methods with at least one count.
    pub methods: u64,
    /// Counts whose path numbers cannot be read.
    pub unreadable: u64,
}

/// One method.
#[derive(Debug)]
pub struct MethodView<'p> {
    /// Internal class name.
    pub class: &'p str,
    /// The class's SourceFile attribute, if it names a file below a source folder.
    pub source_file: Option<&'p str>,
    /// The path map; its blocks and graph fit each other unless all counts are
    /// [`unreadable`](Self::unreadable).
    pub map: &'p MethodMap,
    /// Readable counts, with partial samples.
    pub count: u64,
    /// Branch flow.
    pub flow: u64,
    /// Flow as a share of the whole profile's, 0 to 1.
    pub share: f64,
    /// Whole paths, those with most time first, then those with most decisions.
    pub paths: Vec<PathView>,
    /// Partial samples as path prefixes, in the same order.
    pub partial: Vec<PathView>,
    /// Paths whose iterations the probes do not report, and that have no count.
    pub unobserved: Vec<PathView>,
    /// Counts whose numbers cannot be read.
    pub unreadable: Vec<Unreadable>,
    /// Branches and switches in bytecode order, those that ran or might have.
    pub branches: Vec<BranchView>,
    /// How often each block ran and each edge was followed, as far as counted; with partial samples. Where probes leave
    /// loops out these are too low: see [`block_count`](Self::block_count) and [`edge_count`](Self::edge_count).
    pub edges: EdgeProfile,
    /// Per block: do the counts say how often it ran?
    pub known_blocks: Vec<bool>,
    /// Which of its paths followed which, if the profile tells: where its forest is, and the forest.
    pub forest: Option<((usize, usize), &'p PathForest)>,
    /// How much of it was really counted, if not all.
    pub observation: Option<&'p Observation>,
    /// Its loops, each on its own, if the profile tells.
    pub structure: Option<StructureView>,
    /// Its time, if it has samples.
    pub time: Option<TimeView>,
    /// The earlier run that its counts are of, if this one did not measure it.
    pub earlier: Option<Earlier<'p>>,
    /// The conditions of its branches, if they were recovered and are wanted.
    conditions: Option<&'p MethodConditions>,
    /// True if the counts are readings of the path register.
    pub readings: bool,
    /// Per block: the paths that samples in it were on.
    measured: Vec<WaitsInBlock>,
    /// Where source text is found.
    sources: Rc<Sources>,
    decisions: OnceCell<Decisions>,
    outcome_times: OnceCell<OutcomeTimes>,
}

/// The time of the outcomes of a method's branches and switches.
#[derive(Debug, Default)]
struct OutcomeTimes {
    /// Per edge: the position of its group.
    numbers: HashMap<EdgeRef, u32>,
    groups: Groups,
    /// Per group; none where neither a path nor a sample is known.
    times: Vec<Option<PathTime>>,
}

impl OutcomeTimes {
    /// Each outcome's paths: those that follow the edge, and those that begin where it alone leads to.
    fn groups(method: &MethodView) -> Self {
        let map = method.map;
        let blocks = (0..map.blocks.len()).map(BlockId::new);
        let edges: Vec<EdgeRef> = blocks
            .flat_map(|block| {
                (0..map.graph.successors(block).len()).map(move |to| names::edge(block.index(), to))
            })
            .collect();
        let edges: Vec<EdgeRef> = map.decided(&edges).collect();
        let mut outcomes = OutcomeTimes::default();
        let mut of_block: Vec<Vec<u32>> = vec![Vec::new(); map.blocks.len()];
        for (edge, blocks) in reached_only_by(map, &edges) {
            let group = outcomes.number(edge);
            for block in blocks {
                of_block[block.index()].push(group);
            }
        }
        let mut of_path = Vec::new();
        for path in method.all_paths() {
            let decided: Vec<EdgeRef> = path.decided(map).collect();
            let mut groups: Vec<u32> = decided.iter().map(|&edge| outcomes.number(edge)).collect();
            let start = map.block_at(path.description.start.bci);
            for &group in start.map_or(&[][..], |start| &of_block[start.index()]) {
                if !groups.contains(&group) {
                    groups.push(group);
                }
            }
            of_path.push(groups);
        }
        outcomes.groups = Groups {
            of_path,
            of_block,
            count: outcomes.numbers.len(),
        };
        outcomes
    }

    fn number(&mut self, edge: EdgeRef) -> u32 {
        let next = self.numbers.len() as u32;
        *self.numbers.entry(edge).or_insert(next)
    }
}

/// One path, or a prefix of one.
#[derive(Debug)]
pub struct PathView {
    /// Path number; for a prefix the partial number.
    pub number: u64,
    /// How often counted or sampled.
    pub count: u64,
    /// `count * branches`, PEP 6.3.
    pub flow: u64,
    /// Flow as a share of the whole profile's, 0 to 1.
    pub share: f64,
    /// Flow as a share of the method's; of its count where the method has no flow.
    pub share_of_method: f64,
    /// The path in bytecode and line terms.
    pub description: PathDescription,
    /// Its edges.
    pub edges: Vec<EdgeRef>,
    first: BlockId,
    end: PathEnd,
    /// Its part of the method's time, if that has samples.
    pub time: Option<PathTime>,
}

/// Some straight-line code on a path, then perhaps a decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stop {
    /// First and last line, or bytecode indices if `bytecode`.
    pub from: u32,
    /// See `from`; the same for a single line.
    pub to: u32,
    /// No line numbers: `from` and `to` are bytecode indices.
    pub bytecode: bool,
    /// The edge by which it went on, if there was a decision.
    pub edge: Option<EdgeRef>,
}

/// A number that names no path.
#[derive(Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// The number in the profile.
    pub number: u64,
    /// Its count.
    pub count: u64,
    /// The error.
    pub error: String,
}

/// One branch or switch.
#[derive(Debug, PartialEq, Eq)]
pub struct BranchView {
    /// Number of the block that it ends.
    pub block: usize,
    /// Where it is.
    pub at: Place,
    /// True for a switch, false for a conditional branch.
    pub is_switch: bool,
    /// Lies in a loop whose iterations are not counted, so it is not known how often it was decided which way.
    pub undercounted: bool,
}

/// One outcome of a decision, in words.
#[derive(Clone, Debug, PartialEq)]
pub struct OutcomeView {
    /// `yes`, `again`, `case "GET"`; `taken` where that is all that is known.
    pub text: String,
    /// *No*, *done*; not taken.
    pub negative: bool,
    /// How often; none if the probes do not tell.
    pub count: Option<u64>,
    /// Where it leads.
    pub target: Place,
    /// The part of the method's time that the paths with this outcome have, if that has samples.
    pub time: Option<PathTime>,
}

impl BranchView {
    /// Why its counts are not known, if they are not.
    pub fn unknown(&self) -> Option<&'static str> {
        self.undercounted
            .then_some("lies in a loop with a single path, whose iterations are not counted")
    }

    /// Its outcomes, in the order of the bytecode.
    pub fn outcomes(&self, method: &MethodView) -> Vec<OutcomeView> {
        let decisions = method.decisions();
        let targets = method.map.graph.successors(BlockId::new(self.block));
        let outcome = |(index, &to): (usize, &BlockId)| {
            let edge = names::edge(self.block, index);
            OutcomeView {
                text: decisions.outcome_or_label(method.map, edge),
                negative: decisions.is_negative(method.map, edge),
                count: method.edge_count(edge),
                target: method.map.place(method.map.blocks[to.index()].start),
                time: method.time_of(edge),
            }
        };
        targets.iter().enumerate().map(outcome).collect()
    }
}

impl<'p> View<'p> {
    /// CPU time of all methods, if there are enough samples to say where it was.
    pub fn times(&self) -> Option<&Times<'p>> {
        self.sampled.as_ref()?.if_enough()
    }

    /// Path maps by method. With those of methods that have ended no path: they may be on sampled stacks.
    pub fn maps(&self) -> HashMap<Names<'p>, &'p MethodMap> {
        let ran = self.methods.iter().filter(|method| method.earlier.is_none());
        let ran = ran.map(|method| (method.names(), method.map));
        let idle = self.idle.iter();
        let idle = idle.map(|&(class, map)| ((class, &*map.name, &*map.descriptor), map));
        ran.chain(idle).collect()
    }
}

impl<'p> MethodView<'p> {
    /// A method with its counts, without its time and its decisions.
    pub fn new(
        class: &'p ClassProfile,
        map: &'p MethodMap,
        counts: &MethodCounts,
        sources: Rc<Sources>,
    ) -> Self {
        let mut view = MethodView {
            class: &class.map.name,
            source_file: class
                .map
                .source_file
                .as_deref()
                .filter(|file| below(&class.map.name, file).is_some()),
            map,
            count: 0,
            flow: 0,
            share: 0.0,
            paths: Vec::new(),
            partial: Vec::new(),
            unobserved: Vec::new(),
            unreadable: Vec::new(),
            branches: Vec::new(),
            edges: EdgeProfile::new(map),
            known_blocks: vec![true; map.blocks.len()],
            forest: None,
            observation: None,
            structure: None,
            time: None,
            earlier: None,
            conditions: None,
            readings: false,
            measured: Vec::new(),
            sources,
            decisions: OnceCell::new(),
            outcome_times: OnceCell::new(),
        };
        let damage = damage(map);
        match &damage {
            None => map.executed(counts).for_each(|executed| view.add(executed)),
            Some(damage) => view.unreadable.extend(damaged(counts, damage)),
        }
        view.paths.shrink_to_fit();
        view.partial.shrink_to_fit();
        if damage.is_none() {
            for &number in map
                .unobserved
                .iter()
                .filter(|n| counts.paths.get(n).is_none_or(|&c| c == 0))
            {
                if let Ok(path) = map.dag.regenerate(&map.graph, number) {
                    view.unobserved.push(PathView::new(map, path, number, 0));
                }
            }
            view.known_blocks = map.known_blocks(counts);
            view.branches = view.branch_table();
        }
        view.paths.sort_by(hotter);
        view.partial.sort_by(hotter);
        view
    }

    fn add(&mut self, executed: Result<ExecutedPath, UnreadableCount>) {
        let ExecutedPath {
            number,
            stopped,
            times,
            path,
        } = match executed {
            Ok(executed) => executed,
            Err(unreadable) => {
                self.unreadable.push(Unreadable {
                    number: unreadable.number,
                    count: unreadable.times,
                    error: unreadable.error.to_string(),
                });
                return;
            }
        };
        self.edges.add(self.map, &path, times);
        let path = PathView::new(self.map, path, number, times);
        self.count = self.count.saturating_add(times);
        self.flow = self.flow.saturating_add(path.flow);
        if stopped.is_some() {
            self.partial.push(path);
        } else {
            self.paths.push(path);
        }
    }

    fn branch_table(&self) -> Vec<BranchView> {
        let table = self
            .edges
            .branches(self.map)
            .into_iter()
            .map(|branch| BranchView {
                block: branch.block.index(),
                at: branch.at,
                is_switch: branch.taken().is_none(),
                undercounted: !self.known_blocks[branch.block.index()],
            });
        table.collect()
    }

    /// Marks it as counted by an earlier run: its shares are those in that run.
    pub fn set_earlier(&mut self, earlier: Earlier<'p>) {
        self.share = earlier.about.decisions;
        for path in self.paths.iter_mut().chain(&mut self.partial) {
            path.share = path.share_of_method * self.share;
        }
        self.earlier = Some(earlier);
    }

    fn set_shares(&mut self, total: u128) {
        let share = |part: u64, whole: u128| {
            if whole == 0 {
                0.0
            } else {
                part as f64 / whole as f64
            }
        };
        self.share = share(self.flow, total);
        let (flow, count) = (u128::from(self.flow), u128::from(self.count));
        for path in self.paths.iter_mut().chain(&mut self.partial) {
            path.share = share(path.flow, total);
            path.share_of_method = if flow > 0 {
                share(path.flow, flow)
            } else {
                share(path.count, count)
            };
        }
    }

    /// Which paths, in the order of [`all_paths`](Self::all_paths), have which part of the time of its blocks.
    pub fn division(&self) -> Division {
        let stopped = |path: &PathView| {
            let d = &path.description;
            (d.end_kind == EndKind::Stopped).then(|| self.map.block_at(d.end.bci))?
        };
        let whole = self.paths.iter().map(|path| (path, Some(path.number)));
        let ways: Vec<Through> = whole
            .chain(self.partial.iter().map(|path| (path, None)))
            .map(|(path, number)| Through {
                blocks: &path.description.blocks,
                stopped: stopped(path),
                number,
                count: path.count,
                catches: path.description.start_kind == StartKind::Handler,
            })
            .collect();
        let blocks = self.map.blocks.len();
        Division::new(blocks, &ways, &self.known_blocks, self.readings, &self.measured)
    }

    /// True if it has counts, readable or not.
    fn has_counts(&self) -> bool {
        self.count > 0 || !self.unreadable.is_empty()
    }

    /// Class, name and descriptor.
    pub fn names(&self) -> Names<'p> {
        (self.class, &self.map.name, &self.map.descriptor)
    }

    /// Whole paths, then prefixes.
    pub fn all_paths(&self) -> impl Iterator<Item = &PathView> {
        self.paths.iter().chain(&self.partial)
    }

    /// A method that is shown alone: shares are those of its own decisions.
    pub fn describe(&mut self, conditions: Option<&'p MethodConditions>, times: Option<&Times>) {
        self.conditions = conditions;
        self.set_shares(u128::from(self.flow));
        if let Some(times) = times {
            self.set_times(times);
        }
    }

    fn set_times(&mut self, times: &Times) {
        self.measured = times.paths_of(self.class, self.map);
        let Some((time, of_paths)) = times.of((self.class, self.map), &self.division()) else {
            return;
        };
        self.time = Some(time);
        for (path, time) in self.paths.iter_mut().chain(&mut self.partial).zip(of_paths) {
            path.time = Some(time);
        }
        self.paths.sort_by(hotter);
        self.partial.sort_by(hotter);
    }

    /// The part of its time that an outcome of a branch or switch has: that of the paths that follow the edge, and of
    /// code that it alone leads to, such as loops. None without samples, or if no path is known to go there.
    pub fn time_of(&self, edge: EdgeRef) -> Option<PathTime> {
        let outcomes = self.outcome_times();
        let group = *outcomes.numbers.get(&edge)?;
        *outcomes.times.get(group as usize)?
    }

    /// Per block: the part of its time that an outcome has, 0 to 1.
    pub fn parts_of(&self, edge: EdgeRef) -> Vec<f64> {
        let outcomes = self.outcome_times();
        let Some(&group) = outcomes.numbers.get(&edge) else {
            return vec![0.0; self.map.blocks.len()];
        };
        let division = self.division();
        let blocks = 0..self.map.blocks.len();
        blocks
            .map(|block| outcomes.groups.part(&division, block, group))
            .collect()
    }

    fn outcome_times(&self) -> &OutcomeTimes {
        self.outcome_times.get_or_init(|| {
            let Some(time) = &self.time else {
                return OutcomeTimes::default();
            };
            let mut outcomes = OutcomeTimes::groups(self);
            let mut has_path = vec![false; outcomes.groups.count];
            for &group in outcomes.groups.of_path.iter().flatten() {
                has_path[group as usize] = true;
            }
            let times = time.of_groups(&self.division(), &outcomes.groups);
            let known = times.into_iter().zip(has_path);
            outcomes.times = known
                .map(|(time, has_path)| Some(time).filter(|time| has_path || time.samples > 0.0))
                .collect();
            outcomes
        })
    }

    /// How often a block ran; none if the probes do not tell ([`MethodMap::known_blocks`]).
    pub fn block_count(&self, block: usize) -> Option<u64> {
        let is_known = self.known_blocks.get(block).is_none_or(|known| *known);
        is_known.then(|| self.edges.blocks.get(block).copied().unwrap_or(0))
    }

    /// How often an edge was followed; none if the probes do not tell.
    pub fn edge_count(&self, edge: EdgeRef) -> Option<u64> {
        let is_known = self.map.known_edge(&self.known_blocks, edge);
        is_known.then(|| self.edges.count(edge))
    }

    /// The path of a number, with its count; or why there is none.
    pub fn path(&self, number: u64) -> Result<PathView, NoPath> {
        if let Some(damage) = damage(self.map) {
            return Err(NoPath::Damaged(damage));
        }
        let path = self.map.dag.regenerate(&self.map.graph, number)?;
        let counted = self.paths.iter().find(|p| p.number == number);
        let mut path = PathView::new(self.map, path, number, counted.map_or(0, |p| p.count));
        if let Some(counted) = counted {
            (path.share, path.share_of_method) = (counted.share, counted.share_of_method);
        }
        Ok(path)
    }

    /// The path to mark as hot: the hottest whole path, else the hottest prefix.
    pub fn hottest(&self) -> Option<&PathView> {
        self.paths.first().or_else(|| self.partial.first())
    }

    /// The conditions of its branches: in the source's own words where there is source, else as recovered from bytecode.
    pub fn decisions(&self) -> &Decisions {
        self.decisions.get_or_init(|| match self.conditions {
            Some(conditions) => {
                let source = self.sources.find(self.class, self.source_file);
                Decisions::new(self.map, conditions, source.as_deref().map(SourceText::file))
            }
            None => Decisions::default(),
        })
    }

    /// Activations that were counted: paths that begin at its entry.
    pub fn calls(&self) -> u64 {
        let entered = |path: &&PathView| path.description.start_kind == StartKind::Entry;
        let counts = self.all_paths().filter(entered).map(|path| path.count);
        counts.fold(0, u64::saturating_add)
    }

    /// `a.b.C.m(int)`.
    pub fn title(&self) -> String {
        names::title(self.class, &self.map.name, &self.map.descriptor)
    }

    /// `C.m`: without package and parameters.
    pub fn short_name(&self) -> String {
        format!("{}.{}", names::simple(self.class), self.map.name)
    }

    /// `C.m (C.java:12)`: a place in it; `C.m, line 12` where the file is not known.
    pub fn at(&self, bci: u32) -> String {
        let (name, at) = (self.short_name(), self.map.place(bci));
        match names::in_file(self.source_file, at) {
            Some(file) => format!("{name} ({file})"),
            None => format!("{name}, {}", names::place(at)),
        }
    }

    /// `C.m (C.java:10)`: it, with the place where its code begins if that is known.
    pub fn short_with_file(&self) -> String {
        match names::in_file(self.source_file, self.map.place(0)) {
            Some(_) => self.at(0),
            None => self.short_name(),
        }
    }

    /// `a.b.C.m(int), C.java:10`: the title, with the same place.
    pub fn title_with_file(&self) -> String {
        names::with_file(self.title(), self.source_file, self.map.place(0))
    }

    /// `m(int)`.
    pub fn signature(&self) -> String {
        names::signature(&self.map.name, &self.map.descriptor)
    }

    /// How often each line ran: the busiest of its blocks; none if that is not known of one of them. Empty without line
    /// numbers.
    pub fn line_counts(&self) -> BTreeMap<u32, Option<u64>> {
        let mut lines = BTreeMap::new();
        for (index, block) in self.map.blocks.iter().enumerate() {
            let count = self.block_count(index);
            for line in block_lines(self.map, block.start, block.end) {
                let entry = lines.entry(line).or_insert(Some(0));
                *entry = entry.zip(count).map(|(one, other)| one.max(other));
            }
        }
        lines
    }
}

/// Which of two paths of a method comes first: the one with more time, then the one with more decisions.
pub fn hotter(a: &PathView, b: &PathView) -> Ordering {
    let time = |path: &PathView| path.time.map_or(0.0, |time| time.ns);
    let decided = |path: &PathView| (path.flow, path.count);
    time(b)
        .total_cmp(&time(a))
        .then_with(|| decided(b).cmp(&decided(a)))
        .then(a.number.cmp(&b.number))
}

impl PathView {
    /// True if it has time, or decisions.
    pub fn has_work(&self) -> bool {
        self.flow > 0 || self.time.is_some_and(|time| time.ns > 0.0)
    }

    /// A path with its count, without shares.
    pub fn new(map: &MethodMap, mut path: Path, number: u64, count: u64) -> Self {
        let mut description = map.describe_path(&path);
        let flow = count.saturating_mul(description.branches);
        // There are many: no room to spare.
        description.blocks.shrink_to_fit();
        path.edges.shrink_to_fit();
        PathView {
            number,
            count,
            flow,
            share: 0.0,
            share_of_method: 0.0,
            time: None,
            description,
            edges: path.edges,
            first: path.first,
            end: path.end,
        }
    }

    /// Its key, in a method whose graph has this one.
    pub fn key(&self, graph: Key) -> Key {
        let path = Path {
            start: self.description.start_kind,
            first: self.first,
            edges: self.edges.clone(),
            end: self.end,
        };
        path_key(graph, &path)
    }

    /// The edges by which it left branches and switches, in the order of its steps.
    pub fn decided<'e>(&'e self, map: &'e MethodMap) -> impl Iterator<Item = EdgeRef> + 'e {
        map.decided(&self.edges)
    }

    /// The path as a sequence of line runs and decisions, without those that the compiler made on its own.
    pub fn folded(&self, map: &MethodMap, decisions: &Decisions) -> Vec<Stop> {
        let mut stops: Vec<Stop> = Vec::new();
        let mut open = false;
        for stop in self.stops(map) {
            let made = stop
                .edge
                .is_some_and(|edge| decisions.made(edge.from.index()).is_some());
            let joins = |last: &&mut Stop| {
                open && last.bytecode == stop.bytecode && (last.from..=last.to + 1).contains(&stop.from)
            };
            match stops.last_mut().filter(joins) {
                Some(last) => {
                    last.to = last.to.max(stop.to);
                    last.edge = stop.edge;
                }
                None => stops.push(stop),
            }
            open = made;
            if let Some(last) = stops.last_mut().filter(|_| made) {
                last.edge = None;
            }
        }
        stops
    }

    /// Its lines in the order they ran, ascending neighbours joined, broken at each decision.
    fn stops(&self, map: &MethodMap) -> Vec<Stop> {
        let mut stops: Vec<Stop> = Vec::new();
        let mut open = false;
        for (position, id) in self.description.blocks.iter().enumerate() {
            let block = &map.blocks[id.index()];
            let mut lines = block_lines(map, block.start, block.end);
            let bytecode = lines.is_empty();
            if bytecode {
                lines.push(block.start);
            }
            for line in lines {
                match stops.last_mut() {
                    Some(last)
                        if open && !bytecode && !last.bytecode && (last.to..=last.to + 1).contains(&line) =>
                    {
                        last.to = line;
                    }
                    _ => stops.push(Stop {
                        from: line,
                        to: line,
                        bytecode,
                        edge: None,
                    }),
                }
                open = true;
            }
            let edge = self.edges.get(position);
            if let (BlockExit::Branch | BlockExit::Switch, Some(edge), Some(last)) =
                (block.exit, edge, stops.last_mut())
            {
                last.edge = Some(*edge);
                open = false;
            }
        }
        stops
    }

    /// All lines it runs through.
    pub fn lines(&self, map: &MethodMap) -> Vec<u32> {
        let blocks = self.description.blocks.iter().map(|b| &map.blocks[b.index()]);
        let mut lines: Vec<u32> = blocks.flat_map(|b| block_lines(map, b.start, b.end)).collect();
        lines.sort_unstable();
        lines.dedup();
        lines
    }
}

/// Lines of a piece of bytecode in bytecode order, immediate repetitions dropped.
pub fn block_lines(map: &MethodMap, start: u32, end: u32) -> Vec<u32> {
    let mut lines: Vec<u32> = map.line(start).into_iter().collect();
    let first = map.lines.partition_point(|e| e.bci <= start);
    lines.extend(
        map.lines[first..]
            .iter()
            .take_while(|e| e.bci < end)
            .map(|e| e.line),
    );
    lines.dedup();
    lines
}

fn clamp(sum: u128) -> u64 {
    u64::try_from(sum).unwrap_or(u64::MAX)
}

/// Why a number names no path.
#[derive(Debug, thiserror::Error)]
pub enum NoPath {
    /// The path map cannot be read at all.
    #[error("{0}")]
    Damaged(String),
    /// The map has no such number.
    #[error(transparent)]
    Number(#[from] RegenerateError),
}

/// All counts of a method whose path map cannot be read.
fn damaged(counts: &MethodCounts, damage: &str) -> impl Iterator<Item = Unreadable> {
    let whole = counts.paths.iter().map(|(&number, &count)| (number, count));
    let partial = counts
        .partial
        .iter()
        .map(|(&(_, number), &count)| (number, count));
    let counted = whole.chain(partial).filter(|&(_, count)| count > 0);
    counted.map(move |(number, count)| Unreadable {
        number,
        count,
        error: damage.to_owned(),
    })
}

/// True if a method ran, as far as counted.
pub fn ran(counts: &MethodCounts) -> bool {
    let mut all = counts.paths.values().chain(counts.partial.values());
    all.any(|&count| count > 0)
}

/// The fault that makes a path map unusable: tables that do not fit each other. Regeneration checks the rest.
pub fn damage(map: &MethodMap) -> Option<String> {
    let blocks = map.graph.num_blocks();
    if map.blocks.len() != blocks {
        return Some(format!(
            "the path map is damaged: {} blocks, {blocks} in its graph",
            map.blocks.len()
        ));
    }
    for (index, block) in map.blocks.iter().enumerate() {
        let successors = map.graph.successors(BlockId::new(index));
        if successors.len() != block.labels.len() || successors.iter().any(|s| s.index() >= blocks) {
            return Some(format!(
                "the path map is damaged: the edges of block {index} do not fit its labels"
            ));
        }
    }
    None
}
