//! Arbitrary conditions.

use proptest::collection::vec;
use proptest::prelude::*;
use trodden_numbering::{BlockId, FlowGraph};
use trodden_profile::{
    CodeCopy, CodeRange, CompilerMade, Condition, ConditionKind, MethodConditions, MethodMap, Outcome,
};

fn any_outcome() -> impl Strategy<Value = Outcome> {
    prop_oneof![
        Just(Outcome::Unknown),
        Just(Outcome::Yes),
        Just(Outcome::No),
        Just(Outcome::Again),
        Just(Outcome::Done),
        "case [A-Z\"]{0,8}".prop_map(Outcome::Case),
    ]
}

fn any_made() -> impl Strategy<Value = Option<CompilerMade>> {
    prop::option::of(prop::sample::select(&CompilerMade::ALL[..]))
}

fn any_condition(block: u32, edges: usize) -> impl Strategy<Value = Condition> {
    let kind = prop::sample::select(&ConditionKind::ALL[..]);
    let text = prop::option::of("[a-z!<>= ()é…]{0,20}");
    let outcomes = vec(any_outcome(), edges);
    (kind, text, outcomes, any_made()).prop_map(move |(kind, text, outcomes, made)| Condition {
        block,
        kind,
        text,
        outcomes,
        made,
    })
}

/// Conditions for all blocks of a method.
pub fn any_conditions(map: &MethodMap) -> BoxedStrategy<MethodConditions> {
    let edges = (0..map.num_blocks()).map(|b| (b as u32, map.graph.successors(BlockId::new(b)).len()));
    let conditions: Vec<_> = edges.map(|(block, edges)| any_condition(block, edges)).collect();
    let pieces = (0..=map.code_length, 0..=map.code_length, any::<bool>());
    (conditions, any_made(), any_made(), pieces)
        .prop_map(|(conditions, method, made, (a, b, restarts))| {
            let range = CodeRange {
                start: a.min(b),
                end: a.max(b),
            };
            let length = range.end - range.start;
            // What is below the range, as much as there is room for.
            let copy = CodeCopy {
                start: range.start,
                of: 0,
                length: length.min(range.start),
            };
            MethodConditions {
                conditions,
                made: made.map(|made| (0, made)).into_iter().collect(),
                method,
                left_out: Some(range).filter(|_| length > 0).into_iter().collect(),
                copies: Some(copy).filter(|copy| copy.length > 0).into_iter().collect(),
                restarts: Some(0).filter(|_| restarts).into_iter().collect(),
            }
        })
        .boxed()
}
