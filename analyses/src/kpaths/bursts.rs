//! Whole activations of sampled windows.

use std::num::NonZeroU64;

use trodden_profile::Schedule;

use super::activation::ActivationAnalysis;

/// Hands on only the activations that a schedule samples, each of them whole.
///
/// The schedule of path ends (PEP section 4.4), read in activations: after a clock tick some activations are
/// skipped, then as many as the schedule says are taken. `sag:64:17` takes 64 activations in a row after
/// skipping 0 to 16, in rotation. A tick during a window starts a new one. Before the first tick nothing is
/// sampled.
///
/// *Resynchronisation is exact.* Whether an activation is sampled is decided when it is entered and holds
/// until it ends, though the window be over: all of its paths are handed on, none of its caller's or callees'
/// unless those are sampled themselves. An activation that was open when the window began is not sampled, in
/// that window or a later one. So what the inner analysis sees of a sampled activation is what it would have
/// seen of it without bursts, and every sequence it counts was executed; only how many are counted is less.
///
/// *What this cannot see:* an activation that runs for ever, such as a main loop, is sampled only if it
/// begins in a window. And a sampled one that runs for ever is followed to its end.
#[derive(Clone, Debug)]
pub struct ActivationBursts<A> {
    inner: A,
    schedule: Schedule,
    every: Option<NonZeroU64>,
    /// Number of ticks so far.
    ticks: u64,
    /// First and last activation to take, and the distance between two; counted from the tick.
    window: (u64, u64, u64),
    /// Activations since the last tick (since the beginning, before the first).
    since: u64,
    /// Per open activation, true if it is sampled.
    open: Vec<bool>,
    entered: u64,
    sampled: u64,
}

impl<A: ActivationAnalysis> ActivationBursts<A> {
    /// Windows begin when [`tick`](Self::tick) is called, say by a clock.
    pub fn new(schedule: Schedule, inner: A) -> Self {
        ActivationBursts {
            inner,
            schedule,
            every: None,
            ticks: 0,
            window: (u64::MAX, 0, 1),
            since: 0,
            open: Vec::new(),
            entered: 0,
            sampled: 0,
        }
    }

    /// Ticks on its own, before the first activation and then after every `activations` of them: windows that
    /// depend on the stream alone, as a replay needs them.
    pub fn every(activations: NonZeroU64, schedule: Schedule, inner: A) -> Self {
        let mut bursts = ActivationBursts::new(schedule, inner);
        bursts.every = Some(activations);
        bursts.tick();
        bursts
    }

    /// The clock ticked: a window begins.
    pub fn tick(&mut self) {
        let first = self.schedule.sample_indices(self.ticks).next().unwrap_or(0);
        let step = match self.schedule {
            Schedule::Ag { stride, .. } => u64::from(stride.get()),
            Schedule::Timer | Schedule::Sag { .. } | Schedule::Span { .. } => 1,
        };
        self.window = (first, self.schedule.last_index(self.ticks), step);
        self.ticks = self.ticks.wrapping_add(1);
        self.since = 0;
    }

    /// Returns true if every activation of the current window has been entered. Until the next tick no events
    /// of new activations are needed then, and none at all once [`open_sampled`](Self::open_sampled) is 0.
    pub fn is_over(&self) -> bool {
        self.since > self.window.1 || self.window.0 > self.window.1
    }

    /// Open activations that are sampled.
    pub fn open_sampled(&self) -> usize {
        self.open.iter().filter(|&&sampled| sampled).count()
    }

    /// Activations entered and, of these, sampled. Counts times their quotient estimate those of the whole
    /// run.
    pub fn activations(&self) -> (u64, u64) {
        (self.entered, self.sampled)
    }

    /// The analysis of the sampled activations, to be changed. Afterwards none of the open activations is
    /// sampled, and entered and sampled ones are counted from zero; the windows continue.
    pub fn restart(&mut self) -> &mut A {
        self.open.fill(false);
        (self.entered, self.sampled) = (0, 0);
        &mut self.inner
    }

    /// The analysis that consumes the sampled activations.
    pub fn inner(&self) -> &A {
        &self.inner
    }

    /// The analysis that consumed the sampled activations.
    pub fn into_inner(self) -> A {
        self.inner
    }
}

impl<A: ActivationAnalysis> ActivationAnalysis for ActivationBursts<A> {
    fn enter(&mut self, method: u32) {
        if self.every.is_some_and(|every| self.since == every.get()) {
            self.tick();
        }
        let (first, last, step) = self.window;
        let sampled = (first..=last).contains(&self.since) && (self.since - first).is_multiple_of(step);
        self.since += 1;
        self.entered += 1;
        self.open.push(sampled);
        if sampled {
            self.sampled += 1;
            self.inner.enter(method);
        }
    }

    fn path(&mut self, path: u64) {
        if self.open.last() == Some(&true) {
            self.inner.path(path);
        }
    }

    fn paths(&mut self, words: &[u64]) {
        if self.open.last() == Some(&true) {
            self.inner.paths(words);
        }
    }

    fn exit(&mut self) {
        if self.open.pop() == Some(true) {
            self.inner.exit();
        }
    }

    fn abandon(&mut self) {
        self.open.clear();
        self.inner.abandon();
    }
}
