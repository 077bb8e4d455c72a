//! Hot subpaths in real JVMs.

use trodden_profile::Profile;
use trodden_tests::Result;
use trodden_tests::jdk::Jdk;
use trodden_tests::subpaths::{Blocks, Recorded, Section, Subpath, counted, estimates, live, report};

/// Lines of the two ways through the loop of `OddEven.java`.
const EVEN: &str = ":7";
const ODD: &str = ":9";

/// The loop of OSP section 5: each way is hot, and so are both together. It is the example of
/// docs/subpaths.md.
#[test]
fn a_loop_of_odd_and_even_iterations_shows_both_together() -> Result<()> {
    for jdk in Jdk::ends()? {
        // Whether probes skip path ends or replay passes over them makes no difference.
        let recorded = Recorded::new(&jdk, "OddEven")?;
        for (json, text) in [report(&jdk, "OddEven", "")?, recorded.report("")?] {
            let all = json.subpaths;
            let of =
                |length| -> Vec<&Subpath> { all.subpaths.iter().filter(|s| s.length == length).collect() };
            // Four blocks per iteration. Wherever eight begin, they are the same ones.
            let eight = of(8);
            assert!(eight[0].share > 0.75, "{text}");
            assert!(
                eight[0].text.contains(EVEN) && eight[0].text.contains(ODD),
                "{text}"
            );
            // Four are one way, or the other.
            let four = of(4);
            assert!(
                four[..2].iter().all(|s| (0.35..0.65).contains(&s.share)),
                "{text}"
            );
            let ways: Vec<bool> = four[..2].iter().map(|s| s.text.contains(EVEN)).collect();
            assert!(ways[0] != ways[1], "{text}");
            assert!(
                four[..2]
                    .iter()
                    .all(|s| s.text.contains(EVEN) != s.text.contains(ODD)),
                "{text}"
            );
            // 200 calls of 20,000 iterations, four blocks each.
            assert!((all.blocks / 16e6 - 1.0).abs() < 0.1, "{} blocks", all.blocks);
            assert!(all.peak_bytes <= 64 << 10);
            assert!(text.contains("[OddEven.loop:"), "{text}");
        }
    }
    Ok(())
}

/// Lengths of the test below, and how likely each is drawn: `pow2:16`.
const LENGTHS: [usize; 4] = [2, 4, 8, 16];

fn probability(length: usize) -> f64 {
    1.0 / length as f64 / LENGTHS.iter().map(|&n| 1.0 / n as f64).sum::<f64>()
}

/// Samples against exact counts of a recorded run that share no code with them: no estimate is off by more
/// than chance allows, where one block in 64 begins a sample, and where probes leave path ends out. The
/// program and all seeds are fixed, so nothing here fails by chance.
#[test]
fn estimates_are_unbiased() -> Result<()> {
    // From the first block to the last, and there is room for all.
    const DISTANCE: f64 = 64.0;
    const SEEDS: u64 = 8;
    let jdks = Jdk::ends()?;
    let recorded = Recorded::new(&jdks[0], "Wander")?;
    let (truth, blocks) = counted(&recorded, &LENGTHS)?;
    // The yardstick that users have agrees.
    let all = recorded.replay("counts=exact,lengths=pow2:16")?;
    let replayed = estimates(&all)?;
    assert!(all.run.exact && all.subpaths.as_ref().is_some_and(|all| all.is_exact()));
    for (subpath, found) in &replayed {
        assert_eq!(truth.get(subpath), Some(&found.estimate), "{subpath:?}");
    }
    let often = truth.iter().filter(|&(_, &count)| count > 40);
    assert!(often.clone().all(|(subpath, _)| replayed.contains_key(subpath)));
    assert!(often.count() > 500);

    let mut hot: Vec<(&Blocks, u64)> = truth.iter().map(|(subpath, &count)| (subpath, count)).collect();
    hot.sort_by_key(|&(subpath, count)| (std::cmp::Reverse(count), subpath));
    // Some of each length, the hottest.
    let some = LENGTHS.map(|length| {
        let mine = hot.iter().filter(|(subpath, _)| subpath.len() == length);
        mine.take(8).copied().collect::<Vec<_>>()
    });
    let hot = some.concat();
    let options = |seed: u64| format!("lengths=pow2:16,footprint=4M,seed={seed}");
    let mut sums = vec![(0.0, 0.0); hot.len()];
    let mut replays = Vec::new();
    for seed in 1..=SEEDS {
        let profile = recorded.replay(&format!("{},distance=64:64", options(seed)))?;
        let section = profile.subpaths.as_ref().ok_or("no subpaths")?;
        assert_eq!(section.distance, (64, 64), "nothing was resampled");
        let found = estimates(&profile)?;
        for ((subpath, count), sum) in hot.iter().zip(&mut sums) {
            let value = found.get(*subpath).map_or(0.0, |found| found.estimate as f64);
            // Each execution was taken by itself with probability 1 / weight.
            let weight = DISTANCE / probability(subpath.len());
            let z = (value - *count as f64) / (*count as f64 * (weight - 1.0)).sqrt();
            *sum = (sum.0 + z, sum.1 + z * z);
        }
        replays.push(profile);
    }
    let runs = SEEDS as f64;
    for ((subpath, count), (sum, _)) in hot.iter().zip(&sums) {
        let z = sum / runs.sqrt();
        assert!(
            z.abs() < 4.5,
            "{subpath:?}, executed {count} times: {z} standard deviations off"
        );
    }
    let all = runs * hot.len() as f64;
    let variance = sums.iter().map(|(_, squares)| squares).sum::<f64>() / all;
    assert!((0.6..1.6).contains(&variance), "{variance}");

    intervals_hold("replayed", &replays, &hot, blocks)?;
    for jdk in &jdks {
        let lives = (1..=SEEDS).map(|seed| live(jdk, "Wander", &format!(",{}", options(seed))));
        let lives: Vec<Profile> = lives.collect::<Result<_>>()?;
        intervals_hold(&format!("JDK {}", jdk.feature), &lives, &hot, blocks)?;
    }
    Ok(())
}

