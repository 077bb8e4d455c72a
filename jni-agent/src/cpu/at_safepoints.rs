//! Stacks read at safepoints: for JVMs that do not walk stacks in signal handlers, systems without timers of
//! threads, and users who want no signals.
//!
//! A thread of ours looks at all threads again and again. Of each that has used enough CPU time since its
//! last sample it asks the JVM for the stack, which stops that thread at its next safepoint. Sums are right,
//! since a sample stands for the CPU time that its thread has used; places are biased towards safepoints.

use std::time::Duration;

use jvmti_bindings::sys::jvmti::jvmtiFrameInfo;
use rustc_hash::FxHashMap;

use super::buffer::{FRAMES, RawFrame, Taken, Waits};
use super::methods::Methods;
use super::stacks::Stacks;
use crate::jvm::{Jni, Jvmti};

/// Between two looks at least: each costs two calls for each thread.
pub const SHORTEST: Duration = Duration::from_millis(10);
/// Local references to all threads.
const ROOM: i32 = 4096;

/// CPU times of threads.
#[derive(Default)]
pub struct Reader {
    /// CPU time of each thread at its last sample, by its object's hash, and the look that saw it last.
    spent: FxHashMap<i32, (u64, u64)>,
    looks: u64,
}

impl Reader {
    /// Looks at all threads once.
    pub fn look(
        &mut self,
        (jvmti, jni): (Jvmti, Jni<'_>),
        interval: Duration,
        methods: &Methods,
        stacks: &mut Stacks,
    ) {
        let Ok(_frame) = jni.frame(ROOM) else { return };
        self.looks += 1;
        // What it takes itself is said elsewhere.
        let own = jvmti.current_thread().and_then(|own| jvmti.object_hash(own)).ok();
        let mut frames = vec![jvmtiFrameInfo::default(); FRAMES + 1];
        for &thread in jvmti.threads().iter().flat_map(|threads| threads.iter()) {
            let (Ok(hash), Ok(now)) = (jvmti.object_hash(thread), jvmti.thread_cpu_time(thread)) else {
                continue;
            };
            if Some(hash) == own {
                continue;
            }
            let Some(nanos) = self.due(hash, now, interval) else {
                continue;
            };
            let count = jvmti.stack(thread, &mut frames).unwrap_or(0);
            let raw: Vec<RawFrame> = frames[..count.min(FRAMES)]
                .iter()
                .map(|frame| RawFrame {
                    bci: i32::try_from(frame.location).unwrap_or(-1),
                    method: frame.method.addr(),
                })
                .collect();
            let sample = Taken {
                // In native code of a thread that has no Java frame, or at its end.
                stack: if raw.is_empty() { Err(0) } else { Ok(&raw) },
                cut: count > FRAMES,
                nanos,
                in_call: true,
                waits: Waits::default(),
                instead: None,
            };
            stacks.add(sample, |id| methods.version(jvmti, jni, id));
        }
        let looks = self.looks;
        self.spent.retain(|_, (_, seen)| *seen == looks);
    }

    /// The CPU time that a sample of a thread stands for, if it is time for one. At the first look nothing is
    /// known of the time before; a thread that is new at a later one has spent all its time since then.
    fn due(&mut self, hash: i32, now: u64, interval: Duration) -> Option<u64> {
        let looks = self.looks;
        let first = if looks == 1 { now } else { 0 };
        let (last, seen) = self.spent.entry(hash).or_insert((first, looks));
        *seen = looks;
        if now < *last {
            // Another thread has this hash now.
            *last = 0;
        }
        let nanos = now - *last;
        (u128::from(nanos) >= interval.as_nanos()).then(|| {
            *last = now;
            nanos
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_stand_for_the_time_since_the_last_one() {
        let interval = Duration::from_nanos(10);
        let mut reader = Reader::default();
        let mut look = |number: u64, hash, now| {
            reader.looks = number;
            reader.due(hash, now, interval)
        };
        // What was spent before the first look is not ours.
        assert_eq!(look(1, 7, 100), None);
        assert_eq!(look(2, 7, 105), None);
        assert_eq!(look(3, 7, 112), Some(12));
        // A thread that began later; and one that took the hash of another.
        assert_eq!(look(3, 8, 30), Some(30));
        assert_eq!(look(4, 8, 15), Some(15));
        let sum: u64 = (5..50).filter_map(|n| look(n, 7, 112 + 4 * n)).sum();
        assert!((4 * 49 - 10..=4 * 49).contains(&sum), "{sum}");
    }
}
