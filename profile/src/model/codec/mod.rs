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

pub(crate) use error::Checked;
pub use error::{LoadError, Problem, ReadError, SaveError, SectionProblem, WriteError};

use crate::model::fault::{Fault, ensure};

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

/// Payload that is not packed.
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

/// A section's header.
#[derive(Clone, Copy)]
pub(crate) struct Header {
    pub tag: Tag,
    pub encoding: u8,
    /// Stored bytes.
    pub stored: usize,
    /// Bytes when unpacked.
    pub plain: usize,
    crc: u32,
    /// The CRC-32 of what is in front of it.
    own_crc: u32,
    offset: u64,
}

impl Header {
    /// The header at an offset of a file.
    pub fn new(bytes: &[u8; SECTION_HEADER], offset: u64) -> Self {
        let number = |i: usize| u32::from_le_bytes([bytes[i], bytes[i + 1], bytes[i + 2], bytes[i + 3]]);
        Header {
            tag: [bytes[0], bytes[1], bytes[2], bytes[3]],
            encoding: bytes[4],
            stored: number(5) as usize,
            plain: number(9) as usize,
            crc: number(13),
            own_crc: crc32fast::hash(&bytes[..SECTION_HEADER - 4]),
            offset,
        }
    }

    /// Refuses lengths that no writer makes.
    pub fn check_lengths(&self) -> Result<(), ReadError> {
        let claimed = self.stored.max(self.plain);
        if claimed > SECTION_LIMIT {
            return Err(self.error(SectionProblem::TooLarge(claimed)));
        }
        Ok(())
    }

    /// Refuses stored bytes with another checksum.
    pub fn check_stored(&self, stored: &[u8]) -> Result<(), ReadError> {
        let mut crc = crc32fast::Hasher::new_with_initial(self.own_crc);
        crc.update(stored);
        let found = crc.finalize();
        if found != self.crc {
            return Err(self.error(SectionProblem::Checksum(found, self.crc)));
        }
        Ok(())
    }

    /// Refuses contents of another length.
    pub fn check_plain(&self, length: usize) -> Result<(), ReadError> {
        if length != self.plain {
            return Err(self.error(SectionProblem::Length(length, self.plain)));
        }
        Ok(())
    }

    /// The tag as text.
    pub fn name(&self) -> String {
        self.tag.escape_ascii().to_string()
    }

    /// The error for a problem of this section.
    pub fn error(&self, problem: SectionProblem) -> ReadError {
        ReadError::Section {
            section: self.name(),
            offset: self.offset,
            problem,
        }
    }
}

/// Appends a section whose plain payload has `plain` bytes and is `stored` in the file. All lengths are at most
/// [`SECTION_LIMIT`].
pub(crate) fn put_section(out: &mut Vec<u8>, tag: Tag, encoding: u8, plain: usize, stored: &[u8]) {
    let start = out.len();
    out.extend_from_slice(&tag);
    out.push(encoding);
    out.extend_from_slice(&(stored.len() as u32).to_le_bytes());
    out.extend_from_slice(&(plain as u32).to_le_bytes());
    let mut crc = crc32fast::Hasher::new();
    crc.update(&out[start..]);
    crc.update(stored);
    out.extend_from_slice(&crc.finalize().to_le_bytes());
    out.extend_from_slice(stored);
}

/// Refuses a plain payload that no reader takes.
pub(crate) fn check_length(plain: &[u8]) -> Checked {
    let is_short = plain.len() <= SECTION_LIMIT;
    Ok(ensure(is_short, || Fault::TooLong(plain.len()))?)
}
