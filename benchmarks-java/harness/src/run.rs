//! Interleaved runs: for each pair, every configuration once, one after the other (A B A B …).

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result, io};
use crate::jvm::{Config, Launch, Ran};
use crate::lines::Iteration;
use crate::record::Record;
use crate::stats::{Spread, geometric_mean};
use crate::workload::Workload;
use crate::workspace::Jdk;
use crate::{Plan, progress};

/// The measured iterations of one JVM, in short.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// Fastest iteration, nanoseconds.
    pub best: f64,
    /// Median iteration, nanoseconds.
    pub median: f64,
    /// CPU time of the process over all measured iterations, nanoseconds.
    pub cpu: f64,
}

impl Summary {
    /// Of the measured (not warm-up) iterations; `None` if there are none.
    pub fn of(iterations: &[Iteration]) -> Option<Summary> {
        let measured = || iterations.iter().filter(|i| i.number >= 0);
        let nanos: Vec<f64> = measured().map(|i| i.nanos as f64).collect();
        let spread = Spread::of(&nanos)?;
        Some(Summary {
            best: spread.min,
            median: spread.median,
            cpu: measured().map(|i| i.cpu_nanos as f64).sum(),
        })
    }
}

/// Per JDK, workload and configuration: a summary per pair.
type Table = BTreeMap<(usize, usize, usize), Vec<Summary>>;

/// What is noted of a JVM that has ended, by its configuration, profile and standard error.
pub type Notes<'a> = dyn Fn(&Config, &Path, &str) -> Result<Option<String>> + 'a;

/// Runs the pairs, writes `raw.csv`, `resident.csv` (most memory of each JVM) and `summary.md`, and returns
/// the table. Notes go to `notes.txt`.
///
/// # Errors
/// If a program fails, or a configuration changes a program's result.
pub fn run(
    plan: &Plan,
    workloads: &[Workload],
    configs: &[Config],
    pairs: u32,
    record: &Record,
    notes: &Notes,
) -> Result<String> {
    let mut raw = record.raw("jdk,workload,config,pair,iteration,nanos,cpu_nanos,checksum")?;
    let mut resident = record.csv("resident.csv", "jdk,workload,config,pair,kib")?;
    let mut noted = String::new();
    let folder = tempfile::tempdir().map_err(io("create a folder in", std::env::temp_dir()))?;
    let mut table = Table::new();
    for (j, jdk) in plan.jdks.iter().enumerate() {
        for (w, workload) in workloads.iter().enumerate() {
            let mut checksums: Option<Vec<String>> = None;
            let former = folder.path().join("former.trodden");
            if configs.iter().any(|config| config.wants_former()) {
                progress(&format!("{} {} former run", jdk.version, workload.name));
                record_former(plan, jdk, workload, &former)?;
            }
            let configs: Vec<Config> = configs.iter().map(|c| c.with_former(&former)).collect();
            for pair in 0..pairs {
                for (c, config) in configs.iter().enumerate() {
                    progress(&format!(
                        "{} {} {} {}/{pairs}",
                        jdk.version,
                        workload.name,
                        config.name,
                        pair + 1
                    ));
                    let profile = folder.path().join("profile.trodden");
                    let (ran, note) = measure(plan, jdk, workload, config, profile, notes)?;
                    let who = format!("{},{},{}", jdk.version, workload.name, config.name);
                    if let Some(kib) = ran.outcome.resident {
                        resident.line(&format!("{who},{pair},{kib}"))?;
                    }
                    if let Some(note) = note {
                        noted += &format!("{who},{pair}: {note}\n");
                        record.write("notes.txt", &noted)?;
                    }
                    let iterations = ran.iterations;
                    for i in &iterations {
                        raw.line(&format!(
                            "{who},{pair},{},{},{},{}",
                            i.number, i.nanos, i.cpu_nanos, i.checksum
                        ))?;
                    }
                    let found: Vec<String> = iterations.iter().map(|i| i.checksum.clone()).collect();
                    if *checksums.get_or_insert_with(|| found.clone()) != found {
                        return Err(Error::Program {
                            program: workload.name.clone(),
                            problem: format!("result under '{}' differs from the first run's", config.name),
                        });
                    }
                    let summary =
                        Summary::of(&iterations).ok_or_else(|| Error::Usage("no iterations".into()))?;
                    table.entry((j, w, c)).or_default().push(summary);
                }
            }
        }
    }
    let names = Names {
        jdks: plan.jdks.iter().map(|jdk| jdk.version.clone()).collect(),
        workloads: workloads.iter().map(|workload| workload.name.clone()).collect(),
        configs: configs.iter().map(|config| config.name.clone()).collect(),
    };
    let iterations = [plan.warmup as usize, plan.iterations as usize];
    let text = summary(&names, &table, pairs, iterations);
    record.write("summary.md", &text)?;
    Ok(text)
}

