//! Lines and branches of a method, without what the compiler made.
//!
//! What is left out is what JaCoCo's filters leave out, so that thresholds carry over: branches and blocks that the source
//! has not, methods as a whole. Of a `finally` block, whose code stands at every way out, one copy stands for all: what
//! another one did counts for it.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Add;

use trodden_numbering::{BlockId, FlowGraph};
use trodden_profile::{BlockExit, CompilerMade, MethodConditions};

use super::{MethodCoverage, Ratio};

/// What of a method the compiler made.
#[derive(Clone, Debug, Default)]
pub(super) struct Made {
    /// All of it.
    pub whole: bool,
    /// Blocks, with their branches.
    blocks: BTreeSet<usize>,
    /// Blocks that repeat what others do.
    copies: BTreeSet<usize>,
    /// Branches and switches, by block.
    branches: BTreeSet<usize>,
    /// Blocks that throw because no case fits.
    no_match: BTreeSet<usize>,
    /// Blocks of functions that were inlined.
    inlined: BTreeSet<usize>,
    /// Blocks of handlers.
    handlers: BTreeSet<usize>,
    /// Blocks that look up whether assertions are on.
    assertions: BTreeSet<usize>,
}

impl Made {
    /// By what is known of its conditions.
    pub fn of(conditions: &MethodConditions) -> Made {
        let blocks = |wanted: &dyn Fn(CompilerMade) -> bool| {
            let of_kind = conditions.made.iter().filter(|&&(_, made)| wanted(made));
            of_kind.map(|&(block, _)| block as usize).collect()
        };
        let made = conditions.conditions.iter().filter(|c| c.made.is_some());
        Made {
            whole: conditions.method.is_some(),
            blocks: blocks(&|made| made != CompilerMade::FinallyCopy),
            copies: blocks(&|made| made == CompilerMade::FinallyCopy),
            branches: made.map(|c| c.block as usize).collect(),
            no_match: blocks(&|made| made == CompilerMade::NoMatch),
            inlined: blocks(&|made| made == CompilerMade::KotlinInlined),
            handlers: blocks(&|made| {
                let kinds = [
                    CompilerMade::FinallyCopy,
                    CompilerMade::TryWithResources,
                    CompilerMade::Synchronized,
                ];
                kinds.contains(&made)
            }),
            assertions: blocks(&|made| made == CompilerMade::Assert),
        }
    }
}

/// A branch or switch of the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BranchCoverage {
    /// The block that it ends.
    pub block: usize,
    /// Its line.
    pub line: Option<u32>,
    /// How often each outcome was taken, in successor order.
    pub outcomes: Vec<u64>,
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
        outcomes.fold(Ratio::default(), |sum, &count| sum + Ratio::one(count > 0))
    }
}

/// Instructions of one line in one block.
struct Piece {
    block: usize,
    /// How often the block ran.
    count: u64,
    line: Option<u32>,
    instructions: u64,
    /// Is it just a `goto` around what the compiler made?
    only_jumps: bool,
}

impl MethodCoverage {
    /// Its branches, in the order of their blocks.
    pub fn branches(&self) -> Vec<BranchCoverage> {
        let map = self.map();
        let all = map.blocks.iter().zip(&self.edges.edges).enumerate();
        let decides = all.filter(|(_, (block, outcomes))| {
            matches!(block.exit, BlockExit::Branch | BlockExit::Switch) && outcomes.len() > 1
        });
        let branch = |(block, outcomes): (usize, &Vec<u64>)| {
            let targets = map.graph.successors(BlockId::new(block)).iter();
            // That no case fits is no outcome where the source lists all cases.
            let of_source = targets
                .zip(outcomes)
                .filter(|(to, _)| !self.made.no_match.contains(&to.index()));
            BranchCoverage {
                block,
                line: map.line(map.blocks[block].last),
                outcomes: of_source.map(|(_, &count)| count).collect(),
            }
        };
        let (mut own, mut copies) = (Vec::new(), Vec::new());
        for (block, (_, outcomes)) in decides {
            if self.made.copies.contains(&block) {
                copies.push(branch((block, outcomes)));
            } else if !self.made.blocks.contains(&block) && !self.made.branches.contains(&block) {
                own.push(branch((block, outcomes)));
            }
        }
        for copy in copies {
            let labels = |block: usize| &map.blocks[block].labels;
            let mut same = own.iter_mut().filter(|own| {
                own.line.is_some() && own.line == copy.line && labels(own.block) == labels(copy.block)
            });
            // Where several branches of a line are copied, it is not known which stands for which.
            if let (Some(of), None) = (same.next(), same.next()) {
                let sums = of.outcomes.iter_mut().zip(&copy.outcomes);
                sums.for_each(|(sum, &count)| *sum = sum.saturating_add(count));
            }
        }
        own.retain(|branch| branch.outcomes.len() > 1);
        own
    }

