//! Calling context trees with the data structures of the paper (HCCT section 4), written from it: what ours
//! are timed against.
//!
//! First child, next sibling, children looked at one by one, 32-bit links as on the paper's machines: 20
//! bytes for a node of the full tree, 24 with the parent, which pruning needs. What each algorithm needs
//! beyond that stands in the node, too. Reading the words is ours, and the same for both.

use trodden_analyses::contexts::{Frame, Snapshot};
use trodden_profile::events::{Event, Step, Word};

const NONE: u32 = u32::MAX;
const ROOT: u32 = 0;

#[derive(Clone, Copy)]
struct Node<M> {
    method: u32,
    site: u32,
    count: u32,
    first: u32,
    next: u32,
    more: M,
}

/// What an algorithm keeps in each node.
trait More: Copy + Default {
    fn set_up(&mut self, up: u32);
    /// Is the counter to be trusted?
    fn is_monitored(&self) -> bool;
}

impl More for () {
    fn set_up(&mut self, _: u32) {}

    fn is_monitored(&self) -> bool {
        true
    }
}

/// Parent, and whether the context is monitored.
#[derive(Clone, Copy, Default)]
struct Monitored<F> {
    up: u32,
    field: F,
}

const MONITORED: u32 = 1 << 31;

impl<F: Copy + Default> More for Monitored<F> {
    fn set_up(&mut self, up: u32) {
        self.up = up;
    }

    fn is_monitored(&self) -> bool {
        self.up & MONITORED != 0
    }
}

struct Nodes<M> {
    all: Vec<Node<M>>,
    free: Vec<u32>,
}

/// Puts an item where there is room, and tells where that is.
fn put<T>(all: &mut Vec<T>, free: &mut Vec<u32>, item: T) -> u32 {
    match free.pop() {
        Some(free) => {
            all[free as usize] = item;
            free
        }
        None => {
            all.push(item);
            all.len() as u32 - 1
        }
    }
}

impl<M: More> Nodes<M> {
    fn new() -> Self {
        let root = Node {
            method: NONE,
            site: NONE,
            count: 0,
            first: NONE,
            next: NONE,
            more: M::default(),
        };
        Nodes {
            all: vec![root],
            free: Vec::new(),
        }
    }

    #[inline(always)]
    fn child(&self, parent: u32, method: u32, site: u32) -> Option<u32> {
        let mut child = self.all[parent as usize].first;
        while child != NONE {
            let node = &self.all[child as usize];
            if node.method == method && node.site == site {
                return Some(child);
            }
            child = node.next;
        }
        None
    }

    fn add(&mut self, parent: u32, method: u32, site: u32) -> u32 {
        let next = self.all[parent as usize].first;
        let mut node = Node {
            method,
            site,
            count: 0,
            first: NONE,
            next,
            more: M::default(),
        };
        node.more.set_up(parent);
        let new = put(&mut self.all, &mut self.free, node);
        self.all[parent as usize].first = new;
        new
    }
}

impl<F: Copy + Default> Nodes<Monitored<F>> {
    fn is_monitored(&self, node: u32) -> bool {
        self.all[node as usize].more.is_monitored()
    }

    fn monitor(&mut self, node: u32) {
        self.all[node as usize].more.up |= MONITORED;
    }

    /// The paper's figure 4: what is not monitored and has no children goes, and so on upwards. `keep`: where
    /// the thread is.
    fn forget(&mut self, node: u32, keep: u32) {
        self.all[node as usize].more.up &= !MONITORED;
        let mut at = node;
        while at != ROOT && at != keep && !self.is_monitored(at) && self.all[at as usize].first == NONE {
            let (up, next) = (self.all[at as usize].more.up, self.all[at as usize].next);
            let mut before = self.all[up as usize].first;
            if before == at {
                self.all[up as usize].first = next;
            } else {
                while self.all[before as usize].next != at {
                    before = self.all[before as usize].next;
                }
                self.all[before as usize].next = next;
            }
            self.free.push(at);
            at = up;
        }
    }
}

