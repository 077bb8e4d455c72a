//! Conditions of several profiles.

use super::Conditions;
use crate::model::places::place;
use crate::model::profile::{ClassProfile, Profile};

/// All that is known of the methods of `classes`, which were merged already and are sorted by name and hash. Where
/// two profiles differ, the one that knows more conditions counts.
pub(super) fn merge(profiles: &[&Profile], classes: &[ClassProfile]) -> Conditions {
    let mut merged = Conditions::new();
    for profile in profiles {
        for (&(class, method), of) in &profile.conditions {
            let Some((in_merged, at)) = place(profile, class as usize, method as usize, classes) else {
                continue;
            };
            // The same bytes have the same blocks, but a damaged file may say otherwise.
            let own = &profile.classes[class as usize].map.methods[method as usize];
            if own.blocks != classes[in_merged].map.methods[at].blocks {
                continue;
            }
            let place = (in_merged as u32, at as u32);
            if merged.get(&place).is_none_or(|old| of.knows_more_than(old)) {
                merged.insert(place, of.clone());
            }
        }
    }
    merged
}
