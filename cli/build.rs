//! Compiles the class that code calls which is instrumented ahead of its run; the command line carries it
//! inside itself. With feature `embed-agent` it carries the agent library, too.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Classes that are called by code that was instrumented ahead.
const AHEAD: [&str; 3] = [
    "trodden/Runtime.java",
    "stubs/java/lang/Trodden.java",
    "stubs/java/lang/TroddenAhead.java",
];
/// Classes that report the end of a test to the agent in a JVM of tests, for `trodden gate`.
const LISTENER: [&str; 17] = [
    "trodden/listener/GateListener.java",
    "trodden/listener/Limits.java",
    "trodden/listener/Premain.java",
    "trodden/listener/Progress.java",
    "trodden/listener/TestNgListener.java",
    "stubs/org/junit/platform/engine/TestExecutionResult.java",
    "stubs/org/junit/platform/engine/TestSource.java",
    "stubs/org/junit/platform/engine/support/descriptor/MethodSource.java",
    "stubs/org/junit/platform/launcher/TestExecutionListener.java",
    "stubs/org/junit/platform/launcher/TestIdentifier.java",
    "stubs/org/testng/IClass.java",
    "stubs/org/testng/ITestContext.java",
    "stubs/org/testng/ITestListener.java",
    "stubs/org/testng/ITestNGListener.java",
    "stubs/org/testng/ITestNGMethod.java",
    "stubs/org/testng/ITestResult.java",
    "stubs/org/testng/internal/ConstructorOrMethod.java",
];

fn main() {
    let room = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR"));
    let sources = room.join("../java-shim/ahead");
    println!("cargo::rerun-if-changed={}", sources.display());
    println!("cargo::rerun-if-env-changed=JAVA_HOME");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR")).join("ahead");
    if let Err(message) = compile(&sources, &out, &AHEAD) {
        println!("cargo::error={message}");
    }
    let listener = room.join("../java-shim/junit");
    println!("cargo::rerun-if-changed={}", listener.display());
    if let Err(message) = compile(&listener, &out.with_file_name("junit"), &LISTENER) {
        println!("cargo::error={message}");
    }
    #[cfg(feature = "embed-agent")]
    if let Err(message) = agent::embed(&room.join("..")) {
        println!("cargo::error={message}");
    }
}

/// The agent library as bytes for the program. Cargo cannot make one crate's library an input of another one,
/// so a second cargo builds it, in a folder of its own.
#[cfg(feature = "embed-agent")]
mod agent {
    use std::env;
    use std::fs;
    use std::io::Write as _;
    use std::path::{Path, PathBuf};
    use std::process::Command;

    use flate2::Compression;
    use flate2::write::GzEncoder;
    use sha2::{Digest, Sha256};

    /// Names a library that is there already, in place of a build.
    const GIVEN: &str = "TRODDEN_EMBED_AGENT";
    /// The sources of the agent.
    const SOURCES: [&str; 10] = [
        "Cargo.lock",
        "Cargo.toml",
        "analyses",
        "classfile",
        "instrumenter",
        "java-shim",
        "jni-agent",
        "path-numbering",
        "profile",
        "source",
    ];

    pub fn embed(workspace: &Path) -> Result<(), String> {
        println!("cargo::rerun-if-env-changed={GIVEN}");
        let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
        let library = match env::var_os(GIVEN).filter(|path| !path.is_empty()) {
            Some(path) => {
                println!("cargo::rerun-if-changed={}", Path::new(&path).display());
                PathBuf::from(path)
            }
            None => build(workspace, &out.join("agent"))?,
        };
        let bytes = fs::read(&library).map_err(|e| format!("{}: {e}", library.display()))?;
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        let packed = encoder.write_all(&bytes).and_then(|()| encoder.finish());
        let file = out.join("agent.gz");
        packed
            .and_then(|packed| fs::write(&file, packed))
            .map_err(|e| format!("{}: {e}", file.display()))?;
        let digest = Sha256::digest(&bytes);
        let digits: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        println!("cargo::rustc-env=TRODDEN_AGENT_SHA256={digits}");
        Ok(())
    }

    fn build(workspace: &Path, target_dir: &Path) -> Result<PathBuf, String> {
        let manifest = workspace.join("jni-agent/Cargo.toml");
        if !manifest.is_file() {
            return Err(format!(
                "feature embed-agent builds the agent from its sources, and {} is not there: install from a checkout, or \
                 set {GIVEN} to a libtrodden.so",
                manifest.display()
            ));
        }
        for source in SOURCES {
            println!("cargo::rerun-if-changed={}", workspace.join(source).display());
        }
        let target = env::var("TARGET").expect("cargo sets TARGET");
        let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut command = Command::new(cargo);
        command
            .args(["build", "--release", "--target", &target, "--manifest-path"])
            .arg(&manifest)
            .arg("--target-dir")
            .arg(target_dir)
            // Its lines are not needed; the names that the JVM looks up stay.
            .args(["--config", "profile.release.debug=false"])
            .args(["--config", "profile.release.strip=\"symbols\""]);
        if workspace.join("Cargo.lock").is_file() {
            command.arg("--locked");
        }
        // Lints and wrappers of the build around this one are about that one.
        for variable in [
            "RUSTC_WORKSPACE_WRAPPER",
            "CARGO_TARGET_DIR",
            "CARGO_BUILD_TARGET",
        ] {
            command.env_remove(variable);
        }
        let output = command.output().map_err(|e| format!("cargo: {e}"))?;
        if !output.status.success() {
            let text = String::from_utf8_lossy(&output.stderr).replace('\n', " | ");
            return Err(format!("the agent cannot be built: {text}"));
        }
        Ok(target_dir.join(target).join("release/libtrodden.so"))
    }
}

/// Compiles for Java 8, so that code for old JVMs can be instrumented too; without debug information, to be
/// small.
fn compile(sources: &Path, out: &Path, files: &[&str]) -> Result<(), String> {
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
        .args(files.iter().map(|file| sources.join(file)))
        .output();
    match result {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => {
            let text = String::from_utf8_lossy(&output.stderr).replace('\n', " | ");
            Err(format!(
                "{} cannot compile {} (a JDK 17 or newer is needed): {text}",
                javac.display(),
                files[0]
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
