//! Hot subpaths end to end: a program under the agent, and what the report says.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde::Deserialize;
use trodden_profile::events::{Event, Word};
use trodden_profile::trace::{TraceItem, TraceReader};
use trodden_profile::{MethodMap, Profile};

use crate::jdk::Jdk;
use crate::process;
use crate::profile::{SUSPICIOUS, agent_flag};
use crate::stress::java;
use crate::{Result, artefacts};

/// Longest time for a run.
const LIMIT: Duration = Duration::from_secs(300);

/// The parts of the report that are checked.
#[derive(Debug, Deserialize)]
pub struct Report {
    /// All about subpaths.
    pub subpaths: Section,
}

/// All about subpaths.
#[derive(Debug, Deserialize)]
pub struct Section {
    /// Which lengths were drawn.
    pub lengths: String,
    /// Where they begin.
    pub starts: String,
    /// Which are the same one.
    pub identity: String,
    /// Number of blocks after which older ones count half.
    pub half_life: Option<u64>,
    /// Only this number of last blocks of each thread count.
    pub sliding_window: Option<u64>,
    /// Mean distance between samples, smallest and largest of any thread and length.
    pub distance: [u64; 2],
    /// Different subpaths in the sample, and how many of them were left out of the profile.
    pub distinct: u64,
    /// See [`distinct`](Self::distinct).
    pub left_out: u64,
    /// True if everything was counted.
    pub exact: bool,
    /// Blocks that were executed.
    pub blocks: f64,
    /// Places where a subpath might have begun.
    pub places: f64,
    /// Largest sample of a thread, in bytes.
    pub peak_bytes: u64,
    /// Hottest first.
    pub subpaths: Vec<Subpath>,
}

/// One of them.
#[derive(Debug, Deserialize)]
pub struct Subpath {
    /// Blocks.
    pub length: u32,
    /// Share of the places where it might have begun.
    pub share: f64,
    /// The text report.
    pub text: String,
}

/// Runs a program of `stress/` under the agent with `profile=subpaths` and further options: what the report
/// says in JSON, and as text.
///
/// # Errors
/// If one of the two fails.
pub fn report(jdk: &Jdk, program: &str, options: &str) -> Result<(Report, String)> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("out.trodden");
    run(jdk, program, &format!("profile=subpaths{options}"), &file)?;
    said(&file)
}

fn said(file: &Path) -> Result<(Report, String)> {
    let json = show(file, &["--format", "json", "--top", "100"])?;
    Ok((serde_json::from_str(&json)?, show(file, &[])?))
}

/// A recorded run of a program of `stress/`, for any number of replays.
pub struct Recorded {
    folder: tempfile::TempDir,
}

impl Recorded {
    /// Records it, in the order of path ends.
    ///
    /// # Errors
    /// If it cannot be run.
    pub fn new(jdk: &Jdk, program: &str) -> Result<Self> {
        let recorded = Recorded {
            folder: tempfile::tempdir()?,
        };
        run(jdk, program, "profile=subpaths", &recorded.trace())?;
        Ok(recorded)
    }

    fn trace(&self) -> PathBuf {
        self.folder.path().join("out.trace")
    }

    /// The profile that `trodden replay` makes of it with these options, in the syntax of the agent string.
    ///
    /// # Errors
    /// If it cannot be replayed.
    pub fn replay(&self, options: &str) -> Result<Profile> {
        Ok(Profile::load(&self.replay_to_file(options)?)?)
    }

    /// What the report says of that profile, in JSON and as text.
    ///
    /// # Errors
    /// If it cannot be replayed.
    pub fn report(&self, options: &str) -> Result<(Report, String)> {
        said(&self.replay_to_file(options)?)
    }

    fn replay_to_file(&self, options: &str) -> Result<PathBuf> {
        let file = self.folder.path().join("replayed.trodden");
        let mut command = Command::new(&artefacts::artefacts()?.cli);
        command.arg("replay").arg(self.trace()).arg("-o").arg(&file);
        command.args(["--profile", "subpaths"]);
        for option in options.split(',').filter(|option| !option.is_empty()) {
            let (name, value) = option.split_once('=').ok_or("no value")?;
            command.args([&format!("--{name}"), value]);
        }
        process::run(&mut command, LIMIT)?.success()?;
        Ok(file)
    }
}

/// Runs a program of `stress/` under the agent with probe `events` and these options, which write to `file`.
fn run(jdk: &Jdk, program: &str, options: &str, file: &Path) -> Result<()> {
    let mut flags = SUSPICIOUS.map(str::to_owned).to_vec();
    flags.push(agent_flag(
        &format!("events,{options}"),
        &format!("{program}*"),
        file,
    )?);
    process::run(&mut java(program, jdk, &flags, &[])?, LIMIT)?.success()?;
    Ok(())
}

