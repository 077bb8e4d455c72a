//! k-iteration path forests against brute force, and the paper's worked example (k-BLPP figures 3 and 10).

#[path = "../benches/baseline/mod.rs"]
mod baseline;

use std::collections::BTreeMap;
use std::num::NonZeroU64;

use crate::random::Random;
use baseline::{HashProfile, NullActivations};
use proptest::prelude::*;
use trodden_analyses::kpaths::ActivationEvent::{self, Enter, Exit, Path};
use trodden_analyses::kpaths::{
    ActivationAnalysis, ActivationBursts, Activations, BoundedForest, ChunkPairs, ForestError,
    IterationForest, PathNode, PathSink, SlabForest,
};
use trodden_profile::Schedule;

type Sequences = BTreeMap<(u32, Vec<u64>), u64>;

/// The oracle's reading of a stream: every activation with its paths, in the order of their entries.
/// Also how many paths belong to none.
fn activations(events: &[ActivationEvent]) -> (Vec<(u32, Vec<u64>)>, u64) {
    let (mut all, mut open, mut ignored) = (Vec::new(), Vec::new(), 0);
    for event in events {
        match *event {
            Enter(method) => {
                open.push(all.len());
                all.push((method, Vec::new()));
            }
            Path(path) => match open.last() {
                Some(&i) => all[i].1.push(path),
                None => ignored += 1,
            },
            Exit => {
                open.pop();
            }
        }
    }
    (all, ignored)
}

/// All n-grams for n up to `k`, by definition 2.
fn n_grams(activations: &[(u32, Vec<u64>)], k: usize) -> Sequences {
    let mut counts = Sequences::new();
    for (method, paths) in activations {
        for n in 1..=k {
            for gram in paths.windows(n) {
                *counts.entry((*method, gram.to_vec())).or_default() += 1;
            }
        }
    }
    counts
}

/// The k-SF by definition 3.
fn slab_forest(activations: &[(u32, Vec<u64>)], k: usize) -> Sequences {
    let mut counts = Sequences::new();
    for (method, paths) in activations {
        let chunks: Vec<&[u64]> = paths.chunks(k - 1).collect();
        for (i, chunk) in chunks.iter().enumerate() {
            let both = [*chunk, chunks.get(i + 1).copied().unwrap_or(&[])].concat();
            for length in 1..=both.len() {
                // Its nodes are those of every prefix; the list L leaves out the short ones of later chunks.
                let listed = i == 0 || length >= k;
                *counts.entry((*method, both[..length].to_vec())).or_default() += u64::from(listed);
            }
        }
    }
    counts
}

fn as_map(rows: Vec<(u32, Vec<u64>, u64)>) -> Sequences {
    let len = rows.len();
    let map: Sequences = rows.into_iter().map(|(m, p, c)| ((m, p), c)).collect();
    assert_eq!(map.len(), len, "a sequence has two nodes");
    map
}

fn run<S: PathSink>(sink: S, events: &[ActivationEvent]) -> Activations<S> {
    let mut thread = Activations::new(sink);
    thread.consume(events);
    thread
}

fn slabs(k: u32, events: &[ActivationEvent]) -> SlabForest {
    run(SlabForest::new(k).unwrap(), events).into_sink()
}

/// One activation of method 0.
fn one_activation(paths: impl IntoIterator<Item = u64>) -> Vec<ActivationEvent> {
    let paths = paths.into_iter().map(Path);
    std::iter::once(Enter(0)).chain(paths).chain([Exit]).collect()
}

const EXAMPLE: [u64; 14] = [6, 2, 0, 0, 2, 2, 0, 0, 2, 2, 0, 0, 2, 3];

fn table(rows: &[(&[u64], u64)]) -> Sequences {
    rows.iter()
        .map(|&(path, count)| ((0, path.to_vec()), count))
        .collect()
}

