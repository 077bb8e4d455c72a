//! The path that a thread was on when a sample was taken: known when the path ends.
//!
//! A sample names a place, and several paths go through it. The path that the thread is on ends some time
//! later, and its probe writes to the counter of the path. So a sample *waits*: its handler takes away the
//! right to write to the pages with the counters of the innermost counted method on the stack, in the block
//! of that thread. The next path end of the method faults, and the address of the fault is the slot, which is
//! the path. Nothing is added to a probe, and nothing is paid while no sample waits.
//!
//! The tick that a sample is taken at sets a flag, and the next path end reads it: that is how PEP takes its
//! samples (Bond and McKinley, "Continuous Path and Edge Profiling", sections 3.2 and 4.4). For frequencies
//! that is biased towards long paths. For time this bias is the measure: a tick falls into a path with the
//! probability of the path's share of the time.
//!
//! Processors with protection keys refuse all counters of a thread for the innermost method, at no system
//! call; after [`MAX_FOREIGN_BY_KEY`] stores of others, for callers, and elsewhere pages are protected.
//!
//! Other methods may have counters on the same page. Their stores are done in their place, [`MAX_FOREIGN`] at
//! most. A sample whose path end comes after more of them waits *blindly*: from then on all stores are let
//! through, and the method's counts are compared at the thread's ticks. One more is the answer as well; after
//! several it is not known which was first. So a task clock ticks in between, after a short time first and
//! then after longer ones: that is no sample.
//!
//! A wait takes some microseconds, and so does each store that is done for another method. Where that would
//! sum up to more than [`BUDGET`], a random part of the samples wait, and these count for more: that costs
//! width, and no bias. Innermost methods and callers have a budget each, and of these each [`Rank`]: the next
//! path end of a far caller comes after many of others, so its waits cost tens of times as much.
//!
//! Where it is in doubt which of the inlined methods a sample was in (`doubtful.rs`), all of the block is
//! protected, and the thread's stack at the next path end of any method says it. The slot says whether that
//! stack is right.
//!
//! A method may be on the stack more than once. A wait is for the innermost activation; path ends of
//! activations that it leads to, whose frames are deeper than the thread's stack was at the tick, are not
//! its. In interpreted code, where the frames of the probe are in between, they cannot be distinguished.
//!
//! | file | what it does |
//! | --- | --- |
//! | `targets.rs` | which slots a method has, for handlers |
//! | `waiting.rs` | the samples of one thread that wait |
//! | `answers.rs` | the way of answers from handlers to our thread |
//! | `faults.rs` | the handler of the fault |
//! | `keys.rs` | protection keys |
//! | `store.rs` | a store that was refused, done in its place |

mod answers;
mod faults;
mod keys;
mod store;
mod targets;
mod waiting;

use std::ffi::c_void;
use std::io::Error;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

pub use answers::{Answer, Outcome};
pub use targets::Calls;
pub use waiting::Waiting;

use super::buffer::{CALLERS, NEAREST, NextCount, RawFrame, Wait, Waits};
use super::doubtful::Certainty;
use crate::classes::PathSlots;
use crate::locks::lock;
use crate::sampling::SplitMix;
use crate::threads::ThreadBlock;
use answers::Answers;
use keys::Key;
use targets::Targets;
use waiting::Activation;

/// Stores of other methods to the same page that are performed while a sample waits.
const MAX_FOREIGN: u32 = 256;
/// Those of them for which all counters of the thread are refused.
const MAX_FOREIGN_BY_KEY: u32 = 16;
/// The part of the program's CPU time that waits of innermost methods may take, in handlers.
const BUDGET: f64 = 0.01;
/// That of waits of all callers.
const BUDGET_OF_CALLERS: f64 = 0.02;
/// Time of a handler's work, at most.
const LONGEST: Duration = Duration::from_micros(100);
/// The part of samples whose callers wait at first, before their cost is known.
const CALLERS_AT_FIRST: f64 = 1.0 / 4.0;
/// Blocks whose threads can be answered.
const MAX_BLOCKS: usize = 1 << 14;

