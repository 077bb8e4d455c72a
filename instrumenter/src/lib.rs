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
mod instrumenter;
mod leave;
mod options;
mod outline;
mod prepare;
mod probes;
mod requests;
mod rewrite;
mod scratch;
mod shape;

use trodden_classfile as classfile;

pub use error::{ClassError, SkipReason};
pub use filter::{Filter, FilterError};
pub use guide::{Guide, GuideError};
pub use ids::{CounterSlot, MethodId};
pub use instrumenter::Instrumenter;
pub use leave::{Leave, LeaveError};
pub use options::{CallWeight, EventProbes, InstrumentOptions, ProbeKind, Probes, Shim, UnknownProbe};
pub use outline::{MethodOutline, outline};
pub use prepare::{ClassIds, MethodCode, Preparation, Prepared, class_name, round_trip};
pub use probes::ShimMethod;
pub use probes::coverage::ClassCoverage;
pub use requests::{ROLE_SHIFT, RequestMethods, WithRequests};
pub use shape::shapes;
