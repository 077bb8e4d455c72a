//! Lines and branches of a method, without what the compiler made.
//!
//! What is left out is what JaCoCo's filters leave out, so that thresholds carry over: instructions, branches and blocks
//! that the source does not have, methods as a whole. The copies of a `finally` block are one: what any of them did counts
//! for the first one.

use std::collections::{BTreeMap, BTreeSet};

use trodden_numbering::{BlockId, EdgeRef, FlowGraph};
use trodden_profile::{
    BlockExit, CodeCopy, CodeRange, CompilerMade, ConditionKind, MethodConditions, Outcome,
};

use super::{MethodCoverage, Ratio};
use crate::names::edge;

/// What of a method the compiler made.
#[derive(Clone, Debug, Default)]
pub struct Made {
    /// All of it.
    pub whole: bool,
    /// Blocks, with their branches.
    blocks: BTreeSet<usize>,
    /// Instructions.
    left_out: Vec<CodeRange>,
    /// Instructions that repeat others.
    copies: Vec<CodeCopy>,
    /// Switches over the state of a suspended function.
    resumes: BTreeSet<usize>,
    /// Branches and switches, by block.
    branches: BTreeSet<usize>,
    /// Switches over hash codes of strings.
    hashes: Vec<usize>,
    /// Blocks that compare with one of the strings: position of the edge to its case.
    compares: BTreeMap<usize, usize>,
    /// Tests of `?.` that lead to the same place.
    safe_calls: Vec<usize>,
    /// Blocks that throw because no case fits.
    no_match: BTreeSet<usize>,
    /// Is code that was inlined left out?
    inlined: bool,
}

impl Made {
    /// By what is known of its conditions.
    pub fn of(conditions: &MethodConditions) -> Made {
        let blocks = |wanted: &dyn Fn(CompilerMade) -> bool| {
            let of_kind = conditions.made.iter().filter(|&&(_, made)| wanted(made));
            of_kind.map(|&(block, _)| block as usize).collect()
        };
        let all = conditions.conditions.iter();
        let made = all.clone().filter(|c| c.made.is_some());
        let hashes = all.clone().filter(|c| c.made == Some(CompilerMade::StringSwitch));
        let resumes = all
            .clone()
            .filter(|c| c.made == Some(CompilerMade::KotlinCoroutine));
        let resumes = resumes.filter(|c| c.kind == ConditionKind::Switch);
        let case = |outcome: &Outcome| matches!(outcome, Outcome::Case(_));
        let compares = all
            .clone()
            .filter(|c| c.made.is_none() && c.kind == ConditionKind::Switch);
        let safe_calls = all.clone().filter(|c| c.kind == ConditionKind::SafeCall);
        Made {
            whole: conditions.method.is_some(),
            blocks: blocks(&|_| true),
            left_out: conditions.left_out.clone(),
            copies: conditions.copies.clone(),
            resumes: resumes.map(|c| c.block as usize).collect(),
            branches: made.map(|c| c.block as usize).collect(),
            hashes: hashes.map(|c| c.block as usize).collect(),
            compares: compares
                .filter(|c| c.outcomes.len() == 2)
                .filter_map(|c| Some((c.block as usize, c.outcomes.iter().position(case)?)))
                .collect(),
            safe_calls: safe_calls.map(|c| c.block as usize).collect(),
            no_match: blocks(&|made| made == CompilerMade::NoMatch),
            inlined: true,
        }
    }

    /// The instruction that one repeats; itself if it repeats none.
    fn original(&self, bci: u32) -> u32 {
        let copy = self.copies[..self.copies.partition_point(|copy| copy.start <= bci)].last();
        copy.filter(|copy| bci < copy.start + copy.length)
            .map_or(bci, |copy| copy.of + (bci - copy.start))
    }

    /// Is the instruction left out?
    fn leaves_out(&self, bci: u32) -> bool {
        let range = self.left_out[..self.left_out.partition_point(|range| range.start <= bci)].last();
        range.is_some_and(|range| bci < range.end)
    }

