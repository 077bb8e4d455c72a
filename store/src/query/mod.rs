//! Questions to a store: SQL over exactly the files that its log names.
//!
//! *In*: the files of a store ([`Files`]), a question ([`Query`]: one that comes with Trodden, or any SELECT)
//! and its parameters. *Out*: an [`Answer`], as text for people or as JSON, CSV, Markdown.
//!
//! The same SQL runs on Spark: what a question needs in addition to its SELECT is in comments at its head,
//! which both sides read (see `docs/fleet/queries.md`).

mod answer;
mod checked;
mod engine;
mod error;
mod files;
mod head;
mod notes;
mod once;
mod params;
mod ready;
mod scan;
mod text;
mod views;

pub use answer::{Answer, Value};
pub use engine::{Engine, Limits, Spent};
pub use error::QueryError;
pub use files::{DataFile, Files, Gap};
pub use head::{Declared, Default, InParts, ParamKind, Query, Reach};
pub use params::{Given, Params};
pub use ready::{READY, ready};
pub use views::View;
