//! Keys of classes that were met: many JVMs have the same ones, and hashing is expensive.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use rustc_hash::FxHashMap;
use trodden_numbering::{BlockId, EdgeRef, Path};
use trodden_profile::{BlockExit, ClassMap, Key, MethodMap, edge_key, path_key};

use super::signatures::{Signature, Signatures};

/// Number of a path of a method; with the block where it stopped, if it was cut short.
pub(crate) type Number = (u64, Option<u32>);

/// Keys of classes, by their bytes' hash, and by path map: another one numbers paths differently.
#[derive(Debug, Default)]
pub(crate) struct Classes {
    pub signatures: Signatures,
    known: Mutex<FxHashMap<[u8; 32], Vec<Arc<Class>>>>,
    next: AtomicU64,
    weight: AtomicUsize,
}

/// A class.
#[derive(Debug)]
pub(crate) struct Class {
    /// Its number, which no other class of these has.
    pub id: u64,
    pub map: Arc<ClassMap>,
    /// Parallel to the map's.
    pub methods: Vec<Method>,
}

/// A method.
#[derive(Debug)]
pub(crate) struct Method {
    pub signature: Signature,
    pub graph: Key,
    /// Ways out of branches and switches.
    pub ways: Vec<Way>,
    /// Per block, the position of its first way; none if it decides nothing.
    first_way: Vec<Option<u32>>,
    /// None: the number names no path.
    paths: RwLock<FxHashMap<Number, Option<Arc<PathInfo>>>>,
}

/// A way out of a branch or switch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Way {
    pub edge: EdgeRef,
    pub key: Key,
}

/// A path.
#[derive(Debug)]
pub(crate) struct PathInfo {
    pub key: Key,
    /// Positions of the ways that it takes.
    pub ways: Box<[u32]>,
}

impl Classes {
    /// The keys of a class with this path map.
    pub fn of(&self, map: &Arc<ClassMap>) -> Arc<Class> {
        let find = |list: &[Arc<Class>]| list.iter().find(|class| class.map == *map).cloned();
        let lock = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        // The comparison is long: others need not wait for it.
        let candidates = lock().get(&map.sha256).cloned().unwrap_or_default();
        if let Some(class) = find(&candidates) {
            return class;
        }
        let class = Arc::new(Class {
            id: self.next.fetch_add(1, Ordering::Relaxed),
            map: Arc::clone(map),
            methods: map
                .methods
                .iter()
                .map(|method| self.method(&map.name, method))
                .collect(),
        });
        let mut known = lock();
        let list = known.entry(map.sha256).or_default();
        if let Some(class) = find(&list[candidates.len().min(list.len())..]) {
            return class;
        }
        let blocks: usize = map.methods.iter().map(|method| method.blocks.len() + 8).sum();
        self.weight.fetch_add(blocks * 200, Ordering::Relaxed);
        list.push(Arc::clone(&class));
        class
    }

    fn method(&self, class: &str, map: &MethodMap) -> Method {
        let graph = map.graph_key();
        let mut ways = Vec::new();
        let mut first_way = vec![None; map.blocks.len()];
        for (index, block) in map.blocks.iter().enumerate() {
            if matches!(block.exit, BlockExit::Branch | BlockExit::Switch) {
                first_way[index] = Some(ways.len() as u32);
                ways.extend((0..block.labels.len() as u32).map(|way| {
                    let edge = EdgeRef {
                        from: BlockId::new(index),
                        index: way,
                    };
                    let key = edge_key(graph, edge);
                    Way { edge, key }
                }));
            }
        }
        Method {
            signature: self.signatures.number(class, &map.name, &map.descriptor),
            graph,
            ways,
            first_way,
            paths: RwLock::default(),
        }
    }

    /// The path of a number of a method; none if it names no path.
    pub fn path(&self, class: &Class, method: usize, number: Number) -> Option<Arc<PathInfo>> {
        let of = &class.methods[method];
        let known = of
            .paths
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .get(&number)
            .cloned();
        if let Some(known) = known {
            return known;
        }
        let path = regenerate(&class.map.methods[method], number);
        let info = path.map(|path| {
            let way = |edge: &EdgeRef| Some((*of.first_way.get(edge.from.index())?)? + edge.index);
            Arc::new(PathInfo {
                key: path_key(of.graph, &path),
                ways: path.edges.iter().filter_map(way).collect(),
            })
        });
        let weight = 120 + info.as_ref().map_or(0, |info| info.ways.len() * 4);
        self.weight.fetch_add(weight, Ordering::Relaxed);
        let mut paths = of.paths.write().unwrap_or_else(PoisonError::into_inner);
        paths.insert(number, info.clone());
        info
    }

    /// About how many bytes all this takes.
    pub fn weight(&self) -> usize {
        self.weight.load(Ordering::Relaxed) + self.signatures.len() * 200
    }
}

/// The path of a number; none if it names none.
pub(crate) fn regenerate(map: &MethodMap, (number, stopped): Number) -> Option<Path> {
    let path = match stopped {
        None => map.dag.regenerate(&map.graph, number),
        Some(block) => {
            let block = ((block as usize) < map.blocks.len()).then(|| BlockId::new(block as usize))?;
            map.dag.regenerate_partial(&map.graph, number, block)
        }
    };
    path.ok()
}
