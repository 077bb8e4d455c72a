//! Classes that hold JaCoCo's probes, in the terms of their files.
//!
//! JaCoCo's agent changes classes before Trodden sees them: a profile then speaks of code with blocks that only set a probe,
//! and of branches that are turned round to jump over one. Where the class file is known, the blocks of both are paired, by
//! what JaCoCo keeps: the order of the code, and all of its instructions. Counts then go to the same paths of the file.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use trodden_numbering::{BlockId, EdgeRef, FlowGraph, Path, PathEnd};
use trodden_profile::{
    BlockExit, ClassMap, ClassProfile, Covered, MethodCounts, MethodCovered, MethodMap, MethodShape, Profile,
    ShapeHasher,
};

use super::KnownClass;

/// The method that JaCoCo adds to each class.
const INIT: &str = "$jacocoInit";

/// Instructions of one probe: `aload`, its number, `iconst_1`, `bastore`.
const PROBE: [u64; 4] = [25, 16, 16, 84];
/// The two ways to fetch the array of probes, at the beginning of a method: a call, or a constant.
const FETCH: [&[u64]; 2] = [&[184, 58], &[18, 192, 58]];
const GOTO: u64 = 167;

/// Wrong guesses about which block is JaCoCo's, after which a method is given up.
const MAX_GUESSES: usize = 10_000;

/// Returns true if JaCoCo's agent has put probes into a class.
pub fn holds_probes(class: &ClassMap) -> bool {
    class.methods.iter().any(|method| method.name == INIT)
}

/// The profile with the counts of classes that hold JaCoCo's probes moved to the classes of the files, where these are known
/// and all methods can be paired.
pub fn in_terms_of_files<'p>(profile: &'p Profile, known: &[KnownClass]) -> Cow<'p, Profile> {
    let mut files: HashMap<&str, Vec<&KnownClass>> = HashMap::new();
    for class in known {
        files.entry(&class.map.name).or_default().push(class);
    }
    let mut moved: BTreeMap<u32, Moved> = BTreeMap::new();
    for (position, class) in (0..).zip(&profile.classes) {
        let candidates = files.get(class.map.name.as_str()).map_or(&[][..], Vec::as_slice);
        let is_file = candidates.iter().any(|of| of.map.sha256 == class.map.sha256);
        if !holds_probes(&class.map) || is_file {
            continue;
        }
        let covered = profile.coverage.as_ref();
        if let Some(of) = candidates
            .iter()
            .find_map(|of| move_class(position, class, covered, &of.map))
        {
            moved.insert(position, of);
        }
    }
    if moved.is_empty() {
        return Cow::Borrowed(profile);
    }
    let mut profile = profile.clone();
    // Forests speak of blocks that are no more; conditions are the files'.
    profile.kpaths = None;
    profile
        .conditions
        .retain(|(class, _), _| !moved.contains_key(class));
    for (position, of) in moved {
        profile.classes[position as usize] = of.class;
        if let Some(covered) = &mut profile.coverage {
            covered.methods.extend(of.covered);
        }
    }
    Cow::Owned(profile)
}

/// A class in the terms of its file.
struct Moved {
    class: ClassProfile,
    covered: BTreeMap<(u32, u32), MethodCovered>,
}

fn move_class(
    position: u32,
    class: &ClassProfile,
    covered: Option<&Covered>,
    file: &ClassMap,
) -> Option<Moved> {
    let mut methods = Vec::with_capacity(class.map.methods.len());
    let mut counts = Vec::with_capacity(class.counts.len());
    let mut moved = BTreeMap::new();
    for (index, (method, ran)) in class.map.methods.iter().zip(&class.counts).enumerate() {
        let of_file = file
            .methods
            .iter()
            .find(|of| of.name == method.name && of.descriptor == method.descriptor);
        let Some(of_file) = of_file else {
            // JaCoCo's own, which keep their places.
            methods.push(method.clone());
            counts.push(ran.clone());
            continue;
        };
        let pairing = Pairing::new(method, of_file)?;
        counts.push(pairing.counts(ran)?);
        let place = (position, index as u32);
        if let Some(marks) = covered.and_then(|covered| covered.methods.get(&place)) {
            moved.insert(place, pairing.marks(marks)?);
        }
        methods.push(of_file.clone());
    }
    let map = ClassMap {
        methods,
        ..file.clone()
    };
    Some(Moved {
        class: ClassProfile {
            map: Arc::new(map),
            counts,
        },
        covered: moved,
    })
}