    /// Where pieces of code begin, besides blocks and lines: at the ends of ranges; and of two copies both where one does.
    fn cuts(&self, blocks_and_lines: impl Iterator<Item = u32>) -> BTreeSet<u32> {
        let ranges = self.left_out.iter().flat_map(|range| [range.start, range.end]);
        if self.copies.is_empty() {
            return ranges.collect();
        }
        let mut cuts: BTreeSet<u32> = blocks_and_lines.chain(ranges).collect();
        for copy in &self.copies {
            cuts.extend([
                copy.start,
                copy.start + copy.length,
                copy.of,
                copy.of + copy.length,
            ]);
        }
        let within = |from: u32, length: u32, cuts: &BTreeSet<u32>| -> Vec<u32> {
            cuts.range(from..from + length).map(|cut| cut - from).collect()
        };
        for copy in &self.copies {
            let offsets = within(copy.start, copy.length, &cuts);
            cuts.extend(offsets.into_iter().map(|offset| copy.of + offset));
        }
        for copy in &self.copies {
            let offsets = within(copy.of, copy.length, &cuts);
            cuts.extend(offsets.into_iter().map(|offset| copy.start + offset));
        }
        cuts
    }
}

/// A branch or switch of the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BranchCoverage {
    /// The block that it ends.
    pub block: usize,
    /// Its line.
    pub line: Option<u32>,
    /// Its outcomes, in successor order.
    pub outcomes: Vec<OutcomeCoverage>,
}

/// One outcome of a branch or switch of the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutcomeCoverage {
    /// Executions.
    pub count: u64,
    /// The edges that are this outcome; several where a `switch` over strings compares with one after the other.
    pub edges: Vec<EdgeRef>,
}

impl BranchCoverage {
    /// Outcomes that were taken, of all.
    pub fn ratio(&self) -> Ratio {
        let outcomes = self.outcomes.iter();
        outcomes.map(|outcome| Ratio::one(outcome.count > 0)).sum()
    }
}

/// One source line of one method.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// How often the busiest of its blocks ran.
    pub count: u64,
    /// Instructions that did not run, as far as instructions are known.
    pub missed_instructions: u64,
    /// Instructions that ran, likewise.
    pub covered_instructions: u64,
    /// Branches and switches: per outcome how often it was taken.
    pub branches: Vec<Vec<u64>>,
}

impl Line {
    /// Outcomes of its branches that were taken, of all.
    pub fn branch_ratio(&self) -> Ratio {
        let outcomes = self.branches.iter().flatten();
        outcomes.map(|&count| Ratio::one(count > 0)).sum()
    }
}

/// What of a method ran.
pub struct Measured {
    /// Its source lines.
    pub lines: BTreeMap<u32, Line>,
    /// Its branches.
    pub branches: Vec<BranchCoverage>,
    /// Its instructions, if these are known.
    pub instructions: Option<Ratio>,
}

/// Instructions of one line in one block.
struct Piece {
    /// How often it ran, its copies included.
    count: u64,
    line: Option<u32>,
    instructions: u64,
}

