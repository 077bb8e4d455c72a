//! What changed between two runs, in each format: text, JSON, Markdown and a page.

mod html;
mod json;
mod markdown;
mod sources;
mod text;
mod time_words;

use trodden_insight::diff::Diff;

pub(crate) use markdown::escape as escape_markdown;
pub use sources::DiffSources;

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
