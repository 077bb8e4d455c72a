//! From code to control-flow graph: basic blocks, labelled edges, handlers as extra starts.

use std::borrow::Cow;

use rustc_hash::FxHashMap;
use trodden_numbering::{BlockId, Rows, SimpleGraph};
use trodden_profile::{BlockExit, BlockInfo, EdgeLabel};

use crate::classfile::code::{Code, Control, Marks, mark};
use crate::classfile::opcodes::{KIND, kind};
use crate::classfile::reader::Fault;

/// The control-flow graph of a method.
#[derive(Clone, Debug)]
pub struct Cfg {
    /// Blocks in bytecode order.
    pub blocks: Vec<BlockInfo>,
    /// Edges between them; handlers are the extra starts.
    pub graph: SimpleGraph,
}

/// Why there is no graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CfgError {
    /// A branch leads to where no instruction starts.
    Fault(Fault),
    /// The last instruction lets execution run on.
    RunsOffTheEnd,
}

impl From<Fault> for CfgError {
    fn from(fault: Fault) -> Self {
        CfgError::Fault(fault)
    }
}

/// Properties of a block's instructions that the branch heuristics use.
#[derive(Clone, Copy, Debug, Default)]
pub struct Contents {
    /// Kinds of all instructions together.
    pub kinds: u8,
    /// The instruction before the last one, if the block has one.
    pub before_last: Option<u32>,
}

/// Notes made while the graph is built. The memory is used again.
#[derive(Debug, Default)]
pub struct CfgScratch {
    /// Per block.
    pub contents: Vec<Contents>,
    /// Per bytecode index that starts a block: the block. Left over from other methods elsewhere.
    block_of: Vec<u32>,
    /// Per target of one switch: position among the block's successors.
    positions: FxHashMap<u32, u32>,
    handlers: Vec<BlockId>,
}

impl Cfg {
    /// Builds the graph. The code must not use subroutines.
    pub fn build(code: &Code, marks: &mut Marks, scratch: &mut CfgScratch) -> Result<Self, CfgError> {
        let len = code.len();
        mark_leaders(code, marks)?;
        if scratch.block_of.len() < len as usize {
            scratch.block_of.resize(len as usize, 0);
        }
        let mut blocks = list_blocks(code, marks, scratch);

        let block_of = &scratch.block_of;
        // The same for targets, which were checked, and for what comes next.
        let at = |pc: u32| BlockId::new(block_of[pc as usize] as usize);
        let next = |block: &BlockInfo| {
            if block.end < len {
                Ok(at(block.end))
            } else {
                Err(CfgError::RunsOffTheEnd)
            }
        };
        let edges = blocks.iter().map(|b| b.labels.len()).sum();
        let mut successors = Rows::with_capacity(blocks.len(), edges);
        for block in &mut blocks {
            match block.exit {
                BlockExit::Return | BlockExit::Throw => {}
                BlockExit::FallThrough => successors.push(next(block)?),
                BlockExit::Goto => successors.push(at(code.target(block.last, marks)?)),
                BlockExit::Branch => {
                    successors.push(at(code.target(block.last, marks)?));
                    successors.push(next(block)?);
                }
                BlockExit::Switch => {
                    block.labels = switch(code, block.last, &mut scratch.positions, |to| {
                        successors.push(at(to));
                    });
                }
            }
            successors.end_row();
        }
        scratch.handlers.clear();
        scratch.handlers.extend(code.handlers().map(|h| at(h.handler)));
        scratch.handlers.sort_unstable();
        scratch.handlers.dedup();
        let graph = SimpleGraph::from_rows(BlockId::new(0), successors, scratch.handlers.as_slice().into());
        Ok(Cfg { blocks, graph })
    }
}

