//! Streams, brute force, and the comparison with it.

use std::collections::{HashMap, HashSet};
use std::num::NonZeroU64;

pub use crate::random::Random;
use proptest::prelude::*;
use trodden_analyses::contexts::*;

/// An event of a thread.
#[derive(Clone, Copy, Debug)]
pub enum Op {
    Enter(Frame, u64),
    Exit,
    Unwind(u32),
    Gap,
    Place(Frame),
    Switch(u64),
}

pub fn feed(sink: &mut impl ContextSink, ops: &[Op]) {
    for &op in ops {
        match op {
            Op::Enter(frame, weight) => sink.enter(frame, weight),
            Op::Exit => sink.exit(),
            Op::Unwind(depth) => sink.unwind(depth),
            Op::Gap => sink.gap(),
            Op::Place(frame) => sink.place(frame),
            Op::Switch(thread) => sink.switch(thread),
        }
    }
}

/// Brute force: whole stacks as keys.
#[derive(Default)]
pub struct Oracle {
    pub stacks: HashMap<u64, Vec<Frame>>,
    thread: u64,
    pub counts: HashMap<Vec<Frame>, u64>,
    pub total: u64,
}

impl Oracle {
    pub fn new(ops: &[Op]) -> Oracle {
        let mut oracle = Oracle::default();
        feed(&mut oracle, ops);
        oracle
    }

    fn stack(&mut self) -> &mut Vec<Frame> {
        self.stacks.entry(self.thread).or_default()
    }

    pub fn add(&mut self, other: &Oracle) {
        for (path, count) in &other.counts {
            *self.counts.entry(path.clone()).or_default() += count;
        }
        self.total += other.total;
    }
}

impl ContextSink for Oracle {
    fn enter(&mut self, frame: Frame, weight: u64) {
        self.stack().push(frame);
        self.charge(weight);
    }
    fn exit(&mut self) {
        self.stack().pop();
    }
    fn unwind(&mut self, depth: u32) {
        self.stack().truncate(depth as usize);
    }
    fn gap(&mut self) {
        self.stack().clear();
    }
    fn place(&mut self, frame: Frame) {
        self.stack().push(frame);
    }
    fn charge(&mut self, weight: u64) {
        let path = self.stack().clone();
        *self.counts.entry(path).or_default() += weight;
        self.total += weight;
    }
    fn switch(&mut self, thread: u64) {
        self.thread = thread;
    }
    fn end_thread(&mut self) {
        self.gap();
    }
}

impl Random {
    /// Small ones more often: roughly 1/x.
    pub fn skewed(&mut self, n: u64) -> u64 {
        let among = 1 + self.below(n);
        self.below(among)
    }
}

/// The shape of random streams.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub seed: u64,
    pub events: usize,
    pub methods: u64,
    pub sites: u64,
    pub weights: u64,
    pub threads: u64,
    pub prefixes: u64,
    pub gaps: bool,
}

pub fn shapes() -> impl Strategy<Value = Shape> {
    let sizes = (any::<u64>(), 1usize..12_000, 1u64..30, 1u64..4);
    (
        sizes,
        prop_oneof![Just(1u64), 2u64..300],
        1u64..5,
        0u64..3,
        any::<bool>(),
    )
        .prop_map(
            |((seed, events, methods, sites), weights, threads, prefixes, gaps)| Shape {
                seed,
                events,
                methods,
                sites,
                weights,
                threads,
                prefixes,
                gaps,
            },
        )
}

/// Calls and returns that make deep, skewed trees; exceptions; gaps with the stack found again, or not.
pub fn stream(shape: Shape) -> Vec<Op> {
    let mut random = Random(shape.seed);
    let mut stacks: HashMap<u64, Vec<Frame>> = HashMap::new();
    let (mut thread, mut ops) = (0, Vec::new());
    let frame = |random: &mut Random| {
        let frame = Frame::new(
            random.skewed(shape.methods) as u32,
            random.below(shape.sites) as u16,
        );
        match shape.prefixes {
            0 => frame,
            n => frame.with_prefix(random.skewed(n + 1)),
        }
    };
    while ops.len() < shape.events {
        let stack = stacks.entry(thread).or_default();
        match random.below(100) {
            0 if shape.gaps => {
                ops.push(Op::Gap);
                if random.below(2) == 0 {
                    ops.extend(stack.iter().map(|&frame| Op::Place(frame)));
                } else {
                    stack.clear();
                }
            }
            1 => {
                let depth = random.below(stack.len() as u64 + 1);
                stack.truncate(depth as usize);
                ops.push(Op::Unwind(depth as u32));
            }
            2 if shape.threads > 1 => {
                thread = random.below(shape.threads);
                ops.push(Op::Switch(thread));
            }
            // Mostly short: the deeper, the likelier a return.
            _ if random.below(12) > stack.len() as u64 => {
                let frame = frame(&mut random);
                stack.push(frame);
                ops.push(Op::Enter(frame, 1 + random.skewed(shape.weights)));
            }
            _ => {
                if stack.pop().is_some() {
                    ops.push(Op::Exit);
                }
            }
        }
    }
    ops
}

