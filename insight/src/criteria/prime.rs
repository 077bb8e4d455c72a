//! Prime paths of a flow graph: simple paths (no node twice, but that the first may be the last) that are
//! part of no longer one (Ammann and Offutt, *Introduction to Software Testing*). GCC 15 counts the same.

use std::collections::BTreeSet;

use trodden_numbering::{BlockId, FlowGraph};
use trodden_profile::MethodMap;

use super::destinations;

/// A method's blocks as prime paths see them: with a node in front of the entry, without blocks that are a
/// mere `goto`, and blocks that only follow each other as one. How finely straight code is cut into blocks
/// would otherwise change the number of paths around a loop.
pub struct Flow {
    /// Node of each block.
    pub node: Vec<usize>,
    /// Blocks of each node, the first one first. The node in front of the entry may have none.
    pub blocks: Vec<Vec<usize>>,
    successors: Vec<Vec<usize>>,
    predecessors: Vec<Vec<usize>>,
}

/// There are more prime paths than wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooMany;

/// The node in front of the entry.
pub const ENTRY: usize = 0;
/// No node: a block that nothing leads to, or a mere `goto`.
const NOWHERE: usize = usize::MAX;

impl Flow {
    pub fn of(map: &MethodMap) -> Flow {
        let count = map.blocks.len();
        // Node 0 is in front of the entry, block b is b + 1.
        let mut after: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); count + 1];
        after[0].insert(map.graph.entry().index() + 1);
        let destinations = destinations(map);
        for (edge, to) in map.graph.edges() {
            after[edge.from.index() + 1].insert(destinations[to.index()] + 1);
        }
        let handlers: BTreeSet<usize> = map.graph.extra_starts().iter().map(|b| b.index() + 1).collect();
        let reached = reachable(&after, handlers.iter().copied().chain([0]));
        let mut before: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); count + 1];
        for (from, to) in after.iter().enumerate().filter(|&(from, _)| reached[from]) {
            to.iter().for_each(|&to| {
                before[to].insert(from);
            });
        }
        // Is it the only one behind the only one before it?
        let follows = |block: usize| -> Option<usize> {
            let from = *before[block].first()?;
            let alone = before[block].len() == 1 && after[from].len() == 1;
            (alone && from != block && !handlers.contains(&block)).then_some(from)
        };
        let mut flow = Flow {
            node: vec![NOWHERE; count],
            blocks: Vec::new(),
            successors: Vec::new(),
            predecessors: Vec::new(),
        };
        let mut node = vec![NOWHERE; count + 1];
        let heads = (0..=count).filter(|&b| reached[b] && follows(b).is_none());
        let mut ends = Vec::new();
        for head in heads {
            let mut chain = vec![head];
            let mut at = head;
            while let Some(&next) = after[at].first().filter(|&&next| follows(next) == Some(at)) {
                chain.push(next);
                at = next;
            }
            chain.iter().for_each(|&block| node[block] = flow.blocks.len());
            flow.blocks
                .push(chain.iter().filter_map(|block| block.checked_sub(1)).collect());
            ends.push(at);
        }
        flow.node.copy_from_slice(&node[1..]);
        flow.successors = ends
            .iter()
            .map(|&end| after[end].iter().map(|&to| node[to]).collect())
            .collect();
        flow.predecessors = vec![Vec::new(); flow.successors.len()];
        for (from, to) in flow.successors.iter().enumerate() {
            to.iter().for_each(|&to| flow.predecessors[to].push(from));
        }
        flow
    }

    /// The way of a block into its node: its node if it is the node's first block.
    pub fn entered(&self, block: BlockId) -> Option<usize> {
        let node = *self.node.get(block.index())?;
        (self.blocks.get(node)?.first() == Some(&block.index()) && node != ENTRY).then_some(node)
    }

    /// All prime paths, at most `cap`.
    pub fn prime_paths(&self, cap: usize) -> Result<Vec<Vec<usize>>, TooMany> {
        let component = components(&self.successors);
        let mut search = Search {
            flow: self,
            cap,
            // Paths that turn out to be part of others cost as well.
            steps: 1_000_000 + 100 * cap as u64,
            found: Vec::new(),
        };
        for start in 0..self.successors.len() {
            // What another part of the graph leads to can always be made longer at the front, but for rounds.
            let from_elsewhere = |&before: &usize| component[before] != component[start];
            let within = if self.predecessors[start].iter().any(from_elsewhere) {
                Some(&component[..])
            } else {
                None
            };
            search.from(start, within)?;
        }
        Ok(search.found)
    }
}

struct Search<'f> {
    flow: &'f Flow,
    cap: usize,
    steps: u64,
    found: Vec<Vec<usize>>,
}

