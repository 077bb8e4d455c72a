//! The thread that asks the JVM. It has the recording, so that a JVM that answers slowly does not stop the
//! view.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use trodden_profile::Profile;

use super::model::{Key, Snapshot};
use crate::attach::recording::Recording;
use crate::error::CliError;

/// Interval of checks that the JVM is still there.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// An event for the view.
pub enum UiEvent {
    /// The state of the JVM now.
    Snapshot(Box<Snapshot>),
    /// The JVM has ended.
    Gone,
    /// It does not answer.
    Failed(CliError),
    /// Keys were pressed.
    Keys(Vec<Key>),
    /// The terminal was closed.
    Closed(io::Error),
}

/// Reports the end of this thread, if it was not reported: after a panic.
struct LastWord<'a>(&'a Sender<UiEvent>);

impl Drop for LastWord<'_> {
    fn drop(&mut self) {
        let why = "the thread that asks the JVM has ended".to_owned();
        let _ = self.0.send(UiEvent::Failed(CliError::Failed(why)));
    }
}

/// Asks again and again until the orders end, or a signal comes: whatever the view is busy with, that gives
/// the program its own code back. Then stops, and returns what was found in the end.
pub fn watch(
    mut recording: Recording,
    every: Duration,
    events: &Sender<UiEvent>,
    orders: &Receiver<()>,
    interrupted: &AtomicBool,
) -> Result<Profile, CliError> {
    let _last_word = LastWord(events);
    let mut last: Option<Arc<Profile>> = None;
    'asking: loop {
        let asked = Instant::now();
        // A view that does not listen any more is noticed below.
        let send = |one: UiEvent| drop(events.send(one));
        match recording.dump() {
            Ok(profile) => {
                let profile = Arc::new(profile);
                send(UiEvent::Snapshot(Box::new(Snapshot::new(
                    Arc::clone(&profile),
                    last.as_deref(),
                ))));
                last = Some(profile);
            }
            Err(_) if !recording.is_alive() => break,
            Err(error) => {
                send(UiEvent::Failed(error));
                break;
            }
        }
        loop {
            let left = every.saturating_sub(asked.elapsed());
            match orders.recv_timeout(left.min(POLL_INTERVAL)) {
                Err(RecvTimeoutError::Timeout) => {}
                Ok(()) | Err(RecvTimeoutError::Disconnected) => break 'asking,
            }
            if interrupted.load(Ordering::Relaxed) || !recording.is_alive() {
                break 'asking;
            }
            if every <= asked.elapsed() {
                break;
            }
        }
    }
    let gone = !recording.is_alive();
    let stopped = recording.stop();
    if gone {
        let _ = events.send(UiEvent::Gone);
    }
    match (stopped, last) {
        // Killed, it has left no last words.
        (Err(_), Some(last)) if gone => Ok(Arc::unwrap_or_clone(last)),
        (stopped, _) => stopped,
    }
}
