//! Modified condition/decision coverage, masking form: which outcomes of conditions were seen to decide on
//! their own.
//!
//! An evaluation of a decision goes from its first condition to one of the two places behind it. An outcome
//! of a condition counts if, with all other conditions that were evaluated as they were, and some values of
//! those that were not, the other outcome of this condition would have led to the other place: else it is
//! *masked* by what came after it. Java evaluates no condition twice, so the path tells the evaluation, and
//! nothing else is needed.

use std::collections::{BTreeSet, HashMap, HashSet};

use trodden_numbering::{BlockId, FlowGraph, Path};
use trodden_profile::{MethodCounts, MethodMap};

use super::compound::{Compound, compounds};
use super::destinations;

/// One decision of the source, of one condition or several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecisionCoverage {
    /// Its conditions, in the order in which they are evaluated.
    pub conditions: Vec<ConditionCoverage>,
}

/// One condition of a decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConditionCoverage {
    /// The block that it ends.
    pub block: usize,
    /// Per out-edge of the block: did this outcome decide on its own?
    pub decided: [bool; 2],
}

impl DecisionCoverage {
    /// Outcomes of conditions that decided on their own.
    pub fn covered(&self) -> u64 {
        let outcomes = self.conditions.iter().flat_map(|condition| condition.decided);
        outcomes.filter(|&decided| decided).count() as u64
    }

    /// Outcomes of conditions.
    pub fn total(&self) -> u64 {
        2 * self.conditions.len() as u64
    }
}

/// The decisions of a method. `keep` says which branches are of the source.
pub fn mcdc(map: &MethodMap, counts: &MethodCounts, keep: impl Fn(usize) -> bool) -> Vec<DecisionCoverage> {
    let compounds = compounds(map, keep);
    let destinations = destinations(map);
    let mut evaluations = Evaluations::new(map, &compounds, &destinations);
    for executed in map.executed(counts).flatten() {
        evaluations.add(&executed.path);
    }
    let seen = evaluations.seen;
    let mut decisions: Vec<DecisionCoverage> = compounds.iter().map(nothing).collect();
    for (at, evaluation) in seen {
        let way =
            |block: usize, edge: usize| destinations[map.graph.successors(BlockId::new(block))[edge].index()];
        judge(way, &compounds[at], &evaluation, &mut decisions[at]);
    }
    decisions
}

fn nothing(compound: &Compound) -> DecisionCoverage {
    let condition = |&block: &usize| ConditionCoverage {
        block,
        decided: [false; 2],
    };
    DecisionCoverage {
        conditions: compound.conditions.iter().map(condition).collect(),
    }
}

/// An evaluation: blocks of conditions, and which out-edge each took.
type Evaluation = Vec<(usize, usize)>;

/// All different evaluations that paths went through.
struct Evaluations<'m> {
    map: &'m MethodMap,
    compounds: &'m [Compound],
    /// Where blocks lead that only jump.
    destinations: &'m [usize],
    /// The decision of each condition's block.
    of_block: HashMap<usize, usize>,
    seen: HashSet<(usize, Evaluation)>,
}

impl<'m> Evaluations<'m> {
    fn new(map: &'m MethodMap, compounds: &'m [Compound], destinations: &'m [usize]) -> Self {
        let blocks =
            |(at, compound): (usize, &'m Compound)| compound.conditions.iter().map(move |&block| (block, at));
        Evaluations {
            map,
            compounds,
            destinations,
            of_block: compounds.iter().enumerate().flat_map(blocks).collect(),
            seen: HashSet::new(),
        }
    }

    fn add(&mut self, path: &Path) {
        let mut open: Option<(usize, Evaluation)> = None;
        for edge in &path.edges {
            let from = edge.from.index();
            let Some(&at) = self.of_block.get(&from) else {
                continue;
            };
            let compound = &self.compounds[at];
            if from == compound.root() {
                open = Some((at, Vec::new()));
            }
            // Without its beginning (the path began in the middle of a very large method), it is no
            // evaluation.
            let Some((_, evaluation)) = open.as_mut().filter(|(of, _)| *of == at) else {
                continue;
            };
            evaluation.push((from, edge.index as usize));
            let to = self.map.graph.successors(edge.from)[edge.index as usize];
            if compound.is_outcome(self.destinations[to.index()]) {
                self.seen.extend(open.take());
            }
        }
    }
}

/// Adds what an evaluation says of its conditions; `way` is where an out-edge of a block leads.
fn judge(
    way: impl Fn(usize, usize) -> usize,
    compound: &Compound,
    evaluation: &Evaluation,
    into: &mut DecisionCoverage,
) {
    let Some(outcome) = evaluation.last().map(|&(block, edge)| way(block, edge)) else {
        return;
    };
    for &(block, edge) in evaluation {
        // Where could it have led, had this condition alone been otherwise?
        let mut open = vec![way(block, 1 - edge)];
        let mut visited = BTreeSet::new();
        let mut decided = false;
        while let Some(at) = open.pop() {
            if compound.is_outcome(at) {
                decided |= at != outcome;
            } else if visited.insert(at) {
                match evaluation.iter().find(|&&(of, _)| of == at) {
                    Some(&(_, kept)) => open.push(way(at, kept)),
                    None => open.extend([way(at, 0), way(at, 1)]),
                }
            }
        }
        if let Some(condition) = into.conditions.iter_mut().find(|c| c.block == block) {
            condition.decided[edge] |= decided;
        }
    }
}

#[cfg(test)]
mod tests {
    use trodden_numbering::{EdgeRef, SimpleGraph};

    use super::super::tests::{Random, map};
    use super::*;

