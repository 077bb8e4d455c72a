//! `finally`: its block is copied to every way out. One copy stands for all: the one that runs when an exception passes
//! is the compiler's if there is another one.

use std::collections::BTreeSet;

use trodden_profile::BlockExit;

use super::Findings;
use crate::decide::Known;

pub fn find(known: &Known, findings: &mut Findings) {
    for handler in known.catch_all() {
        let Some(last) = rethrow(known, handler) else {
            continue;
        };
        // The same lines once more, outside of the handler: a copy. What stores and throws the exception has no other.
        let (start, end) = (known.map.blocks[handler].start, known.map.blocks[last].end);
        let body = known.code.instructions(start, end).map(|(at, _)| at);
        let body: Vec<u32> = body.collect();
        let body = body.get(1..body.len().saturating_sub(2)).unwrap_or_default();
        let lines: BTreeSet<u32> = body.iter().filter_map(|&at| known.map.line(at)).collect();
        let outside = (0..known.code.len()).filter(|at| !(start..end).contains(at));
        let others: BTreeSet<u32> = outside.filter_map(|at| known.map.line(at)).collect();
        if !lines.is_empty() && lines.is_subset(&others) {
            (handler..=last).for_each(|block| findings.block(block));
        }
    }
}

/// The block where a handler of everything throws what it caught, after code without other exits.
fn rethrow(known: &Known, handler: usize) -> Option<usize> {
    let caught = known.stored_first(handler)?;
    let blocks = handler..known.map.blocks.len();
    let mut reached = vec![false; blocks.len()];
    reached[0] = true;
    for block in blocks {
        if !reached[block - handler] {
            return None;
        }
        if known.throws(block) && known.thrown_slot(block) == Some(caught) {
            return Some(block);
        }
        if matches!(known.map.blocks[block].exit, BlockExit::Return | BlockExit::Throw) {
            return None;
        }
        for to in known.successors(block) {
            match reached.get_mut(to.checked_sub(handler)?) {
                Some(reached) => *reached = true,
                None => return None,
            }
        }
    }
    None
}
