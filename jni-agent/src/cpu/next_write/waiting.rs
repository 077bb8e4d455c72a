//! The samples of one thread that wait, by the method whose path end they wait for.
//!
//! Only handlers on the thread itself read and write it, and these do not interrupt each other; all is atomic
//! since another thread may take over the block, or end all waiting.

use std::os::fd::RawFd;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering};

use super::answers::{Answer, Outcome};
use super::keys::Key;
use super::store::page;
use super::{Counting, Found, InDoubt, Judge, MAX_FOREIGN, MAX_FOREIGN_BY_KEY, NextWrite, Rank};
use crate::classes::PathSlots;
use crate::cpu::buffer::{NextCount, RawFrame};
use crate::cpu::doubtful::Certainty;
use crate::cpu::task_clock;

/// Nanoseconds of CPU time to the first look at counts once all stores are let through.
const FIRST_PAUSE: u64 = 40_000;
/// Methods of one thread that can be waited for at a time.
const ENTRIES: usize = 16;

/// The waits of a thread's samples.
pub struct Waiting {
    /// Address of the thread's block, and its length in bytes.
    block: usize,
    length: usize,
    /// [`NextWrite::era`] that the entries are of.
    era: AtomicU64,
    entries: [Entry; ENTRIES],
    /// The task clock of the thread, or -1, and nanoseconds to the next tick in between.
    clock: AtomicI32,
    pause: AtomicU64,
}

/// An activation whose path end is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Activation {
    /// Its method (`jmethodID`).
    pub method: usize,
    /// The method of the outermost frame.
    pub outermost: usize,
    /// How many frames are below it on the stack, up to the outermost one.
    pub height: u32,
    /// Bytecode index of the frame below it; any number if there is none.
    pub caller: i32,
    /// The program counter; 0: not known.
    pub pc: usize,
    /// The stack pointer: the activation's frame is not below it. 0: not known.
    pub sp: usize,
    /// How sure it is that the thread was in it.
    pub place: Certainty,
    /// Where it is among those of the sample.
    pub rank: Rank,
}

/// A store that was refused.
#[derive(Clone, Copy, Debug)]
pub struct Store {
    /// Its address, in the block.
    pub address: usize,
    /// Frames of the method that counts are not below this address.
    pub deepest: usize,
    /// True if the thread may write to none of its counters.
    pub by_key: bool,
}

/// The state after a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passed {
    /// The least rank that was waited for.
    pub rank: Rank,
    /// The thread may not write to counters further on.
    pub refused: bool,
}

/// Sums over a method's counts, which name the path of one more count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sums {
    /// The counts.
    counts: u64,
    /// The counts, each times its path.
    weighted: u64,
}

impl Sums {
    /// The counts since: none, of one path, or of more than one.
    fn since(self, before: Sums) -> Option<Option<u64>> {
        match self.counts.wrapping_sub(before.counts) {
            0 => None,
            1 => Some(Some(self.weighted.wrapping_sub(before.weighted))),
            _ => Some(None),
        }
    }
}

/// The least rank of entries; 0 if there is none.
fn least_rank<'e>(entries: impl Iterator<Item = &'e Entry>) -> Rank {
    let ranks = entries.map(|entry| entry.rank.load(Ordering::Relaxed));
    ranks.min().unwrap_or(0)
}

/// The next path end of a method.
#[derive(Default)]
struct Entry {
    /// Number of the wait; 0: the entry is free.
    ticket: AtomicU64,
    /// See [`Activation`].
    method: AtomicUsize,
    outermost: AtomicUsize,
    height: AtomicU32,
    caller: AtomicI32,
    pc: AtomicUsize,
    sp: AtomicUsize,
    rank: AtomicU8,
    /// True while the thread may write to none of its counters, and its pages are not protected.
    by_key: AtomicBool,
    /// True until the first store to the block, for which all of it is protected.
    is_doubtful: AtomicBool,
    /// True if the sample was not where the JVM says.
    is_wrong: AtomicBool,
    /// One more than the slot of the first path end in the same compiled code, where no stack says who
    /// counted; 0: none.
    first_inlined: AtomicU32,
    /// The method's slots.
    first: AtomicU32,
    number: AtomicU32,
    /// Stores of others that were performed meanwhile.
    foreign: AtomicU32,
    /// True once all stores are let through, and the counts are compared at ticks.
    blind: AtomicBool,
    /// [`Sums`] at the beginning of that.
    counts: AtomicU64,
    weighted: AtomicU64,
}

