//! Coverage for a terminal.

use trodden_insight::coverage::{Coverage, MethodCoverage, Nearest, Ratio};
use trodden_insight::decisions::{Decision, Decisions};
use trodden_insight::names;
use trodden_insight::route::route;
use trodden_insight::view::PathView;
use trodden_numbering::EdgeRef;
use trodden_profile::{MethodMap, Place};

use super::{criteria, marks};
use crate::text::{DECISION, Page, SOFT, TITLE, WIDTH, wrap};
use crate::words::{self, percent, thousands};

/// Paths of one method that are listed.
const MOST_PATHS: usize = 5;

/// For a terminal: the sums, and of the `top` methods that lack most paths the nearest uncovered ones.
pub fn text(coverage: &Coverage, top: usize, color: bool) -> String {
    let mut page = Page::new(color);
    all(&mut page, &coverage.printable(), top);
    page.out
}

/// All of it, at most `top` methods.
pub(super) fn all(page: &mut Page, coverage: &Coverage, top: usize) {
    sums(page, coverage);
    if coverage.has_paths {
        lacking_paths(page, coverage, top)
    } else {
        marks::lacking_outcomes(page, coverage, top)
    }
    criteria::lacking(page, coverage, top);
    notes(page, coverage);
}

fn lacking_paths(page: &mut Page, coverage: &Coverage, top: usize) {
    let cap = coverage.options.cap;
    let mut missing: Vec<&MethodCoverage> =
        coverage.methods.iter().filter(|m| m.paths.missed() > 0).collect();
    // Those that ran, before those that never did: a test is at hand for them.
    missing.sort_by_key(|m| (!m.ran(), std::cmp::Reverse(m.capped(cap).missed())));
    let all_counted = coverage.run.exact && words::not_counted(&coverage.run).is_none();
    if !missing.is_empty() {
        page.line("");
        page.line("          paths       branches          lines  method");
    }
    for method in missing.iter().take(top) {
        one(page, method, all_counted);
    }
    if missing.len() > top {
        page.line("");
        page.line(&format!(
            "{} more methods lack paths; raise --top to see them.",
            thousands((missing.len() - top) as u64)
        ));
    }
}

fn sums(page: &mut Page, coverage: &Coverage) {
    let sums = coverage.counters();
    page.styled_line(TITLE, "Coverage: what ran, of what could");
    let rows = [
        ("paths", sums.paths),
        ("branches", sums.branches),
        ("lines", sums.lines),
        ("methods", sums.methods),
        ("classes", sums.classes),
        ("mc/dc", sums.mcdc),
        ("prime paths", sums.prime_paths),
    ];
    let known = |(name, _): &(&str, Ratio)| match *name {
        "paths" => coverage.has_paths,
        "mc/dc" => coverage.options.mcdc,
        "prime paths" => coverage.options.prime_paths.is_some(),
        _ => true,
    };
    let width = if coverage.options.prime_paths.is_some() {
        11
    } else {
        9
    };
    for (name, ratio) in rows.into_iter().filter(known) {
        let share = ratio.share().map_or("-".to_owned(), percent);
        let note = match name {
            "paths" => format!("  (of each method at most {})", thousands(coverage.options.cap)),
            "mc/dc" => "  (outcomes of conditions that decided alone)".to_owned(),
            _ => String::new(),
        };
        page.line(&format!("  {name:<width$} {share:>8}   {}{note}", of(ratio)));
    }
}

pub(super) fn of(ratio: Ratio) -> String {
    format!("{} of {}", thousands(ratio.covered), thousands(ratio.total))
}

/// `all_counted`: no path that ran is without a count.
fn one(page: &mut Page, method: &MethodCoverage, all_counted: bool) {
    let lines = method.lines();
    let (mut line_ratio, mut branches) = (Ratio::default(), Ratio::default());
    for line in lines.values() {
        line_ratio += Ratio::one(line.count > 0);
        branches += line.branch_ratio();
    }
    let title = method.title();
    let numbers = format!(
        "{:>15} {:>14} {:>14}  ",
        of(method.paths),
        of(branches),
        of(line_ratio)
    );
    page.row(&numbers, &title);
    if !method.ran() {
        page.wrapped(6, &format!("{}: did not run", method.at(0)));
        return;
    }
    let all = method.nearest(MOST_PATHS);
    for nearest in &all {
        next(page, method, nearest, all_counted);
    }
    let more = method.paths.missed().saturating_sub(all.len() as u64);
    if more > 0 && !all.is_empty() {
        let what = if more == 1 { "path" } else { "paths" };
        page.line(&format!(
            "      and {} more {what} that never ran",
            thousands(more)
        ));
    }
}