    /// Its source lines; none if the class file has no line numbers.
    pub fn lines(&self) -> BTreeMap<u32, Line> {
        let mut lines: BTreeMap<u32, Line> = BTreeMap::new();
        let mut copied: BTreeMap<u32, u64> = BTreeMap::new();
        let pieces = self.pieces();
        for piece in &pieces {
            let Some(number) = piece.line else { continue };
            if self.made.copies.contains(&piece.block) {
                let most = copied.entry(number).or_default();
                *most = (*most).max(piece.count);
            } else {
                let line = lines.entry(number).or_default();
                line.count = line.count.max(piece.count);
                match piece.count {
                    0 => line.missed_instructions += piece.instructions,
                    _ => line.covered_instructions += piece.instructions,
                }
            }
        }
        for (number, count) in copied.into_iter().filter(|&(_, count)| count > 0) {
            if let Some(line) = lines.get_mut(&number).filter(|line| line.count == 0) {
                // What the copy did, this code stands for.
                line.count = count;
                line.covered_instructions = std::mem::take(&mut line.missed_instructions);
            }
        }
        if !self.made.copies.is_empty() || !self.made.blocks.is_empty() {
            // The way around a handler is all that a closing brace stands for.
            let says = |piece: &&Piece| !piece.only_jumps && !self.made.copies.contains(&piece.block);
            let lines_of_source: BTreeSet<u32> = pieces.iter().filter(says).filter_map(|p| p.line).collect();
            lines.retain(|number, _| lines_of_source.contains(number));
        }
        for branch in self.branches() {
            if let Some(line) = branch.line.and_then(|number| lines.get_mut(&number)) {
                line.branches.push(branch.outcomes);
            }
        }
        lines
    }

    /// Its code in pieces of one block and line, without the blocks that the compiler made (but with copies).
    fn pieces(&self) -> Vec<Piece> {
        let map = self.map();
        // Inlined code has line numbers of its own, behind those of the file.
        let inlined = self
            .made
            .inlined
            .iter()
            .filter_map(|&block| map.line(map.blocks[block].start));
        let first_inlined = inlined.min().unwrap_or(u32::MAX);
        let mut pieces = Vec::new();
        for (index, (block, &count)) in map.blocks.iter().zip(&self.edges.blocks).enumerate() {
            if self.made.blocks.contains(&index) {
                continue;
            }
            let mut from = block.start;
            if let Some(flag) = self.end_of_flag(index) {
                from = flag;
            }
            while from < block.end {
                let after = map.lines.partition_point(|e| e.bci <= from);
                let to = map.lines.get(after).map_or(block.end, |e| e.bci.min(block.end));
                if map.line(from).is_some_and(|line| line >= first_inlined) {
                    from = to;
                    continue;
                }
                pieces.push(Piece {
                    block: index,
                    count,
                    line: map.line(from),
                    instructions: self.instructions_in(from, to),
                    only_jumps: block.exit == BlockExit::Goto
                        && from == block.last
                        && self.jumps_over_handler(index),
                });
                from = to;
            }
        }
        pieces
    }

    /// Does the `goto` at the end of a block lead around a handler that the compiler made?
    fn jumps_over_handler(&self, block: usize) -> bool {
        let targets = self.map().graph.successors(BlockId::new(block));
        let to = targets.first().map_or(0, |to| to.index());
        to > block && self.made.handlers.range(block..to).next().is_some()
    }

    /// Where the flag for `assert` has been set, if this block does that: the instruction belongs to what looks it up.
    fn end_of_flag(&self, block: usize) -> Option<u32> {
        let map = self.map();
        let before = |back: usize| {
            block
                .checked_sub(back)
                .is_some_and(|b| self.made.assertions.contains(&b))
        };
        // `putstatic`, after a block for either value.
        let end = map.blocks[block].start + 3;
        (before(1) && before(2) && end <= map.blocks[block].end).then_some(end)
    }

    /// Instructions in a piece of its code.
    fn instructions_in(&self, from: u32, to: u32) -> u64 {
        let starts = self.instructions.as_deref().unwrap_or(&[]);
        let below = |bci: u32| starts.partition_point(|&start| start < bci);
        (below(to) - below(from)) as u64
    }

    /// Instructions that ran, of all; `None` if they are not known.
    pub fn instruction_ratio(&self) -> Option<Ratio> {
        self.instructions.as_ref()?;
        let of_line = |line: &Line| Ratio {
            covered: line.covered_instructions,
            total: line.covered_instructions + line.missed_instructions,
        };
        let lines = self.lines();
        let without_line = |piece: &Piece| piece.line.is_none() && !self.made.copies.contains(&piece.block);
        let others = self.pieces().into_iter().filter(without_line).map(|piece| Ratio {
            covered: if piece.count > 0 { piece.instructions } else { 0 },
            total: piece.instructions,
        });
        let ratio = lines
            .values()
            .map(of_line)
            .chain(others)
            .fold(Ratio::default(), Ratio::add);
        Some(ratio)
    }
}
