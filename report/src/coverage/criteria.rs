//! MC/DC and prime paths of a method, in text and JSON.

use serde::Serialize;
use trodden_insight::coverage::{
    ConditionCoverage, Coverage, DecisionCoverage, MethodCoverage, PrimePath, PrimePaths, Ratio,
};
use trodden_insight::criteria;
use trodden_insight::decisions::Decision;
use trodden_insight::names::{self, edge};
use trodden_numbering::{BlockId, EdgeRef, FlowGraph};
use trodden_profile::MethodMap;

use super::text::of;
use crate::object::object;
use crate::text::{DECISION, Page};
use crate::words::thousands;

/// Prime paths of one method in text.
const MAX_PRIMES: usize = 5;

/// Outcomes of conditions that never decided alone: line, condition, its position in the decision.
fn undecided(method: &MethodCoverage) -> Vec<String> {
    let map = method.map();
    let mut all = Vec::new();
    for decision in method.mcdc.iter().flatten() {
        for (at, condition) in decision.conditions.iter().enumerate() {
            for index in (0..2).filter(|&index| !condition.decided[index]) {
                let which = match decision.conditions.len() {
                    1 => String::new(),
                    count => format!(" (condition {} of {count})", at + 1),
                };
                let edge = edge(condition.block, index);
                let decision = method.decisions.of(condition.block).and_then(Decision::phrase);
                let outcome = match (&decision, method.decisions.is_negative(map, edge)) {
                    (Some(_), false) => "true".to_owned(),
                    (Some(_), true) => "false".to_owned(),
                    (None, _) => method.decisions.outcome_or_label(map, edge),
                };
                let line = method.at(map.blocks[condition.block].last);
                let condition = decision.map_or("the branch".to_owned(), |text| format!("`{text}`"));
                all.push(format!(
                    "{line}: {condition} never decided alone when {outcome}{which}"
                ));
            }
        }
    }
    all
}

/// A prime path in words: `Ratio.java:75: b != 0 → no, to Ratio.java:77`.
fn prime_path(method: &MethodCoverage, path: &PrimePath) -> String {
    let map = method.map();
    let pairs = path.blocks.windows(2);
    let destinations = criteria::destinations(map);
    let decisions: Vec<String> = pairs
        .filter_map(|pair| decided(map, &destinations, pair[0], pair[1]))
        .map(|edge| method.decisions.followed(map, edge))
        .collect();
    let line = |block: Option<&BlockId>| match block {
        Some(block) => method.at(map.blocks[block.index()].start),
        None => "entry".to_owned(),
    };
    let (first, last) = (line(path.blocks.first()), line(path.blocks.last()));
    if decisions.is_empty() {
        format!("{first} to {last}")
    } else {
        format!("{first}: {}, to {last}", decisions.join(" · "))
    }
}

/// The edge between two blocks, if it is the outcome of a decision.
fn decided(map: &MethodMap, destinations: &[usize], from: BlockId, to: BlockId) -> Option<EdgeRef> {
    let ways = map.graph.successors(from);
    let index = ways
        .iter()
        .position(|&way| destinations[way.index()] == to.index())?;
    (ways.len() > 1).then(|| edge(from.index(), index))
}

fn title(page: &mut Page, method: &MethodCoverage, ratio: Ratio) {
    page.row(&format!("{:>15}  ", of(ratio)), &method.title());
}

