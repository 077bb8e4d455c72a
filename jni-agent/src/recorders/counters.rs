//! Every path end is counted, by probes that stay (`probe=counters`); or by none, where only CPU time is
//! sampled.

use std::sync::{Arc, Mutex};

use trodden_instrumenter::CounterSlot;
use trodden_profile::options::{CutPaths, OpenPaths};
use trodden_profile::{ClassProfile, RunInfo, facts};

use super::recorder::{
    BeginError, OnTick, ReadError, Reading, Recorder, Totals, UnderWay, has_blocks, totals,
};
use super::renumbering::{Renumbering, as_one};
use crate::host::Host;
use crate::jvm::{Jni, JvmError};
use crate::locks::lock;
use crate::sampling::clock::{Signal, Tick};
use crate::sampling::collector::classes;
use crate::sampling::exact::ExactCounts;
use crate::sampling::open;
use crate::settings::Settings;
use crate::threads::shim::Shim;

/// Counts of counters.
#[derive(Default)]
pub struct Counters {
    /// At the last reset, to be subtracted: only threads themselves write their counters.
    baseline: Mutex<ExactCounts>,
}

impl Recorder for Counters {
    fn check(&self, shim: &Shim, _: &Settings) -> Result<(), BeginError> {
        has_blocks(shim)
    }

    fn on_ticks(self: Arc<Self>, host: &'static Host, settings: &Arc<Settings>) -> Box<dyn OnTick> {
        Box::new(Ticks {
            renumbering: Renumbering::new(settings),
            counters: self,
            host,
            settings: Arc::clone(settings),
        })
    }

    fn reset(&self, host: &Host, shim: &Shim, jni: Jni<'_>) -> Result<(), JvmError> {
        let counts = ExactCounts::read(&host.registry, &host.blocks, shim, jni)?;
        *lock(&self.baseline) = counts;
        Ok(())
    }

    fn describe(&self, settings: &Settings, run: &mut RunInfo) {
        run.exact = settings.instruments();
    }

    fn totals(&self, reading: Reading<'_>) -> Result<Totals, ReadError> {
        let settings = reading.settings;
        as_one(self.counted(reading)?, settings)
    }
}

impl Counters {
    /// The counts, and how they were read.
    pub fn counted(&self, reading: Reading<'_>) -> Result<Totals, ReadError> {
        let Reading {
            host,
            settings,
            shim,
            jni,
            mut run,
            under_way,
        } = reading;
        let (mut counts, open) = exact_counts(host, settings, shim, jni, under_way == UnderWay::Open)?;
        counts.without_died = under_way == UnderWay::Nothing;
        let cut = if settings.ahead {
            host.registry.outputs.count_cut_paths()
        } else {
            settings.options.counts_cut_paths()
        };
        let cut = if cut { CutPaths::Count } else { CutPaths::Skip };
        run.facts.set(facts::CUT_PATHS, cut.name());
        // A window says that at the end only.
        if under_way != UnderWay::Nothing {
            let read = if open.is_some() {
                OpenPaths::Read
            } else {
                OpenPaths::Skip
            };
            run.facts.set(facts::OPEN_PATHS, read.name());
        }
        run.facts.set(facts::LOST, shim.lost(jni)?.max(0) as u64);
        if let Some(open) = &open {
            run.facts.set(facts::OPEN_FRAMES, open.read);
            run.facts.set(facts::OPEN_FRAMES_UNREAD, open.unread);
        }
        let baseline = lock(&self.baseline);
        let counted = classes(&host.registry, |entry, method| {
            counts.of_method(&baseline, entry, method)
        });
        Ok(totals(run, counted))
    }
}

/// Exact counts, and what is under way if that is wanted and can be read.
fn exact_counts(
    host: &Host,
    settings: &Settings,
    shim: &Shim,
    jni: Jni<'_>,
    with_open: bool,
) -> Result<(ExactCounts, Option<open::OpenPaths>), JvmError> {
    let dense = || host.blocks.sums(CounterSlot(0)..host.registry.counters());
    if !with_open || !settings.reads_open_paths() || !host.granted.frames {
        return Ok((ExactCounts::after(dense(), shim, jni)?, None));
    }
    let filter = &settings.instrumenter.options().filter;
    let (open, suspended) = open::read(host, filter, jni)?;
    let dense = dense();
    drop(suspended);
    let mut counts = ExactCounts::after(dense, shim, jni)?;
    counts.add_open(&open);
    Ok((counts, Some(open)))
}

/// Counting takes no clock; numbering classes again does.
struct Ticks {
    counters: Arc<Counters>,
    host: &'static Host,
    settings: Arc<Settings>,
    renumbering: Renumbering,
}

impl OnTick for Ticks {
    fn tick(&mut self, jni: Jni<'_>, _: Tick, _: &Signal) -> Result<(), JvmError> {
        let Some(shim) = self.host.shim_if_defined() else {
            return Ok(());
        };
        let Host { registry, blocks, .. } = self.host;
        let counts = || -> Result<Vec<ClassProfile>, JvmError> {
            let counts = ExactCounts::read(registry, blocks, shim, jni)?;
            let baseline = lock(&self.counters.baseline);
            Ok(classes(registry, |entry, method| {
                counts.of_method(&baseline, entry, method)
            })
            .0)
        };
        self.renumbering.tick(self.host, &self.settings, jni, counts);
        Ok(())
    }
}
