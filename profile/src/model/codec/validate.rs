//! The rules of the data model, for the run, path maps and counts; other kinds of data have their own
//! ([`Section::check`](crate::model::section::Section::check)). A reader checks them on what it reads, a writer on what
//! it is given, so that whatever is in a file can be described without a panic.

use trodden_numbering::{BlockId, FlowGraph, StartKind};

use super::error::{Checked, Problem};
use crate::model::counts::MethodCounts;
use crate::model::fault::{Fault, ensure};
use crate::model::map::{BlockExit, MethodMap};
use crate::model::profile::{ClassProfile, RunInfo};

pub(crate) fn run(run: &RunInfo) -> Checked {
    Ok(Fault::seconds("time of the run", run.seconds)?)
}

pub(crate) fn class(class: &ClassProfile) -> Checked {
    let ClassProfile { map, counts } = class;
    Fault::sizes(
        "counts of methods",
        counts.len(),
        "methods in the path map",
        map.methods.len(),
    )
    .map_err(|fault| Problem::of_class(&map.name, fault))?;
    for (own, counts) in map.methods.iter().zip(counts) {
        method(own, counts).map_err(|fault| Problem::of_method(&map.name, own, fault))?;
    }
    Ok(())
}

fn method(map: &MethodMap, counts: &MethodCounts) -> Result<(), Fault> {
    let blocks = map.blocks.len();
    let exists = |block: BlockId, what| {
        ensure(block.index() < blocks, || {
            Fault::NoBlock(what, block.index(), blocks)
        })
    };
    Fault::sizes(
        "blocks of the graph",
        map.graph.num_blocks(),
        "blocks of the map",
        blocks,
    )?;
    exists(map.graph.entry(), "entry block")?;
    for &start in map.graph.extra_starts() {
        exists(start, "handler block")?;
    }
    let mut last_start = None;
    for (index, info) in map.blocks.iter().enumerate() {
        let id = BlockId::new(index);
        let successors = map.graph.successors(id);
        let ordered = info.start <= info.last && info.last <= info.end && Some(info.start) >= last_start;
        ensure(ordered, || Fault::Indices(index, info.start, info.last, info.end))?;
        last_start = Some(info.start);
        Fault::sizes(
            "labels of a block",
            info.labels.len(),
            "successors",
            successors.len(),
        )?;
        Fault::sizes(
            "values of a block",
            map.dag.values(id).len(),
            "successors",
            successors.len(),
        )?;
        let leaves = matches!(info.exit, BlockExit::Return | BlockExit::Throw);
        ensure(!leaves || successors.is_empty(), || Fault::Leaves(index))?;
        for &to in successors {
            exists(to, "successor block")?;
        }
    }
    for start in map.dag.starts() {
        exists(start.block, "start block")?;
        let last = start.value.checked_add(start.paths);
        ensure(last.is_some(), || Fault::TooWide("path of a start", 64))?;
        let restarts = matches!(start.kind, StartKind::Header | StartKind::Cut);
        let ends = map.dag.end_cause(start.block).is_some();
        ensure(!restarts || ends, || Fault::Restart(start.block.index()))?;
    }
    Fault::order("line entries", map.lines.is_sorted_by_key(|e| e.bci))?;
    Fault::order("unobserved paths", map.unobserved.is_sorted_by(|a, b| a < b))?;
    for &(block, _) in counts.partial.keys() {
        exists(BlockId::new(block as usize), "block of a partial path")?;
    }
    Ok(())
}
