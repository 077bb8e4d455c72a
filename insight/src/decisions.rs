//! What a method's branches decide, in the source's terms where these are known.

use std::collections::{BTreeMap, BTreeSet};

use trodden_numbering::{EdgeRef, StartKind};
use trodden_profile::{
    CompilerMade, ConditionKind, EdgeLabel, EndKind, MethodConditions, MethodMap, Outcome, PathDescription,
    Place, printable,
};
use trodden_source::text::SourceFile;

use crate::names::{decision_short, end_kind, ends, place, place_of, start_kind, starts};

/// The decisions of one method. Without any, all are shown as what the bytecode does.
#[derive(Clone, Debug, Default)]
pub struct Decisions {
    blocks: BTreeMap<u32, Decision>,
    /// Blocks in which a `switch` over patterns looks for the next case.
    restarts: BTreeSet<u32>,
}

/// A decision whose meaning is known, at least in part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The construct that it belongs to.
    pub kind: ConditionKind,
    /// The condition as the source has it; what a `switch` switches over; `x : xs` of a `for` over elements.
    pub text: Option<String>,
    /// The meaning of each out-edge, in successor order.
    pub outcomes: Vec<Outcome>,
    /// The source has no such decision.
    pub made: Option<CompilerMade>,
    /// File and line that it was inlined from: `_Collections.kt:865`.
    pub inlined: Option<String>,
}

impl Decisions {
    /// From what was recovered from bytecode; with the source's own text where the file has it.
    pub fn new(map: &MethodMap, of: &MethodConditions, source: Option<&SourceFile>) -> Self {
        // It is of another place of the source, but of a source all the same.
        let not_inlined = |made: &CompilerMade| *made != CompilerMade::KotlinInlined;
        let decision = |condition: &trodden_profile::Condition| {
            let block = map.blocks.get(condition.block as usize)?;
            // The line of inlined code is that of the call, where the source has other conditions.
            let inlined = map.inlined_at(block.last);
            let written = source
                .filter(|_| inlined.is_none())
                .zip(map.line(block.last))
                .and_then(|(source, line)| source.condition(line, condition));
            let mut outcomes = condition.outcomes.clone();
            let text = match written {
                Some(written) => {
                    if written.opposite {
                        outcomes.iter_mut().for_each(turn);
                    }
                    Some(written.text)
                }
                None => condition.text.as_deref().map(str::to_owned),
            };
            let decision = Decision {
                kind: condition.kind,
                text: text.map(|text| printable(&text).into_owned()),
                outcomes,
                made: condition.made.or(of.made(condition.block)).filter(not_inlined),
                inlined: inlined.map(|piece| format!("{}:{}", printable(&piece.file), piece.line)),
            };
            Some((condition.block, decision))
        };
        Decisions {
            blocks: of.conditions.iter().filter_map(decision).collect(),
            restarts: of.restarts.iter().copied().collect(),
        }
    }

    /// True if nothing is known.
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// The decision at the end of a block, if anything is known of it.
    pub fn of(&self, block: usize) -> Option<&Decision> {
        self.blocks.get(&(block as u32))
    }

    /// True if the compiler made the decision at the end of this block on its own.
    pub fn made(&self, block: usize) -> Option<CompilerMade> {
        self.of(block)?.made
    }

    /// Where a path starts, in plain words.
    pub fn starts(&self, map: &MethodMap, path: &PathDescription) -> String {
        if self.looks_for_case(map, path.start) && path.start_kind == StartKind::Header {
            next_case(path.start)
        } else {
            starts(path.start_kind, path.start)
        }
    }

    /// Where a path ends, in plain words.
    pub fn ends(&self, map: &MethodMap, path: &PathDescription) -> String {
        if self.looks_for_case(map, path.end) && path.end_kind == EndKind::Header {
            next_case(path.end)
        } else {
            ends(path.end_kind, path.end)
        }
    }

    /// The names of the kinds of a path's start and end, for programs.
    pub fn kinds(&self, map: &MethodMap, path: &PathDescription) -> (&'static str, &'static str) {
        let (start, end) = self.source_kinds(map, path);
        (start_kind(start), end_kind(end))
    }

