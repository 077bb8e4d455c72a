//! Hot subpaths against brute force, over many seeds. All seeds are fixed: nothing here may fail by chance.

mod common;
mod counting;
mod skipping;
mod sliding;
mod words;

use std::collections::HashMap;

use common::*;
use proptest::prelude::*;
use trodden_analyses::subpaths::*;
use trodden_profile::options::{SubpathIdentity, SubpathStarts};

const SEEDS: u64 = 2000;
/// Where long subpaths are sampled very rarely: enough of them that their means are spread normally.
const MORE_SEEDS: u64 = 20_000;

/// Samples of a stream under many seeds, against the truth.
fn check_over_seeds(options: &SubpathOptions, stream: &[(u32, u32)], truth: &HashMap<Vec<u64>, f64>) {
    check_over(SEEDS, options, stream, truth);
}

fn check_over(seeds: u64, options: &SubpathOptions, stream: &[(u32, u32)], truth: &HashMap<Vec<u64>, f64>) {
    let toy = toy();
    let mut means = Means::new(truth);
    for seed in 0..seeds {
        let mut sampler = sampler(
            &SubpathOptions {
                seed,
                ..options.clone()
            },
            0,
        );
        toy.feed(stream, &mut sampler);
        means.add(&estimates(&[&sampler]));
    }
    means.check();
}

fn all_lengths(options: &SubpathOptions) -> Vec<u32> {
    options.lengths.all().collect()
}

#[test]
fn estimates_are_unbiased() {
    let stream = stream(1, 60, 4, 5);
    let blocks = toy().blocks_of(&stream);
    for lengths in ["pow2:16", "pow2-uniform:8", "any:6", "any-uniform:5"] {
        for start in [1, 7] {
            let lengths = lengths.parse().unwrap();
            let options = SubpathOptions {
                lengths,
                start,
                ..SubpathOptions::default()
            };
            let truth = brute_force(&blocks, &all_lengths(&options), |_, _| 1.0);
            check_over_seeds(&options, &stream, &truth);
        }
    }
}

/// Also when the sample had to be resampled again and again, when that depended on what was in it.
#[test]
fn estimates_are_unbiased_in_a_small_footprint() {
    let stream = stream(2, 500, 4, 4);
    let options = SubpathOptions {
        lengths: "pow2:32".parse().unwrap(),
        footprint: MIN_FOOTPRINT,
        start: 1,
        floor: 1,
        ..SubpathOptions::default()
    };
    let mut one = sampler(&options, 0);
    toy().feed(&stream, &mut one);
    let (least, most) = one.distances();
    assert!(
        one.tally().raised > 10 && most > 10 * least,
        "{:?} {least} {most}",
        one.tally()
    );
    let truth = brute_force(&toy().blocks_of(&stream), &all_lengths(&options), |_, _| 1.0);
    check_over(MORE_SEEDS, &options, &stream, &truth);
}

/// However long a run is, the number of samples is bounded: more of them would cost time for nothing.
#[test]
fn a_long_run_is_sampled_ever_more_rarely() {
    let options = SubpathOptions {
        lengths: Lengths::powers(4),
        footprint: 4096,
        start: 1,
        floor: 1,
        ..SubpathOptions::default()
    };
    let most = PLENTIFUL_SAMPLES_PER_BYTE * 4096;
    let (toy, mut one) = (toy(), sampler(&options, 0));
    let turns = 400_000u32;
    (0..turns).for_each(|_| toy.feed(&[(0, 1), (3, 1)], &mut one));
    assert!(
        (most / 4..=most).contains(&one.sampled().0),
        "{:?}",
        one.sampled()
    );
    // Each doubling takes half as many again.
    assert!(one.tally().drawn < most * 9, "{:?}", one.tally());
    assert!(one.f() >= 128, "{}", one.f());
    // Of five blocks, 1 2 3 1 8, each pair begins in every turn.
    let found = estimates(&[&one]);
    for pair in [[1, 2], [2, 3], [3, 1], [1, 8], [8, 1]] {
        let estimate = found[&key(&pair)].estimate;
        // 1 8 and 8 1 are the same.
        let truth = f64::from(turns) * if pair.contains(&8) { 2.0 } else { 1.0 };
        assert!(
            (estimate.value / truth - 1.0).abs() < 0.2,
            "{pair:?}: {estimate:?}"
        );
    }
}

