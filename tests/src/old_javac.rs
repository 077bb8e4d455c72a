//! javac of JDK 8 and 9, as Maven Central has it, run by a newer JVM: it writes `try (…)` as no compiler of
//! today does.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::jdk::Jdk;
use crate::{Result, build, process};

const LIMIT: Duration = Duration::from_secs(200);

/// The versions that are used: of JDK 8, and of JDK 9.
pub const VERSIONS: [&str; 2] = ["1.8.0-u20", "9+181-r4173-1"];

/// Compiles a source for Java 8 by the compiler of this version.
///
/// # Errors
/// If Maven or the compiler fails.
pub fn compile(jdk: &Jdk, version: &str, source: &Path, classes: &Path) -> Result<()> {
    fs::create_dir_all(classes)?;
    let mut java = jdk.command("java");
    // Without the modules of the JVM's own compiler, whose packages have the same names.
    java.args(["--limit-modules", "java.base,jdk.zipfs", "-cp"]);
    java.arg(fetched(version)?).arg("com.sun.tools.javac.Main");
    java.args(["-source", "8", "-target", "8", "-nowarn", "-g", "-bootclasspath"]);
    java.arg(library(jdk)?).arg("-d").arg(classes).arg(source);
    process::run(&mut java, LIMIT)?.success()?;
    Ok(())
}

fn fetched(version: &str) -> Result<PathBuf> {
    let folder = build::cached("old-javac", &[], &[version], |out| {
        let mut maven = Command::new("mvn");
        maven.args([
            "-q",
            "-B",
            "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy",
        ]);
        maven.arg(format!("-Dartifact=com.google.errorprone:javac:{version}"));
        maven.arg(format!("-DoutputDirectory={}", out.display()));
        build::run_maven(&mut maven)
    })?;
    Ok(folder.join(format!("javac-{version}.jar")))
}

/// Java 8's classes without code, from what the JDK's compiler has for `--release 8`. Their version says that
/// they are of the JDK itself, which an older compiler refuses.
fn library(jdk: &Jdk) -> Result<PathBuf> {
    let symbols = jdk.home.join("lib/ct.sym");
    build::cached("java-8", std::slice::from_ref(&symbols), &[], |out| {
        let mut archive = zip::ZipArchive::new(fs::File::open(&symbols)?)?;
        for index in 0..archive.len() {
            let mut entry = archive.by_index(index)?;
            let name = entry.name()?.into_owned();
            let mut parts = name.splitn(3, '/');
            let (Some(releases), Some("java.base"), Some(class)) = (parts.next(), parts.next(), parts.next())
            else {
                continue;
            };
            let Some(class) = class.strip_suffix(".sig").filter(|_| releases.contains('8')) else {
                continue;
            };
            let mut bytes = Vec::new();
            std::io::Read::read_to_end(&mut entry, &mut bytes)?;
            bytes[6..8].copy_from_slice(&52u16.to_be_bytes());
            let file = out.join(class).with_extension("class");
            fs::create_dir_all(file.parent().ok_or("no folder")?)?;
            fs::write(file, bytes)?;
        }
        Ok(())
    })
}
