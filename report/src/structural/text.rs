//! Structural paths in words.

use trodden_insight::structural::{GraphView, StructuralPathView, StructuralStep, StructureView};
use trodden_profile::{BlockExit, Place};

use crate::words::{percent, thousands};

/// Line, or bytecode index.
fn place(spot: Place) -> String {
    match spot.line {
        Some(line) => line.to_string(),
        None => format!("@{}", spot.bci),
    }
}

/// A graph's name.
pub(crate) fn name(graph: &GraphView) -> String {
    match graph.header {
        Some(header) => format!("loop at {}", place(header)),
        None => "outline".to_owned(),
    }
}

/// A path as a row of lines: `enter 12 → 13 → [loop at 14] → back to 12`. Blocks that begin on the line before are not repeated.
pub(crate) fn route(path: &StructuralPathView) -> String {
    let mut words: Vec<String> = Vec::new();
    let mut last = None;
    for step in &path.steps {
        let (word, at) = match *step {
            StructuralStep::Enter(at) => (format!("enter {}", place(at)), Some(at)),
            StructuralStep::Again(at) => (format!("again {}", place(at)), Some(at)),
            StructuralStep::Block(at) if last.is_some_and(|l: Place| same(l, at)) => continue,
            StructuralStep::Block(at) => (place(at), Some(at)),
            StructuralStep::Loop(_, at) => (format!("[loop at {}]", place(at)), None),
            StructuralStep::Back(at) => (format!("back to {}", place(at)), None),
            StructuralStep::Leave(at) => (format!("out to {}", place(at)), None),
            StructuralStep::Exit(BlockExit::Throw, at) => (format!("throw {}", place(at)), None),
            StructuralStep::Exit(_, at) => (format!("return {}", place(at)), None),
            StructuralStep::Cut => ("…".to_owned(), None),
        };
        words.push(word);
        last = at;
    }
    words.join(" → ")
}

fn same(one: Place, other: Place) -> bool {
    one.line.is_some() && one.line == other.line
}

/// The counts of a graph, in one line.
pub(crate) fn counted(graph: &GraphView) -> String {
    let scale = match (graph.coefficient(), graph.parent, graph.by_rate) {
        (None, ..) => "in no window".to_owned(),
        (Some(_), None, _) => format!("{} in the run", thousands(graph.global)),
        (Some(c), Some(_), false) => {
            format!("about {} in the run (each for {c:.2})", thousands(graph.global))
        }
        (Some(_), Some(_), true) => format!("about {} in the run (by its rate)", thousands(graph.global)),
    };
    format!("{} paths counted, {scale}", thousands(graph.local))
}

/// Lines for a terminal: each graph with its hottest path, inner loops further in; each line with its indentation.
pub(crate) fn lines(view: &StructureView, paths: usize) -> Vec<(usize, String)> {
    let mut lines = vec![(3, "loops, each counted separately:".to_owned())];
    for graph in view.graphs.iter().filter(|graph| graph.local > 0) {
        let indent = 3 + 2 * graph.depth;
        lines.push((indent, format!("{}: {}", name(graph), counted(graph))));
        for path in graph.paths.iter().take(paths) {
            lines.push((indent + 4, format!("{} {}", share(graph, path), route(path))));
        }
    }
    lines
}

/// A path's share of its graph.
pub(crate) fn share(graph: &GraphView, path: &StructuralPathView) -> String {
    percent(fraction(graph, path))
}

/// The same as a number from 0 to 1.
pub(crate) fn fraction(graph: &GraphView, path: &StructuralPathView) -> f64 {
    match (graph.global, graph.local) {
        (0, 0) => 0.0,
        (0, local) => path.local as f64 / local as f64,
        (global, _) => path.global as f64 / global as f64,
    }
}
