//! Subpaths of several profiles into one.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::{Subpath, SubpathRun, Subpaths, least_rotation};
use crate::model::errors::MergeError;
use crate::model::places::{no_such_path, place};
use crate::model::profile::{ClassProfile, Profile};
use crate::model::several::{SEPARATOR, list_of_known, values};
use crate::model::translate::Renumbering;

/// Key of a subpath: where each block is, from the least rotation's first on. Those that are not wholly known
/// are themselves alone, by input and place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Blocks(Vec<(usize, usize, usize)>),
    Unknown(usize, usize),
}

/// Adds up the subpaths of profiles whose classes were merged into `classes` already (sorted by name and hash).
///
/// Estimates add up, and intervals as those of independent samples do: by the squares of their parts.
pub(super) fn merge(profiles: &[&Profile], classes: &[ClassProfile]) -> Result<Option<Subpaths>, MergeError> {
    let mut merged: Option<Subpaths> = None;
    let mut sums: BTreeMap<Key, Sum> = BTreeMap::new();
    for (input, profile) in profiles.iter().enumerate() {
        let Some(own) = &profile.subpaths else { continue };
        match &mut merged {
            None => {
                merged = Some(Subpaths {
                    subpaths: Vec::new(),
                    ..own.clone()
                })
            }
            Some(total) => add_facts(total, own),
        }
        for (place, subpath) in own.subpaths.iter().enumerate() {
            let Some(runs) = in_classes(profile, &subpath.runs, classes)? else {
                continue;
            };
            let key = match blocks(&runs, classes) {
                Some(blocks) if subpath.missing == 0 => {
                    let (head, tail) = blocks.split_at(least_rotation(&blocks));
                    Key::Blocks([tail, head].concat())
                }
                _ => Key::Unknown(input, place),
            };
            let sum = sums.entry(key).or_insert_with(|| Sum {
                subpath: Subpath {
                    runs,
                    sampled: 0,
                    estimate: 0,
                    low: 0,
                    high: 0,
                    ..*subpath
                },
                below: 0.0,
                above: 0.0,
            });
            sum.add(subpath);
        }
    }
    let Some(mut total) = merged else { return Ok(None) };
    total.subpaths = sums.into_values().map(Sum::finish).collect();
    total
        .subpaths
        .sort_by_key(|subpath| (Reverse(subpath.estimate), subpath.length));
    Ok(Some(total))
}

struct Sum {
    subpath: Subpath,
    below: f64,
    above: f64,
}

impl Sum {
    fn add(&mut self, other: &Subpath) {
        self.subpath.sampled = self.subpath.sampled.saturating_add(other.sampled);
        self.subpath.estimate = self.subpath.estimate.saturating_add(other.estimate);
        self.below += ((other.estimate - other.low) as f64).powi(2);
        self.above += ((other.high - other.estimate) as f64).powi(2);
    }

    fn finish(self) -> Subpath {
        let estimate = self.subpath.estimate;
        Subpath {
            low: estimate.saturating_sub(self.below.sqrt() as u64),
            high: estimate.saturating_add(self.above.sqrt().ceil() as u64),
            ..self.subpath
        }
    }
}

/// The same runs among the merged classes; `None` if one is of a method that is not there.
fn in_classes(
    profile: &Profile,
    runs: &[SubpathRun],
    classes: &[ClassProfile],
) -> Result<Option<Vec<SubpathRun>>, MergeError> {
    let mut moved = Vec::with_capacity(runs.len());
    for run in runs {
        let Some((to, at)) = place(profile, run.class, run.method, classes) else {
            return Ok(None);
        };
        let class = &profile.classes[run.class];
        let map = &class.map.methods[run.method];
        let numbers = Renumbering::new(map, &classes[to].map.methods[at]);
        let path = numbers
            .whole(run.path)
            .map_err(no_such_path(&class.map.name, map))?;
        moved.push(SubpathRun {
            class: to,
            method: at,
            path,
            ..*run
        });
    }
    Ok(Some(moved))
}

/// The blocks of runs: class, method and block by index. `None` if not all are known.
pub(super) fn blocks(runs: &[SubpathRun], classes: &[ClassProfile]) -> Option<Vec<(usize, usize, usize)>> {
    let mut all = Vec::new();
    for run in runs {
        let map = classes.get(run.class)?.map.methods.get(run.method)?;
        let (blocks, _) = run.blocks_in(map)?;
        for _ in 0..run.times {
            all.extend(blocks.iter().map(|&block| (run.class, run.method, block)));
        }
    }
    Some(all)
}

fn add_facts(total: &mut Subpaths, own: &Subpaths) {
    for (sum, part) in [
        (&mut total.threads, own.threads),
        (&mut total.blocks, own.blocks),
        (&mut total.places, own.places),
        (&mut total.drawn, own.drawn),
        (&mut total.drawn_blocks, own.drawn_blocks),
    ] {
        *sum = sum.saturating_add(part);
    }
    for (most, other) in [
        (&mut total.footprint, own.footprint),
        (&mut total.peak_bytes, own.peak_bytes),
        (&mut total.working_bytes, own.working_bytes),
        (&mut total.distance.1, own.distance.1),
    ] {
        *most = (*most).max(other);
    }
    total.distance.0 = total.distance.0.min(own.distance.0);
    total.half_life = [total.half_life, own.half_life].into_iter().flatten().min();
    total.sliding_window = total.sliding_window.max(own.sliding_window);
    total.bursts = list_of_known(total.bursts.as_deref(), own.bursts.as_deref());
    for (list, more) in [
        (&mut total.lengths, &own.lengths),
        (&mut total.order, &own.order),
        (&mut total.identity, &own.identity),
        (&mut total.starts, &own.starts),
    ] {
        if !values(list).any(|known| known == more) {
            *list = format!("{list}{SEPARATOR}{more}");
        }
    }
}
