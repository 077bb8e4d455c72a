//! `trodden run mvn …`: the tests' JVMs are profiled, and in them the project's own classes; Maven is not.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use trodden_profile::{Profile, facts};
use trodden_tests::process::{self, Outcome};
use trodden_tests::{Result, artefacts};

const LIMIT: Duration = Duration::from_secs(600);

const POM: &str = r#"<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>sample</groupId>
  <artifactId>orders</artifactId>
  <version>1</version>
  <properties>
    <maven.compiler.release>17</maven.compiler.release>
    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
  </properties>
  <dependencies>
    <dependency>
      <groupId>org.junit.jupiter</groupId><artifactId>junit-jupiter</artifactId>
      <version>5.11.4</version><scope>test</scope>
    </dependency>
  </dependencies>
  <build><plugins>
    <plugin><groupId>org.apache.maven.plugins</groupId><artifactId>maven-clean-plugin</artifactId><version>3.4.0</version></plugin>
    <plugin><groupId>org.apache.maven.plugins</groupId><artifactId>maven-compiler-plugin</artifactId><version>3.13.0</version></plugin>
    <plugin><groupId>org.apache.maven.plugins</groupId><artifactId>maven-resources-plugin</artifactId><version>3.3.1</version></plugin>
    <plugin>
      <groupId>org.apache.maven.plugins</groupId><artifactId>maven-surefire-plugin</artifactId><version>3.5.2</version>
    </plugin>
  </plugins></build>
</project>
"#;

const ORDER: &str = "package com.acme.orders;

public final class Order {
    private Order() {}

    public static int price(int amount, boolean member) {
        int price = amount * 10;
        if (member) {
            price -= price / 10;
        }
        return amount > 100 ? price - 5 : price;
    }
}
";

const TEST: &str = "package com.acme.orders.tests;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.acme.orders.Order;
import org.junit.jupiter.api.Test;

class OrderTest {
    @Test
    void members_pay_less() {
        for (int i = 0; i < 40; i++) {
            assertEquals(90, Order.price(10, true));
        }
        assertEquals(100, Order.price(10, false));
    }
}
";

struct Project(tempfile::TempDir);

impl Project {
    fn new() -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("an order ").tempdir()?;
        for (file, text) in [
            ("pom.xml", POM),
            ("src/main/java/com/acme/orders/Order.java", ORDER),
            ("src/test/java/com/acme/orders/tests/OrderTest.java", TEST),
        ] {
            let file = folder.path().join(file);
            fs::create_dir_all(file.parent().ok_or("no parent")?)?;
            fs::write(file, text)?;
        }
        Ok(Project(folder))
    }

    fn run(&self, options: &[&str], maven: &[&str]) -> Result<Outcome> {
        let artefacts = artefacts::artefacts()?;
        let mut run = Command::new(&artefacts.cli);
        run.current_dir(self.0.path())
            .env("TRODDEN_AGENT", &artefacts.agent)
            .env_remove("JAVA_TOOL_OPTIONS")
            .arg("run")
            .args(options)
            .args(["mvn", "-q", "-B"])
            .args(maven);
        process::run(&mut run, LIMIT)
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.0.path().join(name)
    }
}

fn classes(file: &Path) -> Result<(Profile, Vec<String>)> {
    let profile = Profile::load(file)?;
    let names = profile.classes.iter().map(|class| class.map.name.clone());
    let names = names.collect();
    Ok((profile, names))
}

#[test]
fn the_tests_of_a_maven_project_are_profiled_and_maven_is_not() -> Result<()> {
    if !process::is_there("mvn") {
        return Ok(());
    }
    let project = Project::new()?;
    // Before anything is compiled: the packages come from the sources.
    let outcome = project
        .run(&["-o", "tests.trodden"], &["clean", "test"])?
        .success()?;
    let said = "profiled: the JVMs that Maven starts, such as those of tests, not Maven itself; classes of";
    let said = format!("{said} com.acme.orders.*");
    assert!(outcome.stderr.contains(&said), "{}", outcome.stderr);
    let (profile, names) = classes(&project.path("tests.trodden"))?;
    // One JVM: that of the tests, which is none of Maven's.
    assert!(profile.run.facts.get(facts::PID).is_some());
    assert!(
        profile.run.command.contains("surefire"),
        "{}",
        profile.run.command
    );
    // The class under test and that of the test, whose package is inside of it.
    assert!(
        names.iter().any(|name| name == "com/acme/orders/Order"),
        "{names:?}"
    );
    assert!(
        names.iter().all(|name| name.starts_with("com/acme/orders/")),
        "{names:?}"
    );
    let order = profile
        .classes
        .iter()
        .find(|class| class.map.name == "com/acme/orders/Order");
    let order = order.ok_or("no class Order")?;
    let at = order.map.methods.iter().position(|method| method.name == "price");
    let paths = &order.counts[at.ok_or("no method price")?].paths;
    assert_eq!(paths.values().sum::<u64>(), 41);
    assert_eq!(paths.values().max(), Some(&40));

    // Inside of Maven's own JVM: nothing is there, and the reason is printed.
    let outcome = project.run(&["-o", "inside.trodden"], &["-DforkCount=0", "surefire:test"])?;
    assert!(!project.path("inside.trodden").exists());
    assert!(outcome.stderr.contains("forkCount=0"), "{}", outcome.stderr);
    // And with what is needed for it.
    let asked = ["-o", "asked.trodden", "--skip-main", "none"];
    project
        .run(&asked, &["-DforkCount=0", "surefire:test"])?
        .success()?;
    let (profile, names) = classes(&project.path("asked.trodden"))?;
    assert!(profile.run.command.contains("plexus"), "{}", profile.run.command);
    assert!(
        names.iter().any(|name| name == "com/acme/orders/Order"),
        "{names:?}"
    );
    Ok(())
}
