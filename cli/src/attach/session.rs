//! `trodden attach JVM --for 30s`: starts, waits, stops, and shows what was found. Whatever ends it, the
//! JVM gets its own code back.

use std::fs;
use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use indicatif::{ProgressBar, ProgressStyle};
use trodden_profile::options::{Action, FileFormat, FilePattern, check_place, format_duration};
use trodden_profile::printable;
use trodden_report::ReportOptions;

use super::recording::Recording;
use crate::error::CliError;
use crate::interrupt;
use crate::output;
use crate::profile_args::{Production, ProfileArgs, for_production, warn_of_bursts};
use crate::render::{self, Format};
use crate::run::absolute;
use crate::sources;

/// Interval of checks whether the time is over, the JVM gone, or a key was pressed.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Processors that the JVM's compilers take at most when most of the code is compiled.
const CALM: f64 = 0.2;
/// Interval of looks at that.
const SETTLING_INTERVAL: Duration = Duration::from_secs(1);
/// How long requests wait for compilers.
const MAX_SETTLING: Duration = Duration::from_secs(30);

/// The options of a session.
pub struct Session<'a> {
    pub pid: u32,
    pub duration: Duration,
    pub output: Option<&'a str>,
    pub sources: &'a [PathBuf],
    pub profile: &'a ProfileArgs,
    /// The kind of profile, if it is without probes.
    pub production: Option<Production>,
    pub wait: Duration,
}

/// Why it ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Time,
    Interrupted,
    Gone,
}

impl Session<'_> {
    /// Runs it.
    pub fn run(&self) -> Result<(), CliError> {
        // Everything that can be wrong on this side, before the JVM is touched.
        let profile = self.profile.sampled(self.production)?;
        let mut command = profile.command(Action::Start, &[])?;
        for_production(&mut command.options, self.production)?;
        warn_of_bursts(&command.options, true);
        let places = sources::places(self.sources)?;
        let wanted = self.output.map(|file| self.place(file)).transpose()?;
        let interrupted = interrupt::flag(&[])?;
        let has_requests = !command.options.code.requests.is_empty();
        let mut recording = Recording::start(self.pid, command, self.wait)?;
        let progress = progress();
        if has_requests {
            self.settle(&progress, &interrupted, &recording)?;
        }
        let end = self.wait(&progress, &interrupted, &recording);
        progress.finish_and_clear();
        let profile = recording.stop()?;
        if end == End::Gone {
            output::complain("the JVM ended before the time was over; this is what it did until then");
        }
        let options = ReportOptions {
            sources: places,
            ..ReportOptions::default()
        };
        if let Some((path, format)) = &wanted {
            match Format::of_file(*format) {
                None => {
                    let file = recording.file();
                    output::write_file(path, &fs::read(&file).map_err(|e| CliError::file(&file, e))?)?
                }
                Some(format) => render::write(&profile, format, &options, Some(path))?,
            }
        }
        render::show(&profile, options)?;
        if let Some((path, _)) = &wanted {
            output::say(&format!("written: {}", path.display()));
        }
        Ok(())
    }

    /// Where the result goes, if something can be written there.
    fn place(&self, file: &str) -> Result<(PathBuf, FileFormat), CliError> {
        let pattern: FilePattern = file
            .parse()
            .map_err(|e| CliError::Usage(format!("error: --output: {e}")))?;
        output::by_ending(pattern.as_str(), &FileFormat::ENDINGS)?;
        let pattern = absolute(&pattern)?;
        if pattern.format() == FileFormat::Trace {
            return Err(CliError::Usage(
                "error: --output: a trace is recorded from start to end of a JVM; use 'trodden run', or attach PID start --file"
                    .to_owned(),
            ));
        }
        let env = |name: &str| std::env::var(name).ok();
        let name = pattern.expand(self.pid, SystemTime::now(), env);
        let path = PathBuf::from(name.map_err(CliError::failed)?);
        check_place(&path).map_err(CliError::failed)?;
        Ok((path, pattern.format()))
    }

    /// Waits until the JVM has compiled its code with the probes, and forgets what was recorded meanwhile:
    /// requests are slow then for no reason of their own.
    fn settle(
        &self,
        progress: &ProgressBar,
        interrupted: &AtomicBool,
        recording: &Recording,
    ) -> Result<(), CliError> {
        let now = format!(
            "{} ({}) compiles its code with probes; requests are recorded from then on",
            self.pid,
            recording.name()
        );
        if progress.is_hidden() {
            output::complain(&now);
        }
        show(progress, &now);
        let start = Instant::now();
        let mut before = None;
        while start.elapsed() < MAX_SETTLING && !interrupted.load(Ordering::Relaxed) && recording.is_alive() {
            let Some(seconds) = recording.compiler_seconds()? else {
                break;
            };
            let at = Instant::now();
            if let Some((then, spent)) = before.replace((at, seconds))
                && seconds - spent < CALM * (at - then).as_secs_f64()
            {
                break;
            }
            thread::sleep(SETTLING_INTERVAL);
        }
        if recording.is_alive() {
            recording.reset()?;
        }
        Ok(())
    }

    fn wait(&self, progress: &ProgressBar, interrupted: &AtomicBool, recording: &Recording) -> End {
        let name = recording.name();
        let start = Instant::now();
        if progress.is_hidden() {
            output::complain(&format!(
                "profiling {} ({name}) for {}",
                self.pid,
                format_duration(self.duration)
            ));
        }
        loop {
            if interrupted.load(Ordering::Relaxed) {
                break End::Interrupted;
            }
            if !recording.is_alive() {
                break End::Gone;
            }
            let passed = start.elapsed();
            if passed >= self.duration {
                break End::Time;
            }
            let now = format!(
                "profiling {} ({name}): {} s of {}; Ctrl-C ends it and shows the result",
                self.pid,
                passed.as_secs(),
                format_duration(self.duration)
            );
            show(progress, &now);
            thread::sleep(POLL_INTERVAL.min(self.duration - passed));
        }
    }
}

/// A line on a terminal that changes; hidden where there is none.
fn progress() -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{wide_msg}");
    ProgressBar::no_length().with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// Shows what is done now. A JVM's name comes from a command line: it must not steer the terminal.
fn show(progress: &ProgressBar, now: &str) {
    progress.set_message(printable(now).into_owned());
}
