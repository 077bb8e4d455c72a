//! Cost of a call and its return: `cargo bench -p trodden-analyses --bench contexts`. One iteration consumes
//! a stream into an empty tree. Before that, sizes and accuracy on the same streams are printed, for `phi` =
//! 1e-3 (these streams are short; for a run of minutes the default is 1e-4) and `epsilon` = `phi` / 5.

mod calls;

use std::num::{NonZeroU32, NonZeroU64};
use std::time::{Duration, Instant};

use calls::Stream;
use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use trodden_analyses::contexts::*;

const PHI: f64 = 1e-3;

fn consume<S: ContextSink>(mut sink: S, calls: &[u64]) -> S {
    calls::feed(&mut sink, calls);
    sink
}

fn bursts<S: ContextSink>(sink: S, kind: BurstKind) -> ContextBursts<S> {
    let (interval, length) = (NonZeroU64::new(4_000), NonZeroU64::new(200));
    let (interval, length) = interval.zip(length).expect("not 0");
    ContextBursts::new(sink, interval, length, kind, 1).expect("shorter than the interval")
}

/// Better of two, in ns per event.
fn time<S>(events: usize, run: impl Fn() -> S) -> f64 {
    let times = (0..2).map(|_| {
        let begin = Instant::now();
        std::hint::black_box(run());
        begin.elapsed()
    });
    let best = times.min().expect("two");
    best.as_secs_f64() * 1e9 / events as f64
}

fn row<A: Monitor + Clone>(name: &str, algorithm: A, stream: &Stream, exact: &ContextTreeBuilder<Exact>) {
    let contexts = consume(ContextTreeBuilder::new(algorithm.clone()), &stream.calls);
    report(
        name,
        &contexts,
        exact,
        time(stream.calls.len(), || {
            consume(ContextTreeBuilder::new(algorithm.clone()), &stream.calls)
        }),
    );
}

fn report<A: Monitor>(
    name: &str,
    contexts: &ContextTreeBuilder<A>,
    exact: &ContextTreeBuilder<Exact>,
    ns: f64,
) {
    let (stats, whole) = (contexts.stats(), exact.stats());
    let hot = contexts
        .snapshot()
        .hot(PHI)
        .expect("phi is that of the algorithm");
    let accuracy = ContextAccuracy::new(&hot, exact, &[0.01, 0.05]);
    let exact_bytes = whole.peak_contexts * CallingContextTree::EXACT_NODE_BYTES as u64;
    println!(
        "{name:>22} {ns:>7.1} {:>9} {:>7.2} {:>7.2} {:>6} {:>6} {:>5} {:>5} {:>7.2} {:>6.3} {:>6.1} {:>6.2} {:>6.2} {:>6.2}",
        stats.peak_contexts,
        stats.peak_contexts as f64 / whole.peak_contexts as f64 * 100.0,
        stats.peak_bytes as f64 / exact_bytes as f64 * 100.0,
        accuracy.truly_hot,
        accuracy.contexts,
        accuracy.false_positives,
        accuracy.false_negatives,
        accuracy.overlap * 100.0,
        accuracy.full_coverage_above,
        accuracy.coverage[0].1 * 100.0,
        accuracy.uncovered_max,
        accuracy.lower.max,
        accuracy.upper.max,
    );
}

fn table(stream: &Stream) {
    let exact = consume(ContextTreeBuilder::new(Exact), &stream.calls);
    let events = stream.calls.len();
    println!(
        "\n{}: {events} events, {} calls, {} contexts",
        stream.name,
        exact.total(),
        exact.stats().peak_contexts
    );
    println!(
        "{:>22} {:>7} {:>9} {:>7} {:>7} {:>6} {:>6} {:>5} {:>5} {:>7} {:>6} {:>6} {:>6} {:>6} {:>6}",
        "",
        "ns/ev",
        "peak",
        "nodes%",
        "bytes%",
        "hot",
        "tree",
        "f.pos",
        "f.neg",
        "overl.%",
        "tau100",
        "cov1%",
        "uncov%",
        "err.lo",
        "err.up"
    );
    let ns = time(events, || consume(NullContexts, &stream.calls));
    println!("{:>22} {ns:>7.1}", "null");
    let thresholds = Thresholds::of_phi(PHI).expect("in range");
    row("exact", Exact, stream, &exact);
    row(
        "lazy Space Saving",
        LazySpaceSaving::new(thresholds),
        stream,
        &exact,
    );
    row(
        "bucket Space Saving",
        BucketSpaceSaving::new(thresholds),
        stream,
        &exact,
    );
    row(
        "weighted Space Saving",
        WeightedSpaceSaving::new(thresholds),
        stream,
        &exact,
    );
    row("Lossy Counting", LossyCounting::new(thresholds), stream, &exact);
    let sticky = StickySampling::new(thresholds, 1e-6, 1).expect("a probability");
    row("Sticky Sampling", sticky, stream, &exact);
    for (name, kind) in [
        ("lazy, static bursts", BurstKind::Static),
        (
            "lazy, bursts, RR 20 %",
            BurstKind::Adaptive {
                reenable: NonZeroU32::new(5),
            },
        ),
        (
            "lazy, bursts, RR 10 %",
            BurstKind::Adaptive {
                reenable: NonZeroU32::new(10),
            },
        ),
        (
            "lazy, bursts, RR 5 %",
            BurstKind::Adaptive {
                reenable: NonZeroU32::new(20),
            },
        ),
        ("lazy, bursts, no RR", BurstKind::Adaptive { reenable: None }),
    ] {
        let run = || bursts(ContextTreeBuilder::new(LazySpaceSaving::new(thresholds)), kind);
        let ns = time(events, || consume(run(), &stream.calls));
        let with = consume(run(), &stream.calls);
        report(name, with.inner(), &exact, ns);
    }
    ratio("lazy Space Saving", LazySpaceSaving::new(thresholds), stream);
    ratio("bucket Space Saving", BucketSpaceSaving::new(thresholds), stream);
    ratio("Lossy Counting", LossyCounting::new(thresholds), stream);
    let lazy = LazySpaceSaving::new(thresholds);
    let plain = time(events, || {
        consume(ContextTreeBuilder::new(lazy.clone()), &stream.calls)
    });
    let prefixed = time(events, || path_sensitive(lazy.clone(), &stream.calls, 4));
    println!("{:>22} {prefixed:>7.1}, {plain:.1} without", "path-sensitive");
}

