//! An independent check of numbering, regeneration and placement.
//!
//! Nothing of the builder is reused: every fact is derived again in another, slower way.
//!
//! # What "correct" means
//! Let *G* be the graph, *R* the blocks reachable from the entry or an extra start, and *end* the set of
//! blocks at which paths end. A **path** begins with a start: the entry or an extra start (*arriving* at that
//! block), or the lower half of a block of *end*. It follows edges until it arrives at a block of *end* or
//! leaves a block without successors. Its **number** is its start's value plus the values of its edges. Then
//!
//! 1. [`Ends`](Rule::Ends): of *R*, exactly the targets of the retreating edges of the depth-first walk
//!    (entry first, then the extra starts, successors in order) end paths as headers; all other members of
//!    *end* are cuts; none is outside *R*. So the edges truncated are exactly the retreating ones, other
//!    edges into headers (PEP section 3.2 splits the header, not the edge), and edges into cuts.
//! 2. [`Acyclic`](Rule::Acyclic): without the edges into *end*, no cycle is left in *R*.
//! 3. [`Starts`](Rule::Starts): there is exactly one start for the entry (the first), for each extra start
//!    and for each block of *end*.
//! 4. [`Dense`](Rule::Dense): the numbers of all paths are exactly 0, 1, …, N - 1, each once. Checked path by
//!    path when N is small, else by counting in 128 bits at every block and start.
//! 5. [`Limit`](Rule::Limit): N is at most the limit.
//! 6. [`Regeneration`](Rule::Regeneration): the path of number(p) is p; and from the sum so far at any block
//!    on p, the prefix up to there.
//! 7. [`Heaviest`](Rule::Heaviest) (smart numbering): at every block of *R* no out-edge is heavier than the
//!    one of value 0.
//! 8. [`Placement`](Rule::Placement): a machine that walks *G* along any edges, jumping to extra starts at
//!    any time, and does to one register what the [`Plan`] says, holding nothing usable at first, reports
//!    exactly the numbers of the paths it walked, in order, but for those that end with a silent edge; and
//!    each of these has the number that the plan states. Checked on random walks.
//! 9. [`SamePaths`](Rule::SamePaths): two numberings with equal *end* have the same set of paths.

use std::collections::HashSet;

use crate::dag::{EndCause, NumberingOptions, PathDag, StartKind};
use crate::graph::{BlockId, EdgeRef, EdgeWeights, FlowGraph};
use crate::plan::Plan;
use crate::regenerate::{Path, PathEnd};

/// The rules of the module's definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // Each is one numbered point above.
pub enum Rule {
    Ends,
    Acyclic,
    Starts,
    Dense,
    Limit,
    Regeneration,
    Heaviest,
    Placement,
    SamePaths,
}

/// A broken rule, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{rule:?} violated: {detail}")]
pub struct Violation {
    /// Which.
    pub rule: Rule,
    /// Where and how.
    pub detail: String,
}

/// How much to check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckOptions {
    /// Enumerate all paths if there are at most this number of them.
    pub enumerate: u64,
    /// Random paths otherwise, and random steps of the placement machine in any case.
    pub steps: usize,
    /// Seed of the random choices.
    pub seed: u64,
}

impl Default for CheckOptions {
    fn default() -> Self {
        CheckOptions {
            enumerate: 2000,
            steps: 400,
            seed: 1,
        }
    }
}

macro_rules! ensure {
    ($condition:expr, $rule:ident, $($detail:tt)+) => {
        if !$condition {
            return Err(Violation { rule: Rule::$rule, detail: format!($($detail)+) });
        }
    };
}

mod placement; // after the macro, which it uses
#[cfg(test)]
mod tests;
pub use placement::check_plan;

