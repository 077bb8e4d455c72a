//! Every path end is counted until enough is known of a method (`probe=auto`).

use std::sync::{Arc, Mutex};

use trodden_profile::RunInfo;

use super::counters::Counters;
use super::recorder::{Begin, BeginError, OnTick, ReadError, Reading, Recorder, Totals};
use crate::controller::{Controller, Ledger, complete};
use crate::host::Host;
use crate::jvm::{Jni, JvmError};
use crate::locks::lock;
use crate::sampling::clock::{Signal, Tick};
use crate::settings::Settings;
use crate::threads::shim::Shim;

/// Counts of counters, and when they were in.
#[derive(Default)]
pub struct Auto {
    counters: Counters,
    /// Never held while the JVM is called.
    ledger: Arc<Mutex<Ledger>>,
}

impl Recorder for Auto {
    fn check(&self, shim: &Shim, settings: &Settings) -> Result<(), BeginError> {
        self.counters.check(shim, settings)
    }

    fn begin(&self, _: &Host, begin: Begin<'_>) -> Result<(), BeginError> {
        lock(&self.ledger).begin(begin.before.unwrap_or_default());
        Ok(())
    }

    fn on_ticks(self: Arc<Self>, host: &'static Host, settings: &Arc<Settings>) -> Box<dyn OnTick> {
        Box::new(Controller::new(host, None, Arc::clone(&self.ledger), settings))
    }

    fn stop(&self, _: &Host) {
        lock(&self.ledger).stop();
    }

    fn reset(&self, host: &Host, shim: &Shim, jni: Jni<'_>) -> Result<(), JvmError> {
        self.counters.reset(host, shim, jni)?;
        lock(&self.ledger).reset();
        Ok(())
    }

    fn describe(&self, settings: &Settings, run: &mut RunInfo) {
        self.counters.describe(settings, run);
    }

    fn totals(&self, reading: Reading<'_>) -> Result<Totals, ReadError> {
        let mut totals = self.counters.counted(reading)?;
        if let Some(first_methods) = &totals.first_methods {
            complete(&mut totals.profile, first_methods, &lock(&self.ledger));
        }
        Ok(totals)
    }
}

impl OnTick for Controller {
    fn tick(&mut self, jni: Jni<'_>, _: Tick, _: &Signal) -> Result<(), JvmError> {
        self.look_if_due(jni)
    }
}
