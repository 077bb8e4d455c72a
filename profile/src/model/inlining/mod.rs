//! Code of inline functions (Kotlin's), which stands in the methods that call them: where it comes from.
//!
//! A method's line entries lead to the lines of its own file, for such code to the line with the call. This says which code
//! that is, and what file, class and line it was written in.

mod codec;

use std::sync::Arc;

use super::map::MethodMap;
use crate::model::codec::{Problem, Tag, WriteError};
use crate::model::merge::MergeError;
use crate::model::profile::{ClassProfile, Profile};
use crate::model::section::{Section, SectionReader, Sections};
use crate::model::subtract::SubtractError;

pub(in crate::model) use codec::{INLINED, put_class};

/// A piece of a method's code that was inlined from elsewhere.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InlinedCode {
    /// Bytecode index of its first instruction.
    pub start: u32,
    /// Bytecode index after its last instruction.
    pub end: u32,
    /// Line that it was written in.
    pub line: u32,
    /// Name of the source file that it was written in, without folders.
    pub file: Arc<str>,
    /// Internal name of the class that it was written in.
    pub class: Arc<str>,
}

impl MethodMap {
    /// What the instruction at a bytecode index was inlined from; `None` if it is the method's own.
    pub fn inlined_at(&self, bci: u32) -> Option<&InlinedCode> {
        let after = self.inlined.partition_point(|piece| piece.start <= bci);
        let piece = &self.inlined[after.checked_sub(1)?];
        (bci < piece.end).then_some(piece)
    }
}

/// Inlined code as a kind of data.
pub(crate) struct Kind;

impl Section for Kind {
    fn tags(&self) -> &'static [Tag] {
        &[INLINED]
    }

    fn write(&self, profile: &Profile, out: &mut Sections<'_>) -> Result<(), WriteError> {
        codec::write(profile, out)
    }

    fn reader(&self) -> Box<dyn SectionReader> {
        Box::new(codec::Reading)
    }

    fn check(&self, profile: &Profile) -> Result<(), Problem> {
        profile.classes.iter().try_for_each(check_class)
    }

    fn subtract(&self, _: &Profile, _: &Profile, _: &mut Profile) -> Result<(), SubtractError> {
        // They are in the path maps.
        Ok(())
    }

    fn merge(&self, _: &[&Profile], _: &mut Profile) -> Result<(), MergeError> {
        // It belongs to the line entries, and was merged with them.
        Ok(())
    }
}

/// Are the pieces of a class in order, apart from each other, and within the code?
pub(in crate::model) fn check_class(class: &ClassProfile) -> Result<(), Problem> {
    for method in &class.map.methods {
        let mut from = 0;
        for piece in &method.inlined {
            if piece.start < from || piece.end <= piece.start || piece.end > method.code_length {
                return Err(Problem {
                    class: Some(class.map.name.clone()),
                    method: Some(format!("{}{}", method.name, method.descriptor)),
                    what: format!(
                        "inlined code from {} to {} is out of order or not in the code",
                        piece.start, piece.end
                    ),
                });
            }
            from = piece.end;
        }
    }
    Ok(())
}
