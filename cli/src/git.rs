//! Git, as a program.

use std::path::Path;
use std::process::Command;

/// The output of git in a folder.
///
/// # Errors
/// The reason why it has not succeeded: git's own first line, or why it cannot run.
pub fn output(folder: &Path, arguments: &[&str]) -> Result<String, String> {
    let output = Command::new("git").args(arguments).current_dir(folder).output();
    let output = output.map_err(|e| format!("cannot run git: {e}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let said = said.lines().next().unwrap_or("it says no reason");
    let folder = folder.display();
    Err(format!("git {} failed in {folder}: {said}", arguments[0]))
}
