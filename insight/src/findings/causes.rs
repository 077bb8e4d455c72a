//! What may explain the program's time: outcomes of decisions, paths, and methods that have much of it themselves. Each has
//! a part of the time of some places in one method, so that it can be compared with the others by the samples.

use trodden_numbering::{BlockId, EdgeRef, FlowGraph, StartKind};
use trodden_profile::{EndKind, MethodMap, Outcome};

use super::ratio;
use crate::names::edge;
use crate::path_time::{PathTime, Times};
use crate::view::{MethodView, PathView, View};

/// Least share of the program's time that a decision or a path has for certain.
const MIN_CERTAIN: f64 = 0.02;
/// How many times more of the time than of the executions a decision or a path has, in the worst case of the interval.
const MIN_LIFT: f64 = 2.0;
/// Share of the executions up to which an outcome or a path is seldom: half of all decisions have nothing to do on their
/// other way.
const MAX_EXECUTIONS: f64 = 0.25;
/// Executions of a decision, or of the paths from one place, from which their proportions are looked at.
const MIN_EXECUTIONS: u64 = 50;
/// Executions of the outcome or the path itself: what happens once has no proportion.
const MIN_COUNT: u64 = 5;
/// Least share of the program's time from which a method is a finding for that alone.
const MIN_OWN: f64 = 0.1;
/// Rounds of a loop for each time it is entered, up to which further ones are repetitions.
const MAX_ROUNDS: f64 = 4.0;
/// Candidates of each kind that are compared.
const MAX_CANDIDATES: usize = 32;

/// A cause of time.
pub enum What<'v> {
    /// One outcome of a decision.
    Outcome(EdgeRef),
    /// The outcome that makes a loop go round again which mostly is left soon: what is done over again.
    Again(EdgeRef),
    /// A path; a prefix never is one.
    Path(&'v PathView),
    /// What a path does that leaves a loop as each call does once.
    AfterLoop(&'v PathView),
    /// A method, with what it calls outside of measured code.
    Own,
}

/// A thing that takes time, in one method.
pub struct Candidate<'v> {
    /// The thing.
    pub what: What<'v>,
    /// Position in [`View::methods`]; none of a method whose paths are not known.
    pub method: Option<usize>,
    /// Position of its method among the frames of the samples.
    pub frame: usize,
    /// Its share of its executions: of the decision's, of the paths from the same place. 1 of what is not chosen.
    pub executions: f64,
    /// How many times more of its method's time than of the executions it has, at least.
    pub lift: f64,
    /// Per block: its part of the block's time. Empty of [`What::Own`].
    pub parts: Vec<f64>,
    /// Share of the program's time, as far as its method's numbers show it.
    pub share: f64,
}

impl Candidate<'_> {
    /// Its part of the time of samples in which its method was at a place.
    pub fn part(&self, map: &MethodMap, bci: Option<u16>) -> f64 {
        let block = bci.and_then(|bci| map.block_at(bci.into()));
        block.map_or(0.0, |block| self.parts.get(block.index()).copied().unwrap_or(0.0))
    }

    /// True if it says on which way the time was spent.
    pub fn decides(&self) -> bool {
        matches!(self.what, What::Outcome(_) | What::Again(_) | What::Path(_))
    }
}

