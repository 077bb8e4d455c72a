//! Writing a file into a folder so that it is there whole or not at all, also after a loss of power.
//! (`object_store` renames, but does not wait for the disk.)

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

/// Writes a file. With `new`, it fails with `AlreadyExists` if there is one of that name.
///
/// The temporary name ends with `#` and digits: `object_store` does not list such names.
///
/// Others may clear empty folders away meanwhile, that of this file too.
pub(crate) fn write(path: &Path, bytes: &[u8], new: bool) -> io::Result<()> {
    let mut left = 16;
    loop {
        match write_once(path, bytes, new) {
            Err(error) if error.kind() == io::ErrorKind::NotFound && left > 0 => left -= 1,
            result => return result,
        }
    }
}

fn write_once(path: &Path, bytes: &[u8], new: bool) -> io::Result<()> {
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
    if new {
        // A link fails where the name is taken; a rename would replace.
        fs::hard_link(draft, path)
    } else {
        fs::rename(draft, path)
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

    #[test]
    fn folders_may_go_while_files_come() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("table/service=shop");
        let over = AtomicBool::new(false);
        // Number of folders that may go while one file is written: fewer than there are attempts.
        let may_go = AtomicU32::new(0);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    for folder in [&inner, inner.parent().unwrap()] {
                        if may_go.load(Ordering::Relaxed) > 0 && fs::remove_dir(folder).is_ok() {
                            may_go.fetch_sub(1, Ordering::Relaxed);
                        }
                    }
                }
            });
            let mut gone = 0;
            let mut all = Ok(());
            for number in 0..200 {
                let file = inner.join(number.to_string());
                may_go.store(12, Ordering::Relaxed);
                all = write(&file, b"1", true).and_then(|()| match fs::read(&file)?.as_slice() {
                    b"1" => fs::remove_file(&file),
                    _ => Err(io::ErrorKind::InvalidData.into()),
                });
                gone += 12 - may_go.load(Ordering::Relaxed);
                if all.is_err() {
                    break;
                }
            }
            over.store(true, Ordering::Relaxed);
            all.unwrap();
            assert!(gone > 0, "no folder went meanwhile");
        });
    }
}
