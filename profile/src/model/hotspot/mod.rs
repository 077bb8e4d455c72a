//! Branch counts that HotSpot made itself (`MethodData`), of methods without probes.
//!
//! HotSpot counts outcomes of branches for its compiler C2: in the interpreter and in C1's code, until C2 has compiled the
//! method. So these are shares of the time before that, and no counts of the run: nothing is added to counts of paths.

mod codec;
mod merge;
pub(crate) mod section;

use trodden_numbering::{BlockId, FlowGraph};

use crate::model::codec::{Checked, Problem};
use crate::model::conditions::{MethodConditions, check_of_method};
use crate::model::fault::{Fault, ensure};
use crate::model::map::{BlockExit, MethodMap};

/// A method that HotSpot counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HotSpotMethod {
    /// Internal name of its class.
    pub class: String,
    /// The class's SourceFile attribute.
    pub source_file: Option<String>,
    /// The path map. None of its paths has a count.
    pub map: MethodMap,
    /// What its branches decide.
    pub conditions: MethodConditions,
    /// Branches and switches with a count, ascending by block.
    pub branches: Vec<HotSpotBranch>,
}

/// Counts of one branch or switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HotSpotBranch {
    /// Number of the block that it ends.
    pub block: u32,
    /// Executions of each out-edge, in successor order.
    pub outcomes: Vec<u64>,
}

impl HotSpotBranch {
    /// Executions of the branch.
    pub fn total(&self) -> u64 {
        self.outcomes.iter().fold(0, |sum, &n| sum.saturating_add(n))
    }
}

impl HotSpotMethod {
    /// Class, name and descriptor, by which methods are sorted.
    pub fn names(&self) -> (&str, &str, &str) {
        (&self.class, &self.map.name, &self.map.descriptor)
    }

    /// The counts of the branch at the end of a block.
    pub fn branch(&self, block: BlockId) -> Option<&HotSpotBranch> {
        let at = self
            .branches
            .binary_search_by_key(&block.index(), |b| b.block as usize);
        at.ok().map(|at| &self.branches[at])
    }

    fn check(&self) -> Checked {
        let of_method = |fault| Problem::of_method(&self.class, &self.map, fault);
        check_of_method(&self.map, &self.conditions).map_err(of_method)?;
        Fault::order(
            "branches that HotSpot counted",
            self.branches.is_sorted_by(|a, b| a.block < b.block),
        )
        .map_err(of_method)?;
        for branch in &self.branches {
            let is_branch = self.map.blocks.get(branch.block as usize).is_some_and(|block| {
                let edges = self
                    .map
                    .graph
                    .successors(BlockId::new(branch.block as usize))
                    .len();
                matches!(block.exit, BlockExit::Branch | BlockExit::Switch) && edges == branch.outcomes.len()
            });
            ensure(is_branch, || Fault::NotOfMethod("branches that HotSpot counted")).map_err(of_method)?;
        }
        Ok(())
    }
}
