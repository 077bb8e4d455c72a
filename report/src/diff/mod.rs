//! What changed between two runs, in each format: text, JSON, Markdown, SARIF and a page.

mod html;
mod json;
mod markdown;
mod sarif;
mod text;
mod time_words;

pub use html::html;
pub use json::json;
pub(crate) use markdown::escape as escape_markdown;
pub use markdown::markdown;
pub use sarif::sarif;
pub(crate) use text::source_line;
pub use text::text;
