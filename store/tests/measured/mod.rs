//! The resources that a run of `trodden-store` takes.

#![allow(dead_code, reason = "each measurement takes what it needs")]

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The resources that one command took.
pub struct Took {
    /// By the clock.
    pub seconds: f64,
    /// Processor time in seconds, to the tick.
    pub cpu: f64,
    /// The most memory that it had (VmHWM).
    pub peak_mb: u64,
    /// Its text on standard error.
    pub complaint: String,
}

/// Runs the program to its end.
///
/// # Errors
/// If it cannot be started, or fails.
pub fn took(program: &Path, arguments: &[&str]) -> Result<Took, String> {
    let failed = |what: String| format!("{} {}: {what}", program.display(), arguments.join(" "));
    let began = Instant::now();
    let child = Command::new(program)
        .args(arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = child.map_err(|e| failed(e.to_string()))?;
    let process = Path::new("/proc").join(child.id().to_string());
    let read = |name: &str| std::fs::read_to_string(process.join(name)).unwrap_or_default();
    let (mut peak_kb, mut cpu) = (0, 0.0);
    loop {
        // Of a process that has just ended nothing is known any more; then the last look counts.
        peak_kb = peak(&read("status")).max(peak_kb);
        cpu = f64::max(cpu, ticks(&read("stat")) as f64 / 100.0);
        match child.try_wait().map_err(|e| failed(e.to_string()))? {
            Some(_) => break,
            None => std::thread::sleep(Duration::from_millis(2)),
        }
    }
    let seconds = began.elapsed().as_secs_f64();
    let output = child.wait_with_output().map_err(|e| failed(e.to_string()))?;
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    if !output.status.success() {
        return Err(failed(format!("{}: {complaint}", output.status)));
    }
    Ok(Took {
        seconds,
        cpu,
        peak_mb: peak_kb / 1024,
        complaint,
    })
}

/// Bytes of all files of a store that count.
///
/// # Errors
/// If it cannot be listed.
pub fn size(program: &Path, store: &str) -> Result<u64, String> {
    let listing = Command::new(program)
        .args(["ls", store, "--format", "json"])
        .output();
    let listing = listing.map_err(|e| format!("{}: {e}", program.display()))?;
    let listing: serde_json::Value =
        serde_json::from_slice(&listing.stdout).map_err(|e| format!("ls: {e}"))?;
    let builds = listing["builds"].as_array().ok_or("ls lists no builds")?;
    let bytes = builds
        .iter()
        .map(|build| build["bytes"].as_u64().ok_or("ls: no bytes"));
    Ok(bytes.sum::<Result<u64, _>>()?)
}

/// kB of the most memory that a process had.
fn peak(status: &str) -> u64 {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok())
        .unwrap_or(0)
}

/// Hundredths of a second of processor time, of a process's `stat`.
fn ticks(stat: &str) -> u64 {
    let behind_name = stat.rsplit(')').next().unwrap_or_default();
    let numbers = behind_name.split_whitespace().skip(11).take(2);
    numbers.filter_map(|number| number.parse::<u64>().ok()).sum()
}
