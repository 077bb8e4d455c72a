//! Reports of exact profiles, walked over what `javap` says the code is.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use trodden_tests::feasible::{Report, check};
use trodden_tests::javap::{self, Listing};
use trodden_tests::jdk::Jdk;
use trodden_tests::profile::{agent_flag, run_profiled};
use trodden_tests::target::{Language, Target};
use trodden_tests::trace::MethodId;
use trodden_tests::{Result, artefacts, build, process};

const LIMIT: Duration = Duration::from_secs(120);

/// The JSON report of a profile.
fn report(profile: &Path) -> Result<Report> {
    let mut command = Command::new(&artefacts::artefacts()?.cli);
    command.arg("report").arg(profile).args(["--format", "json"]);
    let json = process::run(&mut command, LIMIT)?.success()?.stdout;
    Ok(serde_json::from_str(&json)?)
}

/// Report and listing of a target.
fn of_target(target: &Target, jdk: &Jdk) -> Result<(Report, BTreeMap<MethodId, Listing>)> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("out.trodden");
    run_profiled(target, jdk, "counters", &file)?;
    Ok((report(&file)?, javap::read(jdk, &target.classes()?)?))
}

#[test]
#[cfg_attr(feature = "change", ignore = "all: every path of every target")]
fn reported_paths_of_targets_are_possible() -> Result<()> {
    let newest = Jdk::newest()?;
    let mut walked = 0;
    for target in Target::all()? {
        if target.language != Language::Java || target.jdk > newest.feature {
            continue;
        }
        let (report, code) = of_target(&target, &newest)?;
        let wrong = check(&report, &code);
        assert!(wrong.is_empty(), "{}: {}", target.name, wrong.join("\n"));
        let paths: usize = report.methods.iter().map(|m| m.paths.len()).sum();
        assert!(paths > 5, "{}: {paths} paths", target.name);
        println!(
            "{}: {paths} paths of {} methods",
            target.name,
            report.methods.len()
        );
        walked += paths;
    }
    assert!(walked > 300, "{walked}");
    Ok(())
}

/// A program that has not been written for this: code in which the hot paths are long.
#[test]
#[cfg_attr(feature = "change", ignore = "all: the targets stay")]
fn reported_paths_of_kernels_are_possible() -> Result<()> {
    let sources = PathBuf::from(build::ROOT).join("../benchmarks-java/kernels/src/trodden/kernels");
    let mut files = Vec::new();
    for entry in std::fs::read_dir(sources)? {
        files.push(entry?.path());
    }
    files.sort();
    for jdk in Jdk::ends()? {
        let classes = build::cached("kernels", &files, &[&jdk.feature.to_string()], |out| {
            build::javac(&jdk, ".", &files, out)
        })?;
        let folder = tempfile::tempdir()?;
        let file = folder.path().join("out.trodden");
        let mut java = jdk.command("java");
        java.arg(agent_flag("counters", "trodden.kernels.*", &file)?);
        java.arg("-cp").arg(&classes).arg("trodden.kernels.Main");
        java.args(["lexergen", "heapsort", "--iterations", "1", "--warmup", "0"]);
        process::run(&mut java, LIMIT)?.success()?;
        let report = report(&file)?;
        let wrong = check(&report, &javap::read(&jdk, &classes)?);
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        let longest = report
            .methods
            .iter()
            .flat_map(|m| &m.paths)
            .map(|p| p.steps.len())
            .max();
        println!(
            "{} path ends of {} methods, the longest with {longest:?} decisions",
            report.totals.paths,
            report.methods.len()
        );
        assert!(report.totals.paths > 1_000_000 && longest > Some(5));
    }
    Ok(())
}

/// Whatever is changed in a report is noticed.
#[test]
fn a_wrong_report_is_noticed() -> Result<()> {
    let all = Target::all()?;
    let jdk = &Jdk::oldest()?;
    let mut changes = 0;
    for name in ["Loops", "Switches", "Exceptions"] {
        let target = all.iter().find(|t| t.name == name).ok_or(name)?;
        let (report, code) = of_target(target, jdk)?;
        assert_eq!(check(&report, &code), [""; 0]);
        for m in 0..report.methods.len() {
            for p in 0..report.methods[m].paths.len() {
                for change in 0.. {
                    let mut wrong = report.clone();
                    if !spoil(&mut wrong.methods[m].paths[p], change) {
                        break;
                    }
                    let method = &report.methods[m];
                    assert!(
                        !check(&wrong, &code).is_empty(),
                        "{name}: change {change} of path {} of {} was not noticed",
                        method.paths[p].id,
                        method.name
                    );
                    changes += 1;
                }
            }
        }
    }
    assert!(changes > 500, "{changes}");
    Ok(())
}

/// Makes the change of that number; `false` if there are not that many.
fn spoil(path: &mut trodden_tests::feasible::Path, change: usize) -> bool {
    let steps = path.steps.len();
    match change {
        0 => path.count += 1,
        1 => path.start.bci += 1,
        2 => path.end.bci += 1,
        3 => path.end.line = path.end.line.map(|line| line + 1),
        4 => path.id += 1_000_000_000,
        5 => {
            path.end.kind = if path.end.kind == "return" {
                "throw"
            } else {
                "return"
            }
            .to_owned();
        }
        _ if change - 6 < steps => {
            path.steps.remove(change - 6);
        }
        _ if change - 6 - steps < steps => {
            let step = &mut path.steps[change - 6 - steps];
            step.branch = match step.branch.as_str() {
                "taken" => "not-taken",
                "not-taken" => "taken",
                "default" => "case 123456",
                _ => "default",
            }
            .to_owned();
        }
        _ => return false,
    }
    true
}
