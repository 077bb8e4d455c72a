//! `synchronized`: a handler of everything leaves the monitor and throws on.

use super::Findings;
use crate::decide::Known;

const MONITOREXIT: u8 = 195;

pub fn find(known: &Known, findings: &mut Findings) {
    for handler in known.catch_all() {
        let block = &known.map.blocks[handler];
        let mut instructions = known.code.instructions(block.start, block.end);
        let exits = instructions.any(|(_, opcode)| opcode == MONITOREXIT);
        // `astore e; aload monitor; monitorexit; aload e; athrow`, in one block or two.
        if exits && known.map.blocks[handler].end - known.map.blocks[handler].start <= 12 {
            findings.block(handler);
            if known.thrown(handler).is_none()
                && let Some(next) = known.successors(handler).next()
            {
                findings.block(next);
            }
        }
    }
}
