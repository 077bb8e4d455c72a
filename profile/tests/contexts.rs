//! Calling contexts in a profile: sums, thresholds.

use crate::common::*;
use proptest::prelude::*;
use trodden_profile::events::BURST_GROUPS;
use trodden_profile::options::ContextWeight;
use trodden_profile::{BurstGroups, ByGroup, ContextNode, ContextTree, Contexts, Profile, merge};

type Node = (u32, u32, Option<u16>, Option<(u64, u64)>);

/// Contexts of a class with three methods: depth, method, call site, calls.
fn with_contexts(thresholds: Option<(f64, f64)>, absent: u64, nodes: &[Node]) -> Profile {
    let methods = ["a", "b", "c"].map(|name| (two_ifs(name, None), paths(&[])));
    let nodes: Vec<ContextNode> = nodes
        .iter()
        .map(|&(depth, method, site, calls)| ContextNode {
            depth,
            class: 0,
            method,
            site,
            prefix: None,
            calls,
        })
        .collect();
    Profile {
        contexts: Some(Contexts {
            algorithm: if thresholds.is_some() { "lss" } else { "exact" }.to_owned(),
            thresholds,
            absent,
            calls: nodes
                .iter()
                .map(|node| node.calls.map_or(0, |(_, most)| most))
                .sum(),
            tree: ContextTree::from_preorder(nodes).unwrap(),
            ..Contexts::default()
        }),
        ..profile(vec![class("A", 1, methods.into())])
    }
}

#[test]
fn contexts_of_two_runs_add_up() {
    let one = with_contexts(
        None,
        0,
        &[(1, 0, None, Some((1, 1))), (2, 1, Some(4), Some((5, 5)))],
    );
    let other = with_contexts(
        None,
        0,
        &[
            (1, 0, None, Some((1, 1))),
            (2, 1, Some(4), Some((7, 7))),
            (2, 1, Some(9), Some((2, 2))),
        ],
    );
    let sum = merge([&one, &other]).unwrap().contexts.unwrap();
    assert!(sum.is_exact());
    let calls: Vec<_> = sum
        .tree
        .nodes()
        .iter()
        .map(|n| (n.depth, n.site, n.estimate()))
        .collect();
    assert_eq!(calls, [(1, None, 2), (2, Some(4), 12), (2, Some(9), 2)]);
    assert_eq!((sum.calls, sum.algorithm.as_str()), (16, "exact"));
    let alone = merge([&one, &profile(Vec::new())]).unwrap();
    assert_eq!(alone.contexts, one.contexts);
}

/// Groups add up, as those of either run are samples of it; but not with a run in which all calls were counted.
#[test]
fn groups_of_two_runs_add_up() {
    let counted = |calls: u64, site: u16| {
        let mut profile = with_contexts(
            Some((0.1, 0.02)),
            0,
            &[
                (1, 0, None, Some((calls, calls))),
                (2, 1, Some(site), Some((calls, calls))),
            ],
        );
        let by_group = ByGroup([calls; BURST_GROUPS]);
        profile.contexts.as_mut().unwrap().groups = Some(BurstGroups {
            all: by_group,
            contexts: vec![(0, by_group), (1, by_group)],
        });
        profile
    };
    let sum = |site| {
        merge([&counted(1, 4), &counted(2, site)])
            .unwrap()
            .contexts
            .unwrap()
    };
    let groups = sum(4).groups.unwrap();
    let all = ByGroup([3; BURST_GROUPS]);
    assert_eq!((groups.all, groups.contexts), (all, vec![(0, all), (1, all)]));
    let groups = sum(9).groups.unwrap();
    let each = [1, 2].map(|calls| ByGroup([calls; BURST_GROUPS]));
    assert_eq!(groups.contexts, [(0, all), (1, each[0]), (2, each[1])]);
    let exact = with_contexts(None, 0, &[(1, 0, None, Some((1, 1)))]);
    assert_eq!(
        merge([&counted(1, 4), &exact]).unwrap().contexts.unwrap().groups,
        None
    );
}

/// A context that only one of two runs counted may have had as many calls in the other as any that was not counted there.
#[test]
fn bounds_stay_bounds_of_the_sum() {
    let one = with_contexts(
        Some((0.1, 0.02)),
        3,
        &[(1, 0, None, Some((10, 12))), (1, 1, None, Some((8, 8)))],
    );
    let other = with_contexts(
        Some((0.05, 0.01)),
        2,
        &[(1, 0, None, Some((20, 21))), (1, 2, None, None)],
    );
    let sum = merge([&one, &other]).unwrap().contexts.unwrap();
    let calls: Vec<_> = sum.tree.nodes().iter().map(|n| n.calls).collect();
    assert_eq!(calls, [Some((30, 33)), Some((8, 10)), None]);
    assert_eq!((sum.absent, sum.thresholds), (5, Some((0.1, 0.02))));
}

#[test]
fn thresholds_can_be_raised_only() {
    let counted = with_contexts(Some((0.1, 0.02)), 0, &[(1, 0, None, Some((500, 500)))])
        .contexts
        .unwrap();
    assert_eq!(counted.threshold(None), Ok(50));
    assert_eq!(counted.threshold(Some(0.5)), Ok(250));
    let error = counted.threshold(Some(0.01)).unwrap_err().to_string();
    assert!(
        error.contains("phi = 0.01: contexts were counted with phi = 0.1"),
        "{error}"
    );
    assert!(counted.threshold(Some(1.5)).is_err() && counted.threshold(Some(f64::NAN)).is_err());
    let exact = with_contexts(None, 0, &[(1, 0, None, Some((500, 500)))])
        .contexts
        .unwrap();
    assert_eq!(
        (exact.threshold(None), exact.threshold(Some(0.01))),
        (Ok(1), Ok(5))
    );
    assert!(exact.threshold(Some(0.0)).is_err());
}

proptest! {
    /// Whatever is merged, in whatever order: a profile that can be written, and the same one.
    #[test]
    fn merging_keeps_the_rules(a in any_profile(), b in any_profile()) {
        let (Ok(ab), Ok(ba)) = (merge([&a, &b]), merge([&b, &a])) else { return Ok(()) };
        prop_assert_eq!(&ab.contexts, &ba.contexts);
        prop_assert_eq!(Profile::read(&ab.to_bytes().unwrap()).unwrap().contexts, ab.contexts);
    }
}

#[test]
fn what_was_counted_is_kept_and_not_mixed() {
    let with = |weight| {
        let mut profile = with_contexts(None, 0, &[(1, 0, None, Some((70, 70)))]);
        profile.contexts.as_mut().unwrap().weight = weight;
        profile
    };
    let all = ContextWeight::ALL.iter().map(|&weight| with(weight));
    for profile in all.clone() {
        assert_eq!(Profile::read(&profile.to_bytes().unwrap()).unwrap(), profile);
        let twice = merge([&profile, &profile]).unwrap().contexts.unwrap();
        assert_eq!(
            (twice.weight, twice.calls),
            (profile.contexts.unwrap().weight, 140)
        );
    }
    let all: Vec<Profile> = all.collect();
    let error = merge([&all[0], &all[1]]).unwrap_err().to_string();
    assert_eq!(
        error,
        "the weight of contexts (option weight) is calls in input 1, but time in input 2"
    );
}
