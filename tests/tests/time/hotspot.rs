//! Branches of methods without probes, as HotSpot counted them itself, against what the program does. On
//! both JDKs.

use std::fmt::Write as _;
use std::fs;
use std::process::Command;

use serde_json::Value;
use trodden_tests::jdk::Jdk;
use trodden_tests::profile::{SUSPICIOUS, agent_flag};
use trodden_tests::{Result, build, process};

use super::paths::{FILE, LIMIT, method, profiled, report};

/// The only branch with this condition, and its outcomes' shares: of executions, and of time.
fn shares(method: &Value, condition: &str) -> Result<Vec<(String, f64, Option<f64>)>> {
    let branches = method["branches"].as_array().ok_or("no branches")?;
    let mut found = branches.iter().filter(|branch| branch["condition"] == condition);
    let (Some(branch), None) = (found.next(), found.next()) else {
        return Err(format!("not one branch '{condition}': {method:#}").into());
    };
    assert_eq!(branch["source"], "hotspot", "{branch}");
    assert!(
        branch.get("taken").is_none(),
        "HotSpot's counts are no counts of the run: {branch}"
    );
    let times = branch["outcome_time"].as_array().ok_or("no times")?;
    let outcomes = branch["outcomes"].as_array().ok_or("no outcomes")?;
    let mut all = Vec::new();
    for outcome in outcomes {
        let time = times.iter().find(|time| time["outcome"] == outcome["outcome"]);
        let name = outcome["outcome"].as_str().ok_or("no name")?;
        let share = outcome["share"].as_f64().ok_or("no share")?;
        all.push((
            name.to_owned(),
            share,
            time.and_then(|time| time["share"].as_f64()),
        ));
    }
    Ok(all)
}

#[test]
fn without_probes_outcomes_have_their_shares_and_their_time() -> Result<()> {
    for jdk in &Jdk::ends()? {
        let (spent, folder) = profiled(jdk, &SUSPICIOUS, "none", &[])?;
        let file = folder.path().join(FILE);
        let json: Value = serde_json::from_str(&report(&file, &["--format", "json"])?)?;
        let handle = method(&json, "handle")?;
        let what = format!("JDK {}: measured {spent}, found {handle:#}", jdk.feature);
        let outcomes = shares(handle, "request % 10 == 0")?;
        let [no, yes] = ["no", "yes"].map(|name| outcomes.iter().find(|(outcome, ..)| outcome == name));
        let (Some((_, no, _)), Some((_, yes, Some(time)))) = (no, yes) else {
            return Err(what.into());
        };
        assert!((yes - 0.1).abs() < 0.02 && (no - 0.9).abs() < 0.02, "{what}");
        // The program's clock readings are spread over all calls alike.
        assert!((time - spent).abs() < 0.1, "{what}");
        assert_eq!(json["totals"]["paths"], 0, "{what}");
        let text = report(&file, &[])?;
        assert!(text.contains("request % 10 == 0 → yes"), "{text}");
    }
    Ok(())
}

/// A method that probes would push over the limit of the compilers, with a `switch` and a branch of known
/// shares; what makes it long never runs.
fn huge() -> String {
    let mut code = String::from(
        "public class Huge {
    static long sum;
    static long step(int i, long x) {
        switch (i % 8) {
            case 3: x += 7; break;
            case 4: case 5: x ^= 5; break;
            default: x++;
        }
        if (i % 5 == 0) {
            for (int j = 0; j < 40; j++) { x = x * 31 + j; }
        }
        if (x == Long.MIN_VALUE + 12345) {\n",
    );
    for i in 0..606 {
        let _ = writeln!(code, "            x += x * {} / (i + 1);", 100_000 + i);
    }
    code += "        }
        return x;
    }
    public static void main(String[] args) {
        long end = System.nanoTime() + 3_000_000_000L;
        for (int i = 0; System.nanoTime() < end; i++) { sum += step(i % 1000, sum); }
        System.out.println(sum != 0);
    }
}\n";
    code
}

#[test]
fn methods_over_the_limit_have_branches() -> Result<()> {
    for jdk in &Jdk::ends()? {
        let classes = build::cached("huge", &[], &[&huge(), &jdk.feature.to_string()], |out| {
            let source = out.join("Huge.java");
            fs::write(&source, huge())?;
            build::javac(jdk, ".", &[source], out)
        })?;
        let folder = tempfile::tempdir()?;
        let file = folder.path().join(FILE);
        let mut java: Command = jdk.command("java");
        java.args(SUSPICIOUS)
            .arg(agent_flag("counters,sample=1ms", "Huge", &file)?)
            .arg("-cp")
            .arg(classes)
            .arg("Huge");
        assert_eq!(process::run(&mut java, LIMIT)?.success()?.stdout, "true\n");
        let json: Value = serde_json::from_str(&report(&file, &["--format", "json"])?)?;
        let step = method(&json, "step")?;
        let what = format!("JDK {}: {step:#}", jdk.feature);
        assert!(
            step["reason"]
                .as_str()
                .is_some_and(|why| why.contains("8,000-byte")),
            "{what}"
        );
        let expect = |condition: &str, expected: &[(&str, f64)]| -> Result<()> {
            let found = shares(step, condition)?;
            assert_eq!(found.len(), expected.len(), "{what}");
            for (name, share) in expected {
                let is_it =
                    |(outcome, of, _): &&(String, f64, _)| outcome == name && (of - share).abs() < 0.01;
                assert!(found.iter().any(|one| is_it(&one)), "{name}: {share}; {what}");
            }
            Ok(())
        };
        expect("i % 5 == 0", &[("yes", 0.2), ("no", 0.8)])?;
        expect("j < 40", &[("again", 40.0 / 41.0), ("done", 1.0 / 41.0)])?;
        expect(
            "i % 8",
            &[("case 3", 0.125), ("case 4, 5", 0.25), ("default", 0.625)],
        )?;
    }
    Ok(())
}
