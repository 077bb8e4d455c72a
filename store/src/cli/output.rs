//! Where results and complaints go.

use std::io::{self, IsTerminal, Write};

use indicatif::{ProgressBar, ProgressStyle};
use trodden_profile::printable_lines;

use crate::error::StoreError;

/// Says something on standard error. Names in it come from profiles: none of them may steer a terminal.
pub(crate) fn complain(message: &str) {
    say(&format!("trodden-store: {message}"));
}

/// Writes a line to standard error; if that is closed, the line is lost and nothing else.
pub(crate) fn say(line: &str) {
    let _ = writeln!(io::stderr(), "{}", printable_lines(line));
}

/// Writes a result to standard output. That its reader went away is no failure: they have seen enough.
pub(crate) fn print(text: &str) -> Result<(), StoreError> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(StoreError::tables("write output", error))
        }
        _ => Ok(()),
    }
}

/// A line that shows the progress, on a terminal.
pub(crate) fn progress(all: u64, what: &str) -> Option<ProgressBar> {
    let wanted = io::stderr().is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb");
    let style = ProgressStyle::with_template("{msg} {wide_bar} {pos} of {len}, {eta} left");
    let style = style.ok().filter(|_| wanted)?;
    Some(
        ProgressBar::new(all)
            .with_style(style)
            .with_message(what.to_owned()),
    )
}

/// `12 kB`, `3.4 MB`.
pub(crate) fn size(bytes: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB")];
    let unit = UNITS.into_iter().find(|(unit, _)| bytes >= *unit);
    unit.map_or_else(
        || format!("{bytes} B"),
        |(unit, name)| format!("{:.1} {name}", bytes as f64 / unit as f64),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_for_people() {
        assert_eq!(
            (size(999), size(1_500)),
            ("999 B".to_owned(), "1.5 kB".to_owned())
        );
        assert_eq!(size(2_340_000_000), "2.3 GB");
    }
}
