//! The uncovered path that is easiest to reach: one decision away from a path that ran.
//!
//! Such a path exists wherever some, but not all, paths from a start ran. Let every branch block have a fixed
//! answer: the answers of a covered path and those of an uncovered one differ at some blocks. Change them one
//! after the other: the first path that is new differs from the covered one before it by one answer. Blocks which
//! the covered path did not pass may answer as they like.

use std::collections::{HashMap, HashSet};

use trodden_numbering::{BlockId, EdgeRef, FlowGraph, Path};
use trodden_profile::{ExecutedPath, MethodCounts, MethodMap};

/// Covered paths that are looked at, hottest first.
const MOST_SOURCES: usize = 256;
/// Edges that are followed before the search for a neighbour is given up.
const MOST_STEPS: u64 = 200_000;

/// A path that did not run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nearest {
    /// Its number.
    pub number: u64,
    /// The path.
    pub path: Path,
    /// The decision by which it leaves a path that ran; `None` if no path from the same start ran.
    pub flip: Option<Flip>,
}

/// A decision of a path that ran, and how it has to go instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flip {
    /// Number of the path that ran.
    pub of: u64,
    /// How often it ran.
    pub count: u64,
    /// The way it went.
    pub seen: EdgeRef,
    /// The way to the uncovered path.
    pub instead: EdgeRef,
}

/// At most `most` uncovered paths, the nearest first: neighbours of the hottest paths, each flipped as late as possible.
/// None if all paths ran, or the map is damaged.
pub fn nearest(map: &MethodMap, counts: &MethodCounts, most: usize) -> Vec<Nearest> {
    let ran =
        |(&number, &count): (&u64, &u64)| (count > 0 && number < map.num_paths()).then_some((number, count));
    let mut order: Vec<(u64, u64)> = counts.paths.iter().filter_map(ran).collect();
    order.sort_by_key(|&(number, count)| (std::cmp::Reverse(count), number));
    let mut search = Search {
        map,
        known: order.iter().map(|&(number, _)| number).collect(),
        steps: MOST_STEPS,
    };
    let mut all = Vec::new();
    for &(of, count) in order.iter().take(MOST_SOURCES) {
        let Ok(source) = map.dag.regenerate(&map.graph, of) else {
            continue;
        };
        while all.len() < most
            && let Some((number, seen, instead)) = search.neighbour(&source, of)
            && let Ok(path) = map.dag.regenerate(&map.graph, number)
        {
            search.known.insert(number);
            let flip = Flip {
                of,
                count,
                seen,
                instead,
            };
            all.push(Nearest {
                number,
                path,
                flip: Some(flip),
            });
        }
    }
    while all.len() < most
        && let Some(found) = first_gap(map, &search.known, &order)
    {
        search.known.insert(found.number);
        all.push(found);
    }
    all
}

/// Two outcomes on a path which both ran, but on no path together: of those the pair with the earliest second one, then
/// with the latest first one, as what comes after the two of them may follow from them. `None` if there is no pair, or
/// if a path that ran cannot be read.
pub fn never_together(map: &MethodMap, counts: &MethodCounts, path: &Path) -> Option<[EdgeRef; 2]> {
    let ran: Result<Vec<ExecutedPath>, _> = map.executed(counts).collect();
    let ran: Vec<HashSet<EdgeRef>> = ran
        .ok()?
        .into_iter()
        .map(|ran| ran.path.edges.into_iter().collect())
        .collect();
    let decides = |edge: &&EdgeRef| map.graph.successors(edge.from).len() > 1;
    let edges: Vec<EdgeRef> = path.edges.iter().filter(decides).copied().collect();
    let did = |edge: EdgeRef| ran.iter().any(|ran| ran.contains(&edge));
    let together = |[a, b]: [EdgeRef; 2]| ran.iter().any(|ran| ran.contains(&a) && ran.contains(&b));
    let pairs = edges.iter().enumerate().flat_map(|(at, &second)| {
        let before = edges[..at].iter().rev();
        before.map(move |&first| [first, second])
    });
    let mut pairs = pairs.filter(|&[a, b]| did(a) && did(b));
    pairs.find(|&pair| !together(pair))
}

struct Search<'a> {
    map: &'a MethodMap,
    /// Paths that ran, and those that were found.
    known: HashSet<u64>,
    /// Edges that may still be followed.
    steps: u64,
}

impl Search<'_> {
    /// An uncovered path that takes one decision of this covered one differently: its number, and both ways.
    fn neighbour(&mut self, path: &Path, number: u64) -> Option<(u64, EdgeRef, EdgeRef)> {
        let answers: HashMap<BlockId, u32> = path.edges.iter().map(|e| (e.from, e.index)).collect();
        // What the path register held before each edge.
        let mut before = number;
        for &seen in path.edges.iter().rev() {
            before = before.checked_sub(self.map.dag.value(seen))?;
            let ways = self.map.graph.successors(seen.from).len() as u32;
            for index in (0..ways).filter(|&index| index != seen.index) {
                let instead = EdgeRef {
                    from: seen.from,
                    index,
                };
                if let Some(found) = self.uncovered(instead, before, &answers) {
                    return Some((found, seen, instead));
                }
            }
        }
        None
    }

    /// An uncovered path that follows this edge and then answers as given, where an answer is given. At most one more
    /// path is tried than there are known ones.
    fn uncovered(&mut self, edge: EdgeRef, before: u64, answers: &HashMap<BlockId, u32>) -> Option<u64> {
        let mut open = vec![(edge, before)];
        while let Some((edge, number)) = open.pop() {
            self.steps = self.steps.checked_sub(1)?;
            let number = number.checked_add(self.map.dag.value(edge))?;
            let at = *self.map.graph.successors(edge.from).get(edge.index as usize)?;
            let ways = self.map.graph.successors(at).len() as u32;
            if ways == 0 || self.map.dag.end_cause(at).is_some() {
                if !self.known.contains(&number) {
                    return Some(number);
                }
                continue;
            }
            let way = |index| (EdgeRef { from: at, index }, number);
            match answers.get(&at) {
                Some(&index) => open.push(way(index)),
                // The first successor is tried first.
                None => open.extend((0..ways).rev().map(way)),
            }
        }
        None
    }
}

/// The path with the lowest number that is not known, and the covered one that goes with it farthest.
fn first_gap(map: &MethodMap, known: &HashSet<u64>, order: &[(u64, u64)]) -> Option<Nearest> {
    // Where fewer are known than there are, the gap is among the first of them.
    let numbers = 0..map.num_paths().min(known.len() as u64 + 1);
    let number = numbers.into_iter().find(|n| !known.contains(n))?;
    let path = map.dag.regenerate(&map.graph, number).ok()?;
    let together = |other: &Path| {
        let pairs = path.edges.iter().zip(&other.edges);
        pairs.take_while(|(a, b)| a == b).count()
    };
    let mut best: Option<(usize, Flip)> = None;
    for &(of, count) in order {
        let Ok(other) = map.dag.regenerate(&map.graph, of) else {
            continue;
        };
        if (other.start, other.first) != (path.start, path.first) {
            continue;
        }
        let shared = together(&other);
        if let (Some(&seen), Some(&instead)) = (other.edges.get(shared), path.edges.get(shared))
            && best.is_none_or(|(most, _)| shared > most)
        {
            let flip = Flip {
                of,
                count,
                seen,
                instead,
            };
            best = Some((shared, flip));
        }
    }
    Some(Nearest {
        number,
        path,
        flip: best.map(|(_, flip)| flip),
    })
}