/// An algorithm of the paper's.
trait Published {
    type More: More;
    /// With so many counters, 1 / epsilon.
    fn new(counters: u32) -> Self;
    /// A context was called.
    fn called(&mut self, nodes: &mut Nodes<Self::More>, context: u32);
}

struct Full;

impl Published for Full {
    type More = ();

    fn new(_: u32) -> Self {
        Full
    }

    #[inline(always)]
    fn called(&mut self, nodes: &mut Nodes<()>, context: u32) {
        nodes.all[context as usize].count += 1;
    }
}

/// Lazy Space Saving (figure 5).
struct Lazy {
    entries: Vec<u32>,
    counters: usize,
    min: u32,
    min_index: usize,
}

impl Lazy {
    fn find_min(&mut self, nodes: &Nodes<Monitored<()>>) {
        let count = |&entry: &u32| nodes.all[entry as usize].count;
        let rest = &self.entries[self.min_index..];
        match rest.iter().position(|entry| count(entry) == self.min) {
            Some(found) => self.min_index += found,
            None => {
                self.min = self.entries.iter().map(count).min().unwrap_or_default();
                let first = self.entries.iter().position(|entry| count(entry) == self.min);
                self.min_index = first.unwrap_or_default();
            }
        }
    }
}

impl Published for Lazy {
    type More = Monitored<()>;

    fn new(counters: u32) -> Self {
        Lazy {
            entries: Vec::new(),
            counters: counters as usize,
            min: 0,
            min_index: 0,
        }
    }

    #[inline(always)]
    fn called(&mut self, nodes: &mut Nodes<Monitored<()>>, context: u32) {
        if nodes.is_monitored(context) {
            nodes.all[context as usize].count += 1;
            return;
        }
        nodes.monitor(context);
        if self.entries.len() < self.counters {
            self.entries.push(context);
            nodes.all[context as usize].count = 1;
            return;
        }
        self.find_min(nodes);
        let victim = std::mem::replace(&mut self.entries[self.min_index], context);
        nodes.all[context as usize].count = self.min + 1;
        nodes.forget(victim, context);
    }
}

/// Space Saving with an ordered list of buckets.
struct Buckets {
    buckets: Vec<Bucket>,
    free: Vec<u32>,
    /// The one of the least count.
    least: u32,
    left: u32,
}

#[derive(Clone, Copy)]
struct Bucket {
    count: u32,
    first: u32,
    before: u32,
    after: u32,
}

#[derive(Clone, Copy, Default)]
struct InBucket {
    bucket: u32,
    before: u32,
    after: u32,
}

impl Buckets {
    fn leave(&mut self, nodes: &mut Nodes<Monitored<InBucket>>, node: u32) {
        let InBucket {
            bucket,
            before,
            after,
        } = nodes.all[node as usize].more.field;
        match before {
            NONE => self.buckets[bucket as usize].first = after,
            before => nodes.all[before as usize].more.field.after = after,
        }
        if after != NONE {
            nodes.all[after as usize].more.field.before = before;
        }
    }

    /// Puts a node into a bucket of this count, which is there or belongs right behind `behind`.
    fn enter(&mut self, nodes: &mut Nodes<Monitored<InBucket>>, node: u32, count: u32, behind: u32) {
        let after = match behind {
            NONE => self.least,
            behind => self.buckets[behind as usize].after,
        };
        let bucket = match after {
            after if after != NONE && self.buckets[after as usize].count == count => after,
            after => {
                let new = Bucket {
                    count,
                    first: NONE,
                    before: behind,
                    after,
                };
                let at = put(&mut self.buckets, &mut self.free, new);
                match behind {
                    NONE => self.least = at,
                    behind => self.buckets[behind as usize].after = at,
                }
                if after != NONE {
                    self.buckets[after as usize].before = at;
                }
                at
            }
        };
        let first = std::mem::replace(&mut self.buckets[bucket as usize].first, node);
        if first != NONE {
            nodes.all[first as usize].more.field.before = node;
        }
        nodes.all[node as usize].count = count;
        nodes.all[node as usize].more.field = InBucket {
            bucket,
            before: NONE,
            after: first,
        };
    }

