//! Contexts from bursts of a running program: probes are off between them, so the stream is nothing but
//! bursts.

use trodden_profile::events::{CALL_UNDER_WAY, Event, Word};

use super::stream::{Driver, Known, QueryableSink};
use super::{BurstTally, Frame, UNKNOWN_SITE};
use crate::stream::StackTally;

/// An activation on the stack.
#[derive(Clone, Copy, Debug)]
struct Open {
    method: u32,
    /// The bytecode index of its call in progress.
    site: u16,
}

/// Calls and returns from the words of bursts (`trodden_profile::events`, kinds `Burst` and `Call`).
///
/// Each burst brings the stack along, so nothing is carried over from one to the next. Within a burst every
/// activation reports its end, however it ends; constructors that die in `super(…)` do not, and are noticed
/// by the next word of their callers.
pub(super) struct BurstWords<S> {
    sink: S,
    open: Vec<Open>,
    /// `Enter` words to come that rebuild the stack.
    rebuild: u32,
    /// Number of calls that each one of this burst represents.
    factor: u64,
    tally: StackTally,
    bursts: BurstTally,
}

impl<S: QueryableSink> BurstWords<S> {
    pub fn new(sink: S) -> Self {
        BurstWords {
            sink,
            open: Vec::new(),
            rebuild: 0,
            factor: 1,
            tally: StackTally::default(),
            bursts: BurstTally::default(),
        }
    }

    fn begin(&mut self, factor: u32, group: u32, activations: u32) {
        self.open.clear();
        self.sink.gap();
        self.sink.burst(group);
        self.rebuild = activations;
        self.factor = factor.into();
        self.bursts.bursts += 1;
        self.bursts.walked += u64::from(activations);
    }

    #[inline]
    fn enter(&mut self, method: u32, call_site: Option<u16>) {
        let top = self.open.last_mut();
        let site = match (call_site, top) {
            (Some(CALL_UNDER_WAY), Some(top)) => top.site,
            (None | Some(CALL_UNDER_WAY), _) => UNKNOWN_SITE,
            (Some(site), top) => {
                if let Some(top) = top {
                    top.site = site;
                }
                site
            }
        };
        self.open.push(Open {
            method,
            site: UNKNOWN_SITE,
        });
        let frame = Frame::new(method, site);
        if self.rebuild > 0 {
            self.rebuild -= 1;
            self.sink.place(frame);
        } else {
            self.sink.enter(frame, self.factor);
            self.bursts.taken += 1;
        }
    }

    /// Ends what is above the last activation of `method`: a word of it says that it is the topmost one.
    /// Returns whether there is such a one.
    #[inline]
    fn surface(&mut self, method: u32) -> bool {
        if self.open.last().is_some_and(|top| top.method == method) {
            return true;
        }
        self.search(method)
    }

    #[cold]
    fn search(&mut self, method: u32) -> bool {
        match self.open.iter().rposition(|open| open.method == method) {
            Some(at) => {
                self.open.truncate(at + 1);
                self.sink.unwind(self.open.len() as u32);
                true
            }
            None => false,
        }
    }

    /// Something that no walk has found is running: nothing is known of what called it.
    #[cold]
    fn orphan(&mut self, method: u32) {
        self.tally.orphans += 1;
        self.open.clear();
        self.sink.gap();
        self.open.push(Open {
            method,
            site: UNKNOWN_SITE,
        });
        self.sink.place(Frame::new(method, UNKNOWN_SITE));
    }

    fn event(&mut self, event: Event) {
        match event {
            Event::Enter { method, call_site } => self.enter(method, call_site),
            Event::Exit { method } => {
                self.bursts.taken += 1;
                if self.surface(method) {
                    self.open.pop();
                    self.sink.exit();
                } else {
                    self.tally.lost_exits += 1;
                    self.open.clear();
                    self.sink.gap();
                }
            }
            Event::Call { method, bci } => {
                if !self.surface(method) {
                    self.orphan(method);
                }
                if let Some(top) = self.open.last_mut() {
                    top.site = bci as u16;
                }
            }
            Event::Burst {
                factor,
                group,
                activations,
            } => self.begin(factor, group, activations),
            // The thread's probes wrote these for another kind of profile.
            _ => self.tally.bad_words += 1,
        }
    }
}

impl<S: QueryableSink> Driver for BurstWords<S> {
    fn consume(&mut self, words: &[u64]) {
        for &word in words {
            match Word(word).decode() {
                Ok(event) => self.event(event),
                Err(_) => self.tally.bad_words += 1,
            }
        }
    }

    fn reset(&mut self) {
        self.tally = StackTally::default();
        self.bursts = BurstTally::default();
        self.sink.forget();
    }

    fn tally(&self) -> StackTally {
        self.tally
    }

    fn known(&self) -> Option<Known> {
        let mut bursts = self.bursts;
        // What happened between bursts is not known.
        bursts.events = bursts.taken;
        Some(Known {
            bursts,
            ..self.sink.known()?
        })
    }
}
