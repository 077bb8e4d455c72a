//! Comparison of the contexts of two profiles.

use std::collections::HashMap;

use trodden_profile::{Contexts, PhiOutOfRange, Profile};

use super::snapshot::{HotNode, HotTree};
use super::{
    Bounds, CallingContextTree, ContextAccuracy, ContextSink, ContextTreeBuilder, Exact, Frame, UNKNOWN_SITE,
};

/// The metrics of HCCT section 5.1, and the sizes of the trees.
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
    /// Number of hot contexts of an estimate from bursts whose exact share is in the interval that is
    /// reported for it; and of those that have one. `None`: none has.
    pub intervals: Option<(u64, u64)>,
    /// Most contexts that the estimate had at a time, as a share of those.
    pub peak_contexts_share: f64,
    /// Bytes of these, as a share of what the exact tree takes: 24 for each context, since it is never
    /// pruned.
    pub peak_bytes_share: f64,
}

/// Bytes of a context in a tree that is never pruned.
const EXACT_NODE: u64 = CallingContextTree::EXACT_NODE_BYTES as u64;

/// Numbers for the methods of both.
type Methods<'p> = HashMap<(&'p str, &'p [u8; 32], &'p str, &'p str), u32>;

/// Compares. `phi` is the one that the estimate was counted with if it is `None` (1e-4 if it is exact);
/// `taus` as in [`ContextAccuracy::new`]. `None` if one of the two has no contexts. If the first one is not
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
    for (node, frame) in truth.tree.nodes().iter().zip(&truth_frames) {
        tree.unwind(node.depth - 1);
        tree.enter(*frame, node.estimate());
    }
    let parents = judged.tree.parents();
    let is_hot = |calls: Option<(u64, u64)>| calls.is_some_and(|(_, most)| most >= threshold);
    let kept = judged.tree.with_ancestors(|node| is_hot(node.calls));
    let intervals = intervals(truth, &truth_frames, judged, &judged_frames, |at| {
        is_hot(judged.tree.nodes()[at].calls)
    });
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
        accuracy: ContextAccuracy::new(&hot, &tree, taus),
        calls: [truth.calls, judged.calls],
        exact_contexts: contexts,
        intervals,
        peak_contexts_share: share(judged.peak_nodes, contexts),
        peak_bytes_share: share(judged.peak_bytes, contexts * EXACT_NODE),
    }))
}

/// Number of contexts that are wanted and have their true share within the interval of it; and of those that
/// have an interval.
fn intervals(
    truth: &Contexts,
    truth_frames: &[Frame],
    judged: &Contexts,
    judged_frames: &[Frame],
    wanted: impl Fn(usize) -> bool,
) -> Option<(u64, u64)> {
    let groups = judged.groups.as_ref()?;
    let parents = truth.tree.parents();
    let places = parents.iter().zip(truth_frames).zip(0u32..);
    let places: HashMap<(Option<u32>, Frame), u32> = places
        .map(|((parent, frame), at)| ((*parent, *frame), at))
        .collect();
    let (mut inside, mut all) = (0, 0);
    // Per context of the estimate its place in the truth: `None`, it is not there.
    let mut found: Vec<Option<u32>> = Vec::with_capacity(judged_frames.len());
    for (at, (parent, frame)) in judged.tree.parents().into_iter().zip(judged_frames).enumerate() {
        let above = parent.map(|parent| found[parent as usize]);
        let place = match above {
            Some(None) => None,
            above => places.get(&(above.flatten(), *frame)).copied(),
        };
        found.push(place);
        let interval = groups.of(at).and_then(|own| own.share_interval(&groups.all));
        if let (true, Some((low, high))) = (wanted(at), interval) {
            let calls = place.map_or(0, |place| truth.tree.nodes()[place as usize].estimate());
            let share = calls as f64 / truth.calls.max(1) as f64;
            all += 1;
            inside += u64::from((low..=high).contains(&share));
        }
    }
    (all > 0).then_some((inside, all))
}

/// The frame of each context, methods numbered alike in both profiles.
fn frames<'p>(profile: &'p Profile, contexts: &Contexts, methods: &mut Methods<'p>) -> Vec<Frame> {
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
