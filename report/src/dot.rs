//! Control-flow graphs for Graphviz, and what kinds of data have to draw beside them.

mod syntax;

use std::collections::HashSet;
use std::fmt::Write;

use trodden_insight::view::{MethodView, View};
use trodden_numbering::{BlockId, EdgeRef, FlowGraph};

pub(crate) use syntax::{HOT, quoted};

use crate::kinds::KINDS;
use crate::layout;
use crate::section::Extent;
use crate::words::{self, thousands};

pub(crate) fn write(view: &View, extent: &Extent) -> String {
    let mut out = String::from(
        "digraph trodden {\n  node [shape=box, style=\"rounded\", fontname=\"Helvetica\"];\n  edge [fontname=\"Helvetica\", fontsize=10];\n",
    );
    if view.methods.is_empty() {
        out += "  // No path was counted.\n";
    }
    for (index, method) in view.methods.iter().take(extent.top).enumerate() {
        cluster(&mut out, index, method);
        for kind in KINDS {
            kind.dot_of_method(view, method, index, extent, &mut out);
        }
    }
    out += "}\n";
    out
}

fn cluster(out: &mut String, index: usize, view: &MethodView) {
    let graph = &view.map.graph;
    let mut title = view.title();
    let shown = if graph.num_blocks() == view.map.blocks.len() {
        layout::shown(view)
    } else {
        Vec::new()
    };
    if shown.len() < view.map.blocks.len() {
        title += &format!(
            "\n{} of {} blocks: the hot part",
            shown.len(),
            view.map.blocks.len()
        );
    }
    let hot = view.hottest();
    let hot_edges: HashSet<EdgeRef> = hot.iter().flat_map(|p| p.edges.iter().copied()).collect();
    let hot_blocks: HashSet<BlockId> = hot
        .iter()
        .flat_map(|p| p.description.blocks.iter().copied())
        .collect();
    let kept: HashSet<usize> = shown.iter().copied().collect();
    // Writing to a String cannot fail.
    let _ = writeln!(
        out,
        "  subgraph cluster_{index} {{\n    label={};",
        quoted(&title)
    );
    for &block in &shown {
        let count = view.block_count(block);
        let times = count.map_or_else(|| words::count(None), |count| format!("{}×", thousands(count)));
        let label = format!("{}\n{times}", layout::label(view, block));
        let look = match (hot_blocks.contains(&BlockId::new(block)), count) {
            (true, _) => HOT,
            (false, Some(0)) => ", style=\"rounded,dashed\", color=gray",
            _ => "",
        };
        let _ = writeln!(out, "    m{index}_b{block} [label={}{look}];", quoted(&label));
    }
    for &block in &shown {
        let from = BlockId::new(block);
        for (i, to) in graph
            .successors(from)
            .iter()
            .enumerate()
            .filter(|(_, to)| kept.contains(&to.index()))
        {
            let edge = EdgeRef {
                from,
                index: i as u32,
            };
            let count = view.edge_count(edge);
            let info = &view.map.blocks[block];
            let decides = matches!(
                info.exit,
                trodden_profile::BlockExit::Branch | trodden_profile::BlockExit::Switch
            );
            let label = match info.labels.get(i).filter(|_| decides) {
                Some(_) => {
                    let outcome = view.decisions().outcome_or_label(view.map, edge);
                    format!("{outcome}\n{}", words::count(count))
                }
                None => words::count(count),
            };
            let look = match (hot_edges.contains(&edge), count) {
                (true, _) => HOT,
                (false, Some(0)) => ", style=dashed, color=gray",
                _ => "",
            };
            let _ = writeln!(
                out,
                "    m{index}_b{block} -> m{index}_b{} [label={}{look}];",
                to.index(),
                quoted(&label)
            );
        }
    }
    *out += "  }\n";
}