/// What a table's numbers stand for, each in the order of the runs.
#[derive(Debug, Default)]
struct Names {
    jdks: Vec<String>,
    workloads: Vec<String>,
    configs: Vec<String>,
}

/// The summary of a run that was cut off, from its raw data. Workloads that lack a pair of some configuration
/// are left out.
///
/// # Errors
/// If the file cannot be read, or is no such data.
pub fn summarize(folder: &Path) -> Result<String> {
    let path = folder.join("raw.csv");
    let text = std::fs::read_to_string(&path).map_err(io("read", &path))?;
    let wrong = |line: usize| Error::Usage(format!("{}:{}: not a line of a run", path.display(), line + 1));
    let mut names = Names::default();
    let mut jvms: BTreeMap<(usize, usize, usize, u32), Vec<Iteration>> = BTreeMap::new();
    for (number, line) in text.lines().enumerate().skip(1) {
        let [jdk, workload, config, pair, iteration, nanos, cpu_nanos, checksum] =
            line.split(',').collect::<Vec<_>>()[..]
        else {
            return Err(wrong(number));
        };
        let number_of = |field: &str| field.parse::<u64>().map_err(|_| wrong(number));
        let key = (
            position(&mut names.jdks, jdk),
            position(&mut names.workloads, workload),
            position(&mut names.configs, config),
            pair.parse().map_err(|_| wrong(number))?,
        );
        jvms.entry(key).or_default().push(Iteration {
            workload: workload.to_owned(),
            number: iteration.parse().map_err(|_| wrong(number))?,
            nanos: number_of(nanos)?,
            cpu_nanos: number_of(cpu_nanos)?,
            checksum: checksum.to_owned(),
        });
    }
    let count = |iterations: &Vec<Iteration>| {
        let measured = iterations.iter().filter(|i| i.number >= 0).count();
        [iterations.len() - measured, measured]
    };
    let iterations = jvms.values().map(count).max().ok_or_else(|| wrong(0))?;
    // The last JVM may have been stopped in the middle.
    jvms.retain(|_, found| count(found) == iterations);
    let pairs = jvms.keys().map(|key| key.3 + 1).max().unwrap_or(0);
    let mut table = Table::new();
    for (&(jdk, workload, config, _), found) in &jvms {
        let summary = Summary::of(found).ok_or_else(|| wrong(0))?;
        table.entry((jdk, workload, config)).or_default().push(summary);
    }
    let whole = |jdk, workload| {
        let mut configs = 0..names.configs.len();
        configs.all(|c| {
            table
                .get(&(jdk, workload, c))
                .is_some_and(|t| t.len() == pairs as usize)
        })
    };
    let table = table
        .iter()
        .filter(|((jdk, workload, _), _)| whole(*jdk, *workload));
    let table = table.map(|(key, summaries)| (*key, summaries.clone())).collect();
    Ok(summary(&names, &table, pairs, iterations))
}

/// Position of a name in a list, to which it is added if it is not there yet.
fn position(names: &mut Vec<String>, name: &str) -> usize {
    names.iter().position(|known| known == name).unwrap_or_else(|| {
        names.push(name.to_owned());
        names.len() - 1
    })
}

/// An exact profile of one iteration.
fn record_former(plan: &Plan, jdk: &Jdk, workload: &Workload, file: &Path) -> Result<()> {
    let exact = Config::parse("counters")?;
    let launch = plan.launch(jdk, &exact, workload.include, file)?;
    launch.run_workload(workload, 0, 1)?;
    if file.is_file() {
        return Ok(());
    }
    Err(Error::Program {
        program: workload.name.clone(),
        problem: "its former run wrote no profile: the agent was not at work".to_owned(),
    })
}

fn measure(
    plan: &Plan,
    jdk: &Jdk,
    workload: &Workload,
    config: &Config,
    profile: PathBuf,
    notes: &Notes,
) -> Result<(Ran, Option<String>)> {
    let options = [plan.jvm_options.as_slice(), &config.jvm].concat();
    let launch = Launch {
        jvm_options: &options,
        ..plan.launch(jdk, config, workload.include, &profile)?
    };
    let ran = launch.run_workload(workload, plan.warmup, plan.iterations)?;
    if config.options.is_some() && !profile.is_file() {
        return Err(Error::Program {
            program: workload.name.clone(),
            problem: format!("'{}' wrote no profile: the agent was not at work", config.name),
        });
    }
    let note = notes(config, &profile, &ran.outcome.errors)?;
    // The next JVM must write its own.
    if profile.is_file() {
        std::fs::remove_file(&profile).map_err(io("remove", &profile))?;
    }
    Ok((ran, note))
}

/// Ratios of a configuration to the base, pair by pair, of one figure.
fn ratios(base: &[Summary], other: &[Summary], figure: impl Fn(&Summary) -> f64) -> Vec<f64> {
    let pairs = base.iter().zip(other);
    pairs.map(|(b, o)| figure(o) / figure(b)).collect()
}

