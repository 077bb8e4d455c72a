//! `trodden-bench`: the benchmark harness.
//!
//! *In*: the Java programs beside it, a built agent, JDKs. *Out*: `runs/<date>-<label>/` with raw data,
//! command, versions and a summary. Absolute times on shared machines mean nothing, so every figure of speed
//! is a ratio of interleaved runs; every figure of accuracy is against an exact profile of the same work (PEP
//! sections 6.3, 6.4).

mod accuracy;
mod agree;
mod arguments;
mod artifacts;
mod auto;
mod compile;
mod error;
mod jit;
mod jvm;
mod latency;
mod lines;
mod long;
mod offline;
mod overhead;
mod papers;
mod parts;
mod record;
mod rewrite;
mod run;
mod scale;
mod skipping;
mod startup;
mod stats;
mod structural;
mod subpaths;
mod svg;
mod tables;
mod traces;
mod workload;
mod workspace;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;

use arguments::{Action, Cli, Common, JvmArgs};
use error::{Error, Result};
use jvm::{Config, Launch};
use record::Record;
use workspace::{Jdk, Workspace};

/// What all measurements share.
#[derive(Debug)]
pub struct Plan {
    jdks: Vec<Jdk>,
    agent: Option<PathBuf>,
    jvm_options: Vec<String>,
    warmup: u32,
    iterations: u32,
    timeout: Duration,
}

impl Plan {
    fn new(workspace: &Workspace, common: Common, needs_agent: bool) -> Result<(Plan, String)> {
        let (warmup, iterations) = (common.warmup, common.iterations);
        let plan = Plan::of(workspace, common.jvm, warmup, iterations, needs_agent)?;
        Ok((plan, common.label))
    }

    fn of(
        workspace: &Workspace,
        jvm: JvmArgs,
        warmup: u32,
        iterations: u32,
        needs_agent: bool,
    ) -> Result<Plan> {
        let agent = if needs_agent {
            Some(workspace::find_agent(workspace, jvm.agent.as_deref())?)
        } else {
            None
        };
        Ok(Plan {
            jdks: Jdk::find(&jvm.jdk)?,
            agent,
            jvm_options: jvm.jvm,
            warmup,
            iterations,
            timeout: Duration::from_secs(jvm.timeout),
        })
    }

    /// The agent library.
    fn agent(&self) -> Result<&Path> {
        let agent = self.agent.as_deref();
        agent.ok_or_else(|| Error::Usage("this configuration needs the agent; use --agent".into()))
    }

    /// How a JVM is run without the agent.
    fn plain<'a>(&'a self, jdk: &'a Jdk) -> Launch<'a> {
        Launch {
            jdk,
            jvm_options: &self.jvm_options,
            agent: None,
            timeout: self.timeout,
            processor: None,
            launcher: &[],
            look: None,
        }
    }

    /// How a JVM is run under a configuration, which writes a profile to this file if it has the agent.
    fn launch<'a>(
        &'a self,
        jdk: &'a Jdk,
        config: &'a Config,
        include: Option<&str>,
        profile: &Path,
    ) -> Result<Launch<'a>> {
        let agent = match &config.options {
            Some(_) => config.agent_argument(self.agent()?, include, profile),
            None => None,
        };
        Ok(Launch {
            agent,
            launcher: &config.launcher,
            ..self.plain(jdk)
        })
    }
}

/// Reports on standard error what is being done.
fn progress(what: &str) {
    eprintln!("{what}");
}