/// Numbers the graph (smart and plain), makes the plan for either, and checks everything. Too low a limit is
/// no violation.
///
/// # Errors
/// The first broken rule.
pub fn check_graph(
    graph: &impl FlowGraph,
    weights: &EdgeWeights,
    limit: u64,
    options: &CheckOptions,
) -> Result<(), Violation> {
    let build = |smart| PathDag::build(graph, weights, &NumberingOptions { limit, smart });
    let (smart, plain) = match (build(true), build(false)) {
        (Ok(smart), Ok(plain)) => (smart, plain),
        (smart, plain) => {
            ensure!(
                smart.is_err() == plain.is_err(),
                SamePaths,
                "only one numbering exists"
            );
            return Ok(());
        }
    };
    for dag in [&smart, &plain] {
        check_dag(graph, dag, limit, options)?;
        for skip in [false, true] {
            check_plan(graph, dag, &Plan::new(graph, dag, skip), options)?;
        }
    }
    check_heaviest(graph, weights, &smart)?;
    check_same_paths(graph, &smart, &plain, options)
}

/// Rules 1 to 6.
///
/// # Errors
/// The first broken rule.
pub fn check_dag(
    graph: &impl FlowGraph,
    dag: &PathDag,
    limit: u64,
    options: &CheckOptions,
) -> Result<(), Violation> {
    let walk = SlowWalk::new(graph);
    check_ends(graph, dag, &walk)?;
    let order = check_acyclic(graph, dag, &walk)?;
    check_starts(graph, dag)?;
    check_counts(graph, dag, &order)?;
    ensure!(
        dag.num_paths() <= limit,
        Limit,
        "{} paths, limit {limit}",
        dag.num_paths()
    );
    if dag.num_paths() <= options.enumerate {
        let paths = enumerate(graph, dag);
        let mut seen = vec![false; dag.num_paths() as usize];
        for path in &paths {
            let number = number_of(dag, path).unwrap_or(u64::MAX);
            ensure!(
                number < dag.num_paths(),
                Dense,
                "number {number} of {}: {path:?}",
                dag.num_paths()
            );
            let twice = std::mem::replace(&mut seen[number as usize], true);
            ensure!(!twice, Dense, "number {number} twice, second time for {path:?}");
            check_regeneration(graph, dag, path)?;
        }
        ensure!(
            seen.iter().all(|&s| s),
            Dense,
            "{} paths but N = {}",
            paths.len(),
            seen.len()
        );
    } else {
        let mut random = Random(options.seed);
        for _ in 0..options.steps / 20 + 1 {
            check_regeneration(graph, dag, &random_path(graph, dag, &mut random))?;
            let number = random.next() % dag.num_paths();
            let path = dag.regenerate(graph, number);
            ensure!(
                path.as_ref().ok().and_then(|p| number_of(dag, p)) == Some(number),
                Regeneration,
                "number {number} gives {path:?}"
            );
        }
    }
    let beyond = dag.regenerate(graph, dag.num_paths());
    ensure!(beyond.is_err(), Regeneration, "number N gives {beyond:?}");
    Ok(())
}

/// Rule 7. Blocks of which some edge has the weight NaN are passed over.
///
/// # Errors
/// A block whose heaviest edge is not 0.
pub fn check_heaviest(graph: &impl FlowGraph, weights: &EdgeWeights, dag: &PathDag) -> Result<(), Violation> {
    let walk = SlowWalk::new(graph);
    for (edge, _) in graph.edges().filter(|(e, _)| walk.reached(e.from)) {
        let zero = dag.values(edge.from).iter().position(|&v| v == 0);
        let weight = |index: usize| {
            weights.get(EdgeRef {
                from: edge.from,
                index: index as u32,
            })
        };
        let heavier = zero.is_none_or(|zero| weight(edge.index as usize) > weight(zero));
        ensure!(!heavier, Heaviest, "{edge:?} is heavier than the edge of value 0");
    }
    Ok(())
}

