//! What compilers make on their own is left out of coverage as JaCoCo leaves it out: a sample with one method
//! for each rule, line by line and method by method, so that thresholds carry over.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use trodden_tests::jacoco::{Jacoco, facts};
use trodden_tests::jdk::Jdk;
use trodden_tests::{Result, artefacts, build, process};

const LIMIT: Duration = Duration::from_secs(200);

/// What may differ: the place, and why.
const KNOWN: &[(&str, &str)] = &[
    // `}` behind `try (…)`: JaCoCo leaves the calls of `close` out on the way through, too.
    ("resources(I)I from 112 LINE", "one line more"),
    ("Made.java line 118", "the line"),
    // `}` behind a `finally` that has only one copy: throwing the exception on.
    ("onlyWhenItThrows()I from 149 LINE", "one line more"),
    ("Made.java line 152", "the line"),
];

/// The same of Kotlin.
const KNOWN_OF_KOTLIN: &[(&str, &str)] = &[];

/// Lines and branches of each method, methods and classes; instructions are what compilers choose.
fn sums(xml: &str) -> BTreeMap<String, String> {
    let wanted = |key: &String| {
        // Sums over classes follow from these.
        key.contains("/method ")
            && ["BRANCH", "LINE", "METHOD", "COMPLEXITY"]
                .iter()
                .any(|kind| key.ends_with(kind))
    };
    let branches = |key: &String| key.contains(" line ");
    let all = facts(xml).into_iter();
    all.filter_map(|(key, value)| match () {
        () if wanted(&key) => Some((key, value)),
        // Of a line: did any of it run, and its branches.
        () if branches(&key) => {
            let number = |name: &str| {
                let from = value.find(&format!("{name}=\""))? + name.len() + 2;
                value[from..].split('"').next()?.parse::<u64>().ok()
            };
            let ran = number("ci")? > 0;
            Some((
                key,
                format!("ran={ran} mb={:?} cb={:?}", number("mb"), number("cb")),
            ))
        }
        () => None,
    })
    .collect()
}

/// What differs between JaCoCo's report about a program and ours.
fn differences(
    jdk: &Jdk,
    folder: &Path,
    (class, class_path): (&str, &str),
    known: &[(&str, &str)],
) -> Result<Vec<String>> {
    let jacoco = Jacoco::fetched()?;
    let path = |name: &str| -> PathBuf { folder.join(name) };
    let run = |flag: String| {
        let mut java = jdk.command("java");
        java.args([&flag, "-ea", "-cp", class_path, class]);
        process::run(&mut java, LIMIT)?.success()
    };
    run(jacoco.flag(&path("exec")))?;
    let agent = artefacts::artefacts()?.agent.display();
    run(format!(
        "-agentpath:{agent}=start,probe=counters,single-path-methods=probe,cut-paths=count,include=made.*,file={}",
        path("made.trodden").display()
    ))?;
    let theirs = sums(&jacoco.report(jdk, &path("exec"), &path("classes"))?);
    let ours = |more: &[&str]| -> Result<BTreeMap<String, String>> {
        let mut trodden = Command::new(&artefacts::artefacts()?.cli);
        trodden.current_dir(folder);
        trodden.args([
            "report",
            "made.trodden",
            "--format",
            "jacoco",
            "--classes",
            "classes",
        ]);
        Ok(sums(&process::run(trodden.args(more), LIMIT)?.success()?.stdout))
    };
    let found = ours(&[])?;
    assert!(theirs.len() > 80, "{theirs:#?}");
    let keys = theirs.keys().chain(found.keys());
    let mut differ: Vec<String> = keys
        .filter(|key| theirs.get(*key) != found.get(*key))
        .filter(|key| !known.iter().any(|(place, _)| key.contains(place)))
        .map(|key| format!("{key}: JaCoCo {:?}, we {:?}", theirs.get(key), found.get(key)))
        .collect();
    differ.sort();
    differ.dedup();
    // With everything counted there is more.
    assert!(ours(&["--compiler-made"])?.len() > found.len());
    Ok(differ)
}

#[test]
fn what_javac_makes_is_left_out_as_jacoco_does() -> Result<()> {
    for jdk in Jdk::ends()? {
        let folder = tempfile::tempdir()?;
        let classes = folder.path().join("classes");
        let mut javac = jdk.command("javac");
        let source = Path::new(build::ROOT).join("coverage/made/Made.java");
        process::run(javac.args(["-g", "-d"]).arg(&classes).arg(&source), LIMIT)?.success()?;
        let class_path = classes.display().to_string();
        let differ = differences(&jdk, folder.path(), ("made.Made", &class_path), KNOWN)?;
        assert!(differ.is_empty(), "{}: {differ:#?}", jdk.home.display());
    }
    Ok(())
}

#[test]
fn what_kotlinc_makes_is_left_out_as_jacoco_does() -> Result<()> {
    let jdk = &Jdk::ends()?[0];
    let folder = tempfile::tempdir()?;
    let classes = folder.path().join("classes");
    let source = Path::new(build::ROOT).join("coverage/made/MadeKotlin.kt");
    build::kotlinc(jdk, &source, &classes)?;
    let class_path = format!("{}:{}", classes.display(), build::kotlin_library()?.display());
    let program = ("made.MadeKotlinKt", class_path.as_str());
    let differ = differences(jdk, folder.path(), program, KNOWN_OF_KOTLIN)?;
    assert!(differ.is_empty(), "{differ:#?}");
    Ok(())
}
