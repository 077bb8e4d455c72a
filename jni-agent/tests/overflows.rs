//! Stacks that overflow while the JVM's events are switched on and off, sampled far more often than the
//! system's clock ticks: the state in which a walk once ended JVMs.

#![cfg(target_os = "linux")]

use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use trodden_profile::Profile;

use crate::common::{agent, compile, jdks};

/// How often each JVM is run, if `TRODDEN_TEST_OVERFLOWS` does not say so.
const RUNS: usize = 3;
/// How long a run's stacks overflow in milliseconds, if `TRODDEN_TEST_OVERFLOWS_MS` does not say so.
const MILLIS: usize = 3000;

/// A number that a variable of the environment sets.
fn set(variable: &str, default: usize) -> usize {
    std::env::var(variable).map_or(default, |text| text.parse().expect("a number"))
}

/// What a timer sends to a thread.
struct Timer {
    signal: i32,
    value: usize,
    thread: i32,
}

/// The timers of a process that signal threads and carry something.
fn timers(process: u32) -> Vec<Timer> {
    let text = std::fs::read_to_string(format!("/proc/{process}/timers")).unwrap_or_default();
    let (mut signal, mut value) = (0, 0);
    let mut timers = Vec::new();
    for line in text.lines() {
        if let Some((number, carried)) = line.strip_prefix("signal: ").and_then(|s| s.split_once('/')) {
            signal = number.parse().unwrap_or_default();
            value = usize::from_str_radix(carried.trim_start_matches("0x"), 16).unwrap_or_default();
        } else if let Some(thread) = line.strip_prefix("notify: signal/tid.")
            && let Ok(thread) = thread.parse()
            && value != 0
        {
            timers.push(Timer {
                signal,
                value,
                thread,
            });
        }
    }
    timers
}

/// Sends what the timer would, now.
fn fire(process: u32, timer: &Timer) {
    const SI_TIMER: i32 = -2;
    /// Where the carried value is.
    const VALUE: usize = 24;
    // SAFETY: plain data, all of it zero; the value lies inside of it.
    let info = unsafe {
        let mut info: libc::siginfo_t = MaybeUninit::zeroed().assume_init();
        info.si_signo = timer.signal;
        info.si_code = SI_TIMER;
        (&raw mut info).byte_add(VALUE).cast::<usize>().write(timer.value);
        info
    };
    // SAFETY: the call reads `info`. A thread that has gone is an error, which does not matter.
    unsafe {
        libc::syscall(
            libc::SYS_rt_tgsigqueueinfo,
            process as libc::pid_t,
            timer.thread,
            timer.signal,
            (&raw const info).cast::<c_void>(),
        )
    };
}

/// Signals all threads that have timers, until the process ends: how many signals that were.
fn storm(child: &mut Child) -> usize {
    let mut signals = 0;
    while child.try_wait().expect("the JVM's state").is_none() {
        let timers = timers(child.id());
        for _ in 0..100 {
            timers.iter().for_each(|timer| fire(child.id(), timer));
            signals += timers.len();
            std::thread::sleep(Duration::from_micros(50));
        }
    }
    signals
}

/// Output of a run, and the number of signals that it got.
fn run(home: &Path, dir: &Path, options: &str, [millis, threads]: [usize; 2]) -> (Output, usize) {
    let mut java = Command::new(home.join("bin/java"));
    java.args(["-Xmx64m", "-cp", "."])
        .arg(format!(
            "-agentpath:{}=start,file=out.trodden,{options}",
            agent().display()
        ))
        .args(["Overflows", &millis.to_string(), &threads.to_string()])
        .current_dir(dir)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = java.spawn().expect("java runs");
    let signals = storm(&mut child);
    (child.wait_with_output().expect("the JVM's output"), signals)
}

/// Samples of a run's profile, and those of them that have a stack.
fn samples(dir: &Path) -> [u64; 2] {
    let profile = Profile::load(dir.join("out.trodden")).expect("a profile");
    let cpu = profile.cpu.expect("CPU samples");
    let failed: u64 = cpu.failed.iter().map(|failure| failure.time.samples).sum();
    let all = cpu.total().samples;
    [all, all - failed]
}

/// In runs with two threads and with one by turns. Every third has the kernel's clock of a thread, if the
/// system has one, in place of the storm, as often as may be.
#[test]
fn no_walk_ends_the_jvm() {
    let runs = set("TRODDEN_TEST_OVERFLOWS", RUNS);
    let millis = set("TRODDEN_TEST_OVERFLOWS_MS", MILLIS);
    for home in jdks() {
        let dir = tempfile::tempdir().expect("a folder");
        compile(&home, "Overflows", dir.path());
        // Catches, signals, samples, samples with a stack.
        let mut sums = [0; 4];
        for round in 0..runs {
            let sample = if round % 3 == 2 { "100us" } else { "timer:1ms" };
            let options = format!("profile=contexts,burst=jvm:3ms:1ms,sample={sample}");
            let (output, signals) = run(&home, dir.path(), &options, [millis, [2, 1][round % 2]]);
            let (out, err) = (
                String::from_utf8_lossy(&output.stdout),
                String::from_utf8_lossy(&output.stderr),
            );
            let what = format!("{}, run {round}: {}\n{out}{err}", home.display(), output.status);
            let caught = out
                .strip_prefix("caught ")
                .and_then(|n| n.trim_end().parse::<u64>().ok());
            assert!(output.status.success(), "{what}");
            let caught = caught.unwrap_or_else(|| panic!("{what}"));
            let [all, walked] = samples(dir.path());
            let of_run = [caught, signals as u64, all, walked];
            sums.iter_mut().zip(of_run).for_each(|(sum, one)| *sum += one);
            if (round + 1) % 100 == 0 || round + 1 == runs {
                let [caught, signals, all, walked] = sums;
                println!(
                    "{}: {} runs of {millis} ms ended well: {caught} overflows or exceptions, {signals} \
                     signals, {all} samples, {walked} of them with a stack",
                    home.display(),
                    round + 1
                );
            }
        }
        // A short run may end within its first descent, but not all do.
        assert!(sums.iter().all(|&sum| sum > 0), "{sums:?}");
    }
}
