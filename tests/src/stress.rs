//! Programs that try to make the agent lose something, leak or crash; each alone, for any time.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use trodden_profile::{CpuSamples, Profile};

use crate::jdk::Jdk;
use crate::process::{self, Outcome};
use crate::profile::{SUSPICIOUS, agent_flag, counts, methods};
use crate::{Result, artefacts, build, events};

/// Compiles a program of `stress/`; its folder. Later language levels are compiled by the JDK that runs them.
fn compile(program: &str, jdk: &Jdk) -> Result<std::path::PathBuf> {
    let source = Path::new(build::ROOT)
        .join("stress")
        .join(format!("{program}.java"));
    build::classes(jdk, program, &[source])
}

/// A command that runs a program of `stress/`.
pub fn java(program: &str, jdk: &Jdk, flags: &[String], arguments: &[&str]) -> Result<Command> {
    let mut java = jdk.command("java");
    java.args(["-Xmx256m", "-XX:+UseSerialGC"]).args(flags);
    java.arg("-cp")
        .arg(compile(program, jdk)?)
        .arg(program)
        .args(arguments);
    Ok(java)
}

/// For programs whose resident memory is looked at: without them a JVM's own grows by up to 12 MiB, at a
/// moment of its choice. That is memory of C2 while it compiles, and of a heap that is not touched yet.
pub(crate) const STEADY: [&str; 3] = ["-Xms256m", "-XX:+AlwaysPreTouch", "-XX:TieredStopAtLevel=1"];

/// Runs a program with a probe that counts exactly; its outcome and profile.
fn counted(
    program: &str,
    probe: &str,
    jdk: &Jdk,
    flags: &[&str],
    arguments: &[&str],
    limit: Duration,
) -> Result<(Outcome, Profile)> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("out.trodden");
    let mut flags: Vec<String> = flags.iter().map(|f| (*f).to_owned()).collect();
    flags.push(agent_flag(probe, &format!("{program}*"), &file)?);
    let outcome = process::run(&mut java(program, jdk, &flags, arguments)?, limit)?;
    let profile = Profile::load(&file).map_err(|e| format!("{e}\n{outcome:#?}"))?;
    if probe.starts_with("events") {
        events::whole(&profile)?;
    }
    Ok((outcome, profile))
}

/// Counts of the ways (taken, not taken) of each branch of a method, over all classes of that name.
fn branches(profile: &Profile, class: &str, method: &str) -> Result<Vec<(u64, u64)>> {
    let mut all: Vec<(u64, u64)> = Vec::new();
    for (id, map, counts) in methods(profile) {
        if id.class != class || id.name != method {
            continue;
        }
        let mut edges: Vec<[u64; 2]> = vec![[0; 2]; map.blocks.len()];
        for (&number, &count) in counts {
            for edge in map.dag.regenerate(&map.graph, number)?.edges {
                edges[edge.from.index()][edge.index as usize] += count;
            }
        }
        let branches = map.blocks.iter().zip(&edges);
        let branches = branches.filter(|(b, _)| b.exit == trodden_profile::BlockExit::Branch);
        for (index, (_, &[taken, not])) in branches.enumerate() {
            if all.len() <= index {
                all.push((0, 0));
            }
            all[index].0 += taken;
            all[index].1 += not;
        }
    }
    Ok(all)
}

fn expect(what: &str, found: &[(u64, u64)], expected: &[(u64, u64)]) -> Result<()> {
    if found == expected {
        return Ok(());
    }
    Err(format!("{what}: counted {found:?}, expected {expected:?}").into())
}

/// Many threads on one hot method: nothing is lost, by exact counters or on the way of events.
///
/// # Errors
/// If a count is wrong.
pub fn shared_hot(jdk: &Jdk, probe: &str, threads: u32, time: Duration) -> Result<u64> {
    let arguments = [threads.to_string(), time.as_millis().to_string()];
    let arguments = arguments.each_ref().map(String::as_str);
    let limit = time * 3 + Duration::from_secs(60);
    let (outcome, profile) = counted("SharedHot", probe, jdk, &[], &arguments, limit)?;
    let [calls]: [u64; 1] = outcome.success()?.numbers()?;
    let expected = [(calls / 4 * 3, calls / 4), (calls / 3 * 2, calls / 3)];
    expect(
        "shared hot method",
        &branches(&profile, "SharedHot", "hot")?,
        &expected,
    )?;
    Ok(calls)
}

