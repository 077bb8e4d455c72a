//! The JSON Schemas of docs/schema against what the program really writes, of all kinds of profile, judged by
//! Ajv.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};
use trodden_tests::jdk::Jdk;
use trodden_tests::{Result, artefacts, build, process, readers};

const LIMIT: Duration = Duration::from_secs(300);
const SCHEMAS: [&str; 6] = ["report", "coverage", "diff", "compare", "gate", "slow"];

/// Ways to record a program: each kind of profile, and each way to count that has keys of its own.
const RECORDINGS: [(&str, &[&str]); 11] = [
    ("exact", &["--probe", "counters"]),
    ("cut", &["--profile", "coverage", "--coverage", "paths"]),
    ("auto", &["--probe", "auto"]),
    ("sampled", &["--probe", "yieldpoint", "--interval", "1ms"]),
    ("kpaths", &["--profile", "kpaths+paths", "--k", "3"]),
    (
        "contexts",
        &[
            "--profile",
            "contexts",
            "--algorithm",
            "exact",
            "--weight",
            "call-paths",
        ],
    ),
    (
        "hot-contexts",
        &["--profile", "contexts", "--phi", "0.01", "--burst", "off"],
    ),
    (
        "burst-contexts",
        &["--profile", "contexts", "--burst", "static:4ms:2ms"],
    ),
    ("subpaths", &["--profile", "subpaths"]),
    ("structural", &["--profile", "structural"]),
    ("time", &["--probe", "counters", "--sample", "1ms"]),
];

fn schema(name: &str) -> PathBuf {
    Path::new(build::ROOT).join(format!("../docs/schema/trodden-{name}.schema.json"))
}

/// Runs the command line and keeps what it prints.
fn written(folder: &Path, file: &str, arguments: &[&str], profiles: &[&PathBuf]) -> Result<PathBuf> {
    let mut command = Command::new(&artefacts::artefacts()?.cli);
    command.arg(arguments[0]).args(profiles).args(&arguments[1..]);
    let text = process::run(&mut command, LIMIT)?.success()?.stdout;
    let out = folder.join(file);
    fs::write(&out, text)?;
    Ok(out)
}

fn compiled(jdk: &Jdk, folder: &Path, name: &str, source: &Path) -> Result<PathBuf> {
    let classes = folder.join(name);
    let mut javac = jdk.command("javac");
    javac.args(["-g", "-d"]).arg(&classes).arg(source);
    process::run(&mut javac, LIMIT)?.success()?;
    Ok(classes)
}

fn recorded(jdk: &Jdk, folder: &Path, name: &str, classes: &Path, options: &[&str]) -> Result<PathBuf> {
    let profile = folder.join(name).with_extension("trodden");
    let mut run = Command::new(&artefacts::artefacts()?.cli);
    // Samples are a part of documents that may be missing: only where they are asked for.
    let samples = ["--sample", "off"].map(|word| (!options.contains(&"--sample")).then_some(word));
    run.args(["run", "--quiet", "--include", "demo.*"])
        .args(samples.into_iter().flatten())
        .args(options);
    run.env("TRODDEN_AGENT", &artefacts::artefacts()?.agent);
    run.arg("-o").arg(&profile);
    run.arg("--").arg(jdk.command("java").get_program());
    run.arg("-cp").arg(classes).arg("demo.shop.Shop");
    process::run(&mut run, LIMIT)?.success()?;
    Ok(profile)
}

fn gate(jdk: &Jdk, folder: &Path, name: &str, classes: &Path) -> Result<PathBuf> {
    let file = folder.join(name).with_extension("gate");
    let mut record = Command::new(&artefacts::artefacts()?.cli);
    record.args(["gate", "record", "--runs", "1", "-o"]).arg(&file);
    record.env("TRODDEN_AGENT", &artefacts::artefacts()?.agent);
    record.arg("--").arg(jdk.command("java").get_program());
    record.arg("-cp").arg(classes).arg("demo.shop.Shop");
    process::run(&mut record, LIMIT)?.success()?;
    Ok(file)
}

/// The same, another one, and one that has another test.
fn compared_gates(folder: &Path, [base, new]: &[PathBuf; 2]) -> Result<Vec<PathBuf>> {
    let text = fs::read_to_string(base)?;
    let other = folder.join("other.gate");
    fs::write(
        &other,
        text.replace("demo.shop.Shop\n", "demo.shop.Other\tdiffers from itself\n"),
    )?;
    let arguments = ["gate", "compare", "--format", "json"];
    let pairs = [
        ("same", base, base),
        ("changed", base, new),
        ("other", base, &other),
    ];
    let mut documents = Vec::new();
    for (name, before, after) in pairs {
        let mut compare = Command::new(&artefacts::artefacts()?.cli);
        compare.args(arguments).args([before, after]);
        let text = process::run(&mut compare, LIMIT)?.success()?.stdout;
        let out = folder.join(format!("gate-{name}.json"));
        fs::write(&out, text)?;
        documents.push(out);
    }
    Ok(documents)
}

