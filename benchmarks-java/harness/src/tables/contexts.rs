//! HCCT's tables 1 and 2, and what its figures 6 to 13 show, as Markdown tables.
//!
//! On the first words of a thread of each trace (`trodden-bench traces --profile contexts`). Times are this
//! thread's CPU time of the analysis that `trodden replay` and the agent run, from nothing, in batches of a
//! thread's buffer. All competitors take turns in each round, and a ratio is that of two runs of one round.

use std::error::Error;
use std::fs::File;
use std::hint::black_box;
use std::io::Write;
use std::num::{NonZeroU32, NonZeroU64};
use std::path::PathBuf;

use cpu_time::ThreadTime;
use trodden_analyses::contexts::{
    Algorithm, BurstKind, BurstOptions, CallingContextTree, ContextAccuracy, ContextOptions, ContextResult,
    ContextStream, Thresholds,
};
use trodden_analyses::stream::StreamAnalysis;
use trodden_profile::events::ThreadInfo;

use super::recorded::as_published::Algorithm as Published;
use super::recorded::calls::Truth;
use super::recorded::cut::cut;
use super::recorded::{Window, spread};

/// Words in a thread's buffer.
const BATCH: usize = 4096;
/// The paper's default.
const PHI: f64 = 1e-4;
/// Of the paper's table 2 and figure 6.
const PHIS: [f64; 4] = [1e-3, 1e-4, 1e-5, 1e-7];
/// phi / epsilon, of the paper's figure 10.
const RATIOS: [f64; 4] = [2.0, 5.0, 10.0, 20.0];
/// Shares of the contexts, of the paper's figure 1.
const HOTTEST: [f64; 7] = [0.001, 0.01, 0.05, 0.1, 0.2, 0.5, 1.0];
const TAUS: [f64; 3] = [0.01, 0.05, 0.1];
const ALGORITHMS: [(&str, Algorithm); 4] = [
    ("lazy Space Saving", Algorithm::LazySpaceSaving),
    ("bucket Space Saving", Algorithm::BucketSpaceSaving),
    ("Lossy Counting", Algorithm::LossyCounting),
    ("Sticky Sampling", Algorithm::StickySampling),
];
/// Events of a burst, and from the beginning of one to the next: a tenth, as the paper's 0.2 of 2 ms.
const BURST: (u64, u64) = (2_000, 20_000);
/// The thread's number.
const THREAD: u64 = 1;
/// Of the random choice of bursts that are re-enabled.
const SEED: u64 = 0;

/// Options of the tables.
#[derive(clap::Args)]
pub struct Arguments {
    /// Every time as CSV
    #[arg(long)]
    raw: Option<PathBuf>,
    /// Words of each trace
    #[arg(long, default_value_t = 1 << 26)]
    words: usize,
    /// Measurements of each time
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Traces
    #[arg(required = true)]
    files: Vec<String>,
}

/// Prints the tables.
pub fn run(arguments: Arguments) -> Result<(), Box<dyn Error>> {
    let (limit, rounds, files) = (arguments.words, arguments.rounds, arguments.files);
    let mut raw = arguments.raw.map(File::create).transpose()?;
    if let Some(file) = &mut raw {
        writeln!(file, "trace,round,competitor,ns_per_event")?;
    }
    let mut rows = Vec::new();
    for file in files {
        let window = Window::first(&file, limit)?;
        rows.push(Row::of(&window, rounds, &mut raw).map_err(|e| format!("{file}: {e}"))?);
        eprintln!("{}: done", window.name);
    }
    print(&rows);
    Ok(())
}

/// Lazy Space Saving in bursts.
fn bursts() -> Result<Vec<(String, BurstOptions)>, Box<dyn Error>> {
    let length = NonZeroU64::new(BURST.0).ok_or("no burst")?;
    let interval = NonZeroU64::new(BURST.1).ok_or("no interval")?;
    let mut all = vec![("static".to_owned(), BurstKind::Static)];
    for (share, one_in) in [(20, 5), (10, 10), (5, 20)] {
        let reenable = NonZeroU32::new(one_in);
        all.push((format!("RR {share} %"), BurstKind::Adaptive { reenable }));
    }
    all.push(("no RR".to_owned(), BurstKind::Adaptive { reenable: None }));
    let options = |kind| BurstOptions {
        interval,
        length,
        kind,
    };
    Ok(all
        .into_iter()
        .map(|(name, kind)| (name, options(kind)))
        .collect())
}

