//! What probes on edges would execute and tell, against probes on paths. Of exact profiles of
//! `probe=counters`.
//!
//! *Path ends* and *updates*: what the run executed, counts and changes of the path register. *Chords*: what
//! it would have executed with a counter on each edge outside of a spanning tree (Knuth; Ball and Larus,
//! *Optimally Profiling and Tracing Programs*, TOPLAS 1994): with the best tree, for which one has to know
//! the profile, and with the tree that static prediction gives.
//!
//! An edge profile says for each path how often it ran at least (*definite flow*: Ball, Mataga and Sagiv,
//! *Edge Profiling versus Path Profiling*, POPL 1998). *Determined* is the share of path executions that
//! these bounds add up to, and the share of methods in which they are all of them. *Obvious*: methods in
//! which each path has an edge that no other path has (Joshi, Bond and Zilles, *Targeted Path Profiling*, CGO
//! 2004), so that edges tell the paths of every run.
//!
//! *Mixed*: counters on chords (static tree) in obvious methods, on paths in all others.

use std::collections::BTreeMap;

use trodden_numbering::{
    BlockId, EdgeRef, FlowGraph, PathDag, PathEnd, Plan, SimpleGraph, StartKind, Update,
};
use trodden_profile::Profile;

type Failure = Box<dyn std::error::Error>;

/// Methods with more paths than that are taken for not obvious.
const MOST: u64 = 4096;

/// How one method ran.
#[derive(Debug, Default)]
struct Flow {
    /// Per block and out-edge.
    edges: Vec<Vec<u64>>,
    /// Per block: how often its body ran.
    blocks: Vec<u64>,
    /// Per start (its place among the P-DAG's): paths that began there.
    starts: Vec<u64>,
}

impl Flow {
    fn of(graph: &SimpleGraph, dag: &PathDag, counts: &BTreeMap<u64, u64>) -> Result<Flow, Failure> {
        let blocks = (0..graph.num_blocks()).map(BlockId::new);
        let mut flow = Flow {
            edges: blocks.map(|b| vec![0; graph.successors(b).len()]).collect(),
            blocks: vec![0; graph.num_blocks()],
            starts: vec![0; dag.starts().len()],
        };
        for (&number, &times) in counts {
            flow.starts[start_of(dag, number)?] += times;
            let path = dag.regenerate(graph, number)?;
            for edge in &path.edges {
                flow.edges[edge.from.index()][edge.index as usize] += times;
                flow.blocks[edge.from.index()] += times;
            }
            // A path that ends by leaving the method runs a block that no edge leaves.
            if let PathEnd::Exit(last) = path.end {
                flow.blocks[last.index()] += times;
            }
        }
        Ok(flow)
    }

    fn edge(&self, edge: EdgeRef) -> u64 {
        self.edges[edge.from.index()][edge.index as usize]
    }
}

/// The start that a path's number belongs to.
fn start_of(dag: &PathDag, number: u64) -> Result<usize, Failure> {
    let place = dag
        .starts()
        .iter()
        .position(|s| (s.value..s.value + s.paths).contains(&number));
    place.ok_or_else(|| format!("path {number} has no start").into())
}

/// How often each path ran at least, by the flow of edges alone. Paths that do not appear ran 0 times at
/// least.
fn definite(
    graph: &SimpleGraph,
    dag: &PathDag,
    counts: &BTreeMap<u64, u64>,
    flow: &Flow,
) -> Result<u64, Failure> {
    let mut sum = 0;
    // What is definite ran: no other paths need be looked at.
    for &number in counts.keys() {
        let mut least = flow.starts[start_of(dag, number)?];
        let path = dag.regenerate(graph, number)?;
        for &edge in &path.edges {
            // What goes another way from this block may have been this path's.
            least = least.saturating_sub(flow.blocks[edge.from.index()] - flow.edge(edge));
        }
        sum += least;
    }
    Ok(sum)
}

/// Has each path an edge (or a start) of its own?
fn is_obvious(graph: &SimpleGraph, dag: &PathDag) -> Result<bool, Failure> {
    if dag.num_paths() > MOST {
        return Ok(false);
    }
    let mut through: BTreeMap<EdgeRef, u32> = BTreeMap::new();
    let mut paths = Vec::new();
    for number in 0..dag.num_paths() {
        let path = dag.regenerate(graph, number)?;
        for &edge in &path.edges {
            *through.entry(edge).or_default() += 1;
        }
        paths.push((dag.starts()[start_of(dag, number)?].paths, path));
    }
    let own = |edge: &EdgeRef| through[edge] == 1;
    Ok(paths
        .iter()
        .all(|(siblings, path)| *siblings == 1 || path.edges.iter().any(own)))
}