/// Virtual threads that leave their carriers in the middle of a path: nothing is lost either.
///
/// # Errors
/// If a count is wrong.
pub fn virtual_threads(jdk: &Jdk, probe: &str, threads: u64, rounds: u64) -> Result<()> {
    let arguments = [threads.to_string(), rounds.to_string()];
    let arguments = arguments.each_ref().map(String::as_str);
    let (outcome, profile) = counted(
        "VirtualHot",
        probe,
        jdk,
        &[],
        &arguments,
        Duration::from_secs(300),
    )?;
    let [calls]: [u64; 1] = outcome.success()?.numbers()?;
    let of_thread = 12 * rounds;
    let yields = of_thread.div_ceil(50) * threads;
    let expected = [
        (calls / 4 * 3, calls / 4),
        (calls - yields, yields),
        (calls / 3 * 2, calls / 3),
    ];
    expect(
        "virtual threads",
        &branches(&profile, "VirtualHot", "hot")?,
        &expected,
    )
}

/// By how many KiB a program's resident memory grew over the second half of its work: it prints both sizes
/// last.
fn growth(outcome: Outcome) -> Result<i64> {
    let outcome = outcome.success()?;
    let last = outcome.stdout.trim().lines().last().unwrap_or_default();
    let sizes = last.split_once(' ');
    let grown = sizes.and_then(|(half, end)| Some(end.parse::<i64>().ok()? - half.parse::<i64>().ok()?));
    grown.ok_or_else(|| format!("its last line has no two sizes: {outcome:#?}").into())
}

/// Virtual threads by the ten thousands, in which the stream is analysed in each thread: nothing of it stays
/// when they end. Returns by how many KiB the resident memory grew over the second half of them beyond what
/// it grew by with exact counters.
///
/// # Errors
/// If anything is lost, or it grew by more than 8 MiB.
pub fn virtual_streams(jdk: &Jdk, threads: u64) -> Result<i64> {
    let arguments = ["virtual", &threads.to_string()];
    let probe = format!("events,{}", events::ANALYSES);
    let limit = Duration::from_secs(600);
    let (outcome, profile) = counted("Streams", &probe, jdk, &STEADY, &arguments, limit)?;
    let (plain, counters) = counted("Streams", "counters", jdk, &STEADY, &arguments, limit)?;
    let (counts, exact) = (counts(&profile), counts(&counters));
    if counts != exact {
        return Err(events::difference(&exact, &counts).into());
    }
    // All virtual threads, and the one that started them.
    let found = events::fact(&profile, "threads")?;
    if found < threads + 1 {
        return Err(format!("{found} threads, not {threads}").into());
    }
    let grown = growth(outcome)? - growth(plain)?;
    if grown > 8 << 10 {
        return Err(format!("resident memory grew by {grown} KiB more than with counters").into());
    }
    Ok(grown)
}

/// Classes that are loaded and forgotten: counts stay, memory does not grow. Returns by how many KiB the
/// resident memory grew over the second half of the rounds beyond what the same program without the agent
/// grew by.
///
/// # Errors
/// If a count is wrong, or it grew by more than 1 MiB.
pub fn unloading(jdk: &Jdk, rounds: u64) -> Result<i64> {
    let flags = [&STEADY[..], &["-XX:MaxMetaspaceSize=16m"]].concat();
    let (outcome, profile) = counted(
        "Unloading",
        "counters",
        jdk,
        &flags,
        &[&rounds.to_string()],
        Duration::from_secs(600),
    )?;
    let plain = java(
        "Unloading",
        jdk,
        &flags.iter().map(|&f| f.to_owned()).collect::<Vec<_>>(),
        &[&rounds.to_string()],
    );
    let plain = process::run(&mut plain?, Duration::from_secs(600))?;
    let grown = growth(outcome)? - growth(plain)?;
    // javac: i < 10 leaves the loop when taken; i % 2 != 0 skips when taken; odd != 5 skips when taken.
    let expected = [(rounds, 10 * rounds), (5 * rounds, 5 * rounds), (rounds, 0)];
    expect(
        "unloaded classes",
        &branches(&profile, "Unloading$Short", "run")?,
        &expected,
    )?;
    if grown > 1 << 10 {
        let rounds = rounds / 2;
        return Err(format!(
            "resident memory grew by {grown} KiB more than without the agent in {rounds} rounds"
        )
        .into());
    }
    Ok(grown)
}

