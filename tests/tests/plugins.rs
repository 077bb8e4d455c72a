//! The build tools' plugins: their samples, by the commands that the documentation tells.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::Value;
use trodden_tests::process::{self, Outcome};
use trodden_tests::{Result, artefacts, build};

/// A tool that a test needs; where it is missing, that is told, and nothing tested.
fn there(tool: &str) -> bool {
    let found = std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|folder| folder.join(tool).is_file()));
    if !found {
        eprintln!("SKIPPED: there is no {tool} on the PATH; nothing of its plugin is tested");
    }
    found
}

/// A copy of the repository's samples and plugins as a clean checkout has them: without what was built.
fn checkout() -> Result<tempfile::TempDir> {
    let root = Path::new(build::ROOT).join("..");
    let copy = tempfile::tempdir()?;
    let mut git = Command::new("git");
    git.current_dir(&root);
    git.args([
        "ls-files",
        "--cached",
        "--others",
        "--exclude-standard",
        "build-plugins",
        "gradle-example",
    ]);
    for file in process::run(&mut git, Duration::from_secs(60))?
        .success()?
        .stdout
        .lines()
    {
        let to = copy.path().join(file);
        fs::create_dir_all(to.parent().ok_or("no parent")?)?;
        fs::copy(root.join(file), to)?;
    }
    Ok(copy)
}

/// Runs a sample's script.
fn sample(folder: &Path, script: &str, arguments: &[&str]) -> Result<Outcome> {
    let artefacts = artefacts::artefacts()?;
    let mut run = Command::new(folder.join(script));
    run.args(arguments)
        .env("TRODDEN", &artefacts.cli)
        .env("TRODDEN_AGENT", &artefacts.agent)
        .env_remove("JAVA_TOOL_OPTIONS");
    process::run(&mut run, Duration::from_secs(900))
}

fn read(path: PathBuf) -> Result<String> {
    Ok(fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?)
}

fn coverage(file: PathBuf) -> Result<Value> {
    Ok(serde_json::from_str(&read(file)?)?)
}

/// (paths that ran, possible ones) of a method.
fn paths(coverage: &Value, name: &str) -> Option<(u64, u64)> {
    let mut methods = coverage["methods"].as_array()?.iter();
    let method = methods.find(|m| m["name"] == name)?;
    Some((
        method["covered_paths"].as_u64()?,
        method["possible_paths"].as_u64()?,
    ))
}

#[test]
fn maven_beside_jacoco_in_either_order() -> Result<()> {
    if !there("mvn") {
        return Ok(());
    }
    let copy = checkout()?;
    let maven = copy.path().join("gradle-example/maven");
    let mut theirs = Vec::new();
    for (flag, trodden_first) in [
        ("-Dtrodden.phase=initialize", true),
        ("-Dtrodden.phase=validate", false),
    ] {
        let outcome = sample(copy.path(), "gradle-example/maven/run", &[flag])?.success()?;
        let flags = outcome.stdout.lines().rev().find(|line| {
            line.contains("argLine set to") && line.contains("-agentpath:") && line.contains("-javaagent:")
        });
        let flags = flags.ok_or("no flags with both agents")?;
        let position = |what: &str| flags.find(what);
        assert_eq!(
            position("-agentpath:") < position("-javaagent:"),
            trodden_first,
            "{flags}"
        );

        let lib = coverage(maven.join("lib/target/site/trodden/coverage.json"))?;
        assert_eq!(paths(&lib, "of"), Some((2, 4)));
        assert_eq!(paths(&lib, "refund"), Some((0, 2)));
        let app = coverage(maven.join("app/target/site/trodden/coverage.json"))?;
        assert_eq!(paths(&app, "add"), Some((1, 1)));
        assert_eq!(paths(&app, "of"), None, "the library's classes are not the app's");
        for file in ["index.html", "coverage.txt", "lcov.info", "lcov.info.paths.json"] {
            assert!(
                maven.join("app/target/site/trodden").join(file).is_file(),
                "{file}"
            );
        }
        let xml = read(maven.join("lib/target/site/jacoco/jacoco.xml"))?;
        let from = xml.find("<package").ok_or("JaCoCo saw nothing")?;
        theirs.push(xml[from..].to_owned());

        // Instrumented ahead, tested, put back.
        let offline = coverage(maven.join("offline/target/site/trodden/coverage.json"))?;
        assert_eq!(paths(&offline, "of"), Some((2, 3)));
        let classes: Vec<_> = fs::read_dir(maven.join("offline/target/classes"))?.collect();
        assert_eq!(classes.len(), 1, "{classes:?}");
        let class = fs::read(maven.join("offline/target/classes/shop/Season.class"))?;
        assert!(!String::from_utf8_lossy(&class).contains("Trodden$"));
        assert!(
            read(maven.join("offline/target/site/trodden/jacoco.xml"))?
                .contains("<sourcefile name=\"Season.java\">")
        );
    }
    // JaCoCo's report is that of a build without Trodden.
    sample(
        copy.path(),
        "gradle-example/maven/run",
        &["-Dtrodden.skip=true", "-pl", "lib"],
    )?
    .success()?;
    assert!(!maven.join("lib/target/site/trodden").exists());
    let alone = read(maven.join("lib/target/site/jacoco/jacoco.xml"))?;
    for xml in &theirs {
        assert_eq!(
            alone[alone.find("<package").ok_or("JaCoCo saw nothing")?..],
            **xml
        );
    }
    // A broken rule breaks the build.
    let flags = ["-pl", "lib", "-Drule=lines >= 99%"];
    let outcome = sample(copy.path(), "gradle-example/maven/run", &flags)?;
    assert!(!outcome.status.success());
    assert!(
        outcome.stdout.contains("BROKEN  lines >= 99%"),
        "{}",
        outcome.stdout
    );
    assert!(
        outcome.stdout.contains("rules about coverage are broken"),
        "{}",
        outcome.stdout
    );
    Ok(())
}

