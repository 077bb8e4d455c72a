//! What the optimising compiler makes of a program with probes in it: which calls it no longer inlines, and
//! why.
//!
//! Each program is run twice without the agent, so that what differs between two equal runs stands beside
//! what the agent changes.

mod compare;
mod log;
mod original;

use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result, io};
use crate::jvm::{Config, Launch};
use crate::record::Record;
use crate::workload::Workload;
use crate::workspace::Jdk;
use crate::{Plan, progress};
use compare::{Compiled, Difference};
use original::Originals;

/// Lost call sites that a summary lists, of each configuration.
const LISTED: usize = 5;
/// Reasons that a table names.
const REASONS: usize = 3;

/// A program that prints no iterations: whatever was given to the launcher. It runs in another folder, so its
/// class path is made absolute.
pub fn command(arguments: &[String], include: Option<&'static str>) -> Workload {
    let mut all: Vec<OsString> = arguments.iter().map(Into::into).collect();
    if let Some(at) = class_path_at(&all) {
        let absolute = std::env::split_paths(&all[at]).map(|p| std::path::absolute(&p).unwrap_or(p));
        if let Ok(path) = std::env::join_paths(absolute) {
            all[at] = path;
        }
    }
    Workload {
        name: "command".to_owned(),
        arguments: all,
        include,
    }
}

/// Where a launcher's arguments have the class path.
fn class_path_at(arguments: &[OsString]) -> Option<usize> {
    let names = ["-cp", "-classpath", "--class-path", "-jar"];
    let option = arguments
        .iter()
        .position(|a| names.iter().any(|name| a == name))?;
    (option + 1 < arguments.len()).then_some(option + 1)
}

/// The class path in a launcher's arguments.
fn class_path(workload: &Workload) -> Vec<PathBuf> {
    class_path_at(&workload.arguments).map_or_else(Vec::new, |at| {
        std::env::split_paths(&workload.arguments[at]).collect()
    })
}

/// A configuration against the first run without the agent.
struct Row {
    name: String,
    difference: Difference,
    /// Bytes of code: without, with.
    code: [u64; 2],
}

/// Runs the programs, writes `raw.csv` (a line per lost call site), `runs.csv` and `summary.md`, and returns
/// the table.
///
/// # Errors
/// If a program fails, or C2 compiled nothing.
pub fn run(plan: &Plan, workloads: &[Workload], configs: &[Config], record: &Record) -> Result<String> {
    let mut raw = record.raw("jdk,workload,config,count,reason,caller,bci,callee")?;
    let mut totals = record.csv(
        "runs.csv",
        "jdk,workload,config,hot,decided,lost,gained,absent,by_callee,methods_only_plain,methods_only_config,\
         code_plain,code_config",
    )?;
    let mut text = "Call sites that C2 inlines for their counts in a run without the agent (*hot*), held against another run: \
         a second one without the agent (*base again*), and runs with it.\n\
         *Lost*: of those that C2 decided about in both runs (*decided*), those it refuses in most of the code they are in. \
         *Gained*: the other way round. *Absent*: hot call sites in code that C2 did not compile in the other run, or took for dead. \
         *Methods*: with a compilation of their own in the first run only; in the other only. \
         *Code*: bytes of the last compilations by C2, relative to the first run.\n"
        .to_owned();
    let folder = tempfile::tempdir().map_err(io("create a folder in", std::env::temp_dir()))?;
    let again = Config {
        name: "base again".to_owned(),
        ..Config::default()
    };
    for jdk in &plan.jdks {
        let _ = write!(
            text,
            "\n## JDK {}\n| program | run | hot | decided | lost | share | gained | absent | methods | code | reasons |\n|{}\n",
            jdk.version,
            " --- |".repeat(11)
        );
        let mut listed = String::new();
        for workload in workloads {
            let plain = compile(plan, jdk, workload, &again, folder.path())?;
            for config in std::iter::once(&again).chain(configs) {
                progress(&format!("{} {} {}", jdk.version, workload.name, config.name));
                let other = compile(plan, jdk, workload, config, folder.path())?;
                let row = Row {
                    name: config.name.clone(),
                    difference: Difference::of(&plain, &other),
                    code: [plain.code(), other.code()],
                };
                let who = format!("{},{},{}", jdk.version, workload.name, config.name);
                totals.line(&format!("{who},{}", row.fields()))?;
                for lost in &row.difference.lost {
                    let bci = lost.site.bci.map_or("-".to_owned(), |bci| bci.to_string());
                    raw.line(&format!(
                        "{who},{},{},{},{bci},{}",
                        lost.count, lost.reason, lost.site.caller, lost.site.callee
                    ))?;
                }
                let _ = writeln!(text, "| {} {}", workload.name, row.cells());
                if config.options.is_some() {
                    listed += &row.list(&workload.name);
                }
            }
        }
        if !listed.is_empty() {
            let _ = write!(text, "\nLost call sites that were called most:\n{listed}");
        }
        record.write("summary.md", &text)?;
    }
    Ok(text)
}

