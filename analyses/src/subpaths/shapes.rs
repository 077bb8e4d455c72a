//! From path numbers to blocks.

use std::sync::{Arc, Mutex, PoisonError, RwLock};

use rustc_hash::FxHashMap;
use trodden_numbering::{Path, StartKind};

use crate::MethodLookup;

/// How long a path is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shape {
    /// Blocks; 0 for a path that ends on arrival at a loop's header.
    pub blocks: u32,
    /// True if it begins in a loop's header.
    pub header: bool,
}

/// The properties of paths that a sampler uses.
pub trait PathShapes {
    /// The shape of a path; `None` if there is no such path.
    fn shape(&self, method: u32, path: u32) -> Option<Shape>;

    /// Appends at most this number of the path's blocks, from number `from` on.
    fn blocks(&self, method: u32, path: u32, from: u32, count: u32, out: &mut Vec<u32>);

    /// How many blocks of the running path were entered, that of the call included, when a call at this
    /// bytecode index is made and the path register holds `register`.
    fn entered(&self, method: u32, register: u32, call_site: u16) -> Option<u32>;
}

/// Most paths whose blocks are kept.
const BLOCKS_KEPT: usize = 4096;

/// Shapes from path maps. Shared by all threads of a run: a path is regenerated once, by the thread that
/// comes first.
pub struct MethodShapes {
    methods: Arc<dyn MethodLookup + Send + Sync>,
    shapes: RwLock<FxHashMap<u64, Shape>>,
    blocks: Mutex<FxHashMap<u64, Arc<[u32]>>>,
}

impl MethodShapes {
    /// Shapes of these methods. Methods may be added to it any time.
    pub fn new(methods: Arc<dyn MethodLookup + Send + Sync>) -> Self {
        MethodShapes {
            methods,
            shapes: RwLock::default(),
            blocks: Mutex::default(),
        }
    }

    /// Bytes that known shapes take, for all threads together.
    pub fn bytes(&self) -> usize {
        let shapes = self.shapes.read().unwrap_or_else(PoisonError::into_inner);
        shapes.capacity() * (size_of::<(u64, Shape)>() + 1)
    }

    fn regenerate(&self, method: u32, path: u32) -> Option<Arc<[u32]>> {
        let key = key(method, path);
        let mut known = self.blocks.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(blocks) = known.get(&key) {
            return Some(Arc::clone(blocks));
        }
        let blocks: Arc<[u32]> = self.path(method, path)?.1.into();
        if known.len() >= BLOCKS_KEPT {
            known.clear();
        }
        known.insert(key, Arc::clone(&blocks));
        Some(blocks)
    }

    fn path(&self, method: u32, path: u32) -> Option<(Path, Vec<u32>)> {
        let method = self.methods.method(method)?;
        let map = method.map();
        let path = map.dag.regenerate(&map.graph, u64::from(path)).ok()?;
        let blocks = path.blocks(&map.graph).iter().map(|b| b.index() as u32).collect();
        Some((path, blocks))
    }
}

fn key(method: u32, path: u32) -> u64 {
    u64::from(method) << 32 | u64::from(path)
}

impl PathShapes for MethodShapes {
    fn shape(&self, method: u32, path: u32) -> Option<Shape> {
        let key = key(method, path);
        {
            let known = self.shapes.read().unwrap_or_else(PoisonError::into_inner);
            if let Some(&shape) = known.get(&key) {
                return Some(shape);
            }
        }
        let (path, blocks) = self.path(method, path)?;
        let shape = Shape {
            blocks: blocks.len() as u32,
            header: path.start == StartKind::Header && !blocks.is_empty(),
        };
        let mut known = self.shapes.write().unwrap_or_else(PoisonError::into_inner);
        known.insert(key, shape);
        Some(shape)
    }

    fn blocks(&self, method: u32, path: u32, from: u32, count: u32, out: &mut Vec<u32>) {
        if let Some(blocks) = self.regenerate(method, path) {
            let begin = (from as usize).min(blocks.len());
            let end = begin.saturating_add(count as usize).min(blocks.len());
            out.extend_from_slice(&blocks[begin..end]);
        }
    }

    fn entered(&self, method: u32, register: u32, call_site: u16) -> Option<u32> {
        let method = self.methods.method(method)?;
        let map = method.map();
        let block = map.block_at(u32::from(call_site))?;
        let prefix = map
            .dag
            .regenerate_partial(&map.graph, u64::from(register), block)
            .ok()?;
        Some(prefix.edges.len() as u32 + 1)
    }
}

/// A thread's own memory of shapes: small, and without locks. Two paths that fall on the same place push each
/// other out.
#[derive(Clone, Debug, Default)]
pub(super) struct ShapeCache {
    /// Path and shape; a power of two of them.
    slots: Vec<(u64, Shape)>,
    misses: u32,
}

impl ShapeCache {
    /// A thread that does little needs little.
    const LEAST: usize = 16;
    const MOST: usize = 512;

    #[inline]
    pub fn shape(&mut self, shapes: &impl PathShapes, method: u32, path: u32) -> Option<Shape> {
        let key = key(method, path);
        let at = Self::place(key, self.slots.len());
        if let Some(&(known, shape)) = self.slots.get(at)
            && known == key
        {
            return Some(shape);
        }
        self.miss(shapes, method, path)
    }

    /// Multiplicative hashing: the upper bits are the good ones.
    fn place(key: u64, slots: usize) -> usize {
        (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48) as usize & slots.wrapping_sub(1)
    }

    #[cold]
    fn miss(&mut self, shapes: &impl PathShapes, method: u32, path: u32) -> Option<Shape> {
        let shape = shapes.shape(method, path)?;
        self.misses += 1;
        let slots = self.slots.len();
        if slots < Self::MOST && self.misses as usize >= slots {
            self.misses = 0;
            let grown = (4 * slots).clamp(Self::LEAST, Self::MOST);
            let before = std::mem::replace(&mut self.slots, vec![(u64::MAX, Shape::default()); grown]);
            for (key, shape) in before {
                self.slots[Self::place(key, grown)] = (key, shape);
            }
        }
        let at = Self::place(key(method, path), self.slots.len());
        self.slots[at] = (key(method, path), shape);
        Some(shape)
    }

    pub fn bytes(&self) -> usize {
        self.slots.capacity() * size_of::<(u64, Shape)>()
    }
}
