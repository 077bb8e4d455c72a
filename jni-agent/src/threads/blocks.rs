//! Native memory of threads: one block each, of which only the pages in use cost anything.

use std::num::NonZeroU32;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};

use memmap2::{MmapMut, MmapOptions, MmapRaw};
use trodden_analyses::subpaths::Wanted;
use trodden_instrumenter::CounterSlot;
use trodden_profile::events::{CALL_UNDER_WAY, Kind, NO_CALL_SITE};

use super::address_space::{self, AddressSpace};
use super::layout;
use crate::jvm::{JvmError, Jvmti};
use crate::locks::lock;
use crate::log::warning;

// What the Java shim was compiled with is what the event stream says.
const _: () = {
    assert!(layout::KIND_ENTER == Kind::Enter as u32);
    assert!(layout::KIND_UNWOUND == Kind::Unwound as u32);
    assert!(layout::KIND_CHARGE == Kind::Charge as u32);
    assert!(layout::NO_CALL_SITE == NO_CALL_SITE);
    assert!(layout::CALL_UNDER_WAY == CALL_UNDER_WAY as u32);
};

/// The blocks of all threads, never given back: threads to come take over those of threads that have ended.
///
/// Slot 0 of a block is at its address, slot `n` at `8 * n` bytes behind it. First comes a header, then
/// counters, at the end a buffer for events. Small blocks, of virtual threads, have a header and a buffer
/// only.
pub struct ThreadBlocks {
    blocks: Mutex<Vec<MmapRaw>>,
    /// The address space; determined when the first block is reserved.
    space: OnceLock<AddressSpace>,
    /// True once the warning is given that there is too little.
    scarce: AtomicBool,
    small: Mutex<SmallBlocks>,
    shared: OnceLock<Box<[i64]>>,
    /// Where the shim finds a thread's block by the thread's id.
    index: Box<[AtomicU64]>,
    /// The switches of structure graphs, by first slot.
    switches: OnceLock<Option<MmapRaw>>,
}

/// An `int` for each slot: the switch of the structure graph that begins there. Programs' threads read and
/// write them too.
#[derive(Clone, Copy, Debug)]
pub struct Switches {
    first: usize,
    slots: u32,
}

impl Switches {
    /// The state of a graph's switch when it gets its probes, with windows of a number of paths or without
    /// any. Unless each of its paths has a slot, there are too many to look at them all the time: all are
    /// counted throughout.
    pub fn at_first(window: Option<NonZeroU32>, is_dense: bool) -> i32 {
        window.filter(|_| is_dense).map_or(-1, |paths| paths.get() as i32)
    }

    /// Address of the first.
    pub fn address(self) -> i64 {
        self.first as i64
    }

    fn at(self, slot: CounterSlot) -> &'static AtomicI32 {
        assert!(slot.0 < self.slots);
        // SAFETY: inside of the mapping (see the assertion), which is aligned to pages and never given back;
        // all readers and writers use writes whole aligned ints.
        unsafe { &*(self.first as *const AtomicI32).add(slot.index()) }
    }

    /// The state of a switch: 0 is off.
    pub fn get(self, slot: CounterSlot) -> i32 {
        self.at(slot).load(Ordering::Relaxed)
    }

    /// Sets a switch. A thread that is just counting may write its own number over it.
    pub fn set(self, slot: CounterSlot, state: i32) {
        self.at(slot).store(state, Ordering::Relaxed);
    }

    /// Closes a switch that was closed before, if a thread has written its own number over that. True if it
    /// was still closed.
    pub fn close(self, slot: CounterSlot) -> bool {
        let closed = self.get(slot) == 0;
        if !closed {
            self.set(slot, 0);
        }
        closed
    }
}

/// Address and size of the shim's index of threads.
#[derive(Clone, Copy, Debug)]
pub struct Index {
    /// Address of pairs of 64-bit words.
    pub address: i64,
    /// Number of pairs, a power of two.
    pub entries: i64,
}

/// Blocks that hold events only.
#[derive(Default)]
struct SmallBlocks {
    chunks: Vec<Box<[AtomicU64]>>,
    free: Vec<ThreadBlock>,
}

/// A block, by its address: a header ([`layout`]), counters or none, and a buffer of events.
///
/// Only the thread itself moves the cursor forward; what is below it does not change until
/// [`empty`](Self::empty).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ThreadBlock(usize);

