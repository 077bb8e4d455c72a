//! Requests as a kind of data.

use super::{codec, merge};
use crate::model::codec::{Checked, Tag, WriteError};
use crate::model::errors::MergeError;
use crate::model::fault::{Fault, ensure};
use crate::model::parts;
use crate::model::profile::Profile;
use crate::model::section::{Section, SectionReader};

/// Requests as a kind of data.
pub(crate) struct Kind;

impl Section for Kind {
    fn tags(&self) -> &'static [Tag] {
        &[codec::ABOUT, codec::VECTORS, codec::NAMES]
    }

    fn write(&self, profile: &Profile, out: &mut Vec<u8>) -> Result<(), WriteError> {
        (profile.requests.as_ref()).map_or(Ok(()), |requests| codec::write(requests, out))
    }

    fn reader(&self) -> Box<dyn SectionReader> {
        Box::new(codec::Reading::default())
    }

    fn check(&self, profile: &Profile) -> Checked {
        check(profile)
    }

    fn texts<'p>(&self, profile: &'p Profile) -> Vec<&'p str> {
        let names = profile.requests.iter().flat_map(|requests| &requests.names);
        names.map(|name| name.name.as_str()).collect()
    }

    fn texts_mut<'p>(&self, profile: &'p mut Profile) -> Vec<&'p mut String> {
        let names = profile
            .requests
            .iter_mut()
            .flat_map(|requests| &mut requests.names);
        names.map(|name| &mut name.name).collect()
    }

    fn estimates(&self, profile: &Profile) -> Option<&'static str> {
        profile.requests.is_some().then_some("samples of requests")
    }

    fn classes(&self, profile: &Profile, found: &mut dyn FnMut(usize)) {
        let vectors = profile.requests.iter().flat_map(|requests| &requests.vectors);
        vectors.flatten().for_each(|one| found(one.class as usize));
    }

    fn merge(&self, inputs: &[&Profile], merged: &mut Profile) -> Result<(), MergeError> {
        merged.requests = merge::merge(inputs, &merged.classes)?;
        Ok(())
    }
}

/// Names and latencies are in order, and samples name paths that are there.
fn check(profile: &Profile) -> Checked {
    let Some(requests) = &profile.requests else {
        return Ok(());
    };
    let names = &requests.names;
    Fault::order("names of requests", names.is_sorted_by(|a, b| a.name < b.name))?;
    for name in names {
        Fault::order("latencies", name.latencies.is_sorted_by(|a, b| a.0 < b.0))?;
        for sample in &name.samples {
            let is_weight = sample.weight.is_finite() && sample.weight >= 0.0;
            ensure(is_weight, || {
                Fault::NotNumber("weight of a request", sample.weight)
            })?;
            let vector = sample.vector as usize;
            ensure(vector < requests.vectors.len(), || {
                Fault::NoItem("request", "vector", vector as u64)
            })?;
        }
    }
    for vector in &requests.vectors {
        parts::check(profile, vector, "a request")?;
    }
    Ok(())
}
