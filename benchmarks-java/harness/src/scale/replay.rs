//! A long trace through `trodden replay`: memory, and events a minute.
//!
//! The long trace is the recorded one again and again, with the same classes: each repetition's threads begin
//! and end anew. So a replay meets as many threads, chunks and words as in a long run, and what it holds must
//! not grow with them. It meets no new methods, paths or contexts after the first repetition: memory that
//! grows with those is not what this shows.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufReader, BufWriter};
use std::path::{Path, PathBuf};
use std::process::Command;

use trodden_profile::events::{EventKinds, ThreadInfo};
use trodden_profile::trace::{PackedChunk, TraceItem, TraceReader, TraceWriter};
use trodden_profile::{RunInfo, facts};

use super::process::{Cost, measure};
use super::{named_options, stem};
use crate::error::{Error, Result, io, load_profile};
use crate::progress;
use crate::record::Record;

/// Options of the measurement.
#[derive(clap::Args)]
pub struct Arguments {
    /// Size of the long trace in GB (10^9 bytes)
    #[arg(long, default_value_t = 10.0)]
    gigabytes: f64,
    /// What is made of it, as NAME:OPTIONS; may be repeated
    #[arg(long = "profile", default_values = DEFAULT)]
    profiles: Vec<String>,
    /// The one processor of the replays, by taskset
    #[arg(long)]
    processor: Option<u32>,
    /// Folder for the long trace, which is removed afterwards (default: that for temporary files)
    #[arg(long)]
    into: Option<PathBuf>,
    /// The trodden command (default: target/release/trodden)
    #[arg(long)]
    pub trodden: Option<PathBuf>,
    /// A recorded trace, with paths and with call sites
    trace: PathBuf,
}

const DEFAULT: [&str; 5] = [
    "paths:profile=paths",
    "kpaths:profile=kpaths,k=8",
    "contexts:profile=contexts",
    "contexts-exact:profile=contexts,algorithm=exact",
    "subpaths:profile=subpaths",
];

/// Events a minute that are aimed at.
const AIM: f64 = 100e6;

/// What a trace is made of, but for its words.
enum Item {
    Start(ThreadInfo),
    Words(PackedChunk),
    End(u64),
}

/// A recorded trace in memory: what comes once, and what is repeated.
struct Recorded {
    kinds: EventKinds,
    run: RunInfo,
    items: Vec<Item>,
    words: u64,
    bytes: u64,
}

