//! Reading and writing class files over borrowed bytes. The only place with byte-offset arithmetic.
//!
//! Nothing is interpreted that probes do not touch: unknown attributes travel as bytes, and old constant-pool
//! indices stay valid because entries are only ever appended.
//!
//! *In*: the bytes of a class file. *Out*: [`class::Class`], its pool, methods and [`code::Code`]; every
//! error has the offset in the file.
//!
//! ```
//! let fault = trodden_classfile::class::Class::read(b"no class").unwrap_err();
//! assert_eq!(fault.offset, 0);
//! ```

#![expect(
    clippy::len_without_is_empty,
    reason = "neither code nor pools nor switches are asked whether they are empty"
)]

pub mod attributes;
pub mod class;
pub mod code;
pub mod frames;
pub mod loaded;
pub mod opcodes;
pub mod pool;
pub mod reader;
pub mod source_map;

use std::borrow::Cow;

/// Modified UTF-8 (JVMS 4.4.7) as text; what is not valid becomes a replacement character.
pub fn decode(raw: &[u8]) -> Cow<'_, str> {
    cesu8::from_java_cesu8(raw).unwrap_or_else(|_| String::from_utf8_lossy(raw))
}
