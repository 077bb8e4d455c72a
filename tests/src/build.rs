//! Files that are compiled or fetched before a test can run, cached in the git-ignored `build/` by a hash of
//! its input.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sha2::{Digest, Sha256};

use crate::jdk::Jdk;
use crate::{Result, process};

/// The folder of this crate.
pub const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// How the name of Kotlin's standard library begins.
const KOTLIN_LIBRARY: &str = "kotlin-stdlib-";

/// Longest time for one compilation or download.
const LIMIT: Duration = Duration::from_secs(600);

/// Makes a folder by `make`, or finds the one that was made before from the same inputs (files and words). A
/// caller that wants the same at the same time waits; others are not held up.
///
/// # Errors
/// Those of `make`, and of the file system.
pub fn cached(
    name: &str,
    files: &[PathBuf],
    words: &[&str],
    make: impl FnOnce(&Path) -> Result<()>,
) -> Result<PathBuf> {
    static LOCKS: Mutex<BTreeMap<PathBuf, Arc<Mutex<()>>>> = Mutex::new(BTreeMap::new());
    let mut hash = Sha256::new();
    for file in files {
        let bytes = std::fs::read(file).map_err(|e| format!("{}: {e}", file.display()))?;
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    }
    for word in words {
        hash.update((word.len() as u64).to_le_bytes());
        hash.update(word);
    }
    let digest: String = hash.finalize()[..8].iter().map(|b| format!("{b:02x}")).collect();
    let folder = Path::new(ROOT).join("build").join(format!("{name}-{digest}"));
    let mut locks = LOCKS.lock().unwrap_or_else(PoisonError::into_inner);
    let own = Arc::clone(locks.entry(folder.clone()).or_default());
    drop(locks);
    let _alone = own.lock().unwrap_or_else(PoisonError::into_inner);
    if !folder.exists() {
        let parent = Path::new(ROOT).join("build");
        std::fs::create_dir_all(&parent)?;
        let unfinished = tempfile::tempdir_in(&parent)?;
        make(unfinished.path())?;
        // Another process that made it in the meantime made the same.
        if let Err(e) = std::fs::rename(unfinished.keep(), &folder)
            && !folder.exists()
        {
            return Err(e.into());
        }
    }
    Ok(folder)
}

