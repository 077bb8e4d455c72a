//! From structural paths to Ball-Larus paths (the last column of SPP figure 7, with frequencies).
//!
//! A structural path runs past inner loops; a Ball-Larus path ends at their headers, and one that begins in a
//! loop runs on behind it. So a structural path is cut at its inner loops, and what leaves a loop is
//! continued in the graph around it. *How* it goes on there a structural profile tells only together for all
//! ways through the loop: they are taken to be independent, given the block that the loop was left to.
//! Frequencies of edges come out exactly all the same.
//!
//! Not mapped, but told: what enters a loop elsewhere than at its header (irreducible code; a Ball-Larus path
//! runs on there), and what is cut to keep numbers small.

use std::collections::BTreeMap;

use super::{GlobalError, Node, Structure};
use crate::dag::{PathDag, StartKind};
use crate::graph::{BlockId, EdgeRef, FlowGraph};
use crate::regenerate::PathEnd;

/// Ways on from a loop that are kept, and the least share of them: the rest is
/// [`unmapped`](BallLarusCounts::unmapped).
const MOST_WAYS: usize = 512;
const LEAST_SHARE: f64 = 1e-6;

/// Frequencies of Ball-Larus paths.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BallLarusCounts {
    /// Path number to frequency.
    pub paths: BTreeMap<u64, f64>,
    /// Frequency of structural paths that could not be mapped: how they went on was not seen, or they are cut
    /// off.
    pub unmapped: f64,
}

/// How a piece of a path ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    /// With a Ball-Larus path.
    Done,
    /// In the graph around, behind the loop: the node there.
    Leaves(BlockId),
    /// Nowhere: the structural path was cut off.
    Cut,
}

/// Blocks from the beginning of a Ball-Larus path, or from behind a loop, to the next loop or the end.
#[derive(Clone, Debug)]
struct Piece {
    edges: Vec<EdgeRef>,
    ending: Ending,
    weight: f64,
}

/// What a structural path falls into.
#[derive(Default)]
struct Pieces {
    /// With the kind and block of the Ball-Larus path's start, and the graph that they are in.
    heads: Vec<(StartKind, BlockId, usize, Piece)>,
    /// By the loop that they come from and the node of the graph around it that this loop was left to.
    tails: BTreeMap<(usize, BlockId), Vec<Piece>>,
}

impl Structure {
    /// Frequencies of the Ball-Larus paths of a P-DAG of the same graph, from global frequencies of
    /// structural paths (a table per structure graph, as [`global`](Structure::global) makes them).
    ///
    /// # Errors
    /// If the tables do not fit the graphs.
    pub fn ball_larus(
        &self,
        graph: &impl FlowGraph,
        dag: &PathDag,
        global: &[BTreeMap<u64, f64>],
    ) -> Result<BallLarusCounts, GlobalError> {
        if global.len() != self.graphs.len() {
            return Err(GlobalError::Graphs {
                given: global.len(),
                graphs: self.graphs.len(),
            });
        }
        let mut pieces = Pieces::default();
        let mut result = BallLarusCounts::default();
        for (index, counts) in global.iter().enumerate() {
            for (&number, &weight) in counts {
                if weight > 0.0 && !self.cut_up(index, number, weight, graph, &mut pieces)? {
                    result.unmapped += weight;
                }
            }
        }
        let mut walker = Mapper {
            graph,
            dag,
            structure: self,
            tails: &pieces.tails,
            ways: BTreeMap::new(),
        };
        for (kind, block, index, piece) in &pieces.heads {
            let lost = match piece.ending {
                Ending::Done => walker.count(*kind, *block, &piece.edges, piece.weight, &mut result.paths),
                Ending::Cut => Err(piece.weight),
                Ending::Leaves(to) => {
                    walker.leave(*index, to);
                    let ways = walker.ways.get(&(*index, to)).map_or(&[][..], Vec::as_slice);
                    let mut lost = piece.weight;
                    for (edges, share) in ways {
                        let whole: Vec<EdgeRef> = piece.edges.iter().chain(edges).copied().collect();
                        let weight = piece.weight * share;
                        if walker
                            .count(*kind, *block, &whole, weight, &mut result.paths)
                            .is_ok()
                        {
                            lost -= weight;
                        }
                    }
                    // Rounding.
                    if lost > piece.weight * 1e-9 {
                        Err(lost)
                    } else {
                        Ok(())
                    }
                }
            };
            result.unmapped += lost.err().unwrap_or(0.0);
        }
        Ok(result)
    }