#[test]
fn jmh_forgets_the_warm_up() -> Result<()> {
    if !there("mvn") {
        return Ok(());
    }
    let copy = checkout()?;
    let outcome = sample(copy.path(), "gradle-example/jmh/run", &[])?.success()?;
    let results: Value =
        serde_json::from_str(&read(copy.path().join("gradle-example/jmh/target/result.json"))?)?;
    let metrics = &results[0]["secondaryMetrics"];
    let score = |name: &str| metrics[name]["score"].as_f64().unwrap_or(f64::NAN);
    // While measured, three of four numbers are positive; while warming up, none is, on a path of the same loop.
    let (first, second) = (score("trodden.path1"), score("trodden.path2"));
    assert!((first / second - 3.0).abs() < 1e-6, "{first} {second}");
    assert!((99.0..100.0).contains(&(first + second)), "{metrics}");
    assert_eq!(metrics["trodden.path1"]["scoreUnit"], "%");
    // Four of positive() and four of numbers().
    assert!((score("trodden.paths") - 8.0).abs() < 1e-9, "{metrics}");
    let told = &outcome.stdout;
    assert!(
        told.contains("Top paths, of all that ended while measured"),
        "{told}"
    );
    let top = "shop.SignBenchmark.positive, path 1: header line 37, line 37 not-taken, line 38 not-taken, header line 37";
    assert!(told.contains(top), "{told}");
    // numbers() ran in all iterations; counted are the thousand numbers of each of the two that are measured.
    assert!(
        told.contains("line 30         taken         1,500  not taken           500"),
        "{told}"
    );
    Ok(())
}

/// With the Gradle that there is; the plugin is written for 4.4 and later.
#[test]
fn gradle_sample() -> Result<()> {
    if !there("gradle") {
        return Ok(());
    }
    let copy = checkout()?;
    let folder = copy.path().join("gradle-example");
    let outcome = sample(copy.path(), "gradle-example/run", &[])?.success()?;
    assert!(
        outcome.stdout.contains("kept    each class: lines >= 50%"),
        "{}",
        outcome.stdout
    );
    let tested = coverage(folder.join("build/reports/trodden/coverage.json"))?;
    assert_eq!(paths(&tested, "of"), Some((4, 4)));
    assert_eq!(paths(&tested, "refund"), Some((0, 2)));
    assert_eq!(paths(&tested, "main"), Some((4, 4)));
    for file in ["index.html", "coverage.txt", "lcov.info", "lcov.info.paths.json"] {
        assert!(
            folder.join("build/reports/trodden").join(file).is_file(),
            "{file}"
        );
    }
    // The application under the agent, and its classes with probes.
    assert_eq!(fs::read_dir(folder.join("build/trodden/run"))?.count(), 1);
    let class = fs::read(folder.join("build/trodden/classes/java/shop/Price.class"))?;
    assert!(String::from_utf8_lossy(&class).contains("Trodden$"));
    let class = fs::read(folder.join("build/classes/java/main/shop/Price.class"))?;
    assert!(!String::from_utf8_lossy(&class).contains("Trodden$"));
    // A broken rule breaks the build.
    let outcome = sample(copy.path(), "gradle-example/run", &["-Prule=lines >= 99%"])?;
    assert!(!outcome.status.success());
    assert!(
        outcome.stdout.contains("BROKEN  lines >= 99%"),
        "{}",
        outcome.stdout
    );
    Ok(())
}
