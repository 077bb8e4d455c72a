//! What can be wrong with a file, or with a profile that is to become one.

use std::fmt;
use std::path::PathBuf;

use super::SECTION_LIMIT;
use crate::model::fault::Fault;
use crate::model::map::MethodMap;

/// Something that breaks a rule of the data model, and where.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    /// Class, if it is about one.
    pub class: Option<String>,
    /// Method name and descriptor, if it is about one.
    pub method: Option<String>,
    /// What is wrong.
    pub fault: Fault,
}

impl Problem {
    /// A problem of a class.
    pub(crate) fn of_class(class: &str, fault: Fault) -> Box<Self> {
        Box::new(Problem {
            class: Some(class.to_owned()),
            method: None,
            fault,
        })
    }

    /// A problem of a method.
    pub(crate) fn of_method(class: &str, method: &MethodMap, fault: Fault) -> Box<Self> {
        Box::new(Problem {
            class: Some(class.to_owned()),
            method: Some(method.title()),
            fault,
        })
    }
}

/// A problem of the profile as a whole.
impl From<Fault> for Box<Problem> {
    fn from(fault: Fault) -> Self {
        Box::new(Problem {
            class: None,
            method: None,
            fault,
        })
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
        write!(f, "{}", self.fault)
    }
}

impl std::error::Error for Problem {}

/// Result of a check, or of reading.
pub(crate) type Checked<T = ()> = Result<T, Box<Problem>>;

/// Why bytes are not a readable profile. Offsets are in bytes from the file's start, unless they say otherwise.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
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
    /// A section cannot be read.
    #[error("section '{section}' at offset {offset} {problem}")]
    Section {
        /// Tag of the section.
        section: String,
        /// Where the section starts.
        offset: u64,
        /// What is wrong.
        problem: SectionProblem,
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

/// Why a section cannot be read.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SectionProblem {
    /// Its checksum is another: found, stated.
    #[error("is damaged: its checksum is {0:08x}, the file says {1:08x}")]
    Checksum(u32, u32),
    /// It claims more bytes than any writer makes.
    #[error("claims {0} bytes, which is above the limit of {SECTION_LIMIT}")]
    TooLarge(usize),
    /// It has another length than it says: found, stated.
    #[error("cannot be unpacked: it holds {0} bytes, its header says {1}")]
    Length(usize, usize),
    /// Its stored bytes cannot become as many as it says: stored, stated.
    #[error("cannot be unpacked: {0} bytes cannot unpack to {1}")]
    Expands(usize, usize),
    /// Its packed contents end before it does.
    #[error("cannot be unpacked: there is more behind its packed contents")]
    Trailing,
    /// Its packed contents are damaged, as the library says.
    #[error("cannot be unpacked: {0}")]
    Packing(String),
    /// It is packed in a way that is not known.
    #[error("cannot be unpacked: unknown encoding {0}")]
    Encoding(u8),
    /// This build does not know it, and it may not be ignored.
    #[error("is not known")]
    Unknown,
    /// It is out of order.
    #[error("comes before the section 'RUN '")]
    BeforeRun,
    /// There is another one, and there may be one.
    #[error("is there twice")]
    Twice,
    /// Its contents make no sense, from this byte of them on.
    #[error("makes no sense at byte {0} of its contents: {1}")]
    Malformed(usize, Box<Problem>),
}

/// Why a profile was not written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// It breaks a rule of the data model.
    #[error("the profile is inconsistent: {0}")]
    Invalid(Box<Problem>),
    /// The output failed.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

impl From<Box<Problem>> for WriteError {
    fn from(problem: Box<Problem>) -> Self {
        WriteError::Invalid(problem)
    }
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
