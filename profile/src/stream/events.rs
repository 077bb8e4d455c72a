//! The words of the event stream: what probes append to a thread's buffer, analyses consume and traces hold.
//!
//! A word is 64 bits: kind in bits 63..60, method in bits 59..32, argument in bits 31..0. A probe pushes the constant
//! [`Word::head`] of its kind and method and adds the argument, so an event is one 64-bit store.
//!
//! | kind | name | argument | meaning |
//! | --- | --- | --- | --- |
//! | 0 | `PathEnd` | path number | the topmost activation ended a path and continues |
//! | 1 | `Enter` | bytecode index of the call in the caller, 0xffff if not known | an activation of the method is pushed |
//! | 2 | `Exit` | 0 | the topmost activation returns (where no `LastPath` says so) |
//! | 3 | `LastPath` | path number | the topmost activation ended a path by returning, and is popped |
//! | 4 | `OnlyPath` | path number | a whole activation with one path: neither `Enter` nor `Exit` |
//! | 5 | `Unwound` | activations that remain on the stack | exceptions have ended all above; method 0 |
//! | 6 | `Block` | block index | the topmost activation entered a basic block |
//! | 7 | `Prefix` | path register | the path so far of the activation that calls: belongs to the `Enter` right after it (`weight=call-paths`) |
//! | 8 | `Gap` | 0 | events are missing from here on: no activation is known; method 0 |
//! | 9 | `Call` | bytecode index, 0xffff if not known | the activation of the method is about to call from there |
//! | 10 | `Charge` | weight | nanoseconds or bytes of the topmost activation's; method 0 |
//! | 11 | `Burst` | group × 2^28 + activations | a burst of a group begins, each call of which represents *method* calls; that number of `Enter` words follow, which rebuild the stack |
//! | 12 | `Before` | activations | what was there before profiling, below all that tells: as many activations as `Below` words follow; method 0 |
//! | 13 | `Below` | bytecode index of its open call, 0xffff if not known | such an activation, the outermost first |
//!
//! **Exceptions.** Nothing is appended while an exception unwinds activations. The next event of an activation that
//! survived is preceded by `Unwound`, so the stack is exact whenever another word is read.
//!
//! **After a gap** the stack is rebuilt from the bottom by the `Enter` words that follow.
//!
//! **Bursts.** Where probes are off between bursts, the words of a burst are `Burst`, the stack as a walk found it, and what happens until
//! the burst is over, of which nothing tells. An `Enter` from [`CALL_UNDER_WAY`] was called from where the caller's last `Call`
//! said. Words of kinds 9 to 13 are for analyses of the running program: a trace does not hold them.
//!
//! **Counted activations.** Where probes count activations of one path, these have no words, and the others' `Enter` comes with
//! their first path, behind the words of callees that have ended.
//!
//! **Late attach.** A stream may begin with paths of an activation whose `Enter` was never recorded. Activations of code without
//! probes, from before an attach, say nothing themselves, and no `Unwound` counts them; a walk of the stack finds them, and `Before` tells
//! them whenever they have changed, while no other activation is open.
//!
//! ```
//! use trodden_profile::events::{Event, Kind, Word};
//!
//! let head = Word::head(Kind::PathEnd, 7).unwrap(); // a constant of the instrumented code
//! let word = Word(head.0 + 3); // path 3 has ended
//! assert_eq!(word.decode(), Ok(Event::PathEnd { method: 7, path: 3 }));
//! ```

/// Largest method id.
pub const MAX_METHOD: u32 = (1 << 28) - 1;

pub use crate::BURST_GROUPS;

const GROUP_SHIFT: u32 = 28;
/// The argument of an [`Event::Enter`] whose call site is not known.
pub const NO_CALL_SITE: u32 = 0xffff;

/// The call site of an [`Event::Enter`] that is the one that the caller's last [`Event::Call`] told. No call can stand there: the
/// instruction would not fit a method.
pub const CALL_UNDER_WAY: u16 = 0xfffe;

const KIND_SHIFT: u32 = 60;
const METHOD_SHIFT: u32 = 32;

