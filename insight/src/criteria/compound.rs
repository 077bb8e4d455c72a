//! Which branches of the bytecode are one decision of the source: conditions joined by `&&`, `||` and `?:`.
//!
//! A branch joins the one before if it is reached from that alone and one of its ways leads where the other
//! way of the one before leads: `a && b` and `a || b` are compiled to that, and larger expressions to the
//! same of larger pieces. Of `a ? b : c`, both `b` and `c` are reached from `a` alone, and lead to the same two places. Two `if`s inside of each other, with nothing between and no `else`, are the same
//! code; they are told apart by the line that begins with the inner one.

use std::collections::BTreeSet;

use trodden_numbering::{BlockId, FlowGraph};
use trodden_profile::{BlockExit, MethodMap};

use super::destinations;

/// One decision: its conditions, by the blocks that they end, in the order in which they are evaluated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compound {
    pub conditions: Vec<usize>,
}

impl Compound {
    /// The condition that is evaluated first.
    pub fn root(&self) -> usize {
        self.conditions[0]
    }

    /// True if an evaluation ends here. The first condition again begins a new one.
    pub fn is_outcome(&self, block: usize) -> bool {
        block == self.root() || !self.conditions.contains(&block)
    }
}

/// A decision that is being put together: both places that it leads to.
struct Piece {
    compound: Compound,
    ways: [usize; 2],
}

/// All decisions of a method, by their first blocks; `keep` says which branches are of the source.
pub fn compounds(map: &MethodMap, keep: impl Fn(usize) -> bool) -> Vec<Compound> {
    let from_outside = starts(map);
    let destinations = destinations(map);
    let before = predecessors(map, &destinations);
    let single = |block: usize| {
        let ways: Vec<usize> = map
            .graph
            .successors(BlockId::new(block))
            .iter()
            .map(|to| destinations[to.index()])
            .collect();
        let decides = map.blocks[block].exit == BlockExit::Branch && keep(block);
        match ways[..] {
            [a, b] if decides && a != b => Some(Piece {
                compound: Compound {
                    conditions: vec![block],
                },
                ways: [a, b],
            }),
            _ => None,
        }
    };
    let mut pieces: Vec<Option<Piece>> = (0..map.blocks.len()).map(single).collect();
    // From the back: of `a && (b && c)`, the pieces of the right-hand side are whole before `a` is looked at.
    for first in (0..pieces.len()).rev() {
        let Some(mut piece) = pieces[first].take() else {
            continue;
        };
        loop {
            if let Some((next, other)) = joins(map, &piece, &pieces, &before, &from_outside) {
                let Some(second) = pieces[next].take() else { break };
                let far = match second.ways {
                    [a, b] if a == other => b,
                    [a, _] => a,
                };
                piece.compound.conditions.extend(second.compound.conditions);
                piece.ways = [other, far];
            } else if let Some(arms) = chooses(map, &piece, &pieces, &before, &from_outside) {
                for arm in arms.into_iter().filter_map(|arm| pieces[arm].take()) {
                    piece.compound.conditions.extend(arm.compound.conditions);
                    piece.ways = arm.ways;
                }
            } else {
                break;
            }
        }
        pieces[first] = Some(piece);
    }
    pieces.into_iter().flatten().map(|piece| piece.compound).collect()
}

/// The piece that continues this one by `&&` or `||`, and the place that both lead to.
fn joins(
    map: &MethodMap,
    piece: &Piece,
    pieces: &[Option<Piece>],
    before: &[BTreeSet<usize>],
    from_outside: &BTreeSet<usize>,
) -> Option<(usize, usize)> {
    let [a, b] = piece.ways;
    [(a, b), (b, a)].into_iter().find(|&(next, other)| {
        let shares = pieces[next]
            .as_ref()
            .is_some_and(|second| second.ways.contains(&other));
        shares && continues(map, piece, next, before, from_outside)
    })
}

/// The two pieces that a piece chooses between, if both lead to the same two places: `?:`.
fn chooses(
    map: &MethodMap,
    piece: &Piece,
    pieces: &[Option<Piece>],
    before: &[BTreeSet<usize>],
    from_outside: &BTreeSet<usize>,
) -> Option<[usize; 2]> {
    let mut arms = piece.ways;
    arms.sort_unstable();
    let [Some(first), Some(second)] = arms.map(|arm| pieces[arm].as_ref()) else {
        return None;
    };
    let same = first.ways.iter().all(|way| second.ways.contains(way));
    let continue_it = arms
        .iter()
        .all(|&arm| continues(map, piece, arm, before, from_outside));
    (same && continue_it).then_some(arms)
}

/// Does a block continue a decision: is it reached from there alone, without a statement that begins with it?
fn continues(
    map: &MethodMap,
    piece: &Piece,
    next: usize,
    before: &[BTreeSet<usize>],
    from_outside: &BTreeSet<usize>,
) -> bool {
    let inside = before[next]
        .iter()
        .all(|from| piece.compound.conditions.contains(from));
    inside && !from_outside.contains(&next) && !begins_a_line(map, &piece.compound, next)
}

/// Does a statement of another line begin with the block? A condition that goes over several lines has their
/// numbers only at calls within it.
fn begins_a_line(map: &MethodMap, before: &Compound, block: usize) -> bool {
    let start = map.blocks[block].start;
    let has_entry = map.lines.iter().any(|entry| entry.bci == start);
    let last = before.conditions.iter().max().copied().unwrap_or(before.root());
    has_entry && map.line(start) != map.line(map.blocks[last].last)
}

/// Blocks that are entered other than by an edge.
fn starts(map: &MethodMap) -> BTreeSet<usize> {
    let handlers = map.graph.extra_starts().iter().copied();
    handlers.chain([map.graph.entry()]).map(BlockId::index).collect()
}

fn predecessors(map: &MethodMap, destinations: &[usize]) -> Vec<BTreeSet<usize>> {
    let mut before = vec![BTreeSet::new(); map.blocks.len()];
    let jumps = |block: usize| destinations[block] != block;
    for (edge, to) in map.graph.edges().filter(|(edge, _)| !jumps(edge.from.index())) {
        before[destinations[to.index()]].insert(edge.from.index());
    }
    before
}