/// Long subpaths that come once do not push out short ones that come again and again.
#[test]
fn lengths_share_the_footprint() {
    // Of four paths in any order: few short subpaths, and no long one twice.
    let stream = stream(9, 60_000, 4, 1);
    let options = SubpathOptions {
        lengths: "pow2-uniform:64".parse().unwrap(),
        footprint: 32 << 10,
        floor: 16,
        ..SubpathOptions::default()
    };
    let mut one = sampler(&options, 0);
    toy().feed(&stream, &mut one);
    // Nothing of the short ones had to leave, and their samples are worth what they were.
    assert_eq!((one.f(), one.distance(2), one.distance(4)), (16, 16, 16));
    assert!(one.distance(64) > 64, "{}", one.distance(64));
    assert_eq!(one.distances().0, 16);
    assert!(one.distances().1 >= one.distance(64));
    let blocks = one.blocks();
    let found = estimates(&[&one]);
    let shorts = found.values().filter(|s| s.length == 2);
    let samples: u64 = shorts.map(|s| s.sampled).sum();
    let expected = blocks / 16.0 * options.lengths.probability(2);
    assert!(
        (samples as f64 / expected - 1.0).abs() < 0.1,
        "{samples}, not {expected}"
    );
    // Each length has some.
    for length in options.lengths.all() {
        let all: Vec<&Subpath> = found.values().filter(|s| s.length == length).collect();
        assert!(all.len() >= 10, "{length}: {}", all.len());
        // All places but the last begin one of that length, so estimates sum up to that.
        let sum: f64 = all.iter().map(|s| s.estimate.value).sum();
        let samples: u64 = all.iter().map(|s| s.sampled).sum();
        let error = (sum / blocks - 1.0) * (samples as f64).sqrt();
        assert!(
            error.abs() < 4.0,
            "{length}: {sum} of {blocks} places, from {samples} samples"
        );
    }
}

#[test]
fn a_preference_does_not_show_in_estimates() {
    let stream = stream(3, 60, 4, 4);
    let blocks = toy().blocks_of(&stream);
    let lengths: Lengths = "pow2:8".parse().unwrap();
    let options = SubpathOptions {
        lengths,
        start: 9,
        ..SubpathOptions::default()
    };
    for (starts, start) in [(prefer(5), 9), (prefer(5), 2), (SubpathStarts::Headers, 3)] {
        let options = SubpathOptions {
            starts,
            start,
            ..options.clone()
        };
        let everywhere = starts != SubpathStarts::Headers;
        let truth = brute_force(&blocks, &all_lengths(&options), |_, header| {
            f64::from(everywhere || header)
        });
        let truth = truth.into_iter().filter(|&(_, count)| count > 0.0).collect();
        check_over_seeds(&options, &stream, &truth);
        // And it is one.
        let count = |starts| {
            let mut sampler = sampler(
                &SubpathOptions {
                    starts,
                    start: 50,
                    ..options.clone()
                },
                0,
            );
            let header = |times| [(3, times)];
            toy().feed(&header(40_000), &mut sampler);
            sampler.sampled().0
        };
        let (with, without) = (count(prefer(5)), count(SubpathStarts::Anywhere));
        assert!(with > 2 * without, "{with} {without}");
    }
}

