//! Streams made for one purpose each.

use std::collections::HashSet;
use std::num::{NonZeroU32, NonZeroU64};

use trodden_analyses::contexts::*;

use super::common::*;

/// Calls of `counts[i]` times method `i`, each from method `i / 3` (a heap-shaped tree), in random order.
fn calls(counts: &[u64], seed: u64) -> Vec<Op> {
    let frame = |method: usize| Frame::new(method as u32, (method % 3) as u16);
    let mut left = counts.to_vec();
    let (mut random, mut ops) = (Random(seed), Vec::new());
    let mut rest: u64 = counts.iter().sum();
    while rest > 0 {
        let mut pick = random.below(rest);
        let method = left
            .iter()
            .position(|&n| {
                pick < n || {
                    pick -= n;
                    false
                }
            })
            .unwrap();
        left[method] -= 1;
        rest -= 1;
        let mut above = Vec::new();
        let mut at = method;
        while at > 0 {
            at /= 3;
            above.push(frame(at));
        }
        ops.push(Op::Gap);
        ops.extend(above.into_iter().rev().map(Op::Place));
        ops.push(Op::Enter(frame(method), 1));
    }
    ops
}

/// HCCT figure 2: N = 581, phi = 1/10, epsilon = 1/30. Every context of 58 or more, none of 38 or less.
#[test]
fn the_worked_example() {
    let thresholds = Thresholds::new(0.1, 1.0 / 30.0).unwrap();
    let mut counts = vec![1, 120, 2, 90, 5, 58, 3, 57, 45, 39, 38, 38];
    counts.extend([11; 7]);
    counts.push(8);
    assert_eq!(counts.iter().sum::<u64>(), 581);
    for seed in 0..200 {
        let ops = calls(&counts, seed);
        for (name, snapshot) in all(thresholds, &ops) {
            let hot = snapshot.hot(0.1).unwrap();
            assert_eq!((hot.total(), hot.threshold()), (581, 58));
            let reported: HashSet<u64> = hot
                .hot()
                .map(|(_, node)| counts[node.frame.method as usize])
                .collect();
            for hot in [120, 90, 58] {
                assert!(reported.contains(&hot), "{name}, seed {seed}: {reported:?}");
            }
            assert!(
                reported.iter().all(|&count| count > 38),
                "{name}, seed {seed}: {reported:?}"
            );
        }
    }
}

/// Space Saving's own claim: hot contexts that appear late take over from earlier ones.
#[test]
fn phases_that_change() {
    let thresholds = Thresholds::of_phi(0.2).unwrap();
    for algorithm in 0..5 {
        let mut ops = Vec::new();
        for phase in 0..10u32 {
            for i in 0..2000 {
                let method = if i % 2 == 0 { phase } else { 100 + i };
                ops.extend([
                    Op::Enter(Frame::new(method, 0), 1 + 7 * u64::from(phase == 9)),
                    Op::Exit,
                ]);
            }
        }
        let (name, snapshot) = all(thresholds, &ops).swap_remove(algorithm);
        let hot = snapshot.hot(0.2).unwrap();
        let methods: Vec<u32> = hot.hot().map(|(_, node)| node.frame.method).collect();
        assert_eq!(methods, [9], "{name}");
    }
}

#[test]
fn sticky_sampling_fails_as_rarely_as_promised() {
    let (thresholds, delta) = (Thresholds::new(0.1, 0.05).unwrap(), 0.2);
    let (mut failed, mut counters, mut most) = (0, 0, 0.0);
    let mut ops = Vec::new();
    let mut random = Random(9);
    for _ in 0..20_000 {
        let method = if random.below(8) == 0 {
            0
        } else {
            1 + random.below(5_000) as u32
        };
        ops.extend([Op::Enter(Frame::new(method, 0), 1), Op::Exit]);
    }
    for seed in 0..300 {
        let contexts = run(StickySampling::new(thresholds, delta, seed).unwrap(), &ops);
        let snapshot = contexts.snapshot();
        most = contexts.algorithm().expected_counters();
        counters += contexts.stats().monitored;
        let hot = snapshot.hot(0.1).unwrap();
        failed += u32::from(!hot.hot().any(|(_, node)| node.frame.method == 0));
    }
    assert!(f64::from(failed) <= delta * 300.0, "{failed} of 300 runs failed");
    assert!(
        counters as f64 / 300.0 <= most,
        "{counters} / 300 counters, {most} expected at most"
    );
    assert!(
        StickySampling::new(thresholds, 0.0, 0).is_err() && StickySampling::new(thresholds, 1.0, 0).is_err()
    );
}

