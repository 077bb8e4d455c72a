//! Requests of several profiles.

use std::collections::BTreeMap;

use super::{RequestName, Requests};
use crate::model::errors::MergeError;
use crate::model::parts::{self, Parts};
use crate::model::profile::{ClassProfile, Profile};

/// Requests of the same name are added up.
pub(super) fn merge(profiles: &[&Profile], classes: &[ClassProfile]) -> Result<Option<Requests>, MergeError> {
    let mut all: Option<Requests> = None;
    let mut names: BTreeMap<&str, (BTreeMap<u64, u64>, RequestName)> = BTreeMap::new();
    for profile in profiles {
        let Some(requests) = &profile.requests else {
            continue;
        };
        let sum = all.get_or_insert_default();
        sum.reading_ns = sum.reading_ns.saturating_add(requests.reading_ns);
        let first = sum.vectors.len() as u32;
        for vector in &requests.vectors {
            let mut methods = Parts::new();
            parts::add(profile, vector, classes, &mut methods)?;
            sum.vectors.push(parts::in_order(methods));
        }
        for one in &requests.names {
            let (latencies, name) = names.entry(&one.name).or_default();
            for &(latency, count) in &one.latencies {
                let sum = latencies.entry(latency).or_default();
                *sum = sum.saturating_add(count);
            }
            name.unreadable = name.unreadable.saturating_add(one.unreadable);
            let samples = one.samples.iter().cloned().map(|mut sample| {
                sample.vector = sample.vector.saturating_add(first);
                sample
            });
            name.samples.extend(samples);
        }
    }
    if let Some(all) = &mut all {
        let named = |(name, (latencies, of_name)): (&str, (BTreeMap<u64, u64>, RequestName))| RequestName {
            name: name.to_owned(),
            latencies: latencies.into_iter().collect(),
            ..of_name
        };
        all.names = names.into_iter().map(named).collect();
    }
    Ok(all)
}