/// The analysis of a stream: its CPU time in nanoseconds, and what it found.
fn analyse(options: ContextOptions, words: &[u64]) -> Result<(f64, ContextResult), Box<dyn Error>> {
    let analysis = ContextStream::new(options)?;
    let mut thread = analysis.thread(&ThreadInfo {
        id: THREAD,
        name: String::new(),
        is_virtual: false,
    });
    let start = ThreadTime::now();
    for batch in words.chunks(BATCH) {
        analysis.consume(black_box(&mut thread), batch);
    }
    let nanos = start.elapsed().as_nanos() as f64;
    let mut result = analysis.result();
    analysis.add(&mut result, &thread)?;
    Ok((nanos, result))
}

/// One way to analyse.
struct Way {
    name: String,
    options: ContextOptions,
    /// What the program would report if its probes were off between bursts, in place of the whole stream.
    bursts: Option<Vec<u64>>,
    ns: Vec<f64>,
    /// Relative to the exact tree of the same round.
    ratios: Vec<f64>,
    found: Option<Found>,
}

/// What it found, held against the truth.
struct Found {
    accuracy: ContextAccuracy,
    peak: f64,
    peak_bytes: f64,
    taken: f64,
    /// Sum of all counters.
    calls: u64,
}

/// Whoever cuts the bursts out: what is counted in them is the same.
fn same_bursts(ways: &[Way]) -> Result<(), String> {
    let counted = |way: &Way| {
        way.found
            .as_ref()
            .map(|found| (found.calls, found.accuracy.hot, found.accuracy.overlap.to_bits()))
    };
    for pair in ways.windows(2) {
        if pair[1].bursts.is_some() && counted(&pair[0]) != counted(&pair[1]) {
            return Err(format!(
                "{}: {:?} and {:?} calls, hot contexts, overlap",
                pair[0].name,
                counted(&pair[0]),
                counted(&pair[1])
            ));
        }
    }
    Ok(())
}

/// At another threshold: the exact hot tree, and the one that lazy Space Saving reports.
struct AtPhi {
    /// Nodes.
    exact: u64,
    overlap: f64,
    reported: u64,
    peak: f64,
    /// From which share of the hottest context's calls on the exact hot tree has all.
    tau: f64,
}

/// Of what an algorithm reports with another epsilon, the share that is not hot.
struct AtEpsilon {
    algorithm: &'static str,
    shares: Vec<f64>,
}

/// An algorithm with the paper's own data structures, beside ours: ns per event, and ours divided by it in
/// the same round.
struct Rival {
    published: Published,
    ours: usize,
    ns: Vec<f64>,
    ratios: Vec<f64>,
}

impl Rival {
    /// One for each that the paper measures; `ways` are ours.
    fn all(ways: &[Way]) -> Result<Vec<Rival>, Box<dyn Error>> {
        let names = Published::ALL.map(|published| match published {
            Published::Full => "exact",
            Published::Lazy => ALGORITHMS[0].0,
            Published::Buckets => ALGORITHMS[1].0,
            Published::Lossy => ALGORITHMS[2].0,
        });
        let rival = |(published, name): (Published, &str)| {
            let ours = ways.iter().position(|way| way.name == name).ok_or("no rival")?;
            Ok(Rival {
                published,
                ours,
                ns: Vec::new(),
                ratios: Vec::new(),
            })
        };
        Published::ALL.into_iter().zip(names).map(rival).collect()
    }

    /// A round; the first one is held against the truth.
    fn round(&mut self, words: &[u64], truth: &Truth, ours: &Way) -> Result<f64, Box<dyn Error>> {
        let timed = |run: &mut dyn FnMut()| {
            let start = ThreadTime::now();
            run();
            start.elapsed().as_nanos() as f64
        };
        let snapshot = self.ns.is_empty().then(|| truth.tree.snapshot());
        let counters = (5.0 / PHI).round() as u32;
        let nanos = (self.published).run(black_box(words), (BATCH, counters), snapshot.as_ref(), timed)?;
        let ns = nanos / words.len() as f64;
        self.ns.push(ns);
        let last = ours.ns.last().ok_or("not in this round")?;
        self.ratios.push(last / ns);
        Ok(ns)
    }
}

