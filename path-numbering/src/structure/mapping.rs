//! From structural paths to Ball-Larus paths (the last column of SPP figure 7, with frequencies).
//!
//! A structural path runs past inner loops; a Ball-Larus path ends at their headers, and one that begins in a
//! loop runs on behind it. So a structural path is cut into pieces at its inner loops, and wherever a
//! Ball-Larus path ends. Where one runs on although the structural path does not, at a [`Seam`], it continues
//! as structural paths do from there: behind a loop, in a loop that is entered elsewhere than at its header
//! (irreducible code), behind a cut that keeps structural numbers small. *How* it continues, a structural
//! profile states only for all ways to that place together: they are taken to be independent. Frequencies of
//! edges come out exactly all the same.

use std::collections::{BTreeMap, BTreeSet};

use super::{GlobalError, Node, Structure};
use crate::dag::{PathDag, StartKind};
use crate::graph::{BlockId, EdgeRef, FlowGraph};
use crate::regenerate::PathEnd;

/// Ways on from a seam that are kept, and the least share of them: the rest is
/// [`unmapped`](BallLarusCounts::unmapped).
const MAX_WAYS: usize = 512;
const MIN_SHARE: f64 = 1e-6;

/// Frequencies of Ball-Larus paths.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BallLarusCounts {
    /// Path number to frequency.
    pub paths: BTreeMap<u64, f64>,
    /// Frequency of structural paths that could not be mapped: their continuation was not seen, or the ways
    /// that lead to them were not.
    pub unmapped: f64,
}

/// Where a Ball-Larus path runs on and the structural paths that it goes through do not: always at a block at
/// which no Ball-Larus path ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Seam {
    /// A loop, by its graph, was left to this block, which is in the graph around it.
    Behind(usize, BlockId),
    /// A loop was entered at this block of its graph, which is not its header.
    Into(usize, BlockId),
    /// Paths of this graph are cut at this block.
    Cut(usize, BlockId),
}

/// How a piece of a path ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    /// With a Ball-Larus path.
    Done,
    /// As those do that begin at a seam.
    On(Seam),
}

/// Where a piece begins.
#[derive(Clone, Copy, Debug)]
enum Beginning {
    /// With a Ball-Larus path of this kind.
    Path(StartKind, BlockId),
    /// Behind a seam.
    Seam(Seam),
}

/// Blocks of a structural path from a place where a Ball-Larus path begins, or from a seam, to the next one.
#[derive(Clone, Debug)]
struct Piece {
    edges: Vec<EdgeRef>,
    ending: Ending,
    weight: f64,
}

/// The pieces of structural paths.
#[derive(Default)]
struct Pieces {
    /// With the kind and block of the Ball-Larus path's start.
    heads: Vec<(StartKind, BlockId, Piece)>,
    tails: BTreeMap<Seam, Vec<Piece>>,
}

impl Pieces {
    fn add(&mut self, beginning: Option<Beginning>, edges: Vec<EdgeRef>, ending: Ending, weight: f64) {
        let piece = Piece {
            edges,
            ending,
            weight,
        };
        match beginning {
            Some(Beginning::Path(kind, block)) => self.heads.push((kind, block, piece)),
            Some(Beginning::Seam(seam)) => self.tails.entry(seam).or_default().push(piece),
            None => {}
        }
    }
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
        let cutter = Cutter {
            structure: self,
            graph,
            dag,
        };
        let mut pieces = Pieces::default();
        for (index, counts) in global.iter().enumerate() {
            for (&number, &weight) in counts {
                if weight > 0.0 {
                    cutter.cut_up(index, number, weight, &mut pieces)?;
                }
            }
        }
        let mut mapper = Mapper {
            graph,
            dag,
            tails: &pieces.tails,
            ways: BTreeMap::new(),
        };
        let mut result = BallLarusCounts::default();
        for (kind, block, piece) in &pieces.heads {
            let mut lost = piece.weight;
            match piece.ending {
                Ending::Done => {
                    if mapper.count(*kind, *block, &piece.edges, lost, &mut result.paths) {
                        lost = 0.0;
                    }
                }
                Ending::On(seam) => {
                    mapper.follow(seam);
                    for (edges, share) in &mapper.ways[&seam] {
                        let whole: Vec<EdgeRef> = piece.edges.iter().chain(edges).copied().collect();
                        let weight = piece.weight * share;
                        if mapper.count(*kind, *block, &whole, weight, &mut result.paths) {
                            lost -= weight;
                        }
                    }
                }
            }
            // Less is rounding.
            if lost > piece.weight * 1e-9 {
                result.unmapped += lost;
            }
        }
        let reached: BTreeSet<Seam> = mapper.ways.into_keys().collect();
        let never = pieces.tails.iter().filter(|(seam, _)| !reached.contains(seam));
        result.unmapped += never
            .flat_map(|(_, tails)| tails)
            .map(|tail| tail.weight)
            .sum::<f64>();
        Ok(result)
    }
}

/// Takes structural paths apart.
struct Cutter<'a, G> {
    structure: &'a Structure,
    graph: &'a G,
    dag: &'a PathDag,
}

