//! From words to blocks: in which order the blocks of a thread follow each other.
//!
//! A path end reports all blocks of its path at once, when the last of them has been executed. By then the
//! methods that were called on the way have reported theirs. So there are two streams that can be made of it.
//!
//! * [`Order::PathEnds`]: a path's blocks are together, where the path ended. Blocks of methods that were
//!   called from the path come before them. Only path ends are needed: no activations, no call sites.
//!   Sequences of a loop's iterations are those of the program; where calls are made, those of the path ends.
//! * [`Order::Calls`]: blocks are where they were entered; those of a callee come after the block of the
//!   caller that has the call. That needs to know, at the call, how far the caller has got: a word `Prefix`
//!   with the caller's path register right before the word `Enter` with the call's bytecode index. Register
//!   and block together are a unique beginning of a path (PEP section 3.2). Where that is missing
//!   (activations that are reported by `OnlyPath`, calls whose `Prefix` or call site is missing), it is as
//!   with `PathEnds`.
//!
//! In both, a path that an exception broke off is missing from where it is not known any more, and so are
//! loop iterations that the probes do not report.

use trodden_profile::events::{Event, Kind, Word};

use super::runs::Run;
use super::shapes::{PathShapes, ShapeCache};

/// See the module.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Order {
    /// By the ends of paths.
    #[default]
    PathEnds,
    /// By the beginnings of blocks, where there are `Prefix` words.
    Calls,
}

impl Order {
    /// Its name in profiles.
    pub fn name(self) -> &'static str {
        match self {
            Order::PathEnds => "path-ends",
            Order::Calls => "calls",
        }
    }
}

/// A consumer of a thread's blocks.
pub trait BlockStream {
    /// The next blocks. `header`: the first of them is a loop's header, each time that the run is repeated.
    fn run(&mut self, shapes: &impl PathShapes, run: Run, header: bool);

    /// This number of path ends that have no blocks, or unknown ones.
    fn nothing(&mut self, times: u64) {
        let _ = times;
    }

    /// Blocks are missing here: no subpath crosses it.
    fn hole(&mut self);
}

/// Counts of inconsistencies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OrderTally {
    /// Path ends of unknown methods or with impossible numbers.
    pub unknown: u64,
    /// Gaps in the stream.
    pub gaps: u64,
    /// Words that no probe writes.
    pub bad_words: u64,
}

/// Turns one thread's words into its blocks.
#[derive(Clone, Debug, Default)]
pub struct WordOrder {
    order: Order,
    cache: ShapeCache,
    /// Method of each open activation, and how many blocks of its running path were handed on.
    stack: Vec<(u32, u32)>,
    /// Open activations below those.
    below: usize,
    /// Method and register of the last word, if it was a `Prefix`.
    prefix: Option<(u32, u32)>,
    tally: OrderTally,
}

const PATHS: u32 = 1 << Kind::PathEnd as u32 | 1 << Kind::LastPath as u32 | 1 << Kind::OnlyPath as u32;

impl WordOrder {
    /// No activation is open.
    pub fn new(order: Order) -> Self {
        WordOrder {
            order,
            ..WordOrder::default()
        }
    }

    /// Counts of inconsistencies.
    pub fn tally(&self) -> OrderTally {
        self.tally
    }

    /// Forgets what did not fit.
    pub fn reset(&mut self) {
        self.tally = OrderTally::default();
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.cache.bytes() + self.stack.capacity() * size_of::<(u32, u32)>()
    }

    /// The thread's next words.
    pub fn consume(&mut self, words: &[u64], shapes: &impl PathShapes, out: &mut impl BlockStream) {
        match self.order {
            Order::PathEnds => self.path_ends(words, shapes, out),
            Order::Calls => words
                .iter()
                .for_each(|&word| self.call_order(Word(word), shapes, out)),
        }
    }

    fn path_ends(&mut self, words: &[u64], shapes: &impl PathShapes, out: &mut impl BlockStream) {
        let mut rest = words;
        while let Some(&word) = rest.first() {
            // Loops repeat their paths.
            let times = rest.iter().take_while(|&&other| other == word).count();
            rest = &rest[times..];
            let word = Word(word);
            if PATHS >> (word.0 >> 60) & 1 != 0 {
                self.path(shapes, out, word.method(), word.argument(), 0, times);
            } else {
                match word.decode() {
                    Ok(Event::Gap) => {
                        self.tally.gaps += times as u64;
                        out.hole();
                    }
                    Ok(Event::Burst { .. }) => out.hole(),
                    Ok(_) => {}
                    Err(_) => self.tally.bad_words += times as u64,
                }
            }
        }
    }

