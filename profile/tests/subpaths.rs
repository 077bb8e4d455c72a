//! Hot subpaths in a profile: rules, files, sums.

use std::collections::BTreeMap;

use crate::common::*;
use proptest::prelude::*;
use trodden_profile::{ExactSubpaths, Profile, Subpath, SubpathRun, Subpaths, least_rotation, merge};

/// Of the method with two ifs (four paths): a run of some path's first blocks.
fn run(path: u64, from: u32, blocks: u32, times: u32) -> SubpathRun {
    SubpathRun {
        class: 0,
        method: 0,
        path,
        from,
        blocks,
        times,
    }
}

fn subpath(runs: &[SubpathRun], estimate: u64, bound: u64) -> Subpath {
    Subpath {
        length: runs.iter().map(|run| run.blocks * run.times).sum(),
        sampled: estimate / 10,
        estimate,
        low: estimate - bound,
        high: estimate + 2 * bound,
        runs: runs.to_vec(),
        missing: 0,
    }
}

fn with(subpaths: Vec<Subpath>) -> Profile {
    Profile {
        subpaths: Some(Subpaths {
            lengths: "pow2:16".to_owned(),
            order: "path-ends".to_owned(),
            identity: "rotation".to_owned(),
            starts: "anywhere".to_owned(),
            footprint: 4096,
            blocks: 1000,
            places: 1000,
            distance: (16, 20),
            subpaths,
            ..Subpaths::default()
        }),
        ..profile(vec![class("A", 1, vec![(two_ifs("m", None), paths(&[]))])])
    }
}

#[test]
fn sums_know_rotations() {
    // Every path of the method has five blocks. Twice path 0, from its first block on, and from its third on.
    let straight = [run(0, 0, 5, 2)];
    let turned = [run(0, 2, 3, 1), run(0, 0, 5, 1), run(0, 0, 2, 1)];
    let other = [run(1, 0, 5, 2)];
    let one = with(vec![subpath(&straight, 300, 30), subpath(&other, 50, 5)]);
    let two = with(vec![subpath(&turned, 200, 40)]);
    let sum = merge([&one, &two]).unwrap().subpaths.unwrap();
    let found: Vec<_> = sum
        .subpaths
        .iter()
        .map(|s| (s.estimate, s.low, s.high, s.sampled))
        .collect();
    assert_eq!(found, [(500, 450, 600, 50), (50, 45, 60, 5)]);
    assert_eq!(sum.subpaths[0].runs, straight);
    assert_eq!((sum.blocks, sum.places, sum.distance), (2000, 2000, (16, 20)));
    assert!((sum.share(&sum.subpaths[0]) - 0.25).abs() < 1e-12);
    assert_eq!(sum.lengths, "pow2:16");
    // Those that are not wholly known stay apart; a profile without subpaths changes nothing.
    let cut = Subpath {
        missing: 5,
        length: 15,
        ..subpath(&straight, 40, 0)
    };
    let sum = merge([&with(vec![cut.clone()]), &with(vec![cut]), &profile(vec![])]).unwrap();
    assert_eq!(sum.subpaths.unwrap().subpaths.len(), 2);
}

#[test]
fn many_rounds_follow_from_few_and_some_more() {
    let straight = [run(0, 0, 5, 2)];
    let turned = [run(0, 2, 3, 1), run(0, 0, 5, 1), run(0, 0, 2, 1)];
    let [once, late, ever_less] = [1, 2, 3].map(|path| [run(path, 0, 5, 1)]);
    // 100 of the first from setting up and 10 in each round; 50 of the second from setting up alone.
    let few = with(vec![
        subpath(&straight, 110, 0),
        subpath(&once, 50, 0),
        subpath(&ever_less, 30, 0),
    ]);
    let more = with(vec![
        subpath(&turned, 130, 0),
        subpath(&once, 50, 0),
        subpath(&late, 20, 0),
        subpath(&ever_less, 10, 0),
    ]);
    let [few, more] = [&few, &more].map(|profile| ExactSubpaths::of(profile).unwrap());
    let truth = few.extrapolated(1, (3, &more), 100);
    let sampled = with(vec![
        subpath(&turned, 1210, 111),
        subpath(&late, 880, 50),
        subpath(&once, 60, 5),
        subpath(&ever_less, 10, 0),
    ]);
    let accuracy = truth.accuracy_of(&sampled).unwrap();
    let rows: Vec<_> = accuracy
        .hottest
        .iter()
        .map(|row| (row.rank, row.estimate, row.exact))
        .collect();
    assert_eq!(rows, [(1, 1210, 1100), (2, 880, 990), (3, 60, 50), (4, 10, 0)]);
    // Of the two that came at least twenty times, the first one's bounds hold its count.
    assert_eq!((accuracy.often, accuracy.inside, accuracy.right), (2, 1, 4));
    assert_eq!(accuracy.tenth, 0);
    // As many rounds as were counted are those.
    let same = few.extrapolated(1, (3, &more), 3);
    assert_eq!(same.accuracy_of(&sampled), more.accuracy_of(&sampled));
}

