//! A sliding window: as if only the last blocks of each thread had run.

use std::collections::HashMap;
use std::sync::Arc;

use proptest::prelude::*;
use trodden_analyses::subpaths::*;
use trodden_profile::options::SubpathStarts;

use super::common::*;

/// Counts of all subpaths that are within the last `window` blocks.
fn truth(all: &[(u64, bool)], window: u64, options: &SubpathOptions) -> HashMap<Vec<u64>, f64> {
    let last = &all[all.len().saturating_sub(window as usize)..];
    let lengths: Vec<u32> = options.lengths.all().collect();
    let counts = |header| f64::from(options.starts != SubpathStarts::Headers || header);
    let mut truth = brute_force(last, &lengths, |_, header| counts(header));
    truth.retain(|_, &mut count| count > 0.0);
    truth
}

fn windowed(lengths: &str, window: u64, start: u32) -> SubpathOptions {
    SubpathOptions {
        lengths: lengths.parse().unwrap(),
        window: Some(window),
        start,
        floor: start,
        skipping_floor: start,
        ..SubpathOptions::default()
    }
}

/// Means over many seeds. (`Means` does not know subpaths that are not in the window: such a one fails it.)
fn check_over_seeds(options: &SubpathOptions, stream: &[(u32, u32)], expected: &HashMap<Vec<u64>, f64>) {
    let mut means = Means::new(expected);
    for seed in 0..2000 {
        let options = SubpathOptions {
            seed,
            ..options.clone()
        };
        let mut sampler = sampler(&options, 0);
        toy().feed(stream, &mut sampler);
        means.add(&estimates(&[&sampler]));
    }
    means.check();
}

#[test]
fn only_the_last_blocks_count() {
    for (seed, window) in [(21, 1), (21, 70), (22, 333), (23, 100_000)] {
        let stream = stream(seed, 150, 4, 3);
        let all = toy().blocks_of(&stream);
        for start in [1, 7] {
            let options = windowed("pow2:16", window, start);
            check_over_seeds(&options, &stream, &truth(&all, window, &options));
            let mut one = sampler(&options, 0);
            toy().feed(&stream, &mut one);
            assert_eq!(one.blocks(), window.min(all.len() as u64) as f64);
        }
    }
}

#[test]
fn a_preference_does_not_show_in_a_window() {
    let (stream, window) = (stream(24, 200, 4, 3), 150);
    let all = toy().blocks_of(&stream);
    for starts in [prefer(5), SubpathStarts::Headers] {
        let options = SubpathOptions {
            starts,
            ..windowed("pow2:8", window, 5)
        };
        check_over_seeds(&options, &stream, &truth(&all, window, &options));
        let mut one = sampler(&options, 0);
        toy().feed(&stream, &mut one);
        let last = &all[all.len() - window as usize..];
        let headers = last.iter().filter(|&&(_, header)| header).count() as f64;
        let places = match starts {
            SubpathStarts::Headers => headers,
            _ => window as f64,
        };
        // Headers are known 64 times per window; in between in proportion.
        assert!((one.places() - places).abs() <= 4.0, "{} {places}", one.places());
    }
}

/// Elements leave by lot and by age, and the footprint is never exceeded.
#[test]
fn resampling_in_a_window_is_unbiased() {
    let (stream, window) = (stream(25, 500, 4, 3), 600);
    let all = toy().blocks_of(&stream);
    let options = SubpathOptions {
        footprint: MIN_FOOTPRINT,
        ..windowed("pow2:8", window, 1)
    };
    let mut one = sampler(&options, 0);
    toy().feed(&stream, &mut one);
    assert!(one.tally().raised > 3, "{:?}", one.tally());
    assert!(one.bytes().1 <= MIN_FOOTPRINT, "{:?}", one.bytes());
    check_over_seeds(&options, &stream, &truth(&all, window, &options));
}

#[test]
fn intervals_hold_the_counts_of_the_window() {
    let (stream, window) = (stream(26, 6000, 4, 3), 9000);
    let all = toy().blocks_of(&stream);
    let options = windowed("pow2:8", window, 10);
    let truth = truth(&all, window, &options);
    let mut hot: Vec<(u64, f64)> = truth
        .iter()
        .map(|(blocks, &count)| (key(blocks), count))
        .collect();
    hot.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let (mut inside, mut of) = (0.0, 0.0);
    for seed in 0..200 {
        let mut sampler = sampler(
            &SubpathOptions {
                seed,
                ..options.clone()
            },
            0,
        );
        toy().feed(&stream, &mut sampler);
        let found = estimates(&[&sampler]);
        for (key, count) in &hot[..12] {
            let estimate = found.get(key).map(|subpath| subpath.estimate).unwrap_or_default();
            of += 1.0;
            inside += f64::from(u8::from((estimate.low..=estimate.high).contains(count)));
        }
    }
    let share = inside / of;
    assert!((0.93..0.98).contains(&share), "{share}");
}

