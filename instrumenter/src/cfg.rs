//! From code to control-flow graph: basic blocks, labelled edges, handlers as extra starts.

use rustc_hash::FxHashMap;
use trodden_numbering::{BlockId, SimpleGraph};
use trodden_profile::{BlockExit, BlockInfo, EdgeLabel};

use crate::classfile::code::{Code, Instruction};
use crate::classfile::opcodes as op;
use crate::classfile::reader::{Read, fault};

/// The control-flow graph of a method.
#[derive(Clone, Debug)]
pub struct Cfg {
    /// Blocks in bytecode order.
    pub blocks: Vec<BlockInfo>,
    /// Edges between them; handlers are the extra starts.
    pub graph: SimpleGraph,
    /// Per block: index of its first instruction.
    pub first_instruction: Vec<usize>,
    /// Per block: does a branch, switch or exception lead here (rather than only execution running on)?
    pub jump_target: Vec<bool>,
}

/// What the code is like, before a graph is worth building.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Has a conditional branch or switch.
    pub branches: bool,
    /// Uses jsr or ret.
    pub subroutines: bool,
}

/// A quick look over the opcodes.
pub fn shape(code: &Code) -> Shape {
    let mut shape = Shape {
        branches: false,
        subroutines: false,
    };
    for instruction in &code.instructions {
        match instruction.op {
            op::JSR | op::JSR_W | op::RET => shape.subroutines = true,
            op::WIDE => shape.subroutines |= code.bytes[instruction.pc as usize + 1] == op::RET,
            op::TABLESWITCH | op::LOOKUPSWITCH => shape.branches = true,
            other => shape.branches |= op::is_conditional(other),
        }
    }
    shape
}

impl Cfg {
    /// Builds the graph. The code must not use subroutines.
    pub fn build(code: &Code) -> Read<Self> {
        let len = code.len();
        let mut leader = vec![false; len as usize + 1];
        let mut target = vec![false; len as usize + 1];
        leader[0] = true;
        let mut jump = |pc: u32, leader: &mut Vec<bool>| {
            leader[pc as usize] = true;
            target[pc as usize] = true;
        };
        for instruction in &code.instructions {
            let next = instruction.pc + instruction.len;
            match instruction.op {
                op::GOTO | op::GOTO_W => jump(code.target(instruction)?, &mut leader),
                op::TABLESWITCH | op::LOOKUPSWITCH => {
                    let switch = code.switch(instruction)?;
                    jump(switch.default, &mut leader);
                    switch.cases.iter().for_each(|&(_, to)| jump(to, &mut leader));
                }
                other if op::is_conditional(other) => jump(code.target(instruction)?, &mut leader),
                other if op::is_return(other) || other == op::ATHROW => {}
                _ => continue,
            }
            leader[next as usize] = true;
        }
        code.handlers.iter().for_each(|h| jump(h.handler, &mut leader));

        let mut block_of = BlockOf(vec![NO_BLOCK; len as usize + 1]);
        let mut first_instruction = Vec::new();
        for (index, instruction) in code.instructions.iter().enumerate() {
            if leader[instruction.pc as usize] {
                block_of.0[instruction.pc as usize] = first_instruction.len() as u32;
                first_instruction.push(index);
            }
        }
        let mut blocks = Vec::with_capacity(first_instruction.len());
        let mut successors = Vec::with_capacity(first_instruction.len());
        for (index, &first) in first_instruction.iter().enumerate() {
            let after = first_instruction
                .get(index + 1)
                .copied()
                .unwrap_or(code.instructions.len());
            let last = &code.instructions[after - 1];
            let (exit, labels, to) = leave(code, last, &block_of)?;
            blocks.push(BlockInfo {
                start: code.instructions[first].pc,
                end: last.pc + last.len,
                last: last.pc,
                exit,
                labels,
            });
            successors.push(to);
        }
        let mut handlers: Vec<BlockId> = code.handlers.iter().map(|h| block_of.at(h.handler)).collect();
        handlers.sort();
        handlers.dedup();
        let jump_target = blocks.iter().map(|b| target[b.start as usize]).collect();
        let graph = SimpleGraph::from_parts(BlockId::new(0), successors, handlers);
        Ok(Cfg {
            blocks,
            graph,
            first_instruction,
            jump_target,
        })
    }
}

/// Per bytecode index: the block that starts there.
struct BlockOf(Vec<u32>);

const NO_BLOCK: u32 = u32::MAX;

impl BlockOf {
    fn get(&self, pc: u32) -> Option<BlockId> {
        let block = self.0.get(pc as usize).copied().filter(|&b| b != NO_BLOCK)?;
        Some(BlockId::new(block as usize))
    }

    /// The block at a checked target of a jump.
    fn at(&self, pc: u32) -> BlockId {
        self.get(pc).expect("every target is a leader")
    }
}

type Leaving = (BlockExit, Vec<EdgeLabel>, Vec<BlockId>);

fn leave(code: &Code, last: &Instruction, block_of: &BlockOf) -> Read<Leaving> {
    let next = || {
        block_of.get(last.pc + last.len).map_or_else(
            || {
                fault(
                    code.offset + last.pc as usize,
                    format!("execution runs off the end of the code at {}", last.pc),
                )
            },
            Ok,
        )
    };
    Ok(match last.op {
        op::GOTO | op::GOTO_W => (
            BlockExit::Goto,
            vec![EdgeLabel::Goto],
            vec![block_of.at(code.target(last)?)],
        ),
        op::TABLESWITCH | op::LOOKUPSWITCH => {
            let switch = code.switch(last)?;
            let mut labels: Vec<EdgeLabel> = Vec::new();
            let mut to: Vec<BlockId> = Vec::new();
            let mut position = FxHashMap::default();
            let cases = switch.cases.iter().map(|&(key, target)| (Some(key), target));
            for (key, target) in cases.chain([(None, switch.default)]) {
                let index = *position.entry(target).or_insert_with(|| {
                    labels.push(EdgeLabel::Switch {
                        keys: Vec::new(),
                        default: false,
                    });
                    to.push(block_of.at(target));
                    to.len() - 1
                });
                if let EdgeLabel::Switch { keys, default } = &mut labels[index] {
                    match key {
                        Some(key) => keys.push(key),
                        None => *default = true,
                    }
                }
            }
            (BlockExit::Switch, labels, to)
        }
        other if op::is_conditional(other) => {
            let taken = block_of.at(code.target(last)?);
            (
                BlockExit::Branch,
                vec![EdgeLabel::Taken, EdgeLabel::NotTaken],
                vec![taken, next()?],
            )
        }
        op::ATHROW => (BlockExit::Throw, Vec::new(), Vec::new()),
        other if op::is_return(other) => (BlockExit::Return, Vec::new(), Vec::new()),
        _ => (
            BlockExit::FallThrough,
            vec![EdgeLabel::FallThrough],
            vec![next()?],
        ),
    })
}
