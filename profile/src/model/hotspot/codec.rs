//! The sections with HotSpot's counts: writing and reading. The methods are a whole profile in a section, without counts:
//! path maps and conditions have sections of their own, and each version reads them as it reads those of the run.

use std::sync::Arc;

use super::{HotSpotBranch, HotSpotMethod};
use crate::model::codec::wire::{Decoded, Decoder, Encoder};
use crate::model::codec::{Tag, WriteError};
use crate::model::counts::MethodCounts;
use crate::model::fault::{Fault, ensure};
use crate::model::map::ClassMap;
use crate::model::profile::{ClassProfile, Profile};
use crate::model::section::{Records, SectionReader, nested};

/// The methods.
pub(super) const METHODS: Tag = *b"hsmt";
/// Counts of each of them.
pub(super) const COUNTS: Tag = *b"hsbr";

/// Writes what there is.
pub(super) fn write(methods: &[HotSpotMethod], out: &mut Vec<u8>) -> Result<(), WriteError> {
    if methods.is_empty() {
        return Ok(());
    }
    let inner = inner(methods).to_bytes()?;
    let mut whole = Records::new(METHODS);
    whole.plain.len(inner.len());
    whole.plain.bytes.extend_from_slice(&inner);
    whole.append_to(out)?;
    let mut counts = Records::new(COUNTS);
    for method in methods {
        put(&mut counts.plain, &method.branches);
        counts.end()?;
    }
    counts.append_to(out)
}

/// The methods as classes without counts: each as often as its source file changes.
fn inner(methods: &[HotSpotMethod]) -> Profile {
    let mut inner = Profile::default();
    let same = |a: &HotSpotMethod, b: &HotSpotMethod| a.class == b.class && a.source_file == b.source_file;
    for (number, of_class) in methods.chunk_by(same).enumerate() {
        for (position, method) in of_class.iter().enumerate() {
            if method.conditions != Default::default() {
                let place = (number as u32, position as u32);
                inner.conditions.insert(place, method.conditions.clone());
            }
        }
        inner.classes.push(ClassProfile {
            counts: vec![MethodCounts::default(); of_class.len()],
            map: Arc::new(ClassMap {
                name: of_class[0].class.clone(),
                sha256: [0; 32],
                source_file: of_class[0].source_file.clone(),
                methods: of_class.iter().map(|method| method.map.clone()).collect(),
            }),
        });
    }
    inner
}

fn put(plain: &mut Encoder, branches: &[HotSpotBranch]) {
    plain.len(branches.len());
    for branch in branches {
        plain.uint(u64::from(branch.block));
        plain.len(branch.outcomes.len());
        for &count in &branch.outcomes {
            plain.uint(count);
        }
    }
}

/// What was read so far.
#[derive(Default)]
pub(super) struct Reading {
    methods: Option<Profile>,
    counts: Vec<Vec<HotSpotBranch>>,
}

impl SectionReader for Reading {
    fn section(&mut self, tag: Tag, d: &mut Decoder<'_>, _: &mut Profile) -> Decoded<()> {
        if tag == METHODS {
            let length = d.count("length of the methods that HotSpot counted")?;
            let bytes = d.take(length, "methods that HotSpot counted")?;
            let before = self.methods.replace(nested(bytes)?);
            return Ok(ensure(before.is_none(), || {
                Fault::Twice("methods that HotSpot counted")
            })?);
        }
        d.records(|d| {
            self.counts.push(d.list("branches that HotSpot counted", |d, _| {
                Ok(HotSpotBranch {
                    block: d.u32("block of a branch that HotSpot counted")?,
                    outcomes: d.list("outcomes that HotSpot counted", |d, _| d.uint("count of HotSpot"))?,
                })
            })?);
            Ok(())
        })
    }

    fn finish(self: Box<Self>, profile: &mut Profile) -> Decoded<()> {
        let mut counts = self.counts.into_iter();
        let Profile {
            classes,
            mut conditions,
            ..
        } = self.methods.unwrap_or_default();
        for (number, class) in classes.iter().enumerate() {
            for (position, map) in class.map.methods.iter().enumerate() {
                let place = (number as u32, position as u32);
                profile.hotspot.push(HotSpotMethod {
                    class: class.map.name.clone(),
                    source_file: class.map.source_file.clone(),
                    map: map.clone(),
                    conditions: conditions.remove(&place).unwrap_or_default(),
                    branches: counts.next().ok_or(Fault::NoItem(
                        "HotSpot's counts",
                        "method",
                        place.1.into(),
                    ))?,
                });
            }
        }
        Ok(ensure(counts.next().is_none(), || Fault::Extra)?)
    }
}
