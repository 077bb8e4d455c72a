//! Calling contexts as a kind of data.

use super::{Contexts, codec, merge, subtract};
use crate::model::codec::{Checked, Tag, WriteError};
use crate::model::errors::{MergeError, SubtractError};
use crate::model::fault::{Fault, ensure};
use crate::model::places::method;
use crate::model::profile::Profile;
use crate::model::section::{Section, SectionReader};

/// Calling contexts as a kind of data.
pub(crate) struct Kind;

impl Section for Kind {
    fn tags(&self) -> &'static [Tag] {
        &[codec::ABOUT, codec::NODES, codec::PREFIXES, codec::GROUPS]
    }

    fn write(&self, profile: &Profile, out: &mut Vec<u8>) -> Result<(), WriteError> {
        profile
            .contexts
            .iter()
            .try_for_each(|contexts| codec::write(contexts, out))
    }

    fn reader(&self) -> Box<dyn SectionReader> {
        Box::new(codec::Reading::default())
    }

    fn check(&self, profile: &Profile) -> Checked {
        profile
            .contexts
            .iter()
            .try_for_each(|contexts| contexts.check(profile))
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

impl Contexts {
    /// Checks what [`ContextTree`] alone cannot know.
    fn check(&self, profile: &Profile) -> Checked {
        if let Some((phi, epsilon)) = self.thresholds {
            let go_together = epsilon > 0.0 && epsilon < phi && phi <= 1.0;
            ensure(go_together, || Fault::Thresholds(phi, epsilon))?;
        } else {
            Fault::range("calls that exact contexts may lack", self.absent, 0..=0)?;
        }
        let mut calls = 0u64;
        for node in self.tree.nodes() {
            method(profile, (node.class as usize, node.method as usize), "a context")?;
            let (least, most) = node.calls.unwrap_or_default();
            if self.thresholds.is_none() {
                Fault::range("calls of an exact context", most, least..=least)?;
            }
            calls = calls.saturating_add(least);
        }
        if let Some((at, _)) = self.groups.iter().flat_map(|groups| &groups.contexts).next_back() {
            let is_there = (*at as usize) < self.tree.nodes().len();
            ensure(is_there, || {
                Fault::NoItem("groups of bursts", "context", (*at).into())
            })?;
        }
        Ok(Fault::range("calls of all contexts", calls, 0..=self.calls)?)
    }
}
