//! An upper bound of a method's size with probes, found without writing it.

use trodden_numbering::{FlowGraph, Plan};
use trodden_profile::{BlockExit, MethodMap};

use super::{Candidate, HUGE_METHOD_LIMIT};
use crate::classfile::attributes;
use crate::classfile::class::Class;
use crate::classfile::frames::initial_locals;
use crate::probes::CutPaths;

/// Longest register update: `wide iload; ldc_w; iadd; wide istore`, and a goto to the block behind it.
const UPDATE: usize = 4 + 3 + 1 + 4 + 3;
/// Longest path end: `wide lload; wide iload; ldc_w; wide iload; invokestatic`.
const PATH_END: usize = 4 + 4 + 3 + 4 + 3;
/// Longest method entry: `invokestatic; wide lstore; wide lload; ldc_w; invokestatic; wide istore; ldc_w;
/// wide istore`, and a goto.
const ENTRY: usize = 3 + 4 + 4 + 3 + 3 + 4 + 3 + 4 + 3;
/// A class loader's answer: `aload; invokestatic; ifeq; ldc_w; areturn; nop`.
const ANSWER: usize = 1 + 3 + 3 + 3 + 1 + 1;
/// Longest probe in front of a call: `wide lload; wide lload; ldc_w; ldc_w; wide iload; invokestatic`.
const CALL: usize = 4 + 4 + 3 + 3 + 4 + 3;
/// Longest handlers of ours: two times `wide lload; wide lload; ldc_w; invokestatic; athrow`.
const HANDLERS: usize = 2 * (4 + 4 + 3 + 3 + 1);
/// Longest statement of the block that runs: `ldc_w; wide istore`.
const BLOCK: usize = 3 + 4;
/// Longest counting of a cut path: `wide iload; iflt; ldc_w; wide iload; wide iload; iconst; wide istore;
/// invokestatic`.
const CUT: usize = 4 + 3 + 3 + 4 + 4 + 1 + 4 + 3;
/// Constants that all methods of a class share: the shim's class and methods, names and types.
pub const SHIM_CONSTANTS: usize = 44;
/// Most locals for which frames are surely no longer than can be written.
const FEW_LOCALS: u16 = 256;

/// Returns true if the method fits with probes, whatever they are; false if that shows only when it is
/// written.
pub fn fits(class: &Class, candidate: &Candidate, map: &MethodMap) -> bool {
    let descriptor = class.methods[candidate.index].descriptor;
    let old = candidate.code.len() as usize;
    // Below 32 KB every goto and branch reaches, whether the method is huge already or not.
    let limit = if candidate.code.len() > HUGE_METHOD_LIMIT {
        i16::MAX as usize
    } else {
        HUGE_METHOD_LIMIT as usize
    };
    old + growth(candidate, map) <= limit
        && candidate.code.max_locals <= FEW_LOCALS
        && matches!(
            initial_locals(descriptor, None, |_| Ok::<u16, ()>(0), |_| ()),
            Ok(true)
        )
        && candidate
            .code
            .attributes(&class.pool)
            .all(|a| attributes::can_move(&a, &candidate.code))
}

fn growth(candidate: &Candidate, map: &MethodMap) -> usize {
    let blocks = map.blocks.iter();
    if let Some(structural) = candidate.subject.graphs() {
        let switches = blocks.filter(|b| b.exit == BlockExit::Switch).count();
        return structural.most_bytes() + ANSWER + 3 * switches;
    }
    let ends = blocks
        .clone()
        .filter(|b| matches!(b.exit, BlockExit::Return | BlockExit::Throw));
    let switches = blocks.filter(|b| b.exit == BlockExit::Switch).count();
    // A switch grows by padding only.
    let calls = CALL * candidate.calls + HANDLERS;
    let cuts = match candidate.cut_paths {
        CutPaths::None => 0,
        // Each block says that it runs, or that its path is counted, or both; so does the entry.
        _ => BLOCK * (2 * map.blocks.len() + 1) + CUT * (map.graph.extra_starts().len() + 2),
    };
    calls
        + cuts
        + ENTRY
        + ANSWER
        + 3 * switches
        + PATH_END * ends.count()
        + updates(&candidate.plan, map) * (UPDATE + PATH_END)
}

/// Places that change the register, counted generously: an update per way in, and a restart per block.
fn updates(plan: &Plan, map: &MethodMap) -> usize {
    let edges = plan.edges.items().iter().filter(|op| !op.is_none()).count();
    let silent = plan.silent.len();
    edges + silent + plan.extra_starts.len() + map.dag.starts().len()
}

/// Constants a method may add to the pool.
pub fn constants(candidate: &Candidate, map: &MethodMap) -> usize {
    let arguments = map.descriptor.len();
    if let Some(structural) = candidate.subject.graphs() {
        return structural.most_constants() + 2 * arguments;
    }
    // Ids, a value per update, and per class among the arguments an entry and its name.
    4 + candidate.calls + updates(&candidate.plan, map) + 2 * arguments + map.graph.num_blocks()
}
