//! Workflow commands of GitHub's Actions, which show a warning at its line.

use std::fmt::Write;

use trodden_insight::coverage::{ChangeCoverage, Missed};
use trodden_profile::printable;

use super::{Said, about, nearest, steps, within};

/// A command for each warning: `::warning file=…,line=…,title=…::…`.
pub fn github(change: &ChangeCoverage) -> String {
    let mut out = String::new();
    for untaken in &change.untaken {
        let title = match untaken.what {
            Missed::Method { .. } => "Method never ran",
            Missed::Outcome(_) => "Outcome never taken",
        };
        let mut message = Said::of(untaken).text();
        if let Some(method) = within(untaken) {
            message += &format!(", in {method}");
        }
        if let Some((_, run)) = nearest(untaken) {
            message += &format!("\n{}: {}", about(run), steps(untaken.method, run));
        }
        // Writing to a String cannot fail.
        let _ = writeln!(
            out,
            "::warning file={},line={},title={}::{}",
            property(&printable(&untaken.file)),
            untaken.line,
            property(title),
            data(&message)
        );
    }
    out
}

/// The text of a command.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// The value of a property.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_text_ends_a_command() {
        assert_eq!(data("a % b\r\n::error::c, d"), "a %25 b%0D%0A::error::c, d");
        assert_eq!(property("C:\\a,b%"), "C%3A\\a%2Cb%25");
    }
}
