//! What is given: a class file, an archive with archives inside, or a folder; and the classes found there.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use trodden_instrumenter::class_name;
use trodden_profile::Skipped;

use super::archive::{Archive, ArchiveError};
use super::loaded::{Copied, Loaded, NestedArchives};
use super::signature;
use crate::error::CliError;

/// Largest class file that is read: far above what compilers make, far below memory.
const LARGEST_CLASS: u64 = 64 << 20;
/// Largest archive inside an archive.
const LARGEST_NESTED: u64 = 1 << 30;
/// Most that is unpacked of one input altogether.
const LARGEST_ALL: u64 = 4 << 30;
/// Archives inside of archives inside …
const DEEPEST: usize = 8;

/// An input, read and checked.
pub struct Input {
    /// As given.
    pub path: PathBuf,
    pub root: Root,
    /// The archive itself and those inside, or those in a folder; what is inside another comes after it.
    pub archives: Vec<Nested>,
    /// All classes, in the order in which they were found.
    pub classes: Vec<Found>,
    /// What is copied without a look inside, and why.
    pub skipped: Vec<Skipped>,
    /// Archives inside that are copied as they are, by their labels.
    pub copied: Vec<(Copied, String)>,
}

/// What kind of input.
pub enum Root {
    Class,
    Archive,
    /// Files below the folder, relative, sorted.
    Folder(Vec<PathBuf>),
}

/// Where a class or an archive was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// It is the input.
    Whole,
    /// Number of an archive, and of an entry in there.
    Entry(usize, usize),
    /// Number of a file in the folder.
    File(usize),
}

/// An archive.
pub struct Nested {
    /// For messages: `app.jar!/BOOT-INF/lib/a.jar`.
    pub label: String,
    pub place: Place,
    pub bytes: Vec<u8>,
    pub archive: Archive,
    pub signed: bool,
    /// What classes are loaded from in there.
    loaded: Loaded,
}

/// A class file.
pub struct Found {
    /// For messages: `app.jar!/a/B.class`.
    pub label: String,
    pub place: Place,
    pub bytes: Vec<u8>,
    /// Internal name.
    pub name: String,
    /// What stands in front of the class's own folders in its entry's name: `BOOT-INF/classes/`.
    pub prefix: String,
}

/// What is done about what cannot be handled.
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

/// What comes of a look at a class file: what is wrong with it, why it is no class of the program, or the class.
type Looked = Result<Result<Found, Skipped>, String>;

/// Reads an input.
///
/// # Errors
/// If it is nothing that can be instrumented; the message names the input, and the entry.
pub fn read(path: &Path, policy: Policy) -> Result<Input, CliError> {
    let wrong = |what: &str| CliError::file(path, what);
    let data = fs::metadata(path).map_err(|e| CliError::file(path, e))?;
    let mut input = Input {
        path: path.to_owned(),
        root: Root::Class,
        archives: Vec::new(),
        classes: Vec::new(),
        skipped: Vec::new(),
        copied: Vec::new(),
    };
    if data.is_dir() {
        let mut files = Vec::new();
        list(path, Path::new(""), &mut files)?;
        input.root = Root::Folder(files);
    } else if !data.is_file() {
        return Err(wrong("is neither a regular file nor a folder"));
    } else if data.len() > u64::from(u32::MAX) {
        return Err(wrong("is larger than 4 GB"));
    } else {
        let bytes = fs::read(path).map_err(|e| CliError::file(path, e))?;
        if bytes.is_empty() {
            return Err(wrong("is empty"));
        } else if bytes.starts_with(b"JM\x01\x00") {
            return Err(wrong(
                "is a jmod, which no JVM loads classes from: instrument the jar of its module, before jmod or jlink",
            ));
        } else if bytes.starts_with(&[0xca, 0xfe, 0xba, 0xbe]) {
            let found = class(path.display().to_string(), Place::Whole, bytes, None);
            let label = path.display().to_string();
            input.take(&label, found, Policy::default())?;
            return Ok(input);
        } else if !bytes.starts_with(b"PK")
            && !is_archive(&path.to_string_lossy())
            && Archive::read(&bytes).is_err()
        {
            return Err(wrong("is neither a class file nor a jar nor a folder"));
        }
        input.root = Root::Archive;
        input.open(path.display().to_string(), Place::Whole, bytes, 0)?;
    }
    input.look(policy)?;
    Ok(input)
}

