//! Conditions of several profiles.

use super::Conditions;
use crate::model::map::MethodMap;
use crate::model::profile::{ClassProfile, Profile};

/// All that is known of the methods of `classes`, which were merged already and are sorted by name and hash. Where
/// two profiles differ, the one that knows more conditions counts.
pub(crate) fn merge(profiles: &[&Profile], classes: &[ClassProfile]) -> Conditions {
    let mut merged = Conditions::new();
    for profile in profiles {
        for (&place, of) in &profile.conditions {
            let Some(place) = place_in(profile, place, classes) else {
                continue;
            };
            let weight =
                |of: &super::MethodConditions| of.conditions.iter().filter(|c| c.text.is_some()).count();
            let better = |old: &super::MethodConditions| (weight(of), of) > (weight(old), old);
            if merged.get(&place).is_none_or(better) {
                merged.insert(place, of.clone());
            }
        }
    }
    merged
}

/// Where a method of one profile is in the merged classes, if its blocks are the same there.
fn place_in(profile: &Profile, (class, method): (u32, u32), classes: &[ClassProfile]) -> Option<(u32, u32)> {
    let from = &profile.classes.get(class as usize)?.map;
    let own = from.methods.get(method as usize)?;
    let key = (&from.name, from.sha256);
    let class = classes.binary_search_by(|c| (&c.map.name, c.map.sha256).cmp(&key));
    let class = class.ok()?;
    let same =
        |m: &MethodMap| (&m.name, &m.descriptor) == (&own.name, &own.descriptor) && m.blocks == own.blocks;
    let method = classes[class].map.methods.iter().position(same)?;
    Some((class as u32, method as u32))
}
