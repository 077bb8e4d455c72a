//! The paths of requests as counts of outcomes and of whole paths: what may tell slow requests from others.

use rustc_hash::FxHashMap;
use trodden_numbering::{BlockId, EdgeRef, PathEnd};
use trodden_profile::{MethodCounts, MethodMap, Profile};

use crate::decisions::Decisions;
use crate::view::damage;

/// A thing that requests may do, once or more often.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Feature {
    /// Position of the class in the profile.
    pub class: u32,
    /// Position of the method in the class.
    pub method: u32,
    /// The thing.
    pub what: What,
}

/// A thing in a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum What {
    /// An outcome of a branch or switch.
    Outcome(EdgeRef),
    /// A path with several decisions; where it was cut off, if it was.
    Path(u64, Option<BlockId>),
}

/// All features of the vectors of a profile's requests.
#[derive(Default)]
pub struct Features {
    /// In the order in which they were met.
    pub list: Vec<Feature>,
    /// Per vector: features with their counts, ascending.
    pub rows: Vec<Vec<(u32, u64)>>,
    numbers: FxHashMap<Feature, u32>,
}

/// A path of a method, by its number and where it was cut off.
type PathAt = (u32, u32, u64, Option<BlockId>);

impl Features {
    /// Decodes each path of the vectors once. Paths that cannot be read, and outcomes whose number the probes do not report,
    /// are left out, as are decisions that the compiler made.
    pub fn new(profile: &Profile) -> Self {
        let mut features = Features::default();
        let vectors = profile.requests.iter().flat_map(|requests| &requests.vectors);
        let mut decoded: FxHashMap<PathAt, Vec<u32>> = FxHashMap::default();
        let mut methods: FxHashMap<(u32, u32), Option<Method>> = FxHashMap::default();
        for vector in vectors {
            let mut row: FxHashMap<u32, u64> = FxHashMap::default();
            for part in vector {
                let place = (part.class, part.method);
                let method = methods
                    .entry(place)
                    .or_insert_with(|| Method::new(profile, place));
                let Some(method) = method else {
                    continue;
                };
                for (number, stopped, times) in counted(&part.counts) {
                    let at = (part.class, part.method, number, stopped);
                    let found = decoded
                        .entry(at)
                        .or_insert_with(|| method.decode(place, number, stopped, &mut features));
                    for &feature in &*found {
                        let sum = row.entry(feature).or_default();
                        *sum = sum.saturating_add(times);
                    }
                }
            }
            let mut row: Vec<(u32, u64)> = row.into_iter().collect();
            row.sort_unstable();
            features.rows.push(row);
        }
        features
    }

    fn number(&mut self, feature: Feature) -> u32 {
        *self.numbers.entry(feature).or_insert_with(|| {
            self.list.push(feature);
            self.list.len() as u32 - 1
        })
    }

    /// The outcomes that were met of the block with this number of ways out.
    pub fn outcomes(&self, of: Feature, block: BlockId, ways: usize) -> impl Iterator<Item = u32> {
        (0..ways as u32).filter_map(move |index| {
            let what = What::Outcome(EdgeRef { from: block, index });
            self.numbers.get(&Feature { what, ..of }).copied()
        })
    }
}

fn counted(counts: &MethodCounts) -> impl Iterator<Item = (u64, Option<BlockId>, u64)> {
    let whole = counts.paths.iter().map(|(&number, &times)| (number, None, times));
    let partial = counts
        .partial
        .iter()
        .map(|(&(block, number), &times)| (number, Some(BlockId::new(block as usize)), times));
    whole.chain(partial).filter(|&(.., times)| times > 0)
}

/// A method whose paths are decoded.
struct Method<'p> {
    map: &'p MethodMap,
    decisions: Decisions,
    known_blocks: Vec<bool>,
}

impl<'p> Method<'p> {
    /// `None` if its path map is damaged.
    fn new(profile: &'p Profile, (class, method): (u32, u32)) -> Option<Self> {
        let of = profile.classes.get(class as usize)?;
        let map = of.map.methods.get(method as usize)?;
        if damage(map).is_some() {
            return None;
        }
        let conditions = profile.conditions.get(&(class, method));
        let decisions = conditions.map(|conditions| Decisions::new(map, conditions, None));
        let none = MethodCounts::default();
        Some(Method {
            map,
            decisions: decisions.unwrap_or_default(),
            known_blocks: map.known_blocks(of.counts.get(method as usize).unwrap_or(&none)),
        })
    }

    /// The features of one execution of a path; an outcome is there as often as the path has it.
    fn decode(
        &self,
        (class, method): (u32, u32),
        number: u64,
        stopped: Option<BlockId>,
        features: &mut Features,
    ) -> Vec<u32> {
        let Ok(path) = self.map.path(number, stopped) else {
            return Vec::new();
        };
        let is_own = |edge: &EdgeRef| self.decisions.made(edge.from.index()).is_none();
        let decided: Vec<EdgeRef> = self.map.decided(&path.edges).filter(is_own).collect();
        let mut number_of = |what| features.number(Feature { class, method, what });
        let is_known = |edge: &&EdgeRef| self.map.known_edge(&self.known_blocks, **edge);
        let outcomes = decided.iter().filter(is_known);
        let mut found: Vec<u32> = outcomes.map(|&edge| number_of(What::Outcome(edge))).collect();
        // With fewer decisions, or cut off, it says no more than its outcomes.
        if decided.len() > 1 && !matches!(path.end, PathEnd::Stopped(_)) {
            found.push(number_of(What::Path(number, stopped)));
        }
        found
    }
}
