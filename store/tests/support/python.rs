//! Python with PySpark and DuckDB, in an environment below `target`. Where they cannot be had, that is said and nothing is
//! checked.

#![allow(dead_code, reason = "each test takes what it needs")]

use std::ffi::OsStr;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

/// The interpreter; `None`, with the reason printed, if it cannot be had.
pub fn interpreter() -> Option<&'static Path> {
    static FOUND: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    found(FOUND.get_or_init(|| environment(&["tests/requirements.txt", "spark/requirements.txt"])))
}

/// One with the Spark for which there is a runtime of Iceberg.
pub fn with_iceberg() -> Option<&'static Path> {
    static FOUND: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    found(FOUND.get_or_init(|| environment(&["tests/requirements-iceberg.txt"])))
}

fn found(made: &'static Result<PathBuf, String>) -> Option<&'static Path> {
    match made {
        Ok(path) => Some(path),
        Err(why) => {
            println!("skipped: PySpark and DuckDB cannot be had from PyPI: {why}");
            None
        }
    }
}

/// Runs it; what it said is shown if it failed.
pub fn run<I: IntoIterator<Item = S>, S: AsRef<OsStr>>(python: &Path, arguments: I) -> Output {
    let mut command = Command::new(python);
    command
        .args(arguments)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("SPARK_LOCAL_IP", "127.0.0.1");
    let output = command
        .output()
        .unwrap_or_else(|e| panic!("{}: {e}", python.display()));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{command:?}\n{}\n{said}",
        String::from_utf8_lossy(&output.stdout)
    );
    output
}

/// Made once per list of packages, of which the first file names all; tests that come at the same time wait for each other.
fn environment(files: &[&str]) -> Result<PathBuf, String> {
    let store = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut hasher = DefaultHasher::new();
    for file in files {
        std::fs::read(store.join(file))
            .map_err(|e| e.to_string())?
            .hash(&mut hasher);
    }
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or(store.join("target"), PathBuf::from);
    std::fs::create_dir_all(&target).map_err(|e| e.to_string())?;
    let folder = target.join(format!("python-{:016x}", hasher.finish()));
    let lock = std::fs::File::create(target.join("python.lock")).map_err(|e| e.to_string())?;
    lock.lock().map_err(|e| e.to_string())?;
    let python = folder.join("bin/python");
    let complete = folder.join("complete");
    if !complete.exists() {
        let _ = std::fs::remove_dir_all(&folder);
        done(Command::new("python3").args(["-m", "venv"]).arg(&folder))?;
        let mut pip = Command::new(&python);
        pip.args([
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "-r",
        ]);
        done(pip.arg(store.join(files[0])))?;
        std::fs::write(&complete, "").map_err(|e| e.to_string())?;
    }
    Ok(python)
}

fn done(command: &mut Command) -> Result<(), String> {
    let output = command.output().map_err(|e| format!("{command:?}: {e}"))?;
    if output.status.success() {
        Ok(())
    } else {
        Err(format!(
            "{command:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        ))
    }
}
