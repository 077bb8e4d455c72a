//! Samples that wait for their paths, and the time that answered ones give to paths.

use rustc_hash::FxHashMap;
use trodden_profile::{CUT_OFF, CpuTime, PathAtPlace, PathWaits, PathsAtPlaces, UnequalSamples};

use super::next_write::{Answer, NextWrite, Outcome};

/// Samples that wait at a time, at most: more than all threads' entries.
const LIMIT: usize = 1 << 17;

/// A sample that waits for a path end.
#[derive(Clone, Copy, Debug)]
pub struct Waiter {
    /// The method.
    pub frame: u32,
    /// The place in it, in the method without probes.
    pub bci: Option<u16>,
    /// True for the innermost one that counts.
    pub is_innermost: bool,
    /// The time that the sample represents.
    pub time: CpuTime,
    /// Where the time of the sample is, if that is in doubt.
    pub doubt: Option<Doubt>,
}

/// A sample in doubt: its time is at a node that it may not belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Doubt {
    /// The node.
    pub node: u32,
    /// Hash of its stack.
    pub stack: u64,
    /// Its time.
    pub time: CpuTime,
}

/// Where a sample in doubt was, or may have been.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instead {
    /// The node.
    pub node: u32,
    /// The method.
    pub frame: u32,
    /// The place in it, in the method without probes.
    pub bci: Option<u16>,
    /// The slot of its path.
    pub slot: u32,
}

/// The meaning of slots.
pub trait Slots {
    /// The frame of a slot's method, and the path.
    fn path_of(&mut self, slot: u32) -> Option<(u32, u64)>;
    /// True if the path goes through a place.
    fn is_on_path(&self, slot: u32, bci: u16) -> bool;
    /// True if the activation of a node has called, maybe at another place, what leads to the other node.
    fn leads_to(&self, node: u32, below: u32) -> bool;
}

/// Waiting samples by the number of their wait, and answers.
#[derive(Default)]
pub struct Pending {
    /// Where answers come from.
    pub from: Option<&'static NextWrite>,
    /// Answers for which there was no room, since samples were [dropped](Self::drop_all) for them.
    pub lost: u64,
    waiting: FxHashMap<u64, Vec<Waiter>>,
    number: usize,
    paths: FxHashMap<PathAtPlace, UnequalSamples>,
    waits: PathWaits,
}

impl Pending {
    /// A sample waits for a path end of a method, the innermost one that counts, or one of those that led to
    /// it.
    pub fn add(&mut self, ticket: u64, waiter: Waiter) {
        let of = self.waits.of(waiter.is_innermost);
        of.asked = of.asked.plus(waiter.time);
        if self.number >= LIMIT {
            self.answer_one(waiter, Outcome::Dropped, None);
            return;
        }
        self.number += 1;
        self.waiting.entry(ticket).or_default().push(waiter);
    }

    /// Answers were lost, and it is not known whose: no sample waits any more.
    pub fn drop_all(&mut self) {
        self.number = 0;
        for waiter in std::mem::take(&mut self.waiting).into_values().flatten() {
            self.answer_one(waiter, Outcome::Dropped, None);
        }
    }

    /// An answer has come. `instead`: where samples in doubt were, or may have been. Returns these samples,
    /// if it is known where they were, and whether that was there.
    pub fn answer(
        &mut self,
        answer: Answer,
        slots: &mut impl Slots,
        instead: Option<Instead>,
    ) -> Vec<(Doubt, bool)> {
        let samples = self.waiting.remove(&answer.ticket).unwrap_or_default();
        self.number -= samples.len();
        let mut doubts = Vec::new();
        for waiter in samples {
            let moved = instead.filter(|instead| match (answer.outcome, waiter.doubt) {
                (Outcome::Elsewhere(_), _) => true,
                (_, None) => false,
                (_, Some(doubt)) if answer.first.is_some() && !slots.leads_to(doubt.node, instead.node) => {
                    true
                }
                // It cannot have been in the place that it is put down to.
                (Outcome::Slot(slot), _) => waiter.bci.is_some_and(|bci| !slots.is_on_path(slot, bci)),
                _ => false,
            });
            let slot = match (moved, answer.outcome) {
                (Some(instead), _) => Some(instead.slot),
                (None, Outcome::Slot(slot)) => Some(slot),
                _ => None,
            };
            let waiter = match moved {
                Some(Instead { frame, bci, .. }) => Waiter { frame, bci, ..waiter },
                None => waiter,
            };
            if let Some(doubt) = waiter.doubt.filter(|_| slot.is_some()) {
                doubts.push((doubt, moved.is_some()));
            }
            let found = slot.and_then(|slot| slots.path_of(slot));
            self.answer_one(waiter, answer.outcome, found);
        }
        doubts
    }

