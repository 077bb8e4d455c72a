//! Loops and postdominators, as far as the branch heuristics ask for them.

use crate::graph::{BlockId, FlowGraph};
use crate::rows::Rows;
use crate::walk::{DepthFirst, UNREACHED};

/// Total size of all loop bodies after which further loops are left out: only code with thousands of loops
/// inside each other gets there, and a missing loop costs a prediction, not correctness.
const MAX_MEMBERSHIPS: usize = 1 << 23;

/// The loops of a graph: one per target of a retreating edge.
#[derive(Clone, Debug, Default)]
pub(crate) struct Loops {
    /// Per block: the headers of the loops around it, in ascending order. A header is in its own loop.
    /// Without rows if there are no loops.
    around: Rows<BlockId>,
    /// (block, header of a loop around it), by header.
    members: Vec<(BlockId, BlockId)>,
    /// Per header: where its retreating edges come from.
    latches: Rows<BlockId>,
    reaches: Vec<u32>,
    inside: Vec<u32>,
    work: Vec<BlockId>,
}

impl Loops {
    /// Finds them. The body of a loop is every block on a way from the header to one of its retreating edges;
    /// so a handler that jumps back into the loop does not spoil it, nor do other entries.
    pub fn find(&mut self, graph: &impl FlowGraph, walk: &DepthFirst, predecessors: &Rows<BlockId>) {
        self.around.clear();
        if walk.retreating.is_empty() {
            return;
        }
        let blocks = graph.num_blocks();
        let latches = walk.retreating.iter().map(|(edge, to)| (to.index(), edge.from));
        self.latches.group(blocks, latches);
        // Stamps instead of a fresh set per loop: `reaches[b] == h + 1` means b reaches a latch of h.
        for stamps in [&mut self.reaches, &mut self.inside] {
            stamps.clear();
            stamps.resize(blocks, 0);
        }
        self.members.clear();
        let mut pops = 0;
        for header in (0..blocks).map(BlockId::new) {
            let latches = &self.latches[header.index()];
            if latches.is_empty() || pops > MAX_MEMBERSHIPS {
                continue;
            }
            let stamp = header.index() as u32 + 1;
            self.reaches[header.index()] = stamp;
            self.work.extend_from_slice(latches);
            while let Some(block) = self.work.pop() {
                pops += 1;
                if self.reaches[block.index()] != stamp {
                    self.reaches[block.index()] = stamp;
                    let reached = |from: &&BlockId| walk.number[from.index()] != UNREACHED;
                    self.work
                        .extend(predecessors[block.index()].iter().filter(reached));
                }
            }
            self.work.push(header);
            while let Some(block) = self.work.pop() {
                if self.reaches[block.index()] == stamp && self.inside[block.index()] != stamp {
                    self.inside[block.index()] = stamp;
                    self.members.push((block, header));
                    self.work.extend_from_slice(graph.successors(block));
                }
            }
        }
        let members = self
            .members
            .iter()
            .map(|(block, header)| (block.index(), *header));
        self.around.group(blocks, members);
    }

    /// Headers of the loops that `from` is in and `to` is not.
    pub fn left_by(&self, from: BlockId, to: BlockId) -> impl Iterator<Item = BlockId> + '_ {
        let around = |block: BlockId| self.around.get(block.index()).unwrap_or(&[]);
        let kept = around(to);
        let left = around(from).iter().copied();
        left.filter(move |h| kept.binary_search(h).is_err())
    }
}

/// Immediate postdominators (Cooper, Harvey and Kennedy's iteration on the reversed graph, with one virtual
/// exit).
#[derive(Clone, Debug, Default)]
pub(crate) struct Postdominators {
    /// Per block its immediate postdominator, [`EXIT`] or [`NOT_YET`].
    parent: Vec<u32>,
    /// Per block its position in `order`; [`UNREACHED`] for blocks from which no exit is reached.
    number: Vec<u32>,
    /// Blocks, each after its immediate postdominator.
    order: Vec<BlockId>,
    stack: Vec<(BlockId, u32)>,
}

