//! Messages, to stderr or a file; never to stdout, which is the program's.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU8, Ordering};

use trodden_profile::options::LogLevel;
use trodden_profile::printable_lines;

static LEVEL: AtomicU8 = AtomicU8::new(LogLevel::Warn as u8);
static FILE: Mutex<Option<File>> = Mutex::new(None);

/// Sets the least important level that is written.
pub fn set_level(level: LogLevel) {
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

/// Writes a message. A closed stderr or a full disk must not matter to the program, so failures are ignored.
pub fn write(level: LogLevel, message: std::fmt::Arguments<'_>) {
    if level as u8 > LEVEL.load(Ordering::Relaxed) {
        return;
    }
    let word = match level {
        LogLevel::Error => "error: ",
        LogLevel::Warn => "warning: ",
        LogLevel::Info | LogLevel::Debug => "",
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
    ($($arg:tt)*) => { $crate::log::write(trodden_profile::options::LogLevel::Error, format_args!($($arg)*)) };
}
macro_rules! warning {
    ($($arg:tt)*) => { $crate::log::write(trodden_profile::options::LogLevel::Warn, format_args!($($arg)*)) };
}
macro_rules! info {
    ($($arg:tt)*) => { $crate::log::write(trodden_profile::options::LogLevel::Info, format_args!($($arg)*)) };
}
macro_rules! debug {
    ($($arg:tt)*) => { $crate::log::write(trodden_profile::options::LogLevel::Debug, format_args!($($arg)*)) };
}
pub(crate) use {debug, error, info, warning};
