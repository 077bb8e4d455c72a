//! One pass over the spool folder, and the outcome for the windows in it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use trodden_profile::spool::{self, Spooled, VerifyError};

use super::{ShipError, ShipOptions};
use crate::error::StoreError;

/// Where windows go.
pub trait Sink {
    /// Adds windows. All but those that are reported as damaged are in the store afterwards.
    ///
    /// # Errors
    /// If that is not so of all of them. Some may be there nevertheless, so the same windows may be given
    /// again.
    fn add(&mut self, windows: &[PathBuf]) -> impl Future<Output = Result<Arrived, SinkError>>;

    /// Shows what was added to others, now that there is nothing to add for a while; `over`: nothing comes after this.
    ///
    /// # Errors
    /// If that was not done. Nothing is lost by it.
    fn show(&mut self, _over: bool) -> impl Future<Output = Result<(), SinkError>> {
        async { Ok(()) }
    }
}

/// The outcome for windows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Arrived {
    /// Windows that the store did not have.
    pub added: u64,
    /// Windows that it had, from a delivery that was not known to have arrived.
    pub known: u64,
    /// Files that are no profile, or a broken one, and why.
    pub damaged: Vec<(PathBuf, String)>,
    /// Windows of wrong clocks, a sentence for each host.
    pub misdated: Vec<String>,
}

/// Why windows did not arrive.
#[derive(Debug)]
pub enum SinkError {
    /// Later it may be otherwise: no network, no room, too many at once.
    Unreachable(String),
    /// It will not be otherwise: no such store, a format that is not known.
    Refused(Box<StoreError>),
}

/// Windows that are about to be shipped.
#[derive(Debug)]
pub struct Pass {
    folder: PathBuf,
    /// Their files, those of one JVM in order.
    pub windows: Vec<PathBuf>,
    /// Files that cannot be shipped, since they are damaged or not signed, and why; they are in the folder
    /// `rejected` now.
    pub rejected: Vec<(PathBuf, String)>,
}

impl Pass {
    /// Takes windows of the folder, as many as one delivery may have.
    ///
    /// # Errors
    /// If the folder or a file in it cannot be read, or a damaged one not be put aside.
    pub fn new(options: &ShipOptions) -> Result<Self, ShipError> {
        spool::clear(&options.from);
        let mut bytes = 0;
        let fits = |window: &Spooled| {
            bytes += window.bytes;
            bytes <= options.batch_bytes || bytes == window.bytes
        };
        let all = spool::list(&options.from)?.into_iter().take(options.batch);
        let taken: Vec<Spooled> = all.take_while(fits).collect();
        let verdicts: Vec<(PathBuf, Result<(), VerifyError>)> = taken
            .into_par_iter()
            .map(|window| {
                let verdict = spool::verify(&window.path, options.key.as_ref()).map(drop);
                (window.path, verdict)
            })
            .collect();
        let mut pass = Pass {
            folder: options.from.clone(),
            windows: Vec::new(),
            rejected: Vec::new(),
        };
        for (file, verdict) in verdicts {
            match verdict {
                Ok(()) => pass.windows.push(file),
                // It was taken away.
                Err(VerifyError::Read { source, .. }) if source.kind() == io::ErrorKind::NotFound => {}
                Err(VerifyError::Read { file, source }) => {
                    return Err(ShipError::Folder {
                        folder: file,
                        error: source,
                    });
                }
                Err(error) => {
                    pass.reject(&file, &error.to_string())
                        .map_err(|error| ShipError::Folder {
                            folder: pass.folder.clone(),
                            error,
                        })?;
                    pass.rejected.push((file, error.to_string()));
                }
            }
        }
        Ok(pass)
    }

    /// Adds the windows to the store and deletes those that are in it then.
    ///
    /// # Errors
    /// If they did not arrive; their files are where they were.
    pub async fn deliver(&self, sink: &mut impl Sink) -> Result<Arrived, SinkError> {
        if self.windows.is_empty() {
            return Ok(Arrived::default());
        }
        let arrived = sink.add(&self.windows).await?;
        for file in &self.windows {
            let damaged = arrived.damaged.iter().find(|(damaged, _)| damaged == file);
            let done = match damaged {
                Some((_, why)) => self.reject(file, why),
                None => remove(file),
            };
            // What is in the store already and in the folder as well, the next pass finds out.
            done.map_err(|e| SinkError::Unreachable(format!("{}: {e}", file.display())))?;
        }
        Ok(arrived)
    }

    /// Puts a file aside, with what is wrong with it: nothing is ever thrown away that has not arrived.
    fn reject(&self, file: &Path, why: &str) -> io::Result<()> {
        let aside = self.folder.join("rejected");
        fs::create_dir_all(&aside)?;
        let Some(name) = file.file_name() else {
            return Ok(());
        };
        let to = aside.join(name);
        fs::write(to.with_extension("why"), format!("{why}\n"))?;
        fs::rename(file, &to)?;
        if_there(fs::rename(spool::with_hmac(file), spool::with_hmac(&to)))
    }
}

/// The window first: an HMAC alone is cleared away some day, a window without one would be refused.
fn remove(window: &Path) -> io::Result<()> {
    if_there(fs::remove_file(window))?;
    if_there(fs::remove_file(spool::with_hmac(window)))
}

fn if_there(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}
