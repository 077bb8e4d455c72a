//! Which prime paths ran whole, one block after the other, in one call.
//!
//! A counted path ends at the top of a loop, a prime path may go on there. Which path came next is in the
//! k-iteration path forest of the method: a prime path that passes `n` such tops ran if a sequence of `n + 1`
//! paths has it in it.

use std::collections::BTreeMap;

use trodden_numbering::{BlockId, FlowGraph, Path, PathEnd, StartKind};
use trodden_profile::{MethodCounts, MethodMap, PathForest};

use super::prime::{ENTRY, Flow, TooMany};
use crate::view::ran;

/// The prime paths of a method.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PrimePaths {
    /// All of them.
    All(Vec<PrimePath>),
    /// There are more than were asked for.
    TooMany,
}

/// One prime path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrimePath {
    /// Its blocks.
    pub blocks: Vec<BlockId>,
    /// True if it ran whole. `None` if that was not recorded: it goes through the tops of more loops than
    /// sequences of paths are long.
    pub covered: Option<bool>,
    /// Longest sequence of paths that it may take to see it.
    pub needs: u32,
}

/// The known order of paths.
#[derive(Clone, Copy)]
pub enum Followed<'p> {
    /// Nothing: only which paths ran.
    Unknown,
    /// Sequences of paths, of which all up to this length were counted.
    Forest(Option<&'p PathForest>, u32),
}

/// The prime paths of a method, at most `cap`, and which of them ran.
pub fn prime_paths(map: &MethodMap, counts: &MethodCounts, followed: Followed<'_>, cap: usize) -> PrimePaths {
    let flow = Flow::of(map);
    let primes = match flow.prime_paths(cap) {
        Ok(primes) => primes,
        Err(TooMany) => return PrimePaths::TooMany,
    };
    let mut tours = Tours::new(map, &flow, &primes);
    let longest = match followed {
        // Of what did not run, no path ran whole.
        _ if !ran(counts) => u32::MAX,
        Followed::Unknown => 1,
        Followed::Forest(forest, k) => {
            if let Some(forest) = forest {
                tours.add_forest(forest);
            }
            k
        }
    };
    tours.add_counts(counts);
    let covered = tours.covered;
    let one = |(path, covered): (&Vec<usize>, bool)| {
        let needs = needed(map, &flow, path);
        PrimePath {
            blocks: path
                .iter()
                .flat_map(|&node| &flow.blocks[node])
                .map(|&block| BlockId::new(block))
                .collect(),
            covered: (covered || needs <= longest).then_some(covered),
            needs,
        }
    };
    PrimePaths::All(primes.iter().zip(covered).map(one).collect())
}

/// Paths that a prime path can be made of: one more than the places on its way at which paths end.
fn needed(map: &MethodMap, flow: &Flow, path: &[usize]) -> u32 {
    let ends = |&block: &usize| map.dag.end_cause(BlockId::new(block)).is_some();
    let Some((_, way)) = path.split_last() else {
        return 0;
    };
    let passed = way.iter().enumerate().map(|(at, &node)| {
        // Where it begins, a path may have begun as well.
        let on_the_way = match (at, node) {
            (0, ENTRY) => &flow.blocks[node][..],
            (0, _) => flow.blocks[node].get(1..).unwrap_or_default(),
            _ => &flow.blocks[node][..],
        };
        on_the_way.iter().filter(|block| ends(block)).count() as u32
    });
    passed.sum::<u32>() + 1
}

/// The nodes that a counted path enters, in order.
struct Piece {
    nodes: Vec<usize>,
    start: StartKind,
    first: BlockId,
    /// The block at which the next path goes on, if one may.
    end: Option<BlockId>,
}

/// Prime paths as a tree of their nodes, by which a sequence of nodes is looked up at one step each.
#[derive(Default)]
struct Branching {
    next: BTreeMap<usize, usize>,
    /// The prime path that ends here.
    ends: Option<usize>,
}

struct Tours<'m> {
    map: &'m MethodMap,
    flow: &'m Flow,
    tree: Vec<Branching>,
    covered: Vec<bool>,
    pieces: BTreeMap<u64, Option<Piece>>,
}

