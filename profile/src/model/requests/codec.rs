//! The sections of requests: writing and reading.

use super::{RequestName, RequestSample, Requests};
use crate::model::codec::wire::{Decoded, Decoder, Encoder};
use crate::model::codec::{Tag, WriteError};
use crate::model::counts::MethodPart;
use crate::model::parts;
use crate::model::profile::Profile;
use crate::model::section::{About, Records, SectionReader};

/// About all requests.
pub(super) const ABOUT: Tag = *b"requ";
/// Their paths.
pub(super) const VECTORS: Tag = *b"reqv";
/// Their names, latencies and samples.
pub(super) const NAMES: Tag = *b"reqn";

/// Writes the requests.
pub(super) fn write(requests: &Requests, out: &mut Vec<u8>) -> Result<(), WriteError> {
    let mut about = Records::new(ABOUT);
    about.plain.uint(requests.reading_ns);
    about.plain.len(requests.vectors.len());
    about.append_to(out)?;
    let mut vectors = Records::new(VECTORS);
    for vector in &requests.vectors {
        parts::write(vector, &mut vectors.plain);
        vectors.end()?;
    }
    vectors.append_to(out)?;
    let mut names = Records::new(NAMES);
    for name in &requests.names {
        write_name(name, &mut names.plain);
        names.end()?;
    }
    names.append_to(out)
}

fn write_name(name: &RequestName, plain: &mut Encoder) {
    plain.string(&name.name);
    plain.len(name.latencies.len());
    let mut last = 0;
    for &(latency, count) in &name.latencies {
        plain.uint(latency - last);
        plain.uint(count);
        last = latency;
    }
    plain.uint(name.unreadable);
    plain.len(name.samples.len());
    for sample in &name.samples {
        plain.uint(sample.latency_ns);
        plain.option(sample.cpu_ns, |plain, nanos| plain.uint(nanos));
        plain.uint(sample.collections_ns);
        plain.f64(sample.weight);
        plain.uint(u64::from(sample.vector));
    }
}

/// The sections read so far.
#[derive(Default)]
pub(super) struct Reading {
    about: About<u64>,
    vectors: Vec<Vec<MethodPart>>,
    names: Vec<RequestName>,
}

impl SectionReader for Reading {
    fn section(&mut self, tag: Tag, d: &mut Decoder<'_>, _: &mut Profile) -> Decoded<()> {
        match tag {
            ABOUT => {
                let reading_ns = d.uint("nanoseconds of readings")?;
                self.about
                    .set("requests", reading_ns, d.uint("vectors of requests")?)?;
                d.end()
            }
            VECTORS => d.records(|d| {
                self.vectors.push(parts::read(d)?);
                Ok(())
            }),
            _ => d.records(|d| {
                self.names.push(name(d)?);
                Ok(())
            }),
        }
    }

    fn finish(self: Box<Self>, profile: &mut Profile) -> Decoded<()> {
        let found = self.vectors.len() as u64;
        let Some(reading_ns) = self.about.complete("requests", found)? else {
            return Ok(());
        };
        profile.requests = Some(Requests {
            names: self.names,
            vectors: self.vectors,
            reading_ns,
        });
        Ok(())
    }
}

fn name(d: &mut Decoder<'_>) -> Decoded<RequestName> {
    let name = d.string("name of requests")?;
    let mut last = 0u64;
    let latencies = d.list("latencies of requests", |d, _| {
        last = last.saturating_add(d.uint("latency of requests")?);
        Ok((last, d.uint("number of requests")?))
    })?;
    Ok(RequestName {
        name,
        latencies,
        unreadable: d.uint("requests that cannot be read")?,
        samples: d.list("samples of requests", |d, _| sample(d))?,
    })
}

fn sample(d: &mut Decoder<'_>) -> Decoded<RequestSample> {
    Ok(RequestSample {
        latency_ns: d.uint("latency of a request")?,
        cpu_ns: d.option("is the CPU time of a request known?", |d| {
            d.uint("CPU time of a request")
        })?,
        collections_ns: d.uint("collections in a request")?,
        weight: d.f64("weight of a request")?,
        vector: d.u32("paths of a request")?,
    })
}
