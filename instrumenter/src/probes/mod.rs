//! The code of probes. Where probes go is the plan's matter (`trodden_numbering::Plan`), how code is moved
//! the rewriter's; a strategy only says which bytes are inserted at method entry and at a path end.

mod asm;
mod bursts;
mod calls;
mod counters;
pub mod coverage;
mod events;
pub(crate) mod request;
mod safepoint;
mod shim;
mod strategy;
pub mod structural;
mod yieldpoint;

pub use asm::Asm;
pub use shim::ShimMethod;
pub use strategy::{COUNTED, CutPaths, PathEnd, ProbeStrategy, ProbedMethod};

use crate::options::{EventProbes, InstrumentOptions, Probes};

/// The strategy that the options ask for.
pub fn strategy(options: &InstrumentOptions) -> &'static dyn ProbeStrategy {
    match options.probes {
        Probes::Yieldpoint => &yieldpoint::Yieldpoint,
        Probes::Counters => counters::counters(options),
        Probes::Safepoint => &safepoint::Safepoint,
        Probes::Structural => &structural::Structural,
        Probes::Coverage => &coverage::Coverage,
        Probes::Events(EventProbes::Paths) => &events::PATHS,
        Probes::Events(EventProbes::WantedPaths) => &events::WANTED_PATHS,
        Probes::Events(EventProbes::Activations) => &events::ACTIVATIONS,
        Probes::Events(EventProbes::CountedActivations) => &events::COUNTED_ACTIVATIONS,
        Probes::Events(EventProbes::NestedActivations) => &events::NESTED_ACTIVATIONS,
        Probes::Events(EventProbes::Calls(weight)) => calls::with_call_sites(weight),
        // Classes are numbered as for the same events from probes; nothing is written then.
        Probes::Events(EventProbes::JvmSteps { activations: false }) => &events::PATHS,
        Probes::Events(EventProbes::JvmSteps { activations: true }) => &events::ACTIVATIONS,
        Probes::Events(EventProbes::CallBursts | EventProbes::JvmCallBursts) => &bursts::BURSTS,
    }
}