impl Entry {
    fn ticket(&self) -> Option<u64> {
        Some(self.ticket.load(Ordering::Relaxed)).filter(|&ticket| ticket != 0)
    }

    fn slots(&self) -> PathSlots {
        PathSlots {
            first: self.first.load(Ordering::Relaxed),
            number: self.number.load(Ordering::Relaxed),
        }
    }

    fn sums(&self) -> Sums {
        Sums {
            counts: self.counts.load(Ordering::Relaxed),
            weighted: self.weighted.load(Ordering::Relaxed),
        }
    }
}

impl Waiting {
    /// Nothing is waited for in this block.
    pub fn new(block: usize, length: usize) -> Self {
        Waiting {
            block,
            length,
            era: AtomicU64::new(0),
            entries: Default::default(),
            clock: AtomicI32::new(-1),
            pause: AtomicU64::new(0),
        }
    }

    /// The thread has this task clock, or none that can tick in between.
    pub fn set_clock(&self, file: Option<RawFd>) {
        self.clock.store(file.unwrap_or(-1), Ordering::Relaxed);
    }

    /// A tick in between: compares counts. The time to the next such tick, if some are still waited for. In a
    /// signal handler.
    pub fn look_between(&self, all: &NextWrite) -> Option<u64> {
        self.renew(all);
        self.compare(all);
        let waits = |entry: &Entry| entry.ticket().is_some() && entry.blind.load(Ordering::Relaxed);
        self.entries.iter().any(waits).then(|| {
            let pause = self.pause.load(Ordering::Relaxed);
            let pause = pause.saturating_add(pause / 4);
            self.pause.store(pause, Ordering::Relaxed);
            pause
        })
    }

    /// The least rank that waits blindly.
    pub fn blind_rank(&self) -> Rank {
        let waits = self.entries.iter().filter(|entry| entry.ticket().is_some());
        least_rank(waits.filter(|entry| entry.blind.load(Ordering::Relaxed)))
    }

    /// Ends the waits whose counts have changed.
    fn compare(&self, all: &NextWrite) {
        for entry in self.entries.iter().filter(|entry| entry.ticket().is_some()) {
            let slots = entry.slots();
            let counted = entry
                .blind
                .load(Ordering::Relaxed)
                .then(|| self.sums(slots).since(entry.sums()));
            if let Some(counted) = counted.flatten() {
                let path = counted.and_then(|path| u32::try_from(path).ok());
                let path = path.filter(|&path| path < slots.number);
                self.end(
                    all,
                    entry,
                    path.map_or(Outcome::Missed, |path| Outcome::Slot(slots.first + path)),
                );
            }
        }
    }

    /// The block's address.
    pub fn block(&self) -> usize {
        self.block
    }

    /// The pages of slots: address and length.
    fn pages(&self, slots: PathSlots) -> (usize, usize) {
        let begin = (self.block + 8 * slots.first as usize) & !(page() - 1);
        let end = (self.block + 8 * (slots.first + slots.number) as usize).next_multiple_of(page());
        (begin, end - begin)
    }

    /// The pages that are protected while an entry waits, unless it waits blindly.
    fn pages_of(&self, entry: &Entry) -> (usize, usize) {
        if entry.by_key.load(Ordering::Relaxed) {
            (self.block, 0)
        } else if entry.is_doubtful.load(Ordering::Relaxed) {
            (self.block, self.length)
        } else {
            self.pages(entry.slots())
        }
    }

    /// Takes the right to write to pages away, or gives it back.
    fn protect(&self, (begin, length): (usize, usize), write: bool) -> bool {
        let rights = if write {
            libc::PROT_READ | libc::PROT_WRITE
        } else {
            libc::PROT_READ
        };
        // SAFETY: pages of the block's mapping, which is never given back; a write to them that is refused
        // comes to our handler.
        unsafe { libc::mprotect(begin as *mut libc::c_void, length, rights) == 0 }
    }

    /// All of the block may be written to.
    pub fn give_back(&self) {
        self.protect((self.block, self.length), true);
    }

