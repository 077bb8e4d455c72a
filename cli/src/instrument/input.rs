//! The input: a class file, an archive with archives inside, or a folder; and the limits of reading it.

use std::fs;
use std::path::{Path, PathBuf};

use trodden_instrumenter::class_name;
use trodden_profile::Skipped;

use super::archive::{Archive, Source};
use super::loaded::NestedArchives;
use crate::error::CliError;

/// Largest class file that is read: far above what compilers make, far below memory.
const LARGEST_CLASS: u64 = 64 << 20;
/// Largest archive inside an archive.
const LARGEST_NESTED: u64 = 1 << 30;
/// Most that is unpacked of one input altogether.
const LARGEST_ALL: u64 = 4 << 30;
/// Archives inside of archives inside …
pub const DEEPEST: usize = 8;

/// An input.
pub struct Input {
    /// As given.
    pub path: PathBuf,
    pub root: Root,
}

/// The kind of input.
pub enum Root {
    Class(Found),
    Archive(Source, Archive),
    /// Files below the folder, relative, sorted.
    Folder(Vec<PathBuf>),
}

/// A class file.
pub struct Found {
    /// For messages: `app.jar!/a/B.class`.
    pub label: String,
    pub bytes: Vec<u8>,
    /// Internal name.
    pub name: String,
    /// The part of its entry's name in front of the class's own folders: `BOOT-INF/classes/`.
    pub prefix: String,
}

/// The treatment of inputs that cannot be handled.
#[derive(Clone, Copy, Debug, Default)]
pub struct Policy {
    /// Take signatures off.
    pub strip_signatures: bool,
    /// Copy broken class files and archives inside, and list them.
    pub skip_broken: bool,
    /// Which archives inside of others are looked into.
    pub nested: NestedArchives,
    /// Nothing will be written.
    pub survey: bool,
}

/// The outcome for a class file: a description of its fault, why it is no class of the program, or the class.
pub type Looked = Result<Result<Found, Skipped>, String>;

/// Opens an input.
///
/// # Errors
/// If it is nothing that can be instrumented; the message names the input.
pub fn open(path: &Path) -> Result<Input, CliError> {
    let wrong = |what: &str| CliError::file(path, what);
    let failed = |e: std::io::Error| CliError::file(path, e);
    let data = fs::metadata(path).map_err(failed)?;
    let root = if data.is_dir() {
        let mut files = Vec::new();
        list(path, Path::new(""), &mut files)?;
        Root::Folder(files)
    } else if !data.is_file() {
        return Err(wrong("is neither a regular file nor a folder"));
    } else if data.len() > u64::from(u32::MAX) {
        return Err(wrong("is larger than 4 GB"));
    } else {
        single(
            path,
            Source::file(fs::File::open(path).map_err(failed)?).map_err(failed)?,
        )?
    };
    Ok(Input {
        path: path.to_owned(),
        root,
    })
}

fn single(path: &Path, source: Source) -> Result<Root, CliError> {
    let wrong = |what: &str| CliError::file(path, what);
    let failed = |e: std::io::Error| CliError::file(path, e);
    let label = path.display().to_string();
    let magic = source.read(0..source.len().min(4)).map_err(failed)?.into_owned();
    if magic.is_empty() {
        // A file of /proc says that it is empty; reading it says what is wrong with it.
        fs::read(path).map_err(failed)?;
        return Err(wrong("is empty"));
    }
    if magic == *b"JM\x01\x00" {
        return Err(wrong(
            "is a jmod, which no JVM loads classes from: instrument the jar of its module, before jmod or jlink",
        ));
    }
    if magic == [0xca, 0xfe, 0xba, 0xbe] {
        let mut unpacked = 0;
        budget(&label, source.len() as u64, EntryKind::Class, &mut unpacked)?;
        let bytes = source.read(0..source.len()).map_err(failed)?.into_owned();
        return match class(label, bytes, None).map_err(CliError::Failed)? {
            Ok(found) => Ok(Root::Class(found)),
            Err(skipped) => Err(wrong(&skipped.reason)),
        };
    }
    let archive = Archive::read(&source);
    if archive.is_err() && !magic.starts_with(b"PK") && kind(&label) != Some(EntryKind::Archive) {
        return Err(wrong("is neither a class file nor a jar nor a folder"));
    }
    let archive = archive.map_err(|e| CliError::Failed(format!("{label}: {e}")))?;
    Ok(Root::Archive(source, archive))
}