/// An uncovered path.
fn next(page: &mut Page, method: &MethodCoverage, nearest: &Nearest, all_counted: bool) {
    let (map, decisions) = (method.map(), &method.decisions);
    let view = PathView::new(map, nearest.path.clone(), nearest.number, 0);
    let description = &view.description;
    let number = nearest.number;
    let pair = method.never_together(&nearest.path).filter(|_| all_counted);
    let at = |edge| method.at(branch(map, edge).bci);
    let text = match (pair, &nearest.flip) {
        (Some(pair), _) => {
            let [a, b] = pair.map(|edge| format!("{} `{}`", at(edge), decisions.followed(map, edge)));
            format!("path {number} never ran. Both ran, never together: {a} and {b}")
        }
        (None, Some(flip)) => format!(
            "path {number} never ran. It differs from path {} (ran {}) at {}: {}",
            flip.of,
            match flip.count {
                1 => "once".to_owned(),
                count => format!("{} times", thousands(count)),
            },
            at(flip.seen),
            would_be(map, decisions, flip.instead)
        ),
        (None, None) => {
            let start = decisions.starts(map, description);
            format!(
                "path {number} never ran, nor did any other from its start ({}: {start})",
                method.at(description.start.bci)
            )
        }
    };
    page.wrapped(6, &text);
    let end = decisions.ends(map, description);
    for line in wrap(&format!("{}, to {end}", route(&view, map, decisions)), WIDTH - 8) {
        let line = page.styled(DECISION, &line);
        page.line(&format!("        {line}"));
    }
}

/// Where the decision is that an edge is an outcome of.
pub(super) fn branch(map: &MethodMap, edge: EdgeRef) -> Place {
    map.place(map.blocks[edge.from.index()].last)
}

/// How a decision would have to end: `` `a > b` would be false ``.
fn would_be(map: &MethodMap, decisions: &Decisions, edge: EdgeRef) -> String {
    let block = edge.from.index();
    let decision = decisions.of(block);
    let condition = decision.and_then(Decision::phrase);
    let outcome = decisions.outcome_or_label(map, edge);
    let condition = condition.map_or("the branch".to_owned(), |text| format!("`{text}`"));
    match outcome.as_str() {
        "yes" | "again" => format!("{condition} would be true"),
        "no" | "done" => format!("{condition} would be false"),
        "taken" | "not taken" => format!("{condition} would be {outcome}"),
        case => format!("{condition} would go to {case}"),
    }
}

fn notes(page: &mut Page, coverage: &Coverage) {
    let mut reasons: std::collections::BTreeMap<&str, Vec<String>> = Default::default();
    for one in &coverage.uncounted {
        let name = format!("{}#{}", names::dotted(&one.class), one.method);
        reasons.entry(&one.reason).or_default().push(name);
    }
    if !reasons.is_empty() {
        page.line("");
        page.styled_line(SOFT, "Not in the sums, as it is not known whether they ran:");
    }
    for (reason, methods) in reasons {
        let count = thousands(methods.len() as u64);
        page.wrapped(2, &format!("{reason}: {count} (such as {})", methods[0]));
    }
    if let Some(missing) = words::not_counted(&coverage.run) {
        page.line("");
        page.wrapped(0, &missing);
    }
    if let Some(class) = coverage.other_bytes.first() {
        page.line("");
        page.wrapped(
            0,
            &format!(
                "{} classes (such as {}) differ from the class files that --classes names: another agent changed them, \
                 or they were built again after the run. Their figures are those of the classes that ran.",
                thousands(coverage.other_bytes.len() as u64),
                names::dotted(class)
            ),
        );
    }
}
