//! Stacks for stores of profiles, read by what such stores read with: OTLP by the data model of
//! OpenTelemetry's collector and by the messages that OpenTelemetry publishes, windows in pprof's format by
//! `go tool pprof`. What cannot be had is named, and the test ends there.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

use serde_json::{Value, json};
use trodden_profile::Profile;
use trodden_profile::facts::Facts;
use trodden_tests::jdk::Jdk;
use trodden_tests::process::{self, Outcome};
use trodden_tests::{Result, artefacts, build, readers};

const LIMIT: Duration = Duration::from_secs(300);

/// The facts of a window.
const WINDOW: [(&str, &str); 8] = [
    ("service", "shop"),
    ("build", "2026.11.3"),
    ("host", "tills-1"),
    ("labels", "host:front+region:eu"),
    ("jvm_id", "00112233445566778899aabbccddeeff"),
    ("window", "7"),
    ("window_started_ms", "1764028800000"),
    ("window_ended_ms", "1764028860250"),
];

/// A program's profiles: `paths` (exact counts alone), `time` (with CPU samples), `contexts`, and `window`
/// (`paths` with the facts of a window).
struct Recorded(tempfile::TempDir);

impl Recorded {
    fn new() -> Result<&'static Recorded> {
        static RECORDED: OnceLock<std::result::Result<Recorded, String>> = OnceLock::new();
        let recorded = RECORDED.get_or_init(|| Recorded::record().map_err(|e| e.to_string()));
        recorded.as_ref().map_err(|e| e.clone().into())
    }

    fn record() -> Result<Recorded> {
        let recorded = Recorded(tempfile::tempdir()?);
        let jdk = Jdk::newest()?;
        let classes = recorded.0.path().join("classes");
        let mut javac = jdk.command("javac");
        javac.args(["-g", "-d"]).arg(&classes);
        for source in ["Shop.java", "Rush.java"] {
            javac.arg(Path::new(build::ROOT).join("exports/demo/shop").join(source));
        }
        process::run(&mut javac, LIMIT)?.success()?;
        for (name, main, options) in [
            (
                "paths",
                "demo.shop.Shop",
                &["--probe", "counters", "--sample", "off"][..],
            ),
            (
                "time",
                "demo.shop.Rush",
                &["--probe", "counters", "--sample", "1ms"],
            ),
            (
                "contexts",
                "demo.shop.Shop",
                &["--profile", "contexts", "--algorithm", "exact", "--sample", "off"],
            ),
        ] {
            let mut run = Command::new(&artefacts::artefacts()?.cli);
            run.args(["run", "--quiet", "--include", "demo.*"]).args(options);
            run.env("TRODDEN_AGENT", &artefacts::artefacts()?.agent);
            run.arg("-o").arg(recorded.profile(name));
            run.arg("--").arg(jdk.command("java").get_program());
            run.arg("-cp").arg(&classes).arg(main);
            process::run(&mut run, LIMIT)?.success()?;
        }
        let mut window = Profile::load(recorded.profile("paths"))?;
        let facts = WINDOW.map(|(name, value)| (name.to_owned(), value.to_owned()));
        window.run.facts.append(Facts::from_iter(facts));
        window.save(recorded.profile("window"))?;
        Ok(recorded)
    }

    fn profile(&self, name: &str) -> PathBuf {
        self.0.path().join(name).with_extension("trodden")
    }

    fn report(&self, name: &str, options: &[&str]) -> Result<Outcome> {
        let mut command = Command::new(&artefacts::artefacts()?.cli);
        command.arg("report").arg(self.profile(name)).args(options);
        process::run(&mut command, LIMIT)?.success()
    }

    /// A report whose format the extension chooses.
    fn export(&self, name: &str, extension: &str) -> Result<PathBuf> {
        let file = self.0.path().join(format!("{name}.{extension}"));
        self.report(name, &["-o", file.to_str().ok_or("path")?])?;
        Ok(file)
    }

    /// The stacks with one of their numbers.
    fn collapsed(&self, name: &str, weight: Option<&str>) -> Result<BTreeMap<String, u64>> {
        let mut options = vec!["--format", "collapsed"];
        options.extend(weight.iter().flat_map(|weight| ["--weight", weight]));
        let text = self.report(name, &options)?.stdout;
        let line = |line: &str| -> Result<(String, u64)> {
            let (stack, number) = line.rsplit_once(' ').ok_or("no number")?;
            Ok((stack.to_owned(), number.parse()?))
        };
        text.lines().map(line).collect()
    }

    fn json(&self, name: &str) -> Result<Value> {
        Ok(serde_json::from_str(
            &self.report(name, &["--format", "json"])?.stdout,
        )?)
    }
}

