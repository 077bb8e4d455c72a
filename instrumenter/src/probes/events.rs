//! `events`: each path end, and if wanted each beginning of an activation, is appended to a buffer of the
//! thread (`trodden_profile::events` says what the words mean).
//!
//! The thread's block is fetched once per activation. Nothing is put around calls: an activation keeps the
//! number of those below it in a local, and an event that finds another number at the thread knows that an
//! exception has unwound callees since. So exceptions cost nothing where they pass, and no handler is added
//! to the method. Where an only path is counted, the block is fetched when the first path ends, and there
//! the activation begins for the stream.

use trodden_profile::events::{Kind, Word};

use super::asm::Asm;
use super::shim::ShimMethod;
use super::strategy::{PathEnd, ProbeStrategy, ProbedMethod};
use crate::classfile::frames::VerificationType;
use crate::classfile::pool::PoolFull;
use crate::ids::CounterSlot;

/// Appends events.
#[derive(Debug)]
pub struct Events {
    /// True if beginnings and ends of activations are among them.
    activations: bool,
    /// True if a method that ends one path per activation may say so in one word.
    only_paths: bool,
    /// True if path ends are skipped that no analysis has asked for.
    skips: bool,
    /// True if activations that end one path count it in slots, where there are some, and report nothing.
    counts_only_paths: bool,
}

/// Each path end.
pub static PATHS: Events = Events {
    activations: false,
    only_paths: true,
    skips: false,
    counts_only_paths: false,
};
/// Path ends that the analysis has asked for.
pub static WANTED_PATHS: Events = Events { skips: true, ..PATHS };
/// Path ends and activations, in one word where one path is all of an activation.
pub static ACTIVATIONS: Events = Events {
    activations: true,
    ..PATHS
};
/// The same, but an activation is not in the stream if its first path is its only one; that is counted then.
/// So the word of its beginning comes late, behind those of callees that have ended: which of two activations
/// is reported first makes no difference to k-iteration paths.
pub static COUNTED_ACTIVATIONS: Events = Events {
    counts_only_paths: true,
    ..ACTIVATIONS
};
/// Path ends and activations, with the beginning and the end of each.
pub static NESTED_ACTIVATIONS: Events = Events {
    activations: true,
    only_paths: false,
    ..PATHS
};

/// In place of a depth: the activation is not in the stream.
const NOT_REPORTED: i32 = -1;

/// The local that an activation keeps.
enum Keeps {
    /// Nothing: its only path is counted, in slots from this one on, if there are some.
    Count(Option<CounterSlot>),
    /// Nothing: it says all in one word.
    Nothing,
    /// The address of the thread's block.
    Block,
    /// That, and how many activations are below it.
    BlockAndDepth,
    /// The same, from its first path on that is not the last: an only path is counted, in slots from here on.
    BlockAndDepthOnceReported(CounterSlot),
}

impl Events {
    fn named(&self, all: ShimMethod, wanted: ShimMethod) -> ShimMethod {
        if self.skips { wanted } else { all }
    }

    fn keeps(&self, method: &ProbedMethod) -> Keeps {
        if self.counts_only_paths {
            let slots = method.counter_base.map(|base| method.first_counter.plus(base));
            return match (method.one_end, slots) {
                (true, slots) => Keeps::Count(slots),
                (false, Some(first)) => Keeps::BlockAndDepthOnceReported(first),
                (false, None) => Keeps::BlockAndDepth,
            };
        }
        match (self.activations, method.one_end) {
            (false, true) => Keeps::Nothing,
            (true, true) if self.only_paths => Keeps::Nothing,
            (false, false) => Keeps::Block,
            (true, _) => Keeps::BlockAndDepth,
        }
    }
}

fn block_slot(method: &ProbedMethod) -> u16 {
    method.register + 1
}

fn depth_slot(method: &ProbedMethod) -> u16 {
    method.register + 3
}

fn fetch_block(method: &ProbedMethod, asm: &mut Asm) -> Result<(), PoolFull> {
    asm.call_shim(ShimMethod::Events)?; // … block
    asm.lstore(block_slot(method)); // …
    Ok(())
}

/// The upper half of a word.
pub(super) fn upper(kind: Kind, method: &ProbedMethod) -> u32 {
    (kind as u32) << 28 | method.method_id.0
}

impl ProbeStrategy for Events {
    fn stack(&self) -> u16 {
        5 + u16::from(self.counts_only_paths)
    }

