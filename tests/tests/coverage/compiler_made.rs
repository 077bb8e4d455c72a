//! Code that compilers make on their own is left out of coverage as JaCoCo leaves it out: a sample with one
//! method for each rule, line by line and method by method, so that thresholds carry over.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use trodden_tests::jacoco::{Jacoco, facts};
use trodden_tests::jdk::Jdk;
use trodden_tests::{Result, artefacts, build, old_javac, process};

const LIMIT: Duration = Duration::from_secs(200);

/// Nothing may differ.
const NONE: &[(&str, &str)] = &[];

/// Known differences of patterns by ECJ: the place, and why.
const KNOWN_OF_ECJ_PATTERNS: &[(&str, &str)] = &[
    // What throws on if taking a record apart throws: JaCoCo knows only javac's form of it, and has it on the
    // last line.
    ("records(Lmade/MadePatterns$Shape;)I from 40", "one line less"),
    ("MadePatterns.java line 46", "the line"),
    ("recordOrNot(Ljava/lang/Object;)I from 49", "one line less"),
    ("MadePatterns.java line 53", "the line"),
];

/// The counts that are compared between two reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Counted {
    /// Lines and branches.
    Lines,
    /// Instructions, too.
    Instructions,
}

/// Lines and branches of each method, methods and classes.
fn sums(xml: &str, counted: Counted) -> BTreeMap<String, String> {
    let wanted = |key: &String| {
        let kinds = ["BRANCH", "LINE", "METHOD", "COMPLEXITY", "INSTRUCTION"];
        let kinds = if counted == Counted::Instructions {
            &kinds
        } else {
            &kinds[..4]
        };
        // Sums over classes follow from these.
        key.contains("/method ") && kinds.iter().any(|kind| key.ends_with(kind))
    };
    let branches = |key: &String| key.contains(" line ");
    let all = facts(xml).into_iter();
    all.filter_map(|(key, value)| match () {
        () if wanted(&key) => Some((key, value)),
        // Of a line: did any of it run, and its branches.
        () if branches(&key) && counted == Counted::Instructions => Some((key, value)),
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

/// The differences between JaCoCo's report about a program and ours.
fn differences(
    jdk: &Jdk,
    folder: &Path,
    (class, class_path): (&str, &str),
    known: &[(&str, &str)],
    counted: Counted,
) -> Result<Vec<String>> {
    let jacoco = Jacoco::fetched()?;
    let path = |name: &str| -> PathBuf { folder.join(name) };
    let run = |flags: &[String]| {
        let mut java = jdk.command("java");
        java.args(flags).args(["-ea", "-cp", class_path, class]);
        process::run(&mut java, LIMIT)?.success()
    };
    let theirs = jacoco.flag(&path("exec"));
    run(std::slice::from_ref(&theirs))?;
    let agent = |file: &str| -> Result<String> {
        let agent = artefacts::artefacts()?.agent.display();
        let file = path(file).display().to_string();
        Ok(format!(
            "-agentpath:{agent}=start,profile=coverage,coverage=paths,include=made.*,file={file}"
        ))
    };
    run(&[agent("made.trodden")?])?;
    run(&[theirs.replace("exec", "exec-beside"), agent("beside.trodden")?])?;
    let theirs = sums(&jacoco.report(jdk, &path("exec"), &path("classes"))?, counted);
    let report = |profile: &str, format: &str, more: &[&str]| -> Result<String> {
        let mut trodden = Command::new(&artefacts::artefacts()?.cli);
        trodden.current_dir(folder);
        trodden.args(["report", profile, "--format", format, "--classes", "classes"]);
        Ok(process::run(trodden.args(more), LIMIT)?.success()?.stdout)
    };
    let ours = |more: &[&str]| -> Result<BTreeMap<String, String>> {
        Ok(sums(&report("made.trodden", "jacoco", more)?, counted))
    };
    let found = ours(&[])?;
    assert!(theirs.len() > 50, "{theirs:#?}");
    // JaCoCo's probes, next to ours in the same JVM, change nothing: paths neither.
    assert_eq!(
        sums(&report("beside.trodden", "jacoco", &[])?, counted),
        found,
        "{class}"
    );
    for format in ["lcov", "coverage"] {
        let alone = report("made.trodden", format, &[])?;
        assert_eq!(report("beside.trodden", format, &[])?, alone, "{class}");
    }
    let keys = theirs.keys().chain(found.keys());
    let all: Vec<&String> = keys.filter(|key| theirs.get(*key) != found.get(*key)).collect();
    for (place, what) in known {
        let there = all.iter().any(|key| key.contains(place));
        assert!(there, "no longer different: {what} of {place}");
    }
    let mut differ: Vec<String> = all
        .into_iter()
        .filter(|key| !known.iter().any(|(place, _)| key.contains(place)))
        .map(|key| format!("{key}: JaCoCo {:?}, we {:?}", theirs.get(key), found.get(key)))
        .collect();
    differ.sort();
    differ.dedup();
    // With everything counted there is more.
    assert!(ours(&["--compiler-made"])?.len() > found.len());
    Ok(differ)
}

/// Compiles a Java source of the samples.
fn compile(jdk: &Jdk, compiler: Compiler, source: &str, classes: &Path) -> Result<()> {
    let source = Path::new(build::ROOT).join("coverage/made").join(source);
    let mut command = match compiler {
        Compiler::Javac => jdk.command("javac"),
        Compiler::OldJavac(version) => return old_javac::compile(jdk, version, &source, classes),
        Compiler::Ecj => {
            let mut java = jdk.command("java");
            java.arg("-jar").arg(Jacoco::fetched()?.ecj);
            java.args(["-nowarn", "--release", if jdk.feature < 21 { "17" } else { "21" }]);
            java
        }
    };
    process::run(command.args(["-g", "-d"]).arg(classes).arg(source), LIMIT)?.success()?;
    Ok(())
}

#[derive(Clone, Copy, Debug)]
enum Compiler {
    Javac,
    OldJavac(&'static str),
    Ecj,
}

fn as_jacoco(
    jdk: &Jdk,
    compiler: Compiler,
    (name, counted): (&str, Counted),
    known: &[(&str, &str)],
) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let classes = folder.path().join("classes");
    compile(jdk, compiler, &format!("{name}.java"), &classes)?;
    let (program, class_path) = (format!("made.{name}"), classes.display().to_string());
    let differ = differences(jdk, folder.path(), (&program, &class_path), known, counted)?;
    assert!(
        differ.is_empty(),
        "{compiler:?}, {}: {differ:#?}",
        jdk.home.display()
    );
    Ok(())
}

#[test]
fn what_javac_makes_is_left_out_as_jacoco_does() -> Result<()> {
    for jdk in Jdk::ends()? {
        as_jacoco(&jdk, Compiler::Javac, ("Made", Counted::Instructions), NONE)?;
        if jdk.feature >= 21 {
            as_jacoco(
                &jdk,
                Compiler::Javac,
                ("MadePatterns", Counted::Instructions),
                NONE,
            )?;
        }
    }
    Ok(())
}

#[test]
#[cfg_attr(feature = "change", ignore = "all: javac stays")]
fn what_ecj_makes_is_left_out_as_jacoco_does() -> Result<()> {
    for jdk in Jdk::ends()? {
        as_jacoco(&jdk, Compiler::Ecj, ("Made", Counted::Instructions), NONE)?;
        if jdk.feature >= 21 {
            as_jacoco(
                &jdk,
                Compiler::Ecj,
                ("MadePatterns", Counted::Instructions),
                KNOWN_OF_ECJ_PATTERNS,
            )?;
        }
    }
    Ok(())
}

/// Decisions in `finally`, handlers written by hand that look like the compiler's, resources, `switch` over
/// strings and `assert`: to the instruction, by compilers of several ages.
#[test]
#[cfg_attr(feature = "change", ignore = "all: javac stays")]
fn copies_and_handlers_are_counted_as_jacoco_does() -> Result<()> {
    let sample = ("MadeFinally", Counted::Instructions);
    for jdk in Jdk::ends()? {
        as_jacoco(&jdk, Compiler::Javac, sample, NONE)?;
        as_jacoco(&jdk, Compiler::Ecj, sample, NONE)?;
    }
    let jdk = &Jdk::oldest()?;
    for version in old_javac::VERSIONS {
        as_jacoco(jdk, Compiler::OldJavac(version), sample, NONE)?;
    }
    Ok(())
}

#[test]
#[cfg_attr(feature = "change", ignore = "all: javac stays")]
fn what_kotlinc_makes_is_left_out_as_jacoco_does() -> Result<()> {
    let jdk = &Jdk::oldest()?;
    let source = Path::new(build::ROOT).join("coverage/made/MadeKotlin.kt");
    // Bodies of an interface's methods: in the interface, and in a class next to it.
    for options in [&[][..], &["-jvm-default=disable"]] {
        let folder = tempfile::tempdir()?;
        let classes = folder.path().join("classes");
        build::kotlinc(jdk, &build::jars()?, options, &source, &classes)?;
        let class_path = format!("{}:{}", classes.display(), build::kotlin_library()?.display());
        let program = ("made.MadeKotlinKt", class_path.as_str());
        let differ = differences(jdk, folder.path(), program, NONE, Counted::Lines)?;
        assert!(differ.is_empty(), "{options:?}: {differ:#?}");
        only_lines_of_the_file(folder.path(), &source)?;
    }
    Ok(())
}

/// The class file has numbers behind the file's end for inlined code: no format shows them.
fn only_lines_of_the_file(folder: &Path, source: &Path) -> Result<()> {
    let last = std::fs::read_to_string(source)?.lines().count() as u64;
    let report = |format: &str, more: &[&str]| -> Result<String> {
        let mut trodden = Command::new(&artefacts::artefacts()?.cli);
        trodden
            .current_dir(folder)
            .args(["report", "made.trodden", "--format", format]);
        Ok(process::run(trodden.args(more), LIMIT)?.success()?.stdout)
    };
    let json = report("json", &[])?;
    let lines = json.split("\"line\": ").skip(1);
    let numbers: Vec<u64> = lines
        .filter_map(|l| l.split([',', '\n']).next()?.trim().parse().ok())
        .collect();
    assert!(numbers.len() > 200, "{json}");
    assert!(numbers.iter().all(|&line| line <= last), "{last}: {numbers:?}");
    // What was inlined says where it comes from.
    assert!(json.contains("_Collections.kt:865 inlined"), "{json}");
    assert!(json.contains("MadeKotlin.kt:10 inlined"), "{json}");
    // Kotlin's signs for whether two objects are one, and as the source has it where it is at hand.
    assert!(
        json.contains("\"a === level\"") && json.contains("\"level === Level.LOW\""),
        "{json}"
    );
    let source = source
        .parent()
        .and_then(Path::parent)
        .ok_or("no folder")?
        .display()
        .to_string();
    let json = report("json", &["--sources", &source])?;
    assert!(
        json.contains("\"a === level\"") && json.contains("\"level == Level.LOW\""),
        "{json}"
    );
    for (format, key) in [("lcov", "DA:"), ("coverage-json", "\"line\": ")] {
        let text = report(format, &[])?;
        let numbers = text
            .split(key)
            .skip(1)
            .filter_map(|l| l.split([',', '\n']).next()?.trim().parse().ok());
        let numbers: Vec<u64> = numbers.collect();
        assert!(
            numbers.len() > 30 && numbers.iter().all(|&line| line <= last),
            "{format}: {numbers:?}"
        );
    }
    Ok(())
}
