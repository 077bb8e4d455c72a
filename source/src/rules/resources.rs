//! `try (…)`: closing the resource, after the body and when an exception passes.
//!
//! javac 11 and newer write, at each way out: `if (r != null) r.close();`, and in a handler of all throwables
//! `if (r != null) try { r.close(); } catch (Throwable t) { e.addSuppressed(t); } throw e;`. The null check is left out
//! where the resource was just made. ECJ does it with handlers of everything.

use super::Findings;
use crate::decide::Known;
use crate::expression::Node;

pub fn find(known: &Known, findings: &mut Findings) {
    of_ecj(known, findings);
    for handler in known.handlers_of(b"java/lang/Throwable") {
        let Some(Resource { slot, blocks }) = resource(known, handler) else {
            continue;
        };
        blocks.iter().for_each(|&block| findings.block(block));
        // The copy at a way out: a null check of the same variable, with nothing but the call behind it.
        for block in 0..known.map.blocks.len() {
            if closed_if_there(known, block) == Some(slot) {
                findings.branch(block);
            }
        }
    }
}

/// ECJ's handlers catch everything. The one behind the body closes the resource and throws on; around it, one for each
/// resource takes what closing threw, adds it to the first exception, closes the next one, and throws.
fn of_ecj(known: &Known, findings: &mut Findings) {
    let handlers = known.catch_all();
    // A handler, up to where it throws the first exception.
    let piece = |handler: usize| {
        let blocks = handler..(handler + 9).min(known.map.blocks.len());
        let last = blocks.clone().find(|&block| known.throws(block))?;
        Some((handler..=last, known.thrown_slot(last)?))
    };
    let pieces: Vec<_> = handlers.into_iter().filter_map(piece).collect();
    let suppressing = |(blocks, _): &&(std::ops::RangeInclusive<usize>, u16)| {
        let mut blocks = blocks.clone();
        blocks.any(|block| known.calls(block, b"addSuppressed").is_some())
    };
    let firsts: Vec<u16> = pieces
        .iter()
        .filter(suppressing)
        .map(|&(_, first)| first)
        .collect();
    for (blocks, first) in pieces.into_iter().filter(|(_, first)| firsts.contains(first)) {
        let stores = known.stored_first(*blocks.start());
        let closed = |block| closed_if_there(known, block);
        let slots: Vec<u16> = blocks.clone().filter_map(closed).collect();
        if stores != Some(first) && !suppressing(&&(blocks.clone(), first)) || stores.is_none() {
            continue;
        }
        blocks.for_each(|block| findings.block(block));
        // On the way through.
        for block in 0..known.map.blocks.len() {
            if closed(block).is_some_and(|slot| slots.contains(&slot)) {
                let test = &known.map.blocks[block];
                findings.branch(block);
                findings.block(block + 1);
                if known.code.instructions(test.start, test.end).count() == 2 {
                    findings.block(block);
                }
            }
        }
    }
}

/// The variable that a block tests for null, and the next one closes.
fn closed_if_there(known: &Known, block: usize) -> Option<u16> {
    let test = known.test(block)?;
    let null = test.right.is_some_and(|id| known.node(id) == Node::Null);
    let slot = known.loads_slot(test.left).filter(|_| null)?;
    closes(known, block + 1, slot).then_some(slot)
}

struct Resource {
    slot: u16,
    blocks: Vec<usize>,
}

/// Does a handler close a resource and throw on?
fn resource(known: &Known, handler: usize) -> Option<Resource> {
    // At most: null check, close, goto, addSuppressed, throw.
    let reach = handler..(handler + 6).min(known.map.blocks.len());
    let suppresses = reach
        .clone()
        .find(|&block| known.calls(block, b"addSuppressed").is_some())?;
    let closing = reach
        .clone()
        .find_map(|block| Some((block, known.calls(block, b"close")?)));
    let (closing, receiver) = closing?;
    let slot = known.loads_slot(receiver)?;
    let thrown = (suppresses..reach.end).find(|&block| known.throws(block))?;
    (closing <= suppresses).then(|| Resource {
        slot,
        blocks: (handler..=thrown).collect(),
    })
}

fn closes(known: &Known, block: usize, slot: u16) -> bool {
    if block >= known.map.blocks.len() {
        return false;
    }
    known
        .calls(block, b"close")
        .is_some_and(|receiver| known.loads_slot(receiver) == Some(slot))
}
