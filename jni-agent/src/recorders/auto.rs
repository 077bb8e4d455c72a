//! Every path end is counted until enough is known of a method (`probe=auto`).

use std::sync::{Arc, Mutex};

use trodden_profile::RunInfo;

use super::counters::Counters;
use super::recorder::{Begin, BeginError, Moment, OnTick, ReadError, Reading, Recorder, Totals};
use crate::controller::{Controller, ProbeHistory, complete};
use crate::host::Host;
use crate::jvm::{Jni, JvmError};
use crate::locks::lock;
use crate::settings::Settings;
use crate::threads::Shim;

/// Counts of counters, and when they were in.
#[derive(Default)]
pub struct Auto {
    counters: Counters,
    /// Never held while the JVM is called.
    history: Arc<Mutex<ProbeHistory>>,
}

impl Recorder for Auto {
    fn begin(&self, _: &Host, begin: Begin<'_>) -> Result<(), BeginError> {
        lock(&self.history).begin(begin.before.unwrap_or_default());
        Ok(())
    }

    fn on_ticks(self: Arc<Self>, host: &'static Host, settings: &Settings) -> OnTick {
        let mut controller = Controller::new(host, None, Arc::clone(&self.history), settings);
        Box::new(move |now: &Moment<'_>| controller.look_if_due(now.shim, now.jni))
    }

    fn stop(&self, _: &Host) {
        lock(&self.history).stop();
    }

    fn reset(&self, host: &Host, shim: &Shim, jni: Jni<'_>) -> Result<(), JvmError> {
        self.counters.reset(host, shim, jni)?;
        lock(&self.history).reset();
        Ok(())
    }

    fn describe(&self, settings: &Settings, run: &mut RunInfo) {
        self.counters.describe(settings, run);
    }

    fn totals(&self, reading: Reading<'_>) -> Result<Totals, ReadError> {
        let mut totals = self.counters.counted(reading)?;
        if let Some(first_methods) = &totals.first_methods {
            complete(&mut totals.profile, first_methods, &lock(&self.history));
        }
        Ok(totals)
    }
}
