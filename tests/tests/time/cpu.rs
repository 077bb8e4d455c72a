//! CPU samples (`sample=`) of programs that measure their own CPU time, on both JDKs, with the flags of
//! suspicion.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use trodden_profile::{CpuFrameKind, CpuSamples, MethodTime, Profile, facts};
use trodden_tests::jdk::Jdk;
use trodden_tests::profile::{SUSPICIOUS, agent_flag};
use trodden_tests::{Result, artefacts, build, process, stress};

const LIMIT: Duration = Duration::from_secs(300);

/// The program, compiled.
fn classes(jdk: &Jdk) -> Result<PathBuf> {
    let files = [Path::new(build::ROOT).join("cpu/Cpu.java")];
    build::cached("cpu", &files, &[&jdk.feature.to_string()], |out| {
        build::javac(jdk, ".", &files, out)
    })
}

/// The command that runs the program, with samples and a probe.
fn command(jdk: &Jdk, what: &str, probe: &str, file: &Path) -> Result<Command> {
    let classes = classes(jdk)?;
    let mut java = jdk.command("java");
    let options = if probe.contains("sample=") {
        probe.to_owned()
    } else {
        format!("{probe},sample=1ms")
    };
    java.args(SUSPICIOUS).arg(agent_flag(&options, "Cpu*", file)?);
    java.arg("-cp").arg(classes).args(["Cpu", what]);
    Ok(java)
}

/// The program's output, and its profile.
fn run(jdk: &Jdk, what: &str, probe: &str) -> Result<(String, Profile)> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("out.trodden");
    let outcome = process::run(&mut command(jdk, what, probe, &file)?, LIMIT)?.success()?;
    assert_eq!(outcome.stderr, "", "JDK {}, {what}", jdk.feature);
    Ok((outcome.stdout, Profile::load(&file)?))
}

fn samples(profile: &Profile) -> &CpuSamples {
    profile.cpu.as_ref().expect("CPU samples")
}

/// Lines `name number`.
fn numbers(text: &str) -> BTreeMap<&str, f64> {
    let pair = |line| {
        let (name, number) = str::split_once(line, ' ').expect("a name and a number");
        (name, number.parse().expect("a number"))
    };
    text.lines().map(pair).collect()
}

/// The times of a method, all descriptors together.
fn method(cpu: &CpuSamples, class: &str, name: &str) -> MethodTime {
    let all = cpu.frames.iter().zip(cpu.by_place());
    let mut found = all.filter(|(frame, _)| frame.class == class && frame.name == name);
    found.next().map(|(_, time)| time).unwrap_or_default()
}

/// Within five standard errors of a draw of `samples` samples, and the cost of the program's own measuring.
/// The clock's ticks and the program's rounds are not quite independent, so the spread is greater than that
/// of draws.
fn assert_share(found: f64, expected: f64, samples: u64, what: &str) {
    let error = (expected * (1.0 - expected) / samples as f64).sqrt();
    let most = 5.0 * error + 0.02;
    assert!(
        (found - expected).abs() <= most,
        "{what}: {found:.3}, expected {expected:.3} ± {most:.3} ({samples} samples)"
    );
}

#[test]
fn shares_are_those_that_the_program_measures() -> Result<()> {
    for jdk in Jdk::ends()? {
        for probe in ["counters", "auto", "events"] {
            let (out, profile) = run(&jdk, "shares", probe)?;
            let (spent, cpu) = (numbers(&out), samples(&profile));
            let what = format!("JDK {}, {probe}", jdk.feature);
            let [first, second] = ["first", "second"].map(|name| method(cpu, "Cpu", name).all.total);
            let share = first.ns as f64 / (first.ns + second.ns) as f64;
            let expected = spent["first"] / (spent["first"] + spent["second"]);
            let probes = profile.run.facts.get(facts::PROBES_MS).expect("time of probes");
            // What the program measured has the probes in it, which are no method's. Probes that write
            // events analyse them at once when a buffer is full: that time is in whichever method it was.
            if probe != "events" {
                assert_share(share, expected, first.samples + second.samples, &what);
            }
            // Time as such, not only in proportion: each sample represents the time since the one before.
            let found = (first.ns + second.ns) as f64 + probes.as_nanos() as f64;
            let all = spent["first"] + spent["second"];
            assert!(
                (0.93..1.07).contains(&(found / all)),
                "{what}: {found} ns of {all}"
            );
            assert!(first.samples > 100, "{what}: {first:?}");
            assert_eq!(cpu.lost.samples, 0, "{what}");
            let failed: u64 = cpu.failed.iter().map(|failed| failed.time.samples).sum();
            assert!(failed * 20 <= cpu.total().samples, "{what}: {:?}", cpu.failed);
            // Time is in the loop, not all of it at one place.
            let places = &method(cpu, "Cpu", "first").places;
            assert!(places.keys().all(|bci| bci.is_some()), "{what}: {places:?}");
        }
    }
    Ok(())
}

