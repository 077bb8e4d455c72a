//! Spool folders and the JVMs that write into them.

use std::fs;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};

use trodden_profile::spool::{Key, Window, list, verify};
use trodden_profile::{Profile, facts, merge};

use crate::jdk::Jdk;
use crate::process::{self, Outcome};
use crate::profile::SUSPICIOUS;
use crate::stress::java;
use crate::{Result, artefacts};

/// Longest time to wait for anything.
pub const LIMIT: Duration = Duration::from_secs(240);

/// A folder with a spool folder in it.
pub struct Place {
    /// The folder.
    pub folder: tempfile::TempDir,
}

impl Place {
    /// Makes one.
    ///
    /// # Errors
    /// If it cannot.
    pub fn new() -> Result<Self> {
        let folder = tempfile::tempdir()?;
        fs::create_dir(folder.path().join("spool"))?;
        Ok(Place { folder })
    }

    /// A name in the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The spool folder.
    pub fn spool(&self) -> PathBuf {
        self.path("spool")
    }

    /// The agent's options for windows of the work of `Shift`, messages in `log`.
    pub fn options(&self, more: &str) -> String {
        self.options_for("Shift?*", more)
    }

    /// The same for other classes.
    pub fn options_for(&self, include: &str, more: &str) -> String {
        format!(
            "spool={},dump=40ms,log={},include={include}{more}",
            self.spool().display(),
            self.path("log").display()
        )
    }

    /// Messages of the agent.
    pub fn log(&self) -> String {
        fs::read_to_string(self.path("log")).unwrap_or_default()
    }

    /// The windows that are there, all good, by recording and number.
    ///
    /// # Errors
    /// If one is not.
    pub fn windows(&self, key: Option<&Key>) -> Result<Vec<Window>> {
        let windows = list(&self.spool())?;
        let windows = windows.iter().map(|window| Ok(verify(&window.path, key)?));
        windows.collect()
    }

    /// Waits until something is so.
    ///
    /// # Errors
    /// If it is not for too long.
    pub fn await_that(&self, what: &str, mut so: impl FnMut(&Place) -> Result<bool>) -> Result<()> {
        let start = Instant::now();
        while !so(self)? {
            if start.elapsed() > LIMIT {
                return Err(format!("{what}: not after {LIMIT:?}\n{}", self.log()).into());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }
}

/// The JVM's flag for the agent.
///
/// # Errors
/// If the agent is not built.
pub fn agent(options: &str) -> Result<String> {
    let agent = artefacts::artefacts()?.agent.display();
    Ok(format!("-agentpath:{agent}=start,{options}"))
}

/// A program of `stress/` under suspicion, with the agent if there are options.
///
/// # Errors
/// If it cannot be built.
pub fn command(program: &str, jdk: &Jdk, options: Option<&str>, arguments: &[&str]) -> Result<Command> {
    let mut flags = SUSPICIOUS.map(str::to_owned).to_vec();
    flags.extend(options.map(agent).transpose()?);
    java(program, jdk, &flags, arguments)
}

/// A program that runs until its standard input ends.
pub struct Running {
    child: Option<Child>,
    input: Option<ChildStdin>,
}

impl Running {
    /// Starts one.
    ///
    /// # Errors
    /// If it cannot be.
    pub fn start(program: &str, jdk: &Jdk, options: Option<&str>, arguments: &[&str]) -> Result<Running> {
        let mut child = command(program, jdk, options, arguments)?
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let input = child.stdin.take();
        Ok(Running {
            child: Some(child),
            input,
        })
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.child.as_ref().map_or(0, Child::id)
    }

    /// Ends its input, and waits for its end.
    ///
    /// # Errors
    /// If it fails.
    pub fn end(mut self) -> Result<Outcome> {
        drop(self.input.take());
        let child = self.child.take().ok_or("it has ended")?;
        process::wait(child, LIMIT)?.success()
    }

    /// Kills it.
    ///
    /// # Errors
    /// If it cannot be.
    pub fn kill(mut self) -> Result<()> {
        let mut child = self.child.take().ok_or("it has ended")?;
        child.kill()?;
        child.wait()?;
        Ok(())
    }

    /// The answer of the agent to a command; or the message of `trodden attach`, if it fails.
    ///
    /// # Errors
    /// If it cannot be asked.
    pub fn attach(&self, arguments: &[&str]) -> Result<std::result::Result<String, String>> {
        // A JVM that has only just been started may not listen yet.
        for _ in 0..20 {
            let answer = self.ask(arguments)?;
            let early = |message: &String| {
                message.contains("did not open its attach socket") || message.contains("is just starting")
            };
            if !answer.as_ref().is_err_and(early) {
                return Ok(answer);
            }
            std::thread::sleep(Duration::from_secs(1));
        }
        self.ask(arguments)
    }

    fn ask(&self, arguments: &[&str]) -> Result<std::result::Result<String, String>> {
        let mut trodden = Command::new(&artefacts::artefacts()?.cli);
        trodden.arg("attach").arg(self.pid().to_string()).args(arguments);
        let outcome = process::run(&mut trodden, LIMIT)?;
        Ok(if outcome.status.success() {
            Ok(outcome.stdout)
        } else {
            Err(outcome.stderr)
        })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Windows of one recording follow each other, in numbers and time.
///
/// # Panics
/// If not.
pub fn assert_in_a_row(windows: &[Window]) {
    let fact = |window: &Window, fact| window.profile.run.facts.get(fact).unwrap_or(0);
    for (window, number) in windows.iter().zip(1..) {
        assert_eq!(
            (&window.name.jvm_id, window.name.number),
            (&windows[0].name.jvm_id, number)
        );
        let (started, ended) = (
            fact(window, facts::WINDOW_STARTED_MS),
            fact(window, facts::WINDOW_ENDED_MS),
        );
        assert!(0 < started && started <= ended, "{started} {ended}");
    }
    for pair in windows.windows(2) {
        let (ended, started) = (
            fact(&pair[0], facts::WINDOW_ENDED_MS),
            fact(&pair[1], facts::WINDOW_STARTED_MS),
        );
        assert_eq!(ended, started, "window {}", pair[1].name.number);
    }
}

/// The sum of windows.
///
/// # Errors
/// If they do not.
pub fn sum(windows: &[Window]) -> Result<Profile> {
    Ok(merge(windows.iter().map(|window| &window.profile))?)
}
