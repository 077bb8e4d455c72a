//! Options of probes that sample by the clock.

use std::time::Duration;

use super::schedule::Schedule;
use super::values::SampledBy;

/// Options of probes that sample by the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SamplingChoices {
    /// Which path ends after a tick are sampled.
    pub schedule: Schedule,
    /// Time between ticks.
    pub interval: Duration,
    /// CPU time of a thread from one sample of its stack to the next; `None`: no samples of stacks.
    pub sample: Option<Duration>,
    /// How their stacks are read.
    pub sampled_by: SampledBy,
}

impl Default for SamplingChoices {
    fn default() -> Self {
        SamplingChoices {
            schedule: Schedule::DEFAULT,
            interval: Duration::from_millis(20),
            sample: None,
            sampled_by: SampledBy::Auto,
        }
    }
}
