//! Calling contexts against brute force: every algorithm, on random streams of calls.

mod cases;
mod common;
mod groups;
mod words;

use std::collections::HashMap;

use common::*;
use proptest::prelude::*;
use trodden_analyses::contexts::*;

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_exact_tree_is_exact(shape in shapes()) {
        let ops = stream(shape);
        let (exact, oracle) = (run(Exact, &ops), Oracle::new(&ops));
        let tree = exact.snapshot().hot(0.0).unwrap();
        let ours: HashMap<_, _> = tree.hot().map(|(at, n)| (tree.path(at), n.bounds.unwrap().lower)).collect();
        prop_assert_eq!(&ours, &oracle.counts);
        prop_assert_eq!(exact.stats().contexts as usize, tree.nodes().len());
        check_hot("exact", &exact.snapshot(), 0.1, 0.0, &oracle);
    }

    #[test]
    fn every_algorithm_keeps_its_guarantee(shape in shapes(), thresholds in thresholds()) {
        let ops = stream(shape);
        let oracle = Oracle::new(&ops);
        for (name, snapshot) in all(thresholds, &ops) {
            check(name, &snapshot, thresholds, &oracle);
        }
    }

    #[test]
    fn at_any_time(shape in shapes(), thresholds in thresholds()) {
        let ops = stream(shape);
        let mut contexts = ContextTreeBuilder::new(LazySpaceSaving::new(thresholds));
        let mut oracle = Oracle::default();
        for part in ops.chunks(1 + ops.len() / 7) {
            feed(&mut contexts, part);
            feed(&mut oracle, part);
            check("lazy", &contexts.snapshot(), thresholds, &oracle);
        }
    }

    #[test]
    fn merged_threads_keep_the_guarantee(
        shapes in prop::collection::vec(shapes(), 2..6),
        thresholds in thresholds(),
    ) {
        let mut merged: Vec<(&str, Snapshot)> = Vec::new();
        let mut oracle = Oracle::default();
        for shape in shapes {
            let ops = stream(Shape { threads: 1, ..shape });
            oracle.add(&Oracle::new(&ops));
            let parts = all(thresholds, &ops);
            if merged.is_empty() {
                merged = parts.iter().map(|&(name, _)| (name, Snapshot::default())).collect();
            }
            for ((_, sum), (_, part)) in merged.iter_mut().zip(&parts) {
                sum.merge(part.clone()).unwrap();
            }
        }
        for (name, snapshot) in &merged {
            check(name, snapshot, thresholds, &oracle);
        }
    }

    #[test]
    fn space_bounds(shape in shapes(), thresholds in thresholds()) {
        let ops = stream(shape);
        let n = Oracle::new(&ops).total;
        let width = thresholds.width();
        // At most 1/32 more than the paper's 1 / epsilon, unless epsilon is nearly phi.
        prop_assert!(width as f64 <= (33.0 / (32.0 * thresholds.epsilon())).max(2.0 / thresholds.phi()) + 1.0);
        let lazy = run(LazySpaceSaving::new(thresholds), &ops);
        prop_assert!(lazy.stats().monitored <= width);
        prop_assert_eq!(lazy.stats().monitored, run(BucketSpaceSaving::new(thresholds), &ops).stats().monitored);
        // Streams here are at most 12 deep, in 4 threads at a time (and one new context before the pruning).
        prop_assert!(lazy.stats().peak_contexts <= 12 * (width + 5));
        // Lossy Counting: width / i counters at most from i buckets ago, and a bucket that is not complete.
        if shape.weights == 1 {
            let harmonic: f64 = (1..=n / width).map(|i| 1.0 / i as f64).sum();
            let lossy = run(LossyCounting::new(thresholds), &ops);
            prop_assert!(lossy.algorithm().most() as f64 <= width as f64 * (harmonic + 1.0));
        }
    }

    #[test]
    fn bursts_count_calls_in_their_true_contexts(
        shape in shapes(),
        thresholds in thresholds(),
        interval in 1u64..300,
        share in 0.0f64..=1.0,
    ) {
        let ops = stream(shape);
        let length = ((interval as f64 * share) as u64).max(1);
        let mut lazy = windows_of(interval, length, ContextTreeBuilder::new(LazySpaceSaving::new(thresholds)));
        let mut exact = windows_of(interval, length, ContextTreeBuilder::new(Exact));
        feed(&mut lazy, &ops);
        feed(&mut exact, &ops);
        // By hand: the whole stream is followed, and what is outside bursts gets weight 0.
        let (mut oracle, mut clock) = (Oracle::default(), 0);
        for &op in &ops {
            let inside = clock % interval < length;
            match op {
                Op::Enter(frame, weight) if inside => oracle.enter(frame, weight),
                op => feed(&mut oracle, &[match op { Op::Enter(frame, _) => Op::Place(frame), op => op }]),
            }
            clock += u64::from(matches!(op, Op::Enter(..) | Op::Exit | Op::Unwind(_)));
        }
        let tree = exact.inner().snapshot().hot(0.0).unwrap();
        let ours: HashMap<_, _> = tree.hot().map(|(at, n)| (tree.path(at), n.bounds.unwrap().lower)).collect();
        prop_assert_eq!(&ours, &oracle.counts);
        check("lazy in bursts", &lazy.inner().snapshot(), thresholds, &oracle);
    }
}