impl MethodCoverage {
    /// Its branches, in the order of their blocks.
    pub fn branches(&self) -> Vec<BranchCoverage> {
        let map = self.map();
        let all = map.blocks.iter().zip(self.edges.edges.iter()).enumerate();
        let decides = all.filter(|(_, (block, outcomes))| {
            matches!(block.exit, BlockExit::Branch | BlockExit::Switch) && outcomes.len() > 1
        });
        let branch = |(block, outcomes): (usize, &[u64])| {
            let targets = map.graph.successors(BlockId::new(block)).iter();
            // That no case fits is no outcome where the source lists all cases.
            let of_source = targets
                .zip(outcomes)
                .enumerate()
                .filter(|(_, (to, _))| !self.made.no_match.contains(&to.index()));
            let outcome = |(index, (_, &count)): (usize, (&BlockId, &u64))| OutcomeCoverage {
                count,
                edges: vec![edge(block, index)],
            };
            BranchCoverage {
                block,
                line: map.line(map.blocks[block].last),
                outcomes: of_source.map(outcome).collect(),
            }
        };
        let mut own = Vec::new();
        let mut copies: BTreeMap<u32, Vec<&[u64]>> = BTreeMap::new();
        let mut compared = BTreeSet::new();
        for &block in &self.made.hashes {
            own.extend(self.string_switch(block, &mut compared));
        }
        for (block, (info, outcomes)) in decides {
            let original = self.made.original(info.last);
            if original != info.last {
                copies.entry(original).or_default().push(outcomes);
            } else if !compared.contains(&block)
                && !self.made.blocks.contains(&block)
                && !self.made.branches.contains(&block)
            {
                own.push(branch((block, outcomes)));
            }
        }
        own.sort_by_key(|branch: &BranchCoverage| branch.block);
        self.join_safe_calls(&mut own);
        for branch in &mut own {
            for copy in copies.get(&map.blocks[branch.block].last).into_iter().flatten() {
                for outcome in &mut branch.outcomes {
                    for edge in outcome
                        .edges
                        .iter()
                        .filter(|edge| edge.from.index() == branch.block)
                    {
                        let more = copy.get(edge.index as usize).copied().unwrap_or(0);
                        outcome.count = outcome.count.saturating_add(more);
                    }
                }
            }
        }
        // Of what was inlined it is not known which of its branches went where.
        let known =
            |branch: &BranchCoverage| branch.line.is_none_or(|line| !self.elsewhere.contains_key(&line));
        own.retain(|branch| branch.outcomes.len() > 1 && known(branch));
        own
    }

    /// Blocks that take a branch's decision: its own, and those of code that repeats it.
    pub fn blocks_of(&self, branch: &BranchCoverage) -> Vec<usize> {
        let blocks = &self.map().blocks;
        let own = blocks[branch.block].last;
        let repeats = |at: &usize| *at == branch.block || self.made.original(blocks[*at].last) == own;
        (0..blocks.len()).filter(repeats).collect()
    }

    /// A `switch`, or one of Kotlin's `when`: its outcomes are cases.
    pub fn is_switch(&self, branch: &BranchCoverage) -> bool {
        let decision = self.decisions.of(branch.block);
        self.map().blocks[branch.block].exit == BlockExit::Switch
            || decision.is_some_and(|decision| decision.kind == ConditionKind::Switch)
    }

    /// Of an outcome of a condition: is it the one that is taken when the condition holds? Where the condition is not
    /// known, the one that jumps.
    pub fn is_yes(&self, outcome: &OutcomeCoverage) -> bool {
        let mut edges = outcome.edges.iter();
        edges.all(|&edge| !self.decisions.is_negative(self.map(), edge))
    }

    /// An outcome of a `switch`: `case "GET"`, `default`.
    pub fn label(&self, outcome: &OutcomeCoverage) -> String {
        let label = |&edge: &EdgeRef| self.decisions.outcome_or_label(self.map(), edge);
        let labels: Vec<String> = outcome.edges.iter().map(label).collect();
        if labels.is_empty() {
            "default".to_owned()
        } else {
            labels.join(", ").replace(", case ", ", ")
        }
    }

    /// Lines that were inlined into it: the class that they come from, the line there, and how often it ran here.
    pub fn inlined_lines(&self) -> impl Iterator<Item = (&str, u32, u64)> {
        let pieces = self.map().inlined.iter().filter(|_| self.made.inlined);
        pieces.map(|piece| {
            let blocks = self.map().blocks.iter().zip(&self.edges.blocks);
            let within = blocks.filter(|(block, _)| block.start < piece.end && piece.start < block.end);
            (
                &*piece.class,
                piece.line,
                within.map(|(_, &count)| count).max().unwrap_or(0),
            )
        })
    }

    /// Did lines of it run where it was inlined?
    pub fn ran_elsewhere(&self) -> bool {
        !self.elsewhere.is_empty() && self.lines().values().any(|line| line.count > 0)
    }

