//! Where the agent, `libtrodden.so`, is.

#[cfg(unix)]
mod embedded;

use std::env;
use std::path::{Path, PathBuf};

use crate::error::CliError;

/// Variable that names the agent library.
pub const AGENT_VARIABLE: &str = "TRODDEN_AGENT";

/// File name of the agent library.
pub const AGENT_FILE: &str = "libtrodden.so";

/// The agent library's absolute path: `TRODDEN_AGENT`, else next to this program, else in `../lib`, else the
/// one that this program brings inside itself, unpacked.
pub fn find() -> Result<PathBuf, CliError> {
    if let Some(path) = env::var_os(AGENT_VARIABLE).filter(|path| !path.is_empty()) {
        let path = PathBuf::from(path);
        return match usable(&path) {
            None => Err(CliError::Failed(format!(
                "{AGENT_VARIABLE}: {} is not a file",
                path.display()
            ))),
            Some(path) if is_noexec(&path) => {
                Err(CliError::Failed(format!("{AGENT_VARIABLE}: {}", no_code(&path))))
            }
            Some(path) => Ok(path),
        };
    }
    if !cfg!(target_os = "linux") {
        return Err(CliError::Failed(only_linux()));
    }
    let program =
        env::current_exe().map_err(|e| CliError::Failed(format!("cannot find own program: {e}")))?;
    let directory = program.parent().unwrap_or(Path::new("/"));
    let candidates = [
        directory.join(AGENT_FILE),
        directory.join("../lib").join(AGENT_FILE),
    ];
    let found: Vec<PathBuf> = candidates.iter().filter_map(|path| usable(path)).collect();
    if let Some(path) = found.iter().find(|path| !is_noexec(path)) {
        return Ok(path.clone());
    }
    #[cfg(unix)]
    if let Some(embedded) = embedded::EMBEDDED {
        return embedded.unpack(&embedded::places(|name| env::var_os(name), &env::temp_dir()));
    }
    if let Some(path) = found.first() {
        return Err(CliError::Failed(no_code(path)));
    }
    let tried: Vec<String> = candidates.iter().map(|p| p.display().to_string()).collect();
    Err(CliError::Failed(format!(
        "cannot find the agent library; tried {}. Set {AGENT_VARIABLE} to the path of {AGENT_FILE}; `cargo install \
         --path cli --features embed-agent` makes a program that brings it along",
        tried.join(", ")
    )))
}

fn usable(path: &Path) -> Option<PathBuf> {
    path.canonicalize().ok().filter(|path| path.is_file())
}

/// The reason why there is no agent on another system, and what works there.
pub fn only_linux() -> String {
    format!(
        "there is an agent for Linux only (x86-64, aarch64), and this is {}: record on Linux, or in a container. What needs no \
         agent works here: report, coverage, compare, diff, slow, tests, gate compare, merge, replay, check, instrument, mcp, lsp",
        env::consts::OS
    )
}

/// True if this is on a file system from which no process may load code.
#[cfg(not(target_os = "linux"))]
pub fn is_noexec(_: &Path) -> bool {
    false
}

/// True if this is on a file system from which no process may load code.
#[cfg(target_os = "linux")]
pub fn is_noexec(path: &Path) -> bool {
    use rustix::fs::{StatVfsMountFlags, statvfs};
    statvfs(path).is_ok_and(|data| data.f_flag.contains(StatVfsMountFlags::NOEXEC))
}

fn no_code(path: &Path) -> String {
    format!(
        "no JVM can load {}: its file system is mounted noexec. Copy it to one that is not, and set {AGENT_VARIABLE} \
         to its path there",
        path.display()
    )
}
