//! The event stream: from the blocks to which probes append, through the pipeline of analyses, to a profile
//! or a trace.
//!
//! A full block is drained by its own thread, on its way through the native method `drain`. Everybody else (a
//! dump, the end of the JVM) only reads what is new in it; the thread itself empties it. Streams end when
//! their threads do.

mod stream;
#[cfg(test)]
mod tests;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, RwLock};

use rustc_hash::FxHashMap;
use trodden_analyses::stream::Pipeline;
use trodden_analyses::subpaths::Wanted;
use trodden_profile::events::{Kind, ThreadInfo, Word};

use self::stream::Open;
use crate::locks::{lock, read, write};
use crate::threads::{ThreadBlock, ThreadBlocks};

/// Activations from before profiling that make more calls than these on one thread have hot loops: their
/// thread is not walked any more, as that takes microseconds per call.
const MAX_WALKS: u32 = 1 << 18;

/// All streams of the running or last profile.
#[derive(Default)]
pub struct Streams {
    pipeline: RwLock<Option<Arc<Pipeline>>>,
    open: RwLock<FxHashMap<ThreadBlock, Arc<Mutex<Open>>>>,
    /// All threads with a block, whether there is a profile or not.
    owners: Mutex<FxHashMap<u64, Owner>>,
    lost: AtomicU64,
    /// Allocations that were charged to their contexts.
    charges: AtomicU64,
    /// Threads may be in activations from before profiling: they are watched.
    watching: AtomicBool,
    /// No more such activations come up.
    settled: AtomicBool,
    /// Walks of the stacks of watched threads, and threads that are not watched any more because there were
    /// too many.
    walks: AtomicU64,
    given_up: AtomicU64,
}

/// A thread and its block.
#[derive(Clone)]
struct Owner {
    block: ThreadBlock,
    info: ThreadInfo,
}

impl Streams {
    /// From now on streams go into this pipeline; those into the one before end. Each thread consumes its own
    /// events.
    pub fn begin(&self, pipeline: Pipeline, watching: bool) {
        let pipeline = Arc::new(pipeline);
        self.flush();
        // Threads that begin or end meanwhile wait: each has its stream in exactly one of the two, and then
        // in the new one.
        let owners = lock(&self.owners);
        *write(&self.pipeline) = Some(Arc::clone(&pipeline));
        self.watching.store(watching, Ordering::Relaxed);
        for owner in owners.values() {
            let known = self.stream(owner.block);
            match known {
                Some(open) => lock(&open).redirect(&pipeline),
                None => self.open_stream(owner),
            }
        }
        drop(owners);
        self.watch(watching);
    }

    /// Threads may (or cannot) be in activations whose code has no probes. Where others are that do have
    /// some, nothing can be done: they keep the number of activations below them.
    pub fn watch(&self, watching: bool) {
        self.settled.store(false, Ordering::Relaxed);
        self.watching.store(watching, Ordering::Relaxed);
        for owner in lock(&self.owners).values() {
            let block = owner.block;
            if watching && (block.is_watched() || block.activations() == 0) {
                block.watch()
            } else {
                block.unwatch()
            }
        }
    }

    /// All code has probes that is to have some: no more activations without begin.
    pub fn settled(&self) {
        self.settled.store(true, Ordering::Relaxed);
    }

    /// True if a walk finds all activations that any later one finds.
    pub fn is_settled(&self) -> bool {
        self.settled.load(Ordering::Relaxed)
    }

    /// The calling thread, whose block is watched, has no open activation with probes, and is in these from
    /// before profiling (words of kinds `Before` and `Below`). `None`: it is not known in which. `last`: if
    /// it is in none, it never will be again.
    pub fn found_before(&self, block: ThreadBlock, words: Option<Vec<u64>>, last: bool) {
        self.walks.fetch_add(1, Ordering::Relaxed);
        let Some(open) = self.stream(block) else {
            block.unwatch();
            return;
        };
        let mut open = lock(&open);
        open.walks += 1;
        let too_many = open.walks >= MAX_WALKS;
        if too_many {
            self.given_up.fetch_add(1, Ordering::Relaxed);
        }
        let words = words.filter(|words| !words.is_empty() && !too_many);
        if too_many || words.is_none() && last {
            block.unwatch();
        }
        let words = words.unwrap_or_default();
        if words != open.before {
            open.consume(true);
            let none = [Word::before(0).0];
            open.send(if words.is_empty() { &none } else { &words });
            open.before = words;
        }
    }

    /// Walks that looked for activations from before profiling, and threads in which there were too many.
    pub fn walks(&self) -> (u64, u64) {
        (
            self.walks.load(Ordering::Relaxed),
            self.given_up.load(Ordering::Relaxed),
        )
    }

    /// The block of a thread, if it has one.
    pub fn block_of(&self, thread: u64) -> Option<ThreadBlock> {
        lock(&self.owners).get(&thread).map(|owner| owner.block)
    }

    /// The pipeline, once there is one.
    pub fn pipeline(&self) -> Option<Arc<Pipeline>> {
        read(&self.pipeline).clone()
    }