#[test]
fn resampling_for_a_preference_is_unbiased_too() {
    let stream = stream(4, 300, 4, 4);
    let options = SubpathOptions {
        lengths: "pow2:8".parse().unwrap(),
        footprint: MIN_FOOTPRINT,
        starts: prefer(3),
        start: 1,
        floor: 1,
        ..SubpathOptions::default()
    };
    let truth = brute_force(&toy().blocks_of(&stream), &all_lengths(&options), |_, _| 1.0);
    check_over_seeds(&options, &stream, &truth);
}

/// A subpath that began before a multiple of the half-life counts half for each such multiple.
#[test]
fn old_subpaths_fade() {
    let stream = stream(5, 150, 4, 1);
    let (toy, life) = (toy(), 90);
    let blocks = toy.blocks_of(&stream);
    let options = SubpathOptions {
        lengths: "pow2:8".parse().unwrap(),
        half_life: Some(life),
        start: 3,
        ..SubpathOptions::default()
    };
    // Halving happens at the end of the path in which the multiple is.
    let mut boundaries = Vec::new();
    let mut position = 0;
    for &(path, _) in &stream {
        let before = position / life;
        position += toy.0[path as usize].0.len() as u64;
        boundaries.extend((before..position / life).map(|_| position as usize));
    }
    assert!(boundaries.len() >= 3);
    let age = |at: usize, _: bool| 0.5f64.powi(boundaries.iter().filter(|&&b| b > at).count() as i32);
    let truth = brute_force(&blocks, &all_lengths(&options), age);
    check_over_seeds(&options, &stream, &truth);
    let mut sampler = sampler(&options, 0);
    toy.feed(&stream, &mut sampler);
    let faded: f64 = (0..blocks.len()).map(|at| age(at, false)).sum();
    assert!((sampler.blocks() - faded).abs() < 1e-9);
}

/// Skipping is by whole paths, but samples begin at all of their blocks alike.
#[test]
fn every_block_of_a_path_is_as_likely_to_begin_a_sample() {
    // 17 different blocks, so that what was sampled shows where it began.
    let toy = Toy(vec![((0..17).collect(), true)]);
    let options = SubpathOptions {
        lengths: Lengths::powers(2),
        start: 11,
        floor: 11,
        ..SubpathOptions::default()
    };
    let mut observed = [0u64; 17];
    for seed in 0..400 {
        let mut sampler = sampler(
            &SubpathOptions {
                seed,
                ..options.clone()
            },
            0,
        );
        (0..50).for_each(|_| toy.feed(&[(0, 1), (0, 2)], &mut sampler));
        for (place, count) in observed.iter_mut().enumerate() {
            let pair = [place as u64, (place as u64 + 1) % 17];
            *count += estimates(&[&sampler])
                .get(&key(&pair))
                .map_or(0, |found| found.sampled);
        }
    }
    let mean = observed.iter().sum::<u64>() as f64 / 17.0;
    assert!((5300.0..5600.0).contains(&mean), "{mean}"); // 60,000 passes, one in 11
    let statistic: f64 = observed.iter().map(|&o| (o as f64 - mean).powi(2) / mean).sum();
    // 99.9 % with 16 degrees of freedom.
    assert!(statistic < 39.3, "{statistic}: {observed:?}");
}

#[test]
fn intervals_hold_the_true_counts() {
    let stream = stream(6, 3000, 4, 3);
    let toy = toy();
    let options = SubpathOptions {
        lengths: "pow2:16".parse().unwrap(),
        footprint: 4096,
        start: 10,
        floor: 10,
        ..SubpathOptions::default()
    };
    let truth = brute_force(&toy.blocks_of(&stream), &all_lengths(&options), |_, _| 1.0);
    // Those that are hot: the reported ones would be a choice of lucky ones.
    let mut hot: Vec<(u64, f64)> = truth
        .iter()
        .map(|(blocks, &count)| (key(blocks), count))
        .collect();
    hot.sort_by(|a, b| b.1.total_cmp(&a.1));
    hot.truncate(20);
    let (mut held, mut all) = (0, 0);
    for seed in 0..300 {
        let mut sampler = sampler(
            &SubpathOptions {
                seed,
                ..options.clone()
            },
            0,
        );
        toy.feed(&stream, &mut sampler);
        let found = estimates(&[&sampler]);
        for &(key, count) in &hot {
            all += 1;
            let interval = found.get(&key).map(|subpath| subpath.estimate);
            held += usize::from(interval.is_some_and(|i| (i.low..=i.high).contains(&count)));
        }
    }
    let share = held as f64 / all as f64;
    assert!((0.93..=0.98).contains(&share), "{share}");
}

