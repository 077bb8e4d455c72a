//! Profile options to a profile: what is sampled and what is counted of the same stream.

use std::collections::BTreeMap;

use trodden_analyses::MethodTable;
use trodden_analyses::stream::Pipeline;
use trodden_profile::events::{ThreadInfo, Word};
use trodden_profile::options::ProfileOptions;
use trodden_profile::{Profile, Subpath};

use super::common::canonical;
use super::words;

/// Paths of `outer` in [`words::class`], and their blocks.
fn stream(turns: usize) -> Vec<u32> {
    let mut state = 0x9e37_79b9u64;
    let mut one = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 20 & 3 == 0) as usize
    };
    let shapes = words::shapes();
    let ways = [&[1, 2, 4][..], &[1, 3, 4]].map(|blocks| words::number(&shapes, 0, blocks));
    let mut paths = vec![words::number(&shapes, 0, &[0])];
    paths.extend((0..turns).map(|_| ways[one()]));
    paths.push(words::number(&shapes, 0, &[1, 3, 4, 5]));
    paths
}

fn blocks(paths: &[u32]) -> Vec<u64> {
    use trodden_analyses::subpaths::PathShapes;
    let shapes = words::shapes();
    let mut all = Vec::new();
    paths
        .iter()
        .for_each(|&path| shapes.blocks(0, path, 0, u32::MAX, &mut all));
    all.into_iter().map(u64::from).collect()
}

/// The profile with these options of two threads, the second one with the same stream twice.
fn profile(options: &[(&str, &str)], paths: &[u32]) -> Profile {
    let mut pairs = vec![("profile", "subpaths")];
    pairs.extend(options);
    let options = ProfileOptions::for_replay(&pairs).unwrap();
    let pipeline = Pipeline::from_options(&options).unwrap();
    let mut table = MethodTable::default();
    let class = words::class();
    table.add_class(class.clone()).unwrap();
    pipeline.methods().unwrap().insert_class(0, class).unwrap();
    let words: Vec<u64> = paths.iter().map(|&path| Word::path_end(0, path).0).collect();
    for (id, times) in [(1, 1), (2, 2)] {
        let thread = pipeline.open(ThreadInfo {
            id,
            ..ThreadInfo::default()
        });
        for _ in 0..times {
            words.chunks(7).for_each(|batch| thread.consume(batch));
        }
    }
    pipeline.profile(&table).unwrap()
}

/// Canonical blocks of a subpath of a profile.
fn identity(profile: &Profile, subpath: &Subpath) -> Vec<u64> {
    assert_eq!(subpath.missing, 0);
    let map = &profile.classes[0].map.methods[0];
    let mut all = Vec::new();
    for run in &subpath.runs {
        let (blocks, _) = run.blocks_in(map).unwrap();
        (0..run.times).for_each(|_| all.extend(blocks.iter().map(|&block| block as u64)));
    }
    canonical(&all)
}

/// How often each subpath was executed, and whether a window onto it came twice in a thread.
fn brute_force(threads: &[Vec<u64>], lengths: &[usize]) -> BTreeMap<Vec<u64>, (u64, bool)> {
    let mut all: BTreeMap<Vec<u64>, (u64, bool)> = BTreeMap::new();
    for thread in threads {
        for &length in lengths {
            let mut seen: BTreeMap<&[u64], u64> = BTreeMap::new();
            for window in thread.windows(length) {
                let entry = all.entry(canonical(window)).or_default();
                let times = seen.entry(window).or_default();
                *times += 1;
                entry.0 += 1;
                entry.1 |= *times == 2;
            }
        }
    }
    all
}

#[test]
fn exact_counts_are_those_of_brute_force() {
    let paths = stream(60);
    let once = blocks(&paths);
    let threads = [once.clone(), once.repeat(2)];
    let truth = brute_force(&threads, &[2, 4, 8, 16, 32]);
    let exact = profile(&[("counts", "exact"), ("lengths", "pow2:32")], &paths);
    let section = exact.subpaths.as_ref().unwrap();
    assert!(section.is_exact() && exact.run.exact);
    assert_eq!(section.blocks, 3 * once.len() as u64);
    let mut listed = BTreeMap::new();
    for subpath in &section.subpaths {
        assert_eq!(subpath.sampled, subpath.estimate);
        assert_eq!((subpath.low, subpath.high), (subpath.estimate, subpath.estimate));
        let before = listed.insert(identity(&exact, subpath), subpath.estimate);
        assert_eq!(before, None, "each is there once");
    }
    let expected: BTreeMap<Vec<u64>, u64> = (truth.iter().filter(|(_, (_, again))| *again))
        .map(|(blocks, (count, _))| (blocks.clone(), *count))
        .collect();
    assert_eq!(listed, expected);
    let others = truth.len() - expected.len();
    assert!(others > 10);
    assert_eq!(
        exact.run.facts.text("subpaths_executed_once").as_deref(),
        Some(&*others.to_string())
    );
    assert!(exact.run.facts.text("subpaths_lengths_counted").is_none());
}

#[test]
fn lengths_that_need_too_much_memory_are_given_up_and_told() {
    let paths = stream(400);
    let exact = profile(
        &[("counts", "exact"), ("lengths", "pow2:64"), ("footprint", "16k")],
        &paths,
    );
    let counted = exact.run.facts.text("subpaths_lengths_counted").unwrap();
    assert!(counted.starts_with('2') && !counted.contains("64"), "{counted}");
    let longest: u32 = counted.rsplit('+').next().unwrap().parse().unwrap();
    let section = exact.subpaths.unwrap();
    assert!(section.subpaths.iter().all(|subpath| subpath.length <= longest));
}

