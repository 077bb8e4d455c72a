//! Counts of a part of a run, such as a test or a request: those of the methods that ran in it.

use std::collections::BTreeMap;

use crate::model::codec::Checked;
use crate::model::codec::wire::{Decoded, Decoder, Encoder};
use crate::model::counts::{MethodCounts, MethodPart};
use crate::model::errors::MergeError;
use crate::model::fault::{Fault, ensure};
use crate::model::places::{method, no_such_path, place};
use crate::model::profile::{ClassProfile, Profile};
use crate::model::translate::Renumbering;

/// Methods by position of class and method.
pub(super) type Parts = BTreeMap<(u32, u32), MethodCounts>;

/// Writes the methods of one part.
pub(super) fn write(methods: &[MethodPart], plain: &mut Encoder) {
    plain.len(methods.len());
    for method in methods {
        plain.uint(u64::from(method.class));
        plain.uint(u64::from(method.method));
        plain.len(method.counts.paths.len());
        for (&path, &count) in &method.counts.paths {
            plain.uint(path);
            plain.uint(count);
        }
        plain.len(method.counts.partial.len());
        for (&(block, path), &count) in &method.counts.partial {
            plain.uint(u64::from(block));
            plain.uint(path);
            plain.uint(count);
        }
    }
}

/// Reads the methods of one part.
pub(super) fn read(d: &mut Decoder<'_>) -> Decoded<Vec<MethodPart>> {
    d.list("methods of a part", |d, _| read_method(d))
}

fn read_method(d: &mut Decoder<'_>) -> Decoded<MethodPart> {
    let (class, method) = (d.u32("class of a part")?, d.u32("method of a part")?);
    let mut counts = MethodCounts::default();
    for _ in 0..d.count("paths of a part")? {
        counts
            .paths
            .insert(d.uint("path of a part")?, d.uint("count of a part")?);
    }
    for _ in 0..d.count("cut paths of a part")? {
        let stopped = (d.u32("block of a part")?, d.uint("cut path of a part")?);
        counts.partial.insert(stopped, d.uint("count of a part")?);
    }
    Ok(MethodPart {
        class,
        method,
        counts,
    })
}

/// Methods are in order, and they and their paths are there. `what` has the part, such as `a test`.
pub(super) fn check(profile: &Profile, methods: &[MethodPart], what: &'static str) -> Checked {
    let places = methods.iter().map(|one| (one.class, one.method));
    Fault::order("methods of a part of the run", places.is_sorted_by(|a, b| a < b))?;
    for one in methods {
        let map = method(profile, (one.class as usize, one.method as usize), what)?;
        for &path in one.counts.paths.keys() {
            ensure(path < map.num_paths(), || Fault::NoPath(what, path))?;
        }
        for &(block, _) in one.counts.partial.keys() {
            let (block, blocks) = (block as usize, map.blocks.len());
            ensure(block < blocks, || Fault::NoBlock(what, block, blocks))?;
        }
    }
    Ok(())
}

/// Adds a part of one of the profiles to sums over the merged classes.
pub(super) fn add(
    profile: &Profile,
    methods: &[MethodPart],
    classes: &[ClassProfile],
    sums: &mut Parts,
) -> Result<(), MergeError> {
    for one in methods {
        // Of a method that is not there, nothing can be said; a writer refuses it.
        let Some((class, method)) = place(profile, one.class as usize, one.method as usize, classes) else {
            continue;
        };
        let own = &profile.classes[one.class as usize].map.methods[one.method as usize];
        let merged = &classes[class].map;
        let numbers = Renumbering::new(own, &merged.methods[method]);
        let counts = numbers
            .counts(&one.counts)
            .map_err(no_such_path(&merged.name, own))?;
        let sum = sums.entry((class as u32, method as u32)).or_default();
        sum.add(&counts);
    }
    Ok(())
}

/// The methods of sums, in order.
pub(super) fn in_order(sums: Parts) -> Vec<MethodPart> {
    let method = |((class, method), counts)| MethodPart {
        class,
        method,
        counts,
    };
    sums.into_iter().map(method).collect()
}
