//! Bursts of the JVM's own events (`burst-events=jvm`): calls and returns come from JVMTI's `MethodEntry` and `MethodExit`, which are on
//! in bursts only. No code carries probes, and no class is changed.
//!
//! While they are on, HotSpot runs every thread in its interpreter: compiled activations that are on stacks are turned into interpreted ones, and calls
//! do not enter compiled code. That code is kept, and runs again as soon as they are off. So a burst is slow, and between bursts there is nothing
//! left but what the capabilities themselves change (see `docs/contexts.md`).
//!
//! What threads write is what the probes of bursts write: after a walk of the stack `Enter` and `Exit`, and a `Call` of the caller in front of
//! each `Enter`. All of it goes by way of the thread's block, which the agent makes here, as no probe asks for one.

use std::cell::Cell;
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use jvmti_bindings::sys::jni::jmethodID;
use jvmti_bindings::sys::jvmti::{JVMTI_EVENT_METHOD_ENTRY, JVMTI_EVENT_METHOD_EXIT, jvmtiFrameInfo};
use trodden_profile::events::{CALL_UNDER_WAY, ThreadInfo, Word};

use crate::agent::Agent;
use crate::blocks::Block;
use crate::jvm::jvmti::ThreadRef;
use crate::jvm::{Jni, JvmError, Jvmti};
use crate::log::warning;

/// Methods that a native thread remembers; of two in the same place, the last one. JDK methods are told too, so most events end here.
const RECENT: usize = 1024;
/// Frames that are asked for at first in search of the caller, then so many times as many. Most callers are the next frame.
const FIRST_FRAMES: usize = 2;
const MORE_FRAMES: usize = 16;
thread_local! {
    static REMEMBERED: [Cell<Recent>; RECENT] = const { [const { Cell::new(Recent::NONE) }; RECENT] };
}

/// The events, and which burst they are on for.
#[derive(Default)]
pub struct MethodEvents {
    /// Number of the burst; 0 between bursts.
    burst: AtomicI32,
    /// What switching them on and off took so far, in nanoseconds.
    switching: AtomicU64,
}

/// What a thread came by.
#[derive(Clone, Copy)]
struct Recent {
    method: usize,
    /// Of the [`Walker`](crate::walk::Walker)'s knowledge at that time; 0: nothing yet.
    generation: u32,
    followed: Option<Followed>,
}

/// A method whose calls are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Followed {
    /// Its number.
    pub index: u32,
    /// Is it a class initialiser? These are not called, the JVM runs them.
    pub initialises: bool,
}

impl Recent {
    const NONE: Recent = Recent {
        method: 0,
        generation: 0,
        followed: None,
    };
}

impl MethodEvents {
    /// Begins a burst: from here on threads tell what they call. The number, above 0, is not that of another burst.
    pub fn begin(&self, jvmti: Jvmti, number: i32) -> Result<(), JvmError> {
        let begun = Instant::now();
        // Ends first: an activation whose beginning is told then has an end that is told.
        let on = jvmti
            .notify(JVMTI_EVENT_METHOD_EXIT, true)
            .and_then(|()| jvmti.notify(JVMTI_EVENT_METHOD_ENTRY, true));
        self.count(begun);
        if on.is_err() {
            self.end(jvmti);
        } else {
            // Not before all threads tell both.
            self.burst.store(number, Ordering::Release);
        }
        on
    }

    /// Ends the burst, if there is one. A thread may be telling something at this very moment: it goes on, and tells no more.
    pub fn end(&self, jvmti: Jvmti) {
        self.burst.store(0, Ordering::Release);
        let begun = Instant::now();
        for event in [JVMTI_EVENT_METHOD_ENTRY, JVMTI_EVENT_METHOD_EXIT] {
            if let Err(e) = jvmti.notify(event, false) {
                warning!("the JVM's events stay on, and it may be slow: {e}");
            }
        }
        self.count(begun);
    }

    fn count(&self, begun: Instant) {
        let took: Duration = begun.elapsed();
        self.switching
            .fetch_add(took.as_nanos() as u64, Ordering::Relaxed);
    }

    /// Nanoseconds that switching on and off took, since the JVM's start.
    pub fn switching(&self) -> u64 {
        self.switching.load(Ordering::Relaxed)
    }