impl ThreadBlock {
    /// Slots of the header.
    pub const HEADER: u32 = layout::HEADER;

    /// A block by the address that the shim knows.
    ///
    /// # Safety
    /// The address must have been given out by [`ThreadBlocks`]; so it is one for ever.
    pub unsafe fn from_address(address: i64) -> Self {
        ThreadBlock(address as usize)
    }

    /// Its address.
    pub fn address(self) -> i64 {
        self.0 as i64
    }

    fn slot(self, slot: u32) -> &'static AtomicU64 {
        // SAFETY: blocks are never given back, and have at least a header.
        unsafe { &*(self.0 as *const AtomicU64).add(slot as usize) }
    }

    /// Its counters, of which there are that many.
    ///
    /// # Safety
    /// The block has as many. Called by the only thread that counts in it, which counts nothing as long as
    /// they are looked at.
    pub unsafe fn counters(self, number: usize) -> &'static [u64] {
        let first = std::ptr::from_ref(self.slot(Self::HEADER)).cast::<u64>();
        // SAFETY: blocks are never given back; the caller's promise.
        unsafe { std::slice::from_raw_parts(first, number) }
    }

    /// The two ints at a slot.
    fn ints(self, slot: u32) -> &'static [AtomicI32; 2] {
        // SAFETY: blocks are never given back, and two aligned ints have the place of a slot.
        unsafe { &*std::ptr::from_ref(self.slot(slot)).cast::<[AtomicI32; 2]>() }
    }

    fn set_up(self, buffer: usize, words: usize) {
        self.slot(layout::BUFFER).store(buffer as u64, Ordering::Relaxed);
        self.slot(layout::END)
            .store((buffer + 8 * words) as u64, Ordering::Relaxed);
        self.forget_activations();
        self.empty();
    }

    /// Number of words that have been appended and not been [`empty`](Self::empty)d.
    pub fn words(self) -> usize {
        let cursor = self.slot(layout::CURSOR).load(Ordering::Acquire);
        (cursor.saturating_sub(self.slot(layout::BUFFER).load(Ordering::Relaxed)) / 8) as usize
    }

    /// The words of a range, all below the number that [`words`](Self::words) returned.
    ///
    /// # Safety
    /// No thread may empty the block meanwhile.
    pub unsafe fn read(self, range: Range<usize>) -> &'static [u64] {
        let first = self.slot(layout::BUFFER).load(Ordering::Relaxed) as *const u64;
        // SAFETY: `words` counts inside the buffer (by the caller's promise), and these words are written no
        // more.
        unsafe { std::slice::from_raw_parts(first.add(range.start), range.len()) }
    }

    /// Counts as a probe does.
    #[cfg(test)]
    pub fn count_for_test(self, slot: u32, times: u64) {
        self.slot(slot).fetch_add(times, Ordering::Relaxed);
    }

    /// As above.
    #[cfg(test)]
    pub fn append_for_test(self, word: u64) {
        assert!(self.append(word));
    }

    /// Starts filling the buffer from its beginning. For the block's own thread, or when it has ended.
    pub fn empty(self) {
        self.slot(layout::CURSOR).store(
            self.slot(layout::BUFFER).load(Ordering::Relaxed),
            Ordering::Release,
        );
    }

    /// How many path ends the thread is to leave out from here on, and after how many words more it asks
    /// again. For the block's own thread.
    pub fn want(self, wanted: Wanted) {
        let at_most = |number: u32| number.min(i32::MAX as u32) as i32;
        let [skip, words] = self.ints(layout::SKIP);
        skip.store(at_most(wanted.skip), Ordering::Relaxed);
        words.store(at_most(wanted.words), Ordering::Relaxed);
    }

    /// How many activations are open, as far as the thread has noticed that others are not.
    pub fn activations(self) -> u32 {
        self.ints(layout::DEPTH)[0].load(Ordering::Relaxed) as u32
    }

    /// Counts activations as probes do.
    #[cfg(test)]
    pub fn set_activations_for_test(self, number: u32) {
        self.ints(layout::DEPTH)[0].store(number as i32, Ordering::Relaxed);
    }

    /// The burst that the thread has joined; its negative, if it was left out of it. In bursts of single
    /// steps the number of the native thread that follows it. For the block's own thread.
    pub fn joined(self) -> i32 {
        self.ints(layout::JOINED)[0].load(Ordering::Relaxed)
    }

    /// Sets that. For the block's own thread.
    pub fn set_joined(self, burst: i32) {
        self.ints(layout::JOINED)[0].store(burst, Ordering::Relaxed);
    }

    /// The block that the JVM keeps for the calling thread, virtual ones included; `None` if it keeps none.
    pub fn of_calling_thread(jvmti: Jvmti) -> Option<ThreadBlock> {
        match jvmti.thread_data() {
            0 => None,
            // What `set_of_calling_thread` put there: nothing else does in our environment.
            address => Some(ThreadBlock(address)),
        }
    }

    /// Has the JVM keep a block for the calling thread, or none any more.
    pub fn set_of_calling_thread(block: Option<ThreadBlock>, jvmti: Jvmti) -> Result<(), JvmError> {
        jvmti.set_thread_data(block.map_or(0, |block| block.0))
    }

    /// True if it is for events only.
    pub fn is_small(self) -> bool {
        self.slot(layout::BUFFER).load(Ordering::Relaxed) - self.0 as u64 == 8 * u64::from(Self::HEADER)
    }

    /// Where the buffer ends, whatever the header says.
    fn end(self) -> u64 {
        let buffer = self.slot(layout::BUFFER).load(Ordering::Relaxed);
        let words = if self.is_small() {
            ThreadBlocks::SMALL_BUFFER_WORDS
        } else {
            ThreadBlocks::BUFFER_WORDS as usize
        };
        buffer + 8 * words as u64
    }

    /// True if there is room for a word.
    pub fn has_room(self) -> bool {
        self.slot(layout::CURSOR).load(Ordering::Relaxed) < self.end()
    }

    /// From now on probes call `drain` before each word that they append, as if the buffer were full. No
    /// activation may be open, if the block is not watched already.
    pub fn watch(self) {
        if !self.is_watched() {
            self.slot(layout::WATCHED).store(1, Ordering::Relaxed);
        }
        self.slot(layout::END).store(0, Ordering::Relaxed);
    }

    /// Probes call `drain` only when the buffer is full again.
    pub fn unwatch(self) {
        self.slot(layout::WATCHED).store(0, Ordering::Relaxed);
        if self.slot(layout::END).load(Ordering::Relaxed) == 0 {
            self.slot(layout::END).store(self.end(), Ordering::Relaxed);
        }
    }

    /// True if probes call `drain` before each word.
    pub fn is_watched(self) -> bool {
        self.slot(layout::WATCHED).load(Ordering::Relaxed) != 0
    }

    /// True if the block is watched, and no activation was open at the last word. For the block's own
    /// thread.
    pub fn at_bottom(self) -> bool {
        self.slot(layout::WATCHED).load(Ordering::Relaxed) == 1
    }

    /// Before a word is appended to a watched block: true if any activation was open before it, `None` if the
    /// block is not watched. For the block's own thread.
    ///
    /// Whatever the word says, the number of open activations was changed before, except by `Unwound`, after
    /// which there are some.
    pub fn look(self) -> Option<bool> {
        let before = self.slot(layout::WATCHED).load(Ordering::Relaxed);
        if before == 0 {
            return None;
        }
        self.slot(layout::WATCHED)
            .store(u64::from(self.activations()) + 1, Ordering::Relaxed);
        Some(before > 1)
    }

    /// Appends a word as a probe does, if there is room. For the block's own thread.
    pub fn append(self, word: u64) -> bool {
        let at = self.slot(layout::CURSOR).load(Ordering::Relaxed);
        if at >= self.end() {
            return false;
        }
        // SAFETY: inside of the buffer, above what others read.
        unsafe { (at as *mut u64).write(word) };
        self.slot(layout::CURSOR).store(at + 8, Ordering::Release);
        true
    }

    /// No activation is open. For the block's own thread, or when it has ended.
    pub fn forget_activations(self) {
        self.slot(layout::DEPTH)
            .store(u64::from(NO_CALL_SITE) << 32, Ordering::Relaxed);
        (layout::TIME..layout::HEADER).for_each(|slot| self.slot(slot).store(0, Ordering::Relaxed));
    }
}

