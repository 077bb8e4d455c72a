//! Programs that load all processors, and probes that come and go meanwhile.

mod auto;
mod load;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Time and memory matter to these tests: one at a time.
fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}
