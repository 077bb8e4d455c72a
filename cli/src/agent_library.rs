//! Where the agent, `libtrodden.so`, is.

use std::env;
use std::path::{Path, PathBuf};

use crate::error::CliError;

/// Variable that names the agent library.
pub const AGENT_VARIABLE: &str = "TRODDEN_AGENT";

/// File name of the agent library.
pub const AGENT_FILE: &str = "libtrodden.so";

/// The agent library's absolute path: `TRODDEN_AGENT`, else beside this program, else in `../lib`.
pub fn find() -> Result<PathBuf, CliError> {
    if let Some(path) = env::var_os(AGENT_VARIABLE).filter(|path| !path.is_empty()) {
        let path = PathBuf::from(path);
        return usable(&path)
            .ok_or_else(|| CliError::Failed(format!("{AGENT_VARIABLE}: {} is not a file", path.display())));
    }
    let program =
        env::current_exe().map_err(|e| CliError::Failed(format!("cannot find own program: {e}")))?;
    let directory = program.parent().unwrap_or(Path::new("/"));
    let candidates = [
        directory.join(AGENT_FILE),
        directory.join("../lib").join(AGENT_FILE),
    ];
    candidates.iter().find_map(|path| usable(path)).ok_or_else(|| {
        let tried: Vec<String> = candidates.iter().map(|p| p.display().to_string()).collect();
        CliError::Failed(format!(
            "cannot find the agent library; tried {}. Set {AGENT_VARIABLE} to the path of {AGENT_FILE}",
            tried.join(", ")
        ))
    })
}

fn usable(path: &Path) -> Option<PathBuf> {
    path.canonicalize().ok().filter(|path| path.is_file())
}