struct Row {
    name: String,
    words: u64,
    truth: Truth,
    ways: Vec<Way>,
    rivals: Vec<Rival>,
    at_phi: Vec<AtPhi>,
    at_epsilon: Vec<AtEpsilon>,
    /// Calls in the hottest contexts, by share of the contexts.
    skew: Vec<f64>,
}

impl Row {
    fn of(window: &Window, rounds: usize, raw: &mut Option<File>) -> Result<Row, Box<dyn Error>> {
        let words = &window.words;
        let truth = Truth::of(words)?;
        let plain = ContextOptions {
            thresholds: Thresholds::of_phi(PHI)?,
            ..ContextOptions::default()
        };
        let way = |name: &str, options: ContextOptions| Way {
            name: name.to_owned(),
            options,
            bursts: None,
            ns: Vec::new(),
            ratios: Vec::new(),
            found: None,
        };
        let with = |algorithm| ContextOptions { algorithm, ..plain };
        let mut ways = vec![
            way("events alone", with(Algorithm::Null)),
            way("exact", with(Algorithm::Exact)),
        ];
        ways.extend(ALGORITHMS.map(|(name, algorithm)| way(name, with(algorithm))));
        for (name, bursts) in bursts()? {
            let replayed = ContextOptions {
                bursts: Some(bursts),
                ..plain
            };
            // Only says that the stream is one of bursts.
            let in_program = Some("static:2ms:200us".parse()?);
            let alone = ContextOptions { in_program, ..plain };
            ways.push(way(&name, replayed));
            ways.push(Way {
                bursts: Some(cut(
                    words,
                    bursts,
                    SEED ^ THREAD.wrapping_mul(0x9e37_79b9_7f4a_7c15),
                )?),
                ..way(&format!("{name} alone"), alone)
            });
        }
        let mut rivals = Rival::all(&ways)?;
        for round in 0..rounds {
            for way in &mut ways {
                let stream = way.bursts.as_ref().unwrap_or(words);
                let (nanos, result) = analyse(way.options, stream)?;
                let ns = nanos / words.len() as f64;
                way.ns.push(ns);
                if let Some(file) = raw {
                    writeln!(file, "{},{round},{},{ns:.3}", window.name, way.name)?;
                }
                if round == 0 {
                    let tally = result.tally;
                    if (tally.orphans, tally.lost_exits, tally.gaps, tally.bad_words) != (0, 0, 0, 0) {
                        return Err(format!("{}: {tally:?}", way.name).into());
                    }
                    way.found = Found::of(way, &result, &truth)?;
                }
            }
            if round == 0 {
                same_bursts(&ways)?;
            }
            for rival in &mut rivals {
                let ns = rival.round(words, &truth, &ways[rival.ours])?;
                if let Some(file) = raw {
                    let name = &ways[rival.ours].name;
                    writeln!(file, "{},{round},{name} as published,{ns:.3}", window.name)?;
                }
            }
            let exact = ways[1].ns[round];
            ways.iter_mut()
                .for_each(|way| way.ratios.push(way.ns[round] / exact));
        }
        let mut at_phi = Vec::new();
        for phi in PHIS {
            let exact = ContextAccuracy::new(&truth.tree.snapshot().hot(phi)?, &truth.tree, &[]);
            let thresholds = Thresholds::of_phi(phi)?;
            let (_, result) = analyse(ContextOptions { thresholds, ..plain }, words)?;
            at_phi.push(AtPhi {
                exact: exact.contexts,
                overlap: exact.overlap,
                reported: result.contexts.hot(phi)?.nodes().len() as u64,
                peak: result.peak_contexts as f64 / truth.contexts() as f64,
                tau: exact.full_coverage_above,
            });
        }
        let mut at_epsilon = Vec::new();
        for (algorithm, kind) in [ALGORITHMS[0], ALGORITHMS[2]] {
            let mut shares = Vec::new();
            for ratio in RATIOS {
                let thresholds = Thresholds::new(PHI, PHI / ratio)?;
                let options = ContextOptions {
                    thresholds,
                    ..with(kind)
                };
                let (_, result) = analyse(options, words)?;
                let found = ContextAccuracy::new(&result.contexts.hot(PHI)?, &truth.tree, &[]);
                shares.push(found.false_positives as f64 / found.hot.max(1) as f64);
            }
            at_epsilon.push(AtEpsilon { algorithm, shares });
        }
        let skew = skew_of(&truth);
        Ok(Row {
            name: window.name.clone(),
            words: words.len() as u64,
            truth,
            ways,
            rivals,
            at_phi,
            at_epsilon,
            skew,
        })
    }

