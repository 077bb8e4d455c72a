//! What tests of the built agent share.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The library that cargo built for this test run.
pub fn agent() -> PathBuf {
    let exe = std::env::current_exe().expect("own path");
    let deps = exe.parent().expect("deps folder");
    let name = format!(
        "{}trodden{}",
        std::env::consts::DLL_PREFIX,
        std::env::consts::DLL_SUFFIX
    );
    let candidates = [
        deps.join(&name),
        deps.parent().expect("profile folder").join(&name),
    ];
    let newest = candidates.into_iter().filter(|path| path.is_file());
    newest
        .max_by_key(|path| path.metadata().and_then(|m| m.modified()).ok())
        .expect("cargo builds libtrodden")
}

/// Homes of all JDKs: those named by TRODDEN_TEST_JDKS, else what is installed, else the one in use.
pub fn jdks() -> Vec<PathBuf> {
    let is_jdk = |home: &PathBuf| home.join("bin/javac").is_file();
    let named = std::env::var_os("TRODDEN_TEST_JDKS");
    let mut homes: Vec<PathBuf> = match &named {
        Some(list) => std::env::split_paths(list).collect(),
        None => {
            let installed = std::fs::read_dir("/usr/lib/jvm").into_iter().flatten().flatten();
            installed
                .map(|entry| entry.path())
                .chain(std::env::var_os("JAVA_HOME").map(PathBuf::from))
                .collect()
        }
    };
    homes.retain(is_jdk);
    let mut homes: Vec<PathBuf> = homes.iter().filter_map(|home| home.canonicalize().ok()).collect();
    homes.sort();
    homes.dedup();
    assert!(!homes.is_empty(), "no JDK: set TRODDEN_TEST_JDKS");
    homes
}

/// Compiles a program of this folder.
pub fn compile(home: &Path, name: &str, dir: &Path) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/{name}.java"));
    let status = Command::new(home.join("bin/javac"))
        .args(["-g", "--release", "17", "-d"])
        .arg(dir)
        .arg(source)
        .status();
    assert!(status.expect("javac runs").success());
}
