//! Traces of workloads: what the analyses are measured on.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{BufReader, Write as _};
use std::path::Path;

use trodden_profile::events::Kind;
use trodden_profile::trace::{TraceItem, TraceReader};

use crate::error::{Error, Result, io};
use crate::jvm::{Config, Launch};
use crate::workload::Workload;
use crate::workspace::Jdk;
use crate::{Plan, progress};

/// Head of the list that is kept beside the traces.
const HEAD: &str = "# Traces\nRecorded by `trodden-bench traces`. *words*: \
                    events; *busiest*: words of the thread that has most.\n\n\
                    | file | command | MB | words | path ends | threads | busiest |\n\
                    | --- | --- | ---: | ---: | ---: | ---: | ---: |\n";

/// Records `NAME.trace` of each workload, with the events that the profile needs, in the folder and appends a
/// line about each to its `README.md`. Returns these lines.
///
/// # Errors
/// If a program fails, a trace is there already, or it cannot be read back to its end.
pub fn run(plan: &Plan, workloads: &[Workload], profile: &str, folder: &Path) -> Result<String> {
    std::fs::create_dir_all(folder).map_err(io("create", folder))?;
    let folder = folder.canonicalize().map_err(io("find", folder))?;
    let config = Config::parse(&format!("trace:probe=events,profile={profile}"))?;
    let mut text = String::new();
    for jdk in &plan.jdks {
        for workload in workloads {
            progress(&format!("{} {}", jdk.version, workload.name));
            let file = folder.join(format!("{}.trace", workload.name));
            if file.exists() {
                return Err(Error::Usage(format!("{} is there already", file.display())));
            }
            let launch = Launch {
                jdk,
                jvm_options: &plan.jvm_options,
                agent: config.agent_argument(plan.agent()?, workload.include, &file),
                timeout: plan.timeout,
                processor: None,
                look: None,
                launcher: &[],
            };
            launch.run_workload(workload, plan.warmup, plan.iterations)?;
            let contents = Contents::of(&file, &workload.name)?;
            let line = contents.line(plan, jdk, workload, profile);
            list(&folder, &line)?;
            text += &line;
        }
    }
    Ok(text)
}

/// What is in a trace.
#[derive(Debug, Default)]
struct Contents {
    bytes: u64,
    path_ends: u64,
    threads: HashMap<u64, u64>,
}

impl Contents {
    fn of(file: &Path, workload: &str) -> Result<Contents> {
        let failed = |problem: String| Error::Program {
            program: workload.to_owned(),
            problem: format!("its trace: {problem}"),
        };
        let input = File::open(file).map_err(io("read", file))?;
        let mut contents = Contents {
            bytes: input.metadata().map_err(io("read", file))?.len(),
            ..Contents::default()
        };
        let mut trace = TraceReader::new(BufReader::new(input)).map_err(|e| failed(e.to_string()))?;
        while let Some(item) = trace.next_item().map_err(|e| failed(e.to_string()))? {
            if let TraceItem::Words { thread, words } = item {
                contents.add(thread, words);
            }
        }
        match trace.truncation() {
            None => Ok(contents),
            Some(cut) => Err(failed(format!("it ends at offset {}", cut.offset))),
        }
    }

    fn add(&mut self, thread: u64, words: &[u64]) {
        const PATHS: u64 =
            1 << Kind::PathEnd as u64 | 1 << Kind::LastPath as u64 | 1 << Kind::OnlyPath as u64;
        let ends = words.iter().filter(|&&word| PATHS >> (word >> 60) & 1 != 0);
        self.path_ends += ends.count() as u64;
        *self.threads.entry(thread).or_default() += words.len() as u64;
    }

    fn line(&self, plan: &Plan, jdk: &Jdk, workload: &Workload, profile: &str) -> String {
        let include = workload
            .include
            .map_or(String::new(), |i| format!(", include={i}"));
        let jvm: String = plan.jvm_options.iter().map(|o| format!(" --jvm={o}")).collect();
        format!(
            "| {name}.trace | `trodden-bench traces --profile {profile} --workload {name} --warmup {} --iterations {}{jvm}` (JDK {}{include}) \
             | {:.1} | {} | {} | {} | {} |\n",
            plan.warmup,
            plan.iterations,
            jdk.version,
            self.bytes as f64 / 1e6,
            self.threads.values().sum::<u64>(),
            self.path_ends,
            self.threads.len(),
            self.threads.values().max().copied().unwrap_or(0),
            name = workload.name,
        )
    }
}

fn list(folder: &Path, line: &str) -> Result<()> {
    let path = folder.join("README.md");
    let head = if path.exists() { "" } else { HEAD };
    let file = OpenOptions::new().create(true).append(true).open(&path);
    let mut file = file.map_err(io("open", &path))?;
    write!(file, "{head}{line}").map_err(io("write", &path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use trodden_profile::events::Word;

    #[test]
    fn what_is_in_a_trace_is_counted() {
        let words = [
            Word::enter(7, None),
            Word::path_end(7, 3),
            Word::only_path(5, 0),
            Word::last_path(7, 1),
            Word::GAP,
        ];
        let words = words.map(|word| word.0);
        let mut contents = Contents::default();
        contents.add(1, &words);
        contents.add(2, &words[..2]);
        contents.add(1, &words[..1]);
        assert_eq!(contents.path_ends, 4);
        assert_eq!(contents.threads, HashMap::from([(1, 6), (2, 2)]));
    }
}
