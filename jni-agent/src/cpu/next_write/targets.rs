//! Which slots a method has, for handlers: a table that one thread writes and any handler reads.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use crate::classes::PathSlots;

/// Methods that there is room for, and twice as many entries.
const ENTRIES: usize = 1 << 16;

/// Slots by method (`jmethodID`): open addressing, entries are never taken away.
pub struct Targets(Box<[(AtomicUsize, AtomicU64)]>);

impl Targets {
    /// None is known.
    pub fn new() -> Self {
        Targets((0..ENTRIES).map(|_| Default::default()).collect())
    }

    fn begin(id: usize) -> usize {
        ((id as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize % ENTRIES
    }

    /// The slots of a method, if they are known. In a signal handler.
    pub fn get(&self, id: usize) -> Option<PathSlots> {
        let mut at = Self::begin(id);
        loop {
            let (known, slots) = &self.0[at];
            match known.load(Ordering::Acquire) {
                0 => return None,
                found if found == id => {
                    let packed = slots.load(Ordering::Relaxed);
                    let slots = PathSlots {
                        first: (packed >> 32) as u32,
                        number: packed as u32,
                    };
                    return (slots.number > 0).then_some(slots);
                }
                _ => at = (at + 1) % ENTRIES,
            }
        }
    }

    /// Learns the slots of a method; `None`: it has none. For one thread at a time.
    pub fn set(&self, id: usize, slots: Option<PathSlots>) {
        let packed = slots.map_or(0, |slots| u64::from(slots.first) << 32 | u64::from(slots.number));
        let mut at = Self::begin(id);
        for _ in 0..ENTRIES / 2 {
            let (known, slots) = &self.0[at];
            match known.load(Ordering::Relaxed) {
                found if found == id => return slots.store(packed, Ordering::Relaxed),
                0 if packed == 0 => return,
                0 => {
                    slots.store(packed, Ordering::Relaxed);
                    return known.store(id, Ordering::Release);
                }
                _ => at = (at + 1) % ENTRIES,
            }
        }
    }

    /// Methods may have other slots, and ids may be of other methods, from now on.
    pub fn forget(&self) {
        for (_, slots) in &self.0 {
            slots.store(0, Ordering::Relaxed);
        }
    }
}
