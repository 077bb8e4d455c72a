//! Sessions that end with the process that asked for them: a `trodden attach --for` or `trodden top` that is
//! killed can tell nobody to stop.

use std::sync::Arc;
use std::time::{Duration, Instant};

use trodden_profile::output::Lease;

use crate::jvm::Jni;
use crate::log::warning;
use crate::recorders::UnderWay;
use crate::session::agent::{Agent, Control};
use crate::session::spool::finish;

/// Name of the thread that waits, as debuggers show it.
const THREAD_NAME: &str = "Trodden lease";
/// How long a process that was killed may take to be gone, and how often that is tried meanwhile.
const DYING: Duration = Duration::from_millis(200);
const RETRY: Duration = Duration::from_millis(10);

/// Stops the session that runs when the lease ends, unless it has been stopped before. The thread is none of
/// the JVM's until then, and sleeps in the kernel.
///
/// # Errors
/// If the operating system gives no thread.
pub fn watch(agent: &'static Agent, lease: Arc<Lease>, session: u64) -> std::io::Result<()> {
    Agent::spawn(THREAD_NAME, move || {
        if let Err(e) = lease.await_end() {
            warning!("it is not known whether who asked for the profile is still there: {e}");
            return;
        }
        // Nearly always it was stopped before.
        if !agent.control().runs(session) {
            return;
        }
        agent.attached(THREAD_NAME, |agent, jni| {
            let mut control = agent.control();
            if control.runs(session) {
                end(agent, jni, &mut control);
            }
        });
    })
}

/// Ends the session that runs if the process that asked for it has died, so that another one can begin: the
/// thread that waits for that death may not have come to it.
pub fn end_if_dead(agent: &'static Agent, jni: Jni<'_>, control: &mut Control) {
    let session = control.session;
    let Some((_, lease)) = control.lease.clone().filter(|(of, _)| *of == session) else {
        return;
    };
    let start = Instant::now();
    while control.running() {
        if lease.is_over() {
            end(agent, jni, control);
        } else if start.elapsed() > DYING {
            return;
        } else {
            // A process that was killed keeps its locks until the kernel has cleared it away.
            std::thread::sleep(RETRY);
        }
    }
}

fn end(agent: &'static Agent, jni: Jni<'_>, control: &mut Control) {
    agent.stop(jni, control);
    match finish(agent, jni, control, None, UnderWay::Died) {
        Ok(written) => warning!(
            "the process that asked for the profile has ended without stopping it; the program has its own code back, \
             the profile is {}",
            written.file.or(written.window).unwrap_or_default().display()
        ),
        Err(e) => warning!(
            "the process that asked for the profile has ended without stopping it; the program has its own code back: {e}"
        ),
    }
}
