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
//!
//! Probes in front of calls are most of the code that is added. Where they do not fit, the method goes without: its entry has left the word
//! without a call site, which is what its callees then find.

use trodden_profile::events::{Kind, NO_CALL_SITE};

use super::events::upper;
use super::{Asm, PathEnd, ProbeStrategy, ProbedMethod};
use crate::classfile::frames::VerificationType;
use crate::classfile::pool::PoolFull;
use crate::options::InstrumentOptions;

/// What is told besides calls and returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Besides {
    /// Nothing.
    Nothing,
    /// Path ends.
    Paths,
    /// The path register at each call.
    CallPaths,
    /// How much time has passed.
    Time,
}

/// Appends beginnings with their call sites, and ends.
#[derive(Debug)]
pub struct Calls {
    besides: Besides,
    /// Are call sites told?
    sites: bool,
}

/// With call sites, and without.
const fn forms(besides: Besides) -> [Calls; 2] {
    [
        Calls { besides, sites: true },
        Calls {
            besides,
            sites: false,
        },
    ]
}

static CALLS: [Calls; 2] = forms(Besides::Nothing);
static CALLS_AND_PATHS: [Calls; 2] = forms(Besides::Paths);
static CALLS_ALONG_PATHS: [Calls; 2] = forms(Besides::CallPaths);
static TIMED_CALLS: [Calls; 2] = forms(Besides::Time);

/// The strategy that the options ask for.
pub fn calls(options: &InstrumentOptions) -> &'static Calls {
    let besides = match (options.timed, options.call_paths, options.events.paths) {
        (true, _, _) => Besides::Time,
        (false, true, _) => Besides::CallPaths,
        (false, false, true) => Besides::Paths,
        (false, false, false) => Besides::Nothing,
    };
    besides.forms().0
}

impl Besides {
    fn forms(self) -> (&'static Calls, &'static Calls) {
        let [with, without] = match self {
            Besides::Nothing => &CALLS,
            Besides::Paths => &CALLS_AND_PATHS,
            Besides::CallPaths => &CALLS_ALONG_PATHS,
            Besides::Time => &TIMED_CALLS,
        };
        (with, without)
    }
}

impl Calls {
    fn block_slot(&self, method: &ProbedMethod) -> u16 {
        method.register + u16::from(self.keeps_register())
    }

    /// … -> … block caller
    fn load(&self, method: &ProbedMethod, asm: &mut Asm) {
        asm.lload(self.block_slot(method));
        asm.lload(self.block_slot(method) + 2);
    }
}

impl ProbeStrategy for Calls {
    fn stack(&self) -> u16 {
        match self.besides {
            Besides::CallPaths => 7,
            Besides::Nothing | Besides::Paths | Besides::Time => 6,
        }
    }

    fn locals(&self, _: &ProbedMethod, _: &mut Asm) -> Result<Vec<VerificationType>, PoolFull> {
        Ok(vec![VerificationType::Long, VerificationType::Long])
    }

    fn enter(&self, method: &ProbedMethod, asm: &mut Asm) -> Result<(), PoolFull> {
        let slot = self.block_slot(method);
        // The JVM runs initialisers by itself, wherever a class is used first: no call is under way there.
        let enter = match (self.besides, method.is_initialiser) {
            (Besides::Nothing | Besides::Paths, false) => "enterFrom",
            (Besides::Nothing | Besides::Paths, true) => "initialise",
            (Besides::CallPaths, false) => "enterAlong",
            (Besides::CallPaths, true) => "initialiseAlong",
            (Besides::Time, false) => "enterTimed",
            (Besides::Time, true) => "initialiseTimed",
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
        let (kind, callee) = match (self.besides == Besides::Paths, end) {
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
        match self.besides {
            Besides::Paths => true,
            // Nothing but probes in front of calls reads it.
            Besides::CallPaths => self.sites,
            Besides::Nothing | Besides::Time => false,
        }
    }

    fn sees_calls(&self) -> bool {
        true
    }

    fn tells_call_sites(&self) -> bool {
        self.sites
    }

    fn without_call_sites(&self) -> Option<&'static dyn ProbeStrategy> {
        self.sites.then(|| self.besides.forms().1 as &dyn ProbeStrategy)
    }

    fn caught(&self, method: &ProbedMethod, asm: &mut Asm) -> Result<(), PoolFull> {
        self.load(method, asm); // … block caller
        asm.push_id(NO_CALL_SITE)?; // … block caller bci
        asm.call_shim("call", "(JJI)V") // …
    }

    fn call(&self, method: &ProbedMethod, bci: u32, asm: &mut Asm) -> Result<(), PoolFull> {
        self.load(method, asm); // … block caller
        asm.push(bci as i32)?; // … block caller bci
        if self.besides == Besides::CallPaths {
            asm.push_id(upper(Kind::Prefix, method))?; // … block caller bci upper
            asm.iload(method.register); // … block caller bci upper register
            return asm.call_shim("callAlong", "(JJIII)V"); // …
        }
        asm.call_shim("call", "(JJI)V") // …
    }

    fn unwound(&self, method: &ProbedMethod, asm: &mut Asm) -> Result<(), PoolFull> {
        self.load(method, asm); // … block caller
        asm.push_id(upper(Kind::Exit, method))?; // … block caller upper
        let exit = match self.besides {
            Besides::Nothing | Besides::Paths => "exit",
            Besides::CallPaths => "exitAlong",
            Besides::Time => "exitTimed",
        };
        asm.call_shim(exit, "(JJI)V") // …
    }
}
