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
            let opcodes = |at: &u32| known.code.bytes[*at as usize];
            let wanted: Vec<u8> = body.iter().map(opcodes).collect();
            more_copies(known, findings, (&wanted, &lines), start..end);
        }
    }
}

/// Where it stands at several ways out, too, the first one stands for all. Their branches are found; other code may
/// stand in the same blocks.
fn more_copies(
    known: &Known,
    findings: &mut Findings,
    (wanted, lines): (&[u8], &BTreeSet<u32>),
    handler: std::ops::Range<u32>,
) {
    let all: Vec<(u32, u8)> = known.code.instructions(0, known.code.len()).collect();
    let of_lines = |(at, _): &(u32, u8)| known.map.line(*at).is_some_and(|line| lines.contains(&line));
    let mut found = 0;
    let mut from = 0;
    while let Some(piece) = all.get(from..from + wanted.len()) {
        let same = piece.iter().map(|&(_, opcode)| opcode).eq(wanted.iter().copied());
        if !same || handler.contains(&piece[0].0) || !piece.iter().all(of_lines) {
            from += 1;
            continue;
        }
        found += 1;
        from += wanted.len();
        let within = piece[0].0..=piece[wanted.len() - 1].0;
        for (block, info) in known.map.blocks.iter().enumerate() {
            if found > 1 && within.contains(&info.last) {
                findings.branch(block);
            }
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
