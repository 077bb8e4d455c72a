//! Windows of structure graphs (`profile=structural`).

use std::num::NonZeroU32;
use std::sync::{Arc, Mutex};

use trodden_profile::{MethodCounts, facts};

use super::recorder::{Begin, BeginError, OnTick, ReadError, Reading, Recorder, Totals, has_blocks, totals};
use crate::controller::{Controller, Ledger, complete};
use crate::host::Host;
use crate::jvm::{Jni, JvmError};
use crate::locks::lock;
use crate::sampling::clock::{Signal, Tick};
use crate::sampling::collector::classes;
use crate::settings::Settings;
use crate::structural::Windows;
use crate::threads::shim::Shim;

/// Windows, and when probes were in.
#[derive(Default)]
pub struct Structural {
    windows: Arc<Mutex<Windows>>,
    /// Taken after the windows, and never held while the JVM is called.
    ledger: Arc<Mutex<Ledger>>,
}

impl Recorder for Structural {
    fn prepare(&self, host: &Host, _: Jni<'_>, settings: &mut Settings) -> Result<(), BeginError> {
        settings.switches = Some(host.blocks.switches().ok_or(BeginError::NoRoom)?);
        Ok(())
    }

    fn check(&self, shim: &Shim, _: &Settings) -> Result<(), BeginError> {
        has_blocks(shim)
    }

    fn begin(&self, host: &Host, begin: Begin<'_>) -> Result<(), BeginError> {
        lock(&self.ledger).begin(begin.before.unwrap_or_default());
        lock(&self.windows).begin(&host.blocks, begin.settings.options.structural.window);
        Ok(())
    }

    fn on_ticks(self: Arc<Self>, host: &'static Host, settings: &Arc<Settings>) -> Box<dyn OnTick> {
        let controller = |window| {
            let windows = Some((Arc::clone(&self.windows), window));
            Controller::new(host, windows, Arc::clone(&self.ledger), settings)
        };
        let window = settings.windows();
        Box::new(Ticks {
            host,
            windows: Arc::clone(&self.windows),
            window,
            controller: window.filter(|_| settings.retires).map(controller),
        })
    }

    fn stop(&self, host: &Host) {
        lock(&self.windows).stop(&host.blocks);
        lock(&self.ledger).stop();
    }

    fn reset(&self, host: &Host, _: &Shim, _: Jni<'_>) -> Result<(), JvmError> {
        lock(&self.windows).reset(&host.blocks);
        lock(&self.ledger).reset();
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
        let ledger = lock(&self.ledger);
        let seconds = profile.run.seconds;
        let missing = |method| ledger.estimate(method, seconds).map(|estimate| estimate.missing);
        let window = settings.options.structural.window;
        windows.complete(host, profile, first_methods, window, &hashed, missing);
        if settings.retires {
            complete(profile, first_methods, &ledger);
        }
        Ok(totals)
    }
}

/// Opens and closes windows, and takes probes out where they are full.
struct Ticks {
    host: &'static Host,
    windows: Arc<Mutex<Windows>>,
    window: Option<NonZeroU32>,
    controller: Option<Controller>,
}

impl OnTick for Ticks {
    fn tick(&mut self, jni: Jni<'_>, _: Tick, _: &Signal) -> Result<(), JvmError> {
        if let Some(window) = self.window {
            lock(&self.windows).tick(self.host, window);
        }
        match &mut self.controller {
            Some(controller) => controller.look_if_due(jni),
            None => Ok(()),
        }
    }
}