fn main() -> ExitCode {
    match perform(Cli::parse()) {
        Ok(text) => {
            print!("{text}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("trodden-bench: {error}");
            ExitCode::from(if matches!(error, Error::Usage(_)) { 2 } else { 1 })
        }
    }
}

fn perform(cli: Cli) -> Result<String> {
    let workspace = Workspace::find(cli.root.as_deref())?;
    let start = |label: &str, plan: &Plan| Record::create(&workspace, label, &plan.jdks);
    let finish = |record: &Record, text: String| format!("{text}\n{}\n", record.folder().display());
    match cli.command {
        Action::Fetch { mut sets, corpus } => {
            if sets.is_empty() {
                sets = workspace.artifacts()?.into_iter().map(|a| a.set).collect();
                sets.retain(|set| corpus || set != "corpus");
            } else if corpus {
                sets.push("corpus".into());
            }
            let count = artifacts::fetch(&workspace, &sets)?;
            Ok(format!("{count} files fetched\n"))
        }
        Action::Build { jdk } => {
            let homes: Vec<PathBuf> = jdk.into_iter().collect();
            let left_out = compile::build(&workspace, &Jdk::find(&homes)?[0])?;
            let lines = left_out.iter().map(|reason| format!("left out {reason}\n"));
            Ok(lines.collect())
        }
        Action::Run {
            common,
            workload,
            configs,
            extra,
            pairs,
        } => {
            let configs = configs_of(configs.iter().chain(&extra))?;
            let workloads = workload::choose(&workspace, &workload)?;
            let (plan, label) = Plan::new(&workspace, common, configs.iter().any(|c| c.options.is_some()))?;
            let record = start(&label, &plan)?;
            let text = run::run(&plan, &workloads, &configs, pairs, &record, &|_, _, _| Ok(None))?;
            Ok(finish(&record, text))
        }
        Action::Summarize { folder } => {
            let text = run::summarize(&folder)?;
            let path = folder.join("summary.md");
            std::fs::write(&path, &text).map_err(error::io("write", &path))?;
            Ok(text)
        }
        Action::Accuracy {
            common,
            workload,
            schedules,
            options,
            trials,
        } => {
            let workloads = workload::choose(&workspace, &workload)?;
            let (plan, label) = Plan::new(&workspace, common, true)?;
            let record = start(&label, &plan)?;
            let text = accuracy::run(&plan, &workloads, &schedules, options.as_deref(), trials, &record)?;
            Ok(finish(&record, text))
        }
        Action::Jit {
            common,
            workload,
            configs,
            extra,
            command,
        } => {
            let names = configs.iter().chain(&extra).map(String::as_str);
            let configs: Vec<Config> = names.map(Config::parse).collect::<Result<_>>()?;
            let workloads = if command.is_empty() {
                workload::choose(&workspace, &workload)?
            } else {
                vec![jit::command(&command, None)]
            };
            let (plan, label) = Plan::new(&workspace, common, true)?;
            let record = start(&label, &plan)?;
            let text = jit::run(&plan, &workloads, &configs, &record)?;
            Ok(finish(&record, text))
        }
        Action::Startup {
            common,
            configs,
            program,
            cache,
            pairs,
        } => {
            let configs = configs_of(configs.iter())?;
            let (plan, label) = Plan::new(&workspace, common, configs.iter().any(|c| c.options.is_some()))?;
            let record = start(&label, &plan)?;
            let text = startup::run(&plan, &workspace, &configs, (program, cache), pairs, &record)?;
            Ok(finish(&record, text))
        }
        Action::Traces {
            workload,
            into,
            profile,
            jvm,
            warmup,
            iterations,
        } => {
            let workloads = workload::choose(&workspace, &workload)?;
            let plan = Plan::of(&workspace, jvm, warmup, iterations, true)?;
            traces::run(&plan, &workloads, &profile, &into)
        }
        Action::Auto { jvm, label, auto } => {
            let work = long::parse(&workspace, &auto.work)?;
            let trodden = workspace::find_trodden(&workspace, auto.trodden.as_deref())?;
            let plan = Plan::of(&workspace, jvm, 0, 1, true)?;
            let record = start(&label, &plan)?;
            let text = auto::run(&plan, &work, &auto, &trodden, &record)?;
            Ok(finish(&record, text))
        }
        Action::Structural {
            jvm,
            label,
            structural,
        } => {
            let work = long::parse(&workspace, &structural.work)?;
            let trodden = workspace::find_trodden(&workspace, structural.trodden.as_deref())?;
            let plan = Plan::of(&workspace, jvm, 0, 1, true)?;
            let record = start(&label, &plan)?;
            let text = structural::run(&plan, &work, &structural, &trodden, &record)?;
            Ok(finish(&record, text))
        }
        Action::Subpaths { jvm, label, subpaths } => {
            let workloads = workload::choose(&workspace, &subpaths.workload)?;
            let plan = Plan::of(&workspace, jvm, 0, 1, true)?;
            let record = start(&label, &plan)?;
            let text = subpaths::run(&plan, &workloads, &subpaths, &record)?;
            Ok(finish(&record, text))
        }
        Action::Skipping {
            common,
            workload,
            configs,
            pairs,
            trodden,
        } => {
            let trodden = workspace::find_trodden(&workspace, trodden.as_deref())?;
            let (plan, label) = Plan::new(&workspace, common, true)?;
            let folder =
                tempfile::tempdir().map_err(error::io("create a folder in", std::env::temp_dir()))?;
            let jar = skipping::build(&workspace, &plan.jdks[0], folder.path())?;
            let mut chosen = skipping::configs(&jar);
            if let Some(unknown) = configs
                .iter()
                .find(|name| chosen.iter().all(|c| c.name != **name))
            {
                return Err(Error::Usage(format!("no configuration '{unknown}'")));
            }
            chosen.retain(|c| c.name == "base" || configs.is_empty() || configs.contains(&c.name));
            let workloads = workload::choose(&workspace, &workload)?;
            let with_jar = |w| skipping::with_class_path(&workspace, w, &jar);
            let workloads: Vec<_> = workloads.into_iter().map(with_jar).collect::<Result<_>>()?;
            let record = start(&label, &plan)?;
            let samples = |config: &Config, profile: &Path, errors: &str| {
                skipping::samples(&trodden, config, profile, errors)
            };
            let text = run::run(&plan, &workloads, &chosen, pairs, &record, &samples)?;
            Ok(finish(&record, text))
        }
        Action::Offline { jdk, label, offline } => {
            let homes: Vec<PathBuf> = jdk.into_iter().collect();
            let jdks = Jdk::find(&homes)?;
            let trodden = workspace::find_trodden(&workspace, offline.trodden.as_deref())?;
            let record = Record::create(&workspace, &label, &jdks)?;
            let text = offline::run(&workspace, &jdks[0], &offline, &trodden, &record)?;
            Ok(finish(&record, text))
        }
        Action::Overhead { jvm, label, overhead } => {
            let work = long::parse_lengths(&workspace, &overhead.work)?;
            let plan = Plan::of(&workspace, jvm, 0, 1, true)?;
            let record = start(&label, &plan)?;
            let trodden = workspace::find_trodden(&workspace, overhead.trodden.as_deref())?;
            let text = overhead::run(&plan, &workspace, &work, &overhead, &trodden, &record)?;
            Ok(finish(&record, text))
        }
        Action::Latency { jvm, label, latency } => {
            let plan = Plan::of(&workspace, jvm, 0, 1, true)?;
            let record = start(&label, &plan)?;
            let trodden = workspace::find_trodden(&workspace, latency.trodden.as_deref())?;
            let text = latency::run(&plan, &workspace, &latency, &trodden, &record)?;
            Ok(finish(&record, text))
        }
        Action::Agree { jvm, label, agree } => {
            let work = long::parse(&workspace, &agree.work)?;
            let trodden = workspace::find_trodden(&workspace, agree.trodden.as_deref())?;
            let plan = Plan::of(&workspace, jvm, 0, 1, true)?;
            let record = start(&label, &plan)?;
            let text = agree::run(&plan, &workspace, &work, &agree, &trodden, &record)?;
            Ok(finish(&record, text))
        }
        Action::Papers { papers } => papers::run(&workspace, &papers),
        Action::Scale { scale } => {
            let (folder, text) = scale::run(&workspace, scale)?;
            Ok(format!("{text}\n{}\n", folder.display()))
        }
        Action::Table { table } => tables::print(table).map(|()| String::new()),
        Action::Rewrite { common, jars, pairs } => {
            let (plan, label) = Plan::new(&workspace, common, false)?;
            let record = start(&label, &plan)?;
            let text = rewrite::run(&plan, &workspace, &jars, pairs, &record)?;
            Ok(finish(&record, text))
        }
    }
}

/// The configurations of interleaved runs: all are held against the first one.
fn configs_of<'a>(names: impl Iterator<Item = &'a String>) -> Result<Vec<Config>> {
    let configs: Vec<Config> = names
        .map(String::as_str)
        .map(Config::parse)
        .collect::<Result<_>>()?;
    match configs.as_slice() {
        [base, _, ..] if base.options.is_none() => Ok(configs),
        _ => Err(Error::Usage(
            "the first configuration must be 'base', and there must be another".into(),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn command_line_is_well_formed() {
        Cli::command().debug_assert();
    }
}
