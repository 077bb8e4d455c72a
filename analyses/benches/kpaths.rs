//! Cost of a path end: `cargo bench -p trodden-analyses --bench kpaths`. One iteration consumes a stream into
//! an empty forest, so building it is part of the cost. For ratios and sizes see `trodden-bench table
//! kpaths`.

mod baseline;
mod streams;

use std::time::Duration;

use baseline::{HashProfile, NullActivations};
use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use trodden_analyses::kpaths::{
    ActivationAnalysis, ActivationEvent, Activations, BoundedForest, ChunkPairs, IterationForest, SlabForest,
};
use trodden_analyses::stream::ActivationWords;

const KS: [u32; 9] = [2, 3, 4, 6, 8, 11, 16, 32, 64];

fn consume<A: ActivationAnalysis>(mut analysis: A, events: &[ActivationEvent]) -> A {
    analysis.consume(events);
    analysis
}

fn path_ends(c: &mut Criterion) {
    for stream in streams::all(1 << 18) {
        let mut group = c.benchmark_group(stream.name);
        group.throughput(Throughput::Elements(stream.paths));
        group.sample_size(10);
        group.warm_up_time(Duration::from_millis(200));
        group.measurement_time(Duration::from_secs(1));
        group.bench_function("null", |b| b.iter(|| consume(NullActivations, &stream.events)));
        group.bench_function("hash table", |b| {
            let fresh = || Activations::new(HashProfile::default());
            b.iter_batched(fresh, |a| consume(a, &stream.events), BatchSize::PerIteration)
        });
        let words = stream.words();
        for k in KS {
            let fresh = || {
                let pairs = ChunkPairs::new(k).expect("k is in range");
                ActivationWords::new(Activations::new(pairs))
            };
            group.bench_function(BenchmarkId::new("pairs of chunks, from words", k), |b| {
                let run = |mut thread: ActivationWords<_>| {
                    thread.consume(&words);
                    thread
                };
                b.iter_batched(fresh, run, BatchSize::PerIteration)
            });
            let fresh = || Activations::new(SlabForest::new(k).expect("k is in range"));
            group.bench_function(BenchmarkId::new("k-SF", k), |b| {
                b.iter_batched(fresh, |a| consume(a, &stream.events), BatchSize::PerIteration)
            });
        }
        let forest = consume(Activations::new(SlabForest::new(10).expect("k")), &stream.events).into_sink();
        let budget = (forest.stats().nodes as u32 / 20).max(40);
        group.bench_function("bounded k-SF of 5 %/10", |b| {
            let fresh = || Activations::new(BoundedForest::new(10, budget).expect("k"));
            b.iter_batched(fresh, |a| consume(a, &stream.events), BatchSize::PerIteration)
        });
        group.bench_function("k-IPF of k-SF/10", |b| {
            b.iter(|| IterationForest::from_slabs(&forest))
        });
        group.finish();
    }
}

criterion_group!(benches, path_ends);
criterion_main!(benches);