/// A made-up document that a test of reports keeps.
fn snapshot(folder: &Path, name: &str) -> Result<PathBuf> {
    let snapshot = format!("../report/tests/snapshots/suite__{name}.snap");
    let text = fs::read_to_string(Path::new(build::ROOT).join(snapshot))?;
    let (_, text) = text.split_once("\n---\n").ok_or("no snapshot")?;
    let made_up = folder.join(format!("{name}.json"));
    fs::write(&made_up, text)?;
    Ok(made_up)
}

/// Documents by schema, of a program with branches, switches, calls and recursion.
fn documents(folder: &Path) -> Result<Vec<(&'static str, Vec<PathBuf>)>> {
    let jdk = Jdk::newest()?;
    let source = Path::new(build::ROOT).join("exports/demo/shop/Shop.java");
    let classes = compiled(&jdk, folder, "classes", &source)?;
    let mut reports = Vec::new();
    let mut profiles = Vec::new();
    for (name, options) in RECORDINGS {
        let profile = recorded(&jdk, folder, name, &classes, options)?;
        let report = ["report", "--format", "json"];
        reports.push(written(folder, &format!("{name}.json"), &report, &[&profile])?);
        profiles.push(profile);
    }
    // A cache that misses because of one more condition.
    let text = fs::read_to_string(&source)?;
    let changed = text.replace("hit != null &&", "hit != null && sku.length() > 2 &&");
    assert_ne!(text, changed);
    let source = folder.join("Shop.java");
    fs::write(&source, changed)?;
    let changed = compiled(&jdk, folder, "changed-classes", &source)?;
    let gates = [
        gate(&jdk, folder, "base", &classes)?,
        gate(&jdk, folder, "new", &changed)?,
    ];
    let changed = recorded(&jdk, folder, "changed", &changed, &["--probe", "counters"])?;
    // Of a made-up profile with damage and with loops that are not counted.
    reports.push(snapshot(folder, "formats__json")?);
    let of = |name: &str| {
        let at = RECORDINGS.iter().position(|one| one.0 == name);
        &profiles[at.expect("a recording")]
    };
    let coverage = ["report", "--format", "coverage-json"];
    let class_files = [
        "report",
        "--format",
        "coverage-json",
        "--classes",
        &classes.to_string_lossy(),
    ];
    let criteria = ["coverage", "--format", "json", "--mcdc", "--prime-paths"];
    let compare = ["compare", "--format", "json"];
    let diff = ["diff", "--format", "json", "--threshold", "0"];
    let mut compared = Vec::new();
    for (one, other) in [
        ("exact", "exact"),
        ("exact", "sampled"),
        ("exact", "auto"),
        ("kpaths", "kpaths"),
        ("contexts", "contexts"),
        ("contexts", "hot-contexts"),
        ("contexts", "burst-contexts"),
        ("subpaths", "subpaths"),
        ("structural", "structural"),
    ] {
        let file = format!("compare-{one}-{other}.json");
        compared.push(written(folder, &file, &compare, &[of(one), of(other)])?);
    }
    Ok(vec![
        ("report", reports),
        (
            "coverage",
            vec![
                written(folder, "coverage.json", &coverage, &[of("exact")])?,
                written(folder, "coverage-classes.json", &class_files, &[of("cut")])?,
                written(folder, "coverage-criteria.json", &criteria, &[of("kpaths")])?,
            ],
        ),
        (
            "diff",
            vec![
                written(folder, "same.json", &diff, &[of("exact"), of("exact")])?,
                written(folder, "diff.json", &diff, &[of("exact"), &changed])?,
                written(folder, "diff-sampled.json", &diff, &[of("exact"), of("sampled")])?,
            ],
        ),
        ("compare", compared),
        ("gate", compared_gates(folder, &gates)?),
        ("slow", vec![snapshot(folder, "slow__json")?]),
    ])
}

