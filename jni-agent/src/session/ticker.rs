//! What happens at each tick of the clock: windows, bursts, a look at the controller, periodic dumps.

use std::sync::Arc;
use std::time::{Duration, Instant};

use trodden_instrumenter::ProbeKind;

use crate::controller::{Controller, Renumber};
use crate::jvm::{Jni, JvmError};
use crate::locks::lock;
use crate::log::{error, warning};
use crate::sampling::clock::{Signal, Tick};
use crate::sampling::safepoint::SafepointSampler;
use crate::session::agent::Agent;
use crate::session::{dump, spool};
use crate::settings::Settings;
use crate::threads::shim::Shim;
use crate::threads::strata::Strata;

/// What the clock's thread does at each tick.
pub struct Ticker {
    agent: &'static Agent,
    settings: Arc<Settings>,
    /// Number and size of the open window.
    armed: Option<(u64, u64)>,
    /// Ring entries that may hold something.
    dirty: usize,
    sampler: SafepointSampler,
    controller: Option<Controller>,
    /// Until it has been done.
    renumber: Option<Renumber>,
    next_dump: Option<Instant>,
}

impl Ticker {
    /// For a profile that begins.
    pub fn new(agent: &'static Agent, settings: &Arc<Settings>) -> Self {
        Ticker {
            agent,
            settings: Arc::clone(settings),
            armed: None,
            dirty: agent.host.shim_if_defined().map_or(0, Shim::ring_entries) as usize,
            sampler: SafepointSampler::default(),
            controller: settings
                .retires
                .then(|| Controller::new(&agent.host, &agent.windows, &agent.ledger, settings)),
            renumber: settings.options.renumber_after().map(Renumber::after),
            next_dump: settings.options.dump_every().map(|every| Instant::now() + every),
        }
    }

    /// Returns whether to go on.
    pub fn tick(&mut self, jni: Jni<'_>, tick: Tick, signal: &Signal) -> bool {
        let result = match self.settings.probe {
            ProbeKind::Yieldpoint => match self.settings.span() {
                Some(span) => self.span_window(jni, span),
                None => self.turn_window(jni),
            },
            ProbeKind::Safepoint => {
                let filter = &self.settings.instrumenter.options().filter;
                self.sampler
                    .sample(&self.agent.host, &self.agent.collector, filter, jni)
            }
            ProbeKind::Structural => {
                if let Some(window) = self.settings.windows() {
                    lock(&self.agent.windows).tick(&self.agent.host, window);
                }
                match &mut self.controller {
                    Some(controller) => controller.tick(jni),
                    None => Ok(()),
                }
            }
            ProbeKind::Coverage => Ok(()),
            ProbeKind::Counters | ProbeKind::Events => match (&mut self.controller, self.settings.bursts()) {
                (Some(controller), _) => controller.tick(jni),
                (None, Some(length)) => self.burst(jni, length, signal),
                (None, None) => Ok(()),
            },
        };
        if let Err(e) = result {
            error!("sampling stops: {e}");
            return false;
        }
        if self.renumber.as_ref().is_some_and(Renumber::is_due)
            && let Some(renumber) = self.renumber.take()
            && let Err(e) = renumber.renumber(&self.agent.host, &self.agent.collector, &self.settings, jni)
        {
            warning!("classes keep their path numbers: {e}");
        }
        if self.settings.samples() {
            let mut collector = lock(&self.agent.collector);
            collector.tally.ticks += 1;
            collector.tally.overruns += u64::from(tick.late);
        }
        if self.next_dump.is_some_and(|at| Instant::now() >= at) {
            let every = self.settings.options.dump_every();
            self.next_dump = every.map(|every| Instant::now() + every);
            // A command under way (maybe stopping this very clock) dumps itself or does not want one now.
            if let Some(mut control) = self.agent.try_control()
                && spool::turn(self.agent, jni, &mut control).is_none()
                && let Err(e) = dump::dump(self.agent, jni, &control, None, control.running())
            {
                error!("{e}");
            }
        }
        true
    }

    /// Lets probes report calls and returns for so long, or the JVM these or paths.
    fn burst(&mut self, jni: Jni<'_>, length: Duration, signal: &Signal) -> Result<(), JvmError> {
        let Some(shim) = self.agent.host.shim_if_defined() else {
            return Ok(());
        };
        let number = self.agent.recording.next_burst();
        let events = &self.agent.recording.method_events;
        let jvm = self.settings.options.has_events_of_jvm();
        match jvm {
            true => events.begin(
                self.agent.host.jvmti,
                number,
                self.settings.options.has_steps_of_jvm(),
            )?,
            false => shim.set_burst(jni, number)?,
        }
        lock(&self.agent.collector).tally.ticks += 1;
        let begun = Instant::now();
        signal.nap(length);
        let took = begun.elapsed();
        match jvm {
            true => events.end(self.agent.host.jvmti),
            false => shim.set_burst(jni, 0)?,
        }
        lock(&self.agent.collector).tally.window_ns += took.as_nanos() as u64;
        Ok(())
    }

    /// Takes in the last window's path ends and opens the next window.
    fn turn_window(&mut self, jni: Jni<'_>) -> Result<(), JvmError> {
        let Some(shim) = self.agent.host.shim_if_defined() else {
            return Ok(());
        };
        let schedule = self.settings.options.sampling.schedule;
        let number = match self.armed {
            None => self.settings.options.seed,
            Some((number, armed)) => {
                let seen = shim.disarm(jni)?;
                let ring = shim.entries(jni, seen as usize)?;
                let mut collector = lock(&self.agent.collector);
                collector.window(&self.agent.host.registry, schedule, number, armed, &ring);
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
    /// A window stands for its interval, so a path end in it for as many of the run as the time the window
    /// was open fits into the interval. That time is measured, as this thread may wake up late.
    fn span_window(&mut self, jni: Jni<'_>, span: Duration) -> Result<(), JvmError> {
        let Some(shim) = self.agent.host.shim_if_defined() else {
            return Ok(());
        };
        let strata = self.settings.strata();
        shim.clear(jni, self.dirty)?;
        let asked = Instant::now();
        shim.arm(jni, Strata::MOST)?;
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
        let mut collector = lock(&self.agent.collector);
        if !measured || seen >= Strata::MOST {
            collector.tally.blocked_windows += 1;
            return Ok(());
        }
        let ring = shim.entries(jni, self.dirty)?;
        let open = closing - opened;
        let scale = scale(self.settings.options.sampling.interval, open, seen);
        collector.span(&self.agent.host.registry, strata, seen, &ring, open, scale);
        Ok(())
    }
}

/// Seconds by which recording a path end delays the program at least: a load that waits for the store before
/// it.
const DELAY: f64 = 1e-9;

/// How many path ends of the run a path end stands for that was one of `seen` in a window open for that long.
///
/// Recording delays the program: what ran in the window would have taken less time outside. In a tight loop
/// that is about half, where paths are long nearly nothing. So the delay is taken off, up to three quarters
/// of the time.
fn scale(interval: Duration, open: Duration, seen: u64) -> f64 {
    let open = open.as_secs_f64();
    let undisturbed = (open - seen as f64 * DELAY).max(open / 4.0);
    (interval.as_secs_f64() / undisturbed).max(1.0)
}
