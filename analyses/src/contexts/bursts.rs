//! Static and adaptive bursts.

use std::num::{NonZeroU32, NonZeroU64};

use rustc_hash::{FxHashMap, FxHashSet};

use super::frame::Frame;
use super::random::Random;
use super::{ContextError, ContextSink};

/// Which bursts take place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BurstKind {
    /// All of them.
    Static,
    /// Those that begin in a context in which none did before (Zhuang et al., PLDI 2006; HCCT section 5.5);
    /// and of the others one in `reenable`, at random (the paper's RR is its reciprocal), which counts
    /// `reenable`-fold so that hot contexts are not made to look rare. `None`: no others.
    Adaptive {
        /// One in this number of bursts takes place in a context where there was one before.
        reenable: Option<NonZeroU32>,
    },
}

/// Counts of events and bursts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BurstTally {
    /// All events.
    pub events: u64,
    /// Events in bursts.
    pub taken: u64,
    /// Bursts.
    pub bursts: u64,
    /// Bursts left out because there had been one in the same context.
    pub skipped: u64,
    /// Activations found by the stack walks at the beginnings of bursts.
    pub walked: u64,
}

impl BurstTally {
    /// Adds another thread's.
    pub fn add(&mut self, other: &BurstTally) {
        self.events += other.events;
        self.taken += other.taken;
        self.bursts += other.bursts;
        self.skipped += other.skipped;
        self.walked += other.walked;
    }
}

/// Hands on what happens in bursts, and before each the current stack.
///
/// An *event* is a call, a return, or an unwinding. At the beginning of a burst the inner sink gets a
/// [`gap`](ContextSink::gap) and then every open activation ([`place`](ContextSink::place)): what a walk of
/// the stack would show. So each call within a burst is counted in its true context, and between bursts the
/// inner sink costs nothing. In a replayed stream the stack comes from following all events; in a running
/// program, from the program.
///
/// What the inner algorithm guarantees holds for the calls (and weights) that it was given. How near their
/// distribution is to the whole run's is a matter of sampling, and no guarantee.
#[derive(Clone, Debug)]
pub struct ContextBursts<S> {
    inner: S,
    interval: u64,
    length: u64,
    kind: BurstKind,
    /// Events since the current interval began.
    clock: u64,
    /// Weight factor of the current burst.
    burst: Option<u64>,
    stack: Vec<Frame>,
    thread: u64,
    parked: FxHashMap<u64, Vec<Frame>>,
    /// Contexts in which a burst began, as hashes of the stack.
    visited: FxHashSet<u64>,
    random: Random,
    tally: BurstTally,
}

impl<S: ContextSink> ContextBursts<S> {
    /// A burst of `length` events at the beginning of every `interval` of events. `seed` is for re-enabling:
    /// equal seeds and streams give equal bursts. Fails if bursts overlap.
    pub fn new(
        inner: S,
        interval: NonZeroU64,
        length: NonZeroU64,
        kind: BurstKind,
        seed: u64,
    ) -> Result<Self, ContextError> {
        let (interval, length) = (interval.get(), length.get());
        if length > interval {
            return Err(ContextError::BurstLength { interval, length });
        }
        Ok(ContextBursts {
            inner,
            interval,
            length,
            kind,
            clock: 0,
            burst: None,
            stack: Vec::new(),
            thread: 0,
            parked: FxHashMap::default(),
            visited: FxHashSet::default(),
            random: Random::new(seed),
            tally: BurstTally::default(),
        })
    }

    /// The sink that consumes the bursts.
    pub fn inner(&self) -> &S {
        &self.inner
    }

    /// The sink that consumed the bursts.
    pub fn into_inner(self) -> S {
        self.inner
    }

    /// Counts of the events that were taken in so far.
    pub fn tally(&self) -> BurstTally {
        self.tally
    }

    /// Lets the inner sink forget its counts; open activations and the current burst continue. Contexts count
    /// as new again.
    pub fn reset(&mut self, forget: impl FnOnce(&mut S)) {
        forget(&mut self.inner);
        self.visited.clear();
        self.tally = BurstTally::default();
    }

    /// Before an event.
    #[inline]
    fn before(&mut self) {
        self.tally.events += 1;
        if self.clock == 0 {
            self.begin();
        }
        self.tally.taken += u64::from(self.burst.is_some());
    }

    /// After an event.
    #[inline]
    fn after(&mut self) {
        self.clock += 1;
        if self.clock == self.length && self.burst.take().is_some() {
            self.inner.gap();
        }
        if self.clock == self.interval {
            self.clock = 0;
        }
    }

    #[cold]
    fn begin(&mut self) {
        let factor = match self.kind {
            BurstKind::Static => Some(1),
            BurstKind::Adaptive { reenable } => {
                let new = self.visited.insert(hash(&self.stack));
                match reenable {
                    _ if new => Some(1),
                    Some(n) if self.random.one_in(n.get()) => Some(u64::from(n.get())),
                    _ => None,
                }
            }
        };
        self.burst = factor;
        if factor.is_some() {
            self.tally.bursts += 1;
            self.walk();
        } else {
            self.tally.skipped += 1;
        }
    }

    fn walk(&mut self) {
        self.inner.gap();
        for &frame in &self.stack {
            self.inner.place(frame);
        }
        self.tally.walked += self.stack.len() as u64;
    }
}

fn hash(stack: &[Frame]) -> u64 {
    use std::hash::{Hash, Hasher};
    let mut hasher = rustc_hash::FxHasher::default();
    stack.hash(&mut hasher);
    hasher.finish()
}

impl<S: ContextSink> ContextSink for ContextBursts<S> {
    #[inline]
    fn enter(&mut self, frame: Frame, weight: u64) {
        self.before();
        if let Some(factor) = self.burst {
            self.inner.enter(frame, weight.saturating_mul(factor));
        }
        self.stack.push(frame);
        self.after();
    }

    #[inline]
    fn exit(&mut self) {
        self.before();
        if self.burst.is_some() {
            self.inner.exit();
        }
        self.stack.pop();
        self.after();
    }

    fn unwind(&mut self, depth: u32) {
        self.before();
        if self.burst.is_some() {
            self.inner.unwind(depth);
        }
        self.stack.truncate(depth as usize);
        self.after();
    }

    fn gap(&mut self) {
        self.stack.clear();
        if self.burst.is_some() {
            self.inner.gap();
        }
    }

    fn place(&mut self, frame: Frame) {
        self.stack.push(frame);
        if self.burst.is_some() {
            self.inner.place(frame);
        }
    }

    fn charge(&mut self, weight: u64) {
        if let Some(factor) = self.burst {
            self.inner.charge(weight.saturating_mul(factor));
        }
    }

    fn switch(&mut self, thread: u64) {
        if thread == self.thread {
            return;
        }
        let next = self.parked.remove(&thread).unwrap_or_default();
        let last = std::mem::replace(&mut self.stack, next);
        if !last.is_empty() {
            self.parked.insert(self.thread, last);
        }
        self.thread = thread;
        if self.burst.is_some() {
            self.walk();
        }
    }

    fn end_thread(&mut self) {
        self.gap();
    }
}