impl<G: FlowGraph> Cutter<'_, G> {
    fn cut_up(&self, index: usize, number: u64, weight: f64, pieces: &mut Pieces) -> Result<(), GlobalError> {
        let of = &self.structure.graphs[index];
        let path = of.dag.regenerate(&of.graph, number);
        let path = path.map_err(|error| GlobalError::Path { graph: index, error })?;
        let mut beginning = match of.node(path.first) {
            Node::Enter(block) if of.parent.is_none() => Some(Beginning::Path(StartKind::Entry, block)),
            // What enters an inner loop as well belongs to that one's graph.
            Node::Enter(block) if self.structure.graph_of(block) != Some(index) => None,
            Node::Enter(block) => Some(self.beginning(block, Seam::Into(index, block))),
            Node::Again(block) => Some(Beginning::Path(StartKind::Header, block)),
            Node::Block(block) if path.start == StartKind::Handler => {
                Some(Beginning::Path(StartKind::Handler, block))
            }
            Node::Block(block) => Some(self.beginning(block, Seam::Cut(index, block))),
            Node::Loop(_) | Node::Back(_) | Node::Leave(_) => None,
        };
        let mut edges: Vec<EdgeRef> = Vec::new();
        for edge in &path.edges {
            let to = of.node(of.graph.successors(edge.from)[edge.index as usize]);
            match (of.node(edge.from), to) {
                (Node::Block(from), to) => {
                    let edge = EdgeRef {
                        from,
                        index: edge.index,
                    };
                    let target = self.graph.successors(from)[edge.index as usize];
                    edges.push(edge);
                    let ending = match to {
                        Node::Block(block) if self.dag.restart(block).is_none() => continue,
                        _ => self.arrive(index, target),
                    };
                    pieces.add(beginning.take(), std::mem::take(&mut edges), ending, weight);
                    if let Node::Block(block) = to {
                        beginning = Some(Beginning::Path(StartKind::Header, block));
                    }
                }
                (Node::Loop(inner), Node::Block(block)) => {
                    beginning = Some(self.beginning(block, Seam::Behind(inner, block)));
                }
                (Node::Enter(block), Node::Loop(_)) if beginning.is_some() => {
                    let ending = self.arrive(index, block);
                    pieces.add(beginning.take(), Vec::new(), ending, weight);
                }
                // From a loop to the next, or further out: which of its blocks, the paths of the loop say.
                _ => {}
            }
        }
        match path.end {
            PathEnd::Exit(_) => pieces.add(beginning, edges, Ending::Done, weight),
            PathEnd::At(node, _) | PathEnd::Stopped(node) => match (of.node(node), beginning) {
                (Node::Block(block), _) if self.dag.restart(block).is_none() => {
                    pieces.add(beginning, edges, Ending::On(Seam::Cut(index, block)), weight);
                }
                // Arrived at its very first block.
                (_, Some(Beginning::Path(StartKind::Entry | StartKind::Handler, _))) => {
                    pieces.add(beginning, edges, Ending::Done, weight);
                }
                // Ended when it arrived there.
                _ => {}
            },
        }
        Ok(())
    }

    /// The beginning of a piece at this block.
    fn beginning(&self, block: BlockId, seam: Seam) -> Beginning {
        match self.dag.restart(block) {
            Some(_) => Beginning::Path(StartKind::Header, block),
            None => Beginning::Seam(seam),
        }
    }

    /// How a piece ends whose last edge leads from a block of a graph's own to this block, if it ends there.
    fn arrive(&self, from: usize, target: BlockId) -> Ending {
        if self.dag.restart(target).is_some() {
            return Ending::Done;
        }
        let inside = self.structure.graphs_around(target);
        let (mut left, mut at) = (None, from);
        while !inside.contains(&at)
            && let Some(parent) = self.structure.graphs[at].parent
        {
            left = Some(at);
            at = parent;
        }
        match (left, inside.last()) {
            (Some(left), Some(&own)) if own == at => Ending::On(Seam::Behind(left, target)),
            (_, Some(&own)) => Ending::On(Seam::Into(own, target)),
            (_, None) => Ending::Done,
        }
    }
}

/// By seam: edges from there to the end of the Ball-Larus path, and their share of all ways on.
type Ways = BTreeMap<Seam, Vec<(Vec<EdgeRef>, f64)>>;

struct Mapper<'a, G> {
    graph: &'a G,
    dag: &'a PathDag,
    tails: &'a BTreeMap<Seam, Vec<Piece>>,
    ways: Ways,
}

impl<G: FlowGraph> Mapper<'_, G> {
    /// Finds the ways on from a seam. Ends as each step is further on in an acyclic graph.
    fn follow(&mut self, seam: Seam) {
        if self.ways.contains_key(&seam) {
            return;
        }
        let tails = self.tails;
        let tails = tails.get(&seam).map_or(&[][..], Vec::as_slice);
        let total: f64 = tails.iter().map(|tail| tail.weight).sum();
        let mut all: BTreeMap<Vec<EdgeRef>, f64> = BTreeMap::new();
        for tail in tails {
            let share = tail.weight / total;
            match tail.ending {
                Ending::Done => *all.entry(tail.edges.clone()).or_default() += share,
                Ending::On(next) => {
                    self.follow(next);
                    for (edges, part) in &self.ways[&next] {
                        if share * part >= MIN_SHARE {
                            let whole = tail.edges.iter().chain(edges).copied().collect();
                            *all.entry(whole).or_default() += share * part;
                        }
                    }
                }
            }
        }
        let mut ways: Vec<_> = all.into_iter().filter(|(_, share)| *share >= MIN_SHARE).collect();
        ways.sort_by(|a, b| b.1.total_cmp(&a.1));
        ways.truncate(MAX_WAYS);
        self.ways.insert(seam, ways);
    }

    /// Adds the Ball-Larus paths along these edges. Are there any?
    fn count(
        &self,
        kind: StartKind,
        block: BlockId,
        edges: &[EdgeRef],
        weight: f64,
        paths: &mut BTreeMap<u64, f64>,
    ) -> bool {
        let restarts = kind == StartKind::Header;
        let mut starts = self.dag.starts().iter();
        let start = if restarts {
            self.dag.restart(block)
        } else {
            starts.find(|s| s.kind == kind && s.block == block)
        };
        let Some(start) = start else { return false };
        let mut register = start.value;
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
        ended
    }
}