/// The profile of a program of `stress/` with `profile=subpaths` and further options.
///
/// # Errors
/// If it cannot be run.
pub fn live(jdk: &Jdk, program: &str, options: &str) -> Result<Profile> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("out.trodden");
    run(jdk, program, &format!("profile=subpaths{options}"), &file)?;
    Ok(Profile::load(&file)?)
}

/// A subpath: names of methods and numbers of blocks, from the least rotation's first on.
pub type Blocks = Vec<(String, u32)>;

/// What a recorded program executed, counted without the code that the product counts with: each subpath of
/// these lengths with how often it was executed, from its path ends; and the number of all blocks.
///
/// # Errors
/// If the trace cannot be read.
pub fn counted(recorded: &Recorded, lengths: &[usize]) -> Result<(HashMap<Blocks, u64>, u64)> {
    brute_force(&recorded.trace(), lengths)
}

fn brute_force(trace: &Path, lengths: &[usize]) -> Result<(HashMap<Blocks, u64>, u64)> {
    let mut reader = TraceReader::new(BufReader::new(File::open(trace)?))?;
    let mut methods: BTreeMap<u32, MethodMap> = BTreeMap::new();
    let mut streams: BTreeMap<u64, Vec<(u32, u32)>> = BTreeMap::new();
    let mut known: HashMap<(u32, u32), Vec<(u32, u32)>> = HashMap::new();
    while let Some(item) = reader.next_item()? {
        match item {
            TraceItem::Class { first_method, map } => {
                methods.extend((first_method..).zip(map.methods.iter().cloned()));
            }
            TraceItem::Words { thread, words } => {
                let stream = streams.entry(thread).or_default();
                for &word in words {
                    let (method, path) = match Word(word).decode()? {
                        Event::PathEnd { method, path }
                        | Event::LastPath { method, path }
                        | Event::OnlyPath { method, path } => (method, path),
                        Event::Gap => return Err("a gap".into()),
                        _ => continue,
                    };
                    if let Some(blocks) = known.get(&(method, path)) {
                        stream.extend(blocks);
                        continue;
                    }
                    let map = methods.get(&method).ok_or("no such method")?;
                    let regenerated = map.dag.regenerate(&map.graph, u64::from(path))?;
                    let blocks = regenerated.blocks(&map.graph);
                    let blocks: Vec<(u32, u32)> = blocks
                        .iter()
                        .map(|block| (method, block.index() as u32))
                        .collect();
                    stream.extend(&blocks);
                    known.insert((method, path), blocks);
                }
            }
            _ => {}
        }
    }
    let mut counts: HashMap<Blocks, u64> = HashMap::new();
    for stream in streams.values() {
        for &length in lengths {
            let mut windows: HashMap<&[(u32, u32)], u64> = HashMap::new();
            stream
                .windows(length)
                .for_each(|window| *windows.entry(window).or_default() += 1);
            for (window, count) in windows {
                let named = window
                    .iter()
                    .map(|&(method, block)| (methods[&method].name.clone(), block));
                *counts.entry(canonical(&named.collect::<Vec<_>>())).or_default() += count;
            }
        }
    }
    let blocks = streams.values().map(|stream| stream.len() as u64).sum();
    Ok((counts, blocks))
}

/// The least of all rotations, tried one by one.
fn canonical(blocks: &[(String, u32)]) -> Blocks {
    let rotation = |at: usize| [&blocks[at..], &blocks[..at]].concat();
    (0..blocks.len()).map(rotation).min().unwrap_or_default()
}

/// Estimate of each subpath of a profile, all of whose blocks are known.
///
/// # Errors
/// If one cannot be read.
pub fn estimates(profile: &Profile) -> Result<HashMap<Blocks, trodden_profile::Subpath>> {
    let section = profile.subpaths.as_ref().ok_or("no subpaths")?;
    let mut all = HashMap::new();
    for subpath in &section.subpaths {
        let mut blocks = Vec::new();
        for run in &subpath.runs {
            let map = &profile.classes[run.class].map.methods[run.method];
            let (some, _) = run.blocks_in(map).ok_or("a run of no path")?;
            for _ in 0..run.times {
                blocks.extend(some.iter().map(|&block| (map.name.clone(), block as u32)));
            }
        }
        if subpath.missing == 0 && all.insert(canonical(&blocks), subpath.clone()).is_some() {
            return Err("a subpath is there twice".into());
        }
    }
    Ok(all)
}

fn show(file: &Path, arguments: &[&str]) -> Result<String> {
    let mut command = Command::new(&artefacts::artefacts()?.cli);
    command.arg("report").arg(file).args(arguments);
    Ok(process::run(&mut command, LIMIT)?.success()?.stdout)
}
