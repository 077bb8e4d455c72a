//! The state of the analysis at a point in time, of one thread or of many.

use rustc_hash::FxHashMap;
use trodden_profile::ByGroup;

use super::frame::{Frame, Frames, Key};
use super::tree::{NONE, ROOT};
use super::{Bounds, CallingContextTree, ContextError, Monitor, NodeId, Thresholds, TooManyContexts};

/// Contexts and the bounds of the monitored ones: the paper's MCCT, or the whole tree.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// Parents before children; the first one is the root.
    nodes: Vec<Known>,
    frames: Frames,
    total: u64,
    absent: u64,
    /// `None`: exact.
    thresholds: Option<Thresholds>,
    monitored: usize,
    /// Counts by groups of bursts, if only bursts were counted.
    groups: Option<Grouped>,
    /// (parent, key) to node. Made when something is merged in.
    index: Option<FxHashMap<(u32, u64), u32>>,
}

/// Weights per group of bursts.
#[derive(Clone, Debug, Default)]
struct Grouped {
    all: ByGroup,
    /// By node.
    nodes: FxHashMap<u32, ByGroup>,
}

#[derive(Clone, Copy, Debug)]
struct Known {
    key: Key,
    parent: u32,
    monitored: bool,
    bounds: Bounds,
}

const NOTHING: Bounds = Bounds { lower: 0, upper: 0 };

impl Default for Snapshot {
    /// The snapshot of no thread at all.
    fn default() -> Self {
        Snapshot {
            nodes: vec![Known {
                key: Key(u64::MAX),
                parent: ROOT,
                monitored: false,
                bounds: NOTHING,
            }],
            frames: Frames::default(),
            total: 0,
            absent: 0,
            thresholds: None,
            monitored: 0,
            groups: None,
            index: None,
        }
    }
}

impl Snapshot {
    pub(super) fn new<A: Monitor>(
        tree: &CallingContextTree,
        algorithm: &A,
        frames: &Frames,
        total: u64,
    ) -> Self {
        let mut at = vec![NONE; tree.end()];
        let mut nodes = Vec::with_capacity(tree.len() as usize);
        for node in tree.preorder() {
            at[node as usize] = nodes.len() as u32;
            nodes.push(Known {
                key: tree.key(node),
                parent: match node {
                    ROOT => ROOT,
                    _ => at[tree.up(node).0 as usize],
                },
                monitored: false,
                bounds: NOTHING,
            });
        }
        let mut monitored = 0;
        let counted = algorithm.groups();
        let mut groups = counted.map(|groups| Grouped {
            all: groups.all,
            nodes: FxHashMap::default(),
        });
        algorithm.monitored(tree, &mut |NodeId(node), bounds| {
            let known = &mut nodes[at[node as usize] as usize];
            known.monitored = true;
            known.bounds = bounds;
            monitored += 1;
            if let (Some(groups), Some(counted)) = (&mut groups, counted)
                && let Some(by_group) = counted.get(NodeId(node))
            {
                groups.nodes.insert(at[node as usize], by_group);
            }
        });
        Snapshot {
            nodes,
            frames: frames.clone(),
            total,
            absent: algorithm.absent(),
            thresholds: algorithm.thresholds(),
            monitored,
            groups,
            index: None,
        }
    }

    /// `N`: sum of all weights.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Contexts, monitored or above one that is (or above what runs).
    pub fn contexts(&self) -> usize {
        self.nodes.len() - 1
    }

    /// Monitored contexts.
    pub fn monitored(&self) -> usize {
        self.monitored
    }

    /// No other context has more than this.
    pub fn absent(&self) -> u64 {
        self.absent
    }

    /// The thresholds that the guarantee holds for. `None` if all is exact.
    pub fn thresholds(&self) -> Option<Thresholds> {
        self.thresholds
    }

