//! The whole calling context tree.

use super::{Bounds, CallingContextTree, Monitor, NodeId, Thresholds};

/// Counts every context and forgets none: the calling context tree of Ammons, Ball and Larus (HCCT section
/// 2.1).
#[derive(Clone, Copy, Debug, Default)]
pub struct Exact;

impl Monitor for Exact {
    const PRUNES: bool = false;

    #[inline(always)]
    fn update(&mut self, tree: &mut CallingContextTree, context: NodeId, weight: u64, _: &mut Vec<NodeId>) {
        tree.add(context, weight);
    }

    fn monitored(&self, tree: &CallingContextTree, each: &mut dyn FnMut(NodeId, Bounds)) {
        for node in tree.contexts() {
            let count = tree.count(node);
            if count > 0 {
                let (lower, upper) = (count, count);
                each(node, Bounds { lower, upper });
            }
        }
    }

    fn len(&self) -> usize {
        0
    }

    fn absent(&self) -> u64 {
        0
    }

    fn thresholds(&self) -> Option<Thresholds> {
        None
    }

    fn bytes(&self) -> usize {
        0
    }

    fn clear(&mut self) {}
}
