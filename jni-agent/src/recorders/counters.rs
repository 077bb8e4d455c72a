//! Every path end is counted, by probes that stay (`probe=counters`); or by none, where only CPU time is
//! sampled.

use std::sync::{Arc, Mutex};

use trodden_instrumenter::MethodId;
use trodden_profile::options::{CutPaths, OpenPaths};
use trodden_profile::{ClassProfile, RunInfo, facts};

use super::recorder::{Moment, OnTick, ReadError, Reading, Recorder, Totals, UnderWay, totals};
use super::renumbering::{as_one, renumber_if_due};
use crate::controller::Renumber;
use crate::host::Host;
use crate::jvm::{Jni, JvmError};
use crate::locks::lock;
use crate::sampling::{ExactCounts, classes, open};
use crate::settings::Settings;
use crate::threads::Shim;

/// Counts of counters.
#[derive(Default)]
pub struct Counters {
    /// At the last reset, to be subtracted: only threads themselves write their counters.
    baseline: Mutex<ExactCounts>,
}

impl Recorder for Counters {
    fn on_ticks(self: Arc<Self>, _: &'static Host, settings: &Settings) -> OnTick {
        let mut renumber = settings.options.renumber_after().map(Renumber::after);
        Box::new(move |now: &Moment<'_>| {
            let counts = || {
                let counts = ExactCounts::read(now.host, now.shim, now.jni)?;
                Ok(self.classes(now.host, &counts).0)
            };
            renumber_if_due(&mut renumber, now, counts);
            Ok(())
        })
    }

    fn reset(&self, host: &Host, shim: &Shim, jni: Jni<'_>) -> Result<(), JvmError> {
        let counts = ExactCounts::read(host, shim, jni)?;
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
        Ok(totals(run, self.classes(host, &counts)))
    }

    /// The classes with what was counted since the last reset.
    fn classes(&self, host: &Host, counts: &ExactCounts) -> (Vec<ClassProfile>, Vec<MethodId>) {
        let baseline = lock(&self.baseline);
        classes(&host.registry, |entry, method| {
            counts.of_method(&baseline, entry, method)
        })
    }
}

/// Exact counts, and open paths if these are wanted and can be read.
fn exact_counts(
    host: &Host,
    settings: &Settings,
    shim: &Shim,
    jni: Jni<'_>,
    with_open: bool,
) -> Result<(ExactCounts, Option<open::OpenPaths>), JvmError> {
    if !with_open || !settings.reads_open_paths() || !host.granted.frames {
        return Ok((ExactCounts::read(host, shim, jni)?, None));
    }
    let filter = &settings.instrumenter.options().filter;
    let (open, suspended) = open::read(host, filter, jni)?;
    let dense = host.counters();
    drop(suspended);
    let mut counts = ExactCounts::after(dense, shim, jni)?;
    counts.add_open(&open);
    Ok((counts, Some(open)))
}