    /// What ran where it was inlined, as JaCoCo has it: a line is one instruction, and has no branches.
    fn add_elsewhere(&self, lines: &mut BTreeMap<u32, Line>) {
        let (Some((&first, _)), Some((&last, _))) = (lines.first_key_value(), lines.last_key_value()) else {
            return;
        };
        for (&number, &count) in self.elsewhere.range(first..=last) {
            let line = lines.entry(number).or_default();
            line.count = line.count.max(count);
            line.covered_instructions = u64::from(line.count > 0);
            line.missed_instructions = 1 - line.covered_instructions;
        }
    }

    /// A `switch` over strings that goes from hash codes and comparisons to the cases at once, as one branch; None if
    /// positions are switched over behind it. What compares is added to `compared`.
    fn string_switch(&self, block: usize, compared: &mut BTreeSet<usize>) -> Option<BranchCoverage> {
        let map = self.map();
        let ways = |of: usize| map.graph.successors(BlockId::new(of)).iter().map(|to| to.index());
        let counts = |of: usize| self.edges.edges.get(of).into_iter().flatten().copied();
        let is_comparison = |of: usize| {
            map.blocks[of].exit == BlockExit::Branch
                && self.made.compares.contains_key(&of)
                && !self.made.blocks.contains(&of)
        };
        if map.blocks.get(block)?.exit != BlockExit::Switch || !ways(block).any(is_comparison) {
            return None;
        }
        let mut outcomes: BTreeMap<usize, OutcomeCoverage> = BTreeMap::new();
        // A case may begin with a jump to where another one is, too. What no comparison leads to is the default.
        let mut add = |to: usize, count: u64, case: Option<EdgeRef>| {
            let jumps = map.blocks[to].exit == BlockExit::Goto && map.blocks[to].start == map.blocks[to].last;
            let to = if jumps { ways(to).next().unwrap_or(to) } else { to };
            let none = OutcomeCoverage {
                count: 0,
                edges: Vec::new(),
            };
            let outcome = outcomes.entry(to).or_insert(none);
            outcome.count += count;
            outcome.edges.extend(case);
        };
        let mut open: Vec<(usize, u64)> = ways(block).zip(counts(block)).collect();
        while let Some((at, count)) = open.pop() {
            if !is_comparison(at) {
                add(at, count, None);
            } else if compared.insert(at) {
                let case = self.made.compares[&at];
                for (index, way) in ways(at).zip(counts(at)).enumerate() {
                    if index == case {
                        add(way.0, way.1, Some(edge(at, index)));
                    } else {
                        open.push(way);
                    }
                }
            }
        }
        Some(BranchCoverage {
            block,
            line: map.line(map.blocks[block].last),
            outcomes: outcomes.into_values().collect(),
        })
    }

    /// That there is nothing is one outcome for all of `a?.b?.c`, as in JaCoCo.
    fn join_safe_calls(&self, own: &mut [BranchCoverage]) {
        let map = self.map();
        let mut sums: BTreeMap<usize, u64> = BTreeMap::new();
        let taken = |block: usize| {
            let to = map.graph.successors(BlockId::new(block)).first()?;
            Some((to.index(), *self.edges.edges.get(block)?.first()?))
        };
        for (to, count) in self.made.safe_calls.iter().filter_map(|&block| taken(block)) {
            let sum = sums.entry(to).or_default();
            *sum = sum.saturating_add(count);
        }
        for branch in own.iter_mut().filter(|b| self.made.safe_calls.contains(&b.block)) {
            if let Some((to, _)) = taken(branch.block)
                && let (Some(nothing), Some(&sum)) = (branch.outcomes.first_mut(), sums.get(&to))
            {
                nothing.count = sum;
            }
        }
    }

    /// Its source lines; none if the class file has no line numbers.
    pub fn lines(&self) -> BTreeMap<u32, Line> {
        self.lines_of(&self.pieces(), &self.branches())
    }

