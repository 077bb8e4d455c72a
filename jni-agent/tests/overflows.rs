//! Stacks that overflow while the JVM's events are switched on and off, sampled far more often than the
//! system's clock ticks: the state in which a walk once ended JVMs.

#![cfg(target_os = "linux")]

use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use crate::common::{agent, compile, jdks};

/// How often each JVM is run, if `TRODDEN_TEST_OVERFLOWS` does not say so.
const RUNS: usize = 3;

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

/// Signals all threads that have timers, until the process ends.
fn storm(child: &mut Child) {
    while child.try_wait().expect("the JVM's state").is_none() {
        let timers = timers(child.id());
        for _ in 0..100 {
            timers.iter().for_each(|timer| fire(child.id(), timer));
            std::thread::sleep(Duration::from_micros(50));
        }
    }
}

fn run(home: &Path, dir: &Path, options: &str, threads: &str) -> Output {
    let mut java = Command::new(home.join("bin/java"));
    java.args(["-Xmx64m", "-cp", "."])
        .arg(format!(
            "-agentpath:{}=start,file=out.trodden,sample=1ms,{options}",
            agent().display()
        ))
        .args(["Overflows", "3000", threads])
        .current_dir(dir)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = java.spawn().expect("java runs");
    storm(&mut child);
    child.wait_with_output().expect("the JVM's output")
}

#[test]
fn no_walk_ends_the_jvm() {
    let runs = std::env::var("TRODDEN_TEST_OVERFLOWS").map_or(RUNS, |runs| runs.parse().expect("a number"));
    for home in jdks() {
        let dir = tempfile::tempdir().expect("a folder");
        compile(&home, "Overflows", dir.path());
        for round in 0..runs {
            let options = "profile=contexts,burst=jvm:3ms:1ms";
            let output = run(&home, dir.path(), options, ["2", "1"][round % 2]);
            let (out, err) = (
                String::from_utf8_lossy(&output.stdout),
                String::from_utf8_lossy(&output.stderr),
            );
            let what = format!("{}, run {round}: {}\n{out}{err}", home.display(), output.status);
            assert!(output.status.success() && out == "done\n", "{what}");
        }
    }
}
