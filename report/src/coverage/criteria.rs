//! MC/DC and prime paths of a method, in text and JSON.

use std::collections::BTreeSet;

use serde::Serialize;
use trodden_numbering::{BlockId, EdgeRef, FlowGraph};
use trodden_profile::MethodMap;

use super::text::of;
use super::{ConditionCoverage, Coverage, CoverageOptions, MethodCoverage, PrimePath, PrimePaths, Ratio};
use crate::criteria::{self, Followed};
use crate::decisions::Decision;
use crate::text::{DECISION, HOT, Page, WIDTH, elide};
use crate::words::{self, place, thousands};

/// Prime paths of one method in text.
const MAX_PRIMES: usize = 5;

impl MethodCoverage {
    /// Finds what the options ask for.
    pub(super) fn judge(&mut self, options: &CoverageOptions, followed: Followed<'_>) {
        if options.mcdc {
            let own: BTreeSet<usize> = self.branches().iter().map(|branch| branch.block).collect();
            self.mcdc = Some(criteria::mcdc(self.map(), &self.counts, |block| {
                own.contains(&block)
            }));
        }
        if let Some(cap) = options.prime_paths {
            self.prime_paths = Some(criteria::prime_paths(self.map(), &self.counts, followed, cap));
        }
    }

    /// Outcomes of conditions that decided on their own; none of none if MC/DC was not asked for.
    pub fn mcdc_ratio(&self) -> Ratio {
        let decisions = self.mcdc.iter().flatten();
        decisions.fold(Ratio::default(), |sum, decision| {
            sum + Ratio {
                covered: decision.covered(),
                total: decision.total(),
            }
        })
    }

    /// Prime paths that ran, of those of which it is known, and the number of others.
    pub fn prime_path_ratio(&self) -> (Ratio, u64) {
        let Some(PrimePaths::All(paths)) = &self.prime_paths else {
            return (Ratio::default(), 0);
        };
        let known = paths.iter().filter_map(|path| path.covered);
        let ratio = known.fold(Ratio::default(), |sum, covered| sum + Ratio::one(covered));
        (ratio, paths.len() as u64 - ratio.total)
    }

    /// Outcomes of conditions that never decided alone: line, condition, its position in the decision.
    fn undecided(&self) -> Vec<String> {
        let map = self.map();
        let mut all = Vec::new();
        for decision in self.mcdc.iter().flatten() {
            for (at, condition) in decision.conditions.iter().enumerate() {
                for index in (0..2).filter(|&index| !condition.decided[index]) {
                    let which = match decision.conditions.len() {
                        1 => String::new(),
                        count => format!(" (condition {} of {count})", at + 1),
                    };
                    let edge = edge(condition, index);
                    let decision = self.decisions.of(condition.block).and_then(Decision::phrase);
                    let outcome = match (&decision, self.decisions.is_negative(map, edge)) {
                        (Some(_), false) => "true".to_owned(),
                        (Some(_), true) => "false".to_owned(),
                        (None, _) => self.decisions.outcome_or_label(map, edge),
                    };
                    let line = place(map.place(map.blocks[condition.block].last));
                    let condition = decision.map_or("the branch".to_owned(), |text| format!("`{text}`"));
                    all.push(format!(
                        "{line}: {condition} never decided alone when {outcome}{which}"
                    ));
                }
            }
        }
        all
    }

    /// A prime path in words: `line 75: b != 0 → no, to line 77`.
    fn prime_path(&self, path: &PrimePath) -> String {
        let map = self.map();
        let pairs = path.blocks.windows(2);
        let destinations = criteria::destinations(map);
        let decisions: Vec<String> = pairs
            .filter_map(|pair| decided(map, &destinations, pair[0], pair[1]))
            .map(|edge| self.decisions.followed(map, edge))
            .collect();
        let line = |block: Option<&BlockId>| match block {
            Some(block) => words::place_of(map, map.blocks[block.index()].start),
            None => "entry".to_owned(),
        };
        let (first, last) = (line(path.blocks.first()), line(path.blocks.last()));
        if decisions.is_empty() {
            format!("{first} to {last}")
        } else {
            format!("{first}: {}, to {last}", decisions.join(" · "))
        }
    }
}

fn edge(condition: &ConditionCoverage, index: usize) -> EdgeRef {
    EdgeRef {
        from: BlockId::new(condition.block),
        index: index as u32,
    }
}

