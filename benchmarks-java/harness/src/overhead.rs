//! What tools cost from the start of a JVM to its end: interleaved runs of the same work, without a tool and
//! with each tool, every one pinned to one processor.
//!
//! The same number of iterations of every run gives the same work, so figures are ratios of processor time:
//! of the whole process from start to exit (start-up and the writing of results included), of the iterations
//! that the run without a tool did in its first seconds of processor time, and of the second half of all
//! iterations.

use std::path::{Path, PathBuf};

use crate::error::{Error, Result, io};
use crate::jvm::{Config, Length};
use crate::long;
use crate::record::Record;
use crate::stats::{Spread, geometric_mean};
use crate::workload::Workload;
use crate::workspace::Workspace;
use crate::{Plan, progress};

/// Options of the measurement.
#[derive(clap::Args)]
pub struct Arguments {
    /// Programs, as NAME:ITERATIONS, or as NAME:SECONDSs for as many iterations as the first run without a
    /// tool needs for so much processor time; a program may be there several times, for short and long runs
    #[arg(long, value_delimiter = ',', required = true)]
    pub work: Vec<String>,
    /// Tools: run (`trodden run`), again (`trodden run --again` after a run),
    /// production (`trodden run --production`), prefixes (`--production=prefixes`), counters, yieldpoint,
    /// safepoint, coverage, NAME:AGENT-OPTIONS, jacoco, async-profiler, jfr, or NAME=JVM-OPTION for another
    /// agent
    #[arg(long, required = true)]
    pub tool: Vec<String>,
    /// Rounds of each program
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub rounds: u32,
    /// The one processor of all JVMs
    #[arg(long)]
    pub processor: Option<u32>,
    /// The trodden program (default: the release build's)
    #[arg(long)]
    pub trodden: Option<PathBuf>,
    /// Marks: the seconds of processor time of the run without a tool at which ratios are taken as well
    #[arg(long, value_delimiter = ',', default_value = "10")]
    pub marks: Vec<u32>,
}

/// The run without a tool.
pub const BASE: &str = "base";

/// The tool that goes by what a run before it found.
const AGAIN: &str = "again";

/// A tool by its name: what starts the JVM, or what its command line gets.
///
/// # Errors
/// If there is no such tool, or its files have not been fetched.
pub fn tool(workspace: &Workspace, trodden: &Path, name: &str, folder: &Path) -> Result<Config> {
    let of_jvm = |options: String| Config {
        name: name.to_owned(),
        jvm: vec![options],
        ..Config::default()
    };
    let out = |file: &str| folder.join(file).display().to_string();
    let by_command = |variables: &[String], options: &[&str], file: &str| {
        let command = ["env".to_owned()].into_iter().chain(variables.to_vec());
        let words = [&trodden.display().to_string(), "run", "--quiet"];
        let words = words.iter().chain(options).map(|word| (*word).to_owned());
        Config {
            name: name.to_owned(),
            launcher: command.chain(words).chain(["-o".to_owned(), out(file)]).collect(),
            ..Config::default()
        }
    };
    Ok(match name {
        // Runs are remembered; each tool's apart from the other's.
        "run" => by_command(&[format!("XDG_CACHE_HOME={}", out("cache-run"))], &[], "run.html"),
        AGAIN => by_command(
            &[format!("XDG_CACHE_HOME={}", out("cache"))],
            &["--again"],
            "again.html",
        ),
        "production" => by_command(&[], &["--production"], "production.trodden"),
        "prefixes" => by_command(&[], &["--production=prefixes"], "prefixes.trodden"),
        "coverage" => Config::parse("coverage:profile=coverage")?,
        "jacoco" => {
            let agent = first(workspace, "jacoco-agent")?;
            of_jvm(format!(
                "-javaagent:{}=destfile={}",
                agent.display(),
                out("jacoco.exec")
            ))
        }
        "async-profiler" => {
            let library = folder.join("libasyncProfiler.so");
            if !library.exists() {
                unpack(&first(workspace, "async")?, &library)?;
            }
            of_jvm(format!(
                "-agentpath:{}=start,event=cpu,interval=1ms,collapsed,log={},file={}",
                library.display(),
                out("async.log"),
                out("async.txt")
            ))
        }
        "jfr" => {
            let recording = format!(
                "-XX:StartFlightRecording=settings=profile,filename={}",
                out("jfr.jfr")
            );
            let mut config = of_jvm(recording);
            // What it says on standard output would be taken for the program's.
            config.jvm.push("-Xlog:jfr+startup=off".to_owned());
            config
        }
        other => match other.split_once('=') {
            Some((name, option)) if option.starts_with('-') => Config {
                name: name.to_owned(),
                ..of_jvm(option.to_owned())
            },
            _ => Config::parse(other)?,
        },
    })
}

