//! A change: a diff that is named, or one that git makes.

use std::io::{self, Read};
use std::path::Path;

use trodden_insight::coverage::{ChangeCoverage, ChangedLines, Coverage};
use trodden_report::coverage::change as formats;

use super::CoverageFormat;
use crate::error::CliError;
use crate::git;
use crate::output;

/// The text of a diff; `-` is standard input. Lines of sources in other encodings are no reason to fail.
pub fn read(diff: &Path) -> Result<String, CliError> {
    let bytes = if diff.as_os_str() == "-" {
        let mut bytes = Vec::new();
        io::stdin().read_to_end(&mut bytes).map_err(CliError::failed)?;
        bytes
    } else {
        std::fs::read(diff).map_err(|e| CliError::file(diff, e))?
    };
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The change since a commit, by git in a folder. Whatever the user's settings are, it is one that can be
/// read.
pub fn since(base: &str, folder: &Path) -> Result<String, CliError> {
    // Outside of a repository `git diff` compares two files.
    git(base, folder, &["rev-parse", "--show-toplevel"])?;
    git(
        base,
        folder,
        &[
            "diff",
            "--unified=0",
            "--no-color",
            "--no-ext-diff",
            "--no-textconv",
            "--no-relative",
            "--src-prefix=a/",
            "--dst-prefix=b/",
            "--end-of-options",
            base,
            "--",
        ],
    )
}

/// The output of git; its failure speaks of the option.
fn git(base: &str, folder: &Path, arguments: &[&str]) -> Result<String, CliError> {
    git::output(folder, arguments).map_err(|why| {
        let what = format!("--base {base}: {why} (--changed DIFF takes a diff that is made elsewhere)");
        CliError::Failed(what)
    })
}

/// A format that shows a change.
#[derive(Clone, Copy, Debug)]
pub enum ChangeFormat {
    Text,
    Sarif,
    Github,
    Markdown,
}

impl ChangeFormat {
    /// The format of the same name.
    ///
    /// # Errors
    /// If it shows whole programs only.
    pub fn of(format: CoverageFormat) -> Result<Self, CliError> {
        Ok(match format {
            CoverageFormat::Text => ChangeFormat::Text,
            CoverageFormat::Sarif => ChangeFormat::Sarif,
            CoverageFormat::Github => ChangeFormat::Github,
            CoverageFormat::Markdown => ChangeFormat::Markdown,
            CoverageFormat::Json
            | CoverageFormat::Lcov
            | CoverageFormat::Jacoco
            | CoverageFormat::Cobertura
            | CoverageFormat::Sonar
            | CoverageFormat::Html => {
                let what = "error: this format shows all code, not a change: with --changed and --base, --format is text, sarif, \
                            github or markdown; or leave --changed and --base out";
                return Err(CliError::Usage(what.to_owned()));
            }
        })
    }
}

/// Writes what nothing takes of a change.
pub fn write(
    coverage: &Coverage,
    diff: (&str, &str),
    format: ChangeFormat,
    target: Option<&Path>,
    colour: bool,
) -> Result<(), CliError> {
    let (name, text) = diff;
    let lines = ChangedLines::of_diff(text).map_err(|e| CliError::Failed(format!("{name}: {e}")))?;
    let coverage = coverage.printable();
    let change = ChangeCoverage::new(&coverage, &lines);
    let text = match format {
        ChangeFormat::Text => formats::text(&coverage, &change, colour),
        ChangeFormat::Sarif => formats::sarif(&change).map_err(CliError::failed)?,
        ChangeFormat::Github => formats::github(&change),
        ChangeFormat::Markdown => formats::markdown(&coverage, &change),
    };
    // These have no place for it.
    if matches!(format, ChangeFormat::Sarif | ChangeFormat::Github) {
        for file in &change.unknown {
            output::complain(&format!("{file}: {}", formats::UNKNOWN_FILE));
        }
    }
    output::write(target, text.as_bytes())
}
