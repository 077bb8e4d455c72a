//! Our own binaries.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

use crate::{Result, process};

/// The agent and the command line.
#[derive(Clone, Debug)]
pub struct Artefacts {
    /// `libtrodden.so`.
    pub agent: PathBuf,
    /// The `trodden` binary.
    pub cli: PathBuf,
}

/// The agent and the command line, built as the tests are (in release mode for those of `dev`), and brought
/// up to date first: a test must never pass with yesterday's agent. `TRODDEN_TEST_ARTEFACTS` names a folder
/// that has both, instead.
///
/// # Errors
/// If they cannot be built.
pub fn artefacts() -> Result<&'static Artefacts> {
    static BUILT: OnceLock<std::result::Result<Artefacts, String>> = OnceLock::new();
    let built = BUILT.get_or_init(|| find().map_err(|e| e.to_string()));
    built.as_ref().map_err(|e| e.clone().into())
}

fn find() -> Result<Artefacts> {
    let folder = match std::env::var_os("TRODDEN_TEST_ARTEFACTS") {
        Some(folder) => PathBuf::from(folder),
        None => build()?,
    };
    let found = Artefacts {
        agent: folder.join("libtrodden.so"),
        cli: folder.join("trodden"),
    };
    for file in [&found.agent, &found.cli] {
        if !file.exists() {
            return Err(format!("{} is missing", file.display()).into());
        }
    }
    Ok(found)
}

fn build() -> Result<PathBuf> {
    // …/target/PROFILE/deps/test-binary or …/target/PROFILE/binary
    let exe = std::env::current_exe()?;
    let is_profile = |p: &&std::path::Path| p.join("deps").is_dir() && p.join("build").is_dir();
    let profile = exe.ancestors().find(is_profile).ok_or("not run by cargo")?;
    let target = profile.parent().ok_or("no target folder")?;
    let name = match profile.file_name() {
        Some(name) if name != "debug" => name,
        _ => OsStr::new("release"),
    };
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command
        .args(["build", "--locked", "-p", "trodden-agent", "-p", "trodden"])
        .arg("--profile")
        .arg(name)
        .arg("--target-dir")
        .arg(target)
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    process::run(&mut command, Duration::from_secs(1200))?.success()?;
    Ok(target.join(name))
}