fn first(workspace: &Workspace, set: &str) -> Result<PathBuf> {
    let files = workspace.set(set)?;
    files
        .into_iter()
        .next()
        .ok_or_else(|| Error::Usage(format!("set '{set}' is empty")))
}

/// The library of async-profiler for this system, out of the archive that carries those for all.
fn unpack(archive: &Path, to: &Path) -> Result<()> {
    let broken = |e: zip::result::ZipError| Error::Usage(format!("{}: {e}", archive.display()));
    let file = std::fs::File::open(archive).map_err(io("open", archive))?;
    let mut zip = zip::ZipArchive::new(file).map_err(broken)?;
    let suffix = if cfg!(target_arch = "x86_64") {
        "-linux-x64.so"
    } else {
        "-linux-arm64.so"
    };
    let is_it = |name: &String| name.contains("libasyncProfiler") && name.ends_with(suffix);
    let names = zip.file_names().filter_map(|name| Some(name.ok()?.into_owned()));
    let name = { names }.find(is_it);
    let name = name.ok_or_else(|| Error::Usage(format!("{}: no library for Linux", archive.display())))?;
    let mut entry = zip.by_name(&name).map_err(broken)?;
    let mut library = std::fs::File::create(to).map_err(io("create", to))?;
    std::io::copy(&mut entry, &mut library).map_err(io("write", to))?;
    Ok(())
}

/// Processor time of all processes that this one has waited for, in seconds, by the system's clock ticks.
///
/// # Errors
/// If the system does not tell.
pub fn of_children() -> Result<f64> {
    let text = std::fs::read_to_string("/proc/self/stat").map_err(io("read", "/proc/self/stat"))?;
    let ticks =
        children_ticks(&text).ok_or_else(|| Error::Usage("/proc/self/stat is not as expected".to_owned()))?;
    Ok(ticks as f64 / rustix::param::clock_ticks_per_second() as f64)
}

/// Fields 16 and 17, counted behind the name of the program, which may have spaces and parentheses.
fn children_ticks(stat: &str) -> Option<u64> {
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    Some(fields.get(13)?.parse::<u64>().ok()? + fields.get(14)?.parse::<u64>().ok()?)
}

/// Ratios of a run to the one without a tool.
pub struct Ratios {
    /// Of the whole process.
    pub whole: f64,
    /// Of each mark that the run without a tool reached.
    pub marks: Vec<Option<f64>>,
    /// Of the second half of the iterations.
    pub late: f64,
}

/// The processor time of a run.
#[derive(Debug)]
pub struct Measured {
    /// Of each iteration, in nanoseconds.
    pub iterations: Vec<f64>,
    /// Of the whole process, in seconds.
    pub whole: f64,
}

/// The ratios of the second run to the first, which had no tool.
pub fn ratios(base: &Measured, run: &Measured, marks: &[u32]) -> Ratios {
    let at = |seconds: &u32| {
        let mut sum = 0.0;
        let enough = base.iterations.iter().position(|nanos| {
            sum += nanos;
            sum >= f64::from(*seconds) * 1e9
        })?;
        Some(run.iterations.get(..=enough)?.iter().sum::<f64>() / sum)
    };
    Ratios {
        whole: run.whole / base.whole,
        marks: marks.iter().map(at).collect(),
        late: long::halves(&run.iterations)[1] / long::halves(&base.iterations)[1],
    }
}

