//! Methods that were counted for a part of the run only. (In the file the tag is `cove`, from an older name. Nothing to
//! do with path coverage, which `trodden-report` makes.)

mod codec;
mod merge;
pub(crate) mod section;

/// How much of a method's counts was really counted (probe `auto`). Methods without one were counted, or sampled, all
/// the time.
#[derive(Clone, Debug, PartialEq)]
pub struct Observation {
    /// Index of the class in the profile.
    pub class: u32,
    /// Index of the method in the class's path map.
    pub method: u32,
    /// Path ends that were counted; the rest of the method's counts is estimated from their rates.
    pub counted: u64,
    /// Seconds with probes, over all intervals.
    pub seconds: f64,
    /// Seconds of the profile until the probes were taken out the first time: until then counts are exact.
    pub until: f64,
    /// Number of intervals with probes.
    pub windows: u32,
    /// Why they were taken out the last time: `known`, `full`, `overdue` or `budget`.
    pub reason: String,
}
