//! The plugin for Maven.

use std::path::Path;

use trodden_tests::jacoco::facts;
use trodden_tests::process::{self, Outcome};
use trodden_tests::{Result, artefacts};

use super::{Project, said};

const PARENT: &str = r#"<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>acme</groupId><artifactId>parent</artifactId><version>1</version><packaging>pom</packaging>
  <modules><module>unit</module><module>both</module><module>all</module></modules>
  <properties>
    <maven.compiler.release>17</maven.compiler.release>
    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
    <rule>lines >= 0%</rule>
    <nothing/>
  </properties>
  <pluginRepositories><pluginRepository><id>owner</id><url>REPOSITORY</url></pluginRepository></pluginRepositories>
  <dependencies>
    <dependency>
      <groupId>org.junit.jupiter</groupId><artifactId>junit-jupiter</artifactId><version>5.11.4</version><scope>test</scope>
    </dependency>
  </dependencies>
  <build>
    <pluginManagement><plugins>
      <plugin><artifactId>maven-clean-plugin</artifactId><version>3.4.0</version></plugin>
      <plugin><artifactId>maven-compiler-plugin</artifactId><version>3.13.0</version></plugin>
      <plugin><artifactId>maven-resources-plugin</artifactId><version>3.3.1</version></plugin>
      <plugin><artifactId>maven-jar-plugin</artifactId><version>3.4.2</version></plugin>
      <plugin><artifactId>maven-surefire-plugin</artifactId><version>3.5.2</version></plugin>
      <plugin><artifactId>maven-failsafe-plugin</artifactId><version>3.5.2</version></plugin>
    </plugins></pluginManagement>
    <plugins>
      <plugin>
        <artifactId>maven-failsafe-plugin</artifactId>
        <executions><execution><goals><goal>integration-test</goal><goal>verify</goal></goals></execution></executions>
      </plugin>
      <plugin>
        <groupId>GROUP</groupId><artifactId>trodden-maven-plugin</artifactId><version>0.1.0</version>
        <configuration>
          <includes><include>acme.*</include></includes>
          <rules><rule>${rule}</rule></rules>
        </configuration>
        <executions><execution><goals>
          <goal>prepare-agent</goal><goal>prepare-agent-integration</goal><goal>report</goal><goal>report-integration</goal><goal>check</goal>
        </goals></execution></executions>
      </plugin>
    </plugins>
  </build>
</project>
"#;

const MODULE: &str = r#"<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <parent><groupId>acme</groupId><artifactId>parent</artifactId><version>1</version></parent>
  <artifactId>NAME</artifactId>
MORE
</project>
"#;

const JOINS: &str = "  <packaging>pom</packaging>
  <dependencies>
    <dependency><groupId>acme</groupId><artifactId>unit</artifactId><version>1</version></dependency>
    <dependency><groupId>acme</groupId><artifactId>both</artifactId><version>1</version></dependency>
  </dependencies>";

const BILL: &str = "package acme;

public class Bill {
    public static int total(int amount, boolean member) {
        if (member) {
            return amount * 9;
        }
        return amount * 10;
    }
}
";

const CART: &str = "package acme;

public class Cart {
    public static int count(int items) {
        if (items < 0) {
            return 0;
        }
        return items;
    }
}
";

fn test(class: &str, check: &str) -> String {
    format!(
        "package acme;\n\nimport static org.junit.jupiter.api.Assertions.assertEquals;\n\nimport org.junit.jupiter.api.Test;\n\n\
         class {class} {{\n    @Test\n    void works() {{\n        assertEquals({check});\n    }}\n}}\n"
    )
}

/// Modules with unit tests alone, with integration tests too, and one that joins both.
fn project() -> Result<Project> {
    let module = |name: &str, more: &str| MODULE.replace("NAME", name).replace("MORE", more);
    Project::new(&[
        ("pom.xml", PARENT),
        ("unit/pom.xml", &module("unit", "")),
        ("unit/src/main/java/acme/Bill.java", BILL),
        (
            "unit/src/test/java/acme/BillTest.java",
            &test("BillTest", "90, Bill.total(10, true)"),
        ),
        ("both/pom.xml", &module("both", "")),
        ("both/src/main/java/acme/Cart.java", CART),
        (
            "both/src/test/java/acme/CartTest.java",
            &test("CartTest", "1, Cart.count(1)"),
        ),
        (
            "both/src/test/java/acme/CartIT.java",
            &test("CartIT", "0, Cart.count(-1)"),
        ),
        ("all/pom.xml", &module("all", JOINS)),
    ])
}

/// Adds JaCoCo's plugin to all modules.
fn with_jacoco(project: &Project) -> Result<()> {
    project.edit(
        "pom.xml",
        "    <plugins>\n      <plugin>\n        <artifactId>maven-failsafe",
        "    <plugins>
      <plugin>
        <groupId>org.jacoco</groupId><artifactId>jacoco-maven-plugin</artifactId><version>0.8.14</version>
        <executions><execution><goals><goal>prepare-agent</goal><goal>report</goal></goals></execution></executions>
      </plugin>
      <plugin>\n        <artifactId>maven-failsafe",
    )
}

