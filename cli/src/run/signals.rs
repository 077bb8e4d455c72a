//! Signals on their way through: a signal to `trodden run` is meant for the program that it runs.

use std::io;
use std::process::{Child, ExitStatus};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::WithOrigin;
use signal_hook::low_level::siginfo::Cause;

/// Hands signals on to a child, from before it is started until it is gone.
pub struct Forwarder {
    started: Sender<Pid>,
    /// True if the child is still there, at least as a zombie. Held while a signal is sent, so that its pid
    /// cannot have become another process's.
    alive: Arc<Mutex<bool>>,
}

impl Forwarder {
    /// Takes over SIGINT, SIGTERM, SIGHUP and SIGQUIT.
    pub fn install() -> io::Result<Self> {
        let mut signals = SignalsInfo::<WithOrigin>::new([SIGINT, SIGTERM, SIGHUP, SIGQUIT])?;
        let (started, child): (_, Receiver<Pid>) = channel();
        let alive = Arc::new(Mutex::new(true));
        let still_alive = Arc::clone(&alive);
        thread::Builder::new().name("signals".to_owned()).spawn(move || {
            // Signals that come before the child is there wait for it.
            let Ok(pid) = child.recv() else { return };
            for origin in signals.forever() {
                // A key on the terminal signals the whole process group, the child too.
                if matches!(origin.cause, Cause::Kernel) {
                    continue;
                }
                let alive = still_alive.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(signal) = Signal::from_named_raw(origin.signal).filter(|_| *alive) {
                    // Fails only if the child changed its user; then it is none of our business.
                    let _ = kill_process(pid, signal);
                }
            }
        })?;
        Ok(Forwarder { started, alive })
    }

    /// Waits for the child's end.
    pub fn wait(&self, child: &mut Child) -> io::Result<ExitStatus> {
        let Some(pid) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) else {
            return child.wait();
        };
        // The thread is there as long as we are; if it died, signals are merely not handed on.
        let _ = self.started.send(pid);
        loop {
            match waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT) {
                Ok(_) => break,
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        *self.alive.lock().unwrap_or_else(PoisonError::into_inner) = false;
        child.wait()
    }
}
