//! Which subpaths are the same one.
//!
//! OSP section 2.3 ("Encoding") wishes for a code that distinguishes orders of the same blocks, but not where
//! in a circle a subpath begins: then all the windows onto a loop are one subpath. Its prototype makes do
//! with xor and length (section 3, "Encoding"). Here the wish is the default: the least rotation is the same
//! for all rotations and for nothing else.

use trodden_profile::least_rotation;
use trodden_profile::options::SubpathIdentity;

/// The identity of a sequence of blocks, each of them known by a number: 64 bits. Among a million
/// different subpaths, two share theirs by chance once in 37 million runs.
pub fn identity(rule: SubpathIdentity, blocks: &[u64]) -> u64 {
    let length = mix(blocks.len() as u64, 0x9e37_79b9_7f4a_7c15);
    match rule {
        SubpathIdentity::Rotation => {
            let (head, tail) = blocks.split_at(least_rotation(blocks));
            tail.iter()
                .chain(head)
                .fold(length, |key, &block| mix(key, block))
        }
        // Numbers are scrambled first, so that only equal blocks cancel out, not 1, 2 and 3.
        SubpathIdentity::Xor => {
            let all = blocks
                .iter()
                .fold(0, |all, &block| all ^ mix(0x51_7cc1_b727_220a, block));
            mix(length, all)
        }
    }
}

/// Folds a 128-bit product. (Polynomial hashes collide on sequences such as Thue and Morse's, which programs
/// do execute.)
fn mix(key: u64, item: u64) -> u64 {
    let product = u128::from(key ^ 0xa076_1d64_78bd_642f) * u128::from(item ^ 0xe703_7ed1_a0b4_28db);
    (product as u64 ^ (product >> 64) as u64).rotate_left(23) ^ item.wrapping_mul(0x8ebc_6af0_9c88_c6e3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_differ_but_not_rotations() {
        let key = |blocks: &[u64]| identity(SubpathIdentity::Rotation, blocks);
        assert_eq!(key(&[1, 2, 3, 4]), key(&[3, 4, 1, 2]));
        assert_ne!(key(&[1, 2, 3, 4]), key(&[1, 3, 2, 4]));
        assert_ne!(key(&[1, 2]), key(&[1, 2, 1, 2]));
        assert_ne!(key(&[0, 0]), key(&[0, 0, 0, 0]));
    }

    #[test]
    fn xor_forgets_order_and_pairs() {
        let key = |blocks: &[u64]| identity(SubpathIdentity::Xor, blocks);
        assert_eq!(key(&[1, 2, 3, 4]), key(&[1, 3, 2, 4]));
        assert_eq!(key(&[1, 1, 2, 3]), key(&[2, 3, 4, 4]));
        assert_ne!(key(&[1, 2, 4, 5]), key(&[1, 2, 4, 6]));
        assert_ne!(key(&[1, 2]), key(&[1, 2, 3, 3]));
    }
}