/// What a word says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Kind {
    /// A path ended, the activation continues.
    PathEnd = 0,
    /// An activation begins.
    Enter = 1,
    /// The topmost activation returns.
    Exit = 2,
    /// A path ended by a return.
    LastPath = 3,
    /// An activation with one path, from beginning to end.
    OnlyPath = 4,
    /// Exceptions have ended activations.
    Unwound = 5,
    /// A basic block was entered.
    Block = 6,
    /// The path register at a call, in front of the call's `Enter`.
    Prefix = 7,
    /// Events are missing.
    Gap = 8,
    /// A call is about to be made.
    Call = 9,
    /// A weight of the topmost activation.
    Charge = 10,
    /// A burst begins.
    Burst = 11,
    /// How many activations from before profiling there are.
    Before = 12,
    /// One of them.
    Below = 13,
}

impl Kind {
    /// All kinds, by number.
    pub const ALL: [Kind; 14] = [
        Kind::PathEnd,
        Kind::Enter,
        Kind::Exit,
        Kind::LastPath,
        Kind::OnlyPath,
        Kind::Unwound,
        Kind::Block,
        Kind::Prefix,
        Kind::Gap,
        Kind::Call,
        Kind::Charge,
        Kind::Burst,
        Kind::Before,
        Kind::Below,
    ];

    /// The kind of a number.
    pub const fn of(number: u8) -> Option<Kind> {
        if (number as usize) < Kind::ALL.len() {
            Some(Kind::ALL[number as usize])
        } else {
            None
        }
    }
}

/// A word of the stream, as the probes write it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Word(pub u64);

/// A word that no probe writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WordError {
    /// The kind is not known.
    #[error("word {word:#018x}: {kind} is no kind of event")]
    Kind {
        /// The word.
        word: u64,
        /// Its kind.
        kind: u8,
    },
    /// The kind has no room for this method or argument.
    #[error("word {word:#018x}: {what} must be {limit}")]
    Content {
        /// The word.
        word: u64,
        /// What is wrong.
        what: &'static str,
        /// What it may be.
        limit: &'static str,
    },
}

/// The commonest words of streams with activations, for who cannot wait for [`Word::decode`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// [`Event::Enter`]; the call site is [`NO_CALL_SITE`] if it is not known.
    Enter {
        /// What begins.
        method: u32,
        /// Bytecode index of the call.
        site: u16,
    },
    /// [`Event::Exit`].
    Exit {
        /// What returns.
        method: u32,
    },
}

/// A word, taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // The fields are what they are called; the module's table says what they mean.
pub enum Event {
    /// The topmost activation, one of `method`, ended a path and continues.
    PathEnd { method: u32, path: u32 },
    /// An activation begins. `call_site`: bytecode index of the call in the caller, if known.
    Enter { method: u32, call_site: Option<u16> },
    /// The topmost activation returns.
    Exit { method: u32 },
    /// The topmost activation ended a path by returning.
    LastPath { method: u32, path: u32 },
    /// An activation with this one path.
    OnlyPath { method: u32, path: u32 },
    /// Exceptions ended all activations but the lowest `depth`.
    Unwound { depth: u32 },
    /// The topmost activation entered a basic block.
    Block { method: u32, block: u32 },
    /// The topmost activation, one of `method`, is about to call and has come so far: its path register. The `Enter` of
    /// what it calls is next. Written where contexts are distinguished by the path that led to each call.
    Prefix { method: u32, register: u32 },
    /// Events are missing; no activation is known.
    Gap,
    /// The topmost activation, one of `method`, is about to call from a bytecode index, [`NO_CALL_SITE`] if that is not known.
    Call { method: u32, bci: u32 },
    /// The topmost activation has taken these nanoseconds, or allocated these bytes, since the last word.
    Charge { weight: u32 },
    /// A burst begins: each call represents `factor` calls; that number of `Enter` words follow, which rebuild the stack.
    Burst {
        factor: u32,
        group: u32,
        activations: u32,
    },
    /// Below all activations that tell of themselves are so many from before profiling, told by as many `Below` words.
    Before { activations: u32 },
    /// An activation from before profiling, and the bytecode index of its open call, if known.
    Below { method: u32, call: Option<u16> },
}

