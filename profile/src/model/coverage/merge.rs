//! Coverage of several runs: what ran in any of them.

use super::Covered;
use crate::model::errors::MergeError;
use crate::model::places::place;
use crate::model::profile::{ClassProfile, Profile, RunInfo};

/// What ran in any of the profiles, of classes that were merged into `classes` already.
///
/// # Errors
/// If some runs recorded coverage and others did not: of what ran in these nothing could be said.
pub(super) fn merge(profiles: &[&Profile], classes: &[ClassProfile]) -> Result<Option<Covered>, MergeError> {
    let mut merged: Option<Covered> = None;
    for profile in profiles {
        let Some(own) = &profile.coverage else { continue };
        let total = merged.get_or_insert_default();
        for (&(class, method), covered) in &own.methods {
            let place = place(profile, class as usize, method as usize, classes);
            let Some((class, method)) = place else { continue };
            let to = total.methods.entry((class as u32, method as u32));
            to.and_modify(|to| to.add(covered))
                .or_insert_with(|| covered.clone());
        }
    }
    let has = |wanted: bool| {
        let runs = profiles.iter().enumerate();
        // One that was merged from nothing says nothing.
        let mut of_runs = runs.filter(|(_, profile)| profile.run != RunInfo::default());
        of_runs.find(|(_, profile)| profile.coverage.is_some() == wanted)
    };
    if let (Some((with, _)), Some((without, other))) = (has(true), has(false)) {
        return Err(MergeError::Unlike {
            what: "what was recorded",
            inputs: [with, without],
            values: ["coverage".to_owned(), format!("probe {}", other.run.probe)],
        });
    }
    Ok(merged)
}
