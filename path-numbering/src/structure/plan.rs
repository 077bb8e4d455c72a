//! The operations on the path registers on each edge, for all structure graphs of a method at once (SPP
//! figure 6).

use super::{Node, Structure};
use crate::dag::StartKind;
use crate::graph::{BlockId, EdgeRef, FlowGraph};
use crate::rows::Rows;

/// One step. Each structure graph has a path register of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Op {
    /// A path of this graph begins: its register gets this value.
    Set {
        /// Index of the structure graph.
        graph: usize,
        /// The start's value.
        value: u64,
    },
    /// An edge's value, never 0, is added to the register of this graph.
    Add {
        /// Index of the structure graph.
        graph: usize,
        /// The edge's value.
        value: u64,
    },
    /// A path of this graph ends: its register holds the path's number.
    End {
        /// Index of the structure graph.
        graph: usize,
    },
}

/// Where the path registers of a method are changed and read. Steps are in the order in which they are to be
/// done; no step of one graph depends on those of another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StructurePlan {
    /// When the method is entered, before its first block.
    pub entry: Vec<Op>,
    /// Per block and successor: when that edge is followed. Nothing where the block is unreachable.
    pub edges: Rows<Vec<Op>>,
    /// Per extra start, in the graph's order: when execution appears there. All graphs around it begin a
    /// path; what they had begun before is forgotten.
    pub extra_starts: Vec<(BlockId, Vec<Op>)>,
    /// Per block: when the method is left there. Nothing for blocks with successors.
    pub exits: Vec<Vec<Op>>,
}

impl StructurePlan {
    /// The plan for a structure and the graph that it was built from.
    pub fn new(structure: &Structure, graph: &impl FlowGraph) -> Self {
        let planner = Planner { structure };
        let mut entry = Vec::new();
        planner.descend(graph.entry(), None, &mut entry);
        let mut edges = Rows::default();
        let mut exits = Vec::with_capacity(graph.num_blocks());
        for from in (0..graph.num_blocks()).map(BlockId::new) {
            let successors = graph.successors(from);
            for (index, &target) in (0..).zip(successors) {
                let mut ops = Vec::new();
                planner.edge(EdgeRef { from, index }, target, &mut ops);
                edges.push(ops);
            }
            edges.end_row();
            let left = successors.is_empty().then(|| structure.around(from));
            let end = |(graph, _)| Op::End { graph };
            exits.push(left.into_iter().flatten().map(end).collect());
        }
        let extra_starts = graph.extra_starts().iter().map(|&block| {
            let mut ops = Vec::new();
            planner.appear(block, &mut ops);
            (block, ops)
        });
        StructurePlan {
            entry,
            extra_starts: extra_starts.collect(),
            edges,
            exits,
        }
    }

    /// The operations when an edge is followed.
    pub fn op(&self, edge: EdgeRef) -> &[Op] {
        &self.edges[edge.from.index()][edge.index as usize]
    }
}

struct Planner<'a> {
    structure: &'a Structure,
}

impl Planner<'_> {
    fn edge(&self, edge: EdgeRef, target: BlockId, ops: &mut Vec<Op>) {
        let around = self.structure.around(edge.from);
        let inside = self.structure.around(target);
        for (level, &(graph, node)) in around.iter().enumerate().rev() {
            let of = &self.structure.graphs[graph];
            let successors = of.graph.successors(node);
            let index = match of.node(node) {
                Node::Block(_) => edge.index,
                // A loop was left: find the merged edge that goes where this one goes.
                _ => {
                    let goes_there = |to: &BlockId| match of.node(*to) {
                        Node::Back(header) | Node::Leave(header) => header == target,
                        _ => inside.get(level).is_some_and(|&(g, n)| g == graph && n == *to),
                    };
                    let Some(index) = successors.iter().position(goes_there) else {
                        return;
                    };
                    index as u32
                }
            };
            let to = successors[index as usize];
            let value = of.dag.value(EdgeRef { from: node, index });
            if value != 0 {
                ops.push(Op::Add { graph, value });
            }
            self.arrive(graph, to, ops);
            match of.node(to) {
                Node::Back(header) => {
                    ops.push(Op::End { graph });
                    self.begin(graph, Node::Again(header), ops);
                    return;
                }
                // The path of the graph around it continues.
                Node::Leave(_) => ops.push(Op::End { graph }),
                _ => {
                    self.descend(target, Some(graph), ops);
                    return;
                }
            }
        }
    }

    /// Control appears at an exception handler, wherever it was before.
    fn appear(&self, block: BlockId, ops: &mut Vec<Op>) {
        for (graph, node) in self.structure.around(block) {
            let starts = self.structure.graphs[graph].dag.starts();
            let here = |s: &&crate::PathStart| s.block == node && s.kind == StartKind::Handler;
            if let Some(start) = starts.iter().find(here) {
                ops.push(Op::Set {
                    graph,
                    value: start.value,
                });
            }
            self.arrive(graph, node, ops);
        }
    }

    /// If the node is a cut point, a path ends and another starts.
    fn arrive(&self, graph: usize, node: BlockId, ops: &mut Vec<Op>) {
        if let Some(start) = self.structure.graphs[graph].dag.restart(node) {
            let value = start.value;
            ops.extend([Op::End { graph }, Op::Set { graph, value }]);
        }
    }

    /// Enters all loops around a block inside of a graph (none: and the outline).
    fn descend(&self, block: BlockId, from: Option<usize>, ops: &mut Vec<Op>) {
        let around = self.structure.around(block);
        let known = from.map_or(0, |from| {
            1 + around.iter().position(|&(graph, _)| graph == from).unwrap_or(0)
        });
        for &(graph, _) in &around[known..] {
            self.begin(graph, Node::Enter(block), ops);
        }
    }

    /// Starts a path at a dummy node, which has one edge, of value 0.
    fn begin(&self, graph: usize, dummy: Node, ops: &mut Vec<Op>) {
        let of = &self.structure.graphs[graph];
        let mut starts = of.dag.starts().iter();
        if let Some(start) = starts.find(|s| of.node(s.block) == dummy) {
            ops.push(Op::Set {
                graph,
                value: start.value,
            });
            self.arrive(graph, of.graph.successors(start.block)[0], ops);
        }
    }
}
