//! `switch` over strings: by hash code, then `equals`.
//!
//! javac then switches over the strings' positions; that second switch is the one of the source. ECJ and Kotlin go to
//! the cases at once: there, the comparisons are what decides.

use trodden_profile::{ConditionKind, Outcome};

use super::Findings;
use crate::decide::Known;
use crate::print::string;
use crate::switches::{jumps_if_equal, string_switches};

pub fn find(known: &Known, findings: &mut Findings) {
    for switch in string_switches(known) {
        // Not the whole block: the statements in front of the switch stand there, too.
        findings.branch(switch.block);
        let slots = known.interpreted.stores.iter().map(|s| s.slot);
        let two_halves = slots
            .into_iter()
            .any(|slot| switch.positions(known, slot).is_some());
        let subject = known.printer().expression(switch.subject);
        for &(block, text) in &switch.equals {
            if two_halves {
                findings.block(block);
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