/// A method with probes, and the same without.
struct Pairing<'m> {
    changed: &'m MethodMap,
    file: &'m MethodMap,
    /// Per block of the changed code the file's; none of those that JaCoCo added.
    of_file: Vec<Option<usize>>,
    /// Per block of the file the changed code's.
    in_changed: Vec<usize>,
}

/// Blocks that JaCoCo adds, by their hashes.
struct Added {
    probe: u32,
    probe_and_jump: u32,
    at_entry: [u32; 4],
}

impl Added {
    fn new() -> Self {
        let hash = |parts: &[&[u64]]| {
            let mut hasher = ShapeHasher::default();
            parts
                .iter()
                .copied()
                .flatten()
                .for_each(|&opcode| hasher.add(opcode));
            hasher.finish() as u32
        };
        let [call, constant] = FETCH;
        Added {
            probe: hash(&[&PROBE]),
            probe_and_jump: hash(&[&PROBE, &[GOTO]]),
            at_entry: [
                hash(&[call]),
                hash(&[constant]),
                hash(&[call, &PROBE]),
                hash(&[constant, &PROBE]),
            ],
        }
    }

    fn has(&self, shape: &MethodShape, map: &MethodMap, block: usize) -> bool {
        let opcodes = shape.blocks[block].opcodes;
        match map.blocks[block].exit {
            BlockExit::Goto => opcodes == self.probe_and_jump,
            BlockExit::FallThrough => {
                opcodes == self.probe || (block == 0 && self.at_entry.contains(&opcodes))
            }
            _ => false,
        }
    }
}

impl<'m> Pairing<'m> {
    /// Pairs all blocks, if what JaCoCo does explains each difference.
    fn new(changed: &'m MethodMap, file: &'m MethodMap) -> Option<Self> {
        let (with, without) = (changed.shape.as_ref()?, file.shape.as_ref()?);
        if with.blocks.len() != changed.blocks.len() || without.blocks.len() != file.blocks.len() {
            return None;
        }
        let added = Added::new();
        let fits = |at: usize, of: usize| {
            let (changed, file) = (&changed.blocks[at], &file.blocks[of]);
            let (with, without) = (&with.blocks[at], &without.blocks[of]);
            let more = with.instructions.checked_sub(without.instructions);
            let at_entry = FETCH.iter().any(|fetch| {
                at == 0 && more.is_some_and(|more| more as usize % PROBE.len() == fetch.len() % PROBE.len())
            });
            let calls = with.calls.checked_sub(without.calls);
            changed.exit == file.exit
                && (at_entry || more.is_some_and(|more| (more as usize).is_multiple_of(PROBE.len())))
                && (calls == Some(0) || at == 0 && calls == Some(1))
                && with.allocations == without.allocations
        };
        let mut of_file: Vec<Option<usize>> = Vec::with_capacity(changed.blocks.len());
        let mut next = 0;
        // Blocks that were taken for the file's, and could be JaCoCo's.
        let mut guesses: Vec<usize> = Vec::new();
        for _ in 0..=MAX_GUESSES {
            let mut stuck = false;
            while !stuck && of_file.len() < changed.blocks.len() {
                let at = of_file.len();
                let is_file = next < file.blocks.len() && fits(at, next);
                let is_added = added.has(with, changed, at);
                if is_file {
                    if is_added {
                        guesses.push(at);
                    }
                    of_file.push(Some(next));
                    next += 1;
                } else if is_added {
                    of_file.push(None);
                } else {
                    stuck = true;
                }
            }
            if !stuck && next == file.blocks.len() {
                let pairing = Pairing {
                    changed,
                    file,
                    in_changed: (0..of_file.len()).filter(|&at| of_file[at].is_some()).collect(),
                    of_file: of_file.clone(),
                };
                if pairing.holds() {
                    return Some(pairing);
                }
            }
            // The last guess was wrong.
            let at = guesses.pop()?;
            next = of_file[at]?;
            of_file.truncate(at);
            of_file.push(None);
        }
        None
    }

    fn successors(map: &MethodMap, block: usize) -> &[BlockId] {
        map.graph.successors(BlockId::new(block))
    }

    /// The file's block that control reaches at a block of the changed code, perhaps through blocks of JaCoCo's.
    fn through(&self, block: BlockId) -> Option<usize> {
        let mut at = block.index();
        for _ in 0..self.of_file.len() {
            match (self.of_file.get(at)?, Self::successors(self.changed, at)) {
                (Some(of), _) => return Some(*of),
                (None, &[to]) => at = to.index(),
                (None, _) => return None,
            }
        }
        None
    }

