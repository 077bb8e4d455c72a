//! The same path under another numbering of the same method.
//!
//! Smart numbering (PEP section 3.4) gives values by edge weights, and weights can come from an earlier profile: so
//! two runs over the same class bytes may number the same paths differently. As long as blocks, path starts and path
//! ends agree, the paths are the same ones, and each has exactly one number in either map.

use trodden_numbering::{BlockId, EdgeRef, Path, RegenerateError, StartKind};

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

/// Number of a path of a map with the [`same_paths`].
pub(crate) fn number_in(map: &MethodMap, path: &Path) -> Option<u64> {
    let start = map
        .dag
        .starts()
        .iter()
        .find(|s| s.kind == path.start && s.block == path.first)?;
    let value = |number: u64, edge: &EdgeRef| number.checked_add(map.dag.value(*edge));
    path.edges.iter().try_fold(start.value, value)
}

/// Translates the number of a full path from one map to another with the [`same_paths`].
pub(crate) fn translate(from: &MethodMap, to: &MethodMap, number: u64) -> Result<u64, RegenerateError> {
    let path = from.dag.regenerate(&from.graph, number)?;
    number_in(to, &path).ok_or_else(|| lost(&path, number))
}

/// Translates the number of a partial path.
pub(crate) fn translate_partial(
    from: &MethodMap,
    to: &MethodMap,
    block: u32,
    number: u64,
) -> Result<u64, RegenerateError> {
    let stopped = BlockId::new(block as usize);
    let path = from.dag.regenerate_partial(&from.graph, number, stopped)?;
    number_in(to, &path).ok_or_else(|| lost(&path, number))
}

fn lost(path: &Path, number: u64) -> RegenerateError {
    RegenerateError::Inconsistent {
        number,
        block: path.first.index(),
    }
}
