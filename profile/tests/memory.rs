//! What is kept from run to run: learnt, forgotten, planned, written and read.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::common::two_ifs;
use trodden_profile::{
    ClassMap, ClassProfile, Known, Memory, MethodCounts, MethodShape, Profile, RunInfo, Skipped, merge,
};

/// A method with that code, its counts, and whether they were steady.
type Method<'m> = (&'m str, u64, &'m [(u64, u64)], bool);

fn run(sha: u8, methods: &[Method<'_>]) -> Profile {
    let mut profile = Profile {
        run: RunInfo {
            started_ms: 1_000,
            seconds: 20.0,
            jvm: "a JVM".to_owned(),
            version: "1".to_owned(),
            ..RunInfo::default()
        },
        ..Profile::default()
    };
    let mut map = ClassMap {
        name: "a/B".to_owned(),
        sha256: [sha; 32],
        source_file: None,
        methods: Vec::new(),
    };
    let mut counts = Vec::new();
    for (index, &(name, code, paths, steady)) in methods.iter().enumerate() {
        let mut method = two_ifs(name, None);
        method.shape = Some(MethodShape {
            code,
            blocks: vec![Default::default(); method.blocks.len()],
            calls: Vec::new(),
        });
        map.methods.push(method);
        counts.push(MethodCounts {
            paths: paths.iter().copied().collect(),
            partial: BTreeMap::new(),
        });
        if steady {
            profile.steady.insert((0, index as u32));
        }
    }
    let map = Arc::new(map);
    profile.classes.push(ClassProfile { map, counts });
    profile
}

fn left(memory: &Memory) -> Vec<(&str, u64, Known)> {
    let mut all: Vec<_> = memory
        .left_alone()
        .map(|one| (one.name, one.code, one.known))
        .collect();
    all.sort_by_key(|one| one.0);
    all
}

const MANY: &[(u64, u64)] = &[(0, 600_000), (3, 400_000)];
const OTHER: &[(u64, u64)] = &[(0, 100_000), (3, 900_000)];
const FEW: &[(u64, u64)] = &[(0, 10)];

#[test]
fn the_next_run_measures_what_is_hot_and_not_settled_and_what_never_ran() {
    let mut memory = Memory::default();
    memory.learn(&run(
        1,
        &[
            ("settled", 1, MANY, true),
            ("moving", 2, MANY, false),
            ("cold", 3, FEW, false),
            ("idle", 4, &[], false),
        ],
    ));
    assert_eq!(
        left(&memory),
        [("cold", 3, Known::Cold), ("settled", 1, Known::Settled)]
    );
    // The guide has what is measured again.
    let guide = memory.guide();
    let names: Vec<&str> = guide.classes[0]
        .map
        .methods
        .iter()
        .map(|m| m.name.as_str())
        .collect();
    assert_eq!(names, ["moving"]);
}

#[test]
fn a_method_that_is_alike_in_two_runs_is_settled_and_one_that_moves_is_not() {
    let mut memory = Memory::default();
    memory.learn(&run(1, &[("alike", 1, MANY, false), ("moves", 2, MANY, true)]));
    assert_eq!(left(&memory), [("moves", 2, Known::Settled)]);
    memory.learn(&run(1, &[("alike", 1, MANY, false), ("moves", 2, OTHER, true)]));
    assert_eq!(left(&memory), [("alike", 1, Known::Settled)]);
    // Counts are those of the last run, and not the sum.
    let counts = &memory.found.classes[0].counts;
    assert_eq!(
        counts.iter().map(MethodCounts::total).collect::<Vec<_>>(),
        [1_000_000; 2]
    );
    assert_eq!(
        memory.about[0].iter().map(|about| about.run).collect::<Vec<_>>(),
        [2, 2]
    );
}

#[test]
fn what_was_not_measured_stays_and_is_forgotten_after_many_runs() {
    let mut memory = Memory::default();
    memory.learn(&run(1, &[("settled", 1, MANY, true), ("open", 2, MANY, false)]));
    for _ in 0..49 {
        memory.learn(&run(1, &[("open", 2, OTHER, false)]));
    }
    assert!(
        left(&memory).iter().any(|one| one.0 == "settled"),
        "{:?}",
        left(&memory)
    );
    let numbers: Vec<u64> = memory.runs.iter().map(|run| run.number).collect();
    assert!(numbers == [1, 50], "{numbers:?}");
    memory.learn(&run(1, &[("open", 2, OTHER, false)]));
    assert!(
        !left(&memory).iter().any(|one| one.0 == "settled"),
        "it is measured again"
    );
}

#[test]
fn other_code_is_another_method() {
    let mut memory = Memory::default();
    memory.learn(&run(1, &[("same", 1, MANY, true), ("changed", 2, MANY, true)]));
    // The next build: what is the same was left alone, what is new was measured.
    memory.learn(&run(2, &[("changed", 7, MANY, false)]));
    assert_eq!(left(&memory), [("same", 1, Known::Settled)]);
    let about = memory.left_alone().next().unwrap();
    assert_eq!((about.class, about.sha256), ("a/B", [1; 32]));
}

#[test]
fn a_run_gets_what_is_known_of_what_it_left_alone_and_nothing_else() {
    let mut memory = Memory::default();
    memory.learn(&run(
        1,
        &[
            ("settled", 1, MANY, true),
            ("open", 2, MANY, false),
            ("cold", 3, FEW, false),
        ],
    ));
    let mut second = run(1, &[("open", 2, OTHER, false)]);
    second.skipped.push(Skipped {
        class: "a/B".to_owned(),
        method: Some("settled()V".to_owned()),
        reason: Known::Settled.reason().to_owned(),
    });
    let found = memory.of_left_alone(&second).unwrap();
    assert_eq!(
        (found.methods(), found.found.classes[0].counts[0].total()),
        (1, 1_000_000)
    );
    second.memory = Some(Box::new(found));
    let read = Profile::read(&second.to_bytes().unwrap()).unwrap();
    assert_eq!(read, second);
    assert_eq!(memory.of_left_alone(&run(1, &[("open", 2, MANY, false)])), None);
    // Merging drops no reason, and sums nothing of it.
    let merged = merge([&second, &second]).unwrap();
    assert_eq!((merged.skipped, merged.memory), (second.skipped, second.memory));
}

#[test]
fn a_memory_in_a_memory_is_refused() {
    let mut memory = Memory::default();
    memory.learn(&run(1, &[("settled", 1, MANY, true)]));
    let inner = Profile {
        memory: Some(Box::new(memory.clone())),
        ..Profile::default()
    };
    assert_eq!(Profile::read(&inner.to_bytes().unwrap()).unwrap(), inner);
    let mut outer = memory;
    outer.found.memory = inner.memory.clone();
    let outer = Profile {
        memory: Some(Box::new(outer)),
        ..Profile::default()
    };
    assert!(outer.to_bytes().is_err());
}

#[test]
fn a_smaller_memory_keeps_what_is_hot() {
    let mut memory = Memory::default();
    memory.learn(&run(
        1,
        &[
            ("settled", 1, MANY, true),
            ("cold", 3, FEW, false),
            ("idle", 4, &[], false),
        ],
    ));
    memory.shrink(1);
    assert_eq!(left(&memory), [("settled", 1, Known::Settled)]);
}
