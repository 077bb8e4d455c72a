//! Profiles of many JVMs in one place: Parquet files in a folder or an object store.
//!
//! *In*: profiles (`.trodden`), one window of a JVM each. *Out*: tables ([`tables`]) that any engine reads, answers of an
//! embedded one (DataFusion). The only room that knows of Arrow.

mod durable;
mod error;
pub mod log;
mod place;
mod store;
pub mod tables;

pub use error::StoreError;
pub use log::{Day, FileEntry, State};
pub use place::{Place, RETRY_VARIABLE, TIMEOUT_VARIABLE};
pub use store::Store;
