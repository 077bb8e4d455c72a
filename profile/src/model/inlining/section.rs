//! Inlined code as a kind of data.

use super::{INLINED, codec};
use crate::model::codec::{Problem, Tag, WriteError};
use crate::model::errors::{MergeError, SubtractError};
use crate::model::profile::{ClassProfile, Profile};
use crate::model::section::{Section, SectionReader, Sections};

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