    fn locals(&self, method: &ProbedMethod, _: &mut Asm) -> Result<Vec<VerificationType>, PoolFull> {
        Ok(match self.keeps(method) {
            Keeps::Count(_) | Keeps::Nothing => Vec::new(),
            Keeps::Block => vec![VerificationType::Long],
            Keeps::BlockAndDepth | Keeps::BlockAndDepthOnceReported(_) => {
                vec![VerificationType::Long, VerificationType::Integer]
            }
        })
    }

    fn enter(&self, method: &ProbedMethod, asm: &mut Asm) -> Result<(), PoolFull> {
        match self.keeps(method) {
            Keeps::Count(_) | Keeps::Nothing => {}
            Keeps::Block => fetch_block(method, asm)?,
            Keeps::BlockAndDepth => {
                fetch_block(method, asm)?;
                asm.lload(block_slot(method)); // … block
                asm.push_id(upper(Kind::Enter, method))?; // … block upper
                asm.call_shim(ShimMethod::Enter)?; // … depth
                asm.istore(depth_slot(method)); // …
            }
            Keeps::BlockAndDepthOnceReported(_) => {
                asm.push_no_block(); // … block
                asm.lstore(block_slot(method)); // …
                asm.set(depth_slot(method), NOT_REPORTED)?; // …
            }
        }
        Ok(())
    }

    fn path_end(&self, method: &ProbedMethod, end: PathEnd, asm: &mut Asm) -> Result<(), PoolFull> {
        match self.keeps(method) {
            Keeps::Count(first) => {
                let (id, callee) = match first {
                    Some(first) => (first.0, ShimMethod::CountAt),
                    None => (method.method_id.0, ShimMethod::CountHashed),
                };
                asm.push_id(id)?; // … id
                asm.iload(method.register); // … id path
                asm.call_shim(callee) // …
            }
            Keeps::Nothing => {
                asm.push_id(upper(Kind::OnlyPath, method))?; // … upper
                asm.iload(method.register); // … upper path
                asm.call_shim(self.named(ShimMethod::OnlyPath, ShimMethod::OnlyPathIfWanted)) // …
            }
            Keeps::Block => {
                asm.lload(block_slot(method)); // … block
                asm.push_id(upper(Kind::PathEnd, method))?; // … block upper
                asm.iload(method.register); // … block upper path
                asm.call_shim(self.named(ShimMethod::Path, ShimMethod::PathIfWanted)) // …
            }
            Keeps::BlockAndDepth => {
                // What a throw ends is the path: the activation may catch it itself.
                let (kind, callee) = match end {
                    PathEnd::Return => (Kind::LastPath, ShimMethod::LastPathAbove),
                    PathEnd::Throw | PathEnd::Restart => (Kind::PathEnd, ShimMethod::PathAbove),
                };
                asm.lload(block_slot(method)); // … block
                asm.iload(depth_slot(method)); // … block depth
                asm.push_id(upper(kind, method))?; // … block depth upper
                asm.iload(method.register); // … block depth upper path
                asm.call_shim(callee) // …
            }
            Keeps::BlockAndDepthOnceReported(first) => match end {
                PathEnd::Return => {
                    asm.lload(block_slot(method)); // … block
                    asm.iload(depth_slot(method)); // … block depth
                    asm.push_id(upper(Kind::LastPath, method))?; // … block depth upper
                    asm.iload(method.register); // … block depth upper path
                    asm.push_id(first.0)?; // … block depth upper path first
                    asm.call_shim(ShimMethod::LastOrOnlyPath) // …
                }
                PathEnd::Throw | PathEnd::Restart => {
                    asm.lload(block_slot(method)); // … block
                    asm.call_shim(ShimMethod::EventsOnce)?; // … block
                    asm.lstore(block_slot(method)); // …
                    asm.lload(block_slot(method)); // … block
                    asm.iload(depth_slot(method)); // … block depth
                    asm.push_id(upper(Kind::PathEnd, method))?; // … block depth upper
                    asm.iload(method.register); // … block depth upper path
                    asm.call_shim(ShimMethod::PathReporting)?; // … depth
                    asm.istore(depth_slot(method)); // …
                    Ok(())
                }
            },
        }
    }
}

/// Every id fits into a word.
const _: () = assert!(Word::head(Kind::OnlyPath, trodden_profile::events::MAX_METHOD).is_some());
