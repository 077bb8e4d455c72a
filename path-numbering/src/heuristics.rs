//! Static branch prediction: edge weights for smart numbering when there is no profile.
//!
//! The heuristics are those of Ball and Larus, *Branch Prediction for Free* (PLDI 1993); the probabilities
//! and their combination by Dempster-Shafer those of Wu and Larus, *Static Branch Frequency and Program
//! Profile Analysis* (MICRO 1994); the throw heuristic is added here. Each is described at its [`Heuristic`].
//!
//! *In*: a graph and [`BranchHints`], what only the front end knows about blocks and branches. *Out*:
//! [`EdgeWeights`], per block probabilities that sum to 1. They only have to get the *order* right: a wrong
//! one moves the zero to the wrong edge (PEP section 3.4) and costs an addition, never correctness.
//!
//! How a block is decided, by its number of out-edges:
//! * one: 1.
//! * two: [loop branch](Heuristic::LoopBranch) alone if exactly one of them is retreating; else every other
//!   heuristic votes and the votes are combined, starting from one half each. Heuristics that
//!   speak for both edges at once say nothing.
//! * more (a switch): **uniform per key**. An edge counts as often as it has [keys](BranchHints::keys), the
//!   default edge as one key: nothing in the code says that the default is rare, and where it is an error it
//!   ends in a throw, which is the one heuristic that switches heed.

use crate::graph::{BlockId, EdgeRef, EdgeWeights, FlowGraph};
use crate::loops::{Loops, Postdominators};
use crate::rows::Rows;
use crate::walk::DepthFirst;

/// Properties of a block that the front end knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlockTraits {
    /// It ends by returning from the routine.
    pub returns: bool,
    /// It ends by throwing.
    pub throws: bool,
    /// It calls something.
    pub calls: bool,
    /// It stores to memory (a field or an array element, not a local variable).
    pub stores: bool,
}

/// The condition of a two-way branch. Negated tests are stated by [`BranchTest::holds`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// The pointer is null.
    PointerNull,
    /// The pointers are the same.
    PointerEqual,
    /// The integer is less than 0.
    IntNegative,
    /// The integer is less than or equal to 0.
    IntNonPositive,
    /// The integer is equal to a constant. (Not for truth values: neither answer is the rarer one.)
    IntEqual,
    /// The floating-point numbers are equal.
    FloatEqual,
    /// Anything else: no vote.
    Other,
}

/// The test at the end of a block with two out-edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BranchTest {
    /// The condition.
    pub condition: Condition,
    /// Position (0 or 1) of the successor that is followed when the answer is yes.
    pub holds: u32,
    /// Per successor, true if its block uses an operand of the test before assigning to it. For the guard
    /// heuristic.
    pub guards: [bool; 2],
}

impl BranchTest {
    /// A test whose yes leads to successor `holds`; nothing known about its operands' uses.
    pub fn new(condition: Condition, holds: u32) -> Self {
        BranchTest {
            condition,
            holds,
            guards: [false; 2],
        }
    }
}

/// Hints that the front end can give about a routine.
pub trait BranchHints {
    /// About a block.
    fn traits(&self, block: BlockId) -> BlockTraits;

    /// About the test a block ends with, if it is a two-way branch.
    fn test(&self, block: BlockId) -> Option<BranchTest>;

    /// How many keys of a switch lead along this edge; the default counts as one.
    fn keys(&self, edge: EdgeRef) -> u32 {
        let _ = edge;
        1
    }
}

/// Hints kept in tables; blocks beyond a table's end have none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HintTable {
    /// Per block.
    pub traits: Vec<BlockTraits>,
    /// Per block.
    pub tests: Vec<Option<BranchTest>>,
    /// Per block and successor; 1 where missing.
    pub keys: Vec<Vec<u32>>,
}

impl BranchHints for HintTable {
    fn traits(&self, block: BlockId) -> BlockTraits {
        self.traits.get(block.index()).copied().unwrap_or_default()
    }

