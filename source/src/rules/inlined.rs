//! Code of Kotlin's inline functions, which is in the methods that call them. As in JaCoCo, it is not of this
//! source.

use super::Findings;
use crate::known::Known;

pub fn find(known: &Known, findings: &mut Findings) {
    let map = known.map;
    if map.inlined.is_empty() {
        return;
    }
    if map.lines.iter().all(|entry| map.inlined_at(entry.bci).is_some()) {
        // Such methods are made where an object or a lambda is inlined.
        findings.method();
        return;
    }
    for (index, block) in map.blocks.iter().enumerate() {
        let mut at = block.start;
        while at < block.end
            && let Some(piece) = map.inlined_at(at)
        {
            at = piece.end;
        }
        if at >= block.end {
            findings.block(index);
        } else if map.inlined_at(block.last).is_some() {
            findings.branch(index);
        }
    }
}
