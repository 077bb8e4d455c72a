//! The event stream in real JVMs: whatever threads do and however they end, every event arrives, on every
//! way.

use std::time::{Duration, Instant};

use trodden_profile::Profile;
use trodden_tests::Result;
use trodden_tests::events::{ANALYSES, Obedient, all_ways, difference, fact, live, replay, whole};
use trodden_tests::jdk::Jdk;
use trodden_tests::profile::{Counts, SequenceCounts, counts, forests};

const LIMIT: Duration = Duration::from_secs(600);

/// Everything that a program prints is the same in every run.
fn all(output: &str) -> &str {
    output
}

/// The second line is about memory.
fn first_line(output: &str) -> &str {
    output.lines().next().unwrap_or_default()
}

fn total(counts: &Counts, method: &str) -> u64 {
    let of = counts.iter().filter(|(id, _)| id.name == method);
    of.flat_map(|(_, paths)| paths.values()).sum()
}

#[test]
fn threads_live_and_replayed() -> Result<()> {
    for jdk in Jdk::ends()? {
        let (counts, profile) = all_ways(&jdk, &["threads", "8", "60"], all)?;
        // Into the loop, its rounds, and out of it.
        assert_eq!(total(&counts, "job"), 8 * (60 + 2));
        assert!(fact(&profile, "threads")? >= 9);
    }
    Ok(())
}

#[test]
#[cfg_attr(feature = "change", ignore = "all: ten thousand threads")]
fn ten_thousand_threads_that_die() -> Result<()> {
    for jdk in Jdk::ends()? {
        let (counts, profile) = all_ways(&jdk, &["short", "10000"], all)?;
        assert_eq!(total(&counts, "job"), 3 * 10_000);
        assert!(fact(&profile, "threads")? > 10_000);
    }
    Ok(())
}

#[test]
fn virtual_threads_that_change_carriers() -> Result<()> {
    match Jdk::all()?.last() {
        Some(jdk) if jdk.feature >= 21 => {
            let (counts, profile) = all_ways(jdk, &["virtual", "5000"], first_line)?;
            assert_eq!(total(&counts, "job"), 2 * 3 * 5000);
            assert!(fact(&profile, "threads")? > 5000);
        }
        _ => eprintln!("no JDK with virtual threads here"),
    }
    Ok(())
}

#[test]
fn every_way_to_end_with_threads_in_mid_recursion() -> Result<()> {
    for jdk in Jdk::ends()? {
        for how in ["daemon", "exit", "halt", "uncaught"] {
            let (counts, _) = all_ways(&jdk, &[how], all).map_err(|e| format!("{how}: {e}"))?;
            let jobs = total(&counts, "job");
            let of_main = if how == "daemon" || how == "exit" { 22 } else { 0 };
            assert_eq!(jobs, 4 * 52 + of_main, "{how}");
            // What activations that never end had done.
            assert!(total(&counts, "hold") > 0);
        }
    }
    Ok(())
}

/// Exceptions that are caught in code without probes, with no probes below: no word says that activations
/// have ended.
#[test]
fn activations_that_nobody_misses() -> Result<()> {
    let arguments = ["thrown", "100000"];
    for jdk in Jdk::ends()? {
        let exact = counts(&live(&jdk, "counters", &arguments)?.1);
        assert!(total(&exact, "fail") >= 100_000);
        let (_, found) = live(&jdk, &format!("events,{ANALYSES}"), &arguments)?;
        assert_eq!(counts(&found), exact);
        assert_eq!(fact(&found, "lost")?, 0);
        // They were forgotten again and again.
        assert!(fact(&found, "gaps")? > 100, "{:?}", found.run.facts);
    }
    Ok(())
}

/// The work of the method that obeys depends on the commands; all others are in the job.
fn of_jobs(profile: &Profile) -> Counts {
    let mut counts = counts(profile);
    counts.retain(|id, _| id.name != "level" && id.name != "main");
    counts
}

fn jobs_of(profile: &Profile) -> Result<SequenceCounts> {
    let mut forests = forests(profile)?;
    forests.retain(|id, _| id.name != "level" && id.name != "main");
    Ok(forests)
}

fn times<K: Ord + Clone, S: Ord + Clone>(
    once: &std::collections::BTreeMap<K, std::collections::BTreeMap<S, u64>>,
    n: u64,
) -> std::collections::BTreeMap<K, std::collections::BTreeMap<S, u64>> {
    let mut all = once.clone();
    all.values_mut()
        .flat_map(|m| m.values_mut())
        .for_each(|c| *c *= n);
    all
}

