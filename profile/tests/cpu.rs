//! CPU samples: trees, sums by place, files, merged profiles.

use std::collections::{BTreeMap, BTreeSet};

use crate::common::cpu::{any_cpu, any_stacks};
use proptest::prelude::*;
use trodden_profile::{
    CpuFailure, CpuFrame, CpuFrameKind, CpuNode, CpuRow, CpuSamples, CpuTime, CpuTree, PlaceTime, Profile,
    merge,
};

/// A stack as texts, outermost frame first.
type Stack = Vec<(CpuFrame, Option<u16>)>;

fn time(samples: u64) -> CpuTime {
    CpuTime {
        samples,
        ns: samples * 1000,
    }
}

fn java(class: &str, name: &str) -> CpuFrame {
    CpuFrame {
        class: class.to_owned(),
        name: name.to_owned(),
        descriptor: "()V".to_owned(),
        kind: CpuFrameKind::Java,
    }
}

fn profile(cpu: CpuSamples) -> Profile {
    Profile {
        cpu: Some(cpu),
        ..Profile::default()
    }
}

/// Brute force: the samples of each stack, from rows whose callers stand before them.
fn stacks_of_rows(frames: &[CpuFrame], rows: &[CpuRow]) -> BTreeMap<Stack, CpuTime> {
    let mut all = BTreeMap::new();
    for row in rows {
        let mut stack = Vec::new();
        let mut at = Some(row);
        while let Some(row) = at {
            stack.insert(0, (frames[row.frame as usize].clone(), row.bci));
            at = row.parent.map(|parent| &rows[parent as usize]);
        }
        let sum: &mut CpuTime = all.entry(stack).or_default();
        *sum = sum.plus(row.own);
    }
    all
}

fn stacks(cpu: &CpuSamples) -> BTreeMap<Stack, CpuTime> {
    stacks_of_rows(&cpu.frames, &cpu.tree.rows())
}

/// Main calls `f`, which calls itself at two places and then `g`.
fn recursive() -> CpuSamples {
    let frames = vec![
        java("a/Main", "main"),
        java("a/F", "f"),
        java("a/G", "g"),
        CpuFrame::other("[GC]"),
    ];
    let row = |parent, frame, bci, samples| CpuRow {
        parent,
        frame,
        bci,
        own: time(samples),
    };
    let rows = [
        row(None, 0, Some(4), 1),
        row(Some(0), 1, Some(10), 2),
        row(Some(1), 1, Some(10), 4),
        row(Some(2), 1, Some(20), 8),
        row(Some(3), 2, None, 16),
        row(Some(1), 2, Some(3), 32),
        row(None, 3, None, 64),
    ];
    let mut cpu = CpuSamples {
        reader: "async".to_owned(),
        interval_ns: 1_000_000,
        process_ns: Some(5_000_000_000),
        lost: time(3),
        shortened: time(1),
        cut: time(2),
        failed: vec![CpuFailure {
            reason: "gc-active".to_owned(),
            time: time(64),
        }],
        ..CpuSamples::default()
    };
    cpu.set_stacks(frames, &rows);
    cpu
}

#[test]
fn a_sample_counts_once_per_method_at_the_innermost_call() {
    let cpu = recursive();
    assert_eq!(cpu.total(), time(127));
    let by_place = cpu.by_place();
    let of = |class, name| &by_place[cpu.frame(class, name, "()V").unwrap()];
    let place = |own, total| PlaceTime {
        own: time(own),
        total: time(total),
    };
    let f = of("a/F", "f");
    assert_eq!(f.all, place(14, 62));
    // 62 samples have `f` on their stack; in 24 the innermost call of it was at 20.
    assert_eq!(
        f.places,
        BTreeMap::from([(Some(10), place(6, 38)), (Some(20), place(8, 24))])
    );
    assert_eq!(
        of("a/G", "g").places,
        BTreeMap::from([(None, place(16, 16)), (Some(3), place(32, 32))])
    );
    assert_eq!(of("a/Main", "main").all, place(1, 63));
    assert_eq!(cpu.frame("a/Main", "main", "(I)V"), None);
}

