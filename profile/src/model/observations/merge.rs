//! Observations of several profiles into one list.

use super::Observation;
use crate::model::places::place;
use crate::model::profile::{ClassProfile, Profile};
use crate::model::several::list;

/// What the profiles say of methods that they counted partly, about the merged classes: sorted; seconds and path ends
/// are summed, the earliest end of exact counts is kept.
pub(super) fn merge(profiles: &[&Profile], classes: &[ClassProfile]) -> Vec<Observation> {
    let mut all = Vec::new();
    for profile in profiles {
        for one in &profile.observations {
            // Of a method that is not there, nothing can be said; a writer refuses it.
            let found = place(profile, one.class as usize, one.method as usize, classes);
            if let Some((class, method)) = found {
                all.push(Observation {
                    class: class as u32,
                    method: method as u32,
                    ..one.clone()
                });
            }
        }
    }
    all.sort_by(|a, b| {
        let key = |c: &Observation| (c.class, c.method);
        key(a)
            .cmp(&key(b))
            .then(a.reason.cmp(&b.reason))
            .then(a.seconds.total_cmp(&b.seconds))
    });
    all.dedup_by(|next, first| {
        let same = (next.class, next.method) == (first.class, first.method);
        if same {
            first.counted = first.counted.saturating_add(next.counted);
            first.seconds += next.seconds;
            first.until = first.until.min(next.until);
            first.windows = first.windows.saturating_add(next.windows);
            first.reason = list(&first.reason, &next.reason);
        }
        same
    });
    all
}
