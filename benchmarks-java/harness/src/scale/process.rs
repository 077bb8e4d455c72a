//! A program from start to exit: its processor time and its most memory.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use wait_timeout::ChildExt;

use crate::error::{Error, Result, io};
use crate::jvm::peak;
use crate::overhead::of_children;

/// How often its memory is looked up.
const LOOK: Duration = Duration::from_millis(50);

/// What a process took.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    /// Processor time in seconds, of all of its threads.
    pub cpu: f64,
    /// Elapsed seconds.
    pub elapsed: f64,
    /// The most memory that was ever resident (VmHWM) in KiB, looked up twenty times a second.
    pub peak_kib: u64,
}

/// Runs a program; no other process must be waited for meanwhile.
///
/// # Errors
/// If it cannot be started, or fails.
pub fn measure(program: &str, command: &mut Command) -> Result<Cost> {
    let before = of_children()?;
    let start = Instant::now();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .map_err(io("start", program))?;
    let mut peak_kib = 0;
    let status = loop {
        // Of a process that has just ended nothing is known any more; then the last look counts.
        peak_kib = peak(child.id()).unwrap_or(0).max(peak_kib);
        if let Some(status) = child.wait_timeout(LOOK).map_err(io("wait for", program))? {
            break status;
        }
    };
    if !status.success() {
        return Err(Error::Program {
            program: program.to_owned(),
            problem: status.to_string(),
        });
    }
    Ok(Cost {
        cpu: of_children()? - before,
        elapsed: start.elapsed().as_secs_f64(),
        peak_kib,
    })
}
