//! Tables 1 and 3 to 6 of *Online Subpath Profiling* for recorded runs, and what sampling costs per event, as
//! Markdown.
//!
//! Two samplers see the same blocks: one as in replay (`consumer`), and one that leaves out path ends by its
//! own choice (`probes`, the default of a live run). Everything but the times depends only on the trace and
//! the seed.

use std::collections::{BTreeMap, BTreeSet};
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
use trodden_profile::options::SubpathIdentity;
use trodden_profile::trace::{TraceItem, TraceReader};

/// Points at which a run is looked at (the paper's table 6).
const POINTS: u64 = 6;
/// The samplers' names, as in the option `skipping`.
const WAYS: [&str; 2] = ["consumer", "probes"];
/// Words that are timed.
const TIMED: usize = 4 << 20;

struct Settings {
    options: SubpathOptions,
    blocks: u64,
    windows: usize,
    rounds: u32,
}

/// A thread's blocks into all of them.
struct Thread {
    words: WordOrder,
    all: All,
}

struct All {
    consumer: Sampler,
    probes: Skipping,
    exact: ExactSubpaths,
}

impl All {
    fn sampler(&self, way: usize) -> &Sampler {
        match way {
            0 => &self.consumer,
            _ => &self.probes.sampler,
        }
    }
}

impl BlockStream for All {
    fn run(&mut self, shapes: &impl PathShapes, run: Run, header: bool) {
        self.consumer.run(shapes, run, header);
        self.probes.run(shapes, run, header);
        self.exact.run(shapes, run, header);
    }

    fn nothing(&mut self, times: u64) {
        self.probes.nothing(times);
    }

    fn hole(&mut self) {
        self.consumer.hole();
        self.probes.hole();
        self.exact.hole();
    }
}

/// A sampler with probes before it that leave out what it can do without.
struct Skipping {
    sampler: Sampler,
    skip: u64,
    words: u64,
}

impl Skipping {
    fn new(mut sampler: Sampler) -> Self {
        let wanted = sampler.wanted();
        Skipping {
            sampler,
            skip: u64::from(wanted.skip),
            words: u64::from(wanted.words),
        }
    }

    /// Hands on what is wanted of `times` equal path ends.
    fn pass(&mut self, times: u64, mut hand_on: impl FnMut(&mut Sampler, u64)) {
        let mut left = times;
        while left > 0 {
            let skipped = self.skip.min(left);
            self.skip -= skipped;
            left -= skipped;
            let given = self.words.min(left);
            if given > 0 {
                hand_on(&mut self.sampler, given);
                self.words -= given;
                left -= given;
            }
            if self.words == 0 {
                let wanted = self.sampler.wanted();
                (self.skip, self.words) = (u64::from(wanted.skip), u64::from(wanted.words));
            }
        }
    }
}

impl BlockStream for Skipping {
    fn run(&mut self, shapes: &impl PathShapes, run: Run, header: bool) {
        self.pass(u64::from(run.times), |sampler, times| {
            let times = times as u32; // no more than there were
            sampler.run(shapes, Run { times, ..run }, header);
        });
    }

    fn nothing(&mut self, times: u64) {
        self.pass(times, |sampler, times| sampler.nothing(times));
    }

