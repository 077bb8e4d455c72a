//! Source files that were edited since a profile was recorded: where its lines are now, and which of its
//! methods changed.
//!
//! Two texts are compared line by line, without indentation; or, where the program was built again, two path
//! maps of a class, method by method.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use similar::{Algorithm, DiffOp, capture_diff_slices};
use trodden_profile::{ClassMap, MethodMap};
use trodden_source::text::{Token, tokens};

/// Lines, and where they are in a later version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MovedLines {
    /// Where they were.
    Unmoved,
    /// Each line that is still there.
    Moved(BTreeMap<u32, u32>),
}

impl MovedLines {
    /// Compares two texts.
    pub fn of_texts(before: &str, after: &str) -> Self {
        if before == after {
            return MovedLines::Unmoved;
        }
        let [old, new] = [before, after].map(|text| text.lines().map(str::trim).collect::<Vec<_>>());
        if old == new {
            return MovedLines::Unmoved;
        }
        // Most edits are in one place.
        let same = |pair: &(&&str, &&str)| pair.0 == pair.1;
        let head = old.iter().zip(&new).take_while(same).count();
        let [old_rest, new_rest] = [&old[head..], &new[head..]];
        let tail = old_rest
            .iter()
            .rev()
            .zip(new_rest.iter().rev())
            .take_while(same)
            .count();
        let [old_rest, new_rest] = [old_rest, new_rest].map(|rest| &rest[..rest.len() - tail]);
        let mut lines = BTreeMap::new();
        let mut add = |before: usize, now: usize, len: usize| {
            let number = |index: usize| index as u32 + 1;
            lines.extend((0..len).map(|at| (number(before + at), number(now + at))));
        };
        add(0, 0, head);
        for op in capture_diff_slices(Algorithm::Patience, old_rest, new_rest) {
            if let DiffOp::Equal {
                old_index,
                new_index,
                len,
            } = op
            {
                add(head + old_index, head + new_index, len);
            }
        }
        add(old.len() - tail, new.len() - tail, tail);
        MovedLines::Moved(lines)
    }

    /// Where a line is now; `None` if it is gone or was edited.
    pub fn now(&self, line: u32) -> Option<u32> {
        match self {
            MovedLines::Unmoved => Some(line),
            MovedLines::Moved(lines) => lines.get(&line).copied(),
        }
    }

    /// From the later version to the earlier one. Of several lines that are one now, the first.
    pub fn back(&self) -> MovedLines {
        match self {
            MovedLines::Unmoved => MovedLines::Unmoved,
            MovedLines::Moved(lines) => {
                MovedLines::Moved(lines.iter().rev().map(|(&before, &now)| (now, before)).collect())
            }
        }
    }

    /// These moves, and then those of the next version.
    pub fn then(&self, next: &MovedLines) -> MovedLines {
        match (self, next) {
            (MovedLines::Unmoved, next) => next.clone(),
            (moved, MovedLines::Unmoved) => moved.clone(),
            (MovedLines::Moved(lines), next) => {
                let moved = lines.iter();
                MovedLines::Moved(
                    moved
                        .filter_map(|(&from, &to)| Some((from, next.now(to)?)))
                        .collect(),
                )
            }
        }
    }
}

/// An edit of a text.
#[derive(Debug)]
pub struct Edit<'t> {
    before: &'t str,
    after: &'t str,
    lines: MovedLines,
    tokens: OnceCell<[Vec<Token>; 2]>,
}

impl<'t> Edit<'t> {
    /// Compares two texts.
    pub fn new(before: &'t str, after: &'t str) -> Self {
        Edit {
            before,
            after,
            lines: MovedLines::of_texts(before, after),
            tokens: OnceCell::new(),
        }
    }

    /// Where the lines of the text before are in the text after.
    pub fn lines(&self) -> &MovedLines {
        &self.lines
    }

    /// True if no line was edited.
    pub fn is_none(&self) -> bool {
        self.lines == MovedLines::Unmoved
    }

    /// True if the code of these lines, from the first to the last, is the same: comments and blanks may be
    /// others.
    pub fn keeps(&self, first: u32, last: u32) -> bool {
        if self.is_none() {
            return true;
        }
        let (Some(from), Some(to)) = (self.lines.now(first), self.lines.now(last)) else {
            return false;
        };
        let all_moved = || (first..=last).all(|line| self.lines.now(line) == Some(line - first + from));
        let tokens = || self.tokens.get_or_init(|| [self.before, self.after].map(tokens));
        to - from == last - first && all_moved() || same_code(tokens(), [(first, last), (from, to)])
    }
}

