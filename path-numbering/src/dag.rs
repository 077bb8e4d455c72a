//! From graph to P-DAG: loop cutting, cut points, numbering.
//!
//! PEP section 3.2 splits a loop header in two and joins the halves to EXIT and ENTRY by dummy edges. The
//! halves are not materialised here: a block that [`ends paths`](PathDag::end_cause) represents both. An edge
//! *into* it is an edge to its upper half, whose only way on is EXIT; its own out-edges belong to the lower
//! half, which only the dummy edge from ENTRY (a [`PathStart`]) reaches.

use std::sync::Arc;

use crate::graph::{BlockId, EdgeRef, EdgeWeights, FlowGraph};
use crate::rows::Rows;
use crate::walk::DepthFirst;

/// Why a path ends when it arrives at a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EndCause {
    /// The block is the target of a retreating edge of the depth-first walk (a loop header).
    Header,
    /// The block was chosen as a cut point, to keep path numbers below the limit.
    Cut,
}

/// The kind of dummy edge that leads from ENTRY to the first block of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StartKind {
    /// The graph's real entry.
    Entry,
    /// The lower half of a loop header.
    Header,
    /// An extra start (exception handler).
    Handler,
    /// The lower half of a cut point.
    Cut,
}

/// A dummy edge from ENTRY.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PathStart {
    /// The kind of start.
    pub kind: StartKind,
    /// First block of the paths that start here.
    pub block: BlockId,
    /// Value of the dummy edge: the path register's first value.
    pub value: u64,
    /// How many paths start here; they have the numbers `value .. value + paths`.
    pub paths: u64,
}

/// Settings of [`PathDag::build`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NumberingOptions {
    /// Largest number of paths; more are avoided by cut points. Default: 2^31 - 1, so that every number fits
    /// a Java `int`.
    pub limit: u64,
    /// Order out-edges by weight (PEP section 3.4) so that the heaviest gets 0; else in successor order.
    pub smart: bool,
}

impl Default for NumberingOptions {
    fn default() -> Self {
        NumberingOptions {
            limit: i32::MAX as u64,
            smart: true,
        }
    }
}

/// Why a graph cannot be numbered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NumberingError {
    /// Even with a cut at every block the limit does not suffice.
    #[error("more than {limit} paths even when every block ends a path")]
    LimitTooLow {
        /// The limit that was asked for.
        limit: u64,
    },
    /// A successor or start names a block that does not exist.
    #[error("block {block} does not exist (the graph has {blocks})")]
    NoSuchBlock {
        /// The block that was named.
        block: usize,
        /// Blocks in the graph.
        blocks: usize,
    },
}

/// The numbered acyclic graph ("P-DAG"). Clones share their memory.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PathDag(Arc<Parts>);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Parts {
    end_cause: Vec<Option<EndCause>>,
    values: Rows<u64>,
    starts: Vec<PathStart>,
    num_paths: u64,
}

impl PathDag {
    /// Cuts loops, numbers all paths, adds cut points where there would be too many.
    ///
    /// # Errors
    /// [`NumberingError::LimitTooLow`] if even a cut at every block leaves more than `options.limit` paths;
    /// [`NumberingError::NoSuchBlock`] for a malformed graph.
    pub fn build(
        graph: &impl FlowGraph,
        weights: &EdgeWeights,
        options: &NumberingOptions,
    ) -> Result<Self, NumberingError> {
        validate(graph)?;
        let walk = DepthFirst::new(graph);
        Self::from_walk(graph, weights, options, &walk, &mut Counting::default())
    }

    /// The same for a valid graph that has been walked.
    pub(crate) fn from_walk(
        graph: &impl FlowGraph,
        weights: &EdgeWeights,
        options: &NumberingOptions,
        walk: &DepthFirst,
        counting: &mut Counting,
    ) -> Result<Self, NumberingError> {
        let headers = walk.retreating_target.iter();
        let end_cause = headers
            .map(|&header| header.then_some(EndCause::Header))
            .collect();
        // The largest u64 is what saturated sums come to, so it cannot serve as a limit.
        let limit = options.limit.min(u64::MAX - 1);
        // Cuts are the exception: first see if there are too many paths at all.
        let mut dag = Self::number(graph, weights, options.smart, walk, end_cause, counting);
        if dag.0.num_paths <= limit && counting.most <= limit {
            return Ok(dag);
        }
        // The cap of a single block. The sum over all starts has to respect the limit too, so when it does
        // not, start again with a lower cap: each round only adds cuts.
        let mut cap = limit;
        loop {
            let mut end_cause = dag.0.end_cause.clone();
            add_cuts(graph, &walk.postorder, &mut end_cause, cap);
            dag = Self::number(graph, weights, options.smart, walk, end_cause, counting);
            if dag.0.num_paths <= limit {
                return Ok(dag);
            }
            if cap == 0 {
                return Err(NumberingError::LimitTooLow { limit: options.limit });
            }
            cap /= 2;
        }
    }