    /// Adds what is known of another thread. Bounds stay bounds of the sum, and the guarantee holds for the
    /// sum with the larger `phi` and `epsilon` of the two. Contexts that can no longer be hot are dropped
    /// when there are many, so that memory does not grow with the number of threads. Fails if there are too
    /// many contexts; nothing has changed then.
    pub fn merge(&mut self, other: Snapshot) -> Result<(), TooManyContexts> {
        if self.total == 0 && self.absent == 0 && self.contexts() == 0 && self.groups.is_none() {
            // Most programs have one thread that counts, and millions of contexts.
            *self = other;
            return Ok(());
        }
        let both = self.nodes.len() as u64 + other.nodes.len() as u64;
        if both >= u64::from(u32::MAX) {
            return Err(TooManyContexts);
        }
        let index = self.index.get_or_insert_with(|| {
            let nodes = self.nodes.iter().enumerate().skip(1);
            nodes.map(|(at, n)| ((n.parent, n.key.0), at as u32)).collect()
        });
        // A context that only one of them monitors may have had up to `absent` in the other.
        let (absent, theirs) = (self.absent, other.absent);
        if theirs > 0 {
            for known in self.nodes.iter_mut().filter(|known| known.monitored) {
                known.bounds.upper = known.bounds.upper.saturating_add(theirs);
            }
        }
        let mut ours = vec![ROOT; other.nodes.len()];
        for (at, known) in other.nodes.iter().enumerate().skip(1) {
            let parent = ours[known.parent as usize];
            let key = self.frames.key(other.frames.frame(known.key));
            let next = self.nodes.len() as u32;
            let node = *index.entry((parent, key.0)).or_insert(next);
            if node == next {
                self.nodes.push(Known {
                    key,
                    parent,
                    monitored: false,
                    bounds: NOTHING,
                });
            }
            ours[at] = node;
            if let Some(other) = other
                .groups
                .as_ref()
                .and_then(|groups| groups.nodes.get(&(at as u32)))
            {
                let groups = self.groups.get_or_insert_default();
                groups.nodes.entry(node).or_default().plus(other);
            }
            if !known.monitored {
                continue;
            }
            let node = &mut self.nodes[node as usize];
            let Bounds { lower, upper } = known.bounds;
            let before = if node.monitored {
                node.bounds.upper - theirs.min(node.bounds.upper)
            } else {
                absent
            };
            node.bounds.lower = node.bounds.lower.saturating_add(lower);
            node.bounds.upper = before.saturating_add(upper);
            self.monitored += usize::from(!node.monitored);
            node.monitored = true;
        }
        if let Some(other) = &other.groups {
            self.groups.get_or_insert_default().all.plus(&other.all);
        }
        self.total = self.total.saturating_add(other.total);
        self.absent = self.absent.saturating_add(other.absent);
        self.thresholds = match (self.thresholds, other.thresholds) {
            (Some(a), Some(b)) => Some(a.weaker(b)),
            (a, b) => a.or(b),
        };
        if let Some(thresholds) = self.thresholds
            && self.monitored as u64 > 2 * thresholds.width()
        {
            self.trim(thresholds);
        }
        Ok(())
    }

    /// Drops what has had so little that the guarantee allows to forget it, as Lossy Counting does.
    fn trim(&mut self, thresholds: Thresholds) {
        self.absent = self.absent.max(self.total / thresholds.width());
        for (at, known) in (0..).zip(&mut self.nodes) {
            if known.monitored && known.bounds.upper <= self.absent {
                known.monitored = false;
                known.bounds = NOTHING;
                self.monitored -= 1;
                if let Some(groups) = &mut self.groups {
                    groups.nodes.remove(&at);
                }
            }
        }
        let (kept, at) = self.closure(|known| known.monitored);
        self.nodes = kept
            .into_iter()
            .map(|node| {
                let known = self.nodes[node as usize];
                let parent = at[known.parent as usize];
                Known { parent, ..known }
            })
            .collect();
        if let Some(groups) = &mut self.groups {
            let nodes = std::mem::take(&mut groups.nodes).into_iter();
            let nodes = nodes.map(|(node, by_group)| (at[node as usize], by_group));
            groups.nodes = nodes.filter(|&(node, _)| node != NONE).collect();
        }
        self.index = None;
    }

    /// Nodes that are wanted and those above them, the root in any case; and the place of each node among
    /// them.
    fn closure(&self, wanted: impl Fn(&Known) -> bool) -> (Vec<u32>, Vec<u32>) {
        let mut keep: Vec<bool> = self.nodes.iter().map(wanted).collect();
        for (at, known) in self.nodes.iter().enumerate().rev() {
            keep[known.parent as usize] |= keep[at];
        }
        keep[ROOT as usize] = true;
        let mut places = vec![NONE; keep.len()];
        let mut kept = Vec::new();
        for (node, _) in keep.iter().enumerate().filter(|&(_, &keep)| keep) {
            places[node] = kept.len() as u32;
            kept.push(node as u32);
        }
        (kept, places)
    }

