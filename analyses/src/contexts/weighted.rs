//! Space Saving for weights of any size.

use super::{Bounds, CallingContextTree, Monitor, NodeId, Thresholds};

/// Space Saving with a heap of counters, smallest first, that is put right lazily.
///
/// For weights such as time or bytes (HCCT section 3.3). Values are then hardly ever equal, so the lazy queue
/// of [`LazySpaceSaving`](super::LazySpaceSaving) would look through all counters for each new context. Here,
/// too, an increase touches the node only; a counter that has grown sinks when it gets to the top of the
/// heap, which costs O(log) and happens at most once per increase.
#[derive(Clone, Debug)]
pub struct WeightedSpaceSaving {
    thresholds: Thresholds,
    capacity: usize,
    heap: Vec<Counter>,
    min: u64,
}

#[derive(Clone, Copy, Debug)]
struct Counter {
    /// A value that it had at some time: no counter below this one in the heap had less when it got there.
    seen: u64,
    inherited: u64,
    context: NodeId,
}

impl WeightedSpaceSaving {
    /// With [`Thresholds::width`] counters. Memory is taken as contexts come.
    pub fn new(thresholds: Thresholds) -> Self {
        WeightedSpaceSaving {
            thresholds,
            capacity: thresholds.width() as usize,
            heap: Vec::new(),
            min: 0,
        }
    }

    #[inline(never)]
    fn start(
        &mut self,
        tree: &mut CallingContextTree,
        context: NodeId,
        weight: u64,
        victims: &mut Vec<NodeId>,
    ) {
        let mut counter = Counter {
            seen: weight,
            inherited: 0,
            context,
        };
        if self.heap.len() < self.capacity {
            self.heap.push(counter);
            self.rise(self.heap.len() - 1);
        } else {
            let victim = self.surface_min(tree);
            self.min = victim.seen;
            tree.set_monitored(victim.context, false);
            victims.push(victim.context);
            counter.inherited = self.min;
            counter.seen = self.min.saturating_add(weight);
            self.heap[0] = counter;
            self.sink();
        }
        tree.set_count(context, counter.seen);
        tree.set_monitored(context, true);
    }

    /// Makes the top of the heap a smallest counter.
    fn surface_min(&mut self, tree: &CallingContextTree) -> Counter {
        loop {
            let top = &mut self.heap[0];
            let now = tree.count(top.context);
            if now == top.seen {
                return *top;
            }
            top.seen = now;
            self.sink();
        }
    }

    fn sink(&mut self) {
        let heap = &mut self.heap;
        let moving = heap[0];
        let mut at = 0;
        loop {
            let mut child = 2 * at + 1;
            if child >= heap.len() {
                break;
            }
            if child + 1 < heap.len() && heap[child + 1].seen < heap[child].seen {
                child += 1;
            }
            if heap[child].seen >= moving.seen {
                break;
            }
            heap[at] = heap[child];
            at = child;
        }
        heap[at] = moving;
    }

    fn rise(&mut self, mut at: usize) {
        while at > 0 {
            let parent = (at - 1) / 2;
            if self.heap[parent].seen <= self.heap[at].seen {
                break;
            }
            self.heap.swap(parent, at);
            at = parent;
        }
    }
}

impl Monitor for WeightedSpaceSaving {
    const PRUNES: bool = true;

    #[inline(always)]
    fn update(
        &mut self,
        tree: &mut CallingContextTree,
        context: NodeId,
        weight: u64,
        victims: &mut Vec<NodeId>,
    ) {
        if !tree.add_if_monitored(context, weight) {
            self.start(tree, context, weight, victims);
        }
    }

    fn monitored(&self, tree: &CallingContextTree, each: &mut dyn FnMut(NodeId, Bounds)) {
        for counter in &self.heap {
            let upper = tree.count(counter.context);
            let lower = upper - counter.inherited;
            each(counter.context, Bounds { lower, upper });
        }
    }

    fn len(&self) -> usize {
        self.heap.len()
    }

    fn absent(&self) -> u64 {
        self.min
    }

    fn thresholds(&self) -> Option<Thresholds> {
        Some(self.thresholds)
    }

    fn bytes(&self) -> usize {
        self.heap.capacity() * size_of::<Counter>()
    }

    fn clear(&mut self) {
        *self = WeightedSpaceSaving::new(self.thresholds);
    }
}