    /// The calling thread has begun an activation.
    pub fn entered(&self, agent: &Agent, jni: Jni<'_>, thread: ThreadRef, method: jmethodID) {
        let burst = self.burst.load(Ordering::Acquire);
        if burst == 0 {
            return;
        }
        let Some(followed) = followed(agent, jni, method) else {
            return;
        };
        let block = match Block::of_calling_thread(agent.jvmti) {
            Some(block) if block.joined() == burst => {
                // It also says which activations are no more, should the JVM have kept an end from us.
                if let Some(call) = call_under_way(agent, jni, thread) {
                    agent.streams.append(block, call);
                }
                block
            }
            Some(block) if block.joined() == -burst => return,
            _ => match join(agent, jni, thread, followed.index, burst) {
                Some(block) => block,
                None => return,
            },
        };
        let site = (!followed.initialises).then_some(CALL_UNDER_WAY);
        agent.streams.append(block, Word::enter(followed.index, site).0);
    }

    /// The calling thread ends an activation, by returning or by an exception.
    pub fn exited(&self, agent: &Agent, jni: Jni<'_>, method: jmethodID) {
        let burst = self.burst.load(Ordering::Acquire);
        if burst == 0 {
            return;
        }
        if let Some(followed) = followed(agent, jni, method)
            && let Some(block) = Block::of_calling_thread(agent.jvmti)
            && block.joined() == burst
        {
            agent.streams.append(block, Word::exit(followed.index).0);
        }
    }
}

/// Is a method followed? Quick for those that the native thread came by lately.
fn followed(agent: &Agent, jni: Jni<'_>, method: jmethodID) -> Option<Followed> {
    let key = method as usize;
    let place = key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (usize::BITS - RECENT.ilog2());
    let generation = agent.walker.generation();
    let recent = REMEMBERED.with(|all| all[place].get());
    if recent.method == key && recent.generation == generation {
        return recent.followed;
    }
    let (followed, for_good) = agent.walker.followed(agent, jni, method);
    if for_good {
        let recent = Recent {
            method: key,
            generation,
            followed,
        };
        REMEMBERED.with(|all| all[place].set(recent));
    }
    followed
}

/// The calling thread, which has begun an activation of a method, takes part in a burst from here on; `None` if it is left out.
fn join(agent: &Agent, jni: Jni<'_>, thread: ThreadRef, method: u32, burst: i32) -> Option<Block> {
    let block = block(agent, jni, thread)?;
    let joins = agent.join_burst(jni, thread, block, method);
    // Its negative: the thread has nothing to do with this burst.
    block.set_joined(if joins { burst } else { -burst });
    joins.then_some(block)
}

/// The calling thread's block: the one that it has, be it from a profile with probes, or a new one. It is remembered by the JVM, so that
/// events find it at once; here, once per burst, it is made sure of, as a later profile may have given the thread another one.
fn block(agent: &Agent, jni: Jni<'_>, thread: ThreadRef) -> Option<Block> {
    let id = agent.thread_id(jni, thread)?;
    let block = agent.streams.block_of(id).unwrap_or_else(|| {
        let block = agent.blocks.reserve_small();
        let info = ThreadInfo {
            id,
            name: agent.jvmti.thread_name(thread).unwrap_or_default(),
            is_virtual: agent.is_virtual(jni, thread),
        };
        agent.streams.thread_begins(block, info);
        block
    });
    if Block::of_calling_thread(agent.jvmti) != Some(block) {
        Block::set_of_calling_thread(Some(block), agent.jvmti).ok()?;
    }
    Some(block)
}

/// The word that tells where the innermost followed activation below the one that begins calls; `None` if there is no such activation.
fn call_under_way(agent: &Agent, jni: Jni<'_>, thread: ThreadRef) -> Option<u64> {
    let mut few = [jvmtiFrameInfo::default(); FIRST_FRAMES];
    let mut more = Vec::new();
    let mut from = 1;
    loop {
        let frames = match from {
            1 => &mut few[..],
            _ => {
                more.resize(from * MORE_FRAMES, jvmtiFrameInfo::default());
                &mut more[..]
            }
        };
        // An error: there are no frames from there on.
        let count = agent.jvmti.stack_from(thread, from, frames).ok()?;
        let caller = frames[..count]
            .iter()
            .find_map(|frame| Some((followed(agent, jni, frame.method)?, frame.location)));
        if let Some((caller, location)) = caller {
            let bci = u32::try_from(location).ok()?;
            return Some(Word::call(caller.index, bci).0);
        }
        if count < frames.len() {
            return None;
        }
        from += count;
    }
}
