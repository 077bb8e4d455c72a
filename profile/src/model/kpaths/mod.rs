//! k-iteration path forests in a profile: how often which paths of a method followed each other.
//!
//! After D'Elia and Demetrescu, *Ball-Larus Path Profiling Across Multiple Loop Iterations* (OOPSLA 2013, "k-BLPP"):
//! what is kept is the k-IPF of section 2.2. How it is built is the business of `trodden-analyses`; here it is data.
//!
//! ```
//! use trodden_profile::PathForest;
//!
//! // Length, path number and count of each sequence, in the order of sorted sequences:
//! // <2> 5 times, <2, 0> 3 times, <2, 2> once.
//! let forest = PathForest::from_preorder([(1, 2, 5), (2, 0, 3), (2, 2, 1)]).unwrap();
//! assert_eq!(forest.count(&[2, 0]), 3);
//! assert_eq!(forest.roots().map(|(_, root)| root.path).collect::<Vec<_>>(), [2]);
//! ```

mod codec;
mod forest;
mod merge;
mod overlap;
pub(crate) mod section;

use std::collections::BTreeMap;

use crate::model::burst_groups::{BURST_GROUPS, ByGroup};

pub use forest::{ForestNode, ForestProblem, PathForest};
pub use overlap::{KPathsOverlap, LevelOverlap, MethodOverlap, kpaths_overlap};

/// Forests by index of the class in [`Profile::classes`](crate::Profile::classes) and of the method in
/// [`ClassMap::methods`](crate::ClassMap::methods).
pub type Forests = BTreeMap<(usize, usize), PathForest>;

/// The k-iteration path forest of a run, all threads together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KPaths {
    /// Longest sequence that was counted, in paths: 2 to [`MAX_K`](crate::MAX_K).
    pub k: u32,
    /// Nodes of the k-slab forest (k-BLPP's k-SF) of all threads that it was made from.
    pub slab_nodes: u64,
    /// Bytes that it took while the program ran, summed over threads, tables and spare capacity included.
    pub slab_bytes: u64,
    /// Most nodes below the roots that a slab forest was allowed, if cold sequences were pruned.
    pub budget: Option<u64>,
    /// Which windows of activations were recorded, in option syntax, if not all were.
    pub bursts: Option<String>,
    /// Path ends of activations whose beginning was not seen.
    pub orphans: u64,
    /// Path ends that are in no counter, because a table was full.
    pub dropped: u64,
    /// The trees.
    pub methods: Forests,
    /// Of bursts by the clock, those of each of [`BURST_GROUPS`](crate::BURST_GROUPS) groups: they add up to
    /// [`methods`](Self::methods). Else empty.
    pub groups: Vec<Forests>,
}

impl KPaths {
    /// Number of sequences (nodes of the k-IPF) in all methods.
    pub fn nodes(&self) -> u64 {
        self.methods
            .values()
            .map(|forest| forest.nodes().len() as u64)
            .sum()
    }

    /// The counts of a sequence of a method per group of bursts, and how many of these are
    /// [known](ForestNode::known) to continue or to end, if there are groups.
    pub fn by_group(&self, method: (usize, usize), sequence: &[u64]) -> Option<[ByGroup; 2]> {
        let nodes = self.each_group(|group| {
            let forest = group.get(&method)?;
            Some(forest.nodes()[forest.find(sequence)?])
        })?;
        let by_group = |of: fn(ForestNode) -> u64| ByGroup(nodes.map(|node| node.map_or(0, of)));
        Some([by_group(|node| node.count), by_group(|node| node.known())])
    }

    /// The path ends of a method per group of bursts, if they are known.
    pub fn ends_by_group(&self, method: (usize, usize)) -> Option<ByGroup> {
        let total = |group: &Forests| group.get(&method).map_or(0, PathForest::total);
        Some(ByGroup(self.each_group(total)?))
    }

    /// Something of each group of bursts, if there are groups.
    fn each_group<T>(&self, of: impl FnMut(&Forests) -> T) -> Option<[T; BURST_GROUPS]> {
        let groups: &[Forests; BURST_GROUPS] = self.groups.as_slice().try_into().ok()?;
        Some(groups.each_ref().map(of))
    }

    /// Takes the forests of groups of bursts, [`BURST_GROUPS`](crate::BURST_GROUPS) of them, and their sum.
    ///
    /// # Errors
    /// [`ForestProblem::TooLarge`].
    pub fn with_groups(mut self, groups: Vec<Forests>) -> Result<Self, ForestProblem> {
        self.groups = groups;
        self.methods = self.sum_of_groups()?;
        if self.methods.is_empty() {
            self.groups.clear();
        }
        Ok(self)
    }

    /// The sum of all groups of bursts.
    fn sum_of_groups(&self) -> Result<Forests, ForestProblem> {
        let mut sums = Forests::new();
        for (&place, forest) in self.groups.iter().flatten() {
            let sum: &mut PathForest = sums.entry(place).or_default();
            *sum = sum.plus(forest)?;
        }
        Ok(sums)
    }

    /// Are all counters exact? They are not if cold sequences were pruned, or path ends lost. Bursts do not
    /// matter: what they take in, they count exactly.
    pub fn is_exact(&self) -> bool {
        self.dropped == 0 && self.methods.values().all(PathForest::is_exact)
    }
}
