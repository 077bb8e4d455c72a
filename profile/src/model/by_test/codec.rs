//! The section with the counts of tests: writing and reading.

use super::{TestCounts, TestMethod};
use crate::model::codec::wire::{Decoded, Decoder, Encoder};
use crate::model::codec::{Tag, WriteError};
use crate::model::counts::MethodCounts;
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
        write_methods(&test.methods, plain);
        write_methods(&test.others, plain);
        records.end()?;
    }
    records.append_to(out)
}

fn write_methods(methods: &[TestMethod], plain: &mut Encoder) {
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
        methods: d.list("methods of a test", |d, _| method(d))?,
        others: d.list("methods of a test", |d, _| method(d))?,
    })
}

fn method(d: &mut Decoder<'_>) -> Decoded<TestMethod> {
    let (class, method) = (d.u32("class of a test")?, d.u32("method of a test")?);
    let mut counts = MethodCounts::default();
    for _ in 0..d.count("paths of a test")? {
        counts
            .paths
            .insert(d.uint("path of a test")?, d.uint("count of a test")?);
    }
    for _ in 0..d.count("cut paths of a test")? {
        let stopped = (d.u32("block of a test")?, d.uint("cut path of a test")?);
        counts.partial.insert(stopped, d.uint("count of a test")?);
    }
    Ok(TestMethod {
        class,
        method,
        counts,
    })
}