impl Row {
    fn fields(&self) -> String {
        let d = &self.difference;
        format!(
            "{},{},{},{},{},{},{},{},{},{}",
            d.hot,
            d.decided,
            d.lost.len(),
            d.gained,
            d.absent,
            d.by_callee,
            d.only[0],
            d.only[1],
            self.code[0],
            self.code[1]
        )
    }

    fn cells(&self) -> String {
        let d = &self.difference;
        let share = match d.decided {
            0 => "-".to_owned(),
            decided => format!("{:.1} %", d.lost.len() as f64 * 100.0 / decided as f64),
        };
        let reasons: Vec<String> = d
            .reasons()
            .iter()
            .take(REASONS)
            .map(|(reason, times)| format!("{reason} {times}"))
            .collect();
        format!(
            "| {} | {} | {} | {} | {share} | {} | {} | {}; {} | {:.2} | {} |",
            self.name,
            d.hot,
            d.decided,
            d.lost.len(),
            d.gained,
            d.absent,
            d.only[0],
            d.only[1],
            self.code[1] as f64 / self.code[0] as f64,
            reasons.join(", ")
        )
    }

    fn list(&self, workload: &str) -> String {
        let mut text = String::new();
        for lost in self.difference.lost.iter().take(LISTED) {
            let short = |method: &str| {
                let name = method.split('(').next().unwrap_or_default();
                let parts: Vec<&str> = name.rsplitn(3, '.').collect();
                parts[..parts.len().min(2)]
                    .iter()
                    .rev()
                    .copied()
                    .collect::<Vec<_>>()
                    .join(".")
            };
            let _ = writeln!(
                text,
                "* {workload}, {}: `{}` in `{}`{}, {} times: {}",
                self.name,
                short(&lost.site.callee),
                short(&lost.site.caller),
                lost.site.bci.map_or(String::new(), |bci| format!(" at {bci}")),
                lost.count,
                lost.reason
            );
        }
        text
    }
}

/// Runs a program and reads what C2 did.
fn compile(plan: &Plan, jdk: &Jdk, workload: &Workload, config: &Config, folder: &Path) -> Result<Compiled> {
    let (file, profile) = (folder.join("compilations.xml"), folder.join("profile.trodden"));
    let mut options = [plan.jvm_options.as_slice(), &config.jvm].concat();
    options.push("-XX:+UnlockDiagnosticVMOptions".to_owned());
    options.push("-XX:+LogCompilation".to_owned());
    options.push(format!("-XX:LogFile={}", file.display()));
    let launch = Launch {
        jvm_options: &options,
        ..plan.launch(jdk, config, workload.include, &profile)?
    };
    if workload.name == "command" {
        launch.run(&workload.name, &workload.arguments)?;
    } else {
        launch.run_workload(workload, plan.warmup, plan.iterations)?;
    }
    if config.options.is_some() && !profile.is_file() {
        return Err(Error::Program {
            program: workload.name.clone(),
            problem: format!("'{}' wrote no profile: the agent was not at work", config.name),
        });
    }
    let log = File::open(&file).map_err(io("open", &file))?;
    let compilations = log::read(BufReader::new(log)).map_err(io("read", &file))?;
    let mut compiled = Compiled::new(compilations);
    if compiled.methods.is_empty() {
        return Err(Error::Program {
            program: workload.name.clone(),
            problem: "C2 compiled nothing: run it longer".to_owned(),
        });
    }
    if let Some(options) = &config.options {
        let originals = Originals::new(options, workload.include, &class_path(workload));
        compiled.map(|method, bci| originals.of(method, bci));
    }
    Ok(compiled)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn class_paths_of_commands() {
        let of = |text: &str| {
            let words: Vec<String> = text.split(' ').map(str::to_owned).collect();
            class_path(&command(&words, None))
        };
        assert_eq!(
            of("-Xmx1g -cp /a.jar:/b Main -cp x"),
            [PathBuf::from("/a.jar"), "/b".into()]
        );
        let here = std::env::current_dir().unwrap();
        assert_eq!(of("-jar a.jar"), [here.join("a.jar")]);
        assert!(of("-m a/b").is_empty());
    }

    #[test]
    fn cells_and_lists() {
        let lost = compare::Lost {
            site: compare::Site {
                caller: "a.b.C.run(I)V".to_owned(),
                bci: Some(7),
                callee: "a.b.D.<init>()V".to_owned(),
            },
            count: 12,
            reason: "too big".to_owned(),
        };
        let row = Row {
            name: "counters".to_owned(),
            difference: Difference {
                hot: 250,
                decided: 200,
                lost: vec![lost],
                ..Difference::default()
            },
            code: [1000, 1250],
        };
        assert_eq!(
            row.cells(),
            "| counters | 250 | 200 | 1 | 0.5 % | 0 | 0 | 0; 0 | 1.25 | too big 1 |"
        );
        assert_eq!(
            row.list("x"),
            "* x, counters: `D.<init>` in `C.run` at 7, 12 times: too big\n"
        );
        assert_eq!(row.fields(), "250,200,1,0,0,0,0,0,1000,1250");
    }
}
