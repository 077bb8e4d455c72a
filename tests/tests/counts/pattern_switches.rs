//! `switch` over patterns as reports show it: by the source's patterns, without the jumps that compilers add.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::Value;
use trodden_tests::jacoco::Jacoco;
use trodden_tests::jdk::Jdk;
use trodden_tests::{Result, artefacts, build, process};

const LIMIT: Duration = Duration::from_secs(200);

/// Method, and labels of its cases.
const CASES: [(&str, &[&str]); 6] = [
    (
        "area",
        &[
            "case Circle c when c.r() > 3",
            "case Circle c",
            "case Square q",
            "case Pair(Circle a, Circle b)",
            "case Pair(Shape a, Square b) when b.side() > 1",
            "case Pair p",
        ],
    ),
    (
        "kind",
        &[
            "case null",
            "case Integer i when i > 10 && i < 20",
            "case Integer i when i == 0 || i == 1",
            "case Integer i",
            "case String s when s.isEmpty()",
            "case Color c when c == Color.RED",
            "case Color c",
            "case int[] a",
            "default",
        ],
    ),
    ("color", &["case RED", "case GREEN", "case BLUE"]),
    (
        "mixed",
        &[
            "case Color.RED",
            "case Color.GREEN",
            "case String s when s.length() > 2",
            "case null, default",
        ],
    ),
    (
        "strings",
        &[
            "case \"a\"",
            "case \"b\"",
            "case String t when t.startsWith(\"c\")",
        ],
    ),
    ("size", &["case Disc(int r) when r > 1", "case Disc d"]),
];

fn reports(jdk: &Jdk, folder: &Path, mut compiler: Command) -> Result<[String; 3]> {
    let source = Path::new(build::ROOT).join("conditions/Shapes.java");
    let classes = folder.join("classes");
    process::run(compiler.args(["-g", "-d"]).arg(&classes).arg(source), LIMIT)?.success()?;
    let profile = folder.join("shapes.trodden");
    let mut java = jdk.command("java");
    java.arg(format!(
        "-agentpath:{}=start,quiet=true,probe=counters,include=Shapes*,file={}",
        artefacts::artefacts()?.agent.display(),
        profile.display()
    ));
    process::run(java.arg("-cp").arg(&classes).arg("Shapes"), LIMIT)?.success()?;
    let report = |arguments: &[&str]| -> Result<String> {
        let mut trodden = Command::new(&artefacts::artefacts()?.cli);
        trodden.arg(arguments[0]).arg(&profile).args(&arguments[1..]);
        Ok(process::run(&mut trodden, LIMIT)?.success()?.stdout)
    };
    Ok([
        report(&["report", "--all"])?,
        report(&["coverage", "--format", "json"])?,
        report(&["report", "--format", "html"])?,
    ])
}

fn check(name: &str, [text, coverage, page]: &[String; 3]) -> Result<()> {
    let coverage: Value = serde_json::from_str(coverage)?;
    let methods = coverage["methods"].as_array().ok_or("no methods")?;
    for (method, cases) in CASES {
        let found = methods.iter().find(|m| m["name"] == method).ok_or(method)?;
        let branches = found["branches"].as_array().ok_or("no branches")?;
        let outcomes = branches
            .iter()
            .filter_map(|branch| branch["outcomes"].as_array())
            .flatten();
        let labels: BTreeSet<&str> = outcomes.filter_map(|outcome| outcome["label"].as_str()).collect();
        for case in cases {
            // Two strings may lead to one place, and be one outcome.
            let bare = case.trim_start_matches("case ");
            let there = labels.iter().any(|label| {
                label == case
                    || label
                        .split(", ")
                        .any(|part| part.trim_start_matches("case ") == bare)
            });
            assert!(there, "{name}, {method}: no {case} in {labels:#?}");
        }
        for branch in branches {
            // What the compiler asks of constants is not the source's.
            let condition = branch["condition"].as_str().unwrap_or_default();
            assert!(
                !condition.is_empty() && !condition.starts_with(|c: char| c.is_ascii_digit()),
                "{name}, {method}: {branch:#}"
            );
        }
        // The search for the next case is no loop.
        for path in found["paths"].as_array().ok_or("no paths")? {
            let kinds = [&path["start"]["kind"], &path["end"]["kind"]];
            assert!(
                kinds.iter().all(|kind| **kind != "header"),
                "{name}, {method}: {path:#}"
            );
            for step in path["steps"].as_array().ok_or("no steps")? {
                let outcome = step["outcome"].as_str().unwrap_or_default();
                let number = outcome
                    .strip_prefix("case ")
                    .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
                assert!(!outcome.is_empty() && !number, "{name}, {method}: {step:#}");
            }
        }
    }
    assert!(text.contains("next case of the switch, line"), "{name}: {text}");
    for report in [text, page] {
        assert!(
            report.contains("case Circle c when c.r() &gt; 3")
                || report.contains("case Circle c when c.r() > 3"),
            "{name}"
        );
    }
    // Only `main` has loops.
    for method in text
        .replace("Shapes.java:", "")
        .split("Shapes.")
        .skip(1)
        .filter(|part| !part.starts_with("main("))
    {
        assert!(!method.contains("top of the loop"), "{name}: {method}");
    }
    Ok(())
}

#[test]
fn cases_are_those_of_the_source() -> Result<()> {
    let Some(jdk) = Jdk::ends()?.into_iter().find(|jdk| jdk.feature >= 21) else {
        eprintln!("SKIPPED, no JDK has patterns in switch");
        return Ok(());
    };
    let newest = jdk.feature.to_string();
    for release in ["21", newest.as_str()] {
        let folder = tempfile::tempdir()?;
        let mut javac = jdk.command("javac");
        javac.args(["--release", release]);
        check(
            &format!("javac, {release}"),
            &reports(&jdk, folder.path(), javac)?,
        )?;
    }
    let folder = tempfile::tempdir()?;
    let mut ecj = jdk.command("java");
    ecj.arg("-jar")
        .arg(Jacoco::fetched()?.ecj)
        .args(["-nowarn", "--release", "21"]);
    check("ECJ", &reports(&jdk, folder.path(), ecj)?)
}
