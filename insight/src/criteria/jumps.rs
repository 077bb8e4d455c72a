//! Blocks that are a `goto` and nothing else: compilers differ in whether they jump to them or to where they
//! lead.

use trodden_numbering::{BlockId, FlowGraph};
use trodden_profile::{BlockExit, MethodMap};

/// Where each block leads if nothing is done on the way: itself, or where a mere `goto` goes.
pub fn destinations(map: &MethodMap) -> Vec<usize> {
    let starts = |block: usize| {
        let block = BlockId::new(block);
        map.graph.entry() == block || map.graph.extra_starts().contains(&block)
    };
    let next = |block: usize| {
        let info = &map.blocks[block];
        let only_jumps = info.exit == BlockExit::Goto && info.start == info.last && !starts(block);
        let to = map.graph.successors(BlockId::new(block)).first();
        to.map(|to| to.index()).filter(|_| only_jumps)
    };
    let lead = |block: usize| {
        let mut at = block;
        // An endless loop of nothing leads nowhere: it stays as it is.
        for _ in 0..map.blocks.len() {
            match next(at) {
                Some(to) => at = to,
                None => return at,
            }
        }
        block
    };
    (0..map.blocks.len()).map(lead).collect()
}
