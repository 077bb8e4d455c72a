//! A real S3 server, and a bad network before it.

pub mod moto;
pub mod proxy;
