//! MC/DC and prime paths, compared with GCC 15's for the same functions written in C
//! (`tests/criteria`).

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::Value;
use trodden_tests::jdk::Jdk;
use trodden_tests::process::Outcome;
use trodden_tests::{Result, artefacts, build, process};

const LIMIT: Duration = Duration::from_secs(200);

/// Line; outcomes that decided on their own, and all; those that did not: condition and outcome.
type Decision = (u32, usize, usize, Vec<(usize, bool)>);

/// The expected numbers of a function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Function {
    /// Its prime paths that ran, and all.
    primes: (usize, usize),
    /// Its decisions, by line.
    decisions: Vec<Decision>,
}

fn folder() -> PathBuf {
    Path::new(build::ROOT).join("criteria")
}

/// GCC's words: a function's prime paths stand above its first line, conditions below their line.
fn by_gcc() -> Result<BTreeMap<String, Function>> {
    let text = fs::read_to_string(folder().join("criteria.c.gcov"))?;
    let mut all: BTreeMap<String, Function> = BTreeMap::new();
    let (mut primes, mut current, mut line) = ((0, 0), String::new(), 0);
    for row in text.lines() {
        if row.starts_with("paths covered") {
            // Of a loop that is one block, it says 3 of 2 here; the list below has each path once.
            primes = (0, 0);
        } else if row.starts_with("path ") {
            primes.1 += 1;
            primes.0 += usize::from(row.contains(" covered:") && !row.contains(" not covered:"));
        } else if let Some(numbers) = row.strip_prefix("condition outcomes covered ") {
            let (covered, of) = numbers.split_once('/').ok_or(row)?;
            let function = all.get_mut(&current).ok_or("no function")?;
            function
                .decisions
                .push((line, covered.parse()?, of.parse()?, Vec::new()));
        } else if let Some(rest) = row.strip_prefix("condition ") {
            let mut words = rest.split_whitespace();
            let condition: usize = words.next().ok_or(row)?.parse()?;
            let function = all.get_mut(&current).ok_or("no function")?;
            let (.., missing) = function.decisions.last_mut().ok_or("no decision")?;
            missing.extend(rest.contains("true").then_some((condition, true)));
            missing.extend(rest.contains("false").then_some((condition, false)));
        } else {
            let mut parts = row.splitn(3, ':');
            line = parts.nth(1).ok_or(row)?.trim().parse()?;
            let source = parts.next().ok_or(row)?;
            if let Some(head) = source.strip_prefix("int ") {
                current = head.split('(').next().unwrap_or_default().to_owned();
                let function = Function {
                    primes: std::mem::take(&mut primes),
                    ..Function::default()
                };
                all.insert(current.clone(), function);
            }
        }
    }
    all.remove("main");
    all.values_mut()
        .for_each(|function| function.decisions.iter_mut().for_each(|d| d.3.sort()));
    Ok(all)
}

fn by_trodden(coverage: &Value) -> Result<BTreeMap<String, Function>> {
    let number = |value: &Value| value.as_u64().map(|n| n as usize).ok_or("no number");
    let mut all = BTreeMap::new();
    for method in coverage["methods"].as_array().ok_or("no methods")? {
        let name = method["name"].as_str().ok_or("no name")?.to_owned();
        let primes = &method["prime_paths"];
        assert_eq!(
            (&primes["unknown"], &primes["too_many"]),
            (&Value::from(0), &Value::from(false))
        );
        let mut function = Function {
            primes: (number(&primes["covered"])?, number(&primes["total"])?),
            decisions: Vec::new(),
        };
        for decision in method["mcdc"].as_array().ok_or("no decisions")? {
            let mut missing = Vec::new();
            for (at, condition) in decision["conditions"]
                .as_array()
                .ok_or("no conditions")?
                .iter()
                .enumerate()
            {
                for outcome in condition["outcomes"].as_array().ok_or("no outcomes")? {
                    if outcome["decided"] == false {
                        let is_true = ["yes", "again"].iter().any(|word| outcome["outcome"] == *word);
                        missing.push((at, is_true));
                    }
                }
            }
            missing.sort();
            let line = number(&decision["line"])? as u32;
            let sums = (number(&decision["covered"])?, number(&decision["total"])?);
            function.decisions.push((line, sums.0, sums.1, missing));
        }
        function.decisions.sort();
        all.insert(name, function);
    }
    all.retain(|name, _| name != "main" && name != "<init>");
    Ok(all)
}

struct Program {
    folder: tempfile::TempDir,
}

impl Program {
    fn compiled(jdk: &Jdk) -> Result<Program> {
        let folder = tempfile::tempdir()?;
        let mut javac = jdk.command("javac");
        javac.args(["-g", "-d"]).arg(folder.path().join("classes"));
        process::run(javac.arg(self::folder().join("Criteria.java")), LIMIT)?.success()?;
        Ok(Program { folder })
    }