    fn algorithms(&self) -> impl Iterator<Item = &Way> {
        self.ways[2..].iter().filter(|way| !way.in_bursts())
    }

    /// Each kind of bursts, cut out of the whole stream by the analysis, and by the program.
    fn bursts(&self) -> impl Iterator<Item = (&Way, &Way)> {
        let mut ways = self.ways.iter().filter(|way| way.in_bursts());
        std::iter::from_fn(move || Some((ways.next()?, ways.next()?)))
    }
}

impl Way {
    fn in_bursts(&self) -> bool {
        self.options.bursts.is_some() || self.bursts.is_some()
    }
}

impl Found {
    /// `None` for the null analysis. Fails if the exact one is not the truth.
    fn of(way: &Way, result: &ContextResult, truth: &Truth) -> Result<Option<Found>, Box<dyn Error>> {
        let contexts = &result.contexts;
        match way.options.algorithm {
            Algorithm::Null => return Ok(None),
            Algorithm::Exact => {
                let found = (contexts.contexts() as u64, contexts.total());
                let expected = (truth.contexts(), truth.calls);
                if found != expected {
                    return Err(format!("the exact tree has {found:?}, the walk {expected:?}").into());
                }
            }
            _ => {}
        }
        let all = truth.contexts() as f64;
        Ok(Some(Found {
            accuracy: ContextAccuracy::new(&contexts.hot(PHI)?, &truth.tree, &TAUS),
            peak: result.peak_contexts as f64 / all,
            peak_bytes: result.peak_bytes as f64 / (all * CallingContextTree::EXACT_NODE_BYTES as f64),
            taken: result.bursts.taken as f64 / result.bursts.events.max(1) as f64,
            calls: contexts.total(),
        }))
    }
}

fn show(values: &[f64], digits: usize) -> String {
    let (median, least, greatest) = spread(values);
    format!("{median:.digits$} ({least:.digits$}–{greatest:.digits$})")
}

fn percent(share: f64) -> String {
    match share * 100.0 {
        p if p == 0.0 || p >= 10.0 => format!("{p:.1} %"),
        p if p >= 0.01 => format!("{p:.2} %"),
        p => format!("{p:.0e} %"),
    }
}

/// A title, and the head of a table: its columns, the first `text` of which are text.
fn head(title: &str, text: usize, columns: &[&str]) {
    println!("\n**{title}**\n\n| {} |", columns.join(" | "));
    let rules: Vec<&str> = (0..columns.len())
        .map(|at| if at < text { "---" } else { "---:" })
        .collect();
    println!("| {} |", rules.join(" | "));
}

fn print(rows: &[Row]) {
    sizes(rows);
    thresholds(rows);
    accuracy(rows);
    space(rows);
    times(rows);
    against_published(rows);
    in_bursts(rows);
    skewness(rows);
    coverage(rows);
    epsilons(rows);
}

fn sizes(rows: &[Row]) {
    head(
        "Sizes (table 1)",
        1,
        &[
            "trace",
            "words",
            "methods (call graph)",
            "its edges",
            "call sites",
            "CCT",
            "calls (call tree)",
            "deepest",
        ],
    );
    for row in rows {
        let t = &row.truth;
        println!(
            "| {} | {} | {} | {} | {} | {} | {} | {} |",
            row.name,
            row.words,
            t.methods,
            t.edges,
            t.sites,
            t.contexts(),
            t.calls,
            t.deepest
        );
    }
}