#[test]
fn two_runs_add_up_and_nothing_is_known_of_what_one_does_not_know() {
    let one = recursive();
    let mut other = recursive();
    other.process_ns = None;
    other.reader = "safepoint".to_owned();
    other.interval_ns = 500;
    let sum = merge([&profile(one.clone()), &Profile::default(), &profile(other)])
        .unwrap()
        .cpu
        .unwrap();
    assert_eq!((sum.total(), sum.lost, sum.cut), (time(254), time(6), time(4)));
    assert_eq!(
        (sum.reader.as_str(), sum.interval_ns, sum.process_ns),
        ("async + safepoint", 500, None)
    );
    assert_eq!((sum.failed.len(), sum.failed[0].time), (1, time(128)));
    assert_eq!(sum.tree.nodes().len(), one.tree.nodes().len());
    assert_eq!(merge([&profile(one.clone())]).unwrap().cpu, Some(one));
}

#[test]
fn lines_follow_their_methods() {
    // `f` is the first frame of the sorted ones, `main` the last.
    let mut one = recursive();
    let list = [java("a/Main", "main"), java("a/F", "f"), java("a/None", "none")];
    one.set_lines(&list, [(0, 4, 30), (1, 10, 7), (1, 20, 8), (2, 1, 1), (9, 1, 1)]);
    let of = |cpu: &CpuSamples, class, name, bci| {
        cpu.frame(class, name, "()V")
            .and_then(|frame| cpu.lines.line(frame, bci))
    };
    let lines = |cpu: &CpuSamples| {
        let [f, main] = [("a/F", "f"), ("a/Main", "main")];
        [(f, 10), (f, 20), (main, 4)].map(|((class, name), bci)| of(cpu, class, name, bci))
    };
    assert_eq!(lines(&one), [Some(7), Some(8), Some(30)]);
    assert_eq!(one.lines.by_frame().count(), 2);
    // Another run has a method in front of these, and was built from another source of `f`.
    let mut other = recursive();
    let mut frames = other.frames.clone();
    frames.push(java("a/A", "a"));
    let rows = other.tree.rows();
    other.set_stacks(frames, &rows);
    other.set_lines(&list, [(0, 4, 30), (1, 10, 7), (1, 20, 9)]);
    let [one, other] = [one, other].map(profile);
    let both = merge([&one, &other]).unwrap();
    assert_eq!(lines(both.cpu.as_ref().unwrap()), [Some(7), None, Some(30)]);
    // A third run does not bring it back.
    let third = merge([&both, &one]).unwrap();
    assert_eq!(lines(third.cpu.as_ref().unwrap()), [Some(7), None, Some(30)]);
    // Lines of methods without samples go with them.
    let one = one.cpu.unwrap();
    let rest = one.since(&one).without_idle_stacks();
    assert_eq!((rest.frames.len(), rest.lines.by_frame().count()), (0, 0));
}

#[test]
fn what_breaks_a_rule_is_refused() {
    let refused = |change: &dyn Fn(&mut CpuSamples), expected: &str| {
        let mut cpu = recursive();
        change(&mut cpu);
        let error = profile(cpu).to_bytes().unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    };
    refused(&|cpu| cpu.frames.swap(0, 1), "not in order");
    refused(&|cpu| cpu.frames.truncate(2), "there is no method 3");
    let lines_of_last = |cpu: &mut CpuSamples| {
        let frames = cpu.frames.clone();
        cpu.set_lines(&frames, [(3, 1, 1)]);
        cpu.tree = CpuTree::default();
        cpu.frames.truncate(3);
    };
    refused(&lines_of_last, "there is no method 3 for lines");
    refused(&|cpu| cpu.failed.push(cpu.failed[0].clone()), "not in order");
    let node = |depth, frame| CpuNode {
        depth,
        frame,
        bci: None,
        own: time(1),
    };
    for nodes in [
        vec![node(0, 0)],
        vec![node(2, 0)],
        vec![node(1, 0), node(3, 0)],
        vec![node(1, 1), node(1, 1)],
    ] {
        assert!(CpuTree::from_preorder(nodes).is_err());
    }
}

#[test]
fn rows_without_a_frame_are_left_out_with_those_below_them() {
    let row = |parent, frame| CpuRow {
        parent,
        frame,
        bci: None,
        own: time(1),
    };
    let tree = CpuTree::from_rows(
        &[row(None, 0), row(None, 7), row(Some(1), 0), row(Some(0), 0)],
        |frame| (frame == 0).then_some(0),
    );
    let depths: Vec<u32> = tree.nodes().iter().map(|node| node.depth).collect();
    assert_eq!(depths, [1, 2]);
}