fn stacks(profile: &Value) -> Result<BTreeMap<String, u64>> {
    Ok(serde_json::from_value(profile["Stacks"].clone())?)
}

#[test]
#[cfg_attr(feature = "change", ignore = "all: a reader in Go with many modules")]
fn opentelemetry_reads_them() -> Result<()> {
    let recorded = Recorded::new()?;
    let Some(reader) = readers::in_go("otlp") else {
        return Ok(());
    };
    for (name, weights) in [
        ("paths", &[Some("executions"), Some("instructions")][..]),
        ("time", &[Some("time"), Some("executions"), Some("instructions")]),
        ("contexts", &[None]),
        ("window", &[Some("executions"), Some("instructions")]),
    ] {
        let files = [
            recorded.export(name, "otlp")?,
            recorded.export(name, "otlp.json")?,
        ];
        let read = process::run(Command::new(&reader).args(&files), LIMIT)?.success()?;
        let read: Value = serde_json::from_str(&read.stdout)?;
        let profiles = read["Profiles"].as_array().ok_or("no profiles")?;
        let json = recorded.json(name)?;
        assert_eq!(profiles.len(), weights.len(), "{name}: {read}");
        for (profile, weight) in profiles.iter().zip(weights) {
            assert_eq!(profile["Name"], weight.unwrap_or("calls"), "{name}");
            assert_eq!(
                stacks(profile)?,
                recorded.collapsed(name, *weight)?,
                "{name}: {weight:?}"
            );
            let comments = profile["Comments"].as_array().ok_or("no comments")?;
            let main = if name == "time" { "Rush" } else { "Shop" };
            assert_eq!(comments[0], format!("Command: demo.shop.{main}"));
            let period = match weight {
                Some("time") => {
                    let samples = json["time"]["samples"].as_u64().ok_or("no samples")?;
                    let ns: u64 = stacks(profile)?.values().sum();
                    assert!(samples > 0 && ns > 0, "{name}: {samples} samples, {ns} ns");
                    json!(["cpu", "nanoseconds", ns / samples])
                }
                _ => json!([profile["Name"], "count", 1]),
            };
            let found = json!([profile["PeriodName"], profile["PeriodUnit"], profile["Period"]]);
            assert_eq!(found, period, "{name}");
        }
        assert_eq!(read["Scope"], "trodden");
        let of_run = (json["run"]["started_ms"].as_u64()).map(|ms| ms * 1_000_000);
        let window = name == "window";
        for profile in profiles {
            let time = if window {
                Some(1_764_028_800_000_000_000)
            } else {
                of_run
            };
            assert_eq!(profile["Time"].as_u64(), time, "{name}");
            let lasted = profile["Duration"].as_u64().ok_or("no duration")?;
            assert_eq!(lasted == 60_250_000_000, window, "{name}: {lasted}");
        }
        // What the reports say of the whole.
        let total = |profile: &Value| -> Result<u64> { Ok(stacks(profile)?.values().sum()) };
        match name {
            "paths" | "window" => {
                assert_eq!(Some(total(&profiles[0])?), json["totals"]["paths"].as_u64());
            }
            "contexts" => assert_eq!(Some(total(&profiles[0])?), json["contexts"]["calls"].as_u64()),
            _ => assert_eq!(Some(total(&profiles[1])?), json["totals"]["paths"].as_u64()),
        }
        if window {
            let resource = json!({
                "service.name": "shop", "service.version": "2026.11.3", "host.name": "tills-1",
                "service.instance.id": "00112233445566778899aabbccddeeff", "host": "front", "region": "eu",
                "process.runtime.description": json["run"]["jvm"],
            });
            assert_eq!(read["Resource"], resource);
        }
        if name == "paths" {
            let hit = |name: &&String| name.starts_with("Shop.price #") && name.contains("hit != null → ");
            let lines = read["Lines"].as_object().ok_or("no lines")?;
            let hit = lines.keys().find(hit).ok_or("no such path")?;
            assert_eq!(read["Files"][hit], "demo/shop/Shop.java");
            assert!(lines[hit].as_u64() > Some(4), "{hit}: {}", lines[hit]);
            assert_eq!(read["FrameTypes"][hit], "jvm");
            assert_eq!(read["FrameTypes"]["demo.shop"], Value::Null);
        }
    }
    Ok(())
}

