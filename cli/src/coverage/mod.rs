//! Coverage, for `trodden coverage`, `report` and `check`: profile and class files together.

mod change;
mod classes;
mod command;
mod folder;
mod since;

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use trodden_insight::coverage::{Coverage, CoverageOptions, KnownClass};
use trodden_insight::pattern::MethodPattern;
use trodden_instrumenter::Filter;
use trodden_profile::Profile;
use trodden_report::coverage as formats;

pub use change::{read as read_diff, since as diff_since};
pub use command::{CoverageCommand, coverage};
pub use since::files as profiles;

use crate::error::CliError;
use crate::output::{self, NewFile};

/// Options of coverage.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Coverage")]
pub struct CoverageArgs {
    /// The program's classes (folder or jar, as built): those never loaded count as not covered. May be
    /// repeated.
    #[arg(long, value_name = "PATH")]
    classes: Vec<PathBuf>,
    /// Classes, or Class#method, that are looked at (wildcards * and ?).
    #[arg(long, value_name = "PATTERN")]
    include: Vec<String>,
    /// Classes, or Class#method, that are not.
    #[arg(long, value_name = "PATTERN")]
    exclude: Vec<String>,
    /// Count what compilers add, too: branches behind assert, switches over strings, try with
    /// resources, copies of finally, records' and enums' methods … JaCoCo leaves the same out.
    #[arg(long)]
    compiler_made: bool,
    /// Most paths of a method that are counted into sums.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..))]
    path_cap: u64,
    /// Methods with more prime paths than this are left out, and listed.
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    prime_path_cap: u32,
    /// Name of the whole, in JaCoCo's XML.
    #[arg(long, value_name = "NAME", default_value = "trodden")]
    name: String,
}

/// Criteria that are looked at only where they are asked for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wanted {
    pub mcdc: bool,
    pub prime_paths: bool,
}

/// Formats of coverage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CoverageFormat {
    /// For the terminal.
    Text,
    /// For programs.
    Json,
    /// LCOV's tracefile, for genhtml and many others.
    Lcov,
    /// JaCoCo's XML.
    Jacoco,
    /// Cobertura's XML, for GitLab, Jenkins and others.
    Cobertura,
    /// SonarQube's generic format.
    Sonar,
    /// Pages for a browser, in a folder: packages, classes, sources, what is worst first.
    Html,
    /// A change, for code hosts and editors: SARIF 2.1.0, with the nearest path step by step.
    Sarif,
    /// A change, as workflow commands of GitHub's Actions.
    Github,
    /// A change, for the summary of a job or a comment.
    Markdown,
}

impl CoverageArgs {
    /// True if anything was given that only coverage has a use for.
    pub fn any(&self) -> bool {
        !self.classes.is_empty() || !self.include.is_empty() || !self.exclude.is_empty() || self.compiler_made
    }

    /// The program's classes, if they are named.
    pub fn known(&self) -> Result<Option<Vec<KnownClass>>, CliError> {
        match self.classes.as_slice() {
            [] => Ok(None),
            paths => classes::read(paths).map(Some),
        }
    }

    /// The coverage in a profile.
    pub fn coverage(
        &self,
        file: &Path,
        profile: &Profile,
        method: Option<&str>,
        sources: &[PathBuf],
    ) -> Result<Coverage, CliError> {
        let wanted = Wanted::default();
        self.with_classes(file, profile, (method, wanted), sources, self.known()?.as_deref())
    }

    /// Like [`coverage`](Self::coverage), but with classes that were read before, and more criteria.
    pub fn with_classes(
        &self,
        file: &Path,
        profile: &Profile,
        (method, wanted): (Option<&str>, Wanted),
        sources: &[PathBuf],
        known: Option<&[KnownClass]>,
    ) -> Result<Coverage, CliError> {
        crate::memory::warn_if_partial(profile, &file.display().to_string());
        if profile.run.has_time_only() {
            let reason = "holds CPU time only (probe none): what ran and what did not is not known";
            return Err(CliError::file(file, reason));
        }
        let filter = Filter::new(&split(&self.include), &split(&self.exclude))
            .map_err(|e| CliError::Usage(format!("error: {e}")))?;
        let pattern = method
            .map(MethodPattern::new)
            .transpose()
            .map_err(CliError::failed)?;
        let keep = |class: &str, name: &str, descriptor: &str| {
            filter.class(class)
                && filter.method(class, name)
                && pattern
                    .as_ref()
                    .is_none_or(|p| p.matches(class, name, descriptor))
        };
        let options = CoverageOptions {
            cap: self.path_cap,
            sources: sources.to_vec(),
            name: self.name.clone(),
            compiler_made: self.compiler_made,
            mcdc: wanted.mcdc,
            prime_paths: wanted.prime_paths.then_some(self.prime_path_cap as usize),
        };
        Coverage::new(profile, known, keep, &options).map_err(|e| CliError::file(file, e))
    }
}

/// Patterns joined by `+`, as in the profile options.
fn split(patterns: &[String]) -> Vec<String> {
    let parts = patterns.iter().flat_map(|p| p.split('+'));
    parts.filter(|p| !p.is_empty()).map(str::to_owned).collect()
}

/// Pages go into a folder.
fn pages(coverage: &Coverage, target: Option<&Path>) -> Result<(), CliError> {
    let Some(target) = target else {
        let wanted = "error: HTML is a folder of pages: name it by -o FOLDER";
        return Err(CliError::Usage(wanted.to_owned()));
    };
    folder::write(&folder::wanted(target), coverage)
}

/// Writes coverage in a format; `never` adds to text what never ran, by class. LCOV and the kinds of XML know
/// no paths: those go into a file next to it.
pub fn write(
    coverage: &Coverage,
    format: CoverageFormat,
    (top, never): (Option<u32>, bool),
    target: Option<&Path>,
    colour: bool,
) -> Result<(), CliError> {
    let text = match format {
        CoverageFormat::Json => return output::write_with(target, |out| formats::write_json(coverage, out)),
        CoverageFormat::Text => {
            let top = top.map_or(20, |top| top as usize);
            let never = never.then(|| formats::never_ran(coverage, top, colour));
            formats::text(coverage, top, colour) + &never.unwrap_or_default()
        }
        CoverageFormat::Lcov => formats::lcov(coverage),
        CoverageFormat::Jacoco => formats::jacoco(coverage).map_err(CliError::failed)?,
        CoverageFormat::Cobertura => formats::cobertura(coverage),
        CoverageFormat::Sonar => formats::sonar(coverage),
        CoverageFormat::Html => return pages(coverage, target),
        CoverageFormat::Sarif | CoverageFormat::Github | CoverageFormat::Markdown => {
            let what =
                "error: sarif, github and markdown show a change: name it by --changed DIFF or --base GITREF";
            return Err(CliError::Usage(what.to_owned()));
        }
    };
    let paths_beside = coverage.has_paths && format != CoverageFormat::Text;
    // Next to a device or a pipe there is no place for a file.
    let file = target.filter(|target| paths_beside && !output::is_stream(target));
    let Some(target) = file else {
        return output::write(target, text.as_bytes());
    };
    let mut beside = target.as_os_str().to_owned();
    beside.push(".paths.json");
    let file = |path: PathBuf, text: String| NewFile {
        path,
        bytes: text.into_bytes(),
        mode: 0o666,
    };
    let paths = formats::json(coverage).map_err(CliError::failed)?;
    output::write_files(&[file(target.to_owned(), text), file(beside.into(), paths)])
}
