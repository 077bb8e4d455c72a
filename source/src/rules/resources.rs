//! `try (…)`: closing the resource, after the body and when an exception passes.
//!
//! javac 11 and newer write, at each way out: `if (r != null) r.close();`, and in a handler of all throwables
//! `if (r != null) try { r.close(); } catch (Throwable t) { e.addSuppressed(t); } throw e;`. The null check is left out
//! where the resource was just made.

use super::Findings;
use crate::decide::Known;
use crate::expression::Node;

pub fn find(known: &Known, findings: &mut Findings) {
    for handler in known.handlers_of(b"java/lang/Throwable") {
        let Some(Resource { slot, blocks }) = resource(known, handler) else {
            continue;
        };
        blocks.iter().for_each(|&block| findings.block(block));
        // The copy at a way out: a null check of the same variable, with nothing but the call behind it.
        for block in 0..known.map.blocks.len() {
            let Some(test) = known.test(block) else { continue };
            let of_resource = known.loads_slot(test.left) == Some(slot);
            let null = test.right.is_some_and(|id| known.node(id) == Node::Null);
            if of_resource && null && closes(known, block + 1, slot) {
                findings.branch(block);
            }
        }
    }
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
