//! Tables 1 and 3 to 6 of *Online Subpath Profiling* for recorded runs, and what sampling costs per event, as Markdown:
//! `cargo run --release -p trodden-analyses --example subpaths_table -- [NAME=VALUE ...] FILE.trace ...`.
//!
//! | name | value | default |
//! | --- | --- | --- |
//! | `blocks` | stop a trace after about so many blocks | 100000000 |
//! | `windows` | most windows of blocks to count exactly; lengths that need more are left out | 12000000 |
//! | `footprint`, `lengths`, `start`, `floor`, `seed` | as in the options | |
//! | `identity` | `rotation` or `xor` | `rotation` |
//! | `rounds` | measurements of time, the best of which counts; 0 for none | 5 |
//!
//! Everything but the times depends on the trace and the seed alone.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs::File;
use std::hint::black_box;
use std::io::BufReader;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use cpu_time::ThreadTime;
use trodden_analyses::subpaths::*;
use trodden_analyses::{MethodLookup, SharedMethods};
use trodden_profile::KNOWN_SUBPATH;
use trodden_profile::trace::{TraceItem, TraceReader};

/// Points at which a run is looked at (the paper's table 6).
const POINTS: u64 = 6;
/// Words that are timed.
const TIMED: usize = 4 << 20;

struct Settings {
    options: SubpathOptions,
    blocks: u64,
    windows: usize,
    rounds: u32,
}

/// A thread's blocks into both.
struct Thread {
    words: WordOrder,
    both: Both,
}

struct Both {
    sampler: Sampler,
    exact: ExactSubpaths,
}

impl BlockStream for Both {
    fn run(&mut self, shapes: &impl PathShapes, run: Run, header: bool) {
        self.sampler.run(shapes, run, header);
        self.exact.run(shapes, run, header);
    }

    fn hole(&mut self) {
        self.sampler.hole();
        self.exact.hole();
    }
}

/// The floor: knows how long paths are, and nothing else.
#[derive(Default)]
struct Lengths(u64);

impl BlockStream for Lengths {
    fn run(&mut self, _: &impl PathShapes, run: Run, _: bool) {
        self.0 += run.total();
    }

    fn hole(&mut self) {}
}

/// What a run was found to be.
struct Outcome {
    name: String,
    all: MergedSubpaths,
    report: Vec<Subpath>,
    exact: ExactCounts,
    ranks: Vec<Vec<Option<usize>>>,
    at: Vec<u64>,
    shapes: usize,
    thread_bytes: usize,
    whole: bool,
    times: Option<[Duration; 3]>,
    timed: (usize, u64),
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut settings = Settings {
        options: SubpathOptions::default(),
        blocks: 100_000_000,
        windows: 12_000_000,
        rounds: 5,
    };
    let mut files = Vec::new();
    for arg in std::env::args().skip(1) {
        match arg.split_once('=') {
            None => files.push(arg),
            Some(("blocks", value)) => settings.blocks = value.parse()?,
            Some(("windows", value)) => settings.windows = value.parse()?,
            Some(("rounds", value)) => settings.rounds = value.parse()?,
            Some(("footprint", value)) => settings.options.footprint = value.parse()?,
            Some(("lengths", value)) => settings.options.lengths = value.parse()?,
            Some(("start", value)) => settings.options.start = value.parse()?,
            Some(("floor", value)) => settings.options.floor = value.parse()?,
            Some(("seed", value)) => settings.options.seed = value.parse()?,
            Some(("identity", "rotation")) => settings.options.identity = Identity::Rotation,
            Some(("identity", "xor")) => settings.options.identity = Identity::ExclusiveOr,
            Some((name, _)) => return Err(format!("unknown setting '{name}'").into()),
        }
    }
    settings.options.check()?;
    let outcomes: Result<Vec<Outcome>, _> = files.iter().map(|file| look(file, &settings)).collect();
    print(&outcomes?, &settings);
    Ok(())
}

