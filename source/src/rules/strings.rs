//! `switch` over strings: by hash code, then `equals`.
//!
//! javac then switches over the strings' positions; that second switch is the one of the source. ECJ and
//! Kotlin go to the cases at once: there, the comparisons are what decides.

use trodden_profile::{ConditionKind, Outcome};

use trodden_classfile::opcodes as op;

use super::Findings;
use crate::known::Known;
use crate::print::string;
use crate::switches::{StringSwitch, jumps_if_equal, string_switches};

/// Instructions between the store of the string and the switch over its hash code; Kotlin has a null check
/// there.
const MAX_BEFORE_SWITCH: usize = 5;

pub fn find(known: &Known, findings: &mut Findings) {
    for switch in string_switches(known) {
        // Not the whole block: the statements in front of the switch are there, too.
        findings.branch(switch.block);
        let slots = known.interpreted.stores.iter().map(|s| s.slot);
        let two_halves = slots
            .into_iter()
            .any(|slot| switch.positions(known, slot).is_some());
        if two_halves {
            between_the_switches(known, findings, &switch);
        } else {
            comparisons(known, findings, &switch);
        }
        let subject = known.printer().expression(switch.subject);
        for &(block, text) in &switch.equals {
            if two_halves {
                continue;
            }
            let jumps = jumps_if_equal(known, block);
            if let Some(condition) = findings.condition(block) {
                let label = format!("case {}", string(&trodden_classfile::decode(text)));
                let mut outcomes = vec![Outcome::Case(label), Outcome::No];
                if !jumps {
                    outcomes.swap(0, 1);
                }
                condition.kind = ConditionKind::Switch;
                condition.text = subject.as_deref().map(Into::into);
                condition.outcomes = outcomes;
            }
        }
    }
}

/// javac: from the switch over hash codes to where the other one begins, which is its default.
fn between_the_switches(known: &Known, findings: &mut Findings, switch: &StringSwitch) {
    let listing = known.listing();
    let first = known.map.blocks[switch.block].last;
    let second = known.code.switch(first).default();
    if second > first {
        findings.instructions(listing.position(first)..listing.position(second));
    }
}

/// ECJ and Kotlin: from behind the store of the string to the last comparison, with the jump to the default
/// behind it. The decisions are not marked: they are those of the source.
fn comparisons(known: &Known, findings: &mut Findings, switch: &StringSwitch) {
    let listing = known.listing();
    let at = listing.position(known.map.blocks[switch.block].last);
    let before = listing.all()[..at].iter().rev().take(MAX_BEFORE_SWITCH);
    let store = before.zip((0..at).rev()).find(|(i, _)| i.opcode == op::ASTORE);
    let last = switch
        .equals
        .iter()
        .map(|&(block, _)| known.map.blocks[block].last)
        .max();
    if let (Some((_, store)), Some(last)) = (store, last) {
        let last = listing.position(last);
        let jump = usize::from(listing.has(last + 1, &[op::GOTO]));
        findings.instructions_alone(store + 1..last + 1 + jump);
    }
}
