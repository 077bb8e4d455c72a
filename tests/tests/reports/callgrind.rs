//! Callgrind's format on many programs: what `callgrind_annotate` says of each function, and the outcomes of
//! branches, against the JSON report.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::Value;
use trodden_profile::{MethodMap, Profile};
use trodden_tests::jdk::Jdk;
use trodden_tests::{Result, artefacts, build, process};

const LIMIT: Duration = Duration::from_secs(600);
/// Programs of `benchmarks-java/kernels`.
const KERNELS: [&str; 12] = [
    "fft",
    "heapsort",
    "raytracer",
    "lexergen",
    "compress",
    "db",
    "mandelbrot",
    "sieve",
    "convolution",
    "tasktags",
    "recursion",
    "dispatch",
];

/// `a.b.C.m(int[], C)`, as the files call functions.
fn title(class: &str, name: &str, descriptor: &str) -> String {
    let mut parameters = Vec::new();
    let mut rest = descriptor.trim_start_matches('(');
    while !rest.starts_with(')') && !rest.is_empty() {
        let element = rest.trim_start_matches('[');
        let arrays = "[]".repeat(rest.len() - element.len());
        let class = element.strip_prefix('L').and_then(|class| class.split_once(';'));
        let (base, after) = match class {
            Some((class, after)) => (class.rsplit('/').next().unwrap_or(class), after),
            None => {
                let (base, after) = element.split_at(1);
                let names = [
                    "byte", "char", "double", "float", "int", "long", "short", "boolean",
                ];
                let at = "BCDFIJSZ".find(base);
                (at.map_or(base, |at| names[at]), after)
            }
        };
        parameters.push(format!("{base}{arrays}"));
        rest = after;
    }
    format!("{}.{name}({})", class.replace('/', "."), parameters.join(", "))
}

/// The total, and the functions with a number of their own or with what they call, as `callgrind_annotate`
/// lists them.
fn annotated(file: &Path, event: &str, inclusive: bool) -> Result<(u64, BTreeMap<String, u64>)> {
    let mut annotate = Command::new("callgrind_annotate");
    annotate.args(["--threshold=100", "--auto=no"]);
    annotate.arg(format!("--inclusive={}", if inclusive { "yes" } else { "no" }));
    annotate
        .arg(format!("--show={event}"))
        .arg(format!("--sort={event}"));
    let outcome = process::run(annotate.arg(file), LIMIT)?.success()?;
    assert_eq!(outcome.stderr, "");
    let number = |text: &str| -> u64 {
        let digits: String = text.chars().filter(char::is_ascii_digit).collect();
        digits.parse().unwrap_or_default()
    };
    let (mut total, mut functions) = (0, BTreeMap::new());
    for line in outcome.stdout.lines() {
        let Some((first, rest)) = line.trim_start().split_once([' ', '\t']) else {
            continue;
        };
        if !first.starts_with(|c: char| c.is_ascii_digit()) {
            continue;
        }
        // A share follows, if there is one: `6,554 (96.96%)  Shop.java:demo.Shop.main(String[])`.
        let rest = rest.trim_start();
        let rest = match rest.split_once("%)") {
            Some((_, rest)) if rest.starts_with(' ') => rest.trim_start(),
            _ => rest,
        };
        match rest.split_once(':') {
            Some((_, function)) => {
                functions.insert(function.to_owned(), number(first));
            }
            None if rest == "PROGRAM TOTALS" => total = number(first),
            None => {}
        }
    }
    Ok((total, functions))
}

/// Times of outcomes in the file: by function and line of the branch.
fn jumps(text: &str) -> BTreeMap<(String, u32), Vec<u64>> {
    let mut names: BTreeMap<&str, &str> = BTreeMap::new();
    let mut found: BTreeMap<_, Vec<u64>> = BTreeMap::new();
    let (mut function, mut lines) = ("", text.lines());
    while let Some(line) = lines.next() {
        if let Some(name) = line.strip_prefix("fn=").or(line.strip_prefix("cfn=")) {
            let (number, name) = name.split_once(' ').unwrap_or((name, ""));
            if !name.is_empty() {
                names.insert(number, name);
            }
            if line.starts_with("fn=") {
                function = names[number];
            }
        } else if let Some(jump) = line.strip_prefix("jcnd=") {
            let times = jump.split('/').next().and_then(|times| times.parse().ok());
            let at = lines.next().and_then(|line| line.parse().ok());
            let (Some(times), Some(at)) = (times, at) else {
                panic!("{line}");
            };
            found.entry((function.to_owned(), at)).or_default().push(times);
        }
    }
    found
}

/// Outcomes that were taken, from the JSON report. Switches are no jumps.
fn branches(json: &Value) -> BTreeMap<(String, u32), Vec<u64>> {
    let mut found: BTreeMap<_, Vec<u64>> = BTreeMap::new();
    for method in json["methods"].as_array().into_iter().flatten() {
        for branch in method["branches"].as_array().into_iter().flatten() {
            let key = (named(method), branch["line"].as_u64().unwrap_or_default() as u32);
            let counts = ["taken", "not_taken"].map(|key| branch[key].as_u64().unwrap_or_default());
            found.entry(key).or_default().extend(counts);
        }
    }
    found
}

fn named(method: &Value) -> String {
    let text = |key: &str| method[key].as_str().unwrap_or_default();
    match text("descriptor") {
        "" => text("name").to_owned(),
        descriptor => title(text("class"), text("name"), descriptor),
    }
}