    fn test(&self, block: BlockId) -> Option<BranchTest> {
        self.tests.get(block.index()).copied().flatten()
    }

    fn keys(&self, edge: EdgeRef) -> u32 {
        self.keys
            .get(edge.from.index())
            .and_then(|keys| keys.get(edge.index as usize))
            .copied()
            .unwrap_or(1)
    }
}

/// The heuristics. Where a description speaks of a successor "off the main road" it means: one that does not
/// postdominate the branch, so that not following the edge can avoid it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Heuristic {
    /// A retreating edge is followed (0.88): loops repeat. It decides alone, as in Wu and Larus' algorithm.
    /// Likewise, at a loop's header, the edge that leaves this loop is not followed (a `while` loop whose
    /// test is at the top); that vote is combined with the others.
    LoopBranch,
    /// A branch elsewhere inside a loop, with no loop header among its successors, does not leave the loop
    /// (0.80).
    LoopExit,
    /// A successor that is a loop header, or goes straight on to one, is followed if off the main road
    /// (0.75): a guarded loop is there to be run. Retreating edges are [`Heuristic::LoopBranch`]'s.
    LoopHeader,
    /// A successor that calls is not followed if off the main road (0.78).
    Call,
    /// A successor that stores is not followed if off the main road (0.55).
    Store,
    /// A successor that returns, or goes straight on to a block that does, is not followed (0.72): early
    /// returns are special cases, more so of recursion.
    Return,
    /// A successor that uses an operand of the test before assigning to it is followed if off the main road
    /// (0.62): the test guards the use.
    Guard,
    /// Pointers are not null and not equal to each other (0.60).
    Pointer,
    /// Integers are not negative, not zero-or-less and not equal to a constant; floating-point numbers are
    /// not equal (0.84): such values usually mean errors or special cases.
    Opcode,
    /// An edge after which every way ends in a throw is not followed (0.99). Not one of Ball and Larus': C
    /// has no exceptions. The number is chosen, not measured: high enough that no two others together
    /// outweigh it.
    Throw,
}

impl Heuristic {
    /// All of them.
    pub const ALL: [Heuristic; 10] = [
        Heuristic::LoopBranch,
        Heuristic::LoopExit,
        Heuristic::LoopHeader,
        Heuristic::Call,
        Heuristic::Store,
        Heuristic::Return,
        Heuristic::Guard,
        Heuristic::Pointer,
        Heuristic::Opcode,
        Heuristic::Throw,
    ];

    /// How often it is right (Wu and Larus, table 1).
    pub const fn probability(self) -> f64 {
        match self {
            Heuristic::LoopBranch => 0.88,
            Heuristic::LoopExit => 0.80,
            Heuristic::LoopHeader => 0.75,
            Heuristic::Call => 0.78,
            Heuristic::Store => 0.55,
            Heuristic::Return => 0.72,
            Heuristic::Guard => 0.62,
            Heuristic::Pointer => 0.60,
            Heuristic::Opcode => 0.84,
            Heuristic::Throw => 0.99,
        }
    }
}

/// Two pieces of evidence about the same outcome as one (Dempster-Shafer; Wu and Larus, section 3).
pub fn combine(p: f64, q: f64) -> f64 {
    let both = p * q;
    let neither = (1.0 - p) * (1.0 - q);
    if both + neither == 0.0 {
        0.5
    } else {
        both / (both + neither)
    }
}

/// A heuristic's say at a two-way branch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HeuristicVote {
    /// Whose.
    pub heuristic: Heuristic,
    /// Position (0 or 1) of the successor it expects to be followed.
    pub expects: u32,
}

/// The facts about one graph that all votes are based on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Analysis {
    predecessors: Rows<BlockId>,
    loops: Loops,
    postdominators: Postdominators,
    /// Blocks from which every way ends in a throw.
    throws: Vec<bool>,
}

