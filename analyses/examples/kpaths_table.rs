//! Time per path end of k-iteration paths beside a hash table's, on the same words, as Markdown tables:
//! `cargo run --release -p trodden-analyses --example kpaths_table -- [--sizes] [--chunk=N] [PATHS [ROUNDS]] [FILE.trace ...]`.
//!
//! On synthetic streams of so many path ends, or on the busiest thread of each trace (its first four times so many words).
//! Times are this thread's CPU time, the best of some rounds, all competitors taking turns in each; every time from nothing. `--sizes`: k-BLPP's
//! figures 15 and 17 to 20 too, and what a budget finds. `--chunk`: chunks of about so many paths.

#[path = "../benches/streams/mod.rs"]
mod streams;

use std::collections::HashMap;
use std::error::Error;
use std::fs::File;
use std::hint::black_box;
use std::io::BufReader;
use std::time::Duration;

use cpu_time::ThreadTime;
use rustc_hash::FxHashMap;
use trodden_analyses::kpaths::{
    ActivationAnalysis, Activations, BoundedSlabForest, ChunkPairs, ForestError, HashProfile,
    IterationForest, NullActivations, PathSink, SlabForest,
};
use trodden_analyses::stream::{ActivationWords, PathCounts, StreamAnalysis};
use trodden_profile::events::ThreadInfo;
use trodden_profile::trace::{TraceItem, TraceReader};

const KS: [u32; 9] = [2, 3, 4, 6, 8, 11, 16, 32, 64];

/// Words in a thread's buffer.
const BATCH: usize = 4096;

#[derive(Clone, Copy, Default)]
struct Options {
    rounds: u64,
    sizes: bool,
    chunk: Option<u32>,
}

