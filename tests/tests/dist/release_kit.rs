//! The files with which an owner publishes: those that are committed are those that follow from the settings,
//! and the action's steps run here against a release in a folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;
use trodden_tests::jdk::Jdk;
use trodden_tests::process::{self, Outcome};
use trodden_tests::{Result, artefacts, build};

use super::{LIMIT, OWNER, PROGRAM, have, named, packages, run};

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
        format!(
            "{OWNER}releases=\"https://example.org/trodden/releases/download\"\n\
             scm=\"https://github.com/jo/paths.git\"\n"
        ),
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
    let catalogue: Value = serde_json::from_str(&read("jbang-catalog.json")?)?;
    let alias = &catalogue["aliases"]["trodden"];
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(
        alias["script-ref"],
        format!("org.example.trodden:trodden-launcher:{version}")
    );
    for name in EXAMPLES {
        let example = read(&format!("packaging/examples/{name}.yml"))?;
        assert!(
            example.contains(&format!("uses: jo/paths@v{version}\n")),
            "{example}"
        );
    }
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

/// The examples of workflows, by their names.
const EXAMPLES: [&str; 3] = ["coverage", "gate", "profile"];

/// Keys of a block that is indented by two more than its header, which is the first line that begins so.
fn keys<'t>(text: &'t str, header: &str) -> Vec<&'t str> {
    let mut lines = text.lines().skip_while(|line| line.trim() != header);
    let indent = |line: &str| line.len() - line.trim_start().len();
    let begin = lines.next().map_or(0, indent);
    let block = lines.take_while(|line| indent(line) > begin);
    block
        .filter(|line| indent(line) == begin + 2)
        .filter_map(|line| Some(line.trim().split_once(':')?.0))
        .collect()
}

/// What the examples give to the action are inputs that it has, in a mode that it has.
#[test]
fn examples_fit_the_action() -> Result<()> {
    let action = fs::read_to_string(root().join("action.yml"))?;
    let inputs = keys(&action, "inputs:");
    assert!(inputs.contains(&"mode") && inputs.len() > 8, "{inputs:?}");
    for name in EXAMPLES {
        let example = fs::read_to_string(root().join(format!("packaging/examples/{name}.yml")))?;
        let (_, step) = example
            .split_once("uses: OWNER/trodden@v")
            .ok_or("the action is not used")?;
        let given = keys(step, "with:");
        assert!(given.contains(&"mode") && given.contains(&"command"), "{given:?}");
        for key in given {
            assert!(inputs.contains(&key), "{name}: {key}");
        }
        let mode = step.split("mode: ").nth(1).and_then(|rest| rest.lines().next());
        let mode = mode.ok_or("no mode")?;
        assert!(
            action.contains(&format!("\n          {mode})\n")),
            "{name}: {mode}"
        );
    }
    Ok(())
}

/// All files of a release are on its page: the action looks for its archive's sum there.
#[test]
fn all_files_are_published() -> Result<()> {
    let settings = fs::read_to_string(root().join("jreleaser.yml"))?;
    let lines = settings.lines().map(str::trim);
    let patterns: Vec<&str> = lines
        .filter_map(|line| line.strip_prefix("- pattern: target/dist/"))
        .collect();
    let published = |name: &str| {
        patterns.iter().any(|pattern| match pattern.strip_prefix('*') {
            Some(ending) => name.ends_with(ending),
            None => name == *pattern,
        })
    };
    let mut made = vec![
        "trodden-0.1.0.vsix".to_owned(),
        "trodden-0.1.0.cdx.json".to_owned(),
    ];
    for entry in fs::read_dir(packages()?)? {
        made.push(entry?.file_name().to_string_lossy().into_owned());
    }
    assert!(made.len() > 5, "{made:?}");
    for name in &made {
        assert!(published(name), "{name}: {patterns:?}");
    }
    Ok(())
}

