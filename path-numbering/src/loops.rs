//! Loops and postdominators, as far as the branch heuristics ask for them.

use crate::dag::DepthFirst;
use crate::graph::{BlockId, FlowGraph};

/// Total size of all loop bodies after which further loops are left out: only code with thousands of loops
/// inside each other gets there, and a missing loop costs a prediction, not correctness.
const MAX_MEMBERSHIPS: usize = 1 << 23;

/// The loops of a graph: one per target of a retreating edge.
pub(crate) struct Loops {
    /// Per block: the headers of the loops around it, in ascending order. A header is in its own loop.
    around: Vec<Vec<BlockId>>,
    header: Vec<bool>,
    postorder: Vec<BlockId>,
    number: Vec<usize>,
}

impl Loops {
    /// Finds them. The body of a loop is what lies on a way from the header to one of its retreating edges; so
    /// a handler that jumps back into the loop does not spoil it, nor do other entries.
    pub fn find(graph: &impl FlowGraph) -> Self {
        let walk = DepthFirst::walk(graph);
        let blocks = graph.num_blocks();
        let mut predecessors = vec![Vec::new(); blocks];
        for &from in &walk.postorder {
            for to in graph.successors(from) {
                predecessors[to.index()].push(from);
            }
        }
        let mut latches: Vec<Vec<BlockId>> = vec![Vec::new(); blocks];
        for edge in &walk.retreating {
            latches[graph.successors(edge.from)[edge.index as usize].index()].push(edge.from);
        }
        let mut around = vec![Vec::new(); blocks];
        // Stamps instead of a fresh set per loop: `reaches[b] == h + 1` means b reaches a latch of h.
        let mut reaches = vec![0usize; blocks];
        let mut inside = vec![0usize; blocks];
        let mut memberships = 0;
        for header in (0..blocks).map(BlockId::new) {
            if latches[header.index()].is_empty() || memberships > MAX_MEMBERSHIPS {
                continue;
            }
            let stamp = header.index() + 1;
            reaches[header.index()] = stamp;
            let mut work = latches[header.index()].clone();
            while let Some(block) = work.pop() {
                memberships += 1;
                if reaches[block.index()] != stamp {
                    reaches[block.index()] = stamp;
                    work.extend(&predecessors[block.index()]);
                }
            }
            work.push(header);
            while let Some(block) = work.pop() {
                if reaches[block.index()] == stamp && inside[block.index()] != stamp {
                    inside[block.index()] = stamp;
                    around[block.index()].push(header);
                    work.extend(graph.successors(block));
                }
            }
        }
        let mut number = vec![usize::MAX; blocks];
        for (i, block) in walk.postorder.iter().enumerate() {
            number[block.index()] = i;
        }
        Loops {
            around,
            header: walk.retreating_target,
            postorder: walk.postorder,
            number,
        }
    }

    /// Blocks reachable from a start, each after what its non-retreating edges lead to.
    pub fn postorder(&self) -> &[BlockId] {
        &self.postorder
    }

    /// Does a loop begin at this block?
    pub fn is_header(&self, block: BlockId) -> bool {
        self.header[block.index()]
    }

    /// Is the edge `from -> to` retreating? (In a depth-first walk those are the edges to a block that is not
    /// finished earlier.)
    pub fn is_retreating(&self, from: BlockId, to: BlockId) -> bool {
        self.number[from.index()] != usize::MAX && self.number[to.index()] >= self.number[from.index()]
    }

    /// Headers of the loops that `from` is in and `to` is not.
    pub fn left_by(&self, from: BlockId, to: BlockId) -> impl Iterator<Item = BlockId> + '_ {
        self.around[from.index()]
            .iter()
            .copied()
            .filter(move |h| self.around[to.index()].binary_search(h).is_err())
    }
}

/// Immediate postdominators (Cooper, Harvey and Kennedy's iteration on the reversed graph, with one virtual exit).
pub(crate) struct Postdominators {
    /// Per block its immediate postdominator; `None` where that is the virtual exit.
    parent: Vec<Option<BlockId>>,
    /// Reverse postorder number on the reversed graph; `usize::MAX` for blocks from which no exit is reached.
    number: Vec<usize>,
}

impl Postdominators {
    pub fn find(graph: &impl FlowGraph) -> Self {
        let blocks = graph.num_blocks();
        let mut predecessors = vec![Vec::new(); blocks];
        for (edge, to) in graph.edges() {
            predecessors[to.index()].push(edge.from);
        }
        let mut number = vec![usize::MAX; blocks];
        let order = reverse_order(graph, &predecessors);
        for (i, block) in order.iter().enumerate() {
            number[block.index()] = i;
        }
        // `None`: not computed yet; `Some(None)`: the virtual exit.
        let mut parent: Vec<Option<Option<BlockId>>> = vec![None; blocks];
        let mut changed = true;
        while changed {
            changed = false;
            for &block in &order {
                let successors = graph.successors(block);
                let mut new: Option<Option<BlockId>> = successors.is_empty().then_some(None);
                for &to in successors {
                    if parent[to.index()].is_none() {
                        continue;
                    }
                    new = Some(match new {
                        None => Some(to),
                        Some(old) => meet(&parent, &number, old, Some(to)),
                    });
                }
                if new.is_some() && new != parent[block.index()] {
                    parent[block.index()] = new;
                    changed = true;
                }
            }
        }
        Postdominators {
            parent: parent.into_iter().map(Option::flatten).collect(),
            number,
        }
    }

    /// Does every way from `block` to an exit pass `candidate`? `false` if either never reaches an exit.
    pub fn postdominates(&self, candidate: BlockId, block: BlockId) -> bool {
        let number = self.number[candidate.index()];
        if number == usize::MAX || self.number[block.index()] == usize::MAX {
            return false;
        }
        let mut at = block;
        // Parents have smaller numbers, so this ends.
        while self.number[at.index()] > number {
            match self.parent[at.index()] {
                Some(parent) => at = parent,
                None => return false,
            }
        }
        at == candidate
    }
}

/// Nearest common ancestor; `None` is the virtual exit.
fn meet(
    parent: &[Option<Option<BlockId>>],
    number: &[usize],
    a: Option<BlockId>,
    b: Option<BlockId>,
) -> Option<BlockId> {
    let (mut a, mut b) = (a?, b?);
    while a != b {
        if number[a.index()] > number[b.index()] {
            a = parent[a.index()].flatten()?;
        } else {
            b = parent[b.index()].flatten()?;
        }
    }
    Some(a)
}

/// Reverse postorder of a walk over the reversed edges, from all exits.
fn reverse_order(graph: &impl FlowGraph, predecessors: &[Vec<BlockId>]) -> Vec<BlockId> {
    let blocks = graph.num_blocks();
    let mut seen = vec![false; blocks];
    let mut order = Vec::new();
    let mut stack: Vec<(BlockId, usize)> = Vec::new();
    for exit in (0..blocks).map(BlockId::new) {
        if !graph.successors(exit).is_empty() {
            continue;
        }
        seen[exit.index()] = true;
        stack.push((exit, 0));
        while let Some(top) = stack.last_mut() {
            let Some(&next) = predecessors[top.0.index()].get(top.1) else {
                order.push(top.0);
                stack.pop();
                continue;
            };
            top.1 += 1;
            if !seen[next.index()] {
                seen[next.index()] = true;
                stack.push((next, 0));
            }
        }
    }
    order.reverse();
    order
}
