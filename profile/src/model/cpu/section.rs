//! CPU samples as a kind of data.

use std::collections::HashMap;

use super::{CpuFrame, CpuSamples, codec, merge};
use crate::model::codec::{Problem, Tag, WriteError};
use crate::model::errors::{MergeError, SubtractError};
use crate::model::map::ClassMap;
use crate::model::profile::Profile;
use crate::model::section::{Section, SectionReader, Sections};

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

    fn write(&self, profile: &Profile, out: &mut Sections<'_>) -> Result<(), WriteError> {
        match &profile.cpu {
            Some(cpu) => codec::write(cpu, out),
            None => Ok(()),
        }
    }

    fn reader(&self) -> Box<dyn SectionReader> {
        Box::new(codec::Reading::default())
    }

    fn check(&self, profile: &Profile) -> Result<(), Problem> {
        let check = profile.cpu.as_ref().map_or(Ok(()), CpuSamples::check);
        check.map_err(Problem::bare)
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
        rest.cpu = match (&now.cpu, &before.cpu) {
            (Some(now), Some(before)) => {
                let cpu = now.since(before).without_idle_stacks();
                let left = |one: &CpuSamples| one.total().plus(one.lost);
                // Each stack's samples are less than before, or none is.
                if left(&cpu).plus(left(before)) != left(now) {
                    return Err(SubtractError::Fell {
                        what: "samples of CPU time".to_owned(),
                    });
                }
                Some(cpu)
            }
            (Some(now), None) => Some(now.clone()),
            (None, None) => None,
            (None, Some(_)) => {
                return Err(SubtractError::Fell {
                    what: "samples of CPU time".to_owned(),
                });
            }
        };
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