impl Analysis {
    /// Finds loops, postdominators and what leads to throws, in memory that was used before.
    pub fn run(&mut self, graph: &impl FlowGraph, hints: &impl BranchHints, walk: &DepthFirst) {
        let blocks = graph.num_blocks();
        let edges = graph.edges().map(|(edge, to)| (to.index(), edge.from));
        if !walk.retreating.is_empty() || walk.postorder.len() < blocks {
            self.predecessors.group(blocks, edges);
        }
        self.loops.find(graph, walk, &self.predecessors);
        self.postdominators.find(graph, walk, &self.predecessors);
        self.throws.clear();
        self.throws
            .extend((0..blocks).map(|b| hints.traits(BlockId::new(b)).throws));
        for &block in &walk.postorder {
            let successors = graph.successors(block);
            let all = |&to: &BlockId| !walk.is_retreating(block, to) && self.throws[to.index()];
            let throws = !successors.is_empty() && successors.iter().all(all);
            self.throws[block.index()] |= throws;
        }
    }

    /// The weights of all edges, in memory that was used before.
    pub fn weights(
        &self,
        graph: &impl FlowGraph,
        hints: &impl BranchHints,
        walk: &DepthFirst,
        weights: &mut Rows<f64>,
    ) {
        let view = View {
            graph,
            hints,
            walk,
            analysis: self,
        };
        weights.clear();
        for block in (0..graph.num_blocks()).map(BlockId::new) {
            view.probabilities(block, |p| weights.push(p));
            weights.end_row();
        }
    }
}

/// The analysis of one graph that all votes are based on.
pub struct Predictor<'a, G, H> {
    graph: &'a G,
    hints: &'a H,
    walk: DepthFirst,
    analysis: Analysis,
}

impl<'a, G: FlowGraph, H: BranchHints> Predictor<'a, G, H> {
    /// Finds loops, postdominators and what leads to throws.
    ///
    /// # Panics
    /// If the graph names a block that does not exist ([`PathDag::build`](crate::PathDag::build) reports
    /// that).
    pub fn new(graph: &'a G, hints: &'a H) -> Self {
        let walk = DepthFirst::new(graph);
        let mut analysis = Analysis::default();
        analysis.run(graph, hints, &walk);
        Predictor {
            graph,
            hints,
            walk,
            analysis,
        }
    }

    fn view(&self) -> View<'_, G, H> {
        View {
            graph: self.graph,
            hints: self.hints,
            walk: &self.walk,
            analysis: &self.analysis,
        }
    }

    /// Probabilities of a block's out-edges, in successor order; they sum to 1.
    pub fn probabilities(&self, block: BlockId) -> Vec<f64> {
        let mut all = Vec::new();
        self.view().probabilities(block, |p| all.push(p));
        all
    }

    /// The votes on a block with two out-edges; empty for any other.
    pub fn votes(&self, block: BlockId) -> Vec<HeuristicVote> {
        let mut all = Vec::new();
        self.view().votes(block, |vote| all.push(vote));
        all
    }
}

/// A graph with everything that is known about it.
struct View<'v, G, H> {
    graph: &'v G,
    hints: &'v H,
    walk: &'v DepthFirst,
    analysis: &'v Analysis,
}

