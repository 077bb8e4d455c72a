//! What is measured for a paper: commands of this program, each of which makes a run.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::Name;
use super::kblpp::SEQUENCES;
use crate::error::{Error, Result, io, load_profile};
use crate::progress;
use crate::record::Record;
use crate::workload::{self, Workload};
use crate::workspace::{self, Jdk, Workspace};

/// With what.
#[derive(clap::Args)]
#[group(skip)]
pub struct Arguments {
    /// JDK home
    #[arg(long)]
    jdk: Option<PathBuf>,
    /// The one processor of everything, by taskset
    #[arg(long)]
    processor: Option<u32>,
    /// Applications (default: all; with --quick some)
    #[arg(long, value_delimiter = ',')]
    workload: Vec<String>,
    /// Folder for traces, which are removed afterwards (default: that for temporary files)
    #[arg(long)]
    into: Option<PathBuf>,
}

/// Sizes of measurements.
struct Size {
    /// Programs that are run, and those whose recordings are looked at.
    run: &'static str,
    paths: &'static str,
    contexts: &'static str,
    subpaths: &'static str,
    pairs: &'static str,
    warmup: &'static str,
    iterations: &'static str,
    /// Of table kpaths and contexts.
    path_ends: &'static str,
    words: &'static str,
    rounds: &'static str,
    /// Of table subpaths.
    blocks: &'static str,
    structural: &'static str,
}

const FULL: Size = Size {
    run: "apps",
    paths: "convolution,tasktags,lexergen,heapsort,raytracer,db,compress,recursion,javac,ecj,jackson,xalan,h2,jython",
    contexts: "jackson,xalan,ecj,javac,jython,h2,recursion,raytracer",
    subpaths: "fft,heapsort,moldyn,raytracer,lexergen,javac",
    pairs: "5",
    warmup: "4",
    iterations: "3",
    path_ends: "10000000",
    words: "52428800",
    rounds: "5",
    blocks: "60000000",
    structural: "fft:40,heapsort:40,moldyn:40,raytracer:40,lexergen:40,sieve:40,db:40,jackson:30,xalan:45,ecj:10",
};
const QUICK: Size = Size {
    run: "jackson,rhino",
    paths: "convolution,tasktags,heapsort,jackson",
    contexts: "jackson,recursion",
    subpaths: "fft,lexergen",
    pairs: "2",
    warmup: "2",
    iterations: "1",
    path_ends: "1000000",
    words: "8388608",
    rounds: "2",
    blocks: "5000000",
    structural: "fft:5",
};

/// Measures what a paper's part of the page is made of.
///
/// # Errors
/// If a command fails, or a run of that name is there already.
pub fn measure(workspace: &Workspace, paper: Name, quick: bool, arguments: &Arguments) -> Result<()> {
    let size = if quick { QUICK } else { FULL };
    let bench = Bench { workspace, arguments };
    let run = if arguments.workload.is_empty() {
        size.run.to_owned()
    } else {
        arguments.workload.join(",")
    };
    match paper {
        Name::Pep => {
            let sizes = ["--warmup", size.warmup, "--iterations", size.iterations];
            let mut words = vec![
                "run",
                "--label",
                "papers-pep-overhead",
                "--workload",
                &run,
                "--configs",
                "base",
            ];
            for config in [
                "--config=idle:probe=yieldpoint,schedule=timer,interval=1000s",
                "--config=timer:probe=yieldpoint,schedule=timer",
                "--config=sag:probe=yieldpoint,schedule=sag:64:17",
                "--config=sag256:probe=yieldpoint,schedule=sag:256:17",
                "--config=sag1024:probe=yieldpoint,schedule=sag:1024:17",
                "--config=counters:probe=counters",
            ] {
                words.push(config);
            }
            words.extend(["--pairs", size.pairs]);
            words.extend(sizes);
            bench.run(&words, true)?;
            let schedules = "timer,ag:64:17,sag:64:17,sag:256:17,sag:1024:17,span:1ms:256";
            let mut words = vec!["accuracy", "--label", "papers-pep-accuracy", "--workload", &run];
            words.extend([
                "--schedules",
                schedules,
                "--trials",
                if quick { "1" } else { "5" },
            ]);
            words.extend(sizes);
            bench.run(&words, true)
        }
        Name::Kblpp => {
            bench.sequences()?;
            bench.table(
                "papers-kblpp",
                "kpaths",
                size.paths,
                &["kpaths", "--paths", size.path_ends, "--rounds", size.rounds],
            )
        }
        Name::Hcct => bench.table(
            "papers-hcct",
            "contexts",
            size.contexts,
            &["contexts", "--words", size.words, "--rounds", size.rounds],
        ),
        Name::Osp => {
            bench.table(
                "papers-osp",
                "kpaths",
                size.subpaths,
                &[
                    "subpaths",
                    "--rounds",
                    size.rounds,
                    "--windows",
                    "3000000",
                    "--blocks",
                    size.blocks,
                ],
            )?;
            let mut words = vec![
                "run",
                "--label",
                "papers-osp-overhead",
                "--workload",
                size.subpaths,
            ];
            words.extend([
                "--configs",
                "base",
                "--config=probes:profile=subpaths,footprint=64k",
            ]);
            words.extend([
                "--pairs",
                size.pairs,
                "--warmup",
                size.warmup,
                "--iterations",
                size.iterations,
            ]);
            bench.run(&words, true)
        }
        Name::Spp => {
            let mut words = vec!["structural", "--label", "papers-spp", "--work", size.structural];
            words.extend(["--rounds", "1"]);
            bench.run(&words, true)
        }
        Name::All => Ok(()),
    }
}

