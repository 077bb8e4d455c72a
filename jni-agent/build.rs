//! Compiles the Java shim, which the agent carries inside itself.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    if env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        // A JVM closes the library again if the first command of an attach is refused; but by then it has our callbacks, which it calls
        // when it ends.
        println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    }
    let room = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR"));
    let sources = room.join("../java-shim/src");
    println!("cargo::rerun-if-changed={}", sources.display());
    println!("cargo::rerun-if-env-changed=JAVA_HOME");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR")).join("shim");
    if let Err(message) = compile(&sources, &out) {
        println!("cargo::error={message}");
    }
}

/// Compiles for Java 17, as part of java.base: the shim uses that module's internal annotations.
fn compile(sources: &Path, out: &Path) -> Result<(), String> {
    std::fs::create_dir_all(out).map_err(|e| format!("{}: {e}", out.display()))?;
    let javac = javac();
    let result = Command::new(&javac)
        .args([
            "-source",
            "17",
            "-target",
            "17",
            "-proc:none",
            "-g",
            "-Xlint:-options",
        ])
        .arg("--patch-module")
        .arg(format!("java.base={}", sources.display()))
        .arg("-d")
        .arg(out)
        .args(
            [
                "TroddenConfig.java",
                "TroddenThreads.java",
                "Trodden.java",
                "TroddenAhead.java",
            ]
            .map(|f| sources.join("java/lang").join(f)),
        )
        .output();
    match result {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => {
            let text = String::from_utf8_lossy(&output.stderr).replace('\n', " | ");
            Err(format!(
                "{} cannot compile the Java shim (a JDK 17 or newer is needed): {text}",
                javac.display()
            ))
        }
        Err(e) => Err(format!(
            "cannot run {} to compile the Java shim: {e}. Install a JDK 17 or newer and set JAVA_HOME to it, or put javac on the PATH",
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
