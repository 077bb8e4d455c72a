//! From a log of branches to path counts, slowly and obviously.
//!
//! An activation is walked block by block over the path map's graph. A path begins at the entry, where
//! control arrives at a block that ends paths (a loop header or cut point), and where a handler catches; it
//! ends on arrival at such a block and when the method is left by a return or athrow. A path that an
//! exception or the end of the JVM cuts off is kept with the block in which that was. Finished paths are kept
//! as lists of edges. Their number is the sum
//! of the edges' values, and must regenerate to the very same list: so neither the agent's additions nor the
//! regeneration is believed without the other.

use std::collections::BTreeSet;

use trodden_numbering::{BlockId, EdgeRef, FlowGraph, Path, PathEnd, StartKind};
use trodden_profile::{BlockExit, EdgeLabel, MethodMap};

use crate::trace::Event;
use crate::{Error, Result};

/// The walk of an activation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Walked {
    /// The numbers of its paths, in order.
    pub paths: Vec<u64>,
    /// Paths that were cut off: block, and number of the prefix that led there.
    pub cut: Vec<(u32, u64)>,
    /// Blocks that began.
    pub blocks: BTreeSet<usize>,
    /// Edges that were followed: from which block, and which of its edges.
    pub edges: BTreeSet<(usize, usize)>,
}

/// Walks one activation.
///
/// # Errors
/// If the log does something that the graph does not allow.
pub fn walk(map: &MethodMap, events: &[Event]) -> Result<Walked> {
    let mut walker = Walker {
        map,
        path: None,
        at: map.graph.entry(),
        fresh: false,
        walked: Walked::default(),
    };
    let explain = |e: Error| format!("{}{}: {e}\nlog: {events:?}", map.name, map.descriptor);
    walker
        .begin(StartKind::Entry, map.graph.entry())
        .map_err(explain)?;
    for &event in events {
        walker.event(event).map_err(explain)?;
    }
    walker.cut().map_err(explain)?;
    Ok(walker.walked)
}

struct Walker<'a> {
    map: &'a MethodMap,
    /// The path in progress; none after the method was left.
    path: Option<Path>,
    at: BlockId,
    /// True if control just followed an edge to `at`, and nothing else happened since.
    fresh: bool,
    walked: Walked,
}

impl Walker<'_> {
    /// Control appears at a block from outside: at the entry, or by an exception.
    fn begin(&mut self, kind: StartKind, block: BlockId) -> Result<()> {
        self.path = Some(Path {
            start: kind,
            first: block,
            edges: Vec::new(),
            end: PathEnd::Stopped(block),
        });
        self.arrive(block)
    }

    /// Control is at the top of a block: the path ends there if paths do, and the next one begins.
    fn arrive(&mut self, block: BlockId) -> Result<()> {
        self.at = block;
        self.walked.blocks.insert(block.index());
        if let Some(cause) = self.map.dag.end_cause(block) {
            self.finish(PathEnd::At(block, cause))?;
            let start = self
                .map
                .dag
                .restart(block)
                .ok_or("a block ends paths but starts none")?;
            self.path = Some(Path {
                start: start.kind,
                first: block,
                edges: Vec::new(),
                end: PathEnd::Stopped(block),
            });
        }
        Ok(())
    }

    fn finish(&mut self, end: PathEnd) -> Result<()> {
        let mut path = self.path.take().ok_or("a path ends, but none is in progress")?;
        path.end = end;
        let number = self.number(&path)?;
        let regenerated = self.map.dag.regenerate(&self.map.graph, number)?;
        if regenerated != path {
            return Err(format!("number {number} regenerates to {regenerated:?}, not {path:?}").into());
        }
        self.walked.paths.push(number);
        Ok(())
    }

    /// An exception has come, or nothing more, where control is now.
    fn cut(&mut self) -> Result<()> {
        // Left by a return or athrow: its path has ended.
        let Some(mut path) = self.path.take() else {
            return Ok(());
        };
        path.end = PathEnd::Stopped(self.at);
        let number = self.number(&path)?;
        let regenerated = self
            .map
            .dag
            .regenerate_partial(&self.map.graph, number, self.at)?;
        if regenerated != path {
            return Err(format!("prefix {number} regenerates to {regenerated:?}, not {path:?}").into());
        }
        self.walked.cut.push((self.at.index() as u32, number));
        Ok(())
    }

    fn number(&self, path: &Path) -> Result<u64> {
        let dag = &self.map.dag;
        let mut starts = dag
            .starts()
            .iter()
            .filter(|s| s.block == path.first && s.kind == path.start);
        let start = starts
            .next()
            .ok_or_else(|| format!("no path starts at block {:?}", path.first))?;
        Ok(start.value + path.edges.iter().map(|&e| dag.value(e)).sum::<u64>())
    }

    fn follow(&mut self, index: usize) -> Result<()> {
        let edge = EdgeRef {
            from: self.at,
            index: index as u32,
        };
        self.walked.edges.insert((self.at.index(), index));
        let to = self.map.graph.successors(self.at)[index];
        self.path
            .as_mut()
            .ok_or("control continues after the method was left")?
            .edges
            .push(edge);
        self.arrive(to)
    }

    /// Runs on through blocks without a branch until the one that contains `bci`.
    fn reach(&mut self, bci: u32) -> Result<()> {
        loop {
            let block = &self.map.blocks[self.at.index()];
            if (block.start..block.end).contains(&bci) {
                return Ok(());
            }
            if block.exit != BlockExit::FallThrough || block.end > bci {
                return Err(format!("bci {bci} is not ahead of the block at {}", block.start).into());
            }
            self.follow(0)?;
        }
    }

    fn event(&mut self, event: Event) -> Result<()> {
        let arrived = std::mem::replace(&mut self.fresh, false);
        match event {
            Event::Handler(bci) => {
                let block = self.map.block_at(bci).ok_or("handler outside the code")?;
                if arrived && self.at == block {
                    return Ok(());
                }
                self.cut()?;
                return self.begin(StartKind::Handler, block);
            }
            Event::Fall(bci) => {
                self.fresh = true;
                return self.reach(bci);
            }
            Event::Branch { bci, .. } | Event::Select { bci, .. } | Event::Goto(bci) | Event::Leave(bci) => {
                self.reach(bci)?;
                let last = self.map.blocks[self.at.index()].last;
                if last != bci {
                    return Err(
                        format!("bci {bci} leaves a block whose last instruction is at {last}").into(),
                    );
                }
            }
        }
        let map = self.map;
        let labels = &map.blocks[self.at.index()].labels;
        let edge = match event {
            Event::Branch { taken: true, .. } => labels.iter().position(|l| *l == EdgeLabel::Taken),
            Event::Branch { .. } => labels.iter().position(|l| *l == EdgeLabel::NotTaken),
            Event::Goto(_) => labels.iter().position(|l| *l == EdgeLabel::Goto),
            Event::Select { target, .. } => {
                let successors = map.graph.successors(self.at).iter();
                successors
                    .map(|b| map.blocks[b.index()].start)
                    .position(|start| start == target)
            }
            Event::Leave(_) => return self.finish(PathEnd::Exit(self.at)),
            Event::Fall(_) | Event::Handler(_) => None,
        };
        self.follow(edge.ok_or_else(|| format!("{event:?}: no such edge"))?)?;
        self.fresh = true;
        Ok(())
    }
}