struct Bench<'a> {
    workspace: &'a Workspace,
    arguments: &'a Arguments,
}

impl Bench<'_> {
    fn jdk(&self) -> Result<Jdk> {
        let homes: Vec<PathBuf> = self.arguments.jdk.iter().cloned().collect();
        Ok(Jdk::find(&homes)?.swap_remove(0))
    }

    /// This program, on the one processor.
    fn command(&self) -> Result<Command> {
        let program = std::env::current_exe().map_err(io("find", "this program"))?;
        let mut command = match self.arguments.processor {
            Some(processor) => {
                let mut command = Command::new("taskset");
                command.arg("-c").arg(processor.to_string()).arg(program);
                command
            }
            None => Command::new(program),
        };
        command.arg("--root").arg(self.workspace.root());
        Ok(command)
    }

    fn run(&self, words: &[&str], with_jdk: bool) -> Result<()> {
        progress(&words.join(" "));
        let mut command = self.command()?;
        command.args(words);
        if with_jdk {
            command.arg("--jdk").arg(&self.jdk()?.home).arg("--jvm=-Xmx1g");
        }
        done(words[0], &mut command)
    }

    /// Traces of these workloads, and a table of them, as a run.
    fn table(&self, label: &str, kind: &str, workloads: &str, words: &[&str]) -> Result<()> {
        let folder = match &self.arguments.into {
            Some(into) => tempfile::tempdir_in(into),
            None => tempfile::tempdir(),
        };
        let folder = folder.map_err(io("create a folder in", std::env::temp_dir()))?;
        let into = folder.path().to_string_lossy();
        let traces = [
            "traces",
            "--profile",
            kind,
            "--workload",
            workloads,
            "--into",
            &into,
        ];
        self.run(&traces, true)?;
        let record = Record::create(self.workspace, label, &[self.jdk()?])?;
        let mut command = self.command()?;
        command.arg("table").args(words);
        if words[0] != "subpaths" {
            command.arg("--raw").arg(record.folder().join("raw.csv"));
        }
        let names: Vec<&str> = workloads.split(',').collect();
        let trace = |name: &&str| folder.path().join(format!("{name}.trace"));
        if words[0] == "subpaths" {
            // A file for each program.
            for name in &names {
                let mut command = self.command()?;
                command.arg("table").args(words).arg(trace(name));
                print_into(&mut command, &record.folder().join(format!("{name}.md")))?;
            }
        } else {
            command.args(names.iter().map(trace));
            print_into(&mut command, &record.folder().join("summary.md"))?;
        }
        let lines = format!(
            "trodden-bench {} --jvm=-Xmx1g --into T\ntrodden-bench table {} {}\n",
            traces[..5].join(" "),
            words.join(" "),
            names
                .iter()
                .map(|name| format!("T/{name}.trace"))
                .collect::<Vec<_>>()
                .join(" ")
        );
        record.write("command.txt", &lines)
    }

    /// k-BLPP's figures 6 and 9: sequences of two kernels, from whole profiles.
    fn sequences(&self) -> Result<()> {
        let jdk = self.jdk()?;
        let record = Record::create(
            self.workspace,
            "papers-kblpp-sequences",
            std::slice::from_ref(&jdk),
        )?;
        let mut raw = record.raw(SEQUENCES)?;
        let trodden = workspace::find_trodden(self.workspace, None)?;
        let folder = tempfile::tempdir().map_err(io("create a folder in", std::env::temp_dir()))?;
        let mut text = String::from(
            "Sequences of paths of two kernels, one iteration, JDK of versions.txt: how often each came, and how often its first path (of *share*: all paths of the loop).\n\n\
             | kernel | what | sequence | count | of |\n| --- | --- | --- | ---: | ---: |\n",
        );
        for (kernel, method, k) in [("convolution", "filter", "10"), ("tasktags", "scan", "11")] {
            progress(&format!("{kernel}, k = {k}"));
            let chosen = workload::choose(self.workspace, &[kernel.to_owned()])?;
            let file = folder.path().join(format!("{kernel}.trodden"));
            record_kpaths(&trodden, &jdk, &chosen[0], k, &file)?;
            for line in sequences_of(&file, kernel, method)? {
                raw.line(&line)?;
                text += &format!("| {} |\n", line.replace(',', " | "));
            }
        }
        record.write("summary.md", &text)
    }
}

