//! Running programs with a time limit.

use std::io::Read;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::str::FromStr;
use std::thread;
use std::time::{Duration, Instant};

use crate::Result;

/// A program that has not ended by then hangs. Shorter limits are raised to it: on a busy machine, a run of
/// seconds has taken minutes.
const HANGS: Duration = Duration::from_secs(600);

/// The result of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// How it ended.
    pub status: ExitStatus,
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
}

impl Outcome {
    /// The outcome, if the program ended with 0.
    ///
    /// # Errors
    /// Its output, otherwise.
    pub fn success(self) -> Result<Outcome> {
        if self.status.success() {
            Ok(self)
        } else {
            Err(format!("{}\n{}{}", self.status, self.stdout, self.stderr).into())
        }
    }

    /// The numbers that it printed to standard output, and nothing but these.
    ///
    /// # Errors
    /// Everything that it printed, if that is something else.
    pub fn numbers<T: FromStr, const N: usize>(&self) -> Result<[T; N]> {
        let words = self.stdout.split_whitespace();
        let numbers: Option<Vec<T>> = words.map(|word| word.parse().ok()).collect();
        let numbers = numbers.and_then(|numbers| <[T; N]>::try_from(numbers).ok());
        numbers.ok_or_else(|| format!("it did not print {N} numbers, but: {self:#?}").into())
    }
}

/// Runs a program to its end, without standard input.
///
/// # Errors
/// If it cannot be started, or hangs: runs longer than `limit` and ten minutes; it is killed then.
pub fn run(command: &mut Command, limit: Duration) -> Result<Outcome> {
    let child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|e| format!("{command:?}: {e}"))?;
    wait(child, limit).map_err(|e| format!("{command:?} {e}").into())
}

/// Waits for a program whose output is piped.
///
/// # Errors
/// If it hangs: runs longer than `limit` and ten minutes; it is killed then.
pub fn wait(mut child: Child, limit: Duration) -> Result<Outcome> {
    let limit = limit.max(HANGS);
    let reader = |mut pipe: Box<dyn Read + Send>| {
        thread::spawn(move || {
            let mut bytes = Vec::new();
            let read = pipe.read_to_end(&mut bytes);
            read.map(|_| String::from_utf8_lossy(&bytes).into_owned())
        })
    };
    let stdout = reader(Box::new(child.stdout.take().ok_or("no stdout")?));
    let stderr = reader(Box::new(child.stderr.take().ok_or("no stderr")?));
    let start = Instant::now();
    let mut timed_out = false;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if start.elapsed() > limit {
            timed_out = true;
            child.kill()?;
            break child.wait()?;
        }
        thread::sleep(Duration::from_millis(5));
    };
    let stdout = stdout.join().map_err(|_| "stdout reader panicked")??;
    let stderr = stderr.join().map_err(|_| "stderr reader panicked")??;
    if timed_out {
        return Err(format!("ran longer than {limit:?}\n{stdout}{stderr}").into());
    }
    Ok(Outcome {
        status,
        stdout,
        stderr,
    })
}

/// Returns true if there is a program of this name on the `PATH`. If not, says so: a test without it is
/// skipped.
pub fn is_there(tool: &str) -> bool {
    let found = std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|folder| folder.join(tool).is_file()));
    if !found {
        eprintln!("SKIPPED: there is no {tool} on the PATH");
    }
    found
}
