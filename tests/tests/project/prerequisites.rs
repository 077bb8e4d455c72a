//! The two commands of the README say at once what is missing: before anything is built, and all of it.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// A folder with links to all programs on the path but some, and with a `cargo` that takes note of being
/// called.
struct Programs(TempDir);

impl Programs {
    fn without(hidden: &[&str]) -> Self {
        let programs = Programs(tempfile::tempdir().unwrap());
        let path = std::env::var_os("PATH").unwrap();
        for folder in std::env::split_paths(&path) {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                let name = entry.file_name();
                if hidden.iter().all(|hidden| name != *hidden) && name != "cargo" {
                    // The first on the path wins.
                    let _ = symlink(entry.path(), programs.0.path().join(name));
                }
            }
        }
        if !hidden.contains(&"cargo") {
            programs.script("cargo", &format!("touch '{}'", programs.called().display()));
        }
        programs
    }

    fn script(&self, name: &str, text: &str) {
        let file = self.0.path().join(name);
        let _ = fs::remove_file(&file);
        fs::write(&file, format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn called(&self) -> PathBuf {
        self.0.path().join("cargo-was-called")
    }

    fn run(&self, command: &str) -> Output {
        let bash = self.0.path().join("bash");
        Command::new(bash)
            .arg(root().join(command))
            .env("PATH", self.0.path())
            .env_remove("JAVA_HOME")
            .output()
            .unwrap()
    }

    /// Ends at once, and says this on standard error.
    #[track_caller]
    fn refuses(&self, command: &str, missing: &[&str]) {
        let output = self.run(command);
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{told}");
        assert!(output.stdout.is_empty(), "{output:?}");
        let mut lines = told.lines();
        assert_eq!(lines.next(), Some(format!("{command}: missing:").as_str()));
        let lines: Vec<&str> = lines.collect();
        assert_eq!(lines.len(), missing.len(), "{told}");
        for (line, word) in lines.iter().zip(missing) {
            assert!(line.contains(word), "'{word}' is not in: {told}");
        }
        assert!(!self.called().exists(), "cargo was called");
    }
}

#[test]
fn what_is_missing_is_said_before_anything_is_built() {
    let programs = Programs::without(&["cc", "mvn"]);
    programs.refuses("demo", &["(cc)"]);
    programs.refuses("run-tests", &["(cc)", "(mvn)"]);
    let programs = Programs::without(&["cc", "mvn", "cargo", "rustc", "javac", "git"]);
    programs.refuses("demo", &["Rust 1.", "(cc)", "a JDK 17 or newer"]);
    programs.refuses(
        "run-tests",
        &["https://rustup.rs", "(cc)", "JAVA_HOME", "(mvn)", "git"],
    );
}

#[test]
fn what_is_too_old_is_missing() {
    let programs = Programs::without(&["rustc", "javac"]);
    programs.script("rustc", "echo 'rustc 1.70.0 (90c541806 2023-05-31)'");
    programs.script("javac", "echo 'javac 1.8.0_392' >&2");
    for command in ["demo", "run-tests"] {
        programs.refuses(command, &["rustc is 1.70.0", "javac is 1.8.0"]);
    }
}

#[test]
fn with_all_there_the_build_begins() {
    let programs = Programs::without(&["gradle", "rustc", "javac"]);
    programs.script("rustc", "echo 'rustc 2.0.0-nightly (90c541806 2033-05-31)'");
    programs.script("javac", "echo 'javac 17'");
    for (command, there) in [("mvn", "Apache Maven"), ("cc", "cc"), ("git", "git")] {
        programs.script(command, &format!("echo '{there}'"));
    }
    let output = programs.run("run-tests");
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}");
    assert!(programs.called().exists(), "{told}");
    assert!(
        told.contains("gradle is not there: the test of the Gradle plugin is skipped"),
        "{told}"
    );
}

/// The README names each prerequisite that the commands ask for.
#[test]
fn the_readme_names_all_of_them() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let rust = manifest
        .lines()
        .find_map(|line| line.strip_prefix("rust-version = \"")?.strip_suffix('"'))
        .unwrap();
    let try_it = readme
        .split("## ")
        .find(|part| part.starts_with("Try it"))
        .unwrap();
    for word in [
        &format!("Rust {rust}"),
        "`cc`",
        "JDK 17",
        "Maven",
        "git",
        "Gradle",
        "LCOV",
        "Chromium",
        "Linux",
    ] {
        assert!(try_it.contains(word), "'{word}' is not in: {try_it}");
    }
}