/// Rule 9, if both end paths at the same blocks and have few enough of them to enumerate.
///
/// # Errors
/// A path of one that is none of the other.
pub fn check_same_paths(
    graph: &impl FlowGraph,
    a: &PathDag,
    b: &PathDag,
    options: &CheckOptions,
) -> Result<(), Violation> {
    let comparable = (0..graph.num_blocks())
        .map(BlockId::new)
        .all(|block| a.end_cause(block) == b.end_cause(block));
    if !comparable {
        return Ok(());
    }
    ensure!(
        a.num_paths() == b.num_paths(),
        SamePaths,
        "{} and {} paths",
        a.num_paths(),
        b.num_paths()
    );
    if a.num_paths() <= options.enumerate {
        let all = |dag: &PathDag| -> HashSet<_> {
            let numbers = 0..dag.num_paths();
            numbers.filter_map(|n| dag.regenerate(graph, n).ok()).collect()
        };
        let (a, b) = (all(a), all(b));
        if let Some(path) = a.symmetric_difference(&b).next() {
            ensure!(false, SamePaths, "only one has {path:?}");
        }
    }
    Ok(())
}

/// The number of a path: the sum of its start's and its edges' values; `None` without such a start.
pub fn number_of(dag: &PathDag, path: &Path) -> Option<u64> {
    let mut starts = dag.starts().iter();
    let start = starts.find(|s| (s.kind, s.block) == (path.start, path.first))?;
    path.edges
        .iter()
        .try_fold(start.value, |sum, &edge| sum.checked_add(dag.value(edge)))
}

/// Depth-first walk that looks for the next unvisited successor from the start each time, and times of
/// entering and leaving, from which retreating edges follow by the nesting of intervals.
struct SlowWalk {
    times: Vec<Option<(usize, usize)>>,
}

impl SlowWalk {
    fn new(graph: &impl FlowGraph) -> Self {
        let mut times: Vec<Option<(usize, usize)>> = vec![None; graph.num_blocks()];
        let mut clock = 0;
        let roots = std::iter::once(graph.entry()).chain(graph.extra_starts().iter().copied());
        for root in roots {
            let mut way = Vec::new();
            let mut next = Some(root).filter(|r| times[r.index()].is_none());
            loop {
                clock += 1;
                if let Some(block) = next {
                    times[block.index()] = Some((clock, usize::MAX));
                    way.push(block);
                } else if let Some(block) = way.pop() {
                    times[block.index()] = times[block.index()].map(|(entered, _)| (entered, clock));
                }
                let Some(&top) = way.last() else { break };
                let mut successors = graph.successors(top).iter().copied();
                next = successors.find(|s| times[s.index()].is_none());
            }
        }
        SlowWalk { times }
    }

    fn reached(&self, block: BlockId) -> bool {
        self.times[block.index()].is_some()
    }

    fn retreating(&self, from: BlockId, to: BlockId) -> bool {
        match (self.times[from.index()], self.times[to.index()]) {
            (Some(from), Some(to)) => to.0 <= from.0 && from.1 <= to.1,
            _ => false,
        }
    }
}

fn check_ends(graph: &impl FlowGraph, dag: &PathDag, walk: &SlowWalk) -> Result<(), Violation> {
    let mut header = vec![false; graph.num_blocks()];
    for (edge, to) in graph.edges() {
        header[to.index()] |= walk.retreating(edge.from, to);
    }
    for block in (0..graph.num_blocks()).map(BlockId::new) {
        let cause = dag.end_cause(block);
        ensure!(
            (cause == Some(EndCause::Header)) == header[block.index()],
            Ends,
            "{block:?} ends paths: {cause:?}; it is the target of a retreating edge: {}",
            header[block.index()]
        );
        ensure!(
            cause.is_none() || walk.reached(block),
            Ends,
            "{block:?} is never reached but ends paths"
        );
    }
    Ok(())
}

