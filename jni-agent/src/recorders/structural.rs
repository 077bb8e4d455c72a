//! Windows of structure graphs (`profile=structural`).

use std::sync::{Arc, Mutex};

use trodden_profile::{MethodCounts, facts};

use super::recorder::{
    Begin, BeginError, Moment, OnTick, ReadError, Reading, Recorder, Totals, idle, totals,
};
use crate::controller::{Controller, ProbeHistory, complete};
use crate::host::Host;
use crate::jvm::{Jni, JvmError};
use crate::locks::lock;
use crate::sampling::classes;
use crate::settings::Settings;
use crate::structural::Windows;
use crate::threads::Shim;

/// Windows, and when probes were in.
#[derive(Default)]
pub struct Structural {
    windows: Arc<Mutex<Windows>>,
    /// Taken after the windows, and never held while the JVM is called.
    history: Arc<Mutex<ProbeHistory>>,
}

impl Recorder for Structural {
    fn prepare(&self, host: &Host, _: Jni<'_>, settings: &mut Settings) -> Result<(), BeginError> {
        settings.switches = Some(host.blocks.switches().ok_or(BeginError::NoRoom)?);
        Ok(())
    }

    fn begin(&self, host: &Host, begin: Begin<'_>) -> Result<(), BeginError> {
        lock(&self.history).begin(begin.before.unwrap_or_default());
        lock(&self.windows).begin(&host.blocks, begin.settings.options.structural.window);
        Ok(())
    }

    fn on_ticks(self: Arc<Self>, host: &'static Host, settings: &Settings) -> OnTick {
        let Some(window) = settings.windows() else {
            return idle();
        };
        let mut controller = settings.retires.then(|| {
            let windows = Some((Arc::clone(&self.windows), window));
            Controller::new(host, windows, Arc::clone(&self.history), settings)
        });
        Box::new(move |now: &Moment<'_>| {
            lock(&self.windows).tick(now.host, window);
            match &mut controller {
                Some(controller) => controller.look_if_due(now.shim, now.jni),
                None => Ok(()),
            }
        })
    }

    fn stop(&self, host: &Host) {
        lock(&self.windows).stop(&host.blocks);
        lock(&self.history).stop();
    }

    fn reset(&self, host: &Host, _: &Shim, _: Jni<'_>) -> Result<(), JvmError> {
        lock(&self.windows).reset(&host.blocks);
        lock(&self.history).reset();
        Ok(())
    }

    fn totals(&self, reading: Reading<'_>) -> Result<Totals, ReadError> {
        let Reading {
            host,
            settings,
            shim,
            jni,
            mut run,
            ..
        } = reading;
        run.facts.set(facts::LOST, shim.lost(jni)?.max(0) as u64);
        let mut totals = totals(run, classes(&host.registry, |_, _| MethodCounts::default()));
        let profile = &mut totals.profile;
        let first_methods = totals.first_methods.as_deref().unwrap_or_default();
        let hashed = shim.hashed_counts(jni)?;
        let mut windows = lock(&self.windows);
        let history = lock(&self.history);
        let seconds = profile.run.seconds;
        let missing = |method| history.estimate(method, seconds).map(|estimate| estimate.missing);
        let window = settings.options.structural.window;
        windows.complete(host, profile, first_methods, window, &hashed, missing);
        if settings.retires {
            complete(profile, first_methods, &history);
        }
        Ok(totals)
    }
}
