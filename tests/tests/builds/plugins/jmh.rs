//! The profiler for JMH.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;
use trodden_tests::{Result, artefacts, process};

use super::{checkout, read, sample};

/// JMH runs once at a time on a machine.
static JMH: Mutex<()> = Mutex::new(());

#[test]
#[cfg_attr(feature = "change", ignore = "all: a benchmark by Maven")]
fn jmh_forgets_the_warm_up() -> Result<()> {
    if !process::is_there("mvn") {
        return Ok(());
    }
    let _alone = JMH.lock().unwrap_or_else(PoisonError::into_inner);
    let copy = checkout()?;
    let folder = copy.path().join("gradle-example/jmh");
    let outcome = sample(copy.path(), "gradle-example/jmh/run", &["Sign"])?.success()?;
    let results: Value = serde_json::from_str(&read(folder.join("target/result.json"))?)?;
    let metrics = &results[0]["secondaryMetrics"];
    let score = |name: &str| metrics[name]["score"].as_f64().unwrap_or(f64::NAN);
    // While measured, three of four numbers are positive; while warming up, none is, on a path of the same
    // loop.
    let path =
        |number: u32, route: &str| format!("trodden shop.SignBenchmark.positive path {number}: {route}");
    let positive = path(
        1,
        "header line 37 / line 37 for (number : numbers): again / line 38 number above 0: yes / header line 37",
    );
    let negative = path(
        2,
        "header line 37 / line 37 for (number : numbers): again / line 38 number above 0: no / header line 37",
    );
    let (first, second) = (score(&positive), score(&negative));
    assert!((first / second - 3.0).abs() < 1e-6, "{metrics:#}");
    assert!((99.0..100.0).contains(&(first + second)), "{metrics}");
    assert_eq!(metrics[&positive]["scoreUnit"], "%");
    // Four of positive() and four of numbers().
    assert!((score("trodden.paths") - 8.0).abs() < 1e-9, "{metrics}");
    let text = &outcome.stdout;
    assert!(
        text.contains("Top paths, of all that ended while measured"),
        "{text}"
    );
    let top = positive.trim_start_matches("trodden ");
    assert!(text.contains(top), "{text}");
    // numbers() ran in all iterations; counted are the thousand numbers of each of the two that are measured.
    assert!(
        text.contains("line 30    i % 4 == 0  yes 500 (25.0 %), no 1,500 (75.0 %)"),
        "{text}"
    );
    Ok(())
}

