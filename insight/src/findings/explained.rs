//! Which of the things that take time are findings: one that another one explains is not said.

use trodden_profile::EndKind;

use super::causes::{Candidate, What, candidates};
use super::overlap::{Overlap, Spent};
use crate::path_time::Times;
use crate::view::{PathView, View};

/// Share of its time that another one has to have as well to explain it.
const EXPLAINS: f64 = 0.75;
/// Share of a method's own time that one of its ways has to have to explain it, and of the time after a loop that others have
/// to have together.
const MOSTLY: f64 = 0.5;
/// Of a decision that is nested in another one: how much rarer it is for all of the time to be due to it.
const RARER: f64 = 0.8;

/// How many times more of the time than of the executions a way has that says something of its own, whatever it leads to.
const STRONG: f64 = 4.0;

/// A cause: what takes time, how much of the program's, and where.
pub struct Cause<'v> {
    /// The thing that takes the time.
    pub candidate: Candidate<'v>,
    /// Share of the program's time.
    pub share: f64,
    /// Where most of it is.
    pub spent: Spent,
}

/// Those that no other one explains, most time first.
pub fn causes<'v>(view: &'v View, times: &Times) -> Vec<Cause<'v>> {
    let all = candidates(view, times);
    let overlap = Overlap::new(view, times, &all);
    let mut kept = vec![true; all.len()];
    // What is explained explains nothing: the pairs with the most specific explanations come first.
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.sort_by(|&a, &b| {
        rank(&all[a])
            .cmp(&rank(&all[b]))
            .then(overlap.time(a).total_cmp(&overlap.time(b)))
    });
    for explains in order {
        if kept[explains] {
            for (one, keeps) in kept.iter_mut().enumerate() {
                *keeps &= one == explains || !explained(view, &all, &overlap, one, explains);
            }
        }
    }
    // What comes after a loop holds much else: it is said only if the rest says little of it.
    for one in (0..all.len()).filter(|&one| matches!(all[one].what, What::AfterLoop(_))) {
        let others = (0..all.len()).filter(|&other| other != one && kept[other]);
        if others.map(|other| overlap.covered(one, other)).sum::<f64>() >= MOSTLY {
            kept[one] = false;
        }
    }
    let total = times.total.ns.max(1) as f64;
    let mut causes: Vec<Cause> = Vec::new();
    for (index, candidate) in all.into_iter().enumerate().filter(|(index, _)| kept[*index]) {
        causes.push(Cause {
            candidate,
            share: overlap.time(index) / total,
            spent: overlap.spent(index),
        });
    }
    causes.sort_by(|a, b| b.share.total_cmp(&a.share));
    causes
}

/// Which kind of thing explains the others first.
fn rank(candidate: &Candidate) -> u8 {
    match candidate.what {
        What::Outcome(_) => 0,
        What::Path(_) => 1,
        What::Again(_) => 2,
        What::Own => 3,
        What::AfterLoop(_) => 4,
    }
}

/// True if `by` explains `one`.
fn explained(view: &View, all: &[Candidate], overlap: &Overlap, one: usize, by: usize) -> bool {
    let (this, other) = (&all[one], &all[by]);
    let same_method = this.frame == other.frame;
    let covered = overlap.covered(one, by);
    // Most of a method's own time on one of its ways: the way is the better answer.
    if matches!(this.what, What::Own) && other.decides() && same_method {
        return covered >= MOSTLY;
    }
    if covered < EXPLAINS {
        return false;
    }
    let covers = overlap.covered(by, one) >= EXPLAINS;
    match (&this.what, &other.what) {
        // Only the way tells why a method takes time that it takes on that way alone.
        (What::Own, _) => other.decides(),
        (What::AfterLoop(_), _) => true,
        (_, What::AfterLoop(_)) => false,
        // It is the method that takes time, however it is called; or the way to it tells why.
        (What::Again(_), What::Own) => false,
        (_, What::Own) => !same_method && !covers && this.lift < STRONG,
        (What::Path(path), What::Outcome(_)) if same_method => !throws(path),
        (What::Outcome(_), What::Path(path)) if same_method => throws(path),
        (What::Outcome(a), What::Outcome(b)) if same_method => {
            let count = |candidate: &Candidate, edge| view.methods[candidate.method?].edge_count(edge);
            match (count(this, *a), count(other, *b)) {
                // Nested: the inner one tells more.
                (Some(outer), Some(inner)) if (inner as f64) < RARER * outer as f64 => true,
                (Some(inner), Some(outer)) if (inner as f64) < RARER * outer as f64 => false,
                _ => !covers || a > b,
            }
        }
        (What::Path(a), What::Path(b)) if same_method => !covers || a.number > b.number,
        // In another method: that which is called explains what calls it.
        _ => same_method || overlap.is_below(one, by),
    }
}

/// True if a path ends with a `throw`.
fn throws(path: &PathView) -> bool {
    path.description.end_kind == EndKind::Throw
}
