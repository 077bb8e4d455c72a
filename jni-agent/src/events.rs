//! The event stream: from the blocks to which probes append, through the pipeline of analyses, to a profile or a trace.
//!
//! A full block is drained by its own thread, on its way through the native method `drain`. Everybody else (a dump, the
//! end of the JVM) only reads what is new in it; the thread itself empties it. Streams end when their threads do.

use std::hash::{Hash as _, Hasher as _};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::thread::JoinHandle;

use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use trodden_analyses::stream::{Pipeline, ThreadStream};
use trodden_analyses::subpaths::Wanted;
use trodden_profile::events::{Kind, ThreadInfo, Word};
use trodden_profile::options::Revisits;

use crate::blocks::{Block, Blocks};
use crate::jvm::guard::guard;
use crate::stack;

/// Batches that wait for the consumer before producers do.
const QUEUE: usize = 64;
/// Fewer activations than these are never too many.
const DEEP: u32 = 1024;
/// Activations from before profiling that make more calls than these on one thread have hot loops: their thread is not walked any more, as
/// that takes microseconds per call.
const MOST_WALKS: u32 = 1 << 18;

/// All streams of the running or last profile.
#[derive(Default)]
pub struct Streams {
    live: RwLock<Option<Arc<Live>>>,
    open: RwLock<FxHashMap<Block, Arc<Mutex<Open>>>>,
    /// All threads with a block, whether there is a profile or not.
    owners: Mutex<FxHashMap<u64, Owner>>,
    lost: AtomicU64,
    /// What becomes of bursts that begin where one of the thread began before, and the seed for choosing.
    revisits: Mutex<Option<(Revisits, u64)>>,
    /// Bursts that threads were left out of because of that.
    revisits_skipped: AtomicU64,
    /// Allocations that were charged to their contexts.
    charges: AtomicU64,
    /// Threads may be in activations from before profiling: they are watched.
    watching: AtomicBool,
    /// No more such activations come up.
    settled: AtomicBool,
    /// Walks of the stacks of watched threads, and threads that are not watched any more because there were too many.
    walks: AtomicU64,
    given_up: AtomicU64,
}

/// What consumes.
struct Live {
    pipeline: Arc<Pipeline>,
    consumer: Option<Consumer>,
}

/// A thread and its block.
#[derive(Clone)]
struct Owner {
    block: Block,
    info: ThreadInfo,
}

/// The stream of a block.
struct Open {
    block: Block,
    info: ThreadInfo,
    stream: Arc<ThreadStream>,
    live: Arc<Live>,
    /// Words of the block that were consumed and are still in it.
    consumed: usize,
    /// Activations below those that the consumer may know.
    told: u32,
    /// Number of activations from which on it is worth a look whether they are still there.
    look_at: u32,
    /// Contexts in which a burst began, as hashes.
    visited: FxHashSet<u64>,
    /// Bursts that began in such a context.
    revisited: u64,
    /// What the consumer was told of activations from before profiling.
    before: Vec<u64>,
    /// Walks that looked for them.
    walks: u32,
}

