//! Path ends are sampled on a schedule (`probe=yieldpoint`): the clock opens windows of the shim's ring.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use trodden_profile::{RunInfo, facts};

use super::recorder::{BeginError, Moment, OnTick, ReadError, Reading, Recorder, Totals, totals};
use super::renumbering::{as_one, renumber_if_due};
use crate::controller::Renumber;
use crate::host::Host;
use crate::jvm::{Jni, JvmError};
use crate::locks::lock;
use crate::sampling::Collector;
use crate::settings::Settings;
use crate::threads::{Shim, Strata};

/// Samples of path ends.
#[derive(Default)]
pub struct Sampled {
    collector: Mutex<Collector>,
}

impl Recorder for Sampled {
    fn check(&self, shim: &Shim, settings: &Settings) -> Result<(), BeginError> {
        let (needed, room) = (settings.window(), shim.ring_entries());
        if needed <= room {
            Ok(())
        } else {
            Err(BeginError::Window {
                schedule: settings.options.sampling.schedule.to_string(),
                needed,
                room,
            })
        }
    }

    fn on_ticks(self: Arc<Self>, host: &'static Host, settings: &Settings) -> OnTick {
        let mut windows = Windows {
            armed: None,
            dirty: host.shim_if_defined().map_or(0, Shim::ring_entries) as usize,
        };
        let mut renumber = settings.options.renumber_after().map(Renumber::after);
        Box::new(move |now: &Moment<'_>| {
            match now.settings.span() {
                Some(span) => windows.span(now, &self.collector, span)?,
                None => windows.turn(now, &self.collector)?,
            }
            let counts = || Ok(lock(&self.collector).classes(&now.host.registry).0);
            renumber_if_due(&mut renumber, now, counts);
            lock(&self.collector).ticked(now.tick);
            Ok(())
        })
    }

    fn pause(&self, _: &Host, shim: &Shim, jni: Jni<'_>) {
        let _ = shim.disarm(jni);
    }

    fn reset(&self, _: &Host, _: &Shim, _: Jni<'_>) -> Result<(), JvmError> {
        lock(&self.collector).reset();
        Ok(())
    }

    fn describe(&self, settings: &Settings, run: &mut RunInfo) {
        run.schedule = Some(settings.options.sampling.schedule.to_string());
        run.interval_ns = Some(settings.options.sampling.interval.as_nanos() as u64);
    }

    fn totals(&self, reading: Reading<'_>) -> Result<Totals, ReadError> {
        let settings = reading.settings;
        let mut run = reading.run;
        let collector = lock(&self.collector);
        collector.note(&mut run.facts);
        let tally = collector.tally;
        run.facts.set(facts::SHORT_WINDOWS, tally.short_windows);
        run.facts.set(facts::WINDOW_PATH_ENDS, tally.window_path_ends);
        if settings.span().is_some() {
            run.facts
                .set(facts::WINDOW_NS, Duration::from_nanos(tally.window_ns));
            run.facts.set(facts::BLOCKED_WINDOWS, tally.blocked_windows);
        }
        run.facts.set(facts::LOST, tally.holes);
        let counted = collector.classes(&reading.host.registry);
        drop(collector);
        as_one(totals(run, counted), settings)
    }

    fn status(&self, _: &Settings) -> Vec<(&'static str, String)> {
        lock(&self.collector).status()
    }
}

/// Opens and closes windows.
struct Windows {
    /// Number and size of the open window.
    armed: Option<(u64, u64)>,
    /// Ring entries that may hold something.
    dirty: usize,
}

impl Windows {
    /// Takes in the last window's path ends and opens the next window.
    fn turn(&mut self, now: &Moment<'_>, collector: &Mutex<Collector>) -> Result<(), JvmError> {
        let &Moment { shim, jni, .. } = now;
        let schedule = now.settings.options.sampling.schedule;
        let number = match self.armed {
            None => now.settings.options.seed,
            Some((number, armed)) => {
                let seen = shim.disarm(jni)?;
                let ring = shim.entries(jni, seen as usize)?;
                lock(collector).window(&now.host.registry, schedule, number, armed, &ring);
                number.wrapping_add(1)
            }
        };
        let window = schedule.last_index(number) + 1;
        shim.clear(jni, window as usize)?;
        shim.arm(jni, window)?;
        self.armed = Some((number, window));
        Ok(())
    }

    /// Opens a window, waits, closes it and takes in what it saw.
    ///
    /// A window represents its interval, so a path end in it represents as many of the run as the time the
    /// window was open fits into the interval. That time is measured, as this thread may wake up late.
    fn span(
        &mut self,
        now: &Moment<'_>,
        collector: &Mutex<Collector>,
        span: Duration,
    ) -> Result<(), JvmError> {
        let &Moment { shim, jni, .. } = now;
        let strata = now.settings.strata();
        shim.clear(jni, self.dirty)?;
        let asked = Instant::now();
        shim.arm(jni, Strata::MAX_PATH_ENDS)?;
        let opened = Instant::now();
        // The JVM lets no thread in while it collects garbage, and then there are no path ends. A window that
        // opened right after that instead would show what ran then more often than it runs.
        let prompt = |begin: Instant, end: Instant| end - begin <= span / 4;
        let open = prompt(asked, opened);
        if open {
            std::thread::sleep(span);
        }
        let closing = Instant::now();
        let seen = shim.disarm(jni)?;
        let measured = open && prompt(closing, Instant::now());
        self.dirty = strata.entries(seen);
        let mut collector = lock(collector);
        if !measured || seen >= Strata::MAX_PATH_ENDS {
            collector.tally.blocked_windows += 1;
            return Ok(());
        }
        let ring = shim.entries(jni, self.dirty)?;
        let open = closing - opened;
        let scale = scale(now.settings.options.sampling.interval, open, seen);
        collector.span(&now.host.registry, strata, seen, &ring, open, scale);
        Ok(())
    }
}

/// Seconds by which recording a path end delays the program at least: a load that waits for the store before
/// it.
const DELAY: f64 = 1e-9;

/// How many path ends of the run a path end represents that was one of `seen` in a window open for that long.
///
/// Recording delays the program: what ran in the window would have taken less time outside. In a tight loop
/// that is about half, where paths are long nearly nothing. So the delay is taken off, up to three quarters
/// of the time.
fn scale(interval: Duration, open: Duration, seen: u64) -> f64 {
    let open = open.as_secs_f64();
    let undisturbed = (open - seen as f64 * DELAY).max(open / 4.0);
    (interval.as_secs_f64() / undisturbed).max(1.0)
}
