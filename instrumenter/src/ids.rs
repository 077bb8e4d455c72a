//! Numbers by which probes name what they count.

use std::fmt;

/// Number of an instrumented method: no other method of the same JVM has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MethodId(pub u32);

impl MethodId {
    /// The id of the method at a position in the path map of a class whose first method this is.
    #[must_use]
    pub const fn at(self, position: usize) -> MethodId {
        MethodId(self.0 + position as u32)
    }
}

impl From<u32> for MethodId {
    fn from(id: u32) -> Self {
        MethodId(id)
    }
}

impl fmt::Display for MethodId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Number of a 64-bit counter in the block of each thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CounterSlot(pub u32);

impl CounterSlot {
    /// The slot `slots` places after this one.
    #[must_use]
    pub const fn plus(self, slots: u32) -> CounterSlot {
        CounterSlot(self.0 + slots)
    }

    /// As an index into counters that begin with slot 0.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl From<u32> for CounterSlot {
    fn from(slot: u32) -> Self {
        CounterSlot(slot)
    }
}

impl fmt::Display for CounterSlot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
