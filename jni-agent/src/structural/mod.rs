//! `profile=structural`: windows of structure graphs, and what is known from them.
//!
//! After Yasue, Suganuma, Komatsu and Nakatani, *Structural Path Profiling* ("SPP"), section on the profile
//! controller (figure 5). Each structure graph has a switch: 0 is off, a positive number the path ends that
//! it still counts, a negative one no limit.
//!
//! One window of 100 paths would show how a program begins. So windows are opened again, at each tick of the
//! clock, as long as the method has its probes. A window says in which *proportion* a graph's paths occur;
//! how many there are altogether it does not, since it is closed as soon as it is full. For that, no graph is
//! limited in the first [`SPAN`] of a tick (which begins at a random time of its interval): what ends in it,
//! over its length, is the graph's rate. A window that is not full at the next tick saw all there was.
//!
//! Graphs whose windows were filled often are opened less often. When enough windows of all graphs of a
//! method are full, the controller (`controller/`) takes its probes out.

mod complete;
mod delay;
mod graph;

use std::num::NonZeroU32;
use std::ops::Range;
use std::time::{Duration, Instant};

use rustc_hash::{FxHashMap, FxHashSet};
use trodden_instrumenter::{CounterSlot, MethodId};

use crate::classes::registry::{ClassEntry, Registry};
use crate::host::Host;
use crate::jvm::{Jni, JvmError};
use crate::sampling::PathCounts;
use crate::sampling::clock::processor_seconds;
use crate::threads::blocks::{Switches, ThreadBlocks};
use crate::threads::shim::Shim;
use graph::Graph;
pub use graph::key;

/// How long at a tick no graph is limited.
const SPAN: Duration = Duration::from_micros(200);
/// Part of the time that looking at counters may take.
const LOOKING: u32 = 100;
/// Share of a method's path ends that may be in graphs whose windows are not full.
const REST: f64 = 0.01;

/// All structure graphs.
#[derive(Default)]
pub struct Windows {
    graphs: Vec<Graph>,
    /// By method: its graphs, the outline first.
    methods: FxHashMap<MethodId, Range<usize>>,
    /// Classes taken in so far.
    seen: usize,
    /// Not before then.
    next: Option<Instant>,
    /// Ticks so far, and when the last one's span began.
    spans: u64,
    last: Option<f64>,
}

impl Windows {
    /// Takes in the classes that are new.
    fn refresh(&mut self, registry: &Registry, now: f64) {
        for class in registry.classes_from(&mut self.seen) {
            self.add(&class, now);
        }
    }

    fn add(&mut self, class: &ClassEntry, now: f64) {
        let Some(layout) = &class.graphs else { return };
        for (method, map) in class.map.methods.iter().enumerate() {
            let first = self.graphs.len();
            let slots = layout.of_method(method);
            let end = layout
                .of_method(method + 1)
                .first()
                .map_or(layout.slots, |s| s.first);
            let ends = slots.iter().skip(1).map(|s| s.first).chain([end]);
            for (slots, end) in slots.iter().zip(ends) {
                let slot = class.ids.first_counter.plus(slots.first);
                let paths = if slots.dense { end - slots.first } else { 0 };
                self.graphs.push(Graph::new(slot, paths, now));
            }
            debug_assert!(!slots.is_empty(), "{} has no structure graph", map.name);
            let id = class.ids.first_method.at(method);
            self.methods.insert(id, first..self.graphs.len());
        }
    }

    /// Ends windows that are full, opens new ones, waits for [`SPAN`], and ends what fills up in it.
    pub fn tick(&mut self, host: &Host, window: NonZeroU32) {
        let begin = Instant::now();
        if self.next.is_some_and(|next| begin < next) {
            return;
        }
        let Some(switches) = host.blocks.switches() else {
            return;
        };
        let now = processor_seconds();
        self.refresh(&host.registry, now);
        self.open(&host.blocks, switches, window, now);
        let worked = begin.elapsed();
        std::thread::sleep(SPAN);
        let again = Instant::now();
        self.end_spans(&host.blocks, switches, window);
        self.spans += 1;
        let worked = worked + again.elapsed();
        self.next = Some(Instant::now() + worked * LOOKING);
    }

    /// Harvests graphs in which something ended, and opens their windows.
    fn open(&mut self, blocks: &ThreadBlocks, switches: Switches, window: NonZeroU32, now: f64) {
        let untouched = window.get() as i32;
        let mut opened = Vec::new();
        for (index, graph) in self.graphs.iter_mut().enumerate() {
            let left = switches.get(graph.slot());
            if left == untouched || !graph.is_armed() || !graph.is_due(left == 0) {
                continue;
            }
            if graph.is_dense() {
                if let Some(last) = self.last {
                    graph.stayed_open(last, self.spans);
                }
                graph.harvest(blocks, left == 0, now);
                if left == 0 {
                    graph.filled();
                }
                switches.set(graph.slot(), i32::MAX);
                opened.push(index);
            } else {
                // Too many paths to look at them all the time: they are counted throughout.
                switches.set(graph.slot(), -1);
            }
        }
        // As late as possible, and all at nearly the same time.
        let now = processor_seconds();
        for &index in &opened {
            self.graphs[index].open(now, self.spans + 1);
        }
        self.last = Some(now);
    }