impl Word {
    /// A word without its argument: the constant to which a probe adds one. `None` if `method` is above
    /// [`MAX_METHOD`].
    pub const fn head(kind: Kind, method: u32) -> Option<Word> {
        if method > MAX_METHOD {
            return None;
        }
        Some(Word::of(kind, method, 0))
    }

    /// The path of the topmost activation ended.
    pub const fn path_end(method: u32, path: u32) -> Word {
        Word::of(Kind::PathEnd, method, path)
    }

    /// An activation begins.
    pub const fn enter(method: u32, call_site: Option<u16>) -> Word {
        Word::of(Kind::Enter, method, site_number(call_site))
    }

    /// The topmost activation returns.
    pub const fn exit(method: u32) -> Word {
        Word::of(Kind::Exit, method, 0)
    }

    /// The topmost activation's last path ended by a return.
    pub const fn last_path(method: u32, path: u32) -> Word {
        Word::of(Kind::LastPath, method, path)
    }

    /// A whole activation.
    pub const fn only_path(method: u32, path: u32) -> Word {
        Word::of(Kind::OnlyPath, method, path)
    }

    /// All activations but the lowest `depth` are gone.
    pub const fn unwound(depth: u32) -> Word {
        Word::of(Kind::Unwound, 0, depth)
    }

    /// The topmost activation entered a block.
    pub const fn block(method: u32, block: u32) -> Word {
        Word::of(Kind::Block, method, block)
    }

    /// Events are missing from here on.
    pub const GAP: Word = Word::of(Kind::Gap, 0, 0);

    /// The topmost activation is about to call.
    pub const fn call(method: u32, bci: u32) -> Word {
        Word::of(Kind::Call, method, bci)
    }

    /// Nanoseconds or bytes of the topmost activation.
    pub const fn charge(weight: u32) -> Word {
        Word::of(Kind::Charge, 0, weight)
    }

    /// A burst of a group (below [`BURST_GROUPS`]) begins, with so many activations open (at most
    /// [`MAX_METHOD`]). `factor`: at most [`MAX_METHOD`].
    pub const fn burst(factor: u32, group: u32, activations: u32) -> Word {
        Word::of(
            Kind::Burst,
            factor,
            group << GROUP_SHIFT | activations & MAX_METHOD,
        )
    }

    /// So many activations from before profiling are below all others.
    pub const fn before(activations: u32) -> Word {
        Word::of(Kind::Before, 0, activations)
    }

    /// One of them, and its open call.
    pub const fn below(method: u32, call: Option<u16>) -> Word {
        Word::of(Kind::Below, method, site_number(call))
    }

    /// Method ids above [`MAX_METHOD`] lose their upper bits: callers must refuse them.
    const fn of(kind: Kind, method: u32, argument: u32) -> Word {
        debug_assert!(method <= MAX_METHOD);
        Word((kind as u64) << KIND_SHIFT | ((method & MAX_METHOD) as u64) << METHOD_SHIFT | argument as u64)
    }

    /// The kind, if it is one.
    #[inline]
    pub const fn kind(self) -> Option<Kind> {
        Kind::of((self.0 >> KIND_SHIFT) as u8)
    }

    /// The method id (0 for kinds without one).
    #[inline]
    pub const fn method(self) -> u32 {
        (self.0 >> METHOD_SHIFT) as u32 & MAX_METHOD
    }

    /// The argument.
    #[inline]
    pub const fn argument(self) -> u32 {
        self.0 as u32
    }

    /// Kind and method, which all words of a probe have in common.
    #[inline]
    pub const fn upper(self) -> u32 {
        (self.0 >> METHOD_SHIFT) as u32
    }

    /// A call or a return; `None` of any other word, and of one that no probe writes.
    #[inline(always)]
    pub const fn step(self) -> Option<Step> {
        const ENTER: u64 = Kind::Enter as u64;
        const EXIT: u64 = Kind::Exit as u64;
        let method = self.method();
        match (self.0 >> KIND_SHIFT, self.argument()) {
            (ENTER, site @ 0..=NO_CALL_SITE) => Some(Step::Enter {
                method,
                site: site as u16,
            }),
            (EXIT, 0) => Some(Step::Exit { method }),
            _ => None,
        }
    }