#[test]
fn a_million_frames() {
    const DEPTH: u32 = 1_000_000;
    let thresholds = Thresholds::of_phi(0.01).unwrap();
    fn deep<A: Monitor>(algorithm: A, width: u64) {
        let exact = algorithm.thresholds().is_none();
        let mut contexts = ContextTreeBuilder::new(algorithm);
        for _ in 0..DEPTH {
            contexts.enter(Frame::new(1, 3), 1);
        }
        assert_eq!(
            (contexts.depth(), contexts.stats().contexts),
            (DEPTH, u64::from(DEPTH))
        );
        let snapshot = contexts.snapshot();
        assert_eq!(snapshot.contexts(), DEPTH as usize);
        // An exception through nearly all of it, and then a hot context on what is left.
        contexts.unwind(2);
        for _ in 0..100_000 {
            contexts.enter(Frame::new(2, 3), 1);
            contexts.exit();
        }
        let hot = contexts.snapshot().hot(0.05).unwrap();
        assert_eq!(hot.path(hot.hottest().unwrap()).len(), 3);
        contexts.exit();
        contexts.exit();
        assert_eq!((contexts.depth(), contexts.current()), (0, None));
        contexts.exit();
        assert_eq!(contexts.stats().orphans, 1);
        let chain = snapshot.hot(0.01).unwrap();
        assert_eq!(chain.threshold(), 10_000);
        // Once one of the deepest is monitored, all of the chain up to it stays. But no context is hot, and
        // the uppers of those last in are at most what counters had by then.
        assert!(chain.hot().count() <= width as usize);
        if exact {
            assert_eq!(chain.hot().count(), 0);
            assert_eq!(contexts.stats().contexts, u64::from(DEPTH) + 1);
        } else {
            contexts.reset();
            assert_eq!((contexts.stats().contexts, contexts.total()), (0, 0));
        }
    }
    deep(Exact, 0);
    deep(LazySpaceSaving::new(thresholds), thresholds.width());
    deep(BucketSpaceSaving::new(thresholds), thresholds.width());
    deep(LossyCounting::new(thresholds), thresholds.width());
}

#[test]
fn exceptions_through_many_frames() {
    let mut contexts = ContextTreeBuilder::new(Exact);
    contexts.enter(Frame::new(0, 0), 1);
    for round in 0..100u32 {
        for depth in 0..500 {
            contexts.enter(Frame::new(1 + depth % 7, 1), 1);
        }
        contexts.unwind(1 + round % 3);
        assert_eq!(contexts.depth(), 1 + round % 3);
        contexts.unwind(1000); // more than there are: nothing has ended
        assert_eq!(contexts.depth(), 1 + round % 3);
        contexts.unwind(1);
    }
    assert_eq!(contexts.stats().contexts, 501);
    assert_eq!(contexts.current(), Some(Frame::new(0, 0)));
    assert_eq!(contexts.total(), 1 + 100 * 500);
}