impl<'m> Tours<'m> {
    fn new(map: &'m MethodMap, flow: &'m Flow, primes: &[Vec<usize>]) -> Self {
        let mut tree = vec![Branching::default()];
        for (index, path) in primes.iter().enumerate() {
            let mut at = 0;
            for &node in path {
                at = match tree[at].next.get(&node) {
                    Some(&there) => there,
                    None => {
                        tree.push(Branching::default());
                        let new = tree.len() - 1;
                        tree[at].next.insert(node, new);
                        new
                    }
                };
            }
            tree[at].ends = Some(index);
        }
        Tours {
            map,
            flow,
            tree,
            covered: vec![false; primes.len()],
            pieces: BTreeMap::new(),
        }
    }

    /// Paths alone, and what ran of those that were cut off.
    fn add_counts(&mut self, counts: &MethodCounts) {
        let map = self.map;
        for executed in map.executed(counts).flatten() {
            let piece = self.piece(&executed.path);
            self.walk(&piece.nodes, Vec::new(), true);
        }
    }

    /// All sequences of a forest. Each occurrence of a prime path begins in some path, and the trees are of
    /// all of them.
    fn add_forest(&mut self, forest: &PathForest) {
        // Per level of the branch: the places in the tree of prime paths, and where the path of the level
        // ended.
        let mut branch: Vec<(Vec<usize>, Option<BlockId>)> = Vec::new();
        for node in forest.nodes().iter().filter(|node| node.count > 0) {
            branch.truncate(node.length as usize - 1);
            self.remember(node.path);
            let Some(Some(piece)) = self.pieces.remove(&node.path) else {
                branch.push((Vec::new(), None));
                continue;
            };
            let state = match branch.last() {
                None => self.walk(&piece.nodes, Vec::new(), true),
                Some((state, end)) => {
                    let goes_on = matches!(piece.start, StartKind::Header | StartKind::Cut)
                        && *end == Some(piece.first);
                    if goes_on {
                        // It begins with the block at which the path before it ended.
                        let again = usize::from(self.flow.entered(piece.first).is_some());
                        let state = state.clone();
                        self.walk(&piece.nodes[again..], state, false)
                    } else {
                        Vec::new()
                    }
                }
            };
            branch.push((state, piece.end));
            self.pieces.insert(node.path, Some(piece));
        }
    }

    fn remember(&mut self, number: u64) {
        if !self.pieces.contains_key(&number) {
            let path = self.map.dag.regenerate(&self.map.graph, number).ok();
            let piece = path.map(|path| self.piece(&path));
            self.pieces.insert(number, piece);
        }
    }

    /// Goes along nodes from places in the tree, and from its root at each of them if `begin`; marks prime
    /// paths that come to their end, and says where it is then.
    fn walk(&mut self, nodes: &[usize], mut state: Vec<usize>, begin: bool) -> Vec<usize> {
        for node in nodes {
            if begin {
                state.push(0);
            }
            let step = |&at: &usize| self.tree[at].next.get(node).copied();
            state = state.iter().filter_map(step).collect();
            for &at in &state {
                if let Some(index) = self.tree[at].ends {
                    self.covered[index] = true;
                }
            }
        }
        state
    }

