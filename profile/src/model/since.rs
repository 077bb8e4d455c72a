//! What happened between two dumps of the same session.

use std::sync::Arc;

use crate::model::counts::MethodCounts;
use crate::model::map::MethodMap;
use crate::model::profile::{ClassProfile, Profile, RunInfo};
use crate::model::translate::Renumbering;

impl Profile {
    /// What was counted and sampled since an earlier dump of the same session: classes, maps and their order are those of
    /// this profile. Only counts of paths, CPU samples and the seconds are differences; kinds of data that do not add up from
    /// dump to dump (path forests, contexts, subpaths, structural counts, observations) are left out.
    ///
    /// If the session was reset meanwhile, all is since then.
    #[must_use]
    pub fn since(&self, earlier: &Profile) -> Profile {
        let nothing = Profile::default();
        let earlier = if self.run.seconds < earlier.run.seconds {
            &nothing
        } else {
            earlier
        };
        Profile {
            run: RunInfo {
                seconds: self.run.seconds - earlier.run.seconds,
                ..self.run.clone()
            },
            classes: self
                .classes
                .iter()
                .map(|class| class_since(class, earlier))
                .collect(),
            conditions: self.conditions.clone(),
            cpu: match (&self.cpu, &earlier.cpu) {
                (Some(now), Some(then)) => Some(now.since(then)),
                (now, _) => now.clone(),
            },
            ..Profile::default()
        }
    }
}

fn class_since(class: &ClassProfile, earlier: &Profile) -> ClassProfile {
    let wanted = (&class.map.name, class.map.sha256);
    let at = earlier
        .classes
        .binary_search_by(|c| (&c.map.name, c.map.sha256).cmp(&wanted));
    let Ok(at) = at else {
        return class.clone();
    };
    let then = &earlier.classes[at];
    let counts = class.map.methods.iter().zip(&class.counts).map(|(map, now)| {
        let same = |(other, _): &(&MethodMap, &MethodCounts)| {
            (&other.name, &other.descriptor) == (&map.name, &map.descriptor)
        };
        match then.map.methods.iter().zip(&then.counts).find(same) {
            Some((before, counts)) => counts_since(map, now, before, counts),
            None => now.clone(),
        }
    });
    ClassProfile {
        counts: counts.collect(),
        map: Arc::clone(&class.map),
    }
}

fn counts_since(
    map: &MethodMap,
    now: &MethodCounts,
    before: &MethodMap,
    then: &MethodCounts,
) -> MethodCounts {
    let numbers = Renumbering::new(before, map);
    let mut since = now.clone();
    // Nothing can be taken off from counts that were cut otherwise.
    if numbers.is_possible() {
        since.take_off(&numbers.readable_counts(then));
    }
    since
}
