//! Bursts of the JVM's own events (`burst=jvm:…`): calls and returns come from JVMTI's `MethodEntry` and
//! `MethodExit`, which are on in bursts only. No code carries probes, and no class is changed.
//!
//! While they are on, HotSpot runs every thread in its interpreter: compiled activations that are on stacks
//! are turned into interpreted ones, and calls do not enter compiled code. That code is kept, and runs again
//! as soon as they are off. So a burst is slow, and between bursts there is nothing left but what the
//! capabilities themselves change (see `docs/contexts.md`).
//!
//! What threads write is what the probes of bursts write: after a walk of the stack `Enter` and `Exit`, and a
//! `Call` of the caller in front of each `Enter`. All of it goes by way of the thread's block, which the
//! agent makes here, as no probe asks for one.
//!
//! In bursts of paths each instruction is reported in place of ends; [steps](super::steps) makes paths of
//! these.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use jvmti_bindings::sys::jni::{jmethodID, jobject};
use jvmti_bindings::sys::jvmti::{
    JVMTI_EVENT_METHOD_ENTRY, JVMTI_EVENT_METHOD_EXIT, JVMTI_EVENT_SINGLE_STEP, jvmtiEvent, jvmtiFrameInfo,
};
use trodden_instrumenter::MethodId;
use trodden_profile::events::{CALL_UNDER_WAY, ThreadInfo, Word};

use crate::jvm::{Jni, JvmError, Jvmti};
use crate::log::warning;
use crate::stream::steps::Step;
use crate::stream::{Recording, Reporter};
use crate::threads::ThreadBlock;

/// Methods that a native thread remembers; of two in the same place, the last one. Methods of the JDK are
/// reported too, so most events end here.
pub(super) const RECENT: usize = 1024;
/// Frames that are asked for at first in search of the caller, then this many times as many. Most callers are
/// the next frame.
const FIRST_FRAMES: usize = 2;
const MORE_FRAMES: usize = 16;
thread_local! {
    static REMEMBERED: [Cell<Recent>; RECENT] = const { [const { Cell::new(Recent::NONE) }; RECENT] };
    /// Methods, and whether they return a reference.
    static RETURNS: [Cell<(usize, bool)>; RECENT] = const { [const { Cell::new((0, false)) }; RECENT] };
}

/// The events, and which burst they are on for.
#[derive(Default)]
pub struct MethodEvents {
    /// Number of the burst; 0 between bursts.
    burst: AtomicI32,
    /// True for a burst of [single steps](super::steps), and not of calls alone.
    steps: AtomicBool,
    /// Nanoseconds that switching them on and off took so far.
    switching: AtomicU64,
}

/// A method that a thread has seen.
#[derive(Clone, Copy)]
struct Recent {
    method: usize,
    /// Generation of the [`Walker`](crate::stream::walk::Walker)'s knowledge at that time; 0: nothing yet.
    generation: u32,
    followed: Option<Followed>,
}

/// A method whose calls are recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Followed {
    id: MethodId,
    /// True for class initialisers. These are not called, the JVM runs them.
    initialises: bool,
}

impl Recent {
    const NONE: Recent = Recent {
        method: 0,
        generation: 0,
        followed: None,
    };
}

/// The events of a burst. Ends before beginnings: an activation whose beginning is reported then has an end
/// that is reported. [Steps](super::steps) need no ends.
fn events(steps: bool) -> [jvmtiEvent; 2] {
    if steps {
        [JVMTI_EVENT_METHOD_ENTRY, JVMTI_EVENT_SINGLE_STEP]
    } else {
        [JVMTI_EVENT_METHOD_EXIT, JVMTI_EVENT_METHOD_ENTRY]
    }
}

impl MethodEvents {
    /// Begins a burst: from here on threads report what they call, and with `steps` each instruction. The
    /// number, above 0, is not that of another burst.
    pub fn begin(&self, jvmti: Jvmti, number: i32, steps: bool) -> Result<(), JvmError> {
        let begun = Instant::now();
        self.steps.store(steps, Ordering::Relaxed);
        let on = events(steps)
            .into_iter()
            .try_for_each(|event| jvmti.notify(event, true));
        self.count(begun);
        if on.is_err() {
            self.end(jvmti);
        } else {
            // Not before all threads report all of them.
            self.burst.store(number, Ordering::Release);
        }
        on
    }

