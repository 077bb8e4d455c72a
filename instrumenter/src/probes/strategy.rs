//! The parts of a probe strategy, and what it may know of a method.

use std::fmt::Debug;

use trodden_profile::structural::GraphSlots;

use super::asm::Asm;
use crate::classfile::frames::VerificationType;
use crate::classfile::pool::PoolFull;
use crate::ids::{CounterSlot, MethodId};

/// The properties of a method that a strategy may use.
#[derive(Clone, Copy, Debug)]
pub struct ProbedMethod<'m> {
    /// First counter slot of the part of the class's slots that the method's are in.
    pub first_counter: CounterSlot,
    /// The method's id.
    pub method_id: MethodId,
    /// First slot of the method, counted from that; `None` if the method's paths are hashed.
    pub counter_base: Option<u32>,
    /// The slot, counted in the same way, for how often it was begun, if it is a constructor that calls
    /// another one, whose exceptions no handler of ours can catch.
    pub begun: Option<i32>,
    /// Local variable slot of the path register. Slots after it are the strategy's own.
    pub register: u16,
    /// True if an activation ends at most one path (no loop, no cut).
    pub one_end: bool,
    /// True for a class or interface initialiser.
    pub is_initialiser: bool,
    /// The treatment of paths that an exception cuts off.
    pub cut_paths: CutPaths,
    /// Where its structure graphs have their slots, counted from the class's first; empty for probes that are
    /// not about them.
    pub graphs: &'m [GraphSlots],
}

/// How a method treats paths that an exception cuts off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CutPaths {
    /// Nothing: it was not asked for, or nothing in the method throws.
    #[default]
    None,
    /// They are counted, and which block runs is kept in a local.
    BlockKept,
    /// They are counted, and there is only one block.
    OneBlock,
}

/// In place of a block's number: the path is counted already.
pub const COUNTED: i32 = -1;

/// The event that ends a path.
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

    /// Emitted where a path ends and the register holds its number (plus base). By default a return is
    /// reported as an exception that [leaves the method](Self::unwound) is: for probes that see activations
    /// alone.
    fn path_end(&self, method: &ProbedMethod, end: PathEnd, asm: &mut Asm) -> Result<(), PoolFull> {
        match end {
            PathEnd::Return => self.unwound(method, asm),
            // The activation ends in its own handler, or continues in another one.
            PathEnd::Throw | PathEnd::Restart => Ok(()),
        }
    }

    /// Returns true if there is a path register. If not, the strategy's own locals begin at its slot, and no
    /// path is numbered.
    fn keeps_register(&self) -> bool {
        true
    }

    /// Returns true if it wants methods without branches too, a probe in front of each call, and one where an
    /// exception leaves the method.
    fn sees_calls(&self) -> bool {
        false
    }

    /// Returns true if it reports call sites. Else, if it [`sees_calls`](Self::sees_calls), callees are
    /// reported without call sites, and nothing is put in front of calls.
    fn reports_call_sites(&self) -> bool {
        self.sees_calls()
    }

    /// This strategy without call sites, for methods in which there is no room for a probe in front of each
    /// call.
    fn without_call_sites(&self) -> Option<&'static dyn ProbeStrategy> {
        None
    }

    /// Emitted where the method catches an exception, if it does not report its call sites: a callee may have
    /// ended without saying so (a constructor in `super(…)`), which else the next call would show.
    fn caught(&self, method: &ProbedMethod, asm: &mut Asm) -> Result<(), PoolFull> {
        let _ = (method, asm);
        Ok(())
    }

    /// Emitted in front of the call at a bytecode index, if it [reports them](Self::reports_call_sites).
    fn call(&self, method: &ProbedMethod, bci: u32, asm: &mut Asm) -> Result<(), PoolFull> {
        let _ = (method, bci, asm);
        Ok(())
    }

    /// Emitted where an exception leaves the method, if [`sees_calls`](Self::sees_calls). The exception is on
    /// the operand stack, and is thrown on afterwards.
    fn unwound(&self, method: &ProbedMethod, asm: &mut Asm) -> Result<(), PoolFull> {
        let _ = (method, asm);
        Ok(())
    }

    /// Its local with the block that runs, if cut paths are counted and [there is one](CutPaths::BlockKept).
    fn block_local(&self, method: &ProbedMethod) -> u16 {
        let _ = method;
        unreachable!("{self:?} counts no cut paths")
    }

    /// Emitted where an exception has cut off a path, if cut paths are counted. The exception is on the
    /// operand stack, where it stays. `continues`: the activation continues, and the path is not to be
    /// counted again.
    fn cut(&self, method: &ProbedMethod, continues: bool, asm: &mut Asm) -> Result<(), PoolFull> {
        let _ = (method, continues, asm);
        Ok(())
    }

    /// Returns true if it can count paths that an exception cuts off.
    fn counts_cut_paths(&self) -> bool {
        false
    }

    /// Returns true if it is about structure graphs. The method's
    /// [`StructuralCode`](super::structural::StructuralCode) then says what happens on edges and exits.
    fn is_structural(&self) -> bool {
        false
    }

    /// Returns true if it is about coverage. Methods without branches are of interest then, and the updates
    /// of the plan are [run](Self::run).
    fn is_coverage(&self) -> bool {
        false
    }

    /// Emitted where the plan runs a program that is none of structure graphs.
    fn run(&self, method: &ProbedMethod, program: u32, asm: &mut Asm) -> Result<(), PoolFull> {
        let _ = (method, program, asm);
        Ok(())
    }

    /// Returns true if the register must be listed in the LocalVariableTable, where there is one.
    fn register_is_visible(&self) -> bool {
        false
    }
}
