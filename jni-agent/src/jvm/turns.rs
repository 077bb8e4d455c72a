//! Threads ask the JVM for ids of methods in turn.
//!
//! HotSpot before JDK 23 keeps the ids of a class's methods in an array, which grows when the first replaced
//! version of a method of a redefined class is asked for. A thread that asks reads the array's address
//! *before* it takes the lock that guards it, and the thread that made it grow frees the old one: so of two
//! threads that ask at once, one may read freed memory, and get an id that ends the JVM when it is looked at
//! (JDK-8313332). Our walks of stacks do that in all threads at once when profiling begins in the middle of a
//! run.

use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

/// The longest wait. The thread that has the turn may have been suspended by a debugger in the middle of its
/// walk: then no other thread may wait for it for ever.
const PATIENCE: Duration = Duration::from_millis(20);

static TURN: Mutex<()> = Mutex::new(());

/// The turn to ask for ids, until it is dropped. `None` after [`PATIENCE`]: go on without.
#[must_use]
pub fn turn() -> Option<MutexGuard<'static, ()>> {
    take(&TURN)
}

fn take(turn: &'static Mutex<()>) -> Option<MutexGuard<'static, ()>> {
    let mut since = None;
    loop {
        match turn.try_lock() {
            Ok(guard) => return Some(guard),
            // Nothing is behind it that a panic could have left in disorder.
            Err(TryLockError::Poisoned(guard)) => return Some(PoisonError::into_inner(guard)),
            Err(TryLockError::WouldBlock) => {}
        }
        if since.get_or_insert_with(Instant::now).elapsed() > PATIENCE {
            return None;
        }
        std::thread::yield_now();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[test]
    fn one_at_a_time() {
        static MINE: Mutex<()> = Mutex::new(());
        static INSIDE: AtomicU32 = AtomicU32::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..1000 {
                        // None only if a turn took 20 ms, as it may on a machine that is very busy.
                        let Some(_turn) = take(&MINE) else { continue };
                        assert_eq!(INSIDE.fetch_add(1, Ordering::SeqCst), 0);
                        INSIDE.fetch_sub(1, Ordering::SeqCst);
                    }
                });
            }
        });
    }

    #[test]
    fn nobody_waits_for_ever() {
        static MINE: Mutex<()> = Mutex::new(());
        let held = take(&MINE);
        assert!(held.is_some());
        std::thread::scope(|scope| {
            let other = scope.spawn(|| take(&MINE).is_none());
            assert!(other.join().unwrap());
        });
    }
}