/// The virtual exit.
const EXIT: u32 = u32::MAX;
/// Not computed (yet).
const NOT_YET: u32 = u32::MAX - 1;

impl Postdominators {
    pub fn find(&mut self, graph: &impl FlowGraph, walk: &DepthFirst, predecessors: &Rows<BlockId>) {
        let blocks = graph.num_blocks();
        self.parent.clear();
        self.parent.resize(blocks, NOT_YET);
        self.number.clear();
        if walk.retreating.is_empty() && walk.postorder.len() == blocks {
            // No cycle: every block comes after all it leads to in the walk's own order.
            self.number.extend_from_slice(&walk.number);
            self.pass(graph, &walk.postorder);
            return;
        }
        let mut order = std::mem::take(&mut self.order);
        self.reverse_order(graph, predecessors, &mut order);
        self.number.resize(blocks, UNREACHED);
        for (i, block) in order.iter().enumerate() {
            self.number[block.index()] = i as u32;
        }
        while self.pass(graph, &order) {}
        self.order = order;
    }

    /// Once over all blocks; returns true if another time is needed.
    fn pass(&mut self, graph: &impl FlowGraph, order: &[BlockId]) -> bool {
        let mut again = false;
        for &block in order {
            let successors = graph.successors(block);
            let mut new = if successors.is_empty() { EXIT } else { NOT_YET };
            for &to in successors {
                match self.parent[to.index()] {
                    // If it is never computed (no exit is reached from there), then asking again changes
                    // nothing.
                    NOT_YET => again |= self.number[to.index()] != UNREACHED,
                    _ if new == NOT_YET => new = to.index() as u32,
                    _ => new = self.meet(new, to.index() as u32),
                }
            }
            if new != NOT_YET && new != self.parent[block.index()] {
                // A first value stands unless it rests on others that are still missing or may change.
                again |= self.parent[block.index()] != NOT_YET;
                self.parent[block.index()] = new;
            }
        }
        again
    }

    /// Nearest common ancestor.
    fn meet(&self, mut a: u32, mut b: u32) -> u32 {
        while a != b {
            if a == EXIT || b == EXIT {
                return EXIT;
            }
            if self.number[a as usize] > self.number[b as usize] {
                a = self.parent[a as usize];
            } else {
                b = self.parent[b as usize];
            }
        }
        a
    }

    /// Returns true if every way from `block` to an exit passes `candidate`; false if either never reaches an
    /// exit.
    pub fn postdominates(&self, candidate: BlockId, block: BlockId) -> bool {
        let number = self.number[candidate.index()];
        if number == UNREACHED || self.number[block.index()] == UNREACHED {
            return false;
        }
        let mut at = block.index();
        // Parents have smaller numbers, so this ends.
        while self.number[at] > number {
            match self.parent[at] {
                EXIT | NOT_YET => return false,
                parent => at = parent as usize,
            }
        }
        at == candidate.index()
    }

    /// Reverse postorder of a walk over the reversed edges, from all exits.
    fn reverse_order(
        &mut self,
        graph: &impl FlowGraph,
        predecessors: &Rows<BlockId>,
        order: &mut Vec<BlockId>,
    ) {
        let blocks = graph.num_blocks();
        // The numbers serve as marks for now.
        self.number.resize(blocks, UNREACHED);
        order.clear();
        for exit in (0..blocks).map(BlockId::new) {
            if !graph.successors(exit).is_empty() {
                continue;
            }
            self.number[exit.index()] = 0;
            self.stack.push((exit, 0));
            while let Some(top) = self.stack.last_mut() {
                let Some(&next) = predecessors[top.0.index()].get(top.1 as usize) else {
                    order.push(top.0);
                    self.stack.pop();
                    continue;
                };
                top.1 += 1;
                if self.number[next.index()] == UNREACHED {
                    self.number[next.index()] = 0;
                    self.stack.push((next, 0));
                }
            }
        }
        order.reverse();
    }
}
