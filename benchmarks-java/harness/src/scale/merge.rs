//! What merging the profiles of many threads takes.
//!
//! The words of a recorded trace are dealt out to so many threads, each a stretch of the same length.
//! Where a stretch begins, activations may be open: to an analysis that is a thread that was running when
//! profiling began. Three ways to merge are timed: a profile of a pipeline in which all threads still run
//! (what a report of a running program does), threads that end one after the other (each is added to the
//! common result under a lock), and [`trodden_profile::merge`] of as many profiles as there are threads
//! (what `trodden merge` does once files are read).

use std::fmt::Write as _;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::time::Instant;

use cpu_time::ThreadTime;
use trodden_analyses::MethodTable;
use trodden_analyses::stream::{Pipeline, ThreadStream};
use trodden_profile::events::ThreadInfo;
use trodden_profile::options::ProfileOptions;
use trodden_profile::trace::{TraceItem, TraceReader};
use trodden_profile::{Profile, merge};

use super::{named_options, stem};
use crate::error::{Error, Result, io};
use crate::progress;
use crate::record::{Raw, Record};
use crate::stats::Spread;

/// Options of the measurement.
#[derive(clap::Args)]
pub struct Arguments {
    /// Threads
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u64).range(1..))]
    threads: u64,
    /// Measurements of each time
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// What is profiled, as NAME:OPTIONS; may be repeated
    #[arg(long = "profile", default_values = DEFAULT)]
    profiles: Vec<String>,
    /// Recorded traces, with paths and with call sites
    #[arg(required = true)]
    traces: Vec<PathBuf>,
}

const DEFAULT: [&str; 5] = [
    "paths:profile=paths",
    "kpaths:profile=kpaths,k=4",
    "kpaths-16:profile=kpaths,k=16",
    "contexts:profile=contexts",
    "contexts-exact:profile=contexts,algorithm=exact",
];

/// Seconds that are aimed at.
const AIM: f64 = 1.0;

/// A way to merge, with its times: processor seconds of the one thread that does it, and elapsed ones.
struct Way {
    name: &'static str,
    seconds: Vec<[f64; 2]>,
}

/// Measures, and returns the summary.
///
/// # Errors
/// If a trace cannot be read, or ways to merge give different counts.
pub fn run(arguments: &Arguments, record: &Record) -> Result<String> {
    let mut raw = record.raw("trace,profile,threads,way,round,cpu_seconds,elapsed_seconds")?;
    let mut text = format!(
        "Merging the profiles of {} threads: the words of a recorded run, dealt out to so many threads. *Running*: a profile of all threads while they run. *Ending*: threads end one \
         after the other. *Profiles*: one profile for each thread, in memory, merged. Seconds of processor time of the one thread that merges, median (least-greatest) of {} rounds \
         (*ending*: of one). That paths were counted alike by all three ways was checked.\n\n\
         | trace | profile | words of a thread | running, s | ending, s | profiles, s | aim, 1 s |\n| --- | --- | ---: | ---: | ---: | ---: | --- |\n",
        arguments.threads, arguments.rounds
    );
    for trace in &arguments.traces {
        let words = words_of(trace)?;
        for profile in &arguments.profiles {
            let (name, _, options) = named_options(profile)?;
            progress(&format!("{} {name}", stem(trace)));
            let ways = measure(trace, words, &options, arguments)?;
            log(&mut raw, &stem(trace), &name, arguments.threads, &ways)?;
            text += &row(&stem(trace), &name, words / arguments.threads, &ways);
        }
    }
    Ok(text)
}

fn log(raw: &mut Raw, trace: &str, profile: &str, threads: u64, ways: &[Way]) -> Result<()> {
    for way in ways {
        for (round, [cpu, elapsed]) in way.seconds.iter().enumerate() {
            raw.line(&format!(
                "{trace},{profile},{threads},{},{round},{cpu:.6},{elapsed:.6}",
                way.name
            ))?;
        }
    }
    Ok(())
}

fn row(trace: &str, profile: &str, words: u64, ways: &[Way]) -> String {
    let spreads: Vec<Option<Spread>> = ways
        .iter()
        .map(|way| Spread::of(&way.seconds.iter().map(|[cpu, _]| *cpu).collect::<Vec<_>>()))
        .collect();
    let met = spreads.iter().flatten().all(|spread| spread.median <= AIM);
    let cells: Vec<String> = spreads
        .iter()
        .map(|spread| spread.map_or_else(String::new, |s| s.show(3)))
        .collect();
    let mut text = String::new();
    let _ = writeln!(
        text,
        "| {trace} | `{profile}` | {words} | {} | {} |",
        cells.join(" | "),
        if met { "met" } else { "missed" }
    );
    text
}

/// Times something, with the processor time of this thread.
fn time<T>(f: impl FnOnce() -> T) -> ([f64; 2], T) {
    let (cpu, elapsed) = (ThreadTime::now(), Instant::now());
    let result = f();
    (
        [cpu.elapsed().as_secs_f64(), elapsed.elapsed().as_secs_f64()],
        result,
    )
}