impl ThreadBlocks {
    /// Words of a thread's buffer of events.
    const BUFFER_WORDS: u32 = 4096;
    /// Words of a virtual thread's buffer of events.
    const SMALL_BUFFER_WORDS: usize = 120;
    /// Blocks that virtual threads share: a power of two.
    const SHARED: usize = 16;
    /// Words behind the end of a buffer to which many threads write.
    const SLACK: usize = 1 << 16;
    /// One past the last counter slot of the largest blocks; the first one is behind the header.
    pub const MAX_SLOTS: u32 = (address_space::MAX_BLOCK / 8) as u32 - Self::BUFFER_WORDS;
    /// Threads that find their block at once; others look for it.
    const INDEX_ENTRIES: usize = 1 << 16;

    /// No block yet.
    pub fn new() -> Self {
        ThreadBlocks {
            blocks: Mutex::default(),
            space: OnceLock::new(),
            scarce: AtomicBool::new(false),
            small: Mutex::default(),
            shared: OnceLock::new(),
            index: zeros(2 * Self::INDEX_ENTRIES),
            switches: OnceLock::new(),
        }
    }

    /// The shim's index.
    pub fn index(&self) -> Index {
        Index {
            address: self.index.as_ptr() as i64,
            entries: Self::INDEX_ENTRIES as i64,
        }
    }

