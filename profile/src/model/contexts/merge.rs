//! Contexts of several profiles into one.

use std::collections::HashMap;

use super::tree::Key;
use super::{BurstGroups, ContextNode, ContextRow, ContextTree, Contexts};
use crate::model::burst_groups::ByGroup;
use crate::model::errors::MergeError;
use crate::model::map::MethodMap;
use crate::model::places::{no_such_path, place};
use crate::model::preorder::Node;
use crate::model::profile::{ClassProfile, Profile};
use crate::model::several::{list, list_of_known};
use crate::model::translate::Renumbering;

/// Where a method went: class and index.
type Place = Option<(u32, u32)>;

/// What of a context's calls was counted in some of the profiles.
#[derive(Clone, Copy, Default)]
struct Sum {
    least: u64,
    most: u64,
    /// Sum of `absent` of the profiles that counted it.
    counted_absent: u64,
    counted: bool,
}

/// Adds up the contexts of profiles whose classes were merged into `classes` already (sorted by name and hash). Bounds
/// stay bounds of the sum: a context that only one profile counted may have had up to `absent` calls in each of the
/// others.
///
/// # Errors
/// If they count different things.
pub(super) fn merge(profiles: &[&Profile], classes: &[ClassProfile]) -> Result<Option<Contexts>, MergeError> {
    let all: Vec<(usize, &Profile, &Contexts)> = (0..)
        .zip(profiles)
        .filter_map(|(input, profile)| Some((input, *profile, profile.contexts.as_ref()?)))
        .collect();
    let Some((first_input, _, first)) = all.first() else {
        return Ok(None);
    };
    // Calls and nanoseconds have nothing to add up.
    if let Some((input, _, other)) = all.iter().find(|(_, _, own)| own.weight != first.weight) {
        return Err(MergeError::Unlike {
            what: "the weight of contexts (option weight)",
            inputs: [*first_input, *input],
            values: [first, other].map(|own| own.weight.name().to_owned()),
        });
    }
    // What was counted otherwise in one of them has no groups, and so the sum has none.
    let all_have_groups = all.iter().all(|(.., own)| own.groups.is_some());
    let mut merging = Merging {
        classes,
        merged: Contexts {
            weight: first.weight,
            thresholds: first.thresholds,
            ..Contexts::default()
        },
        rows: Vec::new(),
        sums: Vec::new(),
        known: HashMap::new(),
        all_groups: all_have_groups.then(ByGroup::default),
        groups: Vec::new(),
    };
    for (_, profile, own) in &all {
        merging.add(profile, own)?;
    }
    Ok(Some(merging.finish()))
}

/// The sums of the profiles so far.
struct Merging<'c> {
    classes: &'c [ClassProfile],
    /// What is of all contexts together.
    merged: Contexts,
    rows: Vec<ContextRow>,
    /// Per row.
    sums: Vec<Sum>,
    /// The row of a context by that of its caller.
    known: HashMap<(Option<u32>, Key), u32>,
    all_groups: Option<ByGroup>,
    /// By row.
    groups: Vec<(u32, ByGroup)>,
}

