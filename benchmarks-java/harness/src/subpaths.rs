//! Hot subpaths of running programs against exact counts: table 5 of OSP, for runs of a minute.
//!
//! Exact counts of a minute's work would take an hour. They are taken of a few rounds, and of some more: what
//! the second ones have more than the first is what each round adds. So what as many rounds as the sampled
//! run had would count follows.

use std::fmt::Write as _;

use trodden_profile::{ExactSubpaths, Profile, SubpathAccuracy};

use crate::error::{Error, Result, io, load_profile};
use crate::jvm::Config;
use crate::long::{self, Program};
use crate::record::Record;
use crate::workload::Workload;
use crate::{Plan, progress};

/// Options of the measurement.
#[derive(clap::Args)]
pub struct Arguments {
    /// Workloads: names, or kernels, apps, all
    #[arg(long, value_delimiter = ',', required = true)]
    pub workload: Vec<String>,
    /// Rounds that are counted exactly, in two runs
    #[arg(long, value_delimiter = ',', default_value = "1,3", value_parser = clap::value_parser!(u32).range(1..))]
    pub exact: Vec<u32>,
    /// Lengths that are counted exactly, in the agent's syntax: of the sampled runs' too, only these are
    /// compared
    #[arg(long, default_value = "pow2:16")]
    pub lengths: String,
    /// Sampled runs, as NAME:AGENT-OPTIONS; may be repeated
    #[arg(long = "config", default_value = "default:profile=subpaths")]
    pub configs: Vec<String>,
    /// Seconds of processor time that a run without the agent takes for the rounds of the sampled runs
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..))]
    pub seconds: u32,
    /// The one processor of all JVMs
    #[arg(long)]
    pub processor: Option<u32>,
}

/// Ranks whose errors are shown.
const FIRST: usize = 4;

/// Rounds of the run that tells how long a round takes, and what of it is looked at: the last ones.
const TRIED: (u32, usize) = (20, 5);

/// Subpaths that profiles of exact counts keep: many more than are compared, so that what is frequent in one
/// run is there in the other.
const KEPT: u32 = 20_000;

/// Measures, and returns the summary. What cannot be counted exactly in the time that a JVM has is listed.
///
/// # Errors
/// If a program fails, or a profile cannot be read.
pub fn run(plan: &Plan, workloads: &[Workload], arguments: &Arguments, record: &Record) -> Result<String> {
    let [few, more] = arguments.exact[..] else {
        return Err(Error::Usage("--exact takes two numbers".into()));
    };
    if few >= more {
        return Err(Error::Usage("--exact: the second run must be longer".into()));
    }
    let configs = arguments.configs.iter().map(|text| Config::parse(text));
    let configs: Vec<Config> = configs.collect::<Result<_>>()?;
    let exact = Config {
        name: "exact".into(),
        options: Some(format!(
            "profile=subpaths,counts=exact,lengths={},threshold=top:{KEPT}",
            arguments.lengths
        )),
        ..Config::default()
    };
    let mut raw = record.raw(
        "jdk,workload,config,rounds,cpu_seconds,blocks,rank,exact_rank,length,sampled,estimate,exact,tenth",
    )?;
    let folder = tempfile::tempdir().map_err(io("create a folder in", std::env::temp_dir()))?;
    let mut rows = Vec::new();
    let mut failed = Vec::new();
    let mut text = String::new();
    let work: Vec<_> = workloads.iter().map(|workload| (workload.clone(), 1)).collect();
    for (program, _) in long::programs(plan, &work, folder.path()) {
        match measure(&program, &exact, &configs, arguments) {
            Ok(more) => {
                for row in &more {
                    row.lines().try_for_each(|line| raw.line(&line))?;
                }
                rows.extend(more);
            }
            // Too slow or too large to be counted exactly: the others are not lost.
            Err(error @ Error::Program { .. }) => failed.push(error.to_string()),
            Err(error) => return Err(error),
        }
        text = summary(&rows, &failed, arguments);
        record.write("summary.md", &text)?;
    }
    Ok(text)
}

/// One program: exact counts, and a row per sampled run.
fn measure(program: &Program, exact: &Config, configs: &[Config], arguments: &Arguments) -> Result<Vec<Row>> {
    let name = &program.workload.name;
    let rounds = rounds(program, arguments)?;
    let profile = |config: &Config, rounds: u32| -> Result<(Profile, f64)> {
        progress(&format!(
            "{} {name} {}, {rounds} rounds",
            program.jdk.version, config.name
        ));
        let ran = program.run(config, rounds, &[], arguments.processor)?;
        Ok((load_profile(&ran.profile, name)?, ran.cpu()[0] / 1e9))
    };
    let without = |config: &str| Error::Usage(format!("{name}: '{config}' counts no subpaths"));
    let [few, more] = [0, 1].map(|at| arguments.exact[at]);
    let (first, second) = (profile(exact, few)?.0, profile(exact, more)?.0);
    let counts = |profile| ExactSubpaths::of(profile).ok_or_else(|| without(&exact.name));
    let truth = counts(&first)?.extrapolated(few, (more, &counts(&second)?), rounds);
    let row = |config: &Config| {
        let (found, seconds) = profile(config, rounds)?;
        let accuracy = truth.accuracy_of(&found).ok_or_else(|| without(&config.name))?;
        Ok(Row {
            jdk: program.jdk.version.clone(),
            workload: name.clone(),
            config: config.name.clone(),
            rounds,
            seconds,
            blocks: found.subpaths.map_or(0, |subpaths| subpaths.blocks),
            accuracy,
        })
    };
    configs.iter().map(row).collect()
}

