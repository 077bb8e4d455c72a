//! Loops of a method, each with the paths through it: structural path profiles (Yasue et al., *Structural Path Profiling*, figure 7).

use std::cmp::Reverse;

use trodden_numbering::FlowGraph;
use trodden_numbering::structure::{Node, StructuralPath, Structure, StructureGraph};
use trodden_profile::structural::{GraphCounts, MethodStructure, structure_of};
use trodden_profile::{BlockExit, MethodMap, Place};

/// The structure graphs of a method with their counts.
#[derive(Debug)]
pub struct StructureView {
    /// The outline first, each loop after the graph that it is a node of.
    pub graphs: Vec<GraphView>,
}

/// One structure graph: the outline of a method, or a loop.
#[derive(Debug)]
pub struct GraphView {
    /// Index of the graph in which this loop is a node; none for the outline.
    pub parent: Option<usize>,
    /// How many loops are around its blocks.
    pub depth: usize,
    /// Where the loop's header begins; none for the outline.
    pub header: Option<Place>,
    /// Windows that were filled.
    pub windows: u64,
    /// Paths counted in windows.
    pub local: u64,
    /// Paths estimated for the whole run.
    pub global: u64,
    /// Was it scaled by its own rate, and not by how often it is entered?
    pub by_rate: bool,
    /// Number of its paths.
    pub possible: u64,
    /// Those that were seen, hottest first.
    pub paths: Vec<StructuralPathView>,
}

/// A path through a structure graph.
#[derive(Debug)]
pub struct StructuralPathView {
    /// Its number in the graph.
    pub number: u64,
    /// In windows.
    pub local: u64,
    /// In the whole run.
    pub global: u64,
    /// Its nodes.
    pub steps: Vec<StructuralStep>,
}

/// A node of a structural path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StructuralStep {
    /// The method, or the loop, is entered here.
    Enter(Place),
    /// Begins behind a back edge.
    Again(Place),
    /// A block.
    Block(Place),
    /// Once through an inner loop, by the index of its graph.
    Loop(usize, Place),
    /// Ends at a back edge to this header.
    Back(Place),
    /// The loop is left, towards here.
    Leave(Place),
    /// Ends in this block by a return, or by a throw.
    Exit(BlockExit, Place),
    /// Cut off, to keep numbers small.
    Cut,
}

impl GraphView {
    /// The number of executions in the whole run per counted local path; none if none was counted.
    pub fn coefficient(&self) -> Option<f64> {
        (self.local > 0).then(|| self.global as f64 / self.local as f64)
    }
}

impl StructureView {
    /// `None` if the graphs do not fit the method: a file that was read has been checked.
    pub fn new(map: &MethodMap, counts: &MethodStructure) -> Option<Self> {
        let structure = structure_of(&map.graph).ok()?;
        let graphs = structure.graphs().iter().zip(&counts.graphs);
        let view = |(graph, counts)| graph_view(map, &structure, graph, counts);
        Some(StructureView {
            graphs: graphs.map(view).collect(),
        })
    }
}

fn graph_view(
    map: &MethodMap,
    structure: &Structure,
    graph: &StructureGraph,
    counts: &GraphCounts,
) -> GraphView {
    let mut paths: Vec<StructuralPathView> = Vec::new();
    let mut numbers: Vec<u64> = counts.local.keys().chain(counts.global.keys()).copied().collect();
    numbers.sort_unstable();
    numbers.dedup();
    for number in numbers {
        let Ok(path) = graph.path(number) else { continue };
        paths.push(StructuralPathView {
            number,
            local: counts.local.get(&number).copied().unwrap_or(0),
            global: counts.global.get(&number).copied().unwrap_or(0),
            steps: steps(map, structure, &path),
        });
    }
    paths.sort_by_key(|path| (Reverse(path.global), Reverse(path.local), path.number));
    GraphView {
        parent: graph.parent(),
        depth: graph.depth(),
        header: graph.header().map(|header| place(map, header.index())),
        windows: counts.windows,
        local: counts.local_total(),
        global: counts.global_total(),
        by_rate: counts.by_rate,
        possible: graph.dag().num_paths(),
        paths,
    }
}

fn place(map: &MethodMap, block: usize) -> Place {
    map.place(map.blocks.get(block).map_or(0, |block| block.start))
}

fn steps(map: &MethodMap, structure: &Structure, path: &StructuralPath) -> Vec<StructuralStep> {
    let at = |block: trodden_numbering::BlockId| place(map, block.index());
    let step = |node: &Node| match *node {
        Node::Enter(block) => StructuralStep::Enter(at(block)),
        Node::Again(block) => StructuralStep::Again(at(block)),
        Node::Block(block) if map.graph.successors(block).is_empty() => {
            let exit = map
                .blocks
                .get(block.index())
                .map_or(BlockExit::Return, |b| b.exit);
            StructuralStep::Exit(exit, at(block))
        }
        Node::Block(block) => StructuralStep::Block(at(block)),
        Node::Loop(inner) => {
            let header = structure.graphs().get(inner).and_then(StructureGraph::header);
            StructuralStep::Loop(inner, at(header.unwrap_or_default()))
        }
        Node::Back(block) => StructuralStep::Back(at(block)),
        Node::Leave(block) => StructuralStep::Leave(at(block)),
    };
    let mut steps: Vec<StructuralStep> = path.nodes.iter().map(step).collect();
    steps.extend(path.cut.map(|_| StructuralStep::Cut));
    steps
}
