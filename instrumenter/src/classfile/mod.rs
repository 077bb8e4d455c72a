//! Reading and writing class files over borrowed bytes. The only place with byte-offset arithmetic.
//!
//! Nothing is interpreted that probes do not touch: unknown attributes travel as bytes, and old constant-pool
//! indices stay valid because entries are only ever appended.

pub mod attributes;
pub mod class;
pub mod code;
pub mod frames;
pub mod opcodes;
pub mod pool;
pub mod reader;