    fn lines_of(&self, pieces: &[Piece], branches: &[BranchCoverage]) -> BTreeMap<u32, Line> {
        let mut lines: BTreeMap<u32, Line> = BTreeMap::new();
        for piece in pieces {
            let Some(number) = piece.line else { continue };
            let line = lines.entry(number).or_default();
            line.count = line.count.max(piece.count);
            match piece.count {
                0 => line.missed_instructions += piece.instructions,
                _ => line.covered_instructions += piece.instructions,
            }
        }
        self.add_elsewhere(&mut lines);
        for branch in branches {
            if let Some(line) = branch.line.and_then(|number| lines.get_mut(&number)) {
                line.branches
                    .push(branch.outcomes.iter().map(|outcome| outcome.count).collect());
            }
        }
        lines
    }

    /// Its code in pieces of one block and line, without what the compiler made; copies are added to what they repeat.
    fn pieces(&self) -> Vec<Piece> {
        let map = self.map();
        let starts = map.blocks.iter().map(|block| block.start);
        let cuts = self
            .made
            .cuts(starts.chain(map.lines.iter().map(|entry| entry.bci)));
        let mut pieces: BTreeMap<u32, Piece> = BTreeMap::new();
        let mut copied: Vec<(u32, u64)> = Vec::new();
        for (index, (block, &count)) in map.blocks.iter().zip(&self.edges.blocks).enumerate() {
            if self.made.blocks.contains(&index) {
                continue;
            }
            let mut from = self.end_of_resuming(index).unwrap_or(block.start);
            while from < block.end {
                let line = map
                    .lines
                    .get(map.lines.partition_point(|entry| entry.bci <= from));
                let next = cuts.range(from + 1..).next().copied().into_iter();
                let to = next
                    .chain(line.map(|entry| entry.bci))
                    .chain([block.end])
                    .min()
                    .unwrap_or(block.end);
                let original = self.made.original(from);
                let inlined = self.made.inlined && map.inlined_at(from).is_some();
                if original != from {
                    copied.push((original, count));
                } else if !inlined && !self.made.leaves_out(from) {
                    let piece = Piece {
                        count,
                        line: map.line(from),
                        instructions: self.instructions_in(from, to),
                    };
                    pieces.insert(from, piece);
                }
                from = to;
            }
        }
        for (original, count) in copied {
            if let Some(piece) = pieces.get_mut(&original) {
                piece.count = piece.count.saturating_add(count);
            }
        }
        pieces.into_values().collect()
    }

    /// Where a suspended function begins that has not been suspended yet: what comes before belongs to the switch that leads
    /// here.
    fn end_of_resuming(&self, block: usize) -> Option<u32> {
        let map = self.map();
        let leads = |of: &&usize| {
            map.graph
                .successors(BlockId::new(**of))
                .iter()
                .any(|to| to.index() == block)
        };
        let switch = self.made.resumes.iter().find(leads)?;
        let line = map.line(map.blocks[*switch].last)?;
        let entries = map
            .lines
            .partition_point(|entry| entry.bci <= map.blocks[block].start);
        let first = map.line(map.blocks[block].start)?;
        let next = map
            .lines
            .get(entries)
            .map_or(map.blocks[block].end, |entry| entry.bci);
        (first == line).then_some(next.min(map.blocks[block].end))
    }

    /// Instructions in a piece of its code.
    fn instructions_in(&self, from: u32, to: u32) -> u64 {
        let starts = self.instructions.as_deref().unwrap_or(&[]);
        let below = |bci: u32| starts.partition_point(|&start| start < bci);
        (below(to) - below(from)) as u64
    }

    /// All of it, with its code cut into pieces once.
    pub fn measured(&self) -> Measured {
        let (pieces, branches) = (self.pieces(), self.branches());
        let lines = self.lines_of(&pieces, &branches);
        let of_line = |line: &Line| Ratio {
            covered: line.covered_instructions,
            total: line.covered_instructions + line.missed_instructions,
        };
        let without_line = |piece: &&Piece| piece.line.is_none();
        let others = pieces.iter().filter(without_line).map(|piece| Ratio {
            covered: if piece.count > 0 { piece.instructions } else { 0 },
            total: piece.instructions,
        });
        let all = lines.values().map(of_line).chain(others);
        let instructions = self.instructions.as_ref().map(|_| all.sum());
        Measured {
            lines,
            branches,
            instructions,
        }
    }
}