/// Options that no count can fulfil are refused.
#[test]
fn exact_counts_know_no_ageing_and_begin_anywhere() {
    for option in [("starts", "headers"), ("half-life", "100")] {
        let pairs = [("profile", "subpaths"), ("counts", "exact"), option];
        let options = ProfileOptions::for_replay(&pairs).unwrap();
        let error = Pipeline::from_options(&options).err().unwrap().to_string();
        assert!(error.contains("counts=exact"), "{error}");
    }
}

/// Each option, in its text form, has the effect that is promised.
#[test]
fn options_reach_the_sampler() {
    let paths = stream(3000);
    let of = |options: &[(&str, &str)]| profile(options, &paths);
    let exact = of(&[("counts", "exact"), ("lengths", "pow2:8")]);
    // Every block begins a sample of the one length: nothing is left to chance.
    let all = of(&[("lengths", "pow2:2"), ("distance", "1:1"), ("footprint", "1M")]);
    let section = all.subpaths.as_ref().unwrap();
    assert!(section.is_exact());
    assert_eq!(section.sampled().0, section.blocks - 2);
    // A distance that fits the run: as large as needed for the footprint to hold them.
    let expected = of(&[("distance", "expect:1M:1"), ("footprint", "64k")]);
    assert_eq!(expected.subpaths.as_ref().unwrap().distance, (558, 558)); // 1,000,000 / 1,792

    let headers = of(&[("starts", "headers"), ("distance", "4:4"), ("lengths", "pow2:8")]);
    let section = headers.subpaths.as_ref().unwrap();
    assert_eq!(section.starts, "headers");
    // Each turn begins at the header, 1; and the last path.
    assert_eq!(section.places, 3 * 3001);
    let map = &headers.classes[0].map.methods[0];
    // Of what came once there may be no description.
    let firsts = section.subpaths.iter().filter_map(|subpath| subpath.runs.first());
    assert!(firsts.clone().count() > 10);
    firsts.for_each(|run| assert_eq!(run.blocks_in(map).unwrap().0[0], 1));

    let prefer = of(&[("starts", "prefer:9"), ("distance", "8:8"), ("lengths", "pow2:4")]);
    assert_eq!(prefer.subpaths.as_ref().unwrap().starts, "prefer:9");
    let plain = of(&[("distance", "8:8"), ("lengths", "pow2:4")]);
    let drawn = |profile: &Profile| profile.subpaths.as_ref().unwrap().drawn as f64;
    // A third of all blocks are headers: 2/3 + 9/3 of as many samples.
    let ratio = drawn(&prefer) / drawn(&plain);
    assert!((3.2..4.2).contains(&ratio), "{ratio}");

    // By xor, which way comes first is all the same, and so is what comes in pairs.
    let xor = of(&[("identity", "xor"), ("lengths", "pow2:8"), ("counts", "exact")]);
    let count = |profile: &Profile| profile.subpaths.as_ref().unwrap().subpaths.len();
    assert_eq!(xor.subpaths.as_ref().unwrap().identity, "xor");
    assert!(count(&xor) < count(&exact), "{} {}", count(&xor), count(&exact));

    let fading = of(&[("half-life", "1k")]);
    let section = fading.subpaths.as_ref().unwrap();
    assert_eq!(section.half_life, Some(1000));
    assert!(
        section.blocks < 2 * 2 * 1000 + 100 && section.blocks > 2 * 1000 - 100,
        "{}",
        section.blocks
    );

    let sliding = of(&[("sliding-window", "1k")]);
    let section = sliding.subpaths.as_ref().unwrap();
    assert_eq!((section.sliding_window, section.blocks), (Some(1000), 2 * 1000));
    let bytes = sliding.to_bytes().unwrap();
    assert_eq!(Profile::read(&bytes).unwrap(), sliding);
}

#[test]
fn a_threshold_leaves_out_and_says_so() {
    let paths = stream(3000);
    let of = |threshold: &str| {
        let options = [
            ("threshold", threshold),
            ("distance", "4:4"),
            ("lengths", "pow2:8"),
        ];
        profile(&options, &paths)
    };
    let whole = of("none");
    let all = whole.subpaths.as_ref().unwrap();
    assert_eq!(whole.subpaths_left_out(), (0, 0));
    let check = |threshold: &str, expected: Vec<&Subpath>| {
        let some = of(threshold);
        let kept = some.subpaths.as_ref().unwrap();
        let mut expected: Vec<Subpath> = expected.into_iter().cloned().collect();
        assert!(
            !expected.is_empty() && expected.len() < all.subpaths.len(),
            "{threshold}"
        );
        let order = |subpath: &Subpath| {
            (
                std::cmp::Reverse(subpath.estimate),
                subpath.length,
                subpath.runs.clone(),
            )
        };
        let mut found = kept.subpaths.clone();
        found.sort_by_key(order);
        expected.sort_by_key(order);
        assert_eq!(found, expected, "{threshold}");
        let (subpaths, samples) = some.subpaths_left_out();
        assert_eq!(subpaths + kept.sampled().1, all.sampled().1);
        assert_eq!(samples + kept.sampled().0, all.sampled().0);
    };
    let often = |subpath: &&Subpath| subpath.sampled >= 30;
    check("samples:30", all.subpaths.iter().filter(often).collect());
    let large = |subpath: &&Subpath| subpath.estimate as f64 >= 0.1 * all.places as f64;
    check("share:0.1", all.subpaths.iter().filter(large).collect());
    check("top:3", all.ranking()[..3].to_vec());
}