    /// Events that were dropped because their threads found no memory, or their analysis failed.
    pub fn lost(&self) -> u64 {
        let open = read(&self.open);
        let of_open: u64 = open.values().map(|open| lock(open).lost).sum();
        self.lost.load(Ordering::Relaxed) + of_open
    }

    /// A thread begins to write to a block: the thread itself says so, before it does.
    pub fn thread_begins(&self, block: ThreadBlock, info: ThreadInfo) {
        let mut owners = lock(&self.owners);
        if !info.is_virtual {
            // The block may have been another thread's, which has ended.
            self.end_stream(block);
            owners.retain(|_, owner| owner.block != block);
            block.forget_activations();
        }
        if self.watching.load(Ordering::Relaxed) {
            block.watch()
        } else {
            block.unwatch()
        }
        let owner = Owner { block, info };
        self.open_stream(&owner);
        if let Some(before) = owners.insert(owner.info.id, owner)
            && before.block != block
        {
            // It had one that the agent made for it. The JVM may still keep that for the thread, so no other
            // one gets it.
            self.end_stream(before.block);
        }
    }

    /// A thread has ended (or is about to, in code that has no probes): it says so itself.
    pub fn thread_ends(&self, blocks: &ThreadBlocks, thread: u64) {
        let mut owners = lock(&self.owners);
        let Some(owner) = owners.remove(&thread) else {
            return;
        };
        self.end_stream(owner.block);
        if owner.block.is_small() {
            blocks.forget(thread);
            blocks.release_small(owner.block);
        }
    }

    /// The calling thread's block is full. `frames`: how many frames its stack has.
    pub fn drain(&self, block: ThreadBlock, frames: impl FnOnce() -> Option<u32>) {
        match self.stream(block) {
            Some(open) => {
                let mut open = lock(&open);
                open.consume(true);
                open.forget_dead(frames);
                if open.pipeline.skips() {
                    open.block.want(open.stream.wanted());
                }
            }
            // Of threads that found no memory, or probes that are left from a profile that is over.
            None => {
                self.lost.fetch_add(block.words() as u64, Ordering::Relaxed);
                block.empty();
                // A probe that skips need not come again so soon.
                block.want(Wanted {
                    skip: 1 << 16,
                    words: 1,
                });
            }
        }
    }

    /// No allocation has been charged yet.
    pub fn forget_charges(&self) {
        self.charges.store(0, Ordering::Relaxed);
    }

    /// The calling thread, whose block this is, takes part in a burst of a group, with this on its stack;
    /// false if it has no stream.
    pub fn join(&self, block: ThreadBlock, group: u32, stack: &[u64]) -> bool {
        let Some(open) = self.stream(block) else {
            return false;
        };
        let mut open = lock(&open);
        open.consume(true);
        let entries = stack
            .iter()
            .filter(|&&word| Word(word).kind() == Some(Kind::Enter));
        let mut words = vec![Word::burst(1, group, entries.count() as u32).0];
        words.extend_from_slice(stack);
        open.send(&words);
        true
    }

    /// The calling thread, whose block this is, has allocated: these bytes are its current context's.
    pub fn charge(&self, block: ThreadBlock, bytes: u64) {
        self.charges.fetch_add(1, Ordering::Relaxed);
        let mut left = bytes;
        while left > 0 {
            let part = u32::try_from(left).unwrap_or(u32::MAX);
            self.append(block, Word::charge(part).0);
            left -= u64::from(part);
        }
    }

    /// The calling thread, whose block this is, reports an event of its own.
    pub fn append(&self, block: ThreadBlock, word: u64) {
        if !block.append(word) {
            self.drain(block, || None);
            block.append(word);
        }
    }

    /// True if beginnings and ends of activations are wanted.
    pub fn needs_activations(&self) -> bool {
        self.pipeline()
            .is_some_and(|pipeline| pipeline.needs().activations)
    }

    /// Allocations that were charged.
    pub fn charges(&self) -> u64 {
        self.charges.load(Ordering::Relaxed)
    }

    /// Consumes what threads have appended so far.
    pub fn flush(&self) {
        let open: Vec<Arc<Mutex<Open>>> = {
            let open = read(&self.open);
            open.values().cloned().collect()
        };
        for open in open {
            lock(&open).consume(false);
        }
    }

    fn stream(&self, block: ThreadBlock) -> Option<Arc<Mutex<Open>>> {
        let open = read(&self.open);
        open.get(&block).cloned()
    }

    /// Opens a stream, if there is a profile.
    fn open_stream(&self, owner: &Owner) {
        let Some(pipeline) = self.pipeline() else { return };
        let open = Open::new(owner.block, owner.info.clone(), pipeline);
        let mut all = write(&self.open);
        all.insert(owner.block, Arc::new(Mutex::new(open)));
    }

    /// Ends a block's stream, if it has one, and empties the block. Its thread must be the caller or no more.
    fn end_stream(&self, block: ThreadBlock) {
        let open = {
            let mut all = write(&self.open);
            all.remove(&block)
        };
        match open {
            Some(open) => {
                let mut open = lock(&open);
                open.consume(true);
                self.lost
                    .fetch_add(std::mem::take(&mut open.lost), Ordering::Relaxed);
            }
            None => block.empty(),
        }
    }
}
