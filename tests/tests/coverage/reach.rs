//! Which tests run a line, and which tests a change may concern: on a build by Maven that knows nothing of
//! it.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use trodden_tests::artefacts::artefacts;
use trodden_tests::process::{self, Outcome};
use trodden_tests::{Result, build};

const LIMIT: Duration = Duration::from_secs(900);
const SHOP: &str = "src/main/java/orders/Shop.java";

const SHOP_TEXT: &str = "package orders;

import java.util.List;

public class Shop {
    static final int LIMIT = 3;
    private final List<String> sold;

    public Shop(List<String> sold) {
        this.sold = sold;
    }

    public int price(int age) {
        if (age < 12) {
            return 0;
        }
        return 99 + Fees.FEE;
    }

    public int count() {
        int all = 0;
        for (String name : sold) {
            all += name.length();
        }
        return all;
    }
}
";

const FEES: &str = "src/main/java/orders/Fees.java";

const FEES_TEXT: &str = "package orders;

class Fees {
    static final int FEE = fee(2);

    private static int fee(int people) {
        return people < 3 ? 1 : 2;
    }
}
";

const TEST_TEXT: &str = "package orders;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.api.Test;

class ShopTest {
    @Test void child() { assertEquals(0, new Shop(List.of()).price(3)); }
    @Test void adult() { assertEquals(100, new Shop(List.of()).price(30)); }
    @Test void count() { assertEquals(4, new Shop(List.of(\"a\", \"bcd\")).count()); }
    @Test void nothing() { assertEquals(1, 1); }
}
";

struct Project(tempfile::TempDir);

impl Project {
    /// The sample of `gate` with a class and its tests added, and what its tests did.
    fn recorded() -> Result<Project> {
        let folder = tempfile::tempdir()?;
        let here = Path::new(build::ROOT).join("../gradle-example/gate");
        fs::copy(here.join("pom.xml"), folder.path().join("pom.xml"))?;
        for (file, text) in [
            (SHOP, SHOP_TEXT),
            (FEES, FEES_TEXT),
            ("src/test/java/orders/ShopTest.java", TEST_TEXT),
        ] {
            let to = folder.path().join(file);
            fs::create_dir_all(to.parent().ok_or("no parent")?)?;
            fs::write(to, text)?;
        }
        let project = Project(folder);
        project.git(&["init", "-q"])?;
        project.git(&["add", "pom.xml", "src"])?;
        let who = ["-c", "user.name=a", "-c", "user.email=a@b"];
        project.git(&[&who[..], &["commit", "-qm", "first"]].concat())?;
        let record = [
            "gate",
            "record",
            "--runs",
            "1",
            "--keep",
            "kept",
            "-o",
            "base.gate",
        ];
        let maven = ["--", "mvn", "-q", "-B", "test"];
        project.trodden(&[&record[..], &maven].concat())?.success()?;
        Ok(project)
    }

    fn git(&self, arguments: &[&str]) -> Result<String> {
        let mut git = Command::new("git");
        let outcome = process::run(git.current_dir(self.0.path()).args(arguments), LIMIT)?;
        Ok(outcome.success()?.stdout)
    }

    fn trodden(&self, arguments: &[&str]) -> Result<Outcome> {
        let artefacts = artefacts()?;
        let mut run = Command::new(&artefacts.cli);
        run.current_dir(self.0.path())
            .args(arguments)
            .env("TRODDEN_AGENT", &artefacts.agent)
            .env_remove("JAVA_TOOL_OPTIONS");
        process::run(&mut run, LIMIT)
    }

    /// The tests that a change of `Shop` may concern; and why.
    fn changed(&self, old: &str, new: &str) -> Result<(Vec<String>, String)> {
        self.changed_in(SHOP, SHOP_TEXT, old, new)
    }

    fn changed_in(&self, file: &str, text: &str, old: &str, new: &str) -> Result<(Vec<String>, String)> {
        assert!(text.contains(old), "{old}");
        fs::write(self.0.path().join(file), text.replace(old, new))?;
        self.select()
    }

    fn select(&self) -> Result<(Vec<String>, String)> {
        let mut git = Command::new("git");
        let mut diff = git
            .current_dir(self.0.path())
            .arg("diff")
            .stdout(Stdio::piped())
            .spawn()?;
        let mut run = Command::new(&artefacts()?.cli);
        run.current_dir(self.0.path())
            .args(["tests", "kept", "--changed", "-"]);
        let output = run.stdin(diff.stdout.take().ok_or("no output")?).output()?;
        diff.wait()?;
        let said = String::from_utf8(output.stderr)?;
        assert!(output.status.success(), "{said}");
        let names = String::from_utf8(output.stdout)?;
        Ok((names.lines().map(str::to_owned).collect(), said))
    }
}

#[test]
fn lines_and_changes_name_their_tests() -> Result<()> {
    let project = Project::recorded()?;
    let line = 1 + SHOP_TEXT
        .lines()
        .position(|line| line.contains("age < 12"))
        .ok_or("no line")?;
    let asked = format!("Shop.java:{line}");
    let told = project
        .trodden(&["coverage", "kept", "--tests-for", &asked])?
        .success()?
        .stdout;
    let expected = format!(
        "{asked} in orders.Shop.price(int)
          1 ×  orders.ShopTest.adult()
          1 ×  orders.ShopTest.child()
  age < 12 → no: orders.ShopTest.adult()
  age < 12 → yes: orders.ShopTest.child()
"
    );
    assert_eq!(told, expected);
    for (place, code, says) in [
        (
            "Shop.java:1",
            1,
            "no class in the profile has code at Shop.java:1",
        ),
        ("Stop.java:9", 1, "no class in the profile"),
        ("Shop.java", 2, "wants FILE:LINE"),
    ] {
        let outcome = project.trodden(&["coverage", "kept", "--tests-for", place])?;
        assert_eq!(outcome.status.code(), Some(code), "{place}");
        assert!(outcome.stderr.contains(says), "{}", outcome.stderr);
    }

    let price = ["orders.ShopTest.adult()", "orders.ShopTest.child()"];
    let three = [price[0], price[1], "orders.ShopTest.count()"];
    let all = [three[0], three[1], three[2], "orders.ShopTest.nothing()"];
    // A whole statement: the tests that ran it. Others within a method: those that ran this. Between two:
    // not known.
    assert_eq!(
        project
            .changed("return 99 + Fees.FEE;", "return 98 + Fees.FEE;")?
            .0,
        [price[0]]
    );
    assert_eq!(project.changed("age < 12", "age < 14")?.0, price);
    assert_eq!(
        project.changed("return 0;", "age++;\n            return 0;")?.0,
        price
    );
    assert_eq!(
        project.changed("all += name.length();", "all++;")?.0,
        ["orders.ShopTest.count()"]
    );
    assert_eq!(
        project
            .changed("this.sold = sold;", "this.sold = List.copyOf(sold);")?
            .0,
        three
    );
    assert_eq!(
        project
            .changed("import java.util.List;", "import java.util.*;")?
            .0,
        three
    );
    let (names, why) = project.changed("LIMIT = 3", "LIMIT = 4")?;
    assert_eq!(names, all);
    assert!(
        why.contains("all tests: src/main/java/orders/Shop.java:6 is in no method"),
        "{why}"
    );
    assert_eq!(project.changed("price(int age)", "price(long age)")?.0, all);
    // Nothing changed.
    assert_eq!(project.changed("age < 12", "age < 12")?.0, Vec::<String>::new());
    // It ran once, in whichever test came first, and what follows from it concerns all.
    let (names, why) = project.changed_in(FEES, FEES_TEXT, "people < 3", "people < 2")?;
    assert_eq!(names, all);
    let said = "orders.Fees.fee(int) may run in the static initialiser of orders.Fees, once for all tests";
    assert!(why.contains(said), "{why}");
    // Something that no profile knows of.
    fs::write(project.0.path().join(FEES), FEES_TEXT)?;
    let pom = fs::read_to_string(project.0.path().join("pom.xml"))?;
    fs::write(project.0.path().join("pom.xml"), format!("{pom}\\n<!-- -->\\n"))?;
    let (names, why) = project.select()?;
    assert_eq!(names, all);
    assert!(why.contains("pom.xml has no code in the profile"), "{why}");

    Ok(())
}

/// A TestNG suite: a test of several sets of parameters has one name.
const NG_TEXT: &str = "package orders;

import static org.testng.Assert.assertEquals;

import java.util.List;
import org.testng.annotations.DataProvider;
import org.testng.annotations.Test;

public class ShopTest {
    @DataProvider public Object[][] ages() { return new Object[][] {{30, 100}, {40, 100}, {11, 0}}; }
    @Test(dataProvider = \"ages\") public void price(int age, int price) {
        assertEquals(new Shop(List.of()).price(age), price);
    }
    @Test public void count() { assertEquals(new Shop(List.of(\"a\", \"bcd\")).count(), 4); }
}
";

#[test]
#[cfg_attr(feature = "change", ignore = "all: JUnit stays")]
fn tests_of_testng_are_told_apart() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let here = Path::new(build::ROOT).join("../gradle-example/gate");
    let pom = fs::read_to_string(here.join("pom.xml"))?;
    let junit =
        "<groupId>org.junit.jupiter</groupId><artifactId>junit-jupiter</artifactId><version>5.11.4</version>";
    assert!(pom.contains(junit));
    let testng = "<groupId>org.testng</groupId><artifactId>testng</artifactId><version>7.10.2</version>";
    fs::write(folder.path().join("pom.xml"), pom.replace(junit, testng))?;
    for (file, text) in [
        (SHOP, SHOP_TEXT),
        (FEES, FEES_TEXT),
        ("src/test/java/orders/ShopTest.java", NG_TEXT),
    ] {
        let to = folder.path().join(file);
        fs::create_dir_all(to.parent().ok_or("no parent")?)?;
        fs::write(to, text)?;
    }
    let project = Project(folder);
    let record = [
        "gate",
        "record",
        "--runs",
        "1",
        "--keep",
        "kept",
        "-o",
        "base.gate",
    ];
    let maven = ["--", "mvn", "-q", "-B", "test"];
    project.trodden(&[&record[..], &maven].concat())?.success()?;
    let line = 1 + SHOP_TEXT
        .lines()
        .position(|line| line.contains("return 99 + "))
        .ok_or("no line")?;
    let asked = format!("orders/Shop.java:{line}");
    let told = project
        .trodden(&["coverage", "kept", "--tests-for", &asked])?
        .success()?
        .stdout;
    let expected =
        format!("{asked} in orders.Shop.price(int)\n          2 ×  orders.ShopTest.price(int, int)\n");
    assert_eq!(told, expected);
    let base = fs::read_to_string(project.0.path().join("base.gate"))?;
    for test in ["orders.ShopTest.price(int, int)", "orders.ShopTest.count()"] {
        assert!(base.contains(test), "{base}");
    }
    Ok(())
}