pub fn run<A: Monitor>(algorithm: A, ops: &[Op]) -> ContextTreeBuilder<A> {
    let mut contexts = ContextTreeBuilder::new(algorithm);
    feed(&mut contexts, ops);
    contexts
}

pub const DELTA: f64 = 1e-9;

pub fn sticky(thresholds: Thresholds) -> StickySampling {
    StickySampling::new(thresholds, DELTA, 1).unwrap()
}

pub fn all(thresholds: Thresholds, ops: &[Op]) -> Vec<(&'static str, Snapshot)> {
    let t = thresholds;
    vec![
        ("lazy", run(LazySpaceSaving::new(t), ops).snapshot()),
        ("bucket", run(BucketSpaceSaving::new(t), ops).snapshot()),
        ("weighted", run(WeightedSpaceSaving::new(t), ops).snapshot()),
        ("lossy", run(LossyCounting::new(t), ops).snapshot()),
        ("sticky", run(sticky(t), ops).snapshot()),
    ]
}

pub fn floor(share: f64, total: u64) -> u64 {
    (share * total as f64).floor() as u64
}

/// The guarantee of design section 4, for one `phi`.
pub fn check_hot(name: &str, snapshot: &Snapshot, phi: f64, epsilon: f64, oracle: &Oracle) {
    let n = oracle.total;
    assert_eq!(snapshot.total(), n, "{name}");
    let hot = snapshot.hot(phi).unwrap();
    let (threshold, cold) = (floor(phi, n), floor(phi - epsilon, n));
    assert_eq!(hot.threshold(), threshold);
    let paths: Vec<Vec<Frame>> = (0..hot.nodes().len()).map(|at| hot.path(at)).collect();
    assert_eq!(
        paths.iter().collect::<HashSet<_>>().len(),
        paths.len(),
        "{name}: a context twice"
    );
    let mut reported = HashSet::new();
    for (at, node) in hot.nodes().iter().enumerate() {
        let count = oracle.counts.get(&paths[at]).copied().unwrap_or(0);
        assert_eq!(node.depth as usize, paths[at].len());
        if let Some(Bounds { lower, upper }) = node.bounds {
            assert!(
                lower <= count && count <= upper,
                "{name}: {count} not in {lower}..={upper}"
            );
            assert!(
                (upper - lower) as f64 <= epsilon * n as f64 + 1.0,
                "{name}: {lower}..={upper} of {n}"
            );
        }
        if node.hot {
            reported.insert(&paths[at]);
            assert!(count >= cold.min(threshold), "{name}: {count} of {n} reported");
            let strict = n as f64 >= 32.0 / epsilon;
            assert!(
                count > cold || !strict,
                "{name}: {count} of {n} reported, {cold} is too few"
            );
        }
    }
    // No false negative; and with them, HCCT ⊆ (phi, epsilon)-HCCT.
    let tree: HashSet<&Vec<Frame>> = paths.iter().collect();
    for (path, &count) in oracle.counts.iter().filter(|&(_, &count)| count > 0) {
        if count >= threshold {
            assert!(
                reported.contains(path),
                "{name}: {count} of {n} not reported, {threshold} is hot"
            );
            for end in 1..path.len() {
                assert!(
                    tree.contains(&path[..end].to_vec()),
                    "{name}: an ancestor is not in the tree"
                );
            }
        }
    }
    // Minimal: every leaf is hot.
    let parents: HashSet<_> = hot.nodes().iter().filter_map(|node| node.parent).collect();
    for (at, node) in hot.nodes().iter().enumerate() {
        assert!(
            node.hot || parents.contains(&(at as u32)),
            "{name}: a leaf that is not hot"
        );
    }
}

pub fn check(name: &str, snapshot: &Snapshot, thresholds: Thresholds, oracle: &Oracle) {
    let phi = thresholds.phi();
    for raised in [phi, (phi * 1.5).min(1.0), (phi * 4.0).min(1.0)] {
        check_hot(name, snapshot, raised, thresholds.epsilon(), oracle);
    }
    assert!(matches!(
        snapshot.hot(phi * 0.99),
        Err(ContextError::PhiTooSmall { .. })
    ));
    assert!(snapshot.hot(1.01).is_err());
}

pub fn thresholds() -> impl Strategy<Value = Thresholds> {
    (0.002f64..0.5, 0.01f64..0.999).prop_map(|(phi, ratio)| Thresholds::new(phi, phi * ratio).unwrap())
}

pub fn windows_of<S: ContextSink>(interval: u64, length: u64, sink: S) -> ContextBursts<S> {
    let (interval, length) = (
        NonZeroU64::new(interval).unwrap(),
        NonZeroU64::new(length).unwrap(),
    );
    ContextBursts::new(sink, interval, length, BurstKind::Static, 0).unwrap()
}
