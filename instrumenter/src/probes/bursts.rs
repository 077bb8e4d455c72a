//! `events` in bursts: beginnings of activations with their call sites, and ends, but only while the agent
//! says so.
//!
//! Between bursts a probe is the test of a flag, and an activation keeps nothing: it may begin before a burst
//! and end in it, or the other way round. What was on the stack when a burst began is found by a walk of the
//! stack (`Trodden.begins`).

use trodden_profile::events::{Kind, NO_CALL_SITE};

use super::asm::Asm;
use super::events::upper;
use super::shim::ShimMethod;
use super::strategy::{ProbeStrategy, ProbedMethod};
use crate::classfile::pool::PoolFull;

/// Reports calls and returns while there is a burst.
#[derive(Debug)]
pub struct BurstProbes {
    /// True if call sites are reported.
    sites: bool,
}

/// With call sites, as usual.
pub static BURSTS: BurstProbes = BurstProbes { sites: true };
static WITHOUT_CALL_SITES: BurstProbes = BurstProbes { sites: false };

impl ProbeStrategy for BurstProbes {
    fn stack(&self) -> u16 {
        2
    }

    fn enter(&self, method: &ProbedMethod, asm: &mut Asm) -> Result<(), PoolFull> {
        // The JVM runs initialisers on its own: no call is in progress there.
        let callee = if method.is_initialiser {
            ShimMethod::Initialises
        } else {
            ShimMethod::Begins
        };
        asm.push_id(upper(Kind::Enter, method))?; // … upper
        asm.call_shim(callee) // …
    }

    fn keeps_register(&self) -> bool {
        false
    }

    fn sees_calls(&self) -> bool {
        true
    }

    fn reports_call_sites(&self) -> bool {
        self.sites
    }

    fn without_call_sites(&self) -> Option<&'static dyn ProbeStrategy> {
        self.sites.then_some(&WITHOUT_CALL_SITES)
    }

    fn caught(&self, method: &ProbedMethod, asm: &mut Asm) -> Result<(), PoolFull> {
        asm.push_id(upper(Kind::Call, method))?; // … upper
        asm.push_id(NO_CALL_SITE)?; // … upper bci
        asm.call_shim(ShimMethod::Calls) // …
    }

    fn call(&self, method: &ProbedMethod, bci: u32, asm: &mut Asm) -> Result<(), PoolFull> {
        asm.push_id(upper(Kind::Call, method))?; // … upper
        asm.push(bci as i32)?; // … upper bci
        asm.call_shim(ShimMethod::Calls) // …
    }

    fn unwound(&self, method: &ProbedMethod, asm: &mut Asm) -> Result<(), PoolFull> {
        asm.push_id(upper(Kind::Exit, method))?; // … upper
        asm.call_shim(ShimMethod::Ends) // …
    }
}
