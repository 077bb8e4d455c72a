//! Builds that have never seen this repository: folders of their own, and a Maven repository as an owner
//! publishes it, under a group of the owner's.

mod gradle;
mod jmh;
mod maven;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;
use std::time::Duration;

use serde_json::Value;
use trodden_tests::process::{self, Outcome};
use trodden_tests::{Result, artefacts, build};

const LIMIT: Duration = Duration::from_secs(900);

/// The owner's group, in which Maven keeps nothing of another repository.
const GROUP: &str = "org.example.stranger";

/// The repository, made once for all tests.
fn repository() -> Result<PathBuf> {
    static MADE: LazyLock<std::result::Result<PathBuf, String>> =
        LazyLock::new(|| make_repository().map_err(|e| e.to_string()));
    Ok(MADE.clone()?)
}

fn make_repository() -> Result<PathBuf> {
    let root = Path::new(build::ROOT).join("..");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("strangers");
    fs::create_dir_all(&folder)?;
    let settings = fs::read_to_string(root.join("packaging/project"))?
        .replace("group_id=\"trodden\"", &format!("group_id=\"{GROUP}\""))
        .replace(
            "plugin_id=\"trodden.paths\"",
            &format!("plugin_id=\"{GROUP}.paths\""),
        );
    let project = folder.join("project");
    fs::write(&project, settings)?;
    let artefacts = artefacts::artefacts()?.cli.parent().ok_or("no folder")?;
    let mut make = Command::new(root.join("packaging/maven-repository"));
    make.arg("--project").arg(project).arg(artefacts);
    process::run(make.arg(folder.join("repository")), LIMIT)?.success()?;
    // The version is still that of the last time; Maven would continue with what it has kept of that.
    if let Some(home) = std::env::var_os("HOME") {
        let kept = Path::new(&home)
            .join(".m2/repository")
            .join(GROUP.replace('.', "/"));
        match fs::remove_dir_all(kept) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => return Err(e.into()),
            _ => {}
        }
    }
    Ok(folder.join("repository"))
}

/// A stranger's project.
struct Project(tempfile::TempDir);

impl Project {
    /// With these files. `REPOSITORY` and `GROUP` in them are the owner's.
    fn new(files: &[(&str, &str)]) -> Result<Self> {
        let project = Project(tempfile::Builder::new().prefix("a stranger's ").tempdir()?);
        for (name, text) in files {
            project.write(name, text)?;
        }
        Ok(project)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) -> Result<()> {
        let file = self.path(name);
        fs::create_dir_all(file.parent().ok_or("no parent")?)?;
        let repository = format!("file://{}", repository()?.display());
        fs::write(
            file,
            text.replace("REPOSITORY", &repository).replace("GROUP", GROUP),
        )?;
        Ok(())
    }

    /// Replaces a piece of a file.
    fn edit(&self, name: &str, from: &str, to: &str) -> Result<()> {
        let text = fs::read_to_string(self.path(name))?;
        assert!(text.contains(from), "{name}: {from}");
        self.write(name, &text.replacen(from, to, 1))
    }

    /// Runs a program here, with nothing of this repository in its environment.
    fn run(&self, program: &Path, arguments: &[&str]) -> Result<Outcome> {
        let mut run = Command::new(program);
        run.current_dir(self.0.path())
            .args(arguments)
            .env("TRODDEN_CACHE", self.path("cache of programs"))
            .env_remove("TRODDEN")
            .env_remove("TRODDEN_AGENT")
            .env_remove("JAVA_TOOL_OPTIONS");
        process::run(&mut run, LIMIT)
    }

    fn exists(&self, name: &str) -> bool {
        self.path(name).exists()
    }

    fn json(&self, name: &str) -> Result<Value> {
        let text = fs::read_to_string(self.path(name)).map_err(|e| format!("{name}: {e}"))?;
        Ok(serde_json::from_str(&text)?)
    }
}

/// What a run has printed, on either stream.
fn said(outcome: &Outcome) -> String {
    outcome.stdout.clone() + &outcome.stderr
}
