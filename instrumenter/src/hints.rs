//! Hints from bytecode for the static branch heuristics (`trodden_numbering::heuristics`).

use trodden_numbering::heuristics::{BlockTraits, BranchHints, BranchTest, Condition};
use trodden_numbering::{BlockId, EdgeRef, FlowGraph};
use trodden_profile::{BlockExit, EdgeLabel};

use crate::cfg::{Cfg, Contents};
use crate::classfile::code::Code;
use crate::classfile::opcodes::{self as op, kind};

/// Hints about every block of a method, worked out when they are asked for.
pub struct Hints<'h, 'a> {
    /// The code.
    pub code: &'h Code<'a>,
    /// Its graph.
    pub cfg: &'h Cfg,
    /// Per block.
    pub contents: &'h [Contents],
}

impl BranchHints for Hints<'_, '_> {
    fn traits(&self, block: BlockId) -> BlockTraits {
        let exit = self.cfg.blocks[block.index()].exit;
        let kinds = self.contents[block.index()].kinds;
        BlockTraits {
            returns: exit == BlockExit::Return,
            throws: exit == BlockExit::Throw,
            calls: kinds & kind::CALL != 0,
            stores: kinds & kind::STORE != 0,
        }
    }

    fn test(&self, block: BlockId) -> Option<BranchTest> {
        let info = &self.cfg.blocks[block.index()];
        if info.exit != BlockExit::Branch {
            return None;
        }
        let op_at = |pc: u32| self.code.bytes[pc as usize];
        let before = self.contents[block.index()].before_last;
        let (condition, holds) = condition(op_at(info.last), before.map(op_at));
        let mut test = BranchTest::new(condition, holds);
        // The guard heuristic: the operand is a local that the successor uses.
        if let Some(local) = before.and_then(|pc| local_load(self.code, pc, op_at(pc))) {
            for (guards, to) in test.guards.iter_mut().zip(self.cfg.graph.successors(block)) {
                *guards = self.uses_before_assigning(*to, local);
            }
        }
        Some(test)
    }

    fn keys(&self, edge: EdgeRef) -> u32 {
        let labels = &self.cfg.blocks[edge.from.index()].labels;
        match labels.get(edge.index as usize) {
            Some(EdgeLabel::Switch { keys, default }) => keys.len() as u32 + u32::from(*default),
            _ => 1,
        }
    }
}

impl Hints<'_, '_> {
    fn uses_before_assigning(&self, block: BlockId, local: u16) -> bool {
        let info = &self.cfg.blocks[block.index()];
        self.code
            .instructions(info.start, info.end)
            .find_map(|(pc, op)| {
                if local_load(self.code, pc, op) == Some(local) {
                    return Some(true);
                }
                (local_store(self.code, pc, op) == Some(local)).then_some(false)
            })
            .unwrap_or(false)
    }
}

/// The condition of a branch, and the successor (0: taken, 1: not taken) at which it holds.
/// `ifeq` and `ifne` test truth values as often as numbers, so they vote only behind a comparison.
fn condition(branch: u8, before: Option<u8>) -> (Condition, u32) {
    let compares_long = before == Some(op::LCMP);
    let compares_float = before.is_some_and(|b| (op::FCMPL..=op::DCMPG).contains(&b));
    let constant = before.is_some_and(|b| (op::ICONST_M1..=op::LDC_W).contains(&b));
    match branch {
        op::IFNULL => (Condition::PointerNull, 0),
        op::IFNONNULL => (Condition::PointerNull, 1),
        op::IF_ACMPEQ => (Condition::PointerEqual, 0),
        op::IF_ACMPNE => (Condition::PointerEqual, 1),
        op::IFEQ | op::IFNE if compares_float => (Condition::FloatEqual, u32::from(branch == op::IFNE)),
        op::IFEQ | op::IFNE if compares_long => (Condition::IntEqual, u32::from(branch == op::IFNE)),
        op::IF_ICMPEQ | op::IF_ICMPNE if constant => {
            (Condition::IntEqual, u32::from(branch == op::IF_ICMPNE))
        }
        // Behind a comparison these ask for an order between two numbers, not for a sign.
        _ if compares_long || compares_float => (Condition::Other, 0),
        op::IFLT => (Condition::IntNegative, 0),
        op::IFGE => (Condition::IntNegative, 1),
        op::IFLE => (Condition::IntNonPositive, 0),
        op::IFGT => (Condition::IntNonPositive, 1),
        _ => (Condition::Other, 0),
    }
}

/// The slot an `iload` or `aload` reads.
fn local_load(code: &Code, pc: u32, op: u8) -> Option<u16> {
    match op {
        op::ILOAD | op::ALOAD => Some(u16::from(code.bytes[pc as usize + 1])),
        op::ILOAD_0..=op::ILOAD_3 => Some(u16::from(op - op::ILOAD_0)),
        op::ALOAD_0..=op::ALOAD_3 => Some(u16::from(op - op::ALOAD_0)),
        _ => None,
    }
}

/// The slot an `istore` or `astore` assigns to.
fn local_store(code: &Code, pc: u32, op: u8) -> Option<u16> {
    match op {
        op::ISTORE | op::ASTORE => Some(u16::from(code.bytes[pc as usize + 1])),
        op::ISTORE_0..=op::ISTORE_3 => Some(u16::from(op - op::ISTORE_0)),
        op::ASTORE_0..=op::ASTORE_3 => Some(u16::from(op - op::ASTORE_0)),
        _ => None,
    }
}