/// Kahn's algorithm; gives the reached blocks in topological order.
fn check_acyclic(graph: &impl FlowGraph, dag: &PathDag, walk: &SlowWalk) -> Result<Vec<BlockId>, Violation> {
    let mut incoming = vec![0usize; graph.num_blocks()];
    let kept = |to: BlockId| dag.end_cause(to).is_none();
    for (edge, to) in graph.edges() {
        incoming[to.index()] += usize::from(kept(to) && walk.reached(edge.from));
    }
    let reached: Vec<BlockId> = (0..graph.num_blocks())
        .map(BlockId::new)
        .filter(|&b| walk.reached(b))
        .collect();
    let mut order: Vec<BlockId> = reached
        .iter()
        .copied()
        .filter(|b| incoming[b.index()] == 0)
        .collect();
    let mut next = 0;
    while let Some(&block) = order.get(next) {
        next += 1;
        for &to in graph.successors(block).iter().filter(|&&to| kept(to)) {
            incoming[to.index()] -= 1;
            if incoming[to.index()] == 0 {
                order.push(to);
            }
        }
    }
    ensure!(
        order.len() == reached.len(),
        Acyclic,
        "{} of {} blocks can be ordered",
        order.len(),
        reached.len()
    );
    Ok(order)
}

fn check_starts(graph: &impl FlowGraph, dag: &PathDag) -> Result<(), Violation> {
    let mut expected = vec![(StartKind::Entry, graph.entry())];
    expected.extend(graph.extra_starts().iter().map(|&b| (StartKind::Handler, b)));
    for block in (0..graph.num_blocks()).map(BlockId::new) {
        match dag.end_cause(block) {
            Some(EndCause::Header) => expected.push((StartKind::Header, block)),
            Some(EndCause::Cut) => expected.push((StartKind::Cut, block)),
            None => {}
        }
    }
    let mut found: Vec<_> = dag.starts().iter().map(|s| (s.kind, s.block)).collect();
    ensure!(
        found.first() == expected.first(),
        Starts,
        "the first start is {:?}",
        found.first()
    );
    found.sort_unstable();
    expected.sort_unstable();
    ensure!(found == expected, Starts, "{found:?}, expected {expected:?}");
    Ok(())
}

/// At every block, and at ENTRY: the ways on have values that line up without gap or overlap.
fn check_counts(graph: &impl FlowGraph, dag: &PathDag, order: &[BlockId]) -> Result<(), Violation> {
    let mut onward = vec![1u128; graph.num_blocks()];
    let arriving = |onward: &[u128], to: BlockId| {
        if dag.end_cause(to).is_some() {
            1
        } else {
            onward[to.index()]
        }
    };
    for &block in order.iter().rev().filter(|&&b| !graph.successors(b).is_empty()) {
        let successors = graph.successors(block);
        let mut ranges: Vec<(u128, u128)> = dag
            .values(block)
            .iter()
            .zip(successors)
            .map(|(&value, &to)| (u128::from(value), arriving(&onward, to)))
            .collect();
        ensure!(
            ranges.len() == successors.len(),
            Dense,
            "{block:?} has edges without value"
        );
        onward[block.index()] = line_up(&mut ranges, &format!("out-edges of {block:?}"))?;
    }
    let mut ranges: Vec<(u128, u128)> = Vec::new();
    for start in dag.starts() {
        let paths = match start.kind {
            StartKind::Header | StartKind::Cut => onward[start.block.index()],
            StartKind::Entry | StartKind::Handler => arriving(&onward, start.block),
        };
        ensure!(
            paths == u128::from(start.paths),
            Dense,
            "{start:?} has {paths} paths"
        );
        ranges.push((u128::from(start.value), paths));
    }
    let total = line_up(&mut ranges, "starts")?;
    ensure!(
        total == u128::from(dag.num_paths()),
        Dense,
        "{total} paths, N = {}",
        dag.num_paths()
    );
    Ok(())
}

fn line_up(ranges: &mut [(u128, u128)], what: &str) -> Result<u128, Violation> {
    ranges.sort_unstable();
    let mut next = 0;
    for &mut (value, paths) in ranges {
        ensure!(
            value == next,
            Dense,
            "{what}: value {value} where {next} is expected"
        );
        next = value.saturating_add(paths);
    }
    Ok(next)
}

