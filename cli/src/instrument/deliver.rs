//! Which output belongs to which input, and writing it: whole or not at all.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use trodden_profile::output::{Draft, STAGING_FOLDER, hold};

use super::input::{Input, Root};
use super::walk::{NewFolder, Walk};
use crate::error::CliError;
use crate::output::{FileSizeLimit, NewFile, clear_leftovers, write_files_with};

fn usage(what: String) -> CliError {
    CliError::Usage(format!("error: {what}"))
}

/// Pairs of input and output.
///
/// # Errors
/// If two inputs would become the same file, or an output would replace or be inside of an input.
pub fn plan(inputs: &[PathBuf], output: &Path) -> Result<Vec<(PathBuf, PathBuf)>, CliError> {
    let into_folder = output.is_dir() || output.as_os_str().as_encoded_bytes().ends_with(b"/");
    let pairs = match inputs {
        [input] if input.is_dir() || !into_folder => vec![(input.clone(), output.to_owned())],
        _ => {
            let mut planned: BTreeMap<PathBuf, PathBuf> = BTreeMap::new();
            for input in inputs {
                let name = input.file_name();
                let name = name.ok_or_else(|| usage(format!("{} has no file name", input.display())))?;
                if let Some(other) = planned.insert(output.join(name), input.clone()) {
                    let both = format!("{} and {}", other.display(), input.display());
                    return Err(usage(format!("{both} would become the same file")));
                }
            }
            planned
                .into_iter()
                .map(|(output, input)| (input, output))
                .collect()
        }
    };
    for (input, output) in &pairs {
        check(inputs, input, output)?;
    }
    Ok(pairs)
}

/// The same for all names of a file.
#[cfg(not(unix))]
fn identity(path: &Path) -> Option<PathBuf> {
    path.canonicalize().ok()
}

/// The same for all names of a file.
#[cfg(unix)]
fn identity(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    fs::metadata(path).ok().map(|data| (data.dev(), data.ino()))
}

/// The permissions to run a file.
#[cfg(not(unix))]
fn executable(_: &Path) -> u32 {
    0
}

/// The permissions to run a file.
#[cfg(unix)]
fn executable(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(path).map_or(0, |data| data.permissions().mode() & 0o111)
}

fn check(inputs: &[PathBuf], input: &Path, output: &Path) -> Result<(), CliError> {
    let shown = output.display();
    for other in inputs {
        let same = identity(output).is_some_and(|id| identity(other) == Some(id));
        // An output need not be there yet, but the folder that it comes to is.
        let above = output.ancestors().skip(1).map(|folder| match folder {
            empty if empty == Path::new("") => Path::new("."),
            folder => folder,
        });
        let real = above.filter_map(|folder| folder.canonicalize().ok()).next();
        let inside = |folder: PathBuf| real.as_ref().is_some_and(|real| real.starts_with(folder));
        if same {
            return Err(usage(format!(
                "output {shown} would replace input {}",
                other.display()
            )));
        }
        if other.is_dir() && other.canonicalize().is_ok_and(inside) {
            return Err(usage(format!(
                "output {shown} would be inside of input {}",
                other.display()
            )));
        }
        if let (Ok(real), Ok(other)) = (output.canonicalize(), other.canonicalize())
            && input.is_dir()
            && other.starts_with(real)
        {
            return Err(usage(format!(
                "output {shown} would replace input {}",
                other.display()
            )));
        }
    }
    match fs::metadata(output) {
        Ok(data) if input.is_dir() && !data.is_dir() => {
            Err(CliError::file(output, "is there and is no folder"))
        }
        Ok(_) if input.is_dir() && !may_replace(output) => Err(CliError::file(
            output,
            "is there and was not written by trodden instrument: give a new or empty folder",
        )),
        Ok(data) if !input.is_dir() && !data.is_file() => {
            Err(CliError::file(output, "is there and is no regular file"))
        }
        _ => Ok(()),
    }
}

/// True if this folder may be replaced: it is empty, or an earlier output.
fn may_replace(folder: &Path) -> bool {
    let empty = fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none());
    empty || map_path(folder).is_file()
}

