//! From a spool folder into a store: windows that JVMs wrote are added, and deleted once they have arrived.
//!
//! What is promised: each window is in the store once, whatever happens on the way. It is deleted only after
//! the commit that has it can be read back, and what is delivered twice (the shipper died in between) the
//! store knows by its id. So killing it at any point, a full disk on either side, or a store that cannot be
//! reached costs time and nothing else.

mod back_off;
mod pass;
mod sink;
#[cfg(test)]
mod tests;

use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::sync::watch;
use trodden_profile::spool::{Key, SpoolError};

pub use back_off::BackOff;
pub use pass::{Arrived, Pass, Sink, SinkError};
pub use sink::StoreSink;

use crate::error::StoreError;

/// Options of shipping.
#[derive(Clone)]
pub struct ShipOptions {
    /// The spool folder.
    pub from: PathBuf,
    /// End when the folder is empty, in place of waiting for more.
    pub once: bool,
    /// Time between two looks at the folder.
    pub every: Duration,
    /// Most windows in one delivery.
    pub batch: usize,
    /// Most bytes of files in one delivery, but for a single larger one.
    pub batch_bytes: u64,
    /// The key of the windows' HMACs. Windows without one, or with another, are not shipped then.
    pub key: Option<Key>,
    /// Pauses after failures: first and longest.
    pub pauses: (Duration, Duration),
    /// How often a delivery may fail one after the other before `once` gives up; without `once` it never
    /// does.
    pub attempts: u32,
}

impl ShipOptions {
    /// From a folder, with what is good for most.
    pub fn new(from: PathBuf) -> Self {
        ShipOptions {
            from,
            once: false,
            every: Duration::from_secs(10),
            batch: 500,
            batch_bytes: 64 << 20,
            key: None,
            pauses: (Duration::from_secs(1), Duration::from_secs(300)),
            attempts: 5,
        }
    }
}

/// Counts of what was shipped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shipped {
    /// Windows that the store did not have.
    pub added: u64,
    /// Windows that it had already, from a delivery that was not known to have arrived.
    pub known: u64,
    /// Files that cannot be shipped, now in the folder `rejected`.
    pub rejected: u64,
}

/// Why shipping ended.
#[derive(Debug, thiserror::Error)]
pub enum ShipError {
    /// The folder is not there, or may not be read or written.
    #[error("{}: {error}", .folder.display())]
    Folder {
        /// Which.
        folder: PathBuf,
        /// The error of the system.
        error: std::io::Error,
    },
    /// The folder's windows cannot be listed.
    #[error(transparent)]
    Spool(#[from] SpoolError),
    /// Another process ships from there.
    #[error("{}: another 'trodden ship' works on this folder", .0.display())]
    Busy(PathBuf),
    /// The store refuses, and will again.
    #[error(transparent)]
    Store(Box<StoreError>),
    /// The store could not be reached, and the time to wait is over. The windows are where they were.
    #[error("{error}; {attempts} attempts; the windows stay in the spool folder")]
    Unreachable {
        /// The last failure.
        error: String,
        /// How many there were.
        attempts: u32,
    },
}

/// Ships until `stop` says so; with [`once`](ShipOptions::once), until the folder is empty. `say` gets a line
/// for people now and then. A delivery in progress is finished before it ends.
///
/// # Errors
/// See [`ShipError`]. Windows that did not arrive are where they were.
pub async fn ship(
    options: &ShipOptions,
    sink: &mut impl Sink,
    mut stop: watch::Receiver<bool>,
    mut say: impl FnMut(&str),
) -> Result<Shipped, ShipError> {
    let _lock = lock(&options.from)?;
    let mut all = Shipped::default();
    let mut back_off = BackOff::new(options.pauses.0, options.pauses.1);
    let mut failures = 0;
    while !*stop.borrow() {
        let pass = Pass::new(options)?;
        all.rejected += pass.rejected.len() as u64;
        for (file, why) in &pass.rejected {
            say(&format!(
                "not shipped, now in 'rejected': {}: {why}",
                file.display()
            ));
        }
        let empty = pass.windows.is_empty();
        let pause = match pass.deliver(sink).await {
            Ok(delivery) => {
                failures = 0;
                back_off.succeeded();
                all.added += delivery.added;
                all.known += delivery.known;
                all.rejected += delivery.damaged.len() as u64;
                for (file, why) in &delivery.damaged {
                    say(&format!(
                        "not shipped, now in 'rejected': {}: {why}",
                        file.display()
                    ));
                }
                delivery.misdated.iter().for_each(|line| say(line));
                if delivery.added > 0 {
                    let known = match delivery.known {
                        0 => String::new(),
                        1 => ", 1 was there already".to_owned(),
                        known => format!(", {known} were there already"),
                    };
                    let windows = if delivery.added == 1 { "window" } else { "windows" };
                    say(&format!("{} {windows} arrived{known}", delivery.added));
                }
                if empty && let Err(error) = sink.show(false).await {
                    say(&unshown(&error));
                }
                if !empty {
                    // There may be more.
                    Duration::ZERO
                } else if options.once {
                    break;
                } else {
                    options.every
                }
            }
            Err(SinkError::Refused(why)) => return Err(ShipError::Store(why)),
            Err(SinkError::Unreachable(error)) => {
                failures += 1;
                if options.once && failures >= options.attempts {
                    return Err(ShipError::Unreachable {
                        error,
                        attempts: failures,
                    });
                }
                let pause = back_off.failed();
                say(&format!(
                    "{error}; again in {:.0} s",
                    pause.as_secs_f64().max(1.0)
                ));
                pause
            }
        };
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            changed = stop.changed() => if changed.is_err() { break },
        }
    }
    if let Err(error) = sink.show(true).await {
        say(&unshown(&error));
    }
    Ok(all)
}

fn unshown(error: &SinkError) -> String {
    let reason = match error {
        SinkError::Unreachable(reason) => reason.clone(),
        SinkError::Refused(error) => error.to_string(),
    };
    format!("the tables were not published for other engines: {reason}")
}

/// No other process may ship from the folder while this is open; the system lets go of it when the process
/// ends, however it does.
fn lock(folder: &Path) -> Result<File, ShipError> {
    let failed = |error| ShipError::Folder {
        folder: folder.to_owned(),
        error,
    };
    if !folder.is_dir() {
        return Err(failed(std::io::Error::new(
            std::io::ErrorKind::NotFound,
            "there is no such folder; JVMs write windows to the one that their option 'spool' names",
        )));
    }
    let file = OpenOptions::new()
        .create(true)
        .append(true)
        .open(folder.join(".ship.lock"))
        .map_err(failed)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(ShipError::Busy(folder.to_owned())),
        Err(TryLockError::Error(error)) => Err(failed(error)),
    }
}