/// All of them, most time first within each kind.
pub fn candidates<'v>(view: &'v View, times: &Times) -> Vec<Candidate<'v>> {
    let mut decided = Vec::new();
    for (index, method) in view.methods.iter().enumerate() {
        let Some(frame) = times.frame(method.names()) else {
            continue;
        };
        let Some(time) = method
            .time
            .as_ref()
            .filter(|time| time.total_share >= MIN_CERTAIN)
        else {
            continue;
        };
        if !method.unreadable.is_empty() {
            continue;
        }
        let of = OfMethod {
            index,
            method,
            frame,
            total_share: time.total_share,
        };
        decided.extend(of.outcomes());
        decided.extend(of.paths());
    }
    let most_first = |a: &Candidate, b: &Candidate| b.share.total_cmp(&a.share);
    decided.sort_by(most_first);
    decided.truncate(MAX_CANDIDATES);
    let mut own: Vec<Candidate> = (0..times.near.len())
        .filter(|&frame| times.mapped[frame] && ratio(times.near[frame].ns, times.total.ns) >= MIN_OWN)
        .map(|frame| Candidate {
            what: What::Own,
            method: view
                .methods
                .iter()
                .position(|m| times.frame(m.names()) == Some(frame)),
            frame,
            executions: 1.0,
            lift: 1.0,
            parts: Vec::new(),
            share: ratio(times.near[frame].ns, times.total.ns),
        })
        .collect();
    own.sort_by(most_first);
    decided.extend(own);
    decided
}

struct OfMethod<'v, 'p> {
    index: usize,
    method: &'v MethodView<'p>,
    frame: usize,
    total_share: f64,
}

