//! The same path under another numbering of the same method.
//!
//! Smart numbering (PEP section 3.4) gives values by edge weights, and weights can come from an earlier profile: so
//! two runs over the same class bytes may number the same paths differently. As long as blocks, path starts and path
//! ends agree, the paths are the same ones, and each has exactly one number in either map.

use std::borrow::Cow;

use trodden_numbering::{BlockId, EdgeRef, Path, RegenerateError, StartKind};

use crate::model::counts::MethodCounts;
use crate::model::map::MethodMap;

/// Do two maps describe the same method cut into the same paths, if under different numbers?
pub fn same_paths(a: &MethodMap, b: &MethodMap) -> bool {
    let starts = |map: &MethodMap| {
        let mut starts: Vec<(StartKind, BlockId)> =
            map.dag.starts().iter().map(|s| (s.kind, s.block)).collect();
        starts.sort_unstable();
        starts
    };
    let ends_agree = || {
        (0..a.blocks.len())
            .map(BlockId::new)
            .all(|id| a.dag.end_cause(id) == b.dag.end_cause(id))
    };
    (&a.name, &a.descriptor) == (&b.name, &b.descriptor)
        && a.blocks == b.blocks
        && a.graph == b.graph
        && starts(a) == starts(b)
        && ends_agree()
}

impl MethodMap {
    /// Number of a path, whole or partial; `None` if no path begins where it does. Its edges have to be the method's.
    pub fn number_of(&self, path: &Path) -> Option<u64> {
        let starts = &mut self.dag.starts().iter();
        let start = starts.find(|s| s.kind == path.start && s.block == path.first)?;
        let value = |number: u64, edge: &EdgeRef| number.checked_add(self.dag.value(*edge));
        path.edges.iter().try_fold(start.value, value)
    }
}

/// The paths of one map under the numbers of another, which has the [`same_paths`].
pub(crate) struct Renumbering<'m> {
    from: &'m MethodMap,
    to: &'m MethodMap,
    /// Both have the same numbers.
    is_same: bool,
}

impl<'m> Renumbering<'m> {
    /// From one map to another.
    pub fn new(from: &'m MethodMap, to: &'m MethodMap) -> Self {
        let is_same = from.dag == to.dag && from.graph == to.graph && from.blocks == to.blocks;
        Renumbering { from, to, is_same }
    }

    /// Have both maps the same paths?
    pub fn is_possible(&self) -> bool {
        self.is_same || same_paths(self.from, self.to)
    }

    /// Have both maps the same numbers?
    pub fn is_same(&self) -> bool {
        self.is_same
    }

    /// The number of a full path.
    pub fn whole(&self, number: u64) -> Result<u64, RegenerateError> {
        if self.is_same {
            return Ok(number);
        }
        self.number_of(number, &self.from.path(number, None)?)
    }

    /// The number of a partial path.
    pub fn partial(&self, block: u32, number: u64) -> Result<u64, RegenerateError> {
        if self.is_same {
            return Ok(number);
        }
        let stopped = BlockId::new(block as usize);
        self.number_of(number, &self.from.path(number, Some(stopped))?)
    }

    /// Counts of the method.
    pub fn counts<'c>(&self, counts: &'c MethodCounts) -> Result<Cow<'c, MethodCounts>, RegenerateError> {
        if self.is_same {
            return Ok(Cow::Borrowed(counts));
        }
        let mut renumbered = MethodCounts::default();
        for (&number, &times) in &counts.paths {
            renumbered.paths.insert(self.whole(number)?, times);
        }
        for (&(block, number), &times) in &counts.partial {
            let number = self.partial(block, number)?;
            renumbered.partial.insert((block, number), times);
        }
        Ok(Cow::Owned(renumbered))
    }

    /// Like [`counts`](Self::counts), without numbers that are of no path.
    pub fn readable_counts<'c>(&self, counts: &'c MethodCounts) -> Cow<'c, MethodCounts> {
        if self.is_same {
            return Cow::Borrowed(counts);
        }
        let whole =
            (counts.paths.iter()).filter_map(|(&number, &times)| Some((self.whole(number).ok()?, times)));
        let partial = (counts.partial.iter()).filter_map(|(&(block, number), &times)| {
            Some(((block, self.partial(block, number).ok()?), times))
        });
        Cow::Owned(MethodCounts {
            paths: whole.collect(),
            partial: partial.collect(),
        })
    }

    fn number_of(&self, number: u64, path: &Path) -> Result<u64, RegenerateError> {
        self.to.number_of(path).ok_or(RegenerateError::Inconsistent {
            number,
            block: path.first.index(),
        })
    }
}
