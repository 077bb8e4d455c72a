//! One look at the spool folder, and what becomes of the windows in it.

use std::fs;
use std::path::{Path, PathBuf};

use trodden_profile::spool;

use super::{ShipError, ShipOptions};

/// Where windows go.
pub trait Sink {
    /// Adds them, all together. Says of each, in order, what became of it.
    ///
    /// # Errors
    /// If none of them arrived, as far as is known. They may be there nevertheless: so this may be said of windows again.
    fn add(&mut self, windows: &[PathBuf]) -> impl Future<Output = Result<Vec<Arrival>, SinkError>>;
}

/// What became of a window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// It is in the store now.
    Added,
    /// It was in the store.
    Known,
    /// It is no profile, or a broken one.
    Damaged(String),
}

/// Why windows did not arrive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SinkError {
    /// Later it may be otherwise: no network, no room, too many at once.
    Unreachable(String),
    /// It will not be otherwise: no such store, no permission, a format that is not known.
    Refused(String),
}

/// What became of the windows of a pass.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Delivery {
    /// Windows that the store did not have.
    pub added: u64,
    /// Windows that it had.
    pub known: u64,
    /// Files that cannot be shipped, and why.
    pub rejected: Vec<(PathBuf, String)>,
}

/// Windows that are about to be shipped.
#[derive(Debug)]
pub struct Pass {
    folder: PathBuf,
    /// Their files, oldest first.
    pub windows: Vec<PathBuf>,
    /// Files that cannot be shipped, as they are damaged or not signed; they are in the folder `rejected` now.
    pub rejected: Vec<(PathBuf, String)>,
}

impl Pass {
    /// Takes the oldest windows of the folder, as many as one delivery may have.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub fn new(options: &ShipOptions) -> Result<Self, ShipError> {
        let folder = options.from.clone();
        let failed = |error: std::io::Error| ShipError::Folder {
            folder: folder.clone(),
            error,
        };
        let mut pass = Pass {
            folder: folder.clone(),
            windows: Vec::new(),
            rejected: Vec::new(),
        };
        let mut bytes = 0;
        for window in spool::list(&folder).map_err(|e| failed(std::io::Error::other(e)))? {
            // Another process may have taken it away.
            let Ok(size) = fs::metadata(&window.path).map(|data| data.len()) else {
                continue;
            };
            let full = pass.windows.len() >= options.batch || bytes + size > options.batch_bytes;
            if full && !pass.windows.is_empty() {
                break;
            }
            match spool::verify(&window.path, options.key.as_deref()) {
                Ok(()) => {
                    bytes += size;
                    pass.windows.push(window.path);
                }
                Err(spool::SpoolError::Io { error, .. }) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(spool::SpoolError::Io { error, .. }) => return Err(failed(error)),
                Err(error) => {
                    reject(&folder, &window.path, &error.to_string()).map_err(failed)?;
                    pass.rejected.push((window.path, error.to_string()));
                }
            }
        }
        Ok(pass)
    }

    /// Adds the windows to the store and deletes those that are in it then.
    ///
    /// # Errors
    /// If they did not arrive; their files are where they were.
    pub async fn deliver(self, sink: &mut impl Sink) -> Result<Delivery, SinkError> {
        let mut delivery = Delivery::default();
        if self.windows.is_empty() {
            return Ok(delivery);
        }
        let arrivals = sink.add(&self.windows).await?;
        for (file, arrival) in self.windows.iter().zip(arrivals) {
            match arrival {
                Arrival::Added => delivery.added += 1,
                Arrival::Known => delivery.known += 1,
                Arrival::Damaged(why) => {
                    reject(&self.folder, file, &why).map_err(|e| spool_fails(file, &e))?;
                    delivery.rejected.push((file.clone(), why));
                    continue;
                }
            }
            spool::remove(file).map_err(|e| spool_fails(file, &e))?;
        }
        Ok(delivery)
    }
}

/// What is in the store already stays in the folder as well: the next pass finds out.
fn spool_fails(file: &Path, error: &dyn std::fmt::Display) -> SinkError {
    SinkError::Unreachable(format!("{}: {error}", file.display()))
}

/// Puts a file aside, with what is wrong with it: nothing is ever thrown away that has not arrived.
fn reject(folder: &Path, file: &Path, why: &str) -> std::io::Result<()> {
    let aside = folder.join("rejected");
    fs::create_dir_all(&aside)?;
    let Some(name) = file.file_name() else {
        return Ok(());
    };
    let to = aside.join(name);
    fs::write(to.with_extension("why"), format!("{why}\n"))?;
    fs::rename(file, &to)?;
    let signature = spool::signature_of(file);
    match signature.file_name() {
        Some(name) if signature.exists() => fs::rename(&signature, aside.join(name)),
        _ => Ok(()),
    }
}
