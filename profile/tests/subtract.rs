//! Differences of profiles: whatever two readings of a recording are, the earlier one and the difference make up the later one.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::common::cpu::any_cpu;
use crate::common::*;
use proptest::collection::vec;
use proptest::prelude::*;
use trodden_numbering::{BlockId, EdgeWeights, FlowGraph};
use trodden_profile::{
    ClassMap, ClassProfile, Contexts, Covered, MethodCounts, MethodCovered, MethodMap, MethodPart, Profile,
    SubtractError, TestCounts, facts, merge, subtract,
};

/// The same methods, whose paths may be numbered in another way, with counts of their own.
fn any_more(classes: &[ClassProfile]) -> impl Strategy<Value = Vec<ClassProfile>> + use<> {
    let method = |map: &MethodMap| {
        let (map, weights) = (map.clone(), any_weights(&map.graph));
        (any::<bool>(), weights).prop_flat_map(move |(other, weights): (bool, EdgeWeights)| {
            let mut to = map.clone();
            if other && let Some(numbered) = method_over(&map.name, map.graph.clone(), &weights, 1 << 31) {
                to = MethodMap {
                    dag: numbered.dag,
                    unobserved: Vec::new(),
                    ..to
                };
            }
            (any_counts(&to), Just(to))
        })
    };
    let class = |class: &ClassProfile| {
        let map = Arc::clone(&class.map);
        let methods: Vec<_> = class.map.methods.iter().map(method).collect();
        methods.prop_map(move |methods| {
            let (counts, methods) = methods.into_iter().unzip();
            ClassProfile {
                map: Arc::new(ClassMap {
                    methods,
                    ..ClassMap::clone(&map)
                }),
                counts,
            }
        })
    };
    classes.iter().map(class).collect::<Vec<_>>()
}

fn exact(contexts: Contexts) -> Contexts {
    let mut nodes = contexts.tree.nodes().to_vec();
    for node in &mut nodes {
        // Without calls a context is there because of those below it only, and all of these have some.
        let calls = node.estimate() + 1;
        node.calls = Some((calls, calls));
    }
    Contexts {
        algorithm: "exact".to_owned(),
        thresholds: None,
        absent: 0,
        dropped: 0,
        calls: nodes.iter().map(|node| node.estimate()).sum(),
        bursts: None,
        tree: trodden_profile::ContextTree::from_preorder(nodes).unwrap(),
        ..contexts
    }
}

fn any_covered(classes: &[ClassProfile]) -> impl Strategy<Value = Covered> + use<> {
    let mut methods = Vec::new();
    for (class, of) in (0u32..).zip(classes) {
        for (method, map) in (0u32..).zip(&of.map.methods) {
            let graph = map.graph.clone();
            let bits = (vec(any::<bool>(), graph.num_blocks()), vec(any::<bool>(), 64));
            methods.push(bits.prop_map(move |(mut blocks, bits)| {
                let decides = |block: BlockId| graph.successors(block).len() > 1;
                let edges = graph.edges().filter(|(edge, _)| decides(edge.from));
                let edges: Vec<_> = edges.map(|(edge, to)| (edge.from.index(), to.index())).collect();
                let ways: Vec<bool> = (0..edges.len()).map(|at| bits[at % 64]).collect();
                for (&(from, to), _) in edges.iter().zip(&ways).filter(|(_, followed)| **followed) {
                    blocks[from] = true;
                    blocks[to] = true;
                }
                ((class, method), MethodCovered { blocks, ways })
            }));
        }
    }
    methods.prop_map(|methods| {
        let ran = |of: &MethodCovered| of.blocks.contains(&true);
        let methods = methods.into_iter().filter(|(_, of)| ran(of)).collect();
        Covered { methods }
    })
}

/// Tests that counted all that there is.
fn any_tests(classes: &[ClassProfile]) -> impl Strategy<Value = Vec<TestCounts>> + use<> {
    let mut methods = Vec::new();
    for (class, of) in (0u32..).zip(classes) {
        for (method, counts) in (0u32..).zip(&of.counts) {
            let mut counts = counts.clone();
            counts.paths.retain(|_, count| *count > 0);
            if !counts.paths.is_empty() {
                methods.push(MethodPart {
                    class,
                    method,
                    counts,
                });
            }
        }
    }
    let numbers = (1..5u64, 0..9u64, any::<Option<u32>>());
    let test = (prop::sample::subsequence(vec!["s", "t"], 1), numbers);
    vec(test, 0..2).prop_map(move |tests| {
        let tests = tests
            .into_iter()
            .map(|(name, (times, operations, allocated))| TestCounts {
                name: name[0].to_owned(),
                times,
                operations,
                max_growth: None,
                allocated: allocated.map(u64::from),
                nanos: allocated.map(u64::from),
                methods: methods.clone(),
                others: methods.iter().take(1).cloned().collect(),
            });
        tests.collect()
    })
}

fn with_kinds(profile: Profile) -> impl Strategy<Value = Profile> {
    let contexts = proptest::option::of(any_contexts(&profile.classes));
    let cpu = any_cpu();
    let covered = any_covered(&profile.classes);
    let tests = any_tests(&profile.classes);
    (Just(profile), contexts, cpu, covered, tests).prop_map(|(profile, contexts, cpu, covered, by_test)| {
        Profile {
            run: profile.run,
            classes: profile.classes,
            skipped: profile.skipped,
            contexts: Some(exact(contexts.unwrap_or_default())),
            // A session knows the lines of those methods alone that have samples.
            cpu: Some(cpu.without_idle_stacks()),
            coverage: Some(covered),
            by_test,
            ..Profile::default()
        }
    })
}

