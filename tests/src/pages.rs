//! The commands of a page of the documentation, run as a reader would.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::jdk::Jdk;
use crate::process::{self, Outcome};
use crate::{Result, artefacts, build};

/// Runs the `sh` blocks of a page of `docs/` in a folder, one after the other, up to the first that fails,
/// with `trodden` and a JDK's tools on the path and `LIBTRODDEN` set. Also returns the number of blocks.
///
/// # Errors
/// If a command fails; with all output.
pub fn run(page: &str, jdk: &Jdk, folder: &Path) -> Result<(usize, Outcome)> {
    let page = fs::read_to_string(Path::new(build::ROOT).join("../docs").join(page))?;
    let mut script = String::from("set -eu\n");
    let mut blocks = 0;
    for block in page.split("\n```sh\n").skip(1) {
        script.push_str(block.split("\n```").next().unwrap_or_default());
        script.push('\n');
        blocks += 1;
    }
    let artefacts = artefacts::artefacts()?;
    let tools = [
        jdk.home.join("bin"),
        artefacts.cli.parent().ok_or("no folder")?.to_owned(),
    ];
    let path = std::env::var("PATH")?;
    let path = format!("{}:{}:{path}", tools[0].display(), tools[1].display());
    let mut bash = Command::new("bash");
    bash.current_dir(folder).arg("-c").arg(&script);
    bash.env("PATH", path)
        .env("LIBTRODDEN", &artefacts.agent)
        .env_remove("JAVA_TOOL_OPTIONS");
    let outcome = process::run(&mut bash, Duration::from_secs(300))?.success()?;
    Ok((blocks, outcome))
}
