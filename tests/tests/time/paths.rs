//! Time of paths, against what the program measures itself: which call is slow is decided by a branch, and
//! each way reads the thread's CPU clock. On both JDKs.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::Value;
use trodden_tests::jdk::Jdk;
use trodden_tests::profile::{SUSPICIOUS, agent_flag};
use trodden_tests::{Result, artefacts, build, chance, pages, process, ways};

pub const LIMIT: Duration = Duration::from_secs(300);
/// The profile in a folder of [`profiled`].
pub const FILE: &str = "out.trodden";
/// One call in ten is slow; `Work` is not instrumented. `handle`'s own clock readings are in both.
const PROGRAM: &str = "import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

public class Served {
    static final ThreadMXBean CLOCK = ManagementFactory.getThreadMXBean();
    static long sum;

    static void handle(int request) {
        if (request % 10 == 0) {
            sum += Work.spin(600_000);
        } else {
            sum += Work.spin(30_000);
        }
    }

    /// Probes are in front of the calls: these have other bytecode indices than the compiler gave them.
    static void late(int request) {
        if ((request & 1) == 0) {
            sum++;
        }
        if ((request & 2) == 0) {
            sum++;
        }
        if ((request & 4) == 0) {
            sum++;
        }
        if (request % 3 == 0) {
            sum += Work.spin(200_000);
        } else {
            sum += Work.spin(20_000);
        }
    }

