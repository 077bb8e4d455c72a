//! From a flow graph to its structure graphs (SPP figure 4, over strongly connected parts in place of natural
//! loops).

use super::{Node, Structure, StructureGraph};
use crate::dag::{NumberingError, NumberingOptions, PathDag, validate};
use crate::graph::{BlockId, EdgeRef, EdgeWeights, FlowGraph, SimpleGraph};
use crate::walk::{DepthFirst, UNREACHED};

/// A part of the graph that awaits its structure graph.
struct Region {
    parent: Option<usize>,
    in_parent: BlockId,
    header: Option<BlockId>,
    blocks: Vec<BlockId>,
}

impl Structure {
    /// Finds all loops and numbers all graphs. The limit of the options holds for each graph. Takes time in
    /// proportion to the edges, times the depth of the loops.
    ///
    /// # Errors
    /// As [`PathDag::build`].
    pub fn build(
        graph: &impl FlowGraph,
        weights: &EdgeWeights,
        options: &NumberingOptions,
    ) -> Result<Self, NumberingError> {
        validate(graph)?;
        let walk = DepthFirst::new(graph);
        let mut builder = Builder {
            graph,
            weights,
            walk: &walk,
            predecessors: predecessors(graph, &walk),
            region: vec![usize::MAX; graph.num_blocks()],
            node: vec![BlockId::default(); graph.num_blocks()],
            regions: Vec::new(),
        };
        builder.add(Region {
            parent: None,
            in_parent: BlockId::default(),
            header: None,
            blocks: walk.postorder.iter().rev().copied().collect(),
        });
        let mut structure = Structure {
            graphs: Vec::new(),
            place: vec![None; graph.num_blocks()],
        };
        while structure.graphs.len() < builder.regions.len() {
            let next = builder.graph(
                structure.graphs.len(),
                &mut structure.place,
                &structure.graphs,
                options,
            )?;
            structure.graphs.push(next);
        }
        Ok(structure)
    }
}

/// Per block: where its in-edges come from, of reachable blocks only.
fn predecessors(graph: &impl FlowGraph, walk: &DepthFirst) -> Vec<Vec<BlockId>> {
    let mut predecessors = vec![Vec::new(); graph.num_blocks()];
    for (edge, to) in graph.edges() {
        if walk.number[edge.from.index()] != UNREACHED {
            predecessors[to.index()].push(edge.from);
        }
    }
    predecessors
}

struct Builder<'a, G> {
    graph: &'a G,
    weights: &'a EdgeWeights,
    walk: &'a DepthFirst,
    predecessors: Vec<Vec<BlockId>>,
    /// Per block: the innermost region found so far that it is in.
    region: Vec<usize>,
    /// Per block of the region at hand: its node there.
    node: Vec<BlockId>,
    regions: Vec<Region>,
}

