//! Path registers are read from frames at safepoints (`probe=safepoint`).

use std::sync::{Arc, Mutex};

use trodden_profile::{RunInfo, facts};

use super::recorder::{BeginError, OnTick, ReadError, Reading, Recorder, Totals, totals};
use crate::host::Host;
use crate::jvm::{Jni, JvmError};
use crate::locks::lock;
use crate::sampling::clock::{Signal, Tick};
use crate::sampling::collector::Collector;
use crate::sampling::safepoint::SafepointSampler;
use crate::settings::Settings;
use crate::threads::shim::Shim;

/// Paths that threads were stopped in.
#[derive(Default)]
pub struct Safepoint {
    collector: Mutex<Collector>,
}

impl Recorder for Safepoint {
    fn prepare(&self, host: &Host, _: Jni<'_>, _: &mut Settings) -> Result<(), BeginError> {
        if host.granted.frames {
            Ok(())
        } else {
            Err(BeginError::NeedsStartUp)
        }
    }

    fn check(&self, _: &Shim, _: &Settings) -> Result<(), BeginError> {
        Ok(())
    }

    fn on_ticks(self: Arc<Self>, host: &'static Host, settings: &Arc<Settings>) -> Box<dyn OnTick> {
        Box::new(Ticks {
            safepoint: self,
            host,
            settings: Arc::clone(settings),
            sampler: SafepointSampler::default(),
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

/// Reads the frames of all threads.
struct Ticks {
    safepoint: Arc<Safepoint>,
    host: &'static Host,
    settings: Arc<Settings>,
    sampler: SafepointSampler,
}

impl OnTick for Ticks {
    fn tick(&mut self, jni: Jni<'_>, tick: Tick, _: &Signal) -> Result<(), JvmError> {
        let filter = &self.settings.instrumenter.options().filter;
        let collector = &self.safepoint.collector;
        self.sampler.sample(self.host, collector, filter, jni)?;
        lock(collector).ticked(tick);
        Ok(())
    }
}
