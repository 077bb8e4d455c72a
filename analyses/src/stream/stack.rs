//! From words to activations: the one place that knows how the stack of a thread follows from its words.

use trodden_profile::events::{Event, Kind, Word};

use crate::kpaths::ActivationAnalysis;

/// What did not fit together in a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StackTally {
    /// Activations whose beginning was not in the stream: they had begun before recording did, or in a gap.
    /// Their paths are counted as if they had begun with the first one seen.
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

/// Path numbers with this bit come one by one.
const LARGE: u64 = 1 << 31;

/// How many of the words, from the first on, end small paths of a method's activation that goes on.
fn run_of(method: u32, words: &[u64]) -> usize {
    let front = u64::from(method) << 1;
    let others = |block: &[u64; 8]| block.iter().fold(0, |all, word| all | word >> 31 ^ front) != 0;
    let is_one = |&word: &u64| word >> 31 == front;
    // Most runs are very short, and most words are in long ones.
    if let Some(end) = words.iter().take(4).position(|word| !is_one(word)) {
        return end;
    }
    let (blocks, _) = words.as_chunks::<8>();
    let run = 8 * blocks.iter().take_while(|&block| !others(block)).count();
    run + words[run..].iter().take_while(|&word| is_one(word)).count()
}

/// Drives an [`ActivationAnalysis`] with one thread's words.
///
/// It keeps the methods of the open activations that it knows, and the number of those below them that it
/// does not (they had begun before the stream, or before a gap), and holds each word against the topmost one:
///
/// * `Unwound` ends all activations but as many as it says, known or not. At the beginning of a stream it
///   gives how many there are.
/// * A path, or an exit, of another method than the topmost one's means that activations on the stack were
///   not those of the program (something was lost, or began before the stream). All are abandoned, and the
///   path counts as the first one of an *orphan*, an activation whose beginning is not known.
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

    /// Takes in the thread's next words.
    pub fn consume(&mut self, words: &[u64]) {
        let mut rest = words;
        while let Some(&word) = rest.first() {
            let word = Word(word);
            // Kind 0 makes the upper half of a path end the method itself: all paths of the topmost
            // activation up to the next other event at once.
            if word.0 >> 60 == Kind::PathEnd as u64 && word.0 & LARGE == 0 {
                let method = word.upper();
                let run = run_of(method, rest);
                let (paths, others) = rest.split_at(run);
                self.surface(method);
                self.analysis.paths(paths);
                rest = others;
                continue;
            }
            rest = &rest[1..];
            if let Ok(Event::Enter { method, .. }) = word.decode() {
                // An activation without calls that ends in this batch needs no place on the stack.
                let run = run_of(method, rest);
                let (paths, others) = rest.split_at(run);
                let last = others.first().map(|&word| Word(word).decode());
                let whole = match last {
                    Some(Ok(Event::LastPath { method: m, path }))
                        if (m, path & LARGE as u32) == (method, 0) =>
                    {
                        Some(run + 1)
                    }
                    Some(Ok(Event::Exit { method: m })) if m == method => Some(run),
                    _ => None,
                };
                if let Some(words) = whole {
                    self.analysis.activation(method, &rest[..words]);
                    rest = &rest[run + 1..];
                } else {
                    self.methods.push(method);
                    self.analysis.enter(method);
                    if run > 0 {
                        self.analysis.paths(paths);
                    }
                    rest = others;
                }
                continue;
            }
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

    /// Forgets all activations; only their number is known.
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
            Ok(
                Event::Block { .. }
                | Event::Prefix { .. }
                | Event::Charge { .. }
                | Event::Before { .. }
                | Event::Below { .. },
            ) => {}
            // Of bursts only contexts know.
            Ok(Event::Call { .. } | Event::Burst { .. }) | Err(_) => self.tally.bad_words += 1,
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
            // None is left that is known; or more are than were ever entered: those on the stack may be any
            // of them.
            _ => self.abandon(depth),
        }
    }
}