/// The workflow's own check of what it has packed.
#[test]
fn the_workflow_checks_its_files() -> Result<()> {
    let workflow = fs::read_to_string(root().join(".github/workflows/release.yml"))?;
    let (_, step) = workflow.split_once("- name: Check\n").ok_or("no step Check")?;
    let script = scripts(step).swap_remove(0);
    let script = script.replace("x86_64", std::env::consts::ARCH);
    let folder = tempfile::tempdir()?;
    fs::create_dir(folder.path().join("target"))?;
    std::os::unix::fs::symlink(packages()?, folder.path().join("target/dist"))?;
    let mut bash = Command::new("bash");
    bash.args(["--noprofile", "--norc", "-e", "-o", "pipefail", "-c", &script])
        .current_dir(folder.path())
        .env("RUNNER_TEMP", folder.path())
        .env("JAVA_HOME", Jdk::oldest()?.home);
    let outcome = process::run(&mut bash, LIMIT)?.success()?;
    assert!(outcome.stdout.contains(".deb: OK"), "{outcome:?}");
    assert!(outcome.stdout.contains("trodden"), "{outcome:?}");
    Ok(())
}

/// JBang's own program, from Maven Central, by a catalogue and a repository of ours.
#[test]
#[cfg_attr(feature = "change", ignore = "all: JBang from Maven Central")]
fn jbang_runs_the_program_of_the_repository() -> Result<()> {
    if !have("mvn") {
        println!("skipped: no Maven");
        return Ok(());
    }
    let room = tempfile::tempdir()?;
    let path = |name: &str| room.path().join(name);
    fs::write(path("pom.xml"), JBANG)?;
    let mut fetch = Command::new("mvn");
    fetch.args(["-q", "-B", "-Dmdep.outputFile=classpath"]);
    fetch.arg("org.apache.maven.plugins:maven-dependency-plugin:3.8.1:build-classpath");
    if let Err(why) = process::run(fetch.current_dir(room.path()), LIMIT)?.success() {
        println!("skipped: JBang cannot be had from Maven Central: {why}");
        return Ok(());
    }
    let artefacts = artefacts::artefacts()?.cli.parent().ok_or("no folder")?;
    let mut repository = Command::new(root().join("packaging/maven-repository"));
    run(repository.arg(artefacts).arg(path("repository")))?;
    kit(&path("kit"), &[])?;
    fs::write(path("Odd.java"), PROGRAM)?;

    let jdk = Jdk::oldest()?;
    let mut jbang = jdk.command("java");
    jbang
        .arg("-cp")
        .arg(fs::read_to_string(path("classpath"))?.trim())
        .args(["dev.jbang.Main", "run", "--repos"])
        .arg(format!("ours=file://{}", path("repository").display()))
        .arg(format!("trodden@{}", path("kit/jbang-catalog.json").display()))
        .args(["run", "-o", "page.html"])
        .arg(jdk.command("java").get_program())
        .arg("Odd.java")
        .current_dir(room.path())
        .env("JAVA_HOME", &jdk.home)
        .env("JBANG_DIR", path("jbang"))
        .env("JBANG_REPO", path("m2"))
        .env("TRODDEN_CACHE", path("cache"))
        .env_remove("TRODDEN")
        .env_remove("TRODDEN_AGENT");
    // It prints the command, and its script for the shell runs that.
    let planned = process::run(&mut jbang, LIMIT)?;
    assert_eq!(planned.status.code(), Some(255), "{planned:?}");
    let planned = planned.stdout;
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(&planned).current_dir(room.path());
    shell.env("TRODDEN_CACHE", path("cache"));
    let outcome = process::run(&mut shell, LIMIT)?.success()?;
    assert_eq!(outcome.stdout, "333\n", "{planned}: {}", outcome.stderr);
    assert!(fs::read_to_string(path("page.html"))?.contains("Odd.main"));
    assert!(path("cache").is_dir());
    Ok(())
}

/// A project that depends on JBang, with a newer Gson than its POM has, which reads no aliases.
const JBANG: &str = "<project xmlns=\"http://maven.apache.org/POM/4.0.0\"><modelVersion>4.0.0</modelVersion>\
    <groupId>x</groupId><artifactId>x</artifactId><version>1</version><dependencies><dependency>\
    <groupId>dev.jbang</groupId><artifactId>jbang-cli</artifactId><version>0.132.1</version>\
    </dependency><dependency><groupId>com.google.code.gson</groupId><artifactId>gson</artifactId>\
    <version>2.13.2</version></dependency></dependencies></project>";

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
