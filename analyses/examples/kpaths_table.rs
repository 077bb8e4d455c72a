//! k-BLPP's figures 14, 15 and 17 to 20 for synthetic streams, as a Markdown table:
//! `cargo run --release -p trodden-analyses --example kpaths_table [PATHS [ROUNDS]]`.
//!
//! Times are the best of some rounds, all competitors taking turns in each; a fresh forest each time.

#[path = "../benches/streams/mod.rs"]
mod streams;

use std::time::{Duration, Instant};

use trodden_analyses::kpaths::{
    ActivationAnalysis, Activations, BoundedSlabForest, ForestError, HashProfile, IterationForest,
    NullActivations, PathSink, SlabForest,
};

const KS: [u32; 9] = [2, 3, 4, 6, 8, 11, 16, 32, 64];

fn main() -> Result<(), ForestError> {
    let mut numbers = std::env::args().skip(1).map_while(|arg| arg.parse().ok());
    let paths = numbers.next().unwrap_or(1 << 20);
    let rounds = numbers.next().unwrap_or(5);
    for stream in streams::all(paths) {
        let events = &stream.events;
        let per_path = |time: Duration| time.as_nanos() as f64 / stream.paths as f64;
        let (mut null, mut hash, mut slabs) = (Duration::MAX, Duration::MAX, [Duration::MAX; KS.len()]);
        for _ in 0..rounds {
            let start = Instant::now();
            NullActivations.consume(events);
            null = null.min(start.elapsed());
            hash = hash.min(time(HashProfile::default(), events).0);
            for (k, best) in KS.into_iter().zip(&mut slabs) {
                *best = (*best).min(time(SlabForest::new(k)?, events).0);
            }
        }
        let table = time(HashProfile::default(), events).1;
        println!("\n### {}: {} path ends\n", stream.name, stream.paths);
        println!(
            "Null {:.2} ns, hash table {:.2} ns per path end, {} entries, {} KiB.\n",
            per_path(null),
            per_path(hash),
            table.len(),
            table.bytes() >> 10
        );
        println!(
            "| k | ns | of hash table | hash accesses per path | k-SF nodes | KiB | k-IPF nodes | degree | leaf depth |"
        );
        println!("| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
        for (k, best) in KS.into_iter().zip(slabs) {
            let forest = time(SlabForest::new(k)?, events).1;
            let (sizes, result) = (forest.stats(), IterationForest::of(&forest).stats());
            println!(
                "| {k} | {:.2} | {:.2} | {:.4} | {} | {} | {} | {:.2} | {:.2} |",
                per_path(best),
                per_path(best) / per_path(hash),
                forest.hash_lookups() as f64 / stream.paths as f64,
                sizes.nodes,
                sizes.bytes >> 10,
                result.nodes,
                result.average_degree.unwrap_or(0.0),
                result.average_leaf_depth.unwrap_or(0.0),
            );
        }
        bounded(&stream)?;
    }
    Ok(())
}

/// What a share of the nodes finds for k = 10 of the sequences above 1 % of their roots' counts.
fn bounded(stream: &streams::Stream) -> Result<(), ForestError> {
    let exact = time(SlabForest::new(10)?, &stream.events).1;
    let mut hot = IterationForest::of(&exact).sequences();
    let table = time(HashProfile::default(), &stream.events).1;
    hot.retain(|(method, sequence, count)| count * 100 > table.count(*method, sequence[0]));
    println!(
        "\nBounded, k = 10, {} sequences above 1 % of their root:\n",
        hot.len()
    );
    println!("| nodes | budget | found | counters lack on average | prunings | restarts | ns |");
    println!("| ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
    for percent in [5, 10, 20, 50] {
        let budget = (exact.stats().nodes * percent / 100).max(40) as u32;
        let (taken, bounded) = time(BoundedSlabForest::new(10, budget)?, &stream.events);
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
            taken.as_nanos() as f64 / stream.paths as f64,
        );
    }
    Ok(())
}

fn time<S: PathSink>(sink: S, events: &[trodden_analyses::kpaths::ActivationEvent]) -> (Duration, S) {
    let mut thread = Activations::new(sink);
    let start = Instant::now();
    thread.consume(events);
    let time = start.elapsed();
    (time, thread.into_sink())
}
