//! Structural profiles as a kind of data.

use super::{Structural, codec, merge, structure_of};
use crate::model::codec::{Checked, Tag, WriteError};
use crate::model::errors::MergeError;
use crate::model::fault::Fault;
use crate::model::places::method;
use crate::model::profile::Profile;
use crate::model::section::{Section, SectionReader};

/// Structural profiles as a kind of data.
pub(crate) struct Kind;

impl Section for Kind {
    fn tags(&self) -> &'static [Tag] {
        &[codec::ABOUT, codec::LIST]
    }

    fn write(&self, profile: &Profile, out: &mut Vec<u8>) -> Result<(), WriteError> {
        profile
            .structural
            .iter()
            .try_for_each(|structural| codec::write(structural, out))
    }

    fn reader(&self) -> Box<dyn SectionReader> {
        Box::new(codec::Reading::default())
    }

    fn check(&self, profile: &Profile) -> Checked {
        profile
            .structural
            .iter()
            .try_for_each(|structural| structural.check(profile))
    }

    fn estimates(&self, profile: &Profile) -> Option<&'static str> {
        profile.structural.as_ref().map(|_| "structural profiles")
    }

    fn classes(&self, profile: &Profile, found: &mut dyn FnMut(usize)) {
        let places = profile.structural.iter().flat_map(|about| about.methods.keys());
        places.for_each(|&(class, _)| found(class as usize));
    }

    fn merge(&self, inputs: &[&Profile], merged: &mut Profile) -> Result<(), MergeError> {
        merged.structural = merge::merge(inputs, &merged.classes);
        Ok(())
    }
}

impl Structural {
    /// Does what it says fit the structure graphs?
    fn check(&self, profile: &Profile) -> Checked {
        for (&(class, at), counts) in &self.methods {
            let map = method(profile, (class as usize, at as usize), "structure graphs")?;
            let structure = structure_of(&map.graph).map_err(|_| Fault::NoStructure(class, at))?;
            let (given, graphs) = (&counts.graphs, structure.graphs());
            Fault::sizes(
                "structure graphs with counts",
                given.len(),
                "structure graphs",
                graphs.len(),
            )?;
            for (counts, graph) in given.iter().zip(graphs) {
                let mut paths = counts.local.keys().chain(counts.global.keys());
                if let Some(&path) = paths.find(|&&path| path >= graph.dag().num_paths()) {
                    return Err(Fault::NoPath("a structure graph", path).into());
                }
            }
        }
        Ok(())
    }
}
