//! The section with the counts of tests: writing and reading.

use super::TestCounts;
use crate::model::codec::wire::{Decoded, Decoder};
use crate::model::codec::{Tag, WriteError};
use crate::model::parts;
use crate::model::profile::Profile;
use crate::model::section::{Records, SectionReader};

/// Its tag.
pub(super) const TESTS: Tag = *b"test";

/// Writes one record per test.
pub(super) fn write(all: &[TestCounts], out: &mut Vec<u8>) -> Result<(), WriteError> {
    let mut records = Records::new(TESTS);
    for test in all {
        let plain = &mut records.plain;
        plain.string(&test.name);
        plain.uint(test.times);
        plain.uint(test.operations);
        plain.option(test.max_growth.as_deref(), |plain, words| plain.string(words));
        plain.option(test.allocated, |plain, bytes| plain.uint(bytes));
        plain.option(test.nanos, |plain, nanos| plain.uint(nanos));
        parts::write(&test.methods, plain);
        parts::write(&test.others, plain);
        records.end()?;
    }
    records.append_to(out)
}

/// Tests go straight into the profile.
pub(super) struct Reading;

impl SectionReader for Reading {
    fn section(&mut self, _: Tag, d: &mut Decoder<'_>, profile: &mut Profile) -> Decoded<()> {
        d.records(|d| {
            profile.by_test.push(record(d)?);
            Ok(())
        })
    }
}

fn record(d: &mut Decoder<'_>) -> Decoded<TestCounts> {
    Ok(TestCounts {
        name: d.string("name of a test")?,
        times: d.uint("how often a test ran")?,
        operations: d.uint("operations of a benchmark")?,
        max_growth: d.option("has a test a limit?", |d| d.string("limit of a test"))?,
        allocated: d.option("is it known what a test allocated?", |d| {
            d.uint("bytes of a test")
        })?,
        nanos: d.option("is it known how long a test took?", |d| {
            d.uint("nanoseconds of a test")
        })?,
        methods: parts::read(d)?,
        others: parts::read(d)?,
    })
}