#[test]
fn merged_threads_are_unbiased() {
    let toy = toy();
    let streams: Vec<Stream> = (0..3).map(|n| stream(7 + n, 40 << n, 4, 3)).collect();
    let options = SubpathOptions {
        lengths: "pow2:8".parse().unwrap(),
        ..SubpathOptions::default()
    };
    let mut truth = HashMap::new();
    for stream in &streams {
        for (blocks, count) in brute_force(&toy.blocks_of(stream), &all_lengths(&options), |_, _| 1.0) {
            *truth.entry(blocks).or_default() += count;
        }
    }
    // The second time in so little room that the sum has to be resampled.
    for footprint in [64 << 10, MIN_FOOTPRINT] {
        let mut means = Means::new(&truth);
        for seed in 0..SEEDS {
            let options = SubpathOptions {
                seed,
                footprint,
                ..options.clone()
            };
            let mut all = MergedSubpaths::new(&options);
            for (number, stream) in streams.iter().enumerate() {
                let threads = if footprint == MIN_FOOTPRINT { 8 } else { 1 };
                for thread in 0..threads {
                    let f = 2 + 3 * number as u32;
                    let options = std::sync::Arc::new(options.clone());
                    let mut sampler = Sampler::new(options, (number * threads + thread) as u64, f);
                    toy.feed(stream, &mut sampler);
                    all.add(&sampler);
                }
            }
            assert!(all.bytes() <= LIMIT * footprint);
            let scale = if footprint == MIN_FOOTPRINT { 8.0 } else { 1.0 };
            let mut found: HashMap<u64, Subpath> = HashMap::new();
            for mut subpath in all.report(&options, &Report::default()) {
                subpath.estimate.value /= scale;
                found.insert(subpath.key, subpath);
            }
            means.add(&found);
        }
        means.check();
    }
}

#[test]
fn merging_results_is_like_merging_threads() {
    let toy = toy();
    let options = SubpathOptions {
        start: 2,
        ..SubpathOptions::default()
    };
    let samplers: Vec<Sampler> = (0..4)
        .map(|n| {
            let mut sampler = sampler(&options, n);
            toy.feed(&stream(n, 200, 4, 3), &mut sampler);
            sampler
        })
        .collect();
    let merged = |groups: &[&[usize]]| {
        let mut all = MergedSubpaths::new(&options);
        for group in groups {
            let mut part = MergedSubpaths::new(&options);
            group.iter().for_each(|&n| part.add(&samplers[n]));
            all.merge(&part, &options);
        }
        (
            all.report(&options, &Report::default()),
            all.stats(),
            all.sampled(),
        )
    };
    let reference = merged(&[&[0, 1, 2, 3]]);
    assert_eq!(merged(&[&[0], &[1, 2], &[3]]), reference);
    let sum: u64 = samplers.iter().map(|s| s.sampled().0).sum();
    assert_eq!(reference.2.0, sum);
    assert_eq!(reference.1.threads, 4);
    // In another order only what a subpath looks like may differ: any of its rotations.
    let other = merged(&[&[3, 2], &[1, 0]]);
    let counts = |report: &[Subpath]| {
        report
            .iter()
            .map(|s| (s.key, s.sampled, s.estimate))
            .collect::<Vec<_>>()
    };
    assert_eq!(counts(&other.0), counts(&reference.0));
}

