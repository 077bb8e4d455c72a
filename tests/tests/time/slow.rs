//! `trodden slow` on a server whose slow requests have causes that are known (`tests/requests/Causes.java`),
//! and on one whose have none.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::Value;
use trodden_tests::jdk::Jdk;
use trodden_tests::{Result, artefacts, build, process};

const LIMIT: Duration = Duration::from_secs(300);

/// Reasons that are in the code.
const CODE: [&str; 5] = ["miss", "retry", "size", "lock", "branch"];
/// The one that is none.
const COLLECTOR: &str = "collector";

/// From where on requests are slow where there are reasons: each costs more.
const SLOW: &str = "3ms";

/// Requests of a run.
const REQUESTS: u64 = 40_000;

/// The lines at which each reason is decided.
fn lines_of_causes() -> Result<BTreeMap<String, Vec<u64>>> {
    let text = fs::read_to_string(source())?;
    let mut lines: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for (line, text) in (1..).zip(text.lines()) {
        if let Some((_, reason)) = text.split_once("// cause: ") {
            lines.entry(reason.to_owned()).or_default().push(line);
        }
    }
    Ok(lines)
}

fn source() -> PathBuf {
    Path::new(build::ROOT).join("requests/Causes.java")
}

/// What `trodden slow` says.
struct Answer {
    /// The object of the handler.
    of_handler: Value,
    /// What the program says: latencies at ranks.
    ranks: Vec<(f64, u64)>,
}

impl Answer {
    /// The causes: kind and line.
    fn causes(&self) -> Vec<(String, Option<u64>)> {
        let causes = self.of_handler["causes"].as_array().into_iter().flatten();
        causes
            .map(|cause| {
                let kind = cause["kind"].as_str().unwrap_or_default().to_owned();
                (kind, cause["line"].as_u64())
            })
            .collect()
    }

    /// The causes that blame code.
    fn in_code(&self) -> Vec<u64> {
        let causes = self.causes().into_iter();
        causes
            .filter(|(kind, _)| ["outcome", "path", "size"].contains(&kind.as_str()))
            .filter_map(|(_, line)| line)
            .collect()
    }
}

/// Runs the server with these reasons and asks.
fn ask(jdk: &Jdk, reasons: &str, seed: u64, limit: &[&str]) -> Result<Answer> {
    let folder = tempfile::tempdir()?;
    let classes = folder.path().join("classes");
    build::javac(jdk, ".", &[source()], &classes)?;
    let cli = &artefacts::artefacts()?.cli;
    let file = folder.path().join("server.trodden");
    let mut run = Command::new(cli);
    run.env_remove("JAVA_TOOL_OPTIONS")
        .args(["run", "--quiet", "--requests", "Causes#handle", "-o"])
        .arg(&file)
        .arg("--")
        .arg(jdk.home.join("bin/java"))
        .args(["-Xverify:all", "-Xcheck:jni", "-cp"])
        .arg(&classes)
        .args(["Causes", reasons, &REQUESTS.to_string(), &seed.to_string()]);
    let said = process::run(&mut run, LIMIT)?.success()?.stdout;
    let ranks = said.lines().filter_map(|line| {
        let (rank, latency) = line.split_once(' ')?;
        Some((rank.parse().ok()?, latency.parse().ok()?))
    });
    let mut slow = Command::new(cli);
    slow.args(["slow", "--format", "json"]).args(limit).arg(&file);
    let answer = process::run(&mut slow, LIMIT)?.success()?.stdout;
    let answer: Value = serde_json::from_str(&answer)?;
    assert_eq!(answer["format"], "trodden-slow");
    let requests = answer["requests"].as_array().ok_or("no requests")?;
    let of_handler = requests.iter().find(|one| one["name"] == "Causes#handle");
    Ok(Answer {
        of_handler: of_handler.ok_or("no requests of the handler")?.clone(),
        ranks: ranks.collect(),
    })
}

/// The reasons are the first causes, each once; code is blamed for nothing else.
fn finds(answer: &Answer, reasons: &[&str]) -> std::result::Result<(), String> {
    let lines = lines_of_causes().map_err(|e| e.to_string())?;
    let blamed = answer.in_code();
    let text = || format!("{reasons:?}: {:#}", answer.of_handler);
    if blamed.len() != reasons.len() {
        return Err(text());
    }
    for reason in reasons {
        if !blamed.iter().any(|line| lines[*reason].contains(line)) {
            return Err(format!("{reason} is not among the causes of {}", text()));
        }
    }
    Ok(())
}

/// All at once: the five reasons in code, and the collector is blamed for its own.
#[test]
fn each_cause_of_slow_requests_is_named() -> Result<()> {
    for jdk in Jdk::ends()? {
        let answer = ask(
            &jdk,
            &format!("{}+{COLLECTOR}", CODE.join("+")),
            1,
            &["--slow", SLOW],
        )?;
        assert_eq!(answer.of_handler["count"], REQUESTS);
        finds(&answer, &CODE)?;
    }
    Ok(())
}

/// Latencies at ranks are those of the program's own clock, which is outside of the handler.
#[test]
fn latencies_are_those_of_the_program() -> Result<()> {
    let jdk = Jdk::oldest()?;
    let answer = ask(&jdk, "branch", 2, &[])?;
    let shown = ["p50_ms", "p99_ms", "p999_ms"].map(|key| answer.of_handler[key].as_f64().unwrap());
    for (shown, (rank, own)) in shown.into_iter().zip(&answer.ranks) {
        let own = *own as f64 / 1e6;
        // Two readings of a clock apart, and what the probe itself takes.
        assert!(
            shown <= own * 1.001 + 0.000_1 && shown >= own * 0.95 - 0.02,
            "{rank}: {shown} for {own}"
        );
    }
    Ok(())
}

/// Each one alone, and none: seldom, as it takes minutes.
#[test]
#[ignore = "night: a server for each cause, and twenty without any"]
fn single_causes_and_none() -> Result<()> {
    let mut wrong = Vec::new();
    for jdk in Jdk::ends()? {
        for reason in CODE {
            wrong.extend(finds(&ask(&jdk, reason, 3, &["--slow", SLOW])?, &[reason]).err());
        }
        let collector = ask(&jdk, COLLECTOR, 4, &[])?;
        wrong.extend(finds(&collector, &[]).err());
        for seed in 0..20 {
            let none = ask(&jdk, "none", seed, &[])?;
            println!("none {seed}: {:?}", none.causes());
            wrong.extend(finds(&none, &[]).err());
        }
    }
    assert!(wrong.is_empty(), "{} wrong: {}", wrong.len(), wrong.join("\n"));
    Ok(())
}
