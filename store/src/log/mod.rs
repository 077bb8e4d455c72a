//! The log of a store: which files count.
//!
//! A commit is one file, `log/NUMBER.json`, that is written if there is none of that number: of two writers
//! one is first, and the other looks at what came in between and tries the next number. Readers add up the
//! newest checkpoint and the commits after it. All tables have one log, so what is delivered is in all of
//! them at once, or in none.

mod commit;
mod ranges;
mod state;

use object_store::path::Path;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

pub use commit::{Commit, Day, FileEntry, Granularity, NoDay, What};
pub use ranges::{OutOfOrder, Ranges, Windows};
pub use state::{Misfit, State};

/// The newest version of the store's own files, and the one that is written.
pub const FORMAT_VERSION: u64 = 1;
/// Number of commits after which their sum is written.
pub const CHECKPOINT_EVERY: u64 = 64;
/// The folder of the log, from the root of the store.
pub(crate) const LOG: &str = "log";
/// The folder of the Parquet files.
pub(crate) const DATA: &str = "data";
/// The file that makes a folder a store.
pub(crate) const ROOT_FILE: &str = "trodden-store.json";

/// Name of a commit's file.
pub(crate) fn commit_name(version: u64) -> String {
    format!("{LOG}/{version:020}.json")
}

/// Name of a checkpoint's file.
pub(crate) fn checkpoint_name(version: u64) -> String {
    format!("{LOG}/{version:020}.checkpoint.json")
}

/// Name of the file that says which checkpoint is the newest, so that readers need not list all commits.
pub(crate) const HINT: &str = "log/checkpoint.json";

/// The kind of a file in the log's folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LogFile {
    Commit(u64),
    Checkpoint(u64),
}

impl LogFile {
    /// By its name; `None` if it is neither.
    pub fn of(path: &Path) -> Option<LogFile> {
        let name = path.filename()?.strip_suffix(".json")?;
        let (digits, checkpoint) = match name.strip_suffix(".checkpoint") {
            Some(digits) => (digits, true),
            None => (name, false),
        };
        let is_number = digits.len() == 20 && digits.bytes().all(|byte| byte.is_ascii_digit());
        let version = digits.parse().ok().filter(|_| is_number)?;
        Some(if checkpoint {
            LogFile::Checkpoint(version)
        } else {
            LogFile::Commit(version)
        })
    }
}

/// The contents of the root file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Root {
    /// When the store was made, in milliseconds since 1970-01-01.
    pub created_ms: u64,
}

/// The newest checkpoint.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Hint {
    pub version: u64,
}

#[derive(Deserialize)]
struct Head {
    format: String,
    format_version: u64,
}

#[derive(Deserialize)]
struct Envelope<T> {
    sha256: String,
    body: T,
}

/// The text in front of the body, whose text the checksum is of.
const BODY: &str = ",\"body\":";
/// The text behind it.
const END: &str = "}\n";

/// Why a file of the log cannot be read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Unreadable {
    Damaged(String),
    Newer(u64),
}

/// A file's text: what it is, the checksum of the body, and this.
pub(crate) fn to_text<T: Serialize>(format: &str, body: &T) -> Result<Vec<u8>, serde_json::Error> {
    let body = serde_json::to_string(body)?;
    let hash = sha256(body.as_bytes());
    let head = format!("{{\"format\":\"{format}\",\"format_version\":{FORMAT_VERSION},\"sha256\":\"{hash}\"");
    Ok([&head, BODY, &body, END].concat().into_bytes())
}

/// The contents of a file, if it is whole and of a known version.
pub(crate) fn of_text<T: DeserializeOwned>(format: &str, text: &[u8]) -> Result<T, Unreadable> {
    let damaged = |reason: String| Unreadable::Damaged(reason);
    let text = std::str::from_utf8(text).map_err(|e| damaged(e.to_string()))?;
    let head: Head = serde_json::from_str(text).map_err(|e| damaged(e.to_string()))?;
    if head.format != format {
        return Err(damaged(format!(
            "its format is '{}', not '{format}'",
            head.format
        )));
    }
    if !(1..=FORMAT_VERSION).contains(&head.format_version) {
        return Err(Unreadable::Newer(head.format_version));
    }
    let envelope: Envelope<T> = serde_json::from_str(text).map_err(|e| damaged(e.to_string()))?;
    let body = text.split_once(BODY).and_then(|(_, body)| body.strip_suffix(END));
    let body = body.ok_or_else(|| damaged("its end is missing".to_owned()))?;
    let found = sha256(body.as_bytes());
    if found == envelope.sha256 {
        Ok(envelope.body)
    } else {
        Err(damaged(format!(
            "its SHA-256 is {found}, it says {}",
            envelope.sha256
        )))
    }
}

/// As 64 hexadecimal digits.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    let mut hasher = Hasher::default();
    hasher.add(bytes);
    hasher.finish()
}

/// The SHA-256 of bytes that come in parts.
#[derive(Default)]
pub(crate) struct Hasher(Sha256);

impl Hasher {
    pub fn add(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// As 64 hexadecimal digits.
    pub fn finish(self) -> String {
        use std::fmt::Write;
        let hash = self.0.finalize();
        hash.iter().fold(String::with_capacity(64), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_the_log() {
        let of = |name: &str| LogFile::of(&Path::from(name));
        assert_eq!(of(&commit_name(12)), Some(LogFile::Commit(12)));
        assert_eq!(of(&checkpoint_name(64)), Some(LogFile::Checkpoint(64)));
        for other in [
            HINT,
            "log/12.json",
            "log/0000000000000000001x.json",
            "log/00000000000000000012.txt",
        ] {
            assert_eq!(of(other), None, "{other}");
        }
    }

    #[test]
    fn files_of_other_versions_and_damaged_ones() {
        let text = to_text("trodden-hint", &Hint { version: 640 }).unwrap();
        assert_eq!(of_text::<Hint>("trodden-hint", &text).unwrap().version, 640);
        let newer = String::from_utf8(text.clone()).unwrap();
        let newer = newer.replace("\"format_version\":1", "\"format_version\":2");
        assert_eq!(
            of_text::<Hint>("trodden-hint", newer.as_bytes()).unwrap_err(),
            Unreadable::Newer(2)
        );
        // A flipped bit anywhere is seen, or changes nothing.
        for at in 0..text.len() {
            for bit in 0..8 {
                let mut flipped = text.clone();
                flipped[at] ^= 1 << bit;
                if let Ok(hint) = of_text::<Hint>("trodden-hint", &flipped) {
                    assert_eq!(hint.version, 640, "byte {at}");
                }
            }
        }
    }
}