/// The kind of a file, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EntryKind {
    Class,
    Archive,
}

/// The kind of a file of this name.
pub fn kind(name: &str) -> Option<EntryKind> {
    match () {
        () if name.ends_with(".class") => Some(EntryKind::Class),
        () if is_archive(name) => Some(EntryKind::Archive),
        () => None,
    }
}

/// True for the name of an archive that classes may be loaded from.
fn is_archive(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    [".jar", ".war", ".ear", ".rar"]
        .iter()
        .any(|end| name.ends_with(end))
}

/// All files below a folder.
fn list(root: &Path, below: &Path, files: &mut Vec<PathBuf>) -> Result<(), CliError> {
    let folder = root.join(below);
    let failed = |e: std::io::Error| CliError::file(&folder, e);
    let mut names = Vec::new();
    for entry in fs::read_dir(&folder).map_err(failed)? {
        names.push(entry.map_err(failed)?.file_name());
    }
    names.sort();
    for name in names {
        let path = below.join(&name);
        let whole = root.join(&path);
        let data = fs::metadata(&whole).map_err(|e| CliError::file(&whole, e))?;
        let link = fs::symlink_metadata(&whole).is_ok_and(|data| data.is_symlink());
        match data {
            data if data.is_dir() && link => {
                return Err(CliError::file(
                    &whole,
                    "is a link to a folder, which could lead in a circle",
                ));
            }
            data if data.is_dir() => list(root, &path, files)?,
            data if data.is_file() => files.push(path),
            _ => return Err(CliError::file(&whole, "is neither a regular file nor a folder")),
        }
    }
    Ok(())
}

/// Nothing is unpacked that declares too much; and nothing unpacks to more than it declares.
pub fn budget(label: &str, size: u64, kind: EntryKind, unpacked: &mut u64) -> Result<(), CliError> {
    let (limit, what) = match kind {
        EntryKind::Class => (LARGEST_CLASS, "class file"),
        EntryKind::Archive => (LARGEST_NESTED, "archive inside"),
    };
    if size > limit {
        return Err(CliError::Failed(format!(
            "{label}: declares {size} bytes; no {what} of more than {limit} is read"
        )));
    }
    *unpacked += size;
    if *unpacked > LARGEST_ALL {
        return Err(CliError::Failed(format!(
            "{label}: up to here, classes and archives unpack to more than {LARGEST_ALL} bytes"
        )));
    }
    Ok(())
}

/// A class file and where its folders begin.
pub fn class(label: String, bytes: Vec<u8>, entry: Option<&str>) -> Looked {
    let name = class_name(&bytes).map_err(|e| format!("{label}: {e}"))?;
    let prefix = match entry {
        None => "",
        Some(entry) => match entry
            .strip_suffix(".class")
            .and_then(|e| e.strip_suffix(name.as_str()))
        {
            Some(prefix) if prefix.is_empty() || prefix.ends_with('/') => prefix,
            _ => {
                return Ok(Err(Skipped {
                    class: name,
                    method: None,
                    reason: "its file has another name than the class".to_owned(),
                }));
            }
        },
    };
    Ok(Ok(Found {
        prefix: without_version(prefix).to_owned(),
        label,
        bytes,
        name,
    }))
}

/// The prefix without a multi-release jar's `META-INF/versions/N/`: its classes go with the others.
fn without_version(prefix: &str) -> &str {
    let version = |rest: &str| {
        rest.strip_suffix('/')
            .is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit()))
    };
    match prefix.rfind("META-INF/versions/") {
        Some(at) if version(&prefix[at + "META-INF/versions/".len()..]) => &prefix[..at],
        _ => prefix,
    }
}

#[cfg(test)]
mod tests {
    use super::without_version;

    #[test]
    fn versions_of_a_class_go_together() {
        for (prefix, without) in [
            ("", ""),
            ("META-INF/versions/9/", ""),
            ("BOOT-INF/classes/", "BOOT-INF/classes/"),
            ("BOOT-INF/classes/META-INF/versions/21/", "BOOT-INF/classes/"),
            ("META-INF/versions/x/", "META-INF/versions/x/"),
        ] {
            assert_eq!(without_version(prefix), without);
        }
    }
}