fn thresholds(rows: &[Row]) {
    let title = "Nodes of the exact HCCT / of the one that lazy Space Saving reports; the former's overlap; the latter's most nodes \
                 at a time, of the CCT (table 2, figures 6 and 12)";
    let columns = PHIS.map(|phi| format!("phi = {phi:.0e}"));
    let columns: Vec<&str> = ["trace"]
        .into_iter()
        .chain(columns.iter().map(String::as_str))
        .collect();
    head(title, 1, &columns);
    for row in rows {
        let cell = |at: &AtPhi| {
            format!(
                "{} / {}; {}; {}",
                at.exact,
                at.reported,
                percent(at.overlap),
                percent(at.peak)
            )
        };
        let cells: Vec<String> = row.at_phi.iter().map(cell).collect();
        println!("| {} | {} |", row.name, cells.join(" | "));
    }
}

const ACCURACY: [&str; 11] = [
    "reported hot",
    "truly hot",
    "missed",
    "false positives",
    "overlap",
    "coverage, tau 0.01",
    "complete above tau",
    "uncovered max",
    "uncovered average",
    "error of lower bounds max / average",
    "of upper bounds",
];

fn accuracy_cells(a: &ContextAccuracy) -> String {
    let coverage = a.coverage.first().map_or(f64::NAN, |&(_, covered)| covered);
    format!(
        "{} | {} | {} | {} | {} | {} | {:.5} | {} | {} | {:.2} % / {:.3} % | {:.2} % / {:.3} %",
        a.hot,
        a.truly_hot,
        a.false_negatives,
        percent(a.false_positives as f64 / a.hot.max(1) as f64),
        percent(a.overlap),
        percent(coverage),
        a.full_coverage_above,
        percent(a.uncovered_max / 100.0),
        percent(a.uncovered_average / 100.0),
        a.lower.max,
        a.lower.average,
        a.upper.max,
        a.upper.average,
    )
}

fn accuracy(rows: &[Row]) {
    let columns: Vec<&str> = ["trace", "algorithm"].into_iter().chain(ACCURACY).collect();
    head(
        "Against the exact CCT, phi = 1e-4, epsilon = phi / 5 (figures 7 to 11)",
        2,
        &columns,
    );
    for row in rows {
        for way in row.algorithms() {
            if let Some(found) = &way.found {
                println!(
                    "| {} | {} | {} |",
                    row.name,
                    way.name,
                    accuracy_cells(&found.accuracy)
                );
            }
        }
    }
}

fn by_way(title: &str, rows: &[Row], ways: impl Fn(&Row) -> Vec<&Way>, cell: impl Fn(&Way) -> String) {
    let Some(first) = rows.first() else { return };
    let names = ways(first).into_iter().map(|way| way.name.as_str());
    head(title, 1, &["trace"].into_iter().chain(names).collect::<Vec<_>>());
    for row in rows {
        let cells: Vec<String> = ways(row).into_iter().map(&cell).collect();
        println!("| {} | {} |", row.name, cells.join(" | "));
    }
}

fn space(rows: &[Row]) {
    by_way(
        "Most nodes at a time, of the CCT's; most bytes, of a CCT with 24 bytes per node (figure 12; phi = 1e-4)",
        rows,
        |row| row.algorithms().collect(),
        |way| {
            let shares = way.found.as_ref().map(|f| (f.peak, f.peak_bytes));
            shares.map_or_else(String::new, |(n, b)| format!("{}; {}", percent(n), percent(b)))
        },
    );
}

/// Without bursts.
fn of_all_events(row: &Row) -> Vec<&Way> {
    row.ways.iter().filter(|way| !way.in_bursts()).collect()
}

fn times(rows: &[Row]) {
    by_way(
        "ns of CPU time per event, events alone included: median (least–greatest)",
        rows,
        of_all_events,
        |way| show(&way.ns, 1),
    );
    by_way(
        "The same relative to the exact tree of the same round",
        rows,
        of_all_events,
        |way| show(&way.ratios, 2),
    );
}

