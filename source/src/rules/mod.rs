//! Code that compilers make on their own, recognised: one rule, one file. The table is `RULES`.
//!
//! The same things as JaCoCo's filters leave out, so that thresholds carry over.

mod assertion;
mod enums;
mod finally;
mod generated;
mod inlined;
mod instructions;
mod kotlin;
mod no_match;
mod resources;
mod strings;
mod synchronized;

pub use generated::ClassMarks;
use trodden_profile::{CompilerMade, MethodConditions};

use std::ops::Range;

use crate::decide::Known;
use instructions::Instructions;

/// One rule: what it finds in a method is noted in the conditions.
type Rule = fn(&Known, &mut Findings);

/// All rules, with what they are about.
const RULES: &[(CompilerMade, Rule)] = &[
    (CompilerMade::GeneratedMethod, generated::methods),
    (CompilerMade::GeneratedMethod, generated::of_kotlin),
    (CompilerMade::DeserializeLambda, generated::deserialize),
    (CompilerMade::EmptyConstructor, generated::empty_constructors),
    (CompilerMade::MarkedGenerated, generated::marked),
    (CompilerMade::EnumSwitch, enums::find),
    (CompilerMade::Synthetic, generated::synthetic),
    (CompilerMade::Assert, assertion::find),
    (CompilerMade::StringSwitch, strings::find),
    (CompilerMade::NoMatch, no_match::find),
    (CompilerMade::Synchronized, synchronized::find),
    (CompilerMade::TryWithResources, resources::find),
    (CompilerMade::FinallyCopy, finally::find),
    (CompilerMade::KotlinDefaultArgument, kotlin::defaults),
    (CompilerMade::KotlinLateinit, kotlin::lateinit),
    (CompilerMade::KotlinNullCheck, kotlin::null_checks),
    (CompilerMade::KotlinNullCheck, kotlin::safe_calls),
    (CompilerMade::KotlinNullCheck, kotlin::nullable_enums),
    (CompilerMade::KotlinCoroutine, kotlin::coroutines),
    (CompilerMade::KotlinInlined, inlined::find),
];

/// The findings of rules.
pub struct Findings<'f> {
    made: CompilerMade,
    out: &'f mut MethodConditions,
    instructions: &'f mut Instructions,
}

impl Findings<'_> {
    /// The branch or switch at the end of a block is the compiler's.
    pub fn branch(&mut self, block: usize) {
        let at = self
            .out
            .conditions
            .binary_search_by_key(&(block as u32), |c| c.block);
        if let Ok(at) = at {
            self.out.conditions[at].made.get_or_insert(self.made);
        }
    }

    /// The whole block is the compiler's, with the branch at its end.
    pub fn block(&mut self, block: usize) {
        self.branch(block);
        let block = block as u32;
        if let Err(at) = self.out.made.binary_search_by_key(&block, |&(b, _)| b) {
            self.out.made.insert(at, (block, self.made));
        }
    }

    /// The instructions at these positions are the compiler's, with the decisions among them.
    pub fn instructions(&mut self, positions: Range<usize>) {
        positions.for_each(|position| self.instructions.leave_out(position, Some(self.made)));
    }

    /// The instructions at these positions are the compiler's, but the decisions among them are the source's.
    pub fn instructions_alone(&mut self, positions: Range<usize>) {
        positions.for_each(|position| self.instructions.leave_out(position, None));
    }

    /// The source has the instructions at these two positions once.
    pub fn merge(&mut self, into: usize, other: usize) {
        self.instructions.merge(into, other);
    }

    /// The whole method is the compiler's.
    pub fn method(&mut self) {
        self.out.method.get_or_insert(self.made);
    }

    /// The condition at the end of a block, to say it better.
    pub fn condition(&mut self, block: usize) -> Option<&mut trodden_profile::Condition> {
        let at = self
            .out
            .conditions
            .binary_search_by_key(&(block as u32), |c| c.block)
            .ok()?;
        Some(&mut self.out.conditions[at])
    }
}

/// Applies all rules to a method.
pub fn apply(known: &Known, out: &mut MethodConditions) {
    let mut instructions = Instructions::new(known.listing().len());
    for &(made, rule) in RULES {
        let mut findings = Findings {
            made,
            out,
            instructions: &mut instructions,
        };
        rule(known, &mut findings);
    }
    instructions.finish(known, known.listing(), out);
}
