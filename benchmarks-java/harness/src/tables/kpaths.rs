//! k-BLPP's figures 14, 15 and 17 to 20 as Markdown tables, on the same words as a hash table of counters.
//!
//! On synthetic streams, or on the busiest thread of each trace (about as many path ends from its middle).
//! Times are this thread's CPU time. All competitors take turns in each round, every time from nothing; a
//! ratio is that of two runs next to each other.

#[path = "../../../../analyses/benches/baseline/mod.rs"]
mod baseline;
#[path = "../../../../analyses/benches/streams/mod.rs"]
mod streams;

use std::error::Error;
use std::fs::File;
use std::hint::black_box;
use std::io::Write;
use std::path::PathBuf;

use baseline::{HashProfile, NullActivations};
use cpu_time::ThreadTime;
use rustc_hash::FxHashMap;
use trodden_analyses::kpaths::{
    ActivationAnalysis, Activations, ChunkPairs, ForestError, IterationForest, PathSink, SlabForest,
};
use trodden_analyses::stream::ActivationWords;

use super::recorded::suffixes::{Shape, Suffixes};
use super::recorded::{Window, ends_path, spread};

const KS: [u32; 9] = [2, 3, 4, 6, 8, 11, 16, 32, 64];

/// Words in a thread's buffer.
const BATCH: usize = 4096;

/// k-SFs of up to this number of nodes are made into k-IPFs, to see whether sorting finds the same.
const CHECKED: u64 = 1 << 18;

struct Options {
    rounds: usize,
    chunk: Option<u32>,
    raw: Option<File>,
}

impl Options {
    fn pairs(&self, k: u32) -> Result<ChunkPairs, ForestError> {
        match self.chunk {
            None => ChunkPairs::new(k),
            Some(paths) => ChunkPairs::with_chunks(k, paths / (k - 1), 8 << 20),
        }
    }

    fn log(&mut self, line: &str) -> Result<(), Box<dyn Error>> {
        match &mut self.raw {
            Some(file) => Ok(writeln!(file, "{line}")?),
            None => Ok(()),
        }
    }
}

/// Options of the table.
#[derive(clap::Args)]
pub struct Arguments {
    /// Every time as CSV
    #[arg(long)]
    raw: Option<PathBuf>,
    /// Chunks of about this many paths (default: as the analysis chooses)
    #[arg(long)]
    chunk: Option<u32>,
    /// Path ends of a stream
    #[arg(long, default_value_t = 1 << 20)]
    paths: u64,
    /// Measurements of each time
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Traces (default: synthetic streams)
    files: Vec<String>,
}

/// Prints the tables.
pub fn run(arguments: Arguments) -> Result<(), Box<dyn Error>> {
    let (paths, files) = (arguments.paths, arguments.files);
    let mut options = Options {
        rounds: arguments.rounds,
        chunk: arguments.chunk,
        raw: arguments.raw.map(File::create).transpose()?,
    };
    options.log("stream,k,round,competitor,ns_per_path_end")?;
    let mut rows = Vec::new();
    if files.is_empty() {
        for stream in streams::all(paths) {
            eprintln!("{}: {} path ends", stream.name, stream.paths);
            rows.push(Row::of(stream.name, &stream.words(), &mut options)?);
        }
    }
    for file in files {
        let window = Window::read(&file, paths as usize)?;
        let row = Row::of(&window.name, &window.words, &mut options)?;
        let (thread, all) = window.of;
        eprintln!("{}: {thread} of {all} words are the thread's", row.name);
        rows.push(row);
    }
    print(&rows);
    Ok(())
}

/// What an engineer would write for Ball-Larus profiles alone: every word names its method, so no stack is
/// needed.
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

fn drive<A: ActivationAnalysis>(analysis: A, words: &[u64]) -> ActivationWords<A> {
    let mut thread = ActivationWords::new(analysis);
    words.chunks(BATCH).for_each(|batch| thread.consume(batch));
    thread
}

