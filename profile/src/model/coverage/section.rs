//! Coverage as a kind of data.

use trodden_numbering::FlowGraph;

use super::{MethodCovered, codec, merge, subtract, ways};
use crate::model::codec::{Checked, Problem, Tag, WriteError};
use crate::model::errors::{MergeError, SubtractError};
use crate::model::fault::{Fault, ensure};
use crate::model::map::MethodMap;
use crate::model::places::method;
use crate::model::profile::Profile;
use crate::model::section::{Section, SectionReader};

/// Coverage as a kind of data.
pub(crate) struct Kind;

impl Section for Kind {
    fn tags(&self) -> &'static [Tag] {
        &[codec::COVERED]
    }

    fn write(&self, profile: &Profile, out: &mut Vec<u8>) -> Result<(), WriteError> {
        profile
            .coverage
            .iter()
            .try_for_each(|coverage| codec::write(coverage, out))
    }

    fn reader(&self) -> Box<dyn SectionReader> {
        Box::new(codec::Reading)
    }

    fn check(&self, profile: &Profile) -> Checked {
        let mut covered = profile.coverage.iter().flat_map(|coverage| &coverage.methods);
        covered.try_for_each(|(&place, covered)| check(profile, place, covered))
    }

    fn subtract(&self, now: &Profile, before: &Profile, rest: &mut Profile) -> Result<(), SubtractError> {
        rest.coverage = subtract::subtract(now, before)?;
        Ok(())
    }

    fn classes(&self, profile: &Profile, found: &mut dyn FnMut(usize)) {
        let places = profile.coverage.iter().flat_map(|covered| covered.methods.keys());
        places.for_each(|&(class, _)| found(class as usize));
    }

    fn merge(&self, inputs: &[&Profile], merged: &mut Profile) -> Result<(), MergeError> {
        merged.coverage = merge::merge(inputs, &merged.classes)?;
        Ok(())
    }
}

/// It is of a method that is there, has a bit per block and way, and no way was gone that begins or ends at a block that
/// did not run.
fn check(profile: &Profile, (class, at): (u32, u32), covered: &MethodCovered) -> Checked {
    let map = method(profile, (class as usize, at as usize), "coverage")?;
    let of_method = |fault| Problem::of_method(&profile.classes[class as usize].map.name, map, fault);
    check_of_method(map, covered).map_err(of_method)
}

fn check_of_method(map: &MethodMap, covered: &MethodCovered) -> Result<(), Fault> {
    let (blocks, number) = (map.graph.num_blocks(), ways(map).count());
    Fault::sizes(
        "blocks with coverage",
        covered.blocks.len(),
        "blocks of the method",
        blocks,
    )?;
    Fault::sizes(
        "ways with coverage",
        covered.ways.len(),
        "ways of the method",
        number,
    )?;
    for ((from, to), _) in ways(map).zip(&covered.ways).filter(|(_, followed)| **followed) {
        let (from, to) = (from.index(), to.index());
        ensure(covered.blocks[from] && covered.blocks[to], || {
            Fault::Way(from, to)
        })?;
    }
    Ok(())
}
