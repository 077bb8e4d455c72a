//! Which output belongs to which input, and writing it: whole or not at all.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use trodden_profile::output::{STAGING_FOLDER, hold};

use super::input::{Input, Root};
use super::work::Output;
use crate::error::CliError;
use crate::output::{FileSizeLimit, NewFile, clear_leftovers, write_files};

fn usage(what: String) -> CliError {
    CliError::Usage(format!("error: {what}"))
}

/// Pairs of input and output.
///
/// # Errors
/// If two inputs would become the same file, or an output would replace or lie inside of an input.
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

fn check(inputs: &[PathBuf], input: &Path, output: &Path) -> Result<(), CliError> {
    let identity = |path: &Path| fs::metadata(path).ok().map(|data| (data.dev(), data.ino()));
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

/// May this folder be replaced: is it empty, or an earlier output?
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

/// Writes the output and its path map. If anything fails, neither is there, and what was there before still is.
///
/// # Errors
/// If something cannot be written.
pub fn deliver(input: &Input, path: &Path, output: Output, map: Vec<u8>) -> Result<(), CliError> {
    if let Some(folder) = path.parent().filter(|folder| *folder != Path::new("")) {
        fs::create_dir_all(folder).map_err(|e| CliError::file(folder, format!("cannot be made: {e}")))?;
    }
    let map = NewFile {
        path: map_path(path),
        bytes: map,
        mode: 0o666,
    };
    match output {
        Output::File(bytes, beside) => {
            let mode = fs::metadata(&input.path).map_or(0, |data| data.permissions().mode());
            let mut files = vec![map];
            files.extend(beside.into_iter().map(|(name, bytes)| NewFile {
                path: path.with_file_name(name),
                bytes,
                mode: 0o666,
            }));
            files.push(NewFile {
                path: path.to_owned(),
                bytes,
                // A jar with a start script is a program.
                mode: 0o666 | mode & 0o111,
            });
            write_files(&files)
        }
        Output::Folder(changed) => deliver_folder(input, path, &changed, map),
    }
}

fn deliver_folder(
    input: &Input,
    path: &Path,
    changed: &BTreeMap<PathBuf, Vec<u8>>,
    map: NewFile,
) -> Result<(), CliError> {
    let parent = match path.components().as_path().parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    let failed = |e: std::io::Error| CliError::file(path, format!("cannot write: {e}"));
    let _limit = FileSizeLimit::respect();
    clear_leftovers(parent);
    let unfinished = || tempfile::Builder::new().prefix(STAGING_FOLDER).tempdir_in(parent);
    let staged = unfinished().map_err(failed)?;
    let _held = hold(staged.path()).map_err(failed)?;
    let new = staged.path().join("new");
    fs::create_dir(&new).map_err(failed)?;
    let Root::Folder(files) = &input.root else {
        return Ok(());
    };
    let added = changed.keys().filter(|name| files.binary_search(name).is_err());
    for name in files.iter().chain(added) {
        write_in_folder(&input.path.join(name), &new.join(name), changed.get(name))
            .map_err(|e| CliError::file(&path.join(name), format!("cannot write: {e}")))?;
    }
    copy_empty_folders(&input.path, &new).map_err(failed)?;
    // The old output is moved out of the way first: folders cannot be replaced in one step.
    let old = staged.path().join("old");
    let there = path.is_dir();
    if there {
        fs::rename(path, &old).map_err(failed)?;
    }
    let placed = fs::rename(&new, path)
        .map_err(failed)
        .and_then(|()| write_files(&[map]));
    if let Err(error) = placed {
        let _ = fs::remove_dir_all(path);
        if there {
            let _ = fs::rename(&old, path);
        }
        return Err(error);
    }
    Ok(())
}

fn write_in_folder(from: &Path, to: &Path, changed: Option<&Vec<u8>>) -> std::io::Result<()> {
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder)?;
    }
    match changed {
        Some(bytes) => fs::write(to, bytes)?,
        None => fs::copy(from, to).map(drop)?,
    }
    // A file that the input did not have has no time and mode to keep.
    if let Ok(data) = fs::metadata(from) {
        let file = fs::File::options().write(true).open(to)?;
        file.set_modified(data.modified()?)?;
        file.set_permissions(data.permissions())?;
    }
    Ok(())
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
