//! k-iteration paths in bursts by the clock: what each group of bursts counts, apart, and what the end of a
//! burst cuts off.

use rustc_hash::FxHashMap;
use trodden_profile::BURST_GROUPS;
use trodden_profile::events::{Event, Kind, Word};

use super::{ActivationWords, KSink, StackTally};
use crate::kpaths::{Activations, ForestError, PathSink};

/// The last paths of activations that were open when a burst ended, by method: at most `k - 1`, as a longer
/// sequence has no continuation. How many activations ended with each. What came after them is not known, nor
/// after the shorter sequences at their ends.
#[derive(Clone, Debug, Default)]
pub struct Tails(FxHashMap<u32, FxHashMap<Box<[u64]>, u64>>);

impl Tails {
    /// Ends these activations without their continuations.
    fn cut<A>(&mut self, open: &[Tail<A>]) {
        for tail in open {
            self.add(tail.method, &tail.last, 1);
        }
    }

    fn add(&mut self, method: u32, tail: &[u64], times: u64) {
        if !tail.is_empty() {
            let of_method = self.0.entry(method).or_default();
            *of_method.entry(tail.into()).or_default() += times;
        }
    }

    fn plus(&mut self, other: &Tails) {
        for (&method, tails) in &other.0 {
            tails
                .iter()
                .for_each(|(tail, &times)| self.add(method, tail, times));
        }
    }

    /// The sequences of a method that were cut, and how often, each time apart.
    pub fn of(&self, method: u32) -> impl Iterator<Item = (&[u64], u64)> {
        let tails = self.0.get(&method).into_iter().flatten();
        tails.flat_map(|(tail, &times)| (0..tail.len()).map(move |from| (&tail[from..], times)))
    }
}

/// A sink that knows the last paths of each open activation.
#[derive(Clone, Debug)]
struct Tailed<S> {
    sink: S,
    /// How many.
    most: usize,
}

/// The state of an activation in the sink, its method, and its last paths.
#[derive(Clone, Debug)]
struct Tail<A> {
    activation: A,
    method: u32,
    last: Vec<u64>,
}

impl<S: PathSink> PathSink for Tailed<S> {
    type Activation = Tail<S::Activation>;

    fn begin(&self, method: u32) -> Self::Activation {
        Tail {
            activation: self.sink.begin(method),
            method,
            last: Vec::new(),
        }
    }

    fn path(&mut self, tail: &mut Self::Activation, path: u64) {
        if tail.last.len() == self.most {
            tail.last.remove(0);
        }
        tail.last.push(path);
        self.sink.path(&mut tail.activation, path);
    }

    fn end(&mut self, tail: Self::Activation) {
        self.sink.end(tail.activation);
    }
}

/// A thread's bursts: the forest of each group of bursts.
#[derive(Clone)]
pub struct TimedBursts<S: KSink> {
    words: ActivationWords<Activations<Tailed<S>>>,
    /// The group whose sink is in `words`.
    group: usize,
    /// The sinks of the others; none at its own place.
    others: Vec<Option<Tailed<S>>>,
    /// Tails of the bursts that have ended, by group.
    tails: Vec<Tails>,
}

impl<S: KSink> TimedBursts<S> {
    /// No burst yet; `empty` is a sink without paths for sequences of up to `k`.
    pub fn new(empty: &S, k: u32) -> Self {
        let empty = Tailed {
            sink: empty.clone(),
            most: k as usize - 1,
        };
        let mut others = vec![Some(empty.clone()); BURST_GROUPS];
        others[0] = None;
        TimedBursts {
            words: ActivationWords::new(Activations::new(empty)),
            group: 0,
            others,
            tails: vec![Tails::default(); BURST_GROUPS],
        }
    }

    /// Takes in the thread's next words.
    pub fn consume(&mut self, words: &[u64]) {
        let mut rest = words;
        while let Some(at) = rest.iter().position(|&word| cuts(Word(word))) {
            let (before, others) = rest.split_at(at);
            self.words.consume(before);
            self.tails[self.group].cut(self.words.analysis().open());
            self.words.consume(&others[..1]);
            if let Ok(Event::Burst { group, .. }) = Word(others[0]).decode() {
                self.change_to(group as usize);
            }
            rest = &others[1..];
        }
        self.words.consume(rest);
    }

    fn change_to(&mut self, group: usize) {
        if let Some(next) = self.others[group].take() {
            let (activations, ..) = self.words.parts_mut();
            self.others[self.group] = Some(activations.restart(next, &[]));
            self.group = group;
        }
    }

    /// Counts of inconsistencies.
    pub fn tally(&self) -> StackTally {
        self.words.tally()
    }

    /// Bytes held by the sinks.
    pub fn bytes(&self) -> u64 {
        self.sinks().map(|sink| sink.sink.bytes()).sum()
    }

    /// The sinks by group.
    fn sinks(&self) -> impl Iterator<Item = &Tailed<S>> {
        let current = self.words.analysis().sink();
        self.others
            .iter()
            .map(move |other| other.as_ref().unwrap_or(current))
    }

    /// Adds its groups to those of all threads.
    ///
    /// # Errors
    /// If there would be too many nodes.
    pub fn add_to(&self, forests: &mut [(S::Forest, Tails)]) -> Result<(), ForestError> {
        let open = self.words.analysis().open();
        for (group, (sink, (forest, tails))) in self.sinks().zip(forests).enumerate() {
            tails.plus(&self.tails[group]);
            if group != self.group {
                sink.sink.add_to(&[], forest)?;
                continue;
            }
            tails.cut(open);
            let open: Vec<_> = open.iter().map(|tail| tail.activation.clone()).collect();
            sink.sink.add_to(&open, forest)?;
        }
        Ok(())
    }
}

/// True for a word after which open activations continue unseen, if at all.
fn cuts(word: Word) -> bool {
    matches!(word.kind(), Some(Kind::Burst | Kind::Gap))
}
