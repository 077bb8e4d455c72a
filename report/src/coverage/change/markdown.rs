//! Markdown, for the summary of a job or a comment.

use std::fmt::Write;

use trodden_insight::coverage::{ChangeCoverage, Coverage, Untaken};
use trodden_profile::printable;

use super::super::text::of;
use super::{NO_PATHS, Said, UNKNOWN_FILE, about, by_file, headline, nearest, numbers, steps, within};
use crate::diff::escape_markdown as escape;

/// Bytes of the list. GitHub refuses a summary of more than 1 MiB.
const MAX_BYTES: usize = 900_000;

/// Markdown: a sentence, sums, and a folded list for each file.
pub fn markdown(coverage: &Coverage, change: &ChangeCoverage) -> String {
    let mut out = match change.lines.total {
        0 => "**The change has no line with code that is known.**\n".to_owned(),
        _ => format!(
            "**{}**\n\nChanged lines that ran: {}. Outcomes on changed lines that were taken: {}.\n",
            escape(&headline(&change.untaken)),
            of(change.lines),
            of(change.outcomes)
        ),
    };
    let mut left_out = 0;
    for (file, part) in by_file(&change.untaken) {
        let list: String = part.iter().map(item).collect();
        if out.len() + list.len() > MAX_BYTES {
            left_out += part.len();
            continue;
        }
        // Writing to a String cannot fail.
        let _ = write!(
            out,
            "\n<details><summary>{}: {}</summary>\n\n{list}\n</details>\n",
            escape(&printable(file)),
            part.len()
        );
    }
    if left_out > 0 {
        let _ = writeln!(out, "\n… and {left_out} more, which have no room here.");
    }
    if !coverage.has_paths && numbers(&change.untaken).0 > 0 {
        let _ = writeln!(out, "\n{}", escape(NO_PATHS));
    }
    for file in &change.unknown {
        let _ = writeln!(
            out,
            "\nNot known: {}: {}.",
            escape(&printable(file)),
            escape(UNKNOWN_FILE)
        );
    }
    out
}

fn item(untaken: &Untaken) -> String {
    let said = Said::of(untaken);
    let what = match &said.condition {
        Some(condition) => format!("<code>{}</code> {}", escape(condition), escape(&said.what)),
        None => escape(&said.what),
    };
    let within = within(untaken).map_or_else(String::new, |method| format!(", in {}", escape(&method)));
    let path = nearest(untaken).map_or_else(String::new, |(_, run)| {
        let steps = steps(untaken.method, run);
        format!("<br>{}: {}", escape(&about(run)), escape(&steps))
    });
    format!("- line {}: {what}{within}{path}\n", untaken.line)
}