/// The missing part of MC/DC and of prime paths, for the `top` methods that lack most.
pub(super) fn lacking(page: &mut Page, coverage: &Coverage, top: usize) {
    let ran = || coverage.methods.iter().filter(|method| method.ran());
    let mut missing: Vec<_> = ran()
        .map(|m| (m.mcdc_ratio(), m))
        .filter(|(r, _)| r.missed() > 0)
        .collect();
    missing.sort_by_key(|(ratio, _)| std::cmp::Reverse(ratio.missed()));
    if !missing.is_empty() {
        page.line("");
        page.line("Conditions that never decided alone (MC/DC), in methods that ran:");
    }
    for (ratio, method) in missing.iter().take(top) {
        title(page, method, *ratio);
        for text in undecided(method) {
            let text = page.styled(DECISION, &text);
            page.line(&format!("      {text}"));
        }
    }
    let mut missing: Vec<_> = ran()
        .map(|m| (m.prime_path_ratio().0, m))
        .filter(|(r, _)| r.missed() > 0)
        .collect();
    missing.sort_by_key(|(ratio, _)| std::cmp::Reverse(ratio.missed()));
    if !missing.is_empty() {
        page.line("");
        page.line("Prime paths that did not run from end to end, in methods that ran:");
    }
    for (ratio, method) in missing.iter().take(top) {
        title(page, method, *ratio);
        let Some(PrimePaths::All(paths)) = &method.prime_paths else {
            continue;
        };
        let missed: Vec<&PrimePath> = paths.iter().filter(|path| path.covered == Some(false)).collect();
        for path in missed.iter().take(MAX_PRIMES) {
            page.wrapped(6, &prime_path(method, path));
        }
        if missed.len() > MAX_PRIMES {
            page.line(&format!(
                "      and {} more",
                thousands((missed.len() - MAX_PRIMES) as u64)
            ));
        }
    }
    not_known(page, coverage);
}

/// Prime paths that are in no sum.
fn not_known(page: &mut Page, coverage: &Coverage) {
    let Some(cap) = coverage.options.prime_paths else {
        return;
    };
    let named = |method: &MethodCoverage| {
        let map = method.map();
        format!("{}#{}{}", names::dotted(method.class()), map.name, map.descriptor)
    };
    let all = coverage.methods.iter();
    let many: Vec<&MethodCoverage> = all
        .filter(|m| m.prime_paths == Some(PrimePaths::TooMany))
        .collect();
    if let Some(first) = many.first() {
        page.line("");
        let (methods, cap) = (thousands(many.len() as u64), thousands(cap as u64));
        page.wrapped(
            0,
            &format!(
                "Not in the sums: {methods} methods with more than {cap} prime paths (such as {}). --prime-path-cap \
                 changes the limit.",
                named(first)
            ),
        );
    }
    if let Some((unknown, needs)) = coverage.unknown_prime_paths() {
        page.line("");
        page.wrapped(
            0,
            &format!(
                "Not in the sums: {} prime paths. Whether they ran is not known, as they continue past the top of a loop. \
                 Record with --profile kpaths --burst off --k {needs} to know it.",
                thousands(unknown)
            ),
        );
    }
}

/// The decisions of MC/DC, for JSON.
pub(super) fn decisions(method: &MethodCoverage) -> Option<Vec<impl Serialize + use<>>> {
    let map = method.map();
    let condition = |condition: &ConditionCoverage| {
        let last = map.blocks[condition.block].last;
        let decision = method.decisions.of(condition.block);
        object! {
            "bci": last,
            "line": map.line(last),
            "condition": decision.and_then(Decision::phrase),
            "outcomes": [0, 1].map(|index| object! {
                "outcome": method.decisions.outcome_or_label(map, edge(condition.block, index)),
                "decided": condition.decided[index],
            }),
        }
    };
    let one = |decision: &DecisionCoverage| {
        let first = decision.conditions.first();
        object! {
            "line": first.and_then(|c| map.line(map.blocks[c.block].last)),
            "covered": decision.covered(),
            "total": decision.total(),
            "conditions": decision.conditions.iter().map(condition).collect::<Vec<_>>(),
        }
    };
    Some(method.mcdc.as_ref()?.iter().map(one).collect())
}

/// Prime paths, for JSON.
pub(super) fn primes(method: &MethodCoverage) -> Option<impl Serialize + use<>> {
    let map = method.map();
    let (known, unknown) = method.prime_path_ratio();
    let paths = match method.prime_paths.as_ref()? {
        PrimePaths::All(paths) => Some(paths),
        PrimePaths::TooMany => None,
    };
    let missed = paths
        .into_iter()
        .flatten()
        .filter(|path| path.covered == Some(false));
    let missed = missed.map(|path| {
        let starts = path.blocks.iter().map(|block| map.blocks[block.index()].start);
        object! { "bci": starts.collect::<Vec<_>>(), "text": prime_path(method, path) }
    });
    Some(object! {
        "covered": known.covered,
        "total": known.total,
        "unknown": unknown,
        "too_many": paths.is_none(),
        "missed": missed.collect::<Vec<_>>(),
    })
}