impl<G: FlowGraph, H: BranchHints> View<'_, G, H> {
    /// [`Predictor::probabilities`], one by one.
    fn probabilities(&self, block: BlockId, mut say: impl FnMut(f64)) {
        match self.graph.successors(block) {
            [] => {}
            [_] => say(1.0),
            [_, _] => {
                let mut first = 0.5;
                self.votes(block, |vote| {
                    let q = vote.heuristic.probability();
                    first = combine(first, if vote.expects == 0 { q } else { 1.0 - q });
                });
                say(first);
                say(1.0 - first);
            }
            successors => {
                let rare = Heuristic::Throw.probability();
                let weights = (0u32..).zip(successors).map(|(index, to)| {
                    let keys = self.hints.keys(EdgeRef { from: block, index }).max(1);
                    let throws = self.analysis.throws[to.index()];
                    f64::from(keys) * if throws { 1.0 - rare } else { rare }
                });
                let sum: f64 = weights.clone().sum();
                weights.for_each(|w| say(w / sum));
            }
        }
    }

    /// [`Predictor::votes`], one by one.
    fn votes(&self, block: BlockId, mut vote: impl FnMut(HeuristicVote)) {
        let &[a, b] = self.graph.successors(block) else {
            return;
        };
        let both = [a, b];
        let Analysis {
            loops,
            postdominators,
            throws,
            ..
        } = self.analysis;
        // The vote of a heuristic that wants (or shuns) successors of a kind: none if both are.
        let mut say = |heuristic, follow: bool, kind: [bool; 2]| {
            if kind[0] != kind[1] {
                let expects = u32::from(kind[1] == follow);
                vote(HeuristicVote { heuristic, expects });
            }
        };
        let retreating = both.map(|to| self.walk.is_retreating(block, to));
        if retreating[0] != retreating[1] {
            say(Heuristic::LoopBranch, true, retreating);
            return;
        }
        let header = both.map(|to| self.walk.retreating_target[to.index()]);
        let leaves_own = both.map(|to| loops.left_by(block, to).any(|h| h == block));
        if leaves_own[0] != leaves_own[1] {
            say(Heuristic::LoopBranch, false, leaves_own);
        } else if header == [false; 2] {
            let leaves = both.map(|to| loops.left_by(block, to).next().is_some());
            say(Heuristic::LoopExit, false, leaves);
        }

        let off_road = both.map(|to| !postdominators.postdominates(to, block));
        let enters = both.map(|to| {
            let onward = self.straight_on(to);
            self.enters_loop(block, to) || onward.is_some_and(|next| self.enters_loop(to, next))
        });
        say(Heuristic::LoopHeader, true, and(enters, off_road));
        let traits = both.map(|to| self.hints.traits(to));
        say(Heuristic::Call, false, and(traits.map(|t| t.calls), off_road));
        say(Heuristic::Store, false, and(traits.map(|t| t.stores), off_road));
        let returns = both.map(|to| {
            let onward = self.straight_on(to);
            self.hints.traits(to).returns || onward.is_some_and(|next| self.hints.traits(next).returns)
        });
        say(Heuristic::Return, false, returns);
        if let Some(test) = self.hints.test(block) {
            say(Heuristic::Guard, true, and(test.guards, off_road));
            let yes = [test.holds == 0, test.holds == 1];
            match test.condition {
                Condition::PointerNull | Condition::PointerEqual => say(Heuristic::Pointer, false, yes),
                Condition::IntNegative
                | Condition::IntNonPositive
                | Condition::IntEqual
                | Condition::FloatEqual => say(Heuristic::Opcode, false, yes),
                Condition::Other => {}
            }
        }
        say(Heuristic::Throw, false, both.map(|to| throws[to.index()]));
    }

    /// The only successor of a block, if it has just one.
    fn straight_on(&self, block: BlockId) -> Option<BlockId> {
        match self.graph.successors(block) {
            [next] => Some(*next),
            _ => None,
        }
    }

    /// Returns true if the edge enters a loop by its header (rather than repeats it).
    fn enters_loop(&self, from: BlockId, to: BlockId) -> bool {
        self.walk.retreating_target[to.index()] && !self.walk.is_retreating(from, to)
    }
}

fn and(a: [bool; 2], b: [bool; 2]) -> [bool; 2] {
    [a[0] && b[0], a[1] && b[1]]
}

impl EdgeWeights {
    /// Weights by static branch prediction (see [`heuristics`](crate::heuristics)), for numbering without a
    /// profile.
    ///
    /// # Panics
    /// If the graph names a block that does not exist.
    pub fn heuristic(graph: &impl FlowGraph, hints: &impl BranchHints) -> Self {
        let walk = DepthFirst::new(graph);
        let mut analysis = Analysis::default();
        analysis.run(graph, hints, &walk);
        let mut weights = Rows::default();
        analysis.weights(graph, hints, &walk, &mut weights);
        EdgeWeights::from_rows(weights)
    }
}