impl Merging<'_> {
    fn add(&mut self, profile: &Profile, own: &Contexts) -> Result<(), MergeError> {
        add_facts(&mut self.merged, own);
        if let (Some(sum), Some(own)) = (&mut self.all_groups, &own.groups) {
            sum.plus(&own.all);
        }
        let places = self.places(profile);
        // The row of each activation on the way to the current node.
        let mut path: Vec<Option<u32>> = Vec::new();
        // The methods of these, as the profile has them.
        let mut callers: Vec<(u32, u32)> = Vec::new();
        for (at, node) in own.tree.nodes().iter().enumerate() {
            path.truncate(node.depth as usize - 1);
            callers.truncate(node.depth as usize - 1);
            let place = places
                .get(node.class as usize)
                .and_then(|of| *of.get(node.method as usize)?);
            let above = path.last().copied();
            let caller = callers.last().copied();
            callers.push((node.class, node.method));
            // A context of a method that is not there is none; a writer refuses it.
            let (Some((class, method)), false) = (place, above == Some(None)) else {
                path.push(None);
                continue;
            };
            let parent = above.flatten();
            let prefix = match (node.prefix, parent) {
                (Some(register), Some(row)) => {
                    let to: &ContextNode = &self.rows[row as usize].node;
                    let to = &self.classes[to.class as usize].map.methods[to.method as usize];
                    let in_merged = in_other_numbers(profile, caller, to, node.site, register)?;
                    Some(in_merged)
                }
                (prefix, _) => prefix,
            };
            let node = ContextNode {
                class,
                method,
                prefix,
                ..*node
            };
            let row = self.row(parent, node);
            if let Some((least, most)) = node.calls {
                let sum = &mut self.sums[row as usize];
                sum.least = sum.least.saturating_add(least);
                sum.most = sum.most.saturating_add(most);
                sum.counted_absent = sum.counted_absent.saturating_add(own.absent);
                sum.counted = true;
            }
            if let Some(by_group) = own.groups.as_ref().and_then(|groups| groups.of(at)) {
                self.groups.push((row, *by_group));
            }
            path.push(Some(row));
        }
        Ok(())
    }

    /// Where the methods of a profile's classes went.
    fn places(&self, profile: &Profile) -> Vec<Vec<Place>> {
        let of_class = |(c, class): (usize, &ClassProfile)| {
            let place = |m| place(profile, c, m, self.classes).map(|(c, m)| (c as u32, m as u32));
            (0..class.map.methods.len()).map(place).collect()
        };
        profile.classes.iter().enumerate().map(of_class).collect()
    }

    /// The row of a context.
    fn row(&mut self, parent: Option<u32>, node: ContextNode) -> u32 {
        let next = self.rows.len() as u32;
        let row = *self.known.entry((parent, node.key())).or_insert(next);
        if row == next {
            self.rows.push(ContextRow { parent, node });
            self.sums.push(Sum::default());
        }
        row
    }

    fn finish(self) -> Contexts {
        let Merging {
            mut merged, mut rows, ..
        } = self;
        for (row, sum) in rows.iter_mut().zip(self.sums) {
            let elsewhere = merged.absent.saturating_sub(sum.counted_absent);
            row.node.calls = sum
                .counted
                .then_some((sum.least, sum.most.saturating_add(elsewhere)));
        }
        let (tree, places) = ContextTree::placed(&rows);
        merged.tree = tree;
        merged.groups = self.all_groups.map(|all| {
            let groups = self.groups.into_iter();
            let placed = groups.filter_map(|(row, by_group)| Some((places[row as usize]?, by_group)));
            BurstGroups::placed(all, placed)
        });
        merged
    }
}

/// The path register of a caller in the numbers of the merged map, where those of the profile are others.
fn in_other_numbers(
    profile: &Profile,
    caller: Option<(u32, u32)>,
    to: &MethodMap,
    site: Option<u16>,
    register: u32,
) -> Result<u32, MergeError> {
    let from = caller.and_then(|(class, method)| {
        let class = &profile.classes.get(class as usize)?.map;
        Some((class, class.methods.get(method as usize)?))
    });
    let (Some((class, from)), Some(bci)) = (from, site) else {
        return Ok(register);
    };
    let Some(block) = from.block_at(bci.into()) else {
        return Ok(register);
    };
    let number = Renumbering::new(from, to).partial(block.index() as u32, register.into());
    let number = number.map_err(no_such_path(&class.name, from))?;
    Ok(u32::try_from(number).unwrap_or(u32::MAX))
}

fn add_facts(total: &mut Contexts, own: &Contexts) {
    for (sum, part) in [
        (&mut total.calls, own.calls),
        (&mut total.absent, own.absent),
        (&mut total.peak_nodes, own.peak_nodes),
        (&mut total.peak_bytes, own.peak_bytes),
        (&mut total.dropped, own.dropped),
        (&mut total.orphans, own.orphans),
    ] {
        *sum = sum.saturating_add(part);
    }
    // The guarantee holds for the sum with the larger values.
    total.thresholds = match (total.thresholds, own.thresholds) {
        (Some(a), Some(b)) => Some((a.0.max(b.0), a.1.max(b.1))),
        (a, b) => a.or(b),
    };
    total.algorithm = list(&total.algorithm, &own.algorithm);
    total.bursts = list_of_known(total.bursts.as_deref(), own.bursts.as_deref());
}
