//! The plugin for Gradle: with the Gradle that there is, and with version 8 where that is asked for.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use trodden_tests::process::{self, Outcome};
use trodden_tests::{Result, build};

use super::{NEWER, checkout, coverage, edit, genhtml_reads, paths, read, repository, sample};

/// With the Gradle that there is; the plugin is written for 4.4 and later.
#[test]
fn gradle_sample() -> Result<()> {
    if !process::is_there("gradle") {
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

#[test]
#[cfg_attr(feature = "change", ignore = "all: the sample stays")]
fn gradle_says_what_it_cannot_measure() -> Result<()> {
    if !process::is_there("gradle") {
        return Ok(());
    }
    let copy = checkout()?;
    let folder = copy.path().join("gradle-example");
    let script = folder.join("build.gradle");
    // Sources for a release are found, a rule that speaks of nothing is said to.
    fs::create_dir_all(folder.join("src/main/java11/shop"))?;
    fs::write(folder.join("src/main/java11/shop/Newer.java"), NEWER)?;
    edit(
        &script,
        "trodden {",
        "compileJava { source 'src/main/java11' }\ntrodden {",
    )?;
    let rule = "-Prule=in no.Such: lines >= 1%";
    let outcome = sample(copy.path(), "gradle-example/run", &[rule])?;
    assert!(!outcome.status.success());
    let problem = "the rules cannot be checked: rule 'in no.Such: lines >= 1%'";
    let output = |outcome: &Outcome| outcome.stdout.clone() + &outcome.stderr;
    assert!(output(&outcome).contains(problem), "{}", output(&outcome));
    let lcov = read(folder.join("build/reports/trodden/lcov.info"))?;
    assert!(lcov.contains("/src/main/java11/shop/Newer.java\n"), "{lcov}");
    genhtml_reads(&folder.join("build/reports/trodden/lcov.info"))?;
    edit(&script, "trodden {", "trodden {\n    haltOnFailure = false")?;
    let outcome = sample(copy.path(), "gradle-example/run", &[rule])?.success()?;
    assert!(output(&outcome).contains(problem), "{}", output(&outcome));

    // Without the agent no test leaves a profile.
    edit(&script, "trodden {", "trodden {\n    tests = false")?;
    fs::remove_dir_all(folder.join("build"))?;
    let outcome = sample(copy.path(), "gradle-example/run", &[])?.success()?;
    let missed = "tests ran, but no profile is in";
    for task in ["report", "check"] {
        let warning = format!("so there is nothing to {task}. ");
        assert!(output(&outcome).contains(&warning), "{}", output(&outcome));
    }
    edit(&script, "trodden {", "trodden {\n    failOnNoProfile = true")?;
    let outcome = sample(copy.path(), "gradle-example/run", &[])?;
    assert!(!outcome.status.success());
    assert!(output(&outcome).contains(missed), "{}", output(&outcome));
    Ok(())
}

/// Gradle 8's classes, if asked for: 200 MB have to be fetched for them.
pub(super) fn gradle_8() -> bool {
    let asked = std::env::var_os("TRODDEN_TEST_GRADLE_8").is_some();
    if !asked {
        eprintln!("SKIPPED: TRODDEN_TEST_GRADLE_8 is not set; the plugin is not tested with Gradle 8");
    }
    asked && process::is_there("mvn")
}

pub(super) fn gradle_8_program() -> PathBuf {
    Path::new(build::ROOT).join("gradle8/gradle")
}

const JOINED: &str = "plugins { id 'trodden.paths' version '0.1.0' }
subprojects {
    apply plugin: 'java'
    apply plugin: 'trodden.paths'
    repositories { mavenCentral() }
    dependencies { testImplementation 'junit:junit:4.13.2' }
    trodden { includes = ['shop.*'] }
}
";

const JOINED_APP: &str = "dependencies { implementation project(':lib') }
task quiet(type: Test) {
    testClassesDirs = sourceSets.test.output.classesDirs
    classpath = sourceSets.test.runtimeClasspath
    trodden { enabled = false }
}
test { trodden { options = [loglevel: 'warn'] } }
";

const JOINED_TESTS: [&str; 2] = [
    "package shop;
public class LibTest {
    @org.junit.Test public void negative() { org.junit.Assert.assertEquals(-1, Newer.sign(-3)); }
}
",
    "package shop;
public class AppTest {
    @org.junit.Test public void positive() { org.junit.Assert.assertEquals(1, Newer.sign(3)); }
}
",
];

/// Two projects, one report; a task that takes no agent; and all without Trodden.
fn gradle_joins_projects(gradle: &Path) -> Result<()> {
    let temporary = tempfile::tempdir()?;
    let root = temporary.path();
    let settings = read(Path::new(build::ROOT).join("../gradle-example/settings.gradle"))?;
    fs::write(root.join("settings.gradle"), settings + "include 'lib', 'app'\n")?;
    fs::write(root.join("build.gradle"), JOINED)?;
    for (project, test) in ["lib", "app"].iter().zip(JOINED_TESTS) {
        let tests = root.join(project).join("src/test/java/shop");
        fs::create_dir_all(&tests)?;
        let name = if *project == "lib" { "LibTest" } else { "AppTest" };
        fs::write(tests.join(name).with_extension("java"), test)?;
    }
    fs::write(root.join("app/build.gradle"), JOINED_APP)?;
    fs::create_dir_all(root.join("lib/src/main/java/shop"))?;
    fs::write(root.join("lib/src/main/java/shop/Newer.java"), NEWER)?;
    let run = |arguments: &[&str]| -> Result<Outcome> {
        let mut command = Command::new(gradle);
        command
            .args(["--no-daemon", "--console=plain"])
            .args(arguments)
            .current_dir(root)
            .env("TRODDEN_REPOSITORY", repository()?)
            .env("TRODDEN_CACHE", root.join("cache of programs"))
            .env_remove("TRODDEN")
            .env_remove("TRODDEN_AGENT")
            .env_remove("JAVA_TOOL_OPTIONS");
        process::run(&mut command, Duration::from_secs(600))?.success()
    };
    run(&["test", "quiet", "troddenAggregateReport"])?;
    let report = root.join("build/reports/trodden-aggregate/coverage.json");
    assert_eq!(paths(&coverage(report)?, "sign"), Some((2, 2)));
    assert_eq!(fs::read_dir(root.join("app/build/trodden/data/test"))?.count(), 1);
    assert_eq!(
        fs::read_dir(root.join("app/build/trodden/data/quiet"))?.count(),
        0
    );
    let outcome = run(&["test", "troddenReport", "-Ptrodden.skip=true"])?;
    assert!(
        outcome.stdout.contains("Skipping Trodden, as trodden.skip says"),
        "{}",
        outcome.stdout
    );
    assert_eq!(fs::read_dir(root.join("app/build/trodden/data/test"))?.count(), 0);
    Ok(())
}

#[test]
#[cfg_attr(feature = "change", ignore = "all: the sample stays")]
fn gradle_joins() -> Result<()> {
    if !process::is_there("gradle") {
        return Ok(());
    }
    gradle_joins_projects(Path::new("gradle"))
}

#[test]
#[cfg_attr(feature = "change", ignore = "all: the sample stays")]
fn gradle_8_joins() -> Result<()> {
    if !gradle_8() {
        return Ok(());
    }
    gradle_joins_projects(&gradle_8_program())
}

/// The unchanged sample, with a configuration that is cached; and a result of tests taken from another
/// folder.
#[test]
#[cfg_attr(feature = "change", ignore = "all: the sample stays")]
fn gradle_8_caches() -> Result<()> {
    if !gradle_8() {
        return Ok(());
    }
    let cache = tempfile::tempdir()?;
    let mut profiles = Vec::new();
    for turn in 0..2 {
        let copy = checkout()?;
        let folder = copy.path().join("gradle-example");
        let settings = read(folder.join("settings.gradle"))?;
        let local = format!(
            "buildCache {{ local {{ directory = '{}' }} }}\n",
            cache.path().display()
        );
        fs::write(folder.join("settings.gradle"), settings + &local)?;
        let sample = |wanted: &str| -> Result<()> {
            let mut run = Command::new(folder.join("run"));
            run.args(["--configuration-cache", "--build-cache", "--info"])
                .env("GRADLE", gradle_8_program())
                .env("TRODDEN_REPOSITORY", repository()?)
                .env("TRODDEN_CACHE", copy.path().join("programs"))
                .env_remove("TRODDEN")
                .env_remove("TRODDEN_AGENT")
                .env_remove("JAVA_TOOL_OPTIONS");
            let stdout = process::run(&mut run, Duration::from_secs(600))?
                .success()?
                .stdout;
            assert!(stdout.contains(wanted), "{stdout}");
            assert!(!stdout.contains("has been deprecated"), "{stdout}");
            Ok(())
        };
        sample("Configuration cache entry stored")?;
        if turn == 0 {
            sample("Reusing configuration cache")?;
        }
        let tested = coverage(folder.join("build/reports/trodden/coverage.json"))?;
        assert_eq!(paths(&tested, "of"), Some((4, 4)));
        let entries = fs::read_dir(folder.join("build/trodden/data/test"))?;
        let names: Vec<_> = entries
            .map(|entry| Ok(entry?.file_name()))
            .collect::<Result<_>>()?;
        profiles.push(names);
    }
    // Its name has the time and the process: the second is the first's.
    assert_eq!(profiles[0], profiles[1]);
    Ok(())
}
