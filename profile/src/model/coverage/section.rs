//! Coverage as a kind of data.

use trodden_numbering::{BlockId, FlowGraph};

use super::{Covered, codec, decided, merge, subtract};
use crate::model::codec::{Problem, Tag, WriteError};
use crate::model::errors::{MergeError, SubtractError};
use crate::model::profile::Profile;
use crate::model::section::{Section, SectionReader, Sections};

/// Coverage as a kind of data.
pub(crate) struct Kind;

impl Section for Kind {
    fn tags(&self) -> &'static [Tag] {
        &[codec::COVERED]
    }

    fn write(&self, profile: &Profile, out: &mut Sections<'_>) -> Result<(), WriteError> {
        match &profile.coverage {
            Some(coverage) => codec::write(coverage, out),
            None => Ok(()),
        }
    }

    fn reader(&self) -> Box<dyn SectionReader> {
        Box::new(codec::Reading::default())
    }

    fn check(&self, profile: &Profile) -> Result<(), Problem> {
        match &profile.coverage {
            Some(coverage) => check(profile, coverage),
            None => Ok(()),
        }
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

/// It is of methods that are there, has a bit per block and way, and no way was gone that begins or ends at a block that
/// did not run.
fn check(profile: &Profile, coverage: &Covered) -> Result<(), Problem> {
    for (&(class, method), covered) in &coverage.methods {
        let found = profile.classes.get(class as usize);
        let map = found.and_then(|class| class.map.methods.get(method as usize));
        let problem = |what: String| Problem {
            class: found.map(|class| class.map.name.clone()),
            method: map.map(|map| format!("{}{}", map.name, map.descriptor)),
            what,
        };
        let Some(map) = map else {
            return Err(problem(format!(
                "coverage of method {method} of class {class}, which is not there"
            )));
        };
        if (covered.blocks.len(), covered.ways.len()) != (map.graph.num_blocks(), decided(map)) {
            return Err(problem(format!(
                "coverage of {} blocks and {} ways; the method has {} and {}",
                covered.blocks.len(),
                covered.ways.len(),
                map.graph.num_blocks(),
                decided(map)
            )));
        }
        let decides = |block: BlockId| map.graph.successors(block).len() > 1;
        let edges = map.graph.edges().filter(|(edge, _)| decides(edge.from));
        for ((edge, to), _) in edges.zip(&covered.ways).filter(|(_, followed)| **followed) {
            if !covered.blocks[edge.from.index()] || !covered.blocks[to.index()] {
                return Err(problem(format!(
                    "coverage has the way from block {} to block {}, of which one did not run",
                    edge.from.index(),
                    to.index()
                )));
            }
        }
    }
    Ok(())
}