fn record_kpaths(trodden: &Path, jdk: &Jdk, workload: &Workload, k: &str, file: &Path) -> Result<()> {
    let mut command = Command::new(trodden);
    command
        .args([
            "run",
            "--quiet",
            "--profile",
            "kpaths",
            "--k",
            k,
            "--include",
            "trodden.kernels.*",
            "-o",
        ])
        .arg(file)
        .arg("--")
        .arg(jdk.java())
        .args(&workload.arguments)
        .args(["--warmup", "0", "--iterations", "1"]);
    done("trodden run", &mut command)
}

/// Lines about the loop of a method: for the filter the two paths that repeat, for the scanner the sequence
/// that a word of four letters makes, which is the hottest one of eleven paths that begins as it ends.
fn sequences_of(file: &Path, kernel: &str, method: &str) -> Result<Vec<String>> {
    let wrong = |problem: &str| Error::Table(format!("{kernel}: {problem}"));
    let profile = load_profile(file, kernel)?;
    let kpaths = profile
        .kpaths
        .as_ref()
        .ok_or_else(|| wrong("no k-iteration paths"))?;
    let class = if kernel == "convolution" {
        "MaskedConvolution"
    } else {
        "TaskTagScanner"
    };
    let named = |(class_at, method_at): &(usize, usize)| {
        let map = &profile.classes[*class_at].map;
        map.name.ends_with(class) && map.methods[*method_at].name == method
    };
    let forest = kpaths
        .methods
        .iter()
        .find(|(key, _)| named(key))
        .map(|(_, forest)| forest);
    let forest = forest.ok_or_else(|| wrong("the method has no paths"))?;
    let dashed = |sequence: &[u64]| sequence.iter().map(u64::to_string).collect::<Vec<_>>().join("-");
    let mut lines = Vec::new();
    if kernel == "convolution" {
        // The paths that are followed by themselves nine times: the copy is the more frequent one.
        let mut turns: Vec<(u64, u64, u64)> = forest
            .roots()
            .map(|(_, root)| (root.count, root.path, forest.count(&[root.path; 10])))
            .filter(|(_, _, ten)| *ten > 0)
            .collect();
        turns.sort_unstable_by(|a, b| b.cmp(a));
        let all: u64 = turns.iter().map(|(count, ..)| count).sum();
        for ((count, path, ten), what) in turns.iter().zip(["copy", "convolve"]) {
            lines.push(format!("{kernel},{what},{},{ten},{count}", dashed(&[*path; 10])));
        }
        if let Some((count, path, _)) = turns.first() {
            lines.push(format!("{kernel},share,{path},{count},{all}"));
        }
    } else {
        let whole = forest.sequences().filter(|(sequence, _)| {
            sequence.len() == 11 && sequence[0] == sequence[10] && sequence[..5] == sequence[5..10]
        });
        // Not the one that only repeats a single path.
        let best = whole
            .filter(|(sequence, _)| sequence[0] != sequence[1])
            .max_by_key(|(_, count)| *count);
        let (sequence, count) = best.ok_or_else(|| wrong("no sequence comes twice in a row"))?;
        let of = forest.count(&sequence[..1]);
        lines.push(format!("{kernel},sequence,{},{count},{of}", dashed(&sequence)));
    }
    Ok(lines)
}

fn done(name: &str, command: &mut Command) -> Result<()> {
    let status = command
        .stdout(std::process::Stdio::null())
        .status()
        .map_err(io("start", name))?;
    if status.success() {
        Ok(())
    } else {
        Err(Error::Program {
            program: name.to_owned(),
            problem: status.to_string(),
        })
    }
}

fn print_into(command: &mut Command, file: &Path) -> Result<()> {
    let output = File::create(file).map_err(io("create", file))?;
    let status = command
        .stdout(output)
        .status()
        .map_err(io("start", "trodden-bench table"))?;
    if status.success() {
        Ok(())
    } else {
        Err(Error::Program {
            program: "trodden-bench table".to_owned(),
            problem: status.to_string(),
        })
    }
}
