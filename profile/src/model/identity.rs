//! Names that are the same everywhere: keys of flow graphs, paths, edges, sequences of paths and contexts.
//!
//! A path's number is its sum of edge values, which another numbering (guided by a profile, say) gives to another path. A
//! key is a hash of what the path *is*: blocks and edges by their ordinals. So two JVMs, with any JDK, probes and numbering,
//! give the same keys for the same class bytes; and where a method's flow graph has not changed between two builds, its
//! keys have not either.
//!
//! Each key is the first 64 bits of the SHA-256 of a text, which `docs/keys.md` has: they can be made
//! without Trodden. The texts never change; another one would get another number in its first line.

use std::fmt::{self, Display};

use sha2::{Digest, Sha256};
use trodden_numbering::{BlockId, EdgeRef, EndCause, FlowGraph, Path, PathEnd, StartKind};

use crate::model::map::MethodMap;

/// Such a name. Written as 16 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(pub u64);

impl Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl Key {
    fn of(text: &str) -> Key {
        let hash = Sha256::digest(text.as_bytes());
        let (first, _) = hash.split_first_chunk().unwrap_or((&[0; 8], &[]));
        Key(u64::from_be_bytes(*first))
    }

    /// Key of paths, by their keys, that one activation took one after another (a k-iteration path).
    pub fn of_sequence(paths: &[Key]) -> Key {
        Key::of(&format!("trodden sequence 1\n{}\n", list(paths)))
    }

    /// Key of a calling context: a method (internal name of the class, name, descriptor) that is called from a context, at
    /// a bytecode index of its method, on a path that led there; each if known.
    pub fn of_context(
        caller: Option<Key>,
        method: (&str, &str, &str),
        site: Option<u16>,
        along: Option<Key>,
    ) -> Key {
        let or_none = |it: Option<String>| it.unwrap_or_else(|| "-".to_owned());
        let (class, name, descriptor) = method;
        Key::of(&format!(
            "trodden context 1\n{}\n{class}\n{name}\n{descriptor}\n{}\n{}\n",
            or_none(caller.map(|key| key.to_string())),
            or_none(site.map(|bci| bci.to_string())),
            or_none(along.map(|key| key.to_string())),
        ))
    }
}

impl MethodMap {
    /// The key of the flow graph: number of blocks, their successors in order, exception handlers. Code in the blocks,
    /// names and bytecode indices are not in it.
    pub fn graph_key(&self) -> Key {
        let graph = &self.graph;
        let blocks = |blocks: &[BlockId]| list(blocks.iter().map(|block| block.index())) + "\n";
        let mut text = format!("trodden graph 1\n{}\n", graph.num_blocks());
        for block in (0..graph.num_blocks()).map(BlockId::new) {
            text += &blocks(graph.successors(block));
        }
        let mut handlers = graph.extra_starts().to_vec();
        handlers.sort_unstable();
        text += &blocks(&handlers);
        Key::of(&text)
    }
}

/// The key of a path of a flow graph, whole or up to where it [stopped](PathEnd::Stopped). Paths that begin or end
/// elsewhere, as under another limit of paths, are others.
pub fn path_key(graph: Key, path: &Path) -> Key {
    let start = match path.start {
        StartKind::Entry => "entry",
        StartKind::Header => "header",
        StartKind::Handler => "handler",
        StartKind::Cut => "cut",
    };
    let (end, block) = match path.end {
        PathEnd::Exit(block) => ("exit", block),
        PathEnd::At(block, EndCause::Header) => ("header", block),
        PathEnd::At(block, EndCause::Cut) => ("cut", block),
        PathEnd::Stopped(block) => ("stopped", block),
    };
    Key::of(&format!(
        "trodden path 1\n{graph}\n{start} {}\n{}\n{end} {}\n",
        path.first.index(),
        list(path.edges.iter().map(|&edge| edge_text(edge))),
        block.index()
    ))
}

/// The key of an edge of a flow graph.
pub fn edge_key(graph: Key, edge: EdgeRef) -> Key {
    Key::of(&format!("trodden edge 1\n{graph}\n{}\n", edge_text(edge)))
}

/// With blanks between them.
fn list<T: Display>(elements: impl IntoIterator<Item = T>) -> String {
    let elements: Vec<String> = elements.into_iter().map(|element| element.to_string()).collect();
    elements.join(" ")
}

/// The block that it leaves, and which of its edges it is.
fn edge_text(edge: EdgeRef) -> String {
    format!("{}/{}", edge.from.index(), edge.index)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By `sha256sum`, of the texts as the documentation has them: they never change.
    #[test]
    fn keys_are_those_of_their_texts() {
        let edge = |from, index| EdgeRef {
            from: BlockId::new(from),
            index,
        };
        let path = |start, edges: &[EdgeRef], end| {
            let path = Path {
                start,
                first: BlockId::new(2),
                edges: edges.to_vec(),
                end,
            };
            path_key(Key(1), &path).to_string()
        };
        let stopped = PathEnd::Stopped(BlockId::new(4));
        let prefix = path(StartKind::Header, &[edge(2, 0), edge(3, 1)], stopped);
        assert_eq!(prefix, "280d590d0f1f2a0c");
        let cut = PathEnd::At(BlockId::new(2), EndCause::Cut);
        assert_eq!(path(StartKind::Handler, &[], cut), "9469066b8b93fb6c");
        assert_eq!(edge_key(Key(1), edge(3, 1)).to_string(), "767f78a996f758b8");
        let sequence = Key::of_sequence(&[Key(1), Key(0xff)]);
        assert_eq!(sequence.to_string(), "157ae376d4920a42");
        let run = ("a/B", "run", "()V");
        let first = Key::of_context(None, run, None, None);
        assert_eq!(first.to_string(), "dbd7f8d0c73805cf");
        let called = Key::of_context(Some(Key(1)), run, Some(17), Some(Key(2)));
        assert_eq!(called.to_string(), "b9c1e5fbe08d32a2");
    }
}