/// Every way to end a program: same code and output as without the agent, and a profile.
///
/// # Errors
/// If something differs, or the counts of what certainly ran are missing.
pub fn exits(jdk: &Jdk) -> Result<()> {
    let limit = Duration::from_secs(60);
    for how in ["normal", "exit", "halt", "uncaught", "daemon"] {
        let plain = process::run(
            &mut java("Exits", jdk, &SUSPICIOUS.map(str::to_owned), &[how])?,
            limit,
        )?;
        let (outcome, profile) = counted("Exits", "counters", jdk, &SUSPICIOUS, &[how], limit)
            .map_err(|e| format!("{how}: {e}"))?;
        if plain != outcome {
            return Err(format!("{how}: {plain:#?} became {outcome:#?}").into());
        }
        let found = branches(&profile, "Exits", "work")?;
        // The daemon threads add to it as long as they live.
        let enough = |&[a, b]: &[(u64, u64); 2]| a.1 >= 100 && b.0 >= 50 && b.1 >= 50;
        let found: [(u64, u64); 2] = found.try_into().map_err(|f| format!("{how}: {f:?}"))?;
        if how != "daemon" {
            expect(how, &found, &[(1, 100), (50, 50)])?;
        } else if !enough(&found) {
            return Err(format!("{how}: counted {found:?}").into());
        }
    }
    Ok(())
}

/// Attaches to a running program and stops again, many times. Returns the growth of its resident memory in
/// KiB after the first fifth.
///
/// # Errors
/// If an attempt fails, the program does not end as it should, or its memory grows by more than 32 MiB.
pub fn attach(jdk: &Jdk, probe: &str, times: u32) -> Result<i64> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("attached.trodden");
    let mut command = java("Attached", jdk, &[], &[])?;
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let result = attach_to(&mut child, probe, times, &file);
    if result.is_err() {
        let _ = child.kill();
    }
    let mut errors = String::new();
    if let Some(mut stderr) = child.stderr.take() {
        stderr.read_to_string(&mut errors)?;
    }
    let status = child.wait()?;
    let grown = result.map_err(|e| format!("{e}\n{errors}"))?;
    if !status.success() {
        return Err(format!("the program ended with {status}\n{errors}").into());
    }
    let profile = Profile::load(&file)?;
    let found = branches(&profile, "Attached", "work")?;
    if found.iter().map(|b| b.0 + b.1).sum::<u64>() == 0 {
        return Err("the last profile is empty".into());
    }
    Ok(grown)
}

/// Asks a running program, which has no agent, for what an agent can only refuse. It continues, and ends, as
/// if it had not been asked.
///
/// # Errors
/// If a command is not refused with its reason, or the program does not end as it should.
pub fn refused(jdk: &Jdk) -> Result<()> {
    let mut child = java("Attached", jdk, &[], &[])?
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let ask = |child: &mut std::process::Child| -> Result<String> {
        let mut output = BufReader::new(child.stdout.take().ok_or("no stdout")?);
        let mut line = String::new();
        output.read_line(&mut line)?;
        for command in ["report", "dump"] {
            let mut trodden = Command::new(&artefacts::artefacts()?.cli);
            trodden.args(["attach", &child.id().to_string(), command]);
            let outcome = process::run(&mut trodden, Duration::from_secs(600))?;
            if outcome.status.success() || !outcome.stderr.contains("nothing has been profiled") {
                return Err(format!("{command}: {outcome:?}").into());
            }
        }
        drop(child.stdin.take());
        output.read_line(&mut line)?;
        Ok(line)
    };
    let said = ask(&mut child);
    if said.is_err() {
        let _ = child.kill();
    }
    let status = child.wait()?;
    match said?.as_str() {
        "ready\n133334\n" if status.success() => Ok(()),
        said => Err(format!("the program said {said:?} and ended with {status}").into()),
    }
}

