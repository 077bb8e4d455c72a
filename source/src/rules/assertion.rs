//! `assert`: the compiler first looks whether assertions are on (`$assertionsDisabled`).

use super::Findings;
use crate::decide::Known;
use crate::expression::Node;

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
    // The flag itself is set where the class is initialised.
    if known.method.name == b"<clinit>" {
        for block in 0..known.map.blocks.len() {
            let Some(test) = known.test(block) else { continue };
            if let Node::Call { member, .. } = known.node(test.left)
                && member.name == b"desiredAssertionStatus"
            {
                // It begins the initialiser; what follows are two blocks with a constant each.
                match block {
                    0 => (0..3).for_each(|block| findings.block(block)),
                    _ => findings.branch(block),
                }
            }
        }
    }
}

/// What follows is compiled as if the opposite threw: say it as the source does.
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