impl<'v> OfMethod<'v, '_> {
    fn outcomes(&self) -> Vec<Candidate<'v>> {
        let method = self.method;
        let mut found = Vec::new();
        for branch in &method.branches {
            let is_own = method.decisions().made(branch.block).is_none();
            if !is_own || !method.known_blocks[branch.block] {
                continue;
            }
            let counts = &method.edges.edges[branch.block];
            let total = counts.iter().fold(0u64, |sum, &n| sum.saturating_add(n));
            for (index, &count) in counts.iter().enumerate() {
                let edge = edge(branch.block, index);
                let time = method.time_of(edge).filter(|time| self.is_worth(time));
                let Some(time) = time.filter(|_| total >= MIN_EXECUTIONS) else {
                    continue;
                };
                let executions = if self.leaves_loop(edge) {
                    ratio(count, self.entries())
                } else {
                    ratio(count, total)
                };
                let what = if count >= MIN_COUNT && self.is_slow(&time, executions) {
                    What::Outcome(edge)
                } else if time.share * self.total_share >= MIN_OWN && self.repeats(edge) {
                    // Rounds have their code in common: nothing of it is certain.
                    What::Again(edge)
                } else {
                    continue;
                };
                found.push(self.candidate(what, executions, &time, method.parts_of(edge)));
            }
        }
        found
    }

    fn paths(&self) -> Vec<Candidate<'v>> {
        let method = self.method;
        let mut found = Vec::new();
        for path in &method.paths {
            let Some(time) = path.time.filter(|time| self.is_worth(time)) else {
                continue;
            };
            let start = |path: &PathView| (path.description.start_kind, path.description.start);
            let from_there = method.all_paths().filter(|other| start(other) == start(path));
            let from_there = from_there.fold(0u64, |sum, p| sum.saturating_add(p.count));
            if from_there < MIN_EXECUTIONS || path.count < MIN_COUNT {
                continue;
            }
            let d = &path.description;
            let (start_kind, end_kind) = method.decisions().source_kinds(method.map, d);
            let is_round = end_kind == EndKind::Header && d.end == d.start;
            let is_exit = start_kind == StartKind::Header
                && !is_round
                && ratio(path.count, self.entries()) >= 1.0 / MIN_LIFT;
            let executions = ratio(path.count, from_there);
            if self.is_slow(&time, executions) {
                let what = if is_exit {
                    What::AfterLoop(path)
                } else {
                    What::Path(path)
                };
                found.push(self.candidate(what, executions, &time, self.parts_of(path)));
            }
        }
        found
    }

    /// True if it is enough time to look at it.
    fn is_worth(&self, time: &PathTime) -> bool {
        time.share * self.total_share >= MIN_CERTAIN
    }

    fn is_slow(&self, time: &PathTime, executions: f64) -> bool {
        let least = time.interval[0];
        executions <= MAX_EXECUTIONS
            && least * self.total_share >= MIN_CERTAIN
            && least >= MIN_LIFT * executions
    }

    /// Per block: the part of its time that a path has.
    fn parts_of(&self, path: &PathView) -> Vec<f64> {
        let position = self
            .method
            .all_paths()
            .position(|other| std::ptr::eq(other, path));
        let division = self.method.division();
        let part = |block| {
            let parts = division.of_block(block).iter();
            let its_own = parts.filter(|part| Some(part.path as usize) == position);
            its_own.map(|part| part.share).sum()
        };
        (0..self.method.map.blocks.len()).map(part).collect()
    }

    fn candidate(&self, what: What<'v>, executions: f64, time: &PathTime, parts: Vec<f64>) -> Candidate<'v> {
        Candidate {
            what,
            method: Some(self.index),
            frame: self.frame,
            executions,
            lift: time.interval[0] / executions.max(f64::MIN_POSITIVE),
            parts,
            share: time.share * self.total_share,
        }
    }

    /// Calls of the method, as far as counted.
    fn entries(&self) -> u64 {
        let entered = self.method.all_paths();
        let entered = entered.filter(|path| path.description.start_kind == StartKind::Entry);
        entered.fold(0, |sum, path| sum.saturating_add(path.count))
    }

    /// Does the edge make a loop go round again that has no condition of its own, and few rounds?
    fn repeats(&self, edge: EdgeRef) -> bool {
        let decisions = self.method.decisions();
        let outcomes = decisions
            .of(edge.from.index())
            .map_or(&[][..], |decision| &decision.outcomes);
        let counts_rounds = |outcome: &Outcome| matches!(outcome, Outcome::Again | Outcome::Done);
        let others = (0..self.method.map.blocks[edge.from.index()].labels.len() as u32)
            .filter(|&index| index != edge.index)
            .map(|index| EdgeRef { index, ..edge });
        if outcomes.iter().any(counts_rounds) || !others.into_iter().all(|other| self.leaves_loop(other)) {
            return false;
        }
        let with_edge = self.method.all_paths().filter(|path| path.edges.contains(&edge));
        let mut tops = with_edge.map(|path| (path.description.end_kind, path.description.end));
        let Some((EndKind::Header, top)) = tops.next() else {
            return false;
        };
        let (mut entered, mut rounds) = (0u64, 0u64);
        for path in self.method.all_paths() {
            let d = &path.description;
            let from_top = d.start_kind == StartKind::Header && d.start == top;
            if from_top {
                rounds = rounds.saturating_add(path.count);
            } else if d.end_kind == EndKind::Header && d.end == top {
                entered = entered.saturating_add(path.count);
            }
        }
        entered >= MIN_EXECUTIONS && ratio(rounds, entered) <= MAX_ROUNDS
    }

    /// Does the edge leave a loop that its decision is in? How seldom that is then depends on the loop's length.
    fn leaves_loop(&self, edge: EdgeRef) -> bool {
        let block = edge.from.index();
        let decision = self.method.decisions().of(block);
        if let Some(Outcome::Done | Outcome::Again) =
            decision.and_then(|d| d.outcomes.get(edge.index as usize))
        {
            return decision.is_some_and(|d| d.outcomes[edge.index as usize] == Outcome::Done);
        }
        let targets = self.method.map.graph.successors(edge.from);
        let back = |to: &BlockId| reaches(self.method.map, to.index(), block);
        !back(&targets[edge.index as usize]) && targets.iter().any(back)
    }
}

/// Can a block be reached from another one?
fn reaches(map: &MethodMap, from: usize, wanted: usize) -> bool {
    let mut seen = vec![false; map.blocks.len()];
    let mut stack = vec![from];
    while let Some(at) = stack.pop() {
        if at == wanted {
            return true;
        }
        if !std::mem::replace(&mut seen[at], true) {
            stack.extend(map.graph.successors(BlockId::new(at)).iter().map(|to| to.index()));
        }
    }
    false
}
