//! Streams from which path ends are left out, as probes do it.

use std::collections::HashMap;
use std::sync::Arc;

use proptest::prelude::*;
use trodden_analyses::subpaths::*;
use trodden_profile::options::SubpathStarts;

use super::common::*;

fn skipping(options: &SubpathOptions) -> Sampler {
    options.check().unwrap();
    Sampler::skipping(Arc::new(options.clone()), 0, options.start)
}

/// Hands on what the sampler wants, as the shim does. Returns how many path ends that was.
fn obey(toy: &Toy, stream: &[(u32, u32)], sampler: &mut Sampler) -> usize {
    let paths = stream
        .iter()
        .flat_map(|&(path, times)| (0..times).map(move |_| path));
    let (mut handed_on, mut wanted) = (0, Wanted { skip: 0, words: 1 });
    for path in paths {
        if wanted.skip > 0 {
            wanted.skip -= 1;
            continue;
        }
        handed_on += 1;
        if toy.0[path as usize].0.is_empty() {
            sampler.nothing(1)
        } else {
            toy.feed(&[(path, 1)], sampler)
        }
        wanted.words -= 1;
        if wanted.words == 0 {
            wanted = sampler.wanted();
            assert!(wanted.words > 0);
        }
    }
    handed_on
}

/// Paths longer than what is drawn in at once, short ones, and one without blocks.
fn uneven() -> Toy {
    Toy(vec![
        ((1..=21).collect(), true),
        (vec![3, 4], false),
        (vec![], false),
        (vec![5, 6, 7, 8, 9, 10, 11, 12, 13], true),
    ])
}

fn check_over_seeds(toy: &Toy, stream: &[(u32, u32)], options: &SubpathOptions) {
    let lengths: Vec<u32> = options.lengths.all().collect();
    let all = toy.blocks_of(stream);
    let counts = |header| f64::from(options.starts != SubpathStarts::Headers || header);
    let mut truth = brute_force(&all, &lengths, |_, header| counts(header));
    truth.retain(|_, &mut count| count > 0.0);
    check_against(
        toy,
        stream,
        options,
        &truth,
        all.iter().map(|&(_, header)| counts(header)).sum(),
    );
}

/// Means over many seeds against the truth; `places`: how many there are where a subpath might have begun.
fn check_against(
    toy: &Toy,
    stream: &[(u32, u32)],
    options: &SubpathOptions,
    truth: &HashMap<Vec<u64>, f64>,
    places: f64,
) {
    let blocks = places;
    let mut means = Means::new(truth);
    let (mut sum, mut squares) = (0.0, 0.0);
    for seed in 0..2000 {
        let mut sampler = skipping(&SubpathOptions {
            seed,
            ..options.clone()
        });
        obey(toy, stream, &mut sampler);
        means.add(&estimates(&[&sampler]));
        sum += sampler.places();
        squares += sampler.places().powi(2);
    }
    means.check();
    let (mean, of) = (sum / 2000.0, 2000.0);
    // None, if every path end is picked.
    let deviation = ((squares / of - mean * mean) / of).max(0.0).sqrt();
    assert!(
        (mean - blocks).abs() <= 4.2 * deviation + 1e-6,
        "{mean} places, not {blocks}"
    );
}

#[test]
fn estimates_are_unbiased_if_path_ends_are_left_out() {
    let stream = stream(11, 80, 4, 5);
    for (lengths, start) in [("pow2:16", 8), ("pow2:16", 40), ("any:6", 24)] {
        let options = SubpathOptions {
            lengths: lengths.parse().unwrap(),
            start,
            ..SubpathOptions::default()
        };
        check_over_seeds(&uneven(), &stream, &options);
        check_over_seeds(&toy(), &stream, &options);
    }
}

/// Also when the sample had to be resampled.
#[test]
fn estimates_are_unbiased_in_a_small_footprint_if_path_ends_are_left_out() {
    let stream = stream(12, 400, 4, 4);
    let options = SubpathOptions {
        lengths: "pow2:4".parse().unwrap(),
        footprint: MIN_FOOTPRINT,
        start: 8,
        floor: 8,
        skipping_floor: 8,
        ..SubpathOptions::default()
    };
    let mut one = skipping(&options);
    obey(&uneven(), &stream, &mut one);
    assert!(one.tally().raised > 3 && one.f() > 16, "{:?}", one.tally());
    check_over_seeds(&uneven(), &stream, &options);
}

