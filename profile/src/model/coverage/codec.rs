//! The section with coverage: writing and reading.

use super::{Covered, MethodCovered};
use crate::model::codec::wire::{Decoded, Decoder, Encoder};
use crate::model::codec::{Tag, WriteError};
use crate::model::fault::{Fault, ensure};
use crate::model::profile::Profile;
use crate::model::section::{Records, SectionReader};

/// Its tag.
pub(super) const COVERED: Tag = *b"ran1";

/// Stands for a class in the record that says only that there is coverage: so a run in which nothing ran differs from
/// one that recorded none.
const NO_CLASS: u64 = u32::MAX as u64;

/// Writes coverage: one record per method.
pub(super) fn write(coverage: &Covered, out: &mut Vec<u8>) -> Result<(), WriteError> {
    let mut records = Records::new(COVERED);
    records.plain.uint(NO_CLASS);
    records.end()?;
    for (&(class, method), covered) in &coverage.methods {
        let plain = &mut records.plain;
        plain.uint(u64::from(class));
        plain.uint(u64::from(method));
        put_bits(plain, &covered.blocks);
        put_bits(plain, &covered.ways);
        records.end()?;
    }
    records.append_to(out)
}

/// A number of bits, then the bits, lowest first, the last byte filled up with 0.
fn put_bits(out: &mut Encoder, bits: &[bool]) {
    out.len(bits.len());
    let byte = |bits: &[bool]| (0..).zip(bits).map(|(at, &bit)| u8::from(bit) << at).sum::<u8>();
    out.bytes.extend(bits.chunks(8).map(byte));
}

/// Coverage goes straight into the profile.
pub(super) struct Reading;

impl SectionReader for Reading {
    fn section(&mut self, _: Tag, d: &mut Decoder<'_>, profile: &mut Profile) -> Decoded<()> {
        let all = profile.coverage.get_or_insert_default();
        d.records(|d| record(d, all))
    }
}

fn record(d: &mut Decoder<'_>, all: &mut Covered) -> Decoded<()> {
    let class = d.u32("class of coverage")?;
    if u64::from(class) == NO_CLASS {
        return Ok(());
    }
    let method = d.u32("method of coverage")?;
    let covered = MethodCovered {
        blocks: bits(d, "blocks that ran")?,
        ways: bits(d, "ways that were gone")?,
    };
    let before = all.methods.insert((class, method), covered);
    Ok(ensure(before.is_none(), || {
        Fault::MethodTwice("coverage", class, method)
    })?)
}

fn bits(d: &mut Decoder<'_>, what: &'static str) -> Decoded<Vec<bool>> {
    let count = d.u32(what)? as usize;
    let bytes = d.take(count.div_ceil(8), what)?;
    let behind = bytes.last().map_or(0, |last| last >> (count % 8));
    ensure(count.is_multiple_of(8) || behind == 0, || {
        Fault::ExtraBits(what, count)
    })?;
    Ok((0..count).map(|at| bytes[at / 8] >> (at % 8) & 1 == 1).collect())
}