/// Samples that wait for their paths, of all threads. Never freed.
pub struct NextWrite {
    targets: Targets,
    answers: Answers,
    /// True while samples wait.
    open: AtomicBool,
    /// Grows when waiting ends: earlier waits are over.
    era: AtomicU64,
    /// Number of the next wait.
    tickets: AtomicU64,
    draws: AtomicU64,
    /// The waits by [`Rank`]. The path end of a near caller comes soon and costs little, that of a far one
    /// comes after many stores of others.
    throttles: [Throttle; 1 + CALLERS],
    /// Open addressing by [`key`](Self::key) of the block's address.
    blocks: Box<[AtomicPtr<Waiting>]>,
    /// Binary logarithm of a block's length.
    shift: u32,
    /// Where the JVM's own code is, which counts for the interpreter.
    library: Range<usize>,
    /// Reads the stack of a thread that counts.
    locate: Locator,
    /// By which threads can be refused to write to their blocks.
    key: Key,
    /// Held while a block is added.
    adding: Mutex<usize>,
}

/// The samples that wait: a random part, where all would cost too much.
#[derive(Default)]
struct Throttle {
    /// The part, of 2^32.
    part: AtomicU32,
    /// Time that waits have taken in handlers since the part was set, in nanoseconds.
    took: AtomicU64,
    /// No handler takes it.
    cost: Mutex<Cost>,
}

impl Throttle {
    fn new(part: f64) -> Self {
        let new = Throttle::default();
        new.set_part(part);
        new
    }

    /// The number of samples that one represents which waits, if this one does. `random`: any number.
    fn draw(&self, random: u32) -> Option<f32> {
        let part = self.part.load(Ordering::Relaxed);
        (random <= part).then_some(u32::MAX as f32 / part as f32)
    }

    /// The part of samples that wait, 0 to 1.
    fn part(&self) -> f64 {
        f64::from(self.part.load(Ordering::Relaxed)) / f64::from(u32::MAX)
    }

    fn set_part(&self, part: f64) {
        let part = part.clamp(1.0 / 256.0, 1.0) * f64::from(u32::MAX);
        self.part.store(part as u32, Ordering::Relaxed);
    }

    /// Takes in what waits took since the last call, after samples for that much CPU time. Returns it.
    fn settle(&self, sampled: u64) -> u64 {
        let took = self.took.swap(0, Ordering::Relaxed);
        if sampled > 0 {
            lock(&self.cost).add(took, sampled as f64 * self.part());
        }
        took
    }
}

/// The cost of waits, over the last intervals: one far wait takes as much as many near ones, so a single
/// interval says little.
#[derive(Clone, Copy, Debug, Default)]
struct Cost {
    /// Time that waits took.
    took: f64,
    /// CPU time, as much of it as had samples that waited.
    waited: f64,
}

impl Cost {
    /// The weight of what was before, at each interval.
    const MEMORY: f64 = 15.0 / 16.0;

    fn add(&mut self, took: u64, waited: f64) {
        self.took = self.took * Self::MEMORY + took as f64;
        self.waited = self.waited * Self::MEMORY + waited;
    }

    /// The part of the CPU time that waits would take if all samples waited.
    fn of_all(self) -> f64 {
        self.took / self.waited.max(1.0)
    }
}

/// Shares a budget out equally; what some do not need is for those that cost more.
fn share(budget: f64, throttles: &[Throttle]) {
    let cost = |throttle: &Throttle| lock(&throttle.cost).of_all();
    let mut by_cost: Vec<(f64, &Throttle)> = throttles.iter().map(|of| (cost(of), of)).collect();
    by_cost.sort_by(|(one, _), (other, _)| one.total_cmp(other));
    let mut left = budget;
    for (&(cost, throttle), others) in by_cost.iter().zip((1..=by_cost.len()).rev()) {
        let most = left / others as f64;
        throttle.set_part(most / cost.max(most));
        left -= most.min(cost);
    }
}

/// Where a sample has interrupted its thread.
#[derive(Clone, Copy, Debug)]
pub struct Interruption {
    /// As the system passed it to the handler, which has not returned.
    pub context: *mut c_void,
    /// True if no frame is missing.
    pub whole: bool,
    /// Program counter and stack pointer, or 0.
    pub pc: usize,
    pub sp: usize,
    /// How sure it is that it is in the innermost method.
    pub place: Certainty,
}