    /// Puts a P-DAG together from stored parts. What it says is as right as the parts are;
    /// [`PathDag::regenerate`] checks every step and never panics on a wrong one.
    pub fn from_parts(
        end_cause: Vec<Option<EndCause>>,
        values: Vec<Vec<u64>>,
        starts: Vec<PathStart>,
    ) -> Self {
        Self::from_rows(end_cause, values.into(), starts)
    }

    /// Like [`from_parts`](Self::from_parts), from a ready-made table of values.
    pub fn from_rows(end_cause: Vec<Option<EndCause>>, values: Rows<u64>, starts: Vec<PathStart>) -> Self {
        let num_paths = starts
            .iter()
            .map(|s| s.value.saturating_add(s.paths))
            .max()
            .unwrap_or(0);
        PathDag(Arc::new(Parts {
            end_cause,
            values,
            starts,
            num_paths,
        }))
    }

    /// PEP figures 2 and 4. The walk's postorder lists each reachable block after everything its edges lead
    /// to, but for edges that end paths.
    fn number(
        graph: &impl FlowGraph,
        weights: &EdgeWeights,
        smart: bool,
        walk: &DepthFirst,
        end_cause: Vec<Option<EndCause>>,
        counting: &mut Counting,
    ) -> Self {
        let blocks = graph.num_blocks();
        let Counting {
            paths_from,
            order,
            most,
        } = counting;
        *most = 0;
        paths_from.clear();
        paths_from.resize(blocks, 0);
        let mut values = Rows::zeroed(blocks, |b| graph.successors(BlockId::new(b)).len());
        for &block in &walk.postorder {
            let successors = graph.successors(block);
            let onward = |to: BlockId| ways_on(to, &end_cause, paths_from);
            let values = &mut values[block.index()];
            let weights = weights.row(block);
            let weight = |index: u32| weights.get(index as usize).copied().unwrap_or(0.0);
            let total = match *successors {
                [] => 1,
                [to] => onward(to),
                [a, b] => {
                    let (a, b) = (onward(a), onward(b));
                    if smart && weight(1).total_cmp(&weight(0)).is_gt() {
                        values[0] = b
                    } else {
                        values[1] = a
                    }
                    a.saturating_add(b)
                }
                _ => {
                    order.clear();
                    order.extend(0..successors.len() as u32);
                    if smart {
                        order.sort_by(|&a, &b| weight(b).total_cmp(&weight(a)));
                    }
                    let mut total = 0u64;
                    for &index in &*order {
                        values[index as usize] = total;
                        total = total.saturating_add(onward(successors[index as usize]));
                    }
                    total
                }
            };
            paths_from[block.index()] = total;
            *most = total.max(*most);
        }

        let mut starts = Vec::with_capacity(1 + graph.extra_starts().len() + walk.retreating.len());
        let arriving = |block: BlockId| ways_on(block, &end_cause, paths_from);
        let mut add = |kind, block, paths: u64, next: u64| {
            starts.push(PathStart {
                kind,
                block,
                value: next,
                paths,
            });
            next.saturating_add(paths)
        };
        let mut next = add(StartKind::Entry, graph.entry(), arriving(graph.entry()), 0);
        for &block in walk.postorder.iter().rev() {
            if let Some(cause) = end_cause[block.index()] {
                let kind = match cause {
                    EndCause::Header => StartKind::Header,
                    EndCause::Cut => StartKind::Cut,
                };
                next = add(kind, block, paths_from[block.index()], next);
            }
        }
        for &block in graph.extra_starts() {
            next = add(StartKind::Handler, block, arriving(block), next);
        }
        PathDag(Arc::new(Parts {
            end_cause,
            values,
            starts,
            num_paths: next,
        }))
    }

    /// Number of paths, N. Numbers run from 0 to N, exclusive, without a gap.
    pub fn num_paths(&self) -> u64 {
        self.0.num_paths
    }

    /// All path starts; the first one is the entry.
    pub fn starts(&self) -> &[PathStart] {
        &self.0.starts
    }