/// A method's share of two, as sampled and as the program measured it.
fn assert_one_of_two([one, other]: [&str; 2], out: &str, cpu: &CpuSamples, what: &str) {
    let spent = numbers(out);
    let [first, second] = [one, other].map(|name| method(cpu, "Cpu", name).all.total);
    let share = first.ns as f64 / (first.ns + second.ns) as f64;
    let expected = spent[one] / (spent[one] + spent[other]);
    assert_share(share, expected, first.samples + second.samples, what);
}

fn assert_first_of_two(out: &str, cpu: &CpuSamples, what: &str) {
    assert_one_of_two(["first", "second"], out, cpu, what);
}

/// Timers of the system run out at its ticks; the kernel's own clock of a thread keeps its interval.
#[test]
fn programs_in_step_with_the_systems_tick_are_read_right() -> Result<()> {
    for jdk in Jdk::ends()? {
        let (out, profile) = run(&jdk, "rounds", "none")?;
        let (cpu, what) = (samples(&profile), format!("JDK {}", jdk.feature));
        let clock = profile.run.facts.get(facts::CPU_CLOCK).expect("a clock");
        if clock == "task-clock" {
            assert_one_of_two(["early", "late"], &out, cpu, &what);
            // At least two of three milliseconds, as the machine may be busy; a timer has one of four.
            let (samples, milliseconds) = (cpu.total().samples, cpu.total().ns / 1_000_000);
            assert!(
                samples * 3 > milliseconds * 2,
                "{what}: {samples} in {milliseconds} ms"
            );
        } else {
            println!("{what}: this system has no task clock for us ({clock})");
        }
        let (_, profile) = run(&jdk, "rounds", "none,sample=timer:1ms")?;
        let clock = profile.run.facts.get(facts::CPU_CLOCK);
        assert_eq!(clock.as_deref(), Some("timer"), "{what}");
    }
    Ok(())
}

#[test]
fn stacks_read_at_safepoints_have_the_same_shares() -> Result<()> {
    for jdk in Jdk::ends()? {
        let (out, profile) = run(&jdk, "shares", "counters,sample=safepoint:1ms")?;
        let (cpu, what) = (samples(&profile), format!("JDK {}", jdk.feature));
        assert_eq!(cpu.reader, "safepoint", "{what}");
        assert!(cpu.interval_ns >= 10_000_000, "{what}: {}", cpu.interval_ns);
        assert_first_of_two(&out, cpu, &what);
        let failed: u64 = cpu.failed.iter().map(|failed| failed.time.samples).sum();
        assert!(failed * 20 <= cpu.total().samples, "{what}: {:?}", cpu.failed);
    }
    Ok(())
}

#[test]
fn without_probes_nothing_but_time_is_measured() -> Result<()> {
    for jdk in Jdk::ends()? {
        let (out, profile) = run(&jdk, "shares", "none")?;
        let (cpu, what) = (samples(&profile), format!("JDK {}", jdk.feature));
        assert_first_of_two(&out, cpu, &what);
        assert_eq!(profile.run.probe, "none", "{what}");
        assert!(
            profile.classes.is_empty(),
            "{what}: {} classes",
            profile.classes.len()
        );
    }
    Ok(())
}