/// Finds out where the calling thread is, which was interrupted in this context as it counted. A stack that
/// the judge says the sample was or may have been in is kept for it. In a signal handler.
pub type Locator = fn(*mut c_void, InDoubt, Judge<'_>) -> Found;

/// A sample in doubt.
#[derive(Clone, Copy, Debug)]
pub struct InDoubt {
    /// Its wait, and the slot that is counted in.
    pub next: NextCount,
    /// The program counter.
    pub pc: usize,
}

/// Judges a stack.
pub type Judge<'j> = &'j dyn Fn(Counting<'_>) -> Found;

/// The stack of a thread that counts.
#[derive(Clone, Copy, Debug)]
pub struct Counting<'s> {
    /// Without the probe, innermost frame first.
    pub frames: &'s [RawFrame],
    /// True if no frame is missing.
    pub whole: bool,
    /// True if the thread is in the same compiled code as it was at the sample.
    pub same_code: bool,
}

/// Where a sample in doubt was, by a stack at the thread's next path end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// Where it seemed to be.
    There,
    /// In that stack.
    Elsewhere,
    /// Where it seemed to be, or in that stack, which that led to and which is inlined there. If the path
    /// that ends later does not go through the place where it seemed to be, it was in that stack.
    Below,
    /// The stack is not of the path end: its code, too, is put down to another method. `same_code`: see
    /// [`Counting`].
    Unfit { same_code: bool },
}

/// 0: the innermost method that counts; more: which of its callers from there on. The last one is a random
/// one of those that are farther away.
pub type Rank = u8;

/// Callers that one is chosen among, at most.
const MOST_CALLERS: usize = 128;

/// The innermost activation of each method that led to the innermost one, which comes first, by their
/// depths: a sample is in one call of a method. In a signal handler.
fn distinct(
    frames: &[RawFrame],
    mut counted: impl Iterator<Item = (usize, PathSlots)>,
) -> ([(usize, PathSlots); MOST_CALLERS], usize) {
    let nothing = PathSlots { first: 0, number: 0 };
    let mut callers = [(0, nothing); MOST_CALLERS];
    let mut number = 0;
    while number < MOST_CALLERS
        && let Some((depth, slots)) = counted.next()
    {
        let method = frames[depth].method;
        let known = callers[..number]
            .iter()
            .any(|&(at, _)| frames[at].method == method);
        if !known {
            callers[number] = (depth, slots);
            number += 1;
        }
    }
    (callers, number)
}

/// The one of this process.
static NEXT_WRITE: AtomicPtr<NextWrite> = AtomicPtr::new(std::ptr::null_mut());

