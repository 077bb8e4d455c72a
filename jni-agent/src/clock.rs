//! The clock: a native daemon thread that ticks while profiling runs.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::jvm::thread::Vm;
use crate::jvm::{Jni, Jvmti};
use crate::log::error;

/// Name of the thread, as debuggers and stack dumps show it.
const THREAD_NAME: &str = "Trodden clock";
/// How long stopping waits for a tick under way (a dump to a slow disk) before it goes on without it.
const STOP_PATIENCE: Duration = Duration::from_secs(10);

/// A running clock.
pub struct Clock {
    signal: Arc<Signal>,
    thread: JoinHandle<()>,
}

#[derive(Default)]
struct Signal {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    stop: bool,
    ended: bool,
}

/// What a tick is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tick {
    /// Number of this tick, from 0.
    pub number: u64,
    /// Was it more than half an interval late?
    pub late: bool,
}

impl Clock {
    /// Starts ticking. `tick` runs on the clock's thread; when it returns `false` the clock stops.
    ///
    /// # Errors
    /// If the operating system gives no thread.
    pub fn start(
        vm: Vm,
        jvmti: Jvmti,
        interval: Duration,
        mut tick: impl FnMut(Jni<'_>, Tick) -> bool + Send + 'static,
    ) -> std::io::Result<Clock> {
        let signal = Arc::new(Signal::default());
        let own = Arc::clone(&signal);
        let thread = std::thread::Builder::new()
            .name(THREAD_NAME.to_owned())
            .spawn(move || {
                let run = |jni: Jni<'_>| own.run(interval, |t| tick(jni, t));
                if let Err(e) = vm.attached(jvmti, THREAD_NAME, run) {
                    error!("the clock cannot run: {e}");
                }
                own.lock().ended = true;
                own.changed.notify_all();
            })?;
        Ok(Clock { signal, thread })
    }

    /// Stops ticking and waits for the last tick to end.
    pub fn stop(self) {
        let mut state = self.signal.lock();
        state.stop = true;
        self.signal.changed.notify_all();
        let deadline = Instant::now() + STOP_PATIENCE;
        while !state.ended {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            state = self
                .signal
                .changed
                .wait_timeout(state, left)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
        drop(state);
        // It has nothing left to do but return.
        let _ = self.thread.join();
    }
}

impl Signal {
    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ticks at whole intervals from the start, skipping those that were missed altogether.
    fn run(&self, interval: Duration, mut tick: impl FnMut(Tick) -> bool) {
        let mut due = Instant::now();
        let mut missed = false;
        for number in 0.. {
            let late = missed || Instant::now() > due + interval / 2;
            if !tick(Tick { number, late }) {
                return;
            }
            let now = Instant::now();
            due += interval;
            missed = due < now;
            if missed {
                due = now;
            }
            let mut state = self.lock();
            loop {
                if state.stop {
                    return;
                }
                let left = due.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    break;
                }
                state = self
                    .changed
                    .wait_timeout(state, left)
                    .unwrap_or_else(PoisonError::into_inner)
                    .0;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_until_told_to_stop() {
        let signal = Signal::default();
        let mut numbers = Vec::new();
        signal.run(Duration::from_micros(100), |t| {
            numbers.push(t.number);
            t.number < 4
        });
        assert_eq!(numbers, [0, 1, 2, 3, 4]);
        signal.lock().stop = true;
        let mut ticks = 0;
        signal.run(Duration::from_secs(3600), |_| {
            ticks += 1;
            true
        });
        assert_eq!(ticks, 1);
    }

    #[test]
    fn a_late_tick_says_so() {
        let mut late = Vec::new();
        Signal::default().run(Duration::from_millis(20), |t| {
            late.push(t.late);
            std::thread::sleep(Duration::from_millis(if t.number == 0 { 35 } else { 0 }));
            t.number < 1
        });
        assert_eq!(late, [false, true]);
    }
}
