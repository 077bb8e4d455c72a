//! A method's `MethodData`: the counts of branches that HotSpot's interpreter and C1's code make for C2.
//!
//! It is a row of records, each a header (kind, flags, bytecode index, traps) and words that depend on the
//! kind (`methodData.hpp`). Kinds have had the same numbers from JDK 8 to 25; the number of words of a call
//! with types of receivers is the JVM's own affair, so all that are possible are tried.

use std::ops::RangeInclusive;

/// Counts of one branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Counted {
    /// A conditional branch: taken, not taken.
    Branch([u64; 2]),
    /// A switch: its default, then its cases in the order of the bytecode.
    Switch(Vec<u64>),
}

/// Numbers of kinds of records.
mod kind {
    pub const BIT: u8 = 1;
    pub const COUNTER: u8 = 2;
    pub const JUMP: u8 = 3;
    pub const RECEIVER: u8 = 4;
    pub const VIRTUAL_CALL: u8 = 5;
    pub const RETURN: u8 = 6;
    pub const BRANCH: u8 = 7;
    pub const SWITCH: u8 = 8;
    pub const TYPED_CALL: u8 = 10;
    pub const TYPED_VIRTUAL_CALL: u8 = 11;
}

/// Words that a call with types of receivers may have.
pub const RECEIVER_WORDS: RangeInclusive<usize> = 5..=9;

/// Bytes of a word, and of a header.
const WORD: usize = 8;

/// The counts of branches in data, by ascending bytecode index below `code_length`. `None` if they make no
/// sense with this number of words for receivers.
pub fn branches(data: &[u8], code_length: u32, receiver: usize) -> Option<Vec<(u32, Counted)>> {
    let mut found = Vec::new();
    let mut rest = data;
    let mut last = 0;
    while let Some((header, words)) = rest.split_first_chunk::<WORD>() {
        let bci = u32::from(u16::from_le_bytes([header[2], header[3]]));
        if bci < last || bci >= code_length {
            return None;
        }
        last = bci;
        let word = |index: usize| {
            let bytes = words.get(index * WORD..)?.first_chunk::<WORD>()?;
            Some(u64::from_le_bytes(*bytes))
        };
        let length = |index: usize| usize::try_from(word(index)?).ok();
        let count = match header[0] {
            kind::BIT => 0,
            kind::COUNTER => 1,
            kind::JUMP => 2,
            kind::RECEIVER | kind::VIRTUAL_CALL => receiver,
            // A counter, and two rows of three.
            kind::RETURN => 7,
            kind::BRANCH => {
                // Taken, where that continues, not taken.
                found.push((bci, Counted::Branch([word(0)?, word(2)?])));
                3
            }
            kind::SWITCH => {
                // Pairs of a count and where that continues.
                let words = length(0)?;
                let counts = (0..words / 2).map(|pair| word(1 + 2 * pair));
                found.push((bci, Counted::Switch(counts.collect::<Option<_>>()?)));
                1 + words
            }
            kind::TYPED_CALL => 2 + length(1)?,
            kind::TYPED_VIRTUAL_CALL => receiver + 1 + length(receiver)?,
            _ => return None,
        };
        rest = words.get(count.checked_mul(WORD)?..)?;
    }
    rest.is_empty().then_some(found)
}

/// The number of words for receivers with which most data make sense, and the number of those that make none.
pub fn receiver_words<'d>(all: impl Iterator<Item = (&'d [u8], u32)> + Clone) -> (usize, usize) {
    let wrong = |words: usize| {
        let makes_none = |(data, length): &(&[u8], u32)| branches(data, *length, words).is_none();
        all.clone().filter(makes_none).count()
    };
    let tried = RECEIVER_WORDS.map(|words| (words, wrong(words)));
    tried
        .min_by_key(|&(_, wrong)| wrong)
        .unwrap_or((*RECEIVER_WORDS.start(), 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(kind: u8, bci: u16, words: &[u64]) -> Vec<u8> {
        let [low, high] = bci.to_le_bytes();
        let mut bytes = vec![kind, 0, low, high, 0, 0, 0, 0];
        bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        bytes
    }

    fn data() -> Vec<u8> {
        [
            record(kind::BRANCH, 3, &[10, 99, 20]),
            record(kind::VIRTUAL_CALL, 6, &[7, 0, 0, 0, 0, 0]),
            record(kind::TYPED_CALL, 12, &[5, 2, 0, 0]),
            record(kind::SWITCH, 20, &[6, 1, 0, 2, 0, 3, 0]),
            record(kind::JUMP, 40, &[4, 0]),
        ]
        .concat()
    }

    #[test]
    fn branches_and_switches_are_found() {
        let expected = vec![
            (3, Counted::Branch([10, 20])),
            (20, Counted::Switch(vec![1, 2, 3])),
        ];
        assert_eq!(branches(&data(), 50, 6), Some(expected));
        assert_eq!(receiver_words([(&*data(), 50)].into_iter()), (6, 0));
    }

    #[test]
    fn data_that_make_no_sense_are_refused() {
        // Another number of words, code that is too short, an unknown kind, an end in a record.
        assert_eq!(branches(&data(), 50, 5), None);
        assert_eq!(branches(&data(), 40, 6), None);
        assert_eq!(branches(&record(77, 0, &[]), 50, 6), None);
        assert_eq!(branches(&record(kind::SWITCH, 0, &[u64::MAX]), 50, 6), None);
        let data = data();
        let ends = (1..data.len()).filter(|&end| branches(&data[..end], 50, 6).is_some());
        // Where a record ends.
        assert_eq!(ends.count(), 4);
        assert_eq!(branches(&[], 50, 6), Some(Vec::new()));
    }
}
