//! Coverage for a terminal.

use trodden_numbering::EdgeRef;
use trodden_profile::{MethodMap, Place};

use super::{Coverage, MethodCoverage, Nearest, Ratio, criteria, marks};
use crate::decisions::Decisions;
use crate::text::{DECISION, HOT, Page, SOFT, TITLE, WIDTH, elide, route, wrap};
use crate::view::PathView;
use crate::words::{self, decision_short, percent, place, thousands};

pub(super) fn write(coverage: &Coverage, top: usize, color: bool) -> String {
    let mut page = Page {
        out: String::new(),
        color,
    };
    all(&mut page, coverage, top);
    page.out
}

/// All of it, at most `top` methods.
pub(super) fn all(page: &mut Page, coverage: &Coverage, top: usize) {
    sums(page, coverage);
    match coverage.has_paths() {
        true => lacking_paths(page, coverage, top),
        false => marks::lacking_outcomes(page, coverage, top),
    }
    criteria::lacking(page, coverage, top);
    notes(page, coverage);
}

fn lacking_paths(page: &mut Page, coverage: &Coverage, top: usize) {
    let cap = coverage.cap();
    let mut missing: Vec<&MethodCoverage> =
        coverage.methods.iter().filter(|m| m.paths.missed() > 0).collect();
    // Those that ran, before those that never did: a test is at hand for them.
    missing.sort_by_key(|m| (!m.ran(), std::cmp::Reverse(m.capped(cap).missed())));
    if !missing.is_empty() {
        page.line("");
        page.line("          paths       branches          lines  method");
    }
    for method in missing.iter().take(top) {
        one(page, method);
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
    let title = page.styled(TITLE, "Coverage: what ran, of what could");
    page.line(&title);
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
        "paths" => coverage.has_paths(),
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
            "paths" => format!("  (of each method at most {})", thousands(coverage.cap())),
            "mc/dc" => "  (outcomes of conditions that decided on their own)".to_owned(),
            _ => String::new(),
        };
        page.line(&format!("  {name:<width$} {share:>8}   {}{note}", of(ratio)));
    }
}

pub(super) fn of(ratio: Ratio) -> String {
    format!("{} of {}", thousands(ratio.covered), thousands(ratio.total))
}

fn one(page: &mut Page, method: &MethodCoverage) {
    let map = method.map();
    let lines = method.lines();
    let (mut line_ratio, mut branches) = (Ratio::default(), Ratio::default());
    for line in lines.values() {
        line_ratio = line_ratio + Ratio::one(line.count > 0);
        branches = branches + line.branch_ratio();
    }
    let title = format!(
        "{}.{}",
        words::dotted(method.class()),
        words::signature(&map.name, &map.descriptor)
    );
    let numbers = format!(
        "{:>15} {:>14} {:>14}  ",
        of(method.paths),
        of(branches),
        of(line_ratio)
    );
    let width = WIDTH.saturating_sub(numbers.chars().count());
    page.line(&format!("{numbers}{}", page.styled(HOT, &elide(&title, width))));
    if !method.ran() {
        page.wrapped(6, "no path of it came to an end");
        return;
    }
    if let Some(nearest) = method.nearest() {
        next(page, map, &method.decisions, &nearest);
    }
}

/// The nearest uncovered path.
fn next(page: &mut Page, map: &MethodMap, decisions: &Decisions, nearest: &Nearest) {
    let view = PathView::new(map, nearest.path.clone(), nearest.number, 0);
    let description = &view.description;
    let start = words::starts(description.start_kind, description.start);
    let text = match &nearest.flip {
        Some(flip)
            if decisions
                .outcome(flip.seen.from.index(), flip.seen.index as usize)
                .is_some() =>
        {
            format!(
                "nearest: path {}, {}: {} → {}, not {} as on path {} ({} times)",
                nearest.number,
                place(branch(map, flip.seen)),
                decisions.asked(map, flip.seen.from.index()),
                decisions.outcome_or_label(map, flip.instead),
                decisions.outcome_or_label(map, flip.seen),
                flip.of,
                thousands(flip.count)
            )
        }
        Some(flip) => format!(
            "nearest: path {}, if {} went \"{}\", not \"{}\" as on path {} ({} times)",
            nearest.number,
            place(branch(map, flip.seen)),
            way(map, flip.instead),
            way(map, flip.seen),
            flip.of,
            thousands(flip.count)
        ),
        None => format!(
            "nearest: path {}; none from its start ran ({start})",
            nearest.number
        ),
    };
    page.wrapped(6, &text);
    let end = words::ends(description.end_kind, description.end);
    for line in wrap(&format!("{}, to {end}", route(&view, map, decisions)), WIDTH - 8) {
        let line = page.styled(DECISION, &line);
        page.line(&format!("        {line}"));
    }
}

/// Where the decision is that an edge is an outcome of.
pub(super) fn branch(map: &MethodMap, edge: EdgeRef) -> Place {
    crate::view::place(map, map.blocks[edge.from.index()].last)
}

fn way(map: &MethodMap, edge: EdgeRef) -> String {
    decision_short(&map.blocks[edge.from.index()].labels[edge.index as usize])
}

fn notes(page: &mut Page, coverage: &Coverage) {
    let mut reasons: std::collections::BTreeMap<&str, Vec<String>> = Default::default();
    for one in &coverage.uncounted {
        let name = format!("{}#{}", words::dotted(&one.class), one.method);
        reasons.entry(&one.reason).or_default().push(name);
    }
    if !reasons.is_empty() {
        page.line("");
        let title = page.styled(SOFT, "In no sum, since nobody knows whether they ran:");
        page.line(&title);
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
                "{} classes (such as {}) were loaded with other bytes than --classes has: changed by another agent, or \
                 built anew since. What is told of them is about the loaded ones.",
                thousands(coverage.other_bytes.len() as u64),
                words::dotted(class)
            ),
        );
    }
}
