//! Compiles the kernels and drivers with `javac --release 17`.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::{Error, Result, io};
use crate::workload::{self, APPS};
use crate::workspace::{Jdk, Workspace};

/// The driver whose program has several files.
const HTTP: &str = "HttpDriver";

/// Compiles the kernels, and every driver whose jars are there. Returns what was left out, with the reason.
///
/// # Errors
/// If the compiler reports an error or a warning.
pub fn build(workspace: &Workspace, jdk: &Jdk) -> Result<Vec<String>> {
    let kernels = workspace.root().join("kernels/src/trodden/kernels");
    compile(
        jdk,
        &java_files(&kernels)?,
        &[],
        &workspace.build().join("kernels"),
    )?;
    let drivers = workspace.root().join("drivers/src/trodden/drivers");
    let mut left_out = Vec::new();
    for app in APPS {
        match workload::libraries(workspace, app) {
            Ok(jars) => {
                let mut sources = ["Driver", "Sources", "JavaCompilerDriver", app.driver]
                    .map(|class| drivers.join(format!("{class}.java")))
                    .to_vec();
                if app.driver == HTTP {
                    let classes = ["HttpService", "HttpConnection", "HttpClient", "HttpLoad"];
                    sources.extend(classes.map(|class| drivers.join(format!("{class}.java"))));
                }
                compile(
                    jdk,
                    &sources,
                    &jars,
                    &workspace.build().join("drivers").join(app.name),
                )?;
            }
            Err(reason) => left_out.push(format!("{}: {reason}", app.name)),
        }
    }
    match workspace.set("asm") {
        Ok(jars) => compile(
            jdk,
            &[drivers.join("AsmRewrite.java")],
            &jars,
            &workspace.build().join("drivers/asm"),
        )?,
        Err(reason) => left_out.push(format!("asm: {reason}")),
    }
    Ok(left_out)
}

fn java_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder).map_err(io("list", folder))?;
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.map_err(io("list", folder))?.path();
        if path.extension().is_some_and(|e| e == "java") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// Compiles some sources with these jars on the class path.
///
/// # Errors
/// If the compiler reports an error or a warning.
pub fn compile(jdk: &Jdk, sources: &[PathBuf], jars: &[PathBuf], into: &Path) -> Result<()> {
    std::fs::create_dir_all(into).map_err(io("create", into))?;
    let mut command = Command::new(jdk.javac());
    command
        .args([
            "--release",
            "17",
            "-g",
            "-proc:none",
            "-Xlint:all,-path,-classfile",
            "-Werror",
            "-d",
        ])
        .arg(into);
    if !jars.is_empty() {
        let class_path = std::env::join_paths(jars).map_err(|e| Error::Usage(format!("class path: {e}")))?;
        command.arg("-cp").arg(class_path);
    }
    let output = command.args(sources).output().map_err(io("start", jdk.javac()))?;
    if output.status.success() {
        return Ok(());
    }
    Err(Error::Program {
        program: "javac".to_owned(),
        problem: String::from_utf8_lossy(&output.stderr).into_owned(),
    })
}
