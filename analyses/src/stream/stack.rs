//! From words to activations: the one place that knows how the stack of a thread follows from its words.

use trodden_profile::events::{Event, Kind, NO_CALL_SITE, Word};

use crate::kpaths::ActivationAnalysis;

/// Counts of inconsistencies in a stream.
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

/// Words that are taken apart at once.
const PIECE: usize = 1024;

const PATH_END: u64 = Kind::PathEnd as u64;
const ENTER: u64 = Kind::Enter as u64;
const LAST_PATH: u64 = Kind::LastPath as u64;
const ONLY_PATH: u64 = Kind::OnlyPath as u64;

/// Returns true for a whole activation with one path, whose number is below 2^31.
#[inline(always)]
fn is_only(word: u64) -> bool {
    word >> 60 == ONLY_PATH && word >> 31 & 1 == 0
}

/// Returns true if activations of one path and others are mixed, according to a sample.
fn is_mixed(words: &[u64]) -> bool {
    let (blocks, _) = words.as_chunks::<8>();
    let changes = blocks
        .iter()
        .filter(|block| is_only(block[0]) != is_only(block[1]));
    changes.count() > blocks.len() / 16
}

/// How many of the words, from the first on, begin with these 33 bits: kind, method, and a path number below
/// 2^31.
#[inline]
fn run_of(front: u64, words: &[u64]) -> usize {
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
/// does not (they had begun before the stream, or before a gap), and compares each word with the topmost one:
///
/// * `Unwound` ends all activations but as many as it says, known or not. At the beginning of a stream it
///   gives how many there are.
/// * A path, or an exit, of another method than the topmost one's means that activations on the stack were
///   not those of the program (something was lost, or began before the stream). All are abandoned, and the
///   path counts as the first one of an *orphan*, an activation whose beginning is not known.
/// * `Gap` abandons all activations; `Enter` words that follow build the stack again from its bottom.
/// * Bad words are counted and passed over.
#[derive(Clone, Debug)]
pub struct ActivationWords<A> {
    analysis: A,
    methods: Vec<u32>,
    /// Open activations below those of `methods`.
    below: usize,
    tally: StackTally,
    /// True if words are to be taken apart, as those before were mixed.
    mixed: bool,
    /// Room for that.
    halves: Option<Box<[[u64; PIECE]; 2]>>,
}

impl<A: ActivationAnalysis> ActivationWords<A> {
    /// No activation is open.
    pub fn new(analysis: A) -> Self {
        ActivationWords {
            analysis,
            methods: Vec::new(),
            below: 0,
            tally: StackTally::default(),
            mixed: false,
            halves: None,
        }
    }

    /// The analysis that is driven.
    pub fn analysis(&self) -> &A {
        &self.analysis
    }

    /// The analysis that is driven, and the methods of the open activations, the outermost first.
    pub fn parts_mut(&mut self) -> (&mut A, &[u32], &mut StackTally) {
        (&mut self.analysis, &self.methods, &mut self.tally)
    }

    /// Counts of inconsistencies.
    pub fn tally(&self) -> StackTally {
        self.tally
    }

    /// Takes in the thread's next words.
    pub fn consume(&mut self, words: &[u64]) {
        let mut rest = words;
        while self.mixed && !rest.is_empty() {
            let (piece, others) = rest.split_at(rest.len().min(PIECE));
            self.mixed = is_mixed(piece);
            if self.mixed {
                self.apart(piece)
            } else {
                self.in_order(piece);
            }
            rest = others;
        }
        let only = self.in_order(rest);
        self.mixed |= A::COMMUTES && only > words.len() / 16;
    }

    /// At most [`PIECE`] words: activations of one path first. What is left has longer runs, and each half of
    /// it is easier to foresee for the processor.
    fn apart(&mut self, words: &[u64]) {
        let mut halves = self.halves.take().unwrap_or_else(|| Box::new([[0; PIECE]; 2]));
        let [only, others] = &mut *halves;
        let (mut of_only, mut of_others) = (0, 0);
        for &word in words {
            // Both are written, and one of them counts: a branch would be foreseen wrongly.
            only[of_only % PIECE] = word;
            others[of_others % PIECE] = word;
            let is_only = usize::from(is_only(word));
            of_only += is_only;
            of_others += 1 - is_only;
        }
        self.analysis.only_paths(&only[..of_only]);
        self.in_order(&others[..of_others]);
        self.halves = Some(halves);
    }

    /// Returns in how many places there were activations of one path.
    fn in_order(&mut self, words: &[u64]) -> usize {
        let mut only = 0;
        let mut rest = words;
        while let Some(&word) = rest.first() {
            let front = word >> 31;
            let method = Word(word).method();
            match front >> 29 {
                // All paths of the topmost activation up to the next other event at once.
                PATH_END if front & 1 == 0 => {
                    let (paths, others) = rest.split_at(run_of(front, rest));
                    self.surface(method);
                    self.analysis.paths(paths);
                    rest = others;
                }
                ENTER if word as u32 <= NO_CALL_SITE => rest = self.entered(method, &rest[1..]),
                ONLY_PATH if A::COMMUTES && front & 1 == 0 => {
                    let run = rest.iter().take_while(|&&word| is_only(word)).count();
                    let (paths, others) = rest.split_at(run);
                    self.analysis.only_paths(paths);
                    only += 1;
                    rest = others;
                }
                LAST_PATH => {
                    self.last_path(method, word & u64::from(u32::MAX));
                    rest = &rest[1..];
                }
                _ => {
                    self.event(Word(word));
                    rest = &rest[1..];
                }
            }
        }
        only
    }

    /// An activation begins. Returns the words behind what was taken in.
    #[inline]
    fn entered<'w>(&mut self, method: u32, words: &'w [u64]) -> &'w [u64] {
        let path_end = u64::from(method) << 1;
        let (paths, others) = words.split_at(run_of(path_end, words));
        // One without calls that ends in this batch needs no place on the stack.
        if let Some((&last, behind)) = others.split_first() {
            if last >> 31 == LAST_PATH << 29 | path_end {
                self.analysis.activation(method, &words[..=paths.len()]);
                return behind;
            }
            if last == Word::exit(method).0 {
                self.analysis.activation(method, paths);
                return behind;
            }
        }
        self.methods.push(method);
        self.analysis.enter(method);
        if !paths.is_empty() {
            self.analysis.paths(paths);
        }
        others
    }

    #[inline]
    fn last_path(&mut self, method: u32, path: u64) {
        self.surface(method);
        self.analysis.path(path);
        self.methods.pop();
        self.analysis.exit();
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
                self.entered(method, &[]);
            }
            Ok(Event::LastPath { method, path }) => self.last_path(method, u64::from(path)),
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
            // What was open when the last one ended is not known any more.
            Ok(Event::Burst { .. }) => self.abandon(0),
            // Only contexts know of these.
            Ok(Event::Call { .. }) | Err(_) => self.tally.bad_words += 1,
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
