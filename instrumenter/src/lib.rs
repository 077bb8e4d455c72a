//! Class file in, instrumented class file and path map out.
//!
//! Phases of [`Instrumenter::prepare`]: read the class over borrowed bytes, build a control-flow graph per
//! method, number it (`trodden-numbering`; PEP sections 3.1, 3.2, 3.4), and decide per method whether it can
//! carry probes. [`Prepared::emit`] then writes the class with the probes of the chosen [`ProbeKind`]. A
//! method that cannot be handled stays unchanged and is listed with its reason.
//!
//! ```
//! use trodden_instrumenter::{Instrumenter, InstrumentOptions, ProbeKind};
//!
//! let instrumenter = Instrumenter::new(InstrumentOptions::new(ProbeKind::Counters));
//! let error = instrumenter.prepare(b"no class").unwrap_err();
//! assert_eq!(error.to_string(), "class file: offset 0: not a class file (it does not start with CAFEBABE)");
//! ```

mod cfg;
mod error;
mod filter;
mod guide;
mod hints;
mod ids;
mod leave;
mod options;
mod outline;
mod prepare;
mod probes;
mod rewrite;
mod scratch;
mod shape;

use trodden_classfile as classfile;

pub use error::{ClassError, SkipReason};
pub use filter::{Filter, FilterError};
pub use guide::{Guide, GuideError};
pub use ids::{CounterSlot, MethodId};
pub use leave::{Leave, LeaveError};
pub use options::{CallWeight, EventProbes, InstrumentOptions, ProbeKind, Probes, Shim};
pub use outline::{MethodOutline, outline};
pub use prepare::{ClassIds, MethodCode, Preparation, Prepared, class_name, round_trip};
pub use probes::ShimMethod;
pub use probes::coverage::ClassCoverage;
pub use shape::shapes;

use std::sync::Arc;

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
