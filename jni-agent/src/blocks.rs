//! Native memory of threads: one block each, of which only the pages in use cost anything.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use memmap2::{MmapOptions, MmapRaw};

/// Blocks of all threads, never given back: threads to come take over those of threads that have ended.
///
/// Slot 0 of a block is at its address, slot `n` at `8 * n` bytes behind it.
pub struct Blocks {
    blocks: Mutex<Vec<MmapRaw>>,
    /// Where the shim finds a thread's block by the thread's id.
    index: Box<[AtomicU64]>,
}

/// Address and size of the shim's index of threads.
#[derive(Clone, Copy, Debug)]
pub struct Index {
    /// Address of pairs of 64-bit words.
    pub address: i64,
    /// Number of pairs, a power of two.
    pub entries: i64,
}

impl Blocks {
    /// Counter slots of a block: address space, not memory (256 MB).
    pub const SLOTS: u32 = 1 << 25;
    /// Threads that find their block at once; others look for it.
    const INDEX_ENTRIES: usize = 1 << 16;

    /// No block yet.
    pub fn new() -> Self {
        Blocks {
            blocks: Mutex::default(),
            index: zeros(2 * Self::INDEX_ENTRIES),
        }
    }

    /// The shim's index.
    pub fn index(&self) -> Index {
        Index {
            address: self.index.as_ptr() as i64,
            entries: Self::INDEX_ENTRIES as i64,
        }
    }

    /// Address of a new block, zeroed; `None` if the system has no room for one.
    pub fn reserve(&self) -> Option<i64> {
        let length = Self::SLOTS as usize * size_of::<u64>();
        let map = MmapOptions::new().len(length).no_reserve_swap().map_anon().ok()?;
        // Many threads that use a little each: whole huge pages would be memory for nothing.
        #[cfg(target_os = "linux")]
        {
            let _ = map.advise(memmap2::Advice::NoHugePage);
            let _ = map.advise(memmap2::Advice::DontDump);
        }
        let map = MmapRaw::from(map);
        let address = map.as_mut_ptr() as i64;
        self.lock().push(map);
        Some(address)
    }

    /// Sums of the slots of a range over all blocks. Threads may go on counting meanwhile.
    pub fn sums(&self, slots: Range<u32>) -> Vec<u64> {
        assert!(slots.end <= Self::SLOTS);
        let mut sums = vec![0u64; slots.len()];
        for block in self.lock().iter() {
            let first = block.as_mut_ptr().cast::<AtomicU64>();
            for (sum, slot) in sums.iter_mut().zip(slots.clone()) {
                // SAFETY: the slot is inside the mapping (see the assertion), which is aligned to pages and lives as
                // long as `self`; writers write whole aligned words, so an atomic read is what it takes.
                let count = unsafe { &*first.add(slot as usize) }.load(Ordering::Relaxed);
                *sum = sum.wrapping_add(count);
            }
        }
        sums
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<MmapRaw>> {
        self.blocks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Zeros whose pages are not touched before they are used.
fn zeros(length: usize) -> Box<[AtomicU64]> {
    let zeros: Box<[u64]> = vec![0; length].into_boxed_slice();
    let data = Box::into_raw(zeros).cast::<AtomicU64>();
    // SAFETY: AtomicU64 has the size, alignment and bit validity of u64, and the memory is owned by us alone.
    unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(data, length)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add(block: i64, slot: u32, count: u64) {
        let at = block as *const AtomicU64;
        // SAFETY: the tests name slots inside of a block that is still mapped.
        unsafe { &*at.add(slot as usize) }.fetch_add(count, Ordering::Relaxed);
    }

    #[test]
    fn sums_are_over_all_blocks() {
        let blocks = Blocks::new();
        let [a, b] = [(); 2].map(|()| blocks.reserve().unwrap());
        assert_ne!(a, b);
        assert_eq!([a % 4096, b % 4096], [0, 0]);
        add(a, 7, 5);
        add(b, 7, 6);
        add(b, 9, 1);
        add(a, Blocks::SLOTS - 1, 2);
        assert_eq!(blocks.sums(6..10), [0, 11, 0, 1]);
        assert_eq!(blocks.sums(Blocks::SLOTS - 1..Blocks::SLOTS), [2]);
    }

    #[test]
    fn the_index_is_empty_at_first() {
        let blocks = Blocks::new();
        assert!(blocks.index().entries as u64 >= 1 << 10);
        assert!(blocks.index.iter().all(|word| word.load(Ordering::Relaxed) == 0));
    }
}