/// A class whose method has over 8,000 bytes, so that HotSpot never compiles it and it gets no probes, and
/// the line of its first loop. The loop in the next line does a third of that work.
fn huge_method() -> (String, u32) {
    let mut lines = vec![
        "final class Huge {",
        "    static long work(int n, int which) {",
        "        long x = n; int often = 3 * n;",
    ];
    let first = lines.len() as u32 + 1;
    lines.push("        for (int i = 0; i < often; i++) x = x * 6364136223846793005L + (x >>> 7);");
    lines.push("        for (int i = 0; i < n; i++) x = x * 6364136223846793005L + (x >>> 7);");
    lines.extend(["        if (which > 0) x = x * which + (x >>> which) + (x << which);"; 430]);
    lines.push("        return x; } }");
    (lines.join("\n"), first)
}

#[test]
fn lines_of_methods_without_probes_have_their_time() -> Result<()> {
    let (source, first) = huge_method();
    let main = "public final class HugeMain { public static void main(String[] args) { \
                long sum = 0, end = System.nanoTime() + 3_000_000_000L; \
                while (System.nanoTime() < end) sum += Huge.work(20_000, 0); \
                System.out.println(sum != 0); } }";
    for jdk in Jdk::ends()? {
        let folder = tempfile::tempdir()?;
        let files = [("Huge.java", source.as_str()), ("HugeMain.java", main)];
        let files = files.map(|(name, text)| (folder.path().join(name), text));
        for (file, text) in &files {
            std::fs::write(file, text)?;
        }
        build::javac(&jdk, ".", &files.map(|(file, _)| file), folder.path())?;
        let file = folder.path().join("out.trodden");
        let mut java = jdk.command("java");
        java.arg(agent_flag("counters,sample=1ms", "Huge*", &file)?);
        java.arg("-cp").arg(folder.path()).arg("HugeMain");
        process::run(&mut java, LIMIT)?.success()?;
        let what = format!("JDK {}", jdk.feature);
        let profile = Profile::load(&file)?;
        let cpu = samples(&profile);
        // Only what has no path map has lines here.
        let with_lines: Vec<&str> = (cpu.lines.by_frame())
            .map(|(frame, _)| cpu.frames[frame as usize].name.as_str())
            .collect();
        assert_eq!(with_lines, ["work"], "{what}");
        let report = |arguments: &[&str]| -> Result<String> {
            let mut command = Command::new(&artefacts::artefacts()?.cli);
            command.arg("report").arg(&file).args(arguments);
            Ok(process::run(&mut command, LIMIT)?.success()?.stdout)
        };
        let json: serde_json::Value = serde_json::from_str(&report(&["--format", "json"])?)?;
        let left = &json["left_out"][0];
        assert_eq!(left["name"], "work", "{what}: {left}");
        let line = |at: usize, key: &str| left["lines"][at][key].as_f64().unwrap_or_default();
        let found = [0, 1].map(|at| line(at, "line") as u32);
        assert_eq!(found, [first, first + 1], "{what}: {left}");
        let [most, rest] = [0, 1].map(|at| line(at, "samples"));
        assert_share(most / (most + rest), 0.75, (most + rest) as u64, &what);
        // The screen, and the method's card.
        for arguments in [&[][..], &["--method", "Huge#work"]] {
            let text = report(arguments)?;
            assert!(text.contains(&format!("line {first}")), "{what}: {text}");
        }
    }
    Ok(())
}

