//! Calls and returns from the words of one thread's stream.

use trodden_profile::events::{Event, Kind, Step, Word};
use trodden_profile::options::ContextWeight;

use super::stream::{Driver, Known, QueryableSink};
use super::{ContextSink, Frame, UNKNOWN_SITE};
use crate::stream::StackTally;

/// Calls and returns from words.
pub(super) struct Words<S> {
    sink: S,
    /// Methods of the open activations.
    methods: Vec<u32>,
    /// If the stream has paths to calls: of each activation, the path to its current call.
    along: Vec<Option<u32>>,
    /// How many of them, the lowest ones, are from before profiling: the stream's depths do not count these.
    before: usize,
    /// The bytecode index of the topmost one's call in progress.
    call: Option<u16>,
    /// Open activations below those, of which nothing is known.
    below: usize,
    /// Weight of a call.
    per_call: u64,
    prefix: Option<u32>,
    /// `Enter` words to come that rebuild the stack.
    rebuild: u32,
    tally: StackTally,
}

impl<S: ContextSink> Words<S> {
    pub(super) fn new(sink: S, weight: ContextWeight) -> Self {
        Words {
            sink,
            methods: Vec::new(),
            along: Vec::new(),
            before: 0,
            call: None,
            below: 0,
            per_call: u64::from(weight == ContextWeight::Calls),
            prefix: None,
            rebuild: 0,
            tally: StackTally::default(),
        }
    }

    #[inline]
    fn enter(&mut self, method: u32, site: Option<u16>) {
        let site = site.or_else(|| self.call_from_before());
        let mut frame = Frame::new(method, site.unwrap_or(UNKNOWN_SITE));
        if self.prefix.is_some() || !self.along.is_empty() {
            self.tell_prefix(&mut frame);
        }
        self.methods.push(method);
        if self.rebuild > 0 {
            self.rebuild -= 1;
            self.sink.place(frame);
        } else {
            self.sink.enter(frame, self.per_call);
        }
    }

    /// The call site of what an activation from before profiling calls: it has no probes, so it reports none.
    #[cold]
    fn call_from_before(&self) -> Option<u16> {
        let calls = self.before > 0 && self.methods.len() == self.before;
        self.call.filter(|_| calls)
    }

    /// No activation with probes is open. Next come as many activations from before profiling as this word
    /// says.
    #[cold]
    fn forget_before(&mut self) {
        self.abandon(0);
        self.along.clear();
    }

    #[cold]
    fn begun_before(&mut self, method: u32, call: Option<u16>) {
        // Between the list's words there is no other word.
        let frame = Frame::new(method, self.call_from_before().unwrap_or(UNKNOWN_SITE));
        self.methods.push(method);
        self.before = self.methods.len();
        self.call = call;
        self.sink.place(frame);
    }

    /// The path that led to a call: the word right before it, or as for the caller's last callee, if it is
    /// still the same call (code without probes calls back). The JVM calls initialisers on its own: no path
    /// is theirs.
    #[inline(never)]
    fn tell_prefix(&mut self, frame: &mut Frame) {
        // Its own, and of no activation that was there before.
        self.along.truncate(self.methods.len());
        self.along.resize(self.methods.len() + 1, None);
        let Some(caller) = self.methods.len().checked_sub(1) else {
            self.prefix = None;
            return;
        };
        let path = self.prefix.take().or(self.along[caller]);
        self.along[caller] = path;
        if frame.site != UNKNOWN_SITE {
            frame.prefix = path.map(u64::from);
        }
    }

    /// The topmost activation must be one of `method`. If not, one of `method` begins whose callers are not
    /// known.
    #[inline]
    fn surface(&mut self, method: u32) {
        if self.methods.last() != Some(&method) {
            self.orphan(method);
        }
    }

    #[cold]
    fn orphan(&mut self, method: u32) {
        // As many are open as before, of which the topmost one is now known.
        self.abandon(self.open().saturating_sub(1));
        self.tally.orphans += 1;
        self.enter(method, None);
    }

    /// As the stream counts.
    fn open(&self) -> usize {
        self.below + self.methods.len() - self.before
    }

    /// Forgets all activations; only their number is known.
    fn abandon(&mut self, open: usize) {
        self.rebuild = 0;
        self.before = 0;
        self.below = open;
        if !self.methods.is_empty() {
            self.methods.clear();
            self.sink.gap();
        }
    }

    #[inline]
    fn exit(&mut self) {
        self.methods.pop();
        self.sink.exit();
    }

    #[cold]
    fn lost_exit(&mut self) {
        self.tally.lost_exits += 1;
        self.abandon(self.open().saturating_sub(1));
    }

    #[cold]
    fn unwound(&mut self, depth: usize) {
        match depth.checked_sub(self.below) {
            Some(known) if known + self.before <= self.methods.len() => {
                let known = known + self.before;
                self.methods.truncate(known);
                self.sink.unwind(known as u32);
            }
            // None is left that is known; or more are than were ever entered: those on the stack may be any
            // of them.
            _ => self.abandon(depth),
        }
    }

    #[cold]
    fn gap(&mut self, word: Word) {
        self.tally.gaps += 1;
        self.abandon(0);
        self.rebuild = word.argument();
    }

