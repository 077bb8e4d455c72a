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
    /// At the method's entry, with the graph that `structure` was built from.
    pub fn new(structure: &'a Structure, graph: &'a G) -> Self {
        let mut walker = Walker {
            structure,
            graph,
            registers: vec![None; structure.graphs.len()],
        };
        walker.descend(graph.entry(), None);
        walker
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
            let sum = self.registers[graph].map(|r| r + add);
            self.registers[graph] = sum;
            match of.node(to) {
                Node::Back(header) => {
                    self.end(graph, sum, &mut ended);
                    self.begin(graph, Node::Again(header));
                    return;
                }
                // The graph around it goes on.
                Node::Leave(_) => {
                    self.end(graph, sum, &mut ended);
                    self.registers[graph] = None;
                }
                _ => {
                    if let Some(start) = of.dag.restart(to) {
                        self.end(graph, sum, &mut ended);
                        self.registers[graph] = Some(start.value);
                    }
                    self.descend(target, Some(graph));
                    return;
                }
            }
        }
    }

    /// Control appears at an exception handler, wherever it was before.
    pub fn handler(&mut self, block: BlockId) {
        self.registers.fill(None);
        for (graph, node) in self.structure.around(block) {
            let starts = self.structure.graphs[graph].dag.starts();
            let here = |s: &&crate::PathStart| s.block == node && s.kind == StartKind::Handler;
            self.registers[graph] = starts.iter().find(here).map(|s| s.value);
        }
    }

    /// The activation ends in a block without successors.
    pub fn exit(&mut self, block: BlockId, mut ended: impl FnMut(usize, u64)) {
        for (graph, _) in self.structure.around(block) {
            self.end(graph, self.registers[graph], &mut ended);
        }
        self.registers.fill(None);
    }

    fn end(&self, graph: usize, register: Option<u64>, ended: &mut impl FnMut(usize, u64)) {
        if let Some(number) = register {
            ended(graph, number);
        }
    }

    /// Enters all loops around a block inside of a graph (none: and the outline).
    fn descend(&mut self, block: BlockId, from: Option<usize>) {
        let around = self.structure.around(block);
        let known = from.map_or(0, |from| {
            1 + around.iter().position(|&(graph, _)| graph == from).unwrap_or(0)
        });
        for &(graph, _) in &around[known..] {
            self.begin(graph, Node::Enter(block));
        }
    }

    fn begin(&mut self, graph: usize, dummy: Node) {
        let of = &self.structure.graphs[graph];
        let start = of.dag.starts().iter().find(|s| of.node(s.block) == dummy);
        self.registers[graph] = start.map(|s| s.value);
    }
}