    /// All contexts, parents before children ([`node`](Self::node)).
    pub fn nodes(&self) -> impl ExactSizeIterator<Item = (Frame, Option<u32>, Option<Bounds>)> + '_ {
        (0..self.contexts()).map(|at| self.node(at))
    }

    /// A context by its place: the innermost frame, the place of the caller, and what is known of the count.
    ///
    /// # Panics
    /// If there is no such context.
    pub fn node(&self, context: usize) -> (Frame, Option<u32>, Option<Bounds>) {
        let known = &self.nodes[context + 1];
        let parent = known.parent.checked_sub(1);
        let bounds = known.monitored.then_some(known.bounds);
        (self.frames.frame(known.key), parent, bounds)
    }

    /// Weights per group of bursts, of all contexts. `None`: not only bursts were counted.
    pub fn all_groups(&self) -> Option<ByGroup> {
        Some(self.groups.as_ref()?.all)
    }

    /// Weights per group of bursts of a context, by its place among [`nodes`](Self::nodes), if it is
    /// monitored.
    pub fn groups(&self, context: usize) -> Option<ByGroup> {
        let node = context as u32 + 1;
        self.groups.as_ref()?.nodes.get(&node).copied()
    }

    /// The (phi, epsilon)-HCCT (HCCT section 3.1): hot contexts and those above them. `phi` may be any above
    /// the one that was counted with; fails if it is smaller, or not from 0 to 1.
    pub fn hot(&self, phi: f64) -> Result<HotTree, ContextError> {
        let least = self.thresholds.map_or(0.0, Thresholds::phi);
        if !(least..=1.0).contains(&phi) {
            return Err(ContextError::PhiTooSmall { asked: phi, least });
        }
        let threshold = Thresholds::floor(phi, self.total);
        let is_hot = |known: &Known| known.monitored && known.bounds.upper >= threshold;
        let (kept, at) = self.closure(is_hot);
        let mut nodes: Vec<HotNode> = Vec::with_capacity(kept.len() - 1);
        for &node in &kept[1..] {
            let known = &self.nodes[node as usize];
            // The root is no context: indices are one less without it.
            let parent = match known.parent {
                ROOT => None,
                parent => Some(at[parent as usize] - 1),
            };
            nodes.push(HotNode {
                frame: self.frames.frame(known.key),
                parent,
                depth: parent.map_or(1, |parent| nodes[parent as usize].depth + 1),
                bounds: known.monitored.then_some(known.bounds),
                hot: is_hot(known),
            });
        }
        Ok(HotTree {
            nodes,
            phi,
            threshold,
            total: self.total,
        })
    }
}

/// A context of a [`HotTree`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HotNode {
    /// The innermost activation.
    pub frame: Frame,
    /// Index of the context that it was called from. `None`: a thread's first.
    pub parent: Option<u32>,
    /// Activations in the context, from 1.
    pub depth: u32,
    /// How often the context occurred, callees not included. `None` if it is not monitored, but above one
    /// that is.
    pub bounds: Option<Bounds>,
    /// True if it is reported as hot, and not only as an ancestor.
    pub hot: bool,
}

/// Hot contexts and their ancestors: the paper's (phi, epsilon)-HCCT, or of an exact tree the HCCT.
#[derive(Clone, Debug, PartialEq)]
pub struct HotTree {
    nodes: Vec<HotNode>,
    phi: f64,
    threshold: u64,
    total: u64,
}

impl HotTree {
    pub(super) fn new(nodes: Vec<HotNode>, phi: f64, threshold: u64, total: u64) -> Self {
        HotTree {
            nodes,
            phi,
            threshold,
            total,
        }
    }

    /// All contexts, parents before children.
    pub fn nodes(&self) -> &[HotNode] {
        &self.nodes
    }

    /// The hot ones.
    pub fn hot(&self) -> impl Iterator<Item = (usize, &HotNode)> {
        self.nodes.iter().enumerate().filter(|(_, node)| node.hot)
    }

    /// Index of the hottest one, by lower bound.
    pub fn hottest(&self) -> Option<usize> {
        let lower = |node: &HotNode| node.bounds.map_or(0, |bounds| bounds.lower);
        self.hot()
            .max_by_key(|(_, node)| lower(node))
            .map(|(index, _)| index)
    }

    /// Frames of a context, the outermost first.
    ///
    /// # Panics
    /// If there is no context of this index.
    pub fn path(&self, index: usize) -> Vec<Frame> {
        let mut node = &self.nodes[index];
        let mut path = vec![node.frame];
        while let Some(parent) = node.parent {
            node = &self.nodes[parent as usize];
            path.push(node.frame);
        }
        path.reverse();
        path
    }

    /// Share of all calls from which on a context is hot.
    pub fn phi(&self) -> f64 {
        self.phi
    }

    /// The same as a number of calls: `floor(phi * N)`.
    pub fn threshold(&self) -> u64 {
        self.threshold
    }

    /// `N`: all calls, or whatever was counted.
    pub fn total(&self) -> u64 {
        self.total
    }
}
