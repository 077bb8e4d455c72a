//! The findings of rules about single instructions: those that the source does not have, and those that it
//! has once.

use trodden_profile::{CodeCopy, CodeRange, CompilerMade, MethodConditions};

use crate::known::Known;
use crate::listing::Listing;

/// Per instruction, by its position.
#[derive(Debug)]
pub struct Instructions {
    /// The source does not have it.
    left_out: Vec<bool>,
    /// If it decides: why the source does not have the decision.
    made: Vec<Option<CompilerMade>>,
    /// It is merged into this one; itself if it is into none.
    merged: Vec<usize>,
}

impl Instructions {
    /// No findings, for a method with this number of instructions.
    pub fn new(count: usize) -> Self {
        Instructions {
            left_out: vec![false; count],
            made: vec![None; count],
            merged: (0..count).collect(),
        }
    }

    /// The source does not have this one; nor, if it says what made it, what it decides.
    pub fn leave_out(&mut self, position: usize, made: Option<CompilerMade>) {
        self.left_out[position] = true;
        self.made[position] = self.made[position].or(made);
    }

    /// The source has both once. If what `into` is merged into is left out, so are both.
    pub fn merge(&mut self, into: usize, other: usize) {
        let (into, other) = (self.root(into), self.root(other));
        self.merged[other] = into;
    }

    fn root(&self, mut position: usize) -> usize {
        while self.merged[position] != position {
            position = self.merged[position];
        }
        position
    }

    /// Writes all down: ranges, and marks at the decisions that are in them. Of merged instructions the first
    /// one in the code is the one that counts.
    pub fn finish(mut self, known: &Known, listing: &Listing, out: &mut MethodConditions) {
        let roots: Vec<usize> = (0..self.merged.len())
            .map(|position| self.root(position))
            .collect();
        let mut sizes = vec![0; roots.len()];
        roots.iter().for_each(|&root| sizes[root] += 1);
        let mut first: Vec<Option<usize>> = vec![None; roots.len()];
        let mut copies: Vec<Option<usize>> = vec![None; roots.len()];
        for (position, &root) in roots.iter().enumerate() {
            if sizes[root] == 1 {
                continue;
            }
            if self.left_out[root] {
                self.leave_out(position, self.made[root]);
            } else {
                match first[root] {
                    Some(first) => copies[position] = Some(first),
                    None => first[root] = Some(position),
                }
            }
        }
        for position in 0..roots.len() {
            // What it is merged into has decided if it is left out.
            if first[roots[position]].is_some() {
                self.left_out[position] = false;
                self.made[position] = None;
            }
        }
        out.left_out = ranges(listing, &self.left_out);
        out.copies = runs(listing, &copies, &mut out.left_out);
        out.left_out.sort_unstable();
        for condition in &mut out.conditions {
            let position = listing.position(known.map.blocks[condition.block as usize].last);
            let copied = copies.get(position).is_some_and(Option::is_some);
            let made = self.made.get(position).copied().flatten();
            let made = made.or(copied.then_some(CompilerMade::FinallyCopy));
            condition.made = condition.made.or(made);
        }
    }
}

fn ranges(listing: &Listing, left_out: &[bool]) -> Vec<CodeRange> {
    let mut ranges: Vec<CodeRange> = Vec::new();
    for (position, _) in left_out.iter().enumerate().filter(|&(_, &left_out)| left_out) {
        let (start, end) = (listing.all()[position].pc, listing.end(position));
        match ranges.last_mut().filter(|last| last.end == start) {
            Some(last) => last.end = end,
            None => ranges.push(CodeRange { start, end }),
        }
    }
    ranges
}

/// Instructions of the same length one behind the other, at either place, are one run. Of a copy that is
/// longer than what it repeats (`aload 4` and `aload_3`), the rest is left out.
fn runs(listing: &Listing, copies: &[Option<usize>], rests: &mut Vec<CodeRange>) -> Vec<CodeCopy> {
    let mut runs: Vec<CodeCopy> = Vec::new();
    for (position, of) in copies.iter().enumerate() {
        let Some(of) = *of else { continue };
        let (start, end) = (listing.all()[position].pc, listing.end(position));
        let (of_start, of_end) = (listing.all()[of].pc, listing.end(of));
        let follows = |last: &&mut CodeCopy| {
            last.start + last.length == start
                && last.of + last.length == of_start
                && end - start == of_end - of_start
        };
        match runs.last_mut().filter(follows) {
            Some(last) => last.length += end - start,
            None => {
                let length = (end - start).min(of_end - of_start);
                runs.push(CodeCopy {
                    start,
                    of: of_start,
                    length,
                });
                if start + length < end {
                    rests.push(CodeRange {
                        start: start + length,
                        end,
                    });
                }
            }
        }
    }
    runs
}