fn look(file: &str, settings: &Settings) -> Result<Outcome, Box<dyn Error>> {
    let name = Path::new(file)
        .file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    eprintln!("{name} ...");
    let options = Arc::new(settings.options.clone());
    let methods = Arc::new(SharedMethods::default());
    let shapes = MethodShapes::new(Arc::clone(&methods) as Arc<dyn MethodLookup + Send + Sync>);
    let mut trace = TraceReader::new(BufReader::with_capacity(1 << 16, File::open(file)?))?;
    let mut threads: BTreeMap<u64, Thread> = BTreeMap::new();
    let lengths: Vec<u32> = options.lengths.all().filter(|n| n.is_power_of_two()).collect();
    let (mut blocks, mut whole) = (0, true);
    let (mut ranks, mut at) = (Vec::new(), Vec::new());
    let (mut timed, mut timed_thread) = (Vec::new(), None);
    'trace: while let Some(item) = trace.next_item()? {
        match item {
            TraceItem::Class { first_method, map } => {
                methods.insert_class(first_method, map)?;
            }
            TraceItem::Words { thread: id, words } => {
                let thread = threads.entry(id).or_insert_with(|| Thread {
                    words: WordOrder::default(),
                    both: Both {
                        sampler: Sampler::new(Arc::clone(&options), id, options.start),
                        exact: ExactSubpaths::new(&lengths, options.identity, settings.windows),
                    },
                });
                // Small steps, so that points are met.
                for part in words.chunks(4096) {
                    let before = thread.both.exact.blocks();
                    thread.words.consume(part, &shapes, &mut thread.both);
                    blocks += thread.both.exact.blocks() - before;
                }
                if timed.len() < TIMED && *timed_thread.get_or_insert(id) == id {
                    timed.extend_from_slice(words);
                }
                if blocks >= settings.blocks {
                    whole = false;
                    break 'trace;
                }
                if blocks >= (at.len() as u64 + 1) * settings.blocks / POINTS {
                    at.push(blocks);
                    ranks.push(top_five(&threads, &options));
                }
            }
            _ => {}
        }
    }
    at.push(blocks);
    ranks.push(top_five(&threads, &options));
    let (all, exact) = sums(&threads, &options);
    let report = ranking(&all, &options);
    let thread_bytes = |t: &Thread| t.words.bytes() + t.both.sampler.bytes().2;
    let mut outcome = Outcome {
        name,
        report,
        exact,
        ranks,
        at,
        shapes: shapes.bytes(),
        thread_bytes: threads.values().map(thread_bytes).max().unwrap_or(0),
        whole,
        all,
        times: None,
        timed: (timed.len(), 0),
    };
    for _ in 0..settings.rounds {
        let now = time(&timed, &shapes, &options, &mut outcome.timed.1);
        let best = outcome.times.get_or_insert(now);
        best.iter_mut()
            .zip(now)
            .for_each(|(best, now)| *best = now.min(*best));
    }
    Ok(outcome)
}

/// CPU times: reading the words; finding the paths' lengths too; sampling too.
fn time(
    words: &[u64],
    shapes: &MethodShapes,
    options: &Arc<SubpathOptions>,
    blocks: &mut u64,
) -> [Duration; 3] {
    let start = ThreadTime::now();
    for chunk in words.chunks(4096) {
        black_box(chunk.iter().fold(0, |all, word| all ^ word));
    }
    let reading = start.elapsed();
    let (mut order, mut lengths) = (WordOrder::default(), Lengths::default());
    let start = ThreadTime::now();
    words
        .chunks(4096)
        .for_each(|chunk| order.consume(chunk, shapes, &mut lengths));
    let skipping = start.elapsed();
    *blocks = lengths.0;
    let mut order = WordOrder::default();
    // As in the middle of a run: the first samples are denser.
    let mut sampler = Sampler::new(Arc::clone(options), 0, options.floor);
    let start = ThreadTime::now();
    words
        .chunks(4096)
        .for_each(|chunk| order.consume(chunk, shapes, &mut sampler));
    [reading, skipping, start.elapsed()]
}

fn sums(threads: &BTreeMap<u64, Thread>, options: &SubpathOptions) -> (MergedSubpaths, ExactCounts) {
    let mut all = MergedSubpaths::new(options);
    let mut exact: Option<ExactCounts> = None;
    for thread in threads.values() {
        all.add(&thread.both.sampler);
        let own = thread.both.exact.counts();
        match &mut exact {
            Some(exact) => exact.add(&own),
            None => exact = Some(own),
        }
    }
    (all, exact.unwrap_or_default())
}

/// All subpaths as a report ranks them: those first that are known.
fn ranking(all: &MergedSubpaths, options: &SubpathOptions) -> Vec<Subpath> {
    let mut report = all.report(options, &Report::default());
    report.sort_by_key(|subpath| subpath.sampled < KNOWN_SUBPATH);
    report
}

/// The rank in the sample of each of the five subpaths that really are the most frequent, among those of lengths that were counted.
fn top_five(threads: &BTreeMap<u64, Thread>, options: &SubpathOptions) -> Vec<Option<usize>> {
    let (all, exact) = sums(threads, options);
    let report = ranking(&all, options);
    let ranked: Vec<u64> = report
        .iter()
        .filter(|s| exact.has(s.length))
        .map(|s| s.key)
        .collect();
    let five = exact.ranking().into_iter().take(5);
    five.map(|(key, ..)| ranked.iter().position(|&other| other == key).map(|at| at + 1))
        .collect()
}

fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let groups = digits.as_bytes().rchunks(3).rev();
    groups
        .map(|group| String::from_utf8_lossy(group))
        .collect::<Vec<_>>()
        .join(",")
}