    /// The block is one that the key refuses stores to, or none any more.
    pub fn cover(&self, key: Key, covered: bool) {
        key.cover((self.block, self.length), covered);
    }

    /// A method's counts.
    fn sums(&self, slots: PathSlots) -> Sums {
        let counts = (0..u64::from(slots.number)).map(|path| {
            // SAFETY: inside of the block, which can be read at any time.
            let count =
                unsafe { &*(self.block as *const AtomicU64).add(slots.first as usize + path as usize) };
            (path, count.load(Ordering::Relaxed))
        });
        counts.fold(Sums::default(), |sums, (path, count)| Sums {
            counts: sums.counts.wrapping_add(count),
            weighted: sums.weighted.wrapping_add(path.wrapping_mul(count)),
        })
    }

    /// Forgets the waits from before all waiting ended.
    fn renew(&self, all: &NextWrite) {
        let era = all.era.load(Ordering::SeqCst);
        if self.era.swap(era, Ordering::Relaxed) != era {
            for entry in &self.entries {
                entry.ticket.store(0, Ordering::Relaxed);
            }
        }
    }

    /// Ends the wait of an entry, without a change of the rights to its pages.
    fn end(&self, all: &NextWrite, entry: &Entry, outcome: Outcome) {
        if let Some(ticket) = entry.ticket() {
            entry.ticket.store(0, Ordering::Relaxed);
            let first = entry.first_inlined.load(Ordering::Relaxed).checked_sub(1);
            all.answers.put(Answer {
                ticket,
                outcome,
                first,
            });
        }
    }

    /// Ends the wait of an entry and gives its pages back where no other wait needs them.
    fn drop_entry(&self, all: &NextWrite, entry: &Entry, outcome: Outcome) {
        let pages = self.pages_of(entry);
        self.end(all, entry, outcome);
        self.open_pages(pages);
    }

    /// Entries whose pages are protected and that share one with these.
    fn overlapping(&self, pages: (usize, usize)) -> impl Iterator<Item = &Entry> {
        self.waits()
            .filter(move |entry| self.is_protected_for(entry, pages))
    }

    /// A tick, with this stack; `outermost`: the method of its last frame, if there was room for all. Blind
    /// waits are compared, and those that cannot be answered any more are given up.
    pub fn look(&self, all: &NextWrite, frames: &[RawFrame], outermost: Option<usize>) {
        self.renew(all);
        self.compare(all);
        for entry in self.entries.iter().filter(|entry| entry.ticket().is_some()) {
            // The JVM does not say that it could not walk to the end. What is in doubt may be elsewhere.
            let is_known = outermost == Some(entry.outermost.load(Ordering::Relaxed))
                && !entry.is_doubtful.load(Ordering::Relaxed);
            if is_known && self.is_left(all, entry, frames) {
                self.drop_entry(all, entry, Outcome::Gone);
            }
        }
    }

    /// True if the activation of an entry has been left, by this stack.
    fn is_left(&self, all: &NextWrite, entry: &Entry, frames: &[RawFrame]) -> bool {
        let height = entry.height.load(Ordering::Relaxed) as usize;
        let there = frames.len().checked_sub(height + 1).map(|at| frames[at].method);
        // A version of a method that was replaced has another id, or none.
        there.is_none_or(|there| {
            there != entry.method.load(Ordering::Relaxed) && all.targets.get(there).is_some()
        })
    }

    /// Judges a stack of the next path end after a sample in doubt, which is that of a slot. If it is of
    /// another activation, the sample was there, unless it may have been in what led to it.
    fn judge(&self, all: &NextWrite, entry: &Entry, slot: u32, counting: Counting<'_>) -> Found {
        let Counting {
            frames,
            whole,
            same_code,
        } = counting;
        let slots = frames.first().and_then(|frame| all.targets.get(frame.method));
        if !slots.is_some_and(|slots| slots.contains(slot)) {
            return Found::Unfit { same_code };
        }
        let outermost = frames.last().map(|frame| frame.method);
        if !whole || outermost != Some(entry.outermost.load(Ordering::Relaxed)) {
            return Found::There;
        }
        let height = entry.height.load(Ordering::Relaxed) as usize;
        let caller = frames.len().checked_sub(height).and_then(|at| frames.get(at));
        let is_led_to = !self.is_left(all, entry, frames)
            && caller.is_none_or(|caller| caller.bci == entry.caller.load(Ordering::Relaxed));
        let is_itself = is_led_to && frames.len() == height + 1;
        let is_wrong = entry.is_wrong.load(Ordering::Relaxed);
        if is_led_to && same_code && is_wrong {
            Found::Elsewhere
        } else if is_itself || (is_led_to && !same_code) {
            Found::There
        } else if is_led_to {
            Found::Below
        } else {
            Found::Elsewhere
        }
    }

