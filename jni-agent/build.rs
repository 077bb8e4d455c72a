//! Compiles the Java shim, which the agent carries inside itself.

use std::env;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

#[allow(dead_code)]
mod layout {
    include!("src/threads/layout.rs");
}

fn main() {
    if env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        // A JVM closes the library again if the first command of an attach is refused; but by then it has our
        // callbacks, which it calls when it ends.
        println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    }
    let room = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR"));
    let sources = room.join("../java-shim/src");
    println!("cargo::rerun-if-changed={}", sources.display());
    println!("cargo::rerun-if-changed=src/threads/layout.rs");
    println!("cargo::rerun-if-env-changed=JAVA_HOME");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let generated = out.join("layout");
    let made = generate(&generated.join("java/lang"))
        .map_err(|e| format!("{}: {e}", generated.display()))
        .and_then(|()| compile(&sources, &generated, &out.join("shim")));
    if let Err(message) = made {
        println!("cargo::error={message}");
    }
}

/// Writes the constants that both sides know. javac puts their values where they are used, so the class
/// itself is never loaded.
fn generate(folder: &Path) -> std::io::Result<()> {
    let mut text = String::from(
        "package java.lang;\n\n/** Made from jni-agent/src/threads/layout.rs, which says what each of them is. */\n\
         final class TroddenLayout {\n    private TroddenLayout() {\n    }\n\n",
    );
    for (kind, name, value) in layout::JAVA {
        // As an int: the largest ones have the sign bit.
        let value = value as i32;
        writeln!(text, "    static final {kind} {name} = {value};").expect("a string takes everything");
    }
    text.push_str("}\n");
    std::fs::create_dir_all(folder)?;
    std::fs::write(folder.join("TroddenLayout.java"), text)
}

/// The shim's classes that have a file of their own.
const CLASSES: [&str; 6] = [
    "TroddenConfig",
    "TroddenThreads",
    "Trodden",
    "TroddenFeedback",
    "TroddenRequests",
    "TroddenAhead",
];

/// Compiles for Java 17, as part of java.base: the shim uses that module's internal annotations.
fn compile(sources: &Path, generated: &Path, out: &Path) -> Result<(), String> {
    std::fs::create_dir_all(out).map_err(|e| format!("{}: {e}", out.display()))?;
    let javac = javac();
    let separator = if cfg!(windows) { ';' } else { ':' };
    let patch = format!(
        "java.base={}{separator}{}",
        sources.display(),
        generated.display()
    );
    let result = Command::new(&javac)
        .args("-source 17 -target 17 -proc:none -g -Xlint:-options --patch-module".split(' '))
        .arg(patch)
        .arg("-d")
        .arg(out)
        .args(CLASSES.map(|class| sources.join(format!("java/lang/{class}.java"))))
        .arg(generated.join("java/lang/TroddenLayout.java"))
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
