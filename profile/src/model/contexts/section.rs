//! Calling contexts as a kind of data.

use super::{codec, merge, subtract};
use crate::model::codec::{Problem, Tag, WriteError};
use crate::model::errors::{MergeError, SubtractError};
use crate::model::profile::Profile;
use crate::model::section::{Section, SectionReader, Sections};

/// Calling contexts as a kind of data.
pub(crate) struct Kind;

impl Section for Kind {
    fn tags(&self) -> &'static [Tag] {
        &[codec::ABOUT, codec::NODES, codec::PREFIXES, codec::GROUPS]
    }

    fn write(&self, profile: &Profile, out: &mut Sections<'_>) -> Result<(), WriteError> {
        match &profile.contexts {
            Some(contexts) => codec::write(contexts, out),
            None => Ok(()),
        }
    }

    fn reader(&self) -> Box<dyn SectionReader> {
        Box::new(codec::Reading::default())
    }

    fn check(&self, profile: &Profile) -> Result<(), Problem> {
        let Some(contexts) = &profile.contexts else {
            return Ok(());
        };
        let methods = |class: u32| Some(profile.classes.get(class as usize)?.map.methods.len());
        contexts.check(methods).map_err(Problem::bare)
    }

    fn texts<'p>(&self, profile: &'p Profile) -> Vec<&'p str> {
        let Some(contexts) = &profile.contexts else {
            return Vec::new();
        };
        let bursts = contexts.bursts.as_deref();
        [&*contexts.algorithm].into_iter().chain(bursts).collect()
    }

    fn texts_mut<'p>(&self, profile: &'p mut Profile) -> Vec<&'p mut String> {
        let Some(contexts) = &mut profile.contexts else {
            return Vec::new();
        };
        let bursts = contexts.bursts.as_mut();
        [&mut contexts.algorithm].into_iter().chain(bursts).collect()
    }

    fn subtract(&self, now: &Profile, before: &Profile, rest: &mut Profile) -> Result<(), SubtractError> {
        rest.contexts = subtract::subtract(now, before)?;
        Ok(())
    }

    fn classes(&self, profile: &Profile, found: &mut dyn FnMut(usize)) {
        let nodes = profile.contexts.iter().flat_map(|about| about.tree.nodes());
        nodes.for_each(|node| found(node.class as usize));
    }

    fn merge(&self, inputs: &[&Profile], merged: &mut Profile) -> Result<(), MergeError> {
        merged.contexts = merge::merge(inputs, &merged.classes)?;
        Ok(())
    }
}
