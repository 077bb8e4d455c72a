//! What ran at all: per method its blocks, and the ways of its decisions (profile `coverage`).

mod codec;
mod merge;
mod subtract;

use std::collections::BTreeMap;

use trodden_numbering::{BlockId, FlowGraph, Ran};

use crate::model::codec::{Problem, Tag, WriteError};
use crate::model::edges::EdgeProfile;
use crate::model::map::MethodMap;
use crate::model::merge::MergeError;
use crate::model::profile::Profile;
use crate::model::section::{Section, SectionReader, Sections};
use crate::model::subtract::SubtractError;

/// What ran of all methods of a profile. Each of its path maps' methods had probes for that.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Covered {
    /// By class and method (positions in the profile); a method that is not there did not run.
    pub methods: BTreeMap<(u32, u32), MethodCovered>,
}

/// What ran of one method.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MethodCovered {
    /// Per block: did it begin?
    pub blocks: Vec<bool>,
    /// Per block that has several out-edges, and per such an edge, in the graph's order: was it followed?
    pub ways: Vec<bool>,
}

impl MethodCovered {
    /// From what its probes say.
    pub fn new(map: &MethodMap, ran: &Ran) -> Self {
        let edges = map.graph.edges().zip(&ran.edges);
        let decided = edges.filter(|((edge, _), _)| map.graph.successors(edge.from).len() > 1);
        MethodCovered {
            blocks: ran.blocks.clone(),
            ways: decided.map(|(_, &followed)| followed).collect(),
        }
    }

    /// As counts, of which all are 0 or 1. An edge that is the only one out of its block has one if both of its blocks
    /// have: whether it was followed is not known.
    pub fn edge_profile(&self, map: &MethodMap) -> EdgeProfile {
        let mut profile = EdgeProfile::new(map);
        let ran = |block: usize| u64::from(self.blocks.get(block).copied().unwrap_or(false));
        let mut ways = self.ways.iter();
        for block in 0..map.blocks.len() {
            profile.blocks[block] = ran(block);
            let successors = map.graph.successors(BlockId::new(block));
            for (index, to) in successors.iter().enumerate() {
                let count = match successors.len() {
                    1 => ran(block).min(ran(to.index())),
                    _ => u64::from(ways.next().copied().unwrap_or(false)),
                };
                if let Some(edge) = profile.edges[block].get_mut(index) {
                    *edge = count;
                }
            }
        }
        profile
    }

    /// Takes in what ran in another run.
    fn add(&mut self, other: &MethodCovered) {
        for (to, from) in [(&mut self.blocks, &other.blocks), (&mut self.ways, &other.ways)] {
            to.iter_mut().zip(from).for_each(|(to, &from)| *to |= from);
        }
    }
}

/// Number of ways out of blocks that decide something.
fn decided(map: &MethodMap) -> usize {
    let blocks = (0..map.graph.num_blocks()).map(BlockId::new);
    let ways = blocks.map(|block| map.graph.successors(block).len());
    ways.filter(|&ways| ways > 1).sum()
}

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