    /// Takes a structural path apart. Returns whether its beginning is that of a Ball-Larus path, or a loop.
    fn cut_up(
        &self,
        index: usize,
        number: u64,
        weight: f64,
        graph: &impl FlowGraph,
        pieces: &mut Pieces,
    ) -> Result<bool, GlobalError> {
        let of = &self.graphs[index];
        let path = of.dag.regenerate(&of.graph, number);
        let path = path.map_err(|error| GlobalError::Path { graph: index, error })?;
        // Where the piece at hand comes from: a start, or a loop and the node that it was left to.
        let mut start = match of.node(path.first) {
            Node::Enter(block) if of.parent.is_none() => Some((StartKind::Entry, block)),
            Node::Enter(block) | Node::Again(block) if Some(block) == of.header => {
                Some((StartKind::Header, block))
            }
            Node::Block(block) if path.start == StartKind::Handler => Some((StartKind::Handler, block)),
            _ => None,
        };
        let begins_at_loop = matches!(of.node(path.first), Node::Loop(_));
        let mut known = start.is_some() || begins_at_loop;
        let whole = known;
        let mut behind: Option<(usize, BlockId)> = None;
        let mut edges: Vec<EdgeRef> = Vec::new();
        let mut finish = |start: &mut Option<(StartKind, BlockId)>,
                          behind: &mut Option<(usize, BlockId)>,
                          edges: &mut Vec<EdgeRef>,
                          ending| {
            let piece = Piece {
                edges: std::mem::take(edges),
                ending,
                weight,
            };
            if let Some((kind, block)) = start.take() {
                pieces.heads.push((kind, block, index, piece));
            } else if let Some(key) = behind.take() {
                pieces.tails.entry(key).or_default().push(piece);
            }
        };
        for edge in &path.edges {
            let to = of.graph.successors(edge.from)[edge.index as usize];
            match of.node(edge.from) {
                Node::Block(from) if edge.index as usize >= graph.successors(from).len() => known = false,
                Node::Block(from) => edges.push(EdgeRef {
                    from,
                    index: edge.index,
                }),
                Node::Loop(inner) => behind = Some((inner, to)),
                _ => {}
            }
            let ending = match of.node(to) {
                Node::Loop(_) | Node::Back(_) => Ending::Done,
                Node::Leave(block) => match self.node_behind(index, block) {
                    Some(node) => Ending::Leaves(node),
                    None => Ending::Cut,
                },
                _ => continue,
            };
            finish(&mut start, &mut behind, &mut edges, ending);
        }
        match path.end {
            PathEnd::Exit(node) if matches!(of.node(node), Node::Block(_)) => {
                finish(&mut start, &mut behind, &mut edges, Ending::Done);
            }
            PathEnd::Exit(_) => {}
            _ => finish(&mut start, &mut behind, &mut edges, Ending::Cut),
        }
        Ok(known && whole)
    }

    /// The node of the graph around a loop to which an edge to this block leads that leaves the loop.
    fn node_behind(&self, index: usize, target: BlockId) -> Option<BlockId> {
        let inner = &self.graphs[index];
        let parent = &self.graphs[inner.parent?];
        let inside = self.around(target);
        let goes_there = |to: &&BlockId| match parent.node(**to) {
            Node::Back(header) | Node::Leave(header) => header == target,
            _ => inside
                .get(parent.depth)
                .is_some_and(|&(g, n)| Some(g) == inner.parent && n == **to),
        };
        parent
            .graph
            .successors(inner.in_parent)
            .iter()
            .find(goes_there)
            .copied()
    }
}

/// By the loop that was left, and where to: edges to the end of the Ball-Larus path, and their share of all
/// ways on.
type Ways = BTreeMap<(usize, BlockId), Vec<(Vec<EdgeRef>, f64)>>;

struct Mapper<'a, G> {
    graph: &'a G,
    dag: &'a PathDag,
    structure: &'a Structure,
    tails: &'a BTreeMap<(usize, BlockId), Vec<Piece>>,
    ways: Ways,
}

impl<G: FlowGraph> Mapper<'_, G> {
    /// Finds the ways on behind a loop. Ends as each step is one loop further out.
    fn leave(&mut self, index: usize, to: BlockId) {
        if self.ways.contains_key(&(index, to)) {
            return;
        }
        let tails = self.tails;
        let tails = tails.get(&(index, to)).map_or(&[][..], Vec::as_slice);
        let total: f64 = tails.iter().map(|tail| tail.weight).sum();
        let parent = self.structure.graphs[index].parent;
        let mut all: BTreeMap<Vec<EdgeRef>, f64> = BTreeMap::new();
        for tail in tails {
            let share = tail.weight / total;
            match (tail.ending, parent) {
                (Ending::Done, _) => *all.entry(tail.edges.clone()).or_default() += share,
                (Ending::Leaves(further), Some(parent)) => {
                    self.leave(parent, further);
                    for (edges, part) in &self.ways[&(parent, further)] {
                        let whole = tail.edges.iter().chain(edges).copied().collect();
                        *all.entry(whole).or_default() += share * part;
                    }
                }
                _ => {}
            }
        }
        let mut ways: Vec<_> = all
            .into_iter()
            .filter(|(_, share)| *share >= LEAST_SHARE)
            .collect();
        ways.sort_by(|a, b| b.1.total_cmp(&a.1));
        ways.truncate(MOST_WAYS);
        self.ways.insert((index, to), ways);
    }

    /// Adds the Ball-Larus paths along these edges; the weight, if there is none.
    fn count(
        &self,
        kind: StartKind,
        block: BlockId,
        edges: &[EdgeRef],
        weight: f64,
        paths: &mut BTreeMap<u64, f64>,
    ) -> Result<(), f64> {
        let restarts = kind == StartKind::Header;
        let mut starts = self.dag.starts().iter();
        let start = match restarts {
            true => self.dag.restart(block),
            false => starts.find(|s| s.kind == kind && s.block == block),
        };
        let mut register = start.ok_or(weight)?.value;
        let mut ended = false;
        let mut arrive = |register: &mut u64, at: BlockId| match self.dag.restart(at) {
            Some(restart) => {
                *paths.entry(*register).or_default() += weight;
                *register = restart.value;
                true
            }
            None => false,
        };
        if !restarts {
            ended = arrive(&mut register, block);
        }
        let mut at = block;
        for &edge in edges {
            register += self.dag.value(edge);
            at = self.graph.successors(edge.from)[edge.index as usize];
            ended = arrive(&mut register, at);
        }
        if self.graph.successors(at).is_empty() {
            *paths.entry(register).or_default() += weight;
            ended = true;
        }
        if ended { Ok(()) } else { Err(weight) }
    }
}
