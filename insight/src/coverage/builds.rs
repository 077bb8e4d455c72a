//! Runs of several builds as one: the newest build, with what earlier builds ran of code that is in it still.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use trodden_numbering::{BlockId, FlowGraph};
use trodden_profile::{ClassProfile, Covered, MergeError, MethodCounts, MethodCovered, MethodMap, Profile};

use super::KnownClass;
use super::jacoco::in_terms_of_files;
use crate::diff::carried;

/// Puts profiles of `profile=coverage` together. Of a class that was loaded with different bytes, only the newest version stays:
/// that of the known classes, or of the latest run that loaded it. What ran of an earlier one counts for blocks that are the same,
/// as `diff` finds methods and blocks again.
///
/// # Errors
/// If the profiles do not go together.
pub fn newest_build(profiles: &[Profile], known: Option<&[KnownClass]>) -> Result<Profile, MergeError> {
    let profiles: Vec<Cow<Profile>> = profiles
        .iter()
        .map(|profile| match known {
            Some(known) => in_terms_of_files(profile, known),
            None => Cow::Borrowed(profile),
        })
        .collect();
    let profiles: Vec<&Profile> = profiles.iter().map(|profile| &**profile).collect();
    let mut all = trodden_profile::merge(profiles.iter().copied())?;
    let newest = newest(&profiles, known);
    for class in known.unwrap_or(&[]) {
        // A build that has not run yet has what its code did in earlier ones.
        let there = all.classes.iter().any(|c| c.map.sha256 == class.map.sha256);
        let earlier = all.classes.iter().any(|c| c.map.name == class.map.name);
        if !there && earlier {
            all.classes.push(ClassProfile {
                map: class.map.clone(),
                counts: vec![MethodCounts::default(); class.map.methods.len()],
            });
        }
    }
    let mut ran = all.coverage.take().unwrap_or_default().methods;
    let mut versions: BTreeMap<&str, [Vec<usize>; 2]> = BTreeMap::new();
    for (position, class) in all.classes.iter().enumerate() {
        let name = class.map.name.as_str();
        let stays = newest.get(name).is_none_or(|s| s.contains(&class.map.sha256));
        versions.entry(name).or_default()[usize::from(stays)].push(position);
    }
    for [earlier, staying] in versions.values() {
        for (&old, &new) in earlier
            .iter()
            .flat_map(|old| staying.iter().map(move |new| (old, new)))
        {
            let (before, after) = (&all.classes[old], &all.classes[new]);
            for found in carried(before, after) {
                let Some(from) = ran.get(&(old as u32, found.before as u32)) else {
                    continue;
                };
                let maps = [&before.map.methods[found.before], &after.map.methods[found.after]];
                let moved = carry(maps, &found.blocks, from);
                if moved.blocks.contains(&true) {
                    let to = ran.entry((new as u32, found.after as u32)).or_default();
                    add(to, &moved);
                }
            }
        }
    }
    let staying: Vec<usize> = versions.into_values().flat_map(|[_, staying]| staying).collect();
    let place: HashMap<u32, u32> = (0..).zip(&staying).map(|(new, &old)| (old as u32, new)).collect();
    let conditions = std::mem::take(&mut all.conditions);
    let at = |(class, method): (u32, u32)| Some((*place.get(&class)?, method));
    Ok(Profile {
        run: all.run,
        classes: staying.iter().map(|&old| all.classes[old].clone()).collect(),
        skipped: all.skipped,
        conditions: conditions
            .into_iter()
            .filter_map(|(key, of)| Some((at(key)?, of)))
            .collect(),
        coverage: Some(Covered {
            methods: ran
                .into_iter()
                .filter_map(|(key, of)| Some((at(key)?, of)))
                .collect(),
        }),
        ..Profile::default()
    })
}

/// By class, the hashes of the versions that stay.
fn newest(profiles: &[&Profile], known: Option<&[KnownClass]>) -> BTreeMap<String, BTreeSet<[u8; 32]>> {
    let mut newest: BTreeMap<String, BTreeSet<[u8; 32]>> = BTreeMap::new();
    let mut by_date = profiles.to_vec();
    by_date.sort_by_key(|profile| profile.run.started_ms);
    for class in by_date.iter().flat_map(|profile| &profile.classes) {
        newest.insert(class.map.name.clone(), BTreeSet::from([class.map.sha256]));
    }
    let mut of_files: BTreeMap<String, BTreeSet<[u8; 32]>> = BTreeMap::new();
    for class in known.unwrap_or(&[]) {
        let versions = of_files.entry(class.map.name.clone()).or_default();
        versions.insert(class.map.sha256);
    }
    newest.extend(of_files);
    newest
}

/// The part of a method that ran, in the terms of a later version of it; `blocks` says per block which one it was.
fn carry([before, after]: [&MethodMap; 2], blocks: &[Option<usize>], ran: &MethodCovered) -> MethodCovered {
    let old = ran.edge_profile(before);
    let was = |block: usize| blocks.get(block).copied().flatten();
    let mut moved = MethodCovered::default();
    for block in 0..after.blocks.len() {
        let from = was(block);
        moved.blocks.push(from.is_some_and(|from| old.blocks[from] > 0));
        let ways = after.graph.successors(BlockId::new(block));
        if ways.len() < 2 {
            continue;
        }
        for (index, to) in ways.iter().enumerate() {
            let gone = from.is_some_and(|from| {
                let before = before.graph.successors(BlockId::new(from));
                let same = before.len() == ways.len() && was(to.index()) == Some(before[index].index());
                same && old.edges[from].get(index).is_some_and(|&count| count > 0)
            });
            moved.ways.push(gone);
        }
    }
    moved
}

fn add(to: &mut MethodCovered, from: &MethodCovered) {
    for (to, from) in [(&mut to.blocks, &from.blocks), (&mut to.ways, &from.ways)] {
        to.resize(from.len(), false);
        to.iter_mut().zip(from).for_each(|(to, &from)| *to |= from);
    }
}
