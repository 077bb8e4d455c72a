//! Counts of tests: written, read, merged, refused.

use crate::common::{class, paths, profile, two_ifs};
use trodden_profile::{MethodCounts, MethodPart, Profile, TestCounts, merge};

fn test(name: &str, allocated: Option<u64>, methods: &[(u32, MethodCounts)]) -> TestCounts {
    TestCounts {
        name: name.to_owned(),
        times: 1,
        operations: 0,
        max_growth: None,
        allocated,
        nanos: allocated.map(|bytes| bytes + 3),
        methods: (methods.iter().cloned())
            .map(|(method, counts)| MethodPart {
                class: 0,
                method,
                counts,
            })
            .collect(),
        others: Vec::new(),
    }
}

fn cut() -> MethodCounts {
    let mut counts = paths(&[(1, 5)]);
    counts.partial.insert((3, 0), 2);
    counts
}

/// A class with two methods of four paths. `heavy`: which way of the method's first branch is numbered 0.
fn run(heavy: Option<[[f64; 2]; 2]>, tests: Vec<TestCounts>) -> Profile {
    let methods = vec![
        (two_ifs("a", heavy), paths(&[(0, 30), (1, 20), (3, 7)])),
        (two_ifs("b", heavy), paths(&[])),
    ];
    let mut profile = profile(vec![class("a/A", 1, methods)]);
    profile.by_test = tests;
    profile
}

#[test]
fn what_is_written_is_read() {
    let mut tests = vec![
        test("a", None, &[(0, paths(&[(0, 30)])), (1, cut())]),
        test("b", Some(1 << 40), &[]),
    ];
    tests[0].operations = 1 << 50;
    tests[1].max_growth = Some("0.5%".to_owned());
    tests[0].others = vec![tests[0].methods[1].clone()];
    let before = run(None, tests);
    let bytes = before.to_bytes().unwrap();
    assert_eq!(Profile::read(&bytes).unwrap(), before);
}

#[test]
fn tests_of_the_same_name_are_added_up() {
    let mut one = run(
        None,
        vec![test("a", Some(5), &[(0, cut())]), test("b", Some(1), &[])],
    );
    one.by_test[0].operations = 7;
    one.by_test[1].max_growth = Some("1%".to_owned());
    one.by_test[0].others = one.by_test[0].methods.clone();
    let other = run(
        None,
        vec![
            test(
                "a",
                Some(6),
                &[(0, paths(&[(1, 2), (2, 1)])), (1, paths(&[(0, 1)]))],
            ),
            test("b", None, &[]),
        ],
    );
    let mut sum = cut();
    sum.paths.extend([(1, 7), (2, 1)]);
    let mut expected = vec![
        test("a", Some(11), &[(0, sum), (1, paths(&[(0, 1)]))]),
        test("b", None, &[]),
    ];
    expected.iter_mut().for_each(|test| test.times = 2);
    expected[0].operations = 7;
    expected[0].nanos = Some(5 + 3 + 6 + 3);
    expected[1].max_growth = Some("1%".to_owned());
    expected[0].others = one.by_test[0].others.clone();
    assert_eq!(merge([&one, &other]).unwrap().by_test, expected);
    assert_eq!(merge([&other, &one]).unwrap().by_test, expected);
}

#[test]
fn paths_with_other_numbers_are_translated() {
    let (left, right) = (Some([[9.0, 1.0], [9.0, 1.0]]), Some([[1.0, 9.0], [1.0, 9.0]]));
    let all = |count: u64| paths(&[(0, count), (1, count + 1), (2, count + 2), (3, count + 3)]);
    let of = |heavy| {
        let methods = vec![(two_ifs("a", heavy), all(1))];
        let mut profile = profile(vec![class("a/A", 1, methods)]);
        profile.by_test = vec![test("t", None, &[(0, all(1))])];
        profile
    };
    let (one, other) = (of(left), of(right));
    assert_ne!(
        one.classes[0].map, other.classes[0].map,
        "they are numbered alike"
    );
    let merged = merge([&one, &other]).unwrap();
    // All that was counted was counted during the test, so both must be the same.
    assert_eq!(merged.by_test[0].methods[0].counts, merged.classes[0].counts[0]);
}

#[test]
fn what_is_not_there_is_refused() {
    for (tests, why) in [
        (vec![test("b", None, &[]), test("a", None, &[])], "not in order"),
        (vec![test("a", None, &[(2, paths(&[]))])], "there is no method"),
        (
            vec![test("a", None, &[(0, paths(&[(4, 1)]))])],
            "no path has the number 4",
        ),
        (
            vec![test("a", None, &[(1, paths(&[])), (0, paths(&[]))])],
            "not in order",
        ),
    ] {
        let error = run(None, tests).to_bytes().unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
}
