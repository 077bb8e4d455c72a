//! Windows that are what their JVM wrote.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::files::with_hmac;
use super::hmac::Key;
use super::name::WindowName;
use crate::Profile;
use crate::ReadError;
use crate::facts;

/// A window that was read and found good.
#[derive(Debug)]
pub struct Window {
    /// Which one.
    pub name: WindowName,
    /// The bytes of its file.
    pub bytes: Vec<u8>,
    /// What they say.
    pub profile: Profile,
}

/// Why a window is not good.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// Its file cannot be read.
    #[error("{}: {source}", .file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// What went wrong.
        source: io::Error,
    },
    /// Its name is not that of a window.
    #[error("{}: the name is not that of a window (32 hex digits, '-', 8 digits, '.trodden')", .0.display())]
    Name(PathBuf),
    /// There is a key, but no HMAC next to it.
    #[error("{}: there is no HMAC beside it ({source})", .file.display())]
    NoHmac {
        /// The window.
        file: PathBuf,
        /// What went wrong with the HMAC's file.
        source: io::Error,
    },
    /// The HMAC is another one: the window, the HMAC or the key is not what it was.
    #[error("{}: its HMAC is not that of its bytes under this key", .0.display())]
    WrongHmac(PathBuf),
    /// It is damaged: a checksum is wrong, or something does not hold.
    #[error("{}: {source}", .file.display())]
    Damaged {
        /// The file.
        file: PathBuf,
        /// What and where.
        source: ReadError,
    },
    /// Its facts say that it is another window than its name does.
    #[error("{}: it is a profile, but not this window: its facts say jvm_id {jvm_id} and window {number}", .file.display())]
    Other {
        /// The file.
        file: PathBuf,
        /// Its fact `jvm_id`.
        jvm_id: String,
        /// Its fact `window`.
        number: String,
    },
}

/// Reads a window and checks it: the HMAC next to it if there is a key, the checksums of its sections, and that it is the window
/// that its name says.
///
/// # Errors
/// If it is not good.
pub fn verify(file: &Path, key: Option<&Key>) -> Result<Window, VerifyError> {
    let name = WindowName::of(file).ok_or_else(|| VerifyError::Name(file.to_owned()))?;
    let bytes = fs::read(file).map_err(|source| VerifyError::Read {
        file: file.to_owned(),
        source,
    })?;
    if let Some(key) = key {
        let code = fs::read_to_string(with_hmac(file)).map_err(|source| VerifyError::NoHmac {
            file: file.to_owned(),
            source,
        })?;
        if !key.is_hmac(&bytes, &code) {
            return Err(VerifyError::WrongHmac(file.to_owned()));
        }
    }
    let profile = Profile::read(&bytes).map_err(|source| VerifyError::Damaged {
        file: file.to_owned(),
        source,
    })?;
    let facts = &profile.run.facts;
    if facts.get(facts::JVM_ID).as_ref() != Some(&name.jvm_id)
        || facts.get(facts::WINDOW) != Some(name.number)
    {
        let text = |fact| {
            facts
                .text(fact)
                .map_or_else(|| "none".to_owned(), |text| text.into_owned())
        };
        return Err(VerifyError::Other {
            file: file.to_owned(),
            jvm_id: text("jvm_id"),
            number: text("window"),
        });
    }
    Ok(Window { name, bytes, profile })
}
