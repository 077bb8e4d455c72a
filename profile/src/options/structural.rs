//! Options of profile `structural`, and of probes that retire.

use std::num::NonZeroU32;
use std::time::Duration;

/// Options of profile `structural`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StructuralChoices {
    /// Paths of a window, at most a million; `None`: every path is counted.
    pub window: Option<NonZeroU32>,
    /// Are probes taken out of methods whose windows have been filled?
    pub retire: bool,
}

/// Options of probes that are taken out once enough is known: probe `auto`, profile `structural`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RetiringChoices {
    /// Share of the run that profiling may take, in hundredths of a per cent.
    pub share: Option<u32>,
    /// Time until classes whose probes were taken out get them again, if it is fixed.
    pub rearm: Option<Duration>,
}

impl Default for StructuralChoices {
    fn default() -> Self {
        StructuralChoices {
            window: NonZeroU32::new(100),
            retire: true,
        }
    }
}
