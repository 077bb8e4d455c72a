//! The listener that reports the end of tests to the agent, as a jar that the JVMs of a build get on their
//! class path.
//!
//! A Java agent is put there by the JVM, so no build has to be changed for it. It does nothing else.

use std::path::{Path, PathBuf};

use crate::error::CliError;
use crate::output::write_file;

/// Its classes, which are not counted.
pub const CLASSES: &str = "trodden.listener.*";

const NAME: &str = "trodden-junit.jar";
const MANIFEST: &str = "Manifest-Version: 1.0\r\nPremain-Class: trodden.listener.Premain\r\n\r\n";

/// Entries, in the order in which they stand.
const ENTRIES: [(&str, &[u8]); 8] = [
    ("META-INF/MANIFEST.MF", MANIFEST.as_bytes()),
    (
        "META-INF/services/org.junit.platform.launcher.TestExecutionListener",
        b"trodden.listener.GateListener\n",
    ),
    (
        "META-INF/services/org.testng.ITestNGListener",
        b"trodden.listener.TestNgListener\n",
    ),
    (
        "trodden/listener/Progress.class",
        include_bytes!(concat!(env!("OUT_DIR"), "/junit/trodden/listener/Progress.class")),
    ),
    (
        "trodden/listener/TestNgListener.class",
        include_bytes!(concat!(
            env!("OUT_DIR"),
            "/junit/trodden/listener/TestNgListener.class"
        )),
    ),
    (
        "trodden/listener/GateListener.class",
        include_bytes!(concat!(
            env!("OUT_DIR"),
            "/junit/trodden/listener/GateListener.class"
        )),
    ),
    (
        "trodden/listener/Limits.class",
        include_bytes!(concat!(env!("OUT_DIR"), "/junit/trodden/listener/Limits.class")),
    ),
    (
        "trodden/listener/Premain.class",
        include_bytes!(concat!(env!("OUT_DIR"), "/junit/trodden/listener/Premain.class")),
    ),
];

/// Writes the jar into a folder.
pub fn write(folder: &Path) -> Result<PathBuf, CliError> {
    let jar = folder.join(NAME);
    write_file(&jar, &archive())?;
    Ok(jar)
}

/// A zip archive whose entries are stored uncompressed: headers with contents, then the directory, then its
/// end.
fn archive() -> Vec<u8> {
    /// 1980-01-01, the first day that zip archives know.
    const DATE: u16 = 1 << 5 | 1;
    let (mut out, mut directory) = (Vec::new(), Vec::new());
    for (name, bytes) in ENTRIES {
        let start = out.len() as u32;
        // Version 1.0, no flags, stored, time and date; both headers have that alike.
        let mut facts = Vec::new();
        for word in [10, 0, 0, 0, DATE] {
            facts.extend_from_slice(&word.to_le_bytes());
        }
        for word in [crc32fast::hash(bytes), bytes.len() as u32, bytes.len() as u32] {
            facts.extend_from_slice(&word.to_le_bytes());
        }
        facts.extend_from_slice(&(name.len() as u16).to_le_bytes());
        // No extra field.
        facts.extend_from_slice(&[0; 2]);
        out.extend_from_slice(b"PK\x03\x04");
        out.extend_from_slice(&facts);
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(bytes);
        // Made by version 1.0; no comment, first disk, no attributes.
        directory.extend_from_slice(b"PK\x01\x02\x0a\x00");
        directory.extend_from_slice(&facts);
        directory.extend_from_slice(&[0; 10]);
        directory.extend_from_slice(&start.to_le_bytes());
        directory.extend_from_slice(name.as_bytes());
    }
    let (start, entries) = (out.len() as u32, ENTRIES.len() as u16);
    out.extend_from_slice(&directory);
    out.extend_from_slice(b"PK\x05\x06\0\0\0\0");
    out.extend_from_slice(&entries.to_le_bytes());
    out.extend_from_slice(&entries.to_le_bytes());
    out.extend_from_slice(&(directory.len() as u32).to_le_bytes());
    out.extend_from_slice(&start.to_le_bytes());
    out.extend_from_slice(&[0; 2]);
    out
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn the_jar_is_an_archive() {
        let mut archive = zip::ZipArchive::new(std::io::Cursor::new(archive())).unwrap();
        assert_eq!(archive.len(), ENTRIES.len());
        for (name, bytes) in ENTRIES {
            let mut read = Vec::new();
            archive.by_name(name).unwrap().read_to_end(&mut read).unwrap();
            assert_eq!(read, bytes, "{name}");
        }
    }
}
