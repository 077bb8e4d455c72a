//! Numbers of paths and of instrumentation points, structural against Ball-Larus path profiling, as in table 1 of Yasue et al.,
//! *Structural Path Profiling*. Over the methods that a profile has counts of.
//!
//! `cargo run -p trodden-profile --example structures -- NAME=FILE.trodden …` prints the table in Markdown.
//!
//! *Points* are the places where something is done to a path register or counter, each counted once, whatever is done there. Of a Ball-Larus graph: the
//! method's entry, handlers, edges whose value is not 0, loop headers and cut points (count and start again), exits (count). Of
//! a structure graph: places where it is entered, handlers, edges whose value is not 0, its header if a back edge leads there, cut points, places
//! that it is left to, exits.

use trodden_numbering::structure::{Node, Structure, StructureGraph};
use trodden_numbering::{BlockId, EdgeWeights, FlowGraph, NumberingOptions, PathDag, StartKind};
use trodden_profile::{MethodMap, Profile};

/// Methods with more paths than that in either kind are left out: a few of them would be all that the sums show.
const MOST: u64 = 4096;

#[derive(Default)]
struct Sums {
    methods: u64,
    loops: u64,
    /// Structural, Ball-Larus.
    paths: [u64; 2],
    points: [u64; 2],
    left_out: u64,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!(
        "| | methods | of these with loops | left out | paths, SPP | paths, BPP | SPP / BPP | points, SPP | points, BPP | SPP / BPP |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    for argument in std::env::args().skip(1) {
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
        let ratio = |[s, b]: [u64; 2]| s as f64 / b as f64;
        println!(
            "| {name} | {} | {} | {} | {} | {} | {:.2} | {} | {} | {:.2} |",
            sums.methods,
            sums.loops,
            sums.left_out,
            sums.paths[0],
            sums.paths[1],
            ratio(sums.paths),
            sums.points[0],
            sums.points[1],
            ratio(sums.points),
        );
    }
    Ok(())
}

fn add(sums: &mut Sums, map: &MethodMap) -> Result<(), Box<dyn std::error::Error>> {
    let weights = EdgeWeights::uniform(&map.graph);
    let structure = Structure::build(&map.graph, &weights, &NumberingOptions::default())?;
    let paths = [structure.num_paths(), map.num_paths()];
    if paths.iter().any(|&paths| paths > MOST) {
        sums.left_out += 1;
        return Ok(());
    }
    let of_structure: u64 = structure.graphs().iter().map(structural_points).sum();
    let points = [of_structure, ball_larus_points(&map.graph, &map.dag)];
    sums.methods += 1;
    sums.loops += u64::from(structure.graphs().len() > 1);
    for kind in 0..2 {
        sums.paths[kind] += paths[kind];
        sums.points[kind] += points[kind];
    }
    Ok(())
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