/// The intervals of estimates hold the true counts, and the number of blocks is right.
fn intervals_hold(how: &str, profiles: &[Profile], hot: &[(&Blocks, u64)], blocks: u64) -> Result<()> {
    let (mut all_blocks, mut inside, mut estimated) = (0.0, 0, 0);
    for profile in profiles {
        all_blocks += profile.subpaths.as_ref().ok_or("no subpaths")?.blocks as f64;
        let found = estimates(profile)?;
        for (subpath, count) in hot {
            let estimate = found.get(*subpath);
            estimated += usize::from(estimate.is_some());
            inside += usize::from(estimate.is_some_and(|e| (e.low..=e.high).contains(count)));
        }
    }
    let all = profiles.len() * hot.len();
    println!("{how}: {estimated} of {all} estimated, {inside} inside");
    let share = inside as f64 / all as f64;
    assert!(share > 0.88, "{how}: {share} of the intervals hold");
    let mean = all_blocks / profiles.len() as f64;
    assert!(
        (mean / blocks as f64 - 1.0).abs() < 0.03,
        "{how}: {mean} blocks of {blocks}"
    );
    Ok(())
}

/// Share of the first subpath of eight blocks.
fn share_of_eight(section: &Section) -> Result<f64> {
    let mut subpaths = section.subpaths.iter();
    Ok(subpaths.find(|s| s.length == 8).ok_or("none of eight")?.share)
}

/// Each option of a replay, and lengths of a live run, in the report.
#[test]
fn options_of_sampling_reach_the_report() -> Result<()> {
    const ROUNDS: f64 = 200.0 * 20_001.0;
    for jdk in Jdk::ends()? {
        let recorded = Recorded::new(&jdk, "OddEven")?;
        let of = |options: &str| -> Result<(Section, String)> {
            let (json, text) = if options.starts_with(',') {
                report(&jdk, "OddEven", options)?
            } else {
                recorded.report(options)?
            };
            // Lines are broken anywhere.
            Ok((
                json.subpaths,
                text.split_whitespace().collect::<Vec<_>>().join(" "),
            ))
        };

        let (headers, text) = of("starts=headers,lengths=pow2:8")?;
        assert_eq!(headers.starts, "headers");
        // 200 calls with 20,001 tests of the condition each.
        assert!(
            (headers.places / ROUNDS - 1.0).abs() < 0.1,
            "{} headers",
            headers.places
        );
        // Two turns, whichever comes first, are one subpath.
        assert!(share_of_eight(&headers)? > 0.9, "{text}");
        assert!(
            text.contains("Only subpaths that begin at a loop's header"),
            "{text}"
        );

        let (prefer, text) = of("starts=prefer:20")?;
        assert_eq!(prefer.starts, "prefer:20");
        assert!(
            (prefer.blocks / 16e6 - 1.0).abs() < 0.1,
            "{} blocks",
            prefer.blocks
        );
        assert!(share_of_eight(&prefer)? > 0.75, "{text}");

        let (xor, text) = of("identity=xor,lengths=pow2:4")?;
        assert_eq!(xor.identity, "xor");
        assert!(text.contains("(xor)"), "{text}");

        let (fading, text) = of("half-life=1M")?;
        assert_eq!(fading.half_life, Some(1_000_000));
        assert!(
            (0.9e6..2.3e6).contains(&fading.blocks),
            "{} blocks",
            fading.blocks
        );
        assert!(
            text.contains("What ran 1,000,000 blocks ago counts half"),
            "{text}"
        );

        let (sliding, text) = of("sliding-window=1M")?;
        assert_eq!(sliding.sliding_window, Some(1_000_000));
        assert_eq!(sliding.blocks, 1e6);
        assert!(share_of_eight(&sliding)? > 0.75, "{text}");
        assert!(
            text.contains("Only the last 1,000,000 blocks of each thread count"),
            "{text}"
        );

        let (five, text) = of("threshold=top:5")?;
        assert_eq!(five.subpaths.len(), 5);
        assert!(five.left_out > 0 && five.distinct == five.left_out + 5);
        assert!(text.contains("of them were left out"), "{text}");
        let (half, text) = of("threshold=share:0.5")?;
        assert!(
            !half.subpaths.is_empty() && half.subpaths.iter().all(|s| s.share >= 0.5),
            "{text}"
        );

        let (far, text) = of("distance=5000:5000")?;
        assert_eq!(far.distance, [5000, 5000], "{text}");

        for (lengths, all) in [
            ("pow2-uniform:16", &[2, 4, 8, 16][..]),
            ("any:6", &[2, 3, 4, 5, 6]),
            ("any-uniform:5", &[2, 3, 4, 5]),
        ] {
            let (some, text) = of(&format!(",lengths={lengths}"))?;
            assert_eq!(some.lengths, lengths);
            let mut found: Vec<u32> = some.subpaths.iter().map(|s| s.length).collect();
            found.sort_unstable();
            found.dedup();
            assert_eq!(found, all, "{text}");
        }

        let (exact, text) = of("counts=exact,lengths=pow2:8")?;
        assert!(exact.exact && exact.left_out == 0, "{text}");
        let eight = exact
            .subpaths
            .iter()
            .find(|s| s.length == 8)
            .ok_or("none of eight")?;
        assert!(eight.share > 0.999, "{text}");
        assert!(text.contains("were counted"), "{text}");
    }
    Ok(())
}