/// All paths, by plain search.
fn enumerate(graph: &impl FlowGraph, dag: &PathDag) -> Vec<Path> {
    let mut paths = Vec::new();
    let mut open: Vec<Path> = dag.starts().iter().map(|s| begin(s.kind, s.block)).collect();
    while let Some(path) = open.pop() {
        // A numbering that claims fewer paths than there are must not keep us here.
        if paths.len() as u64 > dag.num_paths() {
            break;
        }
        let PathEnd::Stopped(at) = close(graph, dag, &path).end else {
            paths.push(close(graph, dag, &path));
            continue;
        };
        open.extend((0..graph.successors(at).len()).map(|i| extend(graph, &path, at, i)));
    }
    paths
}

fn random_path(graph: &impl FlowGraph, dag: &PathDag, random: &mut Random) -> Path {
    let start = &dag.starts()[random.below(dag.starts().len())];
    let mut path = begin(start.kind, start.block);
    loop {
        path = close(graph, dag, &path);
        let PathEnd::Stopped(at) = path.end else {
            return path;
        };
        path = extend(graph, &path, at, random.below(graph.successors(at).len()));
    }
}

fn begin(kind: StartKind, block: BlockId) -> Path {
    Path {
        start: kind,
        first: block,
        edges: Vec::new(),
        end: PathEnd::Stopped(block),
    }
}

fn extend(graph: &impl FlowGraph, path: &Path, from: BlockId, index: usize) -> Path {
    let mut path = path.clone();
    path.edges.push(EdgeRef {
        from,
        index: index as u32,
    });
    path.end = PathEnd::Stopped(graph.successors(from)[index]);
    path
}

/// The path, ended if it has to end where it is.
fn close(graph: &impl FlowGraph, dag: &PathDag, path: &Path) -> Path {
    let mut path = path.clone();
    if let PathEnd::Stopped(at) = path.end {
        let below = path.edges.is_empty() && matches!(path.start, StartKind::Header | StartKind::Cut);
        match dag.end_cause(at).filter(|_| !below) {
            Some(cause) => path.end = PathEnd::At(at, cause),
            None if graph.successors(at).is_empty() => path.end = PathEnd::Exit(at),
            None => {}
        }
    }
    path
}

/// Rule 6 for one path.
fn check_regeneration(graph: &impl FlowGraph, dag: &PathDag, path: &Path) -> Result<(), Violation> {
    let number = number_of(dag, path).unwrap_or(u64::MAX);
    let again = dag.regenerate(graph, number);
    ensure!(
        again.as_ref() == Ok(path),
        Regeneration,
        "number {number} of {path:?} gives {again:?}"
    );
    let mut prefix = begin(path.start, path.first);
    for next in path.edges.iter().map(Some).chain([None]) {
        if let PathEnd::Stopped(at) = close(graph, dag, &prefix).end {
            check_partial(graph, dag, &prefix, at)?;
        } else if matches!(path.end, PathEnd::Exit(at) if prefix.end == PathEnd::Stopped(at)) {
            check_partial(graph, dag, &prefix, graph_end(&prefix))?;
        }
        if let Some(edge) = next {
            prefix = extend(graph, &prefix, edge.from, edge.index as usize);
        }
    }
    Ok(())
}

fn graph_end(prefix: &Path) -> BlockId {
    match prefix.end {
        PathEnd::Exit(at) | PathEnd::At(at, _) | PathEnd::Stopped(at) => at,
    }
}

fn check_partial(graph: &impl FlowGraph, dag: &PathDag, prefix: &Path, at: BlockId) -> Result<(), Violation> {
    let number = number_of(dag, prefix).unwrap_or(u64::MAX);
    let again = dag.regenerate_partial(graph, number, at);
    ensure!(
        again.as_ref() == Ok(prefix),
        Regeneration,
        "partial number {number} at {at:?} of {prefix:?} gives {again:?}"
    );
    Ok(())
}

/// SplitMix64: enough for walks, and no dependency.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }
}
