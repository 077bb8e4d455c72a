//! Groups of bursts against brute force, and how often intervals that are made of them hold.

use std::collections::HashMap;

use proptest::collection::vec;
use proptest::prelude::*;
use trodden_analyses::contexts::*;
use trodden_analyses::stream::StreamAnalysis;
use trodden_profile::ByGroup;
use trodden_profile::events::{BURST_GROUPS, CALL_UNDER_WAY, ThreadInfo, Word};
use trodden_profile::options::ContextAlgorithm as Algorithm;

/// Calls of methods, one below the other or one after the other, in a burst.
type Burst = (u32, Vec<(u32, bool)>);
/// Methods from the outermost on.
type Chain = Vec<u32>;

fn words(bursts: &[Burst], counts: &mut HashMap<Chain, ByGroup>, all: &mut ByGroup) -> Vec<u64> {
    let mut words = Vec::new();
    for (group, calls) in bursts {
        words.push(Word::burst(1, *group, 0).0);
        let mut open: Chain = Vec::new();
        for &(method, ends) in calls {
            words.push(Word::enter(method, Some(CALL_UNDER_WAY)).0);
            open.push(method);
            counts.entry(open.clone()).or_default().0[*group as usize] += 1;
            all.0[*group as usize] += 1;
            if ends {
                words.push(Word::exit(method).0);
                open.pop();
            }
        }
    }
    words
}

fn bursts() -> impl Strategy<Value = Vec<Burst>> {
    let calls = vec((0..6u32, any::<bool>()), 0..12);
    vec((0..BURST_GROUPS as u32, calls), 0..30)
}

fn counted(algorithm: Algorithm, thresholds: Thresholds, threads: &[Vec<u64>]) -> ContextResult {
    let analysis = ContextStream::new(ContextOptions {
        algorithm,
        thresholds,
        in_program: Some("static:2ms:1ms".parse().unwrap()),
        ..ContextOptions::default()
    })
    .unwrap();
    let mut result = analysis.result();
    for (id, words) in (1..).zip(threads) {
        let mut thread = analysis.thread(&ThreadInfo {
            id,
            ..ThreadInfo::default()
        });
        analysis.consume(&mut thread, words);
        analysis.add(&mut result, &thread).unwrap();
    }
    result
}

fn chains(snapshot: &Snapshot) -> Vec<Chain> {
    let mut chains: Vec<Chain> = Vec::new();
    for (frame, parent, _) in snapshot.nodes() {
        let mut chain = parent.map_or(Vec::new(), |parent| chains[parent as usize].clone());
        chain.push(frame.method);
        chains.push(chain);
    }
    chains
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 80, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn groups_are_those_of_the_calls(threads in vec(bursts(), 1..4)) {
        let (mut counts, mut all) = (HashMap::new(), ByGroup::default());
        let words: Vec<_> = threads.iter().map(|bursts| words(bursts, &mut counts, &mut all)).collect();
        let result = counted(Algorithm::Exact, Thresholds::default(), &words);
        let snapshot = &result.contexts;
        prop_assert_eq!(snapshot.all_groups(), Some(all));
        let ours: HashMap<Chain, ByGroup> =
            (0..).zip(chains(snapshot)).map(|(at, chain)| (chain, snapshot.groups(at).unwrap())).collect();
        prop_assert_eq!(ours, counts);
    }

    /// Whatever is forgotten meanwhile: groups add up to the lower bound (which Sticky Sampling lowers by
    /// lot), and none has more than there was.
    #[test]
    fn groups_add_up_to_lower_bounds(threads in vec(bursts(), 1..4)) {
        let (mut counts, mut all) = (HashMap::new(), ByGroup::default());
        let words: Vec<_> = threads.iter().map(|bursts| words(bursts, &mut counts, &mut all)).collect();
        let few = Thresholds::new(0.4, 0.3).unwrap();
        for algorithm in [
            Algorithm::LazySpaceSaving,
            Algorithm::BucketSpaceSaving,
            Algorithm::LossyCounting,
            Algorithm::StickySampling,
        ] {
            let result = counted(algorithm, few, &words);
            let snapshot = &result.contexts;
            prop_assert_eq!(snapshot.all_groups(), Some(all));
            for ((at, chain), (.., bounds)) in (0..).zip(chains(snapshot)).zip(snapshot.nodes()) {
                let groups = snapshot.groups(at);
                let (total, lower) = (groups.map(|groups| groups.total()), bounds.map(|bounds| bounds.lower));
                match algorithm {
                    Algorithm::StickySampling => prop_assert!(total >= lower, "{total:?} {lower:?}"),
                    _ => prop_assert_eq!(total, lower, "{}", algorithm),
                }
                let most = counts[&chain];
                let fit = groups.is_none_or(|groups| groups.0.iter().zip(most.0).all(|(own, most)| *own <= most));
                prop_assert!(fit, "{algorithm}: {groups:?} of {most:?}");
            }
        }
    }
}

/// A number from 0 to 1 (SplitMix64).
fn uniform(state: &mut u64) -> f64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ z >> 31) >> 11) as f64 / (1u64 << 53) as f64
}

/// A program whose calls of one burst are alike, with phases, and threads that do the same at the same time.
/// What is asked for is the share in this very run, phases included: bursts see a part of each.
#[test]
fn intervals_hold_as_often_as_they_say() {
    const RUNS: u32 = 1000;
    let mut state = 7;
    let (mut hold, mut naive) = (0, 0);
    for _ in 0..RUNS {
        let (mut part, mut all) = (ByGroup::default(), ByGroup::default());
        let (mut phase, mut truth) = (0.0, 0.0);
        for burst in 0..400 {
            if burst % 10 == 0 {
                phase = uniform(&mut state) * 0.3;
            }
            truth += (phase + 0.15) / 400.0;
            let share = phase + uniform(&mut state) * 0.3;
            for _thread in 0..4 {
                let calls = 50 + (uniform(&mut state) * 50.0) as u64;
                all.0[burst % BURST_GROUPS] += calls;
                let own = (0..calls).filter(|_| uniform(&mut state) < share).count();
                part.0[burst % BURST_GROUPS] += own as u64;
            }
        }
        let (low, high) = part.share_interval(&all).unwrap();
        hold += u32::from((low..=high).contains(&truth));
        let share = part.total() as f64 / all.total() as f64;
        let half = 1.96 * (share * (1.0 - share) / all.total() as f64).sqrt();
        naive += u32::from((share - truth).abs() <= half);
    }
    // As if each call were drawn independently: too narrow by far, so the above is not easy to pass.
    assert!(naive < RUNS * 6 / 10, "{naive}");
    assert!((910..=990).contains(&hold), "{hold}");
}
