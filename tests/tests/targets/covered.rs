//! `profile=coverage` on real JVMs: every target against the oracle's log of blocks, and what runs for the
//! first time in compiled code, at the end of the stack, in a full heap, in many threads, after an attach.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use libtest_mimic::Trial;
use trodden_profile::Profile;
use trodden_tests::jdk::Jdk;
use trodden_tests::target::{Language, Target, left_out_of_changes, some_in_changes, trial};
use trodden_tests::{Result, artefacts, build, covered, process};

const LIMIT: Duration = Duration::from_secs(200);
/// Each way in which compiled code can come about: as usual; all of it at once, before anything has run; by
/// one compiler.
const WAYS: [&[&str]; 4] = [
    &[],
    &["-Xcomp"],
    &["-XX:TieredStopAtLevel=1"],
    &["-XX:-TieredCompilation", "-Xbatch"],
];

pub fn trials() -> Result<Vec<Trial>> {
    let judge = |target: &Target, jdk: &Jdk| covered::judge(target, jdk, &[]).map(drop);
    let targets = Target::trials("covered", &Jdk::ends()?, |target| !target.oracle, judge)?;
    let judge = |target: &Target, jdk: &Jdk| covered::judge_ahead(target, jdk).map(drop);
    // Those that run from a jar alone.
    let no_jar = |target: &Target| !target.oracle || target.language != Language::Java;
    let ahead = Target::trials("covered::ahead", &Jdk::ends()?, no_jar, judge)?;
    let mut trials: Vec<Trial> = some_in_changes(targets).chain(some_in_changes(ahead)).collect();
    for jdk in Jdk::ends()? {
        for (number, flags) in WAYS.into_iter().enumerate() {
            let own = jdk.clone();
            let name = format!("covered::first{number}/jdk{}", jdk.feature);
            let trial = trial(name, move || first(&own, flags));
            trials.push(match number {
                0 => trial,
                _ => left_out_of_changes(trial, "another way to compile"),
            });
        }
        for (name, judge) in [
            ("finalizers", finalizers as fn(&Jdk) -> Result<()>),
            ("attach", attach),
        ] {
            let name = format!("covered::{name}/jdk{}", jdk.feature);
            let jdk = jdk.clone();
            trials.push(trial(name, move || judge(&jdk)));
        }
    }
    Ok(trials)
}

/// The program, compiled.
fn program(jdk: &Jdk, name: &str) -> Result<std::path::PathBuf> {
    let source = Path::new(build::ROOT).join(format!("coverage/{name}.java"));
    let version = jdk.feature.to_string();
    build::cached(name, std::slice::from_ref(&source), &[&version], |out| {
        build::javac(jdk, ".", std::slice::from_ref(&source), out)
    })
}

/// Per line of the program that is marked: did it run, by its own mark; `late` is what runs after an attach.
fn marks(late_only: bool) -> Result<BTreeMap<u32, bool>> {
    let text = fs::read_to_string(Path::new(build::ROOT).join("coverage/First.java"))?;
    let mut marks = BTreeMap::new();
    for (line, text) in (1..).zip(text.lines()) {
        match text.rsplit_once("// ").map(|(_, mark)| mark) {
            Some("ran") => marks.insert(line, !late_only),
            Some("late") => marks.insert(line, true),
            Some("not") => marks.insert(line, false),
            _ => None,
        };
    }
    Ok(marks)
}

/// The program's lines in a profile, by way of the command line and LCOV.
fn lines(file: &Path) -> Result<BTreeMap<u32, bool>> {
    let mut command = Command::new(&artefacts::artefacts()?.cli);
    command.arg("coverage").arg(file).args(["--format", "lcov"]);
    let lcov = process::run(&mut command, LIMIT)?.success()?.stdout;
    let mut lines = BTreeMap::new();
    for entry in lcov.lines().filter_map(|line| line.strip_prefix("DA:")) {
        let (line, count) = entry.split_once(',').ok_or("a line of LCOV")?;
        *lines.entry(line.parse()?).or_default() |= count != "0";
    }
    Ok(lines)
}

fn compare(file: &Path, late_only: bool) -> Result<()> {
    let (marks, lines) = (marks(late_only)?, lines(file)?);
    let wrong = marks.iter().filter(|(line, ran)| lines.get(line) != Some(ran));
    let wrong: Vec<String> = wrong
        .map(|(line, ran)| format!("line {line}: expected {ran}, found {:?}", lines.get(line)))
        .collect();
    match (marks.len() > 40, wrong.as_slice()) {
        (false, _) => Err("too few lines are marked".into()),
        (true, []) => Ok(()),
        (true, wrong) => Err(wrong.join("\n").into()),
    }
}

