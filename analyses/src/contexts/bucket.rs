//! Space Saving with buckets of equal counters.

use super::{
    Bounds, CallingContextTree, Monitor, NodeId, Thresholds, from_32_bits, in_32_bits, room_for_one,
};

const NONE: u32 = u32::MAX;

/// Space Saving with the *stream summary* of its authors (HCCT section 4.1): counters of equal value are in
/// one bucket, buckets are in increasing order. Each increase moves a counter to another bucket, in O(1) for
/// weights of 1.
///
/// Has the same guarantee and the same number of counters as [`LazySpaceSaving`](super::LazySpaceSaving),
/// which the paper found faster and smaller; it is here to be compared with. The two may give different
/// counters, because Space Saving leaves open which one of several smallest counters goes.
///
/// A monitored context's counter in the tree is the position of its counter here.
#[derive(Clone, Debug)]
pub struct BucketSpaceSaving {
    thresholds: Thresholds,
    capacity: usize,
    counters: Vec<Counter>,
    buckets: Vec<Bucket>,
    /// Unused buckets, chained by `next`.
    free: u32,
    /// The bucket of the smallest value.
    lowest: u32,
    /// Largest value that a context lost its counter with.
    lost: u64,
}

#[derive(Clone, Debug)]
struct Counter {
    /// How much of it may be another context's, as [`in_32_bits`].
    inherited: u32,
    context: NodeId,
    bucket: u32,
    next: u32,
    previous: u32,
}

#[derive(Clone, Debug)]
struct Bucket {
    value: u64,
    first: u32,
    next: u32,
    previous: u32,
}

impl BucketSpaceSaving {
    /// With [`Thresholds::width`] counters. Memory is taken as contexts come.
    pub fn new(thresholds: Thresholds) -> Self {
        BucketSpaceSaving {
            thresholds,
            capacity: thresholds.width() as usize,
            counters: Vec::new(),
            buckets: Vec::new(),
            free: NONE,
            lowest: NONE,
            lost: 0,
        }
    }

    /// A new bucket for `value` after `previous` (at the front if that is [`NONE`]).
    fn insert_bucket(&mut self, value: u64, previous: u32) -> u32 {
        let next = match previous {
            NONE => self.lowest,
            _ => self.buckets[previous as usize].next,
        };
        let bucket = Bucket {
            value,
            first: NONE,
            next,
            previous,
        };
        let index = self.free;
        let index = if index == NONE {
            self.buckets.push(bucket);
            self.buckets.len() as u32 - 1
        } else {
            self.free = self.buckets[index as usize].next;
            self.buckets[index as usize] = bucket;
            index
        };
        match previous {
            NONE => self.lowest = index,
            _ => self.buckets[previous as usize].next = index,
        }
        if next != NONE {
            self.buckets[next as usize].previous = index;
        }
        index
    }

    /// Takes a counter out of its bucket, and the bucket out of the list if it is empty then.
    fn leave(&mut self, counter: u32) {
        let Counter {
            bucket,
            next,
            previous,
            ..
        } = self.counters[counter as usize];
        match previous {
            NONE => self.buckets[bucket as usize].first = next,
            _ => self.counters[previous as usize].next = next,
        }
        if next != NONE {
            self.counters[next as usize].previous = previous;
        }
        let Bucket {
            first,
            next,
            previous,
            ..
        } = self.buckets[bucket as usize];
        if first != NONE {
            return;
        }
        match previous {
            NONE => self.lowest = next,
            _ => self.buckets[previous as usize].next = next,
        }
        if next != NONE {
            self.buckets[next as usize].previous = previous;
        }
        self.buckets[bucket as usize].next = self.free;
        self.free = bucket;
    }

    /// Puts a counter into the bucket of `value`, which comes after `previous` ([`NONE`]: anywhere).
    fn join(&mut self, counter: u32, value: u64, mut previous: u32) {
        let mut at = match previous {
            NONE => self.lowest,
            _ => self.buckets[previous as usize].next,
        };
        while at != NONE && self.buckets[at as usize].value < value {
            previous = at;
            at = self.buckets[at as usize].next;
        }
        if at == NONE || self.buckets[at as usize].value != value {
            at = self.insert_bucket(value, previous);
        }
        let first = std::mem::replace(&mut self.buckets[at as usize].first, counter);
        if first != NONE {
            self.counters[first as usize].previous = counter;
        }
        let counter = &mut self.counters[counter as usize];
        counter.bucket = at;
        counter.next = first;
        counter.previous = NONE;
    }

    fn increase(&mut self, counter: u32, weight: u64) {
        let bucket = self.counters[counter as usize].bucket;
        let value = self.buckets[bucket as usize].value.saturating_add(weight);
        let (first, next) = (
            self.buckets[bucket as usize].first,
            self.counters[counter as usize].next,
        );
        let alone = first == counter && next == NONE;
        let after = self.buckets[bucket as usize].next;
        if alone && (after == NONE || self.buckets[after as usize].value > value) {
            self.buckets[bucket as usize].value = value;
            return;
        }
        // The counter must leave last: then its bucket is still there to start from.
        if alone {
            self.leave(counter);
            let previous = self.buckets[after as usize].previous;
            self.join(counter, value, previous);
        } else {
            self.leave(counter);
            self.join(counter, value, bucket);
        }
    }

    fn start(
        &mut self,
        tree: &mut CallingContextTree,
        context: NodeId,
        weight: u64,
        victims: &mut Vec<NodeId>,
    ) {
        let counter = if self.counters.len() < self.capacity {
            room_for_one(&mut self.counters, self.capacity);
            self.counters.push(Counter {
                inherited: 0,
                context,
                bucket: NONE,
                next: NONE,
                previous: NONE,
            });
            let counter = self.counters.len() as u32 - 1;
            self.join(counter, weight, NONE);
            counter
        } else {
            let Bucket { value, first, .. } = self.buckets[self.lowest as usize];
            self.lost = value;
            let counter = &mut self.counters[first as usize];
            counter.inherited = in_32_bits(value);
            let victim = std::mem::replace(&mut counter.context, context);
            tree.set_monitored(victim, false);
            victims.push(victim);
            self.increase(first, weight);
            first
        };
        tree.set_monitored(context, true);
        tree.set_count(context, u64::from(counter));
    }
}

impl Monitor for BucketSpaceSaving {
    const PRUNES: bool = true;

    #[inline(always)]
    fn update(
        &mut self,
        tree: &mut CallingContextTree,
        context: NodeId,
        weight: u64,
        victims: &mut Vec<NodeId>,
    ) {
        if tree.is_monitored(context) {
            self.increase(tree.count(context) as u32, weight);
        } else {
            self.start(tree, context, weight, victims);
        }
    }

    fn monitored(&self, _: &CallingContextTree, each: &mut dyn FnMut(NodeId, Bounds)) {
        for counter in &self.counters {
            let upper = self.buckets[counter.bucket as usize].value;
            let lower = upper.saturating_sub(from_32_bits(counter.inherited));
            each(counter.context, Bounds { lower, upper });
        }
    }

    fn len(&self) -> usize {
        self.counters.len()
    }

    fn absent(&self) -> u64 {
        self.lost
    }

    fn thresholds(&self) -> Option<Thresholds> {
        Some(self.thresholds)
    }

    fn bytes(&self) -> usize {
        self.counters.capacity() * size_of::<Counter>() + self.buckets.capacity() * size_of::<Bucket>()
    }

    fn clear(&mut self) {
        *self = BucketSpaceSaving::new(self.thresholds);
    }
}