    fn drop_if_empty(&mut self, bucket: u32) {
        let Bucket {
            first, before, after, ..
        } = self.buckets[bucket as usize];
        if first != NONE {
            return;
        }
        match before {
            NONE => self.least = after,
            before => self.buckets[before as usize].after = after,
        }
        if after != NONE {
            self.buckets[after as usize].before = before;
        }
        self.free.push(bucket);
    }
}

impl Published for Buckets {
    type More = Monitored<InBucket>;

    fn new(counters: u32) -> Self {
        Buckets {
            buckets: Vec::new(),
            free: Vec::new(),
            least: NONE,
            left: counters,
        }
    }

    #[inline(always)]
    fn called(&mut self, nodes: &mut Nodes<Monitored<InBucket>>, context: u32) {
        if nodes.is_monitored(context) {
            let bucket = nodes.all[context as usize].more.field.bucket;
            let count = self.buckets[bucket as usize].count + 1;
            self.leave(nodes, context);
            self.enter(nodes, context, count, bucket);
            self.drop_if_empty(bucket);
            return;
        }
        nodes.monitor(context);
        if self.left > 0 {
            self.left -= 1;
            self.enter(nodes, context, 1, NONE);
            return;
        }
        let least = self.least;
        let Bucket { count, first, .. } = self.buckets[least as usize];
        self.leave(nodes, first);
        self.enter(nodes, context, count + 1, least);
        self.drop_if_empty(least);
        nodes.forget(first, context);
    }
}

/// Lossy Counting.
struct Lossy {
    first: u32,
    width: u32,
    calls: u32,
    bucket: u32,
}

#[derive(Clone, Copy, Default)]
struct InList {
    delta: u32,
    next: u32,
}

impl Published for Lossy {
    type More = Monitored<InList>;

    fn new(counters: u32) -> Self {
        Lossy {
            first: NONE,
            width: counters,
            calls: 0,
            bucket: 1,
        }
    }

    #[inline(always)]
    fn called(&mut self, nodes: &mut Nodes<Monitored<InList>>, context: u32) {
        if nodes.is_monitored(context) {
            nodes.all[context as usize].count += 1;
        } else {
            nodes.monitor(context);
            let node = &mut nodes.all[context as usize];
            node.count = 1;
            node.more.field = InList {
                delta: self.bucket - 1,
                next: self.first,
            };
            self.first = context;
        }
        self.calls += 1;
        if self.calls == self.width {
            self.calls = 0;
            let (mut at, mut kept) = (self.first, NONE);
            while at != NONE {
                let node = &nodes.all[at as usize];
                let InList { delta, next } = node.more.field;
                if node.count + delta <= self.bucket {
                    match kept {
                        NONE => self.first = next,
                        kept => nodes.all[kept as usize].more.field.next = next,
                    }
                    nodes.forget(at, context);
                } else {
                    kept = at
                }
                at = next;
            }
            self.bucket += 1;
        }
    }
}

struct Tree<P: Published> {
    nodes: Nodes<P::More>,
    stack: Vec<u32>,
    below: usize,
    algorithm: P,
}

