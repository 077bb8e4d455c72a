//! Paths without probes (`burst=jvm:…` with profiles `subpaths` and `kpaths`): in bursts the JVM tells
//! which instruction each thread is about to execute (JVMTI `SingleStep`), and the agent makes of these steps
//! what probes would have written. No class is changed.
//!
//! As with [calls](super::method_events), HotSpot runs every thread in its interpreter while the events are
//! on, and compiled code as ever between bursts. A step takes about a tenth of a microsecond, so a burst of
//! 2 ms sees some 20,000 instructions.

mod follow;
#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, OnceLock, RwLock};

use jvmti_bindings::sys::jni::jmethodID;
use rustc_hash::FxHashMap;
use trodden_profile::events::Word;

use crate::classes::Method;
use crate::host::Host;
use crate::jvm::{InnermostFrame, Jni};
use crate::locks::{read, write};
use crate::stream::method_events::{RECENT, place_of};
use crate::stream::{Recording, Reporter};
use crate::threads::ThreadBlock;
use follow::{Follower, Route};

thread_local! {
    static STEPPER: RefCell<Stepper> = RefCell::default();
}

/// Numbers of native threads.
static NUMBERS: AtomicI32 = AtomicI32::new(1);

/// How methods are to be followed, by their ids.
#[derive(Default)]
pub struct Steps {
    routes: RwLock<FxHashMap<u32, Arc<Route>>>,
    /// How frames are told apart.
    frame: OnceLock<Option<InnermostFrame>>,
}

/// State of a native thread.
#[derive(Default)]
struct Stepper {
    /// The burst it takes part in.
    burst: i32,
    /// For this thread of the program.
    block: Option<ThreadBlock>,
    /// Which may be another one from one step to the next, or have been elsewhere in between.
    is_virtual: bool,
    /// The number by which its block says that this native thread follows it; 0: none yet.
    number: i32,
    follower: Follower,
    recent: Vec<Recent>,
}

#[derive(Clone, Default)]
struct Recent {
    method: usize,
    /// Generation of the [`Walker`](super::walk::Walker)'s knowledge at that time; 0: nothing yet.
    generation: u32,
    route: Option<Arc<Route>>,
}

/// A report of a thread.
#[derive(Clone, Copy)]
pub enum Step {
    /// An activation of the method begins.
    Enter,
    /// The instruction there is about to be executed.
    At(u32),
}

impl Reporter<'_> {
    /// The thread reports something in a burst.
    pub(super) fn step(self, burst: i32, method: jmethodID, step: Step) {
        // A thread that is about to be no more has none.
        let _ = STEPPER.try_with(|stepper| {
            // Taken: a step within a step, which does not happen.
            let Ok(mut stepper) = stepper.try_borrow_mut() else {
                return;
            };
            let Some(place) = stepper.remember(self, method) else {
                stepper.follower.elsewhere();
                return;
            };
            let Some(&Some(frame)) = self.recording.steps.frame.get() else {
                return;
            };
            let frame = frame.of_caller(self.jni);
            let may_be_another = stepper.is_virtual || !matches!(step, Step::At(_));
            if (stepper.burst != burst || may_be_another && !stepper.is_followed(self))
                && !stepper.join(self, burst)
            {
                return;
            }
            let Stepper {
                follower,
                recent,
                block: Some(block),
                ..
            } = &mut *stepper
            else {
                return;
            };
            let Some(route) = &recent[place].route else { return };
            let mut tell = |word: Word| self.recording.streams.append(*block, word.0);
            match step {
                Step::Enter => follower.enter(route, frame, &mut tell),
                Step::At(bci) => follower.step(route, bci, frame, &mut tell),
            }
        });
    }
}

impl Steps {
    /// True if steps can be followed in this JVM.
    pub fn can_follow(&self, host: &Host, jni: Jni<'_>) -> bool {
        let frame = || InnermostFrame::new(host.vm, host.jvmti, jni);
        self.frame.get_or_init(frame).is_some()
    }

    /// Another profile begins: methods may have other numbers.
    pub fn forget(&self) {
        write(&self.routes).clear();
    }

    fn route(&self, host: &Host, method: &Method) -> Option<Arc<Route>> {
        if let Some(route) = read(&self.routes).get(&method.id.0) {
            return Some(Arc::clone(route));
        }
        let skips = (host.active()?.instrumenter.options()).skip_single_path_loops;
        let route = Route::new(method.id, Arc::clone(&method.map), method.position, skips);
        Some(Arc::clone(
            write(&self.routes)
                .entry(method.id.0)
                .or_insert_with(|| Arc::new(route)),
        ))
    }
}

impl Stepper {
    /// Where it is remembered how to follow a method; `None` if that is not followed.
    #[inline]
    fn remember(&mut self, from: Reporter<'_>, method: jmethodID) -> Option<usize> {
        let key = method as usize;
        let place = place_of(key);
        let generation = from.recording.walker.generation();
        match self.recent.get(place) {
            Some(recent) if recent.method == key && recent.generation == generation => {
                recent.route.is_some().then_some(place)
            }
            _ => self.look_up(from, method, (place, generation)),
        }
    }

    #[cold]
    fn look_up(
        &mut self,
        from: Reporter<'_>,
        method: jmethodID,
        (place, generation): (usize, u32),
    ) -> Option<usize> {
        self.recent.resize(RECENT, Recent::default());
        let Recording { walker, steps, .. } = from.recording;
        let (found, for_good) = walker.probed(from.host, from.jni, method);
        let route = found.and_then(|found| steps.route(from.host, &found));
        let is_known = route.is_some();
        self.recent[place] = Recent {
            method: method as usize,
            // Of generation 0 nothing is remembered.
            generation: if for_good { generation } else { 0 },
            route,
        };
        is_known.then_some(place)
    }

    /// True if the thread that runs is the one that was followed last, and no other native thread has
    /// followed it since.
    fn is_followed(&self, from: Reporter<'_>) -> bool {
        let block = ThreadBlock::of_calling_thread(from.host.jvmti);
        block == self.block && (!self.is_virtual || block.is_some_and(|block| block.joined() == self.number))
    }

    /// The thread takes part in a burst from here on. False: it is left out for now.
    fn join(&mut self, from: Reporter<'_>, burst: i32) -> bool {
        let Some(block) = from.block() else {
            return false;
        };
        self.burst = burst;
        self.block = Some(block);
        self.is_virtual = from.host.is_virtual(from.jni, from.thread);
        if self.number == 0 {
            self.number = NUMBERS.fetch_add(1, Ordering::Relaxed);
        }
        block.set_joined(self.number);
        let streams = &from.recording.streams;
        self.follower
            .restart(streams.needs_activations(), self.is_virtual);
        streams.append(block, Word::burst(1, from.recording.group(), 0).0);
        true
    }
}