/// Measures, and returns the summary.
///
/// # Errors
/// If a program fails, or its results differ between tools.
pub fn run(
    plan: &Plan,
    workspace: &Workspace,
    work: &[(Workload, Length)],
    arguments: &Arguments,
    trodden: &Path,
    record: &Record,
) -> Result<String> {
    let folder = tempfile::tempdir().map_err(io("create a folder in", std::env::temp_dir()))?;
    let base = Config::parse(BASE)?;
    let mut configs = vec![base];
    for name in &arguments.tool {
        configs.push(tool(workspace, trodden, name, folder.path())?);
    }
    let mut raw = record.raw("jdk,app,tool,round,iteration,nanos,cpu_nanos,checksum")?;
    let mut wholes = record.csv(
        "whole.csv",
        "jdk,app,iterations,tool,round,cpu_seconds,elapsed_seconds",
    )?;
    let mut all: Vec<(String, String, Vec<Vec<Ratios>>)> = Vec::new();
    let mut text = String::new();
    for (program, mut length) in long::programs(plan, work, folder.path()) {
        let (jdk, workload) = (program.jdk, program.workload);
        let mut of_program: Vec<Vec<Ratios>> = configs.iter().map(|_| Vec::new()).collect();
        let mut seconds = Vec::new();
        for round in 0..arguments.rounds {
            let mut plain = None;
            for (config, of_tool) in configs.iter().zip(&mut of_program) {
                progress(&format!(
                    "{} {} {} {}",
                    jdk.version,
                    workload.name,
                    config.name,
                    round + 1
                ));
                if config.name == AGAIN && round == 0 {
                    program.run(config, length, &config.jvm, arguments.processor)?;
                }
                let before = of_children()?;
                let run = program.run(config, length, &config.jvm, arguments.processor)?;
                let whole = of_children()? - before;
                let iterations = run.iterations.len() as u32;
                length = Length::Iterations(iterations);
                for i in &run.iterations {
                    raw.line(&format!(
                        "{},{},{},{round},{},{},{},{}",
                        jdk.version, workload.name, config.name, i.number, i.nanos, i.cpu_nanos, i.checksum
                    ))?;
                }
                wholes.line(&format!(
                    "{},{},{iterations},{},{round},{whole:.2},{:.2}",
                    jdk.version,
                    workload.name,
                    config.name,
                    run.elapsed.as_secs_f64()
                ))?;
                let measured = Measured {
                    iterations: run.each(),
                    whole,
                };
                let result = run.iterations.first().map(|i| i.checksum.clone());
                match &plain {
                    None => {
                        seconds.push(whole);
                        plain = Some((measured, result));
                    }
                    Some((plain, expected)) => {
                        if *expected != result {
                            return Err(Error::Program {
                                program: workload.name.clone(),
                                problem: format!("results differ under {}", config.name),
                            });
                        }
                        of_tool.push(ratios(plain, &measured, &arguments.marks));
                    }
                }
            }
        }
        of_program.remove(0);
        let length = Spread::of(&seconds).map_or(0.0, |s| s.median);
        let name = format!("{} ({length:.0} s)", workload.name);
        all.push((jdk.version.clone(), name, of_program));
        text = summary(&all, &configs[1..], &arguments.marks);
        record.write("summary.md", &text)?;
    }
    Ok(text)
}

/// A table per figure: a row per program, a column per tool.
fn summary(all: &[(String, String, Vec<Vec<Ratios>>)], tools: &[Config], marks: &[u32]) -> String {
    let mut text = "Processor time with a tool, divided by that without one, in the same round; medians of the rounds, with \
                    least and greatest. In brackets: processor time without a tool, from start to exit.\n"
        .to_owned();
    type Figure<'a> = Box<dyn Fn(&Ratios) -> Option<f64> + 'a>;
    let mut figures: Vec<(String, Figure)> =
        vec![("Whole process".to_owned(), Box::new(|r: &Ratios| Some(r.whole)))];
    for (index, mark) in marks.iter().enumerate() {
        figures.push((
            format!("Iterations of the first {mark} s"),
            Box::new(move |r: &Ratios| r.marks[index]),
        ));
    }
    figures.push((
        "Second half of the iterations".to_owned(),
        Box::new(|r: &Ratios| Some(r.late)),
    ));
    for (title, figure) in figures {
        let mut head = vec!["JDK".to_owned(), "program".to_owned()];
        head.extend(tools.iter().map(|tool| tool.name.clone()));
        let mut rows = vec![head];
        let mut medians: Vec<Vec<f64>> = tools.iter().map(|_| Vec::new()).collect();
        for (jdk, program, of_program) in all {
            let mut row = vec![jdk.clone(), program.clone()];
            for (of_tool, medians) in of_program.iter().zip(&mut medians) {
                let values: Vec<f64> = of_tool.iter().filter_map(&figure).collect();
                row.push(Spread::of(&values).map_or("–".to_owned(), |spread| {
                    medians.push(spread.median);
                    spread.show(3)
                }));
            }
            rows.push(row);
        }
        let mut mean = vec![String::new(), "**geometric mean**".to_owned()];
        mean.extend(
            medians.iter().map(|values| {
                geometric_mean(values).map_or("–".to_owned(), |mean| format!("**{mean:.3}**"))
            }),
        );
        rows.push(mean);
        text.push_str(&format!("\n{title}:\n\n{}", long::table(&rows)));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(cpu: &[u64], whole: f64) -> Measured {
        Measured {
            iterations: cpu.iter().map(|seconds| *seconds as f64 * 1e9).collect(),
            whole,
        }
    }

    #[test]
    fn ratios_are_of_the_same_work() {
        let base = measured(&[6, 6, 2, 2], 20.0);
        let tool = measured(&[9, 9, 2, 3], 30.0);
        let ratios = ratios(&base, &tool, &[10, 60]);
        assert_eq!(ratios.whole, 1.5);
        assert_eq!(ratios.marks, [Some(1.5), None]);
        assert_eq!(ratios.late, 1.25);
    }

    #[test]
    fn processor_time_of_children() {
        let stat = "17 (a) b) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17";
        assert_eq!(children_ticks(stat), Some(13 + 14));
        assert_eq!(children_ticks("17 (a) S 1"), None);
        let before = of_children().unwrap();
        let spin = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done";
        assert!(
            std::process::Command::new("sh")
                .args(["-c", spin])
                .status()
                .unwrap()
                .success()
        );
        assert!(of_children().unwrap() > before);
    }
}