fn summary(names: &Names, table: &Table, pairs: u32, [warmup, measured]: [usize; 2]) -> String {
    let mut text = format!(
        "Ratios of interleaved runs to `base`, {pairs} pairs of JVMs, {warmup} warm-up and {measured} measured iterations in each; \
         median of the pairs (least-greatest).\n\
         *median*, *best*: elapsed time of a JVM's median and of its fastest iteration. *CPU*: processor time of the \
         whole process over all measured iterations, JIT and collector threads included.\n\
         Start-up and warm-up are not in these figures. Results (checksums) were equal in all configurations.\n"
    );
    for (j, jdk) in names.jdks.iter().enumerate() {
        let _ = write!(
            text,
            "\n## JDK {jdk}\n| workload | base, ms | configuration | median | best | CPU |\n| --- | --- | --- | --- | --- | --- |\n"
        );
        let mut means: BTreeMap<usize, [Vec<f64>; 3]> = BTreeMap::new();
        for (w, workload) in names.workloads.iter().enumerate() {
            let Some(base) = table.get(&(j, w, 0)) else {
                continue;
            };
            let milliseconds: Vec<f64> = base.iter().map(|s| s.median / 1e6).collect();
            for (c, config) in names.configs.iter().enumerate().skip(1) {
                let Some(other) = table.get(&(j, w, c)) else {
                    continue;
                };
                let spreads = [
                    Spread::of(&ratios(base, other, |s| s.median)),
                    Spread::of(&ratios(base, other, |s| s.best)),
                    Spread::of(&ratios(base, other, |s| s.cpu)),
                ];
                for (mean, spread) in means.entry(c).or_default().iter_mut().zip(spreads) {
                    mean.extend(spread.map(|s| s.median));
                }
                let [median, best, cpu] = spreads.map(|s| s.map_or("-".into(), |s| s.show(3)));
                let base_ms = Spread::of(&milliseconds).map_or("-".into(), |s| format!("{:.1}", s.median));
                let _ = writeln!(
                    text,
                    "| {workload} | {base_ms} | {config} | {median} | {best} | {cpu} |"
                );
            }
        }
        for (c, figures) in means {
            let [median, best, cpu] =
                figures.map(|f| geometric_mean(&f).map_or("-".into(), |m| format!("{m:.3}")));
            let _ = writeln!(
                text,
                "| **geometric mean** | | {} | {median} | {best} | {cpu} |",
                names.configs[c]
            );
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn iteration(number: i64, nanos: u64, cpu_nanos: u64) -> Iteration {
        Iteration {
            workload: "w".into(),
            number,
            nanos,
            cpu_nanos,
            checksum: "0".into(),
        }
    }

    #[test]
    fn warm_up_does_not_count() {
        let all = [
            iteration(-1, 1, 1),
            iteration(0, 30, 40),
            iteration(1, 20, 25),
            iteration(2, 25, 30),
        ];
        let summary = Summary::of(&all).unwrap();
        assert_eq!(
            summary,
            Summary {
                best: 20.0,
                median: 25.0,
                cpu: 95.0
            }
        );
        assert_eq!(Summary::of(&all[..1]), None);
    }

    #[test]
    fn a_run_that_was_cut_off_has_a_summary() {
        let folder = tempfile::tempdir().unwrap();
        let mut raw = String::from("jdk,workload,config,pair,iteration,nanos,cpu_nanos,checksum\n");
        for (workload, config, pair, nanos) in [
            ("fft", "base", 0, 100),
            ("fft", "counters", 0, 150),
            ("fft", "base", 1, 200),
            ("fft", "counters", 1, 220),
            ("sieve", "base", 0, 100),
        ] {
            for iteration in [-1, 0] {
                raw += &format!("17,{workload},{config},{pair},{iteration},{nanos},{nanos},0\n");
            }
        }
        // Stopped in its warm-up.
        raw += "17,sieve,counters,0,-1,5,5,0\n";
        std::fs::write(folder.path().join("raw.csv"), &raw).unwrap();
        let summary = summarize(folder.path()).unwrap();
        assert!(
            summary.contains("2 pairs of JVMs, 1 warm-up and 1 measured"),
            "{summary}"
        );
        assert!(
            summary.contains("| fft | 0.0 | counters | 1.300 (1.100-1.500) |"),
            "{summary}"
        );
        assert!(!summary.contains("sieve"), "{summary}");
        std::fs::write(folder.path().join("raw.csv"), "a\n1,2\n").unwrap();
        assert!(summarize(folder.path()).unwrap_err().to_string().contains(":2:"));
    }

    #[test]
    fn ratios_are_pair_by_pair() {
        let at = |median| Summary {
            best: 1.0,
            median,
            cpu: 1.0,
        };
        assert_eq!(
            ratios(&[at(10.0), at(20.0)], &[at(11.0), at(20.0)], |s| s.median),
            [1.1, 1.0]
        );
    }
}
