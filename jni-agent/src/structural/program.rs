//! How long the program has run: the processor time of its own threads, without compilers and collectors.
//!
//! On few processors, a thread that was interrupted by the clock does not go on when the clock sleeps again:
//! threads that waited for longer come first, and these are often the compilers'. So the program hardly runs
//! in a span of so much elapsed time, or of the process's processor time. (Of the process as a whole Linux
//! brings that up to date some hundred times a second only; of a single thread whenever it is asked.)

use std::time::{Duration, Instant};

use rustc_hash::FxHashSet;

use crate::sampling::spent;

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
        if self.listed.is_some_and(|at| at.elapsed() < EVERY) {
            return;
        }
        let first = self.listed.replace(Instant::now()).is_none();
        let Ok(folder) = std::fs::read_dir("/proc/self/task") else {
            return;
        };
        let mut new: FxHashSet<libc::pid_t> = folder
            .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
            .collect();
        // What is left then is new, and who is not there any more is forgotten.
        self.others.retain(|id| new.remove(id));
        self.threads.retain(|(id, _)| new.remove(id));
        for id in new {
            let name = std::fs::read_to_string(format!("/proc/self/task/{id}/comm")).unwrap_or_default();
            if NOT_THE_PROGRAMS.iter().any(|begin| name.starts_with(begin)) {
                self.others.push(id);
            } else {
                let so_far = if first { spent(id) } else { None };
                self.threads.push((id, so_far.unwrap_or(0)));
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

    #[test]
    fn runs_while_a_thread_does() {
        let mut time = ProgramTime::default();
        time.list();
        let begin = time.now();
        let busy = Instant::now();
        let mut sum = 0u64;
        while spent(0).is_some() && busy.elapsed() < Duration::from_millis(50) {
            sum = std::hint::black_box(sum + 1);
        }
        let ran = time.now() - begin;
        assert!(ran > 0.0 && sum > 0, "{ran}");
        assert!(time.now() >= begin + ran);
    }
}
