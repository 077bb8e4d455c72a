//! Streams of events: from the blocks of threads to the analyses or a trace, with the stacks that bursts
//! begin on.

pub mod events;
pub mod method_events;
pub mod record;
pub mod steps;
pub mod walk;

use std::sync::atomic::{AtomicU32, Ordering};

use trodden_instrumenter::MethodId;
use trodden_profile::events::BURST_GROUPS;

use crate::host::Host;
use crate::jvm::{Jni, ThreadRef};
use crate::threads::ThreadBlock;
use events::Streams;
use method_events::MethodEvents;
use steps::Steps;
use walk::Walker;

/// Everything by which activations are recorded.
#[derive(Default)]
pub struct Recording {
    /// Events that threads write to their blocks.
    pub streams: Streams,
    /// Finds out which activations are on stacks.
    pub walker: Walker,
    /// Bursts of the JVM's own events.
    pub method_events: MethodEvents,
    /// Instructions that its threads execute in them.
    pub steps: Steps,
    /// Mean number of bytes from one reported allocation to the next.
    alloc_interval: AtomicU32,
    /// Bursts so far, of all profiles: threads remember which one they joined last.
    bursts: AtomicU32,
}

/// The calling thread of the program, which reports something.
#[derive(Clone, Copy)]
pub struct Reporter<'a> {
    /// The JVM.
    pub host: &'a Host,
    /// How activations are recorded.
    pub recording: &'a Recording,
    /// Its JNI environment.
    pub jni: Jni<'a>,
    /// The thread; null will do where only its stack is asked for.
    pub thread: ThreadRef,
}

impl Recording {
    /// The group of the burst. Most threads join while it lasts; one that comes late may get the next one's.
    pub fn group(&self) -> u32 {
        self.bursts.load(Ordering::Relaxed) % BURST_GROUPS as u32
    }

    /// Another profile begins: methods may have other numbers.
    pub fn forget_methods(&self) {
        self.walker.forget();
        self.steps.forget();
    }

    /// The number of a burst that begins: from 1 to `i32::MAX`, so that none soon comes again.
    pub fn next_burst(&self) -> i32 {
        (self.bursts.fetch_add(1, Ordering::Relaxed) % i32::MAX as u32 + 1) as i32
    }

    /// Allocations are reported from now on, with a number of bytes from one to the next on average.
    pub fn set_alloc_interval(&self, bytes: u32) {
        self.alloc_interval.store(bytes, Ordering::Relaxed);
    }
}

impl Reporter<'_> {
    /// The thread, whose block this is and which begins an activation of a method, takes part in a burst from
    /// here on. False: it is left out.
    pub fn join_burst(self, block: ThreadBlock, method: MethodId) -> bool {
        let Recording { walker, streams, .. } = self.recording;
        let stack = walker.stack(self, method);
        stack.is_some_and(|stack| streams.join(block, self.recording.group(), &stack))
    }

    /// The thread is about to end: its stream ends, and another thread may get its block.
    pub fn ends(self) {
        if self.host.granted.method_events {
            let _ = ThreadBlock::set_of_calling_thread(None, self.host.jvmti);
        }
        if let Some(id) = self.host.thread_id(self.jni, self.thread) {
            self.recording.streams.thread_ends(&self.host.blocks, id);
        }
    }

    /// The thread has made an object of a size in bytes, and the JVM has chosen it: it represents those that
    /// were not chosen.
    ///
    /// An object of `size` bytes is chosen with probability 1 - exp(-size / interval), as the JVM draws the
    /// bytes from one choice to the next (JEP 331).
    pub fn allocated(self, size: u64) {
        let streams = &self.recording.streams;
        let id = self.host.thread_id(self.jni, self.thread);
        let Some(block) = id.and_then(|id| streams.block_of(id)) else {
            return;
        };
        if block.at_bottom() {
            self.find_before(block);
        }
        let interval = f64::from(self.recording.alloc_interval.load(Ordering::Relaxed));
        let bytes = if interval > 0.0 {
            (size as f64 / -(-(size as f64) / interval).exp_m1()).round() as u64
        } else {
            size
        };
        streams.charge(block, bytes);
    }

    /// Finds the activations from before profiling that the thread is in. This is its block, and it is in no
    /// activation that reports itself.
    pub fn find_before(self, block: ThreadBlock) {
        let Recording { walker, streams, .. } = self.recording;
        let last = streams.is_settled();
        streams.found_before(block, walker.before(self.host, self.jni), last);
    }
}
