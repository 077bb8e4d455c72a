//! Small programs under the built agent, on every JDK found, with `-Xverify:all -Xcheck:jni`.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::common::{self, agent, jdks};
use trodden_profile::Profile;

/// Longest time to wait for what comes in its own time; on a busy machine, seconds become minutes.
const LIMIT: Duration = Duration::from_secs(600);
/// Calls of `classify` per thread.
const CALLS: u64 = 100_000;

/// Compiles the test program into a folder of its own.
fn compile(home: &Path, dir: &Path) {
    common::compile(home, "Smoke", dir);
}

fn java(home: &Path, dir: &Path, options: &str, program: &[&str]) -> Command {
    let mut command = Command::new(home.join("bin/java"));
    command
        .args(["-Xverify:all", "-Xcheck:jni", "-Xmx256m", "-cp", "."])
        .arg(format!("-agentpath:{}={options}", agent().display()))
        .arg("Smoke")
        .args(program)
        .current_dir(dir);
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The program ran as if the agent were not there: its exit code, its output, no warnings about JNI.
fn assert_undisturbed(output: &Output) {
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{out}\n{err}");
    assert_eq!(out, "done\n", "{err}");
    assert!(
        !err.contains("WARNING in native") && !err.contains("FATAL ERROR"),
        "{err}"
    );
}

/// Path ends counted in a method of the program.
fn total(profile: &Profile, method: &str) -> u64 {
    let class = profile
        .classes
        .iter()
        .find(|c| c.map.name == "Smoke")
        .expect("class Smoke is profiled");
    let index = class
        .map
        .methods
        .iter()
        .position(|m| m.name == method)
        .expect("method is profiled");
    class.counts[index].total()
}

#[test]
fn counters_are_exact_with_platform_and_virtual_threads() {
    for home in jdks() {
        let dir = tempfile::tempdir().unwrap();
        compile(&home, dir.path());
        let output = java(
            &home,
            dir.path(),
            "probe=counters,file=out.trodden",
            &["threads", "8"],
        )
        .output()
        .unwrap();
        assert_undisturbed(&output);
        let profile = Profile::load(dir.path().join("out.trodden")).unwrap();
        assert!(profile.run.exact);
        // Eight platform threads, and as many virtual ones where there are any (told on stderr).
        let err = text(&output.stderr);
        let virtual_threads = if err.contains("virtual threads: 8") { 8 } else { 0 };
        assert_eq!(
            total(&profile, "classify"),
            (8 + virtual_threads) * CALLS,
            "{}: {err}",
            home.display()
        );
        // `many` has 2^13 paths: more than dense slots hold.
        assert_eq!(
            total(&profile, "many"),
            (8 + virtual_threads) * CALLS,
            "{}",
            home.display()
        );
        let class = profile.classes.iter().find(|c| c.map.name == "Smoke").unwrap();
        let index = class
            .map
            .methods
            .iter()
            .position(|m| m.name == "classify")
            .unwrap();
        let mut counts: Vec<u64> = class.counts[index].paths.values().copied().collect();
        counts.sort_unstable();
        // Of 15 numbers: one is divisible by both, two by 5 only, four by 3 only, eight by neither; 100,000
        // of each 0..99,999.
        let expected =
            |hit: &dyn Fn(u64) -> bool| (8 + virtual_threads) * (0..CALLS).filter(|&i| hit(i)).count() as u64;
        let mut wanted = [
            expected(&|i| i % 15 == 0),
            expected(&|i| i % 5 == 0 && i % 3 != 0),
            expected(&|i| i % 3 == 0 && i % 5 != 0),
            expected(&|i| i % 3 != 0 && i % 5 != 0),
        ];
        wanted.sort_unstable();
        assert_eq!(counts, wanted, "{}", home.display());
    }
}

/// Runs the program with a dump every few milliseconds until there are that many samples, then tells it to
/// end.
fn sampled(home: &Path, options: &str, samples: u64) -> Profile {
    let dir = tempfile::tempdir().unwrap();
    compile(home, dir.path());
    let file = dir.path().join("out.trodden");
    let options = format!("{options},dump=50ms,file=out.trodden");
    let mut child = java(home, dir.path(), &options, &["until-eof", "0"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let deadline = Instant::now() + LIMIT;
    let mut last = String::new();
    let enough = loop {
        if let Ok(profile) = Profile::load(&file) {
            last = format!("{:?}", profile.run.facts);
            if fact(&profile, "samples") >= samples {
                break true;
            }
        }
        if Instant::now() > deadline || child.try_wait().unwrap().is_some() {
            break false;
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    drop(child.stdin.take());
    assert_undisturbed(&child.wait_with_output().unwrap());
    assert!(enough, "{options} on {}: {last}", home.display());
    Profile::load(&file).unwrap()
}

fn fact(profile: &Profile, name: &str) -> u64 {
    profile.run.facts.text(name).unwrap().parse().unwrap()
}

/// Events are counted exactly unless only bursts of them are.
#[test]
fn a_profile_of_bursts_is_not_exact() {
    let home = jdks().remove(0);
    let dir = tempfile::tempdir().unwrap();
    compile(&home, dir.path());
    for (burst, exact) in [("off", true), ("static:10:3", false)] {
        let options = format!("profile=kpaths,burst={burst},file=out.trodden");
        let program = ["threads", "1"];
        assert_undisturbed(&java(&home, dir.path(), &options, &program).output().unwrap());
        let profile = Profile::load(dir.path().join("out.trodden")).unwrap();
        assert_eq!(profile.run.exact, exact, "{burst}");
        assert_eq!(
            total(&profile, "classify").is_multiple_of(CALLS),
            exact,
            "{burst}"
        );
    }
}

/// `work` calls `classify(i)` and `many(i)` in turn for i = 0, 1, …, and a window holds path ends in a row.
/// So whatever the clock does, both have as many samples but for one per window, and the paths of `classify`
/// the shares that the numbers 0 … 99,999 give them but for the ends of windows.
#[test]
fn yieldpoint_samples_have_the_shares_of_the_program() {
    for home in jdks() {
        let options = "probe=yieldpoint,schedule=sag:64:17,interval=5ms";
        let profile = sampled(&home, options, 3_000);
        let place = format!("{}: {:?}", home.display(), profile.run.facts);
        assert!(!profile.run.exact);
        assert_eq!(profile.classes.len(), 1, "{place}");
        let samples = fact(&profile, "samples");
        assert_eq!(fact(&profile, "unknown_samples"), 0, "{place}");
        assert_eq!(fact(&profile, "panics"), 0, "{place}");
        let windows = fact(&profile, "ticks");
        let all: u64 = profile.classes[0].counts.iter().map(|c| c.total()).sum();
        assert_eq!(all, samples, "{place}");
        let [classify, many] = ["classify", "many"].map(|m| total(&profile, m));
        // Path ends of `work` and `main`: one per turn of the loop, and where a round ends, three in 300,003.
        let others = samples - classify - many;
        assert!(
            others.abs_diff(classify) <= 4 * windows,
            "{others} {classify} {place}"
        );
        assert!(classify.abs_diff(many) <= windows, "{classify} {many} {place}");
        let class = &profile.classes[0];
        let index = class.map.methods.iter().position(|m| m.name == "classify");
        let mut counts: Vec<u64> = class.counts[index.unwrap()].paths.values().copied().collect();
        counts.sort_unstable();
        assert_eq!(counts.len(), 4, "{place}");
        for (count, of_15) in counts.into_iter().zip([1u64, 2, 4, 8]) {
            // n numbers in a row hold of s residues of 15 never more than s (15 - s) / 15 off n s / 15. Where
            // a round ends, a new row begins: once in a window at most.
            let rows = 2 * windows;
            let off = (15 * count).abs_diff(of_15 * classify);
            assert!(
                off <= rows * of_15 * (15 - of_15),
                "{of_15}/15: {count} of {classify}, {place}"
            );
        }
    }
}

/// With windows of fixed duration the counts estimate executions: `classify` and `many` are called equally
/// often, and the paths of `classify` have their shares, though samples weigh from one path end to thousands.
#[test]
fn windows_of_fixed_duration_count_executions() {
    for home in jdks() {
        // Estimates, and a window in which something else ran on this processor has few path ends: with ten
        // times the samples, chance is a third of what it is.
        let estimates = |samples| estimates_of_fixed_windows(&home, samples);
        if let Err(first) = estimates(3_000) {
            let second = estimates(30_000);
            assert!(second.is_ok(), "{first}, and {second:?}");
        }
    }
}

/// What is estimated from so many samples, if it is not what the program does.
fn estimates_of_fixed_windows(home: &Path, samples: u64) -> Result<(), String> {
    let options = "probe=yieldpoint,schedule=span:500us:64,interval=5ms";
    let profile = sampled(home, options, samples);
    let place = format!("{}: {:?}", home.display(), profile.run.facts);
    let [samples, seen] = ["samples", "window_path_ends"].map(|name| fact(&profile, name));
    assert_eq!(fact(&profile, "unknown_samples"), 0, "{place}");
    assert_eq!(fact(&profile, "panics"), 0, "{place}");
    assert!(fact(&profile, "window_ns") > 0, "{place}");
    let all: u64 = profile.classes[0].counts.iter().map(|c| c.total()).sum();
    // An interval has at least two windows' time; one path end per window and its samples' roundings.
    assert!(
        samples <= seen && all + fact(&profile, "ticks") >= seen,
        "{all}, {place}"
    );
    let [classify, many] = ["classify", "many"].map(|m| total(&profile, m) as f64);
    if !(0.8..1.25).contains(&(classify / many)) {
        return Err(format!("{classify} {many} {place}"));
    }
    let class = &profile.classes[0];
    let index = class.map.methods.iter().position(|m| m.name == "classify");
    let mut counts: Vec<u64> = class.counts[index.unwrap()].paths.values().copied().collect();
    counts.sort_unstable();
    assert_eq!(counts.len(), 4, "{place}");
    for (count, of_15) in counts.into_iter().zip([1.0, 2.0, 4.0, 8.0]) {
        let share = count as f64 / classify * 15.0;
        if (share - of_15).abs() >= 0.5 + 0.1 * of_15 {
            return Err(format!("{share} of 15, not {of_15}, {place}"));
        }
    }
    Ok(())
}

/// Every register that is read is a path prefix that leads to where the thread stood, in a method of the
/// program that runs at that time.
#[test]
fn safepoint_samples_are_prefixes_in_the_hot_code() {
    for home in jdks() {
        let profile = sampled(&home, "probe=safepoint,interval=5ms", 100);
        let place = format!("{}: {:?}", home.display(), profile.run.facts);
        assert!(!profile.run.exact);
        assert_eq!(profile.classes.len(), 1, "{place}");
        let [samples, frames, invalid, implausible] =
            ["samples", "frames", "invalid_slots", "implausible"].map(|name| fact(&profile, name));
        assert_eq!(frames, samples + invalid + implausible, "{place}");
        assert!(samples > frames / 2, "{place}");
        assert_eq!(fact(&profile, "panics"), 0, "{place}");
        let class = &profile.classes[0];
        let (mut all, mut hot) = (0, 0);
        for (map, counts) in class.map.methods.iter().zip(&class.counts) {
            assert!(counts.paths.is_empty(), "{} has whole paths", map.name);
            for (&(block, number), count) in &counts.partial {
                let stopped = trodden_numbering::BlockId::new(block as usize);
                let prefix = map.dag.regenerate_partial(&map.graph, number, stopped);
                assert!(prefix.is_ok(), "{}: {prefix:?}, {place}", map.name);
                all += count;
                hot += count * u64::from(["work", "classify", "many"].contains(&map.name.as_str()));
            }
        }
        assert_eq!(all, samples, "{place}");
        // Not all: `main` runs too, for some nanoseconds in a millisecond.
        assert!(hot > samples / 2, "{hot} of {place}");
    }
}

#[test]
fn trouble_leaves_the_program_alone() {
    let home = jdks().remove(0);
    let dir = tempfile::tempdir().unwrap();
    compile(&home, dir.path());
    for (options, message) in [
        ("probe=nonsense", "probe"),
        ("no-such-option=1", "no-such-option"),
        ("include=a#b#c", "more than one"),
        ("file=/no/such/folder/out.trodden", "/no/such/folder/out.trodden"),
        (
            "probe=counters,file=%{TRODDEN_NOT_SET}.trodden",
            "TRODDEN_NOT_SET",
        ),
    ] {
        let output = java(&home, dir.path(), options, &["threads", "1"])
            .output()
            .unwrap();
        assert_undisturbed(&output);
        assert!(
            text(&output.stderr).contains(message),
            "{options}: {}",
            text(&output.stderr)
        );
    }
}

/// A process that is killed when it is not needed any more, whatever has come of it.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn commands_of_a_live_process() {
    for home in jdks() {
        let dir = tempfile::tempdir().unwrap();
        compile(&home, dir.path());
        let child = Command::new(home.join("bin/java"))
            .args(["-Xcheck:jni", "-Xmx256m", "-cp", ".", "Smoke", "spin", "86400000"])
            .current_dir(dir.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut child = Killed(child);
        let mut output = BufReader::new(child.0.stdout.take().unwrap());
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        assert_eq!(line, "ready\n");
        let command = |options: &str| attach(&home, dir.path(), child.0.id(), options);
        assert!(command("status").starts_with("ok\nstate: idle\n"));
        assert!(command("dump").starts_with("error: "));
        for _ in 0..3 {
            let started = command("start,probe=counters,file=live.trodden");
            assert!(
                started.starts_with("ok\n") && started.contains("retransformed: "),
                "{started}"
            );
            assert!(command("start,probe=counters").starts_with("error: "));
            let deadline = Instant::now() + LIMIT;
            loop {
                assert!(command("dump").starts_with("ok\n"));
                let dumped = Profile::load(dir.path().join("live.trodden")).unwrap();
                if total(&dumped, "classify") > 0 {
                    break;
                }
                assert!(Instant::now() < deadline, "nothing is counted");
                std::thread::sleep(Duration::from_millis(20));
            }
            let status = command("status");
            assert!(
                status.contains("state: running") && status.contains("classes: 1"),
                "{status}"
            );
            assert!(command("stop").starts_with("ok\n"));
            assert!(Profile::load(dir.path().join("live.trodden")).is_ok());
        }
        let profile = Profile::load(dir.path().join("live.trodden")).unwrap();
        assert!(total(&profile, "classify") > 0, "{}", home.display());
        assert!(command("reset").starts_with("ok\n"));
        assert!(command("dump,file=after.trodden").starts_with("ok\n"));
        assert_eq!(
            total(
                &Profile::load(dir.path().join("after.trodden")).unwrap(),
                "classify"
            ),
            0
        );
        assert!(command("start,probe=safepoint").contains("start-up"));
        drop(child);
        // The JVM says nothing there either, whatever it is asked.
        line.clear();
        output.read_to_string(&mut line).unwrap();
        assert_eq!(line, "", "{}", home.display());
    }
}

/// Sends a command by jcmd; the agent's answer.
fn attach(home: &Path, dir: &Path, pid: u32, options: &str) -> String {
    let out = dir.join("answer");
    let _ = std::fs::remove_file(&out);
    let output = Command::new(home.join("bin/jcmd"))
        .arg(pid.to_string())
        .arg("JVMTI.agent_load")
        .arg(agent())
        .arg(format!("\"{options},out={}\"", out.display()))
        .output()
        .expect("jcmd runs");
    let deadline = Instant::now() + LIMIT;
    while !out.exists() {
        assert!(
            Instant::now() < deadline,
            "no answer to {options}: {} {}",
            text(&output.stdout),
            text(&output.stderr)
        );
        std::thread::sleep(Duration::from_millis(20));
    }
    std::fs::read_to_string(out).unwrap()
}