#[test]
fn virtual_threads_keep_their_places() {
    // 1000 threads that call main -> serve -> own method, each resumed many times in a random order; one
    // tree.
    let thresholds = Thresholds::of_phi(0.01).unwrap();
    let mut contexts = ContextTreeBuilder::new(LazySpaceSaving::new(thresholds));
    let mut oracle = Oracle::default();
    let mut random = Random(5);
    for i in 0..100_000u64 {
        let thread = if i < 1000 { i } else { random.skewed(1000) };
        let ops: &[Op] = match i {
            0..1000 => &[Op::Enter(Frame::new(0, 0), 1), Op::Enter(Frame::new(1, 1), 1)],
            _ if random.below(2) == 0 => &[Op::Enter(Frame::new(2 + thread as u32, 2), 1)],
            _ => &[Op::Enter(Frame::new(9999, 5), 1), Op::Exit],
        };
        for sink in [&mut contexts as &mut dyn ContextSink, &mut oracle] {
            sink.switch(thread);
            for &op in ops {
                match op {
                    Op::Enter(frame, weight) => sink.enter(frame, weight),
                    _ => sink.exit(),
                }
            }
            if i % 1000 == 999 {
                sink.end_thread();
                sink.enter(Frame::new(0, 0), 1);
                sink.enter(Frame::new(1, 1), 1);
            } else if ops.len() == 1 && i % 3 == 0 {
                sink.exit();
            }
        }
    }
    check("lazy", &contexts.snapshot(), thresholds, &oracle);
    let stacks = oracle.stacks.values().filter(|stack| !stack.is_empty());
    assert_eq!(stacks.count(), 1000);
}

#[test]
fn memory_does_not_grow_with_the_number_of_threads() {
    let thresholds = Thresholds::of_phi(0.05).unwrap();
    let mut all = Snapshot::default();
    let mut oracle = Oracle::default();
    let mut random = Random(11);
    for thread in 0..3_000u32 {
        let mut ops = Vec::new();
        for _ in 0..20 {
            let method = if random.below(3) == 0 {
                0
            } else {
                1 + thread * 20 + random.below(20) as u32
            };
            ops.extend([Op::Enter(Frame::new(method, 0), 1), Op::Exit]);
        }
        oracle.add(&Oracle::new(&ops));
        all.merge(run(LazySpaceSaving::new(thresholds), &ops).snapshot())
            .unwrap();
        assert!(all.monitored() as u64 <= 2 * thresholds.width() + 20);
    }
    check("3000 threads", &all, thresholds, &oracle);
    assert_eq!(all.hot(0.05).unwrap().hot().count(), 1);
}

#[test]
fn exact_trees_of_threads_merge() {
    let shape = |seed| Shape {
        seed,
        events: 5000,
        methods: 9,
        sites: 2,
        weights: 4,
        threads: 1,
        prefixes: 2,
        gaps: true,
    };
    let (mut sum, mut oracle) = (ContextTreeBuilder::new(Exact), Oracle::default());
    for seed in 0..4 {
        let ops = stream(shape(seed));
        sum.merge(&run(Exact, &ops));
        oracle.add(&Oracle::new(&ops));
    }
    check_hot("exact", &sum.snapshot(), 0.0001, 0.0, &oracle);
    assert_eq!(sum.total(), oracle.total);
}

#[test]
fn weights_are_what_was_spent() {
    // Calls get nothing, time is charged to what ran.
    let mut contexts = ContextTreeBuilder::new(WeightedSpaceSaving::new(Thresholds::of_phi(0.1).unwrap()));
    contexts.charge(5); // nothing runs
    contexts.enter(Frame::new(0, 0), 0);
    contexts.charge(100);
    for i in 0..1000u32 {
        contexts.enter(Frame::new(1 + i, 0), 0);
        contexts.charge(if i == 500 { 30_000 } else { 7 });
        contexts.exit();
    }
    contexts.charge(20_000);
    assert_eq!(
        (contexts.total(), contexts.stats().orphans),
        (100 + 30_000 + 999 * 7 + 20_000, 1)
    );
    let hot = contexts.snapshot().hot(0.2).unwrap();
    let reported: Vec<_> = hot
        .hot()
        .map(|(_, node)| (node.frame.method, node.bounds.unwrap()))
        .collect();
    assert_eq!(reported.len(), 2);
    for (method, bounds) in reported {
        let spent = if method == 0 { 20_100 } else { 30_000 };
        assert!(
            bounds.lower <= spent && spent <= bounds.upper,
            "{method}: {bounds:?}"
        );
    }
}