impl Options {
    fn pairs(self, k: u32) -> Result<ChunkPairs, ForestError> {
        match self.chunk {
            None => ChunkPairs::new(k),
            Some(paths) => ChunkPairs::with_chunks(k, paths / (k - 1), 8 << 20),
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let (mut numbers, mut traces, mut options) = (Vec::new(), Vec::new(), Options::default());
    for arg in std::env::args().skip(1) {
        match arg.parse::<u64>() {
            _ if arg == "--sizes" => options.sizes = true,
            _ if arg.starts_with("--chunk=") => options.chunk = Some(arg["--chunk=".len()..].parse()?),
            Ok(number) => numbers.push(number),
            Err(_) => traces.push(arg),
        }
    }
    let paths = numbers.first().copied().unwrap_or(1 << 20);
    options.rounds = numbers.get(1).copied().unwrap_or(5);
    if traces.is_empty() {
        for stream in streams::all(paths) {
            let name = format!("{}, {} path ends", stream.name, stream.paths);
            table(&name, &stream.words(), options)?;
        }
    }
    for trace in traces {
        table(&trace, &busiest_thread(&trace, 4 * paths as usize)?, options)?;
    }
    Ok(())
}

/// The words of the thread that has most, or the first `limit` of them.
fn busiest_thread(file: &str, limit: usize) -> Result<Vec<u64>, Box<dyn Error>> {
    let mut reader = TraceReader::new(BufReader::new(File::open(file)?))?;
    let mut threads: HashMap<u64, Vec<u64>> = HashMap::new();
    let mut most = 0;
    while most < limit
        && let Some(item) = reader.next_item()?
    {
        if let TraceItem::Words { thread, words } = item {
            let own = threads.entry(thread).or_default();
            own.extend_from_slice(words);
            most = most.max(own.len());
        }
    }
    let mut words = threads.into_values().max_by_key(Vec::len).unwrap_or_default();
    words.truncate(limit);
    Ok(words)
}

fn ends_path(word: u64) -> bool {
    matches!(word >> 60, 0 | 3 | 4)
}

/// What an engineer would write for Ball-Larus profiles alone: every word names its method, so no stack is needed.
fn plain(words: &[u64]) -> FxHashMap<u64, u64> {
    let mut counts: FxHashMap<u64, u64> = FxHashMap::default();
    for batch in words.chunks(BATCH) {
        for &word in batch {
            if ends_path(word) {
                *counts.entry(word & ((1 << 60) - 1)).or_default() += 1;
            }
        }
    }
    counts
}

fn by_runs(words: &[u64]) {
    let mut thread = PathCounts.thread(&ThreadInfo::default());
    words
        .chunks(BATCH)
        .for_each(|batch| PathCounts.consume(&mut thread, batch));
    black_box(&thread);
}

fn drive<A: ActivationAnalysis>(analysis: A, words: &[u64]) -> ActivationWords<A> {
    let mut thread = ActivationWords::new(analysis);
    words.chunks(BATCH).for_each(|batch| thread.consume(batch));
    thread
}

fn sink<S: PathSink>(sink: S, words: &[u64]) -> ActivationWords<Activations<S>> {
    drive(Activations::new(sink), words)
}

/// Lowers `best` to the time of this, made from something that takes no time to make or drop.
fn time<T>(best: &mut Duration, run: impl FnOnce() -> T) -> T {
    let start = ThreadTime::now();
    let result = black_box(run());
    *best = (*best).min(start.elapsed());
    result
}

fn table(name: &str, words: &[u64], options: Options) -> Result<(), Box<dyn Error>> {
    let paths = words.iter().filter(|&&word| ends_path(word)).count() as f64;
    let never = Duration::MAX;
    let (mut null, mut hash, mut stack, mut runs) = (never, never, never, never);
    let (mut chunks, mut slabs) = ([never; KS.len()], [never; KS.len()]);
    for _ in 0..options.rounds {
        time(&mut null, || drive(NullActivations, words));
        time(&mut runs, || by_runs(words));
        for (index, k) in KS.into_iter().enumerate() {
            // Next to each other, so that what else the machine does is the same for both.
            time(&mut hash, || plain(words));
            let pairs = options.pairs(k)?;
            time(&mut chunks[index], || sink(pairs, words));
            if index % 3 == 0 {
                time(&mut stack, || sink(HashProfile::default(), words));
            }
            let forest = SlabForest::new(k)?;
            time(&mut slabs[index], || sink(forest, words));
        }
    }
    let per_path = |time: Duration| time.as_nanos() as f64 / paths;
    println!(
        "\n### {name}\n\n{} words. Nanoseconds per path end: reading alone {:.2}, hash table {:.2} \
         (with a stack of activations {:.2}, one look-up per run of equal words {:.2}); {} different paths.\n",
        words.len(),
        per_path(null),
        per_path(hash),
        per_path(stack),
        per_path(runs),
        plain(words).len(),
    );
    println!(
        "| k | pairs of chunks, ns | of hash table | of one with a stack | KiB | k-SF, ns | of hash table | KiB |"
    );
    println!("| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
    for (index, k) in KS.into_iter().enumerate() {
        let pairs = sink(options.pairs(k)?, words);
        let forest = sink(SlabForest::new(k)?, words);
        println!(
            "| {k} | {:.2} | {:.2} | {:.2} | {} | {:.2} | {:.2} | {} |",
            per_path(chunks[index]),
            per_path(chunks[index]) / per_path(hash),
            per_path(chunks[index]) / per_path(stack),
            pairs.analysis().sink().bytes() >> 10,
            per_path(slabs[index]),
            per_path(slabs[index]) / per_path(hash),
            forest.analysis().sink().size().1 >> 10,
        );
    }
    if options.sizes {
        shapes(words, paths)?;
        bounded(words, paths)?;
    }
    Ok(())
}

fn shapes(words: &[u64], paths: f64) -> Result<(), Box<dyn Error>> {
    println!("\n| k | hash accesses per path | k-SF nodes | k-IPF nodes | degree | leaf depth |");
    println!("| ---: | ---: | ---: | ---: | ---: | ---: |");
    for k in KS {
        let forest = sink(SlabForest::new(k)?, words);
        let forest = forest.analysis().sink();
        let result = IterationForest::of(forest).stats();
        println!(
            "| {k} | {:.4} | {} | {} | {:.2} | {:.2} |",
            forest.hash_lookups() as f64 / paths,
            forest.stats().nodes,
            result.nodes,
            result.average_degree.unwrap_or(0.0),
            result.average_leaf_depth.unwrap_or(0.0),
        );
    }
    Ok(())
}

/// What a share of the nodes finds for k = 10 of the sequences above 1 % of their roots' counts.
fn bounded(words: &[u64], paths: f64) -> Result<(), Box<dyn Error>> {
    let exact = sink(SlabForest::new(10)?, words);
    let exact = exact.analysis().sink();
    let mut hot = IterationForest::of(exact).sequences();
    let roots = plain(words);
    hot.retain(|(method, sequence, count)| {
        let root = roots.get(&(u64::from(*method) << 32 | sequence[0]));
        count * 100 > root.copied().unwrap_or(0)
    });
    println!(
        "\nBounded, k = 10, {} sequences above 1 % of their root:\n",
        hot.len()
    );
    println!("| nodes | budget | found | counters lack on average | prunings | restarts | ns |");
    println!("| ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
    for percent in [5, 10, 20, 50] {
        let budget = (exact.stats().nodes * percent / 100).max(40) as u32;
        let (forest, mut taken) = (BoundedSlabForest::new(10, budget)?, Duration::MAX);
        let bounded = time(&mut taken, || sink(forest, words));
        let bounded = bounded.analysis().sink();
        let found = bounded.iteration_forest();
        let (mut there, mut lack) = (0, 0.0);
        for (method, sequence, count) in &hot {
            let estimate = found.count(*method, sequence);
            there += usize::from(estimate > 0);
            lack += (count - estimate) as f64 / *count as f64;
        }
        println!(
            "| {percent} % | {budget} | {:.1} % | {:.1} % | {} | {} | {:.1} |",
            100.0 * there as f64 / hot.len() as f64,
            100.0 * lack / hot.len() as f64,
            bounded.prunings(),
            bounded.restarts(),
            taken.as_nanos() as f64 / paths,
        );
    }
    Ok(())
}
