//! What a k-SF within a budget finds of what is hot in recorded traces, as a Markdown table:
//! `cargo run --release -p trodden-analyses --example bounded_table -- TRACE…`.
//!
//! Hot is a sequence of at least two paths that occurred more often than 1 % of the occurrences of its first path.
//! The first words of each trace are taken, the forests are those of its threads, merged.

use std::collections::HashMap;
use std::fs::File;
use std::io::BufReader;

use trodden_analyses::kpaths::{BoundedSlabForest, ChunkPairs, IterationForest};
use trodden_analyses::stream::{KPaths, KPathsOptions, KPathsResult, KSink, StreamAnalysis};
use trodden_profile::events::ThreadInfo;
use trodden_profile::trace::{TraceItem, TraceReader};

type Fallible<T> = Result<T, Box<dyn std::error::Error>>;

/// Words that are taken of each trace.
const WORDS: usize = 4 << 20;

/// Chunks of threads, in order.
type Stream = Vec<(u64, Vec<u64>)>;

fn main() -> Fallible<()> {
    println!(
        "| workload | words | k | nodes | hot | budget | share | at least needed | found | of hot below roots with 1 % of the \
         stream | found | counters lack | misses beyond the bound |"
    );
    println!("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
    for file in std::env::args().skip(1) {
        let stream = read(&file)?;
        let name = file
            .rsplit('/')
            .next()
            .unwrap_or_default()
            .trim_end_matches(".trace");
        for k in [4, 10, 16] {
            evaluate(name, &stream, k)?;
        }
    }
    Ok(())
}

fn read(file: &str) -> Fallible<Stream> {
    let mut trace = TraceReader::new(BufReader::new(File::open(file)?))?;
    let (mut stream, mut taken) = (Stream::new(), 0);
    while taken < WORDS {
        match trace.next_item()? {
            Some(TraceItem::Words { thread, words }) => {
                taken += words.len();
                stream.push((thread, words.to_vec()));
            }
            Some(_) => {}
            None => break,
        }
    }
    Ok(stream)
}

fn forest<S: KSink>(stream: &Stream, k: u32, nodes: Option<u32>) -> Fallible<KPathsResult<S::Forest>>
where
    KPaths<S>: StreamAnalysis<Result = KPathsResult<S::Forest>>,
{
    let options = KPathsOptions {
        k,
        nodes,
        ..KPathsOptions::default()
    };
    let analysis = KPaths::<S>::new(&options)?;
    let mut threads = HashMap::new();
    for (thread, words) in stream {
        let state = threads
            .entry(*thread)
            .or_insert_with(|| analysis.thread(&ThreadInfo::default()));
        analysis.consume(state, words);
    }
    let mut ids: Vec<u64> = threads.keys().copied().collect();
    ids.sort_unstable();
    let mut result = analysis.result();
    for id in ids {
        analysis.add(&mut result, &threads[&id])?;
    }
    Ok(result)
}

/// Hot sequences with their counts, and whether their first path makes 1 % of the stream.
fn hot(forest: &IterationForest, total: u64) -> Vec<(u32, Vec<u64>, u64, bool)> {
    let (mut found, mut sequence, mut root) = (Vec::new(), Vec::new(), 0);
    for (method, length, path, count) in forest.preorder() {
        sequence.truncate(length as usize - 1);
        sequence.push(path);
        if length == 1 {
            root = count;
        } else if count * 100 > root {
            found.push((method, sequence.clone(), count, root * 100 > total));
        }
    }
    found
}

fn evaluate(name: &str, stream: &Stream, k: u32) -> Fallible<()> {
    let exact = forest::<ChunkPairs>(stream, k, None)?.forest;
    let total = exact.total();
    let hot = hot(&IterationForest::of(&exact), total);
    // A node stands for one sequence of each length: for that many sequences of a length, as many nodes.
    let mut lengths = vec![0u64; k as usize + 1];
    hot.iter()
        .for_each(|(_, sequence, ..)| lengths[sequence.len()] += 1);
    let needed = lengths.iter().max().copied().unwrap_or(0);
    let words: usize = stream.iter().map(|(_, words)| words.len()).sum();
    for percent in [5, 10, 20] {
        let nodes = exact.stats().nodes;
        let budget = (nodes * percent / 100).max(u64::from(4 * k));
        let bounded = forest::<BoundedSlabForest>(stream, k, Some(budget as u32))?.forest;
        let result = bounded.iteration_forest();
        let (mut found, mut major, mut major_found, mut beyond, mut lack) = (0, 0, 0, 0, 0.0);
        for (method, sequence, count, is_major) in &hot {
            let estimate = result.count(*method, sequence);
            let is_found = u64::from(estimate > 0);
            found += is_found;
            major += u64::from(*is_major);
            major_found += u64::from(*is_major) * is_found;
            beyond +=
                u64::from(estimate + result.missing(*method, sequence.len()) < *count || estimate > *count);
            lack += (count - estimate.min(*count)) as f64 / *count as f64;
        }
        let share = |part: u64, of: u64| match of {
            0 => "–".to_owned(),
            _ => format!("{:.1} %", 100.0 * part as f64 / of as f64),
        };
        println!(
            "| {name} | {words} | {k} | {nodes} | {} | {budget} | {} | {needed} | {} | {major} | {} | {:.1} % | {beyond} |",
            hot.len(),
            share(budget, nodes),
            share(found, hot.len() as u64),
            share(major_found, major),
            100.0 * lack / (hot.len() as f64).max(1.0),
        );
    }
    Ok(())
}
