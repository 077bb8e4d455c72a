//! Conditions in files and merged profiles.

mod common;

use common::*;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use trodden_numbering::{BlockId, FlowGraph};
use trodden_profile::{
    CompilerMade, Condition, ConditionKind, MethodConditions, MethodMap, Outcome, Profile, merge,
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
    option::of(prop::sample::select(&CompilerMade::ALL[..]))
}

fn any_condition(block: u32, edges: usize) -> impl Strategy<Value = Condition> {
    let kind = prop::sample::select(&ConditionKind::ALL[..]);
    let text = option::of("[a-z!<>= ()é…]{0,20}");
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
fn any_conditions(map: &MethodMap) -> BoxedStrategy<MethodConditions> {
    let edges = (0..map.num_blocks()).map(|b| (b as u32, map.graph.successors(BlockId::new(b)).len()));
    let conditions: Vec<_> = edges.map(|(block, edges)| any_condition(block, edges)).collect();
    (conditions, any_made(), any_made())
        .prop_map(|(conditions, method, made)| MethodConditions {
            conditions,
            made: made.map(|made| (0, made)).into_iter().collect(),
            method,
        })
        .boxed()
}

fn with_conditions() -> impl Strategy<Value = Profile> {
    let of_first = |profile: Profile| {
        let map = profile.classes[0].map.methods[0].clone();
        (Just(profile), any_conditions(&map))
    };
    let one = any_class("a/A").prop_filter("has a method", |class| !class.map.methods.is_empty());
    one.prop_map(|class| profile(vec![class]))
        .prop_flat_map(of_first)
        .prop_map(|(mut profile, of)| {
            profile.conditions.insert((0, 0), of);
            profile
        })
}

proptest! {
    #[test]
    fn files_hold_conditions(profile in with_conditions()) {
        let bytes = profile.to_bytes().unwrap();
        prop_assert_eq!(Profile::read(&bytes).unwrap(), profile);
    }

    #[test]
    fn merging_keeps_what_one_knows(profile in with_conditions()) {
        let mut without = profile.clone();
        without.conditions.clear();
        let [one, other] = [[&profile, &without], [&without, &profile]].map(|both| merge(both).unwrap());
        prop_assert_eq!(&one.conditions, &profile.conditions);
        prop_assert_eq!(one.conditions, other.conditions);
    }

    #[test]
    fn cut_files_are_errors(profile in with_conditions(), cut in 0.0..1.0f64) {
        let bytes = profile.to_bytes().unwrap();
        let end = (bytes.len() as f64 * cut) as usize;
        prop_assert!(Profile::read(&bytes[..end]).is_err());
    }
}

#[test]
fn conditions_that_do_not_fit_are_refused() {
    let good = || {
        let mut profile = profile(vec![class(
            "a/A",
            1,
            vec![(two_ifs("m", None), paths(&[(0, 3)]))],
        )]);
        let conditions = vec![Condition {
            block: 0,
            kind: ConditionKind::If,
            text: Some("a < b".into()),
            outcomes: vec![Outcome::Yes, Outcome::No],
            made: None,
        }];
        let of = MethodConditions {
            conditions,
            ..MethodConditions::default()
        };
        profile.conditions.insert((0, 0), of);
        profile
    };
    assert!(good().to_bytes().is_ok());
    type Spoil = fn(&mut Profile);
    let spoil: [(&str, Spoil); 4] = [
        ("which is not there", |p| {
            let of = p.conditions[&(0, 0)].clone();
            p.conditions.insert((0, 9), of);
        }),
        ("1 outcomes", |p| {
            p.conditions.get_mut(&(0, 0)).unwrap().conditions[0]
                .outcomes
                .pop();
        }),
        ("not of its blocks", |p| {
            p.conditions.get_mut(&(0, 0)).unwrap().conditions[0].block = 99;
        }),
        ("not of its blocks", |p| {
            p.conditions.get_mut(&(0, 0)).unwrap().made = vec![(99, CompilerMade::Assert)];
        }),
    ];
    for (expected, spoil) in spoil {
        let mut profile = good();
        spoil(&mut profile);
        let error = profile.to_bytes().unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}
