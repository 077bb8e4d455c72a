//! Samples that wait for their paths, and the time that answered ones give to paths.

use rustc_hash::FxHashMap;
use trodden_profile::{CpuTime, PathWaits, PathsAtPlaces};

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
}

/// Waiting samples by the number of their wait, and answers.
#[derive(Default)]
pub struct Pending {
    /// Where answers come from.
    pub from: Option<&'static NextWrite>,
    waiting: FxHashMap<u64, Vec<Waiter>>,
    number: usize,
    paths: PathsAtPlaces,
    waits: PathWaits,
}

impl Pending {
    /// A sample waits for a path end of a method, the innermost one that counts, or one of those that led to
    /// it.
    pub fn add(&mut self, ticket: u64, waiter: Waiter) {
        let of = self.waits.of(waiter.is_innermost);
        of.asked = of.asked.plus(waiter.time);
        if self.number < LIMIT {
            self.number += 1;
            self.waiting.entry(ticket).or_default().push(waiter);
        }
    }

    /// An answer has come. `path`: the frame of a slot's method, and the path.
    pub fn answer(&mut self, answer: Answer, path: impl FnOnce(u32) -> Option<(u32, u64)>) {
        let samples = self.waiting.remove(&answer.ticket).unwrap_or_default();
        self.number -= samples.len();
        let found = match answer.outcome {
            Outcome::Slot(slot) => path(slot),
            _ => None,
        };
        for Waiter {
            frame,
            bci,
            is_innermost,
            time,
        } in samples
        {
            let path = found.filter(|found| found.0 == frame).map(|found| found.1);
            self.paths.add((frame, bci, path), time);
            let of = self.waits.of(is_innermost);
            let sum = match (answer.outcome, path) {
                (_, Some(_)) => &mut of.answered,
                (Outcome::Missed | Outcome::Slot(_), None) => &mut of.missed,
                (Outcome::Gone, None) => &mut of.gone,
                (Outcome::Dropped, None) => &mut of.dropped,
            };
            *sum = sum.plus(time);
        }
    }

    /// The answers so far.
    pub fn answered(&self) -> (PathsAtPlaces, PathWaits) {
        (self.paths.clone(), self.waits)
    }

    /// Forgets all answers; those to samples that wait belong to the time before.
    pub fn reset(&mut self) {
        *self = Pending {
            from: self.from,
            ..Pending::default()
        };
    }
}
