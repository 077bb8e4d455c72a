//! How long the program has run: the processor time of its own threads, without compilers and collectors.
//!
//! On few processors, a thread that was interrupted by the clock does not go on when the clock sleeps again:
//! threads that waited for longer come first, and these are often the compilers'. So the program hardly runs
//! in a span of so much elapsed time, or of the process's processor time. (Of the process as a whole Linux
//! brings that up to date some hundred times a second only; of a single thread whenever it is asked.)

use std::time::{Duration, Instant};

use rustc_hash::FxHashSet;

use super::clock::{spent, threads};

/// How often it is looked which threads there are.
const EVERY: Duration = Duration::from_millis(250);
/// Asking more threads would take longer than a span.
const MAX_THREADS: usize = 256;
/// How the names begin that HotSpot gives its own threads (15 bytes of them are kept), and ours.
const NOT_THE_PROGRAMS: [&str; 16] = [
    "C1 Compiler",
    "C2 Compiler",
    "JVMCI",
    "GC Thread",
    "G1 ",
    "ZWorker",
    "ZDriver",
    "ZDirector",
    "ZStat",
    "ZUncommitter",
    "Shenandoah",
    "VM Thread",
    "VM Periodic",
    "Sweeper",
    "Trodden",
    "trodden",
];

/// A clock that runs while the program does. With very many threads, or where the system does not list them:
/// always.
#[derive(Default)]
pub struct ProgramTime {
    /// Threads of the program, with the processor time of each when it was asked last.
    threads: Vec<(libc::pid_t, u64)>,
    /// Threads that are not the program's.
    others: Vec<libc::pid_t>,
    listed: Option<Instant>,
    /// When it was asked last.
    asked: Option<Instant>,
    seconds: f64,
}

impl ProgramTime {
    /// Looks which threads there are, if it was not looked just now. What a new one has run so far is in the
    /// next answer.
    pub fn list(&mut self) {
        let since = self.listed.map(|at| at.elapsed());
        if since.is_some_and(|since| since < EVERY) {
            return;
        }
        self.listed = Some(Instant::now());
        if let Some(there) = threads() {
            self.see(there.collect(), since);
        }
    }

    /// Takes a list of threads; `since`: the time after the last one. A list can miss threads while others
    /// end, so that what is not in it is still asked until it has ended, and what was not in the one before
    /// may be old.
    fn see(&mut self, there: FxHashSet<libc::pid_t>, since: Option<Duration>) {
        let mut new = there;
        self.others.retain(|id| new.remove(id));
        for (id, _) in &self.threads {
            new.remove(id);
        }
        for id in new {
            let name = std::fs::read_to_string(format!("/proc/self/task/{id}/comm")).unwrap_or_default();
            if NOT_THE_PROGRAMS.iter().any(|begin| name.starts_with(begin)) {
                self.others.push(id);
            } else if let Some(spent) = spent(id) {
                // A thread that began since has run no longer than that.
                let since = since.map_or(0, |since| since.as_nanos() as u64);
                self.threads.push((id, spent.saturating_sub(since)));
            }
        }
    }

    /// Seconds that the program's threads have run since the first call, together.
    pub fn now(&mut self) -> f64 {
        let now = Instant::now();
        let elapsed = self
            .asked
            .replace(now)
            .map_or(Duration::ZERO, |before| now - before);
        let mut nanos = 0;
        if !self.threads.is_empty() && self.threads.len() <= MAX_THREADS {
            self.threads.retain_mut(|(id, before)| match spent(*id) {
                Some(now) => {
                    nanos += now.saturating_sub(*before);
                    *before = now;
                    true
                }
                // It has ended.
                None => false,
            });
            self.seconds += nanos as f64 * 1e-9;
        } else {
            self.seconds += elapsed.as_secs_f64();
        }
        self.seconds
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of this thread.
    fn own() -> libc::pid_t {
        let link = std::fs::read_link("/proc/thread-self").unwrap();
        link.file_name().unwrap().to_str().unwrap().parse().unwrap()
    }

    /// Lets this thread run for a time.
    fn run(busy: Duration) {
        let begin = spent(0).unwrap();
        while Duration::from_nanos(spent(0).unwrap() - begin) < busy {
            std::hint::spin_loop();
        }
    }

    #[test]
    fn runs_while_a_thread_does() {
        let mut time = ProgramTime::default();
        // Threads of other tests end meanwhile, and a list can miss this one then.
        while !time.threads.iter().any(|(id, _)| *id == own()) {
            time.listed = None;
            time.list();
        }
        let begin = time.now();
        run(Duration::from_millis(20));
        let ran = time.now() - begin;
        assert!(ran >= 0.02, "{ran}");
        assert!(time.now() >= begin + ran);
    }

    #[test]
    fn a_list_that_misses_a_thread_makes_no_jump() {
        run(Duration::from_millis(40));
        let since = Duration::from_millis(1);
        for lists in [[true, false, true], [false, true, true]] {
            let begin = spent(0).unwrap();
            let mut time = ProgramTime::default();
            for (at, has) in lists.into_iter().enumerate() {
                let there = has.then(own).into_iter().collect();
                time.see(there, (at > 0).then_some(since));
            }
            let seen = time.now();
            let ran = Duration::from_nanos(spent(0).unwrap() - begin) + since;
            assert!(seen <= ran.as_secs_f64(), "{seen} of {ran:?}: {lists:?}");
        }
    }
}
