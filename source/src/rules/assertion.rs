//! `assert`: the compiler first looks whether assertions are on (`$assertionsDisabled`).

use trodden_classfile::opcodes as op;

use super::Findings;
use crate::expression::Node;
use crate::known::Known;

pub fn find(known: &Known, findings: &mut Findings) {
    for block in 0..known.map.blocks.len() {
        let Some(test) = known.test(block) else { continue };
        if let Node::Field { owner: None, member } = known.node(test.left)
            && member.name == b"$assertionsDisabled"
        {
            findings.branch(block);
            turn(known, findings, block);
        }
    }
    let listing = known.listing();
    let flag = b"$assertionsDisabled";
    for (position, instruction) in listing.all().iter().enumerate() {
        match instruction.opcode {
            op::GETSTATIC
                if listing.is_own_static(position, op::GETSTATIC, flag)
                    && listing.has(position + 1, &[op::IFNE]) =>
            {
                findings.instructions(position + 1..position + 2);
            }
            // The flag itself is set where the class is initialised, from the class literal on.
            op::PUTSTATIC if listing.is_own_static(position, op::PUTSTATIC, flag) => {
                let sets = [
                    op::LDC,
                    op::INVOKEVIRTUAL,
                    op::IFNE,
                    op::ICONST_0 + 1,
                    op::GOTO,
                    op::ICONST_0,
                ];
                let Some(from) = position.checked_sub(sets.len()) else {
                    continue;
                };
                let asks = listing.is_call(from + 1, (b"desiredAssertionStatus", b"()Z"));
                if asks.is_some() && listing.has(from, &sets) {
                    findings.instructions(from..position + 1);
                }
            }
            _ => (),
        }
    }
}

/// The code behind is compiled as if the opposite threw: turns it to the source's terms.
fn turn(known: &Known, findings: &mut Findings, flag: usize) {
    let mut block = flag + 1;
    while known.flow.is_operand(block)
        && let Some(test) = known.test(block)
    {
        let text = known.printer().test(&test, !known.flow.sense(block));
        if let Some(condition) = findings.condition(block) {
            condition.text = text;
            condition.outcomes.reverse();
        }
        block += 1;
    }
}
