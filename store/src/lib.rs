//! Profiles of many JVMs in one place: Parquet files in a folder or an object store.
//!
//! *In*: profiles (`.trodden`), one window of a JVM each. *Out*: tables ([`tables`]) that any engine reads, answers of an
//! embedded one (DataFusion). The only room that knows of Arrow.

pub mod page;
pub mod query;
pub mod tables;
