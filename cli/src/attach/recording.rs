//! The agent at work in a running JVM, for a session of ours. However the session ends, the JVM gets its own
//! code back.

use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use trodden_profile::Profile;
use trodden_profile::options::{Action, AgentCommand, FilePattern};
use trodden_profile::output::Lease;

use super::Channel;
use super::jvms::main_of;
use super::target::{self, Target};
use crate::error::CliError;
use crate::output;
use crate::profile_args::ProfileArgs;

/// Interval of checks for the profile of a JVM that ends.
const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// How long a JVM that ends may take over writing its profile.
const MAX_FINAL_WRITE: Duration = Duration::from_secs(10);

/// Profiling that was started by us. Dropped, it is stopped.
pub struct Recording {
    channel: Channel,
    pid: u32,
    name: String,
    running: bool,
    /// The agent stops when this process is gone: a killed process cannot stop it.
    _lease: Option<Lease>,
}

/// An action without options: those of the session are for its start.
fn bare(action: Action) -> Result<AgentCommand, CliError> {
    ProfileArgs::default().command(action, &[])
}

/// The file of the end.
const SESSION: &str = "session.trodden";

impl Recording {
    /// Starts the agent, with counts of its own.
    pub fn start(pid: u32, mut command: AgentCommand, wait: Duration) -> Result<Self, CliError> {
        if command.options.spools() {
            return Err(CliError::Usage(
                "error: --spool is for a profile without an end: `trodden attach PID start --spool DIR`, or --for 0"
                    .to_owned(),
            ));
        }
        let target = Target::inspect(pid).ok();
        let name = target.as_ref().map_or_else(String::new, |t| main_of(&t.command));
        let channel = Channel::new(pid, wait)?;
        // A file system without locks is no reason not to profile.
        let lease = Lease::hold(&channel.scratch.here("lease")).ok();
        if lease.is_some() {
            let lease = channel.scratch.there("lease");
            command.options.output.lease = Some(lease.display().to_string());
        }
        let mut recording = Recording {
            channel,
            pid,
            name,
            running: false,
            _lease: lease,
        };
        command.options.output.file = recording.pattern(SESSION);
        recording.channel.send(command)?;
        recording.running = true;
        if target.is_some_and(|target| target.agent.is_some()) {
            // Counts of sessions before this one. Not in front of the start: that is refused while another
            // session runs, whose counts these are.
            recording.reset()?;
        }
        Ok(recording)
    }

    /// The name of the JVM's program.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where the profile is, once it was written at the end.
    pub fn file(&self) -> PathBuf {
        self.channel.scratch.here(SESSION)
    }

    fn pattern(&self, name: &str) -> FilePattern {
        FilePattern::literal(&self.channel.scratch.there(name).display().to_string())
    }

    /// True if the JVM still runs.
    pub fn is_alive(&self) -> bool {
        self.channel.is_alive()
    }

    /// Forgets what was recorded until now.
    pub fn reset(&self) -> Result<(), CliError> {
        self.channel.send(bare(Action::Reset)?).map(drop)
    }

    /// Seconds of CPU time that the JVM's compilers have taken; `None` if its agent does not say.
    pub fn compiler_seconds(&self) -> Result<Option<f64>, CliError> {
        let status = self.channel.send(bare(Action::Status)?)?;
        let value = status.lines().find_map(|line| line.strip_prefix("compilers: "));
        Ok(value.and_then(|seconds| seconds.parse().ok()))
    }

    /// The profile until now; the JVM continues.
    pub fn dump(&self) -> Result<Profile, CliError> {
        // Not into the file of the end: that one shows that the JVM has written its last profile.
        const DUMP: &str = "dump.trodden";
        let mut dump = bare(Action::Dump)?;
        dump.options.output.file = self.pattern(DUMP);
        self.channel.send(dump)?;
        Profile::load(self.channel.scratch.here(DUMP)).map_err(CliError::failed)
    }

    /// Stops, and returns what was found; of a JVM that ended meanwhile, what it left.
    pub fn stop(&mut self) -> Result<Profile, CliError> {
        if self.is_alive() {
            let mut stop = bare(Action::Stop)?;
            stop.options.output.file = self.pattern(SESSION);
            match self.channel.send(stop) {
                Ok(_) => {}
                // It may have ended in this very moment.
                Err(_) if !self.is_alive() => self.await_last_words(&self.file()),
                Err(error) => return Err(error),
            }
        } else {
            self.await_last_words(&self.file());
        }
        self.running = false;
        if !self.file().exists() {
            return Err(CliError::Failed(format!(
                "process {} ended without writing its profile (was it killed?)",
                self.pid
            )));
        }
        Profile::load(self.file()).map_err(CliError::failed)
    }

    /// The agent writes the profile when its JVM ends.
    fn await_last_words(&self, file: &Path) {
        let start = Instant::now();
        while !file.exists() && start.elapsed() < MAX_FINAL_WRITE && target::birth(self.pid).is_some() {
            thread::sleep(POLL_INTERVAL);
        }
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        if self.running
            && self.is_alive()
            && let Err(error) = self.stop()
        {
            output::complain(&format!(
                "the program may still carry probes: {error}; `trodden attach {} stop` puts its own code back",
                self.pid
            ));
        }
    }
}