fn sink<S: PathSink>(sink: S, words: &[u64]) -> ActivationWords<Activations<S>> {
    drive(Activations::new(sink), words)
}

/// Nanoseconds of this, made from something that takes no time to make; dropping the result is not included.
fn time<T>(run: impl FnOnce() -> T) -> (f64, T) {
    let start = ThreadTime::now();
    let result = black_box(run());
    (start.elapsed().as_nanos() as f64, result)
}

/// A stream's line in every table.
struct Row {
    name: String,
    words: usize,
    paths: f64,
    activations: usize,
    /// Different paths, and bytes of the hash table with them.
    different: usize,
    hash_bytes: f64,
    null_ns: Vec<f64>,
    hash_ns: Vec<f64>,
    /// By k.
    cells: Vec<Cell>,
}

#[derive(Default)]
struct Cell {
    /// Time relative to the hash table, to the one with a stack of activations, and the k-SF's to the hash
    /// table.
    pairs: Vec<f64>,
    pairs_to_stack: Vec<f64>,
    slabs: Vec<f64>,
    pairs_bytes: f64,
    slabs_bytes: f64,
    slab_nodes: u64,
    lookups: f64,
    shape: Shape,
}

impl Row {
    fn of(name: &str, words: &[u64], options: &mut Options) -> Result<Row, Box<dyn Error>> {
        let paths = words.iter().filter(|&&word| ends_path(word)).count() as f64;
        let suffixes = Suffixes::of(words, KS[KS.len() - 1]);
        let counts = plain(words);
        let mut row = Row {
            name: name.to_owned(),
            words: words.len(),
            paths,
            activations: suffixes.activations,
            different: counts.len(),
            // Slots of 16 bytes and one to control each, at most 7/8 full.
            hash_bytes: ((counts.capacity() * 8 / 7).next_power_of_two() * 17) as f64,
            null_ns: Vec::new(),
            hash_ns: Vec::new(),
            cells: KS.map(|_| Cell::default()).into(),
        };
        for (cell, k) in row.cells.iter_mut().zip(KS) {
            cell.shape = suffixes.shape(k);
        }
        drop((suffixes, counts));
        for round in 0..options.rounds {
            let null = time(|| drive(NullActivations, words)).0 / paths;
            row.null_ns.push(null);
            options.log(&format!("{name},,{round},reading,{null:.3}"))?;
            for (cell, k) in row.cells.iter_mut().zip(KS) {
                // Next to each other, so that what else the machine does is the same for all.
                let (pairs, forest) = (options.pairs(k)?, SlabForest::new(k)?);
                let (hash, _) = time(|| plain(words));
                let (chunks, pairs) = time(|| sink(pairs, words));
                let (stack, _) = time(|| sink(HashProfile::default(), words));
                let (slabs, forest) = time(|| sink(forest, words));
                row.hash_ns.push(hash / paths);
                cell.pairs.push(chunks / hash);
                cell.pairs_to_stack.push(chunks / stack);
                cell.slabs.push(slabs / hash);
                for (name_of, ns) in [
                    ("hash", hash),
                    ("pairs", chunks),
                    ("hash with stack", stack),
                    ("k-SF", slabs),
                ] {
                    options.log(&format!("{name},{k},{round},{name_of},{:.3}", ns / paths))?;
                }
                let forest = forest.analysis().sink();
                cell.pairs_bytes = pairs.analysis().sink().bytes() as f64;
                (cell.slab_nodes, cell.slabs_bytes) = (forest.size().0, forest.size().1 as f64);
                cell.lookups = forest.hash_lookups() as f64 / paths;
                if round == 0 && cell.slab_nodes <= CHECKED {
                    check(&cell.shape, forest, &format!("{name}, k = {k}"))?;
                }
            }
        }
        Ok(row)
    }

