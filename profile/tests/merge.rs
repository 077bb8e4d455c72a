//! Merging: sums, whatever the order, and whatever the numbering.

use crate::common::*;
use proptest::prelude::*;
use trodden_numbering::{BlockId, EdgeWeights, Path, SimpleGraph};
use trodden_profile::{
    BlockShape, MergeError, MethodMap, MethodShape, Observation, PathDescription, Profile, RunInfo, Skipped,
    merge,
};

/// A path without its number: both outcomes of a decision may lead to one block, so its steps tell it, too.
fn steps_of(map: &MethodMap, path: &Path) -> String {
    let steps: Vec<_> = map.steps(&path.edges).collect();
    format!("{:?} {steps:?}", map.describe_path(path))
}

/// What a profile says, free of numbers: each described path with its count.
fn described(profile: &Profile) -> Vec<(String, [u8; 32], String, String, u64)> {
    let mut all = Vec::new();
    for class in &profile.classes {
        for (map, counts) in class.map.methods.iter().zip(&class.counts) {
            for (&number, &times) in &counts.paths {
                let path = steps_of(map, &map.dag.regenerate(&map.graph, number).unwrap());
                all.push((
                    class.map.name.clone(),
                    class.map.sha256,
                    map.name.clone(),
                    path,
                    times,
                ));
            }
            for (&(block, number), &times) in &counts.partial {
                let stopped = BlockId::new(block as usize);
                let path = map.dag.regenerate_partial(&map.graph, number, stopped).unwrap();
                let path = steps_of(map, &path);
                all.push((
                    class.map.name.clone(),
                    class.map.sha256,
                    map.name.clone(),
                    path,
                    times,
                ));
            }
        }
    }
    for (&(class, method), forest) in profile.kpaths.iter().flat_map(|k| &k.methods) {
        let class = &profile.classes[class];
        let map = &class.map.methods[method];
        for (sequence, times) in forest.sequences() {
            let regenerated = sequence
                .iter()
                .map(|&n| map.dag.regenerate(&map.graph, n).unwrap());
            let paths: Vec<_> = regenerated.map(|path| steps_of(map, &path)).collect();
            all.push((
                class.map.name.clone(),
                class.map.sha256,
                map.name.clone(),
                format!("sequence {paths:?}"),
                times,
            ));
        }
    }
    all.sort();
    all
}

/// The slow obvious merge: concatenate what the profiles say and add up what is equal.
fn concatenated(profiles: &[&Profile]) -> Vec<(String, [u8; 32], String, String, u64)> {
    let mut sums = std::collections::BTreeMap::new();
    for (class, hash, method, path, times) in profiles.iter().flat_map(|p| described(p)) {
        *sums.entry((class, hash, method, path)).or_insert(0) += times;
    }
    sums.into_iter()
        .map(|((c, h, m, p), n)| (c, h, m, p, n))
        .collect()
}

/// Profiles of the same program whose numberings differ.
fn same_program() -> impl Strategy<Value = [Profile; 3]> {
    any_graph().prop_flat_map(|graph| {
        let weights = || any_weights(&graph);
        let g = graph.clone();
        (weights(), weights(), weights())
            .prop_filter_map("paths", move |(a, b, c)| {
                let map = |w| method_over("m", g.clone(), &w, 1 << 31);
                Some([map(a)?, map(b)?, map(c)?])
            })
            .prop_flat_map(|[a, b, c]| {
                let counts = [&a, &b, &c].map(any_counts);
                let streams = [&a, &b, &c].map(any_streams);
                (
                    Just([a, b, c]),
                    counts,
                    [any_run(), any_run(), any_run()],
                    streams,
                )
            })
            .prop_map(|(maps, counts, runs, streams)| {
                let mut runs = runs.into_iter();
                let mut counts = counts.into_iter();
                let mut streams = streams.into_iter();
                maps.map(|map| Profile {
                    run: runs.next().unwrap(),
                    classes: vec![class("a/B", 1, vec![(map, counts.next().unwrap())])],
                    kpaths: Some(kpaths(3, [((0, 0), grams(&streams.next().unwrap(), 3))])),
                    ..Profile::default()
                })
            })
    })
}

