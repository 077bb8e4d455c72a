//! `probe=auto` and structural profiles: classes lose their probes and get them back while the program runs.

use std::time::Duration;

use trodden_profile::{BlockExit, Profile};

use crate::jdk::Jdk;
use crate::process::{self, Outcome};
use crate::profile::{SUSPICIOUS, agent_flag, methods};
use crate::stress::{STEADY, java};
use crate::{Result, events};

/// The result of a run of `stress/Cycles.java`.
#[derive(Clone, Copy, Debug)]
pub struct Cycles {
    /// Retransformations, each of several classes: two make a cycle.
    pub retransformations: u64,
    /// How often a class lost its probes.
    pub retired: u64,
    /// How often one got them back.
    pub rearmed: u64,
    /// Rounds of work, all with the same result.
    pub rounds: u64,
    /// By how many KiB resident memory grew over the second half.
    pub resident: i64,
    /// Likewise the JVM's metaspace.
    pub metaspace: i64,
}

/// Runs a program of `stress/` with `probe=auto`; what it printed, and the profile.
fn run(
    program: &str,
    jdk: &Jdk,
    options: &str,
    flags: &[&str],
    arguments: &[&str],
) -> Result<(Outcome, Profile)> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("out.trodden");
    let mut all: Vec<String> = SUSPICIOUS.iter().chain(flags).map(|&f| f.to_owned()).collect();
    all.push(agent_flag(
        &format!("auto{options}"),
        &format!("{program}*"),
        &file,
    )?);
    let limit = Duration::from_secs(1200);
    let outcome = process::run(&mut java(program, jdk, &all, arguments)?, limit)?.success()?;
    // With a short time until probes come back, code is changed as often as the floor allows.
    let expected = |line: &str| line.contains("budget=") && line.contains("less often");
    if !outcome.stderr.lines().all(expected) {
        return Err(format!("standard error: {}", outcome.stderr).into());
    }
    let profile = Profile::load(&file)?;
    for fact in ["lost", "panics", "classes_not_retransformed"] {
        if events::fact(&profile, fact)? != 0 {
            return Err(format!("{fact}: {:?}", profile.run.facts).into());
        }
    }
    Ok((outcome, profile))
}

/// Takes probes out of busy classes and puts them back as fast as it goes, with `probe=auto` and these
/// options: the program computes the same, and no memory is lost.
///
/// # Errors
/// If a result is wrong, or resident memory grows by more than 8 MiB or metaspace by more than 2 MiB over the
/// second half (what old versions of classes have freed is used again, but counts as used). The JVM's own
/// arenas come in steps: 6 MiB were seen once, on a busy machine, and 0.8 MiB in a run of three minutes.
pub fn cycles(jdk: &Jdk, options: &str, threads: u32, time: Duration) -> Result<Cycles> {
    let arguments = [threads.to_string(), time.as_millis().to_string()];
    let arguments = arguments.each_ref().map(String::as_str);
    let (output, profile) = run(
        "Cycles",
        jdk,
        &format!("{options},budget=1%:20ms"),
        &STEADY,
        &arguments,
    )?;
    let [rounds, early, early_meta, late, late_meta]: [i64; 5] = output.numbers()?;
    let cycles = Cycles {
        retransformations: events::fact(&profile, "retransformations")?,
        retired: events::fact(&profile, "classes_retired")?,
        rearmed: events::fact(&profile, "classes_rearmed")?,
        rounds: rounds as u64,
        resident: late - early,
        metaspace: late_meta - early_meta,
    };
    let (lost, back) = (cycles.retired, cycles.rearmed);
    if lost < back || lost > back + 8 || back == 0 {
        return Err(format!("{lost} classes lost probes, {back} got them back").into());
    }
    if cycles.resident > 8 << 10 || cycles.metaspace > 2 << 10 {
        return Err(format!("memory grew: {cycles:?}").into());
    }
    Ok(cycles)
}

/// The cost of changing code in a run of `stress/Copies.java`.
#[derive(Clone, Copy, Debug)]
pub struct Changes {
    /// Seconds of the run.
    pub seconds: f64,
    /// Seconds in RetransformClasses, the calls, and the longest one.
    pub changing: f64,
    /// Calls of RetransformClasses.
    pub calls: u64,
    /// Seconds of the longest call.
    pub longest: f64,
    /// How often a change was put off.
    pub put_off: u64,
}

/// Runs a program that has a hot class so many times, with `budget=1%:50ms`: each change of it takes long.
///
/// # Errors
/// If the program fails.
pub fn copies(jdk: &Jdk, copies: u32, time: Duration) -> Result<Changes> {
    let arguments = [copies.to_string(), time.as_millis().to_string()];
    let arguments = arguments.each_ref().map(String::as_str);
    let (_, profile) = run("Copies", jdk, ",budget=1%:50ms", &[], &arguments)?;
    let millis = |name: &str| -> Result<f64> {
        let text = profile.run.facts.text(name);
        let text = text.ok_or_else(|| format!("no fact {name}"))?;
        Ok(text.parse::<f64>()? / 1e3)
    };
    Ok(Changes {
        seconds: profile.run.seconds,
        changing: millis("retransforming_ms")?,
        calls: events::fact(&profile, "retransformations")?,
        longest: millis("longest_retransformation_ms")?,
        put_off: events::fact(&profile, "changes_put_off")?,
    })
}

/// How often `Phases.step` decided to be in the first and in the second phase, by the profile; how often it
/// was by the program's own account; and the intervals with probes.
#[derive(Clone, Copy, Debug)]
pub struct Phases {
    /// By the profile: calls in either phase.
    pub found: [u64; 2],
    /// By the program.
    pub called: [u64; 2],
    /// Intervals with probes; 0 if it was counted all the time.
    pub windows: u32,
    /// Retransformations in the whole run.
    pub retransformations: u64,
}

/// Runs a program whose one method takes other paths in the second half.
///
/// # Errors
/// If the program fails or its profile does not know the method.
pub fn phases(jdk: &Jdk, options: &str, phase: Duration) -> Result<Phases> {
    let (output, profile) = run("Phases", jdk, options, &[], &[&phase.as_millis().to_string()])?;
    let called = output.numbers()?;
    let mut found = [0; 2];
    for (id, map, counts) in methods(&profile) {
        if id.name != "step" {
            continue;
        }
        for (&number, &count) in counts {
            let edges = map.dag.regenerate(&map.graph, number)?.edges;
            // javac: `if (second)` jumps over the block of the second phase when it is the first.
            let first = edges
                .iter()
                .find(|e| map.blocks[e.from.index()].exit == BlockExit::Branch)
                .ok_or("a path without a branch")?;
            found[usize::from(first.index == 1)] += count;
        }
    }
    let mut windows = 0;
    for one in &profile.observations {
        let map = &profile.classes[one.class as usize].map.methods[one.method as usize];
        if map.name == "step" {
            windows = one.windows;
        }
    }
    Ok(Phases {
        found,
        called,
        windows,
        retransformations: events::fact(&profile, "retransformations")?,
    })
}