#[test]
fn a_full_tree_still_follows_the_stack() {
    let mut contexts = ContextTreeBuilder::new(Exact);
    contexts.set_limit(3);
    for depth in 0..10 {
        contexts.enter(Frame::new(depth, 0), 1);
    }
    assert_eq!(
        (
            contexts.depth(),
            contexts.stats().contexts,
            contexts.stats().dropped
        ),
        (10, 3, 7)
    );
    assert_eq!(contexts.current(), None);
    contexts.unwind(2);
    assert_eq!(contexts.current(), Some(Frame::new(1, 0)));
    contexts.enter(Frame::new(2, 0), 1);
    assert_eq!((contexts.total(), contexts.stats().dropped), (4, 7));
    contexts.reset();
    assert_eq!((contexts.depth(), contexts.total()), (3, 0));
    contexts.enter(Frame::new(3, 0), 1);
    assert_eq!(contexts.stats().dropped, 1);
}

#[test]
fn a_prefix_tells_contexts_apart() {
    let mut contexts = ContextTreeBuilder::new(LazySpaceSaving::new(Thresholds::default()));
    contexts.enter(Frame::new(0, 0), 1);
    for i in 0..90 {
        contexts.enter(Frame::new(1, 7).with_prefix(i % 3 / 2), 1);
        contexts.enter(Frame::new(2, 9).with_prefix(4), 1);
        contexts.unwind(1);
    }
    let hot = contexts.snapshot().hot(0.1).unwrap();
    let mut paths: Vec<_> = hot
        .hot()
        .map(|(at, node)| {
            (
                node.bounds.unwrap().lower,
                hot.path(at)[1..].iter().map(|f| f.prefix.unwrap()).collect(),
            )
        })
        .collect();
    paths.sort_unstable();
    let expected: [(u64, Vec<u64>); 4] = [(30, vec![1]), (30, vec![1, 4]), (60, vec![0]), (60, vec![0, 4])];
    assert_eq!(paths, expected);
}

#[test]
fn adaptive_bursts_skip_what_was_seen_and_weigh_the_rest() {
    let mut ops = vec![Op::Enter(Frame::new(0, 0), 1)];
    let mut random = Random(3);
    for _ in 0..200_000 {
        let method = 1 + random.skewed(20) as u32;
        ops.extend([Op::Enter(Frame::new(method, 0), 1), Op::Exit]);
    }
    let (interval, length) = (NonZeroU64::new(40).unwrap(), NonZeroU64::new(4).unwrap());
    let bursts = |reenable, seed| {
        let kind = BurstKind::Adaptive { reenable };
        let mut bursts =
            ContextBursts::new(ContextTreeBuilder::new(Exact), interval, length, kind, seed).unwrap();
        feed(&mut bursts, &ops);
        bursts
    };
    let once = bursts(None, 0);
    // Bursts begin in main, or in one of the 20 methods below it.
    assert!(once.tally().bursts <= 22 && once.tally().skipped > 9_000);
    let mut statically = windows_of(40, 4, ContextTreeBuilder::new(Exact));
    feed(&mut statically, &ops);
    let expected = statically.inner().total() as f64;
    for n in [5, 10, 20] {
        let mean = (0..10)
            .map(|seed| bursts(NonZeroU32::new(n), seed).inner().total() as f64)
            .sum::<f64>()
            / 10.0;
        assert!(
            (mean / expected - 1.0).abs() < 0.05,
            "1 in {n}: {mean}, {expected} expected"
        );
    }
    let (a, b) = (bursts(NonZeroU32::new(10), 7), bursts(NonZeroU32::new(10), 7));
    assert_eq!((a.tally(), a.inner().total()), (b.tally(), b.inner().total()));
    let sizes = [(NonZeroU64::MIN, NonZeroU64::MAX)];
    for (interval, length) in sizes {
        let refused = ContextBursts::new(NullContexts, interval, length, BurstKind::Static, 0);
        assert!(matches!(refused, Err(ContextError::BurstLength { .. })));
    }
}