/// Frequencies as static prediction sees them: the out-edge that numbering gave 0 is the likely one.
fn predicted(graph: &SimpleGraph, dag: &PathDag) -> Vec<Vec<f64>> {
    let blocks = graph.num_blocks();
    let mut of_block = vec![0.0f64; blocks];
    for start in dag.starts() {
        of_block[start.block.index()] += match start.kind {
            StartKind::Entry | StartKind::Cut => 1.0,
            StartKind::Header => 10.0,
            StartKind::Handler => 0.01,
        };
    }
    // Far enough: blocks stand mostly in the order in which they run.
    let mut edges: Vec<Vec<f64>> = Vec::new();
    for from in (0..blocks).map(BlockId::new) {
        let values = dag.values(from);
        let others = values.len().saturating_sub(1).max(1) as f64;
        let row: Vec<f64> = values
            .iter()
            .map(|value| {
                let share = match (values.len(), value) {
                    (1, _) => 1.0,
                    (_, 0) => 0.8,
                    _ => 0.2 / others,
                };
                of_block[from.index()] * share
            })
            .collect();
        for (&to, share) in graph.successors(from).iter().zip(&row) {
            if to.index() > from.index() && dag.end_cause(to).is_none() {
                of_block[to.index()] += share;
            }
        }
        edges.push(row);
    }
    edges
}

/// How often counters on the chords of a spanning tree are run: the tree is the heaviest by `weight`, and has
/// the edge from the exit back to the entry.
fn chords(graph: &SimpleGraph, dag: &PathDag, flow: &Flow, weight: impl Fn(EdgeRef) -> f64) -> u64 {
    let exit = graph.num_blocks();
    let mut parent: Vec<usize> = (0..=exit).collect();
    fn root(parent: &mut [usize], mut node: usize) -> usize {
        while parent[node] != node {
            parent[node] = parent[parent[node]];
            node = parent[node];
        }
        node
    }
    // (weight, from, to, how often it was followed)
    let mut edges: Vec<(f64, usize, usize, u64)> = Vec::new();
    edges.push((f64::INFINITY, exit, graph.entry().index(), 0));
    for (edge, to) in graph.edges() {
        edges.push((weight(edge), edge.from.index(), to.index(), flow.edge(edge)));
    }
    for block in (0..exit).map(BlockId::new) {
        if graph.successors(block).is_empty() {
            // As likely as the block itself; a probe there stands where a path ends too.
            let into = graph.edges().filter(|(_, to)| *to == block);
            let sum = into.map(|(edge, _)| weight(edge)).sum();
            edges.push((sum, block.index(), exit, flow.blocks[block.index()]));
        }
    }
    for (start, &times) in dag.starts().iter().zip(&flow.starts) {
        if start.kind == StartKind::Handler {
            edges.push((0.001, exit, start.block.index(), times));
        }
    }
    edges.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut run = 0;
    for (_, from, to, times) in edges {
        let (a, b) = (root(&mut parent, from), root(&mut parent, to));
        match a == b {
            true => run += times,
            false => parent[a] = b,
        }
    }
    run
}

#[derive(Default)]
struct Sums {
    methods: u64,
    determined_methods: u64,
    obvious_methods: u64,
    paths: u64,
    updates: u64,
    /// With the best tree, with the predicted one.
    chords: [u64; 2],
    definite: u64,
    in_determined: u64,
    in_obvious: u64,
    mixed: u64,
    /// Updates of the methods that are not obvious.
    mixed_updates: u64,
}

/// Prints the table, a line for each `NAME=FILE`.
pub fn run(profiles: &[String]) -> Result<(), Failure> {
    println!(
        "| | methods | path ends | updates | chords, best tree | predicted tree | per path end | determined: path executions | methods | \
         path executions in those | obvious: methods | path executions in those | mixed: counts | updates |"
    );
    println!("|{}", " --- |".repeat(14));
    for argument in profiles {
        let (name, file) = argument.split_once('=').ok_or("arguments are NAME=FILE")?;
        let profile = Profile::load(file)?;
        let mut sums = Sums::default();
        for class in &profile.classes {
            for (map, counts) in class.map.methods.iter().zip(&class.counts) {
                if counts.total() > 0 {
                    sums.add(&map.graph, &map.dag, &counts.paths)?;
                }
            }
        }
        let share = |part: u64, whole: u64| format!("{:.1} %", part as f64 * 100.0 / whole as f64);
        println!(
            "| {name} | {} | {} | {} | {} | {} | {:.2} | {} | {} | {} | {} | {} | {} | {} |",
            sums.methods,
            sums.paths,
            sums.updates,
            sums.chords[0],
            sums.chords[1],
            sums.chords[1] as f64 / sums.paths as f64,
            share(sums.definite, sums.paths),
            share(sums.determined_methods, sums.methods),
            share(sums.in_determined, sums.paths),
            share(sums.obvious_methods, sums.methods),
            share(sums.in_obvious, sums.paths),
            sums.mixed,
            sums.mixed_updates,
        );
    }
    Ok(())
}