fn first(jdk: &Jdk, flags: &[&str]) -> Result<()> {
    let classes = program(jdk, "First")?;
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("first.trodden");
    let run = |agent: &[String]| -> Result<process::Outcome> {
        let mut java = jdk.command("java");
        java.args(["-Xmx64m", "-Xss512k", "-Xverify:all", "-Xcheck:jni"])
            .args(flags)
            .args(agent);
        process::run(java.arg("-cp").arg(&classes).arg("First"), LIMIT)
    };
    let agent = format!(
        "-agentpath:{}=profile=coverage,include=First*,quiet=true,file={}",
        artefacts::artefacts()?.agent.display(),
        file.display()
    );
    let (plain, profiled) = (run(&[])?, run(&[agent])?);
    if plain != profiled || plain.status.code() != Some(3) {
        return Err(format!("{plain:#?}\n{profiled:#?}").into());
    }
    compare(&file, false)
}

/// A `finalize()` that does nothing takes no probe, so that the JVM registers no object for it: of whatever
/// would put one there.
fn finalizers(jdk: &Jdk) -> Result<()> {
    let classes = program(jdk, "Finalizers")?;
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("finalizers.trodden");
    let run = |agent: &[String]| -> Result<process::Outcome> {
        let mut java = jdk.command("java");
        java.args(agent).arg("-cp").arg(&classes).arg("Finalizers");
        process::run(&mut java, LIMIT)
    };
    let plain = run(&[])?;
    assert_eq!(plain.stdout, "0 6 of 4000\n");
    for options in [
        "profile=coverage",
        "profile=coverage,coverage=paths",
        "profile=contexts,burst=off",
    ] {
        let agent = format!(
            "-agentpath:{}={options},include=Finalizers*,quiet=true,file={}",
            artefacts::artefacts()?.agent.display(),
            file.display()
        );
        assert_eq!(run(&[agent])?, plain, "{options}");
        let skipped = Profile::load(&file)?.skipped;
        let mut reasons = skipped.iter().map(|skipped| skipped.reason.as_str());
        assert!(
            reasons.any(|reason| reason == "an empty finalize() has to stay empty"),
            "{options}"
        );
    }
    Ok(())
}

/// Coverage from the attach on, and nothing of what ran only before.
fn attach(jdk: &Jdk) -> Result<()> {
    let classes = program(jdk, "First")?;
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("late.trodden");
    let mut child = jdk
        .command("java")
        .args([
            "-Xmx64m",
            "-Xss512k",
            "-Xverify:all",
            "-Xcheck:jni",
            "-XX:+EnableDynamicAgentLoading",
        ])
        .arg("-cp")
        .arg(&classes)
        .args(["First", "wait"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let mut output = BufReader::new(child.stdout.take().ok_or("no stdout")?);
    let mut input = child.stdin.take().ok_or("no stdin")?;
    let mut wait = |wanted: &str| -> Result<()> {
        loop {
            let mut line = String::new();
            match output.read_line(&mut line)? {
                0 => return Err(format!("the program ended before it said {wanted}").into()),
                _ if line.trim() == wanted => return Ok(()),
                _ => {}
            }
        }
    };
    let attach = |rest: &[&str]| -> Result<()> {
        let mut command = Command::new(&artefacts::artefacts()?.cli);
        command.args(["attach", &child.id().to_string()]).args(rest);
        process::run(&mut command, LIMIT)?.success().map(drop)
    };
    wait("ready")?;
    attach(&["start", "--profile", "coverage", "--include", "First*"])?;
    input.write_all(b"\n")?;
    wait("done")?;
    let refused = attach(&["reset"]).map_err(|e| e.to_string());
    if !refused
        .as_ref()
        .is_err_and(|e| e.contains("coverage cannot be forgotten"))
    {
        return Err(format!("reset: {refused:?}").into());
    }
    // The file of a stop is whole; and after another start counting continues.
    let name = file.display().to_string();
    attach(&["stop", "--file", &name])?;
    compare(&file, true)?;
    attach(&["start", "--profile", "coverage", "--include", "First*"])?;
    attach(&["dump", "--file", &name])?;
    compare(&file, true)?;
    child.kill()?;
    child.wait()?;
    Ok(())
}
