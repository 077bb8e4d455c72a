//! Writing a file into a folder so that it is there whole or not at all, also after a loss of power. (`object_store` renames, but
//! does not wait for the disk.)

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

/// Writes a file. With `new`, it fails with `AlreadyExists` if there is one of that name.
///
/// The temporary name ends with `#` and digits: `object_store` does not list such names.
pub(crate) fn write(path: &Path, bytes: &[u8], new: bool) -> io::Result<()> {
    let folder = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    make_folder(folder)?;
    let mut name = path.as_os_str().to_owned();
    name.push(format!("#{}", uuid::Uuid::new_v4().as_u128()));
    let draft = Path::new(&name);
    let written = write_as(draft, path, bytes, new);
    if written.is_err() || new {
        let _ = fs::remove_file(draft);
    }
    written?;
    sync_folder(folder)
}

fn write_as(draft: &Path, path: &Path, bytes: &[u8], new: bool) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).open(draft)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    drop(file);
    match new {
        // A link fails where the name is taken; a rename would replace.
        true => fs::hard_link(draft, path),
        false => fs::rename(draft, path),
    }
}

/// Makes a folder and those above it.
pub(crate) fn make_folder(folder: &Path) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    let above = folder.parent().filter(|above| *above != Path::new(""));
    if let Some(above) = above {
        make_folder(above)?;
    }
    match fs::create_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && folder.is_dir() => Ok(()),
        Err(error) => Err(error),
        Ok(()) => above.map_or(Ok(()), sync_folder),
    }
}

fn sync_folder(folder: &Path) -> io::Result<()> {
    match File::open(folder)?.sync_all() {
        // Some file systems know no such thing.
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
        result => result,
    }
}
