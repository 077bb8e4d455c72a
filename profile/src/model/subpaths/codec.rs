//! The sections of hot subpaths: writing and reading.

use super::{Subpath, SubpathRun, Subpaths};
use crate::model::codec::wire::{Decoded, Decoder, Encoder};
use crate::model::codec::{Tag, WriteError};
use crate::model::fault::{Fault, ensure};
use crate::model::profile::Profile;
use crate::model::section::{About, Records, SectionReader, put_packed};

/// Tag of the section about sampling as a whole.
pub(super) const ABOUT: Tag = *b"subp";
/// Tag of the section about a sliding window, if there is one.
pub(super) const WINDOW: Tag = *b"subw";
/// Tag of the section about bursts, if there were such.
pub(super) const BURSTS: Tag = *b"subb";
/// Tag of the sections with subpaths.
pub(super) const LIST: Tag = *b"subl";

/// Writes the subpaths.
pub(super) fn write(subpaths: &Subpaths, out: &mut Vec<u8>) -> Result<(), WriteError> {
    let mut about = Encoder::default();
    for text in [
        &subpaths.lengths,
        &subpaths.order,
        &subpaths.identity,
        &subpaths.starts,
    ] {
        about.string(text);
    }
    about.uint(subpaths.footprint);
    about.option(subpaths.half_life, Encoder::uint);
    for number in [
        subpaths.threads,
        subpaths.blocks,
        subpaths.places,
        subpaths.drawn,
        subpaths.drawn_blocks,
        subpaths.distance.0,
        subpaths.distance.1,
        subpaths.peak_bytes,
        subpaths.working_bytes,
    ] {
        about.uint(number);
    }
    about.len(subpaths.subpaths.len());
    put_packed(out, ABOUT, &about.bytes)?;
    if let Some(blocks) = subpaths.sliding_window {
        let mut window = Encoder::default();
        window.uint(blocks);
        put_packed(out, WINDOW, &window.bytes)?;
    }
    if let Some(text) = &subpaths.bursts {
        let mut bursts = Encoder::default();
        bursts.string(text);
        put_packed(out, BURSTS, &bursts.bytes)?;
    }
    let mut list = Records::new(LIST);
    for subpath in &subpaths.subpaths {
        put(&mut list.plain, subpath);
        list.end()?;
    }
    list.append_to(out)
}

fn put(out: &mut Encoder, subpath: &Subpath) {
    out.uint(u64::from(subpath.length));
    out.uint(subpath.sampled);
    out.uint(subpath.estimate);
    // As distances, which are small. What breaks the order is refused before.
    out.uint(subpath.estimate.saturating_sub(subpath.low));
    out.uint(subpath.high.saturating_sub(subpath.estimate));
    out.uint(u64::from(subpath.missing));
    out.len(subpath.runs.len());
    for run in &subpath.runs {
        out.len(run.class);
        out.len(run.method);
        out.uint(run.path);
        out.uint(u64::from(run.from));
        out.uint(u64::from(run.blocks));
        out.uint(u64::from(run.times));
    }
}

/// What was read of the subpaths so far.
#[derive(Default)]
pub(super) struct Reading {
    about: About<Subpaths>,
    window: Option<u64>,
    bursts: Option<String>,
    list: Vec<Subpath>,
}

impl SectionReader for Reading {
    fn section(&mut self, tag: Tag, d: &mut Decoder<'_>, _: &mut Profile) -> Decoded<()> {
        match tag {
            ABOUT => self.about(d),
            WINDOW => {
                let before = self.window.replace(d.uint("blocks of the window of subpaths")?);
                Ok(ensure(before.is_none(), || Fault::Twice("windows of subpaths"))?)
            }
            BURSTS => {
                let before = self.bursts.replace(d.string("bursts of subpaths")?);
                Ok(ensure(before.is_none(), || Fault::Twice("bursts of subpaths"))?)
            }
            _ => d.records(|d| self.subpath(d)),
        }
    }

    fn finish(self: Box<Self>, profile: &mut Profile) -> Decoded<()> {
        let Some(subpaths) = self.about.complete("subpaths", self.list.len() as u64)? else {
            let has_none = self.window.is_none() && self.bursts.is_none();
            ensure(has_none, || Fault::Untold("windows or bursts of subpaths", 1))?;
            return Ok(());
        };
        profile.subpaths = Some(Subpaths {
            subpaths: self.list,
            sliding_window: self.window,
            bursts: self.bursts,
            ..subpaths
        });
        Ok(())
    }
}

impl Reading {
    fn about(&mut self, d: &mut Decoder<'_>) -> Decoded<()> {
        let subpaths = Subpaths {
            lengths: d.string("lengths of subpaths")?,
            order: d.string("order of blocks")?,
            identity: d.string("identity of subpaths")?,
            starts: d.string("beginnings of subpaths")?,
            footprint: d.uint("footprint")?,
            half_life: d.option("half-life", |d| d.uint("half-life"))?,
            sliding_window: None,
            bursts: None,
            threads: d.uint("threads with blocks")?,
            blocks: d.uint("number of blocks")?,
            places: d.uint("places of subpaths")?,
            drawn: d.uint("samples")?,
            drawn_blocks: d.uint("blocks of samples")?,
            distance: (d.uint("distance of samples")?, d.uint("distance of samples")?),
            peak_bytes: d.uint("bytes of a sample")?,
            working_bytes: d.uint("bytes of sampling")?,
            subpaths: Vec::new(),
        };
        self.about
            .set("subpaths", subpaths, d.uint("number of subpaths")?)
    }

    fn subpath(&mut self, d: &mut Decoder<'_>) -> Decoded<()> {
        let length = d.u32("length of a subpath")?;
        let sampled = d.uint("samples of a subpath")?;
        let estimate = d.uint("estimate of a subpath")?;
        let (below, above) = (
            d.uint("lower bound of a subpath")?,
            d.uint("upper bound of a subpath")?,
        );
        let bounds = estimate.checked_sub(below).zip(estimate.checked_add(above));
        let (low, high) = bounds.ok_or(Fault::TooWide("bounds of a subpath", 64))?;
        let missing = d.u32("missing blocks of a subpath")?;
        let runs = d.list("runs of a subpath", |d, _| {
            Ok(SubpathRun {
                class: d.u32("class of a run")? as usize,
                method: d.u32("method of a run")? as usize,
                path: d.uint("path of a run")?,
                from: d.u32("first block of a run")?,
                blocks: d.u32("blocks of a run")?,
                times: d.u32("repetitions of a run")?,
            })
        })?;
        self.list.push(Subpath {
            length,
            sampled,
            estimate,
            low,
            high,
            runs,
            missing,
        });
        Ok(())
    }
}
