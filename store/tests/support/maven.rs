//! Artifacts from Maven Central.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The jars of an artifact and of what it needs, from Maven Central, once.
pub fn from_maven(group: &str, name: &str, version: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{version}"));
    if !folder.join("jars").is_dir() {
        std::fs::create_dir_all(&folder).unwrap();
        let project = format!(
            "<project><modelVersion>4.0.0</modelVersion><groupId>t</groupId><artifactId>t</artifactId><version>1</version>\
             <dependencies><dependency><groupId>{group}</groupId><artifactId>{name}</artifactId>\
             <version>{version}</version></dependency></dependencies></project>"
        );
        std::fs::write(folder.join("pom.xml"), project).unwrap();
        let mut maven = Command::new("mvn");
        let brought = maven
            .args([
                "-q",
                "-B",
                "dependency:copy-dependencies",
                "-DincludeScope=runtime",
            ])
            .args(["-DoutputDirectory=jars.part"])
            .current_dir(&folder)
            .status()
            .expect("Maven runs");
        assert!(brought.success());
        std::fs::rename(folder.join("jars.part"), folder.join("jars")).unwrap();
    }
    list(&folder.join("jars"))
}

/// The files of a folder.
pub fn list(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}