#[test]
fn reports_are_cut_by_rank_or_count() {
    let options = SubpathOptions {
        start: 1,
        ..SubpathOptions::default()
    };
    let mut sampler = sampler(&options, 0);
    toy().feed(&stream(8, 400, 4, 3), &mut sampler);
    let mut all = MergedSubpaths::new(&options);
    all.add(&sampler);
    let whole = all.report(&options, &Report::default());
    assert!(
        whole
            .windows(2)
            .all(|pair| pair[0].estimate.value >= pair[1].estimate.value)
    );
    let top = all.report(
        &options,
        &Report {
            top: 5,
            ..Report::default()
        },
    );
    assert_eq!(top[..], whole[..5]);
    let often = all.report(
        &options,
        &Report {
            least: 10,
            ..Report::default()
        },
    );
    let expected: Vec<Subpath> = whole.iter().filter(|s| s.sampled >= 10).cloned().collect();
    assert!(often == expected && !often.is_empty());
}

/// OSP section 5: a loop whose odd iterations go one way and whose even ones go another.
#[test]
fn the_odd_even_loop_shows_both_ways_together() {
    let toy = Toy(vec![(vec![1, 2, 4, 5], true), (vec![1, 3, 4, 5], true)]);
    let options = SubpathOptions::default();
    let mut sampler = sampler(&options, 0);
    (0..100_000).for_each(|_| toy.feed(&[(0, 1), (1, 1)], &mut sampler));
    let found = estimates(&[&sampler]);
    let both = [1, 2, 4, 5, 1, 3, 4, 5];
    let subpath = &found[&key(&both)];
    // All eight rotations are the same subpath: wherever eight blocks begin, it is this one.
    assert!(
        (subpath.estimate.value / 800_000.0 - 1.0).abs() < 0.1,
        "{subpath:?}"
    );
    assert!(subpath.estimate.low <= 800_000.0 && 800_000.0 <= subpath.estimate.high);
    assert!(subpath.share > 0.9);
    // Each way alone is where four blocks have the one branch and not the other: in half of the places.
    for way in [&both[..4], &both[4..]] {
        assert!((found[&key(way)].estimate.value / 400_000.0 - 1.0).abs() < 0.1);
    }
    // The paper's own code cannot distinguish 8 blocks of this loop from any others that cancel out.
    let options = SubpathOptions {
        identity: SubpathIdentity::Xor,
        ..options
    };
    let mut sampler = common::sampler(&options, 0);
    (0..100_000).for_each(|_| toy.feed(&[(0, 1), (1, 1)], &mut sampler));
    let xor = estimates(&[&sampler]);
    assert!(xor.contains_key(&identity(SubpathIdentity::Xor, &both)));
    assert_eq!(
        identity(SubpathIdentity::Xor, &both),
        identity(SubpathIdentity::Xor, &[2, 3, 9, 9, 9, 9, 9, 9])
    );
}

#[test]
fn expected_sizes_give_a_distance() {
    let papers = SubpathOptions {
        footprint: 64 << 10,
        ..SubpathOptions::default()
    };
    let options = papers.expecting(10_000_000, 20.0);
    assert_eq!(options.start, 10_000_000 / (1792 * 20)); // OSP's equation 1
    options.check().unwrap();
    let huge = SubpathOptions::default().expecting(1 << 40, 1.0);
    assert!(huge.floor == huge.start && huge.start > 1_000_000);
    let wrong = [
        SubpathOptions {
            footprint: 100,
            ..SubpathOptions::default()
        },
        SubpathOptions {
            start: 0,
            ..SubpathOptions::default()
        },
        SubpathOptions {
            start: 2000,
            ..SubpathOptions::default()
        },
        SubpathOptions {
            half_life: Some(0),
            ..SubpathOptions::default()
        },
        SubpathOptions {
            window: Some(0),
            ..SubpathOptions::default()
        },
        SubpathOptions {
            half_life: Some(9),
            window: Some(9),
            ..SubpathOptions::default()
        },
    ];
    assert!(wrong.iter().all(|options| options.check().is_err()));
}

