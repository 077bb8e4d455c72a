//! Which way of a branch is the condition's `yes`, and which loop it belongs to.
//!
//! Compilers translate `a && b`, `a || b`, `if` and loops into jumps over what is not to run. So the jump at
//! an operand's end tests the operand or its opposite. Which of both follows from where it leads: see
//! [`Flow::sense`].

use trodden_classfile::code::Code;
use trodden_numbering::{BlockId, FlowGraph};
use trodden_profile::{BlockExit, MethodMap};

use crate::expression::Node;
use crate::interpret::{BlockFacts, Decision, Interpreted};

/// A set of blocks.
#[derive(Clone, Debug)]
struct Blocks(Vec<u64>);

impl Blocks {
    fn new(blocks: usize) -> Self {
        Blocks(vec![0; blocks.div_ceil(64)])
    }

    /// Adds a block; returns true if it was new.
    fn add(&mut self, block: usize) -> bool {
        let bit = 1 << (block % 64);
        let was_there = self.0[block / 64] & bit != 0;
        self.0[block / 64] |= bit;
        !was_there
    }

    fn has(&self, block: usize) -> bool {
        self.0
            .get(block / 64)
            .is_some_and(|word| word >> (block % 64) & 1 != 0)
    }
}

/// A natural loop.
#[derive(Clone, Debug)]
struct Loop {
    header: usize,
    members: Blocks,
    /// Blocks with an edge back to the header, ascending.
    latches: Vec<usize>,
}

/// The relation of a branch to a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoopTest {
    /// First block of the loop's condition.
    pub first: usize,
    /// Last block of the loop's condition.
    pub last: usize,
    /// First block of the loop in bytecode order that jumps lead back to.
    pub header: usize,
    /// The condition comes before the body, in the source.
    pub before: bool,
    /// The code does not show whether it comes before or after.
    pub unclear: bool,
    /// Index of the loop.
    number: usize,
}

/// The shape of a method's flow.
#[derive(Debug)]
pub struct Flow<'f> {
    map: &'f MethodMap,
    facts: &'f [BlockFacts],
    /// Blocks that bind the variable of an `instanceof` before.
    loops: Vec<Loop>,
    /// Per block, true if its jump happens when its condition, as the source has it, holds.
    sense: Vec<bool>,
    /// Per block: nothing but a part of a larger condition.
    operand: Vec<bool>,
}

/// Most words of all loops' sets together; above it, loops are not looked for.
const MAX_LOOP_WORDS: usize = 1 << 20;

impl<'f> Flow<'f> {
    /// Finds loops and orients branches.
    pub fn new(map: &'f MethodMap, interpreted: &'f Interpreted) -> Self {
        let facts = interpreted.blocks.as_slice();
        let binds = |index: usize| {
            let Some(Some(Decision::Test(test))) = index.checked_sub(1).map(|i| facts[i].decision) else {
                return false;
            };
            matches!(
                interpreted.arena.get(interpreted.arena.bare(test.left)),
                Node::InstanceOf(..)
            )
        };
        let operand = |index: usize| {
            let facts = &facts[index];
            facts.pure && map.blocks[index].exit == BlockExit::Branch && (!facts.binds || binds(index))
        };
        let mut flow = Flow {
            map,
            facts,
            loops: loops(map),
            sense: vec![false; map.blocks.len()],
            operand: (0..map.blocks.len()).map(operand).collect(),
        };
        for block in (0..map.blocks.len()).rev() {
            if map.blocks[block].exit == BlockExit::Branch {
                flow.sense[block] = flow.find_sense(block);
            }
        }
        flow
    }

    /// Where a block's out-edges lead: (jump, no jump).
    pub fn targets(&self, block: usize) -> (usize, usize) {
        let successors = self.map.graph.successors(BlockId::new(block));
        (successors[0].index(), successors[1].index())
    }

    /// Returns true if the jump at the end of a block happens when its condition, as the source has it,
    /// holds.
    pub fn sense(&self, block: usize) -> bool {
        self.sense[block]
    }