/// What a file may be, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Class,
    Archive,
}

fn kind(name: &str) -> Option<Kind> {
    match () {
        () if name.ends_with(".class") => Some(Kind::Class),
        () if is_archive(name) => Some(Kind::Archive),
        () => None,
    }
}

/// Is this the name of an archive that classes may be loaded from?
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

impl Input {
    /// Takes an archive in. One inside of the input that is no zip at all is copied.
    fn open(&mut self, label: String, place: Place, bytes: Vec<u8>, depth: usize) -> Result<(), CliError> {
        if depth > DEEPEST {
            return Err(CliError::Failed(format!(
                "{label}: archives inside of archives, {depth} deep"
            )));
        }
        let archive = match Archive::read(&bytes) {
            Ok(archive) => archive,
            Err(_) if place != Place::Whole && !bytes.starts_with(b"PK") => {
                self.copied.push((Copied::NoZip, label));
                return Ok(());
            }
            Err(e) => return Err(CliError::Failed(format!("{label}: {e}"))),
        };
        let signed = archive
            .entries
            .iter()
            .any(|entry| signature::is_signature(&entry.name));
        let outermost = !matches!(place, Place::Entry(..));
        self.archives.push(Nested {
            loaded: Loaded::of(&label, outermost, &archive, &bytes),
            label,
            place,
            bytes,
            archive,
            signed,
        });
        Ok(())
    }

    /// Finds the classes, and opens the archives inside.
    fn look(&mut self, policy: Policy) -> Result<(), CliError> {
        let mut unpacked = 0u64;
        let mut depths = vec![0; self.archives.len()];
        if let Root::Folder(files) = &self.root {
            let files = files.clone();
            self.look_at_files(&files, policy, &mut unpacked)?;
            depths.resize(self.archives.len(), 0);
        }
        let mut next = 0;
        while next < self.archives.len() {
            let (classes, nested, copied) = self.look_into(next, policy, &mut unpacked)?;
            self.copied.extend(copied);
            for (label, looked) in classes {
                self.take(&label, looked, policy)?;
            }
            for (label, place, bytes) in nested {
                let opened = bytes.and_then(|bytes| {
                    self.open(label.clone(), place, bytes, depths[next] + 1)
                        .map_err(|e| e.to_string())
                });
                if let Err(message) = opened {
                    self.take(&label, Err(message), policy)?;
                }
                depths.resize(self.archives.len(), depths[next] + 1);
            }
            next += 1;
        }
        Ok(())
    }

    /// Keeps a class, or what is wrong with it.
    fn take(&mut self, label: &str, looked: Looked, policy: Policy) -> Result<(), CliError> {
        match looked {
            Ok(Ok(found)) => self.classes.push(found),
            Ok(Err(skipped)) => self.skipped.push(skipped),
            Err(message) if policy.skip_broken || policy.survey => {
                let reason = message.strip_prefix(label).unwrap_or(&message);
                self.skipped.push(Skipped {
                    class: label.trim_end_matches(".class").to_owned(),
                    method: None,
                    reason: format!("broken{reason}"),
                });
            }
            Err(message) if matches!(self.root, Root::Class) => return Err(CliError::Failed(message)),
            Err(message) => {
                return Err(CliError::Failed(format!(
                    "{message} (--skip-broken copies what is broken inside of others)"
                )));
            }
        }
        Ok(())
    }