    /// Limits all graphs again. What ended in the span is their rate.
    fn end_spans(&mut self, blocks: &ThreadBlocks, switches: Switches, window: NonZeroU32) {
        let untouched = window.get() as i32;
        let Some(last) = self.last else { return };
        let mut seen = 0;
        let mut spans = Vec::new();
        for (index, graph) in self.graphs.iter_mut().enumerate() {
            let left = switches.get(graph.slot());
            if left == untouched || graph.is_resting() || !graph.is_armed() || !graph.is_dense() {
                continue;
            }
            // One in which nothing had ended when the span began was limited in it: no rate above a window
            // per span is seen of it.
            graph.opened_at(last, self.spans + 1);
            let ended = graph.ended_since(blocks);
            let left = u64::from(window.get()).saturating_sub(ended);
            switches.set(graph.slot(), left as i32);
            seen += ended;
            spans.push((index, ended));
        }
        let at = processor_seconds();
        let delay = seen as f64 * delay::per_path_end();
        for (index, ended) in spans {
            self.graphs[index].end_span(ended, at, delay);
        }
    }

    /// Takes in what open windows have counted so far, and what is hashed; at the `last` look what closed
    /// ones stand for as well.
    fn settle(&mut self, host: &Host, window: Option<NonZeroU32>, hashed: &[(u32, u32, i64)], last: bool) {
        let now = processor_seconds();
        self.refresh(&host.registry, now);
        let Some(switches) = host.blocks.switches() else {
            return;
        };
        let untouched = window.map_or(0, |paths| paths.get() as i32);
        for graph in &mut self.graphs {
            if graph.is_dense() && graph.is_armed() {
                let left = switches.get(graph.slot());
                // A closed one stands for the time until the next one is opened.
                if left != untouched && (last || left != 0) {
                    graph.harvest(&host.blocks, left == 0, now);
                }
            }
        }
        let by_slot: FxHashMap<CounterSlot, usize> = (self.graphs.iter().enumerate())
            .filter(|(_, graph)| !graph.is_dense())
            .map(|(index, graph)| (graph.slot(), index))
            .collect();
        for &(slot, path, count) in hashed {
            if let Some(&index) = by_slot.get(&CounterSlot(slot)) {
                self.graphs[index].set_hashed(u64::from(path), count.max(0) as u64);
            }
        }
    }

    /// Estimated path ends of all methods so far, by method and [`key`]; and which methods' windows are full.
    pub fn snapshot(
        &mut self,
        host: &Host,
        window: Option<NonZeroU32>,
        shim: &Shim,
        jni: Jni<'_>,
    ) -> Result<(FxHashMap<MethodId, PathCounts>, FxHashSet<MethodId>), JvmError> {
        let hashed = shim.hashed_counts(jni)?;
        self.settle(host, window, &hashed, false);
        let mut counts = FxHashMap::default();
        let mut full = FxHashSet::default();
        for (&method, graphs) in &self.methods {
            let graphs = &self.graphs[graphs.clone()];
            let mut all = PathCounts::new();
            for (index, graph) in graphs.iter().enumerate() {
                for (path, count) in graph.estimated() {
                    all.insert(key(index, path), count.round() as u64);
                }
            }
            if all.is_empty() {
                continue;
            }
            counts.insert(method, all);
            let recent = |graph: &&Graph| graph.recent_ends();
            let sum: f64 = graphs.iter().map(|g| recent(&g)).sum();
            let missing: f64 = graphs.iter().filter(|g| !g.is_full()).map(|g| recent(&g)).sum();
            if sum > 0.0 && missing <= REST * sum {
                full.insert(method);
            }
        }
        Ok((counts, full))
    }

    /// Methods of a class, by position, lose their probes, or have them back: their graphs are switched off
    /// or on.
    pub fn silence(
        &mut self,
        blocks: &ThreadBlocks,
        first_method: MethodId,
        silent: &[bool],
        window: Option<NonZeroU32>,
    ) {
        let Some(switches) = blocks.switches() else { return };
        let now = processor_seconds();
        for (position, &silent) in silent.iter().enumerate() {
            let Some(graphs) = self.methods.get(&first_method.at(position)) else {
                continue;
            };
            for graph in &mut self.graphs[graphs.clone()] {
                if graph.is_armed() != silent {
                    continue;
                }
                let closed = switches.get(graph.slot()) == 0;
                let state = if silent { 0 } else { Switches::at_first(window) };
                switches.set(graph.slot(), state);
                match silent {
                    true => graph.disarm(blocks, closed, now),
                    false => graph.arm(blocks, now),
                }
            }
        }
    }

    /// Profiling begins, or goes on: all graphs have their probes.
    pub fn begin(&mut self, blocks: &ThreadBlocks, window: Option<NonZeroU32>) {
        let Some(switches) = blocks.switches() else { return };
        let now = processor_seconds();
        self.next = None;
        for graph in &mut self.graphs {
            switches.set(graph.slot(), Switches::at_first(window));
            graph.arm(blocks, now);
        }
    }

    /// Profiling stops.
    pub fn stop(&mut self, blocks: &ThreadBlocks) {
        let now = processor_seconds();
        for graph in &mut self.graphs {
            let mut closed = false;
            if let Some(switches) = blocks.switches() {
                closed = switches.get(graph.slot()) == 0;
                switches.set(graph.slot(), 0);
            }
            graph.disarm(blocks, closed, now);
        }
    }

    /// Forgets all counts.
    pub fn reset(&mut self, blocks: &ThreadBlocks) {
        self.spans = 0;
        let now = processor_seconds();
        self.graphs.iter_mut().for_each(|graph| graph.reset(blocks, now));
    }

    /// Forgets all graphs: another configuration has others.
    pub fn forget(&mut self) {
        *self = Windows::default();
    }
}
