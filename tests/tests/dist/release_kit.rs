//! The files with which an owner publishes: those that are committed are those that follow from the settings,
//! and the action's steps run here against a release in a folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;
use trodden_tests::jdk::Jdk;
use trodden_tests::process::{self, Outcome};
use trodden_tests::{Result, build};

use super::{LIMIT, OWNER, PROGRAM, named, packages, run};

fn root() -> PathBuf {
    Path::new(build::ROOT).join("..")
}

fn kit(out: &Path, more: &[&str]) -> Result<()> {
    let mut kit = Command::new(root().join("packaging/release-kit"));
    process::run(kit.args(more).arg(out), LIMIT)?.success()?;
    Ok(())
}

#[test]
fn the_committed_files_follow_from_the_settings() -> Result<()> {
    let out = tempfile::tempdir()?;
    kit(out.path(), &[])?;
    let mut list = Command::new("find");
    let files = run(list.args([".", "-type", "f"]).current_dir(out.path()))?;
    assert!(files.lines().count() >= 5, "{files}");
    for file in files.lines() {
        let read = |folder: &Path| fs::read_to_string(folder.join(file)).map_err(|e| format!("{file}: {e}"));
        assert_eq!(
            read(&root())?,
            read(out.path())?,
            "{file}: packaging/release-kit writes it again"
        );
    }

    // An owner's names and sums are in them.
    let owner = out.path().join("owner");
    fs::write(
        &owner,
        format!("{OWNER}releases=\"https://example.org/trodden/releases/download\"\n"),
    )?;
    let sums = packages()?.join("SHA256SUMS");
    let [owner, sums] = [&owner, &sums].map(|path| path.display().to_string());
    kit(out.path(), &["--project", &owner, "--sums", &sums])?;
    let read = |file: &str| fs::read_to_string(out.path().join(file));
    let formula = read("packaging/homebrew/trodden.rb")?;
    let archive = named(packages()?, &format!("linux-{}.tar.gz", std::env::consts::ARCH))?;
    let sum = run(Command::new("sha256sum").arg(archive))?;
    let sum = sum.split(' ').next().ok_or("no sum")?;
    assert!(formula.contains(&format!("sha256 \"{sum}\"")), "{formula}");
    assert!(formula.contains("https://example.org/trodden/releases/download/v0.1.0/trodden-0.1.0-linux-"));
    assert!(read("jreleaser.yml")?.contains("groupId: org.example.trodden\n"));
    for file in [
        "action.yml",
        "jreleaser.yml",
        "packaging/homebrew/trodden.rb",
        "cli/Cargo.toml",
    ] {
        assert!(!read(file)?.contains("trodden.invalid"), "{file}");
    }
    Ok(())
}

/// A job's folder, with a release next to it.
struct Job {
    folder: TempDir,
    jdk: Jdk,
    steps: Vec<String>,
}

impl Job {
    fn new() -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let release = folder.path().join("releases/v0.1.0");
        fs::create_dir_all(&release)?;
        let archive = named(packages()?, &format!("linux-{}.tar.gz", std::env::consts::ARCH))?;
        for file in [archive.clone(), packages()?.join("SHA256SUMS")] {
            fs::copy(&file, release.join(file.file_name().ok_or("no name")?))?;
        }
        let job = folder.path().join("job");
        fs::create_dir_all(job.join("src"))?;
        fs::write(job.join("src/Odd.java"), PROGRAM)?;
        let jdk = Jdk::oldest()?;
        let mut javac = jdk.command("javac");
        run(javac
            .args(["-g", "-d", "classes", "src/Odd.java"])
            .current_dir(&job))?;
        let action = fs::read_to_string(root().join("action.yml"))?;
        Ok(Job {
            folder,
            jdk,
            steps: scripts(&action),
        })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs a step of the action as a runner does.
    fn step(&self, number: usize, inputs: &[(&str, &str)]) -> Result<Outcome> {
        let paths = fs::read_to_string(self.path("path")).unwrap_or_default();
        let mut path: Vec<PathBuf> = paths.lines().map(PathBuf::from).collect();
        path.push(self.jdk.home.join("bin"));
        path.extend(std::env::split_paths(
            &std::env::var_os("PATH").unwrap_or_default(),
        ));
        let mut bash = Command::new("bash");
        bash.args([
            "--noprofile",
            "--norc",
            "-e",
            "-o",
            "pipefail",
            "-c",
            &self.steps[number],
        ])
        .current_dir(self.path("job"))
        .env("PATH", std::env::join_paths(path)?)
        .env("RUNNER_TEMP", self.path("temporary"))
        .env("GITHUB_PATH", self.path("path"))
        .env("GITHUB_STEP_SUMMARY", self.path("summary"))
        .env_remove("TRODDEN_AGENT")
        .env_remove("JAVA_TOOL_OPTIONS")
        .envs(inputs.iter().copied());
        process::run(&mut bash, LIMIT)
    }