/// Seconds are sums of floats, so they are compared with a tolerance and then set aside.
fn without_seconds(mut profile: Profile) -> (Profile, f64) {
    let seconds = std::mem::take(&mut profile.run.seconds);
    (profile, seconds)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn commutative_associative_and_true(profiles in same_program()) {
        let [a, b, c] = &profiles;
        let all = merge([a, b, c]).unwrap();
        prop_assert_eq!(described(&all), concatenated(&[a, b, c]));
        let (expected, seconds) = without_seconds(all);
        let left = merge([&merge([a, b]).unwrap(), c]).unwrap();
        let right = merge([a, &merge([b, c]).unwrap()]).unwrap();
        let turned = merge([c, b, a]).unwrap();
        for other in [left, right, turned] {
            let (other, sum) = without_seconds(other);
            prop_assert!((sum - seconds).abs() <= 1e-6 * seconds);
            prop_assert_eq!(&other, &expected);
        }
    }

    #[test]
    fn unrelated_profiles_unite(a in any_profile(), b in any_profile()) {
        // Equal hashes of different maps are no program; those cases are the next test's.
        if let (Ok(ab), Ok(ba)) = (merge([&a, &b]), merge([&b, &a])) {
            prop_assert_eq!(described(&ab), concatenated(&[&a, &b]));
            prop_assert_eq!(without_seconds(ab).0, without_seconds(ba).0);
        } else {
            prop_assert!(merge([&a, &b]).is_err() && merge([&b, &a]).is_err());
        }
    }

    #[test]
    fn the_empty_profile_is_neutral(p in any_profile()) {
        let empty = Profile::default();
        if let Ok(alone) = merge([&p]) {
            prop_assert_eq!(&merge([&empty, &p]).unwrap(), &alone);
            prop_assert_eq!(&merge([&p, &empty]).unwrap(), &alone);
            prop_assert_eq!(&alone.run, &p.run);
        }
        prop_assert_eq!(merge([&empty, &empty]).unwrap(), empty);
    }
}

fn path_with(profile: &Profile, wanted: &PathDescription) -> u64 {
    let class = &profile.classes[0];
    let (map, counts) = (&class.map.methods[0], &class.counts[0]);
    counts
        .paths
        .iter()
        .filter(|&(&n, _)| map.describe(n).unwrap() == *wanted)
        .map(|(_, c)| c)
        .sum()
}

#[test]
fn other_numbers_for_the_same_paths_are_translated() {
    let plain = two_ifs("m", None);
    let smart = two_ifs("m", Some([[1.0, 9.0], [9.0, 1.0]]));
    assert_ne!(plain.dag, smart.dag);
    let first = plain.describe(1).unwrap();
    let in_smart = (0..4).find(|&n| smart.describe(n).unwrap() == first).unwrap();
    assert_ne!(in_smart, 1);
    let a = profile(vec![class("A", 1, vec![(plain, paths(&[(1, 10), (3, 1)]))])]);
    let b = profile(vec![class("A", 1, vec![(smart, paths(&[(in_smart, 5)]))])]);
    for merged in [merge([&a, &b]).unwrap(), merge([&b, &a]).unwrap()] {
        assert_eq!(path_with(&merged, &first), 15);
        assert_eq!(merged.classes[0].counts[0].total(), 16);
    }
}

#[test]
fn a_shape_that_one_profile_knows_stays_whatever_the_order() {
    let plain = two_ifs("m", None);
    let mut shaped = plain.clone();
    shaped.shape = Some(MethodShape {
        code: 17,
        blocks: vec![BlockShape::default(); plain.blocks.len()],
        calls: vec![],
    });
    // An older version recorded no shapes.
    let [old, new] =
        [plain, shaped.clone()].map(|map| profile(vec![class("A", 1, vec![(map, paths(&[(1, 10)]))])]));
    for merged in [merge([&old, &new]).unwrap(), merge([&new, &old]).unwrap()] {
        assert_eq!(merged.classes[0].map.methods[0].shape, shaped.shape);
        assert_eq!(merged.classes[0].counts[0].total(), 20);
    }
}

#[test]
fn other_cuts_are_refused_by_name() {
    // Three ifs in a row: eight paths, or six with a cut behind the first.
    let diamond = |i: usize| [(i, i + 1), (i, i + 2), (i + 1, i + 3), (i + 2, i + 3)];
    let edges: Vec<_> = [0, 3, 6].into_iter().flat_map(diamond).collect();
    let graph = SimpleGraph::new(10, &edges);
    let with_limit = |n| method_over("m", graph.clone(), &EdgeWeights::uniform(&graph), n).unwrap();
    let (cut, whole) = (with_limit(7), with_limit(8));
    assert_ne!(cut.num_paths(), whole.num_paths());
    let a = profile(vec![class("A", 1, vec![(cut, paths(&[]))])]);
    let b = profile(vec![class("A", 1, vec![(whole, paths(&[]))])]);
    let error = merge([&a, &b]).unwrap_err();
    assert!(matches!(error, MergeError::DifferentPaths { .. }));
    assert!(error.to_string().contains("class A, method m()V"), "{error}");
}

#[test]
fn other_bytes_are_another_class() {
    let with = |hash| {
        profile(vec![class(
            "A",
            hash,
            vec![(two_ifs("m", None), paths(&[(0, 1)]))],
        )])
    };
    let merged = merge([&with(2), &with(1), &with(2)]).unwrap();
    let totals: Vec<(u8, u64)> = merged
        .classes
        .iter()
        .map(|c| (c.map.sha256[0], c.counts[0].total()))
        .collect();
    assert_eq!(totals, [(1, 1), (2, 2)]);
}