    /// Returns true if a block is nothing but an operand of a condition that begins above.
    pub fn is_operand(&self, block: usize) -> bool {
        self.operand.get(block).is_some_and(|&operand| operand)
    }

    /// Where the branch leads when its condition (holds, does not hold).
    pub fn ways(&self, block: usize) -> (usize, usize) {
        let (jump, next) = self.targets(block);
        if self.sense[block] {
            (jump, next)
        } else {
            (next, jump)
        }
    }

    /// Where control is after blocks that are nothing but a `goto`: compilers shorten jumps to them.
    fn resolved(&self, mut block: usize) -> usize {
        for _ in 0..4 {
            let info = &self.map.blocks[block];
            if info.exit != BlockExit::Goto || info.start != info.last {
                break;
            }
            block = self.map.graph.successors(BlockId::new(block))[0].index();
        }
        block
    }

    /// Compilers jump over what is not to run: the jump is the condition's `no`. Not so for
    ///
    /// - the operand `a` of `a || b`, which jumps to where the last operand that is left runs on to. In
    ///   general, an operand that leads to where a later operand of the same condition *runs on* has the
    ///   opposite sense of that one; one that leads to where a later one *jumps* has the same;
    /// - the test at the end of a loop, whose jump continues the loop.
    fn find_sense(&self, block: usize) -> bool {
        let (jump, next) = self.targets(block);
        let jump = self.resolved(jump);
        for later in (block + 1..self.operand.len()).take_while(|&b| self.operand[b]) {
            let (its_jump, its_next) = self.targets(later);
            if self.resolved(its_next) == jump && later + 1 == its_next {
                return !self.sense[later];
            }
            if self.resolved(its_jump) == jump {
                return self.sense[later];
            }
            if later + 1 == jump {
                break;
            }
        }
        if jump <= block {
            // Also an `if` at the end of a body jumps back to the header. But then what comes next is in the
            // loop. And `if (…) break;` there leaves a loop that has its test at the top.
            let tested_above = |l: &Loop| {
                let (a, b) = self.targets(jump);
                let leaves = |to: usize| !l.members.has(to) && self.resolved(to) == self.resolved(next);
                jump < block && self.resolved(next) != next && (leaves(a) || leaves(b))
            };
            let of = self.loops.iter().find(|l| l.header == jump);
            return of.is_none_or(|l| !(l.members.has(next) || self.operand[jump] && tested_above(l)));
        }
        false
    }

    /// The loop whose condition this branch is, or is a part of.
    pub fn loop_test(&self, block: usize) -> Option<LoopTest> {
        (0..self.loops.len()).find_map(|number| {
            self.test_before(block, number)
                .or_else(|| self.test_after(block, number))
        })
    }

    /// A condition at the top of a loop: it leaves the loop when it does not hold.
    fn test_before(&self, block: usize, number: usize) -> Option<LoopTest> {
        let Loop { header, members, .. } = &self.loops[number];
        if block < *header || !members.has(block) {
            return None;
        }
        let mut last = None;
        let mut exit = None;
        for part in *header..self.operand.len() {
            if !self.operand[part] || !members.has(part) {
                break;
            }
            let (_, no) = self.ways(part);
            if !members.has(no) && exit.is_none_or(|exit| exit == no) {
                exit = Some(no);
                last = Some(part);
            }
        }
        let last = last.filter(|&last| block <= last)?;
        // Nothing behind the condition: a body is missing, or is before it.
        let (yes, _) = self.ways(last);
        Some(LoopTest {
            first: *header,
            last,
            header: *header,
            before: true,
            unclear: yes == *header,
            number,
        })
    }

