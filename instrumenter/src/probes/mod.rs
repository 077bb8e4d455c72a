//! What a probe does. Where probes go is the plan's matter (`trodden_numbering::Plan`), how code is moved the
//! rewriter's; a strategy only says which bytes stand at method entry and at a path end.

mod asm;
mod bursts;
mod calls;
mod counters;
mod events;
mod safepoint;
pub mod structural;
mod yieldpoint;

use std::fmt::Debug;

pub use asm::Asm;

use trodden_profile::structural::GraphSlots;

use crate::classfile::frames::VerificationType;
use crate::classfile::pool::PoolFull;
use crate::options::{InstrumentOptions, ProbeKind};

/// What a strategy may know about the method it is asked about.
#[derive(Clone, Copy, Debug)]
pub struct ProbedMethod<'m> {
    /// First counter slot of the class.
    pub first_counter: u32,
    /// The method's id.
    pub method_id: u32,
    /// First slot of the method, counted from the class's first; `None` if the method's paths are hashed.
    pub counter_base: Option<u32>,
    /// Local variable slot of the path register. Slots after it are the strategy's own.
    pub register: u16,
    /// Does an activation end at most one path (no loop, no cut)?
    pub one_end: bool,
    /// Is it a class or interface initialiser?
    pub is_initialiser: bool,
    /// Where its structure graphs have their slots, counted from the class's first; empty for probes that are not about them.
    pub graphs: &'m [GraphSlots],
}

/// What ends a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathEnd {
    /// A header or a cut: the next path starts at once.
    Restart,
    /// A return.
    Return,
    /// A throw.
    Throw,
}

/// A probe strategy.
pub trait ProbeStrategy: Debug + Send + Sync {
    /// Operand stack slots that probes need on top of what the method has on it.
    fn stack(&self) -> u16;

    /// Types of the locals behind the path register.
    fn locals(&self, method: &ProbedMethod, asm: &mut Asm) -> Result<Vec<VerificationType>, PoolFull> {
        let _ = (method, asm);
        Ok(Vec::new())
    }

    /// Added to the value of every path start, so that the register holds something more useful than the bare
    /// number at a path's end.
    fn base(&self, method: &ProbedMethod) -> u32 {
        let _ = method;
        0
    }

    /// Emitted on method entry, before the register is set.
    fn enter(&self, method: &ProbedMethod, asm: &mut Asm) -> Result<(), PoolFull> {
        let _ = (method, asm);
        Ok(())
    }

    /// Emitted where a path ends and the register holds its number (plus base).
    fn path_end(&self, method: &ProbedMethod, end: PathEnd, asm: &mut Asm) -> Result<(), PoolFull>;

    /// Is there a path register? If not, the strategy's own locals begin at its slot, and no path is numbered.
    fn keeps_register(&self) -> bool {
        true
    }

    /// Does it want methods without branches too, a probe in front of each call, and one where an exception leaves the method?
    fn sees_calls(&self) -> bool {
        false
    }

    /// Does it tell where each call stands? Else, if it [`sees_calls`](Self::sees_calls), callees are told without call sites, and nothing is
    /// put in front of calls.
    fn tells_call_sites(&self) -> bool {
        self.sees_calls()
    }

    /// The same without call sites, for methods in which there is no room for a probe in front of each call.
    fn without_call_sites(&self) -> Option<&'static dyn ProbeStrategy> {
        None
    }

    /// Emitted where the method catches an exception, if it does not tell its call sites: a callee may have ended without saying so (a
    /// constructor in `super(…)`), which else the next call would tell.
    fn caught(&self, method: &ProbedMethod, asm: &mut Asm) -> Result<(), PoolFull> {
        let _ = (method, asm);
        Ok(())
    }

    /// Emitted in front of the call at a bytecode index, if it [tells them](Self::tells_call_sites).
    fn call(&self, method: &ProbedMethod, bci: u32, asm: &mut Asm) -> Result<(), PoolFull> {
        let _ = (method, bci, asm);
        Ok(())
    }

    /// Emitted where an exception leaves the method, if [`sees_calls`](Self::sees_calls). The exception is on the
    /// operand stack, and is thrown on afterwards.
    fn unwound(&self, method: &ProbedMethod, asm: &mut Asm) -> Result<(), PoolFull> {
        let _ = (method, asm);
        Ok(())
    }

    /// Is it about structure graphs? The method's [`StructuralCode`](structural::StructuralCode) then says what happens on edges
    /// and exits.
    fn is_structural(&self) -> bool {
        false
    }

    /// Must the register be listed in the LocalVariableTable, where there is one?
    fn register_is_visible(&self) -> bool {
        false
    }
}

/// The strategy that the options ask for.
pub fn strategy(options: &InstrumentOptions) -> &'static dyn ProbeStrategy {
    match options.probe {
        ProbeKind::Yieldpoint => &yieldpoint::Yieldpoint,
        ProbeKind::Counters => &counters::Counters,
        ProbeKind::Safepoint => &safepoint::Safepoint,
        ProbeKind::Structural => &structural::Structural,
        ProbeKind::Events if options.bursts => &bursts::BURSTS,
        ProbeKind::Events if options.events.call_sites => calls::calls(options),
        ProbeKind::Events => events::events(options.events, options.skips),
    }
}
