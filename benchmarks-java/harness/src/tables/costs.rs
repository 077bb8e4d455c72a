//! What tools cost, from runs of `trodden-bench overhead` that are over: the programs of several runs in one
//! table for each JDK.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::runs::{distinct, feature, field, read};
use crate::overhead::{BASE, Measured, Ratios, ratios};
use crate::stats::{Spread, geometric_mean};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Which runs.
#[derive(clap::Args)]
pub struct Arguments {
    /// Folders of runs
    #[arg(required = true)]
    folders: Vec<PathBuf>,
    /// Marks: the seconds of processor time of the run without a tool at which ratios are taken as well
    #[arg(long, value_delimiter = ',', default_value = "10,60,300")]
    marks: Vec<u32>,
}

/// Prints the tables.
///
/// # Errors
/// If raw data cannot be read.
pub fn run(arguments: &Arguments) -> Result<()> {
    print!("{}", text(&arguments.folders, &arguments.marks)?);
    Ok(())
}

/// A program on a JDK, in all runs.
struct Program {
    jdk: String,
    name: String,
    /// Processor seconds of the whole process without a tool, of each round.
    alone: Vec<f64>,
    /// By tool, a value for each round, against the process without a tool of the same round.
    tools: BTreeMap<String, Vec<Ratios>>,
}

fn text(folders: &[PathBuf], marks: &[u32]) -> Result<String> {
    let (mut programs, mut tools) = (Vec::new(), Vec::new());
    for folder in folders {
        tools.extend(add(&mut programs, folder, marks)?);
    }
    let tools = distinct(tools.into_iter());
    let mut jdks = distinct(programs.iter().map(|program| program.jdk.clone()));
    jdks.sort_by_key(|jdk| feature(jdk));
    let mut text = String::new();
    for jdk in jdks {
        let of_jdk: Vec<&Program> = programs.iter().filter(|program| program.jdk == jdk).collect();
        let _ = write!(
            text,
            "\n**JDK {}**\n\n| program | {} |\n| --- |{}\n",
            feature(&jdk),
            tools.join(" | "),
            " ---: |".repeat(tools.len())
        );
        let mut line = |head: String, cells: Vec<Option<f64>>, bold: &str| {
            let cell = |value: Option<f64>| match value {
                Some(value) => format!("{bold}{value:.2}{bold}"),
                None => "–".to_owned(),
            };
            let cells: Vec<String> = cells.into_iter().map(cell).collect();
            let _ = writeln!(text, "| {head} | {} |", cells.join(" | "));
        };
        for program in &of_jdk {
            let cells = tools.iter().map(|tool| program.median(tool, |r| Some(r.whole)));
            line(
                format!("{} ({:.0} s)", program.name, program.seconds()),
                cells.collect(),
                "",
            );
        }
        let mut mean = |title: String, figure: &dyn Fn(&Ratios) -> Option<f64>| {
            let values = |tool: &String| -> Vec<f64> {
                of_jdk.iter().filter_map(|p| p.median(tool, figure)).collect()
            };
            let of: Vec<Vec<f64>> = tools.iter().map(values).collect();
            let most = of.iter().map(Vec::len).max().unwrap_or(0);
            let title = if most == of_jdk.len() {
                format!("**geometric mean, {title}**")
            } else {
                format!("**{title}** (the {most} that are as long)")
            };
            // A mean over fewer programs than its neighbours' would not compare with them.
            let cells = of.iter().map(|values| {
                if values.len() == most {
                    geometric_mean(values)
                } else {
                    None
                }
            });
            line(title, cells.collect(), "**");
        };
        mean("whole run".to_owned(), &|r| Some(r.whole));
        for (index, mark) in marks.iter().enumerate() {
            mean(format!("first {mark} s"), &|r| r.marks[index]);
        }
        mean("second half".to_owned(), &|r| Some(r.late));
    }
    Ok(text)
}

impl Program {
    fn seconds(&self) -> f64 {
        Spread::of(&self.alone).map_or(0.0, |spread| spread.median)
    }

    fn median(&self, tool: &str, figure: impl Fn(&Ratios) -> Option<f64>) -> Option<f64> {
        let values: Vec<f64> = self.tools.get(tool)?.iter().filter_map(figure).collect();
        Spread::of(&values).map(|spread| spread.median)
    }
}