impl Search<'_> {
    /// Prime paths that begin at a node; with `within`, only those that go round in the node's own component.
    fn from(&mut self, start: usize, within: Option<&[usize]>) -> Result<(), TooMany> {
        let flow = self.flow;
        let allowed = |next: usize| within.is_none_or(|component| component[next] == component[start]);
        let mut on_path = vec![false; flow.successors.len()];
        let mut path = vec![start];
        on_path[start] = true;
        // Per node of the path: the next successor to try, and whether the path went on from it.
        let mut open = vec![(0, false)];
        while let (Some(&at), Some(state)) = (path.last(), open.last_mut()) {
            self.steps = self.steps.checked_sub(1).ok_or(TooMany)?;
            if let Some(&next) = flow.successors[at].get(state.0) {
                state.0 += 1;
                if next == start {
                    state.1 = true;
                    let round = path.iter().copied().chain([start]).collect();
                    self.keep(round)?;
                } else if !on_path[next] && allowed(next) {
                    state.1 = true;
                    on_path[next] = true;
                    path.push(next);
                    open.push((0, false));
                }
                continue;
            }
            let longer = |before: &[usize]| before.iter().any(|&before| !on_path[before]);
            if !state.1 && within.is_none() && !longer(&flow.predecessors[start]) {
                self.keep(path.clone())?;
            }
            on_path[at] = false;
            path.pop();
            open.pop();
        }
        Ok(())
    }

    fn keep(&mut self, path: Vec<usize>) -> Result<(), TooMany> {
        self.found.push(path);
        if self.found.len() > self.cap {
            Err(TooMany)
        } else {
            Ok(())
        }
    }
}

fn reachable(after: &[BTreeSet<usize>], from: impl Iterator<Item = usize>) -> Vec<bool> {
    let mut reached = vec![false; after.len()];
    let mut open: Vec<usize> = from.collect();
    while let Some(at) = open.pop() {
        if !std::mem::replace(&mut reached[at], true) {
            open.extend(&after[at]);
        }
    }
    reached
}

/// The strongly connected component of each node: Tarjan's algorithm, without recursion.
fn components(successors: &[Vec<usize>]) -> Vec<usize> {
    const NONE: usize = usize::MAX;
    let count = successors.len();
    let (mut index, mut low, mut component) = (vec![NONE; count], vec![0; count], vec![NONE; count]);
    let (mut stack, mut next, mut components) = (Vec::new(), 0, 0);
    for root in 0..count {
        let mut work = Vec::new();
        if index[root] == NONE {
            work.push((root, 0));
        }
        while let Some(&mut (at, ref mut child)) = work.last_mut() {
            if *child == 0 {
                (index[at], low[at]) = (next, next);
                next += 1;
                stack.push(at);
            }
            if let Some(&to) = successors[at].get(*child) {
                *child += 1;
                if index[to] == NONE {
                    work.push((to, 0));
                } else if component[to] == NONE {
                    low[at] = low[at].min(index[to]);
                }
                continue;
            }
            if low[at] == index[at] {
                while let Some(of) = stack.pop() {
                    component[of] = components;
                    if of == at {
                        break;
                    }
                }
                components += 1;
            }
            work.pop();
            if let Some(&(above, _)) = work.last() {
                low[above] = low[above].min(low[at]);
            }
        }
    }
    component
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Random, map_of};
    use super::*;

    /// By the definition: all simple paths, without those that are a part of another one.
    fn by_definition(flow: &Flow) -> BTreeSet<Vec<usize>> {
        let mut simple: Vec<Vec<usize>> = (0..flow.successors.len()).map(|node| vec![node]).collect();
        let mut at = 0;
        while at < simple.len() {
            let path = simple[at].clone();
            at += 1;
            let is_round = path.len() > 1 && path[0] == path[path.len() - 1];
            for &next in flow.successors[path[path.len() - 1]].iter().filter(|_| !is_round) {
                if next == path[0] || !path.contains(&next) {
                    simple.push(path.iter().copied().chain([next]).collect());
                }
            }
        }
        let inside = |path: &[usize], of: &[usize]| of.windows(path.len()).any(|part| part == path);
        let prime = |path: &&Vec<usize>| !simple.iter().any(|of| of.len() > path.len() && inside(path, of));
        simple.iter().filter(prime).cloned().collect()
    }

    #[test]
    fn prime_paths_are_those_of_the_definition() {
        let mut random = Random(7);
        let mut rounds = 0;
        for _ in 0..400 {
            let flow = Flow::of(&map_of(&mut random));
            let found = flow.prime_paths(100_000).unwrap();
            let expected = by_definition(&flow);
            assert_eq!(found.len(), expected.len(), "{:?}", flow.successors);
            assert_eq!(found.iter().cloned().collect::<BTreeSet<_>>(), expected);
            rounds += found
                .iter()
                .filter(|path| path.len() > 1 && path[0] == path[path.len() - 1])
                .count();
            if found.len() > 1 {
                assert_eq!(flow.prime_paths(found.len() - 1), Err(TooMany));
            }
        }
        assert!(rounds > 100, "{rounds}");
    }
}