#[test]
fn figure_10() {
    // Example 3's list L, counted; where it has no prefix of a later chunk, the node's counter is 0.
    let expected = table(&[
        (&[6], 1),
        (&[6, 2], 1),
        (&[6, 2, 0], 1),
        (&[6, 2, 0, 0], 1),
        (&[6, 2, 0, 0, 2], 1),
        (&[6, 2, 0, 0, 2, 2], 1),
        (&[0], 0),
        (&[0, 2], 0),
        (&[0, 2, 2], 0),
        (&[0, 2, 2, 0], 1),
        (&[0, 2, 2, 0, 0], 1),
        (&[0, 2, 2, 0, 0, 2], 1),
        (&[0, 0], 0),
        (&[0, 0, 2], 0),
        (&[0, 0, 2, 2], 1),
        (&[0, 0, 2, 2, 0], 1),
        (&[0, 0, 2, 2, 0, 0], 1),
        (&[2], 0),
        (&[2, 0], 0),
        (&[2, 0, 0], 0),
        (&[2, 0, 0, 2], 1),
        (&[2, 0, 0, 2, 3], 1),
        (&[2, 3], 0),
    ]);
    let forest = slabs(4, &one_activation(EXAMPLE));
    assert_eq!(as_map(forest.nodes()), expected);
    assert_eq!(forest.total(), 14);
    // Example 2: (0, 0) is in it five times; the counters that end in the bottom slab say three.
    let all = expected.iter();
    let ends: Vec<u64> = all
        .filter(|(g, _)| g.1.ends_with(&[0, 0]))
        .map(|(_, &c)| c)
        .collect();
    assert_eq!((ends.len(), ends.iter().sum::<u64>()), (5, 3));
}

#[test]
fn figure_3() {
    let expected = table(&[
        (&[0], 6),
        (&[0, 0], 3),
        (&[0, 0, 2], 3),
        (&[0, 0, 2, 2], 2),
        (&[0, 0, 2, 3], 1),
        (&[0, 2], 3),
        (&[0, 2, 2], 2),
        (&[0, 2, 2, 0], 2),
        (&[0, 2, 3], 1),
        (&[2], 6),
        (&[2, 0], 3),
        (&[2, 0, 0], 3),
        (&[2, 0, 0, 2], 3),
        (&[2, 2], 2),
        (&[2, 2, 0], 2),
        (&[2, 2, 0, 0], 2),
        (&[2, 3], 1),
        (&[3], 1),
        (&[6], 1),
        (&[6, 2], 1),
        (&[6, 2, 0], 1),
        (&[6, 2, 0, 0], 1),
    ]);
    let slabs = slabs(4, &one_activation(EXAMPLE));
    let forest = IterationForest::from_slabs(&slabs);
    assert_eq!(as_map(forest.sequences()), expected);
    let stats = forest.stats();
    assert_eq!(
        (stats.nodes, stats.roots, stats.leaves, stats.depth),
        (22, 4, 9, 3)
    );
    assert_eq!(stats.average_degree, Some(18.0 / 13.0));
    // Six leaves at depth 3; (0 2 3), (2 3) and (3) further up.
    assert_eq!(stats.average_leaf_depth, Some((6 * 3 + 2 + 1) as f64 / 9.0));
    let roots = forest.roots();
    let order: Vec<_> = roots.iter().map(|root| (root.path(), root.count())).collect();
    assert_eq!(order, [(0, 6), (2, 6), (3, 1), (6, 1)]);
    let below: Vec<_> = roots[0]
        .children()
        .iter()
        .map(|n| (n.path(), n.count(), n.at_most()))
        .collect();
    assert_eq!(below, [(0, 3, 3), (2, 3, 3)]);
}