impl NextWrite {
    /// Installs the handler at the first call. `block`: length of a thread's block in bytes, a power of two;
    /// `library`: where the JVM's own code is. For one thread at a time.
    ///
    /// # Errors
    /// If the system refuses it.
    pub fn install(block: u64, library: Range<usize>, locate: Locator) -> Result<&'static Self, Error> {
        if let Some(known) = Self::get() {
            return faults::are_ours()
                .then_some(known)
                .ok_or_else(|| Error::other("another handler of SIGSEGV is installed"));
        }
        let new = Box::leak(Box::new(Self::new(block, library, locate, Key::allocate())));
        store::prepare();
        NEXT_WRITE.store(new, Ordering::Release);
        faults::install()?;
        Ok(new)
    }

    fn new(block: u64, library: Range<usize>, locate: Locator, key: Key) -> Self {
        NextWrite {
            targets: Targets::new(),
            answers: Answers::new(),
            open: AtomicBool::new(false),
            era: AtomicU64::new(0),
            tickets: AtomicU64::new(1),
            draws: AtomicU64::new(0),
            throttles: std::array::from_fn(|rank| {
                Throttle::new(if rank == 0 { 1.0 } else { CALLERS_AT_FIRST })
            }),
            blocks: (0..MAX_BLOCKS).map(|_| AtomicPtr::default()).collect(),
            shift: block.ilog2(),
            library,
            locate,
            key,
            adding: Mutex::new(0),
        }
    }

    fn get() -> Option<&'static Self> {
        // SAFETY: null, or what `install` leaked.
        unsafe { NEXT_WRITE.load(Ordering::Acquire).as_ref() }
    }

    /// Slots of methods, for handlers. For one thread at a time.
    pub fn targets(&self) -> &Targets {
        &self.targets
    }

    /// The waits of the thread that counts in this block alone. `None`: there are too many blocks.
    pub fn of_block(&self, block: ThreadBlock) -> Option<&'static Waiting> {
        let address = block.address() as usize;
        let mut number = lock(&self.adding);
        let mut at = self.key(address);
        loop {
            // SAFETY: null, or what is leaked below.
            match unsafe { self.blocks[at].load(Ordering::Acquire).as_ref() } {
                Some(known) if known.block() == address => return Some(known),
                Some(_) => at = (at + 1) % MAX_BLOCKS,
                None if *number >= MAX_BLOCKS / 2 => return None,
                None => {
                    let new = Box::leak(Box::new(Waiting::new(address, 1 << self.shift)));
                    if self.open.load(Ordering::SeqCst) {
                        new.cover(self.key, true);
                    }
                    self.blocks[at].store(new, Ordering::Release);
                    *number += 1;
                    return Some(new);
                }
            }
        }
    }

    fn key(&self, address: usize) -> usize {
        let block = (address >> self.shift) as u64;
        (block.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as usize % MAX_BLOCKS
    }

    /// The block that an address is in, if it is in one. In a signal handler.
    fn at(&self, address: usize) -> Option<&'static Waiting> {
        let length = 1usize << self.shift;
        // A block begins at any page: the address is in the one that begins in this interval, or in the one
        // before.
        [address, address.wrapping_sub(length)]
            .into_iter()
            .find_map(|begin| {
                let mut at = self.key(begin);
                loop {
                    // SAFETY: null, or leaked.
                    let found = unsafe { self.blocks[at].load(Ordering::Acquire).as_ref() }?;
                    if (found.block()..found.block() + length).contains(&address) {
                        return Some(found);
                    }
                    at = (at + 1) % MAX_BLOCKS;
                }
            })
    }

    /// Samples wait from now on.
    pub fn open(&self) {
        let _adding = lock(&self.adding);
        self.open.store(true, Ordering::SeqCst);
        self.all_blocks()
            .for_each(|waiting| waiting.cover(self.key, true));
    }

    fn all_blocks(&self) -> impl Iterator<Item = &'static Waiting> {
        // SAFETY: null, or leaked.
        self.blocks
            .iter()
            .filter_map(|block| unsafe { block.load(Ordering::Acquire).as_ref() })
    }

    /// No sample waits any more; all threads may write to all of their counters.
    pub fn close(&self) {
        let _adding = lock(&self.adding);
        self.open.store(false, Ordering::SeqCst);
        self.era.fetch_add(1, Ordering::SeqCst);
        for waiting in self.all_blocks() {
            waiting.give_back();
            waiting.set_clock(None);
            waiting.cover(self.key, false);
        }
    }

    /// True while samples can be answered. Another handler of SIGSEGV ends that: a fault would be a
    /// crash.
    pub fn is_whole(&self) -> bool {
        faults::are_ours()
    }

    /// A sample of the calling thread, which has this stack (innermost frame first), waits for a path end of
    /// the innermost method that counts, and for those of the nearest methods that led to it and of a random
    /// farther one, if it can. In a signal handler, on the thread whose block it is.
    pub fn wait(&self, waiting: &Waiting, frames: &[RawFrame], at: Interruption) -> Waits {
        let Interruption {
            context,
            whole,
            pc,
            sp,
            place,
        } = at;
        if !self.open.load(Ordering::SeqCst) || !faults::are_ours() {
            return Waits::default();
        }
        let Some(outermost) = frames.last().map(|frame| frame.method) else {
            return Waits::default();
        };
        self.key.enter();
        waiting.look(self, frames, whole.then_some(outermost));
        let counted = |(depth, frame): (usize, &RawFrame)| Some((depth, self.targets.get(frame.method)?));
        let mut counted = frames.iter().enumerate().filter_map(counted);
        let wait = |(depth, slots): (usize, PathSlots), rank: Rank, represents: f32| {
            let activation = Activation {
                method: frames[depth].method,
                outermost,
                height: (frames.len() - depth - 1) as u32,
                caller: frames.get(depth + 1).map_or(0, |frame| frame.bci),
                pc,
                sp,
                place: if rank == 0 { place } else { Certainty::Known },
                rank,
            };
            let start = Instant::now();
            // SAFETY: that of this interruption.
            let refuse = || unsafe { self.key.set(context, false) };
            let ticket = waiting.add(self, activation, slots, refuse);
            self.took(rank, start.elapsed());
            Some(Wait {
                ticket: ticket?,
                depth: depth as u32,
                represents,
                is_doubtful: activation.place != Certainty::Known,
            })
        };
        let innermost = counted.next();
        let of_innermost = innermost.zip(self.throttles[0].draw(self.random()));
        let mut waits = Waits {
            innermost: of_innermost.and_then(|(at, represents)| wait(at, 0, represents)),
            ..Waits::default()
        };
        // One draw: where a far one waits, path ends of the nearer ones come on the way.
        let random = self.random();
        let drawn = self.throttles.each_ref().map(|throttle| throttle.draw(random));
        let Some(innermost) = innermost.filter(|_| drawn[1..].iter().any(Option::is_some)) else {
            return waits;
        };
        let (methods, number) = distinct(frames, std::iter::once(innermost).chain(counted));
        let (nearest, farther) = methods[..number].split_at(number.min(1 + NEAREST));
        for (rank, &at) in (0..).zip(nearest).skip(1) {
            let represents = drawn[rank];
            waits.callers[rank - 1] = represents.and_then(|represents| wait(at, rank as Rank, represents));
        }
        if let Some(represents) = drawn[CALLERS].filter(|_| !farther.is_empty()) {
            let one = ((u64::from(self.random()) * farther.len() as u64) >> 32) as usize;
            let represents = represents * farther.len() as f32;
            waits.callers[NEAREST] = wait(farther[one], CALLERS as Rank, represents);
        }
        waits
    }

    /// See [`Waiting::look_between`].
    pub fn look_between(&self, waiting: &Waiting) -> Option<u64> {
        let start = Instant::now();
        let rank = waiting.blind_rank();
        let next = waiting.look_between(self);
        self.took(rank, start.elapsed() + faults::DELIVERY);
        next
    }

    /// Waits of a rank took that long in a handler; where it is longer than its work can take, the thread had
    /// lost its processor.
    fn took(&self, rank: Rank, time: Duration) {
        let nanos = time.min(LONGEST).as_nanos() as u64;
        self.throttles[usize::from(rank)]
            .took
            .fetch_add(nanos, Ordering::Relaxed);
    }

    /// SplitMix64. Its numbers are independent: which caller waits must not depend on the draw that says that
    /// one does.
    fn random(&self) -> u32 {
        let state = self.draws.fetch_add(SplitMix::GAMMA, Ordering::Relaxed);
        (SplitMix::mixed(state) >> 32) as u32
    }

    /// Sets which part of samples wait, after samples for that much CPU time; for one thread at a time.
    /// Returns the nanoseconds that waits took since the last call.
    pub fn budget(&self, sampled: u64) -> u64 {
        let took = self
            .throttles
            .iter()
            .map(|throttle| throttle.settle(sampled))
            .sum();
        if sampled > 0 {
            let (innermost, callers) = self.throttles.split_at(1);
            share(BUDGET, innermost);
            share(BUDGET_OF_CALLERS, callers);
        }
        took
    }

    /// The thread that counted in this block has ended, or another one begins to.
    pub fn forget(&self, waiting: &Waiting) {
        waiting.clear(self);
    }

    /// Hands over the answers that came since the last call. Number of answers that found no room. For one
    /// thread at a time.
    pub fn take(&self, each: impl FnMut(Answer)) -> u64 {
        self.answers.take(each)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::threads::ThreadBlocks;

    const INNER: usize = 8;
    const OUTER: usize = 16;
    const UNKNOWN: usize = 24;

    fn frames(methods: &[usize]) -> Vec<RawFrame> {
        methods
            .iter()
            .map(|&method| RawFrame { bci: 0, method })
            .collect()
    }

    /// The stack of the thread that counts, and whether it is in the code that was sampled.
    static COUNTS_IN: Mutex<(Vec<RawFrame>, bool)> = Mutex::new((Vec::new(), false));

    fn locate(_: *mut c_void, _: InDoubt, judge: Judge<'_>) -> Found {
        let (frames, same_code) = &*COUNTS_IN.lock().unwrap();
        judge(Counting {
            frames,
            whole: true,
            same_code: *same_code,
        })
    }

    type Work<'w> = &'w mut dyn FnMut(*mut c_void);

    /// Runs something in the handler of a signal to the calling thread.
    fn interrupted<R>(mut work: impl FnMut(*mut c_void) -> R) -> R {
        static WORK: AtomicPtr<Work<'static>> = AtomicPtr::new(std::ptr::null_mut());
        extern "C" fn handler(_: i32, _: *mut c_void, context: *mut c_void) {
            // SAFETY: set below, by the caller of `raise`.
            unsafe { (*WORK.load(Ordering::SeqCst))(context) };
        }
        let mut result = None;
        {
            let mut work: Work<'_> = &mut |context| result = Some(work(context));
            WORK.store((&raw mut work).cast(), Ordering::SeqCst);
            // SAFETY: an action with all fields set; `raise` returns after the handler.
            unsafe {
                let mut action: libc::sigaction = std::mem::zeroed();
                action.sa_sigaction = handler as extern "C" fn(i32, *mut c_void, *mut c_void) as usize;
                action.sa_flags = libc::SA_SIGINFO;
                libc::sigaction(libc::SIGRTMIN() + 9, &raw const action, std::ptr::null_mut());
                libc::raise(libc::SIGRTMIN() + 9);
            }
        }
        result.expect("the handler ran")
    }

    /// Counts as a probe does.
    fn count(block: ThreadBlock, slot: u32) {
        let at = (block.address() as *mut u64).wrapping_add(slot as usize);
        // SAFETY: a slot of the block, which only this test uses.
        unsafe { at.write_volatile(at.read_volatile() + 1) };
    }

    /// The number of a wait.
    fn ticket(wait: Option<Wait>) -> u64 {
        wait.expect("a wait").ticket
    }

    #[test]
    fn a_method_waits_once() {
        let of = |methods: &[usize]| {
            let mut frames = frames(methods);
            (0..).zip(&mut frames).for_each(|(bci, frame)| frame.bci = bci);
            let slots = |(depth, frame): (usize, &RawFrame)| {
                let first = frame.method as u32;
                (depth, PathSlots { first, number: 2 })
            };
            let (callers, number) = distinct(&frames, frames.iter().enumerate().map(slots));
            let callers = callers[..number].iter();
            callers
                .map(|&(depth, slots)| (depth, slots.first))
                .collect::<Vec<_>>()
        };
        assert_eq!(of(&[9, 7, 9, 7, 5, 9]), [(0, 9), (1, 7), (4, 5)]);
        assert_eq!(of(&[]), []);
        let many: Vec<usize> = (10..1000).collect();
        assert_eq!(of(&many).len(), MOST_CALLERS);
    }

    /// One process has one handler, so this is one test.
    #[test]
    fn the_next_store_to_a_methods_slots_answers() {
        let blocks = ThreadBlocks::new();
        let block = blocks.reserve().unwrap();
        let all = NextWrite::install(blocks.block_length(), 0..0, locate).unwrap();
        assert!(all.is_whole());
        for throttle in &all.throttles {
            throttle.part.store(u32::MAX, Ordering::Relaxed);
        }
        let waiting = all.of_block(block).unwrap();
        assert!(std::ptr::eq(waiting, all.of_block(block).unwrap()));
        let (inner, outer) = (
            PathSlots { first: 20, number: 3 },
            PathSlots {
                first: 30,
                number: 600,
            },
        );
        all.targets().set(INNER, Some(inner));
        all.targets().set(OUTER, Some(outer));
        let stack = frames(&[UNKNOWN, INNER, OUTER]);
        let answers = || {
            let mut found = Vec::new();
            assert_eq!(all.take(|answer| found.push((answer.ticket, answer.outcome))), 0);
            found
        };
        let at = |sp, place| Interruption {
            context: std::ptr::null_mut(),
            whole: true,
            pc: 0,
            sp,
            place,
        };
        let wait = |stack: &[RawFrame]| all.wait(waiting, stack, at(0, Certainty::Known));

        assert_eq!(wait(&stack), Waits::default(), "closed");
        all.open();
        assert_eq!(wait(&frames(&[UNKNOWN])), Waits::default());
        let waits = wait(&stack);
        let (of_inner, of_outer) = (ticket(waits.innermost), ticket(waits.callers[0]));
        assert_eq!(
            (waits.innermost.unwrap().depth, waits.callers[0].unwrap().depth),
            (1, 2)
        );
        // A second sample of the same activations waits for the same path ends.
        let again = wait(&stack);
        assert_eq!(
            (ticket(again.innermost), ticket(again.callers[0])),
            (of_inner, of_outer)
        );
        // Another method's slot on the same page, then a path of each, out of order.
        [25, 31, 22, 22].into_iter().for_each(|slot| count(block, slot));
        assert_eq!(
            answers(),
            [(of_outer, Outcome::Slot(31)), (of_inner, Outcome::Slot(22))]
        );
        let counted = [25, 31, 22].map(|slot| {
            let slot = trodden_instrumenter::CounterSlot(slot);
            blocks.sums(slot..slot.plus(1))[0]
        });
        assert_eq!(counted, [1, 1, 2], "no count is lost");

        // After many stores of others counts are compared: one more is the answer, several are none.
        for (paths, outcome) in [(1, Outcome::Slot(21)), (2, Outcome::Missed)] {
            let waits = wait(&stack[..2]);
            (0..2 * MAX_FOREIGN).for_each(|_| count(block, 25));
            (0..paths).for_each(|_| count(block, 21));
            assert_eq!(answers(), []);
            wait(&frames(&[UNKNOWN]));
            assert_eq!(answers(), [(ticket(waits.innermost), outcome)]);
        }

        // So they are at ticks in between, which come as long as a sample waits blindly.
        let waits = wait(&stack[..2]);
        assert_eq!(all.look_between(waiting), None);
        (0..2 * MAX_FOREIGN).for_each(|_| count(block, 25));
        let pauses = [(); 2].map(|()| all.look_between(waiting).expect("a sample waits"));
        assert!(pauses[0] < pauses[1], "{pauses:?}");
        count(block, 21);
        assert_eq!(all.look_between(waiting), None);
        assert_eq!(answers(), [(ticket(waits.innermost), Outcome::Slot(21))]);

        // Left by an exception: another method is where it was. A version without id may be the same one.
        let waits = wait(&frames(&[INNER, UNKNOWN]));
        wait(&frames(&[0, UNKNOWN]));
        assert_eq!(answers(), []);
        let other = wait(&frames(&[OUTER, UNKNOWN]));
        assert_eq!(answers(), [(ticket(waits.innermost), Outcome::Gone)]);
        // A path end of an activation that it leads to, with a frame far below, is not its.
        let deep = all.wait(
            waiting,
            &frames(&[INNER, OUTER, UNKNOWN]),
            at(usize::MAX - (1 << 20), Certainty::Known),
        );
        count(block, 20);
        assert_eq!(answers(), []);
        all.forget(waiting);
        let mut dropped = answers();
        dropped.sort_by_key(|(ticket, _)| *ticket);
        // The caller is the activation that waits already.
        assert_eq!(ticket(deep.callers[0]), ticket(other.innermost));
        assert_eq!(
            dropped,
            [deep.callers[0], deep.innermost].map(|wait| (ticket(wait), Outcome::Dropped))
        );

        // In doubt: the next path end of any method, and the stack there, say where it was. Other waits go
        // on. What it led to is in the same code only if it is inlined.
        for (there, same_code, place, found) in [
            (
                &[OUTER, UNKNOWN][..],
                false,
                Certainty::InDoubt,
                Outcome::Elsewhere(31),
            ),
            (
                &[OUTER, INNER, UNKNOWN],
                true,
                Certainty::InDoubt,
                Outcome::Slot(22),
            ),
            (
                &[OUTER, INNER, UNKNOWN],
                false,
                Certainty::InDoubt,
                Outcome::Slot(22),
            ),
            (
                &[OUTER, INNER, UNKNOWN],
                true,
                Certainty::Wrong,
                Outcome::Elsewhere(31),
            ),
            (
                &[OUTER, INNER, UNKNOWN],
                false,
                Certainty::Wrong,
                Outcome::Slot(22),
            ),
        ] {
            *COUNTS_IN.lock().unwrap() = (frames(there), same_code);
            let other = wait(&frames(&[OUTER, INNER, UNKNOWN]));
            let waits = all.wait(waiting, &frames(&[UNKNOWN, INNER, UNKNOWN]), at(0, place));
            assert!(waits.innermost.unwrap().is_doubtful);
            [31, 22].into_iter().for_each(|slot| count(block, slot));
            let mut answered = answers();
            answered.sort_by_key(|(ticket, _)| *ticket);
            assert_eq!(
                answered,
                [
                    (ticket(other.innermost), Outcome::Slot(31)),
                    (ticket(other.callers[0]), Outcome::Slot(22)),
                    (ticket(waits.innermost), found)
                ]
            );
        }
        // The stack is put down to the wrong method as well: the slot says which one it is.
        *COUNTS_IN.lock().unwrap() = (frames(&[UNKNOWN, UNKNOWN]), true);
        let in_doubt = || all.wait(waiting, &frames(&[INNER, UNKNOWN]), at(0, Certainty::InDoubt));
        for (slot, outcome, same_code) in [
            (31, Outcome::Elsewhere(31), false),
            (21, Outcome::Slot(21), false),
            (21, Outcome::Slot(21), true),
        ] {
            COUNTS_IN.lock().unwrap().1 = same_code;
            let waits = in_doubt();
            count(block, slot);
            assert_eq!(answers(), [(ticket(waits.innermost), outcome)]);
        }
        // In the same code the place may have led to it: its own path is waited for.
        let waits = in_doubt();
        [31, 22].into_iter().for_each(|slot| count(block, slot));
        let mut found = Vec::new();
        assert_eq!(all.take(|answer| found.push(answer)), 0);
        let expected = Answer {
            ticket: ticket(waits.innermost),
            outcome: Outcome::Slot(22),
            first: Some(31),
        };
        assert_eq!(found, [expected]);
        // The same method, called from another place.
        let called_at = |bci| [frames(&[INNER])[0], RawFrame { bci, method: UNKNOWN }];
        for (bci, outcome) in [(9, Outcome::Slot(21)), (8, Outcome::Elsewhere(21))] {
            *COUNTS_IN.lock().unwrap() = (called_at(bci).to_vec(), true);
            let waits = all.wait(waiting, &called_at(9), at(0, Certainty::InDoubt));
            count(block, 21);
            assert_eq!(answers(), [(ticket(waits.innermost), outcome)]);
        }

        // By a key, if there is one: as samples are taken.
        if all.key.exists() {
            *COUNTS_IN.lock().unwrap() = (frames(&[OUTER, UNKNOWN]), false);
            let by_key = |stack: &[RawFrame], place| {
                let waits = interrupted(|context| {
                    let at = Interruption {
                        context,
                        ..at(0, place)
                    };
                    all.wait(waiting, stack, at)
                });
                ticket(waits.innermost)
            };
            let first = by_key(&frames(&[INNER]), Certainty::Known);
            // Of another page, which no page's protection refuses, and its own.
            [700, 22, 22, 700].into_iter().for_each(|slot| count(block, slot));
            assert_eq!(answers(), [(first, Outcome::Slot(22))]);
            let in_doubt = by_key(&frames(&[INNER, UNKNOWN]), Certainty::InDoubt);
            count(block, 31);
            assert_eq!(answers(), [(in_doubt, Outcome::Elsewhere(31))]);
            // After some stores of others its page is protected, and no other.
            let second = by_key(&frames(&[INNER]), Certainty::Known);
            (0..3 * MAX_FOREIGN_BY_KEY).for_each(|_| count(block, 700));
            [25, 20].into_iter().for_each(|slot| count(block, slot));
            assert_eq!(answers(), [(second, Outcome::Slot(20))]);
            let last = by_key(&frames(&[INNER]), Certainty::Known);
            all.forget(waiting);
            count(block, 21);
            assert_eq!(answers(), [(last, Outcome::Dropped)]);
            // A thread without any right gets it as it faults.
            by_key(&frames(&[INNER]), Certainty::Known);
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    all.key.leave();
                    count(block, 701);
                });
            });
        }

        wait(&stack);
        all.close();
        count(block, 21);
        assert_eq!(answers(), [], "no sample waits once it is closed");
    }

    #[test]
    fn a_part_of_the_samples_waits_where_all_cost_too_much() {
        let all = NextWrite::new(1 << 28, 0..0, locate, Key::none());
        let part = |rank: usize| all.throttles[rank].part();
        assert_eq!(all.budget(1_000_000), 0);
        assert_eq!(part(0), 1.0);
        // Per sample: a tenth of the time, where a hundredth may be; a fortieth for one caller, which has
        // what the others leave; nothing; and a tenth for the farthest one.
        let costs = [100_000.0, 25_000.0, 0.0, 0.0, 100_000.0];
        for _ in 0..60 {
            for (rank, cost) in costs.iter().enumerate() {
                (0..1000)
                    .for_each(|_| all.took(rank as Rank, Duration::from_nanos((cost * part(rank)) as u64)));
                all.took(rank as Rank, Duration::from_nanos(u64::from(*cost > 0.0)));
            }
            all.took(0, Duration::from_secs(1));
            all.budget(1_000_000_000);
        }
        assert!((part(0) - 0.1).abs() < 0.005, "{}", part(0));
        assert_eq!([part(2), part(3)], [1.0, 1.0]);
        let [near, far] = [costs[1] * part(1), costs[4] * part(4)];
        assert!((near + far - 20_000.0).abs() < 400.0, "{near} {far}");
        assert!(near.min(far) > 2_500.0, "{near} {far}");
        let (mut represented, mut next) = (0.0, [0; 4]);
        for _ in 0..40_000 {
            let caller = all.random() >> 30;
            if let Some(number) = all.throttles[0].draw(all.random()) {
                represented += number;
                next[caller as usize] += 1;
            }
        }
        assert!((37_000.0..43_000.0).contains(&represented), "{represented}");
        assert!(next.iter().all(|number| (850..1150).contains(number)), "{next:?}");
    }
}
