//! Branches that an earlier one on the same path always decides. Counts of edges cannot show that; counts of paths do.

use std::collections::BTreeMap;

use trodden_insight::findings::ratio;
use trodden_insight::names::{self, edge};
use trodden_insight::view::PathView;

use super::{About, Finding, FindingKind, OFTEN};
use crate::words::{percent, thousands};

/// An outcome that is rarer than this does not count as one.
const RARE: f64 = 0.02;

/// How often which outcomes of two blocks came together.
type Outcomes = BTreeMap<(usize, usize), u64>;
/// By outcome of the first block: the one of the second that followed it, and how often.
type Followers = BTreeMap<usize, (usize, u64)>;

/// The condition of which most executions were decided before.
pub(super) fn correlated(about: &About) -> Option<Finding> {
    if !about.exact {
        return None;
    }
    let method = about.method;
    let known = |block: usize| method.decisions().of(block).and_then(|d| d.phrase());
    let decisions: Vec<usize> = about
        .decisions()
        .filter(|&block| known(block).is_some() && method.known_blocks[block])
        .collect();
    if decisions.len() < 2 {
        return None;
    }
    let together = together(&method.paths, &decisions);
    let found = together.iter().filter_map(|(&(first, second), outcomes)| {
        // All executions of the second one must come after the first: else it decides more than what is seen here.
        let whole: u64 = method.edges.edges[second].iter().sum();
        let (total, ways) = implied(outcomes).filter(|(total, _)| *total >= OFTEN.max(whole))?;
        Some((total, first, second, ways))
    });
    let (total, first, second, ways) =
        found.max_by_key(|&(total, first, second, _)| (total, first, second))?;
    let (asked, before) = (known(second)?, known(first)?);
    let pairs: Vec<String> = ways
        .iter()
        .map(|(&one, &(other, count))| {
            format!(
                "{} → {} ({})",
                method.decisions().outcome_or_label(method.map, edge(first, one)),
                method
                    .decisions()
                    .outcome_or_label(method.map, edge(second, other)),
                percent(ratio(count, total))
            )
        })
        .collect();
    let place = names::place_of(method.map, method.map.blocks[first].last);
    Some(about.finding(
        FindingKind::Correlated,
        Some(second),
        about.share,
        format!(
            "{}: `{asked}` is always decided by `{before}` ({place})",
            method.at(method.map.blocks[second].last)
        ),
        format!("{} in {} executions", pairs.join(", "), thousands(total)),
    ))
}

/// How often which outcomes came together, by pairs of decisions, the earlier one first.
fn together(paths: &[PathView], decisions: &[usize]) -> BTreeMap<(usize, usize), Outcomes> {
    let mut together: BTreeMap<(usize, usize), Outcomes> = BTreeMap::new();
    for path in paths {
        let edges = path.edges.iter().map(|e| (e.from.index(), e.index as usize));
        let made: Vec<(usize, usize)> = edges.filter(|(block, _)| decisions.contains(block)).collect();
        for (i, &(first, one)) in made.iter().enumerate() {
            for &(second, other) in made[i + 1..].iter().filter(|&&(second, _)| second != first) {
                let outcomes = together.entry((first, second)).or_default();
                *outcomes.entry((one, other)).or_default() += path.count;
            }
        }
    }
    together
}

/// How often two decisions were made, and for each outcome of the first one the only one of the second that ever followed it,
/// and how often. `None`: several did, or one of the two hardly ever varies.
fn implied(outcomes: &Outcomes) -> Option<(u64, Followers)> {
    let total: u64 = outcomes.values().sum();
    let mut ways = BTreeMap::new();
    let mut seconds: BTreeMap<usize, u64> = BTreeMap::new();
    for (&(one, other), &count) in outcomes {
        if ways.insert(one, (other, count)).is_some() {
            return None;
        }
        *seconds.entry(other).or_default() += count;
    }
    let varies = |counts: Vec<u64>| {
        let most = counts.iter().copied().max().unwrap_or(0);
        counts.len() > 1 && ratio(most, total) <= 1.0 - RARE
    };
    let firsts = ways.values().map(|&(_, count)| count).collect();
    (varies(firsts) && varies(seconds.into_values().collect())).then_some((total, ways))
}
