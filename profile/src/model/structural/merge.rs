//! Structural profiles of several runs into one.

use std::collections::BTreeMap;

use super::{GraphCounts, MethodStructure, Structural};
use crate::model::counts::add_up;
use crate::model::places::place;
use crate::model::profile::{ClassProfile, Profile};

/// Adds up the counts of profiles whose classes were merged into `classes` already (sorted by name and hash). The graphs
/// of a method depend on its code alone, so numbers need no translation.
pub(super) fn merge(profiles: &[&Profile], classes: &[ClassProfile]) -> Option<Structural> {
    let mut merged: Option<Structural> = None;
    for profile in profiles {
        let Some(own) = &profile.structural else { continue };
        let total = merged.get_or_insert_with(|| Structural {
            window: own.window,
            methods: BTreeMap::new(),
        });
        // The smaller window; one that counted everything is none.
        total.window = [total.window, own.window].into_iter().flatten().min();
        for (&(class, method), counts) in &own.methods {
            let place = place(profile, class as usize, method as usize, classes);
            let Some((class, method)) = place else { continue };
            add(
                total.methods.entry((class as u32, method as u32)).or_default(),
                counts,
            );
        }
    }
    merged
}

fn add(to: &mut MethodStructure, from: &MethodStructure) {
    if to.graphs.is_empty() {
        to.graphs = vec![GraphCounts::default(); from.graphs.len()];
    }
    for (to, from) in to.graphs.iter_mut().zip(&from.graphs) {
        to.windows = to.windows.saturating_add(from.windows);
        to.by_rate |= from.by_rate;
        for (sums, counts) in [(&mut to.local, &from.local), (&mut to.global, &from.global)] {
            add_up(sums, counts);
        }
    }
}
