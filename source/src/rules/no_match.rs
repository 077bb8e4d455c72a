//! The code for "no case fits" where the source lists all cases: it throws what no source throws.

use super::Findings;
use crate::expression::Node;
use crate::known::Known;

const THROWN: [&[u8]; 3] = [
    b"java/lang/MatchException",
    b"java/lang/IncompatibleClassChangeError",
    b"kotlin/NoWhenBranchMatchedException",
];

pub fn find(known: &Known, findings: &mut Findings) {
    for block in 0..known.map.blocks.len() {
        if let Some(Node::New { class, .. }) = known.thrown(block)
            && THROWN.contains(&class)
        {
            findings.block(block);
            // A branch that only leads there is the compiler's, too; a switch has other ways.
            for from in known.predecessors(block) {
                if known.test(from).is_some() {
                    findings.branch(from);
                }
            }
        }
    }
}