#[test]
fn commands_in_the_middle_of_a_recursion() -> Result<()> {
    let start = ["--profile", "paths+kpaths", "--k", "4", "--include", "Streams*"];
    for jdk in Jdk::ends()? {
        let mut program = Obedient::start(&jdk, Some((&format!("events,{ANALYSES}"), "once")))?;
        program.obey("work")?;
        let (said, folder) = program.end(0)?;
        assert_eq!(
            said.lines().filter(|l| l.contains("trodden")).count(),
            0,
            "{said}"
        );
        let once = Profile::load(folder.path().join("once"))?;
        let (counts, sequences) = (of_jobs(&once), jobs_of(&once)?);
        let check = |program: &Obedient, name: &str, jobs: u64| -> Result<Profile> {
            let profile = program.profile(name)?;
            whole(&profile)?;
            let expected = times(&counts, jobs);
            let found = of_jobs(&profile);
            assert_eq!(expected, found, "{name}: {}", difference(&expected, &found));
            assert_eq!(times(&sequences, jobs), jobs_of(&profile)?, "{name}");
            Ok(profile)
        };

        let mut program = Obedient::start(&jdk, None)?;
        program.obey("down down work")?;
        program.tell("start", &start, Some("a.trodden"))?;
        program.obey("work work down work")?;
        program.tell("dump", &[], Some("b.trodden"))?;
        check(&program, "b.trodden", 3)?;
        program.obey("down work")?;
        program.tell("reset", &[], None)?;
        // An exception through what began before the reset.
        program.obey("1 work down down")?;
        program.tell("stop", &[], Some("c.trodden"))?;
        check(&program, "c.trodden", 1)?;
        // Stopped: what had begun still reports, what begins does not.
        program.obey("work 2 work")?;
        program.tell("start", &start, Some("d.trodden"))?;
        program.obey("work down work 1")?;
        program.tell("dump", &[], None)?;
        check(&program, "d.trodden", 3)?;
        program.obey("work")?;
        let (_, folder) = program.end(3)?;
        let end = Profile::load(folder.path().join("d.trodden"))?;
        whole(&end)?;
        assert_eq!(of_jobs(&end), times(&counts, 4));
    }
    Ok(())
}

/// The block that a virtual thread has for events has no room for counters.
#[test]
fn counters_after_events_in_one_virtual_thread() -> Result<()> {
    match Jdk::all()?.last() {
        Some(jdk) if jdk.feature >= 21 => {
            let mut program = Obedient::start(jdk, None)?;
            let mut found = Vec::new();
            for probe in ["events", "counters", "events"] {
                let name = format!("{}-{probe}.trodden", found.len());
                program.tell("start", &["--probe", probe, "--include", "Streams*"], Some(&name))?;
                program.obey("virtual work virtual")?;
                program.tell("stop", &[], None)?;
                found.push(of_jobs(&program.profile(&name)?));
            }
            assert_eq!(total(&found[0], "job"), 3 * 6);
            for probe in &found[1..] {
                assert_eq!(&found[0], probe, "{}", difference(&found[0], probe));
            }
            program.end(0)?;
        }
        _ => eprintln!("no JDK with virtual threads here"),
    }
    Ok(())
}

/// A new profile knows nothing of activations that began in the one before it: exceptions that end only what
/// came later must be understood all the same.
#[test]
fn a_new_profile_in_the_middle_of_a_recursion() -> Result<()> {
    let script = "down down work 1 work down down 2 work";
    let new = ["--profile", "paths+kpaths", "--k", "4", "--include", "Streams*"];
    let before = ["--profile", "paths+kpaths", "--k", "3", "--include", "Streams*"];
    for jdk in Jdk::ends()? {
        let mut found = Vec::new();
        for running in [false, true] {
            let mut program = Obedient::start(&jdk, None)?;
            if running {
                program.tell("start", &before, Some("before.trodden"))?;
            }
            program.obey("down down down")?;
            if running {
                program.tell("stop", &[], None)?;
            }
            program.tell("start", &new, Some("new.trodden"))?;
            program.obey(script)?;
            program.tell("dump", &[], None)?;
            let profile = program.profile("new.trodden")?;
            whole(&profile)?;
            found.push((counts(&profile), forests(&profile)?));
            program.end(4)?;
        }
        assert_eq!(found[0], found[1]);
    }
    Ok(())
}

#[test]
fn traces_from_outside() -> Result<()> {
    let start = ["--profile", "paths+kpaths", "--include", "Streams*"];
    for jdk in Jdk::ends()? {
        let mut program = Obedient::start(&jdk, None)?;
        let mut once = None;
        for name in ["first.trace", "second.trace"] {
            program.obey("down work")?;
            program.tell("start", &start, Some(name))?;
            program.obey("work down work 1 work")?;
            let refused = program
                .tell("dump", &[], None)
                .expect_err("a trace is no profile");
            assert!(refused.to_string().contains("when profiling stops"), "{refused}");
            program.tell("stop", &[], None)?;
            program.obey("work")?;
            let (profile, said) = replay(&program.file(name))?;
            assert_eq!(said, "");
            whole(&profile)?;
            let jobs = (of_jobs(&profile), jobs_of(&profile)?);
            assert_eq!(total(&jobs.0, "job"), 3 * 6);
            assert_eq!(*once.get_or_insert_with(|| jobs.clone()), jobs, "{name}");
        }
        program.end(2)?;
    }
    Ok(())
}

#[test]
fn a_killed_jvm_leaves_a_part_that_can_be_replayed() -> Result<()> {
    for jdk in Jdk::ends()? {
        let mut program = Obedient::start(&jdk, Some((&format!("events,{ANALYSES}"), "killed.trace")))?;
        // Enough for many full buffers, which the agent writes in its own time.
        program.obey(&"work down ".repeat(100))?;
        let (part, copy) = (program.file("killed.trace.part"), program.file("copy.part"));
        let since = Instant::now();
        let written = || -> Result<u64> {
            std::fs::copy(&part, &copy)?;
            Ok(replay(&copy).map_or(0, |(profile, _)| total(&counts(&profile), "job")))
        };
        while written()? == 0 {
            assert!(since.elapsed() < LIMIT, "nothing is written");
            std::thread::sleep(Duration::from_millis(50));
        }
        let folder = program.kill()?;
        assert!(!folder.path().join("killed.trace").exists());
        let (profile, said) = replay(&folder.path().join("killed.trace.part"))?;
        assert!(said.contains("never finished"), "{said}");
        assert_eq!(profile.run.facts.text("truncated").as_deref(), Some("true"));
        let jobs = total(&counts(&profile), "job");
        assert!(jobs > 0 && jobs <= 600, "{jobs}");
    }
    Ok(())
}
