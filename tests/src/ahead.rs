//! Code that was instrumented ahead of its run, by `trodden instrument`.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use trodden_profile::Profile;
use zip::ZipArchive;

use crate::jdk::Jdk;
use crate::process::{self, Outcome};
use crate::profile::SUSPICIOUS;
use crate::target::Target;
use crate::{Result, artefacts};

const LIMIT: Duration = Duration::from_secs(120);

/// A jar of a Java target's classes that `java -jar` runs.
///
/// # Errors
/// If the target cannot be compiled or packed.
pub fn jar(target: &Target, jdk: &Jdk, folder: &Path) -> Result<PathBuf> {
    let path = folder.join(format!("{}.jar", target.name));
    let mut jar = jdk.command("jar");
    jar.arg("cfe").arg(&path).arg(&target.name);
    jar.arg("-C").arg(target.classes()?).arg(".");
    process::run(&mut jar, LIMIT)?.success()?;
    Ok(path)
}

/// A jar or class with probes, and its path map.
#[derive(Debug)]
pub struct Instrumented {
    /// The output of `trodden instrument`.
    pub file: PathBuf,
    /// The path map next to it.
    pub map: Profile,
}

/// Runs `trodden instrument` on a jar.
///
/// # Errors
/// If it does not succeed.
pub fn instrument(jar: &Path, probe: &str, out: &Path) -> Result<Instrumented> {
    instrument_with(jar, &["--probe", probe], out)
}

/// Runs `trodden instrument` with options.
///
/// # Errors
/// If it does not succeed.
pub fn instrument_with(jar: &Path, options: &[&str], out: &Path) -> Result<Instrumented> {
    let mut command = Command::new(&artefacts::artefacts()?.cli);
    command.arg("instrument").arg(jar).arg("-o").arg(out);
    command.args(options);
    process::run(&mut command, LIMIT)?.success()?;
    let mut map = out.as_os_str().to_owned();
    map.push(".map.trodden");
    let map = Profile::load(Path::new(&map))?;
    Ok(Instrumented {
        file: out.to_owned(),
        map,
    })
}

/// The entries of a jar, in order.
///
/// # Errors
/// If it cannot be read.
pub fn entries(jar: &Path) -> Result<Vec<(String, Vec<u8>)>> {
    let mut zip = ZipArchive::new(File::open(jar)?)?;
    let mut entries = Vec::new();
    for index in 0..zip.len() {
        let mut entry = zip.by_index(index)?;
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes)?;
        entries.push((entry.name()?.into_owned(), bytes));
    }
    Ok(entries)
}

/// JVM flags with which instrumented code looks for the library and writes a profile.
///
/// # Errors
/// If the library cannot be built.
pub fn library(jdk: &Jdk, file: &Path) -> Result<Vec<String>> {
    library_with(jdk, file, "")
}

/// Like [`library`], but with more options of profiles, each with a comma in front.
///
/// # Errors
/// If the library cannot be built.
pub fn library_with(jdk: &Jdk, file: &Path, options: &str) -> Result<Vec<String>> {
    let library = artefacts::artefacts()?.agent.display();
    let mut flags = vec![
        format!("-Dtrodden.library={library}"),
        format!("-Dtrodden.options=quiet=true,file={}{options}", file.display()),
    ];
    // Else these JVMs warn of code that loads a library.
    if jdk.feature >= 22 {
        flags.push("--enable-native-access=ALL-UNNAMED".to_owned());
    }
    Ok(flags)
}

/// Runs a jar by `java -jar`, with JVM flags.
///
/// # Errors
/// If it cannot be run.
pub fn run(jar: &Path, jdk: &Jdk, flags: &[String]) -> Result<Outcome> {
    let jar = jar.display().to_string();
    run_java(jdk, flags, &["-jar", &jar])
}

/// Runs `java` with JVM flags and arguments.
///
/// # Errors
/// If it cannot be run.
pub fn run_java(jdk: &Jdk, flags: &[String], arguments: &[&str]) -> Result<Outcome> {
    let mut java = jdk.command("java");
    for variable in ["LIBRARY", "OPTIONS", "MAPS", "CONFIG"] {
        java.env_remove(format!("TRODDEN_{variable}"));
    }
    // As Target::command runs it.
    java.args(["-Xmx512m", "-Xss1m", "-XX:+UseSerialGC"])
        .args(SUSPICIOUS)
        .args(flags)
        .args(arguments);
    process::run(&mut java, LIMIT)
}
