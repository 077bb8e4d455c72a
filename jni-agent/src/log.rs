//! Messages, to stderr or a file; never to stdout, which is the program's.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU8, Ordering};

use trodden_profile::printable_lines;

/// How important a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Profiling, or part of it, does not work.
    Error = 1,
    /// Something the user should know.
    Warn = 2,
    /// What the agent does.
    Info = 3,
    /// For the search for a bug.
    Debug = 4,
}

static LEVEL: AtomicU8 = AtomicU8::new(Level::Warn as u8);
static FILE: Mutex<Option<File>> = Mutex::new(None);

/// Sets the least important level that is written.
pub fn set_level(level: Level) {
    LEVEL.store(level as u8, Ordering::Relaxed);
}

/// Sends messages to a file (appending) instead of stderr.
///
/// # Errors
/// If the file cannot be opened; messages stay where they went.
pub fn set_file(path: &Path) -> std::io::Result<()> {
    let file = OpenOptions::new().create(true).append(true).open(path)?;
    *FILE.lock().unwrap_or_else(|e| e.into_inner()) = Some(file);
    Ok(())
}

/// Is this level written?
pub fn enabled(level: Level) -> bool {
    level as u8 <= LEVEL.load(Ordering::Relaxed)
}

/// Writes a message. A closed stderr or a full disk must not matter to the program, so failures are ignored.
pub fn write(level: Level, message: std::fmt::Arguments<'_>) {
    if !enabled(level) {
        return;
    }
    let word = match level {
        Level::Error => "error: ",
        Level::Warn => "warning: ",
        Level::Info | Level::Debug => "",
    };
    // Class files may have terminal escapes in their names.
    let line = format!("trodden: {word}{message}\n");
    let line = printable_lines(&line);
    let mut file = FILE.lock().unwrap_or_else(|e| e.into_inner());
    let _ = match file.as_mut() {
        Some(file) => file.write_all(line.as_bytes()),
        None => std::io::stderr().write_all(line.as_bytes()),
    };
}

macro_rules! error {
    ($($arg:tt)*) => { $crate::log::write($crate::log::Level::Error, format_args!($($arg)*)) };
}
macro_rules! warning {
    ($($arg:tt)*) => { $crate::log::write($crate::log::Level::Warn, format_args!($($arg)*)) };
}
macro_rules! info {
    ($($arg:tt)*) => { $crate::log::write($crate::log::Level::Info, format_args!($($arg)*)) };
}
macro_rules! debug {
    ($($arg:tt)*) => { $crate::log::write($crate::log::Level::Debug, format_args!($($arg)*)) };
}
pub(crate) use {debug, error, info, warning};