    /// Ends the burst, if there is one. A thread may be reporting something at this very moment: it completes
    /// that, and reports no more.
    pub fn end(&self, jvmti: Jvmti) {
        self.burst.store(0, Ordering::Release);
        let begun = Instant::now();
        for event in events(self.steps.load(Ordering::Relaxed)).into_iter().rev() {
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
}

impl Reporter<'_> {
    /// The number of the burst that runs, and whether it is one of single steps.
    fn burst(self) -> Option<(i32, bool)> {
        let events = &self.recording.method_events;
        let burst = events.burst.load(Ordering::Acquire);
        (burst != 0).then(|| (burst, events.steps.load(Ordering::Relaxed)))
    }

    /// The thread has begun an activation.
    pub fn entered(self, method: jmethodID) {
        let burst = match self.burst() {
            Some((burst, true)) => return self.step(burst, method, Step::Enter),
            Some((burst, false)) => burst,
            None => return,
        };
        let Some(followed) = self.followed(method) else {
            return;
        };
        let streams = &self.recording.streams;
        let block = match ThreadBlock::of_calling_thread(self.host.jvmti) {
            Some(block) if block.joined() == burst => {
                // It also says which activations are no more, should the JVM have kept an end from us.
                if let Some(call) = self.call_under_way() {
                    streams.append(block, call);
                }
                block
            }
            Some(block) if block.joined() == -burst => return,
            _ => match self.join(followed.id, burst) {
                Some(block) => block,
                None => return,
            },
        };
        let site = (!followed.initialises).then_some(CALL_UNDER_WAY);
        streams.append(block, Word::enter(followed.id.0, site).0);
    }

    /// The thread ends an activation, by returning a result or, without one, by an exception.
    pub fn exited(self, method: jmethodID, result: Option<jobject>) {
        if let Some(result) = result {
            forget(result, method, self.host.jvmti, self.jni);
        }
        if let Some((burst, false)) = self.burst()
            && let Some(followed) = self.followed(method)
            && let Some(block) = ThreadBlock::of_calling_thread(self.host.jvmti)
            && block.joined() == burst
        {
            let exit = Word::exit(followed.id.0).0;
            self.recording.streams.append(block, exit);
        }
    }

    /// The thread is about to execute an instruction.
    #[inline]
    pub fn stepped(self, method: jmethodID, bci: u32) {
        let burst = self.recording.method_events.burst.load(Ordering::Acquire);
        if burst != 0 {
            self.step(burst, method, Step::At(bci));
        }
    }

    /// The method, if it is followed. Quick for those that the native thread has seen lately.
    fn followed(self, method: jmethodID) -> Option<Followed> {
        let key = method as usize;
        let place = place_of(key);
        let walker = &self.recording.walker;
        let generation = walker.generation();
        let recent = REMEMBERED.with(|all| all[place].get());
        if recent.method == key && recent.generation == generation {
            return recent.followed;
        }
        let (probed, for_good) = walker.probed(self.host, self.jni, method);
        let followed = probed.map(|method| Followed {
            id: method.id,
            initialises: method.initialises(),
        });
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

    /// The thread, which has begun an activation of a method, takes part in a burst from here on; `None` if
    /// it is left out.
    fn join(self, method: MethodId, burst: i32) -> Option<ThreadBlock> {
        let block = self.block()?;
        let joins = self.join_burst(block, method);
        // Its negative: the thread has nothing to do with this burst.
        block.set_joined(if joins { burst } else { -burst });
        joins.then_some(block)
    }

    /// The thread's block: the one that it has, be it from a profile with probes, or a new one. It is
    /// remembered by the JVM, so that events find it at once; here, once per burst, it is made sure of, as a
    /// later profile may have given the thread another one.
    pub(super) fn block(self) -> Option<ThreadBlock> {
        let Reporter {
            host,
            recording: Recording { streams, .. },
            jni,
            thread,
        } = self;
        let id = host.thread_id(jni, thread)?;
        let block = streams.block_of(id).unwrap_or_else(|| {
            let block = host.blocks.reserve_small();
            let info = ThreadInfo {
                id,
                name: host.jvmti.thread_name(thread).unwrap_or_default(),
                is_virtual: host.is_virtual(jni, thread),
            };
            streams.thread_begins(block, info);
            block
        });
        if ThreadBlock::of_calling_thread(host.jvmti) != Some(block) {
            ThreadBlock::set_of_calling_thread(Some(block), host.jvmti).ok()?;
        }
        Some(block)
    }

    /// The word that says where the innermost followed activation below the one that begins calls; `None` if
    /// there is no such activation.
    fn call_under_way(self) -> Option<u64> {
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
            let count = self.host.jvmti.stack_from(self.thread, from, frames).ok()?;
            let caller = frames[..count]
                .iter()
                .find_map(|frame| Some((self.followed(frame.method)?, frame.location)));
            if let Some((caller, location)) = caller {
                let bci = u32::try_from(location).ok()?;
                return Some(Word::call(caller.id.0, bci).0);
            }
            if count < frames.len() {
                return None;
            }
            from += count;
        }
    }
}

/// Deletes the reference to what a method returned, which the JVM made for the event that reports its end.
/// HotSpot makes it in the frame of the Java code around and deletes it only when that returns to native
/// code: a loop that calls no native method would keep all that it was ever given, until the heap is full.
fn forget(result: jobject, method: jmethodID, jvmti: Jvmti, jni: Jni<'_>) {
    let key = method as usize;
    let place = place_of(key);
    let (known, mut is_reference) = RETURNS.with(|all| all[place].get());
    if known != key {
        let Ok((_, descriptor)) = jvmti.method_name(method) else {
            return;
        };
        let returned = descriptor.rsplit_once(')').map_or("", |(_, returned)| returned);
        is_reference = returned.starts_with(['L', '[']);
        RETURNS.with(|all| all[place].set((key, is_reference)));
    }
    if is_reference && !result.is_null() {
        jni.delete_local(result);
    }
}

/// The place of a method among [`RECENT`] ones that are remembered.
pub(super) fn place_of(method: usize) -> usize {
    method.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (usize::BITS - RECENT.ilog2())
}
