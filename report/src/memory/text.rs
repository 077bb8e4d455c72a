//! Methods that earlier runs know, in words.

use super::{RememberedView, about, weight};
use crate::section::Extent;
use crate::text::{DECISION, Page, SOFT, TITLE, route, wrap};
use crate::words::{cut, percent, thousands};

/// Methods on the first screen, and paths of each.
const FIRST: usize = 3;
const FIRST_PATHS: usize = 2;

/// For the first screen.
pub(super) fn overview(all: &[RememberedView], width: usize, page: &mut Page) {
    if all.is_empty() {
        return;
    }
    wrap(&about(all), width).iter().for_each(|line| page.line(line));
    for one in all.iter().take(FIRST) {
        method(one, width, FIRST_PATHS, page);
    }
    rest(all.len().saturating_sub(FIRST), page);
    page.line("");
}

/// All of it.
pub(super) fn lines(all: &[RememberedView], extent: &Extent, page: &mut Page) {
    if all.is_empty() {
        return;
    }
    let title = page.styled(TITLE, &format!("Known from earlier runs ({})", weight(all)));
    page.line(&title);
    page.wrapped(2, &about(all));
    for one in all.iter().take(extent.top) {
        method(one, crate::text::WIDTH, extent.paths, page);
    }
    rest(all.len().saturating_sub(extent.top), page);
    page.line("");
}

fn rest(more: usize, page: &mut Page) {
    if more > 0 {
        let text = page.styled(SOFT, &format!("{:>10}and {} more", "", thousands(more as u64)));
        page.line(&text);
    }
}

fn method(one: &RememberedView, width: usize, paths: usize, page: &mut Page) {
    let share = percent(one.time.unwrap_or(one.about.decisions));
    let name = page.styled(TITLE, &cut(&one.method.title(), width.saturating_sub(10)));
    page.line(&format!("{share:>8}  {name}"));
    let when = page.styled(SOFT, &one.when());
    page.line(&format!("{:>10}{when}", ""));
    for path in one.method.paths.iter().take(paths) {
        let numbers = format!(
            "{:>16}  ×{:<13}",
            percent(path.share_of_method),
            thousands(path.count)
        );
        let words = route(path, one.method.map, one.method.decisions());
        let left = width.saturating_sub(numbers.chars().count() + 1);
        let words = page.styled(DECISION, &cut(&words, left));
        page.line(&format!("{numbers} {words}"));
    }
}
