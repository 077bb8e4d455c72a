//! How good an edge profile HotSpot has already: branch counts of a running JVM without an agent
//! (`MethodData`, read from outside), held against exact ones of another run.
//!
//! HotSpot counts while it interprets and in C1's code; C2's code counts nothing. So these counts stop when a
//! method is hot, and say how it began.

mod counts;
mod memory;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::process::{Command, Stdio};
use std::time::Duration;

use trodden_profile::{BlockExit, EdgeProfile, Profile};

use crate::error::{Result, io, load_profile};
use crate::jvm::Config;
use crate::record::Record;
use crate::workload::Workload;
use crate::workspace::Jdk;
use crate::{Plan, progress};
use counts::{Counted, Outcomes, Place};
use memory::{Layout, Memory};

/// As many decisions a branch must have to say something.
const ENOUGH: u64 = 20;

/// A method of the exact profile.
#[derive(Debug, Default)]
struct Exact {
    /// Its conditional branches that were run.
    branches: BTreeMap<u32, Outcomes>,
    /// Path ends.
    paths: u64,
    /// Has it a switch too?
    has_switch: bool,
}

/// What the comparison comes to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Agreement {
    /// Decisions of the exact profile.
    decisions: u64,
    /// Those in branches that HotSpot has enough counts of.
    known: u64,
    /// Agreement of the two outcomes' shares, times decisions.
    agreeing: f64,
    /// Decisions in branches of which HotSpot knows one outcome alone.
    one_sided: u64,
    /// Of these, those that went the other way.
    surprises: u64,
    /// Methods with branches that were run; those of them with one-sided branches alone.
    methods: [usize; 2],
    /// Path ends in all methods; in those; decisions there, and those of them that went the other way.
    paths: [u64; 2],
    settled: [u64; 2],
}

impl Agreement {
    fn of(exact: &BTreeMap<(String, String), Exact>, counted: &BTreeMap<Place, Outcomes>) -> Agreement {
        let mut sum = Agreement::default();
        for ((class, method), exact) in exact {
            sum.methods[0] += 1;
            sum.paths[0] += exact.paths;
            let mut all_one_sided = !exact.has_switch;
            let mut settled = [0, 0];
            for (&bci, &[taken, not_taken]) in &exact.branches {
                let total = taken + not_taken;
                sum.decisions += total;
                let place = (class.clone(), method.clone(), bci);
                let [a, b] = counted.get(&place).copied().unwrap_or_default();
                if a + b < ENOUGH {
                    all_one_sided = false;
                    continue;
                }
                sum.known += total;
                let share = |part: u64, whole: u64| part as f64 / whole as f64;
                sum.agreeing += total as f64 * (1.0 - (share(taken, total) - share(a, a + b)).abs());
                match (a, b) {
                    (0, _) | (_, 0) => {
                        let other = if a == 0 { taken } else { not_taken };
                        sum.one_sided += total;
                        sum.surprises += other;
                        settled[0] += total;
                        settled[1] += other;
                    }
                    _ => all_one_sided = false,
                }
            }
            if all_one_sided {
                sum.methods[1] += 1;
                sum.paths[1] += exact.paths;
                sum.settled[0] += settled[0];
                sum.settled[1] += settled[1];
            }
        }
        sum
    }
}

/// Runs the workloads, writes `raw.csv` and `summary.md`, and returns the table.
///
/// # Errors
/// If a program fails, or the JVM's memory cannot be understood.
pub fn run(plan: &Plan, workloads: &[Workload], seconds: u32, record: &Record) -> Result<String> {
    let mut raw =
        record.raw("jdk,workload,class,method,bci,exact_taken,exact_not,counted_taken,counted_not")?;
    let mut text = format!(
        "Branch counts of a JVM without an agent, read from outside after {seconds} s of processor time, against an exact profile of another run \
         ({} iterations).\n\
         *Known*: share of the exact decisions in branches that HotSpot counted at least {ENOUGH} times. *Agreement*: of the outcomes' shares \
         there, weighted by exact decisions (PEP's relative overlap). *One-sided*: share of decisions in branches of which HotSpot knows one \
         outcome alone; *surprises*: share of those that went the other way. *Methods*: all of whose branches are one-sided and known (no switch), \
         with their share of path ends, and of surprises among their decisions.\n",
        plan.iterations
    );
    let folder = tempfile::tempdir().map_err(io("create a folder in", std::env::temp_dir()))?;
    for jdk in &plan.jdks {
        let _ = write!(
            text,
            "\n## JDK {}\n| program | method data | known | agreement | one-sided | surprises | methods one-sided | path ends there | surprises there |\n|{}\n",
            jdk.version,
            " --- |".repeat(9)
        );
        for workload in workloads {
            progress(&format!("{} {}", jdk.version, workload.name));
            let profile = folder.path().join("exact.trodden");
            let counters = Config::parse("counters")?;
            let launch = plan.launch(jdk, &counters, workload.include, &profile)?;
            launch.run_workload(workload, 0, plan.iterations)?;
            let loaded = load_profile(&profile, &workload.name)?;
            let exact = exact(&loaded);
            let counted = counted(plan, jdk, workload, seconds)?;
            for ((class, method), exact) in &exact {
                for (bci, [taken, not]) in &exact.branches {
                    let place = (class.clone(), method.clone(), *bci);
                    let [a, b] = counted.branches.get(&place).copied().unwrap_or_default();
                    // Rare ones would be most of the file.
                    if taken + not >= 100_000 {
                        raw.line(&format!(
                            "{},{},{class},{method},{bci},{taken},{not},{a},{b}",
                            jdk.version, workload.name
                        ))?;
                    }
                }
            }
            let a = Agreement::of(&exact, &counted.branches);
            let share = |part: u64, whole: u64| match whole {
                0 => "-".to_owned(),
                whole => format!("{:.2} %", part as f64 * 100.0 / whole as f64),
            };
            let _ = writeln!(
                text,
                "| {} | {} methods, {} not understood | {} | {:.2} % | {} | {} | {} of {} | {} | {} |",
                workload.name,
                counted.methods,
                counted.not_understood,
                share(a.known, a.decisions),
                a.agreeing * 100.0 / a.known as f64,
                share(a.one_sided, a.decisions),
                share(a.surprises, a.one_sided),
                a.methods[1],
                a.methods[0],
                share(a.paths[1], a.paths[0]),
                share(a.settled[1], a.settled[0]),
            );
            record.write("summary.md", &text)?;
        }
    }
    Ok(text)
}

