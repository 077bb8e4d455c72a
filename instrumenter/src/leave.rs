//! Methods that get no probes in this run, because earlier runs know them.
//!
//! *In*: a plan, which `trodden run` writes from its memory. *Out*: per class, which methods to leave alone.
//! That is done only if the method's code is unchanged: the class has the same bytes, or the method
//! has the same [shape](trodden_profile::MethodShape::code).
//!
//! The file is text. After a first line that names the format, `C SHA256 CLASS` begins a class (internal
//! name; the hash of the bytes that its methods were measured in), and `M KIND CODE NAMEDESCRIPTOR` is a
//! method of it: `s` for settled, `c` for cold, and the hash of its code. A class may begin several times,
//! for methods that were measured in other bytes of it.

use std::fmt::Write;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};

use rustc_hash::{FxHashMap, FxHasher};
use trodden_profile::{Known, LeftAlone};

use crate::error::SkipReason;

const FIRST_LINE: &str = "trodden plan 1";

/// Why a file is no plan.
#[derive(Debug, thiserror::Error)]
pub enum LeaveError {
    /// It cannot be read.
    #[error("{}: {source}", .file.display())]
    Io {
        /// The file.
        file: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// It is something else, or of another version.
    #[error("{}: line {line} is none of a plan", .file.display())]
    Malformed {
        /// The file.
        file: PathBuf,
        /// From 1.
        line: usize,
    },
}

/// Which methods get no probes.
#[derive(Clone, Debug, Default)]
pub struct Leave {
    classes: FxHashMap<String, FxHashMap<String, Left>>,
    fingerprint: u64,
}

/// A method that is left alone if its code is this.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Left {
    /// Hash of the class's bytes that it was measured in.
    pub sha256: [u8; 32],
    /// Hash of its own code.
    pub code: u64,
    /// Why.
    pub reason: SkipReason,
}

impl Leave {
    /// Reads a plan.
    ///
    /// # Errors
    /// If the file cannot be read or is no plan; the error names it.
    pub fn load(file: &Path) -> Result<Self, LeaveError> {
        let text = std::fs::read_to_string(file).map_err(|source| LeaveError::Io {
            file: file.to_owned(),
            source,
        })?;
        Leave::parse(&text).map_err(|line| LeaveError::Malformed {
            file: file.to_owned(),
            line,
        })
    }

    /// The plan as text. Methods whose names hold line breaks cannot be in it.
    pub fn text<'m>(methods: impl IntoIterator<Item = LeftAlone<'m>>) -> String {
        let mut text = format!("{FIRST_LINE}\n");
        let mut class = None;
        for left in methods {
            if [left.class, left.name, left.descriptor]
                .iter()
                .any(|name| name.contains(['\n', '\r']))
            {
                continue;
            }
            if class != Some((left.class, left.sha256)) {
                class = Some((left.class, left.sha256));
                text += "C ";
                left.sha256.iter().for_each(|byte| _ = write!(text, "{byte:02x}"));
                _ = writeln!(text, " {}", left.class);
            }
            let kind = match left.known {
                Known::Settled => 's',
                Known::Cold => 'c',
            };
            _ = writeln!(
                text,
                "M {kind} {:016x} {}{}",
                left.code, left.name, left.descriptor
            );
        }
        text
    }

    /// The number of the line that is wrong, if one is.
    fn parse(text: &str) -> Result<Self, usize> {
        let mut leave = Leave::default();
        let mut hasher = FxHasher::default();
        text.hash(&mut hasher);
        leave.fingerprint = hasher.finish();
        let mut lines = text.lines();
        if lines.next() != Some(FIRST_LINE) {
            return Err(1);
        }
        let mut class: Option<(String, [u8; 32])> = None;
        for (index, line) in lines.enumerate() {
            let wrong = index + 2;
            let mut words = line.splitn(3, ' ');
            let mut next = || words.next().ok_or(wrong);
            match next()? {
                "C" => {
                    let sha256 = hash(next()?).ok_or(wrong)?;
                    class = Some((next()?.to_owned(), sha256));
                }
                "M" => {
                    let reason = match next()? {
                        "s" => SkipReason::Settled,
                        "c" => SkipReason::Cold,
                        _ => return Err(wrong),
                    };
                    let (code, method) = next()?.split_once(' ').ok_or(wrong)?;
                    let code = u64::from_str_radix(code, 16).map_err(|_| wrong)?;
                    let (class, sha256) = class.clone().ok_or(wrong)?;
                    let left = Left { sha256, code, reason };
                    leave
                        .classes
                        .entry(class)
                        .or_default()
                        .insert(method.to_owned(), left);
                }
                _ => return Err(wrong),
            }
        }
        Ok(leave)
    }

    /// Number of methods.
    pub fn methods(&self) -> usize {
        self.classes.values().map(FxHashMap::len).sum()
    }

    /// A number that differs, most probably, between plans that differ.
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    /// The methods of a class, by name with descriptor.
    pub(crate) fn class(&self, name: &str) -> Option<&FxHashMap<String, Left>> {
        self.classes.get(name)
    }
}

fn hash(text: &str) -> Option<[u8; 32]> {
    let mut bytes = [0; 32];
    if text.len() != 64 || !text.is_ascii() {
        return None;
    }
    for (index, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&text[2 * index..2 * index + 2], 16).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans_are_read_as_they_were_written() {
        let method = |class, name, code, known| LeftAlone {
            class,
            sha256: [171; 32],
            name,
            descriptor: "(I)V",
            code,
            known,
        };
        let text = Leave::text([
            method("a/B", "run", 7, Known::Settled),
            method("a/B", "with space", u64::MAX, Known::Cold),
            method("a/C", "line\nbreak", 9, Known::Cold),
            method("a/D", "last", 0, Known::Cold),
        ]);
        let leave = Leave::parse(&text).unwrap();
        assert_eq!((leave.methods(), leave.class("a/C").is_some()), (3, false));
        let left = leave.class("a/B").unwrap()["with space(I)V"];
        assert_eq!(
            (left.code, left.sha256, left.reason),
            (u64::MAX, [171; 32], SkipReason::Cold)
        );
        assert_ne!(
            leave.fingerprint(),
            Leave::parse(FIRST_LINE).unwrap().fingerprint()
        );
    }

    #[test]
    fn what_is_no_plan_is_refused() {
        let sha = "0".repeat(64);
        for (text, line) in [
            (String::new(), 1),
            ("trodden plan 2".to_owned(), 1),
            (format!("{FIRST_LINE}\nM s 0 a()V"), 2),
            (format!("{FIRST_LINE}\nC {sha} a\nM x 0 a()V"), 3),
            (format!("{FIRST_LINE}\nC {sha} a\nM s g a()V"), 3),
            (format!("{FIRST_LINE}\nC 00 a"), 2),
            (format!("{FIRST_LINE}\nnonsense"), 2),
        ] {
            assert_eq!(Leave::parse(&text).err(), Some(line), "{text}");
        }
    }
}