/// However much loop headers are preferred: less than what is drawn in at once, more, and alone.
#[test]
fn a_preference_does_not_show_in_estimates_if_path_ends_are_left_out() {
    let stream = stream(15, 80, 4, 5);
    for (starts, start) in [
        (prefer(1), 16),
        (prefer(5), 40),
        (prefer(33), 40),
        (prefer(33), 8),
        (SubpathStarts::Headers, 8),
    ] {
        let options = SubpathOptions {
            lengths: "pow2:8".parse().unwrap(),
            starts,
            start,
            ..SubpathOptions::default()
        };
        check_over_seeds(&uneven(), &stream, &options);
        check_over_seeds(&toy(), &stream, &options);
    }
}

#[test]
fn resampling_for_a_preference_is_unbiased_too_if_path_ends_are_left_out() {
    let stream = stream(16, 400, 4, 4);
    let options = SubpathOptions {
        lengths: "pow2:4".parse().unwrap(),
        footprint: MIN_FOOTPRINT,
        starts: prefer(20),
        start: 8,
        floor: 8,
        skipping_floor: 8,
        ..SubpathOptions::default()
    };
    let mut one = skipping(&options);
    obey(&uneven(), &stream, &mut one);
    assert!(one.tally().raised > 3, "{:?}", one.tally());
    check_over_seeds(&uneven(), &stream, &options);
}

/// And it is one: more samples begin at headers than without, in proportion.
#[test]
fn headers_begin_more_samples_if_they_are_preferred() {
    // One header in four blocks.
    let toy = Toy(vec![(vec![1, 2, 3, 4], true)]);
    let drawn = |starts| {
        let options = SubpathOptions {
            starts,
            start: 400,
            floor: 400,
            skipping_floor: 400,
            ..SubpathOptions::default()
        };
        let mut sampler = skipping(&options);
        obey(&toy, &[(0, 400_000)], &mut sampler);
        sampler.tally().drawn as f64
    };
    // 4,000 and 1,000 for every one that headers count more.
    let ratio = |starts| drawn(starts) / drawn(SubpathStarts::Anywhere);
    assert!((1.9..2.1).contains(&ratio(prefer(5))));
    assert!((7.2..7.8).contains(&ratio(prefer(27))));
    assert!((0.23..0.27).contains(&ratio(SubpathStarts::Headers)));
}

/// Where every path end is picked, blocks are counted, and what was sampled before a multiple of the
/// half-life counts half.
#[test]
fn old_subpaths_fade_if_path_ends_are_left_out() {
    let (stream, toy, life) = (stream(17, 150, 4, 1), toy(), 90);
    let options = SubpathOptions {
        lengths: "pow2:8".parse().unwrap(),
        half_life: Some(life),
        start: 8,
        ..SubpathOptions::default()
    };
    let mut ends = Vec::new();
    let mut position = 0;
    for &(path, _) in &stream {
        let before = position / life;
        position += toy.0[path as usize].0.len() as u64;
        ends.extend((before..position / life).map(|_| position as usize));
    }
    assert!(ends.len() >= 3);
    let age = |at: usize, _: bool| 0.5f64.powi(ends.iter().filter(|&&end| end > at).count() as i32);
    let blocks = toy.blocks_of(&stream);
    let lengths: Vec<u32> = options.lengths.all().collect();
    let truth = brute_force(&blocks, &lengths, age);
    let places = (0..blocks.len()).map(|at| age(at, false)).sum();
    check_against(&toy, &stream, &options, &truth, places);
}

/// Where most are left out, the clock is an estimate, but what is long past is forgotten all the same.
#[test]
fn a_phase_that_is_over_fades_if_path_ends_are_left_out() {
    let toy = Toy(vec![(vec![1, 2], true), (vec![3, 4], true)]);
    let phases = [(0, 400_000), (1, 400_000)];
    let shares = |half_life| {
        let options = SubpathOptions {
            lengths: Lengths::powers(2),
            half_life,
            ..SubpathOptions::default()
        };
        let mut sampler = skipping(&options);
        obey(&toy, &phases, &mut sampler);
        let found = estimates(&[&sampler]);
        [[1, 2], [3, 4]].map(|pair| found.get(&key(&pair)).map_or(0.0, |subpath| subpath.share))
    };
    let [first, second] = shares(None);
    assert!(
        (first - 0.5).abs() < 0.05 && (second - 0.5).abs() < 0.05,
        "{first} {second}"
    );
    // Eight half-lives back: 1 of 256, as the sum of all weights is that of two half-lives.
    let [first, second] = shares(Some(100_000));
    assert!(first < 0.02 && second > 0.95, "{first} {second}");
}

