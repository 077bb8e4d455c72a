//! The clock: a native daemon thread that ticks while profiling runs.

use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::jvm::{Jni, Jvmti, Vm};
use crate::locks::lock;
use crate::log::error;

/// Name of the thread that drives probes, as debuggers and stack dumps show it.
pub const THREAD_NAME: &str = "Trodden clock";
/// How long stopping waits for a tick in progress (a dump to a slow disk) before it goes on without it.
const STOP_PATIENCE: Duration = Duration::from_secs(10);

/// A running clock.
pub struct Clock {
    signal: Arc<Signal>,
    thread: JoinHandle<()>,
}

/// Stops the clock's thread.
#[derive(Default)]
pub struct Signal {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    stop: bool,
    ended: bool,
}

/// A tick of the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tick {
    /// Number of this tick, from 0.
    pub number: u64,
    /// True if it was more than half an interval late.
    pub late: bool,
}

impl Clock {
    /// Starts ticking on a thread of that name, where `tick` runs; when it returns `false` the clock stops.
    /// With a seed, a tick comes at a random time of its interval instead of the beginning, and the thread's
    /// timers are as exact as the system can.
    ///
    /// # Errors
    /// If the operating system gives no thread.
    pub fn start(
        name: &'static str,
        vm: Vm,
        jvmti: Jvmti,
        interval: Duration,
        jitter: Option<u64>,
        mut tick: impl FnMut(Jni<'_>, Tick, &Signal) -> bool + Send + 'static,
    ) -> std::io::Result<Clock> {
        let signal = Arc::new(Signal::default());
        let own = Arc::clone(&signal);
        let thread = std::thread::Builder::new().name(name.to_owned()).spawn(move || {
            if jitter.is_some() {
                exact_timers();
            }
            let run = |jni: Jni<'_>| own.run(interval, jitter, |t| tick(jni, t, &own));
            if let Err(e) = vm.attached(jvmti, name, run) {
                error!("the thread {name:?} cannot run: {e}");
            }
            own.lock().ended = true;
            own.changed.notify_all();
        })?;
        Ok(Clock { signal, thread })
    }

    /// Stops ticking and waits for the last tick to end.
    pub fn stop(self) {
        self.signal.lock().stop = true;
        self.signal.changed.notify_all();
        if self.signal.wait_while(STOP_PATIENCE, |state| !state.ended) {
            return;
        }
        // It has nothing left to do but return.
        let _ = self.thread.join();
    }
}

impl Signal {
    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        lock(&self.state)
    }

    /// Waits for a time, or until the clock is to stop.
    pub fn nap(&self, length: Duration) {
        self.wait_while(length, |state| !state.stop);
    }

    /// Waits while something is true, for a time at most. Returns true if that is over.
    fn wait_while(&self, most: Duration, mut is_so: impl FnMut(&State) -> bool) -> bool {
        let waited = self
            .changed
            .wait_timeout_while(self.lock(), most, |state| is_so(state));
        waited.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    }

    /// Ticks once per interval from the start, skipping those that were missed altogether.
    fn run(&self, interval: Duration, jitter: Option<u64>, mut tick: impl FnMut(Tick) -> bool) {
        let mut random = jitter.map(SplitMix);
        let mut phase = || {
            let random = random.as_mut().map_or(0.0, SplitMix::unit);
            interval.mul_f64(random)
        };
        // How much of an interval may be over until its tick counts as missed.
        let latest = if jitter.is_some() {
            interval
        } else {
            Duration::ZERO
        };
        let mut begin = Instant::now();
        let mut due = begin;
        let mut missed = false;
        for number in 0.. {
            let late = missed || Instant::now() > due + interval / 2;
            if !tick(Tick { number, late }) {
                return;
            }
            let now = Instant::now();
            begin += interval;
            missed = begin + latest < now;
            if missed {
                begin = now;
            }
            due = begin + phase();
            self.nap(due.saturating_duration_since(Instant::now()));
            if self.lock().stop {
                return;
            }
        }
    }
}

/// Steele, Lea and Flood's SplitMix64: enough to spread ticks, and repeatable.
pub struct SplitMix(u64);

impl SplitMix {
    /// The difference of one state from the next.
    pub const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