    /// Takes the word apart.
    ///
    /// # Errors
    /// If it is none that a probe writes.
    #[inline]
    pub fn decode(self) -> Result<Event, WordError> {
        let (method, argument) = (self.method(), self.argument());
        let Some(kind) = self.kind() else {
            return Err(WordError::Kind {
                word: self.0,
                kind: (self.0 >> KIND_SHIFT) as u8,
            });
        };
        let bad = |what, limit| WordError::Content {
            word: self.0,
            what,
            limit,
        };
        Ok(match kind {
            Kind::PathEnd => Event::PathEnd {
                method,
                path: argument,
            },
            Kind::Enter if argument > NO_CALL_SITE => {
                return Err(bad("the call site", "at most 65535"));
            }
            Kind::Enter => Event::Enter {
                method,
                call_site: (argument != NO_CALL_SITE).then_some(argument as u16),
            },
            Kind::Exit if argument != 0 => return Err(bad("the argument of an exit", "0")),
            Kind::Exit => Event::Exit { method },
            Kind::LastPath => Event::LastPath {
                method,
                path: argument,
            },
            Kind::OnlyPath => Event::OnlyPath {
                method,
                path: argument,
            },
            Kind::Unwound if method != 0 => return Err(bad("the method of an unwinding", "0")),
            Kind::Unwound => Event::Unwound { depth: argument },
            Kind::Block => Event::Block {
                method,
                block: argument,
            },
            Kind::Prefix => Event::Prefix {
                method,
                register: argument,
            },
            Kind::Gap if self.0 != Word::GAP.0 => {
                return Err(bad("method and argument of a gap", "0"));
            }
            Kind::Gap => Event::Gap,
            Kind::Call if argument > NO_CALL_SITE => return Err(bad("the place of a call", "at most 65535")),
            Kind::Call => Event::Call {
                method,
                bci: argument,
            },
            Kind::Charge if method != 0 => return Err(bad("the method of a weight", "0")),
            Kind::Charge => Event::Charge { weight: argument },
            Kind::Burst if method == 0 => return Err(bad("the factor of a burst", "at least 1")),
            Kind::Burst => Event::Burst {
                factor: method,
                group: argument >> GROUP_SHIFT,
                activations: argument & MAX_METHOD,
            },
            Kind::Before if method != 0 => return Err(bad("the method of a list", "0")),
            Kind::Before => Event::Before {
                activations: argument,
            },
            Kind::Below if argument > NO_CALL_SITE => {
                return Err(bad("the place of a call", "at most 65535"));
            }
            Kind::Below => Event::Below {
                method,
                call: (argument != NO_CALL_SITE).then_some(argument as u16),
            },
        })
    }
}

/// The argument for a bytecode index.
const fn site_number(site: Option<u16>) -> u32 {
    match site {
        Some(bci) => bci as u32,
        None => NO_CALL_SITE,
    }
}

impl Event {
    /// The word that decodes to this. (Call site 0xffff is one that is not known.)
    pub const fn word(self) -> Word {
        match self {
            Event::PathEnd { method, path } => Word::path_end(method, path),
            Event::Enter { method, call_site } => Word::enter(method, call_site),
            Event::Exit { method } => Word::exit(method),
            Event::LastPath { method, path } => Word::last_path(method, path),
            Event::OnlyPath { method, path } => Word::only_path(method, path),
            Event::Unwound { depth } => Word::unwound(depth),
            Event::Block { method, block } => Word::block(method, block),
            Event::Prefix { method, register } => Word::of(Kind::Prefix, method, register),
            Event::Gap => Word::GAP,
            Event::Call { method, bci } => Word::call(method, bci),
            Event::Charge { weight } => Word::charge(weight),
            Event::Burst {
                factor,
                group,
                activations,
            } => Word::burst(factor, group, activations),
            Event::Before { activations } => Word::before(activations),
            Event::Below { method, call } => Word::below(method, call),
        }
    }
}

