//! How each kind of probe is recorded: one [`Recorder`] per mode, with what it has counted so far, what it
//! does at each tick of the clock, and what a profile says of it.
//!
//! | recorder | probes |
//! | --- | --- |
//! | `counters` | every path end is counted, by probes that stay |
//! | `auto` | the same, until enough is known of a method |
//! | `sampled` | path ends are sampled on a schedule |
//! | `safepoint` | path registers are read from frames |
//! | `structural` | windows of structure graphs |
//! | `events` | a stream of events, which analyses consume or a trace keeps |
//! | `coverage` | what ran is marked |
//!
//! [`new`] picks the one of a profile's settings. A profile that goes on after a stop keeps its recorder.

mod auto;
mod counters;
mod coverage;
mod events;
mod recorder;
mod renumbering;
mod safepoint;
mod sampled;
mod structural;

use std::sync::Arc;

use trodden_instrumenter::ProbeKind;

use crate::settings::Settings;
use crate::stream::Recording;

pub use recorder::{Begin, BeginError, Moment, OnTick, ReadError, Reading, Recorder, Totals, UnderWay};

/// The recorder of these settings.
pub fn new(settings: &Settings, recording: &'static Recording) -> Arc<dyn Recorder> {
    match settings.probe {
        ProbeKind::Counters if settings.retires => Arc::new(auto::Auto::default()),
        ProbeKind::Counters => Arc::new(counters::Counters::default()),
        ProbeKind::Yieldpoint => Arc::new(sampled::Sampled::default()),
        ProbeKind::Safepoint => Arc::new(safepoint::Safepoint::default()),
        ProbeKind::Structural => Arc::new(structural::Structural::default()),
        ProbeKind::Events => Arc::new(events::Events::new(recording)),
        ProbeKind::Coverage => Arc::new(coverage::Coverage),
    }
}