    /// `found`: the path that was seen, with the frame of its method.
    fn answer_one(&mut self, waiter: Waiter, outcome: Outcome, found: Option<(u32, u64)>) {
        let Waiter {
            frame,
            bci,
            is_innermost,
            time,
            ..
        } = waiter;
        let path = found.filter(|found| found.0 == frame).map(|found| found.1);
        let end = path.or((outcome == Outcome::Gone).then_some(CUT_OFF));
        let of_path = self.paths.entry((frame, bci, end)).or_default();
        of_path.add(time.samples, time.ns as f64);
        let of = self.waits.of(is_innermost);
        let sum = match (outcome, path) {
            (_, Some(_)) => &mut of.answered,
            (Outcome::Missed | Outcome::Slot(_) | Outcome::Elsewhere(_), None) => &mut of.missed,
            (Outcome::Gone, None) => &mut of.gone,
            (Outcome::Dropped, None) => &mut of.dropped,
        };
        *sum = sum.plus(time);
    }

    /// The answers so far.
    pub fn answered(&self) -> (PathsAtPlaces, PathWaits) {
        let mut paths = PathsAtPlaces::default();
        for (&at, waited) in &self.paths {
            let time = CpuTime {
                samples: waited.number().max(1),
                ns: waited.ns() as u64,
            };
            paths.add(at, time);
        }
        (paths, self.waits)
    }