/// Which events a stream has, or an analysis wants: the instrumentation leaves out what no analysis reads.
///
/// [`Default`] is none of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct EventKinds {
    /// Path ends: `PathEnd`, and `LastPath` or `OnlyPath` where they also say something about activations.
    pub paths: bool,
    /// Beginning and end of activations: `Enter`, `Exit` (or `LastPath`), `Unwound`, `Gap`.
    pub activations: bool,
    /// `Enter` has the call site. Needs `activations`.
    pub call_sites: bool,
    /// `OnlyPath` for methods without loops, in place of `Enter` and `LastPath`: about half the words. Who wants the
    /// calls that such an activation makes nested inside it has to do without.
    pub only_paths: bool,
    /// Basic blocks: `Block`.
    pub blocks: bool,
}

impl EventKinds {
    /// No kind at all.
    pub const NONE: EventKinds = EventKinds {
        paths: false,
        activations: false,
        call_sites: false,
        only_paths: false,
        blocks: false,
    };
    /// Path ends of any activation.
    pub const PATHS: EventKinds = EventKinds {
        paths: true,
        only_paths: true,
        ..EventKinds::NONE
    };
    /// Path ends and whose they are.
    pub const ACTIVATION_PATHS: EventKinds = EventKinds {
        activations: true,
        ..EventKinds::PATHS
    };

    /// What serves both: all kinds that either wants, and `OnlyPath` only if it suits both.
    #[must_use]
    pub const fn and(self, other: EventKinds) -> EventKinds {
        EventKinds {
            paths: self.paths || other.paths,
            activations: self.activations || other.activations,
            call_sites: self.call_sites || other.call_sites,
            // Who wants no paths, is not told about any; who wants nothing, has no say.
            only_paths: (self.only_paths || self.bits() == 0) && (other.only_paths || other.bits() == 0),
            blocks: self.blocks || other.blocks,
        }
    }

    /// Does a stream with these kinds have all that `wanted` needs?
    pub const fn has(self, wanted: EventKinds) -> bool {
        (self.paths || !wanted.paths)
            && (self.activations || !wanted.activations)
            && (self.call_sites || !wanted.call_sites)
            && (self.blocks || !wanted.blocks)
            && (wanted.only_paths || !self.only_paths || wanted.bits() == 0)
    }

    /// One bit each: 1 paths, 2 activations, 4 call sites, 8 only paths, 16 blocks.
    pub const fn bits(self) -> u8 {
        self.paths as u8
            | (self.activations as u8) << 1
            | (self.call_sites as u8) << 2
            | (self.only_paths as u8) << 3
            | (self.blocks as u8) << 4
    }

    /// The kinds of a set of bits; `None` if there is an unknown one among them.
    pub const fn from_bits(bits: u8) -> Option<EventKinds> {
        if bits >= 1 << 5 {
            return None;
        }
        Some(EventKinds {
            paths: bits & 1 != 0,
            activations: bits & 2 != 0,
            call_sites: bits & 4 != 0,
            only_paths: bits & 8 != 0,
            blocks: bits & 16 != 0,
        })
    }
}

