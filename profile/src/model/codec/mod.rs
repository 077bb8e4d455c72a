//! The `.trodden` file: one self-contained, versioned, checksummed file per profile.
//!
//! `docs/file-format.md` has the grammar and an example. A file is a magic, a version and a row of sections; each
//! section has a tag, an encoding, lengths and a CRC-32 over all of it, and holds records of varints and strings.
//! The same profile always gives the same bytes. A reader believes nothing: it allocates in step with the bytes that
//! are really there, and a profile that was read satisfies everything that `describe` and `regenerate` rely on.

mod error;
pub(crate) mod read;
pub(crate) mod validate;
pub(crate) mod wire;
pub(crate) mod write;

pub use error::{LoadError, Problem, ReadError, SaveError, WriteError};

/// First bytes of a file. The high bit, CR LF and control-Z reveal transfers that mangle binary files.
pub(crate) const MAGIC: [u8; 8] = *b"\x89TRDN\r\n\x1a";
/// First bytes of a trace: the same frame, other sections. A reader of profiles names it in its error.
pub(crate) const TRACE_MAGIC: [u8; 8] = *b"\x89TRDT\r\n\x1a";
/// The newest format version that is read, and the one that is written.
pub const FORMAT_VERSION: u16 = 1;

/// A section's tag.
pub(crate) type Tag = [u8; 4];
// The sections that every reader has to know. Those of the kinds of data are in `KINDS`.
pub(crate) const RUN: Tag = *b"RUN ";
pub(crate) const CLASSES: Tag = *b"CLAS";
pub(crate) const SKIPPED: Tag = *b"SKIP";
pub(crate) const END: Tag = *b"END ";

/// Payload as it is.
pub(crate) const PLAIN: u8 = 0;
/// Payload as a zlib stream.
pub(crate) const ZLIB: u8 = 1;

/// Bytes of a section's header: tag, encoding, stored length, plain length, CRC-32.
pub(crate) const SECTION_HEADER: usize = 4 + 1 + 4 + 4 + 4;
/// Most plain bytes of one section.
pub(crate) const SECTION_LIMIT: usize = 64 << 20;
/// Most plain bytes for a stored one in a section; what packs better is stored plain. Profiles pack to a third or a tenth.
pub(crate) const PACKING_LIMIT: usize = 64;
/// Plain bytes after which a writer begins another class section.
pub(crate) const SECTION_TARGET: usize = 1 << 20;

/// Most plain bytes of all sections of a file with this number of bytes: a section's worth, and what a writer packs.
pub(crate) fn unpacked_limit(length: usize) -> u64 {
    SECTION_LIMIT as u64 + length as u64 * PACKING_LIMIT as u64
}

/// CRC-32 of a section: over its header up to the CRC, then its stored payload.
pub(crate) fn section_crc(header: &[u8], payload: &[u8]) -> u32 {
    let mut crc = crc32fast::Hasher::new();
    crc.update(header);
    crc.update(payload);
    crc.finalize()
}

/// Appends a section whose plain payload has `plain` bytes and stands in the file as `stored`. All lengths are at most
/// [`SECTION_LIMIT`].
pub(crate) fn put_section(out: &mut Vec<u8>, tag: Tag, encoding: u8, plain: usize, stored: &[u8]) {
    let start = out.len();
    out.extend_from_slice(&tag);
    out.push(encoding);
    out.extend_from_slice(&(stored.len() as u32).to_le_bytes());
    out.extend_from_slice(&(plain as u32).to_le_bytes());
    let crc = section_crc(&out[start..], stored);
    out.extend_from_slice(&crc.to_le_bytes());
    out.extend_from_slice(stored);
}

/// Refuses a plain payload that no reader takes.
pub(crate) fn check_length(plain: &[u8]) -> Result<(), WriteError> {
    if plain.len() <= SECTION_LIMIT {
        return Ok(());
    }
    let what = format!(
        "a section of {} bytes exceeds the limit of {SECTION_LIMIT}",
        plain.len()
    );
    Err(WriteError::Invalid(Problem::bare(what)))
}