/// Samples that begin in one path together make them only a little too narrow.
#[test]
fn intervals_hold_if_path_ends_are_left_out() {
    let stream = stream(13, 3000, 4, 3);
    let (toy, options) = (
        toy(),
        SubpathOptions {
            lengths: "pow2:16".parse().unwrap(),
            footprint: 4096,
            start: 16,
            floor: 16,
            ..SubpathOptions::default()
        },
    );
    let lengths: Vec<u32> = options.lengths.all().collect();
    let truth = brute_force(&toy.blocks_of(&stream), &lengths, |_, _| 1.0);
    let mut hot: Vec<(u64, f64)> = truth.iter().map(|(b, &count)| (key(b), count)).collect();
    hot.sort_by(|a, b| b.1.total_cmp(&a.1));
    hot.truncate(20);
    let (mut held, mut all) = (0, 0);
    for seed in 0..300 {
        let mut sampler = skipping(&SubpathOptions {
            seed,
            ..options.clone()
        });
        obey(&toy, &stream, &mut sampler);
        let found = estimates(&[&sampler]);
        for &(key, count) in &hot {
            all += 1;
            let interval = found.get(&key).map(|subpath| subpath.estimate);
            held += usize::from(interval.is_some_and(|i| (i.low..=i.high).contains(&count)));
        }
    }
    let share = held as f64 / f64::from(all);
    assert!((0.92..=0.98).contains(&share), "{share}");
}

/// The purpose of skipping.
#[test]
fn few_path_ends_are_wanted_in_a_long_run() {
    let (toy, stream) = (toy(), stream(14, 1_600_000, 4, 3));
    let options = SubpathOptions::default();
    let mut sampler = skipping(&options);
    let handed_on = obey(&toy, &stream, &mut sampler);
    let paths: u32 = stream.iter().map(|&(_, times)| times).sum();
    assert!(sampler.f() >= 256, "{}", sampler.f());
    // The beginning is sampled more densely.
    assert!(handed_on < paths as usize / 4, "{handed_on} of {paths}");
    let blocks = toy.blocks_of(&stream).len() as f64;
    assert!((sampler.blocks() / blocks - 1.0).abs() < 0.05);
}

proptest! {
    #[test]
    fn a_seed_reproduces_and_the_footprint_is_kept(
        stream in prop::collection::vec((0..4u32, 1..30u32), 0..60),
        (seed, start, footprint) in (any::<u64>(), 1..30u32, MIN_FOOTPRINT..4000),
    ) {
        let lengths = "pow2:16".parse().unwrap();
        let options = SubpathOptions { lengths, seed, start, footprint, ..SubpathOptions::default() };
        let toy = uneven();
        let of = |sampler: &Sampler| {
            let mut all: Vec<(u64, Subpath)> = estimates(&[sampler]).into_iter().collect();
            all.sort_by_key(|&(key, _)| key);
            (all, sampler.f(), sampler.tally(), sampler.blocks())
        };
        let mut samplers = [skipping(&options), skipping(&options)];
        for sampler in &mut samplers {
            obey(&toy, &stream, sampler);
            prop_assert!(sampler.bytes().1 <= footprint);
            prop_assert_eq!(sampler.f() % 8, 0);
        }
        prop_assert_eq!(of(&samplers[0]), of(&samplers[1]));
        // What was sampled was executed.
        let blocks: Vec<u64> = toy.blocks_of(&stream).iter().map(|&(block, _)| block).collect();
        let lengths: Vec<u32> = options.lengths.all().collect();
        let truth: HashMap<u64, f64> = brute_force(&toy.blocks_of(&stream), &lengths, |_, _| 1.0)
            .into_iter().map(|(blocks, count)| (key(&blocks), count)).collect();
        for (key, subpath) in of(&samplers[0]).0 {
            prop_assert!(truth.contains_key(&key), "{:?} is not in {:?}", subpath, blocks);
        }
    }
}
