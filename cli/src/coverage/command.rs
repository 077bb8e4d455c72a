//! `trodden coverage`: what ran and what did not.

use std::path::{Path, PathBuf};
use std::{env, io};

use clap::Args;

use super::change::{self, ChangeFormat};
use super::{CoverageArgs, CoverageFormat, Wanted, since, write};
use crate::error::CliError;
use crate::merge::load_merged;
use crate::{output, reach, sources};

/// Shows what ran and what did not: lines, branches and, where paths were counted, paths.
#[derive(Args)]
#[command(after_help = "\
Examples:
  trodden coverage app.trodden --classes target/classes -o pages/
  trodden coverage app.trodden --classes target/classes --base origin/main
  git diff main | trodden coverage app.trodden --changed - -o change.sarif")]
pub struct CoverageCommand {
    /// Profiles (.trodden), or folders of them; of several, code counts as run if any of them ran it.
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Only runs that ended in this time before now (30d, 12h, 2w), of the newest build: what earlier builds
    /// ran counts for code that is the same. Needs profiles of --profile coverage; others are left out. Text
    /// ends with what never ran, by class.
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Output format [default: what the output's name says (.json, .info, .xml, .sarif, .md; a folder, or its
    /// index.html), else text].
    #[arg(long, value_enum)]
    format: Option<CoverageFormat>,
    /// Output file, for HTML a folder [default: standard output].
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Only these methods: Class#method with * and ?, or a class alone.
    #[arg(long, value_name = "PATTERN")]
    method: Option<String>,
    /// Text: at most this many methods [default: 20].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    top: Option<u32>,
    /// Text: the tests that run this line, and which outcome each took there: Order.java:12. Needs profiles
    /// of single tests (trodden gate record --keep FOLDER).
    #[arg(long, value_name = "FILE:LINE", conflicts_with_all = ["since", "format", "method"])]
    tests_for: Option<String>,
    /// A change: each outcome on a changed line that no test takes, with the nearest path that ran. DIFF is
    /// what `git diff` writes, and its new files are those that ran; `-` reads it from standard input.
    /// Formats: text, sarif, github, markdown.
    #[arg(long, value_name = "DIFF", conflicts_with_all = NOT_OF_A_CHANGE)]
    changed: Option<PathBuf>,
    /// Like --changed, of the change since a commit: `git diff GITREF` in the current folder (main, HEAD~1,
    /// origin/main...).
    #[arg(long, value_name = "GITREF", conflicts_with = "changed", conflicts_with_all = NOT_OF_A_CHANGE)]
    base: Option<String>,
    /// Sources: a directory, one above several projects, or a -sources.jar; may be repeated [default:
    /// src/main/java and the like, if the current directory has them].
    #[arg(long, value_name = "PLACE")]
    sources: Vec<PathBuf>,
    /// MC/DC (masking): which outcomes of conditions decided alone. Needs --probe counters; shown in text and
    /// JSON.
    #[arg(long)]
    mcdc: bool,
    /// Prime paths: those without repetition that are part of no longer one, as GCC 15 counts them. Needs
    /// --profile kpaths --burst off where there are loops; shown in text and JSON.
    #[arg(long)]
    prime_paths: bool,
    #[command(flatten)]
    coverage: CoverageArgs,
}

/// Options that ask for something else.
const NOT_OF_A_CHANGE: [&str; 4] = ["tests_for", "top", "mcdc", "prime_paths"];

impl CoverageCommand {
    /// The change that is asked for: its name, and its diff.
    fn change(&self) -> Result<Option<(String, String)>, CliError> {
        Ok(match (&self.changed, &self.base) {
            (Some(diff), _) => Some((diff.display().to_string(), change::read(diff)?)),
            (None, Some(base)) => Some((
                format!("--base {base}"),
                change::since(base, &env::current_dir().unwrap_or_default())?,
            )),
            (None, None) => None,
        })
    }
}

/// The format of a file's name.
fn by_name(file: &Path) -> Result<CoverageFormat, CliError> {
    let is_folder = file.is_dir() || file.as_os_str().as_encoded_bytes().ends_with(b"/");
    if is_folder || file.file_name().is_some_and(|name| name == "index.html") {
        return Ok(CoverageFormat::Html);
    }
    const ENDINGS: [(&str, CoverageFormat); 10] = [
        (".txt", CoverageFormat::Text),
        (".json", CoverageFormat::Json),
        (".info", CoverageFormat::Lcov),
        (".lcov", CoverageFormat::Lcov),
        (".xml", CoverageFormat::Jacoco),
        (".html", CoverageFormat::Html),
        (".htm", CoverageFormat::Html),
        (".sarif", CoverageFormat::Sarif),
        (".md", CoverageFormat::Markdown),
        (".markdown", CoverageFormat::Markdown),
    ];
    match output::by_ending(&file.to_string_lossy(), &ENDINGS)? {
        Some(CoverageFormat::Html) => {
            let wanted = "error: HTML is a folder of pages: name it by -o FOLDER --format html, or -o FOLDER/index.html";
            Err(CliError::Usage(wanted.to_owned()))
        }
        format => Ok(format.unwrap_or(CoverageFormat::Text)),
    }
}

/// Runs `trodden coverage`.
pub fn coverage(args: &CoverageCommand) -> Result<(), CliError> {
    let places = sources::places(&args.sources)?;
    let format = match (args.format, args.output.as_deref()) {
        (None, Some(file)) => by_name(file)?,
        (given, _) => given.unwrap_or(CoverageFormat::Text),
    };
    let of_change = args.changed.is_some() || args.base.is_some();
    let of_change = of_change.then(|| ChangeFormat::of(format)).transpose()?;
    let diff = args.change()?;
    let known = args.coverage.known()?;
    let files = since::files(&args.files)?;
    if let Some(place) = &args.tests_for {
        return reach::tests_for(
            &args.files[0],
            &load_merged(&files)?,
            place,
            args.output.as_deref(),
        );
    }
    let profile = match &args.since {
        None => load_merged(&files)?,
        Some(time) => since::load(&files, time, known.as_deref())?,
    };
    let method = args.method.as_deref();
    let wanted = Wanted {
        mcdc: args.mcdc,
        prime_paths: args.prime_paths,
    };
    let coverage = args.coverage.with_classes(
        &args.files[0],
        &profile,
        (method, wanted),
        &places,
        known.as_deref(),
    )?;
    let target = args.output.as_deref();
    let colour = target.is_none() && output::colour(&io::stdout());
    if let (Some(format), Some((name, diff))) = (of_change, &diff) {
        return change::write(&coverage, (name, diff), format, target, colour);
    }
    let top = (args.top, args.since.is_some());
    write(&coverage, format, top, target, colour)
}