fn any_stream() -> impl Strategy<Value = Stream> {
    prop::collection::vec((0..4u32, 1..30u32), 0..60)
}

fn any_options() -> impl Strategy<Value = SubpathOptions> {
    let starts = prop_oneof![
        Just(SubpathStarts::Anywhere),
        Just(prefer(4)),
        Just(SubpathStarts::Headers)
    ];
    let lengths = prop_oneof![Just("pow2:64"), Just("any:9"), Just("pow2-uniform:256")];
    let life = prop_oneof![
        Just((None, None)),
        (1..500u64).prop_map(|life| (Some(life), None)),
        (1..500u64).prop_map(|window| (None, Some(window)))
    ];
    (starts, lengths, life, 1..20u32, MIN_FOOTPRINT..5000, any::<u64>()).prop_map(
        |(starts, lengths, (half_life, window), start, footprint, seed)| SubpathOptions {
            lengths: lengths.parse().unwrap(),
            footprint,
            start,
            floor: start + 30,
            starts,
            half_life,
            window,
            seed,
            ..SubpathOptions::default()
        },
    )
}

fn report(sampler: &Sampler) -> Vec<Subpath> {
    let mut all = MergedSubpaths::new(sampler.options());
    all.add(sampler);
    all.report(sampler.options(), &Report::default())
}