fn reader(trace: &Path) -> Result<TraceReader<BufReader<File>>> {
    let input = File::open(trace).map_err(io("read", trace))?;
    TraceReader::new(BufReader::with_capacity(1 << 16, input)).map_err(|e| failed(trace, &e))
}

fn failed(trace: &Path, e: &dyn std::fmt::Display) -> Error {
    Error::Table(format!("{}: {e}", trace.display()))
}

fn words_of(trace: &Path) -> Result<u64> {
    let (mut reader, mut total) = (reader(trace)?, 0);
    while let Some(item) = reader.next_item().map_err(|e| failed(trace, &e))? {
        if let TraceItem::Words { words, .. } = item {
            total += words.len() as u64;
        }
    }
    match total {
        0 => Err(failed(trace, &"the trace has no words")),
        total => Ok(total),
    }
}

/// Deals the trace's words out to threads: the n-th gets the n-th stretch. Classes go to each pipeline and to
/// the table.
fn deal(
    trace: &Path,
    words: u64,
    pipelines: &[Pipeline],
    threads: &[ThreadStream],
    table: &mut MethodTable,
) -> Result<()> {
    let stretch = words.div_ceil(threads.len() as u64);
    let mut reader = reader(trace)?;
    let mut at = 0;
    while let Some(item) = reader.next_item().map_err(|e| failed(trace, &e))? {
        match item {
            TraceItem::Class { first_method, map } => {
                for shared in pipelines.iter().filter_map(Pipeline::methods) {
                    let map = std::sync::Arc::clone(&map);
                    shared
                        .insert_class(first_method, map)
                        .map_err(|e| failed(trace, &e))?;
                }
                table
                    .insert_class(first_method, map)
                    .map_err(|e| failed(trace, &e))?;
            }
            TraceItem::Words { words, .. } => {
                let mut rest = words;
                while !rest.is_empty() {
                    let thread = (at / stretch) as usize;
                    let room = ((thread as u64 + 1) * stretch - at).min(rest.len() as u64);
                    let (now, later) = rest.split_at(room as usize);
                    threads[thread].consume(now);
                    at += room;
                    rest = later;
                }
            }
            _ => {}
        }
    }
    Ok(())
}

fn open(pipeline: &Pipeline, id: u64) -> ThreadStream {
    pipeline.open(ThreadInfo {
        id,
        name: format!("thread {id}"),
        is_virtual: false,
    })
}

fn measure(trace: &Path, words: u64, options: &ProfileOptions, arguments: &Arguments) -> Result<Vec<Way>> {
    let pipeline = || Pipeline::from_options(options).map_err(|e| failed(trace, &e));
    let count = arguments.threads;
    let mut running = Way {
        name: "running",
        seconds: Vec::new(),
    };
    let mut profiles = Way {
        name: "profiles",
        seconds: Vec::new(),
    };
    let mut table = MethodTable::default();
    let together = [pipeline()?];
    let threads: Vec<ThreadStream> = (1..=count).map(|id| open(&together[0], id)).collect();
    deal(trace, words, &together, &threads, &mut table)?;
    let mut live = Profile::default();
    for _ in 0..arguments.rounds {
        let (seconds, profile) = time(|| together[0].profile(&table));
        live = profile.map_err(|e| failed(trace, &e))?;
        running.seconds.push(seconds);
    }
    let (seconds, ()) = time(|| threads.into_iter().for_each(ThreadStream::end));
    let ending = Way {
        name: "ending",
        seconds: vec![seconds],
    };
    let ended = together[0].profile(&table).map_err(|e| failed(trace, &e))?;

    let apart: Vec<Pipeline> = (0..count).map(|_| pipeline()).collect::<Result<_>>()?;
    let threads: Vec<ThreadStream> = apart
        .iter()
        .zip(1..)
        .map(|(pipeline, id)| open(pipeline, id))
        .collect();
    deal(trace, words, &apart, &threads, &mut MethodTable::default())?;
    let each: Vec<Profile> = apart
        .iter()
        .map(|pipeline| pipeline.profile(&table).map_err(|e| failed(trace, &e)))
        .collect::<Result<_>>()?;
    drop((threads, apart));
    let mut merged = Profile::default();
    for _ in 0..arguments.rounds {
        let (seconds, profile) = time(|| merge(&each));
        merged = profile.map_err(|e| failed(trace, &e))?;
        profiles.seconds.push(seconds);
    }
    let counted = |profile: &Profile| {
        let counts = profile.classes.iter().flat_map(|class| &class.counts);
        let calls = profile.contexts.as_ref().map(|contexts| contexts.calls);
        (counts.map(|counts| counts.total()).sum::<u64>(), calls)
    };
    let all = [&live, &ended, &merged].map(counted);
    if all[1..].iter().any(|other| *other != all[0]) {
        return Err(failed(
            trace,
            &format!("ways to merge give different counts: {all:?}"),
        ));
    }
    Ok(vec![running, ending, profiles])
}
