//! Contexts of one profile held against those of another.

use std::collections::HashMap;

use trodden_profile::{PhiOutOfRange, Profile};

use super::snapshot::{HotNode, HotTree};
use super::{
    Bounds, CallingContextTree, ContextAccuracy, ContextSink, ContextTreeBuilder, Exact, Frame, UNKNOWN_SITE,
};

/// What the metrics of HCCT section 5.1 say, and how large the trees were.
#[derive(Clone, Debug, PartialEq)]
pub struct ContextComparison {
    /// From which share of all calls on a context is hot.
    pub phi: f64,
    /// The metrics.
    pub accuracy: ContextAccuracy,
    /// Calls counted: exactly, and in the estimate.
    pub calls: [u64; 2],
    /// Contexts of the exact tree.
    pub exact_contexts: u64,
    /// Most contexts that the estimate had at a time, as a share of those.
    pub peak_contexts_share: f64,
    /// Bytes of these, as a share of what the exact tree takes: 24 for each context, as it is never pruned.
    pub peak_bytes_share: f64,
}

/// Bytes of a context in a tree that is never pruned.
const EXACT_NODE: u64 = CallingContextTree::EXACT_NODE_BYTES as u64;

/// Numbers for the methods of both.
type Methods<'p> = HashMap<(&'p str, &'p [u8; 32], &'p str, &'p str), u32>;

/// Compares. `phi` is the one that the estimate was counted with if it is `None` (1e-4 if it is exact);
/// `taus` as in [`ContextAccuracy::of`]. `None` if one of the two has no contexts. If the first one is not
/// exact, its lower bounds are taken for the truth.
///
/// # Errors
/// If `phi` is out of range.
pub fn compare(
    exact: &Profile,
    estimate: &Profile,
    phi: Option<f64>,
    taus: &[f64],
) -> Result<Option<ContextComparison>, PhiOutOfRange> {
    let (Some(truth), Some(judged)) = (&exact.contexts, &estimate.contexts) else {
        return Ok(None);
    };
    let threshold = judged.threshold(phi)?;
    let phi = phi.or(judged.thresholds.map(|(phi, _)| phi)).unwrap_or(1e-4);
    let mut methods = Methods::new();
    let truth_frames = frames(exact, truth, &mut methods);
    let judged_frames = frames(estimate, judged, &mut methods);

    let mut tree = ContextTreeBuilder::new(Exact);
    for (node, frame) in truth.tree.nodes().iter().zip(truth_frames) {
        tree.unwind(node.depth - 1);
        tree.enter(frame, node.estimate());
    }
    let parents = judged.tree.parents();
    let is_hot = |calls: Option<(u64, u64)>| calls.is_some_and(|(_, most)| most >= threshold);
    let kept = judged.tree.with_ancestors(|node| is_hot(node.calls));
    let mut places = vec![0u32; kept.len()];
    let mut nodes: Vec<HotNode> = Vec::new();
    for (at, frame) in judged_frames.into_iter().enumerate().filter(|&(at, _)| kept[at]) {
        let node = &judged.tree.nodes()[at];
        places[at] = nodes.len() as u32;
        nodes.push(HotNode {
            frame,
            parent: parents[at].map(|parent| places[parent as usize]),
            depth: node.depth,
            bounds: node.calls.map(|(lower, upper)| Bounds { lower, upper }),
            hot: is_hot(node.calls),
        });
    }
    let hot = HotTree::new(nodes, phi, threshold, judged.calls);
    let contexts = truth.tree.nodes().len() as u64;
    let share = |part: u64, of: u64| part as f64 / of.max(1) as f64;
    Ok(Some(ContextComparison {
        phi,
        accuracy: ContextAccuracy::of(&hot, &tree, taus),
        calls: [truth.calls, judged.calls],
        exact_contexts: contexts,
        peak_contexts_share: share(judged.peak_nodes, contexts),
        peak_bytes_share: share(judged.peak_bytes, contexts * EXACT_NODE),
    }))
}

/// The frame of each context, methods numbered alike in both profiles.
fn frames<'p>(
    profile: &'p Profile,
    contexts: &trodden_profile::Contexts,
    methods: &mut Methods<'p>,
) -> Vec<Frame> {
    let number = |node: &trodden_profile::ContextNode| {
        let class = &profile.classes[node.class as usize].map;
        let method = &class.methods[node.method as usize];
        let key = (&*class.name, &class.sha256, &*method.name, &*method.descriptor);
        let next = methods.len() as u32;
        Frame {
            prefix: node.prefix.map(u64::from),
            ..Frame::new(
                *methods.entry(key).or_insert(next),
                node.site.unwrap_or(UNKNOWN_SITE),
            )
        }
    };
    contexts.tree.nodes().iter().map(number).collect()
}