/// Measures, and returns the summary.
///
/// # Errors
/// If the trace cannot be read, the long one not be written, or a replay fails or has not all of it.
pub fn run(arguments: &Arguments, trodden: &Path, record: &Record) -> Result<String> {
    let profiles: Vec<_> = arguments
        .profiles
        .iter()
        .map(|text| named_options(text))
        .collect::<Result<_>>()?;
    let mut builder = tempfile::Builder::new();
    builder.prefix("trodden-scale");
    let folder = match &arguments.into {
        Some(into) => builder.tempdir_in(into),
        None => builder.tempdir(),
    };
    let folder = folder.map_err(io("create a folder in", std::env::temp_dir()))?;
    let long = folder.path().join("long.trace");
    progress("writing the long trace");
    let (recorded, repetitions) = write_long(&arguments.trace, &long, arguments.gigabytes * 1e9)?;
    let bytes = std::fs::metadata(&long).map_err(io("read", &long))?.len();
    let mut raw = record.raw("profile,trace,repetitions,bytes,words,cpu_seconds,elapsed_seconds,peak_kib")?;
    let mut rows = String::new();
    for (name, pairs, _) in profiles {
        let mut costs = Vec::new();
        for (what, file, times) in [("recorded", &arguments.trace, 1), ("long", &long, repetitions)] {
            progress(&format!("{name} {what}"));
            let output = folder.path().join("replayed.trodden");
            let mut command = replay(trodden, arguments.processor, file, &output);
            for (option, value) in &pairs {
                command.arg(format!("--{option}")).arg(value);
            }
            let cost = measure("trodden replay", &mut command)?;
            let words = times * recorded.words;
            let profile = load_profile(&output, &name)?;
            if profile.run.facts.get(facts::EVENTS) != Some(words) {
                return Err(Error::Program {
                    program: "trodden replay".to_owned(),
                    problem: format!("{name}: not {words} events"),
                });
            }
            let size = if times == 1 { recorded.bytes } else { bytes };
            raw.line(&format!(
                "{name},{what},{times},{size},{words},{:.2},{:.2},{}",
                cost.cpu, cost.elapsed, cost.peak_kib
            ))?;
            costs.push((cost, words));
        }
        rows += &row(&name, &costs);
    }
    Ok(format!(
        "A trace of {:.1} GB: `{}` (JDK's run: {}; {} words, {:.1} MB) {} times, its threads beginning and ending anew each time; {:.2} bytes a word. Each profile by \
         `trodden replay` in a process of its own{}; processor time of the whole process, start and writing included; *peak*: the most memory that was resident (VmHWM). \
         A repetition has no new methods, paths or contexts, so this shows that memory does not grow with words, threads and bytes, not that it is small for a program with \
         more contexts.\n\n\
         | profile | words | processor time, s | ns a word | million events a minute and core | aim, 100 | peak, MiB | peak with the trace once, MiB |\n\
         | --- | ---: | ---: | ---: | ---: | --- | ---: | ---: |\n{rows}",
        bytes as f64 / 1e9,
        stem(&arguments.trace),
        recorded.run.jvm,
        recorded.words,
        recorded.bytes as f64 / 1e6,
        repetitions,
        bytes as f64 / (repetitions * recorded.words) as f64,
        arguments
            .processor
            .map_or(String::new(), |_| ", pinned to one processor".to_owned()),
    ))
}

fn replay(trodden: &Path, processor: Option<u32>, trace: &Path, output: &Path) -> Command {
    let mut command = match processor {
        Some(processor) => {
            let mut command = Command::new("taskset");
            command.arg("-c").arg(processor.to_string()).arg(trodden);
            command
        }
        None => Command::new(trodden),
    };
    command
        .arg("replay")
        .arg("--quiet")
        .arg(trace)
        .arg("-o")
        .arg(output);
    command
}

fn row(name: &str, costs: &[(Cost, u64)]) -> String {
    let [(once, _), (long, words)] = costs else {
        return String::new();
    };
    let rate = *words as f64 / long.cpu * 60.0;
    let mut text = String::new();
    let _ = writeln!(
        text,
        "| `{name}` | {words} | {:.1} | {:.1} | {:.0} | {} | {:.1} | {:.1} |",
        long.cpu,
        long.cpu * 1e9 / *words as f64,
        rate / 1e6,
        if rate >= AIM { "met" } else { "missed" },
        long.peak_kib as f64 / 1024.0,
        once.peak_kib as f64 / 1024.0,
    );
    text
}

