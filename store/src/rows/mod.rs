//! From profiles to the rows of all tables.

mod about;
mod batch;
mod classes;
mod columns;
mod extract;
mod known;
mod requests;
mod signatures;

pub(crate) use about::About;
pub use about::{Defaults, TwoLabels, sort_labels};
pub(crate) use batch::{Batch, Build};
pub(crate) use classes::Classes;
pub(crate) use columns::{dimension_files, fact_files};
pub(crate) use extract::Extract;
pub(crate) use known::{Dimensions, Known};