    fn piece(&self, path: &Path) -> Piece {
        let mut nodes = Vec::with_capacity(path.edges.len() + 2);
        if path.start == StartKind::Entry {
            nodes.push(ENTRY);
        }
        let targets = path
            .edges
            .iter()
            .map(|edge| self.map.graph.successors(edge.from)[edge.index as usize]);
        nodes.extend(
            [path.first]
                .into_iter()
                .chain(targets)
                .filter_map(|block| self.flow.entered(block)),
        );
        Piece {
            nodes,
            start: path.start,
            first: path.first,
            end: match path.end {
                PathEnd::At(block, _) => Some(block),
                _ => None,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::tests::{Random, map_of};
    use super::*;

    /// Calls of a method: the blocks that ran and the numbers of their paths.
    fn call(map: &MethodMap, random: &mut Random) -> (Vec<BlockId>, Vec<u64>) {
        let (mut blocks, mut numbers) = (vec![map.graph.entry()], Vec::new());
        let value = |kind: StartKind, at: BlockId| {
            let mut starts = map.dag.starts().iter();
            starts.find(|s| s.kind == kind && s.block == at).map(|s| s.value)
        };
        let mut register = value(StartKind::Entry, map.graph.entry()).unwrap();
        for _ in 0..12 {
            let at = blocks[blocks.len() - 1];
            if map.dag.end_cause(at).is_some() {
                numbers.push(register);
                register = [StartKind::Header, StartKind::Cut]
                    .into_iter()
                    .find_map(|kind| value(kind, at))
                    .unwrap();
            }
            let ways = map.graph.successors(at);
            if ways.is_empty() {
                numbers.push(register);
                return (blocks, numbers);
            }
            let index = random.below(ways.len());
            let edge = trodden_numbering::EdgeRef {
                from: at,
                index: index as u32,
            };
            register += map.dag.value(edge);
            blocks.push(ways[index]);
        }
        // Too long: what ran since the last end of a path is in no count.
        let ends = |at: &usize| map.dag.end_cause(blocks[*at]).is_some();
        let kept = (0..blocks.len() - 1).rev().find(ends).map_or(0, |at| at + 1);
        blocks.truncate(kept);
        (blocks, numbers)
    }

    /// Every sequence of at most `k` paths of some calls.
    fn forest(calls: &[Vec<u64>], k: usize) -> PathForest {
        let mut sequences: BTreeMap<Vec<u64>, u64> = BTreeMap::new();
        for call in calls {
            for from in 0..call.len() {
                for to in from + 1..=call.len().min(from + k) {
                    *sequences.entry(call[from..to].to_vec()).or_default() += 1;
                }
            }
        }
        let nodes = sequences
            .iter()
            .map(|(s, &n)| (s.len() as u32, s[s.len() - 1], n));
        PathForest::from_preorder(nodes).unwrap()
    }

    #[test]
    fn what_ran_whole_is_found_again_in_sequences_of_paths() {
        let mut random = Random(11);
        let (mut toured, mut unknown) = (0, 0);
        for round in 0..400 {
            let map = map_of(&mut random);
            let calls: Vec<_> = (0..3).map(|_| call(&map, &mut random)).collect();
            let numbers: Vec<Vec<u64>> = calls.iter().map(|(_, numbers)| numbers.clone()).collect();
            let k = 2 + round % 9;
            let forest = forest(&numbers, k);
            let mut counts = MethodCounts::default();
            numbers
                .iter()
                .flatten()
                .for_each(|&number| *counts.paths.entry(number).or_default() += 1);
            let followed = Followed::Forest(Some(&forest), k as u32);
            let PrimePaths::All(paths) = prime_paths(&map, &counts, followed, 100_000) else {
                panic!("too many");
            };
            let flow = Flow::of(&map);
            // The blocks of each call as nodes, and one in front.
            let tour = |(blocks, _): &(Vec<BlockId>, Vec<u64>)| -> Vec<usize> {
                let first = blocks.iter().take(1).map(|_| ENTRY);
                first
                    .chain(blocks.iter().filter_map(|&block| flow.entered(block)))
                    .collect()
            };
            let tours: Vec<Vec<usize>> = calls.iter().map(tour).collect();
            let primes = flow.prime_paths(100_000).unwrap();
            for (path, prime) in paths.iter().zip(&primes) {
                let ran = tours
                    .iter()
                    .any(|tour| tour.windows(prime.len()).any(|part| part == prime));
                match path.covered {
                    Some(covered) => assert_eq!(covered, ran, "{prime:?} of {:?}, k = {k}", map.graph),
                    None => assert!(path.needs > k as u32, "{prime:?}"),
                }
                toured += u32::from(path.covered == Some(true));
                unknown += u32::from(path.covered.is_none());
            }
            // Without sequences less is known, and nothing that is wrong.
            let PrimePaths::All(less) = prime_paths(&map, &counts, Followed::Unknown, 100_000) else {
                panic!("too many");
            };
            for (less, path) in less.iter().zip(&paths) {
                assert!(less.covered.is_none() || path.covered.is_none() || less.covered == path.covered);
            }
        }
        assert!(toured > 300 && unknown > 5, "{toured} {unknown}");
    }
}