fn against_published(rows: &[Row]) {
    let Some(first) = rows.first() else { return };
    let names = first
        .rivals
        .iter()
        .map(|rival| first.ways[rival.ours].name.as_str());
    head(
        "ns per event with the paper's own data structures; ours divided by that, in the same round",
        1,
        &["trace"].into_iter().chain(names).collect::<Vec<_>>(),
    );
    for row in rows {
        let cells: Vec<String> = (row.rivals.iter())
            .map(|rival| format!("{}; {}", show(&rival.ns, 1), show(&rival.ratios, 2)))
            .collect();
        println!("| {} | {} |", row.name, cells.join(" | "));
    }
}

fn in_bursts(rows: &[Row]) {
    let columns: Vec<&str> = [
        "trace",
        "bursts",
        "events in bursts",
        "speed-up over the exact tree, of the replay",
        "of the analysis alone",
    ]
    .into_iter()
    .chain(ACCURACY)
    .collect();
    let title = format!(
        "Lazy Space Saving in bursts of {} in {} events (figure 13)",
        BURST.0, BURST.1
    );
    head(&title, 2, &columns);
    for row in rows {
        for (way, alone) in row.bursts() {
            let speed = |way: &Way| {
                show(
                    &way.ratios.iter().map(|ratio| 1.0 / ratio).collect::<Vec<f64>>(),
                    2,
                )
            };
            if let Some(found) = &way.found {
                println!(
                    "| {} | {} | {} | {} | {} | {} |",
                    row.name,
                    way.name,
                    percent(found.taken),
                    speed(way),
                    speed(alone),
                    accuracy_cells(&found.accuracy)
                );
            }
        }
    }
}

/// Share of all calls in the hottest contexts.
fn skew_of(truth: &Truth) -> Vec<f64> {
    let snapshot = truth.tree.snapshot();
    let nodes = snapshot.nodes();
    let mut calls: Vec<u64> = nodes.filter_map(|(_, _, bounds)| Some(bounds?.lower)).collect();
    calls.sort_unstable_by(|a, b| b.cmp(a));
    let all: u64 = calls.iter().sum();
    let of = |share: f64| {
        let hottest = ((calls.len() as f64 * share).ceil() as usize).min(calls.len());
        calls[..hottest].iter().sum::<u64>() as f64 / all.max(1) as f64
    };
    HOTTEST.map(of).to_vec()
}

fn skewness(rows: &[Row]) {
    let columns = HOTTEST.map(|share| format!("{} %", share * 100.0));
    let columns: Vec<&str> = ["trace"]
        .into_iter()
        .chain(columns.iter().map(String::as_str))
        .collect();
    head(
        "Calls in the hottest contexts, by share of the contexts (figure 1)",
        1,
        &columns,
    );
    for row in rows {
        let cells: Vec<String> = row.skew.iter().map(|share| percent(*share)).collect();
        println!("| {} | {} |", row.name, cells.join(" | "));
    }
}

fn coverage(rows: &[Row]) {
    let columns = PHIS.map(|phi| format!("phi = {phi:.0e}"));
    let columns: Vec<&str> = ["trace"]
        .into_iter()
        .chain(columns.iter().map(String::as_str))
        .collect();
    head(
        "From which tau on coverage is complete, exact hot tree (figure 8)",
        1,
        &columns,
    );
    for row in rows {
        let cells: Vec<String> = row.at_phi.iter().map(|at| format!("{:.2e}", at.tau)).collect();
        println!("| {} | {} |", row.name, cells.join(" | "));
    }
}

fn epsilons(rows: &[Row]) {
    let columns = RATIOS.map(|ratio| format!("phi / epsilon = {ratio}"));
    let columns: Vec<&str> = ["trace", "algorithm"]
        .into_iter()
        .chain(columns.iter().map(String::as_str))
        .collect();
    head(
        "Falsely reported, of what is reported, phi = 1e-4 (figure 10)",
        2,
        &columns,
    );
    for row in rows {
        for at in &row.at_epsilon {
            let cells: Vec<String> = at.shares.iter().map(|share| percent(*share)).collect();
            println!("| {} | {} | {} |", row.name, at.algorithm, cells.join(" | "));
        }
    }
}