    fn record(&self, jdk: &Jdk, options: &str, file: &str) -> Result<Outcome> {
        let mut java = jdk.command("java");
        java.current_dir(self.folder.path()).arg(format!(
            "-agentpath:{}=start,quiet=true,{options},include=Criteria,file={file}",
            artefacts::artefacts()?.agent.display()
        ));
        process::run(java.args(["-cp", "classes", "Criteria"]), LIMIT)?.success()
    }

    fn trodden(&self, arguments: &[&str]) -> Result<Outcome> {
        let mut trodden = Command::new(&artefacts::artefacts()?.cli);
        process::run(trodden.current_dir(self.folder.path()).args(arguments), LIMIT)
    }
}

#[test]
fn figures_are_those_of_gcc() -> Result<()> {
    let expected = by_gcc()?;
    assert!(expected.len() >= 20, "{expected:#?}");
    for jdk in Jdk::ends()? {
        let program = Program::compiled(&jdk)?;
        program.record(&jdk, "profile=kpaths,burst=off,k=10", "k.trodden")?;
        let arguments = [
            "coverage",
            "k.trodden",
            "--mcdc",
            "--prime-paths",
            "--format",
            "json",
        ];
        let json = program.trodden(&arguments)?.success()?.stdout;
        let found = by_trodden(&serde_json::from_str(&json)?)?;
        // All differences, from docs/coverage.md: (by GCC, here).
        let mut expected = expected.clone();
        for (name, by_gcc, here) in [("halve", (2, 2), (1, 2)), ("skip", (14, 23), (11, 18))] {
            let function = expected.get_mut(name).ok_or(name)?;
            assert_eq!(std::mem::replace(&mut function.primes, here), by_gcc, "{name}");
        }
        assert_eq!(found, expected, "{}", jdk.home.display());
    }
    Ok(())
}

/// Without the order of paths, unknown and not run are distinguished; a limit leaves methods
/// out, and says so.
#[test]
fn what_is_not_known_is_said() -> Result<()> {
    let jdk = &Jdk::oldest()?;
    let program = Program::compiled(jdk)?;
    program.record(jdk, "probe=counters", "paths.trodden")?;
    program.record(jdk, "profile=kpaths,burst=off,k=2", "two.trodden")?;
    program.record(jdk, "profile=coverage", "marks.trodden")?;
    let text = |file: &str, rest: &[&str]| -> Result<String> {
        let arguments = [&["coverage", file, "--prime-paths", "--mcdc"], rest].concat();
        let text = program.trodden(&arguments)?.success()?.stdout;
        Ok(text.split_whitespace().collect::<Vec<_>>().join(" "))
    };
    for (file, some) in [("paths.trodden", true), ("two.trodden", true)] {
        let text = text(file, &[])?;
        assert_eq!(
            text.contains("Whether they ran is not known"),
            some,
            "{file}: {text}"
        );
        assert!(
            text.contains("Record with --profile kpaths --burst off --k 3"),
            "{file}: {text}"
        );
    }
    let limited = text("two.trodden", &["--prime-path-cap", "20"])?;
    assert!(
        limited.contains("Not in the sums: 2 methods with more than 20 prime paths (such as Criteria#"),
        "{limited}"
    );
    let refused = program.trodden(&["coverage", "marks.trodden", "--mcdc"])?;
    assert_eq!(refused.status.code(), Some(1));
    assert!(
        refused.stderr.contains("need every path counted"),
        "{}",
        refused.stderr
    );
    Ok(())
}

#[test]
fn rules_may_speak_of_them() -> Result<()> {
    let jdk = &Jdk::oldest()?;
    let program = Program::compiled(jdk)?;
    program.record(jdk, "profile=kpaths,burst=off,k=10", "k.trodden")?;
    program.record(jdk, "probe=counters", "paths.trodden")?;
    let check = |file: &str, rules: &str| program.trodden(&["check", file, "--rules", rules]);
    let good = check(
        "k.trodden",
        "in *#leap: mcdc >= 80%; in *#gcd: missed prime-paths <= 1",
    )?;
    assert_eq!(good.status.code(), Some(0), "{}{}", good.stdout, good.stderr);
    let broken = check("k.trodden", "in *#leap: mcdc >= 100%; in *#gcd: prime-paths >= 5")?;
    assert_eq!(broken.status.code(), Some(3));
    for told in ["all: 5 of 6 mcdc (83.3 %)", "all: 4 of 5 prime-paths (80.0 %)"] {
        assert!(broken.stdout.contains(told), "{}", broken.stdout);
    }
    let unknown = check("paths.trodden", "prime-paths >= 1%")?;
    assert_eq!(unknown.status.code(), Some(1));
    assert!(
        unknown.stderr.contains("not known whether they ran"),
        "{}",
        unknown.stderr
    );
    Ok(())
}