/// The path map's name.
pub fn map_path(output: &Path) -> PathBuf {
    let mut name = output.components().as_path().as_os_str().to_owned();
    name.push(".map.trodden");
    PathBuf::from(name)
}

/// An output that is complete but for its path map. If it is dropped, nothing is left of it, and what was
/// there before still is.
pub struct Delivery {
    path: PathBuf,
    what: What,
    made: MadeFolders,
    limit: FileSizeLimit,
}

enum What {
    /// One file, and others next to it.
    File(Box<Draft>, Vec<NewFile>),
    /// A folder, where it was assembled, and the lock on that place.
    Folder(TempDir, fs::File),
}

impl Delivery {
    /// Goes through the input, and writes the output under temporary names.
    ///
    /// # Errors
    /// If the input is broken or cannot be handled, or something cannot be written.
    pub fn new(input: &Input, path: &Path, walk: &mut Walk<'_>) -> Result<Delivery, CliError> {
        let limit = FileSizeLimit::respect();
        let parent = match path.components().as_path().parent() {
            Some(parent) if parent != Path::new("") => parent,
            _ => Path::new("."),
        };
        let made = MadeFolders::make(parent)?;
        let what = match &input.root {
            Root::Folder(files) => folder(input, path, parent, files, walk)?,
            Root::Class(_) | Root::Archive(..) => file(input, path, walk)?,
        };
        let path = path.to_owned();
        Ok(Delivery {
            path,
            what,
            made,
            limit,
        })
    }

    /// Gives output and path map their names.
    ///
    /// # Errors
    /// If something cannot be written.
    pub fn place(self, map: Vec<u8>) -> Result<(), CliError> {
        let Delivery {
            path,
            what,
            made,
            limit,
        } = self;
        let map = NewFile {
            path: map_path(&path),
            bytes: map,
            mode: 0o666,
        };
        match what {
            What::File(draft, mut files) => {
                files.insert(0, map);
                write_files_with(vec![*draft], &files)?;
            }
            What::Folder(staged, held) => {
                place_folder(&path, &staged, map)?;
                drop(held);
            }
        }
        made.keep();
        drop(limit);
        Ok(())
    }
}

fn file(input: &Input, path: &Path, walk: &mut Walk<'_>) -> Result<What, CliError> {
    let failed = |e: std::io::Error| CliError::file(path, format!("cannot write: {e}"));
    // A jar with a start script is a program.
    let draft = Draft::new(path, 0o666 | executable(&input.path)).map_err(CliError::failed)?;
    let mut out = BufWriter::with_capacity(1 << 16, draft);
    let mut beside = Vec::new();
    match &input.root {
        Root::Class(found) => {
            let (bytes, runtime) = match walk.class(found)? {
                Some((bytes, runtime)) => (bytes, runtime),
                None => (found.bytes.clone(), None),
            };
            out.write_all(&bytes).map_err(failed)?;
            beside.extend(runtime.map(|(name, bytes)| NewFile {
                path: path.with_file_name(name),
                bytes,
                mode: 0o666,
            }));
        }
        Root::Archive(source, archive) => {
            let label = input.path.display().to_string();
            if !walk.archive(&label, source, archive, Some((path, &mut out)))? {
                for piece in source.pieces(0..source.len()) {
                    let piece = piece.map_err(|e| CliError::file(&input.path, e))?;
                    out.write_all(&piece).map_err(failed)?;
                }
            }
        }
        Root::Folder(_) => {}
    }
    let draft = out.into_inner().map_err(|e| failed(e.into_error()))?;
    Ok(What::File(Box::new(draft), beside))
}

fn folder(
    input: &Input,
    path: &Path,
    parent: &Path,
    files: &[PathBuf],
    walk: &mut Walk<'_>,
) -> Result<What, CliError> {
    let failed = |e: std::io::Error| CliError::file(path, format!("cannot write: {e}"));
    clear_leftovers(parent);
    let unfinished = || tempfile::Builder::new().prefix(STAGING_FOLDER).tempdir_in(parent);
    let staged = unfinished().map_err(failed)?;
    let held = hold(staged.path()).map_err(failed)?;
    let out = NewFolder {
        new: staged.path().join("new"),
        shown: path.to_owned(),
    };
    fs::create_dir(&out.new).map_err(failed)?;
    walk.folder(&input.path, files, Some(&out))?;
    copy_empty_folders(&input.path, &out.new).map_err(failed)?;
    Ok(What::Folder(staged, held))
}