/// A benchmark whose first fork goes another way than its second.
const FORKS: &str = "package shop;
import org.openjdk.jmh.annotations.*;
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@Warmup(iterations = 1, time = 50, timeUnit = java.util.concurrent.TimeUnit.MILLISECONDS)
@Measurement(iterations = 1, time = 50, timeUnit = java.util.concurrent.TimeUnit.MILLISECONDS)
@Fork(2)
public class ForkBenchmark {
    private boolean first;
    @Setup
    public void look() throws java.io.IOException {
        first = new java.io.File(\"first-fork\").createNewFile();
    }
    @Benchmark
    public int way() {
        if (first) {
            return 1;
        }
        return 2;
    }
}
";

#[test]
#[cfg_attr(feature = "change", ignore = "all: a benchmark by Maven")]
fn jmh_does_not_mix_paths_of_forks() -> Result<()> {
    if !process::is_there("mvn") {
        return Ok(());
    }
    let _alone = JMH.lock().unwrap_or_else(PoisonError::into_inner);
    let copy = checkout()?;
    let folder = copy.path().join("gradle-example/jmh");
    fs::write(folder.join("src/main/java/shop/ForkBenchmark.java"), FORKS)?;
    // Builds it.
    sample(copy.path(), "gradle-example/jmh/run", &["-l"])?.success()?;
    let artefacts = artefacts::artefacts()?;
    let run = |arguments: &[&str]| {
        let mut jmh = Command::new("java");
        jmh.current_dir(folder.join("target"))
            .args(["-cp", "classes:jars/*", "org.openjdk.jmh.Main"])
            .args(arguments)
            .env("TRODDEN", &artefacts.cli)
            .env("TRODDEN_AGENT", &artefacts.agent)
            .env_remove("JAVA_TOOL_OPTIONS");
        process::run(&mut jmh, Duration::from_secs(300))?.success()
    };
    let profiler = "trodden.jmh.TroddenProfiler:probe=counters;top=1";
    run(&["Fork", "-prof", profiler, "-rf", "json", "-rff", "result.json"])?;
    let results: Value = serde_json::from_str(&read(folder.join("target/result.json"))?)?;
    let metrics = results[0]["secondaryMetrics"].as_object().ok_or("no metrics")?;
    let ways: Vec<_> = metrics
        .iter()
        .filter(|(name, _)| name.starts_with("trodden shop.ForkBenchmark.way path "))
        .collect();
    // Each path has a value in each fork, whichever it was first among the top in.
    assert_eq!(ways.len(), 2, "{metrics:#?}");
    for (name, metric) in ways {
        let score = metric["score"].as_f64().ok_or("no score")?;
        assert!((score - 50.0).abs() < 1e-6, "{name}: {metric:#}");
        assert!(name.contains(": entry line 16 / line 16 "), "{name}");
    }
    // Another run leaves the profiles of this one unchanged.
    let profiles = || -> Result<Vec<(PathBuf, std::time::SystemTime)>> {
        let entries = fs::read_dir(folder.join("target/trodden-jmh"))?;
        let mut found = Vec::new();
        for entry in entries {
            let entry = entry?;
            found.push((entry.path(), entry.metadata()?.modified()?));
        }
        found.sort();
        Ok(found)
    };
    let before = profiles()?;
    run(&["Fork", "-f", "1", "-prof", profiler])?;
    let after = profiles()?;
    assert_eq!(after.len(), before.len() + 1);
    assert!(before.iter().all(|file| after.contains(file)));
    // The list of profilers has it, where there is no trodden, too.
    let mut list = Command::new("java");
    list.current_dir(folder.join("target"))
        .args(["-cp", "classes:jars/*", "org.openjdk.jmh.Main", "-lprof"])
        .env_remove("TRODDEN")
        .env_remove("TRODDEN_AGENT");
    let listed = process::run(&mut list, Duration::from_secs(60))?
        .success()?
        .stdout;
    assert!(listed.contains("trodden.jmh.TroddenProfiler"), "{listed}");
    Ok(())
}

/// 12,069 instructions: a loop's thousand rounds of 12, ten of them with 6 more, and 9 around it.
const PRICES: &str = "package shop;
import org.openjdk.jmh.annotations.*;
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@Warmup(iterations = 1, time = 50, timeUnit = java.util.concurrent.TimeUnit.MILLISECONDS)
@Measurement(iterations = 2, time = 50, timeUnit = java.util.concurrent.TimeUnit.MILLISECONDS)
@Fork(2)
public class PriceBenchmark {
    @Param({\"1000\", \"2000\"})
    int rounds;
    @Benchmark
    public int price() {
        int sum = 0;
        for (int i = 0; i < 1000; i++) {
            if (i >= 990) {
                sum += i % 7;
            }
            sum += i;
        }
        return sum;
    }
}
";

#[test]
#[cfg_attr(feature = "change", ignore = "all: a benchmark by Maven")]
fn jmh_names_what_does_one_percent_more_work() -> Result<()> {
    if !process::is_there("mvn") {
        return Ok(());
    }
    let _alone = JMH.lock().unwrap_or_else(PoisonError::into_inner);
    let copy = checkout()?;
    let folder = copy.path().join("gradle-example/jmh");
    let source = folder.join("src/main/java/shop/PriceBenchmark.java");
    let artefacts = artefacts::artefacts()?;
    let run = |profiler: &str| {
        sample(copy.path(), "gradle-example/jmh/run", &["-l"])?.success()?;
        let mut jmh = Command::new("java");
        jmh.current_dir(folder.join("target"))
            .args([
                "-cp",
                "classes:jars/*",
                "org.openjdk.jmh.Main",
                "Price",
                "-prof",
                profiler,
            ])
            .args(["-rf", "json", "-rff", "../result.json"])
            .env("TRODDEN", &artefacts.cli)
            .env("TRODDEN_AGENT", &artefacts.agent)
            .env_remove("JAVA_TOOL_OPTIONS");
        process::run(&mut jmh, Duration::from_secs(300))
    };
    let score = || -> Result<f64> {
        let results: Value = serde_json::from_str(&read(folder.join("result.json"))?)?;
        let metric = &results[0]["secondaryMetrics"]["trodden.instructions"];
        assert_eq!(metric["scoreUnit"], "#/op", "{results:#}");
        Ok(metric["score"].as_f64().ok_or("no score")?)
    };
    fs::write(&source, PRICES)?;
    run("trodden:gate;out=../base.gate")?.success()?;
    assert!((score()? - 12_069.0).abs() < 1e-3, "{}", score()?);
    let base = read(folder.join("base.gate"))?;
    let name = "shop.PriceBenchmark.price(rounds = 1000) [avgt, a million operations]";
    // JMH makes a profiler for each benchmark; the file is that of all.
    for name in [name, &name.replace("1000", "2000")] {
        let line = format!("test\t12069000000\t12069000000\t-\t{name}\n");
        assert!(base.contains(&line), "{base}");
    }
    assert!(base.contains("\nruns\t2\n"), "{base}");

    fs::write(&source, PRICES.replace("990", "970"))?;
    let said = run("trodden:gate;out=../new.gate;base=../base.gate")?
        .success()?
        .stdout;
    assert!((score()? - 12_189.0).abs() < 1e-3, "{}", score()?);
    assert!(said.contains("12,189.000 instructions per operation"), "{said}");
    assert!(said.contains("+0.994 % against "), "{said}");
    assert!(said.contains("grew: shop.PriceBenchmark.price()"), "{said}");
    assert!(said.contains("i >= 970 → yes"), "{said}");
    let mut compare = Command::new(&artefacts.cli);
    compare.current_dir(&folder);
    compare.args(["gate", "compare", "base.gate", "new.gate", "--fail-on", "0.5%"]);
    let compared = process::run(&mut compare, Duration::from_secs(60))?;
    assert_eq!(compared.status.code(), Some(3), "{}", compared.stdout);
    assert!(compared.stdout.contains("i >= 970 → yes"), "{}", compared.stdout);

    // What it does not know, it says before anything is measured.
    let said = run("trodden:gate;bases=x")?;
    assert!(!said.status.success());
    let out = said.stdout + &said.stderr;
    assert!(out.contains("trodden: gate has no option bases"), "{out}");
    Ok(())
}