/// A thread of ours that consumes in place of the producers.
struct Consumer {
    sender: SyncSender<Message>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

enum Message {
    Words(Arc<ThreadStream>, Vec<u64>),
    Reached(SyncSender<()>),
    Stop,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Streams {
    /// From now on streams go into this pipeline; those into the one before end. With `own_thread`, a thread of ours
    /// consumes, else each producer its own events.
    ///
    /// # Errors
    /// If there is no such thread to be had.
    pub fn begin(&self, pipeline: Pipeline, own_thread: bool, watching: bool) -> std::io::Result<()> {
        let live = Arc::new(Live {
            pipeline: Arc::new(pipeline),
            consumer: own_thread.then(Consumer::start).transpose()?,
        });
        self.flush();
        // Threads that begin or end meanwhile wait: each has its stream in exactly one of the two, and then in the new one.
        let owners = lock(&self.owners);
        let before = {
            let mut slot = self.live.write().unwrap_or_else(PoisonError::into_inner);
            slot.replace(Arc::clone(&live))
        };
        self.watching.store(watching, Ordering::Relaxed);
        for owner in owners.values() {
            let known = self.stream(owner.block);
            match known {
                // It goes on into the new pipeline, from where it is.
                Some(open) => lock(&open).redirect(&live),
                None => self.open_stream(owner),
            }
        }
        drop(owners);
        self.watch(watching);
        if let Some(consumer) = before.as_ref().and_then(|live| live.consumer.as_ref()) {
            consumer.stop();
        }
        Ok(())
    }

    /// Threads may (or cannot) be in activations whose code has no probes. Where others are that do have some, nothing can be done: they
    /// keep the number of activations below them.
    pub fn watch(&self, watching: bool) {
        self.settled.store(false, Ordering::Relaxed);
        self.watching.store(watching, Ordering::Relaxed);
        for owner in lock(&self.owners).values() {
            let block = owner.block;
            match watching && (block.is_watched() || block.activations() == 0) {
                true => block.watch(),
                false => block.unwatch(),
            }
        }
    }

    /// All code has probes that is to have some: no more activations without begin.
    pub fn settled(&self) {
        self.settled.store(true, Ordering::Relaxed);
    }

    /// Will a walk find all activations that any later one finds?
    pub fn is_settled(&self) -> bool {
        self.settled.load(Ordering::Relaxed)
    }

    /// The calling thread, whose block is watched, has no open activation that tells, and is in these from before profiling (words of kinds
    /// `Before` and `Below`). `None`: it is not known in which. `last`: if it is in none, it never will be again.
    pub fn found_before(&self, block: Block, words: Option<Vec<u64>>, last: bool) {
        self.walks.fetch_add(1, Ordering::Relaxed);
        let Some(open) = self.stream(block) else {
            block.unwatch();
            return;
        };
        let mut open = lock(&open);
        open.walks += 1;
        let too_many = open.walks >= MOST_WALKS;
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
    pub fn block_of(&self, thread: u64) -> Option<Block> {
        lock(&self.owners).get(&thread).map(|owner| owner.block)
    }

    /// The pipeline, once there is one.
    pub fn pipeline(&self) -> Option<Arc<Pipeline>> {
        self.live().map(|live| Arc::clone(&live.pipeline))
    }

    /// Events that were dropped because their threads found no memory.
    pub fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    /// A thread begins to write to a block: the thread itself says so, before it does.
    pub fn thread_begins(&self, block: Block, info: ThreadInfo) {
        let mut owners = lock(&self.owners);
        if !info.is_virtual {
            // The block may have been another thread's, which has ended.
            self.end_stream(block);
            owners.retain(|_, owner| owner.block != block);
            block.forget_activations();
        }
        match self.watching.load(Ordering::Relaxed) {
            true => block.watch(),
            false => block.unwatch(),
        }
        let owner = Owner { block, info };
        self.open_stream(&owner);
        if let Some(before) = owners.insert(owner.info.id, owner)
            && before.block != block
        {
            // It had one that the agent made for it. The JVM may still keep that for the thread, so no other one gets it.
            self.end_stream(before.block);
        }
    }

    /// A thread has ended (or is about to, in code that has no probes): it says so itself.
    pub fn thread_ends(&self, blocks: &Blocks, thread: u64) {
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
    pub fn drain(&self, block: Block, frames: impl FnOnce() -> Option<u32>) {
        match self.stream(block) {
            Some(open) => {
                let mut open = lock(&open);
                open.consume(true);
                open.forget_dead(frames);
                if open.live.pipeline.skips() {
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

    /// What becomes of bursts to come that begin where one of the same thread began before.
    pub fn set_revisits(&self, revisits: Revisits, seed: u64) {
        *lock(&self.revisits) = Some((revisits, seed));
    }

    /// Bursts begin in new contexts again.
    pub fn forget_visits(&self) {
        self.revisits_skipped.store(0, Ordering::Relaxed);
        self.charges.store(0, Ordering::Relaxed);
        let open = self.open.read().unwrap_or_else(PoisonError::into_inner);
        open.values().for_each(|open| lock(open).visited.clear());
    }

    /// How often a thread was left out of a burst that would have begun where one began before.
    pub fn revisits_skipped(&self) -> u64 {
        self.revisits_skipped.load(Ordering::Relaxed)
    }

    /// The calling thread, whose block this is, takes part in a burst, with this on its stack; or it is left out.
    pub fn join(&self, block: Block, stack: &[u64]) -> bool {
        let Some(open) = self.stream(block) else {
            return false;
        };
        let (revisits, seed) = lock(&self.revisits).unwrap_or((Revisits::All, 0));
        let mut open = lock(&open);
        let Some(factor) = open.factor(revisits, seed, stack) else {
            self.revisits_skipped.fetch_add(1, Ordering::Relaxed);
            return false;
        };
        open.consume(true);
        let entries = stack
            .iter()
            .filter(|&&word| Word(word).kind() == Some(Kind::Enter));
        let mut words = vec![Word::burst(factor, entries.count() as u32).0];
        words.extend_from_slice(stack);
        open.send(&words);
        true
    }

    /// The calling thread, whose block this is, has allocated: so many bytes are its current context's.
    pub fn charge(&self, block: Block, bytes: u64) {
        self.charges.fetch_add(1, Ordering::Relaxed);
        let mut left = bytes;
        while left > 0 {
            let part = u32::try_from(left).unwrap_or(u32::MAX);
            self.append(block, Word::charge(part).0);
            left -= u64::from(part);
        }
    }

    /// The calling thread, whose block this is, tells an event of its own.
    pub fn append(&self, block: Block, word: u64) {
        if !block.append(word) {
            self.drain(block, || None);
            block.append(word);
        }
    }

    /// Allocations that were charged.
    pub fn charges(&self) -> u64 {
        self.charges.load(Ordering::Relaxed)
    }

    /// Consumes what threads have appended so far.
    pub fn flush(&self) {
        let open: Vec<Arc<Mutex<Open>>> = {
            let open = self.open.read().unwrap_or_else(PoisonError::into_inner);
            open.values().cloned().collect()
        };
        for open in open {
            lock(&open).consume(false);
        }
        if let Some(consumer) = self.live().as_ref().and_then(|live| live.consumer.as_ref()) {
            consumer.wait();
        }
    }

    fn live(&self) -> Option<Arc<Live>> {
        self.live.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn stream(&self, block: Block) -> Option<Arc<Mutex<Open>>> {
        let open = self.open.read().unwrap_or_else(PoisonError::into_inner);
        open.get(&block).cloned()
    }

    /// Opens a stream, if there is a profile.
    fn open_stream(&self, owner: &Owner) {
        let Some(live) = self.live() else { return };
        let mut open = Open {
            block: owner.block,
            info: owner.info.clone(),
            stream: Arc::new(live.pipeline.open(owner.info.clone())),
            live,
            consumed: 0,
            told: 0,
            look_at: 0,
            visited: FxHashSet::default(),
            revisited: 0,
            before: Vec::new(),
            walks: 0,
        };
        open.tell_depth();
        let mut all = self.open.write().unwrap_or_else(PoisonError::into_inner);
        all.insert(owner.block, Arc::new(Mutex::new(open)));
    }

    /// Ends a block's stream, if it has one, and empties the block. Its thread must be the caller or no more.
    fn end_stream(&self, block: Block) {
        let open = {
            let mut all = self.open.write().unwrap_or_else(PoisonError::into_inner);
            all.remove(&block)
        };
        match open {
            Some(open) => lock(&open).consume(true),
            None => block.empty(),
        }
    }
}

impl Open {
    fn redirect(&mut self, live: &Arc<Live>) {
        if !Arc::ptr_eq(&self.live, live) {
            self.consume(false);
            self.stream = Arc::new(live.pipeline.open(self.info.clone()));
            self.live = Arc::clone(live);
            self.before.clear();
            self.walks = 0;
            self.tell_depth();
        }
    }

    /// Tells a new consumer how many activations there are of which it will know nothing. (While the thread runs, this may be
    /// off by those that begin or end at this very moment.)
    fn tell_depth(&mut self) {
        self.told = self.block.activations();
        self.look_at = self.told.saturating_add(DEEP);
        if self.told > 0 {
            self.send(&[Word::unwound(self.told).0]);
        }
    }

    /// How many calls each call of a burst stands for that begins with this stack; `None` if it is not to take place.
    fn factor(&mut self, revisits: Revisits, seed: u64, stack: &[u64]) -> Option<u32> {
        if revisits == Revisits::All {
            return Some(1);
        }
        let mut hasher = FxHasher::default();
        stack.hash(&mut hasher);
        if self.visited.insert(hasher.finish()) {
            return Some(1);
        }
        let Revisits::OneIn(n) = revisits else { return None };
        self.revisited += 1;
        let mut hasher = FxHasher::default();
        (seed, self.info.id, self.revisited).hash(&mut hasher);
        // The upper half: the hash is a product, and its lower bits are poor.
        let random = hasher.finish() >> 32;
        ((random * u64::from(n.get())) >> 32 == 0).then_some(n.get())
    }

    /// Activations end in silence when an exception passes them. The next event of one below them tells; but if the
    /// exception is caught where there are no probes, and nothing below has any, there is none: the number of
    /// activations only grows then, and with it what consumers keep of them. So once there are many more than the thread
    /// has frames, consumers are told to forget. Those that do live come up again as orphans.
    fn forget_dead(&mut self, frames: impl FnOnce() -> Option<u32>) {
        let depth = self.block.activations();
        if depth < self.told {
            self.told = depth;
            self.look_at = depth.saturating_add(DEEP);
        }
        if depth < self.look_at {
            return;
        }
        // Counting frames takes much memory where there are many, and then there is room for that many activations.
        if stack::most_frames().is_some_and(|most| depth - self.told <= most) {
            return;
        }
        let Some(frames) = frames() else { return };
        // Deep recursion costs a look each time it has become twice as deep.
        let many = frames.saturating_mul(2).saturating_add(DEEP);
        if depth - self.told > many {
            self.told = depth;
            self.send(&[Word::GAP.0, Word::unwound(depth).0]);
        }
        self.look_at = self.told.saturating_add(many);
    }

    fn send(&self, words: &[u64]) {
        if !self.live.pipeline.needs().activations {
            return;
        }
        match &self.live.consumer {
            None => self.stream.consume(words),
            Some(consumer) => consumer.send(&self.stream, words),
        }
    }

    /// Takes in what is new in the block. `empties`: the block's thread is here itself, or is no more.
    fn consume(&mut self, empties: bool) {
        let words = self.block.words();
        if self.consumed < words {
            // SAFETY: a block is emptied only below, under this stream's lock, or when there is no stream;
            // and `words` were told by the block.
            let new = unsafe { self.block.read(self.consumed..words) };
            match &self.live.consumer {
                None => self.stream.consume(new),
                Some(consumer) => consumer.send(&self.stream, new),
            }
            self.consumed = words;
        }
        if empties {
            self.consumed = 0;
            self.block.empty();
        }
    }
}

impl Consumer {
    fn start() -> std::io::Result<Self> {
        let (sender, receiver) = sync_channel(QUEUE);
        let thread = std::thread::Builder::new()
            .name("trodden-events".to_owned())
            .spawn(move || run(&receiver))?;
        Ok(Consumer {
            sender,
            thread: Mutex::new(Some(thread)),
        })
    }

    fn send(&self, stream: &Arc<ThreadStream>, words: &[u64]) {
        let batch = Message::Words(Arc::clone(stream), words.to_vec());
        // An error means that the consumer has stopped: the profile is over.
        let _ = self.sender.send(batch);
    }

    /// Waits until all that was sent is consumed.
    fn wait(&self) {
        let (reached, here) = sync_channel(1);
        if self.sender.send(Message::Reached(reached)).is_ok() {
            let _ = here.recv();
        }
    }

    fn stop(&self) {
        let _ = self.sender.send(Message::Stop);
        if let Some(thread) = lock(&self.thread).take() {
            let _ = thread.join();
        }
    }
}

fn run(receiver: &Receiver<Message>) {
    for message in receiver {
        match message {
            Message::Words(stream, words) => guard("the consumer of events", (), || stream.consume(&words)),
            Message::Reached(here) => drop(here.send(())),
            Message::Stop => break,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trodden_analyses::stream::NullStream;
    use trodden_profile::events::EventKinds;

    fn info(id: u64) -> ThreadInfo {
        ThreadInfo {
            id,
            ..ThreadInfo::default()
        }
    }

    fn fill(block: Block, words: u64) {
        (0..words).for_each(|_| block.append_for_test(u64::MAX));
    }

    fn run_through(own_thread: bool) {
        let blocks = Blocks::new();
        let streams = Streams::default();
        streams
            .begin(
                Pipeline::new().with(NullStream(EventKinds::PATHS)),
                own_thread,
                false,
            )
            .unwrap();
        let words = || streams.pipeline().unwrap().words();
        let block = blocks.reserve_small();
        let fiber = ThreadInfo {
            is_virtual: true,
            ..info(7)
        };
        streams.thread_begins(block, fiber);
        fill(block, 100);
        streams.drain(block, || None);
        assert_eq!(block.words(), 0);
        fill(block, 3);
        streams.flush();
        assert_eq!((words(), block.words()), (103, 3));
        streams.flush();
        fill(block, 4);
        streams.thread_ends(&blocks, 7);
        streams.flush();
        assert_eq!(words(), 107);
        assert_eq!(blocks.reserve_small(), block);
    }

    #[test]
    fn every_word_is_consumed_once_by_the_producer() {
        run_through(false);
    }

    #[test]
    fn every_word_is_consumed_once_by_a_thread_of_ours() {
        run_through(true);
    }

    #[test]
    fn threads_without_memory_are_told() {
        let blocks = Blocks::new();
        let streams = Streams::default();
        let sink = blocks.sink();
        streams
            .begin(Pipeline::new().with(NullStream(EventKinds::PATHS)), false, false)
            .unwrap();
        fill(sink, 50);
        streams.drain(sink, || None);
        assert_eq!(streams.lost(), 50);
        assert_eq!(sink.words(), 0);
    }

    #[test]
    fn a_new_profile_ends_the_streams_of_the_old_one() {
        let blocks = Blocks::new();
        let streams = Streams::default();
        let block = blocks.reserve_small();
        streams
            .begin(Pipeline::new().with(NullStream(EventKinds::PATHS)), false, false)
            .unwrap();
        streams.thread_begins(block, info(1));
        fill(block, 5);
        let old = streams.pipeline().unwrap();
        streams
            .begin(Pipeline::new().with(NullStream(EventKinds::PATHS)), false, false)
            .unwrap();
        assert_eq!((old.words(), old.threads()), (5, (1, 1)));
        // What was consumed for the old one is not for the new one.
        fill(block, 2);
        streams.drain(block, || None);
        assert_eq!(streams.pipeline().unwrap().words(), 2);
    }

    #[test]
    fn bursts_that_begin_where_one_began_are_chosen() {
        let blocks = Blocks::new();
        let streams = Streams::default();
        let pipeline = Pipeline::new().with(NullStream(EventKinds::ACTIVATION_PATHS));
        streams.begin(pipeline, false, false).unwrap();
        let block = blocks.reserve_small();
        assert!(!streams.join(block, &[]), "nobody's block");
        streams.thread_begins(block, info(1));
        let stack = |site| [Word::enter(3, None).0, Word::call(3, site).0];
        let joined = |site| (0..1000).filter(|_| streams.join(block, &stack(site))).count();
        assert_eq!(joined(1), 1000);
        // Per burst one word about it, and two of the stack.
        assert_eq!(streams.pipeline().unwrap().words(), 3000);
        streams.set_revisits(Revisits::None, 7);
        assert_eq!((joined(1), joined(2)), (1, 1));
        streams.set_revisits(Revisits::OneIn(std::num::NonZeroU32::new(10).unwrap()), 7);
        let some = joined(2);
        assert!((60..150).contains(&some), "{some}");
        assert_eq!(streams.revisits_skipped(), 2 * 999 + 1000 - some as u64);
        streams.forget_visits();
        streams.set_revisits(Revisits::None, 7);
        assert_eq!(joined(1), 1);
    }

    #[test]
    fn blocks_that_the_agent_makes_for_threads_come_back_when_these_end() {
        let blocks = Blocks::new();
        let streams = Streams::default();
        let pipeline = Pipeline::new().with(NullStream(EventKinds::ACTIVATION_PATHS));
        streams.begin(pipeline, false, false).unwrap();
        let words = || streams.pipeline().unwrap().words();
        let made = blocks.reserve_small();
        streams.thread_begins(made, info(1));
        (0..300).for_each(|_| streams.append(made, Word::exit(1).0));
        // Probes have another one made for the same thread: what was told before is consumed, and the block is nobody else's.
        let other = blocks.reserve_small();
        streams.thread_begins(other, info(1));
        assert_eq!((words(), streams.block_of(1)), (300, Some(other)));
        assert!(!streams.join(made, &[]));
        assert!((0..100).all(|_| blocks.reserve_small() != made));
        streams.append(other, Word::exit(1).0);
        streams.thread_ends(&blocks, 1);
        assert_eq!((words(), streams.block_of(1)), (301, None));
        assert_eq!(blocks.reserve_small(), other);
    }

    #[test]
    fn allocations_are_words_of_the_thread() {
        let blocks = Blocks::new();
        let streams = Streams::default();
        let pipeline = Pipeline::new().with(NullStream(EventKinds::ACTIVATION_PATHS));
        streams.begin(pipeline, false, false).unwrap();
        let block = blocks.reserve_small();
        streams.thread_begins(block, info(1));
        assert_eq!(streams.block_of(2), None);
        let block = streams.block_of(1).unwrap();
        (0..300).for_each(|_| streams.charge(block, 16));
        // Two words.
        streams.charge(block, 1 << 32);
        streams.flush();
        assert_eq!(
            (streams.charges(), streams.pipeline().unwrap().words()),
            (301, 302)
        );
    }

    #[test]
    fn threads_are_watched_until_nothing_from_before_is_left() {
        let blocks = Blocks::new();
        let streams = Streams::default();
        let begin = |watching| {
            let pipeline = Pipeline::new().with(NullStream(EventKinds::ACTIVATION_PATHS));
            streams.begin(pipeline, false, watching).unwrap();
        };
        let [one, other, busy] = [1, 2, 3].map(|id| {
            let block = blocks.reserve_small();
            streams.thread_begins(block, info(id));
            block
        });
        busy.set_activations_for_test(1);
        begin(true);
        assert_eq!([one, other, busy].map(Block::is_watched), [true, true, false]);
        let words = || streams.pipeline().unwrap().words();
        let told = words();
        let list = vec![Word::before(1).0, Word::below(7, Some(3)).0];
        // Classes are still getting their probes: what is not there yet may come.
        streams.found_before(other, None, streams.is_settled());
        assert!(other.is_watched());
        streams.settled();
        for _ in 0..3 {
            streams.found_before(one, Some(list.clone()), streams.is_settled());
        }
        assert_eq!(words(), told + 2, "only what is new is told");
        streams.found_before(one, None, streams.is_settled());
        assert_eq!((words(), one.is_watched()), (told + 3, false));
        for _ in 1..MOST_WALKS - 1 {
            streams.found_before(other, Some(list.clone()), true);
        }
        assert_eq!((other.is_watched(), streams.walks().1), (true, 0));
        streams.found_before(other, Some(list.clone()), true);
        assert_eq!((other.is_watched(), streams.walks().1), (false, 1));
        // The list and its end.
        assert_eq!(words(), told + 6);
        // Threads to come are looked at once; where none can be in anything, none is watched.
        let late = blocks.reserve_small();
        streams.thread_begins(late, info(4));
        assert!(late.is_watched());
        begin(false);
        assert!([one, other, busy, late].iter().all(|block| !block.is_watched()));
    }

    #[test]
    fn a_new_consumer_is_told_how_deep_the_thread_is() {
        let blocks = Blocks::new();
        let streams = Streams::default();
        let block = blocks.reserve_small();
        streams.thread_begins(block, info(1));
        block.set_activations_for_test(5);
        for kinds in [EventKinds::PATHS, EventKinds::ACTIVATION_PATHS] {
            streams
                .begin(Pipeline::new().with(NullStream(kinds)), false, false)
                .unwrap();
            let words = streams.pipeline().unwrap().words();
            assert_eq!(words, u64::from(kinds.activations), "{kinds:?}");
        }
    }

    #[test]
    fn activations_that_are_no_more_are_forgotten() {
        let blocks = Blocks::new();
        let streams = Streams::default();
        let block = blocks.reserve_small();
        let pipeline = Pipeline::new().with(NullStream(EventKinds::ACTIVATION_PATHS));
        streams.begin(pipeline, false, false).unwrap();
        streams.thread_begins(block, info(1));
        let words = || streams.pipeline().unwrap().words();
        let drain = |depth, frames| {
            block.set_activations_for_test(depth);
            let mut asked = false;
            streams.drain(block, || {
                asked = true;
                Some(frames)
            });
            asked
        };
        assert!(!drain(DEEP - 1, 3));
        // Deep, but so is the stack.
        assert!(drain(5000, 5001));
        assert!(!drain(5000 + DEEP, 5001));
        assert_eq!(words(), 0);
        // It is no more, but that is not known yet.
        assert!(drain(12_000, 20));
        assert_eq!(words(), 2);
        // What was told is not looked for again.
        assert!(!drain(12_001, 20));
        assert_eq!(words(), 2);
        // All have ended, an outer one has told.
        assert!(!drain(1, 20));
        assert!(drain(4 * DEEP, 20));
        assert_eq!(words(), 4);
    }
}
