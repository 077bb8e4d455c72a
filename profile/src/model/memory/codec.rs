//! The sections of a memory: writing and reading. What was found is a whole profile in a section: path maps have sections of their
//! own, and each version reads them as it reads those of the run.

use std::collections::BTreeSet;

use super::{Memory, MemoryRun, Remembered};
use crate::model::codec::wire::{Decoded, Decoder, Encoder};
use crate::model::codec::{Tag, WriteError};
use crate::model::fault::{Fault, ensure};
use crate::model::profile::Profile;
use crate::model::section::{Records, SectionReader, nested};

/// Methods whose shares did not move within this run.
pub(super) const STEADY: Tag = *b"stdy";
/// The runs of the memory.
pub(super) const RUNS: Tag = *b"mrun";
/// What was found.
pub(super) const FOUND: Tag = *b"mfnd";
/// What is known about each method.
pub(super) const ABOUT: Tag = *b"mabt";

/// Writes what there is.
pub(super) fn write(profile: &Profile, out: &mut Vec<u8>) -> Result<(), WriteError> {
    let mut steady = Records::new(STEADY);
    for &(class, method) in &profile.steady {
        steady.plain.uint(u64::from(class));
        steady.plain.uint(u64::from(method));
        steady.end()?;
    }
    steady.append_to(out)?;
    let Some(memory) = &profile.memory else {
        return Ok(());
    };
    let mut runs = Records::new(RUNS);
    for run in &memory.runs {
        let plain = &mut runs.plain;
        plain.uint(run.number);
        plain.uint(run.started_ms);
        plain.f64(run.seconds);
        plain.string(&run.jvm);
        plain.string(&run.version);
        runs.end()?;
    }
    runs.append_to(out)?;
    let found = memory.found.to_bytes()?;
    let mut whole = Records::new(FOUND);
    whole.plain.len(found.len());
    whole.plain.bytes.extend_from_slice(&found);
    whole.append_to(out)?;
    let mut about = Records::new(ABOUT);
    for one in memory.about.iter().flatten() {
        let plain = &mut about.plain;
        plain.uint(one.run);
        plain.f64(one.decisions);
        plain.option(one.time, Encoder::f64);
        plain.byte(u8::from(one.steady));
        plain.option(one.as_before, |out, alike| out.byte(u8::from(alike)));
        about.end()?;
    }
    about.append_to(out)
}

/// What was read so far.
#[derive(Default)]
pub(super) struct Reading {
    steady: BTreeSet<(u32, u32)>,
    runs: Vec<MemoryRun>,
    found: Option<Profile>,
    about: Vec<Remembered>,
}

impl SectionReader for Reading {
    fn section(&mut self, tag: Tag, d: &mut Decoder<'_>, _: &mut Profile) -> Decoded<()> {
        match tag {
            STEADY => d.records(|d| {
                self.steady
                    .insert((d.u32("class of a steady method")?, d.u32("steady method")?));
                Ok(())
            }),
            RUNS => d.records(|d| {
                self.runs.push(run(d)?);
                Ok(())
            }),
            FOUND => {
                let length = d.count("length of what the memory holds")?;
                let bytes = d.take(length, "what the memory holds")?;
                let before = self.found.replace(nested(bytes)?);
                Ok(ensure(before.is_none(), || Fault::Twice("memories"))?)
            }
            _ => d.records(|d| {
                self.about.push(about(d)?);
                Ok(())
            }),
        }
    }

    fn finish(self: Box<Self>, profile: &mut Profile) -> Decoded<()> {
        profile.steady = self.steady;
        let Some(found) = self.found else {
            let rest = (self.runs.len() + self.about.len()) as u64;
            return Ok(ensure(rest == 0, || {
                Fault::Untold("runs and methods of a memory", rest)
            })?);
        };
        let mut rest = self.about.into_iter();
        let sizes = found.classes.iter().map(|class| class.map.methods.len());
        let about: Vec<Vec<Remembered>> = sizes.map(|size| rest.by_ref().take(size).collect()).collect();
        ensure(rest.next().is_none(), || Fault::Extra)?;
        profile.memory = Some(Box::new(Memory {
            runs: self.runs,
            found,
            about,
        }));
        Ok(())
    }
}

fn run(d: &mut Decoder<'_>) -> Decoded<MemoryRun> {
    Ok(MemoryRun {
        number: d.uint("number of a run")?,
        started_ms: d.uint("start of a run")?,
        seconds: d.f64("seconds of a run")?,
        jvm: d.string("JVM of a run")?,
        version: d.string("version of a run")?,
    })
}

fn about(d: &mut Decoder<'_>) -> Decoded<Remembered> {
    Ok(Remembered {
        run: d.uint("run of a method")?,
        decisions: d.f64("share of decisions")?,
        time: d.option("share of the time", |d| d.f64("share of the time"))?,
        steady: d.boolean("steady method")?,
        as_before: d.option("comparison", |d| d.boolean("comparison"))?,
    })
}
