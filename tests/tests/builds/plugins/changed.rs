//! `trodden.tests=changed`: which tests builds by Maven and Gradle run, by what they write down of each.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use trodden_tests::process::{self, Outcome};
use trodden_tests::{Result, artefacts, build};

use super::gradle::{gradle_8, gradle_8_program};
use super::{edit, repository};

const LIMIT: Duration = Duration::from_secs(900);
const SHOP: &str = "src/main/java/orders/Shop.java";

const SHOP_TEXT: &str = "package orders;

public class Shop {
    public static int price(int age) {
        if (age < 12) {
            return 0;
        }
        return 99;
    }

    public static int count(int names) {
        int all = 0;
        for (int name = 0; name < names; name++) {
            all += name;
        }
        return all;
    }
}
";

const TEST_TEXT: &str = "package orders;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class ShopTest {
    @Test void child() { assertEquals(0, Shop.price(3)); }
    @Test void count() { assertEquals(3, Shop.count(3)); }
    @ParameterizedTest @ValueSource(ints = {20, 30}) void adult(int age) { assertEquals(99, Shop.price(age)); }
    @ParameterizedTest @MethodSource(\"both\") void several(String[] names, int[] ages) {
        assertEquals(names.length - 1, Shop.price(ages[0]));
    }
    static Stream<Arguments> both() {
        return Stream.of(Arguments.of(new String[] {\"a\"}, new int[] {3}));
    }
    @Nested class Inside {
        @Test void few() { assertEquals(0, Shop.count(1)); }
        @Test void old() { assertEquals(99, Shop.price(70)); }
    }
}
";

/// The plugin's part of the POM.
const PLUGIN: &str = "<plugins>
    <plugin>
      <groupId>trodden</groupId><artifactId>trodden-maven-plugin</artifactId><version>0.1.0</version>
      <executions><execution><goals><goal>select-tests</goal></goals></execution></executions>
    </plugin>";

const GRADLE: &str = "plugins {
    id 'java'
    id 'trodden.paths' version '0.1.0'
}
repositories { mavenCentral() }
dependencies {
    testImplementation 'org.junit.jupiter:junit-jupiter:5.11.4'
    testRuntimeOnly 'org.junit.platform:junit-platform-launcher:1.11.4'
}
test { useJUnitPlatform() }
trodden { tests = false }
";

/// A project: its folder, the program that builds it and runs the tests, and where this writes results.
struct Project {
    folder: tempfile::TempDir,
    program: PathBuf,
    results: &'static str,
}

impl Project {
    fn maven() -> Result<Project> {
        let pom = fs::read_to_string(Path::new(build::ROOT).join("../gradle-example/gate/pom.xml"))?;
        let repositories = format!(
            "<pluginRepositories><pluginRepository><id>trodden</id><url>file://{}</url></pluginRepository>\
             </pluginRepositories>\n  <build>",
            repository()?.display()
        );
        let pom = pom
            .replacen("<build>", &repositories, 1)
            .replacen("<plugins>", PLUGIN, 1);
        Self::new("mvn".into(), "target/surefire-reports", &[("pom.xml", &pom)])
    }

    fn gradle() -> Result<Project> {
        let settings = format!(
            "pluginManagement {{ repositories {{ maven {{ url '{}' }}; gradlePluginPortal() }} }}\n\
             rootProject.name = 'orders'\n",
            repository()?.display()
        );
        let files = [("settings.gradle", &*settings), ("build.gradle", GRADLE)];
        Self::new(gradle_8_program(), "build/test-results/test", &files)
    }

    fn new(program: PathBuf, results: &'static str, files: &[(&str, &str)]) -> Result<Project> {
        let folder = tempfile::tempdir()?;
        let project = Project {
            folder,
            program,
            results,
        };
        let sources = [
            (SHOP, SHOP_TEXT),
            ("src/test/java/orders/ShopTest.java", TEST_TEXT),
            (".gitignore", "target\nbuild\n.gradle\n.trodden\ncache\n"),
        ];
        for (file, text) in files.iter().chain(&sources) {
            project.write(file, text)?;
        }
        project.git(&["init", "-q"])?;
        project.commit()?;
        Ok(project)
    }

    fn path(&self, file: &str) -> PathBuf {
        self.folder.path().join(file)
    }

    fn write(&self, file: &str, text: &str) -> Result<()> {
        let file = self.path(file);
        fs::create_dir_all(file.parent().ok_or("no parent")?)?;
        Ok(fs::write(file, text)?)
    }

    fn git(&self, arguments: &[&str]) -> Result<()> {
        let mut git = Command::new("git");
        git.current_dir(self.folder.path())
            .args(["-c", "user.name=a", "-c", "user.email=a@b"]);
        process::run(git.args(arguments), LIMIT)?.success()?;
        Ok(())
    }

    fn commit(&self) -> Result<()> {
        self.git(&["add", "."])?;
        self.git(&["commit", "-qm", "files"])
    }

    fn run(&self, command: &mut Command) -> Result<Outcome> {
        command
            .current_dir(self.folder.path())
            .env("TRODDEN_CACHE", self.path("cache"))
            .env_remove("TRODDEN")
            .env_remove("JAVA_TOOL_OPTIONS");
        process::run(command, LIMIT)
    }

    fn record(&self) -> Result<()> {
        let mut record = Command::new(&artefacts::artefacts()?.cli);
        record.env("TRODDEN_AGENT", &artefacts::artefacts()?.agent);
        record.args(["gate", "record", "--runs", "1", "--keep", ".trodden/tests"]);
        record.args(["-o", ".trodden/tests/tests.gate", "--"]);
        record.arg(&self.program).arg("test");
        self.run(&mut record)?.success()?;
        let gate = fs::read_to_string(self.path(".trodden/tests/tests.gate"))?;
        assert!(gate.contains("ShopTest.several(String[], int[])"), "{gate}");
        Ok(())
    }

    /// The test methods that ran, and what the build said.
    fn tests(&self, options: &[&str]) -> Result<(BTreeSet<String>, String)> {
        let results = self.path(self.results);
        match fs::remove_dir_all(&results) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => return Err(e.into()),
            _ => {}
        }
        let mut build = Command::new(&self.program);
        build.env_remove("TRODDEN_AGENT").arg("test").args(options);
        let said = self.run(&mut build)?.success()?.stdout;
        let mut ran = BTreeSet::new();
        for file in fs::read_dir(results).into_iter().flatten().flatten() {
            if file.path().extension().is_none_or(|extension| extension != "xml") {
                continue;
            }
            let text = fs::read_to_string(file.path())?;
            for case in text.split("<testcase name=\"").skip(1) {
                let name = case.split(['"', '(']).next().unwrap_or_default();
                ran.insert(name.to_owned());
            }
        }
        Ok((ran, said))
    }
}

