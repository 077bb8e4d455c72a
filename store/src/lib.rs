//! Profiles of many JVMs in one place: Parquet files in a folder or an object store.
//!
//! *In*: profiles (`.trodden`), one window of a JVM each. *Out*: tables ([`tables`]) that any engine reads, answers of an
//! embedded one (DataFusion). The only room that knows of Arrow.

mod add;
pub mod cli;
mod compact;
mod drop;
mod durable;
mod error;
mod file;
pub mod log;
mod numbers;
pub mod page;
mod place;
mod publish;
pub mod query;
mod rows;
pub mod ship;
mod store;
pub mod tables;
mod vacuum;
mod verify;
pub mod watch;
mod words;

pub use add::{AddOptions, Added, Adder, Misdated};
pub use compact::{CompactOptions, Compacted, Extent};
pub use drop::{DropOptions, Dropped};
pub use error::StoreError;
pub use log::{Day, FileEntry, State};
pub use place::{Place, RETRY_VARIABLE, TIMEOUT_VARIABLE};
pub use publish::{PUBLISHED, Published};
pub use rows::{Defaults, TwoLabels, sort_labels};
pub use store::Store;
pub use vacuum::{VacuumOptions, Vacuumed};
pub use verify::Verified;
