//! What live views need: what happened between two dumps, and one method in words.

use crate::common::cpu::{frame, row, samples, shop, time};
use trodden_profile::{CpuFrameKind, MethodCounts, Profile};
use trodden_report::{OneMethod, Report, ReportOptions};

const LOOKUP: (&str, &str, &str) = ("demo/Shop", "lookup", "()V");

fn dump(seconds: f64, counts: [u64; 2], blocks: [u64; 4], read: u64, spun: u64) -> Profile {
    let mut profile = shop(counts, blocks, read, spun);
    profile.run.seconds = seconds;
    profile
}

#[test]
fn what_happened_between_two_dumps() {
    let then = dump(2.0, [9_000, 1_000], [100, 50, 30, 20], 700, 100);
    let now = dump(3.5, [9_000, 1_600], [110, 50, 30, 20], 790, 100);
    let since = now.since(&then);
    assert_eq!(since.run.seconds, 1.5);
    let report = Report::new(&since, &ReportOptions::default()).unwrap();
    // The other method counted nothing anew.
    let [lookup] = report.view().methods.as_slice() else {
        panic!("{:?}", report.view().methods);
    };
    assert_eq!((lookup.count, lookup.paths.len()), (600, 1));
    let of_method = lookup.time.as_ref().unwrap();
    assert_eq!((of_method.own, of_method.near), (time(10), time(100)));
    assert_eq!(of_method.program, time(100));
    assert_eq!(since.cpu.as_ref().unwrap().total(), time(100));

    // Nothing happened.
    let nothing = now.since(&now);
    assert_eq!(nothing.run.seconds, 0.0);
    assert!(nothing.methods_that_ran().is_empty() && nothing.cpu.unwrap().total().is_none());
    // All happened since nothing was there, and since a reset.
    assert_eq!(now.since(&Profile::default()).cpu, now.cpu);
    let reset = dump(0.5, [10, 0], [1, 0, 0, 0], 0, 0);
    assert_eq!(reset.since(&now).classes[0].counts[1], reset.classes[0].counts[1]);
    assert_eq!(reset.since(&now).cpu, reset.cpu);
}

#[test]
fn stacks_are_found_again_under_other_numbers() {
    let stacks = |first: &str, own: u64, below: u64| {
        let frames = vec![
            frame("a/Root", "main", "()V", CpuFrameKind::Java),
            frame(first, "x", "()V", CpuFrameKind::Java),
            frame("a/Leaf", "leaf", "()V", CpuFrameKind::Java),
        ];
        let rows = [
            row(None, 0, Some(4), time(own)),
            row(Some(0), 1, Some(1), time(1)),
            row(Some(0), 2, Some(2), time(below)),
        ];
        samples(frames, &rows)
    };
    // `a/A` comes first among the frames, `z/Z` last: each number is another one.
    let since = stacks("a/A", 7, 50).since(&stacks("z/Z", 5, 20));
    assert_eq!(since.total(), time(2 + 1 + 30));
    let leaf = since.frame("a/Leaf", "leaf", "()V").unwrap();
    let own: Vec<_> = since
        .tree
        .nodes()
        .iter()
        .filter(|node| node.frame as usize == leaf)
        .collect();
    assert_eq!(own.len(), 1);
    assert_eq!(own[0].own, time(30));
}

#[test]
fn counts_under_another_numbering_are_the_same_paths() {
    let then = dump(2.0, [9_000, 1_000], [1; 4], 0, 0);
    let mut now = dump(3.0, [9_005, 1_000], [1; 4], 0, 0);
    let ways = |profile: &Profile| OneMethod::of(profile, LOOKUP, &[]).unwrap().paths;
    let hit = ways(&now)[0].clone();
    // The same method, whose paths are numbered by the weights of an earlier run.
    let class = std::sync::Arc::make_mut(&mut now.classes[0].map);
    let map = &mut class.methods[1];
    let mut weights = trodden_numbering::EdgeWeights::uniform(&map.graph);
    for edge in [0, 1].map(|index| trodden_numbering::EdgeRef {
        from: trodden_numbering::BlockId::new(0),
        index,
    }) {
        weights.set(edge, 1.0 + 1_000.0 * f64::from(edge.index));
    }
    let options = trodden_numbering::NumberingOptions::default();
    let dag = trodden_numbering::PathDag::build(&map.graph, &weights, &options).unwrap();
    assert_ne!(dag, map.dag, "it is another numbering");
    map.dag = dag;
    let old = now.classes[0].counts[1].paths.clone();
    let [(first, a), (second, b)] = old.into_iter().collect::<Vec<_>>()[..] else {
        panic!("two paths");
    };
    now.classes[0].counts[1] = MethodCounts {
        paths: [(first, b), (second, a)].into(),
        ..MethodCounts::default()
    };
    let since = ways(&now.since(&then));
    assert_eq!(since.len(), 1, "{since:?}");
    assert_eq!((since[0].count, &since[0].way), (5, &hit.way));
}

#[test]
fn one_method_in_words() {
    let profile = dump(2.0, [9_000, 1_000], [100, 50, 30, 20], 700, 100);
    let one = OneMethod::of(&profile, LOOKUP, &[]).unwrap();
    // The miss takes more time, if it is rarer.
    let counts: Vec<u64> = one.paths.iter().map(|path| path.count).collect();
    assert_eq!(counts, [1_000, 9_000]);
    let report = Report::new(&profile, &ReportOptions::default()).unwrap();
    let full = Report::new(
        &profile,
        &ReportOptions {
            method: Some("Shop#lookup".to_owned()),
            ..ReportOptions::default()
        },
    );
    let full = full.unwrap().text(false);
    for path in &one.paths {
        assert!(full.contains(&path.way), "{}: {full}", path.way);
        let time = path.time.unwrap();
        let of_report = report.view().methods[0].paths.iter();
        let mut same = of_report.filter(|other| other.number == path.number);
        assert_eq!(same.next().and_then(|other| other.time), Some(time));
        assert!(path.from_to.starts_with("from method entry"), "{}", path.from_to);
    }
    let [branch] = one.branches.as_slice() else {
        panic!("{:?}", one.branches);
    };
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words(&full).contains(&words(branch)), "{branch}: {full}");
    assert_eq!(OneMethod::of(&profile, ("demo/Shop", "sell", "()V"), &[]), None);
}
