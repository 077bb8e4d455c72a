//! The agent library inside of this program, for installs that consist of one file (`cargo install`).
//!
//! It is unpacked into a folder that only the user can write to, and is checked by its hash whenever it
//! is used: what a JVM loads is what this program was built with.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use rustix::fs::OFlags;
use sha2::{Digest, Sha256};

use super::{AGENT_FILE, AGENT_VARIABLE, is_noexec};
use crate::error::CliError;

/// The agent, if this program was built with feature `embed-agent`.
#[cfg(feature = "embed-agent")]
pub const EMBEDDED: Option<Embedded> = Some(Embedded {
    compressed: include_bytes!(concat!(env!("OUT_DIR"), "/agent.gz")),
    sha256: env!("TRODDEN_AGENT_SHA256"),
});
/// The agent, if this program was built with feature `embed-agent`.
#[cfg(not(feature = "embed-agent"))]
pub const EMBEDDED: Option<Embedded> = None;

/// A library within the program.
#[derive(Clone, Copy)]
pub struct Embedded {
    /// Its bytes, in gzip's format.
    pub compressed: &'static [u8],
    /// Its SHA-256, in hexadecimal digits.
    pub sha256: &'static str,
}

/// A folder that it may be unpacked into, or why there is none.
type Place = Result<PathBuf, &'static str>;

/// The user's cache, then the temporary folder. Names are the same each time: a JVM that has loaded the agent
/// finds it again under its name only.
pub fn places(variable: impl Fn(&str) -> Option<OsString>, temporary: &Path) -> [Place; 2] {
    let absolute = |name: &str| {
        let path = variable(name).map(PathBuf::from);
        path.filter(|path| path.is_absolute())
    };
    let cache = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")));
    let user = rustix::process::geteuid().as_raw();
    [
        cache
            .map(|cache| cache.join("trodden"))
            .ok_or("there is no cache folder: neither XDG_CACHE_HOME nor HOME is set"),
        Ok(temporary.join(format!("trodden-{user}"))),
    ]
}

impl Embedded {
    /// The library's path, unpacked into the first of these folders that serves.
    ///
    /// # Errors
    /// If none does; it says why each does not, and what to do.
    pub fn unpack(&self, places: &[Place]) -> Result<PathBuf, CliError> {
        let mut tried = String::new();
        for place in places {
            let folder = match place {
                Ok(folder) => folder,
                Err(reason) => {
                    tried += &format!("\n  {reason}");
                    continue;
                }
            };
            match self.unpack_into(folder) {
                Ok(path) => return Ok(path),
                Err(reason) => tried += &format!("\n  {}: {reason}", folder.display()),
            }
        }
        Err(CliError::Failed(format!(
            "no folder to unpack the agent library into, from which a JVM can load it:{tried}\nSet XDG_CACHE_HOME to a \
             folder of yours on a file system that is not mounted noexec, or {AGENT_VARIABLE} to the path of a \
             {AGENT_FILE} on one"
        )))
    }

    fn unpack_into(&self, folder: &Path) -> Result<PathBuf, String> {
        own_folder(folder)?;
        if is_noexec(folder) {
            return Err("its file system is mounted noexec".to_owned());
        }
        // One folder per version: what a JVM has loaded is never written over.
        let room = folder.join(format!("agent-{}", &self.sha256[..16]));
        own_folder(&room)?;
        let file = room.join(AGENT_FILE);
        if !self.is_good(&file) {
            let bytes = self.bytes()?;
            put(&room, &file, &bytes).map_err(|e| e.to_string())?;
            if !self.is_good(&file) {
                return Err(format!("{AGENT_FILE} was changed after it was written"));
            }
        }
        file.canonicalize().map_err(|e| e.to_string())
    }

    fn bytes(&self) -> Result<Vec<u8>, String> {
        let mut bytes = Vec::new();
        GzDecoder::new(self.compressed)
            .read_to_end(&mut bytes)
            .map_err(|e| format!("the agent in this program is damaged: {e}"))?;
        if hash(&bytes) == self.sha256 {
            Ok(bytes)
        } else {
            Err("the agent in this program is damaged".to_owned())
        }
    }

    /// True if the file is there, ours, closed to others, and has the expected bytes.
    fn is_good(&self, file: &Path) -> bool {
        let read = || -> io::Result<bool> {
            let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
            let mut file = OpenOptions::new()
                .read(true)
                .custom_flags(flags.bits() as i32)
                .open(file)?;
            let data = file.metadata()?;
            if !data.is_file() || data.uid() != own_user() || data.mode() & 0o022 != 0 {
                return Ok(false);
            }
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes)?;
            Ok(hash(&bytes) == self.sha256)
        };
        read().unwrap_or(false)
    }
}

fn own_user() -> u32 {
    rustix::process::geteuid().as_raw()
}

fn hash(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Makes a folder, or takes one that is there, that only this user can enter, and that no other user can put
/// another one in place of.
fn own_folder(folder: &Path) -> Result<(), String> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    let data = match (made, fs::symlink_metadata(folder)) {
        (_, Ok(data)) => data,
        (Err(error), Err(_)) | (Ok(()), Err(error)) => return Err(error.to_string()),
    };
    if !data.is_dir() {
        return Err("is a link, or no folder".to_owned());
    }
    if data.uid() != own_user() {
        return Err(format!("belongs to another user (id {})", data.uid()));
    }
    let parent = folder
        .parent()
        .and_then(|parent| parent.canonicalize().ok())
        .ok_or("has no parent folder")?;
    for above in parent.ancestors() {
        let data = fs::metadata(above).map_err(|e| format!("{}: {e}", above.display()))?;
        if data.uid() != own_user() && data.uid() != 0 {
            return Err(format!(
                "{} belongs to another user (id {})",
                above.display(),
                data.uid()
            ));
        }
        if data.mode() & 0o002 != 0 && data.mode() & 0o1000 == 0 {
            return Err(format!("all users may rename what is in {}", above.display()));
        }
    }
    match data.mode() & 0o777 {
        0o700 => Ok(()),
        _ => fs::set_permissions(folder, Permissions::from_mode(0o700)).map_err(|e| e.to_string()),
    }
}

