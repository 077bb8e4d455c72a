//! Tools from npm and PyPI, and programs over modules of Go, that read what we write. Where they cannot be
//! had, that is said and nothing is checked.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

use crate::{Result, build, process};

/// Longest time for an installation, or for one reader.
const LIMIT: Duration = Duration::from_secs(300);
/// Longest time for a program in Go: the modules are fetched and compiled.
const GO_LIMIT: Duration = Duration::from_secs(900);

/// A file or folder of a package below `node_modules`; `None`, with the reason printed, if it cannot be had.
pub fn from_npm(path: &str) -> Option<PathBuf> {
    match tools() {
        Ok(folder) => Some(folder.join("node_modules").join(path)),
        Err(why) => {
            println!("skipped: {path} cannot be had from npm: {why}");
            None
        }
    }
}

fn tools() -> &'static std::result::Result<PathBuf, String> {
    static TOOLS: OnceLock<std::result::Result<PathBuf, String>> = OnceLock::new();
    TOOLS.get_or_init(|| installed().map_err(|e| e.to_string()))
}

fn installed() -> Result<PathBuf> {
    let files = ["package.json", "package-lock.json"].map(source);
    build::cached("readers", &files, &[], |out| {
        for file in &files {
            std::fs::copy(file, out.join(file.file_name().unwrap_or_default()))?;
        }
        let mut npm = Command::new("npm");
        npm.current_dir(out)
            .args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]);
        process::run(&mut npm, LIMIT)?.success()?;
        Ok(())
    })
}

/// The folder with the commands of Python's readers of coverage (`diff-cover`, `pycobertura`); `None`, with
/// the reason printed, if they cannot be had.
pub fn from_pypi() -> Option<PathBuf> {
    static TOOLS: OnceLock<std::result::Result<PathBuf, String>> = OnceLock::new();
    let tools = TOOLS.get_or_init(|| environment().map_err(|e| e.to_string()));
    match tools {
        Ok(folder) => Some(folder.join("bin")),
        Err(why) => {
            println!("skipped: diff-cover and pycobertura cannot be had from PyPI: {why}");
            None
        }
    }
}

/// A virtual environment. Its programs name its folder, which gets its name only when it is complete: they
/// are run by its interpreter, as modules.
fn environment() -> Result<PathBuf> {
    let wanted = Path::new(build::ROOT).join("coverage/requirements.txt");
    build::cached("readers-of-coverage", std::slice::from_ref(&wanted), &[], |out| {
        let mut python = Command::new("python3");
        process::run(python.args(["-m", "venv"]).arg(out), LIMIT)?.success()?;
        let mut pip = Command::new(out.join("bin/python"));
        pip.args([
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "-r",
        ]);
        process::run(pip.arg(&wanted), LIMIT)?.success()?;
        Ok(())
    })
}

fn source(file: &str) -> PathBuf {
    Path::new(build::ROOT).join("exports/readers").join(file)
}

/// The verdict of Ajv on documents against a JSON Schema: `ok`, or the fault, for each; `None`, with the
/// reason printed, if Ajv cannot be had.
///
/// # Errors
/// If the schema is not one, or a file cannot be read.
pub fn validate(schema: &Path, documents: &[PathBuf]) -> Result<Option<Vec<String>>> {
    let folder = match tools() {
        Ok(folder) => folder,
        Err(why) => {
            println!("skipped: no validator from npm: {why}");
            return Ok(None);
        }
    };
    let mut node = Command::new("node");
    node.current_dir(folder).arg(source("validate.js"));
    node.arg(schema).args(documents);
    let said = process::run(&mut node, LIMIT)?.success()?.stdout;
    let said: Vec<String> = said.lines().map(str::to_owned).collect();
    if said.len() == documents.len() {
        Ok(Some(said))
    } else {
        Err(format!("{} documents, but: {said:#?}", documents.len()).into())
    }
}

/// A browser: `TRODDEN_CHROMIUM` or one on the `PATH`; `None`, with the reason printed, if there is none.
pub fn chromium() -> Option<PathBuf> {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let path = std::env::var_os("PATH").unwrap_or_default();
    let given = std::env::var_os("TRODDEN_CHROMIUM").map(PathBuf::from);
    let found = given.or_else(|| {
        let mut all = std::env::split_paths(&path).flat_map(|folder| names.map(|name| folder.join(name)));
        all.find(|file| file.is_file())
    });
    if found.is_none() {
        println!("skipped: no chromium found (set TRODDEN_CHROMIUM)");
    }
    found
}

/// A program in Go, `exports/NAME` of this crate, built; `None`, with the reason printed, if it cannot be:
/// without Go, or if the modules that it needs cannot be had.
pub fn in_go(name: &str) -> Option<PathBuf> {
    let made = || -> Result<PathBuf> {
        let folder = Path::new(build::ROOT).join("exports").join(name);
        let files = ["main.go", "go.mod", "go.sum"].map(|file| folder.join(file));
        build::cached(&format!("reader-{name}"), &files, &[], |out| {
            let mut go = Command::new("go");
            go.current_dir(&folder)
                .args(["build", "-mod=readonly", "-o"])
                .arg(out.join("reader"))
                .arg(".");
            process::run(&mut go, GO_LIMIT)?.success()?;
            Ok(())
        })
    };
    match made() {
        Ok(folder) => Some(folder.join("reader")),
        Err(why) => {
            println!("skipped: {name}, a reader in Go, cannot be built: {why}");
            None
        }
    }
}