#[test]
fn run_samples_unless_it_is_told_not_to() -> Result<()> {
    let jdk = &Jdk::oldest()?;
    let run = |options: &[&str]| -> Result<(process::Outcome, Option<Profile>)> {
        let folder = tempfile::tempdir()?;
        let file = folder.path().join("out.trodden");
        let classes = classes(jdk)?;
        let mut command = Command::new(&artefacts::artefacts()?.cli);
        command.arg("run").args(options).arg("-o").arg(&file).arg("--");
        command
            .arg(jdk.home.join("bin/java"))
            .args(SUSPICIOUS)
            .arg("-cp")
            .arg(classes);
        let outcome = process::run(command.args(["Cpu", "shares"]), LIMIT)?;
        let profile = file.exists().then(|| Profile::load(&file)).transpose()?;
        Ok((outcome, profile))
    };
    let (_, profile) = run(&["--include", "Cpu*"])?;
    let profile = profile.expect("a profile");
    assert!(samples(&profile).total().samples > 100 && !profile.classes.is_empty());
    let (_, profile) = run(&["--include", "Cpu*", "--sample", "off"])?;
    assert_eq!(profile.expect("a profile").cpu, None);
    let (_, profile) = run(&["--include", "Cpu*", "--sample", "safepoint:1ms"])?;
    assert_eq!(samples(&profile.expect("a profile")).reader, "safepoint");
    let (_, profile) = run(&["--probe", "none"])?;
    let profile = profile.expect("a profile");
    assert!(samples(&profile).total().samples > 100 && profile.classes.is_empty());
    let (outcome, profile) = run(&["--production"])?;
    let profile = profile.expect("a profile");
    assert!(samples(&profile).total().samples > 100 && profile.classes.is_empty());
    assert!(outcome.stderr.contains("Cpu.first"), "{}", outcome.stderr);
    let (_, profile) = run(&["--production=prefixes", "--include", "Cpu*"])?;
    let profile = profile.expect("a profile");
    assert!(samples(&profile).total().samples > 100 && profile.run.probe == "safepoint");
    let partial = |class: &trodden_profile::ClassProfile| class.counts.iter().any(|c| !c.partial.is_empty());
    assert!(profile.classes.iter().any(partial));
    for wrong in [["--probe", "counters"], ["--sample", "off"]] {
        let (outcome, profile) = run(&[&["--production"], &wrong[..]].concat())?;
        assert!(
            profile.is_none() && outcome.status.code() == Some(2),
            "{outcome:?}"
        );
    }
    Ok(())
}

#[test]
fn the_library_and_native_methods_have_their_time_and_sleeping_takes_none() -> Result<()> {
    for jdk in Jdk::ends()? {
        let (out, profile) = run(&jdk, "library", "counters")?;
        let (spent, cpu) = (numbers(&out), samples(&profile));
        let what = format!("JDK {}", jdk.feature);
        let total = spent["sort"] + spent["deflate"];
        let (sort, deflate) = (
            method(cpu, "Cpu", "sort"),
            method(cpu, "java/util/zip/Deflater", "deflate"),
        );
        let samples = cpu.total().samples;
        let of_both = (sort.all.total.ns + deflate.all.total.ns) as f64;
        assert_share(
            sort.all.total.ns as f64 / of_both,
            spent["sort"] / total,
            samples,
            &what,
        );
        // Nearly all of that is in the JDK's own methods.
        assert!(sort.all.own.ns * 5 < sort.all.total.ns, "{what}: {sort:?}");
        let in_library = cpu.frames.iter().zip(cpu.by_place());
        let in_library =
            in_library.filter(|(frame, _)| frame.class.starts_with("java/util/DualPivotQuicksort"));
        let own: u64 = in_library.map(|(_, time)| time.all.own.ns).sum();
        assert!(
            own * 10 > sort.all.total.ns * 7,
            "{what}: {own} of {:?}",
            sort.all
        );
        let native = cpu.frames.iter().zip(cpu.by_place());
        let native =
            native.filter(|(f, _)| f.class == "java/util/zip/Deflater" && f.kind == CpuFrameKind::Native);
        let own: u64 = native.map(|(_, time)| time.all.own.ns).sum();
        assert!(
            own * 10 > deflate.all.total.ns * 8,
            "{what}: {own} of {:?}",
            deflate.all
        );
        let sleep = cpu.frames.iter().zip(cpu.by_place());
        let sleep = sleep.filter(|(f, _)| f.class == "java/lang/Thread" && f.name.starts_with("sleep"));
        let asleep: u64 = sleep.map(|(_, time)| time.all.own.ns).sum();
        assert!(asleep as f64 <= total * 0.03, "{what}: {asleep}");
    }
    Ok(())
}

