//! What slow requests do differently, in each format.

mod csv;
mod json;
pub(crate) mod section;
mod sentences;
mod text;

pub use csv::csv;
pub use json::json;
pub use text::text;