/// Streams of activations, nested and recursive, unwound at once, begun in mid-run; some of them periodic.
fn stream() -> impl Strategy<Value = Vec<ActivationEvent>> {
    let path = prop_oneof![8 => 0..4u64, 1 => 0..40u64, 1 => (1 << 31) - 1..(1u64 << 31) + 2];
    let word = (prop::collection::vec(path.clone(), 1..6), 1..8usize);
    let step = prop_oneof![
        4 => (0..3u32).prop_map(|m| vec![Enter(m)]),
        3 => Just(vec![Exit]),
        1 => (2..5usize).prop_map(|n| vec![Exit; n]),
        6 => path.prop_map(|p| vec![Path(p)]),
        2 => word.prop_map(|(word, times)| word.repeat(times).into_iter().map(Path).collect()),
    ];
    prop::collection::vec(step, 0..120).prop_map(|steps| steps.concat())
}

fn check_below(node: PathNode<'_>, k: usize) -> Result<(), TestCaseError> {
    let children = node.children();
    let sum: u64 = children.iter().map(|child| child.count()).sum();
    prop_assert!(node.count() >= sum);
    prop_assert!(node.length() < k || children.is_empty());
    for child in children {
        prop_assert!(node.at_most() >= child.at_most() && child.at_most() >= child.count());
        check_below(child, k)?;
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn forests_equal_brute_force(events in stream(), k in prop_oneof![2..9u32, Just(16), Just(64)]) {
        let thread = run(SlabForest::new(k).unwrap(), &events);
        let (activations, ignored) = activations(&events);
        prop_assert_eq!(thread.ignored_paths(), ignored);
        let slabs = thread.into_sink();
        let length: usize = activations.iter().map(|(_, paths)| paths.len()).sum();
        prop_assert_eq!(slabs.total(), length as u64);
        prop_assert_eq!(slabs.dropped(), 0);
        prop_assert_eq!(as_map(slabs.nodes()), slab_forest(&activations, k as usize));
        prop_assert!(slabs.stats().depth <= 2 * k - 3);

        let forest = IterationForest::from_slabs(&slabs);
        let expected = n_grams(&activations, k as usize);
        prop_assert_eq!(&as_map(forest.sequences()), &expected);
        prop_assert!(forest.is_exact());
        for ((method, gram), count) in expected.iter().take(50) {
            prop_assert_eq!(forest.count(*method, gram), *count);
        }
        for root in forest.roots() {
            check_below(root, k as usize)?;
        }
    }

    /// Pairs of chunks of any length, folded or not, know what a slab forest knows; also in mid-run.
    #[test]
    fn pairs_of_chunks_equal_slab_forests(
        parts in prop::collection::vec(stream(), 1..5), k in prop_oneof![2..9u32, Just(16), Just(64)],
        times in 1..6u32, room in prop_oneof![Just(usize::MAX), 0..2000usize], ended in any::<bool>(),
    ) {
        let mut thread = Activations::new(ChunkPairs::with_chunks(k, times, room).unwrap());
        let mut reference = Activations::new(SlabForest::new(k).unwrap());
        for part in parts {
            if ended {
                // As the words of activations without calls are handed on.
                for (method, paths) in activations(&part).0 {
                    if paths.iter().all(|&path| path < 1 << 31) {
                        thread.activation(method, &paths);
                        reference.activation(method, &paths);
                    }
                }
            }
            thread.consume(&part);
            reference.consume(&part);
            let found = thread.sink().slab_forest(thread.open()).unwrap();
            prop_assert_eq!(found.nodes(), reference.sink().nodes());
        }
        prop_assert_eq!(thread.ignored_paths(), reference.ignored_paths());
        let pairs = thread.into_sink();
        prop_assert_eq!(pairs.dropped(), 0);
        let found = pairs.iteration_forest(&[]).unwrap().sequences();
        prop_assert_eq!(found, IterationForest::from_slabs(reference.sink()).sequences());
    }

    /// Level 1 is what a hash table of counters says.
    #[test]
    fn level_1_is_ball_larus(events in stream(), k in 2..12u32) {
        let forest = IterationForest::from_slabs(&slabs(k, &events));
        let table = run(HashProfile::default(), &events).into_sink();
        let level_1: Vec<_> = forest.roots().iter().map(|n| (n.method(), n.path(), n.count())).collect();
        let mut counts: Vec<_> = table.counts().collect();
        counts.sort_unstable_by_key(|&(method, path, count)| (method, std::cmp::Reverse(count), path));
        prop_assert_eq!(level_1, counts);
        prop_assert_eq!(table.len(), forest.roots().len());
        prop_assert!(table.counts().all(|(m, p, c)| table.count(m, p) == c));
    }

    #[test]
    fn smaller_k_is_contained(events in stream(), k in 2..10u32) {
        let small = IterationForest::from_slabs(&slabs(k, &events)).sequences();
        let mut large = IterationForest::from_slabs(&slabs(k + 1, &events)).sequences();
        large.retain(|(_, path, _)| path.len() <= k as usize);
        prop_assert_eq!(small, large);
    }

    /// Updated at any moments, in the middle of activations too, it equals the one built at once.
    #[test]
    fn merging_is_commutative_and_associative(a in stream(), b in stream(), c in stream(), k in 2..9u32) {
        let merged = |parts: [&[ActivationEvent]; 3]| {
            let [mut first, second, third] = parts.map(|events| slabs(k, events));
            first.merge(&second).unwrap();
            first.merge(&third).unwrap();
            first
        };
        let one = merged([&a, &b, &c]);
        prop_assert_eq!(one.nodes(), merged([&c, &a, &b]).nodes());
        let mut right = slabs(k, &b);
        right.merge(&slabs(k, &c)).unwrap();
        let mut left = slabs(k, &a);
        left.merge(&right).unwrap();
        prop_assert_eq!(one.nodes(), left.nodes());

        let all = [&a, &b, &c].map(|events| activations(events).0).concat();
        prop_assert_eq!(as_map(IterationForest::from_slabs(&one).sequences()), n_grams(&all, k as usize));
        let mut tables = [&a, &b, &c].map(|events| run(HashProfile::default(), events).into_sink());
        let [first, rest @ ..] = &mut tables;
        rest.iter().for_each(|other| first.merge(other));
        let level_1 = n_grams(&all, 1);
        prop_assert_eq!(first.len(), level_1.len());
        prop_assert!(level_1.iter().all(|((m, gram), &count)| first.count(*m, gram[0]) == count));
    }

    /// The stated guarantee of the bounded forest, for streams far too rich for the budget.
    #[test]
    fn bounded_forest_keeps_budget_and_bound(
        parts in prop::collection::vec(stream(), 1..12), k in 2..7u32, more in 0..60u32, other in stream(),
    ) {
        let budget = 4 * k + more;
        let mut thread = Activations::new(BoundedForest::new(k, budget).unwrap());
        let events = parts.concat();
        for event in &events {
            thread.consume(std::slice::from_ref(event));
            prop_assert!(thread.sink().budget_used() <= budget);
        }
        let mut all = activations(&events).0;
        let mut bounded = thread.into_sink();
        check_bounded(&bounded, &all)?;

        let second = run(BoundedForest::new(k, budget).unwrap(), &other).into_sink();
        bounded.merge(&second).unwrap();
        all.extend(activations(&other).0);
        prop_assert!(bounded.budget_used() <= budget);
        check_bounded(&bounded, &all)?;
    }

    /// The schedule takes whole activations, and only those.
    #[test]
    fn bursts_sample_whole_activations(
        events in stream(), k in 2..6u32, samples in 1..5u32, stride in 1..5u32, full in any::<bool>(), every in 1..20u64,
    ) {
        let kind = if full { "ag" } else { "sag" };
        let schedule: Schedule = format!("{kind}:{samples}:{stride}").parse().unwrap();
        let inner = Activations::new(SlabForest::new(k).unwrap());
        let mut bursts = ActivationBursts::every(NonZeroU64::new(every).unwrap(), schedule, inner);
        bursts.consume(&events);
        let all = activations(&events).0;
        let sampled: Vec<_> = all.iter().enumerate().filter(|&(i, _)| {
            let (tick, index) = (i as u64 / every, i as u64 % every);
            schedule.sample_indices(tick).any(|sample| sample == index)
        }).map(|(_, activation)| activation.clone()).collect();
        prop_assert_eq!(bursts.activations(), (all.len() as u64, sampled.len() as u64));
        prop_assert_eq!(bursts.open_sampled(), bursts.inner().depth());
        let inner = bursts.into_inner();
        prop_assert_eq!(inner.ignored_paths(), 0);
        let forest = IterationForest::from_slabs(inner.sink());
        prop_assert_eq!(as_map(forest.sequences()), n_grams(&sampled, k as usize));
    }
}

fn check_bounded(bounded: &BoundedForest, all: &[(u32, Vec<u64>)]) -> Result<(), TestCaseError> {
    let k = bounded.k() as usize;
    let exact = n_grams(all, k);
    let length: usize = all.iter().map(|(_, paths)| paths.len()).sum();
    prop_assert_eq!(bounded.total(), length as u64);
    let forest = bounded.iteration_forest();
    let found = as_map(forest.sequences());
    let mut deficits: BTreeMap<(u32, usize), u64> = BTreeMap::new();
    for ((method, gram), &count) in &exact {
        let estimate = found.get(&(*method, gram.clone())).copied().unwrap_or(0);
        let missing = forest.missing(*method, gram.len());
        prop_assert!(estimate <= count, "{gram:?}: {estimate} of {count}");
        prop_assert!(
            count <= estimate + missing,
            "{gram:?}: {estimate} + {missing} of {count}"
        );
        prop_assert!(gram.len() > 1 || estimate == count);
        if let Some(node) = forest.find(*method, gram) {
            prop_assert_eq!(node.count(), estimate);
            prop_assert!(node.at_most() >= count);
        }
        *deficits.entry((*method, gram.len())).or_default() += count - estimate;
    }
    for (&(method, n), &deficit) in &deficits {
        prop_assert!(deficit <= bounded.missing(method, n), "length {n}: {deficit}");
    }
    prop_assert!(found.keys().all(|sequence| exact.contains_key(sequence)));
    prop_assert!(forest.is_exact() || bounded.prunings() > 0);
    for root in forest.roots() {
        check_below(root, k)?;
    }
    Ok(())
}

/// Runs of a few patterns with noise: 12 percent of the paths come from 40 rare ones.
fn noisy(length: usize) -> Vec<u64> {
    let mut random = Random(7);
    let patterns: [&[u64]; 4] = [&[1], &[2], &[3, 4, 4, 4, 5], &[1, 2]];
    let mut paths = Vec::new();
    while paths.len() < length {
        let pattern = patterns[random.below(4) as usize];
        for _ in 0..random.below(60) {
            paths.extend_from_slice(pattern);
            if random.below(8) == 0 {
                paths.push(10 + random.below(40));
            }
        }
    }
    paths
}

/// With a twentieth of the k-SF's nodes, whatever occurs in more than 1 percent of its root's occurrences is
/// there, for every root that has 1 percent of the stream, and most of it for the others, where three times
/// may be enough to be hot.
#[test]
fn a_twentieth_of_the_nodes_finds_what_is_hot() {
    let k = 8;
    let events = one_activation(noisy(200_000));
    let exact = slabs(k, &events);
    let budget = (exact.stats().nodes / 20) as u32;
    let bounded = run(BoundedForest::new(k, budget).unwrap(), &events).into_sink();
    assert!(bounded.prunings() > 0);
    let found = bounded.iteration_forest();
    let (mut hot, mut worst, mut rare, mut rare_found) = (0, 0.0f64, 0, 0);
    for (method, gram, count) in IterationForest::from_slabs(&exact).sequences() {
        let root = found.count(method, &gram[..1]);
        if count * 100 <= root {
            continue;
        }
        let estimate = found.count(method, &gram);
        assert!(count <= estimate + found.missing(method, gram.len()));
        if root * 100 > exact.total() {
            hot += 1;
            assert!(estimate > 0, "{gram:?}: {count} of {root}");
            worst = worst.max((count - estimate) as f64 / count as f64);
        } else {
            rare += 1;
            rare_found += u32::from(estimate > 0);
        }
    }
    eprintln!(
        "budget {budget}: {hot} hot, worst {worst}; {rare} hot below rare roots, {rare_found} found; {} prunings",
        bounded.prunings()
    );
    assert!(hot > 50, "{hot}");
    assert!(rare_found * 10 > rare * 9, "{rare_found} of {rare}");
    assert!(worst < 0.5, "a hot path lost {worst} of its count");
}

/// A caller's sequences continue after nodes were pruned while it was in a call.
#[test]
fn prunings_during_a_call_end_only_what_was_pruned() {
    let mut random = Random(5);
    let mut thread = Activations::new(BoundedForest::new(3, 40).unwrap());
    thread.enter(0);
    for _ in 0..1_000 {
        thread.path(1);
        thread.enter(1);
        (0..50).for_each(|_| thread.path(random.below(100)));
        thread.exit();
    }
    let bounded = thread.into_sink();
    assert!(bounded.prunings() > 100);
    let count = bounded.iteration_forest().count(0, &[1, 1, 1]);
    assert!((950..=998).contains(&count), "{count} of 998");
}

/// Nodes with hundreds of children.
#[test]
fn wide_nodes_count_right() {
    let mut random = Random(1);
    let paths: Vec<u64> = (0..20_000).map(|_| random.below(300)).collect();
    let events = one_activation(paths);
    for k in [2, 3] {
        let forest = slabs(k, &events);
        let expected = n_grams(&activations(&events).0, k as usize);
        assert_eq!(
            as_map(IterationForest::from_slabs(&forest).sequences()),
            expected,
            "k = {k}"
        );
    }
}

/// Long chunks that hardly repeat do not fill the memory, and the counts stay right.
#[test]
fn folding_bounds_memory() {
    let mut random = Random(3);
    let paths: Vec<u64> = (0..200_000).map(|_| random.below(12)).collect();
    let events = one_activation(paths);
    let mut thread = Activations::new(ChunkPairs::with_chunks(3, 8, 1 << 18).unwrap());
    let mut most = 0;
    for part in events.chunks(1000) {
        thread.consume(part);
        most = most.max(thread.sink().bytes());
    }
    let found = thread.into_sink().slab_forest(&[]).unwrap();
    let reference = slabs(3, &events);
    assert_eq!(found.nodes(), reference.nodes());
    // 12^4 sequences of two chunks of two, in nodes and in pairs; without folding it is more than twice as
    // much.
    assert!(most < 4 << 20, "{most} bytes");
    assert!(most > 1 << 18, "{most} bytes");
}

/// In steady state the table of roots is not asked (k-BLPP figure 15 has one access per k - 1 paths).
#[test]
fn few_hash_lookups() {
    let events = one_activation([1, 2, 3, 4, 5].repeat(2_000));
    let forest = slabs(6, &events);
    assert!(forest.hash_lookups() <= 6, "{}", forest.hash_lookups());
}

/// Events in between do not break a caller's sequence; recursion and exceptions have their own.
#[test]
fn activations_are_kept_apart() {
    let mut thread = Activations::new(SlabForest::new(3).unwrap());
    thread.exit(); // of something entered before
    thread.path(9);
    thread.enter(0);
    thread.path(1);
    thread.enter(0); // recursion
    thread.path(5);
    thread.enter(1);
    thread.path(6);
    thread.unwind(2); // an exception through method 1 and the recursive call
    assert_eq!(thread.depth(), 1);
    thread.path(2); // its handler's path
    thread.abandon();
    thread.path(3);
    thread.exit();
    assert_eq!((thread.depth(), thread.ignored_paths()), (0, 2));
    let forest = IterationForest::from_slabs(thread.sink());
    let sequences = as_map(forest.sequences());
    let expected: Sequences = [
        (0, vec![1]),
        (0, vec![1, 2]),
        (0, vec![2]),
        (0, vec![5]),
        (1, vec![6]),
    ]
    .map(|sequence| (sequence, 1))
    .into();
    assert_eq!(sequences, expected);
}

/// A window of two activations, driven by a clock, in mid-run.
#[test]
fn bursts_start_with_the_tick() {
    let schedule: Schedule = "sag:2:1".parse().unwrap();
    let mut bursts = ActivationBursts::new(schedule, Activations::new(SlabForest::new(2).unwrap()));
    bursts.consume(&[Enter(0), Path(1), Enter(1), Path(1)]);
    assert!(bursts.is_over());
    bursts.tick();
    assert!(!bursts.is_over());
    // The two open ones end; then two are taken, one inside the other; a third is not.
    bursts.consume(&[Path(2), Exit, Path(2), Exit]);
    bursts.consume(&[
        Enter(2),
        Path(3),
        Enter(3),
        Path(4),
        Enter(4),
        Path(5),
        Exit,
        Path(6),
        Exit,
    ]);
    assert!(bursts.is_over());
    assert_eq!(bursts.open_sampled(), 1);
    bursts.consume(&[Path(7), Exit]);
    assert_eq!(bursts.activations(), (5, 2));
    let forest = IterationForest::from_slabs(bursts.inner().sink());
    let expected: Sequences = [
        (2, vec![3]),
        (2, vec![7]),
        (2, vec![3, 7]),
        (3, vec![4]),
        (3, vec![6]),
        (3, vec![4, 6]),
    ]
    .map(|sequence| (sequence, 1))
    .into();
    assert_eq!(as_map(forest.sequences()), expected);
    bursts.abandon();
    assert_eq!(bursts.inner().depth(), 0);
}

#[test]
fn a_full_forest_says_what_it_dropped() {
    let mut forest = SlabForest::new(3).unwrap();
    forest.set_node_limit(4);
    let forest = run(forest, &one_activation([1, 2, 3, 1, 2, 3, 1, 2, 3])).into_sink();
    assert_eq!(forest.stats().nodes, 4);
    assert!(forest.dropped() > 0);
    assert_eq!(forest.total() + forest.dropped(), 9);
}

#[test]
fn what_cannot_be_is_refused() {
    assert_eq!(SlabForest::new(1).unwrap_err(), ForestError::K(1));
    assert_eq!(SlabForest::new(1025).unwrap_err(), ForestError::K(1025));
    let mut three = SlabForest::new(3).unwrap();
    let error = three.merge(&SlabForest::new(4).unwrap()).unwrap_err();
    assert_eq!(error.to_string(), "forests of k = 3 and k = 4 cannot be merged");
    let error = BoundedForest::new(10, 39).unwrap_err();
    assert_eq!(
        error.to_string(),
        "a budget of 39 nodes is too small for k = 10: at least 40 are needed"
    );
}

#[test]
fn nothing_in_nothing_out() {
    let forest = IterationForest::from_slabs(&slabs(5, &[]));
    assert_eq!(forest.sequences(), []);
    assert_eq!(
        (forest.stats().average_degree, forest.stats().average_leaf_depth),
        (None, None)
    );
    assert_eq!(forest.count(0, &[]), 0);
    let mut null = NullActivations;
    null.consume(&one_activation([1, 2]));
    null.abandon();
}

/// The deepest forests there can be do not overflow the stack.
#[test]
fn the_largest_k() {
    let paths = || (0..8_000).map(|i| i % 7 / 3);
    let k = trodden_analyses::kpaths::MAX_K;
    let forest = slabs(k, &one_activation(paths()));
    assert_eq!(forest.total(), 8_000);
    let grams = IterationForest::from_slabs(&forest);
    let gram: Vec<u64> = paths().take(k as usize).collect();
    assert_eq!(grams.count(0, &gram), (8_000 - u64::from(k)) / 7 + 1);
    let bounded = run(BoundedForest::new(k, 4 * k).unwrap(), &one_activation(paths())).into_sink();
    assert_eq!(bounded.total(), 8_000);
}