/// Hands on what a sampler wants, as probes do.
fn obey(stream: &[(u32, u32)], sampler: &mut Sampler) {
    let mut wanted = sampler.wanted();
    for path in stream
        .iter()
        .flat_map(|&(path, times)| (0..times).map(move |_| path))
    {
        if wanted.skip > 0 {
            wanted.skip -= 1;
            continue;
        }
        toy().feed(&[(path, 1)], sampler);
        wanted.words -= 1;
        if wanted.words == 0 {
            wanted = sampler.wanted();
        }
    }
}

/// Where every path end is picked, the window is known to the block.
#[test]
fn only_the_last_blocks_count_if_probes_skip() {
    let (stream, window) = (stream(27, 200, 4, 3), 200);
    let all = toy().blocks_of(&stream);
    let options = windowed("pow2:8", window, 8);
    let mut means = Means::new(&truth(&all, window, &options));
    for seed in 0..2000 {
        let options = SubpathOptions {
            seed,
            ..options.clone()
        };
        let mut sampler = Sampler::skipping(Arc::new(options), 0, 8);
        obey(&stream, &mut sampler);
        means.add(&estimates(&[&sampler]));
    }
    means.check();
}

/// Where most are left out, its length is an estimate: here it is off by a hundredth at most on average, and
/// what is long past is gone.
#[test]
fn a_window_of_estimated_blocks_is_about_as_long() {
    let toys = [(0, 90_000), (3, 120_000)];
    let options = windowed("pow2:2", 100_000, 64);
    let rounds = 100;
    let mut sum = 0.0;
    for seed in 0..rounds {
        let options = SubpathOptions {
            seed,
            ..options.clone()
        };
        let mut sampler = Sampler::skipping(Arc::new(options), 0, 64);
        obey(&toys, &mut sampler);
        let found = estimates(&[&sampler]);
        // Path 3 over and over: 1 8, and 8 1, which is the same.
        assert_eq!(found.len(), 1);
        sum += found[&key(&[1, 8])].estimate.value;
    }
    let mean = sum / rounds as f64;
    assert!((mean / 100_000.0 - 1.0).abs() < 0.01, "{mean}");
}

proptest! {
    /// Any stream, window and footprint: with a sample of everything, it is brute force as long as there is
    /// room; and there never are more bytes than allowed.
    #[test]
    fn a_sample_of_everything_is_the_window(
        stream in prop::collection::vec((0..4u32, 1..30u32), 0..60),
        window in 1..400u64,
        reset in any::<bool>(),
    ) {
        let toy = toy();
        let options = SubpathOptions { footprint: 1 << 20, ..windowed("pow2:2", window, 1) };
        let mut one = sampler(&options, 0);
        if reset {
            toy.feed(&[(1, 7), (2, 9)], &mut one);
            one.reset();
        }
        toy.feed(&stream, &mut one);
        let all = toy.blocks_of(&stream);
        let expected = truth(&all, window, &options);
        let found = estimates(&[&one]);
        prop_assert_eq!(found.len(), expected.len());
        for (blocks, count) in expected {
            prop_assert_eq!(found[&key(&blocks)].estimate.value, count);
        }
        prop_assert_eq!(one.blocks(), window.min(all.len() as u64) as f64);
    }
}

/// Subpaths of all lengths, also where the footprint is full and long ones are resampled.
#[test]
fn long_subpaths_count_right_in_an_estimated_window() {
    let options = SubpathOptions {
        footprint: 8 << 10,
        ..windowed("pow2:256", 100_000, 48)
    };
    let mut means = std::collections::BTreeMap::new();
    for seed in 0..300 {
        let options = SubpathOptions {
            seed,
            ..options.clone()
        };
        let mut sampler = Sampler::skipping(Arc::new(options), 0, 16);
        obey(&[(3, 100_000)], &mut sampler);
        for found in estimates(&[&sampler]).values() {
            *means.entry(found.length).or_insert(0.0) += found.estimate.value / 300.0;
        }
    }
    assert_eq!(means.len(), 8);
    for (length, mean) in means {
        assert!((mean / 100_000.0 - 1.0).abs() < 0.04, "{length} blocks: {mean}");
    }
}
