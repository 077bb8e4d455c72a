//! What bytecode tells the static branch heuristics (`trodden_numbering::heuristics`).

use trodden_numbering::heuristics::{BlockTraits, BranchTest, Condition, HintTable};
use trodden_numbering::{BlockId, FlowGraph};
use trodden_profile::{BlockExit, EdgeLabel};

use crate::cfg::Cfg;
use crate::classfile::code::{Code, Instruction};
use crate::classfile::opcodes as op;

/// Hints for every block of a method.
pub fn hints(code: &Code, cfg: &Cfg) -> HintTable {
    let blocks = 0..cfg.blocks.len();
    HintTable {
        traits: blocks.clone().map(|b| traits(code, cfg, b)).collect(),
        tests: blocks.clone().map(|b| test(code, cfg, b)).collect(),
        keys: blocks
            .map(|b| cfg.blocks[b].labels.iter().map(keys).collect())
            .collect(),
    }
}

fn instructions<'c>(code: &'c Code, cfg: &Cfg, block: usize) -> &'c [Instruction] {
    let after = cfg
        .first_instruction
        .get(block + 1)
        .copied()
        .unwrap_or(code.instructions.len());
    &code.instructions[cfg.first_instruction[block]..after]
}

fn traits(code: &Code, cfg: &Cfg, block: usize) -> BlockTraits {
    let exit = cfg.blocks[block].exit;
    let has = |wanted: fn(u8) -> bool| instructions(code, cfg, block).iter().any(|i| wanted(i.op));
    BlockTraits {
        returns: exit == BlockExit::Return,
        throws: exit == BlockExit::Throw,
        calls: has(|op| (op::INVOKEVIRTUAL..=op::INVOKEDYNAMIC).contains(&op)),
        stores: has(|op| matches!(op, op::PUTSTATIC | op::PUTFIELD | op::IASTORE..=op::SASTORE)),
    }
}

fn keys(label: &EdgeLabel) -> u32 {
    match label {
        EdgeLabel::Switch { keys, default } => keys.len() as u32 + u32::from(*default),
        _ => 1,
    }
}

fn test(code: &Code, cfg: &Cfg, block: usize) -> Option<BranchTest> {
    if cfg.blocks[block].exit != BlockExit::Branch {
        return None;
    }
    let (last, before) = instructions(code, cfg, block).split_last()?;
    let (condition, holds) = condition(last.op, before.last().map(|i| i.op));
    let mut test = BranchTest::new(condition, holds);
    // The guard heuristic: the operand is a local that the successor goes on to use.
    if let Some(local) = before.last().and_then(|i| local_load(code, i)) {
        for (guards, to) in test
            .guards
            .iter_mut()
            .zip(cfg.graph.successors(BlockId::new(block)))
        {
            *guards = uses_before_assigning(code, instructions(code, cfg, to.index()), local);
        }
    }
    Some(test)
}

/// What a conditional branch asks, and at which successor (0: taken, 1: not taken) the answer is yes.
/// `ifeq` and `ifne` test truth values as often as numbers, so they have an opinion only behind a comparison.
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
fn local_load(code: &Code, instruction: &Instruction) -> Option<u16> {
    let operand = || u16::from(code.bytes[instruction.pc as usize + 1]);
    match instruction.op {
        op::ILOAD | op::ALOAD => Some(operand()),
        short @ op::ILOAD_0..=op::ILOAD_3 => Some(u16::from(short - op::ILOAD_0)),
        short @ op::ALOAD_0..=op::ALOAD_3 => Some(u16::from(short - op::ALOAD_0)),
        _ => None,
    }
}

fn local_store(code: &Code, instruction: &Instruction) -> Option<u16> {
    let operand = || u16::from(code.bytes[instruction.pc as usize + 1]);
    match instruction.op {
        op::ISTORE | op::ASTORE => Some(operand()),
        short @ op::ISTORE_0..=op::ISTORE_3 => Some(u16::from(short - op::ISTORE_0)),
        short @ op::ASTORE_0..=op::ASTORE_3 => Some(u16::from(short - op::ASTORE_0)),
        _ => None,
    }
}

fn uses_before_assigning(code: &Code, block: &[Instruction], local: u16) -> bool {
    block
        .iter()
        .find_map(|i| match (local_load(code, i), local_store(code, i)) {
            (Some(read), _) if read == local => Some(true),
            (_, Some(written)) if written == local => Some(false),
            _ => None,
        })
        .unwrap_or(false)
}