proptest! {
    #[test]
    fn identity_is_equality_of_canonical_rotations(
        one in prop::collection::vec(0..3u64, 1..9),
        other in prop::collection::vec(0..3u64, 1..9),
        turn in 0..9usize,
    ) {
        prop_assert_eq!(canonical(&one) == canonical(&other), key(&one) == key(&other));
        let mut turned = one.clone();
        turned.rotate_left(turn % one.len());
        prop_assert_eq!(key(&turned), key(&one));
        prop_assert_eq!(identity(SubpathIdentity::Xor, &turned), identity(SubpathIdentity::Xor, &one));
    }

    #[test]
    fn exact_counts_are_brute_force(stream in any_stream(), holes in prop::collection::vec(0..60usize, 0..3)) {
        let toy = toy();
        let lengths = [2, 4, 7, 32];
        let mut exact = ExactSubpaths::new(&lengths, SubpathIdentity::Rotation, usize::MAX);
        let mut truth: HashMap<Vec<u64>, f64> = HashMap::new();
        let mut rest = &stream[..];
        let mut holes: Vec<usize> = holes.into_iter().map(|at| at.min(stream.len())).collect();
        holes.sort_unstable();
        holes.push(stream.len());
        for hole in holes {
            let (part, after) = rest.split_at(hole - (stream.len() - rest.len()));
            rest = after;
            toy.feed(part, &mut exact);
            exact.hole();
            for (blocks, count) in brute_force(&toy.blocks_of(part), &lengths, |_, _| 1.0) {
                *truth.entry(blocks).or_default() += count;
            }
        }
        let exact = exact.counts();
        let (all, distinct) = exact.totals(u32::MAX);
        prop_assert_eq!((all as f64, distinct as usize), (truth.values().sum(), truth.len()));
        for (blocks, count) in truth {
            prop_assert_eq!(exact.count(key(&blocks)) as f64, count);
        }
    }

    /// Too many windows: the shorter lengths stay exact, and nothing is said of the others.
    #[test]
    fn exact_counts_give_up_the_longest_first(stream in any_stream(), most in 0..40usize) {
        let toy = toy();
        let mut counters = [usize::MAX, most].map(|most| ExactSubpaths::new(&[2, 4, 8], SubpathIdentity::Rotation, most));
        counters.iter_mut().for_each(|exact| toy.feed(&stream, exact));
        let [all, some] = counters.map(|exact| exact.counts());
        prop_assert_eq!(all.blocks(), some.blocks());
        let mut expected = all.ranking();
        expected.retain(|&(_, length, _)| some.has(length));
        prop_assert_eq!(some.ranking(), expected);
        prop_assert!([2, 4, 8].iter().all(|&length| some.has(length) == (length <= some.longest())));
        let mut sum = all.clone();
        sum.add(&some);
        prop_assert_eq!(sum.longest(), some.longest());
        prop_assert!(sum.ranking().iter().all(|&(key, _, count)| count == 2 * some.count(key)));
    }

    /// With f = 1 and one length, there is nothing random any more.
    #[test]
    fn sampling_all_is_exact(stream in any_stream()) {
        let toy = toy();
        let options = SubpathOptions { lengths: Lengths::powers(2), start: 1, floor: 1, ..SubpathOptions::default() };
        let mut sampler = sampler(&options, 0);
        toy.feed(&stream, &mut sampler);
        let truth = brute_force(&toy.blocks_of(&stream), &[2], |_, _| 1.0);
        let found = estimates(&[&sampler]);
        prop_assert_eq!(found.len(), truth.len());
        for (blocks, count) in truth {
            let estimate = found[&key(&blocks)].estimate;
            prop_assert_eq!((estimate.low, estimate.value, estimate.high), (count, count, count));
        }
    }

    #[test]
    fn a_seed_reproduces_and_pieces_do_not_matter(stream in any_stream(), options in any_options()) {
        let toy = toy();
        let mut whole = sampler(&options, 3);
        toy.feed(&stream, &mut whole);
        let mut again = sampler(&options, 3);
        toy.feed(&stream, &mut again);
        let mut pieces = sampler(&options, 3);
        for &(path, times) in &stream {
            (0..times).for_each(|_| toy.feed(&[(path, 1)], &mut pieces));
        }
        for other in [&again, &pieces] {
            prop_assert_eq!(report(other), report(&whole));
            prop_assert_eq!((other.f(), other.tally(), other.blocks()), (whole.f(), whole.tally(), whole.blocks()));
        }
    }

    #[test]
    fn samples_are_concise_and_true(stream in any_stream(), options in any_options()) {
        let toy = toy();
        let mut sampler = sampler(&options, 0);
        for part in &stream {
            let before = sampler.f();
            toy.feed(std::slice::from_ref(part), &mut sampler);
            let (bytes, peak, _) = sampler.bytes();
            prop_assert!(bytes <= peak && peak <= options.footprint);
            prop_assert!(before <= sampler.f(), "f never falls");
        }
        let (total, distinct) = sampler.sampled();
        let report = report(&sampler);
        prop_assert_eq!(report.len() as u64, distinct);
        prop_assert_eq!(report.iter().map(|s| s.sampled).sum::<u64>(), total);
        prop_assert!(total <= sampler.tally().drawn);
        let blocks: Vec<u64> = toy.blocks_of(&stream).iter().map(|&(block, _)| block).collect();
        for subpath in report {
            prop_assert!(options.lengths.probability(subpath.length) > 0.0 && subpath.sampled > 0);
            let mut described = Vec::new();
            for run in &subpath.runs {
                for _ in 0..run.times {
                    let mut some = Vec::new();
                    toy.blocks(0, run.path, run.from, run.blocks, &mut some);
                    prop_assert_eq!(some.len() as u32, run.blocks);
                    described.extend(some.into_iter().map(u64::from));
                }
            }
            prop_assert_eq!(described.len() as u32 + subpath.missing, subpath.length);
            if subpath.missing == 0 {
                prop_assert_eq!(key(&described), subpath.key);
            }
            if described.is_empty() {
                // There was no room; what came again is always described.
                prop_assert_eq!(subpath.sampled, 1);
                continue;
            }
            // It is a piece of what was executed.
            prop_assert!(blocks.windows(described.len()).any(|window| window == described));
        }
    }
}