    static void behindProbes() {
        long[] spent = new long[2];
        long end = CLOCK.getCurrentThreadCpuTime() + 3_000_000_000L;
        for (int i = 0; ; i++) {
            long before = CLOCK.getCurrentThreadCpuTime();
            if (before > end) {
                break;
            }
            late(i);
            spent[i % 3 == 0 ? 0 : 1] += CLOCK.getCurrentThreadCpuTime() - before;
        }
        System.out.println((double) spent[0] / (spent[0] + spent[1]) + \" \" + (sum != 0));
    }

    /// The two ways run the same code; one takes ten times as long there.
    static void shared(int request) {
        int rounds = 60_000;
        if (request % 5 == 0) {
            rounds = 600_000;
        }
        sum += Work.spin(rounds);
    }

    static void sameCode() {
        long[] spent = new long[2];
        long end = CLOCK.getCurrentThreadCpuTime() + 6_000_000_000L;
        for (int i = 0; ; i++) {
            long before = CLOCK.getCurrentThreadCpuTime();
            if (before > end) {
                break;
            }
            shared(i);
            spent[i % 5 == 0 ? 0 : 1] += CLOCK.getCurrentThreadCpuTime() - before;
        }
        System.out.println((double) spent[0] / (spent[0] + spent[1]) + \" \" + (sum != 0));
    }

    public static void main(String[] args) {
        if (args.length > 0) {
            if (args[0].equals(\"late\")) {
                behindProbes();
            } else {
                sameCode();
            }
            return;
        }
        long[] spent = new long[2];
        long end = CLOCK.getCurrentThreadCpuTime() + 3_000_000_000L;
        for (int i = 0; ; i++) {
            long before = CLOCK.getCurrentThreadCpuTime();
            if (before > end) {
                break;
            }
            handle(i);
            spent[i % 10 == 0 ? 0 : 1] += CLOCK.getCurrentThreadCpuTime() - before;
        }
        System.out.println((double) spent[0] / (spent[0] + spent[1]) + \" \" + (sum != 0));
    }
}

class Work {
    static long spin(int rounds) {
        long x = rounds;
        for (int i = 0; i < rounds; i++) {
            x = x * 31 + (x >>> 7);
        }
        return x;
    }
}
";

/// Runs the program: the share of time that it found itself, and the report.
fn recorded(jdk: &Jdk, probe: &str, arguments: &[&str]) -> Result<(f64, Value)> {
    recorded_with(jdk, &SUSPICIOUS, probe, arguments)
}

/// As above, with flags of the JVM.
fn recorded_with(jdk: &Jdk, flags: &[&str], probe: &str, arguments: &[&str]) -> Result<(f64, Value)> {
    let (spent, folder) = profiled(jdk, flags, probe, arguments)?;
    let report = report(&folder.path().join(FILE), &["--format", "json"])?;
    Ok((spent, serde_json::from_str(&report)?))
}

/// The output of `trodden report` for a profile.
pub fn report(file: &Path, options: &[&str]) -> Result<String> {
    let mut report = Command::new(&artefacts::artefacts()?.cli);
    report.arg("report").arg(file).args(options);
    Ok(process::run(&mut report, LIMIT)?.success()?.stdout)
}

/// Runs the program: the share of time that it found itself, and a folder with the profile, [`FILE`].
pub fn profiled(
    jdk: &Jdk,
    flags: &[&str],
    probe: &str,
    arguments: &[&str],
) -> Result<(f64, tempfile::TempDir)> {
    let classes = build::cached("served", &[], &[PROGRAM, &jdk.feature.to_string()], |out| {
        let source = out.join("Served.java");
        fs::write(&source, PROGRAM)?;
        build::javac(jdk, ".", &[source], out)
    })?;
    let folder = tempfile::tempdir()?;
    let file = folder.path().join(FILE);
    let mut java = jdk.command("java");
    // Under this collector compiled loops can be stopped between their iterations.
    java.args(flags)
        .arg("-XX:+UseG1GC")
        .arg(agent_flag(&format!("{probe},sample=1ms"), "Served", &file)?)
        .arg("-cp")
        .arg(classes)
        .arg("Served")
        .args(arguments);
    let outcome = process::run(&mut java, LIMIT)?.success()?;
    let share = outcome.stdout.strip_suffix(" true\n").map(str::parse);
    let Some(Ok(spent)) = share else {
        return Err(format!("no share: {outcome:#?}").into());
    };
    Ok((spent, folder))
}

pub fn method<'j>(json: &'j Value, name: &str) -> Result<&'j Value> {
    let methods = json["methods"].as_array().ok_or("no methods")?;
    let found = methods.iter().find(|method| method["name"] == name);
    Ok(found.ok_or_else(|| format!("no method '{name}'"))?)
}

/// Returns true if a step of a path is this decision.
fn says(step: &Value, condition: &str, outcome: &str) -> bool {
    let is_it = step["condition"].as_str().is_some_and(|c| c.contains(condition));
    is_it && step["outcome"] == outcome
}

/// Samples state where instructions are in the code that runs. Blocks are those of the code without probes.
#[test]
fn time_behind_probes_is_where_it_was_taken() -> Result<()> {
    for jdk in &Jdk::ends()? {
        for probe in ["counters", "auto", "yieldpoint"] {
            let (spent, json) = recorded(jdk, probe, &["late"])?;
            let late = method(&json, "late")?;
            let what = format!("JDK {}, {probe}: measured {spent}, found {late:#}", jdk.feature);
            let mut found = 0.0;
            for path in late["paths"].as_array().ok_or("no paths")? {
                let steps = path["steps"].as_array().ok_or("no steps")?;
                if steps.iter().any(|step| says(step, "% 3 == 0", "yes")) {
                    found += path["time"]["share"].as_f64().ok_or("no share")?;
                }
            }
            assert!((found - spent).abs() < 0.08, "{found}; {what}");
            let share = |of: &str| late["time"][of]["share"].as_f64().unwrap_or(1.0);
            assert!(share("unplaced") < 0.02 * share("total"), "{what}");
        }
    }
    Ok(())
}

#[test]
fn the_slow_way_has_its_time() -> Result<()> {
    for jdk in &Jdk::ends()? {
        let (spent, json) = recorded(jdk, "counters", &[])?;
        let handle = method(&json, "handle")?;
        let paths = handle["paths"].as_array().ok_or("no paths")?;
        assert_eq!(paths.len(), 2, "{handle}");
        // The rarer one is the slow one.
        let slow = paths.iter().min_by_key(|path| path["count"].as_u64());
        let time = &slow.ok_or("no path")?["time"];
        let share = time["share"].as_f64().ok_or("no share")?;
        let interval: [f64; 2] = serde_json::from_value(time["interval"].clone())?;
        let what = format!("JDK {}: measured {spent}, found {time}", jdk.feature);
        // The program's clock readings are spread over all calls alike: most of the difference.
        assert!((share - spent).abs() < 0.08, "{what}");
        assert!(interval[0] <= share && share <= interval[1], "{what}");
        assert!(interval[1] - interval[0] < 0.3, "{what}");
        // The two ways have the branch in common, and nothing else.
        assert!(
            share - time["certain"].as_f64().ok_or("no share")? < 0.1,
            "{what}"
        );
        let found = json["findings"].as_array().ok_or("no findings")?;
        assert_eq!(found[0]["kind"], "slow-outcome", "{found:?}");
        let decision = ["method", "condition", "outcome"].map(|key| found[0][key].as_str());
        assert_eq!(
            decision.map(Option::unwrap_or_default),
            ["handle", "request % 10 == 0", "yes"],
            "{found:?}"
        );
        // All paths with the outcome are one path here.
        let branches = method(&json, "handle")?["branches"]
            .as_array()
            .ok_or("no branches")?;
        let outcomes = branches[0]["outcome_time"].as_array().ok_or("no times")?;
        let slow = outcomes.iter().find(|outcome| outcome["outcome"] == "yes");
        let slow = slow.ok_or("no time of the outcome")?;
        assert_eq!(
            (&slow["share"], &slow["interval"]),
            (&time["share"], &time["interval"])
        );
    }
    Ok(())
}

/// The way that led to a place is not known from the place where time is taken. The path that is counted next
/// states it, and so does the path register of a frame.
#[test]
fn paths_have_the_time_of_code_that_all_of_them_run() -> Result<()> {
    for jdk in &Jdk::ends()? {
        for probe in ["counters", "auto"] {
            // With `-Xcheck:jni` no sample waits.
            let (spent, json) = recorded_with(jdk, &["-Xverify:all"], probe, &["shared"])?;
            let shared = method(&json, "shared")?;
            let slow = shared["paths"].as_array().ok_or("no paths")?.iter();
            let slow = slow.min_by_key(|path| path["count"].as_u64()).ok_or("no path")?;
            let time = &slow["time"];
            let what = format!("JDK {}, {probe}: measured {spent}, found {time}", jdk.feature);
            let share = time["share"].as_f64().ok_or("no share")?;
            // By counts it would be a fifth.
            assert!((share - spent).abs() < 0.08, "{what}");
            let [low, high]: [f64; 2] = serde_json::from_value(time["interval"].clone())?;
            assert!(low - 0.04 < spent && spent < high + 0.04, "{what}");
            assert!(high - low < 0.2, "{what}");
        }
    }
    Ok(())
}

/// As above, by readings of the register.
#[test]
fn prefixes_divide_the_time_of_code_that_both_ways_run() -> Result<()> {
    for jdk in &Jdk::ends()? {
        let run = |probe: &str| recorded(jdk, probe, &["shared"]);
        let (spent, json) = run("safepoint")?;
        let shared = method(&json, "shared")?;
        let what = format!("JDK {}: measured {spent}, found {shared:#}", jdk.feature);
        let (mut share, mut least, mut most) = (0.0, 0.0, 0.0);
        for prefix in shared["partial"].as_array().ok_or("no prefixes")? {
            let steps = prefix["steps"].as_array().ok_or("no steps")?;
            if steps.iter().any(|step| says(step, "% 5 == 0", "yes")) {
                let time = &prefix["time"];
                share += time["share"].as_f64().ok_or("no share")?;
                let [low, high]: [f64; 2] = serde_json::from_value(time["interval"].clone())?;
                (least, most) = (least + low, most + high);
            }
        }
        assert!((share - spent).abs() < 0.15, "{share}; {what}");
        assert!(
            least <= share && share <= most && most - least < 0.4,
            "{least} {most}; {what}"
        );
    }
    Ok(())
}

/// The commands of the page on a first profile find the slow outcome that it names, and what a repair
/// saves.
#[test]
fn the_first_profile_of_the_documentation_works() -> Result<()> {
    let jdk = Jdk::ends()?.pop().ok_or("no JDK")?;
    let folder = tempfile::tempdir()?;
    let (blocks, outcome) = pages::run("first-profile.md", &jdk, folder.path())?;
    assert_eq!(blocks, 5);
    assert!(
        outcome
            .stderr
            .contains("1. Shop.order (Shop.java:10): `express → yes` takes"),
        "{}",
        outcome.stderr
    );
    for shown in [
        "10 express → yes · 11 blocked.contains(customer) → no · 15",
        "path 1, 159,600 times",
        "CPU time for the same work fell by",
        "1. shop.Shop.order(int, boolean)",
    ] {
        assert!(outcome.stdout.contains(shown), "{shown}\n{}", outcome.stdout);
    }
    assert!(folder.path().join("shop.html").is_file());
    Ok(())
}

/// Ways of all shapes of code have the time that the program measured; intervals of 95 % hold more often than
/// not, and say something. `--bin ways` counts how often.
#[test]
fn ways_have_the_time_that_the_program_measured() -> Result<()> {
    for jdk in &Jdk::ends()? {
        for shape in ways::SHAPES {
            if shape == "virtual" && jdk.feature < 21 {
                continue;
            }
            chance::with_more(&[1.5, 3.0], |seconds| {
                for way in ways::run(jdk, shape, seconds)? {
                    let off = (way.share - way.truth).abs();
                    let half = (way.interval[1] - way.interval[0]) / 2.0;
                    if off > 3.0 * half.max(0.02) || half > 0.12 {
                        return Err(format!("JDK {}, {shape}: {way:?}", jdk.feature).into());
                    }
                }
                Ok(())
            })?;
        }
    }
    Ok(())
}
