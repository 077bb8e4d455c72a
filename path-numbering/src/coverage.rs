//! Coverage: which blocks ran and which way decisions went, from few probes.
//!
//! A probe says once that execution came this way. Probes are on the ways into a block: on edges, at method
//! entry, where a handler begins. Everything else is implied:
//! - an edge that is the only way into its block was followed if the block ran, and the other way round;
//! - the only edge out of a block that *completes* (nothing in it throws) was followed if the block ran;
//! - both ends of an edge that was followed have run.
//!
//! Blocks that may throw imply nothing about what comes behind them: dominance of the flow graph alone would
//! claim what an exception prevented. An edge is wanted for its own sake only where something is decided,
//! that is, where its block has others as well.

use crate::graph::{BlockId, FlowGraph};
use crate::plan::{EdgeOp, Plan, Update};
use crate::rows::Rows;

/// How far is looked whether leaving out one more probe would make two blocks imply each other.
const MAX_STEPS: usize = 512;

/// Where a method's probes stand, and what follows from them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoveragePlan {
    /// Per edge, in the graph's order: the probe on it.
    edges: Vec<Option<u32>>,
    /// The probe at method entry.
    entry: Option<u32>,
    /// Per extra start: the probe there.
    extra_starts: Vec<Option<u32>>,
    /// Per block, true if it runs to its end whenever it begins.
    completes: Vec<bool>,
    probes: u32,
}

/// The blocks and edges of a method that ran.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ran {
    /// Per block, true if it began.
    pub blocks: Vec<bool>,
    /// Per edge, in the graph's order, true if it was followed. Known of edges out of blocks that have
    /// several; of others only what is implied.
    pub edges: Vec<bool>,
}

/// The ways into one block.
#[derive(Clone, Debug, Default)]
struct Ways {
    /// Number of edges into it, and starts at it.
    all: usize,
    /// Blocks from which one comes that is not wanted for its own sake.
    plain: Vec<usize>,
    /// True if execution can begin here without an edge.
    starts: bool,
    /// True if an edge into it is wanted for its own sake.
    decided: bool,
}

impl Ways {
    /// Returns true if there is exactly one.
    fn single(&self) -> bool {
        self.all == 1
    }
}

impl CoveragePlan {
    /// Places probes. `completes`: per block, whether it runs to its end whenever it begins.
    pub fn new(graph: &impl FlowGraph, completes: Vec<bool>) -> Self {
        let blocks = graph.num_blocks();
        let decides = |block: BlockId| graph.successors(block).len() > 1;
        let mut ways = vec![Ways::default(); blocks];
        for (edge, to) in graph.edges() {
            let ways = &mut ways[to.index()];
            ways.all += 1;
            if decides(edge.from) {
                ways.decided = true
            } else {
                ways.plain.push(edge.from.index())
            }
        }
        for start in std::iter::once(&graph.entry()).chain(graph.extra_starts()) {
            ways[start.index()].all += 1;
            ways[start.index()].starts = true;
        }
        let wanted = |block: usize| {
            let ways = &ways[block];
            ways.starts || !ways.plain.is_empty() || (ways.single() && ways.decided)
        };
        // Per block whose ways need no probe: the blocks from which it is known whether it ran.
        let mut implied: Vec<Option<Vec<usize>>> = vec![None; blocks];
        for block in (0..blocks).filter(|&block| wanted(block)) {
            let by_end = by_end(graph, &ways, &completes, block);
            let known = [by_end, by_begin(&ways, &completes, block)]
                .into_iter()
                .flatten()
                .find(|sources| !reaches(&implied, sources, block));
            implied[block] = known;
        }
        let mut probes = 0;
        let mut next = || {
            probes += 1;
            Some(probes - 1)
        };
        // Of each block: the probe that all of its ways share that have none of their own.
        let shared: Vec<Option<u32>> = (0..blocks)
            .map(|block| {
                if wanted(block) && implied[block].is_none() {
                    next()
                } else {
                    None
                }
            })
            .collect();
        let on = |(edge, to): (crate::graph::EdgeRef, BlockId)| {
            let own = decides(edge.from) && !ways[to.index()].single();
            if own { next() } else { shared[to.index()] }
        };
        let edges = graph.edges().map(on).collect();
        CoveragePlan {
            edges,
            entry: shared.get(graph.entry().index()).copied().flatten(),
            extra_starts: graph.extra_starts().iter().map(|b| shared[b.index()]).collect(),
            completes,
            probes,
        }
    }

    /// Number of its probes.
    pub fn probes(&self) -> u32 {
        self.probes
    }