impl<P: Published> Tree<P> {
    #[inline(never)]
    fn consume(&mut self, words: &[u64]) {
        for &word in words {
            match Word(word).step() {
                Some(Step::Enter { method, site }) => {
                    let top = self.stack.last().copied().unwrap_or(ROOT);
                    let child = self.nodes.child(top, method, site.into());
                    let child = child.unwrap_or_else(|| self.nodes.add(top, method, site.into()));
                    self.stack.push(child);
                    self.algorithm.called(&mut self.nodes, child);
                }
                Some(Step::Exit { .. }) => {
                    self.stack.pop();
                }
                None => {
                    if let Ok(Event::Unwound { depth }) = Word(word).decode() {
                        if self.stack.is_empty() {
                            self.below = depth as usize
                        } else {
                            self.stack.truncate(depth as usize - self.below)
                        }
                    }
                }
            }
        }
    }

    /// Counters of contexts, by the truth's order; `None` where there is none.
    fn counters(&self, truth: &Snapshot) -> Vec<Option<u64>> {
        let mut places: Vec<Option<u32>> = Vec::new();
        for (Frame { method, site, .. }, parent, _) in truth.nodes() {
            let parent = parent.map_or(Some(ROOT), |parent| places[parent as usize]);
            places.push(parent.and_then(|parent| self.nodes.child(parent, method, site.into())));
        }
        let counter = |place: &Option<u32>| {
            let node = &self.nodes.all[(*place)? as usize];
            node.more.is_monitored().then(|| u64::from(node.count))
        };
        places.iter().map(counter).collect()
    }
}

/// One of the paper's, and how its counters lie to the true ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// The full tree.
    Full,
    /// Lazy Space Saving.
    Lazy,
    /// Space Saving with buckets.
    Buckets,
    /// Lossy Counting.
    Lossy,
}

impl Algorithm {
    /// In the order of ours.
    pub const ALL: [Algorithm; 4] = [
        Algorithm::Full,
        Algorithm::Lazy,
        Algorithm::Buckets,
        Algorithm::Lossy,
    ];

    /// Analyses words in batches, from nothing, timed by `time`. Then holds the counters against the truth.
    ///
    /// # Errors
    /// If they are not what the algorithm promises.
    pub fn run(
        self,
        words: &[u64],
        (batch, counters): (usize, u32),
        truth: Option<&Snapshot>,
        time: impl Fn(&mut dyn FnMut()) -> f64,
    ) -> Result<f64, String> {
        match self {
            Algorithm::Full => self.run_as::<Full>(words, (batch, counters), truth, time),
            Algorithm::Lazy => self.run_as::<Lazy>(words, (batch, counters), truth, time),
            Algorithm::Buckets => self.run_as::<Buckets>(words, (batch, counters), truth, time),
            Algorithm::Lossy => self.run_as::<Lossy>(words, (batch, counters), truth, time),
        }
    }

    fn run_as<P: Published>(
        self,
        words: &[u64],
        (batch, counters): (usize, u32),
        truth: Option<&Snapshot>,
        time: impl Fn(&mut dyn FnMut()) -> f64,
    ) -> Result<f64, String> {
        let mut tree = Tree {
            nodes: Nodes::new(),
            stack: Vec::new(),
            below: 0,
            algorithm: P::new(counters),
        };
        let nanos = time(&mut || words.chunks(batch).for_each(|words| tree.consume(words)));
        if let Some(truth) = truth {
            let found = tree.counters(truth);
            let calls: Vec<u64> = (truth.nodes())
                .map(|(_, _, bounds)| bounds.map_or(0, |bounds| bounds.lower))
                .collect();
            let slack = calls.iter().sum::<u64>() / u64::from(counters);
            for (&found, &calls) in found.iter().zip(&calls) {
                let right = match (self, found) {
                    (Algorithm::Full, found) => found == Some(calls),
                    // Whoever is monitored has more than it lacks.
                    (_, None) => calls <= slack,
                    (Algorithm::Lossy, Some(found)) => (found..=found + slack).contains(&calls),
                    (_, Some(found)) => (calls..=calls + slack).contains(&found),
                };
                if !right {
                    return Err(format!("{self:?} as published: {found:?} for {calls} calls"));
                }
            }
        }
        Ok(nanos)
    }
}
