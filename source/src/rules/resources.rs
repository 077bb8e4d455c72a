//! `try (…)`: closing the resource, after the body and when an exception passes.
//!
//! Three forms of what compilers write, each as the exact sequence of instructions: a handler that the
//! programmer wrote does more, or something else. The same forms as in JaCoCo.

use trodden_classfile::opcodes as op;

use super::Findings;
use crate::known::Known;
use crate::listing::Step::{self, AddSuppressed, Close, CloseResource, Is, Jump, Label, Load, Store};
use crate::listing::{Listing, Matcher};

/// The exception that passes.
const PRIMARY: u8 = 0;
/// The resource.
const RESOURCE: u8 = 1;
/// The exception that the handler caught.
const CAUGHT: u8 = 2;
/// The exception that the outer handler caught.
const CAUGHT_AGAIN: u8 = 3;
/// The exception that closing threw, when another one passes.
const SUPPRESSED: u8 = 4;
/// The exception that closing threw behind the body.
const SUPPRESSED_BEHIND: u8 = 5;

pub fn find(known: &Known, findings: &mut Findings) {
    let listing = known.listing();
    for handler in known.code.handlers() {
        let at = listing.position(handler.handler);
        match known.class.pool.class_name(handler.catch_type) {
            Some(b"java/lang/Throwable") => {
                of_javac(listing, findings, at);
                of_old_javac(listing, findings, at);
            }
            None if handler.catch_type == 0 => {
                let _ = of_ecj(listing, findings, at) || of_ecj_without_way_out(listing, findings, at);
            }
            _ => (),
        }
    }
}

/// javac 11 and newer: `catch (Throwable e) { if (r != null) try { r.close(); } catch (Throwable t) {
/// e.addSuppressed(t); } throw e; }`. The null check is not there if the resource was just made.
fn of_javac(listing: &Listing, findings: &mut Findings, handler: usize) {
    const CHECKED: &[Step] = &[Load(RESOURCE), Is(op::IFNULL), Close(RESOURCE)];
    const SUPPRESS: &[Step] = &[
        Is(op::GOTO),
        Store(SUPPRESSED),
        Load(PRIMARY),
        Load(SUPPRESSED),
        AddSuppressed,
        Load(PRIMARY),
        Is(op::ATHROW),
    ];
    for close in [CHECKED, &CHECKED[2..]] {
        let mut matcher = Matcher::new(listing, handler);
        if matcher.take(&[Store(PRIMARY)]) && matcher.take(close) && matcher.take(SUPPRESS) {
            with_way_through(listing, findings, (handler, matcher), close);
        }
    }
}

/// javac 7 to 10: `catch (Throwable t) { e = t; throw t; } finally { if (r != null) if (e != null) try {
/// r.close(); } catch (Throwable x) { e.addSuppressed(x); } else r.close(); }`. From 9 on the null check may
/// be missing, and what is behind it may be a call of `$closeResource`.
fn of_old_javac(listing: &Listing, findings: &mut Findings, handler: usize) {
    const CATCH: &[Step] = &[
        Store(CAUGHT),
        Load(CAUGHT),
        Store(PRIMARY),
        Load(CAUGHT),
        Is(op::ATHROW),
        Store(CAUGHT_AGAIN),
    ];
    const THROW: &[Step] = &[Load(CAUGHT_AGAIN), Is(op::ATHROW)];
    const CHECK: &[Step] = &[Load(RESOURCE), Is(op::IFNULL)];
    const CALL: &[Step] = &[Load(PRIMARY), Load(RESOURCE), CloseResource];
    let close = |suppressed: u8| -> Vec<Step> {
        vec![
            Load(PRIMARY),
            Is(op::IFNULL),
            Close(RESOURCE),
            Is(op::GOTO),
            Store(suppressed),
            Load(PRIMARY),
            Load(suppressed),
            AddSuppressed,
            Is(op::GOTO),
            Close(RESOURCE),
        ]
    };
    let checked = |suppressed: u8| [CHECK, &close(suppressed)].concat();
    let calls = [CALL.to_vec(), [CHECK, CALL].concat()];
    let forms = [
        (calls[0].clone(), calls[0].clone()),
        (checked(SUPPRESSED), checked(SUPPRESSED_BEHIND)),
        (close(SUPPRESSED), close(SUPPRESSED_BEHIND)),
        (calls[1].clone(), calls[1].clone()),
    ];
    for (passing, behind) in forms {
        let mut matcher = Matcher::new(listing, handler);
        if matcher.take(CATCH)
            && matcher.take(&passing)
            && matcher.take(THROW)
            && with_way_through(listing, findings, (handler, matcher), &behind)
        {
            return;
        }
    }
}