/// Notes where blocks start, and where jumps lead. All targets are checked.
fn mark_leaders(code: &Code, marks: &mut Marks) -> Result<(), Fault> {
    const JUMP: u8 = mark::LEADER | mark::TARGET;
    marks.add(0, mark::LEADER);
    let control = std::mem::take(&mut marks.control);
    let mut mark_one = |&Control { pc, op, next }: &Control| {
        match KIND[op as usize] & kind::CONTROL {
            kind::GOTO | kind::BRANCH => {
                let to = code.target(pc, marks)?;
                marks.add(to, JUMP);
            }
            kind::SWITCH => {
                let switch = code.switch(pc);
                code.check_switch(&switch, marks)?;
                marks.add(switch.default(), JUMP);
                switch.cases().for_each(|(_, to)| marks.add(to, JUMP));
            }
            _ => {}
        }
        marks.add(next, mark::LEADER);
        Ok(())
    };
    let result = control.iter().try_for_each(&mut mark_one);
    marks.control = control;
    code.handlers().for_each(|h| marks.add(h.handler, JUMP));
    result
}

/// The blocks in order; the labels of switches are still missing.
fn list_blocks(code: &Code, marks: &Marks, scratch: &mut CfgScratch) -> Vec<BlockInfo> {
    let mut blocks: Vec<BlockInfo> = Vec::with_capacity(marks.count(code.len(), mark::LEADER));
    scratch.contents.clear();
    let mut contents = Contents::default();
    let mut start = 0;
    let mut last = (0, 0u8);
    let mut finish = |blocks: &mut Vec<BlockInfo>, start, end, (last, op): (u32, u8), contents| {
        let (exit, labels) = leave(op);
        scratch.block_of[start as usize] = blocks.len() as u32;
        scratch.contents.push(contents);
        blocks.push(BlockInfo {
            start,
            end,
            last,
            exit,
            labels: Cow::Borrowed(labels),
        });
    };
    for (pc, op) in code.instructions(0, code.len()) {
        if marks.has(pc, mark::LEADER) {
            if pc > 0 {
                finish(&mut blocks, start, pc, last, contents);
            }
            contents = Contents::default();
            start = pc;
        } else {
            contents.before_last = Some(last.0);
        }
        contents.kinds |= KIND[op as usize];
        last = (pc, op);
    }
    finish(&mut blocks, start, code.len(), last, contents);
    blocks
}

/// How an instruction leaves its block. A switch's labels depend on its cases.
fn leave(op: u8) -> (BlockExit, &'static [EdgeLabel]) {
    match KIND[op as usize] & kind::CONTROL {
        kind::GOTO => (BlockExit::Goto, &[EdgeLabel::Goto]),
        kind::BRANCH => (BlockExit::Branch, &[EdgeLabel::Taken, EdgeLabel::NotTaken]),
        kind::SWITCH => (BlockExit::Switch, &[]),
        kind::LEAVES if op == crate::classfile::opcodes::ATHROW => (BlockExit::Throw, &[]),
        kind::LEAVES => (BlockExit::Return, &[]),
        _ => (BlockExit::FallThrough, &[EdgeLabel::FallThrough]),
    }
}

/// The labels of a switch, one per distinct target; each target is reported when it is met first.
fn switch(
    code: &Code,
    pc: u32,
    positions: &mut FxHashMap<u32, u32>,
    mut successor: impl FnMut(u32),
) -> Cow<'static, [EdgeLabel]> {
    let switch = code.switch(pc);
    let mut labels: Vec<EdgeLabel> = Vec::new();
    positions.clear();
    let cases = switch.cases().map(|(key, target)| (Some(key), target));
    for (key, target) in cases.chain([(None, switch.default())]) {
        let position = *positions.entry(target).or_insert_with(|| {
            labels.push(EdgeLabel::Switch {
                keys: Vec::new(),
                default: false,
            });
            successor(target);
            labels.len() as u32 - 1
        });
        if let EdgeLabel::Switch { keys, default } = &mut labels[position as usize] {
            match key {
                Some(key) => keys.push(key),
                None => *default = true,
            }
        }
    }
    Cow::Owned(labels)
}
