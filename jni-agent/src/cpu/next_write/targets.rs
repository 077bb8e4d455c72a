//! What handlers know about methods: their slots, and where calls are in them. Tables that one thread
//! writes and any handler reads.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use crate::classes::PathSlots;

/// Methods that there is room for, and twice as many entries.
const ENTRIES: usize = 1 << 16;

/// Numbers by method (`jmethodID`): open addressing, entries are never taken away.
struct ByMethod(Box<[(AtomicUsize, AtomicU64)]>);

impl ByMethod {
    fn new() -> Self {
        ByMethod((0..ENTRIES).map(|_| Default::default()).collect())
    }

    fn begin(id: usize) -> usize {
        ((id as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize % ENTRIES
    }

    /// The number of a method, if that is known and not 0. In a signal handler.
    fn get(&self, id: usize) -> Option<u64> {
        let mut at = Self::begin(id);
        loop {
            let (known, number) = &self.0[at];
            match known.load(Ordering::Acquire) {
                0 => return None,
                found if found == id => {
                    return Some(number.load(Ordering::Acquire)).filter(|&number| number != 0);
                }
                _ => at = (at + 1) % ENTRIES,
            }
        }
    }

    /// For one thread at a time.
    fn set(&self, id: usize, number: u64) {
        let mut at = Self::begin(id);
        for _ in 0..ENTRIES / 2 {
            let (known, of_known) = &self.0[at];
            match known.load(Ordering::Relaxed) {
                found if found == id => return of_known.store(number, Ordering::Release),
                0 if number == 0 => return,
                0 => {
                    of_known.store(number, Ordering::Relaxed);
                    return known.store(id, Ordering::Release);
                }
                _ => at = (at + 1) % ENTRIES,
            }
        }
    }

    fn forget(&self) {
        for (_, number) in &self.0 {
            number.store(0, Ordering::Relaxed);
        }
    }
}

/// Slots and calls of methods.
pub struct Targets {
    /// The first slot and the number of slots.
    slots: ByMethod,
    /// Address of a [`Calls`] that is never freed.
    calls: ByMethod,
}

/// Where calls are in a method: bytecode indices, ascending.
pub type Calls = Vec<u16>;

impl Targets {
    /// None is known.
    pub fn new() -> Self {
        Targets {
            slots: ByMethod::new(),
            calls: ByMethod::new(),
        }
    }

    /// The slots of a method, if they are known. In a signal handler.
    pub fn get(&self, id: usize) -> Option<PathSlots> {
        let packed = self.slots.get(id)?;
        Some(PathSlots {
            first: (packed >> 32) as u32,
            number: packed as u32,
        })
    }

    /// Learns the slots of a method; `None`: it has none. For one thread at a time.
    pub fn set(&self, id: usize, slots: Option<PathSlots>) {
        let packed = slots.map_or(0, |slots| u64::from(slots.first) << 32 | u64::from(slots.number));
        self.slots.set(id, packed);
    }

    /// True if a method has a call at a place; `None` if that is not known. In a signal handler.
    pub fn is_call(&self, id: usize, bci: i32) -> Option<bool> {
        let calls = self.calls.get(id).map(|address| address as *const Calls);
        // SAFETY: of a reference that lives for ever.
        let calls = calls.and_then(|calls| unsafe { calls.as_ref() });
        Some(calls?.binary_search(&u16::try_from(bci).ok()?).is_ok())
    }

    /// Learns where calls are in a method. For one thread at a time.
    pub fn set_calls(&self, id: usize, calls: &'static Calls) {
        self.calls
            .set(id, std::ptr::from_ref(calls).expose_provenance() as u64);
    }

    /// Methods may have other slots, and ids may be of other methods, from now on.
    pub fn forget(&self) {
        self.slots.forget();
        self.calls.forget();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_have_slots_and_calls_until_all_are_forgotten() {
        static CALLS: std::sync::LazyLock<Calls> = std::sync::LazyLock::new(|| vec![3, 17]);
        let targets = Targets::new();
        let slots = PathSlots { first: 7, number: 2 };
        targets.set(8, Some(slots));
        targets.set_calls(8, &CALLS);
        targets.set(16, None);
        assert_eq!((targets.get(8), targets.get(16)), (Some(slots), None));
        let calls = |id| [-3, 3, 4, 17].map(|bci| targets.is_call(id, bci));
        assert_eq!(calls(8), [None, Some(true), Some(false), Some(true)]);
        assert_eq!(calls(16), [None; 4]);
        targets.forget();
        assert_eq!((targets.get(8), calls(8)), (None, [None; 4]));
    }
}