    /// Waits for the next path end of an activation, whose method has these slots: the number of the wait, if
    /// there is room. `refuse` takes the right to write to counters away from the thread, if it can.
    pub fn add(
        &self,
        all: &NextWrite,
        activation: Activation,
        slots: PathSlots,
        refuse: impl FnOnce() -> bool,
    ) -> Option<u64> {
        let Activation {
            method,
            outermost,
            height,
            caller,
            pc,
            sp,
            place,
            rank,
        } = activation;
        let (is_doubtful, is_wrong) = (place != Certainty::Known, place == Certainty::Wrong);
        let is_same = |entry: &&Entry| {
            entry.ticket().is_some()
                && entry.slots() == slots
                && entry.height.load(Ordering::Relaxed) == height
                && entry.is_doubtful.load(Ordering::Relaxed) == is_doubtful
                && entry.is_wrong.load(Ordering::Relaxed) == is_wrong
        };
        if let Some(entry) = self.entries.iter().find(is_same) {
            entry.sp.fetch_max(sp, Ordering::Relaxed);
            entry.rank.fetch_min(rank, Ordering::Relaxed);
            if entry.by_key.load(Ordering::Relaxed) {
                refuse();
            }
            return entry.ticket();
        }
        let free = self.entries.iter().find(|entry| entry.ticket().is_none())?;
        let ticket = all.tickets.fetch_add(1, Ordering::Relaxed);
        free.method.store(method, Ordering::Relaxed);
        free.outermost.store(outermost, Ordering::Relaxed);
        free.height.store(height, Ordering::Relaxed);
        free.caller.store(caller, Ordering::Relaxed);
        free.is_doubtful.store(is_doubtful, Ordering::Relaxed);
        free.is_wrong.store(is_wrong, Ordering::Relaxed);
        free.first_inlined.store(0, Ordering::Relaxed);
        free.pc.store(pc, Ordering::Relaxed);
        free.sp.store(sp, Ordering::Relaxed);
        free.rank.store(rank, Ordering::Relaxed);
        free.first.store(slots.first, Ordering::Relaxed);
        free.number.store(slots.number, Ordering::Relaxed);
        free.foreign.store(0, Ordering::Relaxed);
        free.blind.store(false, Ordering::Relaxed);
        let by_key = rank == 0 && refuse();
        free.by_key.store(by_key, Ordering::Relaxed);
        if !by_key && !self.protect(self.pages_of(free), false) {
            return None;
        }
        free.ticket.store(ticket, Ordering::Relaxed);
        Some(ticket)
    }