#[test]
fn a_deep_stack_is_no_problem() {
    let frames = vec![java("a/Deep", "down")];
    let row = |at: u32| CpuRow {
        parent: at.checked_sub(1),
        frame: 0,
        bci: Some(1),
        own: time(1),
    };
    let rows: Vec<CpuRow> = (0..200_000).map(row).collect();
    let mut cpu = CpuSamples::default();
    cpu.set_stacks(frames, &rows);
    assert_eq!(cpu.by_place()[0].all.total, time(200_000));
    let bytes = profile(cpu.clone()).to_bytes().unwrap();
    assert_eq!(Profile::read(&bytes).unwrap().cpu, Some(cpu));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn trees_have_the_samples_of_their_rows((frames, rows) in any_stacks()) {
        let mut cpu = CpuSamples::default();
        cpu.set_stacks(frames.clone(), &rows);
        prop_assert_eq!(stacks(&cpu), stacks_of_rows(&frames, &rows));
        prop_assert_eq!(CpuTree::from_preorder(cpu.tree.nodes().to_vec()), Ok(cpu.tree.clone()));
    }

    #[test]
    fn sums_by_place_are_those_of_all_stacks(cpu in any_cpu()) {
        let mut methods: BTreeMap<CpuFrame, PlaceTime> = BTreeMap::new();
        let mut places: BTreeMap<(CpuFrame, Option<u16>), PlaceTime> = BTreeMap::new();
        for (stack, time) in stacks(&cpu) {
            let leaf = stack.last().unwrap();
            for own in [methods.entry(leaf.0.clone()).or_default(), places.entry(leaf.clone()).or_default()] {
                own.own = own.own.plus(time);
            }
            let mut seen = BTreeSet::new();
            for place in stack.into_iter().rev() {
                let of_place = places.entry(place.clone()).or_default();
                if seen.insert(place.0.clone()) {
                    of_place.total = of_place.total.plus(time);
                    let total = &mut methods.entry(place.0).or_default().total;
                    *total = total.plus(time);
                }
            }
        }
        let by_place = cpu.by_place();
        prop_assert_eq!(by_place.len(), cpu.frames.len());
        for (frame, method) in cpu.frames.iter().zip(by_place) {
            prop_assert_eq!(method.all, methods.get(frame).copied().unwrap_or_default());
            for (bci, time) in method.places {
                prop_assert_eq!(Some(time), places.remove(&(frame.clone(), bci)));
            }
        }
        prop_assert!(places.is_empty());
    }

    #[test]
    fn files_hold_them(cpu in any_cpu()) {
        let profile = profile(cpu);
        let bytes = profile.to_bytes().unwrap();
        let back = Profile::read(&bytes).unwrap();
        prop_assert_eq!(back.to_bytes().unwrap(), bytes);
        prop_assert_eq!(back, profile);
    }

    #[test]
    fn cut_files_are_errors(cpu in any_cpu(), cut in 0.0..1.0f64) {
        let bytes = profile(cpu).to_bytes().unwrap();
        let end = (bytes.len() as f64 * cut) as usize;
        prop_assert!(Profile::read(&bytes[..end]).is_err());
    }

    /// Merging is exact, and neither order nor grouping matters.
    #[test]
    fn merged_stacks_are_sums(a in any_cpu(), b in any_cpu(), c in any_cpu()) {
        let mut sums = stacks(&a);
        for (stack, time) in stacks(&b).into_iter().chain(stacks(&c)) {
            let sum = sums.entry(stack).or_default();
            *sum = sum.plus(time);
        }
        let [a, b, c] = [a, b, c].map(profile);
        let all = merge([&a, &b, &c]).unwrap();
        prop_assert_eq!(stacks(all.cpu.as_ref().unwrap()), sums);
        let grouped = merge([&c, &merge([&b, &a]).unwrap()]).unwrap();
        prop_assert_eq!(&grouped.cpu, &all.cpu);
        let bytes = all.to_bytes().unwrap();
        prop_assert_eq!(Profile::read(&bytes).unwrap().cpu, all.cpu);
    }
}
