//! Which path of the one build is which of the other.

use std::collections::BTreeMap;

use trodden_numbering::{BlockId, EdgeRef, Path, PathEnd, StartKind};
use trodden_profile::MethodMap;

use super::pairing::Pair;
use super::side::Side;

/// What a path is called in both builds: how it starts, and its blocks in the second build. A path of the first build
/// through code that is gone has none.
type PathKey = (bool, Vec<usize>, Vec<u32>);

/// A path in both builds.
pub struct PathOfBoth {
    /// In terms of the second build.
    pub path: Path,
    /// Its count.
    pub count: [u64; 2],
    /// Its positions among the paths of either side; prefixes that are alike may have several.
    pub at: [Vec<usize>; 2],
}

/// All paths of a method that can be told in terms of the second build.
pub fn of_both(pair: &Pair, before: &Side, after: &Side) -> Vec<PathOfBoth> {
    let mut translated = vec![None; before.map.num_blocks()];
    for (block, other) in pair.blocks.iter().enumerate() {
        if let Some(other) = other {
            translated[*other] = Some(block);
        }
    }
    let key = |path: &Path, map: &MethodMap, name: &dyn Fn(usize) -> Option<usize>| -> Option<PathKey> {
        let blocks = path
            .blocks(&map.graph)
            .iter()
            .map(|b| name(b.index()))
            .collect::<Option<Vec<_>>>()?;
        let edges = path.edges.iter().map(|e| e.index).collect();
        Some((path.start == StartKind::Entry, blocks, edges))
    };
    let mut all: BTreeMap<PathKey, PathOfBoth> = BTreeMap::new();
    let mut add = |key: PathKey, path: Path, which: usize, at: usize, count: u64| {
        let both = all.entry(key).or_insert_with(|| PathOfBoth {
            path,
            count: [0; 2],
            at: [Vec::new(), Vec::new()],
        });
        both.count[which] = both.count[which].saturating_add(count);
        both.at[which].push(at);
    };
    for (at, (path, count)) in after.paths().enumerate() {
        if let Some(key) = key(&path, after.map, &Some) {
            add(key, path, 1, at, count);
        }
    }
    for (at, (path, count)) in before.paths().enumerate() {
        if let Some(key) = key(&path, before.map, &|b| translated[b])
            && let Some(there) = translate(path, &key.1, &|b| translated[b])
        {
            add(key, there, 0, at, count);
        }
    }
    all.into_values().collect()
}

/// A path of the first build in terms of the second.
fn translate(path: Path, blocks: &[usize], name: &dyn Fn(usize) -> Option<usize>) -> Option<Path> {
    let there = |block: BlockId| name(block.index()).map(BlockId::new);
    let edges = path.edges.iter().zip(blocks);
    Some(Path {
        first: there(path.first)?,
        edges: edges
            .map(|(edge, &from)| EdgeRef {
                from: BlockId::new(from),
                index: edge.index,
            })
            .collect(),
        end: match path.end {
            PathEnd::At(block, cause) => PathEnd::At(there(block)?, cause),
            PathEnd::Exit(block) => PathEnd::Exit(there(block)?),
            PathEnd::Stopped(block) => PathEnd::Stopped(there(block)?),
        },
        start: path.start,
    })
}

/// The route of a path of the second build.
pub fn route(side: &Side, path: &Path) -> String {
    let view = crate::view::PathView::new(side.map, path.clone(), 0, 0);
    crate::route::route(&view, side.map, side.decisions())
}
