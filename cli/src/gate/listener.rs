//! The listener that reports the end of tests to the agent, as a jar that the JVMs of a build get on their
//! class path.
//!
//! A Java agent is put there by the JVM, so no build has to be changed for it. It does nothing else.

use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};

use zip::result::ZipResult;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

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
    write_file(&jar, &archive().map_err(|e| CliError::file(&jar, e))?)?;
    Ok(jar)
}

/// An archive of the entries. They are not compressed: a JVM reads them at once, and they are small.
fn archive() -> ZipResult<Vec<u8>> {
    let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in ENTRIES {
        archive.start_file(name, stored)?;
        archive.write_all(bytes)?;
    }
    Ok(archive.finish()?.into_inner())
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn the_jar_is_an_archive() {
        let mut archive = zip::ZipArchive::new(Cursor::new(archive().unwrap())).unwrap();
        assert_eq!(archive.len(), ENTRIES.len());
        for (name, bytes) in ENTRIES {
            let mut read = Vec::new();
            archive.by_name(name).unwrap().read_to_end(&mut read).unwrap();
            assert_eq!(read, bytes, "{name}");
        }
    }
}