/// The edge between two blocks, if it is the outcome of a decision.
fn decided(map: &MethodMap, destinations: &[usize], from: BlockId, to: BlockId) -> Option<EdgeRef> {
    let ways = map.graph.successors(from);
    let index = ways
        .iter()
        .position(|&way| destinations[way.index()] == to.index())?;
    (ways.len() > 1).then_some(EdgeRef {
        from,
        index: index as u32,
    })
}

fn title(page: &mut Page, method: &MethodCoverage, ratio: Ratio) {
    let map = method.map();
    let name = words::signature(&map.name, &map.descriptor);
    let numbers = format!("{:>15}  ", of(ratio));
    let name = elide(
        &format!("{}.{name}", words::dotted(method.class())),
        WIDTH.saturating_sub(numbers.chars().count()),
    );
    page.line(&format!("{numbers}{}", page.styled(HOT, &name)));
}

/// What of MC/DC and of prime paths is missing, of the `top` methods that lack most.
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
        for text in method.undecided() {
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
            page.wrapped(6, &method.prime_path(path));
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
        format!("{}#{}{}", words::dotted(method.class()), map.name, map.descriptor)
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
                 Record with --profile kpaths --k {needs} to know it.",
                thousands(unknown)
            ),
        );
    }
}

impl Coverage {
    /// How many prime paths there are of which it is not known whether they ran, and the length of sequences
    /// of paths that would tell. `None` if all is known.
    pub fn unknown_prime_paths(&self) -> Option<(u64, u32)> {
        let all = self
            .methods
            .iter()
            .filter_map(|method| method.prime_paths.as_ref());
        let paths = all.flat_map(|paths| match paths {
            PrimePaths::All(paths) => &paths[..],
            PrimePaths::TooMany => &[],
        });
        let unknown = paths.filter(|path| path.covered.is_none());
        unknown.fold(None, |sum, path| {
            let (count, needs) = sum.unwrap_or((0, 2));
            Some((count + 1, path.needs.max(needs)))
        })
    }
}

/// A decision of MC/DC, for JSON.
#[derive(Serialize)]
pub(super) struct JsonDecision {
    line: Option<u32>,
    covered: u64,
    total: u64,
    conditions: Vec<Condition>,
}

#[derive(Serialize)]
struct Condition {
    bci: u32,
    line: Option<u32>,
    condition: Option<String>,
    outcomes: Vec<Outcome>,
}

#[derive(Serialize)]
struct Outcome {
    outcome: String,
    decided: bool,
}

/// Prime paths, for JSON.
#[derive(Serialize)]
pub(super) struct Primes {
    covered: u64,
    total: u64,
    unknown: u64,
    too_many: bool,
    missed: Vec<Missed>,
}

#[derive(Serialize)]
struct Missed {
    bci: Vec<u32>,
    text: String,
}

pub(super) fn decisions(method: &MethodCoverage) -> Option<Vec<JsonDecision>> {
    let map = method.map();
    let condition = |condition: &ConditionCoverage| {
        let last = map.blocks[condition.block].last;
        let outcome = |index: usize| Outcome {
            outcome: method.decisions.outcome_or_label(map, edge(condition, index)),
            decided: condition.decided[index],
        };
        Condition {
            bci: last,
            line: map.line(last),
            condition: method
                .decisions
                .of(condition.block)
                .and_then(|decision| decision.phrase()),
            outcomes: [0, 1].map(outcome).into(),
        }
    };
    let decisions = method.mcdc.as_ref()?.iter();
    let one = |decision: &super::DecisionCoverage| JsonDecision {
        line: decision
            .conditions
            .first()
            .and_then(|c| map.line(map.blocks[c.block].last)),
        covered: decision.covered(),
        total: decision.total(),
        conditions: decision.conditions.iter().map(condition).collect(),
    };
    Some(decisions.map(one).collect())
}

pub(super) fn primes(method: &MethodCoverage) -> Option<Primes> {
    let map = method.map();
    let paths = method.prime_paths.as_ref()?;
    let (known, unknown) = method.prime_path_ratio();
    let missed = match paths {
        PrimePaths::All(paths) => paths.iter().filter(|path| path.covered == Some(false)).collect(),
        PrimePaths::TooMany => Vec::new(),
    };
    let one = |path: &PrimePath| Missed {
        bci: path
            .blocks
            .iter()
            .map(|block| map.blocks[block.index()].start)
            .collect(),
        text: method.prime_path(path),
    };
    Some(Primes {
        covered: known.covered,
        total: known.total,
        unknown,
        too_many: *paths == PrimePaths::TooMany,
        missed: missed.into_iter().map(one).collect(),
    })
}