fn attach_to(child: &mut std::process::Child, probe: &str, times: u32, file: &Path) -> Result<i64> {
    let pid = child.id().to_string();
    let mut output = BufReader::new(child.stdout.take().ok_or("no stdout")?);
    let mut line = String::new();
    output.read_line(&mut line)?;
    if line.trim() != "ready" {
        return Err(format!("the program said {line:?}").into());
    }
    let trodden = |words: &[&str]| {
        let mut command = Command::new(&artefacts::artefacts()?.cli);
        command.args(["attach", &pid]).args(words);
        process::run(&mut command, Duration::from_secs(600))?.success()
    };
    let name = file.display().to_string();
    let mut early = 0;
    for round in 0..times {
        trodden(&[
            "start",
            "--probe",
            probe,
            "--include",
            "Attached*",
            "--file",
            &name,
        ])?;
        std::thread::sleep(Duration::from_millis(20));
        if round + 1 == times {
            await_counts(&trodden, file)?;
        }
        trodden(&["stop"])?;
        if round == times / 5 {
            early = resident(child.id())?;
        }
    }
    let grown = resident(child.id())? - early;
    child.stdin.take().ok_or("no stdin")?.flush()?;
    line.clear();
    output.read_line(&mut line)?;
    if line.trim() != "133334" {
        return Err(format!("the program computed {line:?}").into());
    }
    if grown > 32 << 10 {
        return Err(format!("resident memory grew by {grown} KiB").into());
    }
    Ok(grown)
}

/// Waits until a program that is attached to has counted something: on a busy machine it may not run for a
/// while.
fn await_counts(trodden: &dyn Fn(&[&str]) -> Result<Outcome>, file: &Path) -> Result<()> {
    let since = Instant::now();
    loop {
        trodden(&["dump"])?;
        if counts(&Profile::load(file)?)
            .values()
            .any(|paths| !paths.is_empty())
        {
            return Ok(());
        }
        if since.elapsed() > Duration::from_secs(600) {
            return Err("nothing is counted".into());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Garbage collectors of all kinds; not every JDK has each.
pub const COLLECTORS: [&str; 5] = [
    "UseSerialGC",
    "UseParallelGC",
    "UseG1GC",
    "UseZGC",
    "UseShenandoahGC",
];

/// Flags of the runs with CPU samples: a suspicious JVM, where no sample waits for its path; one where they
/// do; and one with compiled code from the start.
pub const MODES: [(&str, &[&str]); 3] = [
    ("checked", &SUSPICIOUS),
    ("waiting", &["-Xverify:all"]),
    ("compiled", &["-Xcomp"]),
];

/// Runs everything that makes stacks hard to walk with CPU samples; returns the samples. `flags` are the
/// JVM's, `options` the agent's.
///
/// # Errors
/// If the program finds a wrong result, the JVM crashes or complains, or there is no profile.
pub fn sampled(
    jdk: &Jdk,
    collector: &str,
    flags: &[&str],
    options: &str,
    time: Duration,
) -> Result<CpuSamples> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("out.trodden");
    let mut java = jdk.command("java");
    java.args(flags).args(["-Xmx256m", &format!("-XX:+{collector}")]);
    // The program compresses, which keeps collectors waiting (JNI's critical arrays). HotSpot before JDK 22
    // tries thrice, and says that memory is out: on a busy machine it did (JDK-8192647).
    java.args([
        "-XX:+IgnoreUnrecognizedVMOptions",
        "-XX:+UnlockDiagnosticVMOptions",
        "-XX:GCLockerRetryAllocationCount=1000",
    ]);
    java.arg(agent_flag(options, "Sampled*", &file)?);
    java.arg("-cp").arg(compile("Sampled", jdk)?).arg("Sampled");
    java.arg(time.as_secs().to_string());
    let outcome = process::run(&mut java, time * 4 + Duration::from_secs(240))?.success()?;
    if !outcome.stdout.starts_with("ok ") {
        return Err(format!("{outcome:#?}").into());
    }
    let profile = Profile::load(&file)?;
    if events::fact(&profile, "panics")? != 0 {
        return Err(format!("{:?}", profile.run.facts).into());
    }
    profile.cpu.ok_or_else(|| "no CPU samples".into())
}

fn resident(pid: u32) -> Result<i64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status
        .lines()
        .find_map(|l| l.strip_prefix("VmRSS:"))
        .ok_or("no VmRSS")?;
    Ok(line.trim().trim_end_matches(" kB").parse()?)
}