/// Every call with a path register of its caller: one of `width`, which call site and depth decide.
fn path_sensitive(
    algorithm: LazySpaceSaving,
    calls: &[u64],
    width: u64,
) -> ContextTreeBuilder<LazySpaceSaving> {
    struct Prefixed(ContextTreeBuilder<LazySpaceSaving>, u64);
    impl Prefixed {
        fn frame(&self, frame: Frame) -> Frame {
            frame.with_prefix((u64::from(frame.site) + u64::from(self.0.depth())) % self.1)
        }
    }
    impl ContextSink for Prefixed {
        #[inline(always)]
        fn enter(&mut self, frame: Frame, weight: u64) {
            self.0.enter(self.frame(frame), weight);
        }
        #[inline(always)]
        fn exit(&mut self) {
            self.0.exit();
        }
        fn unwind(&mut self, depth: u32) {
            self.0.unwind(depth);
        }
        fn gap(&mut self) {
            self.0.gap();
        }
        fn place(&mut self, frame: Frame) {
            self.0.place(self.frame(frame));
        }
        fn charge(&mut self, weight: u64) {
            self.0.charge(weight);
        }
        fn switch(&mut self, thread: u64) {
            self.0.switch(thread);
        }
        fn end_thread(&mut self) {
            self.0.end_thread();
        }
    }
    consume(Prefixed(ContextTreeBuilder::new(algorithm), width), calls).0
}

/// Time of an algorithm as a share of the exact tree's: median, least and most of five interleaved pairs.
fn ratio<A: Monitor + Clone>(name: &str, algorithm: A, stream: &Stream) {
    let seconds = |run: &dyn Fn()| {
        let begin = Instant::now();
        run();
        begin.elapsed().as_secs_f64()
    };
    let exact = || seconds(&|| drop(consume(ContextTreeBuilder::new(Exact), &stream.calls)));
    let other = || seconds(&|| drop(consume(ContextTreeBuilder::new(algorithm.clone()), &stream.calls)));
    // Each goes first in turn, and both have run before.
    let mut ratios: Vec<f64> = (0..6)
        .map(|pair| match pair % 2 {
            0 => {
                let exact = exact();
                other() / exact
            }
            _ => other() / exact(),
        })
        .skip(1)
        .collect();
    ratios.sort_unstable_by(f64::total_cmp);
    println!(
        "{name:>22} / exact: {:.2} ({:.2} to {:.2})",
        ratios[2], ratios[0], ratios[4]
    );
}

fn contexts(c: &mut Criterion) {
    for stream in calls::all(1 << 24) {
        table(&stream);
        let mut group = c.benchmark_group(format!("contexts/{}", stream.name));
        group.throughput(Throughput::Elements(stream.calls.len() as u64));
        group.sample_size(10);
        group.warm_up_time(Duration::from_millis(100));
        group.measurement_time(Duration::from_secs(1));
        macro_rules! algorithm {
            ($name:literal, $make:expr) => {
                group.bench_function($name, |b| {
                    b.iter_batched(
                        || ContextTreeBuilder::new($make),
                        |contexts| consume(contexts, &stream.calls),
                        BatchSize::PerIteration,
                    )
                });
            };
        }
        group.bench_function("null", |b| b.iter(|| consume(NullContexts, &stream.calls)));
        let thresholds = Thresholds::of_phi(PHI).expect("in range");
        algorithm!("exact", Exact);
        algorithm!("lazy", LazySpaceSaving::new(thresholds));
        algorithm!("bucket", BucketSpaceSaving::new(thresholds));
        algorithm!("weighted", WeightedSpaceSaving::new(thresholds));
        algorithm!("lossy", LossyCounting::new(thresholds));
        algorithm!(
            "sticky",
            StickySampling::new(thresholds, 1e-6, 1).expect("a probability")
        );
        group.finish();
    }
}

criterion_group!(benches, contexts);
criterion_main!(benches);
