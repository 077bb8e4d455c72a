//! Cost of a word: `cargo bench -p trodden-analyses --bench stream`. Consumed by each analysis, written into
//! a trace, read back; in batches as buffers deliver them. Traces' sizes are printed.

mod streams;

use std::io::sink;
use std::time::Duration;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use trodden_analyses::kpaths::ChunkPairs;
use trodden_analyses::stream::{KPathStream, KPathsOptions, NullStream, PathCounts, StreamAnalysis};
use trodden_profile::RunInfo;
use trodden_profile::events::{EventKinds, ThreadInfo};
use trodden_profile::trace::{TraceItem, TraceReader, TraceWriter};

/// Words in a thread's buffer.
const BATCH: usize = 4096;

fn consume<A: StreamAnalysis>(analysis: &A, mut thread: A::Thread, words: &[u64]) -> A::Thread {
    for batch in words.chunks(BATCH) {
        analysis.consume(&mut thread, batch);
    }
    thread
}

fn write<W: std::io::Write>(out: W, words: &[u64]) -> W {
    let run = RunInfo::default();
    let mut trace = TraceWriter::new(out, EventKinds::ACTIVATION_PATHS, &run).expect("a trace");
    trace.thread_start(&ThreadInfo::default()).expect("a thread");
    for batch in words.chunks(BATCH) {
        trace.chunk(0, batch).expect("a chunk");
    }
    trace.finish(&run).expect("an end")
}

fn read(trace: &[u8]) -> u64 {
    let mut reader = TraceReader::new(trace).expect("a trace");
    let mut sum = 0;
    while let Some(item) = reader.next_item().expect("a section") {
        if let TraceItem::Words { words, .. } = item {
            sum += words.iter().fold(0, |sum, &word| sum ^ word);
        }
    }
    sum
}

fn per_word(c: &mut Criterion) {
    for stream in streams::all(1 << 18) {
        let words = stream.words();
        let trace = write(Vec::new(), &words);
        println!(
            "{}: {} path ends in {} words of {:.3} bytes in a trace",
            stream.name,
            stream.paths,
            words.len(),
            trace.len() as f64 / words.len() as f64
        );
        let mut group = c.benchmark_group(format!("words, {}", stream.name));
        group.throughput(Throughput::Elements(words.len() as u64));
        group.sample_size(10);
        group.warm_up_time(Duration::from_millis(200));
        group.measurement_time(Duration::from_secs(1));
        let info = ThreadInfo::default();
        let null = NullStream(EventKinds::ACTIVATION_PATHS);
        group.bench_function("null", |b| b.iter(|| consume(&null, (), &words)));
        group.bench_function("paths", |b| {
            let fresh = || PathCounts.thread(&info);
            b.iter_batched(
                fresh,
                |t| consume(&PathCounts, t, &words),
                BatchSize::PerIteration,
            )
        });
        let k_paths = KPathStream::<ChunkPairs>::new(&KPathsOptions::default()).expect("k is in range");
        group.bench_function("kpaths, k = 10", |b| {
            let fresh = || k_paths.thread(&info);
            b.iter_batched(fresh, |t| consume(&k_paths, t, &words), BatchSize::PerIteration)
        });
        group.bench_function("write a trace", |b| b.iter(|| write(sink(), &words)));
        group.bench_function("read a trace", |b| b.iter(|| read(&trace)));
        group.finish();
    }
}

criterion_group!(benches, per_word);
criterion_main!(benches);
