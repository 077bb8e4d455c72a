//! From words to activations: the one place that knows how the stack of a thread follows from its words.

use trodden_profile::events::{Event, Kind, Word};

use crate::kpaths::ActivationAnalysis;

/// What did not fit together in a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StackTally {
    /// Activations whose beginning was not in the stream: they had begun before recording did, or in a gap. Their
    /// paths are counted as if they had begun with the first one seen.
    pub orphans: u64,
    /// Exits of activations that were not on the stack.
    pub lost_exits: u64,
    /// Gaps: events were left out.
    pub gaps: u64,
    /// Words that no probe writes.
    pub bad_words: u64,
}

impl StackTally {
    /// Adds another thread's.
    pub fn add(&mut self, other: &StackTally) {
        self.orphans += other.orphans;
        self.lost_exits += other.lost_exits;
        self.gaps += other.gaps;
        self.bad_words += other.bad_words;
    }
}

/// Drives an [`ActivationAnalysis`] with one thread's words.
///
/// It keeps the methods of the open activations that it knows, and the number of those below them that it does not (they
/// had begun before the stream, or before a gap), and holds each word against the topmost one:
///
/// * `Unwound` ends all activations but as many as it says, known or not. At the beginning of a stream it tells how many
///   there are.
/// * A path, or an exit, of another method than the topmost one's means that activations on the stack were not those of the
///   program (something was lost, or began before the stream). All are abandoned, and the path counts as the first one of
///   an *orphan*, an activation whose beginning is not known.
/// * `Gap` abandons all activations; `Enter` words that follow build the stack anew from its bottom.
/// * Bad words are counted and passed over.
#[derive(Clone, Debug)]
pub struct ActivationWords<A> {
    analysis: A,
    methods: Vec<u32>,
    /// Open activations below those of `methods`.
    below: usize,
    tally: StackTally,
}

impl<A: ActivationAnalysis> ActivationWords<A> {
    /// No activation is open.
    pub fn new(analysis: A) -> Self {
        ActivationWords {
            analysis,
            methods: Vec::new(),
            below: 0,
            tally: StackTally::default(),
        }
    }

    /// What is driven.
    pub fn analysis(&self) -> &A {
        &self.analysis
    }

    /// What is driven, and the methods of the open activations, the outermost first.
    pub fn parts_mut(&mut self) -> (&mut A, &[u32], &mut StackTally) {
        (&mut self.analysis, &self.methods, &mut self.tally)
    }

    /// What did not fit together.
    pub fn tally(&self) -> StackTally {
        self.tally
    }

    /// Methods of the open activations, the outermost first.
    pub fn methods(&self) -> &[u32] {
        &self.methods
    }

    /// Takes in the thread's next words.
    pub fn consume(&mut self, words: &[u64]) {
        let mut rest = words;
        while let Some(&word) = rest.first() {
            let word = Word(word);
            // Kind 0 makes the upper half of a path end the method itself: all paths of the topmost activation up to
            // the next other event at once.
            if word.upper() >> 28 == Kind::PathEnd as u32 {
                let method = word.upper();
                let run = rest.iter().take_while(|&&w| Word(w).upper() == method).count();
                let (paths, others) = rest.split_at(run);
                self.surface(method);
                self.analysis.paths(paths);
                rest = others;
                continue;
            }
            rest = &rest[1..];
            self.event(word);
        }
    }

    /// Makes sure that the topmost activation is one of `method`.
    #[inline]
    fn surface(&mut self, method: u32) {
        if self.methods.last() != Some(&method) {
            self.orphan(method);
        }
    }

    #[cold]
    fn orphan(&mut self, method: u32) {
        // As many are open as before, of which the topmost one is now known.
        let open = self.below + self.methods.len();
        self.abandon(open.saturating_sub(1));
        self.tally.orphans += 1;
        self.methods.push(method);
        self.analysis.enter(method);
    }

    /// Knows no activation any more, but that so many are open.
    fn abandon(&mut self, open: usize) {
        self.below = open;
        if !self.methods.is_empty() {
            self.methods.clear();
            self.analysis.abandon();
        }
    }

    #[inline]
    fn event(&mut self, word: Word) {
        match word.decode() {
            Ok(Event::Enter { method, .. }) => {
                self.methods.push(method);
                self.analysis.enter(method);
            }
            Ok(Event::LastPath { method, path }) => {
                self.surface(method);
                self.analysis.path(u64::from(path));
                self.methods.pop();
                self.analysis.exit();
            }
            Ok(Event::OnlyPath { method, path }) => self.analysis.only_path(method, u64::from(path)),
            Ok(Event::PathEnd { method, path }) => {
                self.surface(method);
                self.analysis.path(u64::from(path));
            }
            Ok(Event::Exit { method }) => {
                if self.methods.last() == Some(&method) {
                    self.methods.pop();
                    self.analysis.exit();
                } else {
                    self.tally.lost_exits += 1;
                    let open = self.below + self.methods.len();
                    self.abandon(open.saturating_sub(1));
                }
            }
            Ok(Event::Unwound { depth }) => self.unwound(depth as usize),
            Ok(Event::Gap) => {
                self.tally.gaps += 1;
                self.abandon(0);
            }
            Ok(Event::Block { .. } | Event::Prefix { .. }) => {}
            Err(_) => self.tally.bad_words += 1,
        }
    }

    #[cold]
    fn unwound(&mut self, depth: usize) {
        let open = self.below + self.methods.len();
        match (open.checked_sub(depth), depth.checked_sub(self.below)) {
            (Some(above), Some(known)) => {
                self.methods.truncate(known);
                self.analysis.unwind(above as u32);
            }
            // None is left that is known; or more are than were ever entered: those on the stack may be any of them.
            _ => self.abandon(depth),
        }
    }
}
