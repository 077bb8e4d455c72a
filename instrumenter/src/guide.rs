//! A former profile as a guide to numbering: profile-guided probes (PEP section 3.4).
//!
//! *In*: a profile with path counts. *Out*: per method the frequencies of its edges, for methods whose code
//! still has the very same control flow. They decide which edges carry no register update, nothing else: a
//! guide that is wrong costs speed, never a count.

use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};

use rustc_hash::{FxHashMap, FxHasher};
use trodden_numbering::{EdgeWeights, FlowGraph, SimpleGraph};
use trodden_profile::{BlockInfo, EdgeProfile, LoadError, MethodCounts, MethodMap, Profile};

/// Why a file is no guide.
#[derive(Debug, thiserror::Error)]
pub enum GuideError {
    /// It is no profile that can be read.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// It has no counts of paths.
    #[error("{} holds no counts of paths (those of profile=paths do)", .0.display())]
    Empty(PathBuf),
}

/// Edge frequencies of a former run, by method.
#[derive(Clone, Debug, Default)]
pub struct Guide {
    /// Class, then method name and descriptor; then one for each control flow that was seen under these
    /// names.
    classes: FxHashMap<String, FxHashMap<(String, String), Vec<Known>>>,
    methods: usize,
    fingerprint: u64,
}

/// One method of the profile.
#[derive(Clone, Debug)]
struct Known {
    blocks: Vec<BlockInfo>,
    graph: SimpleGraph,
    weights: EdgeWeights,
}

impl Guide {
    /// The guide that a profile's file gives.
    ///
    /// # Errors
    /// If it cannot be read, or holds no counts of paths; the error names the file.
    pub fn load(file: &Path) -> Result<Self, GuideError> {
        let guide = Guide::new(&Profile::load(file)?);
        match guide.methods {
            0 => Err(GuideError::Empty(file.to_owned())),
            _ => Ok(guide),
        }
    }

    /// The guide that a profile gives. Methods without a count are not in it, neither are blocks about which
    /// the profile is silent: those of paths that its probes did not report ([`MethodMap::unobserved`]).
    pub fn new(profile: &Profile) -> Self {
        let mut guide = Guide::default();
        let mut hasher = FxHasher::default();
        for class in &profile.classes {
            for (map, counts) in class.map.methods.iter().zip(&class.counts) {
                if let Some(frequencies) = frequencies(map, counts) {
                    (&class.map.sha256, &map.name, &map.descriptor).hash(&mut hasher);
                    let bits = frequencies.iter().flatten().map(|f| f.to_bits());
                    bits.for_each(|bits| bits.hash(&mut hasher));
                    guide.add(&class.map.name, map, frequencies);
                }
            }
        }
        guide.fingerprint = hasher.finish();
        guide
    }

    /// Methods for which there are frequencies.
    pub fn methods(&self) -> usize {
        self.methods
    }

    /// A number that differs, most probably, between guides that differ; the same in every process.
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    fn add(&mut self, class: &str, map: &MethodMap, frequencies: Vec<Vec<f64>>) {
        let methods = self.classes.entry(class.to_owned()).or_default();
        let known = methods
            .entry((map.name.clone(), map.descriptor.clone()))
            .or_default();
        // Several loaders may have loaded the class.
        let same = known
            .iter_mut()
            .find(|k| k.blocks == map.blocks && k.graph == map.graph);
        let weights = EdgeWeights::from_parts(frequencies);
        if let Some(same) = same {
            for (edge, _) in map.graph.edges() {
                same.weights.set(edge, same.weights.get(edge) + weights.get(edge));
            }
            return;
        }
        self.methods += 1;
        known.push(Known {
            blocks: map.blocks.clone(),
            graph: map.graph.clone(),
            weights,
        });
    }

    /// The frequencies of a method's edges, if the method is known and its control flow is unchanged.
    pub(crate) fn weights(
        &self,
        class: &str,
        name: &str,
        descriptor: &str,
        blocks: &[BlockInfo],
        graph: &SimpleGraph,
    ) -> Option<&EdgeWeights> {
        let known = self
            .classes
            .get(class)?
            .get(&(name.to_owned(), descriptor.to_owned()))?;
        let known = known.iter().find(|k| k.blocks == blocks && k.graph == *graph)?;
        Some(&known.weights)
    }
}

/// Per block and out-edge: how often it was followed. `None` if nothing was counted.
fn frequencies(map: &MethodMap, counts: &MethodCounts) -> Option<Vec<Vec<f64>>> {
    if counts.paths.is_empty() && counts.partial.is_empty() {
        return None;
    }
    let mut frequencies = EdgeProfile::of(map, counts).frequencies();
    for &number in &map.unobserved {
        let Ok(path) = map.dag.regenerate(&map.graph, number) else {
            continue;
        };
        for edge in path.edges {
            frequencies[edge.from.index()].fill(0.0);
        }
    }
    let any = frequencies.iter().flatten().any(|&times| times > 0.0);
    (any && map.graph.num_blocks() > 1).then_some(frequencies)
}
