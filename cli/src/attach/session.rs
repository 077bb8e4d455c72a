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
        let mut recording = Recording::start(self.pid, command, self.wait)?;
        let end = self.wait(&interrupted, &recording);
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

    fn wait(&self, interrupted: &AtomicBool, recording: &Recording) -> End {
        let name = recording.name();
        let start = Instant::now();
        let progress = if io::stderr().is_terminal() {
            let style = ProgressStyle::with_template("{wide_msg}");
            ProgressBar::no_length().with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        } else {
            output::complain(&format!(
                "profiling {} ({name}) for {}",
                self.pid,
                format_duration(self.duration)
            ));
            ProgressBar::hidden()
        };
        let end = loop {
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
            // The name comes from a command line: it must not steer the terminal.
            progress.set_message(printable(&now).into_owned());
            thread::sleep(POLL_INTERVAL.min(self.duration - passed));
        };
        progress.finish_and_clear();
        end
    }
}
