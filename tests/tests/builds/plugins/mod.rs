//! The build tools' plugins: their samples, by the commands of the documentation.

mod changed;
mod fuzz;
mod gradle;
mod jmh;
mod natives;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;
use std::time::Duration;

use serde_json::Value;
use trodden_tests::process::{self, Outcome};
use trodden_tests::{Result, artefacts, build};

/// The Maven repository with the plugins, as `./dist` makes it. Made once for all tests.
fn repository() -> Result<PathBuf> {
    static MADE: LazyLock<std::result::Result<PathBuf, String>> =
        LazyLock::new(|| make_repository().map_err(|e| e.to_string()));
    Ok(MADE.clone()?)
}

fn make_repository() -> Result<PathBuf> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("maven-repository");
    let artefacts = artefacts::artefacts()?.cli.parent().ok_or("no folder")?;
    let mut make = Command::new(Path::new(build::ROOT).join("../packaging/maven-repository"));
    process::run(make.arg(artefacts).arg(&folder), Duration::from_secs(900))?.success()?;
    // The version is still that of the last time; Maven would continue with what it has kept of that.
    if let Some(home) = std::env::var_os("HOME") {
        match fs::remove_dir_all(Path::new(&home).join(".m2/repository/trodden")) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => return Err(e.into()),
            _ => {}
        }
    }
    Ok(folder)
}

/// A copy of the repository's samples as a clean checkout has them: without what was built.
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
        "gradle-example",
    ]);
    for file in process::run(&mut git, Duration::from_secs(60))?
        .success()?
        .stdout
        .lines()
    {
        if !root.join(file).is_file() {
            // Deleted, and not yet committed.
            continue;
        }
        let to = copy.path().join(file);
        fs::create_dir_all(to.parent().ok_or("no parent")?)?;
        fs::copy(root.join(file), to)?;
    }
    Ok(copy)
}

/// Runs a sample's script. The program is the one that comes with the plugin.
fn sample(folder: &Path, script: &str, arguments: &[&str]) -> Result<Outcome> {
    process::run(
        &mut sample_command(folder, script, arguments)?,
        Duration::from_secs(900),
    )
}