/// Leaves out a handler that was matched, and the nearest place above it where the resource is closed, with
/// the jump behind.
fn with_way_through(
    listing: &Listing,
    findings: &mut Findings,
    (handler, mut matcher): (usize, Matcher),
    close: &[Step],
) -> bool {
    let end = matcher.at;
    let Some(found) = matcher.take_above(handler, close) else {
        return false;
    };
    let jump = usize::from(listing.has(found.end, &[op::GOTO]));
    findings.instructions(found.start..found.end + jump);
    findings.instructions(handler..end);
    true
}

/// ECJ's handlers catch everything. The one behind the body closes the last resource and throws on; around
/// it, one for each resource takes what closing threw, adds it to the first exception, closes the next
/// resource, and throws.
fn of_ecj(listing: &Listing, findings: &mut Findings, handler: usize) -> bool {
    let mut matcher = Matcher::new(listing, handler);
    if !matcher.take(&[Store(PRIMARY)]) || !matcher.take(&ecj_close_and_throw(0)) {
        return false;
    }
    let mut resources = 1;
    while resources < MAX_RESOURCES && matcher.take(&ecj_close(resources)) {
        let [.., end] = ecj_labels(resources);
        let more = matcher.take(&[Jump(op::GOTO, end)])
            && matcher.take(&ecj_suppress(resources))
            && matcher.take(&ecj_close_and_throw(resources));
        if !more {
            return false;
        }
        resources += 1;
    }
    let throws = matcher.take(&ecj_suppress(MAX_RESOURCES)) && matcher.take(&[Load(PRIMARY), Is(op::ATHROW)]);
    if !throws {
        return false;
    }
    let end = matcher.at;
    let Some(found) = matcher.take_above(handler, &ecj_close(0)) else {
        return false;
    };
    let jumps = listing.has(found.end, &[op::GOTO]);
    if jumps {
        findings.instructions(found.start..found.end + 1);
        findings.instructions(handler..end);
    }
    jumps
}

/// The same where the body never runs on: all resources are closed one behind the other in front of it.
fn of_ecj_without_way_out(listing: &Listing, findings: &mut Findings, handler: usize) -> bool {
    let mut matcher = Matcher::new(listing, handler);
    if !matcher.take(&[Store(PRIMARY)]) {
        return false;
    }
    let mut resources = 0;
    while resources < MAX_RESOURCES {
        let steps = [ecj_close_and_throw(resources), ecj_suppress(resources)].concat();
        if !matcher.take(&steps) {
            break;
        }
        resources += 1;
    }
    if resources == 0 || !matcher.take(&[Load(PRIMARY), Is(op::ATHROW)]) {
        return false;
    }
    let end = matcher.at;
    let Some(found) = matcher.take_above(handler, &ecj_close(0)) else {
        return false;
    };
    let all = (1..resources).all(|resource| matcher.take(&ecj_close(resource)));
    if all {
        findings.instructions(found.start..matcher.at);
        findings.instructions(handler..end);
    }
    all
}

/// Resources of one `try` that are recognised.
const MAX_RESOURCES: u8 = 30;

/// Labels of a resource: where the handler throws, where adding what closing threw begins and ends, where the
/// way through continues.
fn ecj_labels(resource: u8) -> [u8; 4] {
    [0, 1, 2, 3].map(|label| 4 * resource + label)
}

/// The variables of a resource: itself, and what closing it threw.
fn ecj_variables(resource: u8) -> [u8; 2] {
    [10, 11].map(|variable| 2 * resource + variable)
}

fn ecj_close(resource: u8) -> Vec<Step> {
    let ([.., end], [variable, _]) = (ecj_labels(resource), ecj_variables(resource));
    vec![Load(variable), Jump(op::IFNULL, end), Close(variable)]
}

fn ecj_close_and_throw(resource: u8) -> Vec<Step> {
    let ([throws, ..], [variable, _]) = (ecj_labels(resource), ecj_variables(resource));
    vec![
        Load(variable),
        Jump(op::IFNULL, throws),
        Close(variable),
        Label(throws),
        Load(PRIMARY),
        Is(op::ATHROW),
    ]
}

fn ecj_suppress(resource: u8) -> Vec<Step> {
    let ([_, start, end, _], [_, suppressed]) = (ecj_labels(resource), ecj_variables(resource));
    vec![
        Store(suppressed),
        Load(PRIMARY),
        Jump(op::IFNONNULL, start),
        Load(suppressed),
        Store(PRIMARY),
        Jump(op::GOTO, end),
        Label(start),
        Load(PRIMARY),
        Load(suppressed),
        Jump(op::IF_ACMPEQ, end),
        Load(PRIMARY),
        Load(suppressed),
        AddSuppressed,
        Label(end),
    ]
}