/// An earlier reading, and what came after it.
fn readings() -> impl Strategy<Value = (Profile, Profile)> {
    any_profile().prop_flat_map(|before| {
        let more = any_more(&before.classes);
        let before = before.clone();
        more.prop_flat_map(move |classes| {
            let more = Profile {
                classes,
                ..before.clone()
            };
            (with_kinds(before.clone()), with_kinds(more))
        })
    })
}

/// Without zeros, which say no more than nothing does.
fn counted(profile: &Profile) -> Profile {
    let mut profile = profile.clone();
    for counts in profile.classes.iter_mut().flat_map(|class| &mut class.counts) {
        counts.paths.retain(|_, count| *count > 0);
    }
    profile.cpu = profile.cpu.map(|cpu| {
        let mut cpu = cpu.without_idle_stacks();
        cpu.failed.retain(|failed| !failed.time.is_none());
        cpu
    });
    profile
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn the_earlier_reading_and_the_difference_make_up_the_later_one((before, more) in readings()) {
        // Two numberings that cut a method in different ways have no sum.
        let Ok(now) = merge([&before, &more]) else { return Ok(()) };
        let rest = subtract(&now, &before).unwrap();
        let (sum, now) = (counted(&merge([&before, &rest]).unwrap()), counted(&now));
        prop_assert_eq!(&sum.classes, &now.classes);
        prop_assert_eq!(&sum.contexts, &now.contexts);
        prop_assert_eq!(&sum.cpu, &now.cpu);
        prop_assert_eq!(&sum.coverage, &now.coverage);
        prop_assert_eq!(&sum.by_test, &now.by_test);
        prop_assert_eq!(&sum.skipped, &now.skipped);
        prop_assert!((sum.run.seconds - now.run.seconds).abs() <= now.run.seconds * 1e-9);
        prop_assert_eq!(rest.run.facts.get(facts::RUNS), Some(1));

        // What is left of classes that nothing was counted of is nothing; and a file can hold the rest.
        let counted_classes = rest.classes_with_counts();
        let some = rest.with_classes(|at, _| counted_classes.contains(&at)).unwrap();
        let without = merge([&before, &some]).unwrap();
        // A map that only the difference has may number paths in another way: both in the numbers of one of them.
        let mut maps = Profile { classes: sum.classes.clone(), coverage: Some(Covered::default()), ..Profile::default() };
        maps.classes.iter_mut().flat_map(|class| &mut class.counts).for_each(|counts| *counts = MethodCounts::default());
        let (without, sum) = (merge([&without, &maps]).unwrap(), merge([&sum, &maps]).unwrap());
        prop_assert_eq!(counted(&without), counted(&sum));
        prop_assert_eq!(&Profile::read(&some.to_bytes().unwrap()).unwrap(), &some);

        // There is nothing in between a reading and itself.
        let nothing = subtract(&now, &now).unwrap();
        prop_assert!(nothing.classes_with_counts().is_empty());
        // And all is left after nothing.
        prop_assert_eq!(&subtract(&now, &Profile::default()).unwrap(), &now);
    }
}

fn one(counts: MethodCounts) -> Profile {
    profile(vec![class("a/B", 1, vec![(two_ifs("run", None), counts)])])
}

#[test]
fn counts_that_fell_are_refused() {
    let (less, more) = (one(paths(&[(0, 5)])), one(paths(&[(0, 7), (2, 1)])));
    let rest = subtract(&more, &less).unwrap();
    assert_eq!(rest.classes[0].counts[0], paths(&[(0, 2), (2, 1)]));
    let error = subtract(&less, &more).unwrap_err();
    assert_eq!(
        error.to_string(),
        "class a/B, method run()V: counts have fallen, so the profiles are no two readings of one recording"
    );
    assert!(matches!(
        subtract(&Profile::default(), &less),
        Err(SubtractError::Fell { .. })
    ));
}

#[test]
fn estimates_are_refused() {
    let before = one(paths(&[(0, 5)]));
    let mut now = before.clone();
    now.kpaths = Some(kpaths(4, []));
    assert!(matches!(
        subtract(&now, &before),
        Err(SubtractError::Estimates { .. })
    ));
    let mut now = before.clone();
    let contexts = Contexts {
        thresholds: Some((0.1, 0.02)),
        ..Contexts::default()
    };
    now.contexts = Some(contexts.clone());
    assert_eq!(subtract(&now, &before).unwrap().contexts, now.contexts);
    assert!(matches!(
        subtract(&now, &now),
        Err(SubtractError::Estimates { .. })
    ));
}

/// Windows of one recording are one run.
#[test]
fn facts_of_windows_add_up_to_those_of_the_run() {
    let reading = |seconds: f64, ticks: u64| {
        let mut profile = one(paths(&[(0, ticks)]));
        profile.run.seconds = seconds;
        profile.run.facts.set(facts::TICKS, ticks);
        profile.run.facts.set(facts::OS, "Linux");
        profile
    };
    let readings = [reading(1.0, 10), reading(2.5, 11), reading(4.0, 31)];
    let mut windows = vec![readings[0].clone()];
    windows.extend(
        readings
            .windows(2)
            .map(|pair| subtract(&pair[1], &pair[0]).unwrap()),
    );
    let sum = merge(&windows).unwrap();
    let facts: BTreeMap<&str, String> = sum
        .run
        .facts
        .texts()
        .map(|(name, text)| (name, text.into_owned()))
        .collect();
    let expected = [("os", "Linux"), ("runs", "1"), ("ticks", "31")];
    assert_eq!(facts, expected.map(|(name, text)| (name, text.to_owned())).into());
    assert_eq!((sum.run.seconds, &sum.classes), (4.0, &readings[2].classes));
}
