//! Coverage without paths for a terminal: which way each decision never went.

use std::cmp::Reverse;

use trodden_numbering::{BlockId, EdgeRef, FlowGraph};
use trodden_profile::Place;

use super::text::of;
use super::{BranchCoverage, Coverage, MethodCoverage, Ratio};
use crate::text::{DECISION, HOT, Page, WIDTH, elide};
use crate::words::{self, place, thousands};

/// Ways of one method that are told.
const MOST_WAYS: usize = 5;

/// The methods that lack most, with the ways that were not gone.
pub(super) fn lacking_ways(page: &mut Page, coverage: &Coverage, top: usize) {
    let missing = lacking(coverage);
    if !missing.is_empty() {
        page.line("");
        page.line("       branches          lines  method");
    }
    for ((branches, lines), method) in missing.iter().take(top) {
        one(page, method, *branches, *lines);
    }
    if missing.len() > top {
        page.line("");
        page.line(&format!(
            "{} more methods lack branches or lines; raise --top to see them.",
            thousands((missing.len() - top) as u64)
        ));
    }
}

/// The methods that lack branches or lines, those that ran first; with the sums of both.
pub(super) fn lacking(coverage: &Coverage) -> Vec<((Ratio, Ratio), &MethodCoverage)> {
    let with_sums = coverage.methods.iter().map(|method| (sums(method), method));
    let lacks = |((branches, lines), method): &((Ratio, Ratio), &MethodCoverage)| {
        branches.missed() > 0 || lines.missed() > 0 || !method.ran()
    };
    let mut missing: Vec<_> = with_sums.filter(lacks).collect();
    missing.sort_by_key(|((branches, lines), method)| {
        (!method.ran(), Reverse(branches.missed()), Reverse(lines.missed()))
    });
    missing
}

fn sums(method: &MethodCoverage) -> (Ratio, Ratio) {
    let measured = method.measured();
    let ways = measured.branches.iter().flat_map(|branch| &branch.outcomes);
    let sum = |sum: Ratio, one: Ratio| sum + one;
    (
        ways.map(|&count| Ratio::one(count > 0))
            .fold(Ratio::default(), sum),
        measured
            .lines
            .values()
            .map(|line| Ratio::one(line.count > 0))
            .fold(Ratio::default(), sum),
    )
}

fn one(page: &mut Page, method: &MethodCoverage, branches: Ratio, lines: Ratio) {
    let map = method.map();
    let title = format!(
        "{}.{}",
        words::dotted(method.class()),
        words::signature(&map.name, &map.descriptor)
    );
    let numbers = format!("{:>15} {:>14}  ", of(branches), of(lines));
    let width = WIDTH.saturating_sub(numbers.chars().count());
    page.line(&format!("{numbers}{}", page.styled(HOT, &elide(&title, width))));
    if !method.ran() {
        page.wrapped(6, "did not run");
        return;
    }
    let all = never_gone(method);
    for never in all.iter().take(MOST_WAYS) {
        let text = page.styled(DECISION, &never.text_with_place());
        page.line(&format!("      {text}"));
    }
    if all.len() > MOST_WAYS {
        page.line(&format!(
            "      and {} more",
            thousands((all.len() - MOST_WAYS) as u64)
        ));
    }
}

/// A decision that never went some of its ways.
pub(super) struct Never {
    /// Where it is.
    pub at: Place,
    /// What is decided, in the source's words, if that is known.
    asked: Option<String>,
    /// The ways, or how many they are; nothing if it was never decided at all.
    ways: Option<String>,
}

impl Never {
    /// `age < 12 → never yes`.
    pub fn text(&self) -> String {
        let ways = match &self.ways {
            Some(ways) => format!("never {ways}"),
            None => "never decided".to_owned(),
        };
        match &self.asked {
            Some(asked) => format!("{asked} → {ways}"),
            None => ways,
        }
    }

    /// `line 4: age < 12 → never yes`.
    pub fn text_with_place(&self) -> String {
        match &self.asked {
            Some(_) => format!("{}: {}", place(self.at), self.text()),
            None => format!("{} → {}", place(self.at), self.text()),
        }
    }
}

/// The ways that decisions of a method never went, of those that were decided at all.
pub(super) fn never_gone(method: &MethodCoverage) -> Vec<Never> {
    let all = all_never_gone(method);
    all.filter(|never| never.ways.is_some()).collect()
}

/// The same, with decisions that were not reached.
pub(super) fn all_never_gone(method: &MethodCoverage) -> impl Iterator<Item = Never> {
    let branches = method.branches().into_iter();
    branches.filter_map(|branch| never(method, &branch))
}

/// Nothing if it went every way.
fn never(method: &MethodCoverage, branch: &BranchCoverage) -> Option<Never> {
    let map = method.map();
    let missed: Vec<usize> = (0..branch.outcomes.len())
        .filter(|&at| branch.outcomes[at] == 0)
        .collect();
    if missed.is_empty() {
        return None;
    }
    let from = BlockId::new(branch.block);
    let at = crate::view::place(map, map.blocks[branch.block].last);
    let reached = missed.len() < branch.outcomes.len();
    let ways = match map.graph.successors(from).len() == branch.outcomes.len() {
        true => {
            let way = |&index: &usize| {
                let edge = EdgeRef {
                    from,
                    index: index as u32,
                };
                method.decisions.outcome_or_label(map, edge)
            };
            missed.iter().map(way).collect::<Vec<_>>().join(", ")
        }
        // Ways that the source does not have are left out, and which is which is not known any more.
        false => format!("{} of {} ways", missed.len(), branch.outcomes.len()),
    };
    let asked = method.decisions.asked(map, branch.block);
    Some(Never {
        at,
        asked: (asked != place(at)).then_some(asked),
        ways: reached.then_some(ways),
    })
}
