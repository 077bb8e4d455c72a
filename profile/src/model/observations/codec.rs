//! The section about methods that were counted for a part of the run, both ways.

use super::Observation;
use crate::model::codec::wire::{Decoded, Decoder};
use crate::model::codec::{Tag, WriteError};
use crate::model::profile::Profile;
use crate::model::section::{Records, SectionReader, Sections};

/// Its tag, from an older name of the thing.
pub(super) const OBSERVATIONS: Tag = *b"cove";

/// Writes the observations.
pub(super) fn write(all: &[Observation], out: &mut Sections<'_>) -> Result<(), WriteError> {
    let mut records = Records::default();
    for one in all {
        let plain = &mut records.plain;
        plain.uint(u64::from(one.class));
        plain.uint(u64::from(one.method));
        plain.uint(one.counted);
        plain.bytes.extend_from_slice(&one.seconds.to_le_bytes());
        plain.bytes.extend_from_slice(&one.until.to_le_bytes());
        plain.uint(u64::from(one.windows));
        plain.string(&one.reason);
        records.end();
    }
    out.put_records(OBSERVATIONS, records)
}

/// What was read so far.
#[derive(Default)]
pub(super) struct Reading {
    all: Vec<Observation>,
}

impl SectionReader for Reading {
    fn section(&mut self, _: Tag, d: &mut Decoder<'_>, _: &mut Profile) -> Decoded<()> {
        d.records(|d| {
            self.all.push(record(d)?);
            Ok(())
        })
    }

    fn finish(self: Box<Self>, profile: &mut Profile) -> Decoded<()> {
        profile.observations = self.all;
        Ok(())
    }
}

fn record(d: &mut Decoder<'_>) -> Decoded<Observation> {
    let seconds = |d: &mut Decoder<'_>, what: &str| Ok::<_, String>(f64::from_le_bytes(d.array(what)?));
    Ok(Observation {
        class: d.u32("class of an observation")?,
        method: d.u32("method of an observation")?,
        counted: d.uint("path ends counted")?,
        seconds: seconds(d, "seconds with probes")?,
        until: seconds(d, "seconds of exact counts")?,
        windows: d.u32("stretches with probes")?,
        reason: d.string("reason")?,
    })
}
