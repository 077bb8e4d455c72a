//! Sessions that end with whoever asked for them: a `trodden attach --for` or `trodden top` that is killed
//! can tell nobody to stop.

use std::path::Path;

use trodden_profile::output::Lease;

use crate::jvm::Jni;
use crate::jvm::guard::guard;
use crate::log::{error, warning};
use crate::session::agent::Agent;
use crate::session::dump::UnderWay;
use crate::session::spool::finish;

/// Name of the thread that waits, as debuggers show it.
const THREAD_NAME: &str = "Trodden lease";

/// Opens the file that the command line locks.
///
/// # Errors
/// If it cannot be, or nobody locks it.
pub fn open(name: &str) -> Result<Lease, String> {
    Lease::of_another(Path::new(name)).map_err(|e| format!("lease: {name}: {e}"))
}

/// Stops the session that runs when the lease ends, unless it has been stopped before. The thread is none of
/// the JVM's until then, and sleeps in the kernel.
///
/// # Errors
/// If the operating system gives no thread.
pub fn watch(agent: &'static Agent, lease: Lease, session: u64) -> std::io::Result<()> {
    std::thread::Builder::new()
        .name(THREAD_NAME.to_owned())
        .spawn(move || {
            if let Err(e) = lease.await_end() {
                warning!("it is not known whether who asked for the profile is still there: {e}");
                return;
            }
            // Nearly always it was stopped before.
            if !agent.control().runs(session) {
                return;
            }
            let stop = |jni: Jni<'_>| guard(THREAD_NAME, (), || stop(agent, jni, session));
            if let Err(e) = agent.host.vm.attached(agent.host.jvmti, THREAD_NAME, stop) {
                error!("the thread {THREAD_NAME:?} cannot run: {e}");
            }
        })?;
    Ok(())
}

fn stop(agent: &'static Agent, jni: Jni<'_>, session: u64) {
    let mut control = agent.control();
    if !control.runs(session) {
        return;
    }
    agent.stop(jni, &mut control);
    match finish(agent, jni, &mut control, None, UnderWay::Died) {
        Ok(written) => warning!(
            "who asked for the profile has gone without stopping it; the program has its own code back, the profile \
             is {}",
            written.file.or(written.window).unwrap_or_default().display()
        ),
        Err(e) => warning!(
            "who asked for the profile has gone without stopping it; the program has its own code back: {e}"
        ),
    }
}
