//! Code that kotlinc adds: default arguments, `lateinit`, null checks, state machines.

use std::collections::BTreeMap;

use trodden_classfile::opcodes as op;
use trodden_profile::{BlockExit, ConditionKind, EdgeLabel};

use super::Findings;
use crate::expression::Node;
use crate::interpret::{load_slot, store_slot};
use crate::known::Known;
use crate::print::Dialect;

/// Throwing calls of `Intrinsics` that are not in the source, by the rule that they belong to.
fn intrinsic(name: &[u8]) -> Option<&'static str> {
    match name {
        b"throwUninitializedPropertyAccessException" => Some("lateinit"),
        b"throwNpe" | b"throwJavaNpe" => Some("null"),
        _ => None,
    }
}

fn blocks_that_call(known: &Known, findings: &mut Findings, kind: &str) {
    if known.dialect != Dialect::Kotlin {
        return;
    }
    for block in 0..known.map.blocks.len() {
        let within = &known.map.blocks[block];
        let mut calls = known
            .interpreted
            .calls
            .iter()
            .filter(|(pc, _)| (within.start..within.end).contains(pc));
        let found = calls.any(|&(_, call)| match known.node(call) {
            Node::Call { member, .. } if member.class == b"kotlin/jvm/internal/Intrinsics" => {
                intrinsic(member.name) == Some(kind)
            }
            _ => false,
        });
        if found {
            findings.block(block);
            for from in known.predecessors(block) {
                if known.test(from).is_some() {
                    findings.branch(from);
                }
            }
        }
    }
}

/// The check whether a `lateinit` property was set.
pub fn lateinit(known: &Known, findings: &mut Findings) {
    blocks_that_call(known, findings, "lateinit");
}

/// `!!` in old versions: a null check that throws.
pub fn null_checks(known: &Known, findings: &mut Findings) {
    blocks_that_call(known, findings, "null");
}

/// `a?.b?.c`: null tests that lead to the same place, of what the one before it gave. They stay decisions of
/// the source, but what happens if there is nothing is one thing.
pub fn safe_calls(known: &Known, findings: &mut Findings) {
    const ACONST_NULL: u8 = 1;
    const POP: u8 = 87;
    const DUP: u8 = 89;
    if known.dialect != Dialect::Kotlin {
        return;
    }
    let mut chains: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (index, block) in known.map.blocks.iter().enumerate() {
        let instructions: Vec<(u32, u8)> = known.code.instructions(block.start, block.end).collect();
        let [front @ .., (pc, before), (_, op::IFNULL)] = instructions.as_slice() else {
            continue;
        };
        let Some(target) = known.successors(index).next() else {
            continue;
        };
        let there = &known.map.blocks[target];
        let first = known.code.instructions(there.start, there.end).next();
        let chain = chains.entry(target).or_default();
        // Not the first of a chain: what is tested was just stored.
        let stored = || {
            let (at, opcode) = *front.last()?;
            Some(store_slot(known.code, at, opcode)?.0)
        };
        let loaded = load_slot(known.code, *pc, *before).map(|(slot, _)| slot);
        let follows = match first {
            Some((_, POP)) => *before == DUP,
            Some((_, ACONST_NULL)) => loaded.is_some() && (chain.is_empty() || stored() == loaded),
            _ => false,
        };
        if follows {
            chain.push(index);
        }
    }
    for block in chains.into_values().filter(|chain| chain.len() > 1).flatten() {
        if let Some(condition) = findings.condition(block) {
            condition.kind = ConditionKind::SafeCall;
        }
    }
}

