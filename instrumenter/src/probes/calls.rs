//! `events` with call sites: every activation reports where it was called from and, however it ends, that it
//! ended.
//!
//! The thread's block has a *call word*: how many activations are open, and the bytecode index of the call
//! that is in progress (`Trodden.enterFrom` has the details). A method takes the word as it finds it at entry
//! (the caller's), keeps it in a local, and puts it back when it ends, so that whatever the caller calls next
//! finds it again: also code without probes that calls back several times. In front of each of its own calls
//! the method writes its own depth and the call's index.
//!
//! An exception that leaves the method is caught by a handler behind its code, which ends the activation in
//! the same way and throws it on. Without it, code without probes that catches the exception and then calls
//! something could not be distinguished from the activation that has ended.
//!
//! Probes in front of calls are most of the code that is added. Where they do not fit, the method goes
//! without: its entry has left the word without a call site, which is what its callees then find.

use trodden_profile::events::{Kind, NO_CALL_SITE};

use super::asm::Asm;
use super::events::upper;
use super::shim::ShimMethod;
use super::strategy::{PathEnd, ProbeStrategy, ProbedMethod};
use crate::classfile::frames::VerificationType;
use crate::classfile::pool::PoolFull;
use crate::options::CallWeight;

/// Appends beginnings with their call sites, and ends.
#[derive(Debug)]
pub struct Calls {
    weight: CallWeight,
    /// True if call sites are reported.
    sites: bool,
}

/// The two strategies with the same data per call.
struct Forms {
    with_call_sites: Calls,
    without: Calls,
}

const fn forms(weight: CallWeight) -> Forms {
    Forms {
        with_call_sites: Calls { weight, sites: true },
        without: Calls { weight, sites: false },
    }
}

static CALLS: Forms = forms(CallWeight::Nothing);
static CALLS_AND_PATHS: Forms = forms(CallWeight::Paths);
static CALLS_AND_PATHS_TO_THEM: Forms = forms(CallWeight::PathsToCalls);
static TIMED_CALLS: Forms = forms(CallWeight::Time);

fn forms_of(weight: CallWeight) -> &'static Forms {
    match weight {
        CallWeight::Nothing => &CALLS,
        CallWeight::Paths => &CALLS_AND_PATHS,
        CallWeight::PathsToCalls => &CALLS_AND_PATHS_TO_THEM,
        CallWeight::Time => &TIMED_CALLS,
    }
}

/// The strategy that reports calls with their call sites.
pub fn with_call_sites(weight: CallWeight) -> &'static Calls {
    &forms_of(weight).with_call_sites
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
        match self.weight {
            CallWeight::PathsToCalls => 7,
            CallWeight::Nothing | CallWeight::Paths | CallWeight::Time => 6,
        }
    }

    fn locals(&self, _: &ProbedMethod, _: &mut Asm) -> Result<Vec<VerificationType>, PoolFull> {
        Ok(vec![VerificationType::Long, VerificationType::Long])
    }

    fn enter(&self, method: &ProbedMethod, asm: &mut Asm) -> Result<(), PoolFull> {
        let slot = self.block_slot(method);
        // The JVM runs initialisers on its own, wherever a class is used first: no call is in progress there.
        let enter = match (self.weight, method.is_initialiser) {
            (CallWeight::Nothing | CallWeight::Paths, false) => ShimMethod::EnterFrom,
            (CallWeight::Nothing | CallWeight::Paths, true) => ShimMethod::Initialise,
            (CallWeight::PathsToCalls, false) => ShimMethod::EnterAlong,
            (CallWeight::PathsToCalls, true) => ShimMethod::InitialiseAlong,
            (CallWeight::Time, false) => ShimMethod::EnterTimed,
            (CallWeight::Time, true) => ShimMethod::InitialiseTimed,
        };
        asm.call_shim(ShimMethod::Events)?; // … block
        asm.lstore(slot); // …
        asm.lload(slot); // … block
        asm.push_id(upper(Kind::Enter, method))?; // … block upper
        asm.call_shim(enter)?; // … caller
        asm.lstore(slot + 2); // …
        Ok(())
    }

    fn path_end(&self, method: &ProbedMethod, end: PathEnd, asm: &mut Asm) -> Result<(), PoolFull> {
        let (kind, callee) = match (self.weight == CallWeight::Paths, end) {
            (false, PathEnd::Return) => return self.unwound(method, asm),
            // The activation ends in its own handler, or continues in another one.
            (false, PathEnd::Throw | PathEnd::Restart) => return Ok(()),
            (true, PathEnd::Return) => (Kind::LastPath, ShimMethod::LastPathOf),
            (true, PathEnd::Throw | PathEnd::Restart) => (Kind::PathEnd, ShimMethod::PathOf),
        };
        self.load(method, asm); // … block caller
        asm.push_id(upper(kind, method))?; // … block caller upper
        asm.iload(method.register); // … block caller upper path
        asm.call_shim(callee) // …
    }

    fn keeps_register(&self) -> bool {
        match self.weight {
            CallWeight::Paths => true,
            // Nothing but probes in front of calls reads it.
            CallWeight::PathsToCalls => self.sites,
            CallWeight::Nothing | CallWeight::Time => false,
        }
    }

    fn sees_calls(&self) -> bool {
        true
    }

    fn reports_call_sites(&self) -> bool {
        self.sites
    }

    fn without_call_sites(&self) -> Option<&'static dyn ProbeStrategy> {
        self.sites
            .then(|| &forms_of(self.weight).without as &dyn ProbeStrategy)
    }

    fn caught(&self, method: &ProbedMethod, asm: &mut Asm) -> Result<(), PoolFull> {
        self.load(method, asm); // … block caller
        asm.push_id(NO_CALL_SITE)?; // … block caller bci
        asm.call_shim(ShimMethod::Call) // …
    }

    fn call(&self, method: &ProbedMethod, bci: u32, asm: &mut Asm) -> Result<(), PoolFull> {
        self.load(method, asm); // … block caller
        asm.push(bci as i32)?; // … block caller bci
        if self.weight == CallWeight::PathsToCalls {
            asm.push_id(upper(Kind::Prefix, method))?; // … block caller bci upper
            asm.iload(method.register); // … block caller bci upper register
            return asm.call_shim(ShimMethod::CallAlong); // …
        }
        asm.call_shim(ShimMethod::Call) // …
    }

    fn unwound(&self, method: &ProbedMethod, asm: &mut Asm) -> Result<(), PoolFull> {
        self.load(method, asm); // … block caller
        asm.push_id(upper(Kind::Exit, method))?; // … block caller upper
        let exit = match self.weight {
            CallWeight::Nothing | CallWeight::Paths => ShimMethod::Exit,
            CallWeight::PathsToCalls => ShimMethod::ExitAlong,
            CallWeight::Time => ShimMethod::ExitTimed,
        };
        asm.call_shim(exit) // …
    }
}