fn sample_command(folder: &Path, script: &str, arguments: &[&str]) -> Result<Command> {
    let mut run = Command::new(folder.join(script));
    run.args(arguments)
        .env("TRODDEN_REPOSITORY", repository()?)
        .env("TRODDEN_CACHE", folder.join("cache of programs"))
        .env_remove("TRODDEN")
        .env_remove("TRODDEN_AGENT")
        .env_remove("JAVA_TOOL_OPTIONS");
    Ok(run)
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
#[cfg_attr(feature = "change", ignore = "all: one Maven build stays")]
fn maven_beside_jacoco_in_either_order() -> Result<()> {
    if !process::is_there("mvn") {
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
        let flags = outcome.stdout.lines().find(|line| {
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
        // Integration tests alone, TestNG's, and all in one.
        let site = |module: &str| coverage(maven.join(module).join("coverage.json"));
        assert_eq!(paths(&site("app/target/site/trodden-it")?, "add"), Some((1, 1)));
        assert_eq!(paths(&site("testng/target/site/trodden")?, "row"), Some((1, 3)));
        let all = site("coverage/target/site/trodden-aggregate")?;
        assert_eq!(paths(&all, "of"), Some((3, 4)));
        assert_eq!(paths(&all, "add"), Some((1, 1)));
        assert_eq!(paths(&all, "row"), Some((1, 3)));
        let joined = "profiles are merged into";
        let line = outcome.stdout.lines().find(|line| line.contains(joined));
        // Of lib, app (twice), testng, offline.
        assert!(line.is_some_and(|line| line.contains(" 5 profiles")), "{line:?}");
        assert!(maven.join("coverage/target/trodden.trodden").is_file());

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

/// Replaces a piece of a file of the copy.
fn edit(file: &Path, from: &str, to: &str) -> Result<()> {
    let text = fs::read_to_string(file)?;
    assert!(text.contains(from), "{}: {from}", file.display());
    fs::write(file, text.replacen(from, to, 1))?;
    Ok(())
}

/// genhtml reads a tracefile and the sources that it names.
fn genhtml_reads(tracefile: &Path) -> Result<()> {
    if !process::is_there("genhtml") {
        return Ok(());
    }
    let out = tempfile::tempdir()?;
    let mut genhtml = Command::new("genhtml");
    genhtml.arg("--output-directory").arg(out.path()).arg(tracefile);
    process::run(&mut genhtml, Duration::from_secs(60))?.success()?;
    Ok(())
}

/// Sources of a class that only a JVM of Java 11 or later loads from a multi-release jar.
const NEWER: &str = "package shop;

public class Newer {
    public static int sign(int number) {
        return number < 0 ? -1 : 1;
    }
}
";

const MULTI_RELEASE: &str = "<build>
    <plugins>
      <plugin>
        <groupId>org.apache.maven.plugins</groupId><artifactId>maven-compiler-plugin</artifactId>
        <executions><execution>
          <id>java11</id><phase>compile</phase><goals><goal>compile</goal></goals>
          <configuration>
            <release>11</release>
            <compileSourceRoots><root>${project.basedir}/src/main/java11</root></compileSourceRoots>
            <multiReleaseOutput>true</multiReleaseOutput>
          </configuration>
        </execution></executions>
      </plugin>";

#[test]
#[cfg_attr(feature = "change", ignore = "all: the sample stays")]
fn maven_says_what_it_cannot_measure() -> Result<()> {
    if !process::is_there("mvn") {
        return Ok(());
    }
    let copy = checkout()?;
    let lib = copy.path().join("gradle-example/maven/lib");
    let maven = |flags: &[&str]| -> Result<Outcome> {
        let flags = [&["-pl", "lib"], flags].concat();
        sample(copy.path(), "gradle-example/maven/run", &flags)
    };
    // Together with JaCoCo all formats are written; sources for a release are found.
    let pom = lib.join("pom.xml");
    edit(&pom, "<build>\n    <plugins>", MULTI_RELEASE)?;
    fs::create_dir_all(lib.join("src/main/java11/shop"))?;
    fs::write(lib.join("src/main/java11/shop/Newer.java"), NEWER)?;
    let outcome = maven(&[
        "-Dtrodden.formats=jacoco,lcov,coverage",
        "-Drule=each class: paths >= 0%",
    ])?
    .success()?;
    assert!(
        !outcome.stdout.contains("Format jacoco is left out"),
        "{}",
        outcome.stdout
    );
    let site = lib.join("target/site/trodden");
    assert!(site.join("jacoco.xml").is_file());
    assert!(site.join("coverage.txt").is_file());
    let lcov = read(site.join("lcov.info"))?;
    let newer = lib.join("src/main/java11/shop/Newer.java");
    assert!(lcov.contains(&format!("SF:{}\n", newer.display())), "{lcov}");
    genhtml_reads(&site.join("lcov.info"))?;

    // A rule that speaks of nothing breaks the build, unless it was asked not to.
    let rule = "-Drule=in no.Such: lines >= 1%";
    let outcome = maven(&[rule])?;
    assert!(!outcome.status.success());
    let problem = "the rules cannot be checked: rule 'in no.Such: lines >= 1%'";
    assert!(outcome.stdout.contains(problem), "{}", outcome.stdout);
    let outcome = maven(&[rule, "-Dtrodden.haltOnFailure=false"])?.success()?;
    let warning = format!("[WARNING] Trodden: {problem}");
    assert!(outcome.stdout.contains(&warning), "{}", outcome.stdout);

    // The tests take no agent where Surefire has flags of its own.
    edit(
        &pom,
        "<plugins>",
        "<plugins><plugin><groupId>org.apache.maven.plugins</groupId><artifactId>maven-surefire-plugin</artifactId>\
         <configuration><argLine>-Xmx256m</argLine></configuration></plugin>",
    )?;
    let outcome = maven(&[])?.success()?;
    for goal in ["report", "check"] {
        let warning = format!("so there is nothing to {goal}. If Surefire's configuration sets <argLine>");
        assert!(outcome.stdout.contains(&warning), "{}", outcome.stdout);
    }
    assert!(
        outcome
            .stdout
            .contains("[WARNING] Trodden: tests ran, but no profile of this build is in")
    );
    let outcome = maven(&["-Dtrodden.failOnNoProfile=true"])?;
    assert!(!outcome.status.success());
    assert!(
        outcome
            .stdout
            .contains("tests ran, but no profile of this build is in"),
        "{}",
        outcome.stdout
    );
    // Where no tests run, none is missed.
    let outcome = maven(&["-Dtrodden.failOnNoProfile=true", "-DskipTests"])?.success()?;
    assert!(outcome.stdout.contains("no tests ran"), "{}", outcome.stdout);
    Ok(())
}