/// `f$default` and its like among constructors: a bit of a mask says which arguments were given.
pub fn defaults(known: &Known, findings: &mut Findings) {
    if known.dialect != Dialect::Kotlin {
        return;
    }
    let constructor = known.method.name == b"<init>"
        && known
            .method
            .descriptor
            .ends_with(b"Lkotlin/jvm/internal/DefaultConstructorMarker;)V");
    if !known.method.name.ends_with(b"$default") && !constructor {
        return;
    }
    for block in 0..known.map.blocks.len() {
        let Some(test) = known.test(block) else { continue };
        if let Node::Binary("&", _, bit, _) = known.node(test.left)
            && matches!(known.node(bit), Node::Int(bit) if bit.count_ones() == 1)
            && test.right.is_none()
        {
            findings.branch(block);
        }
    }
}

/// A nullable enum: `null` is number -1 of its `when`.
pub fn nullable_enums(known: &Known, findings: &mut Findings) {
    const POP: u8 = 87;
    const GOTO: u8 = 167;
    if known.dialect != Dialect::Kotlin {
        return;
    }
    for block in 0..known.map.blocks.len().saturating_sub(1) {
        let next = &known.map.blocks[block + 1];
        let null = known
            .code
            .instructions(next.start, next.end)
            .map(|(_, opcode)| opcode);
        if known.test(block).is_some() && null.eq([POP, op::ICONST_M1, GOTO]) {
            findings.branch(block);
        }
    }
}

/// A suspending function: a switch over `label`, and a look at whether a callee was suspended.
pub fn coroutines(known: &Known, findings: &mut Findings) {
    if known.dialect != Dialect::Kotlin {
        return;
    }
    let suspended = |id| {
        matches!(known.node(id), Node::Call { member, .. } if member.name == b"getCOROUTINE_SUSPENDED")
            || known.stored_call(id, b"getCOROUTINE_SUSPENDED")
    };
    // A continuation is its last parameter, or it is the body of a lambda.
    let descriptor = known.method.descriptor;
    let continues = descriptor.ends_with(b"Lkotlin/coroutines/Continuation;)Ljava/lang/Object;");
    let can_suspend = continues || known.method.name == b"invokeSuspend";
    for (block, facts) in known.interpreted.blocks.iter().enumerate() {
        match facts.decision {
            Some(crate::interpret::Decision::Switch(over)) => {
                let label = matches!(known.node(over), Node::Field { member, .. } if member.name == b"label");
                if label && can_suspend {
                    // In front of it, the continuation is made or found.
                    (0..=block).for_each(|block| findings.block(block));
                    let labels = known.map.blocks[block].labels.iter();
                    let resumes = |label: &EdgeLabel| matches!(label, EdgeLabel::Switch { keys, .. } if keys.iter().any(|&key| key > 0));
                    for (to, label) in known.successors(block).zip(labels) {
                        if resumes(label) && known.map.blocks[to].exit == BlockExit::FallThrough {
                            findings.block(to);
                        }
                    }
                    default_of(known, block)
                        .into_iter()
                        .for_each(|block| findings.block(block));
                }
            }
            Some(crate::interpret::Decision::Test(test)) => {
                let result = test
                    .right
                    .is_some_and(|right| suspended(right) || suspended(test.left));
                // Is the continuation that is given one of this function, that is to be resumed?
                let resumes = matches!(known.node(test.left), Node::InstanceOf(_, class)
                    if known.is_own_continuation(class));
                let label = matches!(known.node(test.left), Node::Binary("&", of, _, _)
                    if matches!(known.node(of), Node::Field { member, .. } if member.name == b"label"));
                if result || resumes || label {
                    findings.branch(block);
                    if result && known.map.blocks[block + 1].exit == BlockExit::Return {
                        findings.block(block + 1);
                    }
                }
            }
            None => {}
        }
    }
}

/// Where a switch goes by default alone: it throws that the coroutine was resumed too early.
fn default_of(known: &Known, block: usize) -> Option<usize> {
    let labels = known.map.blocks[block].labels.iter();
    let alone =
        |label: &EdgeLabel| matches!(label, EdgeLabel::Switch { keys, default: true } if keys.is_empty());
    let edge = labels.into_iter().position(alone)?;
    known.successors(block).nth(edge).filter(|&to| known.throws(to))
}
