//! Code that compilers make on their own, recognised: one rule, one file. The table is `RULES`.
//!
//! The same things as JaCoCo's filters leave out, so that thresholds carry over.

mod assertion;
mod enums;
mod finally;
mod findings;
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

use crate::known::Known;
use instructions::Instructions;

pub use findings::Findings;

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
