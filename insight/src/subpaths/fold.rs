//! Repetitions in a sequence, for readers: `a b a b a b c` is `3 × [a b] c`.

use std::collections::HashMap;

/// A part of a sequence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// A single element.
    One(u32),
    /// Something, several times in a row.
    Times(u32, Vec<Part>),
}

/// Longer repetitions than this are not looked for: the time is proportional to it.
const LONGEST: usize = 512;

#[derive(Clone, PartialEq, Eq, Hash)]
enum Node {
    One(u32),
    Times(u32, Vec<u32>),
}

/// Known parts by number, so that comparing two takes a moment however much is folded into them.
#[derive(Default)]
struct Nodes {
    all: Vec<Node>,
    numbers: HashMap<Node, u32>,
}

impl Nodes {
    fn number(&mut self, node: Node) -> u32 {
        *self.numbers.entry(node).or_insert_with_key(|node| {
            self.all.push(node.clone());
            self.all.len() as u32 - 1
        })
    }

    fn part(&self, number: u32) -> Part {
        match &self.all[number as usize] {
            Node::One(element) => Part::One(*element),
            Node::Times(times, body) => Part::Times(*times, body.iter().map(|&n| self.part(n)).collect()),
        }
    }
}

/// Folds repetitions, the shortest first, and then those of what is folded.
pub fn fold(sequence: &[u32]) -> Vec<Part> {
    let mut nodes = Nodes::default();
    let mut row: Vec<u32> = sequence
        .iter()
        .map(|&element| nodes.number(Node::One(element)))
        .collect();
    let mut period = 1;
    while 2 * period <= row.len() && period <= LONGEST {
        let folded = fold_period(&row, period, &mut nodes);
        period = if folded.len() < row.len() { 1 } else { period + 1 };
        row = folded;
    }
    row.into_iter().map(|number| nodes.part(number)).collect()
}

fn fold_period(row: &[u32], period: usize, nodes: &mut Nodes) -> Vec<u32> {
    let mut out = Vec::with_capacity(row.len());
    let mut rest = row;
    while rest.len() >= 2 * period {
        let body = &rest[..period];
        let times = rest.chunks_exact(period).take_while(|part| *part == body).count();
        if times > 1 {
            out.push(nodes.number(Node::Times(times as u32, body.to_vec())));
            rest = &rest[times * period..];
        } else {
            out.push(rest[0]);
            rest = &rest[1..];
        }
    }
    out.extend_from_slice(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(parts: &[Part]) -> String {
        let word = |part: &Part| match part {
            Part::One(element) => char::from(b'a' + *element as u8).to_string(),
            Part::Times(times, body) => format!("{times}[{}]", words(body)),
        };
        parts.iter().map(word).collect::<Vec<_>>().join(" ")
    }

    fn folded(text: &str) -> String {
        let sequence: Vec<u32> = text.bytes().map(|byte| u32::from(byte - b'a')).collect();
        words(&fold(&sequence))
    }

    fn unfold(parts: &[Part], out: &mut Vec<u32>) {
        for part in parts {
            match part {
                Part::One(element) => out.push(*element),
                Part::Times(times, body) => (0..*times).for_each(|_| unfold(body, out)),
            }
        }
    }

    #[test]
    fn repetitions_are_folded_inside_out() {
        for (text, expected) in [
            ("", ""),
            ("abc", "a b c"),
            ("ababab", "3[a b]"),
            ("abcabcab", "2[a b c] a b"),
            ("xaabaabaab", "x 3[2[a] b]"),
            ("ababcababcd", "2[2[a b] c] d"),
            ("aaaaaaaa", "8[a]"),
        ] {
            assert_eq!(folded(text), expected, "{text}");
        }
    }

    #[test]
    fn nothing_is_lost() {
        let mut state = 1u32;
        for length in 0..300 {
            let mut next = || {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                state >> 30
            };
            let sequence: Vec<u32> = (0..length).map(|_| next()).collect();
            let mut back = Vec::new();
            unfold(&fold(&sequence), &mut back);
            assert_eq!(back, sequence);
        }
    }
}
