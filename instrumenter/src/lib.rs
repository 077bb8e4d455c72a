//! Class file in, instrumented class file and path map out.
//!
//! Phases of [`Instrumenter::prepare`]: read the class over borrowed bytes, build a control-flow graph per
//! method, number it (`trodden-numbering`; PEP sections 3.1, 3.2, 3.4), and decide per method whether it can carry probes.
//! [`Prepared::emit`] then writes the class with the probes of the chosen [`ProbeKind`]. What cannot be handled stays
//! as it was and is listed with its reason.

mod error;
mod filter;
mod options;

pub use error::{ClassError, SkipReason};
pub use filter::{Filter, FilterError};
pub use options::{InstrumentOptions, ProbeKind, Shim};

use std::sync::Arc;

use trodden_profile::{ClassMap, Skipped};

/// Rewrites classes. Cheap to clone, usable from many threads at once.
#[derive(Clone, Debug)]
pub struct Instrumenter {
    options: Arc<InstrumentOptions>,
}

/// The identity that an emitted class's probes carry, given out by whoever collects the counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClassIds {
    /// The class's index: names its counter array.
    pub class: u32,
    /// Index of the first method of the path map; the others follow.
    pub first_method: u32,
}

/// What there is to do for a class.
#[derive(Debug)]
pub enum Preparation<'a> {
    /// Some method takes probes.
    Ready(Prepared<'a>),
    /// Nothing to do, or nothing that can be done.
    Unchanged {
        /// What was left alone although it has branches, and why.
        skipped: Vec<Skipped>,
    },
}

/// A class that is ready to be written with probes.
#[derive(Debug)]
pub struct Prepared<'a> {
    map: Arc<ClassMap>,
    skipped: Vec<Skipped>,
    bytes: &'a [u8],
}

impl Instrumenter {
    /// An instrumenter with these options.
    pub fn new(options: InstrumentOptions) -> Self {
        Instrumenter {
            options: Arc::new(options),
        }
    }

    /// The options.
    pub fn options(&self) -> &InstrumentOptions {
        &self.options
    }

    /// Reads and numbers a class. Filters are applied to the class's own name and its methods.
    ///
    /// # Errors
    /// If the bytes are not a well-formed class file; the error tells the offset.
    pub fn prepare<'a>(&self, bytes: &'a [u8]) -> Result<Preparation<'a>, ClassError> {
        let _ = bytes;
        todo!()
    }
}

impl Prepared<'_> {
    /// The path map of the methods that will carry probes.
    pub fn map(&self) -> &Arc<ClassMap> {
        &self.map
    }

    /// What is left alone although it has branches.
    pub fn skipped(&self) -> &[Skipped] {
        &self.skipped
    }

    /// The class with probes. Deterministic: same bytes, options and ids give the same result.
    pub fn emit(&self, ids: ClassIds) -> Vec<u8> {
        let _ = ids;
        self.bytes.to_vec()
    }
}
