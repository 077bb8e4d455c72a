//! Programs of which all runs within one burst of the JVM's own events.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use crate::Result;
use crate::contexts::trodden;
use crate::process::Outcome;

/// A burst that begins at the start and is over when the program is.
pub const ENDLESS: &str = "jvm:1000s:900s";
/// Longest time to wait for what the agent's clock does in its own time.
const LIMIT: Duration = Duration::from_secs(600);

/// Runs a program under an agent with an [`ENDLESS`] burst. It says `ready`, and continues once it reads
/// something: by then the burst has begun. Returns what it says after that line.
///
/// # Errors
/// If it cannot be run, or no burst begins.
pub fn in_one_burst(command: &mut Command) -> Result<Outcome> {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let mut output = BufReader::new(child.stdout.take().ok_or("no stdout")?);
    let mut line = String::new();
    while line.trim() != "ready" {
        line.clear();
        if output.read_line(&mut line)? == 0 {
            return Err("it does not begin".into());
        }
    }
    // The clock has its own thread, which begins the burst in its own time.
    let begun = Instant::now();
    let pid = child.id().to_string();
    while !trodden(&["attach", &pid, "status"])?.contains("bursts: 1") {
        if begun.elapsed() > LIMIT {
            child.kill()?;
            return Err("no burst begins".into());
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    child.stdin.take().ok_or("no stdin")?.write_all(b"g")?;
    let mut stdout = String::new();
    output.read_to_string(&mut stdout)?;
    let mut stderr = String::new();
    child
        .stderr
        .take()
        .ok_or("no stderr")?
        .read_to_string(&mut stderr)?;
    let status: ExitStatus = child.wait()?;
    Ok(Outcome {
        status,
        stdout,
        stderr,
    })
}
