//! For a terminal.

use trodden_insight::slow::{CauseKind, Slow, SlowRequests};
use trodden_insight::source::Sources;

use super::sentences;
use crate::diff::source_line;
use crate::text::{HOT, Page, SOFT, TITLE, wrap};

/// Kinds of requests on the first screen.
const NAMES: usize = 10;
/// Columns by which the answers after the first are indented.
const INDENT: usize = 4;

/// For a terminal with this number of columns; `color` adds ANSI styles.
pub fn text(slow: &Slow, sources: &Sources, width: usize, color: bool) -> String {
    let mut page = Page::new(color);
    lines(slow, sources, usize::MAX, width, &mut page);
    for line in wrap(&sentences::recording(slow), width) {
        page.styled_line(SOFT, &line);
    }
    page.out
}

/// The answers for the first kinds of requests.
pub(super) fn overview(slow: &Slow, sources: &Sources, width: usize, page: &mut Page) {
    lines(slow, sources, NAMES, width, page);
    if !slow.requests.is_empty() {
        page.line("");
    }
}

fn lines(slow: &Slow, sources: &Sources, most: usize, width: usize, page: &mut Page) {
    for (at, of) in slow.requests.iter().take(most).enumerate() {
        if at > 0 {
            page.line("");
        }
        requests(of, sources, width, page);
    }
    if slow.requests.len() > most {
        page.line(&format!(
            "… and {} more kinds of requests",
            slow.requests.len() - most
        ));
    }
}

fn requests(of: &SlowRequests, sources: &Sources, width: usize, page: &mut Page) {
    for line in wrap(&sentences::headline(of), width) {
        page.styled_line(TITLE, &line);
    }
    let before = format!("{}: ", sentences::slow(of));
    let first = sentences::answers(of);
    let inner = width.saturating_sub(INDENT).max(20);
    for (at, answer) in first.iter().enumerate() {
        let lead = if at == 0 { before.as_str() } else { "" };
        let wrapped = wrap(&format!("{lead}{answer}"), if at == 0 { width } else { inner });
        for (number, line) in wrapped.iter().enumerate() {
            let indent = if at == 0 && number == 0 { 0 } else { INDENT };
            let line = if number == 0 {
                page.styled(HOT, line)
            } else {
                line.clone()
            };
            page.line(&format!("{}{line}", " ".repeat(indent)));
        }
        let Some(cause) = of.causes.get(at) else {
            continue;
        };
        if let CauseKind::Outcome(spot) | CauseKind::Size(spot, _) = &cause.kind {
            let file = spot.source_file.as_deref();
            if let Some((line, text)) = source_line(sources, &spot.class, file, spot.line) {
                page.line(&format!("{}{line:>5} │ {text}", " ".repeat(INDENT)));
            }
        }
        for line in sentences::with(cause).iter().flat_map(|with| wrap(with, inner)) {
            let line = page.styled(SOFT, &line);
            page.line(&format!("{}{line}", " ".repeat(INDENT)));
        }
    }
    for line in sentences::unreadable(of)
        .iter()
        .flat_map(|text| wrap(text, width))
    {
        page.line(&line);
    }
}
