//! The way of answers from handlers to our thread: a ring that any handler writes and one thread reads.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Answers from one drain to the next, at most.
const ENTRIES: u64 = 1 << 13;

/// The outcome for a sample that waited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// This slot was written to next.
    Slot(u32),
    /// The sample was in doubt, and this slot of another activation was written to next, which it was in.
    Elsewhere(u32),
    /// The method counted before that could be seen: several paths may have ended.
    Missed,
    /// The method is on the stack no more, and has not counted: an exception has cut off its path.
    Gone,
    /// Its thread has ended, or too many samples wait.
    Dropped,
}

/// The answer to a sample, or to several that waited for the same path end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The number that the samples got.
    pub ticket: u64,
    /// The outcome.
    pub outcome: Outcome,
    /// For samples in doubt: the slot of an inlined method that was written to first, if its stack was not
    /// known.
    pub first: Option<u32>,
}

#[derive(Default)]
struct Cell {
    /// One more than the number of the answer that is in it.
    number: AtomicU64,
    ticket: AtomicU64,
    outcome: AtomicU64,
    /// One more than the first slot; 0: none.
    first: AtomicU32,
}

/// Answers that have not been read yet.
pub struct Answers {
    cells: Box<[Cell]>,
    head: AtomicU64,
    tail: AtomicU64,
    lost: AtomicU64,
}

const MISSED: u64 = 1 << 32;
const GONE: u64 = 2 << 32;
const DROPPED: u64 = 3 << 32;
/// Beside a slot.
const ELSEWHERE: u64 = 4 << 32;

impl Answers {
    /// None yet.
    pub fn new() -> Self {
        Answers {
            cells: (0..ENTRIES).map(|_| Cell::default()).collect(),
            head: AtomicU64::new(0),
            tail: AtomicU64::new(0),
            lost: AtomicU64::new(0),
        }
    }

    /// Adds one. In a signal handler.
    pub fn put(&self, answer: Answer) {
        let taken = self
            .head
            .fetch_update(Ordering::AcqRel, Ordering::Relaxed, |head| {
                (head.wrapping_sub(self.tail.load(Ordering::Acquire)) < ENTRIES).then_some(head + 1)
            });
        let Ok(number) = taken else {
            self.lost.fetch_add(1, Ordering::Relaxed);
            return;
        };
        let cell = &self.cells[(number % ENTRIES) as usize];
        cell.ticket.store(answer.ticket, Ordering::Relaxed);
        let outcome = match answer.outcome {
            Outcome::Slot(slot) => u64::from(slot),
            Outcome::Elsewhere(slot) => ELSEWHERE | u64::from(slot),
            Outcome::Missed => MISSED,
            Outcome::Gone => GONE,
            Outcome::Dropped => DROPPED,
        };
        cell.outcome.store(outcome, Ordering::Relaxed);
        cell.first
            .store(answer.first.map_or(0, |slot| slot + 1), Ordering::Relaxed);
        cell.number.store(number + 1, Ordering::Release);
    }

    /// Hands over all answers, and returns how many found no room since the last call.
    pub fn take(&self, mut each: impl FnMut(Answer)) -> u64 {
        let mut tail = self.tail.load(Ordering::Relaxed);
        loop {
            let cell = &self.cells[(tail % ENTRIES) as usize];
            if cell.number.load(Ordering::Acquire) != tail + 1 {
                break;
            }
            let outcome = match cell.outcome.load(Ordering::Relaxed) {
                MISSED => Outcome::Missed,
                GONE => Outcome::Gone,
                DROPPED => Outcome::Dropped,
                slot if slot & ELSEWHERE != 0 => Outcome::Elsewhere(slot as u32),
                slot => Outcome::Slot(slot as u32),
            };
            each(Answer {
                ticket: cell.ticket.load(Ordering::Relaxed),
                outcome,
                first: cell.first.load(Ordering::Relaxed).checked_sub(1),
            });
            tail += 1;
            self.tail.store(tail, Ordering::Release);
        }
        self.lost.swap(0, Ordering::Relaxed)
    }
}