fn print(outcomes: &[Outcome], settings: &Settings) {
    let options = &settings.options;
    println!(
        "Lengths `{}`, footprint {} bytes, mean distance from {} to at least {} blocks, seed {}, the first {} blocks of each run.",
        options.lengths,
        thousands(options.footprint as u64),
        options.start,
        thousands(u64::from(options.floor)),
        options.seed,
        thousands(settings.blocks)
    );
    println!("\n## Sizes (OSP table 1)\n");
    println!(
        "| run | blocks | subpaths up to 32 | distinct | longest counted exactly | distinct up to there |"
    );
    println!("| --- | ---: | ---: | ---: | ---: | ---: |");
    for o in outcomes {
        let ((all, distinct), longest) = (o.exact.totals(32), o.exact.longest());
        let whole = if o.whole { "" } else { " (cut off)" };
        println!(
            "| {}{whole} | {} | {} | {} | {} | {} |",
            o.name,
            thousands(o.exact.blocks()),
            thousands(all),
            thousands(distinct),
            thousands(u64::from(longest)),
            thousands(o.exact.totals(longest).1)
        );
    }
    println!("\n## Samples (OSP table 3)\n");
    println!("| run | taken | in the sample | distinct | gain | f | blocks looked at |");
    println!("| --- | ---: | ---: | ---: | ---: | ---: | ---: |");
    for o in outcomes {
        let (stats, (sampled, distinct)) = (o.all.stats(), o.all.sampled());
        println!(
            "| {} | {} | {} | {} | {:.2} | {} | {:.2} % |",
            o.name,
            thousands(stats.drawn),
            thousands(sampled),
            thousands(distinct),
            sampled as f64 / distinct.max(1) as f64,
            thousands(stats.f.1),
            100.0 * stats.drawn_blocks as f64 / stats.blocks
        );
    }
    println!("\n## Memory in bytes (OSP table 4)\n");
    println!("| run | sample of a thread, at most | besides, per thread | lengths of paths, shared by all |");
    println!("| --- | ---: | ---: | ---: |");
    for o in outcomes {
        println!(
            "| {} | {} | {} | {} |",
            o.name,
            thousands(o.all.stats().peak_bytes),
            thousands(o.thread_bytes as u64),
            thousands(o.shapes as u64)
        );
    }
    println!("\n## Estimates of the ten hottest (OSP table 5)\n");
    for o in outcomes {
        println!("\n### {}\n", o.name);
        println!("| rank | exact rank | in the sample | estimate | 95 % | exact | error | length |");
        println!("| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
        let ranking = o.exact.ranking();
        let counted = o.report.iter().filter(|s| o.exact.has(s.length));
        for (at, s) in counted.take(10).enumerate() {
            let exact = o.exact.count(s.key);
            // Of equals, the first rank.
            let rank = 1 + ranking.partition_point(|&(.., count)| count > exact);
            println!(
                "| {} | {rank} | {} | {} | ± {:.2} % | {} | {:.2} % | {} |",
                at + 1,
                thousands(s.sampled),
                thousands(s.estimate.value as u64),
                100.0 * s.estimate.error(),
                thousands(exact),
                100.0 * (s.estimate.value - exact as f64).abs() / exact as f64,
                s.length
            );
        }
        let inside =
            |s: &&&Subpath| (s.estimate.low..=s.estimate.high).contains(&(o.exact.count(s.key) as f64));
        let often: Vec<&Subpath> = o
            .report
            .iter()
            .filter(|s| o.exact.has(s.length) && s.sampled >= 20)
            .collect();
        println!(
            "\nOf {} subpaths that are at least 20 times in the sample, {} have an interval that holds the exact count.",
            often.len(),
            often.iter().filter(inside).count()
        );
    }
    println!(
        "\n## While it runs (OSP table 6): ranks in the sample of the five that are really the hottest\n"
    );
    for o in outcomes {
        let head: Vec<String> = o.at.iter().map(|&blocks| thousands(blocks)).collect();
        println!("\n| {}, after so many blocks | {} |", o.name, head.join(" | "));
        println!("| --- |{}", " ---: |".repeat(head.len()));
        for true_rank in 0..5 {
            let of = |point: &Vec<Option<usize>>| match point.get(true_rank).copied().flatten() {
                Some(rank) => rank.to_string(),
                None => "–".to_owned(),
            };
            let row: Vec<String> = o.ranks.iter().map(of).collect();
            println!("| {} | {} |", true_rank + 1, row.join(" | "));
        }
    }
    if settings.rounds == 0 {
        return;
    }
    println!("\n## CPU time of the consumer (what OSP table 2 calls skipping and sampling)\n");
    println!(
        "| run | words | blocks per word | reading, ns per word | finding lengths too | sampling too | sampling, ns per block |"
    );
    println!("| --- | ---: | ---: | ---: | ---: | ---: | ---: |");
    for o in outcomes {
        let Some(times) = o.times else { continue };
        let (words, blocks) = (o.timed.0.max(1) as f64, o.timed.1.max(1) as f64);
        let [reading, skipping, sampling] = times.map(|t| t.as_nanos() as f64 / words);
        println!(
            "| {} | {} | {:.2} | {reading:.2} | {skipping:.2} | {sampling:.2} | {:.2} |",
            o.name,
            thousands(o.timed.0 as u64),
            blocks / words,
            sampling * words / blocks
        );
    }
}
