//! The section about methods that were counted for a part of the run: writing and reading.

use super::Observation;
use crate::model::codec::wire::{Decoded, Decoder};
use crate::model::codec::{Tag, WriteError};
use crate::model::profile::Profile;
use crate::model::section::{Records, SectionReader};

/// Its tag, from an older name of the thing.
pub(super) const OBSERVATIONS: Tag = *b"cove";

/// Writes the observations.
pub(super) fn write(all: &[Observation], out: &mut Vec<u8>) -> Result<(), WriteError> {
    let mut records = Records::new(OBSERVATIONS);
    for one in all {
        let plain = &mut records.plain;
        plain.uint(u64::from(one.class));
        plain.uint(u64::from(one.method));
        plain.uint(one.counted);
        plain.f64(one.seconds);
        plain.f64(one.until);
        plain.uint(u64::from(one.windows));
        plain.string(&one.reason);
        records.end()?;
    }
    records.append_to(out)
}

/// Observations go straight into the profile.
pub(super) struct Reading;

impl SectionReader for Reading {
    fn section(&mut self, _: Tag, d: &mut Decoder<'_>, profile: &mut Profile) -> Decoded<()> {
        d.records(|d| {
            profile.observations.push(record(d)?);
            Ok(())
        })
    }
}

fn record(d: &mut Decoder<'_>) -> Decoded<Observation> {
    Ok(Observation {
        class: d.u32("class of an observation")?,
        method: d.u32("method of an observation")?,
        counted: d.uint("path ends counted")?,
        seconds: d.f64("seconds with probes")?,
        until: d.f64("seconds of exact counts")?,
        windows: d.u32("stretches with probes")?,
        reason: d.string("reason")?,
    })
}