    fn line(&self, cell: impl Fn(&Cell) -> String) {
        let cells: Vec<String> = self.cells.iter().map(cell).collect();
        println!("| {} | {} |", self.name, cells.join(" | "));
    }
}

/// Does the k-IPF made from a k-SF have the shape that sorting finds?
fn check(shape: &Shape, forest: &SlabForest, what: &str) -> Result<(), Box<dyn Error>> {
    let stats = IterationForest::from_slabs(forest).stats();
    let same = (stats.nodes, stats.leaves, stats.roots) == (shape.nodes, shape.leaves, shape.roots);
    let depth = stats.average_leaf_depth.unwrap_or_default();
    if same && (depth - shape.leaf_depth()).abs() < 1e-9 {
        Ok(())
    } else {
        Err(format!("{what}: the k-IPF has {stats:?}, sorting finds {shape:?}").into())
    }
}

fn head(title: &str, first: &str) {
    let columns = KS.map(|k| format!("k = {k}")).join(" | ");
    println!(
        "\n**{title}**\n\n| {first} | {columns} |\n| --- | {}",
        "---: | ".repeat(KS.len())
    );
}

fn median(values: &[f64]) -> f64 {
    spread(values).0
}

fn show(values: &[f64]) -> String {
    let (median, least, greatest) = spread(values);
    format!("{median:.2} ({least:.2}–{greatest:.2})")
}

/// Three figures, and thousands or millions in short.
fn short(number: f64) -> String {
    match number {
        n if n < 10_000.0 => format!("{n:.0}"),
        n if n < 1e6 => format!("{:.0} k", n / 1e3),
        n => format!("{:.1} M", n / 1e6),
    }
}

fn print(rows: &[Row]) {
    println!(
        "| stream | words | path ends | activations | path ends each | different paths | reading, ns | hash table, ns | its KiB |\n\
         | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
    );
    for row in rows {
        println!(
            "| {} | {} | {} | {} | {:.1} | {} | {} | {} | {:.0} |",
            row.name,
            short(row.words as f64),
            short(row.paths),
            short(row.activations as f64),
            row.paths / row.activations.max(1) as f64,
            row.different,
            show(&row.null_ns),
            show(&row.hash_ns),
            row.hash_bytes / 1024.0,
        );
    }
    let table = |title: &str, cell: fn(&Cell) -> String| {
        head(title, "stream");
        rows.iter().for_each(|row| row.line(cell));
    };
    table(
        "Time of pairs of chunks, relative to the hash table (figure 14)",
        |c| show(&c.pairs),
    );
    table("Time of the k-SF, relative to the hash table", |c| show(&c.slabs));
    table(
        "Time of pairs of chunks, relative to the hash table behind a stack of activations",
        |c| format!("{:.2}", median(&c.pairs_to_stack)),
    );
    head(
        "Bytes of pairs of chunks and (in brackets) of the k-SF, relative to the hash table",
        "stream",
    );
    for row in rows {
        row.line(|c| {
            let relative = |bytes: f64| short(bytes / row.hash_bytes);
            format!("{} ({})", relative(c.pairs_bytes), relative(c.slabs_bytes))
        });
    }
    table(
        "Look-ups of roots in the k-SF, per path end (figure 15; the hash table: 1)",
        |c| format!("{:.4}", c.lookups),
    );
    table("Nodes of the k-SF (figure 17)", |c| short(c.slab_nodes as f64));
    table("Nodes of the k-IPF (figure 18)", |c| short(c.shape.nodes as f64));
    table("Average degree of inner nodes of the k-IPF (figure 19)", |c| {
        format!("{:.2}", c.shape.degree())
    });
    table(
        "Average depth of leaves of the k-IPF (figure 20), and with each leaf weighing as its counter",
        |c| {
            format!(
                "{:.1}, {:.1}",
                c.shape.leaf_depth(),
                c.shape.weighted_leaf_depth()
            )
        },
    );
}
