//! Stacks for other tools, and the page's icicle, split by path: compared with what the program measures
//! itself. Its two ways run the same code, so that no place and no count says which of them takes the time.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::Value;
use trodden_tests::jdk::Jdk;
use trodden_tests::{Result, process};

use super::paths::{FILE, method, profiled, report};

const LIMIT: Duration = Duration::from_secs(300);

/// A stack, its root first, and its time.
type Stacks = Vec<(Vec<String>, f64)>;

fn numbers(list: &Value) -> Vec<usize> {
    let list = list.as_array().into_iter().flatten();
    list.map(|n| n.as_u64().unwrap_or_default() as usize).collect()
}

fn collapsed(text: &str) -> Result<Stacks> {
    let stack = |line: &str| -> Result<(Vec<String>, f64)> {
        let (frames, weight) = line.rsplit_once(' ').ok_or("no number")?;
        Ok((frames.split(';').map(str::to_owned).collect(), weight.parse()?))
    };
    text.lines().map(stack).collect()
}

fn speedscope(text: &str) -> Result<Stacks> {
    let json: Value = serde_json::from_str(text)?;
    let profile = &json["profiles"][0];
    assert_eq!(profile["unit"], "nanoseconds");
    let name = |frame: usize| {
        json["shared"]["frames"][frame]["name"]
            .as_str()
            .unwrap_or_default()
    };
    let samples = profile["samples"].as_array().ok_or("no samples")?.iter();
    let frames = samples.map(|stack| numbers(stack).into_iter().map(|at| name(at).to_owned()).collect());
    let weights = numbers(&profile["weights"])
        .into_iter()
        .map(|weight| weight as f64);
    Ok(frames.zip(weights).collect())
}

fn firefox(text: &str) -> Result<Stacks> {
    let json: Value = serde_json::from_str(text)?;
    let (shared, samples) = (&json["shared"], &json["threads"][0]["samples"]);
    assert_eq!(samples["weightType"], "tracing-ms");
    let [frames, names] = [&shared["stackTable"]["frame"], &shared["funcTable"]["name"]].map(numbers);
    let stack = |at: usize| {
        let mut stack = Vec::new();
        let mut next = Some(at);
        while let Some(at) = next {
            let name = &shared["stringArray"][names[frames[at]]];
            stack.push(name.as_str().unwrap_or_default().to_owned());
            next = shared["stackTable"]["prefix"][at].as_u64().map(|at| at as usize);
        }
        stack.reverse();
        stack
    };
    let weights = samples["weight"].as_array().ok_or("no weights")?.iter();
    let weights = weights.map(|weight| weight.as_f64().unwrap_or_default() * 1e6);
    Ok(numbers(&samples["stack"])
        .into_iter()
        .map(stack)
        .zip(weights)
        .collect())
}

fn otlp(text: &str) -> Result<Stacks> {
    let json: Value = serde_json::from_str(text)?;
    let of = &json["dictionary"];
    let profile = &json["resourceProfiles"][0]["scopeProfiles"][0]["profiles"][0];
    let index = |value: &Value| value.as_u64().unwrap_or_default() as usize;
    let text = |at: &Value| of["stringTable"][index(at)].as_str().unwrap_or_default();
    assert_eq!(text(&profile["sampleType"]["typeStrindex"]), "time");
    let name = |location: usize| {
        let line = &of["locationTable"][location]["lines"][0];
        text(&of["functionTable"][index(&line["functionIndex"])]["nameStrindex"]).to_owned()
    };
    let sample = |sample: &Value| -> Result<(Vec<String>, f64)> {
        let leaf_first = numbers(&of["stackTable"][index(&sample["stackIndex"])]["locationIndices"]);
        let weight = sample["values"][0].as_str().ok_or("no value")?;
        Ok((leaf_first.into_iter().rev().map(name).collect(), weight.parse()?))
    };
    profile["samples"]
        .as_array()
        .ok_or("no samples")?
        .iter()
        .map(sample)
        .collect()
}

/// As `go tool pprof` reads it: frames by their time, with what they called. None without Go.
fn pprof(file: &Path) -> Result<Option<Stacks>> {
    let mut go = Command::new("go");
    if !matches!(process::run(go.arg("version"), LIMIT), Ok(found) if found.status.success()) {
        println!("skipped: go is not there, so there is no 'go tool pprof'");
        return Ok(None);
    }
    let mut go = Command::new("go");
    go.args([
        "tool",
        "pprof",
        "-symbolize=none",
        "-sample_index=time",
        "-unit=ns",
    ]);
    go.args(["-top", "-nodecount=0", "-nodefraction=0", "-edgefraction=0"])
        .arg(file);
    let top = process::run(&mut go, LIMIT)?.success()?.stdout;
    // `flat flat% sum% cum cum% name`
    let row = |line: &str| {
        let mut columns = line.split_whitespace();
        let time = columns.nth(3)?.strip_suffix("ns")?.parse().ok()?;
        let name = columns.skip(1).collect::<Vec<_>>().join(" ");
        Some((vec![name], time))
    };
    Ok(Some(top.lines().filter_map(row).collect()))
}

