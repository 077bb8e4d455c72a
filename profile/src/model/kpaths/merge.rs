//! Path forests of several profiles into one.

use trodden_numbering::RegenerateError;

use super::{ForestProblem, Forests, KPaths, PathForest};
use crate::model::errors::MergeError;
use crate::model::map::MethodMap;
use crate::model::places::{no_such_path, place};
use crate::model::profile::{ClassProfile, Profile};
use crate::model::several::list_of_known;
use crate::model::translate::Renumbering;

/// Adds up the forests of profiles whose classes were merged into `classes` already (sorted by name and hash).
pub(super) fn merge(profiles: &[&Profile], classes: &[ClassProfile]) -> Result<Option<KPaths>, MergeError> {
    let mut merged: Option<(usize, KPaths)> = None;
    for (input, profile) in profiles.iter().enumerate() {
        let Some(own) = &profile.kpaths else { continue };
        let (first, total) = merged.get_or_insert_with(|| {
            let empty = KPaths {
                k: own.k,
                ..KPaths::default()
            };
            (input, empty)
        });
        if total.k != own.k {
            return Err(MergeError::Unlike {
                what: "k of the k-iteration path forest",
                inputs: [*first, input],
                values: [total.k, own.k].map(|k| k.to_string()),
            });
        }
        add_facts(total, own);
        if own.methods.is_empty() {
            continue;
        }
        // With forests whose groups are not known, none of the sum are.
        if total.methods.is_empty() {
            total.groups = vec![Forests::new(); own.groups.len()];
        } else if own.groups.len() != total.groups.len() {
            total.groups = Vec::new();
        }
        add(&mut total.methods, &own.methods, profile, classes)?;
        for (sum, own) in total.groups.iter_mut().zip(&own.groups) {
            add(sum, own, profile, classes)?;
        }
    }
    Ok(merged.map(|(_, total)| total))
}

/// Adds the forests of a profile.
fn add(
    sums: &mut Forests,
    own: &Forests,
    profile: &Profile,
    classes: &[ClassProfile],
) -> Result<(), MergeError> {
    for (&(class, method), forest) in own {
        // A forest of a method that is not there is no forest; a writer refuses it.
        let Some((to, at)) = place(profile, class, method, classes) else {
            continue;
        };
        let class = &profile.classes[class];
        let map = &class.map.methods[method];
        let entry = sums.entry((to, at)).or_default();
        let sum = in_numbers_of(forest, map, &classes[to].map.methods[at])
            .and_then(|forest| Ok(entry.plus(&forest)?));
        *entry = sum.map_err(|problem| {
            let class = &class.map.name;
            match problem {
                RenumberError::Path(source) => no_such_path(class, map)(source),
                RenumberError::Forest(source) => MergeError::Sum {
                    class: class.clone(),
                    method: map.title(),
                    source,
                },
            }
        })?;
    }
    Ok(())
}

/// The forest under another numbering of the same paths.
pub(super) fn in_numbers_of(
    forest: &PathForest,
    from: &MethodMap,
    to: &MethodMap,
) -> Result<PathForest, RenumberError> {
    let numbers = Renumbering::new(from, to);
    if numbers.is_same() {
        return Ok(forest.clone());
    }
    forest.renumbered(|path| Ok(numbers.whole(path)?))
}

/// Why a forest has no counterpart under other numbers.
#[derive(Debug, thiserror::Error)]
pub(super) enum RenumberError {
    #[error(transparent)]
    Path(#[from] RegenerateError),
    #[error(transparent)]
    Forest(#[from] ForestProblem),
}

fn add_facts(total: &mut KPaths, own: &KPaths) {
    for (sum, part) in [
        (&mut total.slab_nodes, own.slab_nodes),
        (&mut total.slab_bytes, own.slab_bytes),
        (&mut total.orphans, own.orphans),
        (&mut total.dropped, own.dropped),
    ] {
        *sum = sum.saturating_add(part);
    }
    total.budget = [total.budget, own.budget].into_iter().flatten().min();
    total.bursts = list_of_known(total.bursts.as_deref(), own.bursts.as_deref());
}