    fn space(&self) -> &AddressSpace {
        self.space.get_or_init(AddressSpace::of_process)
    }

    /// Length of a block in bytes: a power of two.
    pub fn block_length(&self) -> u64 {
        self.space().block
    }

    /// One past the last counter slot; the first one is behind the header.
    pub fn slots(&self) -> u32 {
        (self.space().block / 8) as u32 - Self::BUFFER_WORDS
    }

    /// The switches of structure graphs; `None` if the system has no room for them. Only pages in use take
    /// memory.
    pub fn switches(&self) -> Option<Switches> {
        let map = self.switches.get_or_init(|| {
            let length = self.slots() as usize * size_of::<i32>();
            let taken = lock(&self.blocks).len() as u64 * self.space().block;
            let allowed = self.space().allows(length as u64, taken);
            let map = allowed.then(|| zero_pages(length)).flatten()?;
            Some(MmapRaw::from(map))
        });
        map.as_ref().map(|map| Switches {
            first: map.as_mut_ptr() as usize,
            slots: self.slots(),
        })
    }

    /// A new block, zeroed; `None` if the system has no room for one, or the program needs what is left.
    pub fn reserve(&self) -> Option<ThreadBlock> {
        let length = self.space().block;
        let mut blocks = lock(&self.blocks);
        if !self.space().allows(length, blocks.len() as u64 * length) {
            if !self.scarce.swap(true, Ordering::Relaxed) {
                warning!(
                    "address space is limited (ulimit -v): after {} blocks of {} MB, further threads share one, and events \
                     of theirs are lost",
                    blocks.len(),
                    length >> 20
                );
            }
            return None;
        }
        let map = zero_pages(length as usize)?;
        // Many threads that use a little each: whole huge pages would be memory for nothing.
        #[cfg(target_os = "linux")]
        let _ = map.advise(memmap2::Advice::NoHugePage);
        let map = MmapRaw::from(map);
        let block = ThreadBlock(map.as_mut_ptr() as usize);
        block.set_up(block.0 + 8 * self.slots() as usize, Self::BUFFER_WORDS as usize);
        blocks.push(map);
        Some(block)
    }

    /// Addresses of blocks that threads without one of their own count in, atomically; of all the same one
    /// where address space is limited, of none (0) where there is not even that.
    pub fn shared(&self) -> &[i64] {
        self.shared.get_or_init(|| {
            let first = self.reserve();
            let more = !self.space().is_limited();
            let another = |_| {
                let own = more.then(|| self.reserve()).flatten();
                own.or(first).map_or(0, ThreadBlock::address)
            };
            let others = (1..Self::SHARED).map(another);
            std::iter::once(first.map_or(0, ThreadBlock::address))
                .chain(others)
                .collect()
        })
    }

    /// A block for events only.
    pub fn reserve_small(&self) -> ThreadBlock {
        const LENGTH: usize = ThreadBlock::HEADER as usize + ThreadBlocks::SMALL_BUFFER_WORDS;
        const PER_CHUNK: usize = 64;
        let mut small = lock(&self.small);
        if small.free.is_empty() {
            let chunk = zeros(LENGTH * PER_CHUNK);
            let first = chunk.as_ptr() as usize;
            small
                .free
                .extend((0..PER_CHUNK).map(|i| ThreadBlock(first + 8 * LENGTH * i)));
            small.chunks.push(chunk);
        }
        let block = small.free.pop().expect("a chunk has blocks");
        block.set_up(
            block.0 + 8 * ThreadBlock::HEADER as usize,
            Self::SMALL_BUFFER_WORDS,
        );
        block
    }

