//! What changed between two runs, in each format: text, JSON, Markdown and a page.

mod html;
mod json;
mod markdown;
mod text;
mod time_words;

pub(crate) use markdown::escape as escape_markdown;

use std::path::PathBuf;

use trodden_insight::diff::Diff;
use trodden_insight::source::Sources;

/// Where the source of the second build is looked for.
pub struct DiffSources(Sources);

impl DiffSources {
    /// Folders with source files, as in [`ReportOptions::sources`](crate::ReportOptions::sources).
    pub fn new(folders: &[PathBuf]) -> Self {
        DiffSources(Sources::new(folders))
    }
}

/// The formats of a [`Diff`].
pub trait DiffFormats {
    /// For a terminal, 100 columns wide; `color` adds ANSI styles.
    fn text(&self, sources: &DiffSources, color: bool) -> String;

    /// JSON, format `trodden-diff` version 1.
    ///
    /// # Errors
    /// If the JSON writer fails.
    fn json(&self) -> Result<String, serde_json::Error>;

    /// For a comment on a change.
    fn markdown(&self, sources: &DiffSources) -> String;

    /// One page that needs no other file.
    fn html(&self, sources: &DiffSources) -> String;
}

impl DiffFormats for Diff {
    fn text(&self, sources: &DiffSources, color: bool) -> String {
        text::text(self, sources, color)
    }

    fn json(&self) -> Result<String, serde_json::Error> {
        json::json(self)
    }

    fn markdown(&self, sources: &DiffSources) -> String {
        markdown::markdown(self, sources)
    }

    fn html(&self, sources: &DiffSources) -> String {
        html::html(self, sources)
    }
}
