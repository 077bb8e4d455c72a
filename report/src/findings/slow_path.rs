//! Paths that take much more of a method's time than of its executions.

use super::{Finding, FindingKind, ratio};
use crate::text::route;
use crate::view::{MethodView, PathView, View};
use crate::words::{percent, range, thousands};

/// Share of the program's time from which a method is looked at.
const WORTH: f64 = 0.02;
/// Least share of the method's time, and how many times more than of its executions, in the worst case of the interval.
const MUCH: (f64, f64) = (0.2, 2.0);

/// One for each method whose samples say so, most time first.
pub(super) fn slow_paths(view: &View) -> Vec<Finding> {
    let mut found: Vec<Finding> = view
        .methods
        .iter()
        .enumerate()
        .filter_map(|(index, method)| of_method(index, method))
        .collect();
    found.sort_by(|a, b| b.share.unwrap_or(0.0).total_cmp(&a.share.unwrap_or(0.0)));
    found
}

fn of_method(index: usize, method: &MethodView) -> Option<Finding> {
    let time = method.time.as_ref().filter(|time| time.total_share >= WORTH)?;
    // Of all that begin where it begins: an iteration is no call.
    let executions = |path: &PathView| {
        let all = method.paths.iter().chain(&method.partial);
        let same = all.filter(|p| p.description.start == path.description.start);
        ratio(path.count, same.fold(0u64, |sum, p| sum.saturating_add(p.count)))
    };
    let is_slow = |path: &&PathView| {
        let least = path.time.map_or(0.0, |time| time.interval[0]);
        let (share, times) = MUCH;
        least >= share && least >= times * executions(path)
    };
    let share = |path: &PathView| path.time.map_or(0.0, |time| time.share);
    let slow = method.paths.iter().filter(is_slow);
    let path = slow.max_by(|a, b| share(a).total_cmp(&share(b)))?;
    let of_method = path.time?;
    let last = path.description.blocks.last()?.index();
    Some(Finding {
        kind: FindingKind::SlowPath,
        method: Some(index),
        not_measured: None,
        line: method.map.line(method.map.blocks[last].last),
        text: format!(
            "{}: {} of its {} take {} of its time ({})",
            method.short_name(),
            percent(executions(path)),
            match path.description.start_kind {
                trodden_numbering::StartKind::Entry => "calls",
                _ => "paths from there",
            },
            percent(of_method.share),
            range(of_method.interval)
        ),
        evidence: format!(
            "path {}, {} times: {}",
            path.number,
            thousands(path.count),
            route(path, method.map, method.decisions())
        ),
        share: Some(time.total_share * of_method.share),
    })
}
