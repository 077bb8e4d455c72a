//! Numbers of paths and of instrumentation points, structural against Ball-Larus path profiling, as in table
//! 1 of Yasue et al., *Structural Path Profiling*. Over the methods that a profile has counts of.
//!
//! Ball-Larus paths are counted in two ways: *at back edges*, as the paper does and Ball and Larus did, so
//! that a path may run through a loop's header from outside, and *at headers*, as here (PEP section 3), where
//! every path ends.
//!
//! *Points* are the places that change a path register or a counter, each counted once. Of a Ball-Larus
//! graph: the method's entry, handlers, edges whose value is not 0, back edges, or loop headers and cut
//! points (count and start again), exits (count). Of a structure graph: places where it is entered, handlers,
//! edges whose value is not 0, its header if a back edge leads there, cut points, places where it is left,
//! exits.

use std::collections::{HashMap, HashSet};

use trodden_numbering::structure::{Node, Structure, StructureGraph};
use trodden_numbering::{BlockId, EdgeWeights, FlowGraph, NumberingOptions, PathDag, StartKind};
use trodden_profile::{MethodMap, Profile};

/// Methods with more paths than that in either kind are left out: a few of them would be all that the sums
/// show.
const MOST: u64 = 4096;

#[derive(Default)]
struct Sums {
    methods: u64,
    loops: u64,
    /// Structural, Ball-Larus cut at back edges, Ball-Larus cut at headers.
    paths: [u64; 3],
    points: [u64; 3],
    left_out: u64,
}

/// Prints the table, a line for each `NAME=FILE`.
pub fn run(profiles: &[String]) -> Result<(), Box<dyn std::error::Error>> {
    println!(
        "| | methods | of these with loops | left out | paths, SPP | paths, BPP at back edges | SPP / BPP | at headers | SPP / BPP | points, SPP | points, BPP at back edges | SPP / BPP | at headers | SPP / BPP |"
    );
    println!("|{}", " --- |".repeat(14));
    for argument in profiles {
        let (name, file) = argument.split_once('=').ok_or("arguments are NAME=FILE")?;
        let profile = Profile::load(file)?;
        let mut sums = Sums::default();
        for class in &profile.classes {
            for (map, counts) in class.map.methods.iter().zip(&class.counts) {
                if counts.total() > 0 {
                    add(&mut sums, map)?;
                }
            }
        }
        let columns = |[s, back, header]: [u64; 3]| {
            let ratio = |b: u64| s as f64 / b as f64;
            format!(
                "{s} | {back} | {:.2} | {header} | {:.2}",
                ratio(back),
                ratio(header)
            )
        };
        println!(
            "| {name} | {} | {} | {} | {} | {} |",
            sums.methods,
            sums.loops,
            sums.left_out,
            columns(sums.paths),
            columns(sums.points),
        );
    }
    Ok(())
}

fn add(sums: &mut Sums, map: &MethodMap) -> Result<(), Box<dyn std::error::Error>> {
    let weights = EdgeWeights::uniform(&map.graph);
    let structure = Structure::build(&map.graph, &weights, &NumberingOptions::default())?;
    let back = BackEdges::of(&map.graph);
    let paths = [structure.num_paths(), back.paths(), map.num_paths()];
    if paths.iter().any(|&paths| paths > MOST) {
        sums.left_out += 1;
        return Ok(());
    }
    let of_structure: u64 = structure.graphs().iter().map(structural_points).sum();
    let points = [
        of_structure,
        back.points(),
        ball_larus_points(&map.graph, &map.dag),
    ];
    sums.methods += 1;
    sums.loops += u64::from(structure.graphs().len() > 1);
    for kind in 0..3 {
        sums.paths[kind] += paths[kind];
        sums.points[kind] += points[kind];
    }
    Ok(())
}

/// A graph cut at its back edges (those that lead to a block that the search is inside of).
struct BackEdges<'g, G> {
    graph: &'g G,
    /// Blocks that were reached, each after all that it leads to but by back edges.
    order: Vec<BlockId>,
    back: HashSet<(BlockId, usize)>,
}