impl<G: FlowGraph> Builder<'_, G> {
    fn add(&mut self, region: Region) -> usize {
        let index = self.regions.len();
        for block in &region.blocks {
            self.region[block.index()] = index;
        }
        self.regions.push(region);
        index
    }

    /// The structure graph of a region none of whose loops has been looked at. Its loops become regions.
    fn graph(
        &mut self,
        index: usize,
        place: &mut [Option<(usize, BlockId)>],
        before: &[StructureGraph],
        options: &NumberingOptions,
    ) -> Result<StructureGraph, NumberingError> {
        let header = self.regions[index].header;
        let blocks = std::mem::take(&mut self.regions[index].blocks);
        let mut made = Made::default();
        // Everything that asks "is it in this region?" comes before the loops become regions of their own.
        let entered: Vec<BlockId> = blocks
            .iter()
            .copied()
            .filter(|&block| {
                let outside = |from: &BlockId| self.region[from.index()] != index;
                block == self.graph.entry() || self.predecessors[block.index()].iter().any(outside)
            })
            .collect();
        let handlers = self.graph.extra_starts().iter().copied();
        let handlers: Vec<BlockId> = handlers.filter(|h| self.region[h.index()] == index).collect();
        let parts = self.strong_parts(index, header, &blocks);
        for part in &parts {
            let is_loop = part.len() > 1 || self.graph.successors(part[0]).contains(&part[0]);
            let is_loop = is_loop && Some(part[0]) != header;
            let next = self.regions.len() + made.loops.len();
            let node = made.node(if is_loop {
                Node::Loop(next)
            } else {
                Node::Block(part[0])
            });
            for block in part {
                self.node[block.index()] = node;
            }
            if is_loop {
                made.loops.push((node, part.clone()));
            } else {
                place[part[0].index()] = Some((index, node));
            }
        }
        for part in &parts {
            self.edges(index, header, part, &mut made);
        }
        for &block in &entered {
            let to = self.node[block.index()];
            made.start(Node::Enter(block), to);
        }
        if let Some(header) = header {
            let to = self.node[header.index()];
            made.start(Node::Again(header), to);
        }
        for handler in handlers {
            let at = self.node[handler.index()];
            if !made.starts.contains(&at) {
                made.starts.push(at);
            }
        }
        for (node, part) in std::mem::take(&mut made.loops) {
            let number = |block: &&BlockId| self.walk.number[block.index()];
            let header = part.iter().max_by_key(number).copied();
            self.add(Region {
                parent: Some(index),
                in_parent: node,
                header,
                blocks: part,
            });
        }
        let region = &self.regions[index];
        let entry = made.starts.remove(0);
        let graph = SimpleGraph::from_parts(entry, made.successors, made.starts);
        let dag = PathDag::build(&graph, &EdgeWeights::from_parts(made.weights), options)?;
        Ok(StructureGraph {
            parent: region.parent,
            header,
            depth: region.parent.map_or(0, |parent| before[parent].depth + 1),
            nodes: made.nodes,
            graph,
            dag,
            in_parent: region.in_parent,
        })
    }

    /// The edges that leave a block, or a loop: each of a block's own, one of a loop for each place it leads
    /// to.
    fn edges(&self, index: usize, header: Option<BlockId>, part: &[BlockId], made: &mut Made) {
        let node = self.node[part[0].index()];
        let merge = matches!(made.nodes[node.index()], Node::Loop(_));
        for &from in part {
            for (i, &target) in self.graph.successors(from).iter().enumerate() {
                let to = if Some(target) == header {
                    made.end(Node::Back(target))
                } else if self.region[target.index()] == index {
                    self.node[target.index()]
                } else {
                    made.end(Node::Leave(target))
                };
                let row = &mut made.successors[node.index()];
                if merge && (to == node || row.contains(&to)) {
                    continue;
                }
                row.push(to);
                let index = i as u32;
                let weight = if merge {
                    1.0
                } else {
                    self.weights.get(EdgeRef { from, index })
                };
                made.weights[node.index()].push(weight);
            }
        }
    }

    /// Strongly connected parts of a region without the edges to its header (Tarjan's algorithm with a stack
    /// of its own), each after everything that it leads to.
    fn strong_parts(&self, index: usize, header: Option<BlockId>, blocks: &[BlockId]) -> Vec<Vec<BlockId>> {
        const NEW: u32 = u32::MAX;
        const DONE: u32 = u32::MAX - 1;
        // Numbers in the order of discovery, dense in this region.
        let mut position = std::collections::HashMap::with_capacity(blocks.len());
        position.extend(blocks.iter().enumerate().map(|(i, &b)| (b, i)));
        let mut found = vec![NEW; blocks.len()];
        let mut low = vec![0u32; blocks.len()];
        let mut parts = Vec::new();
        let (mut open, mut stack, mut next) = (Vec::new(), Vec::new(), 0u32);
        for root in 0..blocks.len() {
            if found[root] != NEW {
                continue;
            }
            stack.push((root, 0));
            while let Some(&mut (at, ref mut edge)) = stack.last_mut() {
                if *edge == 0 && found[at] == NEW {
                    found[at] = next;
                    low[at] = next;
                    next += 1;
                    open.push(at);
                }
                let successors = self.graph.successors(blocks[at]);
                if let Some(&to) = successors.get(*edge) {
                    *edge += 1;
                    if Some(to) == header || self.region[to.index()] != index {
                        continue;
                    }
                    let to = position[&to];
                    match found[to] {
                        NEW => stack.push((to, 0)),
                        DONE => {}
                        number => low[at] = low[at].min(number),
                    }
                    continue;
                }
                stack.pop();
                if let Some(&(above, _)) = stack.last() {
                    low[above] = low[above].min(low[at]);
                }
                if low[at] == found[at] {
                    let from = open.iter().rposition(|&b| b == at).unwrap_or(0);
                    let part: Vec<usize> = open.drain(from..).collect();
                    for &block in &part {
                        found[block] = DONE;
                    }
                    parts.push(part.into_iter().map(|b| blocks[b]).collect());
                }
            }
        }
        parts
    }
}

/// A structure graph in the making.
#[derive(Default)]
struct Made {
    nodes: Vec<Node>,
    successors: Vec<Vec<BlockId>>,
    weights: Vec<Vec<f64>>,
    starts: Vec<BlockId>,
    loops: Vec<(BlockId, Vec<BlockId>)>,
    /// The dummy nodes at which paths end.
    ends: std::collections::HashMap<Node, BlockId>,
}

impl Made {
    fn node(&mut self, node: Node) -> BlockId {
        self.nodes.push(node);
        self.successors.push(Vec::new());
        self.weights.push(Vec::new());
        BlockId::new(self.nodes.len() - 1)
    }

    fn end(&mut self, node: Node) -> BlockId {
        if let Some(&known) = self.ends.get(&node) {
            return known;
        }
        let new = self.node(node);
        self.ends.insert(node, new);
        new
    }

    fn start(&mut self, node: Node, to: BlockId) {
        let dummy = self.node(node);
        self.successors[dummy.index()].push(to);
        self.weights[dummy.index()].push(1.0);
        self.starts.push(dummy);
    }
}
