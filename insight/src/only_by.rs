//! The code that one outcome of a decision alone leads to: the blocks that an edge dominates.

use trodden_numbering::{BlockId, EdgeRef, FlowGraph};
use trodden_profile::MethodMap;

use crate::names;

/// Steps for finding the code that single edges reach, at most: no method of a program that was tried needs a tenth.
const MAX_STEPS: usize = 50_000_000;

/// Per edge that alone leads to some blocks: these blocks. An activation that is in one of them followed that edge the
/// last time that it came to the decision. Empty for a method that is too large for it.
pub fn reached_only_by(map: &MethodMap, edges: &[EdgeRef]) -> Vec<(EdgeRef, Vec<BlockId>)> {
    let blocks = map.blocks.len();
    if edges.len().saturating_mul(blocks) > MAX_STEPS {
        return Vec::new();
    }
    let all = reached(map, None);
    let of_edge = |&edge: &EdgeRef| {
        let target = map.graph.successors(edge.from).get(edge.index as usize)?;
        let without = reached(map, Some(edge));
        if !all[target.index()] || without[target.index()] {
            return None;
        }
        let only = (0..blocks).filter(|&block| all[block] && !without[block]);
        Some((edge, only.map(BlockId::new).collect()))
    };
    edges.iter().filter_map(of_edge).collect()
}

/// Per block: is it reached from the method's starts without following an edge?
fn reached(map: &MethodMap, without: Option<EdgeRef>) -> Vec<bool> {
    let mut reached = vec![false; map.blocks.len()];
    let mut next: Vec<BlockId> = vec![map.graph.entry()];
    next.extend(map.graph.extra_starts());
    while let Some(block) = next.pop() {
        if std::mem::replace(&mut reached[block.index()], true) {
            continue;
        }
        let successors = map.graph.successors(block).iter().enumerate();
        let followed = successors.filter(|&(index, _)| Some(names::edge(block.index(), index)) != without);
        next.extend(followed.map(|(_, &to)| to));
    }
    reached
}
