//! What ran at all: per method its blocks, and the ways of its decisions (profile `coverage`).

mod codec;
mod merge;
pub(crate) mod section;
mod subtract;

use std::collections::BTreeMap;

use trodden_numbering::{BlockId, FlowGraph, Ran};

use crate::model::edges::EdgeProfile;
use crate::model::map::MethodMap;

/// What ran of all methods of a profile. Each of its path maps' methods had probes for that.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Covered {
    /// By class and method (positions in the profile); a method that is not there did not run.
    pub methods: BTreeMap<(u32, u32), MethodCovered>,
}

/// What ran of one method.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MethodCovered {
    /// Per block: did it begin?
    pub blocks: Vec<bool>,
    /// Per block that has several out-edges, and per such an edge, in the graph's order: was it followed?
    pub ways: Vec<bool>,
}

impl MethodCovered {
    /// From what its probes say.
    pub fn new(map: &MethodMap, ran: &Ran) -> Self {
        let edges = map.graph.edges().zip(&ran.edges);
        let decided = edges.filter(|((edge, _), _)| decides(map, edge.from));
        MethodCovered {
            blocks: ran.blocks.clone(),
            ways: decided.map(|(_, &followed)| followed).collect(),
        }
    }

    /// As counts, of which all are 0 or 1. An edge that is the only one out of its block has one if both of its blocks
    /// have: whether it was followed is not known.
    pub fn edge_profile(&self, map: &MethodMap) -> EdgeProfile {
        let mut profile = EdgeProfile::new(map);
        let ran = |block: usize| u64::from(self.blocks.get(block).copied().unwrap_or(false));
        let mut ways = self.ways.iter();
        for block in 0..map.blocks.len() {
            profile.blocks[block] = ran(block);
            let successors = map.graph.successors(BlockId::new(block));
            for (index, to) in successors.iter().enumerate() {
                let count = match successors.len() {
                    1 => ran(block).min(ran(to.index())),
                    _ => u64::from(ways.next().copied().unwrap_or(false)),
                };
                if let Some(edge) = profile.edges[block].get_mut(index) {
                    *edge = count;
                }
            }
        }
        profile
    }

    /// Takes in what ran in another run.
    fn add(&mut self, other: &MethodCovered) {
        for (to, from) in [(&mut self.blocks, &other.blocks), (&mut self.ways, &other.ways)] {
            to.iter_mut().zip(from).for_each(|(to, &from)| *to |= from);
        }
    }
}

fn decides(map: &MethodMap, block: BlockId) -> bool {
    map.graph.successors(block).len() > 1
}

/// The ways out of blocks that decide something: from where and to where, in the order of
/// [`MethodCovered::ways`].
fn ways(map: &MethodMap) -> impl Iterator<Item = (BlockId, BlockId)> {
    let edges = map.graph.edges().map(|(edge, to)| (edge.from, to));
    edges.filter(|&(from, _)| decides(map, from))
}
