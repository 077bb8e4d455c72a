//! The key `structural` of a method in the JSON report, as `docs/schema` has it.

use serde::Serialize;
use trodden_insight::structural::{GraphView, StructuralStep, StructureView};
use trodden_profile::{BlockExit, Place};

use super::text;
use crate::object::{Each, Fields, Object, object};

pub(crate) fn graphs(view: &StructureView, limit: usize) -> impl Serialize {
    Each(view.graphs.iter().map(move |graph| one(graph, limit)))
}

fn one(graph: &GraphView, limit: usize) -> impl Serialize {
    let paths = graph.paths.iter().take(limit).map(|path| {
        object! {
            "id": path.number,
            "local": path.local,
            "global": path.global,
            "share": text::fraction(graph, path),
            "text": text::route(path),
            "steps": Each(path.steps.iter().map(step)),
        }
    });
    object! {
        "parent": graph.parent,
        "depth": graph.depth,
        "header": graph.header.map(point),
        "windows": graph.windows,
        "local": graph.local,
        "global": graph.global,
        "coefficient": graph.coefficient(),
        "by_rate": graph.by_rate,
        "possible_paths": graph.possible,
        "paths": paths.collect::<Vec<_>>(),
    }
}

fn point(at: Place) -> Object<impl Fields> {
    object! { "line": at.line, "bci": at.bci }
}

fn step(step: &StructuralStep) -> impl Serialize + use<> {
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
    object! { "kind": kind, "graph"?: graph, ..at.map(point) }
}
