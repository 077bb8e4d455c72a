//! The rules of the data model, for the run, path maps and counts; other kinds of data have their own
//! ([`Section::check`](crate::model::section::Section::check)). A reader checks them on what it reads, a writer on what
//! it is given, so that whatever is in a file can be described without a panic.

use trodden_numbering::{BlockId, FlowGraph, StartKind};

use super::error::Problem;
use crate::model::counts::MethodCounts;
use crate::model::map::{BlockExit, ClassMap, MethodMap};
use crate::model::profile::{ClassProfile, RunInfo};

pub(crate) fn run(run: &RunInfo) -> Result<(), Problem> {
    if run.seconds.is_finite() && run.seconds >= 0.0 {
        return Ok(());
    }
    let what = format!("{} is no duration in seconds", run.seconds);
    Err(Problem::bare(what))
}

pub(crate) fn class(class: &ClassProfile) -> Result<(), Problem> {
    if class.counts.len() != class.map.methods.len() {
        return Err(Problem {
            class: Some(class.map.name.clone()),
            method: None,
            what: format!(
                "{} methods have counts, but the path map has {}",
                class.counts.len(),
                class.map.methods.len()
            ),
        });
    }
    for (map, counts) in class.map.methods.iter().zip(&class.counts) {
        method(map, counts).map_err(|what| in_method(&class.map, map, what))?;
    }
    Ok(())
}

fn in_method(class: &ClassMap, method: &MethodMap, what: String) -> Problem {
    Problem {
        class: Some(class.name.clone()),
        method: Some(format!("{}{}", method.name, method.descriptor)),
        what,
    }
}

pub(super) fn method(map: &MethodMap, counts: &MethodCounts) -> Result<(), String> {
    let blocks = map.blocks.len();
    let exists = |b: BlockId, what: &str| {
        if b.index() < blocks {
            Ok(())
        } else {
            Err(format!(
                "{what} {} does not exist (of {blocks} blocks)",
                b.index()
            ))
        }
    };
    if map.graph.num_blocks() != blocks {
        return Err(format!(
            "the graph has {} blocks, the map {blocks}",
            map.graph.num_blocks()
        ));
    }
    exists(map.graph.entry(), "entry block")?;
    for &start in map.graph.extra_starts() {
        exists(start, "handler block")?;
    }
    let mut last_start = None;
    for (index, info) in map.blocks.iter().enumerate() {
        let id = BlockId::new(index);
        let successors = map.graph.successors(id);
        let ordered = info.start <= info.last && info.last <= info.end && Some(info.start) >= last_start;
        if !ordered {
            return Err(format!(
                "block {index} has impossible bytecode indices (start {}, last {}, end {})",
                info.start, info.last, info.end
            ));
        }
        last_start = Some(info.start);
        if info.labels.len() != successors.len() || map.dag.values(id).len() != successors.len() {
            return Err(format!(
                "block {index} has {} successors, {} labels and {} values",
                successors.len(),
                info.labels.len(),
                map.dag.values(id).len()
            ));
        }
        if matches!(info.exit, BlockExit::Return | BlockExit::Throw) && !successors.is_empty() {
            return Err(format!("block {index} leaves the method, but has successors"));
        }
        for &to in successors {
            exists(to, "successor block")?;
        }
    }
    for start in map.dag.starts() {
        exists(start.block, "start block")?;
        if start.value.checked_add(start.paths).is_none() {
            return Err(format!(
                "the paths from block {} have too high numbers",
                start.block.index()
            ));
        }
        let restarts = matches!(start.kind, StartKind::Header | StartKind::Cut);
        if restarts && map.dag.end_cause(start.block).is_none() {
            return Err(format!(
                "paths restart at block {} but do not end there",
                start.block.index()
            ));
        }
    }
    if !map.lines.is_sorted_by_key(|e| e.bci) {
        return Err("the line entries are not in order".to_owned());
    }
    if !map.unobserved.is_sorted_by(|a, b| a < b) {
        return Err("the unobserved paths are not in order".to_owned());
    }
    for &(block, _) in counts.partial.keys() {
        exists(BlockId::new(block as usize), "block of a partial path")?;
    }
    Ok(())
}