/// Branches of an exact profile, by class and method.
fn exact(profile: &Profile) -> BTreeMap<(String, String), Exact> {
    let mut all: BTreeMap<(String, String), Exact> = BTreeMap::new();
    for class in &profile.classes {
        for (map, counts) in class.map.methods.iter().zip(&class.counts) {
            if counts.total() == 0 {
                continue;
            }
            let key = (class.map.name.clone(), format!("{}{}", map.name, map.descriptor));
            let method = all.entry(key).or_default();
            method.paths += counts.total();
            method.has_switch |= map.blocks.iter().any(|b| b.exit == BlockExit::Switch);
            for branch in EdgeProfile::of(map, counts).branches(map) {
                let (Some(taken), Some(not)) = (branch.taken(), branch.not_taken()) else {
                    continue;
                };
                if taken + not > 0 {
                    let outcomes = method.branches.entry(branch.at.bci).or_default();
                    outcomes[0] += taken;
                    outcomes[1] += not;
                }
            }
        }
    }
    all
}

/// Seconds of processor time that a process has spent; `None` if it has ended.
fn cpu_time(process: u32) -> Option<f64> {
    /// Of every Linux on x86 and ARM.
    const TICKS_A_SECOND: f64 = 100.0;
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name in brackets may have anything in it; of what follows, the 12th and 13th are user and system
    // time.
    let mut fields = stat[stat.rfind(')')? + 1..].split_whitespace().skip(11);
    let mut ticks = || fields.next()?.parse::<f64>().ok();
    Some((ticks()? + ticks()?) / TICKS_A_SECOND)
}

/// Runs a program without an agent for a while (of processor time: others may be busy), and reads its counts
/// while it stands still.
fn counted(plan: &Plan, jdk: &Jdk, workload: &Workload, seconds: u32) -> Result<Counted> {
    let mut java = Command::new(jdk.java());
    java.args(&plan.jvm_options)
        .args(&workload.arguments)
        .args(["--warmup", "0", "--iterations", "1000000"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut child = java.spawn().map_err(io("start", jdk.java()))?;
    let process = child.id();
    let until = f64::from(seconds);
    while cpu_time(process).is_some_and(|spent| spent < until) {
        std::thread::sleep(Duration::from_millis(20));
    }
    let stopped = Command::new("kill")
        .args(["-STOP", &process.to_string()])
        .status()
        .map_err(io("start", "kill"));
    let counted = stopped.and_then(|_| {
        let memory = Memory::of(process)?;
        let layout = Layout::of(process, &memory)?;
        counts::read(&memory, &layout)
    });
    // Errors here mean that it ended in this very moment.
    let _ = child.kill();
    let _ = child.wait();
    counted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_of_a_process() {
        let before = cpu_time(std::process::id()).unwrap();
        let begin = std::time::Instant::now();
        let mut turns = 0_u64;
        while cpu_time(std::process::id()).unwrap() <= before {
            turns += 1;
            assert!(
                begin.elapsed() < Duration::from_secs(60),
                "{turns} turns cost nothing"
            );
        }
        assert_eq!(cpu_time(u32::MAX), None);
    }

    #[test]
    fn agreement() {
        let method = |branches: &[(u32, Outcomes)], paths, has_switch| Exact {
            branches: branches.iter().copied().collect(),
            paths,
            has_switch,
        };
        let named = |name: &str| ("A".to_owned(), name.to_owned());
        let exact = BTreeMap::from([
            (
                named("sided()V"),
                method(&[(3, [0, 990]), (9, [10, 0])], 1000, false),
            ),
            (named("even()V"), method(&[(3, [500, 500])], 100, false)),
            (named("cold()V"), method(&[(3, [1, 0])], 1, false)),
            (named("switch()V"), method(&[(3, [0, 10])], 10, true)),
        ]);
        let place = |name: &str, bci| ("A".to_owned(), name.to_owned(), bci);
        let counted = BTreeMap::from([
            (place("sided()V", 3), [0, 50]),
            (place("sided()V", 9), [0, 20]),
            (place("even()V", 3), [25, 75]),
            (place("cold()V", 3), [1, 0]),
            (place("switch()V", 3), [0, 20]),
        ]);
        let found = Agreement::of(&exact, &counted);
        assert_eq!((found.decisions, found.known), (2011, 2010));
        assert_eq!(found.agreeing, 990.0 + 0.0 + 750.0 + 10.0);
        assert_eq!((found.one_sided, found.surprises), (1010, 10));
        assert_eq!((found.methods, found.paths), ([4, 1], [1111, 1000]));
        assert_eq!(found.settled, [1000, 10]);
    }
}