    /// Is the branch at the end of this block of the changed code turned round? Then it jumps over a probe, behind which is a
    /// jump to where the file's branch jumps.
    fn is_turned(&self, block: usize) -> bool {
        self.changed.blocks[block].exit == BlockExit::Branch
            && Self::successors(self.changed, block).get(1).is_some_and(|to| {
                self.of_file[to.index()].is_none() && self.changed.blocks[to.index()].exit == BlockExit::Goto
            })
    }

    /// Position of an out-edge of the file, in the changed code.
    fn way(&self, block: usize, index: usize) -> usize {
        if self.is_turned(block) { 1 - index } else { index }
    }

    /// Do all edges, switches and handlers lead to the same places?
    fn holds(&self) -> bool {
        let edges = |of: usize, at: usize| {
            let (to, from) = (
                Self::successors(self.file, of),
                Self::successors(self.changed, at),
            );
            let (block, changed) = (&self.file.blocks[of], &self.changed.blocks[at]);
            to.len() == from.len()
                && (block.exit != BlockExit::Switch || block.labels == changed.labels)
                && (0..to.len())
                    .all(|index| self.through(from[self.way(at, index)]) == Some(to[index].index()))
        };
        let handlers = |map: &MethodMap, of: &dyn Fn(BlockId) -> Option<usize>| {
            let mut all: Vec<Option<usize>> =
                map.graph.extra_starts().iter().map(|&start| of(start)).collect();
            all.sort_unstable();
            all
        };
        let mut pairs = self.in_changed.iter().copied().enumerate();
        pairs.all(|(of, at)| edges(of, at))
            && self.through(self.changed.graph.entry()) == Some(self.file.graph.entry().index())
            && handlers(self.changed, &|start| self.through(start))
                == handlers(self.file, &|start| Some(start.index()))
    }

    /// An out-edge in the file; none of JaCoCo's blocks, whose edges are part of those that lead there.
    fn edge(&self, edge: EdgeRef) -> Option<EdgeRef> {
        let at = edge.from.index();
        self.of_file[at].map(|of| EdgeRef {
            from: BlockId::new(of),
            // Turning round a second time is the way back.
            index: self.way(at, edge.index as usize) as u32,
        })
    }

    /// A path of the changed code in the file, with its number there.
    fn path(&self, path: &Path) -> Option<(u64, Path)> {
        let block = |at: BlockId| self.through(at).map(BlockId::new);
        let moved = Path {
            start: path.start,
            first: block(path.first)?,
            edges: path.edges.iter().filter_map(|&edge| self.edge(edge)).collect(),
            end: match path.end {
                PathEnd::Exit(at) => PathEnd::Exit(block(at)?),
                PathEnd::At(at, cause) => PathEnd::At(block(at)?, cause),
                PathEnd::Stopped(at) => PathEnd::Stopped(block(at)?),
            },
        };
        let number = self.file.number_of(&moved)?;
        let stopped = match moved.end {
            PathEnd::Stopped(at) => Some(at),
            PathEnd::Exit(_) | PathEnd::At(..) => None,
        };
        (self.file.path(number, stopped).ok()? == moved).then_some((number, moved))
    }

    fn counts(&self, counts: &MethodCounts) -> Option<MethodCounts> {
        let mut moved = MethodCounts::default();
        for executed in self.changed.executed(counts) {
            let executed = executed.ok()?;
            let (number, path) = self.path(&executed.path)?;
            let count = match path.end {
                PathEnd::Stopped(at) => moved.partial.entry((at.index() as u32, number)).or_default(),
                _ => moved.paths.entry(number).or_default(),
            };
            *count = count.saturating_add(executed.times);
        }
        Some(moved)
    }

    fn marks(&self, marks: &MethodCovered) -> Option<MethodCovered> {
        let changed = marks.edge_profile(self.changed);
        let mut moved = MethodCovered::default();
        for (of, &at) in self.in_changed.iter().enumerate() {
            moved.blocks.push(changed.blocks[at] > 0);
            let ways = Self::successors(self.file, of).len();
            if ways > 1 {
                let went = |index: usize| changed.edges.get(at)?.get(self.way(at, index)).copied();
                for index in 0..ways {
                    moved.ways.push(went(index)? > 0);
                }
            }
        }
        Some(moved)
    }
}