    /// An expression of conditions, each used once.
    enum Expression {
        Condition(usize),
        And(Box<Expression>, Box<Expression>),
        Or(Box<Expression>, Box<Expression>),
        Not(Box<Expression>),
        Choice(Box<Expression>, Box<Expression>, Box<Expression>),
    }
    use Expression::{And, Choice, Condition, Not, Or};

    impl Expression {
        fn random(random: &mut Random, conditions: std::ops::Range<usize>) -> Expression {
            if random.below(4) == 0 {
                return Not(Box::new(Self::random(random, conditions)));
            }
            if conditions.len() == 1 {
                return Condition(conditions.start);
            }
            let middle = conditions.start + 1 + random.below(conditions.len() - 1);
            let left = Box::new(Self::random(random, conditions.start..middle));
            if conditions.end - middle > 1 && random.below(3) == 0 {
                let last = middle + 1 + random.below(conditions.end - middle - 1);
                let [yes, no] = [middle..last, last..conditions.end].map(|part| Self::random(random, part));
                return Choice(left, Box::new(yes), Box::new(no));
            }
            let right = Box::new(Self::random(random, middle..conditions.end));
            if random.below(2) == 0 {
                And(left, right)
            } else {
                Or(left, right)
            }
        }

        fn value(&self, values: u32) -> bool {
            match self {
                Condition(at) => values >> at & 1 == 1,
                And(left, right) => left.value(values) && right.value(values),
                Or(left, right) => left.value(values) || right.value(values),
                Not(of) => !of.value(values),
                Choice(of, yes, no) => if of.value(values) { yes } else { no }.value(values),
            }
        }

        /// The conditions that are evaluated.
        fn evaluated(&self, values: u32, into: &mut Vec<usize>) {
            match self {
                Condition(at) => into.push(*at),
                Not(of) => of.evaluated(values, into),
                Choice(of, yes, no) => {
                    of.evaluated(values, into);
                    if of.value(values) { yes } else { no }.evaluated(values, into);
                }
                And(left, right) | Or(left, right) => {
                    left.evaluated(values, into);
                    if left.value(values) == matches!(self, And(..)) {
                        right.evaluated(values, into);
                    }
                }
            }
        }

        /// Where each condition leads, true and false.
        fn compile(&self, yes: usize, no: usize, ways: &mut [(usize, usize)]) -> usize {
            match self {
                Condition(at) => {
                    ways[*at] = (yes, no);
                    *at
                }
                Not(of) => of.compile(no, yes, ways),
                Choice(of, left, right) => {
                    let left = left.compile(yes, no, ways);
                    let right = right.compile(yes, no, ways);
                    of.compile(left, right, ways)
                }
                And(left, right) => {
                    let next = right.compile(yes, no, ways);
                    left.compile(next, no, ways)
                }
                Or(left, right) => {
                    let next = right.compile(yes, no, ways);
                    left.compile(yes, next, ways)
                }
            }
        }
    }

    /// The definition, on the expression: with other conditions as they were, and any values of those that
    /// were not evaluated, does the value change with this one?
    fn decides(expression: &Expression, values: u32, condition: usize, conditions: usize) -> bool {
        let mut evaluated = Vec::new();
        expression.evaluated(values, &mut evaluated);
        let fixed = evaluated.iter().fold(0, |mask, at| mask | 1 << at);
        let alike =
            (0..1u32 << conditions).filter(|other| other & fixed == (values ^ 1 << condition) & fixed);
        let before = expression.value(values);
        evaluated.contains(&condition) && alike.into_iter().any(|other| expression.value(other) != before)
    }

    #[test]
    fn masking_is_that_of_the_expression() {
        let mut random = Random(3);
        let mut masked = 0;
        for _ in 0..300 {
            let conditions = 1 + random.below(7);
            let expression = Expression::random(&mut random, 0..conditions);
            let mut ways = vec![(0, 0); conditions];
            let (yes, no) = (conditions, conditions + 1);
            assert_eq!(expression.compile(yes, no, &mut ways), 0);
            let edges: Vec<(usize, usize)> = ways
                .iter()
                .enumerate()
                .flat_map(|(at, &(yes, no))| [(at, yes), (at, no)])
                .collect();
            let map = map(SimpleGraph::new(conditions + 2, &edges));
            let mut counts = MethodCounts::default();
            let mut expected = vec![[false; 2]; conditions];
            for _ in 0..1 + random.below(6) {
                let values = random.below(1 << conditions) as u32;
                let (mut at, mut number) = (0, 0);
                while at < conditions {
                    let index = usize::from(values >> at & 1 == 0);
                    let edge = EdgeRef {
                        from: BlockId::new(at),
                        index: index as u32,
                    };
                    number += map.dag.value(edge);
                    at = map.graph.successors(edge.from)[index].index();
                }
                assert_eq!(at == yes, expression.value(values));
                counts.paths.insert(number, 1);
                let mut evaluated = Vec::new();
                expression.evaluated(values, &mut evaluated);
                for condition in evaluated {
                    let decides = decides(&expression, values, condition, conditions);
                    masked += u32::from(!decides);
                    expected[condition][usize::from(values >> condition & 1 == 0)] |= decides;
                }
            }
            let found = mcdc(&map, &counts, |_| true);
            assert_eq!(found.len(), 1, "one decision");
            let blocks: Vec<usize> = found[0].conditions.iter().map(|c| c.block).collect();
            assert_eq!(blocks, (0..conditions).collect::<Vec<_>>());
            let decided: Vec<[bool; 2]> = found[0].conditions.iter().map(|c| c.decided).collect();
            assert_eq!(decided, expected);
        }
        assert!(masked > 100, "{masked}");
    }
}
