//! The one policy for panics at the border: none crosses it.
//!
//! Every function that the JVM calls runs inside [`guard`]. A panic is logged, once, and the fallback is
//! returned: a class stays unchanged, a command fails, the clock stops. The program runs on.
//!
//! What a panic leaves half done is behind locks, and these are used on after it (`locks.rs`). So what they
//! guard must be usable wherever a panic may come:
//!
//! | what | how |
//! | --- | --- |
//! | registry of classes | plans, then commits; a commit that panics closes it (`classes/registry.rs`) |
//! | stream of a thread | is closed if its analysis panics: what follows is counted as lost (`stream/events/stream.rs`) |
//! | counts and baselines | a reset reads everything before it changes anything |
//! | controller, history, structure graphs | belong to the clock's thread, which stops; what a dump then says of methods without probes is an estimate of the time before |
//! | other maps and lists | single inserts and removals |
//!
//! The fact `panics` of a profile says how many there were.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::log::error;

static CAUGHT: AtomicU64 = AtomicU64::new(0);

/// Panics caught so far.
pub fn panics() -> u64 {
    CAUGHT.load(Ordering::Relaxed)
}

/// Runs an entry point's body; gives the fallback if it panics.
pub fn guard<T>(entry: &'static str, fallback: T, body: impl FnOnce() -> T) -> T {
    // Unwind safety: see above.
    catch(entry, body).unwrap_or(fallback)
}

/// A panic that was caught, with its message.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Panicked(pub String);

/// Runs a body; the panic's message if it panics.
pub fn catch<T>(entry: &'static str, body: impl FnOnce() -> T) -> Result<T, Panicked> {
    static SILENCE: Once = Once::new();
    SILENCE.call_once(|| std::panic::set_hook(Box::new(|_| {})));
    catch_unwind(AssertUnwindSafe(body)).map_err(|payload| {
        let text = payload
            .downcast_ref::<&str>()
            .map(|s| (*s).to_owned())
            .or_else(|| payload.downcast_ref::<String>().cloned())
            .unwrap_or_else(|| "no message".to_owned());
        if CAUGHT.fetch_add(1, Ordering::Relaxed) == 0 {
            error!("internal error in {entry}: {text} (the program goes on; further ones are only counted)");
        }
        Panicked(text)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_the_fallback() {
        let before = panics();
        assert_eq!(guard("test", 7, || panic!("on purpose")), 7);
        assert_eq!(
            catch("test", || -> u8 { panic!("number {}", 3) }),
            Err(Panicked("number 3".to_owned()))
        );
        assert_eq!(guard("test", 7, || 8), 8);
        assert_eq!(panics(), before + 2);
    }
}
