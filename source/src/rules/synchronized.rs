//! `synchronized`: a handler of everything leaves the monitor and throws on.

use trodden_classfile::opcodes as op;

use super::Findings;
use crate::known::Known;
use crate::listing::Matcher;
use crate::listing::Step::{Is, Load, Store};

pub fn find(known: &Known, findings: &mut Findings) {
    let listing = known.listing();
    let all = known.code.handlers();
    for handler in all.filter(|of| of.catch_type == 0 && of.start != of.handler) {
        let start = listing.position(handler.handler);
        let mut matcher = Matcher::new(listing, start);
        let of_javac = [
            Store(0),
            Is(op::ALOAD),
            Is(op::MONITOREXIT),
            Load(0),
            Is(op::ATHROW),
        ];
        let of_ecj = [Is(op::ALOAD), Is(op::MONITOREXIT), Is(op::ATHROW)];
        if matcher.take(&of_ecj) || matcher.take(&of_javac) {
            findings.instructions(start..matcher.at);
        }
    }
}
