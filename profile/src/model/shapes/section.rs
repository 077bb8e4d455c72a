//! Shapes as a kind of data.

use super::{codec, merge};
use crate::model::codec::{Checked, Problem, Tag, WriteError};
use crate::model::errors::MergeError;
use crate::model::fault::Fault;
use crate::model::profile::{ClassProfile, Profile};
use crate::model::section::{Section, SectionReader};

/// Shapes as a kind of data.
pub(crate) struct Kind;

impl Section for Kind {
    fn tags(&self) -> &'static [Tag] {
        &[codec::SHAPES]
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

    fn merge(&self, inputs: &[&Profile], merged: &mut Profile) -> Result<(), MergeError> {
        merge::merge(inputs, &mut merged.classes);
        Ok(())
    }
}

/// Do the shapes of a class fit its methods?
pub(in crate::model) fn check_class(class: &ClassProfile) -> Checked {
    for method in &class.map.methods {
        let Some(shape) = &method.shape else { continue };
        let calls: u64 = shape.blocks.iter().map(|b| u64::from(b.calls)).sum();
        Fault::sizes(
            "blocks of the shape",
            shape.blocks.len(),
            "blocks",
            method.blocks.len(),
        )
        .and_then(|()| Fault::number("calls of a shape", shape.calls.len() as u64, calls))
        .map_err(|fault| Problem::of_method(&class.map.name, method, fault))?;
    }
    Ok(())
}