    fn hole(&mut self) {
        self.sampler.hole();
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

/// What one of the samplers made of a run.
struct Sampled {
    all: MergedSubpaths,
    report: Vec<Subpath>,
    ranks: Vec<Vec<Option<usize>>>,
    thread_bytes: usize,
    /// Of the thread with most blocks: length and distance.
    distances: Vec<(u32, u64)>,
}

/// What a run was found to be.
struct Outcome {
    name: String,
    ways: [Sampled; 2],
    exact: ExactCounts,
    /// Lengths that were sampled; not all of them may have been counted.
    longest: u32,
    at: Vec<u64>,
    shapes: usize,
    whole: bool,
    times: Option<[Duration; 3]>,
    timed: (usize, u64),
}

/// Options of the tables; those that are not described mean the same as the agent's.
#[derive(clap::Args)]
pub struct Arguments {
    /// Stop a trace after about this many blocks (default: never)
    #[arg(long)]
    blocks: Option<u64>,
    /// Most windows of blocks to count exactly; lengths that need more are left out
    #[arg(long, default_value_t = 12_000_000)]
    windows: usize,
    /// Measurements of time, the best of which counts; 0 for none
    #[arg(long, default_value_t = 5)]
    rounds: u32,
    #[arg(long)]
    footprint: Option<usize>,
    #[arg(long)]
    lengths: Option<String>,
    #[arg(long)]
    start: Option<u32>,
    #[arg(long)]
    floor: Option<u32>,
    #[arg(long)]
    seed: Option<u64>,
    /// What makes two subpaths equal: rotation or xor
    #[arg(long, default_value = "rotation", value_parser = ["rotation", "xor"])]
    identity: String,
    /// Traces
    #[arg(required = true)]
    files: Vec<String>,
}

/// Prints the tables.
pub fn run(arguments: Arguments) -> Result<(), Box<dyn Error>> {
    let mut options = SubpathOptions::default();
    if let Some(lengths) = &arguments.lengths {
        options.lengths = lengths.parse()?;
    }
    // That of the paper's tables, a sixteenth of the default.
    options.footprint = arguments.footprint.unwrap_or(64 << 10);
    options.start = arguments.start.unwrap_or(options.start);
    options.floor = arguments.floor.unwrap_or(options.floor);
    options.seed = arguments.seed.unwrap_or(options.seed);
    if arguments.identity == "xor" {
        options.identity = SubpathIdentity::Xor;
    }
    let settings = Settings {
        options,
        blocks: arguments.blocks.unwrap_or(u64::MAX),
        windows: arguments.windows,
        rounds: arguments.rounds,
    };
    let files = arguments.files;
    settings.options.check()?;
    let outcomes: Result<Vec<Outcome>, _> = files.iter().map(|file| look(file, &settings)).collect();
    print(&outcomes?, &settings);
    Ok(())
}

fn reader(file: &str) -> Result<TraceReader<BufReader<File>>, Box<dyn Error>> {
    Ok(TraceReader::new(BufReader::with_capacity(
        1 << 16,
        File::open(file)?,
    ))?)
}

/// How many blocks a run has, up to a limit, so that points can be put into it.
fn blocks_of(file: &str, limit: u64) -> Result<u64, Box<dyn Error>> {
    let methods = Arc::new(SharedMethods::default());
    let shapes = MethodShapes::new(Arc::clone(&methods) as Arc<dyn MethodLookup + Send + Sync>);
    let mut trace = reader(file)?;
    let mut threads: BTreeMap<u64, WordOrder> = BTreeMap::new();
    let mut blocks = Lengths::default();
    while let Some(item) = trace.next_item()? {
        match item {
            TraceItem::Class { first_method, map } => {
                methods.insert_class(first_method, map)?;
            }
            TraceItem::Words { thread, words } => {
                let order = threads.entry(thread).or_default();
                order.consume(words, &shapes, &mut blocks);
                if blocks.0 >= limit {
                    return Ok(limit);
                }
            }
            _ => {}
        }
    }
    Ok(blocks.0)
}

fn look(file: &str, settings: &Settings) -> Result<Outcome, Box<dyn Error>> {
    let name = Path::new(file)
        .file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let limit = blocks_of(file, settings.blocks)?;
    eprintln!("{name}: {limit} blocks ...");
    let options = Arc::new(settings.options.clone());
    let methods = Arc::new(SharedMethods::default());
    let shapes = MethodShapes::new(Arc::clone(&methods) as Arc<dyn MethodLookup + Send + Sync>);
    let mut trace = reader(file)?;
    let mut threads: BTreeMap<u64, Thread> = BTreeMap::new();
    let lengths: Vec<u32> = options.lengths.all().filter(|n| n.is_power_of_two()).collect();
    let (mut blocks, mut whole) = (0, true);
    let (mut ranks, mut at) = ([Vec::new(), Vec::new()], Vec::new());
    let (mut timed, mut timed_thread) = (Vec::new(), None);
    'trace: while let Some(item) = trace.next_item()? {
        match item {
            TraceItem::Class { first_method, map } => {
                methods.insert_class(first_method, map)?;
            }
            TraceItem::Words { thread: id, words } => {
                let thread = threads.entry(id).or_insert_with(|| Thread {
                    words: WordOrder::default(),
                    all: All {
                        consumer: Sampler::new(Arc::clone(&options), id, options.start),
                        probes: Skipping::new(Sampler::skipping(Arc::clone(&options), id, options.start)),
                        exact: ExactSubpaths::new(&lengths, options.identity, settings.windows),
                    },
                });
                if timed.len() < TIMED && *timed_thread.get_or_insert(id) == id {
                    timed.extend_from_slice(words);
                }
                // Small steps, so that points are met.
                let mut met = false;
                for part in words.chunks(4096) {
                    let before = thread.all.exact.blocks();
                    thread.words.consume(part, &shapes, &mut thread.all);
                    blocks += thread.all.exact.blocks() - before;
                    met |= blocks >= (at.len() as u64 + 1) * limit / POINTS;
                }
                if met && (at.len() as u64) < POINTS - 1 {
                    at.push(blocks);
                    let now = top_five(&threads, &options);
                    ranks.iter_mut().zip(now).for_each(|(ranks, now)| ranks.push(now));
                }
                if blocks >= settings.blocks {
                    whole = false;
                    break 'trace;
                }
            }
            _ => {}
        }
    }
    at.push(blocks);
    let now = top_five(&threads, &options);
    ranks.iter_mut().zip(now).for_each(|(ranks, now)| ranks.push(now));
    let exact = exact_counts(&threads);
    let [first, second] = ranks;
    let way = |way: usize, ranks| {
        let all = sampled(&threads, &options, way);
        let thread_bytes = |t: &Thread| t.words.bytes() + t.all.sampler(way).bytes().2;
        let busiest = threads.values().max_by_key(|t| t.all.exact.blocks());
        let distance = |n| busiest.map(|t| (n, t.all.sampler(way).distance(n)));
        Sampled {
            report: ranking(&all, &options),
            ranks,
            thread_bytes: threads.values().map(thread_bytes).max().unwrap_or(0),
            distances: lengths.iter().filter_map(|&n| distance(n)).collect(),
            all,
        }
    };
    let mut outcome = Outcome {
        name,
        ways: [way(0, first), way(1, second)],
        exact,
        longest: options.lengths.longest(),
        at,
        shapes: shapes.bytes(),
        whole,
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

fn sampled(threads: &BTreeMap<u64, Thread>, options: &SubpathOptions, way: usize) -> MergedSubpaths {
    let mut all = MergedSubpaths::new(options);
    threads
        .values()
        .for_each(|thread| all.add(thread.all.sampler(way)));
    all
}

fn exact_counts(threads: &BTreeMap<u64, Thread>) -> ExactCounts {
    let mut sum: Option<ExactCounts> = None;
    for thread in threads.values() {
        let own = thread.all.exact.counts();
        match &mut sum {
            Some(sum) => sum.add(&own),
            None => sum = Some(own),
        }
    }
    sum.unwrap_or_default()
}

/// All subpaths as a report ranks them: those first that are known.
fn ranking(all: &MergedSubpaths, options: &SubpathOptions) -> Vec<Subpath> {
    let mut report = all.report(options, &Report::default());
    report.sort_by_key(|subpath| subpath.sampled < KNOWN_SUBPATH);
    report
}

/// The rank in each sample of each of the five subpaths that really are the most frequent, among those of
/// lengths that were counted.
fn top_five(threads: &BTreeMap<u64, Thread>, options: &SubpathOptions) -> [Vec<Option<usize>>; 2] {
    let exact = exact_counts(threads);
    let five: Vec<u64> = (exact.ranking().into_iter().take(5))
        .map(|(key, ..)| key)
        .collect();
    [0, 1].map(|way| {
        let report = ranking(&sampled(threads, options, way), options);
        let ranked: Vec<u64> = (report.iter())
            .filter(|s| exact.has(s.length))
            .map(|s| s.key)
            .collect();
        let rank = |key| ranked.iter().position(|&other| other == key).map(|at| at + 1);
        five.iter().map(|&key| rank(key)).collect()
    })
}

/// A subpath of a sample beside the truth.
struct Judged {
    sampled: u64,
    estimate: Estimate,
    length: u32,
    exact: u64,
    /// Of equals, the first rank.
    rank: usize,
}

impl Judged {
    fn error(&self) -> f64 {
        (self.estimate.value - self.exact as f64).abs() / self.exact as f64
    }

    fn held(&self) -> bool {
        (self.estimate.low..=self.estimate.high).contains(&(self.exact as f64))
    }
}

/// The subpaths of a report whose lengths were counted.
fn judge(report: &[Subpath], exact: &ExactCounts) -> Vec<Judged> {
    let ranking = exact.ranking();
    let counted = report.iter().filter(|s| exact.has(s.length));
    counted
        .map(|s| {
            let count = exact.count(s.key);
            Judged {
                sampled: s.sampled,
                estimate: s.estimate,
                length: s.length,
                exact: count,
                rank: 1 + ranking.partition_point(|&(.., other)| other > count),
            }
        })
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

/// One number, or two if they differ.
fn range((least, most): (u64, u64)) -> String {
    if least == most {
        thousands(least)
    } else {
        format!("{} to {}", thousands(least), thousands(most))
    }
}

fn print(outcomes: &[Outcome], settings: &Settings) {
    let options = &settings.options;
    let part = match settings.blocks {
        u64::MAX => "the whole of each run".to_owned(),
        some => format!("the first {} blocks of each run", thousands(some)),
    };
    println!(
        "Lengths `{}`, footprint {} bytes, mean distance from {} to at least {} (consumer) or {} (probes) blocks, seed {}, {part}.",
        options.lengths,
        thousands(options.footprint as u64),
        options.start,
        thousands(u64::from(options.floor)),
        thousands(u64::from(options.skipping_floor)),
        options.seed,
    );
    summary(outcomes);
    sizes(outcomes);
    samples(outcomes);
    memory(outcomes);
    estimates(outcomes);
    incremental(outcomes);
    if settings.rounds > 0 {
        times(outcomes);
    }
}

/// What the aims are about.
fn summary(outcomes: &[Outcome]) {
    println!("\n## In short\n");
    println!(
        "| run | skipping by | lengths compared | first ten that are among the true ten | errors of the first four | 95 % intervals that hold, of those 20 times in the sample |"
    );
    println!("| --- | --- | --- | ---: | ---: | ---: |");
    for o in outcomes {
        for (name, way) in WAYS.iter().zip(&o.ways) {
            let judged = judge(&way.report, &o.exact);
            let right = judged.iter().take(10).filter(|j| j.rank <= 10).count();
            let errors: Vec<String> = (judged.iter().take(4))
                .map(|j| format!("{:.2}", 100.0 * j.error()))
                .collect();
            let often: Vec<&Judged> = judged.iter().filter(|j| j.sampled >= 20).collect();
            let held = often.iter().filter(|j| j.held()).count();
            println!(
                "| {} | {name} | up to {} of {} | {right} | {} % | {held} of {} |",
                o.name,
                thousands(u64::from(o.exact.longest())),
                thousands(u64::from(o.longest)),
                errors.join(", "),
                often.len()
            );
        }
    }
}

fn sizes(outcomes: &[Outcome]) {
    println!("\n## Sizes (OSP table 1)\n");
    println!(
        "| run | blocks | subpaths up to 32 | distinct | longest counted exactly | subpaths up to there | distinct |"
    );
    println!("| --- | ---: | ---: | ---: | ---: | ---: | ---: |");
    for o in outcomes {
        let longest = o.exact.longest();
        // Where not even 32 could be counted, nothing is said of it.
        let upto = |limit: u32| {
            if longest >= limit.min(o.longest) {
                let (all, distinct) = o.exact.totals(limit);
                (thousands(all), thousands(distinct))
            } else {
                ("–".to_owned(), "–".to_owned())
            }
        };
        let (few, all) = (upto(32), upto(longest));
        let whole = if o.whole { "" } else { " (cut off)" };
        println!(
            "| {}{whole} | {} | {} | {} | {} | {} | {} |",
            o.name,
            thousands(o.exact.blocks()),
            few.0,
            few.1,
            thousands(u64::from(longest)),
            all.0,
            all.1
        );
    }
}

fn samples(outcomes: &[Outcome]) {
    println!("\n## Samples (OSP table 3)\n");
    println!("| run | skipping by | taken | in the sample | distinct | gain | f | blocks looked at |");
    println!("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |");
    for o in outcomes {
        for (name, way) in WAYS.iter().zip(&o.ways) {
            let (stats, (sampled, distinct)) = (way.all.stats(), way.all.sampled());
            println!(
                "| {} | {name} | {} | {} | {} | {:.2} | {} | {:.2} % |",
                o.name,
                thousands(stats.drawn),
                thousands(sampled),
                thousands(distinct),
                sampled as f64 / distinct.max(1) as f64,
                range(stats.f),
                100.0 * stats.drawn_blocks as f64 / o.exact.blocks().max(1) as f64
            );
        }
    }
    println!("\nBy length: distance f (of the thread with most blocks) / in the sample / distinct.\n");
    let all = outcomes.iter().flat_map(|o| &o.ways[0].distances);
    let lengths: BTreeSet<u32> = all.map(|&(length, _)| length).collect();
    let head: Vec<String> = lengths.iter().map(|&n| thousands(u64::from(n))).collect();
    println!("| run | skipping by | {} |", head.join(" | "));
    println!("| --- | --- |{}", " ---: |".repeat(head.len()));
    for o in outcomes {
        for (name, way) in WAYS.iter().zip(&o.ways) {
            let cell = |&length: &u32| {
                let (_, f) = way.distances.iter().find(|d| d.0 == length)?;
                let own = way.report.iter().filter(|s| s.length == length);
                let (sum, distinct) = own.fold((0, 0), |(sum, all), s| (sum + s.sampled, all + 1));
                Some(format!(
                    "{} / {} / {}",
                    thousands(*f),
                    thousands(sum),
                    thousands(distinct)
                ))
            };
            let row: Vec<String> = lengths.iter().map(|n| cell(n).unwrap_or_default()).collect();
            println!("| {} | {name} | {} |", o.name, row.join(" | "));
        }
    }
}

fn memory(outcomes: &[Outcome]) {
    println!("\n## Memory of the profiler in bytes (OSP table 4)\n");
    println!(
        "| run | skipping by | sample of a thread, at most | besides, per thread | lengths of paths, shared by all |"
    );
    println!("| --- | --- | ---: | ---: | ---: |");
    for o in outcomes {
        for (name, way) in WAYS.iter().zip(&o.ways) {
            println!(
                "| {} | {name} | {} | {} | {} |",
                o.name,
                thousands(way.all.stats().peak_bytes),
                thousands(way.thread_bytes as u64),
                thousands(o.shapes as u64)
            );
        }
    }
}

fn estimates(outcomes: &[Outcome]) {
    println!("\n## Estimates of the ten hottest (OSP table 5)");
    for o in outcomes {
        for (name, way) in WAYS.iter().zip(&o.ways) {
            println!("\n### {}, skipping by {name}\n", o.name);
            println!("| rank | exact rank | in the sample | estimate | 95 % | exact | error | length |");
            println!("| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
            for (at, j) in judge(&way.report, &o.exact).iter().take(10).enumerate() {
                println!(
                    "| {} | {} | {} | {} | ± {:.2} % | {} | {:.2} % | {} |",
                    at + 1,
                    j.rank,
                    thousands(j.sampled),
                    thousands(j.estimate.value as u64),
                    100.0 * j.estimate.error(),
                    thousands(j.exact),
                    100.0 * j.error(),
                    j.length
                );
            }
        }
    }
}

fn incremental(outcomes: &[Outcome]) {
    println!(
        "\n## While it runs (OSP table 6): ranks in the sample of the five that are really the hottest by then"
    );
    for o in outcomes {
        let head: Vec<String> = o.at.iter().map(|&blocks| thousands(blocks)).collect();
        println!(
            "\n| {}, after so many blocks | skipping by | {} |",
            o.name,
            head.join(" | ")
        );
        println!("| --- | --- |{}", " ---: |".repeat(head.len()));
        for (name, way) in WAYS.iter().zip(&o.ways) {
            for true_rank in 0..5 {
                let of = |point: &Vec<Option<usize>>| match point.get(true_rank).copied().flatten() {
                    Some(rank) => rank.to_string(),
                    None => "–".to_owned(),
                };
                let row: Vec<String> = way.ranks.iter().map(of).collect();
                println!("| {} | {name} | {} |", true_rank + 1, row.join(" | "));
            }
        }
    }
}

fn times(outcomes: &[Outcome]) {
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
