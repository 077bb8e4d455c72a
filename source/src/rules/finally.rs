//! `finally`: its block is copied to every way out. One copy stands for all: the one that runs when an exception passes
//! is the compiler's if there is another one.

use trodden_profile::BlockExit;

use super::Findings;
use crate::decide::Known;

pub fn find(known: &Known, findings: &mut Findings) {
    for handler in known.catch_all() {
        let Some(last) = rethrow(known, handler) else {
            continue;
        };
        let branches = |from: usize, to: usize| -> Vec<u32> {
            let blocks = (from..=to).filter(|&b| known.map.blocks[b].exit == BlockExit::Branch);
            blocks.filter_map(|b| known.line_of(b)).collect()
        };
        // The same lines once more, outside of the handler: a copy.
        let lines = branches(handler, last);
        let again = |line: &u32| {
            let outside = (0..handler).chain(last + 1..known.map.blocks.len());
            outside
                .into_iter()
                .any(|b| known.test(b).is_some() && known.line_of(b) == Some(*line))
        };
        if lines.is_empty() || lines.iter().all(again) {
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