impl<'g, G: FlowGraph> BackEdges<'g, G> {
    fn of(graph: &'g G) -> Self {
        let mut found = BackEdges {
            graph,
            order: Vec::new(),
            back: HashSet::new(),
        };
        let (mut seen, mut inside) = (HashSet::new(), HashSet::new());
        for start in std::iter::once(graph.entry()).chain(graph.extra_starts().iter().copied()) {
            if !seen.insert(start) {
                continue;
            }
            inside.insert(start);
            let mut stack = vec![(start, 0)];
            while let Some((block, next)) = stack.pop() {
                let Some(&to) = graph.successors(block).get(next) else {
                    inside.remove(&block);
                    found.order.push(block);
                    continue;
                };
                stack.push((block, next + 1));
                if inside.contains(&to) {
                    found.back.insert((block, next));
                } else if seen.insert(to) {
                    inside.insert(to);
                    stack.push((to, 0));
                }
            }
        }
        found
    }

    /// Out-edges of a block that are not back edges.
    fn forward(&self, block: BlockId) -> impl Iterator<Item = BlockId> + '_ {
        let edges = self.graph.successors(block).iter().enumerate();
        edges.filter_map(move |(index, &to)| (!self.back.contains(&(block, index))).then_some(to))
    }

    /// Ball-Larus paths: from the entry, a handler or a loop's header to an exit or a back edge. Ball and
    /// Larus (1996), section 3.5.
    fn paths(&self) -> u64 {
        let mut from: HashMap<BlockId, u64> = HashMap::new();
        for &block in &self.order {
            let degree = self.graph.successors(block).len();
            let ends = degree - self.forward(block).count() + usize::from(degree == 0);
            let on: u64 = self
                .forward(block)
                .map(|to| from[&to])
                .fold(0, u64::saturating_add);
            from.insert(block, on.saturating_add(ends as u64));
        }
        let headers = self
            .back
            .iter()
            .map(|&(block, index)| self.graph.successors(block)[index]);
        let mut starts: HashSet<BlockId> = headers.collect();
        starts.extend(self.graph.extra_starts());
        let sum = starts
            .iter()
            .map(|start| from[start])
            .fold(0, u64::saturating_add);
        // A header at the entry is a start of both kinds.
        sum.saturating_add(from[&self.graph.entry()])
    }

    /// Of each block's forward edges one has the value 0.
    fn points(&self) -> u64 {
        let valued = |&block: &BlockId| self.forward(block).count().saturating_sub(1);
        let valued: usize = self.order.iter().map(valued).sum();
        let exits = self
            .order
            .iter()
            .filter(|&&block| self.graph.successors(block).is_empty());
        (1 + self.graph.extra_starts().len() + valued + self.back.len() + exits.count()) as u64
    }
}

/// Edges with a value, which both kinds have in common.
fn valued_edges(graph: &impl FlowGraph, dag: &PathDag) -> u64 {
    let blocks = (0..graph.num_blocks()).map(BlockId::new);
    let valued = |block| dag.values(block).iter().filter(|&&value| value != 0).count() as u64;
    blocks.map(valued).sum()
}

fn handlers(dag: &PathDag) -> u64 {
    dag.starts()
        .iter()
        .filter(|s| s.kind == StartKind::Handler)
        .count() as u64
}

/// Blocks where paths end on arrival.
fn ends(graph: &impl FlowGraph, dag: &PathDag) -> u64 {
    let blocks = (0..graph.num_blocks()).map(BlockId::new);
    blocks.filter(|&block| dag.end_cause(block).is_some()).count() as u64
}

fn ball_larus_points(graph: &impl FlowGraph, dag: &PathDag) -> u64 {
    let blocks = (0..graph.num_blocks()).map(BlockId::new);
    let exits = blocks.filter(|&block| graph.successors(block).is_empty()).count() as u64;
    1 + handlers(dag) + valued_edges(graph, dag) + ends(graph, dag) + exits
}

fn structural_points(of: &StructureGraph) -> u64 {
    let dummies = |node: &&Node| matches!(node, Node::Enter(_) | Node::Back(_) | Node::Leave(_));
    let dummies = of.nodes().iter().filter(dummies).count() as u64;
    let exits = (0..of.nodes().len()).filter(|&n| {
        matches!(of.nodes()[n], Node::Block(_)) && of.graph().successors(BlockId::new(n)).is_empty()
    });
    // Handlers among the starts, without the dummy nodes (which are numbered as extra starts as well).
    let starts = of.dag().starts().iter().filter(|s| {
        s.kind == StartKind::Handler
            && !matches!(of.nodes()[s.block.index()], Node::Enter(_) | Node::Again(_))
    });
    dummies
        + starts.count() as u64
        + valued_edges(of.graph(), of.dag())
        + ends(of.graph(), of.dag())
        + exits.count() as u64
}