#[test]
fn what_is_written_is_what_the_schemas_say() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let all = documents(folder.path())?;
    assert_eq!(all.len(), SCHEMAS.len());
    for (name, documents) in &all {
        let Some(said) = readers::validate(&schema(name), documents)? else {
            return Ok(());
        };
        for (document, said) in documents.iter().zip(said) {
            let text = fs::read_to_string(document)?;
            assert_eq!(said, "ok", "{name}: {}: {text}", document.display());
        }
    }
    // Each kind's own key was really there.
    for (file, key) in [
        ("kpaths", "/kpaths/methods/0/trees/0/0/path"),
        ("contexts", "/contexts/tree/0/calls"),
        ("subpaths", "/subpaths/subpaths/0/steps/0"),
        ("structural", "/methods/0/structural/0/paths/0/steps/0/kind"),
        ("exact", "/methods/0/paths/0/steps/0/condition"),
        ("compare-kpaths-kpaths", "/kpaths/levels/0"),
        ("compare-contexts-contexts", "/contexts/hot_edge_coverage/0"),
        ("burst-contexts", "/contexts/tree/0/share_interval"),
        ("compare-contexts-burst-contexts", "/contexts/intervals"),
        ("compare-structural-structural", "/structural/path_accuracy"),
        ("compare-subpaths-subpaths", "/subpaths/right"),
        ("coverage", "/methods/0/paths"),
        ("diff", "/methods/0/cause/condition"),
        ("diff", "/methods/0/new_lines/0"),
        ("gate-changed", "/tests/0/grew/path"),
        ("gate-other", "/tests/0/unstable"),
    ] {
        let text = fs::read_to_string(folder.path().join(format!("{file}.json")))?;
        let json: Value = serde_json::from_str(&text)?;
        assert!(json.pointer(key).is_some(), "{file} has no {key}");
    }
    a_schema_refuses_what_is_not_so(folder.path(), &all)
}

/// A field that is not described, one that is missing, a number where a text is: each breaks each schema.
fn a_schema_refuses_what_is_not_so(folder: &Path, all: &[(&str, Vec<PathBuf>)]) -> Result<()> {
    for (name, documents) in all {
        // The first diff is that of a profile with itself and has no methods. The first of the others have no
        // optional key.
        let text = fs::read_to_string(&documents[usize::from(*name == "diff")])?;
        let good: Value = serde_json::from_str(&text)?;
        let keys: Vec<String> = good.as_object().ok_or("an object")?.keys().cloned().collect();
        let mut spoilt = Vec::new();
        let mut unknown = good.clone();
        unknown["nobody_described_this"] = json!(1);
        spoilt.push(unknown);
        for key in &keys {
            let mut missing = good.clone();
            missing.as_object_mut().ok_or("an object")?.remove(key);
            spoilt.push(missing);
            let mut other = good.clone();
            other[key] = json!({"not": "so"});
            spoilt.push(other);
        }
        if good["methods"].get(0).is_some() {
            let mut deeper = good.clone();
            deeper["methods"][0]["nobody_described_this"] = json!(1);
            spoilt.push(deeper);
            let mut missing = good.clone();
            missing["methods"][0]
                .as_object_mut()
                .ok_or("an object")?
                .remove("class");
            spoilt.push(missing);
        }
        let mut files = Vec::new();
        for (at, document) in spoilt.iter().enumerate() {
            let file = folder.join(format!("{name}-spoilt-{at}.json"));
            fs::write(&file, document.to_string())?;
            files.push(file);
        }
        for (at, said) in readers::validate(&schema(name), &files)?
            .unwrap_or_default()
            .iter()
            .enumerate()
        {
            assert_ne!(said, "ok", "{name}: accepted: {}", spoilt[at]);
        }
    }
    Ok(())
}

/// Every object that is ours is closed, and everything is described.
#[test]
fn the_schemas_leave_nothing_open() -> Result<()> {
    let folder = Path::new(build::ROOT).join("../docs/schema");
    let mut found = 0;
    for entry in fs::read_dir(&folder)? {
        let path = entry?.path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        found += 1;
        let schema: Value = serde_json::from_str(&fs::read_to_string(&path)?)?;
        assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
        assert!(schema["description"].is_string());
        look(&schema, &path.display().to_string());
    }
    // Answers of the store's questions are validated by its own tests.
    assert_eq!(found, SCHEMAS.len() + 1);
    Ok(())
}

fn look(schema: &Value, place: &str) {
    if let Some(properties) = schema["properties"].as_object() {
        assert_eq!(schema["type"], "object", "{place}");
        assert_eq!(schema["additionalProperties"], false, "{place}");
        for (name, property) in properties {
            let described = ["description", "$ref", "const"]
                .iter()
                .any(|key| !property[*key].is_null());
            // Counters by a name that says all.
            let plain = place.ends_with("/summary/properties/methods");
            assert!(described || plain, "{place}: {name}");
        }
    }
    match schema {
        // Conditions on objects that are described elsewhere have no description of their own.
        Value::Object(map) => map
            .iter()
            .filter(|(key, _)| !["if", "then"].contains(&key.as_str()))
            .for_each(|(key, value)| look(value, &format!("{place}/{key}"))),
        Value::Array(list) => list.iter().for_each(|value| look(value, place)),
        _ => (),
    }
}