    /// The number of a state.
    pub fn mixed(state: u64) -> u64 {
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A sequence from a seed.
    pub fn new(seed: u64) -> Self {
        SplitMix(seed)
    }

    /// The next number, from 0 to below 1.
    pub fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(Self::GAMMA);
        (Self::mixed(self.0) >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// Linux wakes a thread up to 50 us late, to wake several at once; as long as a whole window.
fn exact_timers() {
    #[cfg(target_os = "linux")]
    // SAFETY: sets a number of the calling thread; no memory is passed.
    unsafe {
        libc::prctl(libc::PR_SET_TIMERSLACK, 1_000 as libc::c_ulong, 0, 0, 0);
    }
}

/// Seconds of processor time that this process has used so far; where the system does not say, elapsed time.
pub fn processor_seconds() -> f64 {
    static BEGIN: OnceLock<Instant> = OnceLock::new();
    let nanos = nanoseconds(libc::CLOCK_PROCESS_CPUTIME_ID);
    nanos.map_or_else(
        || BEGIN.get_or_init(Instant::now).elapsed().as_secs_f64(),
        |nanos| nanos as f64 * 1e-9,
    )
}

/// The clock that runs while a thread of this process does.
pub fn clock_of(thread: libc::pid_t) -> libc::clockid_t {
    // As pthread_getcpuclockid does it, which wants to know the thread by another name.
    const OF_A_THREAD: libc::c_int = 4;
    const BY_THE_SCHEDULER: libc::c_int = 2;
    (!thread << 3) | OF_A_THREAD | BY_THE_SCHEDULER
}

/// Nanoseconds of the clock that `System.nanoTime` reads.
pub fn monotonic() -> u64 {
    nanoseconds(libc::CLOCK_MONOTONIC).unwrap_or_default()
}

/// The threads of this process.
pub fn threads() -> Option<impl Iterator<Item = libc::pid_t>> {
    let folder = std::fs::read_dir("/proc/self/task").ok()?;
    Some(folder.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()))
}

/// CPU time of a thread in nanoseconds; 0: the calling one. A signal handler may ask.
pub fn spent(thread: libc::pid_t) -> Option<u64> {
    nanoseconds(clock_of(thread))
}

/// The time of a clock of the system. A signal handler may ask.
fn nanoseconds(clock: libc::clockid_t) -> Option<u64> {
    let mut time = std::mem::MaybeUninit::<libc::timespec>::uninit();
    // SAFETY: a valid place for the answer, which is there if the call says so.
    unsafe {
        if libc::clock_gettime(clock, time.as_mut_ptr()) != 0 {
            return None;
        }
        let time = time.assume_init();
        Some(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_until_it_is_stopped() {
        let signal = Signal::default();
        let mut numbers = Vec::new();
        signal.run(Duration::from_micros(100), None, |t| {
            numbers.push(t.number);
            t.number < 4
        });
        assert_eq!(numbers, [0, 1, 2, 3, 4]);
        signal.lock().stop = true;
        let mut ticks = 0;
        signal.run(Duration::from_secs(3600), None, |_| {
            ticks += 1;
            true
        });
        assert_eq!(ticks, 1);
    }

    #[test]
    fn naps_end_when_the_clock_is_to_stop() {
        let signal = Arc::new(Signal::default());
        let begin = Instant::now();
        signal.nap(Duration::from_millis(20));
        assert!(begin.elapsed() >= Duration::from_millis(20));
        let napping = Arc::clone(&signal);
        let napper = std::thread::spawn(move || napping.nap(Duration::from_secs(3600)));
        signal.lock().stop = true;
        signal.changed.notify_all();
        napper.join().unwrap();
    }

    #[test]
    fn a_late_tick_says_so() {
        let mut late = Vec::new();
        Signal::default().run(Duration::from_millis(20), None, |t| {
            late.push(t.late);
            std::thread::sleep(Duration::from_millis(if t.number == 0 { 35 } else { 0 }));
            t.number < 1
        });
        assert_eq!(late, [false, true]);
    }

    #[test]
    fn jitter_spreads_ticks_over_intervals_and_keeps_their_rate() {
        let mut random = SplitMix(1);
        let numbers: Vec<f64> = (0..10_000).map(|_| random.unit()).collect();
        assert!(numbers.iter().all(|n| (0.0..1.0).contains(n)));
        for tenth in 0..10 {
            let tenth = f64::from(tenth) / 10.0;
            let inside = numbers
                .iter()
                .filter(|n| (tenth..tenth + 0.1).contains(n))
                .count();
            assert!((800..1200).contains(&inside), "{inside} from {tenth}");
        }
        let begin = Instant::now();
        let mut ticks = 0;
        Signal::default().run(Duration::from_millis(2), Some(0), |t| {
            ticks = t.number;
            t.number < 50
        });
        assert_eq!(ticks, 50);
        assert!(begin.elapsed() >= Duration::from_millis(99));
    }
}