fn mvn(project: &Project, arguments: &[&str]) -> Result<Outcome> {
    project.run(Path::new("mvn"), &[&["-B"], arguments].concat())
}

/// Lines that ran, of all: `(1, 3)`.
fn lines(project: &Project, report: &str) -> Result<(u64, u64)> {
    let json = project.json(report)?;
    let totals = &json["totals"]["lines"];
    let number = |name: &str| {
        totals[name]
            .as_u64()
            .ok_or_else(|| format!("{report}: no {name}: {json}"))
    };
    Ok((number("covered")?, number("total")?))
}

#[test]
#[cfg_attr(feature = "change", ignore = "all: one Maven build stays")]
fn modules_are_reported_and_checked_by_their_own_tests() -> Result<()> {
    if !process::is_there("mvn") {
        return Ok(());
    }
    let project = project()?;
    // Unit tests alone are no fault of integration tests.
    let outcome = mvn(&project, &["verify", "-Dtrodden.failOnNoProfile=true"])?.success()?;
    let skipped = "Skipping Trodden's report: no tests ran";
    assert!(outcome.stdout.contains(skipped), "{}", outcome.stdout);
    assert!(project.exists("unit/target/site/trodden/index.html"));
    assert!(!project.exists("unit/target/site/trodden-it"));
    assert_eq!(
        lines(&project, "both/target/site/trodden-it/coverage.json")?,
        (2, 4)
    );
    assert_eq!(lines(&project, "both/target/site/trodden/coverage.json")?, (3, 4));

    // Of Bill two lines are missed, of Cart one: only the module that joins them misses three. The parent,
    // which comes first, knows nothing yet. Where the log is not shown, the error has the rule.
    let broken = mvn(&project, &["-q", "verify", "-Drule=missed lines <= 2"])?;
    assert!(!broken.status.success());
    for text in [
        "on project all: Trodden: rules about coverage are broken",
        "BROKEN  missed lines <= 2",
        "all: 5 of 8 lines (62.5 %)",
    ] {
        assert!(said(&broken).contains(text), "{text}: {}", said(&broken));
    }
    Ok(())
}

#[test]
#[cfg_attr(feature = "change", ignore = "all: one Maven build stays")]
fn a_build_without_a_profile_is_not_green() -> Result<()> {
    if !process::is_there("mvn") {
        return Ok(());
    }
    let project = project()?;
    let unit = ["-pl", "unit", "verify"];
    let with = |more: &[&str]| mvn(&project, &[&unit[..], more].concat());
    with(&[])?.success()?;
    // What an earlier build left is not of tests that ran without the agent.
    let outcome = with(&["-DargLine=-Xmx100m"])?.success()?;
    for goal in ["report", "check"] {
        let text = format!("so there is nothing to {goal}. ");
        assert!(outcome.stdout.contains(&text), "{}", outcome.stdout);
    }
    let failed = with(&["-DargLine=-Xmx100m", "-Dtrodden.failOnNoProfile=true"])?;
    assert!(!failed.status.success(), "{}", failed.stdout);
    // Where no tests run, what is there is reported.
    let outcome = with(&["-DskipTests", "-Dtrodden.failOnNoProfile=true"])?.success()?;
    assert!(outcome.stdout.contains("Reports are in"), "{}", outcome.stdout);

    let inside = with(&["-DforkCount=0", "-Dtrodden.failOnNoProfile=true"])?;
    assert!(!inside.status.success());
    assert!(
        inside
            .stdout
            .contains("forkCount=0 lets tests run in Maven's own JVM"),
        "{}",
        inside.stdout
    );

    let option = "<options><prob>counters</prob></options>";
    project.edit("pom.xml", "<rules>", &format!("{option}<rules>"))?;
    let wrong = with(&[])?;
    assert!(!wrong.status.success());
    let reason = "the agent does not take these options: unknown option 'prob'; did you mean 'probe'?";
    assert!(wrong.stdout.contains(reason), "{}", wrong.stdout);
    Ok(())
}

#[test]
#[cfg_attr(feature = "change", ignore = "all: one Maven build stays")]
fn gate_and_run_take_a_build_that_has_the_plugin() -> Result<()> {
    if !process::is_there("mvn") {
        return Ok(());
    }
    let project = project()?;
    let trodden = &artefacts::artefacts()?.cli;
    // That the plugin has nothing to report is no fault here.
    let build = [
        "mvn",
        "-B",
        "-pl",
        "unit",
        "verify",
        "-Dtrodden.failOnNoProfile=true",
    ];
    let record = ["gate", "record", "--runs", "1", "-o", "base.gate", "--"];
    let outcome = project.run(trodden, &[&record[..], &build].concat())?.success()?;
    assert!(!said(&outcome).contains("DefineClass"), "{}", said(&outcome));
    let gate = std::fs::read_to_string(project.path("base.gate"))?;
    assert!(gate.contains("acme.BillTest"), "{gate}");
    let outcome = project
        .run(trodden, &[&["run", "-o", "tests.trodden"], &build[..]].concat())?
        .success()?;
    assert!(project.exists("tests.trodden"), "{}", said(&outcome));
    let skipped = "Skipping Trodden: the build runs under trodden run";
    assert!(outcome.stdout.contains(skipped), "{}", outcome.stdout);

    // The gate counts JaCoCo's probes, and says so.
    with_jacoco(&project)?;
    let outcome = project.run(trodden, &[&record[..], &build].concat())?.success()?;
    let probes = "the classes hold JaCoCo's probes, which are counted as work";
    assert!(said(&outcome).contains(probes), "{}", said(&outcome));
    Ok(())
}