    /// The kinds of a path's start and end: the search for the next case is no loop, but cuts the path.
    pub fn source_kinds(&self, map: &MethodMap, path: &PathDescription) -> (StartKind, EndKind) {
        let start = match path.start_kind {
            StartKind::Header if self.looks_for_case(map, path.start) => StartKind::Cut,
            kind => kind,
        };
        let end = match path.end_kind {
            EndKind::Header if self.looks_for_case(map, path.end) => EndKind::Cut,
            kind => kind,
        };
        (start, end)
    }

    fn looks_for_case(&self, map: &MethodMap, at: Place) -> bool {
        let block = map.block_at(at.bci).map(|block| block.index() as u32);
        block.is_some_and(|block| self.restarts.contains(&block))
    }

    /// Following an edge, in words: `hit != null → no`, `for (x : xs) → again`, `line 24 → yes`; what the bytecode did
    /// (`taken`) where that is all that is known.
    pub fn followed(&self, map: &MethodMap, edge: EdgeRef) -> String {
        let block = edge.from.index();
        match self.outcome(block, edge.index as usize) {
            Some(outcome) => format!("{} → {outcome}", self.asked(map, block)),
            None => decision_short(label(map, edge)),
        }
    }

    /// The condition: `hit != null`, `switch (method)`; the line if it is not known.
    pub fn asked(&self, map: &MethodMap, block: usize) -> String {
        match self.of(block).and_then(Decision::phrase) {
            Some(phrase) => phrase,
            None => place_of(map, map.blocks[block].last),
        }
    }

    /// One outcome: `yes`, `again`, `case "GET"`; what the bytecode did where that is all that is known.
    pub fn outcome_or_label(&self, map: &MethodMap, edge: EdgeRef) -> String {
        let known = self.outcome(edge.from.index(), edge.index as usize);
        known.unwrap_or_else(|| decision_short(label(map, edge)))
    }

    /// One outcome, if it is known.
    pub fn outcome(&self, block: usize, edge: usize) -> Option<String> {
        let outcome = self.of(block)?.outcomes.get(edge)?;
        outcome.text().map(|text| printable(text).into_owned())
    }

    /// True if this edge means *no* or *done*; in the bytecode's terms, if the branch was not taken.
    pub fn is_negative(&self, map: &MethodMap, edge: EdgeRef) -> bool {
        let known = self
            .of(edge.from.index())
            .and_then(|d| d.outcomes.get(edge.index as usize));
        match known {
            Some(Outcome::Unknown) | None => *label(map, edge) == EdgeLabel::NotTaken,
            Some(outcome) => matches!(outcome, Outcome::No | Outcome::Done),
        }
    }
}

impl Decision {
    /// `hit != null`, `for (x : xs)`, `switch (method)`, `for (x in xs) (_Collections.kt:865 inlined)`; the place of inlined
    /// code is said even if its condition is not known.
    pub fn phrase(&self) -> Option<String> {
        let phrase = self.text.as_deref().map(|text| match self.kind {
            ConditionKind::Switch => format!("switch ({text})"),
            ConditionKind::ForEach => format!("for ({text})"),
            _ => text.to_owned(),
        });
        match (phrase, &self.inlined) {
            (phrase, None) => phrase,
            (Some(phrase), Some(place)) => Some(format!("{phrase} ({place} inlined)")),
            (None, Some(place)) => Some(format!("{place} (inlined)")),
        }
    }
}

fn next_case(at: Place) -> String {
    format!("next case of the switch, {}", place(at))
}

fn label(map: &MethodMap, edge: EdgeRef) -> &EdgeLabel {
    &map.blocks[edge.from.index()].labels[edge.index as usize]
}

/// The condition's text says the opposite of what was recovered.
fn turn(outcome: &mut Outcome) {
    match outcome {
        Outcome::Yes => *outcome = Outcome::No,
        Outcome::No => *outcome = Outcome::Yes,
        _ => (),
    }
}
