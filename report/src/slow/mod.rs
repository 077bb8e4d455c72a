//! Differences between slow requests and the others, in each format.

mod csv;
mod html;
mod json;
pub(crate) mod section;
mod sentences;
mod text;

pub use csv::csv;
pub use html::html;
pub use json::json;
pub use text::text;