/// A thread whose events are recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ThreadInfo {
    /// Its number: unique in the run, also among threads that have ended.
    pub id: u64,
    /// Its name when it began, or empty.
    pub name: String,
    /// Is it a virtual thread?
    pub is_virtual: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVENTS: [Event; 22] = [
        Event::PathEnd { method: 0, path: 0 },
        Event::PathEnd {
            method: MAX_METHOD,
            path: u32::MAX,
        },
        Event::Enter {
            method: 5,
            call_site: None,
        },
        Event::Enter {
            method: 5,
            call_site: Some(0),
        },
        Event::Enter {
            method: MAX_METHOD,
            call_site: Some(65534),
        },
        Event::Exit { method: 1 },
        Event::LastPath { method: 2, path: 9 },
        Event::OnlyPath { method: 3, path: 1 },
        Event::Unwound { depth: 0 },
        Event::Unwound { depth: u32::MAX },
        Event::Block { method: 4, block: 17 },
        Event::Prefix {
            method: 4,
            register: 1,
        },
        Event::Gap,
        Event::PathEnd {
            method: 1,
            path: 0x7fff_ffff,
        },
        Event::Call {
            method: 7,
            bci: NO_CALL_SITE,
        },
        Event::Charge { weight: u32::MAX },
        Event::Burst {
            factor: 1,
            group: 0,
            activations: 0,
        },
        Event::Burst {
            factor: MAX_METHOD,
            group: BURST_GROUPS as u32 - 1,
            activations: MAX_METHOD,
        },
        Event::Before { activations: 0 },
        Event::Before {
            activations: u32::MAX,
        },
        Event::Below {
            method: MAX_METHOD,
            call: None,
        },
        Event::Below {
            method: 0,
            call: Some(65534),
        },
    ];

    #[test]
    fn the_table_above_has_each_kind_with_its_number() {
        let rows: Vec<&str> = include_str!("events.rs")
            .lines()
            .map_while(|line| line.strip_prefix("//!"))
            .filter(|line| line.starts_with(" | "))
            .collect();
        for kind in Kind::ALL {
            let row = format!(" | {} | `{kind:?}` | ", kind as u8);
            let found = rows.iter().find(|line| line.starts_with(&row));
            let found = found.unwrap_or_else(|| panic!("no row {row}"));
            // All are in use.
            assert!(!found.contains("reserved"), "{found}");
        }
    }

    #[test]
    fn events_are_words_and_back() {
        for event in EVENTS {
            assert_eq!(event.word().decode(), Ok(event));
            let step = match event {
                Event::Enter { method, call_site } => Some(Step::Enter {
                    method,
                    site: call_site.unwrap_or(NO_CALL_SITE as u16),
                }),
                Event::Exit { method } => Some(Step::Exit { method }),
                _ => None,
            };
            assert_eq!(event.word().step(), step);
        }
        for bad in [0x1000_0007_0001_0000, 0x2000_0007_0000_0001] {
            assert_eq!(Word(bad).step(), None);
        }
    }

    #[test]
    fn the_layout_is_the_documented_one() {
        assert_eq!(Word::path_end(7, 3).0, 0x0000_0007_0000_0003);
        assert_eq!(Word::enter(7, None).0, 0x1000_0007_0000_ffff);
        assert_eq!(Word::enter(7, Some(2)).0, 0x1000_0007_0000_0002);
        assert_eq!(Word::exit(7).0, 0x2000_0007_0000_0000);
        assert_eq!(Word::last_path(7, 3).0, 0x3000_0007_0000_0003);
        assert_eq!(Word::only_path(MAX_METHOD, 3).0, 0x4fff_ffff_0000_0003);
        assert_eq!(Word::unwound(2).0, 0x5000_0000_0000_0002);
        assert_eq!(Word::block(7, 3).0, 0x6000_0007_0000_0003);
        assert_eq!(Word::GAP.0, 0x8000_0000_0000_0000);
        assert_eq!(Word::GAP.0 as i64, i64::MIN);
        assert_eq!(Word::head(Kind::LastPath, MAX_METHOD + 1), None);
    }

    #[test]
    fn words_of_no_event_are_refused() {
        for word in [
            0x9000_0000_0001_0000,
            0xa000_0001_0000_0000,
            0xb000_0000_0000_0000,
            0xc000_0001_0000_0000,
            0xd000_0001_0001_0000,
            0xe000_0000_0000_0000,
            u64::MAX,
            Word::GAP.0 + 1,
            Word::exit(7).0 + 1,
            Word::unwound(1).0 | 1 << METHOD_SHIFT,
            Word::enter(1, None).0 + 1,
        ] {
            let error = Word(word).decode().unwrap_err().to_string();
            assert!(error.contains(&format!("{word:#018x}")), "{error}");
        }
    }

    #[test]
    fn kinds_add_up() {
        let paths = EventKinds::PATHS;
        let calls = EventKinds {
            activations: true,
            call_sites: true,
            ..EventKinds::default()
        };
        let both = paths.and(calls);
        assert!(both.has(calls) && !both.only_paths);
        assert!(both.has(EventKinds::ACTIVATION_PATHS));
        assert!(!paths.has(calls) && !EventKinds::ACTIVATION_PATHS.has(calls));
        assert_eq!(EventKinds::default().and(paths), paths);
        for bits in 0..32 {
            assert_eq!(EventKinds::from_bits(bits).unwrap().bits(), bits);
        }
        assert_eq!(EventKinds::from_bits(32), None);
    }
}