#[test]
fn runs_are_combined_as_documented() {
    let run = |probe: &str, exact, seconds, ticks: &str| RunInfo {
        jvm: "J".to_owned(),
        probe: probe.to_owned(),
        started_ms: 100 - ticks.len() as u64,
        seconds,
        exact,
        schedule: (!exact).then(|| "sag:64:17".to_owned()),
        facts: [("ticks", ticks), ("os", "Linux")]
            .map(|(k, v)| (k.to_owned(), v.to_owned()))
            .into_iter()
            .collect(),
        ..RunInfo::default()
    };
    let skip = |class: &str| Skipped {
        class: class.to_owned(),
        method: None,
        reason: "jsr".to_owned(),
    };
    let with = |run, skipped| Profile {
        run,
        skipped,
        ..Profile::default()
    };
    let a = with(run("yieldpoint", false, 1.5, "7"), vec![skip("B"), skip("A")]);
    let b = with(run("counters", true, 2.0, "10"), vec![skip("A")]);
    let merged = merge([&a, &b, &b]).unwrap();
    assert_eq!(merged.run.probe, "counters + yieldpoint");
    assert_eq!(
        (merged.run.exact, merged.run.seconds, merged.run.started_ms),
        (false, 5.5, 98)
    );
    assert_eq!(merged.run.jvm, "J");
    assert_eq!(merged.run.schedule.as_deref(), Some("sag:64:17"));
    assert_eq!(merged.run.facts.text("ticks").as_deref(), Some("27"));
    assert_eq!(merged.run.facts.text("runs").as_deref(), Some("3"));
    assert_eq!(merged.run.facts.text("os").as_deref(), Some("Linux"));
    assert_eq!(merged.skipped, [skip("A"), skip("B")]);
    assert!(merge([&b, &b]).unwrap().run.exact);
}

#[test]
fn observations_add_up_and_follow_their_method() {
    let graph = || SimpleGraph::new(3, &[(0, 1), (0, 2)]);
    let method = |name: &str| {
        let graph = graph();
        let weights = EdgeWeights::uniform(&graph);
        (method_over(name, graph, &weights, 100).unwrap(), paths(&[(0, 5)]))
    };
    let covered = |class, counted, seconds, reason: &str| Observation {
        class,
        method: 1,
        counted,
        seconds,
        until: seconds / 2.0,
        windows: 1,
        reason: reason.to_owned(),
    };
    let one = Profile {
        observations: vec![covered(0, 10, 4.0, "known")],
        ..profile(vec![class("B", 1, vec![method("a"), method("b")])])
    };
    let other = Profile {
        observations: vec![covered(1, 7, 1.0, "overdue")],
        ..profile(vec![
            class("A", 1, vec![method("a")]),
            class("B", 1, vec![method("a"), method("b")]),
        ])
    };
    for merged in [merge([&one, &other]).unwrap(), merge([&other, &one]).unwrap()] {
        assert_eq!(merged.classes[1].map.name, "B");
        let expected = Observation {
            until: 0.5,
            windows: 2,
            ..covered(1, 17, 5.0, "known + overdue")
        };
        assert_eq!(merged.observations, [expected]);
        assert_eq!(Profile::read(&merged.to_bytes().unwrap()).unwrap(), merged);
    }
    let wrong = Profile {
        observations: vec![covered(0, 7, 1.0, "known")],
        ..profile(vec![class("A", 1, vec![method("a")])])
    };
    let error = wrong.to_bytes().unwrap_err().to_string();
    assert!(error.contains("there is no method 1 of class 0"), "{error}");
}

/// The dump before has another numbering, and a number that is of no path.
#[test]
fn counts_since_a_dump_are_taken_off_path_by_path() {
    let (plain, smart) = (two_ifs("m", None), two_ifs("m", Some([[1.0, 9.0], [1.0, 9.0]])));
    let steps = |map: &MethodMap, number| steps_of(map, &map.dag.regenerate(&map.graph, number).unwrap());
    let in_smart = |number| {
        let wanted = steps(&plain, number);
        (0..4).find(|&other| steps(&smart, other) == wanted).unwrap()
    };
    let (first, second) = (in_smart(0), in_smart(1));
    assert_ne!((first, second), (0, 1));
    let of = |map: &MethodMap, counts: &[(u64, u64)]| {
        profile(vec![class("A", 1, vec![(map.clone(), paths(counts))])])
    };
    let before = of(&plain, &[(0, 3), (1, 5), (u64::MAX, 2)]);
    let now = of(&smart, &[(first, 10), (second, 5)]);
    assert_eq!(now.since(&before).classes[0].counts[0], paths(&[(first, 7)]));
}
