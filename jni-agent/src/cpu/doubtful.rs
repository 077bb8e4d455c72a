//! Code that the compiler may have put down to the wrong one of the methods that it has inlined.
//!
//! Two kinds of code in HotSpot's compiled methods are named after a place where they need not be:
//!
//! - What several probes share, the address of the thread's counters, is computed once and is named after one
//!   of them.
//! - C2 inlines some calls late: boxing, concatenation of strings, method handles. All that it makes
//!   from then on, such as copies of loops and moves of registers, is named after the last such call. That
//!   may be most of a method's code.
//!
//! So the place of code in doubt is a shared probe, or a call that the code is not in. The thread's next path
//! end says which method it was: see `next_write/`.
//!
//! Calls of stubs (copies of arrays, checksums) are such code as well: `System.arraycopy` of one method can
//! be named after an assignment of another one. A place without a call cannot be where a stub was called.

use std::sync::atomic::{AtomicU64, Ordering};

use super::buffer::RawFrame;

/// How sure it is that a thread was where the JVM says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Certainty {
    /// Nothing speaks against it.
    #[default]
    Known,
    /// It may have been in another method.
    InDoubt,
    /// It was elsewhere in the same code.
    Wrong,
}

/// The methods of probes, by their ids.
pub struct Probes {
    /// Those whose results all probes of a compiled method share.
    shared: Vec<usize>,
    /// These, and those that call them.
    all: Vec<usize>,
}

impl Probes {
    /// `count`: those that call the shared ones.
    pub fn new(shared: Vec<usize>, count: Vec<usize>) -> Self {
        let all = shared.iter().copied().chain(count).collect();
        Probes { shared, all }
    }

    /// A stack without the frames of the probe that is innermost in it.
    pub fn without<'s>(&self, stack: &'s [RawFrame]) -> &'s [RawFrame] {
        let of_probe = |frame: &RawFrame| self.all.contains(&frame.method);
        let inner = stack.iter().rposition(of_probe).map_or(0, |last| last + 1);
        &stack[inner..]
    }

    /// True if compiled code that is put down to this stack may be other code. `is_call`: there is a call at
    /// a place.
    pub fn is_doubtful(&self, stack: &[RawFrame], is_call: impl FnOnce(RawFrame) -> bool) -> bool {
        stack
            .first()
            .is_some_and(|&frame| self.shared.contains(&frame.method) || is_call(frame))
    }
}

/// Distances from a store that counts, in bytes, at which it is looked for who counts: the nearest first.
const NEAR: [isize; 17] = [
    0, -4, 4, -8, 8, -12, 12, -16, 16, -24, 24, -32, 32, -48, 48, -64, 64,
];
/// Entries of [`Near`].
const STORES: usize = 1024;

/// Where it says who counts, near a store: code of a probe is next to it, and some of that is put down to the
/// right method, if the store is not. Found once for each store, as each look costs a walk of the stack.
pub struct Near(Box<[AtomicU64]>);

impl Near {
    /// Nothing is known.
    pub fn new() -> Self {
        Near((0..STORES).map(|_| AtomicU64::new(0)).collect())
    }

    fn entry(&self, store: usize) -> &AtomicU64 {
        &self.0[((store as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as usize % STORES]
    }

    /// The first result of `look` at a distance from a store's address, and `None` if there was none at
    /// any. In a signal handler.
    pub fn find<R>(&self, store: usize, mut look: impl FnMut(isize) -> Option<R>) -> Option<R> {
        // The lowest byte is the number of the distance; none has all ones.
        let known = self.entry(store).load(Ordering::Relaxed);
        let packed = |number: u64| (store as u64) << 8 | number;
        if known >> 8 == packed(0) >> 8 {
            let distance = NEAR.get((known & 0xff) as usize);
            return distance.and_then(|&distance| look(distance));
        }
        let found = (0..)
            .zip(NEAR)
            .find_map(|(at, distance)| Some((at, look(distance)?)));
        let number = found.as_ref().map_or(0xff, |found| found.0);
        self.entry(store).store(packed(number), Ordering::Relaxed);
        found.map(|found| found.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COUNT: usize = 1;
    const SHARED: usize = 2;
    const PLAIN: usize = 12;
    const MAIN: usize = 10;

    /// Innermost frame first: method and bytecode index.
    fn stack(frames: &[(usize, i32)]) -> Vec<RawFrame> {
        let frames = frames.iter().map(|&(method, bci)| RawFrame { bci, method });
        frames.collect()
    }

    #[test]
    fn shared_code_of_probes_and_code_at_calls_is_in_doubt() {
        let probes = Probes::new(vec![SHARED], vec![COUNT]);
        let at_21 = |frame: RawFrame| frame.bci == 21;
        let in_doubt = |frames: &[(usize, i32)]| probes.is_doubtful(&stack(frames), at_21);
        assert!(in_doubt(&[(PLAIN, 21), (MAIN, 9)]));
        assert!(in_doubt(&[(SHARED, 3), (COUNT, 0), (PLAIN, 7)]));
        assert!(!in_doubt(&[(PLAIN, 7), (MAIN, 21)]));
        assert!(!in_doubt(&[(COUNT, 4), (PLAIN, 21)]));
        assert!(!in_doubt(&[]));
    }

    #[test]
    fn a_store_is_looked_around_once() {
        let near = Near::new();
        let mut looks = Vec::new();
        let mut find = |store, at| {
            looks.clear();
            let found = near.find(store, |distance| {
                looks.push(distance);
                (Some(distance) == at).then_some(7)
            });
            (found, looks.clone())
        };
        assert_eq!(find(1000, Some(4)), (Some(7), vec![0, -4, 4]));
        assert_eq!(find(1000, Some(4)), (Some(7), vec![4]));
        assert_eq!(find(2000, None), (None, NEAR.to_vec()));
        assert_eq!(find(2000, None), (None, vec![]));
    }

    #[test]
    fn the_frames_of_a_probe_are_left_out() {
        let probes = Probes::new(vec![SHARED], vec![COUNT]);
        let in_probe = stack(&[(99, 0), (SHARED, 2), (COUNT, 4), (PLAIN, 7), (MAIN, 9)]);
        let own = stack(&[(PLAIN, 7), (MAIN, 9)]);
        assert_eq!(probes.without(&in_probe), own);
        assert_eq!(probes.without(&own), own);
        assert_eq!(probes.without(&in_probe[..3]), []);
    }
}