/// Adds the programs of a run, and returns the names of its tools.
fn add(programs: &mut Vec<Program>, folder: &Path, marks: &[u32]) -> Result<Vec<String>> {
    const KEYS: [&str; 4] = ["jdk", "app", "round", "tool"];
    let key = |row: &BTreeMap<String, String>| -> Result<[String; 4]> {
        let mut key = KEYS.map(str::to_owned);
        for name in &mut key {
            *name = field(row, name)?.to_owned();
        }
        Ok(key)
    };
    let mut runs: BTreeMap<[String; 4], Measured> = BTreeMap::new();
    let mut order = Vec::new();
    for row in read(&folder.join("whole.csv"))? {
        let key = key(&row)?;
        order.push(key.clone());
        let measured = Measured {
            iterations: Vec::new(),
            whole: field(&row, "cpu_seconds")?.parse()?,
        };
        runs.insert(key, measured);
    }
    for row in read(&folder.join("raw.csv"))? {
        // A run that was cut off is not in the other file.
        if let Some(run) = runs.get_mut(&key(&row)?) {
            run.iterations.push(field(&row, "cpu_nanos")?.parse()?);
        }
    }
    for key in &order {
        let [jdk, name, round, tool] = key;
        let at = match programs.iter().position(|p| p.jdk == *jdk && p.name == *name) {
            Some(at) => at,
            None => {
                programs.push(Program {
                    jdk: jdk.clone(),
                    name: name.clone(),
                    alone: Vec::new(),
                    tools: BTreeMap::new(),
                });
                programs.len() - 1
            }
        };
        let base = [jdk, name, round, BASE].map(|part: &str| part.to_owned());
        let base = runs
            .get(&base)
            .ok_or_else(|| format!("{}: no run of {name} without a tool", folder.display()))?;
        if tool == BASE {
            programs[at].alone.push(base.whole);
        } else {
            let of = programs[at].tools.entry(tool.clone()).or_default();
            of.push(ratios(base, &runs[key], marks));
        }
    }
    let tools = distinct(order.into_iter().map(|[_, _, _, tool]| tool));
    Ok(tools.into_iter().filter(|tool| tool != BASE).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run_of(name: &str, tools: &[(&str, [u64; 3])]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let mut raw = String::from("jdk,app,tool,round,iteration,nanos,cpu_nanos,checksum\n");
        let mut whole = String::from("jdk,app,iterations,tool,round,cpu_seconds,elapsed_seconds\n");
        for (tool, seconds) in tools {
            for (iteration, seconds) in seconds.iter().enumerate() {
                raw += &format!("17.0.1,{name},{tool},0,{iteration},1,{seconds}000000000,ab\n");
            }
            let sum: u64 = seconds.iter().sum();
            whole += &format!("17.0.1,{name},3,{tool},0,{}.00,1.00\n", sum + 10);
        }
        raw += &format!("17.0.1,{name},cut-off,0,0,1,1,ab\n");
        std::fs::write(folder.path().join("raw.csv"), raw).unwrap();
        std::fs::write(folder.path().join("whole.csv"), whole).unwrap();
        folder
    }

    #[test]
    fn runs_share_a_table() {
        let first = run_of("a", &[("base", [10, 10, 20]), ("x", [20, 20, 20])]);
        let second = run_of("b", &[("base", [10, 0, 0]), ("x", [10, 0, 0]), ("y", [40, 0, 0])]);
        let third = run_of("a", &[("base", [10, 10, 40]), ("z", [10, 10, 110])]);
        let folders = [first.path(), second.path(), third.path()].map(Path::to_owned);
        let text = text(&folders, &[10, 20]).unwrap();
        for line in [
            "**JDK 17**",
            "| program | x | y | z |",
            "| a (60 s) | 1.40 | – | 2.00 |",
            "| b (20 s) | 1.00 | 2.50 | – |",
            "| **geometric mean, whole run** | **1.18** | – | – |",
            "| **geometric mean, first 10 s** | **1.41** | – | – |",
            "| **first 20 s** (the 1 that are as long) | **2.00** | – | **1.00** |",
        ] {
            assert!(text.contains(line), "{line}\n{text}");
        }
    }

    #[test]
    fn a_run_without_its_base_is_refused() {
        let folder = run_of("a", &[("x", [1, 1, 1])]);
        let problem = text(&[folder.path().to_owned()], &[10]).unwrap_err().to_string();
        assert!(problem.ends_with("no run of a without a tool"), "{problem}");
    }
}
