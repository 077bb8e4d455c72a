//! Branches that an earlier one on the same path always decides. Counts of edges cannot show that; counts of paths do.

use std::collections::BTreeMap;

use trodden_insight::findings::ratio;
use trodden_insight::names::{self, edge};

use super::{About, Finding, FindingKind, OFTEN};
use crate::words::{percent, thousands};

/// An outcome that is rarer than this does not count as one.
const RARE: f64 = 0.02;

/// Per pair of blocks, how often which outcomes came together.
type Together = BTreeMap<(usize, usize), BTreeMap<(usize, usize), u64>>;

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
    let mut together = Together::new();
    for path in &method.paths {
        let made: Vec<(usize, usize)> = path
            .edges
            .iter()
            .map(|e| (e.from.index(), e.index as usize))
            .filter(|(block, _)| decisions.contains(block))
            .collect();
        for (i, &(first, one)) in made.iter().enumerate() {
            for &(second, other) in made[i + 1..].iter().filter(|&&(second, _)| second != first) {
                *together
                    .entry((first, second))
                    .or_default()
                    .entry((one, other))
                    .or_default() += path.count;
            }
        }
    }
    let found = together.iter().filter_map(|(&(first, second), outcomes)| {
        let total: u64 = outcomes.values().sum();
        // All executions of the second one must come after the first: else it decides more than what is seen here.
        let whole: u64 = method.edges.edges[second].iter().sum();
        if total < OFTEN || total < whole {
            return None;
        }
        let mut ways: BTreeMap<usize, Vec<(usize, u64)>> = BTreeMap::new();
        for (&(one, other), &count) in outcomes {
            ways.entry(one).or_default().push((other, count));
        }
        let follows = ways.values().all(|after| after.len() == 1);
        let varies = |counts: &[u64]| {
            let most = counts.iter().copied().max().unwrap_or(0);
            counts.len() > 1 && ratio(most, total) <= 1.0 - RARE
        };
        let firsts: Vec<u64> = ways
            .values()
            .map(|after| after.iter().map(|(_, n)| n).sum())
            .collect();
        let mut seconds: BTreeMap<usize, u64> = BTreeMap::new();
        for (&(_, other), &count) in outcomes {
            *seconds.entry(other).or_default() += count;
        }
        let seconds: Vec<u64> = seconds.into_values().collect();
        (follows && varies(&firsts) && varies(&seconds)).then_some((total, first, second, ways))
    });
    let (total, first, second, ways) =
        found.max_by_key(|&(total, first, second, _)| (total, first, second))?;
    let (asked, before) = (known(second)?, known(first)?);
    let pairs: Vec<String> = ways
        .iter()
        .map(|(&one, after)| {
            let (other, count) = after[0];
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
