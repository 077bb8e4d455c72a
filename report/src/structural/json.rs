//! The key `structural` of a method in the JSON report, as `docs/schema` has it.

use serde::Serialize;
use trodden_insight::structural::{GraphView, Spot, StructuralStep, StructureView};
use trodden_profile::BlockExit;

use super::text;

#[derive(Serialize)]
pub(crate) struct Graph {
    parent: Option<usize>,
    depth: usize,
    header: Option<Point>,
    windows: u64,
    local: u64,
    global: u64,
    coefficient: Option<f64>,
    by_rate: bool,
    possible_paths: u64,
    paths: Vec<Path>,
}

#[derive(Serialize)]
struct Point {
    line: Option<u32>,
    bci: u32,
}

#[derive(Serialize)]
struct Path {
    id: u64,
    local: u64,
    global: u64,
    share: f64,
    text: String,
    steps: Vec<Step>,
}

#[derive(Serialize)]
struct Step {
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    graph: Option<usize>,
    #[serde(flatten)]
    at: Option<Point>,
}

pub(crate) fn graphs(view: &StructureView, limit: usize) -> Vec<Graph> {
    view.graphs.iter().map(|graph| one(graph, limit)).collect()
}

fn one(graph: &GraphView, limit: usize) -> Graph {
    let paths = graph.paths.iter().take(limit).map(|path| Path {
        id: path.number,
        local: path.local,
        global: path.global,
        share: text::fraction(graph, path),
        text: text::route(path),
        steps: path.steps.iter().map(step).collect(),
    });
    Graph {
        parent: graph.parent,
        depth: graph.depth,
        header: graph.header.map(point),
        windows: graph.windows,
        local: graph.local,
        global: graph.global,
        coefficient: graph.coefficient(),
        by_rate: graph.by_rate,
        possible_paths: graph.possible,
        paths: paths.collect(),
    }
}

fn point(spot: Spot) -> Point {
    Point {
        line: spot.line,
        bci: spot.bci,
    }
}

fn step(step: &StructuralStep) -> Step {
    let (kind, graph, at) = match *step {
        StructuralStep::Enter(at) => ("enter", None, Some(at)),
        StructuralStep::Again(at) => ("again", None, Some(at)),
        StructuralStep::Block(at) => ("block", None, Some(at)),
        StructuralStep::Loop(graph, at) => ("loop", Some(graph), Some(at)),
        StructuralStep::Back(at) => ("back", None, Some(at)),
        StructuralStep::Leave(at) => ("leave", None, Some(at)),
        StructuralStep::Exit(BlockExit::Throw, at) => ("throw", None, Some(at)),
        StructuralStep::Exit(_, at) => ("return", None, Some(at)),
        StructuralStep::Cut => ("cut", None, None),
    };
    Step {
        kind,
        graph,
        at: at.map(point),
    }
}