/// Code that JaCoCo recognises by its instructions, which its own probes part: a constructor that is not
/// written, accessors of a record, copies of `finally`.
const TILL: &str = "package acme;

public class Till {
    enum Coin {
        ONE(1),
        TWO(2);

        final int worth;

        Coin(int worth) {
            this.worth = worth;
        }
    }

    enum State {
        OPEN,
        SHUT
    }

    record Sale(String what, int price) {
    }

    static int sales;

    public static int sell(String what, int paid) {
        int back = paid;
        try {
            Sale sale = new Sale(what, Coin.TWO.worth);
            back -= sale.price();
            if (back < 0) {
                throw new IllegalArgumentException(what);
            }
        } finally {
            if (State.OPEN != State.SHUT) {
                sales++;
            }
        }
        return back;
    }
}
";

#[test]
#[cfg_attr(feature = "change", ignore = "all: one Maven build stays")]
fn totals_stay_next_to_jacoco() -> Result<()> {
    if !process::is_there("mvn") {
        return Ok(());
    }
    let project = project()?;
    project.write("unit/src/main/java/acme/Till.java", TILL)?;
    project.write(
        "unit/src/test/java/acme/TillTest.java",
        &test("TillTest", "1, Till.sell(\"tea\", 3)"),
    )?;
    let build = ["-pl", "unit", "verify"];
    let formats = "-Dtrodden.formats=jacoco,coverage-json";
    let report = |site: &str| -> Result<_> {
        let xml = std::fs::read_to_string(project.path(&format!("unit/target/site/{site}/jacoco.xml")))?;
        Ok(facts(&xml))
    };
    let totals = || lines(&project, "unit/target/site/trodden/coverage.json");
    mvn(&project, &[&build[..], &[formats]].concat())?.success()?;
    let (alone, of_lines) = (report("trodden")?, totals()?);

    with_jacoco(&project)?;
    mvn(&project, &[&["clean"], &build[..], &[formats]].concat())?.success()?;
    assert_eq!(totals()?, of_lines);
    assert_eq!(report("trodden")?, alone);
    assert_eq!(report("jacoco")?, alone);
    Ok(())
}

#[test]
#[cfg_attr(feature = "change", ignore = "all: one Maven build stays")]
fn instrumented_classes_serve_integration_tests() -> Result<()> {
    if !process::is_there("mvn") {
        return Ok(());
    }
    let project = project()?;
    let goals = "<goal>prepare-agent</goal><goal>prepare-agent-integration</goal><goal>report</goal>";
    let offline = "<goal>instrument</goal><goal>restore-instrumented-classes</goal><goal>instrument-integration</goal><goal>report</goal>";
    project.edit("pom.xml", goals, offline)?;
    project.edit(
        "pom.xml",
        "        </goals></execution></executions>\n      </plugin>\n    </plugins>",
        "        </goals></execution><execution>
          <id>put back</id><phase>post-integration-test</phase><goals><goal>restore-instrumented-classes</goal></goals>
        </execution></executions>\n      </plugin>\n    </plugins>",
    )?;
    project.edit(
        "pom.xml",
        "<artifactId>maven-failsafe-plugin</artifactId>\n        <executions>",
        "<artifactId>maven-failsafe-plugin</artifactId>
        <configuration><classesDirectory>${project.build.outputDirectory}</classesDirectory></configuration>
        <executions>",
    )?;
    mvn(&project, &["-pl", "both", "verify"])?.success()?;
    assert_eq!(lines(&project, "both/target/site/trodden/coverage.json")?, (3, 4));
    assert_eq!(
        lines(&project, "both/target/site/trodden-it/coverage.json")?,
        (2, 4)
    );
    let class = std::fs::read(project.path("both/target/classes/acme/Cart.class"))?;
    assert!(!String::from_utf8_lossy(&class).contains("Trodden$"));
    Ok(())
}

#[test]
#[cfg_attr(feature = "change", ignore = "all: one Maven build stays")]
fn help_lists_goals_and_parameters() -> Result<()> {
    if !process::is_there("mvn") {
        return Ok(());
    }
    let project = project()?;
    let goal = format!("{}:trodden-maven-plugin:0.1.0:help", super::GROUP);
    let outcome = mvn(&project, &["-N", &goal, "-Ddetail", "-Dgoal=check"])?.success()?;
    for text in ["trodden:check", "haltOnFailure", "User property: trodden.rules"] {
        assert!(outcome.stdout.contains(text), "{}", outcome.stdout);
    }
    Ok(())
}