/// The files of a folder of this crate with an extension, sorted.
///
/// # Errors
/// Those of the file system.
pub fn sources(folder: &str, extension: &str) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(Path::new(ROOT).join(folder))? {
        let path = entry?.path();
        if path.extension().is_some_and(|e| e == extension) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// The jars of `pom.xml`, fetched by Maven.
///
/// # Errors
/// If Maven fails.
pub fn jars() -> Result<PathBuf> {
    jars_of("jars", &Path::new(ROOT).join("pom.xml"))
}

/// The jars that a POM lists, fetched by Maven.
///
/// # Errors
/// If Maven fails.
pub fn jars_of(name: &str, pom: &Path) -> Result<PathBuf> {
    cached(name, &[pom.to_owned()], &[], |out| {
        let mut maven = Command::new("mvn");
        maven.arg("-q").arg("-B").arg("-f").arg(pom);
        maven.arg("org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies");
        maven.arg(format!("-DoutputDirectory={}", out.display()));
        run_maven(&mut maven)
    })
}

/// Runs Maven to its end; one at a time, as all of them write to the same local repository.
///
/// # Errors
/// What it says, if it fails.
pub fn run_maven(maven: &mut Command) -> Result<()> {
    static ONE: Mutex<()> = Mutex::new(());
    let _alone = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    process::run(maven, LIMIT)?.success().map(drop)
}

/// Class path of all jars in a folder.
pub fn all_jars(folder: &Path) -> String {
    format!("{}/*", folder.display())
}

/// A folder with the classes of Java sources that need no others, compiled once a JDK.
///
/// # Errors
/// Those of the compiler.
pub fn classes(jdk: &Jdk, name: &str, files: &[PathBuf]) -> Result<PathBuf> {
    cached(name, files, &[&jdk.feature.to_string()], |out| {
        javac(jdk, ".", files, out)
    })
}

/// Compiles Java sources.
///
/// # Errors
/// Those of the compiler.
pub fn javac(jdk: &Jdk, class_path: &str, files: &[PathBuf], out: &Path) -> Result<()> {
    let mut javac = jdk.command("javac");
    javac
        .args(["-g", "-Xlint:none", "-encoding", "UTF-8", "-d"])
        .arg(out);
    javac.args(["-cp", class_path]).args(files);
    process::run(&mut javac, LIMIT)?.success()?;
    Ok(())
}

/// Compiles Java sources into `all.jar` with a manifest.
fn jar(name: &str, jdk: &Jdk, class_path: &str, files: &[PathBuf], manifest: &str) -> Result<PathBuf> {
    let folder = cached(name, files, &[manifest, &jdk.feature.to_string()], |out| {
        let classes = out.join("classes");
        javac(jdk, class_path, files, &classes)?;
        std::fs::write(out.join("manifest"), manifest)?;
        let mut jar = jdk.command("jar");
        jar.arg("cfm").arg(out.join("all.jar")).arg(out.join("manifest"));
        jar.arg("-C").arg(&classes).arg(".");
        process::run(&mut jar, LIMIT)?.success()?;
        Ok(())
    })?;
    Ok(folder.join("all.jar"))
}

/// The oracle's Java agent.
///
/// # Errors
/// If it cannot be compiled.
pub fn oracle_jar() -> Result<PathBuf> {
    agent_jar("oracle", "oracle", "Oracle")
}

/// The Java agent that counts basic blocks, and with them instructions.
///
/// # Errors
/// If it cannot be compiled.
pub fn counter_jar() -> Result<PathBuf> {
    agent_jar("counter", "gate/counter", "BlockCounter")
}

/// A Java agent that rewrites classes by ASM.
fn agent_jar(name: &str, folder: &str, main: &str) -> Result<PathBuf> {
    let jars = jars()?;
    let jdk = &Jdk::oldest()?;
    let mut manifest = format!("Premain-Class: {main}\n");
    let mut key = String::from("Class-Path: ");
    for jar in std::fs::read_dir(&jars)? {
        let jar = jar?.path();
        let name = jar.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.starts_with("asm-") {
            let folder = jars.file_name().unwrap_or_default().to_string_lossy();
            key.push_str(&format!("\n  ../{folder}/{name}"));
        }
    }
    manifest.push_str(&key);
    manifest.push('\n');
    jar(name, jdk, &all_jars(&jars), &sources(folder, "java")?, &manifest)
}

/// The verifier's Java agent and main program, and the dumper of JDK images.
///
/// # Errors
/// If it cannot be compiled.
pub fn verifier_jar() -> Result<PathBuf> {
    let manifest = "Premain-Class: Verify\nCan-Redefine-Classes: true\n";
    let jdk = &Jdk::oldest()?;
    jar("verifier", jdk, ".", &sources("verifier", "java")?, manifest)
}

/// A jar of `pom.xml`, by how its name begins.
///
/// # Errors
/// If there is none, or Maven fails.
pub fn jar_named(prefix: &str) -> Result<PathBuf> {
    jar_in(&jars()?, prefix)
}

fn jar_in(jars: &Path, prefix: &str) -> Result<PathBuf> {
    let mut entries = std::fs::read_dir(jars)?.flatten().map(|entry| entry.path());
    let named = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with(prefix)
    };
    entries
        .find(named)
        .ok_or_else(|| format!("no jar {prefix}").into())
}

/// Kotlin's standard library.
///
/// # Errors
/// As [`jar_named`].
pub fn kotlin_library() -> Result<PathBuf> {
    jar_named(KOTLIN_LIBRARY)
}

/// Compiles a Kotlin file into a folder, against the standard library, with options and the compiler among
/// the [`jars`].
///
/// # Errors
/// If kotlinc refuses it, or is not there.
pub fn kotlinc(jdk: &Jdk, jars: &Path, options: &[&str], source: &Path, out: &Path) -> Result<()> {
    let mut compiler = jdk.command("java");
    compiler.arg("-cp").arg(all_jars(jars));
    compiler.arg("org.jetbrains.kotlin.cli.jvm.K2JVMCompiler");
    compiler
        .args(["-no-stdlib", "-no-reflect", "-nowarn", "-cp"])
        .arg(jar_in(jars, KOTLIN_LIBRARY)?);
    compiler.args(options).arg("-d").arg(out).arg(source);
    process::run(&mut compiler, LIMIT)?.success()?;
    Ok(())
}