/// The icicle's data: for the paths of the method, by their names, the time and how much of it needed no
/// counts.
fn icicle(page: &str, title: &str) -> Result<HashMap<String, [f64; 2]>> {
    let data = page
        .split("id=\"time-data\">")
        .nth(1)
        .and_then(|rest| rest.split("</script>").next());
    let json: Value = serde_json::from_str(data.ok_or("no data")?)?;
    let number = |value: &Value| match value {
        Value::String(text) => text.parse().unwrap_or_default(),
        value => value.as_f64().unwrap_or_default(),
    };
    let chains = json["chains"].as_array().ok_or("no chains")?;
    let mut times: Vec<f64> = chains
        .iter()
        .map(|chain| number(&chain[3]) + number(&chain[4]))
        .collect();
    let mut found: HashMap<String, [f64; 2]> = HashMap::new();
    for (at, chain) in chains.iter().enumerate().rev() {
        if let Some(parent) = chain[0].as_u64() {
            times[parent as usize] += times[at];
        }
        let name = json["names"][chain[1].as_u64().unwrap_or_default() as usize].as_str();
        if name != Some(title) {
            continue;
        }
        let place = chain[2].as_u64().ok_or("no place")? as usize;
        for way in json["places"][place].as_array().ok_or("no ways")? {
            let text = &json["ways"][way[0].as_u64().unwrap_or_default() as usize][0];
            let sums = found
                .entry(text.as_str().unwrap_or_default().to_owned())
                .or_default();
            sums[0] += times[at] * number(&way[1]);
            sums[1] += times[at] * number(&way[2]);
        }
    }
    Ok(found)
}

#[test]
fn stacks_split_by_path_have_the_time_that_the_program_measured() -> Result<()> {
    for jdk in &Jdk::ends()? {
        // With `-Xcheck:jni` no sample waits.
        let (spent, folder) = profiled(jdk, &["-Xverify:all"], "counters", &["shared"])?;
        let file = folder.path().join(FILE);
        let json: Value = serde_json::from_str(&report(&file, &["--format", "json"])?)?;
        let shared = method(&json, "shared")?;
        let paths = shared["paths"].as_array().ok_or("no paths")?;
        let slow = paths
            .iter()
            .min_by_key(|path| path["count"].as_u64())
            .ok_or("no path")?;
        let slow = slow["id"].as_u64().ok_or("no number")?;
        let what = format!("JDK {}: measured {spent}, path {slow} of {shared:#}", jdk.feature);
        let of_slow = format!("Served.shared #{slow}:");
        let share = |stacks: Stacks| {
            let sum = |prefix: &str| -> f64 {
                let is_it = |(stack, _): &&(Vec<String>, f64)| stack.iter().any(|f| f.starts_with(prefix));
                stacks.iter().filter(is_it).map(|(_, time)| time).sum()
            };
            sum(&of_slow) / sum("Served.shared #")
        };
        // By counts it would be a fifth.
        let is_right = |found: f64| (found - spent).abs() < 0.08;
        for kind in ["calls", "paths"] {
            type Reader = fn(&str) -> Result<Stacks>;
            let readers: [(&str, Reader); 4] = [
                ("collapsed", collapsed),
                ("speedscope", speedscope),
                ("firefox", firefox),
                ("otlp-json", otlp),
            ];
            for (format, read) in readers {
                let options = ["--format", format, "--stacks", kind, "--weight", "time"];
                let found = share(read(&report(&file, &options)?)?);
                assert!(is_right(found), "{format}, {kind}: {found}; {what}");
            }
            let out = folder.path().join("out.pb.gz");
            let name = out.to_str().ok_or("a path")?;
            report(&file, &["-o", name, "--stacks", kind])?;
            if let Some(found) = pprof(&out)?.map(share) {
                assert!(is_right(found), "pprof, {kind}: {found}; {what}");
            }
        }
        let page = folder.path().join("out.html");
        report(&file, &["-o", page.to_str().ok_or("a path")?])?;
        let ways = icicle(&fs::read_to_string(page)?, "Served.shared(int)")?;
        let sum = |at: usize| ways.values().map(|of| of[at]).sum::<f64>();
        let of_slow = ways
            .iter()
            .find(|(name, _)| name.starts_with(&format!("path {slow}:")));
        let found = of_slow.ok_or("no such path")?.1[0] / sum(0);
        assert!(is_right(found), "page: {found}; {what}");
        // The icicle shows as divided what JSON says.
        let time = &shared["time"];
        let number = |key: &str| time[key].as_f64().unwrap_or(f64::NAN);
        let samples = time["total"]["samples"].as_f64().unwrap_or(f64::NAN);
        let divided = number("divided") / samples;
        assert!(
            ((sum(0) - sum(1)) / sum(0) - divided).abs() < 0.02,
            "{ways:?}; {what}"
        );
        // How many wait is the budget's to say; those that did represent the others.
        assert!(divided < 0.2 && number("answered") > 300.0, "{what}");
    }
    Ok(())
}
