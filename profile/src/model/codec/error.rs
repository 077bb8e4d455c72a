//! What can be wrong with a file, or with a profile that is to become one.

use std::fmt;
use std::path::PathBuf;

/// Something that breaks a rule of the data model, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Class, if it is about one.
    pub class: Option<String>,
    /// Method name and descriptor, if it is about one.
    pub method: Option<String>,
    /// What is wrong.
    pub what: String,
}

impl Problem {
    /// A problem of the profile as a whole.
    pub(crate) fn bare(what: String) -> Self {
        Problem {
            class: None,
            method: None,
            what,
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(class) = &self.class {
            write!(f, "class {class}: ")?;
        }
        if let Some(method) = &self.method {
            write!(f, "method {method}: ")?;
        }
        f.write_str(&self.what)
    }
}

/// Why bytes are not a readable profile. Offsets are in bytes from the file's start, unless they say otherwise.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The magic is missing.
    #[error("not a Trodden file (it does not start with the magic bytes of one)")]
    NotTrodden,
    /// A `.trace` file.
    #[error("this is a trace, not a profile (make a profile of it with `trodden replay`)")]
    Trace,
    /// Written by a newer Trodden.
    #[error("format version {found} is not supported (this build reads 1..={newest})")]
    UnsupportedVersion {
        /// Version in the file.
        found: u16,
        /// Newest version that this build reads.
        newest: u16,
    },
    /// The file ends too early.
    #[error("the file is truncated: it ends at offset {offset}, {missing} bytes too early, in {place}")]
    Truncated {
        /// Length of what is there.
        offset: u64,
        /// How many bytes more are needed at least.
        missing: u64,
        /// What they would be.
        place: String,
    },
    /// A section is damaged.
    #[error(
        "section '{section}' at offset {offset} is damaged: its checksum is {found:08x}, the file says {stated:08x}"
    )]
    Checksum {
        /// Tag of the section.
        section: String,
        /// Where the section starts.
        offset: u64,
        /// Checksum of what is there.
        found: u32,
        /// Checksum that the file states.
        stated: u32,
    },
    /// A section is larger than anything a writer makes.
    #[error(
        "section '{section}' at offset {offset} claims {claimed} bytes, which is above the limit of {limit}"
    )]
    TooLarge {
        /// Tag of the section.
        section: String,
        /// Where the section starts.
        offset: u64,
        /// Length that it claims.
        claimed: u64,
        /// The limit.
        limit: u64,
    },
    /// All sections together claim more bytes than any profile of the file's length has.
    #[error(
        "the file claims to hold {claimed} bytes when unpacked, which is above the limit of {limit} for its length"
    )]
    UnpacksTooFar {
        /// Bytes that its sections claim.
        claimed: u64,
        /// The limit.
        limit: u64,
    },
    /// A section cannot be decompressed.
    #[error("section '{section}' at offset {offset} cannot be unpacked: {reason}")]
    Unpack {
        /// Tag of the section.
        section: String,
        /// Where the section starts.
        offset: u64,
        /// What is wrong.
        reason: String,
    },
    /// A section that this build does not know and that may not be ignored.
    #[error("unknown section '{section}' at offset {offset}")]
    UnknownSection {
        /// Tag of the section.
        section: String,
        /// Where the section starts.
        offset: u64,
    },
    /// A section that must be there is not, or is there twice, or sections are out of order.
    #[error("section '{section}' {problem} (offset {offset})")]
    Order {
        /// Tag of the section.
        section: String,
        /// Where this shows.
        offset: u64,
        /// What is wrong.
        problem: &'static str,
    },
    /// Something in a section makes no sense.
    #[error("section '{section}' at offset {offset}, byte {at} of its contents: {problem}")]
    Malformed {
        /// Tag of the section.
        section: String,
        /// Where the section starts.
        offset: u64,
        /// Offset in the section's unpacked contents, where reading stopped.
        at: u64,
        /// What is wrong.
        problem: Box<Problem>,
    },
    /// There is something behind the end.
    #[error("{extra} bytes follow the end marker, at offset {offset}")]
    Trailing {
        /// Where the file should have ended.
        offset: u64,
        /// How many bytes follow.
        extra: u64,
    },
}

/// Why a profile was not written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// It breaks a rule of the data model.
    #[error("the profile is inconsistent: {0}")]
    Invalid(Problem),
    /// The output failed.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

/// Why a file was not read.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The file system refused.
    #[error("cannot read {}: {source}", file.display())]
    Io {
        /// The file.
        file: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The contents are no profile.
    #[error("{}: {source}", file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// Why.
        source: ReadError,
    },
}

/// Why a file was not written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {}: {source}", file.display())]
pub struct SaveError {
    /// The file.
    pub file: PathBuf,
    /// Why.
    pub source: WriteError,
}
