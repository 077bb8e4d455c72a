//! Path registers are read from frames at safepoints (`probe=safepoint`).

use std::sync::{Arc, Mutex};

use trodden_profile::{RunInfo, facts};

use super::recorder::{BeginError, Moment, OnTick, ReadError, Reading, Recorder, Totals, totals};
use crate::host::Host;
use crate::jvm::{Jni, JvmError};
use crate::locks::lock;
use crate::sampling::{Collector, SafepointSampler};
use crate::settings::Settings;
use crate::threads::Shim;

/// Paths that threads were stopped in.
#[derive(Default)]
pub struct Safepoint {
    collector: Mutex<Collector>,
}

impl Recorder for Safepoint {
    fn prepare(&self, host: &Host, _: Jni<'_>, _: &mut Settings) -> Result<(), BeginError> {
        host.granted.frames.then_some(()).ok_or(BeginError::NeedsStartUp)
    }

    fn check(&self, _: &Shim, _: &Settings) -> Result<(), BeginError> {
        Ok(())
    }

    fn on_ticks(self: Arc<Self>, _: &'static Host, _: &Settings) -> OnTick {
        let mut sampler = SafepointSampler::default();
        Box::new(move |now: &Moment<'_>| {
            let filter = &now.settings.instrumenter.options().filter;
            sampler.sample(now.host, &self.collector, filter, now.jni)?;
            lock(&self.collector).ticked(now.tick);
            Ok(())
        })
    }

    fn reset(&self, _: &Host, _: &Shim, _: Jni<'_>) -> Result<(), JvmError> {
        lock(&self.collector).reset();
        Ok(())
    }

    fn describe(&self, settings: &Settings, run: &mut RunInfo) {
        run.interval_ns = Some(settings.options.sampling.interval.as_nanos() as u64);
    }

    fn totals(&self, reading: Reading<'_>) -> Result<Totals, ReadError> {
        let mut run = reading.run;
        let collector = lock(&self.collector);
        collector.note(&mut run.facts);
        let tally = collector.tally;
        run.facts.set(facts::FRAMES, tally.frames);
        run.facts.set(facts::INVALID_SLOTS, tally.invalid_slots);
        run.facts.set(facts::IMPLAUSIBLE, tally.implausible);
        Ok(totals(run, collector.classes(&reading.host.registry)))
    }

    fn status(&self, _: &Settings) -> Vec<(&'static str, String)> {
        lock(&self.collector).status()
    }
}