    /// A store was refused: answers the samples that waited for it. `locate`: the stack of the thread, for
    /// samples in doubt. `perform` does the store, and says whether it could; true in its argument: the
    /// page is protected. In the handler of the fault.
    pub fn on_write(
        &self,
        all: &NextWrite,
        store: Store,
        locate: impl Fn(InDoubt, Judge<'_>) -> Found,
        perform: impl FnOnce(bool) -> bool,
    ) -> Passed {
        let Store {
            address,
            deepest,
            by_key,
        } = store;
        self.renew(all);
        let page = (address & !(page() - 1), page());
        let slot = ((address - self.block) / 8) as u32;
        let rank = least_rank(self.concerned(page));
        self.end_doubt(all, slot, locate);
        for entry in self.concerned(page) {
            let is_nested = deepest < entry.sp.load(Ordering::Relaxed);
            if entry.slots().contains(slot) && !is_nested {
                self.drop_entry(all, entry, Outcome::Slot(slot));
            } else {
                self.let_foreign(entry);
            }
        }
        let is_protected = || self.overlapping(page).next().is_some();
        let is_refused = || self.waits().any(|entry| entry.by_key.load(Ordering::Relaxed));
        if (is_protected() || is_refused()) && perform(is_protected()) {
            return Passed {
                rank,
                refused: is_refused(),
            };
        }
        // No sample waits any more, or the store has to be done by the thread itself.
        for entry in self.concerned(page) {
            self.go_blind(entry);
        }
        if !by_key {
            self.protect(page, true);
        }
        Passed { rank, refused: false }
    }

    /// A store of another method, or of another activation. After some of them only those to the same pages
    /// are refused, after many none.
    fn let_foreign(&self, entry: &Entry) {
        let number = entry.foreign.fetch_add(1, Ordering::Relaxed);
        if number >= MAX_FOREIGN {
            self.go_blind(entry);
        } else if number >= MAX_FOREIGN_BY_KEY && entry.by_key.swap(false, Ordering::Relaxed) {
            self.protect(self.pages_of(entry), false);
        }
    }

    /// Entries that wait and are not blind.
    fn waits(&self) -> impl Iterator<Item = &Entry> {
        self.entries
            .iter()
            .filter(|entry| entry.ticket().is_some() && !entry.blind.load(Ordering::Relaxed))
    }

    /// Entries that a store to a page is refused for.
    fn concerned(&self, page: (usize, usize)) -> impl Iterator<Item = &Entry> {
        self.waits()
            .filter(move |entry| entry.by_key.load(Ordering::Relaxed) || self.is_protected_for(entry, page))
    }

    fn is_protected_for(&self, entry: &Entry, (begin, length): (usize, usize)) -> bool {
        let (other, its_length) = self.pages_of(entry);
        other < begin + length && begin < other + its_length
    }

    /// The thread's next path end has come, with this slot: samples in doubt were where it is, or where they
    /// seemed to be.
    fn end_doubt(&self, all: &NextWrite, slot: u32, locate: impl Fn(InDoubt, Judge<'_>) -> Found) {
        let mut any = false;
        for entry in &self.entries {
            if let Some(ticket) = entry.ticket()
                && entry.is_doubtful.swap(false, Ordering::Relaxed)
            {
                any |= !entry.by_key.load(Ordering::Relaxed);
                let pc = entry.pc.load(Ordering::Relaxed);
                let judge = |counting: Counting<'_>| self.judge(all, entry, slot, counting);
                let next = NextCount { ticket, slot };
                match locate(InDoubt { next, pc }, &judge) {
                    Found::There | Found::Below => {}
                    // Of which method it is, the slot says.
                    Found::Unfit { .. } if entry.slots().contains(slot) => {}
                    // The place may have led to it.
                    Found::Unfit { same_code: true } if !entry.is_wrong.load(Ordering::Relaxed) => {
                        entry.first_inlined.store(slot + 1, Ordering::Relaxed);
                    }
                    Found::Unfit { .. } | Found::Elsewhere => {
                        self.end(all, entry, Outcome::Elsewhere(slot));
                    }
                }
            }
        }
        if any {
            self.open_pages((self.block, self.length));
        }
    }

    /// Lets all stores through; the counts are compared at ticks. Pages that others wait for stay protected.
    fn go_blind(&self, entry: &Entry) {
        let slots = entry.slots();
        let Sums { counts, weighted } = self.sums(slots);
        let pages = self.pages_of(entry);
        entry.counts.store(counts, Ordering::Relaxed);
        entry.weighted.store(weighted, Ordering::Relaxed);
        entry.by_key.store(false, Ordering::Relaxed);
        entry.blind.store(true, Ordering::Relaxed);
        self.pause.store(FIRST_PAUSE, Ordering::Relaxed);
        let clock = self.clock.load(Ordering::Relaxed);
        if clock >= 0 {
            // If it fails, the counts are compared at the next sample.
            task_clock::soon(clock, FIRST_PAUSE);
        }
        self.open_pages(pages);
    }

    /// Gives pages back where no wait needs them.
    fn open_pages(&self, pages: (usize, usize)) {
        if pages.1 == 0 {
            return;
        }
        self.protect(pages, true);
        for other in self.overlapping(pages) {
            self.protect(self.pages_of(other), false);
        }
    }

    /// Gives up all waits.
    pub fn clear(&self, all: &NextWrite) {
        self.renew(all);
        self.set_clock(None);
        for entry in self.entries.iter().filter(|entry| entry.ticket().is_some()) {
            self.drop_entry(all, entry, Outcome::Dropped);
        }
    }
}