#[test]
fn what_is_no_subpath_is_refused() {
    let good = subpath(&[run(0, 0, 5, 2)], 10, 1);
    for (bad, words) in [
        (
            Subpath {
                length: 11,
                ..good.clone()
            },
            "the file holds 10 blocks of a subpath, it says 11",
        ),
        (
            Subpath {
                low: 11,
                ..good.clone()
            },
            "estimate of a subpath: 10 is not from 11 to 12",
        ),
        (
            subpath(&[run(4, 0, 5, 1)], 1, 0),
            "a subpath: no path has the number 4",
        ),
        (
            Subpath {
                length: 70_000,
                missing: 69_990,
                ..good.clone()
            },
            "blocks of a subpath: 70000 is not from 0 to 65536",
        ),
        (
            subpath(
                &[SubpathRun {
                    method: 1,
                    ..run(0, 0, 1, 2)
                }],
                1,
                0,
            ),
            "there is no method 1 of class 0",
        ),
    ] {
        let error = with(vec![bad]).to_bytes().unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
    with(vec![good]).to_bytes().unwrap();
}

#[test]
fn blocks_are_those_of_the_paths() {
    let map = two_ifs("m", None);
    let all = run(2, 0, 5, 1).blocks_in(&map).unwrap();
    assert_eq!((all.0.len(), all.1), (5, false));
    assert_eq!(run(2, 1, 3, 9).blocks_in(&map).unwrap().0, all.0[1..4]);
    for bad in [
        run(2, 0, 6, 1),
        run(2, 5, 1, 1),
        run(2, u32::MAX, u32::MAX, 1),
        run(4, 0, 1, 1),
    ] {
        assert_eq!(bad.blocks_in(&map), None);
    }
}

fn any_subpath() -> impl Strategy<Value = Subpath> {
    let one = (0..4u64, 0..5u32, 1..6u32, 1..9u32);
    let run = one.prop_map(|(path, from, blocks, times)| run(path, from, blocks.min(5 - from), times));
    let runs = prop::collection::vec(run, 0..6);
    (runs, any::<u32>(), any::<u32>(), 0..20u32, any::<u64>()).prop_map(
        |(runs, estimate, bound, missing, sampled)| {
            let bound = u64::from(bound.min(estimate));
            let whole = subpath(&runs, u64::from(estimate), bound);
            Subpath {
                length: whole.length + missing,
                missing,
                sampled,
                ..whole
            }
        },
    )
}

proptest! {
    #[test]
    fn files_keep_them(
        subpaths in prop::collection::vec(any_subpath(), 0..20),
        numbers in prop::array::uniform9(any::<u64>()),
        half_life in any::<Option<u64>>(),
        sliding_window in any::<Option<u64>>(),
        text in "[a-z:0-9]{0,9}",
    ) {
        let mut profile = with(subpaths);
        let about = profile.subpaths.as_mut().unwrap();
        about.lengths = text;
        about.half_life = half_life;
        about.sliding_window = sliding_window;
        [about.threads, about.blocks, about.places, about.drawn, about.drawn_blocks, about.peak_bytes,
            about.working_bytes, about.distance.0, about.distance.1] = numbers;
        let bytes = profile.to_bytes().unwrap();
        prop_assert_eq!(Profile::read(&bytes).unwrap(), profile);
    }

    #[test]
    fn damaged_files_are_no_panic(subpaths in prop::collection::vec(any_subpath(), 0..5), at in any::<prop::sample::Index>(), with_byte in any::<u8>()) {
        let mut bytes = with(subpaths).to_bytes().unwrap();
        let at = at.index(bytes.len());
        bytes[at] = with_byte;
        if let Ok(profile) = Profile::read(&bytes) {
            let _ = merge([&profile, &profile]);
        }
    }

    /// Against expanding everything and trying all rotations.
    #[test]
    fn merging_is_grouping_by_blocks(subpaths in prop::collection::vec(any_subpath(), 0..12), split in 0..12usize) {
        let subpaths: Vec<Subpath> = subpaths.into_iter().map(|s| Subpath { missing: 0, length: s.length - s.missing, sampled: 1, ..s }).collect();
        let map = two_ifs("m", None);
        let mut expected: BTreeMap<Vec<usize>, u64> = BTreeMap::new();
        for subpath in &subpaths {
            let blocks: Vec<usize> =
                subpath.runs.iter().flat_map(|run| run.blocks_in(&map).unwrap().0.repeat(run.times as usize)).collect();
            let rotations = (0..blocks.len().max(1)).map(|at| [&blocks[at..], &blocks[..at]].concat());
            *expected.entry(rotations.min().unwrap()).or_default() += subpath.estimate;
        }
        let (first, second) = subpaths.split_at(split.min(subpaths.len()));
        let sum = merge([&with(first.to_vec()), &with(second.to_vec())]).unwrap().subpaths.unwrap();
        let mut estimates: Vec<u64> = expected.into_values().collect();
        estimates.sort_unstable_by(|a, b| b.cmp(a));
        prop_assert_eq!(sum.subpaths.iter().map(|s| s.estimate).collect::<Vec<_>>(), estimates);
        prop_assert!(sum.subpaths.iter().all(|s| s.low <= s.estimate && s.estimate <= s.high));
        prop_assert_eq!(sum.sampled().0, subpaths.len() as u64);
    }

    #[test]
    fn the_least_rotation_is_the_least(items in prop::collection::vec(0..3u8, 0..40)) {
        let at = least_rotation(&items);
        let rotated: Vec<u8> = [&items[at..], &items[..at]].concat();
        let all = (0..items.len().max(1)).map(|at| [&items[at..], &items[..at]].concat());
        prop_assert_eq!(Some(rotated), all.min());
    }
}
