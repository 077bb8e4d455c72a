//! Memories of several profiles.

use std::collections::BTreeMap;

use crate::model::places::place;
use crate::model::profile::Profile;

/// A method is steady in the merged profile if all profiles that measured it say so. Memories are those of different
/// runs, and numbers of runs apply only there: the merged profile has one if the inputs with memories have the same.
pub(super) fn merge(inputs: &[&Profile], merged: &mut Profile) {
    let mut steady: BTreeMap<(u32, u32), bool> = BTreeMap::new();
    for profile in inputs {
        for (c, class) in profile.classes.iter().enumerate() {
            for m in 0..class.map.methods.len() {
                let Some((class, method)) = place(profile, c, m, &merged.classes) else {
                    continue;
                };
                let own = profile.steady.contains(&(c as u32, m as u32));
                *steady.entry((class as u32, method as u32)).or_insert(true) &= own;
            }
        }
    }
    merged.steady = steady
        .into_iter()
        .filter(|(_, all)| *all)
        .map(|(place, _)| place)
        .collect();
    let mut memories = inputs.iter().filter_map(|profile| profile.memory.as_deref());
    let Some(first) = memories.next() else { return };
    // Where they differ, the reasons in `skipped` still say what was not measured.
    if memories.all(|other| other == first) {
        merged.memory = Some(Box::new(first.clone()));
    }
}