    /// The probes as a plan for code to be written: each update runs the probe of that number.
    pub fn plan(&self, graph: &impl FlowGraph) -> Plan {
        let op = |probe: Option<u32>| EdgeOp {
            update: probe.map_or(Update::Keep, Update::Run),
            restart: None,
        };
        let mut edges = Rows::default();
        let mut probes = self.edges.iter();
        for block in (0..graph.num_blocks()).map(BlockId::new) {
            for _ in graph.successors(block) {
                edges.push(op(probes.next().copied().flatten()));
            }
            edges.end_row();
        }
        let starts = graph.extra_starts().iter().zip(&self.extra_starts);
        Plan {
            entry: op(self.entry),
            edges,
            extra_starts: starts.map(|(&block, &probe)| (block, op(probe))).collect(),
            silent: Vec::new(),
        }
    }

    /// The blocks and edges that ran, if these probes were passed.
    pub fn ran(&self, graph: &impl FlowGraph, passed: impl Fn(u32) -> bool) -> Ran {
        let passed = |probe: Option<u32>| probe.is_some_and(&passed);
        let edges: Vec<(BlockId, BlockId)> = graph.edges().map(|(edge, to)| (edge.from, to)).collect();
        let mut ran = Ran {
            blocks: vec![false; graph.num_blocks()],
            edges: vec![false; edges.len()],
        };
        let mut ways = vec![0usize; graph.num_blocks()];
        let mut users = vec![0usize; self.probes as usize];
        for ((_, to), &probe) in edges.iter().zip(&self.edges) {
            ways[to.index()] += 1;
            probe.into_iter().for_each(|probe| users[probe as usize] += 1);
        }
        let starts = graph.extra_starts().iter().zip(&self.extra_starts);
        for (block, &probe) in std::iter::once((&graph.entry(), &self.entry)).chain(starts) {
            ways[block.index()] += 1;
            probe.into_iter().for_each(|probe| users[probe as usize] += 1);
            ran.blocks[block.index()] |= passed(probe);
        }
        for (index, &probe) in self.edges.iter().enumerate().filter(|(_, probe)| passed(**probe)) {
            ran.blocks[edges[index].1.index()] = true;
            // A probe that several ways share does not say which of them was taken.
            ran.edges[index] = probe.is_some_and(|probe| users[probe as usize] == 1);
        }
        let mut changed = true;
        while changed {
            changed = false;
            // Against the flow, where most implications lead.
            for (index, &(from, to)) in edges.iter().enumerate().rev() {
                let (from, to) = (from.index(), to.index());
                let ends = self.completes[from] && graph.successors(BlockId::new(from)).len() == 1;
                let followed =
                    ran.edges[index] || (ran.blocks[to] && ways[to] == 1) || (ran.blocks[from] && ends);
                if followed && !(ran.edges[index] && ran.blocks[from] && ran.blocks[to]) {
                    ran.edges[index] = true;
                    ran.blocks[from] = true;
                    ran.blocks[to] = true;
                    changed = true;
                }
            }
        }
        ran
    }
}

/// The blocks that imply that a completing block ran: it ran if it was left by any of its edges.
/// `None` if that is not known of all of them.
fn by_end(graph: &impl FlowGraph, ways: &[Ways], completes: &[bool], block: usize) -> Option<Vec<usize>> {
    let successors = graph.successors(BlockId::new(block));
    if !completes[block] || successors.is_empty() {
        return None;
    }
    let mut sources = Vec::new();
    for to in successors.iter().map(|to| to.index()) {
        if ways[to].single() {
            sources.push(to)
        } else if successors.len() > 1 {
            // It has a probe of its own.
        } else {
            return None;
        }
    }
    Some(sources)
}

/// The blocks that imply that a block ran by a way without a probe of its own: each of them leads nowhere
/// else.
fn by_begin(ways: &[Ways], completes: &[bool], block: usize) -> Option<Vec<usize>> {
    let ways = &ways[block];
    let known = !ways.starts && !ways.plain.is_empty() && ways.plain.iter().all(|&from| completes[from]);
    known.then(|| ways.plain.clone())
}