impl Sums {
    fn add(
        &mut self,
        graph: &SimpleGraph,
        dag: &PathDag,
        counts: &BTreeMap<u64, u64>,
    ) -> Result<(), Failure> {
        let total: u64 = counts.values().sum();
        let flow = Flow::of(graph, dag, counts)?;
        let plan = Plan::new(graph, dag, false);
        let updated = graph
            .edges()
            .filter(|(edge, _)| plan.op(*edge).update != Update::Keep);
        let updates: u64 = updated.map(|(edge, _)| flow.edge(edge)).sum();
        let guess = predicted(graph, dag);
        let best = chords(graph, dag, &flow, |edge| flow.edge(edge) as f64);
        let static_tree = chords(graph, dag, &flow, |edge| {
            guess[edge.from.index()][edge.index as usize]
        });
        let definite = definite(graph, dag, counts, &flow)?;
        let is_obvious = is_obvious(graph, dag)?;
        self.methods += 1;
        self.paths += total;
        self.updates += updates;
        self.chords[0] += best;
        self.chords[1] += static_tree;
        self.definite += definite;
        if definite == total {
            self.determined_methods += 1;
            self.in_determined += total;
        }
        match is_obvious {
            true => {
                if definite != total {
                    return Err(format!("an obvious method has {definite} of {total} paths").into());
                }
                self.obvious_methods += 1;
                self.in_obvious += total;
                self.mixed += static_tree;
            }
            false => {
                self.mixed += total;
                self.mixed_updates += updates;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use trodden_numbering::{EdgeWeights, NumberingOptions};

    use super::*;

    fn dag(graph: &SimpleGraph) -> PathDag {
        PathDag::build(graph, &EdgeWeights::uniform(graph), &NumberingOptions::default()).unwrap()
    }

    fn sums(graph: &SimpleGraph, counts: &[(u64, u64)]) -> Sums {
        let mut sums = Sums::default();
        let counts = counts.iter().copied().collect();
        sums.add(graph, &dag(graph), &counts).unwrap();
        sums
    }

    /// Two branches in a row: four paths, and edges that cannot tell them apart.
    fn two_branches() -> SimpleGraph {
        SimpleGraph::new(
            7,
            &[(0, 1), (0, 2), (1, 3), (2, 3), (3, 4), (3, 5), (4, 6), (5, 6)],
        )
    }

    #[test]
    fn one_branch_is_obvious() {
        let graph = SimpleGraph::new(4, &[(0, 1), (0, 2), (1, 3), (2, 3)]);
        let sums = sums(&graph, &[(0, 90), (1, 10)]);
        assert_eq!((sums.paths, sums.definite, sums.obvious_methods), (100, 100, 1));
        // One on each side: without either the other's number would not be known.
        assert_eq!(sums.chords[0], 100);
    }

    #[test]
    fn two_branches_are_determined_only_if_one_is_one_sided() {
        let graph = two_branches();
        let even = sums(&graph, &[(0, 25), (1, 25), (2, 25), (3, 25)]);
        assert_eq!((even.definite, even.obvious_methods), (0, 0));
        let biased = sums(&graph, &[(0, 80), (1, 10), (2, 10)]);
        // 90 of 100 go the first way twice: 80 at least take both.
        assert_eq!(biased.definite, 80);
        let one_sided = sums(&graph, &[(0, 80), (1, 20)]);
        assert_eq!((one_sided.definite, one_sided.determined_methods), (100, 1));
    }

    #[test]
    fn a_loop_costs_one_count_per_iteration_at_most() {
        // 0 → 1 (header) → 2 → 1, and out to 3.
        let graph = SimpleGraph::new(4, &[(0, 1), (1, 2), (1, 3), (2, 1)]);
        let dag = dag(&graph);
        let number = |first: usize, leaves: bool| {
            let of = |n: u64| dag.regenerate(&graph, n).unwrap();
            let wanted = |&n: &u64| {
                of(n).first == BlockId::new(first) && matches!(of(n).end, PathEnd::Exit(_)) == leaves
            };
            (0..dag.num_paths()).find(wanted).unwrap()
        };
        let (into, around, out) = (number(0, false), number(1, false), number(1, true));
        let sums = sums(&graph, &[(into, 5), (around, 1000), (out, 5)]);
        assert_eq!((sums.paths, sums.definite), (1010, 1010));
        // One of the loop's two edges, and one on the way through.
        assert_eq!(sums.chords[0], 1005);
    }
}