#[test]
fn deep_stacks_are_cut_and_overflowing_ones_do_no_harm() -> Result<()> {
    for jdk in Jdk::ends()? {
        let (out, profile) = run(&jdk, "deep", "counters")?;
        assert!(numbers(&out)["overflows"] > 0.0);
        let cpu = samples(&profile);
        assert!(cpu.cut.samples > 10, "JDK {}: {:?}", jdk.feature, cpu.cut);
        // The innermost frames are there.
        let first = method(cpu, "Cpu", "first").all;
        let down = method(cpu, "Cpu", "down").all;
        assert!(first.own.samples > 10, "JDK {}: {first:?} {down:?}", jdk.feature);
        assert!(down.total.ns <= cpu.total().ns);
        let deepest = cpu.tree.nodes().iter().map(|node| node.depth).max();
        assert_eq!(deepest, Some(513));
    }
    Ok(())
}

#[test]
fn virtual_threads_have_their_stacks() -> Result<()> {
    for jdk in Jdk::ends()?.iter().filter(|jdk| jdk.feature >= 21) {
        let (out, profile) = run(jdk, "virtual", "counters")?;
        assert_eq!(out, "done\n");
        let cpu = samples(&profile);
        let first = method(cpu, "Cpu", "first").all.total;
        assert!(
            first.ns * 10 > cpu.total().ns * 6,
            "{first:?} of {:?}; {:?}",
            cpu.total(),
            cpu.failed
        );
        let run = method(cpu, "java/lang/VirtualThread", "run").all.total;
        // A virtual thread that has been woken has only its innermost frames on the carrier's stack.
        assert!(run.samples > 0, "{run:?}");
    }
    Ok(())
}

#[test]
fn signals_of_the_program_and_its_reads_are_left_alone() -> Result<()> {
    for jdk in Jdk::ends()? {
        let (out, profile) = run(&jdk, "signals", "counters")?;
        assert_eq!(out, "signals 20\n", "JDK {}", jdk.feature);
        assert!(samples(&profile).total().samples > 20);

        let folder = tempfile::tempdir()?;
        let file = folder.path().join("out.trodden");
        let mut java = command(&jdk, "reads", "counters", &file)?;
        let mut child = java
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let mut pipe = child.stdin.take().expect("a pipe");
        let text: Vec<u8> = (0..3000u32).map(|n| (n * 7 % 251) as u8).collect();
        let sum = text
            .iter()
            .fold(0i64, |sum, &b| sum.wrapping_mul(31).wrapping_add(b.into()));
        for piece in text.chunks(10) {
            pipe.write_all(piece)?;
            std::thread::sleep(Duration::from_millis(2));
        }
        drop(pipe);
        let outcome = process::wait(child, LIMIT)?.success()?;
        assert_eq!(
            (outcome.stdout, outcome.stderr),
            (format!("read 3000 {sum}\n"), String::new())
        );
        assert!(samples(&Profile::load(&file)?).total().samples > 20);
    }
    Ok(())
}

#[test]
fn what_is_hard_to_walk_does_no_harm() -> Result<()> {
    for jdk in Jdk::ends()? {
        let [checked, waiting, _] = stress::MODES.map(|(_, flags)| flags);
        for (collector, flags, probe) in [("UseG1GC", checked, "auto"), ("UseZGC", waiting, "counters")] {
            let options = format!("{probe},sample=1ms");
            let cpu = stress::sampled(&jdk, collector, flags, &options, Duration::from_secs(5))?;
            assert!(cpu.total().samples > 100, "JDK {}, {collector}", jdk.feature);
            let answered = cpu.waits.innermost.answered.samples;
            assert_eq!(answered > 0, flags == waiting, "{answered}");
        }
    }
    Ok(())
}

