//! Inlined code as a kind of data.

use super::{INLINED, codec};
use crate::model::codec::{Checked, Problem, Tag, WriteError};
use crate::model::errors::MergeError;
use crate::model::fault::{Fault, ensure};
use crate::model::profile::{ClassProfile, Profile};
use crate::model::section::{Section, SectionReader};

/// Inlined code as a kind of data.
pub(crate) struct Kind;

impl Section for Kind {
    fn tags(&self) -> &'static [Tag] {
        &[INLINED]
    }

    fn write(&self, profile: &Profile, out: &mut Vec<u8>) -> Result<(), WriteError> {
        codec::write(profile, out)
    }

    fn reader(&self) -> Box<dyn SectionReader> {
        Box::new(codec::Reading)
    }

    fn check(&self, profile: &Profile) -> Checked {
        profile.classes.iter().try_for_each(check_class)
    }

    fn merge(&self, _: &[&Profile], _: &mut Profile) -> Result<(), MergeError> {
        // It belongs to the line entries, and was merged with them.
        Ok(())
    }
}

/// Are the pieces of a class in order, apart from each other, and within the code?
pub(in crate::model) fn check_class(class: &ClassProfile) -> Checked {
    for method in &class.map.methods {
        let mut from = 0;
        for piece in &method.inlined {
            let is_next = piece.start >= from && piece.end > piece.start && piece.end <= method.code_length;
            ensure(is_next, || Fault::NotOfMethod("pieces of inlined code"))
                .map_err(|fault| Problem::of_method(&class.map.name, method, fault))?;
            from = piece.end;
        }
    }
    Ok(())
}