/// Writes the file whole or not at all; several processes may do so at once.
fn put(room: &Path, file: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut draft = tempfile::Builder::new().prefix(".agent-").tempfile_in(room)?;
    draft.write_all(bytes)?;
    draft.as_file().sync_all()?;
    draft.persist(file).map_err(|e| e.error)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::os::unix::fs::symlink;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn embedded(content: &[u8]) -> Embedded {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(content).unwrap();
        Embedded {
            compressed: encoder.finish().unwrap().leak(),
            sha256: hash(content).leak(),
        }
    }

    fn mode(path: &Path) -> u32 {
        fs::symlink_metadata(path).unwrap().mode() & 0o7777
    }

    #[test]
    fn unpacked_once_and_checked_each_time() {
        let room = tempfile::tempdir().unwrap();
        let cache = room.path().join("home/.cache/trodden");
        let agent = embedded(b"agent");
        let unpack = || agent.unpack(&[Ok(cache.clone())]).unwrap();
        let path = unpack();
        assert!(path.is_absolute() && path.ends_with(AGENT_FILE), "{path:?}");
        assert_eq!(fs::read(&path).unwrap(), b"agent");
        let folders = [&cache, path.parent().unwrap()];
        assert_eq!(folders.map(mode), [0o700; 2]);
        assert_eq!(mode(&path), 0o600);
        let inode = || fs::metadata(&path).unwrap().ino();
        let first = inode();
        assert_eq!(unpack(), path);
        assert_eq!(inode(), first, "it was good, and has been written again");

        // Damaged, open to others, a link, a folder that others may write to: put right.
        fs::write(&path, b"agenT").unwrap();
        unpack();
        assert_eq!(fs::read(&path).unwrap(), b"agent");
        fs::set_permissions(&path, Permissions::from_mode(0o666)).unwrap();
        unpack();
        assert_eq!(mode(&path), 0o600);
        let elsewhere = room.path().join("elsewhere");
        fs::write(&elsewhere, b"agent").unwrap();
        fs::remove_file(&path).unwrap();
        symlink(&elsewhere, &path).unwrap();
        unpack();
        assert!(fs::symlink_metadata(&path).unwrap().is_file());
        fs::set_permissions(&cache, Permissions::from_mode(0o777)).unwrap();
        unpack();
        assert_eq!(mode(&cache), 0o700);
        let left = fs::read_dir(path.parent().unwrap()).unwrap();
        assert_eq!(left.count(), 1, "drafts are gone");

        // Another version has a folder of its own.
        let other = embedded(b"other").unpack(&[Ok(cache.clone())]).unwrap();
        assert_ne!(other, path);
        assert_eq!(fs::read(&path).unwrap(), b"agent");
    }

    #[test]
    fn places_that_do_not_serve() {
        let room = tempfile::tempdir().unwrap();
        let agent = embedded(b"agent");
        let at = |name: &str| -> Place { Ok(room.path().join(name)) };
        // /proc takes no folders: the next place is taken.
        let nowhere: Place = Ok(PathBuf::from("/proc/trodden"));
        let path = agent.unpack(&[nowhere.clone(), at("temporary")]).unwrap();
        assert!(path.to_string_lossy().contains("/temporary/"), "{path:?}");

        fs::write(room.path().join("file"), "").unwrap();
        symlink(room.path().join("temporary"), room.path().join("link")).unwrap();
        let open = room.path().join("open");
        fs::create_dir(&open).unwrap();
        fs::set_permissions(&open, Permissions::from_mode(0o777)).unwrap();
        for (place, reason) in [
            (at("file"), "no folder"),
            (at("link"), "is a link"),
            (at("open/trodden"), "all users may rename"),
            (nowhere, "/proc/trodden: "),
            (Err("there is no cache folder"), "there is no cache folder"),
        ] {
            let message = agent.unpack(&[place]).unwrap_err().to_string();
            assert!(message.contains(reason), "{message}");
            assert!(
                message.contains("XDG_CACHE_HOME") && message.contains(AGENT_VARIABLE),
                "{message}"
            );
        }
        // Never another agent than that of this program.
        let damaged = Embedded {
            sha256: hash(b"another").leak(),
            ..agent
        };
        let message = damaged.unpack(&[at("damaged")]).unwrap_err().to_string();
        assert!(message.contains("damaged"), "{message}");
    }

    #[test]
    fn where_it_may_be_unpacked() {
        let of = |variables: &[(&str, &str)]| {
            let variable = |name: &str| {
                let found = variables.iter().find(|(given, _)| *given == name);
                found.map(|(_, value)| OsString::from(value))
            };
            places(variable, Path::new("/t"))
        };
        let [cache, temporary] = of(&[("HOME", "/h")]);
        assert_eq!(cache, Ok("/h/.cache/trodden".into()));
        assert_eq!(temporary, Ok(format!("/t/trodden-{}", own_user()).into()));
        let [cache, _] = of(&[("HOME", "/h"), ("XDG_CACHE_HOME", "/c")]);
        assert_eq!(cache, Ok("/c/trodden".into()));
        for none in [&[][..], &[("HOME", "relative")], &[("XDG_CACHE_HOME", "")]] {
            assert!(of(none)[0].is_err());
        }
    }
}
