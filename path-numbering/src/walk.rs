//! The depth-first walk on which loop cutting, the branch heuristics and the plan agree.

use crate::graph::{BlockId, EdgeRef, FlowGraph};

/// Depth-first walk from the entry, then from each extra start.
#[derive(Clone, Debug, Default)]
pub(crate) struct DepthFirst {
    /// Reachable blocks, each after all blocks its non-retreating edges lead to.
    pub postorder: Vec<BlockId>,
    /// Per block its position in `postorder`; [`UNREACHED`] for the others.
    pub number: Vec<u32>,
    /// Per block, true if it is the target of a retreating edge.
    pub retreating_target: Vec<bool>,
    /// The retreating edges themselves, and where they lead.
    pub retreating: Vec<(EdgeRef, BlockId)>,
    stack: Vec<(BlockId, u32)>,
}

/// Number of a block that no walk reaches.
pub(crate) const UNREACHED: u32 = u32::MAX;
/// Number of a block that the walk has entered but not left.
const OPEN: u32 = u32::MAX - 1;

impl DepthFirst {
    /// A walk over a graph all of whose edges and starts name blocks that exist.
    pub fn new(graph: &impl FlowGraph) -> Self {
        let mut walk = DepthFirst::default();
        walk.run(graph);
        walk
    }

    /// The same in memory that was used before.
    pub fn run(&mut self, graph: &impl FlowGraph) {
        let blocks = graph.num_blocks();
        self.postorder.clear();
        self.postorder.reserve(blocks);
        self.number.clear();
        self.number.resize(blocks, UNREACHED);
        self.retreating_target.clear();
        self.retreating_target.resize(blocks, false);
        self.retreating.clear();
        for root in std::iter::once(graph.entry()).chain(graph.extra_starts().iter().copied()) {
            if self.number[root.index()] != UNREACHED {
                continue;
            }
            self.number[root.index()] = OPEN;
            self.stack.push((root, 0));
            while let Some(top) = self.stack.last_mut() {
                let (from, index) = *top;
                let Some(&to) = graph.successors(from).get(index as usize) else {
                    self.number[from.index()] = self.postorder.len() as u32;
                    self.postorder.push(from);
                    self.stack.pop();
                    continue;
                };
                top.1 += 1;
                match self.number[to.index()] {
                    UNREACHED => {
                        self.number[to.index()] = OPEN;
                        self.stack.push((to, 0));
                    }
                    OPEN => {
                        self.retreating_target[to.index()] = true;
                        self.retreating.push((EdgeRef { from, index }, to));
                    }
                    _ => {}
                }
            }
        }
    }

    /// Returns true if the edge `from -> to` is retreating. (Those are the edges to a block that is not
    /// finished earlier.)
    pub fn is_retreating(&self, from: BlockId, to: BlockId) -> bool {
        let number = self.number[from.index()];
        number != UNREACHED && self.number[to.index()] >= number
    }
}
