//! The sections of a memory, both ways. What was found is a whole profile in a section: path maps have sections of their
//! own, and each version reads them as it reads those of the run.

use std::cell::Cell;
use std::collections::BTreeSet;

use super::{Memory, MemoryRun, Remembered};
use crate::model::codec::wire::{Decoded, Decoder};
use crate::model::codec::{Tag, WriteError};
use crate::model::profile::Profile;
use crate::model::section::{Records, SectionReader, Sections};

/// Methods whose shares did not move within this run.
pub(super) const STEADY: Tag = *b"stdy";
/// The runs of the memory.
pub(super) const RUNS: Tag = *b"mrun";
/// What was found.
pub(super) const FOUND: Tag = *b"mfnd";
/// What is known about each method.
pub(super) const ABOUT: Tag = *b"mabt";

/// Writes what there is.
pub(super) fn write(profile: &Profile, out: &mut Sections<'_>) -> Result<(), WriteError> {
    let mut steady = Records::default();
    for &(class, method) in &profile.steady {
        steady.plain.uint(u64::from(class));
        steady.plain.uint(u64::from(method));
        steady.end();
    }
    out.put_records(STEADY, steady)?;
    let Some(memory) = &profile.memory else {
        return Ok(());
    };
    let mut runs = Records::default();
    for run in &memory.runs {
        let plain = &mut runs.plain;
        plain.uint(run.number);
        plain.uint(run.started_ms);
        plain.bytes.extend_from_slice(&run.seconds.to_le_bytes());
        plain.string(&run.jvm);
        plain.string(&run.version);
        runs.end();
    }
    out.put_records(RUNS, runs)?;
    let found = memory.found.to_bytes()?;
    let mut whole = Records::default();
    whole.plain.len(found.len());
    whole.plain.bytes.extend_from_slice(&found);
    out.put_records(FOUND, whole)?;
    let mut about = Records::default();
    for one in memory.about.iter().flatten() {
        let plain = &mut about.plain;
        plain.uint(one.run);
        plain.bytes.extend_from_slice(&one.decisions.to_le_bytes());
        plain.option(one.time, |out, time| {
            out.bytes.extend_from_slice(&time.to_le_bytes())
        });
        plain.byte(u8::from(one.steady));
        plain.option(one.as_before, |out, alike| out.byte(u8::from(alike)));
        about.end();
    }
    out.put_records(ABOUT, about)
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
            FOUND if self.found.is_some() => Err("the memory is there twice".to_owned()),
            FOUND => {
                let length = d.count("length of what the memory holds")?;
                let bytes = d.take(length, "what the memory holds")?;
                self.found = Some(inner(bytes)?);
                Ok(())
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
            return if self.runs.is_empty() && self.about.is_empty() {
                Ok(())
            } else {
                Err("the memory holds nothing to speak of".to_owned())
            };
        };
        let mut rest = self.about.into_iter();
        let sizes = found.classes.iter().map(|class| class.map.methods.len());
        let about: Vec<Vec<Remembered>> = sizes.map(|size| rest.by_ref().take(size).collect()).collect();
        if rest.next().is_some() {
            return Err("the memory speaks of more methods than it holds".to_owned());
        }
        profile.memory = Some(Box::new(Memory {
            runs: self.runs,
            found,
            about,
        }));
        Ok(())
    }
}

/// The profile inside. One that has a memory itself is refused before that is read: a file cannot make the reader go
/// deeper and deeper.
fn inner(bytes: &[u8]) -> Decoded<Profile> {
    thread_local!(static INSIDE: Cell<bool> = const { Cell::new(false) });
    if INSIDE.replace(true) {
        return Err("the memory has a memory".to_owned());
    }
    let found = Profile::read(bytes);
    INSIDE.set(false);
    found.map_err(|e| format!("what the memory holds: {e}"))
}

fn run(d: &mut Decoder<'_>) -> Decoded<MemoryRun> {
    Ok(MemoryRun {
        number: d.uint("number of a run")?,
        started_ms: d.uint("start of a run")?,
        seconds: f64::from_le_bytes(d.array("seconds of a run")?),
        jvm: d.string("JVM of a run")?,
        version: d.string("version of a run")?,
    })
}

fn about(d: &mut Decoder<'_>) -> Decoded<Remembered> {
    let share = |d: &mut Decoder<'_>| Ok::<_, String>(f64::from_le_bytes(d.array("a share")?));
    Ok(Remembered {
        run: d.uint("run of a method")?,
        decisions: share(d)?,
        time: d.option("is there a share of the time?", share)?,
        steady: d.boolean("is it steady?")?,
        as_before: d.option("was it compared?", |d| d.boolean("is it as before?"))?,
    })
}