#[test]
#[cfg_attr(feature = "change", ignore = "all: a reader in Go")]
fn pprof_reads_a_window() -> Result<()> {
    let recorded = Recorded::new()?;
    let mut go = Command::new("go");
    if !matches!(process::run(go.arg("version"), LIMIT), Ok(found) if found.status.success()) {
        println!("skipped: go is not there, so there is no 'go tool pprof'");
        return Ok(());
    }
    let raw = |name: &str| -> Result<String> {
        let file = recorded.export(name, "pb.gz")?;
        let mut pprof = Command::new("go");
        pprof.args(["tool", "pprof", "-symbolize=none", "-raw"]).arg(file);
        pprof.env("TZ", "UTC");
        Ok(process::run(&mut pprof, LIMIT)?.success()?.stdout)
    };
    let window = raw("window")?;
    for line in [
        "PeriodType: executions count",
        "Period: 1",
        "Time: 2025-11-25 00:00:00 +0000 UTC",
        "Duration: 1m0",
    ] {
        assert!(
            window.lines().any(|found| found.starts_with(line)),
            "no {line}: {window}"
        );
    }
    // Each sample has all labels; a label whose name is taken has another one.
    let samples = window
        .split("Samples:\n")
        .nth(1)
        .and_then(|text| text.split("Locations\n").next());
    let samples: Vec<&str> = samples.ok_or("no samples")?.lines().skip(1).collect();
    let labels: Vec<&&str> = samples.iter().filter(|line| line.contains(":[")).collect();
    assert_eq!(labels.len() * 2, samples.len(), "{window}");
    for label in [
        "service:[shop]",
        "build:[2026.11.3]",
        "host:[tills-1]",
        "trodden.label.host:[front]",
        "region:[eu]",
    ] {
        assert!(
            labels.iter().all(|line| line.contains(label)),
            "{label}: {window}"
        );
    }
    let time = raw("time")?;
    assert!(time.contains("PeriodType: cpu nanoseconds\n"), "{time}");
    Ok(())
}

/// The receiver of OpenTelemetry's collector takes what `curl` sends, as docs/exports.md has it.
#[test]
#[ignore = "night: builds a part of OpenTelemetry's collector: some minutes"]
fn a_collector_takes_what_is_sent() -> Result<()> {
    let recorded = Recorded::new()?;
    let Some(receiver) = readers::in_go("receiver") else {
        return Ok(());
    };
    let page = fs::read_to_string(Path::new(build::ROOT).join("../docs/exports.md"))?;
    let mut blocks = page.split("\n```sh collector\n").skip(1);
    let commands = blocks.next().and_then(|text| text.split("\n```").next());
    let commands = commands.ok_or("no commands")?;
    let mut child = Command::new(receiver).stdout(Stdio::piped()).spawn()?;
    let mut send = || -> Result<Vec<Value>> {
        let lines = BufReader::new(child.stdout.as_mut().ok_or("no output")?).lines();
        let mut lines = lines.map(|line| Ok(serde_json::from_str::<Value>(&line?)?));
        let mut next = || -> Result<Value> { lines.next().ok_or("it has ended")? };
        let place = next()?;
        let place = place.as_str().ok_or("no place")?;
        let commands = commands
            .replace("localhost:4318", place)
            .replace("shop", "window");
        for format in ["otlp", "otlp.json"] {
            recorded.export("window", format)?;
        }
        let mut bash = Command::new("bash");
        bash.current_dir(recorded.0.path())
            .args(["-euc", &commands])
            .env("no_proxy", "*");
        let path = artefacts::artefacts()?
            .cli
            .parent()
            .ok_or("no folder")?
            .to_owned();
        bash.env("PATH", format!("{}:{}", path.display(), std::env::var("PATH")?));
        process::run(&mut bash, LIMIT)?.success()?;
        Ok(vec![next()?, next()?])
    };
    let sent = send();
    child.kill()?;
    child.wait()?;
    let sum = |weight| -> Result<u64> { Ok(recorded.collapsed("window", Some(weight))?.values().sum()) };
    let expected = json!({
        "service": "shop",
        "sums": {"executions": sum("executions")?, "instructions": sum("instructions")?},
    });
    assert_eq!(sent?, [expected.clone(), expected]);
    Ok(())
}
