//! `trodden store query`: asks a store.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};

use super::arguments::param;
use super::output;
use crate::error::StoreError;
use crate::query::{
    Answer, Default as Preset, Engine, Files, Given, Limits, Query, QueryError, READY, ready,
};
use crate::store::Store;
use crate::{Place, query};

/// Rows that people see, if they ask for no other number.
pub(super) const TOP: usize = 20;

/// Asks a store.
#[derive(Clone, Debug, Args)]
pub(super) struct QueryArgs {
    /// The store: a folder, or s3://BUCKET/PREFIX
    #[arg(required_unless_present = "list")]
    pub(super) store: Option<String>,
    /// The question, one of --list
    #[arg(conflicts_with_all = ["sql", "file"])]
    pub(super) name: Option<String>,
    /// A SELECT over the store's tables
    #[arg(long, value_name = "SELECT", conflicts_with = "file")]
    pub(super) sql: Option<String>,
    /// A file with a SELECT
    #[arg(long, value_name = "FILE")]
    pub(super) file: Option<PathBuf>,
    /// Lists the questions that there are
    #[arg(long)]
    pub(super) list: bool,
    /// A parameter of the question
    #[arg(long = "param", value_name = "NAME=VALUE", value_parser = param)]
    pub(super) params: Vec<(String, String)>,
    #[command(flatten)]
    pub(super) chosen: Chosen,
    /// How the answer is written
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(super) format: Format,
    /// Rows at most, in text and Markdown; 0: all
    #[arg(long, value_name = "N", default_value_t = TOP)]
    pub(super) top: usize,
    /// Into a file
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
    /// Says what the answer took
    #[arg(short, long)]
    pub(super) verbose: bool,
    #[command(flatten)]
    pub(super) engine: EngineArgs,
}

/// The restrictions that most questions allow.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct Chosen {
    /// From this day on: 2026-11-01, or 30d for that number of days before the newest in the store
    #[arg(long, value_name = "DAY")]
    pub(super) since: Option<String>,
    /// Only this service
    #[arg(long, value_name = "SERVICE")]
    pub(super) service: Option<String>,
    /// Only this build; else the newest, or all
    #[arg(long, value_name = "BUILD")]
    pub(super) build: Option<String>,
}

/// The resources that the engine may take.
#[derive(Clone, Copy, Debug, Args)]
pub(super) struct EngineArgs {
    /// MiB of memory for groups, joins and sorting; what does not fit goes to disk
    #[arg(long, value_name = "MIB", default_value_t = 768, value_parser = clap::value_parser!(u32).range(16..))]
    pub(super) memory: u32,
    /// Threads; else one per processor
    #[arg(long, value_name = "N")]
    pub(super) threads: Option<NonZeroUsize>,
}

/// How an answer is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// For people.
    Text,
    /// All rows, format trodden-query.
    Json,
    /// All rows.
    Csv,
    /// A table for issues and pages.
    Markdown,
}

impl EngineArgs {
    pub(super) fn limits(&self) -> Limits {
        Limits {
            memory: (self.memory as usize) << 20,
            threads: self.threads,
        }
    }
}

impl Chosen {
    pub(super) fn into_given(self, given: &mut Given) {
        let all = [
            ("since", self.since),
            ("service", self.service),
            ("build", self.build),
        ];
        let there = all
            .into_iter()
            .filter_map(|(name, value)| Some((name.to_owned(), value?)));
        given.extend(there);
    }
}

/// Asks, and writes the answer.
pub(super) async fn query(args: &QueryArgs) -> Result<ExitCode, StoreError> {
    if args.list {
        output::print(&listed())?;
        return Ok(ExitCode::SUCCESS);
    }
    let question = args.question()?;
    let mut given: Given = args.params.iter().cloned().collect();
    args.chosen.clone().into_given(&mut given);
    let files = files(args.store.as_deref().unwrap_or_default()).await?;
    let (answer, spent) = Engine::new(files, args.engine.limits())
        .ask(&question, &given)
        .await?;
    let text = args.written(&answer);
    match &args.output {
        Some(file) => write(file, &text)?,
        None => output::print(&text)?,
    }
    // Text and Markdown say it themselves.
    if matches!(args.format, Format::Json | Format::Csv) {
        answer.notes().iter().for_each(|note| output::complain(note));
    }
    if args.verbose {
        output::complain(&told(&spent));
    }
    Ok(ExitCode::SUCCESS)
}

/// The files that a store has now.
pub(super) async fn files(place: &str) -> Result<Files, StoreError> {
    let store = Store::open(&Place::parse(place)?).await?;
    let state = store.state().await?;
    Ok(Files::of(&store, &state))
}

/// A file, whole or not at all.
pub(super) fn write(file: &std::path::Path, text: &str) -> Result<(), StoreError> {
    trodden_profile::output::write(file, text.as_bytes())
        .map_err(|e| StoreError::tables("write the answer", e))
}

impl From<QueryError> for StoreError {
    fn from(error: QueryError) -> Self {
        if error.is_usage() {
            StoreError::Usage(error.to_string())
        } else {
            StoreError::tables("answer the question", error)
        }
    }
}

impl QueryArgs {
    fn question(&self) -> Result<Query, QueryError> {
        match (&self.name, &self.sql, &self.file) {
            (Some(name), ..) => ready(name),
            (_, Some(sql), _) => Query::parse("sql", sql),
            (_, _, Some(file)) => {
                let sql = std::fs::read_to_string(file)
                    .map_err(|e| QueryError::Failed(format!("{}: {e}", file.display())))?;
                let name = file
                    .file_stem()
                    .map_or("sql".into(), |stem| stem.to_string_lossy().into_owned());
                Query::parse(&name, &sql)
            }
            _ => Err(QueryError::Asked(format!(
                "nothing was asked: name a question, or give --sql or --file\n\n{}",
                listed()
            ))),
        }
    }

    fn written(&self, answer: &Answer) -> String {
        let top = all_if_none(self.top);
        match self.format {
            Format::Text => answer.text(top),
            Format::Json => answer.json(),
            Format::Csv => answer.csv(),
            Format::Markdown => answer.markdown(top),
        }
    }
}

pub(super) fn all_if_none(top: usize) -> usize {
    if top == 0 { usize::MAX } else { top }
}

/// Names of the questions, what each asks, and its parameters.
fn listed() -> String {
    let mut out = String::new();
    for (name, _) in READY {
        let Ok(query) = ready(name) else { continue };
        out += &format!("{name:<13} {}\n", query.question);
        for param in &query.params {
            let default = match &param.default {
                Some(Preset::Newest(0)) => "newest".to_owned(),
                Some(Preset::Newest(days)) => format!("{days}d"),
                Some(Preset::Day(day)) => day.to_string(),
                Some(Preset::Text(text)) => text.clone(),
                Some(Preset::Number(number)) => number.to_string(),
                Some(Preset::Share(number)) => number.to_string(),
                None => "…".to_owned(),
            };
            out += &format!("  {:<22} {}\n", format!("{}={default}", param.name), param.about);
        }
    }
    out
}

/// The resources that an answer took, as text.
fn told(spent: &query::Spent) -> String {
    let spilled = match spent.spilled {
        0 => "nothing was spilled to disk".to_owned(),
        bytes => format!("{} were spilled to disk", output::size(bytes as u64)),
    };
    format!(
        "{:.2} s, {} of {} files of the tables read, {spilled}",
        spent.time.as_secs_f64(),
        trodden_report::thousands(spent.files as u64),
        trodden_report::thousands(spent.files_of_tables as u64)
    )
}