    /// A condition at the end of a loop: it goes back when it holds.
    fn test_after(&self, block: usize, number: usize) -> Option<LoopTest> {
        let Loop {
            header,
            members,
            latches,
        } = &self.loops[number];
        let &last = latches.last()?;
        if block > last || self.map.blocks[last].exit != BlockExit::Branch {
            return None;
        }
        let (jump, next) = self.targets(last);
        if jump != *header || members.has(next) {
            return None;
        }
        let mut first = last;
        while first > *header && self.operand[first] && self.map.blocks[first - 1].exit == BlockExit::Branch {
            let within = |to: usize| to == *header || to == next || (first..=last).contains(&to);
            let (a, b) = self.targets(first - 1);
            if !within(a) || !within(b) {
                break;
            }
            first -= 1;
        }
        if block < first {
            return None;
        }
        // A loop that is entered at its condition has it before the body in the source.
        let from_outside = |from: &usize| {
            let to = self.map.graph.successors(BlockId::new(*from));
            !members.has(*from) && to.iter().any(|to| to.index() == first)
        };
        let before = first != *header && (0..*header).any(|from| from_outside(&from));
        Some(LoopTest {
            first,
            last,
            header: *header,
            before,
            unclear: first == *header,
            number,
        })
    }

    /// Returns true if the loop continues there.
    pub fn stays(&self, test: &LoopTest, block: usize) -> bool {
        self.loops[test.number].members.has(block)
    }

    /// Blocks that jump back to the loop's header.
    pub fn latches(&self, test: &LoopTest) -> &[usize] {
        &self.loops[test.number].latches
    }

    /// Returns true if the branch is about a value that is left on the stack: `a ? b : c`, or a boolean.
    pub fn makes_value(&self, block: usize) -> bool {
        let depth = self.facts[block].exit_depth;
        let (jump, next) = self.targets(block);
        [next, jump].into_iter().any(|mut at| {
            for _ in 0..8 {
                let Some(facts) = self.facts.get(at) else {
                    return false;
                };
                if self.operand[at] {
                    at += 1;
                    continue;
                }
                let runs_on = matches!(self.map.blocks[at].exit, BlockExit::Goto | BlockExit::FallThrough);
                return runs_on && at > block && facts.entry_depth == depth && facts.exit_depth > depth;
            }
            false
        })
    }
}

fn loops(map: &MethodMap) -> Vec<Loop> {
    let blocks = map.blocks.len();
    let successors = |from: usize| {
        map.graph
            .successors(BlockId::new(from))
            .iter()
            .map(|to| to.index())
    };
    let mut predecessors: Vec<Vec<usize>> = vec![Vec::new(); blocks];
    let mut latches: Vec<Vec<usize>> = vec![Vec::new(); blocks];
    for from in 0..blocks {
        for to in successors(from) {
            predecessors[to].push(from);
            if to <= from {
                latches[to].push(from);
            }
        }
    }
    let headers: Vec<usize> = (0..blocks).filter(|&h| !latches[h].is_empty()).collect();
    if headers.len() * blocks.div_ceil(64) > MAX_LOOP_WORDS {
        return Vec::new();
    }
    let mut loops: Vec<Loop> = Vec::with_capacity(headers.len());
    for header in headers {
        let mut members = Blocks::new(blocks);
        members.add(header);
        let mut work = latches[header].clone();
        while let Some(block) = work.pop() {
            if members.add(block) {
                work.extend(&predecessors[block]);
            }
        }
        latches[header].dedup();
        loops.push(Loop {
            header,
            members,
            latches: std::mem::take(&mut latches[header]),
        });
    }
    // Inner loops first: a branch belongs to the innermost loop that it decides about.
    loops.sort_by_key(|l| l.members.0.iter().map(|w| w.count_ones()).sum::<u32>());
    loops
}

/// Source lines of a method, by bytecode index.
#[derive(Debug)]
pub struct Lines<'f> {
    map: &'f MethodMap,
    code: &'f Code<'f>,
}

impl<'f> Lines<'f> {
    /// The lines of a method.
    pub fn new(map: &'f MethodMap, code: &'f Code<'f>) -> Self {
        Lines { map, code }
    }

    /// First and last line of a block's instructions.
    pub fn of_block(&self, block: usize) -> Option<(u32, u32)> {
        let block = &self.map.blocks[block];
        let lines = self.code.instructions(block.start, block.end);
        let mut lines = lines.filter_map(|(pc, _)| self.map.line(pc));
        let first = lines.next()?;
        Some(lines.fold((first, first), |(low, high), line| {
            (low.min(line), high.max(line))
        }))
    }
}
