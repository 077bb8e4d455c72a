//! `trodden store query` and `trodden store report`: arguments, and where answers go.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::answer::Answer;
use super::engine::{Engine, Limits, Spent};
use super::error::QueryError;
use super::files::Files;
use super::head::{Default as Preset, Query};
use super::params::Given;
use super::ready::{READY, ready};
use crate::page::{PageOptions, page};

/// Rows that people see, if they ask for no other number.
const TOP: usize = 20;

/// Asks a store.
#[derive(Clone, Debug, Args)]
pub struct QueryArgs {
    /// The store: a folder, or s3://BUCKET/PREFIX
    #[arg(required_unless_present = "list")]
    pub store: Option<String>,
    /// The question, one of --list
    #[arg(conflicts_with_all = ["sql", "file"])]
    pub name: Option<String>,
    /// A SELECT over the store's tables
    #[arg(long, value_name = "SELECT", conflicts_with = "file")]
    pub sql: Option<String>,
    /// A file with a SELECT
    #[arg(long, value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Lists the questions that there are
    #[arg(long)]
    pub list: bool,
    /// A parameter of the question
    #[arg(long = "param", value_name = "NAME=VALUE", value_parser = pair)]
    pub params: Vec<(String, String)>,
    #[command(flatten)]
    pub chosen: Chosen,
    /// How the answer is written
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// Rows at most, in text and Markdown; 0: all
    #[arg(long, value_name = "N", default_value_t = TOP)]
    pub top: usize,
    /// Into a file
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Says what the answer took
    #[arg(short, long)]
    pub verbose: bool,
    #[command(flatten)]
    pub engine: EngineArgs,
}

/// Writes a page with the answers to all questions.
#[derive(Clone, Debug, Args)]
pub struct ReportArgs {
    /// The store: a folder, or s3://BUCKET/PREFIX
    pub store: String,
    /// The page
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    #[command(flatten)]
    pub chosen: Chosen,
    /// Rows of each table; 0: all
    #[arg(long, value_name = "N", default_value_t = TOP)]
    pub top: usize,
    #[command(flatten)]
    pub engine: EngineArgs,
}

/// What most questions can be narrowed down to.
#[derive(Clone, Debug, Default, Args)]
pub struct Chosen {
    /// From this day on: 2026-11-01, or 30d for so many days before the newest in the store
    #[arg(long, value_name = "DAY")]
    pub since: Option<String>,
    /// Of this service only
    #[arg(long, value_name = "SERVICE")]
    pub service: Option<String>,
    /// Of this build; else of the newest, or of all
    #[arg(long, value_name = "BUILD")]
    pub build: Option<String>,
}

/// What the engine may take.
#[derive(Clone, Copy, Debug, Args)]
pub struct EngineArgs {
    /// MiB of memory for groups, joins and sorting; what does not fit goes to disk
    #[arg(long, value_name = "MIB", default_value_t = 768, value_parser = clap::value_parser!(u32).range(16..))]
    pub memory: u32,
    /// Threads; else one per processor
    #[arg(long, value_name = "N")]
    pub threads: Option<NonZeroUsize>,
}

/// How an answer is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    Text,
    /// All rows, format trodden-query.
    Json,
    /// All rows.
    Csv,
    /// A table for issues and pages.
    Markdown,
}

fn pair(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("a parameter is given as NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}

impl EngineArgs {
    /// As limits.
    pub fn limits(&self) -> Limits {
        Limits {
            memory: (self.memory as usize) << 20,
            threads: self.threads,
        }
    }
}

impl Chosen {
    fn into_given(self, given: &mut Given) {
        let all = [("since", self.since), ("service", self.service), ("build", self.build)];
        let there = all.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
        given.extend(there);
    }
}

impl QueryArgs {
    /// The question.
    ///
    /// # Errors
    /// If none was asked, or it makes no sense.
    pub fn question(&self) -> Result<Query, QueryError> {
        match (&self.name, &self.sql, &self.file) {
            (Some(name), ..) => ready(name),
            (_, Some(sql), _) => Query::parse("sql", sql),
            (_, _, Some(file)) => {
                let sql = std::fs::read_to_string(file).map_err(|e| QueryError::Failed(format!("{}: {e}", file.display())))?;
                let name = file.file_stem().map_or("sql".into(), |stem| stem.to_string_lossy().into_owned());
                Query::parse(&name, &sql)
            }
            _ => Err(QueryError::Asked(format!("nothing was asked: name a question, or give --sql or --file\n\n{}", listed()))),
        }
    }

    /// The answer as it is to be written, and what it took.
    ///
    /// # Errors
    /// As [`Engine::ask`].
    pub async fn answer(&self, query: &Query, files: Files) -> Result<(String, Spent), QueryError> {
        let mut given: Given = self.params.iter().cloned().collect();
        self.chosen.clone().into_given(&mut given);
        let (answer, spent) = Engine::new(files, self.engine.limits()).ask(query, &given).await?;
        Ok((self.written(&answer), spent))
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

impl ReportArgs {
    /// The page.
    ///
    /// # Errors
    /// As [`Engine::ask`].
    pub async fn page(&self, files: Files) -> Result<String, QueryError> {
        let mut given = Given::new();
        self.chosen.clone().into_given(&mut given);
        let engine = Engine::new(files, self.engine.limits());
        let options = PageOptions {
            store: self.store.clone(),
            given,
            top: all_if_none(self.top),
        };
        page(&engine, &options).await
    }
}

fn all_if_none(top: usize) -> usize {
    if top == 0 { usize::MAX } else { top }
}

/// Names of the questions, what each asks, and its parameters.
pub fn listed() -> String {
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

impl Spent {
    /// In a line.
    pub fn text(&self) -> String {
        let spilled = match self.spilled {
            0 => "nothing was spilled to disk".to_owned(),
            bytes => format!("{:.1} MB were spilled to disk", bytes as f64 / 1e6),
        };
        format!(
            "{:.2} s, {} of {} files of the tables read, {spilled}",
            self.time.as_secs_f64(),
            trodden_report::thousands(self.files as u64),
            trodden_report::thousands(self.files_of_tables as u64)
        )
    }
}