fn set<const N: usize>(names: [&str; N]) -> BTreeSet<String> {
    names.map(str::to_owned).into()
}

#[test]
#[cfg_attr(feature = "change", ignore = "all: ten builds by Maven")]
fn maven_runs_the_tests_that_a_change_needs() -> Result<()> {
    const CHANGED: &str = "-Dtrodden.tests=changed";
    if !process::is_there("mvn") {
        return Ok(());
    }
    let project = Project::maven()?;
    let all = set(["child", "count", "adult", "several", "few", "old"]);
    let (ran, said) = project.tests(&[CHANGED])?;
    assert_eq!(ran, all);
    assert!(
        said.contains("All tests run: no profile of tests is in"),
        "{said}"
    );
    project.record()?;

    // A profile, and no change.
    let (ran, said) = project.tests(&[CHANGED])?;
    assert_eq!(ran, set([]), "{said}");
    assert!(said.contains("Left out: 6 test methods"), "{said}");
    // A method: those that ran it, whether they are nested or have parameters.
    let shop = project.path(SHOP);
    edit(&shop, "return 99;", "return 100 - 1;")?;
    let (ran, said) = project.tests(&[CHANGED])?;
    assert_eq!(ran, set(["child", "adult", "several", "old"]), "{said}");
    // The other one as well.
    edit(&shop, "all += name;", "all = all + name;")?;
    assert_eq!(project.tests(&[CHANGED])?.0, all);
    project.write(SHOP, &SHOP_TEXT.replace("int all = 0;", "int all = 1 - 1;"))?;
    assert_eq!(project.tests(&[CHANGED])?.0, set(["count", "few"]));

    // Committed: the profiles are of the commit before. Another base is refused, as their lines are not its
    // own.
    project.commit()?;
    assert_eq!(project.tests(&[CHANGED])?.0, set(["count", "few"]));
    assert_eq!(
        project.tests(&[CHANGED, "-Dtrodden.base=HEAD~1"])?.0,
        set(["count", "few"])
    );
    let (ran, said) = project.tests(&[CHANGED, "-Dtrodden.base=HEAD"])?;
    assert_eq!(ran, all);
    assert!(
        said.contains("All tests run: the profiles are of commit"),
        "{said}"
    );
    let (ran, said) = project.tests(&[CHANGED, "-Dtrodden.base=nowhere"])?;
    assert_eq!(ran, all);
    assert!(said.contains("All tests run: --base nowhere"), "{said}");

    // What no method has: a file of resources, a new test, the build itself.
    project.write("src/main/resources/prices.txt", "1\n")?;
    let (ran, said) = project.tests(&[CHANGED])?;
    assert_eq!(ran, all);
    let why = "All tests run: src/main/resources/prices.txt came, went, was renamed, or is not text";
    assert!(said.contains(why), "{said}");
    fs::remove_file(project.path("src/main/resources/prices.txt"))?;
    edit(
        &project.path("pom.xml"),
        "<version>1</version>",
        "<version>2</version>",
    )?;
    let (ran, said) = project.tests(&[CHANGED])?;
    assert_eq!(ran, all);
    assert!(
        said.contains("All tests run: pom.xml has no code in the profile"),
        "{said}"
    );
    // All of them where the flag says so, and none for a word that is not known.
    let mut maven = Command::new("mvn");
    let outcome = project.run(maven.args(["-B", "test", "-Dtrodden.tests=some"]))?;
    assert!(!outcome.status.success());
    assert!(
        outcome.stdout.contains("takes 'changed' or 'all'"),
        "{}",
        outcome.stdout
    );
    Ok(())
}

#[test]
#[cfg_attr(feature = "change", ignore = "all: the sample stays")]
fn gradle_runs_the_tests_that_a_change_needs() -> Result<()> {
    if !gradle_8() {
        return Ok(());
    }
    let project = Project::gradle()?;
    // Gradle calls runs with parameters by these.
    let all = set(["child", "count", "few", "old", "[1] 20", "[2] 30", "[1] [a], [3]"]);
    const CHANGED: &str = "-Ptrodden.tests=changed";
    let (ran, said) = project.tests(&[CHANGED])?;
    assert_eq!(ran, all, "{said}");
    assert!(
        said.contains("All tests run: no profile of tests is in"),
        "{said}"
    );
    project.record()?;
    let (ran, said) = project.tests(&[CHANGED])?;
    assert_eq!(ran, set([]), "{said}");
    edit(&project.path(SHOP), "all += name;", "all = all + name;")?;
    let (ran, said) = project.tests(&[CHANGED])?;
    assert_eq!(ran, set(["count", "few"]), "{said}");
    // The next build of all tests is not up to date by that one.
    assert_eq!(project.tests(&[])?.0, all);
    Ok(())
}
