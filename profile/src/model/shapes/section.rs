//! Shapes as a kind of data.

use super::{MethodShape, codec, merge};
use crate::model::codec::{Problem, Tag, WriteError};
use crate::model::errors::{MergeError, SubtractError};
use crate::model::profile::{ClassProfile, Profile};
use crate::model::section::{Section, SectionReader, Sections};

/// Shapes as a kind of data.
pub(crate) struct Kind;

impl Section for Kind {
    fn tags(&self) -> &'static [Tag] {
        &[codec::SHAPES]
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

    fn merge(&self, inputs: &[&Profile], merged: &mut Profile) -> Result<(), MergeError> {
        merge::merge(inputs, &mut merged.classes);
        Ok(())
    }
}

/// Do the shapes of a class fit its methods?
pub(in crate::model) fn check_class(class: &ClassProfile) -> Result<(), Problem> {
    for method in &class.map.methods {
        let Some(shape) = &method.shape else { continue };
        fits(shape, method.blocks.len()).map_err(|what| Problem {
            class: Some(class.map.name.clone()),
            method: Some(format!("{}{}", method.name, method.descriptor)),
            what,
        })?;
    }
    Ok(())
}

/// Does a shape speak of so many blocks, and of the calls in them?
fn fits(shape: &MethodShape, blocks: usize) -> Result<(), String> {
    let calls: u64 = shape.blocks.iter().map(|b| u64::from(b.calls)).sum();
    match () {
        () if shape.blocks.len() != blocks => Err(format!(
            "the shape has {} blocks, the path map {blocks}",
            shape.blocks.len()
        )),
        () if calls != shape.calls.len() as u64 => Err(format!(
            "the shape has {} calls, its blocks {calls}",
            shape.calls.len()
        )),
        () => Ok(()),
    }
}