/// True if both texts have the same tokens in these lines.
fn same_code([before, after]: &[Vec<Token>; 2], lines: [(u32, u32); 2]) -> bool {
    let within = |tokens: &[Token], (first, last): (u32, u32)| {
        let from = tokens.partition_point(|token| token.line < first);
        from..tokens.partition_point(|token| token.line <= last)
    };
    let (old, new) = (&before[within(before, lines[0])], &after[within(after, lines[1])]);
    old.len() == new.len() && old.iter().zip(new).all(|(a, b)| a.text == b.text)
}

/// A class that was built again.
#[derive(Debug)]
pub struct Rebuilt {
    /// Where the lines of unchanged methods are now.
    pub lines: MovedLines,
    /// The methods with the same code, by position in the earlier class.
    pub same: BTreeSet<usize>,
    /// The methods with other code, and the first line of it now.
    pub changed: BTreeMap<usize, u32>,
}

impl Rebuilt {
    /// A class that is no more.
    pub fn gone() -> Self {
        Rebuilt {
            lines: MovedLines::Moved(BTreeMap::new()),
            same: BTreeSet::new(),
            changed: BTreeMap::new(),
        }
    }

    /// Compares two builds of a class.
    pub fn new(before: &ClassMap, after: &ClassMap) -> Self {
        if before.sha256 == after.sha256 {
            return Rebuilt {
                lines: MovedLines::Unmoved,
                same: (0..before.methods.len()).collect(),
                changed: BTreeMap::new(),
            };
        }
        let mut lines: BTreeMap<u32, u32> = BTreeMap::new();
        let mut rebuilt = Rebuilt::gone();
        for (index, method) in before.methods.iter().enumerate() {
            let named = |now: &&MethodMap| (&now.name, &now.descriptor) == (&method.name, &method.descriptor);
            let Some(now) = after.methods.iter().find(named) else {
                continue;
            };
            if has_code_of(now, method) {
                rebuilt.same.insert(index);
                for entry in &method.lines {
                    if let Some(line) = now.line(entry.bci) {
                        lines.entry(entry.line).or_insert(line);
                    }
                }
            } else if let Some(line) = now.line(0) {
                rebuilt.changed.insert(index, line);
            }
        }
        rebuilt.lines = MovedLines::Moved(lines);
        rebuilt
    }
}

/// True if they have the same code at the same bytecode indices, whatever its lines are.
fn has_code_of(method: &MethodMap, other: &MethodMap) -> bool {
    let bounds = |map: &MethodMap| -> Vec<(u32, u32)> {
        map.blocks.iter().map(|block| (block.start, block.end)).collect()
    };
    method.shape.is_some() && method.shape == other.shape && bounds(method) == bounds(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: &str = "class A {\n    int f(int n) {\n        if (n > 1) {\n            return 2;\n        }\n        return 3;\n    }\n\n    int g() {\n        return 4;\n    }\n}\n";

    #[test]
    fn lines_move_with_their_text() {
        let after = BEFORE
            .replace("class A {\n", "import x;\n\nclass A {\n")
            .replace("return 3", "return 33");
        let edit = Edit::new(BEFORE, &after);
        let now: Vec<_> = (1..=12).map(|line| edit.lines().now(line)).collect();
        let expected = [3, 4, 5, 6, 7, 0, 9, 10, 11, 12, 13, 14].map(|line| Some(line).filter(|&l| l > 0));
        assert_eq!(now, expected);
        assert!(!edit.keeps(2, 6) && !edit.keeps(2, 7));
        assert!(edit.keeps(2, 5) && edit.keeps(9, 11));
        let back = edit.lines().back();
        assert_eq!((back.now(12), back.now(8), back.now(1)), (Some(10), None, None));
        let again = MovedLines::of_texts(&after, BEFORE);
        assert_eq!(edit.lines().then(&again).now(10), Some(10));
        assert_eq!(edit.lines().then(&again).now(6), None);
    }

    #[test]
    fn comments_and_indentation_are_no_code() {
        let after = BEFORE
            .replace("        return 4;", "\t// four\n\treturn 4; ")
            .replace('\n', "\r\n");
        let edit = Edit::new(BEFORE, &after);
        assert!(edit.keeps(9, 11), "a comment more");
        assert_eq!(edit.lines().now(10), Some(11));
        assert_eq!(
            MovedLines::of_texts(BEFORE, &BEFORE.replace("    ", "\t")),
            MovedLines::Unmoved
        );
        let swapped = BEFORE.replace("n > 1", "n > /* */ 1");
        assert_eq!(Edit::new(BEFORE, &swapped).lines().now(3), None);
        assert!(Edit::new(BEFORE, &swapped).keeps(2, 7));
        assert!(!Edit::new(BEFORE, &BEFORE.replace("n > 1", "n > 2")).keeps(2, 7));
    }
}