    /// Forgets all answers; those to samples that wait belong to the time before.
    pub fn reset(&mut self) {
        *self = Pending {
            from: self.from,
            ..Pending::default()
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waiter(samples: u64) -> Waiter {
        Waiter {
            frame: 3,
            bci: Some(7),
            is_innermost: true,
            time: CpuTime {
                samples,
                ns: 1_000_000 * samples,
            },
            doubt: None,
        }
    }

    /// Slot 20 is of the method that is waited for, 21 of a path of it elsewhere, and 30 of another method.
    struct Known;

    impl Slots for Known {
        fn path_of(&mut self, slot: u32) -> Option<(u32, u64)> {
            Some((if slot < 30 { 3 } else { 4 }, 5))
        }

        fn is_on_path(&self, slot: u32, _: u16) -> bool {
            slot == 20
        }

        fn leads_to(&self, _: u32, below: u32) -> bool {
            below == 6
        }
    }

    #[test]
    fn each_sample_has_one_outcome() {
        let mut pending = Pending::default();
        [(1, 1), (2, 2), (2, 4), (3, 8), (4, 16)]
            .into_iter()
            .for_each(|(ticket, samples)| pending.add(ticket, waiter(samples)));
        let slot = |ticket| Answer {
            ticket,
            outcome: Outcome::Slot(20),
            first: None,
        };
        // Of the method, of another one, and the answers to the others were lost.
        pending.answer(slot(2), &mut Known, None);
        pending.answer(
            Answer {
                ticket: 1,
                outcome: Outcome::Slot(30),
                first: None,
            },
            &mut Known,
            None,
        );
        pending.drop_all();
        pending.answer(slot(3), &mut Known, None);
        let (paths, waits) = pending.answered();
        let of = waits.innermost;
        let samples = [of.asked, of.answered, of.missed, of.gone, of.dropped].map(|time| time.samples);
        assert_eq!(samples, [31, 6, 1, 0, 24]);
        let by_path: Vec<_> = paths
            .iter()
            .map(|(place, time)| (place.2, time.samples))
            .collect();
        assert_eq!(by_path, [(None, 25), (Some(5), 6)]);
    }

    #[test]
    fn samples_that_represent_more_prove_less() {
        let mut pending = Pending::default();
        let weights = [1; 10].into_iter().chain([20]);
        for (ticket, ns) in (1..).zip(weights) {
            let time = CpuTime { samples: 1, ns };
            pending.add(ticket, Waiter { time, ..waiter(1) });
            let outcome = Outcome::Slot(20);
            let answer = Answer {
                ticket,
                outcome,
                first: None,
            };
            pending.answer(answer, &mut Known, None);
        }
        // 30² / (10 + 20²)
        let (paths, _) = pending.answered();
        assert_eq!(paths.iter().next().unwrap().1, CpuTime { samples: 2, ns: 30 });
    }

    #[test]
    fn samples_in_doubt_have_the_path_of_where_they_were() {
        let mut pending = Pending::default();
        let doubt = |stack| Doubt {
            node: 2,
            stack,
            time: CpuTime { samples: 1, ns: 9 },
        };
        for ticket in 1..=9 {
            let doubt = Some(doubt(ticket));
            pending.add(ticket, Waiter { doubt, ..waiter(1) });
        }
        let instead = Some(Instead {
            node: 6,
            frame: 4,
            bci: Some(30),
            slot: 30,
        });
        let mut asked = |ticket, outcome, instead, first| {
            let answer = Answer {
                ticket,
                outcome,
                first,
            };
            pending.answer(answer, &mut Known, instead)
        };
        // An inlined method counted first: the place may have led to it, or has not.
        let not_below = instead.map(|instead| Instead { node: 7, ..instead });
        assert_eq!(
            asked(7, Outcome::Slot(20), instead, Some(30)),
            [(doubt(7), false)]
        );
        assert_eq!(asked(8, Outcome::Slot(21), instead, Some(30)), [(doubt(8), true)]);
        assert_eq!(asked(9, Outcome::Gone, not_below, Some(30)), [(doubt(9), true)]);
        let mut answer = |ticket, outcome, instead| asked(ticket, outcome, instead, None);
        assert_eq!(answer(1, Outcome::Elsewhere(30), instead), [(doubt(1), true)]);
        // It was where it seemed to be, or may have been, by its path; it was not, by its path.
        assert_eq!(answer(2, Outcome::Slot(20), None), [(doubt(2), false)]);
        assert_eq!(answer(3, Outcome::Slot(20), instead), [(doubt(3), false)]);
        assert_eq!(answer(4, Outcome::Slot(21), instead), [(doubt(4), true)]);
        // The stack had no room; nothing is known.
        assert_eq!(answer(5, Outcome::Elsewhere(30), None), []);
        assert_eq!(answer(6, Outcome::Gone, instead), []);
        let (paths, waits) = pending.answered();
        let places: Vec<_> = paths.iter().map(|(place, time)| (place, time.samples)).collect();
        assert_eq!(
            places,
            [
                ((3, Some(7), None), 1),
                ((3, Some(7), Some(5)), 3),
                ((3, Some(7), Some(CUT_OFF)), 1),
                ((4, Some(30), Some(5)), 4)
            ]
        );
        let of = waits.innermost;
        let samples = [of.asked, of.answered, of.missed, of.gone].map(|time| time.samples);
        assert_eq!(samples, [9, 7, 1, 1]);
    }

    #[test]
    fn there_is_room_for_a_number_of_them() {
        let mut pending = Pending::default();
        (0..LIMIT as u64 + 5).for_each(|ticket| pending.add(ticket, waiter(1)));
        assert_eq!(pending.number, LIMIT);
        assert_eq!(pending.answered().1.innermost.dropped.samples, 5);
    }
}