    /// Why paths that arrive at `block` end there, if they do.
    pub fn end_cause(&self, block: BlockId) -> Option<EndCause> {
        self.0.end_cause.get(block.index()).copied().flatten()
    }

    /// Value of an edge: what following it adds to the path register.
    pub fn value(&self, edge: EdgeRef) -> u64 {
        self.values(edge.from)
            .get(edge.index as usize)
            .copied()
            .unwrap_or(0)
    }

    /// Values of all out-edges of a block, in successor order.
    pub fn values(&self, block: BlockId) -> &[u64] {
        self.0.values.get(block.index()).unwrap_or(&[])
    }

    /// The start a path takes when it begins in the lower half of `block` (a header or cut).
    pub fn restart(&self, block: BlockId) -> Option<&PathStart> {
        // Asked once per edge; most edges lead to blocks where no path ends.
        self.end_cause(block)?;
        self.0
            .starts
            .iter()
            .find(|s| s.block == block && matches!(s.kind, StartKind::Header | StartKind::Cut))
    }
}

/// Working memory of numbering.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counting {
    /// Per block: number of paths on from its body.
    paths_from: Vec<u64>,
    order: Vec<u32>,
    /// The largest of `paths_from`.
    most: u64,
}

pub(crate) fn validate(graph: &impl FlowGraph) -> Result<(), NumberingError> {
    let blocks = graph.num_blocks();
    let check = |b: BlockId| {
        if b.index() < blocks {
            Ok(())
        } else {
            Err(NumberingError::NoSuchBlock {
                block: b.index(),
                blocks,
            })
        }
    };
    check(graph.entry())?;
    graph.extra_starts().iter().try_for_each(|&b| check(b))?;
    graph.edges().try_for_each(|(_, to)| check(to))
}

/// Adds cut points until no block has more than `cap` paths to its path ends.
///
/// Blocks are counted bottom up. Where there are too many, the cut is made on the way with the most paths, at
/// the next merge block: a cut there serves every way in, while one at a block with a single predecessor
/// only shortens that way (it is the last resort, as is cutting everything, which `cap` 0 asks for).
fn add_cuts(graph: &impl FlowGraph, postorder: &[BlockId], end_cause: &mut [Option<EndCause>], cap: u64) {
    let blocks = graph.num_blocks();
    let mut in_edges = vec![0u32; blocks];
    let mut position = vec![0usize; blocks];
    for (i, &block) in postorder.iter().enumerate() {
        position[block.index()] = i;
        for to in graph.successors(block) {
            in_edges[to.index()] += 1;
        }
    }
    for start in graph.extra_starts() {
        in_edges[start.index()] += 1;
    }
    let mut paths_from = vec![0u64; blocks];
    for (current, &block) in postorder.iter().enumerate() {
        loop {
            let total = count(graph, block, end_cause, &paths_from);
            paths_from[block.index()] = total;
            if total <= cap {
                break;
            }
            // The way with the most paths on from `at`, if a cut there saves any.
            let widest = |at: BlockId| {
                let successors = graph.successors(at).iter().copied();
                successors
                    .filter(|to| end_cause[to.index()].is_none() && (cap == 0 || paths_from[to.index()] > 1))
                    .max_by_key(|to| (paths_from[to.index()], in_edges[to.index()] > 1))
            };
            let Some(first) = widest(block) else { break };
            let mut way = std::iter::successors(Some(first), |&at| widest(at));
            let cut = way
                .find(|at| cap == 0 || in_edges[at.index()] > 1)
                .unwrap_or(first);
            end_cause[cut.index()] = Some(EndCause::Cut);
            for &above in &postorder[position[cut.index()] + 1..current] {
                paths_from[above.index()] = count(graph, above, end_cause, &paths_from);
            }
        }
    }
}

/// Number of paths on from a block's body.
fn count(graph: &impl FlowGraph, block: BlockId, end_cause: &[Option<EndCause>], paths_from: &[u64]) -> u64 {
    let successors = graph.successors(block);
    if successors.is_empty() {
        return 1;
    }
    successors.iter().fold(0u64, |sum, &to| {
        sum.saturating_add(ways_on(to, end_cause, paths_from))
    })
}

/// Number of ways on for a path that arrives at a block: one if it ends there, else those from the block's
/// body.
#[inline]
fn ways_on(block: BlockId, end_cause: &[Option<EndCause>], paths_from: &[u64]) -> u64 {
    match end_cause[block.index()] {
        Some(_) => 1,
        None => paths_from[block.index()],
    }
}