fn place_folder(path: &Path, staged: &TempDir, map: NewFile) -> Result<(), CliError> {
    let failed = |e: std::io::Error| CliError::file(path, format!("cannot write: {e}"));
    // The old output is moved out of the way first: folders cannot be replaced in one step.
    let old = staged.path().join("old");
    let there = path.is_dir();
    if there {
        fs::rename(path, &old).map_err(failed)?;
    }
    let placed = fs::rename(staged.path().join("new"), path)
        .map_err(failed)
        .and_then(|()| write_files_with(Vec::new(), &[map]));
    if let Err(error) = placed {
        let _ = fs::remove_dir_all(path);
        if there {
            let _ = fs::rename(&old, path);
        }
        return Err(error);
    }
    Ok(())
}

/// Folders that were made for an output. If there comes none, they go again.
struct MadeFolders(Vec<PathBuf>);

impl MadeFolders {
    fn make(folder: &Path) -> Result<MadeFolders, CliError> {
        let missing = folder.ancestors().take_while(|above| !above.exists());
        // The innermost comes first.
        let made = MadeFolders(missing.map(Path::to_owned).collect());
        fs::create_dir_all(folder).map_err(|e| CliError::file(folder, format!("cannot be made: {e}")))?;
        Ok(made)
    }

    fn keep(mut self) {
        self.0.clear();
    }
}

impl Drop for MadeFolders {
    fn drop(&mut self) {
        for folder in &self.0 {
            // What has something in it by now stays.
            let _ = fs::remove_dir(folder);
        }
    }
}

impl NewFolder {
    /// Begins a file.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn create(&self, file: &Path) -> Result<fs::File, CliError> {
        let new = self.new.join(file);
        let made = new.parent().map_or(Ok(()), fs::create_dir_all);
        made.and_then(|()| fs::File::create(&new))
            .map_err(|e| self.failed(file, &e))
    }

    /// Writes a file.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&self, file: &Path, bytes: &[u8]) -> Result<(), CliError> {
        self.create(file)?
            .write_all(bytes)
            .map_err(|e| self.failed(file, &e))
    }

    /// Removes a file that was begun.
    ///
    /// # Errors
    /// If it cannot be removed.
    pub fn remove(&self, file: &Path) -> Result<(), CliError> {
        fs::remove_file(self.new.join(file)).map_err(|e| self.failed(file, &e))
    }

    /// Copies the files that are not written yet. All get the times and permissions that they had.
    ///
    /// # Errors
    /// If something cannot be read or written.
    pub fn complete(&self, root: &Path, files: &[PathBuf]) -> Result<(), CliError> {
        for file in files {
            let (from, to) = (root.join(file), self.new.join(file));
            self.complete_one(&from, &to).map_err(|e| self.failed(file, &e))?;
        }
        Ok(())
    }

    fn complete_one(&self, from: &Path, to: &Path) -> std::io::Result<()> {
        if !to.exists() {
            to.parent().map_or(Ok(()), fs::create_dir_all)?;
            fs::copy(from, to)?;
        }
        let data = fs::metadata(from)?;
        let file = fs::File::options().write(true).open(to)?;
        file.set_modified(data.modified()?)?;
        file.set_permissions(data.permissions())
    }

    fn failed(&self, file: &Path, error: &std::io::Error) -> CliError {
        CliError::file(&self.shown.join(file), format!("cannot write: {error}"))
    }
}

fn copy_empty_folders(from: &Path, to: &Path) -> std::io::Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            let to = to.join(entry.file_name());
            fs::create_dir_all(&to)?;
            copy_empty_folders(&entry.path(), &to)?;
        }
    }
    Ok(())
}