    fn fetch(&self) -> Result<Outcome> {
        let releases = self.path("releases").display().to_string();
        self.step(0, &[("VERSION", "0.1.0"), ("RELEASES", &releases)])
    }

    /// The second step, with the inputs that a job has not given empty.
    fn work(&self, inputs: &[(&str, &str)]) -> Result<Outcome> {
        let all = ["BASE", "INCLUDE", "FAIL_ON", "RULES"].map(|name| (name, ""));
        let fixed = [
            ("CLASSES", "classes"),
            ("SOURCES", "src"),
            ("OUTPUT", "out"),
            ("COMMAND", "java -cp 'classes' Odd"),
        ];
        self.step(1, &[&all[..], &fixed, inputs].concat())
    }
}

/// The scripts of an action's steps: the blocks behind `run: |`.
fn scripts(action: &str) -> Vec<String> {
    let lines: Vec<&str> = action.lines().collect();
    let begins = lines
        .iter()
        .enumerate()
        .filter(|(_, line)| line.trim_end().ends_with("run: |"));
    begins
        .map(|(at, line)| {
            let indent = line.len() - line.trim_start().len();
            let inside =
                |line: &&&str| line.trim().is_empty() || line.len() - line.trim_start().len() > indent;
            let block = lines[at + 1..].iter().take_while(inside);
            block
                .map(|line| line.get(indent + 2..).unwrap_or_default().to_owned() + "\n")
                .collect()
        })
        .collect()
}

#[test]
#[cfg_attr(feature = "change", ignore = "all: the Debian package stays")]
fn the_action_runs_from_a_release_in_a_folder() -> Result<()> {
    let job = Job::new()?;
    assert_eq!(job.steps.len(), 2);
    job.fetch()?.success()?;
    let outcome = job.work(&[("MODE", "run")])?.success()?;
    assert!(job.path("job/out/index.html").is_file(), "{outcome:?}");
    let summary = fs::read_to_string(job.path("summary"))?;
    assert!(summary.contains("i % 3 == 1 → yes"), "{summary}");

    job.work(&[
        ("MODE", "coverage"),
        ("INCLUDE", "Odd"),
        ("RULES", "lines >= 80%"),
    ])?
    .success()?;
    assert!(fs::read_to_string(job.path("job/out/lcov.info"))?.contains("src/Odd.java"));
    assert!(job.path("job/out/pages/index.html").is_file());
    let broken = job.work(&[
        ("MODE", "coverage"),
        ("INCLUDE", "Odd"),
        ("RULES", "lines >= 100%"),
    ])?;
    assert_eq!(broken.status.code(), Some(3), "{broken:?}");

    // The work of a base, and of a program that does more.
    job.work(&[("MODE", "gate")])?.success()?;
    fs::copy(job.path("job/out/new.gate"), job.path("job/base.gate"))?;
    let base = [("MODE", "gate"), ("BASE", "base.gate"), ("FAIL_ON", "0.5%")];
    job.work(&base)?.success()?;
    fs::write(job.path("job/src/Odd.java"), PROGRAM.replace("1000", "1100"))?;
    let mut javac = job.jdk.command("javac");
    run(javac
        .args(["-g", "-d", "classes", "src/Odd.java"])
        .current_dir(job.path("job")))?;
    let grown = job.work(&base)?;
    assert_eq!(grown.status.code(), Some(3), "{grown:?}");
    assert!(fs::read_to_string(job.path("job/out/trodden.sarif"))?.contains("\"src/Odd.java\""));
    let summary = fs::read_to_string(job.path("summary"))?;
    assert!(summary.contains("Odd"), "{summary}");

    // Another archive than the sums are of is not unpacked.
    let archive = named(&job.path("releases/v0.1.0"), ".tar.gz")?;
    let mut bytes = fs::read(&archive)?;
    bytes[100] ^= 1;
    fs::write(&archive, bytes)?;
    fs::remove_dir_all(job.path("temporary"))?;
    assert!(!job.fetch()?.status.success());
    assert!(!job.path("temporary/trodden-0.1.0/bin").exists());
    Ok(())
}