/// How many rounds take that long without the agent, once the program is warm.
fn rounds(program: &Program, arguments: &Arguments) -> Result<u32> {
    let base = Config::parse("base")?;
    let ran = program.run(&base, TRIED.0, &[], arguments.processor)?;
    let last = ran.iterations.iter().rev().take(TRIED.1);
    let nanos: f64 = last.map(|i| i.cpu_nanos as f64).sum::<f64>() / TRIED.1 as f64;
    Ok((f64::from(arguments.seconds) * 1e9 / nanos.max(1.0)).ceil() as u32)
}

/// One sampled run.
struct Row {
    jdk: String,
    workload: String,
    config: String,
    rounds: u32,
    seconds: f64,
    blocks: u64,
    accuracy: SubpathAccuracy,
}

impl Row {
    /// Its raw data, a line per rank.
    fn lines(&self) -> impl Iterator<Item = String> {
        let ranked = self.accuracy.hottest.iter().enumerate();
        ranked.map(|(at, row)| {
            format!(
                "{},{},{},{},{:.1},{},{},{},{},{},{},{},{}",
                self.jdk,
                self.workload,
                self.config,
                self.rounds,
                self.seconds,
                self.blocks,
                at + 1,
                row.rank,
                row.length,
                row.sampled,
                row.estimate,
                row.exact,
                self.accuracy.tenth
            )
        })
    }

    /// Errors of the first ranks, in per cent.
    fn errors(&self) -> impl Iterator<Item = f64> {
        let first = self.accuracy.hottest.iter().take(FIRST);
        first.map(|row| (row.estimate as f64 / row.exact.max(1) as f64 - 1.0) * 100.0)
    }

    /// By how much the rarest of the ten is more rarely executed than the true tenth, in per cent.
    fn short(&self) -> f64 {
        let least = self
            .accuracy
            .hottest
            .iter()
            .map(|row| row.exact)
            .min()
            .unwrap_or(0);
        let tenth = self.accuracy.tenth.max(1) as f64;
        ((1.0 - least as f64 / tenth) * 100.0).max(0.0)
    }
}

fn summary(rows: &[Row], failed: &[String], arguments: &Arguments) -> String {
    let mut text = format!(
        "Hot subpaths of running programs against exact counts (of the lengths `{}`): runs of as many rounds as take {} s of processor time without the agent, the first ones \
         included. Exact counts are of {} and {} rounds, each round's share of them multiplied.\n\
         *right*: how many of the ten that are shown as most frequent are among the ten that are; *short*: how much more rarely than the true tenth the rarest of the \
         ten is executed. *errors*: of the counts of the first four.\n\n\
         | JDK | program | | rounds | seconds | right | short | errors of the first four |\n| --- | --- | --- | ---: | ---: | ---: | ---: | --- |\n",
        arguments.lengths, arguments.seconds, arguments.exact[0], arguments.exact[1]
    );
    for row in rows {
        let errors: Vec<String> = row.errors().map(|error| format!("{error:+.1} %")).collect();
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {:.0} | {} of {} | {:.1} % | {} |",
            row.jdk,
            row.workload,
            row.config,
            row.rounds,
            row.seconds,
            row.accuracy.right,
            row.accuracy.hottest.len(),
            row.short(),
            errors.join(", ")
        );
    }
    let mut names: Vec<&str> = Vec::new();
    for row in rows {
        if !names.contains(&row.config.as_str()) {
            names.push(&row.config);
        }
    }
    for name in names {
        let of = || rows.iter().filter(move |row| row.config == name);
        let all_right = of().filter(|row| row.accuracy.right == row.accuracy.hottest.len());
        let errors: Vec<f64> = of().flat_map(Row::errors).collect();
        let within = |limit: f64| errors.iter().filter(|error| error.abs() <= limit).count();
        let _ = writeln!(
            text,
            "\n`{name}`: all ten right in {} of {} programs; of the errors of the first four, {} of {} are within 1 %, {} within 3 %.",
            all_right.count(),
            of().count(),
            within(1.0),
            errors.len(),
            within(3.0)
        );
    }
    for problem in failed {
        let _ = writeln!(text, "\nNot measured: {problem}.");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use trodden_profile::RankedSubpath;

    #[test]
    fn a_row_shows_how_far_off_the_first_are_and_the_last_is() {
        let ranked = |rank, estimate, exact| RankedSubpath {
            rank,
            estimate,
            exact,
            ..RankedSubpath::default()
        };
        let row = Row {
            jdk: "17".into(),
            workload: "fft".into(),
            config: "default".into(),
            rounds: 7,
            seconds: 60.0,
            blocks: 5000,
            accuracy: SubpathAccuracy {
                hottest: vec![ranked(1, 1009, 1000), ranked(2, 880, 900), ranked(11, 700, 490)],
                right: 2,
                tenth: 500,
                ..SubpathAccuracy::default()
            },
        };
        let arguments = Arguments {
            workload: Vec::new(),
            exact: vec![1, 3],
            lengths: "pow2:16".into(),
            configs: Vec::new(),
            seconds: 60,
            processor: None,
        };
        assert_eq!(
            row.lines().last().unwrap(),
            "17,fft,default,7,60.0,5000,3,11,0,0,700,490,500"
        );
        let text = summary(&[row], &["moldyn: out of memory".to_owned()], &arguments);
        assert!(
            text.ends_with("\nNot measured: moldyn: out of memory.\n"),
            "{text}"
        );
        assert!(
            text.contains("| 17 | fft | default | 7 | 60 | 2 of 3 | 2.0 % | +0.9 %, -2.2 %, +42.9 % |"),
            "{text}"
        );
        assert!(text.contains("all ten right in 0 of 1 programs"), "{text}");
        assert!(text.contains("1 of 3 are within 1 %, 2 within 3 %"), "{text}");
    }
}
