//! Coverage of a change, for a terminal.

use trodden_insight::coverage::{ChangeCoverage, Coverage};
use trodden_profile::printable;

use super::super::text::of;
use super::{NO_PATHS, Said, UNKNOWN_FILE, about, by_file, headline, nearest, numbers, steps, within};
use crate::text::{DECISION, Page, SOFT, TITLE, WIDTH, wrap};
use crate::words::percent;

/// For a terminal: what no test takes of the change, each with the nearest path that ran.
pub fn text(coverage: &Coverage, change: &ChangeCoverage, color: bool) -> String {
    let mut page = Page::new(color);
    page.styled_line(TITLE, "Coverage of the change");
    let rows = [
        ("lines", change.lines, "changed lines with code"),
        ("outcomes", change.outcomes, "on changed lines"),
    ];
    for (name, ratio, note) in rows {
        let share = ratio.share().map_or("-".to_owned(), percent);
        page.line(&format!("  {name:<9} {share:>8}   {}  ({note})", of(ratio)));
    }
    page.line("");
    if change.lines.total == 0 {
        page.line("The change has no line with code that is known.");
    } else {
        page.wrapped(0, &headline(&change.untaken));
    }
    for (file, part) in by_file(&change.untaken) {
        page.line("");
        page.styled_line(TITLE, &printable(file));
        let name = printable(file.rsplit('/').next().unwrap_or(file));
        for untaken in part {
            let within = within(untaken).map_or_else(String::new, |method| format!(", in {method}"));
            page.wrapped(
                2,
                &format!("{name}:{}: {}{within}", untaken.line, Said::of(untaken).text()),
            );
            let Some((_, run)) = nearest(untaken) else {
                continue;
            };
            page.line(&format!("      {}:", about(run)));
            for line in wrap(&steps(untaken.method, run), WIDTH - 8) {
                let line = page.styled(DECISION, &line);
                page.line(&format!("        {line}"));
            }
        }
    }
    if !coverage.has_paths && numbers(&change.untaken).0 > 0 {
        page.line("");
        page.wrapped(0, NO_PATHS);
    }
    if !change.unknown.is_empty() {
        page.line("");
        page.styled_line(SOFT, "Not known:");
        for file in &change.unknown {
            page.wrapped(2, &format!("{}: {UNKNOWN_FILE}", printable(file)));
        }
    }
    page.out
}