/// Returns true if `block` would imply itself in the end, or if that is too much work to find out.
fn reaches(implied: &[Option<Vec<usize>>], sources: &[usize], block: usize) -> bool {
    let mut open: Vec<usize> = sources.to_vec();
    let mut seen: Vec<usize> = Vec::new();
    while let Some(next) = open.pop() {
        if next == block || seen.len() > MAX_STEPS {
            return true;
        }
        if !seen.contains(&next) {
            seen.push(next);
            open.extend(implied[next].iter().flatten());
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::SimpleGraph;

    /// Numbers without rhyme or reason.
    struct Random(u64);

    impl Random {
        fn below(&mut self, limit: usize) -> usize {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (self.0 >> 33) as usize % limit
        }
    }

    /// A graph with handlers, and which blocks complete.
    fn random_graph(random: &mut Random) -> (SimpleGraph, Vec<bool>) {
        let blocks = 1 + random.below(9);
        let mut successors = vec![Vec::new(); blocks];
        for row in &mut successors {
            for _ in 0..[0, 1, 1, 2, 2, 3][random.below(6)] {
                row.push(BlockId::new(random.below(blocks)));
            }
        }
        let starts = (1..blocks).filter(|_| random.below(5) == 0).map(BlockId::new);
        let starts: Vec<BlockId> = starts.collect();
        let completes = (0..blocks).map(|_| random.below(2) == 0).collect();
        (
            SimpleGraph::from_parts(BlockId::new(0), successors, starts),
            completes,
        )
    }

    /// Runs the method at random, and logs blocks and edges on one side, probes on the other.
    fn run(
        graph: &SimpleGraph,
        completes: &[bool],
        random: &mut Random,
        log: &mut Ran,
        plan: &Plan,
        hit: &mut [bool],
    ) {
        let mut pass = |op: EdgeOp| {
            if let Update::Run(probe) = op.update {
                hit[probe as usize] = true;
            }
        };
        let mut at = graph.entry();
        pass(plan.entry);
        for _ in 0..random.below(20) {
            log.blocks[at.index()] = true;
            if !completes[at.index()] && random.below(3) == 0 {
                // An exception: out of the method, or into a handler.
                match plan.extra_starts.get(random.below(plan.extra_starts.len() + 1)) {
                    Some(&(handler, op)) => {
                        pass(op);
                        at = handler;
                        continue;
                    }
                    None => return,
                }
            }
            let ways = graph.successors(at);
            if ways.is_empty() {
                return;
            }
            let index = random.below(ways.len());
            log.edges[graph.first_edge(at) + index] = true;
            pass(plan.edges[at.index()][index]);
            at = ways[index];
        }
        // The method runs until it is over: a block that began has ended, unless it threw.
        log.blocks[at.index()] = true;
        let mut left = 1_000;
        while completes[at.index()] && !graph.successors(at).is_empty() && left > 0 {
            let index = random.below(graph.successors(at).len());
            log.edges[graph.first_edge(at) + index] = true;
            pass(plan.edges[at.index()][index]);
            at = graph.successors(at)[index];
            log.blocks[at.index()] = true;
            left -= 1;
        }
    }

    #[test]
    fn what_ran_is_what_a_log_of_blocks_and_edges_says() {
        let mut random = Random(42);
        let (mut probes, mut blocks) = (0, 0);
        for _ in 0..20_000 {
            let (graph, completes) = random_graph(&mut random);
            let plan = CoveragePlan::new(&graph, completes.clone());
            let ops = plan.plan(&graph);
            let edges = graph.edges().count();
            let mut log = Ran {
                blocks: vec![false; graph.num_blocks()],
                edges: vec![false; edges],
            };
            let mut hit = vec![false; plan.probes() as usize];
            for _ in 0..random.below(4) {
                run(&graph, &completes, &mut random, &mut log, &ops, &mut hit);
            }
            let ran = plan.ran(&graph, |probe| hit[probe as usize]);
            assert_eq!(ran.blocks, log.blocks, "{graph:?} {completes:?} {plan:?}");
            for (index, (edge, _)) in graph.edges().enumerate() {
                if graph.successors(edge.from).len() > 1 {
                    assert_eq!(
                        ran.edges[index], log.edges[index],
                        "{edge:?} {graph:?} {completes:?} {plan:?}"
                    );
                } else {
                    assert!(
                        !ran.edges[index] || log.edges[index],
                        "{edge:?} {graph:?} {plan:?}"
                    );
                }
            }
            probes += plan.probes() as usize;
            blocks += graph.num_blocks() + edges;
        }
        assert!(
            probes * 3 < blocks * 2,
            "{probes} probes for {blocks} blocks and edges"
        );
    }

    /// `if (a) { b } else { c } d` in which nothing throws: two probes are enough.
    #[test]
    fn branches_imply_the_blocks_around_them() {
        let graph = SimpleGraph::new(4, &[(0, 1), (0, 2), (1, 3), (2, 3)]);
        assert_eq!(CoveragePlan::new(&graph, vec![true; 4]).probes(), 2);
        // If anything may throw, what comes behind it is another matter.
        assert_eq!(CoveragePlan::new(&graph, vec![false; 4]).probes(), 4);
    }

    /// A loop that cannot be left implies nothing by running on.
    #[test]
    fn a_loop_without_a_way_out_keeps_a_probe() {
        let graph = SimpleGraph::new(2, &[(0, 1), (1, 1)]);
        let plan = CoveragePlan::new(&graph, vec![true; 2]);
        assert!(plan.probes() > 0);
        let hit = |_| true;
        assert_eq!(plan.ran(&graph, hit).blocks, [true, true]);
    }
}
