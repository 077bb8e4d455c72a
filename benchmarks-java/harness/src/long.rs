//! Long runs of a program, from its first iteration on: what profiles that change while the program runs are
//! measured by.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use crate::Plan;
use crate::error::{Error, Result, io};
use crate::jvm::{Config, Launch, Length};
use crate::lines::Iteration;
use crate::workload::{self, Workload};
use crate::workspace::{Jdk, Workspace};

/// The workloads of entries like `xalan:110`, each with its number of iterations.
///
/// # Errors
/// If an entry is something else, or its workload is unknown.
pub fn parse(workspace: &Workspace, entries: &[String]) -> Result<Vec<(Workload, u32)>> {
    parsed(workspace, entries, "NAME:ITERATIONS", positive)
}

/// The workloads of entries like `xalan:110` or `xalan:300s`, each with its length.
///
/// # Errors
/// If an entry is something else, or its workload is unknown.
pub fn parse_lengths(workspace: &Workspace, entries: &[String]) -> Result<Vec<(Workload, Length)>> {
    parsed(
        workspace,
        entries,
        "NAME:ITERATIONS or NAME:SECONDSs",
        |text| match text.strip_suffix('s') {
            Some(seconds) => positive(seconds).map(Length::Seconds),
            None => positive(text).map(Length::Iterations),
        },
    )
}

fn positive(text: &str) -> Option<u32> {
    text.parse().ok().filter(|count| *count > 0)
}

fn parsed<L: Copy>(
    workspace: &Workspace,
    entries: &[String],
    shape: &str,
    length: impl Fn(&str) -> Option<L>,
) -> Result<Vec<(Workload, L)>> {
    let mut all = Vec::new();
    for entry in entries {
        let wrong = || Error::Usage(format!("'{entry}' is not {shape}"));
        let (name, text) = entry.split_once(':').ok_or_else(wrong)?;
        let length = length(text).ok_or_else(wrong)?;
        for workload in workload::choose(workspace, &[name.to_owned()])? {
            all.push((workload, length));
        }
    }
    Ok(all)
}

/// One program on one JDK.
#[derive(Clone, Copy, Debug)]
pub struct Program<'a> {
    /// How JVMs are run.
    pub plan: &'a Plan,
    /// On which JDK.
    pub jdk: &'a Jdk,
    /// What.
    pub workload: &'a Workload,
    /// Where profiles go.
    pub folder: &'a Path,
}

/// Every program on every JDK, with its length; profiles go to `folder`.
pub fn programs<'a, L: Copy>(
    plan: &'a Plan,
    work: &'a [(Workload, L)],
    folder: &'a Path,
) -> impl Iterator<Item = (Program<'a>, L)> {
    plan.jdks.iter().flat_map(move |jdk| {
        work.iter().map(move |(workload, length)| {
            let program = Program {
                plan,
                jdk,
                workload,
                folder,
            };
            (program, *length)
        })
    })
}

/// A run that is over.
#[derive(Debug)]
pub struct Run {
    /// All iterations, from the first one of the JVM on.
    pub iterations: Vec<Iteration>,
    /// From start to exit of the JVM.
    pub elapsed: Duration,
    /// The profile, if there was an agent.
    pub profile: PathBuf,
}

impl Program<'_> {
    /// Runs it without warm-up under a configuration, with further options for the JVM, if need be on one
    /// processor.
    ///
    /// # Errors
    /// If the program fails.
    pub fn run(
        &self,
        config: &Config,
        length: impl Into<Length>,
        jvm: &[String],
        processor: Option<u32>,
    ) -> Result<Run> {
        let profile = self.folder.join(format!("{}.trodden", config.name));
        let options = [&self.plan.jvm_options, jvm].concat();
        let launch = Launch {
            jvm_options: &options,
            processor,
            ..self
                .plan
                .launch(self.jdk, config, self.workload.include, &profile)?
        };
        let ran = launch.run_workload(self.workload, 0, length)?;
        Ok(Run {
            iterations: ran.iterations,
            elapsed: ran.outcome.elapsed,
            profile,
        })
    }
}

impl Run {
    /// Processor time in nanoseconds: of each iteration.
    pub fn each(&self) -> Vec<f64> {
        self.iterations.iter().map(|i| i.cpu_nanos as f64).collect()
    }

    /// Processor time in nanoseconds: of all iterations, and of the second half of them.
    pub fn cpu(&self) -> [f64; 2] {
        halves(&self.each())
    }
}

/// The sum of all iterations, and of the second half of them.
pub fn halves(iterations: &[f64]) -> [f64; 2] {
    [iterations, &iterations[iterations.len() / 2..]].map(|part| part.iter().sum())
}

/// What a `trodden` command says as JSON.
///
/// # Errors
/// If it fails, or says something else.
pub fn json(trodden: &Path, command: &str, files: &[&Path]) -> Result<Value> {
    let output = Command::new(trodden)
        .arg(command)
        .args(files)
        .args(["--format", "json"])
        .output()
        .map_err(io("start", trodden))?;
    let failed = |problem: String| Error::Program {
        program: format!("trodden {command}"),
        problem,
    };
    if !output.status.success() {
        return Err(failed(String::from_utf8_lossy(&output.stderr).into_owned()));
    }
    serde_json::from_slice(&output.stdout).map_err(|e| failed(e.to_string()))
}

/// A share as a percentage with one decimal, or a dash if it is not known.
pub fn percent(value: &Value) -> String {
    value
        .as_f64()
        .map_or("–".to_owned(), |v| format!("{:.1}", 100.0 * v))
}

/// A JSON value as it stands in a table.
pub fn cell(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => "–".to_owned(),
        other => other.to_string(),
    }
}

/// A Markdown table; the first row is its head.
pub fn table(rows: &[Vec<String>]) -> String {
    let mut lines: Vec<String> = rows
        .iter()
        .map(|row| format!("| {} |\n", row.join(" | ")))
        .collect();
    if let Some(head) = rows.first() {
        lines.insert(1, format!("|{}\n", " --- |".repeat(head.len())));
    }
    lines.concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_of_a_run() {
        let iteration = |cpu_nanos| Iteration {
            workload: "w".into(),
            number: 0,
            nanos: 1,
            cpu_nanos,
            checksum: "0".into(),
        };
        let run = Run {
            iterations: [10, 20, 30].map(iteration).to_vec(),
            elapsed: Duration::ZERO,
            profile: PathBuf::new(),
        };
        assert_eq!(run.cpu(), [60.0, 50.0]);
    }

    #[test]
    fn tables_and_cells() {
        let rows = [
            vec!["a".to_owned(), "b".to_owned()],
            vec!["1".to_owned(), "2".to_owned()],
        ];
        assert_eq!(table(&rows), "| a | b |\n| --- | --- |\n| 1 | 2 |\n");
        assert_eq!(percent(&Value::Null), "–");
        assert_eq!(percent(&serde_json::json!(0.9876)), "98.8");
        assert_eq!(cell(&serde_json::json!("x")), "x");
        assert_eq!(cell(&serde_json::json!(3)), "3");
    }
}
