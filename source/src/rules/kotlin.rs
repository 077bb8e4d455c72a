//! What kotlinc adds: default arguments, `lateinit`, null checks, state machines.

use trodden_profile::EdgeLabel;

use super::Findings;
use crate::decide::Known;
use crate::expression::Node;
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

/// A suspending function: a switch over `label`, and a look at whether a callee was suspended.
pub fn coroutines(known: &Known, findings: &mut Findings) {
    if known.dialect != Dialect::Kotlin {
        return;
    }
    let suspended = |id| {
        matches!(known.node(id), Node::Call { member, .. } if member.name == b"getCOROUTINE_SUSPENDED")
            || known.stored_call(id, b"getCOROUTINE_SUSPENDED")
    };
    for (block, facts) in known.interpreted.blocks.iter().enumerate() {
        match facts.decision {
            Some(crate::interpret::Decision::Switch(over)) => {
                if matches!(known.node(over), Node::Field { member, .. } if member.name == b"label") {
                    findings.block(block);
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