/// How often the lines of a method ran, in sum: of each line the block that ran most often, from paths and
/// their blocks.
fn executions(map: &MethodMap, counts: &BTreeMap<u64, u64>) -> Option<u64> {
    let mut blocks = vec![0; map.blocks.len()];
    for (&number, &count) in counts {
        for block in map.describe(number).ok()?.blocks {
            blocks[block.index()] += count;
        }
    }
    let mut lines: BTreeMap<u32, u64> = BTreeMap::new();
    for (block, times) in map.blocks.iter().zip(blocks) {
        let within = |bci: &u32| (block.start..block.end).contains(bci);
        let begins = map.lines.iter().filter(|entry| within(&entry.bci));
        let here = begins.map(|entry| entry.line).chain(map.line(block.start));
        for line in here {
            let most = lines.entry(line).or_default();
            *most = times.max(*most);
        }
    }
    Some(lines.values().sum())
}

fn check(jdk: &Jdk, kernel: &str, classes: &Path) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let at = |name: &str| folder.path().join(name);
    let trodden = |arguments: &[&str]| -> Result<Command> {
        let mut command = Command::new(&artefacts::artefacts()?.cli);
        command.current_dir(folder.path()).args(arguments);
        command.env("TRODDEN_AGENT", &artefacts::artefacts()?.agent);
        Ok(command)
    };
    let mut run = trodden(&["run", "--quiet", "--probe", "counters", "--sample", "1ms"])?;
    run.args(["--include", "trodden.kernels.*", "-o", "x.trodden", "--"]);
    run.arg(jdk.command("java").get_program()).arg("-cp").arg(classes);
    run.args([
        "trodden.kernels.Main",
        "--warmup",
        "0",
        "--iterations",
        "1",
        kernel,
    ]);
    process::run(&mut run, LIMIT)?.success()?;
    for file in ["x.callgrind", "x.json"] {
        process::run(&mut trodden(&["report", "x.trodden", "-o", file])?, LIMIT)?.success()?;
    }
    let json: Value = serde_json::from_str(&fs::read_to_string(at("x.json"))?)?;

    let seconds = |time: &Value| time["seconds"].as_f64().unwrap_or_default();
    let ns = |seconds: f64| (seconds * 1e9).round() as u64;
    let (total, own) = annotated(&at("x.callgrind"), "Ns", false)?;
    assert_eq!(total, ns(seconds(&json["time"])), "{kernel}");
    assert!(total > 0);
    let mut expected: BTreeMap<String, u64> = BTreeMap::new();
    for method in json["time"]["methods"].as_array().into_iter().flatten() {
        *expected.entry(named(method)).or_default() += ns(seconds(&method["self"]));
    }
    let with_time = |mut functions: BTreeMap<String, u64>| {
        functions.retain(|_, ns| *ns > 0);
        functions
    };
    assert_eq!(with_time(own), with_time(expected), "{kernel}");
    // The time of all that a method calls; main does not call itself.
    let (_, inclusive) = annotated(&at("x.callgrind"), "Ns", true)?;
    let main = json["time"]["methods"].as_array().into_iter().flatten();
    let main = main
        .filter(|method| method["name"] == "main")
        .map(|method| (named(method), ns(seconds(&method["total"]))));
    for (function, expected) in main {
        assert_eq!(inclusive.get(&function), Some(&expected), "{kernel} {function}");
    }

    let (total, found) = annotated(&at("x.callgrind"), "Executions", false)?;
    let recorded = Profile::load(at("x.trodden"))?;
    let mut compared = 0;
    for class in &recorded.classes {
        let methods = class.map.methods.iter().zip(&class.counts);
        // Of paths that were cut off only a part is known.
        for (map, counts) in methods.filter(|(_, counts)| counts.partial.is_empty()) {
            let function = title(&class.map.name, &map.name, &map.descriptor);
            let found = found.get(&function).copied().unwrap_or_default();
            assert_eq!(Some(found), executions(map, &counts.paths), "{kernel} {function}");
            compared += u64::from(found > 0);
        }
    }
    assert!(compared > 2, "{kernel}: {compared}");
    assert_eq!(total, found.values().sum::<u64>(), "{kernel}");

    let text = fs::read_to_string(at("x.callgrind"))?;
    let (jumps, mut branches) = (jumps(&text), branches(&json));
    for (place, outcomes) in &mut branches {
        outcomes.retain(|times| *times > 0);
        outcomes.sort_unstable();
        let mut times = jumps.get(place).cloned().unwrap_or_default();
        times.sort_unstable();
        // Outcomes with one target are one jump.
        if times.len() == outcomes.len() {
            assert_eq!(times, *outcomes, "{kernel} {place:?}");
        }
        assert_eq!(
            times.iter().sum::<u64>(),
            outcomes.iter().sum::<u64>(),
            "{kernel} {place:?}"
        );
    }
    assert!(jumps.keys().all(|place| branches.contains_key(place)), "{kernel}");
    assert!(!jumps.is_empty(), "{kernel}");
    Ok(())
}

#[test]
#[cfg_attr(feature = "change", ignore = "all: twelve programs on two JDKs")]
fn twelve_programs_have_our_totals_and_outcomes() -> Result<()> {
    if !process::is_there("callgrind_annotate") {
        return Ok(());
    }
    let kernels = Path::new(build::ROOT).join("../benchmarks-java/kernels/src/trodden/kernels");
    let mut sources: Vec<_> = fs::read_dir(kernels)?
        .map(|file| Ok(file?.path()))
        .collect::<Result<_>>()?;
    sources.sort();
    for jdk in Jdk::both()? {
        let classes = build::classes(&jdk, "kernels", &sources)?;
        for kernel in KERNELS {
            check(&jdk, kernel, &classes)?;
        }
    }
    Ok(())
}