    /// Calls and returns of activations that are all known, which nearly all words are: those at the
    /// beginning. Returns the rest.
    #[inline]
    fn steps<'w>(&mut self, words: &'w [u64]) -> &'w [u64] {
        if self.prefix.is_some() || !self.along.is_empty() || self.before > 0 || self.rebuild > 0 {
            return words;
        }
        let mut words = words.iter();
        loop {
            let rest = words.as_slice();
            match words.next().and_then(|&word| Word(word).step()) {
                Some(Step::Enter { method, site }) => {
                    let frame = Frame::new(method, site);
                    // Half of all calls call nothing.
                    if words.as_slice().first() == Some(&Word::exit(method).0) {
                        words.next();
                        self.sink.leaf(frame, self.per_call);
                    } else {
                        self.methods.push(method);
                        self.sink.enter(frame, self.per_call);
                    }
                }
                Some(Step::Exit { method }) if self.methods.last() == Some(&method) => self.exit(),
                _ => return rest,
            }
        }
    }

    /// Any word.
    #[inline]
    fn word(&mut self, word: Word) {
        if word.kind() == Some(Kind::Gap) {
            return self.gap(word);
        }
        match word.decode() {
            Ok(event) => self.event(event),
            Err(_) => self.tally.bad_words += 1,
        }
    }

    #[inline]
    fn event(&mut self, event: Event) {
        match event {
            Event::Enter { method, call_site } => self.enter(method, call_site),
            Event::Exit { method } if self.methods.last() == Some(&method) => self.exit(),
            Event::Exit { .. } => self.lost_exit(),
            Event::Prefix { register, .. } => {
                self.prefix = Some(register);
                return;
            }
            Event::PathEnd { method, .. } => self.surface(method),
            Event::LastPath { method, .. } => {
                self.surface(method);
                self.exit();
            }
            Event::OnlyPath { method, .. } => {
                self.enter(method, None);
                self.exit();
            }
            Event::Unwound { depth } => self.unwound(depth as usize),
            Event::Charge { weight } => {
                // Time whose context is not known is charged to none.
                if !self.methods.is_empty() {
                    self.sink.charge(weight.into());
                }
                return;
            }
            Event::Before { .. } => self.forget_before(),
            Event::Below { method, call } => self.begun_before(method, call),
            Event::Gap | Event::Block { .. } => {}
            // Of bursts by the clock, which have a driver of their own.
            Event::Call { .. } | Event::Burst { .. } => self.tally.bad_words += 1,
        }
        // A register belongs to the very next call.
        self.prefix = None;
    }
}

impl<S: QueryableSink> Driver for Words<S> {
    fn consume(&mut self, mut words: &[u64]) {
        loop {
            words = self.steps(words);
            let Some((&word, rest)) = words.split_first() else {
                return;
            };
            words = rest;
            self.word(Word(word));
        }
    }

    fn reset(&mut self) {
        self.tally = StackTally::default();
        self.sink.forget();
    }

    fn tally(&self) -> StackTally {
        self.tally
    }

    fn known(&self) -> Option<Known> {
        self.sink.known()
    }
}

#[cfg(test)]
mod tests {
    use super::super::random::Random;
    use super::super::{ContextTreeBuilder, Exact};
    use super::*;

    /// Words of all kinds, most of them calls and returns that fit together; also of what no probe writes.
    fn stream(seed: u64) -> Vec<u64> {
        let mut random = Random::new(seed);
        let mut methods = vec![];
        let mut words = vec![];
        for _ in 0..2_000 {
            let method = random.failures(1).min(9) as u32;
            let event = match random.next() % 40 {
                0 => Event::Unwound {
                    depth: random.failures(1) as u32,
                },
                1 => Event::Prefix {
                    method,
                    register: random.failures(1) as u32,
                },
                2 => Event::OnlyPath { method, path: 0 },
                3 => Event::LastPath { method, path: 1 },
                4 => Event::Exit { method },
                5 if random.one_in(20) => Event::Before { activations: 1 },
                6 if random.one_in(10) => Event::Below { method, call: None },
                7 if random.one_in(4) => Event::Charge { weight: 3 },
                8 if random.one_in(10) => Event::Call { method, bci: 0 },
                9 if random.one_in(10) => {
                    words.push(Word::GAP.0 | random.failures(1));
                    methods.clear();
                    continue;
                }
                10 if random.one_in(10) => {
                    words.push(Word::exit(method).0 | 1);
                    continue;
                }
                n if n % 2 == 0 || methods.is_empty() => {
                    methods.push(method);
                    let site = random.failures(1).min(3) as u16;
                    Event::Enter {
                        method,
                        call_site: (site > 0).then_some(site),
                    }
                }
                _ => Event::Exit {
                    method: methods.pop().unwrap_or(method),
                },
            };
            words.push(event.word().0);
        }
        words
    }

    #[test]
    fn steps_are_what_the_words_say() {
        for seed in 0..200 {
            let words = stream(seed);
            // Prefixes change how all calls after them are read.
            let plain: Vec<u64> = words
                .iter()
                .copied()
                .filter(|&word| Word(word).kind() != Some(Kind::Prefix))
                .collect();
            for words in [words, plain] {
                let new = || Words::new(ContextTreeBuilder::new(Exact), ContextWeight::Calls);
                let (mut fast, mut slow) = (new(), new());
                words.chunks(97).for_each(|chunk| fast.consume(chunk));
                words.iter().for_each(|&word| slow.word(Word(word)));
                assert_eq!(fast.tally, slow.tally);
                assert_eq!(fast.methods, slow.methods);
                let nodes = |of: &Words<ContextTreeBuilder<Exact>>| -> Vec<_> {
                    of.sink.snapshot().nodes().collect()
                };
                assert_eq!(nodes(&fast), nodes(&slow));
                assert!(fast.sink.stats().contexts > 20, "{:?}", fast.sink.stats());
            }
        }
    }
}