/// The paper's metrics, computed by hand for a small tree.
#[test]
fn accuracy_by_hand() {
    // main (1) -> a (60), b (30), c (9); a -> d (100).
    let mut ops = vec![Op::Enter(Frame::new(0, 0), 1)];
    for (method, count) in [(1, 60), (2, 30), (3, 9)] {
        ops.extend([Op::Enter(Frame::new(method, 0), 1), Op::Exit].repeat(count));
    }
    ops.extend([Op::Place(Frame::new(1, 0))]);
    ops.extend([Op::Enter(Frame::new(4, 0), 1), Op::Exit].repeat(100));
    let exact = run(Exact, &ops);
    let hot = exact.snapshot().hot(0.2).unwrap(); // floor(200 * 0.2) = 40: a, d, and main above them
    let accuracy = ContextAccuracy::new(&hot, &exact, &[0.05, 0.3, 0.31]);
    assert_eq!((accuracy.contexts, accuracy.hot, accuracy.truly_hot), (3, 2, 2));
    assert_eq!(
        (
            accuracy.false_positives,
            accuracy.false_negatives,
            accuracy.unknown
        ),
        (0, 0, 0)
    );
    assert_eq!(accuracy.overlap, 161.0 / 200.0);
    assert_eq!(
        accuracy.coverage,
        [(0.05, 2.0 / 4.0), (0.3, 2.0 / 3.0), (0.31, 1.0)]
    );
    assert_eq!((accuracy.uncovered_max, accuracy.uncovered_average), (30.0, 19.5));
    assert_eq!(accuracy.full_coverage_above, 0.3);
    assert_eq!((accuracy.lower.max, accuracy.upper.average), (0.0, 0.0));
    // Counts of another, shorter run are scaled up.
    let mut few = ContextTreeBuilder::new(Exact);
    few.enter(Frame::new(0, 0), 1);
    few.enter(Frame::new(1, 0), 75);
    few.enter(Frame::new(4, 0), 24);
    let accuracy = ContextAccuracy::new(&few.snapshot().hot(0.2).unwrap(), &exact, &[]);
    assert_eq!(accuracy.lower.max, 150.0); // 75 * 200 / 100 in place of 60
    assert_eq!(accuracy.lower.average, (150.0 + 52.0) / 2.0);
    assert_eq!(accuracy.false_positives, 0);
}

/// The interface is enough to write another algorithm: this one knows nothing but the last context.
struct LastOnly(Option<NodeId>);

impl Monitor for LastOnly {
    const PRUNES: bool = true;
    fn update(
        &mut self,
        tree: &mut CallingContextTree,
        context: NodeId,
        weight: u64,
        victims: &mut Vec<NodeId>,
    ) {
        if tree.add_if_monitored(context, weight) {
            return;
        }
        if let Some(last) = self.0.replace(context) {
            tree.set_monitored(last, false);
            victims.push(last);
        }
        tree.set_count(context, weight);
        tree.set_monitored(context, true);
    }
    fn monitored(&self, tree: &CallingContextTree, each: &mut dyn FnMut(NodeId, Bounds)) {
        if let Some(node) = self.0 {
            let count = tree.count(node);
            each(
                node,
                Bounds {
                    lower: count,
                    upper: u64::MAX,
                },
            );
        }
    }
    fn len(&self) -> usize {
        usize::from(self.0.is_some())
    }
    fn absent(&self) -> u64 {
        u64::MAX
    }
    fn thresholds(&self) -> Option<Thresholds> {
        None
    }
    fn bytes(&self) -> usize {
        0
    }
    fn clear(&mut self) {
        self.0 = None;
    }
}

#[test]
fn another_algorithm_can_be_plugged_in() {
    let mut contexts = ContextTreeBuilder::new(LastOnly(None));
    for depth in 0..50 {
        contexts.enter(Frame::new(depth % 3, 0), 1);
    }
    contexts.unwind(10);
    assert_eq!(contexts.stats().contexts, 50); // the last one entered, and all above it
    contexts.enter(Frame::new(7, 0), 1);
    assert_eq!(contexts.stats().contexts, 11);
    contexts.gap();
    assert_eq!(contexts.stats().contexts, 11);
    contexts.enter(Frame::new(8, 0), 1);
    assert_eq!(contexts.stats().contexts, 1);
}