    fn look_at_files(
        &mut self,
        files: &[PathBuf],
        policy: Policy,
        unpacked: &mut u64,
    ) -> Result<(), CliError> {
        let kinds = files.iter().map(|file| kind(&file.to_string_lossy()));
        let mut order: Vec<(Kind, usize)> = kinds
            .enumerate()
            .filter_map(|(index, kind)| Some((kind?, index)))
            .collect();
        // Classes first: where they count from is where archives may be data.
        order.sort();
        let mut roots: Option<Vec<(String, Loaded)>> = None;
        for (kind, index) in order {
            let (whole, relative) = (self.path.join(&files[index]), files[index].to_string_lossy());
            let class_file = kind == Kind::Class;
            if !class_file {
                let roots = roots.get_or_insert_with(|| self.class_roots());
                let copied = roots.iter().find_map(|(root, loaded)| {
                    let inside = relative.strip_prefix(root.as_str())?;
                    policy.nested.copies(loaded, inside)
                });
                if let Some(why) = copied {
                    self.copied.push((why, whole.display().to_string()));
                    continue;
                }
            }
            let failed = |e: std::io::Error| CliError::file(&whole, e);
            let size = fs::metadata(&whole).map_err(failed)?.len();
            let label = whole.display().to_string();
            budget(&label, size, class_file, unpacked)?;
            let mut bytes = Vec::new();
            let mut opened = fs::File::open(&whole).map_err(failed)?;
            opened.read_to_end(&mut bytes).map_err(failed)?;
            if class_file {
                let looked = class(label.clone(), Place::File(index), bytes, Some(&relative));
                self.take(&label, looked, policy)?;
            } else if let Err(e) = self.open(label.clone(), Place::File(index), bytes, 0) {
                self.take(&label, Err(e.to_string()), policy)?;
            }
        }
        Ok(())
    }

    /// The places in the folder that classes' names count from, and what classes are loaded from there.
    fn class_roots(&self) -> Vec<(String, Loaded)> {
        let Root::Folder(files) = &self.root else {
            return Vec::new();
        };
        let roots: BTreeSet<String> = (self.classes.iter())
            .filter_map(|class| match class.place {
                Place::File(file) => {
                    let file = files[file].to_string_lossy().into_owned();
                    Some(file.strip_suffix(&format!("{}.class", class.name))?.to_owned())
                }
                _ => None,
            })
            .collect();
        let loaded = |root: String| {
            let manifest = fs::read(self.path.join(&root).join("META-INF/MANIFEST.MF"));
            let manifest = manifest.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
            (root, Loaded::of_folder(manifest.ok().as_deref()))
        };
        roots.into_iter().map(loaded).collect()
    }

    /// Unpacks the classes and archives of an archive, on all processors.
    #[expect(clippy::type_complexity, reason = "taken apart right where it is called")]
    fn look_into(
        &self,
        number: usize,
        policy: Policy,
        unpacked: &mut u64,
    ) -> Result<
        (
            Vec<(String, Looked)>,
            Vec<(String, Place, Result<Vec<u8>, String>)>,
            Vec<(Copied, String)>,
        ),
        CliError,
    > {
        let Nested {
            label,
            bytes,
            archive,
            loaded,
            ..
        } = &self.archives[number];
        let mut classes = Vec::new();
        let mut nested = Vec::new();
        let mut copied = Vec::new();
        for (index, entry) in archive.entries.iter().enumerate() {
            let Some(kind) = kind(&entry.name) else {
                continue;
            };
            let label = format!("{label}!/{}", entry.name);
            if let (Kind::Archive, Some(why)) = (kind, policy.nested.copies(loaded, &entry.name)) {
                copied.push((why, label));
                continue;
            }
            budget(&label, entry.size, kind == Kind::Class, unpacked)?;
            match kind {
                Kind::Class => classes.push((index, label)),
                Kind::Archive => nested.push((index, label)),
            }
        }
        let unpack = |index: usize| -> Result<Vec<u8>, String> {
            let failed = |e: ArchiveError| format!("{label}: {e}");
            archive.unpack(bytes, index).map_err(failed)
        };
        let classes = classes
            .into_par_iter()
            .map(|(index, label)| {
                let name = &archive.entries[index].name;
                let place = Place::Entry(number, index);
                let found = unpack(index).and_then(|bytes| class(label.clone(), place, bytes, Some(name)));
                (label, found)
            })
            .collect();
        let nested = nested
            .into_par_iter()
            .map(|(index, label)| (label, Place::Entry(number, index), unpack(index)))
            .collect();
        Ok((classes, nested, copied))
    }
}

/// Nothing is unpacked that declares too much; and nothing unpacks to more than it declares.
fn budget(label: &str, size: u64, class: bool, unpacked: &mut u64) -> Result<(), CliError> {
    let (limit, what) = match class {
        true => (LARGEST_CLASS, "class file"),
        false => (LARGEST_NESTED, "archive inside"),
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
fn class(label: String, place: Place, bytes: Vec<u8>, entry: Option<&str>) -> Looked {
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
        place,
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
