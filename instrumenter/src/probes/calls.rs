//! `events` with call sites: every activation tells where it was called from and, however it ends, that it ended.
//!
//! The thread's block has a *call word*: how many activations are open, and the bytecode index of the call that is under way
//! (`Trodden.enterFrom` has the details). A method takes the word as it finds it at entry (the caller's), keeps it in a
//! local, and puts it back when it ends, so that whatever the caller calls next finds it again: also code without probes that calls back
//! several times. In front of each of its own calls the method writes its own depth and the call's index.
//!
//! An exception that leaves the method is caught by a handler behind its code, which ends the activation in the same
//! way and throws it on. Without it, code without probes that catches the exception and then calls something would be
//! told apart from the activation that has ended by nobody.

use trodden_profile::events::Kind;

use super::events::upper;
use super::{Asm, PathEnd, ProbeStrategy, ProbedMethod};
use crate::classfile::frames::VerificationType;
use crate::classfile::pool::PoolFull;

/// Appends beginnings with their call sites, ends, and if wanted path ends.
#[derive(Debug)]
pub struct Calls {
    /// Are path ends among the events?
    paths: bool,
    /// Do beginnings and ends of activations tell how much time has passed?
    timed: bool,
}

static CALLS: Calls = Calls {
    paths: false,
    timed: false,
};
static CALLS_AND_PATHS: Calls = Calls { paths: true, ..CALLS };
static TIMED_CALLS: Calls = Calls { timed: true, ..CALLS };

/// The strategy, with or without path ends, or with time (and no path ends).
pub fn calls(paths: bool, timed: bool) -> &'static Calls {
    match (paths, timed) {
        (_, true) => &TIMED_CALLS,
        (true, false) => &CALLS_AND_PATHS,
        (false, false) => &CALLS,
    }
}

impl Calls {
    fn block_slot(&self, method: &ProbedMethod) -> u16 {
        method.register + u16::from(self.paths)
    }

    /// … -> … block caller
    fn load(&self, method: &ProbedMethod, asm: &mut Asm) {
        asm.lload(self.block_slot(method));
        asm.lload(self.block_slot(method) + 2);
    }
}

impl ProbeStrategy for Calls {
    fn stack(&self) -> u16 {
        6
    }

    fn locals(&self, _: &ProbedMethod, _: &mut Asm) -> Result<Vec<VerificationType>, PoolFull> {
        Ok(vec![VerificationType::Long, VerificationType::Long])
    }

    fn enter(&self, method: &ProbedMethod, asm: &mut Asm) -> Result<(), PoolFull> {
        let slot = self.block_slot(method);
        // The JVM runs initialisers by itself, wherever a class is used first: no call is under way there.
        let enter = match (method.is_initialiser, self.timed) {
            (true, false) => "initialise",
            (false, false) => "enterFrom",
            (true, true) => "initialiseTimed",
            (false, true) => "enterTimed",
        };
        asm.call_shim("events", "()J")?; // … block
        asm.lstore(slot); // …
        asm.lload(slot); // … block
        asm.push_id(upper(Kind::Enter, method))?; // … block upper
        asm.call_shim(enter, "(JI)J")?; // … caller
        asm.lstore(slot + 2); // …
        Ok(())
    }

    fn path_end(&self, method: &ProbedMethod, end: PathEnd, asm: &mut Asm) -> Result<(), PoolFull> {
        let (kind, callee) = match (self.paths, end) {
            (false, PathEnd::Return) => return self.unwound(method, asm),
            // The activation ends in its own handler, or goes on in another one.
            (false, PathEnd::Throw | PathEnd::Restart) => return Ok(()),
            (true, PathEnd::Return) => (Kind::LastPath, "lastPath"),
            (true, PathEnd::Throw | PathEnd::Restart) => (Kind::PathEnd, "path"),
        };
        self.load(method, asm); // … block caller
        asm.push_id(upper(kind, method))?; // … block caller upper
        asm.iload(method.register); // … block caller upper path
        asm.call_shim(callee, "(JJII)V") // …
    }

    fn keeps_register(&self) -> bool {
        self.paths
    }

    fn sees_calls(&self) -> bool {
        true
    }

    fn call(&self, method: &ProbedMethod, bci: u32, asm: &mut Asm) -> Result<(), PoolFull> {
        self.load(method, asm); // … block caller
        asm.push(bci as i32)?; // … block caller bci
        asm.call_shim("call", "(JJI)V") // …
    }

    fn unwound(&self, method: &ProbedMethod, asm: &mut Asm) -> Result<(), PoolFull> {
        self.load(method, asm); // … block caller
        asm.push_id(upper(Kind::Exit, method))?; // … block caller upper
        let exit = if self.timed { "exitTimed" } else { "exit" };
        asm.call_shim(exit, "(JJI)V") // …
    }
}
