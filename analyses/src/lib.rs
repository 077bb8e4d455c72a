//! The analyses of Trodden: what a stream of path ends amounts to.
//!
//! *In*: [`PathEvent`]s (method, path number), in batches, as the agent's clock or buffers deliver them, and
//! the path maps behind the methods ([`MethodLookup`]). *Out*: counts per method, ready for a
//! [`Profile`](trodden_profile::Profile). Nothing here knows a JVM or does I/O; an analysis is fed from a
//! live process and from a recording alike.
//!
//! *PEP* is Bond and McKinley, *Continuous Path and Edge Profiling* (MICRO 2005).
//!
//! | analysis | what it computes |
//! | --- | --- |
//! | [`NullAnalysis`] | nothing: the floor under every other one's cost |
//! | [`ExactCounts`] | how often each path occurred; the reference |
//! | [`PathEdgeProfile`] | path and edge profile of sampled path ends (PEP, sections 3.3 and 4.3) |
//! | [`kpaths`] | which paths follow which across loop iterations: k-iteration path forests |
//! | [`contexts`] | which calling contexts are hot, in small space; or the whole calling context tree |
//! | [`subpaths`] | which sequences of blocks are hot, beginning anywhere, across loops and calls |
//! | [`stream`] | all of that from the event stream of whole runs, live or recorded |
//!
//! Which path ends are sampled is [`Schedule`]'s business (PEP section 4.4).
//!
//! ```
//! use trodden_analyses::{ExactCounts, MethodTable, PathAnalysis, PathEvent};
//!
//! let mut counts = ExactCounts::default();
//! let event = PathEvent { method: 3, path: 1 };
//! counts.consume(&MethodTable::default(), &[event, event]);
//! assert_eq!(counts.count(event), 2);
//! ```

pub mod contexts;
mod exact;
pub mod kpaths;
mod methods;
mod null;
mod paths;
pub mod stream;
pub mod subpaths;

pub use exact::ExactCounts;
pub use methods::{MethodLookup, MethodPlaces, MethodRef, MethodTable, MethodsTaken, SharedMethods};
pub use null::NullAnalysis;
pub use paths::PathEdgeProfile;
pub use trodden_profile::Schedule;

use trodden_profile::MethodCounts;

/// The end of a path: what a probe reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PathEvent {
    /// Index of the method, as given out when the probes were emitted.
    pub method: u32,
    /// Path number.
    pub path: u64,
}

/// Something that learns from path ends.
///
/// Every analysis merges: one may be kept per thread and summed up at the end, in any order.
pub trait PathAnalysis {
    /// Takes in path ends, in the order in which they happened. `methods` must know each event's method, the
    /// same one under the same index in every call; what it does not know is counted in
    /// [`unknown`](PathAnalysis::unknown).
    fn consume(&mut self, methods: &dyn MethodLookup, events: &[PathEvent]);

    /// Adds what another analysis of the same kind found over the same methods.
    fn merge(&mut self, other: Self)
    where
        Self: Sized;

    /// Forgets everything.
    fn reset(&mut self);

    /// Events that name no known method or path, and are in no other count.
    fn unknown(&self) -> u64;

    /// Counts of a method.
    fn method_counts(&self, method: u32) -> MethodCounts;
}
