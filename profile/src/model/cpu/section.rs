//! CPU samples as a kind of data.

use std::collections::HashMap;

use super::{CpuFrame, CpuSamples, codec, merge};
use crate::model::codec::{Checked, Tag, WriteError};
use crate::model::errors::{MergeError, SubtractError};
use crate::model::map::ClassMap;
use crate::model::profile::Profile;
use crate::model::section::{Section, SectionReader};

/// CPU samples as a kind of data.
pub(crate) struct Kind;

impl Section for Kind {
    fn tags(&self) -> &'static [Tag] {
        &[
            codec::ABOUT,
            codec::FRAMES,
            codec::NODES,
            codec::LINES,
            codec::WAITS,
            codec::PATHS,
        ]
    }

    fn write(&self, profile: &Profile, out: &mut Vec<u8>) -> Result<(), WriteError> {
        profile.cpu.iter().try_for_each(|cpu| codec::write(cpu, out))
    }

    fn reader(&self) -> Box<dyn SectionReader> {
        Box::new(codec::Reading::default())
    }

    fn check(&self, profile: &Profile) -> Checked {
        Ok(profile.cpu.iter().try_for_each(CpuSamples::check)?)
    }

    fn texts<'p>(&self, profile: &'p Profile) -> Vec<&'p str> {
        let Some(cpu) = &profile.cpu else {
            return Vec::new();
        };
        let frames = cpu.frames.iter();
        let frames = frames.flat_map(|frame| [&*frame.class, &*frame.name, &*frame.descriptor]);
        let reasons = cpu.failed.iter().map(|failed| &*failed.reason);
        [&*cpu.reader].into_iter().chain(reasons).chain(frames).collect()
    }

    fn texts_mut<'p>(&self, profile: &'p mut Profile) -> Vec<&'p mut String> {
        let Some(cpu) = &mut profile.cpu else {
            return Vec::new();
        };
        let frames = cpu.frames.iter_mut();
        let frames = frames.flat_map(|frame| [&mut frame.class, &mut frame.name, &mut frame.descriptor]);
        let reasons = cpu.failed.iter_mut().map(|failed| &mut failed.reason);
        [&mut cpu.reader]
            .into_iter()
            .chain(reasons)
            .chain(frames)
            .collect()
    }

    fn subtract(&self, now: &Profile, before: &Profile, rest: &mut Profile) -> Result<(), SubtractError> {
        let fell = || SubtractError::Fell {
            what: "samples of CPU time".to_owned(),
        };
        let (Some(all), Some(then)) = (&now.cpu, &before.cpu) else {
            rest.cpu = now.cpu.clone();
            return match &before.cpu {
                Some(_) => Err(fell()),
                None => Ok(()),
            };
        };
        let cpu = all.since(then).without_idle_stacks();
        let left = |one: &CpuSamples| one.total().plus(one.lost);
        // Each stack's samples are less than before, or none is.
        if left(&cpu).plus(left(then)) != left(all) {
            return Err(fell());
        }
        rest.cpu = Some(cpu);
        Ok(())
    }

    fn merge(&self, inputs: &[&Profile], merged: &mut Profile) -> Result<(), MergeError> {
        let mut maps: HashMap<&str, Option<&ClassMap>> = HashMap::new();
        for class in inputs.iter().flat_map(|profile| &profile.classes) {
            let map = &*class.map;
            let known = maps.entry(&map.name).or_insert(Some(map));
            if known.is_some_and(|known| known != map) {
                *known = None;
            }
        }
        let numbered_alike = |frame: &CpuFrame| matches!(maps.get(&*frame.class), Some(Some(_)));
        let all = inputs.iter().filter_map(|profile| profile.cpu.as_ref());
        merged.cpu = merge::merge(all, numbered_alike);
        Ok(())
    }
}