    /// Takes a small block back, for threads to come.
    pub fn release_small(&self, block: ThreadBlock) {
        lock(&self.small).free.push(block);
    }

    /// A block for threads that find no memory: it can be written to by many at once.
    pub fn sink(&self) -> ThreadBlock {
        let mut small = lock(&self.small);
        let words = Self::BUFFER_WORDS as usize;
        let chunk = zeros(ThreadBlock::HEADER as usize + words + Self::SLACK);
        let block = ThreadBlock(chunk.as_ptr() as usize);
        small.chunks.push(chunk);
        block.set_up(block.0 + 8 * ThreadBlock::HEADER as usize, words);
        block
    }

    /// Forgets which small block a thread has, once it has ended. The shim has it by the id's complement.
    pub fn forget(&self, thread: u64) {
        let entry = &self.index[2 * (thread as usize & (Self::INDEX_ENTRIES - 1))];
        let _ = entry.compare_exchange(!thread, 0, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// The slots of a range that are not 0, by the addresses of blocks. Threads may continue
    /// counting meanwhile.
    pub fn each(&self, slots: Range<CounterSlot>) -> Vec<(i64, Vec<(u32, u64)>)> {
        let slots = slots.start.0..slots.end.0;
        assert!(slots.end <= self.slots());
        let of_block = |block: &MmapRaw| {
            let first = block.as_mut_ptr().cast::<AtomicU64>();
            let count = |slot: u32| {
                // SAFETY: as in `sums`.
                let count = unsafe { &*first.add(slot as usize) }.load(Ordering::Relaxed);
                (count > 0).then_some((slot, count))
            };
            let address = ThreadBlock(block.as_mut_ptr() as usize).address();
            (address, slots.clone().filter_map(count).collect())
        };
        lock(&self.blocks).iter().map(of_block).collect()
    }

    /// Sums of the slots of a range over all blocks. Threads may continue counting meanwhile.
    pub fn sums(&self, slots: Range<CounterSlot>) -> Vec<u64> {
        let slots = slots.start.0..slots.end.0;
        assert!(slots.end <= self.slots());
        let mut sums = vec![0u64; slots.len()];
        for block in lock(&self.blocks).iter() {
            let first = block.as_mut_ptr().cast::<AtomicU64>();
            for (sum, slot) in sums.iter_mut().zip(slots.clone()) {
                // SAFETY: the slot is inside the mapping (see the assertion), which is aligned to pages and
                // lives as long as `self`; writers write whole aligned words, so an atomic read is what it
                // takes.
                let count = unsafe { &*first.add(slot as usize) }.load(Ordering::Relaxed);
                *sum = sum.wrapping_add(count);
            }
        }
        sums
    }
}

/// Pages of zeros that take memory, and a place in dumps of the process, only when they are used.
fn zero_pages(length: usize) -> Option<MmapMut> {
    let map = MmapOptions::new().len(length).no_reserve_swap().map_anon().ok()?;
    #[cfg(target_os = "linux")]
    let _ = map.advise(memmap2::Advice::DontDump);
    Some(map)
}

/// Zeros whose pages are not touched before they are used.
fn zeros(length: usize) -> Box<[AtomicU64]> {
    let zeros: Box<[u64]> = vec![0; length].into_boxed_slice();
    let data = Box::into_raw(zeros).cast::<AtomicU64>();
    // SAFETY: AtomicU64 has the size, alignment and bit validity of u64, and the memory is owned by us alone.
    unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(data, length)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add(block: ThreadBlock, slot: u32, count: u64) {
        block.slot(slot).fetch_add(count, Ordering::Relaxed);
    }

    fn sums(blocks: &ThreadBlocks, slots: Range<u32>) -> Vec<u64> {
        blocks.sums(CounterSlot(slots.start)..CounterSlot(slots.end))
    }

    #[test]
    fn sums_are_over_all_blocks() {
        let blocks = ThreadBlocks::new();
        let [a, b] = [(); 2].map(|()| blocks.reserve().unwrap());
        assert_ne!(a, b);
        assert_eq!([a, b].map(|block| block.address() % 4096), [0, 0]);
        add(a, 8, 5);
        add(b, 8, 6);
        add(b, 10, 1);
        add(a, blocks.slots() - 1, 2);
        assert_eq!(sums(&blocks, 8..11), [11, 0, 1]);
        let each = blocks.each(CounterSlot(9)..CounterSlot(11));
        assert_eq!(each, [(a.address(), vec![]), (b.address(), vec![(10, 1)])]);
        assert_eq!(sums(&blocks, blocks.slots() - 1..blocks.slots()), [2]);
    }

    #[test]
    fn switches_are_off_at_first() {
        let blocks = ThreadBlocks::new();
        let switches = blocks.switches().unwrap();
        let last = blocks.slots() - 1;
        assert_eq!(
            [0, 7, last].map(|slot| switches.get(CounterSlot(slot))),
            [0, 0, 0]
        );
        switches.set(CounterSlot(last), -1);
        assert_eq!(blocks.switches().unwrap().get(CounterSlot(last)), -1);
        assert_eq!(switches.get(CounterSlot(last - 1)), 0);
        assert!(!switches.close(CounterSlot(last)) && switches.close(CounterSlot(last)));
    }

    #[test]
    fn the_index_is_empty_at_first() {
        let blocks = ThreadBlocks::new();
        assert!(blocks.index().entries as u64 >= 1 << 10);
        assert!(blocks.index.iter().all(|word| word.load(Ordering::Relaxed) == 0));
    }

    #[test]
    fn events_are_read_in_order_and_emptied() {
        let blocks = ThreadBlocks::new();
        let large = blocks.reserve().unwrap();
        for block in [large, blocks.reserve_small(), blocks.sink()] {
            assert_eq!(block.words(), 0);
            (1..=100).for_each(|word| block.append_for_test(word));
            assert_eq!(block.words(), 100);
            // SAFETY: no thread empties it.
            assert_eq!(unsafe { block.read(98..100) }, [99, 100]);
            block.empty();
            assert_eq!(block.words(), 0);
        }
        assert_eq!(sums(&blocks, ThreadBlock::HEADER..100), vec![0; 91]);
    }

    #[test]
    fn watched_blocks_look_full_and_have_room() {
        let blocks = ThreadBlocks::new();
        for (block, words) in [(blocks.reserve().unwrap(), 4096), (blocks.reserve_small(), 120)] {
            let end = block.slot(layout::END).load(Ordering::Relaxed);
            assert_eq!(end, block.end());
            assert_eq!(block.look(), None);
            block.watch();
            assert_eq!(block.slot(layout::END).load(Ordering::Relaxed), 0);
            // An activation begins, calls another one, both end.
            let seen = [1, 2, 1, 0, 1].map(|activations| {
                block.set_activations_for_test(activations);
                block.look()
            });
            assert_eq!(seen, [false, true, true, true, false].map(Some));
            assert!(!block.at_bottom());
            (0..words).for_each(|word| assert!(block.has_room() && block.append(word)));
            assert!(!block.has_room() && !block.append(0));
            block.unwatch();
            assert_eq!(
                (block.look(), block.slot(layout::END).load(Ordering::Relaxed)),
                (None, end)
            );
        }
    }

    #[test]
    fn blocks_know_the_burst_that_their_thread_has_joined() {
        let blocks = ThreadBlocks::new();
        let (large, small) = (blocks.reserve().unwrap(), blocks.reserve_small());
        assert!(!large.is_small() && small.is_small());
        for block in [large, small] {
            assert_eq!(block.joined(), 0);
            block.set_joined(-7);
            assert_eq!(block.joined(), -7);
            // Nothing else is touched: neither the time of the last word nor the call in progress.
            assert_eq!(
                [layout::TIME, layout::PENDING, layout::WATCHED]
                    .map(|slot| block.slot(slot).load(Ordering::Relaxed)),
                [0; 3]
            );
            block.forget_activations();
            assert_eq!(block.joined(), 0);
        }
    }

    #[test]
    fn small_blocks_are_used_again() {
        let blocks = ThreadBlocks::new();
        let first = blocks.reserve_small();
        first.append_for_test(7);
        blocks.release_small(first);
        let again = blocks.reserve_small();
        assert_eq!(again, first);
        assert_eq!(again.words(), 0);
    }
}