/// The JVM names an inlined probe for code without a bytecode index: that time is the method's.
#[test]
fn what_compiled_code_calls_is_time_of_the_method_with_the_probe() -> Result<()> {
    for jdk in Jdk::ends()? {
        for probe in ["counters", "auto"] {
            let (out, profile) = run(&jdk, "intrinsics", probe)?;
            let (spent, cpu) = (numbers(&out)["stubs"], samples(&profile));
            let found = method(cpu, "Cpu", "stubs").all.total.ns as f64;
            let probes = profile.run.facts.get(facts::PROBES_MS).expect("time of probes");
            let what = format!("JDK {}, {probe}: {found} ns of {spent}, {probes:?}", jdk.feature);
            // The next place with an index may also be in a method of the JDK that is inlined behind it: that
            // is what JDK 25 says of a sixth of this time.
            assert!((0.75..1.07).contains(&(found / spent)), "{what}");
        }
    }
    Ok(())
}

/// Most of these threads end before the system's clock ticks.
#[test]
fn threads_that_live_shortly_have_their_shares() -> Result<()> {
    for jdk in Jdk::ends()? {
        let (out, profile) = run(&jdk, "brief", "none")?;
        let (spent, cpu) = (numbers(&out), samples(&profile));
        let what = format!("JDK {}", jdk.feature);
        assert_first_of_two(&out, cpu, &what);
        let all = spent["first"] + spent["second"];
        let [first, second] = ["first", "second"].map(|name| method(cpu, "Cpu", name).all.total);
        let (found, number) = (
            (first.ns + second.ns) as f64,
            (first.samples + second.samples) as f64,
        );
        // Whether a thread has a sample is chance: five standard errors of that number.
        let most = 0.05 + 5.0 / number.sqrt();
        assert!(
            (found / all - 1.0).abs() < most,
            "{what}: {found} of {all}, {number} samples"
        );
        // By their own clocks nothing is missing, so that none of it seems to be the JVM's own.
        let threads = profile
            .run
            .facts
            .get(facts::SAMPLED_THREADS_MS)
            .expect("time of threads");
        let process = cpu.process_ns.expect("time of the process") as f64;
        let threads = threads.as_nanos() as f64;
        assert!(
            threads >= all && threads <= process,
            "{what}: {threads} of {process}, {all}"
        );
    }
    Ok(())
}

/// The program's value of `DebugNonSafepoints` while it is sampled, and after that.
fn flag_said(jdk: &Jdk, sampler: &str, user: &[&str]) -> Result<[String; 2]> {
    let folder = tempfile::tempdir()?;
    let mut java = jdk.command("java");
    java.args(SUSPICIOUS)
        .arg("-XX:+UnlockDiagnosticVMOptions")
        .args(user);
    let options = format!("none,sample={sampler}:1ms");
    java.arg(agent_flag(&options, "Cpu*", &folder.path().join("out.trodden"))?);
    java.arg("-cp").arg(classes(jdk)?).args(["Cpu", "flag"]);
    let mut child = java.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let mut said = [const { String::new() }; 2];
    let mut output = BufReader::new(child.stdout.take().expect("a pipe"));
    output.read_line(&mut said[0])?;
    let mut stop = Command::new(&artefacts::artefacts()?.cli);
    stop.args(["attach", &child.id().to_string(), "stop"]);
    let stopped = process::run(&mut stop, LIMIT);
    // Whatever came of it: the program ends.
    writeln!(child.stdin.take().expect("a pipe"))?;
    output.read_line(&mut said[1])?;
    assert!(child.wait()?.success());
    stopped?.success()?;
    Ok(said.map(|line| line.trim().to_owned()))
}

#[test]
fn compiled_code_knows_its_indices_while_it_is_sampled() -> Result<()> {
    let (on, off) = ("-XX:+DebugNonSafepoints", "-XX:-DebugNonSafepoints");
    for jdk in Jdk::ends()? {
        assert_eq!(flag_said(&jdk, "async", &[])?, ["true", "false"]);
        assert_eq!(flag_said(&jdk, "safepoint", &[])?, ["false", "false"]);
        // What the user said holds.
        assert_eq!(flag_said(&jdk, "async", &[on])?, ["true", "true"]);
        assert_eq!(flag_said(&jdk, "async", &[off])?, ["false", "false"]);
    }
    Ok(())
}
