//! The entry: classes in, classes with probes out.

use std::sync::Arc;

use crate::error::ClassError;
use crate::options::InstrumentOptions;
use crate::prepare::{self, Preparation};
use crate::scratch;

/// Rewrites classes. Cheap to clone, usable from many threads at once.
#[derive(Clone, Debug)]
pub struct Instrumenter {
    shared: Arc<scratch::Shared>,
}

impl Instrumenter {
    /// An instrumenter with these options.
    pub fn new(options: InstrumentOptions) -> Self {
        Instrumenter {
            shared: Arc::new(scratch::Shared::new(options)),
        }
    }

    /// The options.
    pub fn options(&self) -> &InstrumentOptions {
        &self.shared.options
    }

    /// Reads and numbers a class. Filters are applied to the class's own name and its methods.
    ///
    /// # Errors
    /// If the bytes are not a well-formed class file; the error states class, method and offset.
    pub fn prepare<'a>(&self, bytes: &'a [u8]) -> Result<Preparation<'a>, ClassError> {
        prepare::prepare(&self.shared, bytes)
    }
}
