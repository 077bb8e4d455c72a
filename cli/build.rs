//! Compiles the class that code calls which is instrumented ahead of its run; the command line carries it
//! inside itself.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    let room = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR"));
    let sources = room.join("../java-shim/ahead");
    println!("cargo::rerun-if-changed={}", sources.display());
    println!("cargo::rerun-if-env-changed=JAVA_HOME");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR")).join("ahead");
    if let Err(message) = compile(&sources, &out) {
        println!("cargo::error={message}");
    }
}

/// Compiles for Java 8, so that code for old JVMs can be instrumented too; without debug information, to be
/// small.
fn compile(sources: &Path, out: &Path) -> Result<(), String> {
    std::fs::create_dir_all(out).map_err(|e| format!("{}: {e}", out.display()))?;
    let javac = javac();
    let result = Command::new(&javac)
        .args([
            "-source",
            "8",
            "-target",
            "8",
            "-g:none",
            "-proc:none",
            "-Xlint:-options",
        ])
        .arg("-d")
        .arg(out)
        .args(
            [
                "trodden/Runtime.java",
                "stubs/java/lang/Trodden.java",
                "stubs/java/lang/TroddenAhead.java",
            ]
            .map(|file| sources.join(file)),
        )
        .output();
    match result {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => {
            let text = String::from_utf8_lossy(&output.stderr).replace('\n', " | ");
            Err(format!(
                "{} cannot compile trodden.Runtime (a JDK 17 or newer is needed): {text}",
                javac.display()
            ))
        }
        Err(e) => Err(format!(
            "cannot run {} to compile trodden.Runtime: {e}. Install a JDK 17 or newer and set JAVA_HOME to it, or put javac on the PATH",
            javac.display()
        )),
    }
}

/// javac of JAVA_HOME, else of the PATH.
fn javac() -> PathBuf {
    let name = format!("javac{}", env::consts::EXE_SUFFIX);
    let home = env::var_os("JAVA_HOME").map(|home| Path::new(&home).join("bin").join(&name));
    home.filter(|path| path.is_file())
        .unwrap_or_else(|| PathBuf::from(name))
}