    /// Hands on a path from its block number `from` on.
    #[inline]
    fn path(
        &mut self,
        shapes: &impl PathShapes,
        out: &mut impl BlockStream,
        method: u32,
        path: u32,
        from: u32,
        times: usize,
    ) {
        let Some(shape) = self.cache.shape(shapes, method, path) else {
            self.tally.unknown += times as u64;
            out.hole();
            out.nothing(times as u64);
            return;
        };
        let blocks = shape.blocks.saturating_sub(from);
        if blocks == 0 {
            out.nothing(times as u64);
            return;
        }
        let mut left = times;
        while left > 0 {
            let times = left.min(u32::MAX as usize);
            left -= times;
            let run = Run {
                method,
                path,
                from,
                blocks,
                times: times as u32,
            };
            out.run(shapes, run, shape.header && from == 0);
        }
    }

    fn call_order(&mut self, word: Word, shapes: &impl PathShapes, out: &mut impl BlockStream) {
        let prefix = self.prefix.take();
        match word.decode() {
            Ok(Event::Prefix { method, register }) => self.prefix = Some((method, register)),
            Ok(Event::Enter { method, call_site }) => {
                if let (Some(prefix), Some(site)) = (prefix, call_site) {
                    self.up_to_call(prefix, site, shapes, out);
                }
                self.stack.push((method, 0));
            }
            Ok(Event::PathEnd { method, path }) => self.top_path(shapes, out, method, path),
            Ok(Event::LastPath { method, path }) => {
                self.top_path(shapes, out, method, path);
                self.stack.pop();
            }
            Ok(Event::OnlyPath { method, path }) => self.path(shapes, out, method, path, 0, 1),
            Ok(Event::Exit { method }) => {
                self.surface(method);
                self.stack.pop();
            }
            Ok(Event::Unwound { depth }) => self.unwound(depth as usize),
            Ok(Event::Gap) => {
                self.tally.gaps += 1;
                self.stack.clear();
                self.below = 0;
                out.hole();
            }
            Ok(Event::Block { .. } | Event::Charge { .. } | Event::Before { .. } | Event::Below { .. }) => {}
            Ok(Event::Burst { .. }) => {
                self.stack.clear();
                self.below = 0;
                out.hole();
            }
            // Only contexts know of these.
            Ok(Event::Call { .. }) | Err(_) => self.tally.bad_words += 1,
        }
    }

    /// A call: hands on what the caller has done since its last one.
    fn up_to_call(
        &mut self,
        (method, register): (u32, u32),
        site: u16,
        shapes: &impl PathShapes,
        out: &mut impl BlockStream,
    ) {
        self.surface(method);
        let entered = shapes.entered(method, register, site);
        let header = self
            .cache
            .shape(shapes, method, register)
            .is_some_and(|shape| shape.header);
        let (Some((_, done)), Some(entered)) = (self.stack.last_mut(), entered) else {
            self.tally.unknown += 1;
            return;
        };
        if let Some(blocks) = entered.checked_sub(*done).filter(|&blocks| blocks > 0) {
            let run = Run {
                method,
                path: register,
                from: *done,
                blocks,
                times: 1,
            };
            *done = entered;
            out.run(shapes, run, header && run.from == 0);
        }
    }

    fn top_path(&mut self, shapes: &impl PathShapes, out: &mut impl BlockStream, method: u32, path: u32) {
        self.surface(method);
        let done = self.stack.last_mut().map_or(0, |(_, done)| std::mem::take(done));
        self.path(shapes, out, method, path, done, 1);
    }

    /// Makes sure that the topmost activation is one of `method`: what is not known of it begins here.
    fn surface(&mut self, method: u32) {
        if self.stack.last().is_none_or(|&(top, _)| top != method) {
            self.below = (self.below + self.stack.len()).saturating_sub(1);
            self.stack.clear();
            self.stack.push((method, 0));
        }
    }

    fn unwound(&mut self, depth: usize) {
        match depth.checked_sub(self.below) {
            Some(known) if known <= self.stack.len() => self.stack.truncate(known),
            // None is left that is known, or more than were entered: then they may be any.
            _ => {
                self.stack.clear();
                self.below = depth;
            }
        }
    }
}
