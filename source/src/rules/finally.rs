//! `finally`: its block is copied to every way out of `try` and `catch`. All copies are one.
//!
//! The copy that runs when an exception passes is a handler of everything: it stores what it caught, does the block, and
//! throws it on. The others are where control leaves the code that the handler is for, with the same instructions.

use trodden_classfile::code::Handler;
use trodden_classfile::opcodes as op;

use super::Findings;
use crate::known::Known;
use crate::listing::Listing;

pub fn find(known: &Known, findings: &mut Findings) {
    let handlers: Vec<Handler> = known.code.handlers().collect();
    let listing = known.listing();
    for of in handlers.iter().filter(|handler| handler.catch_type == 0) {
        let handler = listing.position(of.handler);
        let Some(size) = body(listing, handler) else {
            continue;
        };
        for exit in exits(listing, &handlers, of) {
            merge(listing, findings, (handler, size), exit);
        }
    }
}

/// Number of instructions between a handler's store and where it throws on; none if there are none, or if the handler does
/// something else.
fn body(listing: &Listing, handler: usize) -> Option<usize> {
    let caught = listing
        .get(handler)
        .filter(|first| first.opcode == op::ASTORE)?
        .slot;
    let rest = listing.all().get(handler + 1..)?;
    let size = rest
        .iter()
        .position(|next| next.opcode == op::ALOAD && next.slot == caught)?;
    (size > 0 && listing.has(handler + 1 + size, &[op::ALOAD, op::ATHROW])).then_some(size)
}

/// Where control leaves the code that a handler is for.
fn exits(listing: &Listing, handlers: &[Handler], of: &Handler) -> Vec<usize> {
    let ranges = || handlers.iter().filter(|other| other.handler == of.handler);
    let inside = |pc: u32| ranges().any(|range| (range.start..range.end).contains(&pc));
    let mut exits = Vec::new();
    let mut add = |pc: u32| {
        if !inside(pc) {
            exits.push(listing.position(pc));
        }
    };
    for range in ranges() {
        let mut runs_on = false;
        let all = listing.position(range.start)..listing.position(range.end);
        let all = listing.all().get(all).unwrap_or_default();
        for instruction in all {
            if let Some(target) = instruction.target {
                add(target);
            }
            let leaves =
                op::is_return(instruction.opcode) || matches!(instruction.opcode, op::GOTO | op::ATHROW);
            runs_on = !leaves;
        }
        if runs_on {
            add(range.end);
        }
    }
    // `catch` with an empty block: the copy is behind the store of what was caught.
    let same =
        |other: &&Handler| other.handler != of.handler && (other.start, other.end) == (of.start, of.end);
    for empty in handlers.iter().filter(same) {
        if let Some(behind) = listing.get(listing.position(empty.handler) + 1) {
            add(behind.pc);
        }
    }
    exits
}

/// If the instructions from `exit` on are those of the handler, all are one.
fn merge(listing: &Listing, findings: &mut Findings, (handler, size): (usize, usize), exit: usize) {
    let body = &listing.all()[handler + 1..=handler + size];
    let opcodes: Vec<u8> = body.iter().map(|instruction| instruction.opcode).collect();
    if !listing.has(exit, &opcodes) {
        return;
    }
    for position in 0..size {
        findings.merge(handler + 1 + position, exit + position);
    }
    // Storing and throwing on; and the jump behind a copy, which would be missed with the copy.
    findings.instructions(handler..handler + 1);
    findings.instructions(handler + 1 + size..handler + 3 + size);
    if listing.has(exit + size, &[op::GOTO]) {
        findings.instructions(exit + size..exit + size + 1);
    }
}
