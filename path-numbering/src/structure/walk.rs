//! Following an activation through all structure graphs at once: one path register each (SPP figure 6).

use super::{Node, Structure};
use crate::dag::StartKind;
use crate::graph::{BlockId, EdgeRef, FlowGraph};

/// One path register for each structure graph of a method, for one activation.
///
/// Each call hands the paths that ended, as (graph, path number), to a closure.
#[derive(Clone, Debug)]
pub struct Walker<'a, G> {
    structure: &'a Structure,
    graph: &'a G,
    registers: Vec<Option<u64>>,
}

impl<'a, G: FlowGraph> Walker<'a, G> {
    /// Before an activation, with the graph that `structure` was built from.
    pub fn new(structure: &'a Structure, graph: &'a G) -> Self {
        Walker {
            structure,
            graph,
            registers: vec![None; structure.graphs.len()],
        }
    }

    /// The method is entered. (A path ends there only if it is cut at once.)
    pub fn enter(&mut self, mut ended: impl FnMut(usize, u64)) {
        self.registers.fill(None);
        self.descend(self.graph.entry(), None, &mut ended);
    }

    /// The path register of each graph; none where no path is under way.
    pub fn registers(&self) -> &[Option<u64>] {
        &self.registers
    }

    /// An edge is followed.
    pub fn follow(&mut self, edge: EdgeRef, mut ended: impl FnMut(usize, u64)) {
        let target = self.graph.successors(edge.from)[edge.index as usize];
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
            let add = of.dag.value(EdgeRef { from: node, index });
            self.registers[graph] = self.registers[graph].map(|r| r + add);
            self.arrive(graph, to, &mut ended);
            match of.node(to) {
                Node::Back(header) => {
                    self.end(graph, &mut ended);
                    self.begin(graph, Node::Again(header), &mut ended);
                    return;
                }
                // The graph around it goes on.
                Node::Leave(_) => self.end(graph, &mut ended),
                _ => {
                    self.descend(target, Some(graph), &mut ended);
                    return;
                }
            }
        }
    }

    /// Control appears at an exception handler, wherever it was before. (A path ends there only if it is cut at once.)
    pub fn handler(&mut self, block: BlockId, mut ended: impl FnMut(usize, u64)) {
        self.registers.fill(None);
        for (graph, node) in self.structure.around(block) {
            let starts = self.structure.graphs[graph].dag.starts();
            let here = |s: &&crate::PathStart| s.block == node && s.kind == StartKind::Handler;
            self.registers[graph] = starts.iter().find(here).map(|s| s.value);
            self.arrive(graph, node, &mut ended);
        }
    }

    /// The activation ends in a block without successors.
    pub fn exit(&mut self, block: BlockId, mut ended: impl FnMut(usize, u64)) {
        for (graph, _) in self.structure.around(block) {
            self.end(graph, &mut ended);
        }
        self.registers.fill(None);
    }

    fn end(&mut self, graph: usize, ended: &mut impl FnMut(usize, u64)) {
        if let Some(number) = self.registers[graph].take() {
            ended(graph, number);
        }
    }

    /// If the node is a cut point, a path ends and another starts.
    fn arrive(&mut self, graph: usize, node: BlockId, ended: &mut impl FnMut(usize, u64)) {
        if let Some(start) = self.structure.graphs[graph].dag.restart(node) {
            self.end(graph, ended);
            self.registers[graph] = Some(start.value);
        }
    }

    /// Enters all loops around a block inside of a graph (none: and the outline).
    fn descend(&mut self, block: BlockId, from: Option<usize>, ended: &mut impl FnMut(usize, u64)) {
        let around = self.structure.around(block);
        let known = from.map_or(0, |from| {
            1 + around.iter().position(|&(graph, _)| graph == from).unwrap_or(0)
        });
        for &(graph, _) in &around[known..] {
            self.begin(graph, Node::Enter(block), ended);
        }
    }

    /// Starts a path at a dummy node, which has one edge, of value 0.
    fn begin(&mut self, graph: usize, dummy: Node, ended: &mut impl FnMut(usize, u64)) {
        let of = &self.structure.graphs[graph];
        let mut starts = of.dag.starts().iter();
        if let Some(start) = starts.find(|s| of.node(s.block) == dummy) {
            self.registers[graph] = Some(start.value);
            self.arrive(graph, of.graph.successors(start.block)[0], ended);
        }
    }
}