/// Writes the recorded trace as often as makes at least `bytes`. Returns it, and how often.
fn write_long(trace: &Path, long: &Path, bytes: f64) -> Result<(Recorded, u64)> {
    let failed = |e: &dyn std::fmt::Display| Error::Table(format!("{}: {e}", trace.display()));
    let input = File::open(trace).map_err(io("read", trace))?;
    let size = input.metadata().map_err(io("read", trace))?.len();
    let mut reader = TraceReader::new(BufReader::with_capacity(1 << 16, input)).map_err(|e| failed(&e))?;
    let mut recorded = Recorded {
        kinds: reader.kinds(),
        run: RunInfo::default(),
        items: Vec::new(),
        words: 0,
        bytes: size,
    };
    let output = File::create(long).map_err(io("create", long))?;
    let output = BufWriter::with_capacity(1 << 20, output);
    let mut writer = TraceWriter::new(output, recorded.kinds, &RunInfo::default()).map_err(|e| failed(&e))?;
    let mut open = Vec::new();
    while let Some(item) = reader.next_item().map_err(|e| failed(&e))? {
        match item {
            TraceItem::Run(run) => recorded.run = run,
            TraceItem::Class { first_method, map } => {
                writer.define_class(first_method, &map).map_err(|e| failed(&e))?;
            }
            TraceItem::Conditions {
                first_method,
                methods,
            } => writer
                .conditions(first_method, &methods)
                .map_err(|e| failed(&e))?,
            TraceItem::Skipped(entries) => writer.skipped(&entries).map_err(|e| failed(&e))?,
            TraceItem::ThreadStart(info) => {
                open.push(info.id);
                recorded.items.push(Item::Start(info));
            }
            TraceItem::Words { thread, words } => {
                let mut chunk = PackedChunk::default();
                chunk.pack(thread, words);
                recorded.words += words.len() as u64;
                recorded.items.push(Item::Words(chunk));
            }
            TraceItem::ThreadEnd(id) => {
                open.retain(|&other| other != id);
                recorded.items.push(Item::End(id));
            }
        }
    }
    if reader.truncation().is_some() || recorded.words == 0 {
        return Err(failed(&"the trace is cut off, or has no words"));
    }
    // Ids are used again by the next repetition.
    recorded.items.extend(open.into_iter().map(Item::End));
    let mut repetitions = 0;
    while repetitions == 0 || (writer.written() as f64) < bytes {
        for item in &recorded.items {
            match item {
                Item::Start(info) => writer.thread_start(info),
                Item::Words(chunk) => writer.packed_chunk(chunk),
                Item::End(id) => writer.thread_end(*id),
            }
            .map_err(|e| failed(&e))?;
        }
        repetitions += 1;
    }
    writer.finish(&recorded.run).map_err(|e| failed(&e))?;
    recorded.items.clear();
    Ok((recorded, repetitions))
}

#[cfg(test)]
mod tests {
    use super::*;
    use trodden_profile::events::Word;

    #[test]
    fn a_trace_is_repeated_with_its_threads() {
        let folder = tempfile::tempdir().unwrap();
        let (short, long) = (
            folder.path().join("short.trace"),
            folder.path().join("long.trace"),
        );
        let kinds = EventKinds::ACTIVATION_PATHS;
        let mut writer = TraceWriter::new(File::create(&short).unwrap(), kinds, &RunInfo::default()).unwrap();
        for id in [1, 2] {
            writer
                .thread_start(&ThreadInfo {
                    id,
                    ..ThreadInfo::default()
                })
                .unwrap();
            writer
                .chunk(id, &[Word::only_path(0, 3).0, Word::only_path(0, 4).0])
                .unwrap();
        }
        writer.thread_end(1).unwrap();
        writer.finish(&RunInfo::default()).unwrap();
        let (recorded, repetitions) = write_long(&short, &long, 1000.0).unwrap();
        assert_eq!(recorded.words, 4);
        assert!(repetitions > 1);
        let mut reader = TraceReader::new(File::open(&long).unwrap()).unwrap();
        let (mut words, mut starts, mut ends) = (0, 0, 0);
        while let Some(item) = reader.next_item().unwrap() {
            match item {
                TraceItem::Words { words: these, .. } => words += these.len() as u64,
                TraceItem::ThreadStart(_) => starts += 1,
                TraceItem::ThreadEnd(_) => ends += 1,
                _ => {}
            }
        }
        assert!(reader.truncation().is_none());
        // The second thread never ended; the next repetition uses its id again, so it has to.
        assert_eq!(
            (words, starts, ends),
            (4 * repetitions, 2 * repetitions, 2 * repetitions)
        );
        assert!(long.metadata().unwrap().len() >= 1000);
    }
}
