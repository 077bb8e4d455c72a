//! Zip archives, read and written at the level of their bytes: everything that is not changed is copied byte
//! by byte, down to data descriptors, paddings and the bytes in front of the first entry.
//!
//! The crate `zip` loses alignment, extra timestamps, start scripts and comments of rewritten entries; that
//! is why this is here. Only what a JVM reads is understood: STORED and DEFLATED, no encryption, below 4 GB.

mod read;
mod source;
mod write;

pub use read::Archive;
pub use source::Source;
pub use write::{Added, Change, Packed, WriteError, Writer};

/// The data is not compressed.
pub const STORED: u16 = 0;
/// The data is compressed.
pub const DEFLATED: u16 = 8;

/// Id of the extra field with sizes and offset of 64 bits.
const ZIP64: u16 = 0x0001;
/// Id of the extra field that says how the data is aligned: two bytes of alignment, then padding.
const ALIGNMENT: u16 = 0xd935;
/// Sizes follow the data.
const HAS_DESCRIPTOR: u16 = 1 << 3;

fn u2(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

fn u4(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

fn u8_at(bytes: &[u8], at: usize) -> u64 {
    u64::from(u4(bytes, at)) | u64::from(u4(bytes, at + 4)) << 32
}

fn set_u2(bytes: &mut [u8], at: usize, value: u16) {
    bytes[at..at + 2].copy_from_slice(&value.to_le_bytes());
}

fn set_u4(bytes: &mut [u8], at: usize, value: u32) {
    bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
}

/// Extra fields as (id, whole field), and what is left behind them.
fn extra_fields(extra: &[u8]) -> (Vec<(u16, &[u8])>, &[u8]) {
    let mut fields = Vec::new();
    let mut rest = extra;
    while rest.len() >= 4 {
        let (id, length) = (u2(rest, 0), 4 + usize::from(u2(rest, 2)));
        // Padding with zeros is no field.
        if length > rest.len() || (id == 0 && length == 4) {
            break;
        }
        fields.push((id, &rest[..length]));
        rest = &rest[length..];
    }
    (fields, rest)
}
