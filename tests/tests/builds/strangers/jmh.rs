//! The profiler for JMH.

use std::path::Path;

use trodden_tests::Result;
use trodden_tests::process;

use super::{Project, said};

const POM: &str = r#"<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>acme</groupId><artifactId>benchmarks</artifactId><version>1</version>
  <properties>
    <maven.compiler.release>17</maven.compiler.release>
    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
  </properties>
  <repositories><repository><id>owner</id><url>REPOSITORY</url></repository></repositories>
  <dependencies>
    <dependency><groupId>org.openjdk.jmh</groupId><artifactId>jmh-core</artifactId><version>1.37</version></dependency>
    <dependency>
      <groupId>org.openjdk.jmh</groupId><artifactId>jmh-generator-annprocess</artifactId><version>1.37</version><scope>provided</scope>
    </dependency>
    <dependency><groupId>GROUP</groupId><artifactId>trodden-jmh</artifactId><version>0.1.0</version></dependency>
  </dependencies>
  <build><plugins>
    <plugin><artifactId>maven-compiler-plugin</artifactId><version>3.13.0</version></plugin>
    <plugin><artifactId>maven-resources-plugin</artifactId><version>3.3.1</version></plugin>
    <plugin>
      <artifactId>maven-dependency-plugin</artifactId><version>3.8.1</version>
      <executions><execution>
        <phase>compile</phase><goals><goal>copy-dependencies</goal></goals>
        <configuration><outputDirectory>${project.build.directory}/jars</outputDirectory></configuration>
      </execution></executions>
    </plugin>
  </plugins></build>
</project>
"#;

const BENCHMARK: &str = "package acme;

import org.openjdk.jmh.annotations.*;

@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@Warmup(iterations = 1, time = 50, timeUnit = java.util.concurrent.TimeUnit.MILLISECONDS)
@Measurement(iterations = 1, time = 50, timeUnit = java.util.concurrent.TimeUnit.MILLISECONDS)
@Fork(1)
public class Sums {
    int[] numbers = {1, 2, 3, -4};

    @Benchmark
    public int sum() {
        int sum = 0;
        for (int i = 0; i < numbers.length; i++) {
            if (numbers[i] > 0) {
                sum += numbers[i];
            }
        }
        return sum;
    }
}
";

#[test]
#[cfg_attr(feature = "change", ignore = "all: a benchmark by Maven")]
fn options_are_checked_and_metrics_are_in_words() -> Result<()> {
    if !process::is_there("mvn") {
        return Ok(());
    }
    let project = Project::new(&[("pom.xml", POM), ("src/main/java/acme/Sums.java", BENCHMARK)])?;
    project
        .run(Path::new("mvn"), &["-q", "-B", "compile"])?
        .success()?;
    let jmh = |profiler: &str| {
        let main = ["-cp", "target/classes:target/jars/*", "org.openjdk.jmh.Main"];
        let more = ["-rf", "json", "-rff", "result.json", "-prof", profiler];
        project.run(Path::new("java"), &[&main[..], &more].concat())
    };
    for wrong in ["trodden:prob=counters", "trodden:gate;include=["] {
        let outcome = jmh(wrong)?;
        if wrong.contains("prob") {
            assert!(!outcome.status.success(), "{}", said(&outcome));
            let reason = "the agent does not take these options: unknown option 'prob'";
            assert!(said(&outcome).contains(reason), "{}", said(&outcome));
        }
        assert!(!said(&outcome).contains("\tat "), "{}", said(&outcome));
    }
    jmh("trodden:probe=counters")?.success()?;
    let results = project.json("result.json")?;
    let metrics = results[0]["secondaryMetrics"].as_object().ok_or("no metrics")?;
    let name = "trodden acme.Sums.sum path ";
    let words = "line 16 i below numbers.length: again / line 17 numbers(i) above 0: yes / ";
    let found = metrics
        .iter()
        .find(|(metric, _)| metric.starts_with(name) && metric.contains(words));
    let (_, metric) = found.ok_or_else(|| format!("{metrics:#?}"))?;
    // Three of six: one leads to the loop, four round it, one out of it.
    let score = metric["score"].as_f64().ok_or("no score")?;
    assert!((score - 50.0).abs() < 1.0, "{metrics:#?}");
    Ok(())
}
