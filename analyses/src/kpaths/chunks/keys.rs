//! By what chunks and whole activations are found: hashes and keys.

use trodden_profile::events::Word;

use crate::kpaths::tables::mix;

/// A path of a chunk: a label, or a word whose lower half is one (as all path numbers below 2^31 are).
pub trait Item: Copy {
    fn label(self) -> u32;
}

impl Item for u32 {
    #[inline(always)]
    fn label(self) -> u32 {
        self
    }
}

impl Item for u64 {
    #[inline(always)]
    fn label(self) -> u32 {
        self as u32
    }
}

/// Returns true if `stored` begins with these items.
#[inline(always)]
pub fn equal<I: Item>(stored: &[u32], items: &[I]) -> bool {
    let Some(stored) = stored.get(..items.len()) else {
        return false;
    };
    let differences = stored.iter().zip(items).map(|(a, b)| a ^ b.label());
    differences.fold(0, |all, difference| all | difference) == 0
}

const SEED: u64 = 0x243f_6a88_85a3_08d3;

/// Odd random numbers of 32 bits (SplitMix64's, from [`SEED`]).
const MULTIPLIERS: [u64; 64] = {
    let (mut all, mut state, mut index) = ([0; 64], SEED, 0);
    while index < all.len() {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = state;
        bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        all[index] = bits >> 32 | 1;
        index += 1;
    }
    all
};

/// A sum of products, each for itself, so that several are computed at once.
#[inline(always)]
pub fn hash<I: Item>(method: u32, items: &[I]) -> u32 {
    let mut hash = SEED ^ u64::from(method) ^ (items.len() as u64) << 32;
    for items in items.chunks(MULTIPLIERS.len()) {
        let products = items.iter().zip(&MULTIPLIERS);
        let products = products.map(|(item, multiplier)| u64::from(item.label()) * multiplier);
        hash = mix(hash ^ products.fold(0, u64::wrapping_add), 0x9e37_79b9_7f4a_7c15);
    }
    (mix(hash, SEED) >> 32) as u32
}

/// The hash of a pair, from those of its chunks.
#[inline(always)]
pub fn hash_of_both(before: u32, chunk: u32) -> u32 {
    let key = u64::from(before) << 32 | u64::from(chunk);
    (mix(key ^ SEED, MULTIPLIERS[0]) >> 32) as u32
}

/// Bits per path in a key, by number of paths less one. Behind them two bits for that number, then the
/// method.
const WIDTHS: [u32; 4] = [32, 17, 11, 8];
const PATH_BITS: u32 = 34;

/// The key of an activation with these paths, if they are few and small enough.
#[inline(always)]
pub fn pack<I: Item>(method: u32, items: &[I]) -> Option<u64> {
    let width = *WIDTHS.get(items.len().wrapping_sub(1))?;
    let (mut key, mut all) = (0, 0);
    for item in items.iter().rev() {
        let label = u64::from(item.label());
        key = key << width | label;
        all |= label;
    }
    let fits = all >> width == 0 && method < 1 << 28;
    let front = u64::from(method) << 2 | (items.len() as u64 - 1);
    fits.then_some(front << PATH_BITS | key)
}

/// [`pack`] for an activation with one path, from its word.
#[inline(always)]
pub fn key_of_only(word: u64) -> u64 {
    let method = u64::from(Word(word).method());
    method << (PATH_BITS + 2) | word & u64::from(u32::MAX)
}

/// Method, paths and their number, of a key that [`pack`] made.
pub fn unpack(key: u64) -> (u32, [u32; 4], usize) {
    let len = (key >> PATH_BITS & 3) as usize;
    let width = WIDTHS[len];
    let path = |index: u32| {
        if width * index < PATH_BITS {
            ((key & ((1 << PATH_BITS) - 1)) >> (width * index) & ((1 << width) - 1)) as u32
        } else {
            0
        }
    };
    let method = (key >> (PATH_BITS + 2)) as u32;
    (method, [path(0), path(1), path(2), path(3)], len + 1)
}
