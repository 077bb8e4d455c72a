//! `profile=structural`: windows of structure graphs, and what is known from them.
//!
//! After Yasue, Suganuma, Komatsu and Nakatani, *Structural Path Profiling* ("SPP"), section on the profile
//! controller (figure 5). Each structure graph has a switch: 0 is off, a positive number the path ends that
//! it still counts, a negative one no limit.
//!
//! One window of 100 paths would show how a program begins. So windows are opened again, at each tick of the
//! clock, as long as the method has its probes. A window says in which *proportion* a graph's paths occur;
//! how many there are altogether it does not, since it is closed as soon as it is full. For that, graphs take
//! turns: in a [`SPAN`] of a tick (which begins at a random time) some are not limited, so few that counting
//! hardly slows the program down. What ends in it, over its length, is a graph's rate. It represents half of
//! the time until the graph's next span and since the one before (of a pause that is much longer than others
//! a part), with the paths that were counted in it and in the window after it. A window that is not full at
//! its graph's next span saw all there was.
//!
//! Graphs whose windows were filled often are opened less often. When enough windows of all graphs of a
//! method are full, the controller (`controller/`) takes its probes out.

mod complete;
mod delay;
mod graph;
mod pace;

use std::cell::LazyCell;
use std::num::NonZeroU32;
use std::ops::Range;
use std::time::{Duration, Instant};

use rustc_hash::{FxHashMap, FxHashSet};
use trodden_instrumenter::{CounterSlot, MethodId};

use crate::classes::{ClassEntry, Registry, Slots};
use crate::host::Host;
use crate::jvm::{Jni, JvmError};
use crate::sampling::{PathCounts, ProgramTime, spent};
use crate::threads::{Hashed, Shim, Switches, ThreadBlocks};
pub use graph::key;
use graph::{Graph, LIFTED, Seen, Span, remaining};
use pace::{Counted, Pace};

/// How long at a tick some graphs are not limited.
const SPAN: Duration = Duration::from_millis(5);
/// How long the program runs undisturbed before: after a look at counters, on its processor or in its caches,
/// it is slower for some time.
const RECOVERY: Duration = Duration::from_millis(5);
/// Part of the time that looking at the counters of spans may take.
const LOOKING: u32 = 50;
/// Part of the time that it may take to look which graphs are awake, and which can be counted throughout.
/// Apart from the other: it goes through all graphs, and if that delayed the next span, the one before would
/// represent seconds.
const WAKING: u32 = 100;
/// The least time between two of these.
const MIN_BETWEEN_WAKES: Duration = Duration::from_millis(200);
/// Part of the time that spans may take.
const IN_SPANS: u32 = 2;
/// Path ends per second of the program's time that graphs which are counted throughout may have together:
/// they take half a hundredth of the time or so.
const MAX_RATE_THROUGHOUT: f64 = 2e6;
/// Path ends per second of the program's time that the graphs of one span may have together. Counting them
/// delays the program by some per cent, of which most is known and taken off; with all graphs at once it ran
/// at half of its speed. With less, each graph has fewer spans.
const MAX_RATE_IN_SPAN: f64 = 5e7;
/// Graphs in a span whose rates are not known yet.
const MAX_NEW_IN_SPAN: f64 = 64.0;
/// The least part of a span that is the program's own: a graph that has more path ends alone than a span may
/// have leaves more.
const MIN_OWN_SHARE: f64 = 1.0 / 4.0;
/// Some graphs are opened a little before a span, and closed after it. If the program ran for so much longer
/// meanwhile (another thread had the processor in between), the span says nothing.
const MAX_OUTER_RATIO: f64 = 1.5;
/// A span is so many times as long at most, if the program hardly runs in it.
const MAX_SPANS: u32 = 4;
/// Share of a method's path ends that may be in graphs whose windows are not full.
const MAX_REST_SHARE: f64 = 0.01;

/// A graph of which a path has ended.
#[derive(Clone, Copy)]
struct Awake {
    graph: usize,
    slot: CounterSlot,
    /// Its place in the order of turns.
    turn: u64,
    /// Path ends per second.
    rate: f64,
    seen: Seen,
}

/// A mean in which older values have less weight.
#[derive(Clone, Copy, Debug, Default)]
struct Mean(Option<f64>);

impl Mean {
    /// Part of the mean that stays at each new value.
    const KEPT: f64 = 0.95;

    fn add(&mut self, value: f64) {
        let mean = self.0.unwrap_or(value);
        self.0 = Some(mean * Self::KEPT + value * (1.0 - Self::KEPT));
    }

    /// None before the first value.
    fn get(self) -> Option<f64> {
        self.0
    }
}

/// Looks at counters, spaced out so that they take one part of the time.
///
/// By a mean of what the last ones took: if each set the distance to the next, those that see much (and take
/// long, as they read more) would represent more of the time than others, and so would bursts.
#[derive(Default)]
struct Looks {
    /// The next one: not before then.
    next: Option<Instant>,
    /// What one takes, in seconds.
    mean: Mean,
}

impl Looks {
    fn are_due(&self) -> bool {
        self.next.is_none_or(|next| Instant::now() >= next)
    }

    /// This `work` is done. The next look is `apart` after its begin at least, and late enough that they take
    /// one `part`-th of the time.
    fn done(&mut self, work: &Work, part: u32, apart: Duration) {
        let took = work.took().as_secs_f64();
        self.mean.add(took);
        let pause = Duration::from_secs_f64(self.mean.get().unwrap_or(took) * f64::from(part));
        self.next = Some(work.begin + pause.max(apart));
    }
}

/// A look of this thread at counters.
struct Work {
    begin: Instant,
    /// CPU time of the thread then.
    spent: Option<u64>,
}

impl Work {
    fn begin() -> Self {
        Work {
            begin: Instant::now(),
            spent: spent(0),
        }
    }

    /// CPU time since; by the clock where the system has none.
    fn took(&self) -> Duration {
        let took = self
            .spent
            .and_then(|before| Some(spent(0)?.saturating_sub(before)));
        took.map_or_else(|| self.begin.elapsed(), Duration::from_nanos)
    }
}

/// The place of a graph in the order in which graphs have their turns: those of a method, which run together,
/// are far from each other.
fn turn(graph: usize) -> u64 {
    (graph as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// How many paths ended in a span whose graph's switch was this before it, and is that now. A thread that was
/// counting when the limit was lifted may have written what was left of the window over it. Where the last
/// span's lifted limit still stood, it was left alone: it counted on from there.
fn ended(before: i32, now: i32) -> u64 {
    let lifted = if before <= LIFTED && now > LIFTED {
        i32::MAX
    } else {
        before
    };
    lifted.saturating_sub(now).max(0) as u64
}

/// What is the program's own of a span in which so many path ends were counted.
fn own(length: f64, ends: u64) -> f64 {
    (length - ends as f64 * delay::per_path_end()).max(length * MIN_OWN_SHARE)
}

/// All structure graphs.
#[derive(Default)]
pub struct Windows {
    graphs: Vec<Graph>,
    /// By method: its graphs, the outline first.
    methods: FxHashMap<MethodId, Range<usize>>,
    /// Classes taken in so far.
    seen: usize,
    /// At the counters of spans.
    looks: Looks,
    /// At all graphs, which of them are awake.
    wakes: Looks,
    /// Spans so far.
    spans: u64,
    time: ProgramTime,
    /// Graphs with slots and probes of which a path has ended, in the order of their turns.
    awake: Vec<Awake>,
    /// The last one that had its turn.
    turn: u64,
    /// True if graphs have lost their probes, or got them back, since the list of those awake was made.
    changed: bool,
    /// When that was.
    woken: f64,
    pace: Pace,
}

impl Windows {
    /// Takes in the classes that are new.
    fn refresh(&mut self, registry: &Registry, now: f64) {
        for class in registry.classes_from(&mut self.seen) {
            self.add(&class, now);
        }
    }

    fn add(&mut self, class: &ClassEntry, now: f64) {
        let Slots::Graphs(layout) = &class.slots else {
            return;
        };
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

    /// Lifts the limits of some of the graphs that are awake for [`SPAN`], and takes in what it says. Ends
    /// windows of theirs that are full, opens new ones.
    pub fn tick(&mut self, host: &Host, window: NonZeroU32) {
        if !self.looks.are_due() {
            return;
        }
        let Some(switches) = host.blocks.switches() else {
            return;
        };
        let window = i32::try_from(window.get()).unwrap_or(i32::MAX);
        self.time.list();
        let now = self.time.now();
        self.refresh(&host.registry, now);
        if self.changed || self.wakes.are_due() {
            let work = Work::begin();
            self.wake(&host.blocks, switches, window, now);
            self.wakes.done(&work, WAKING, MIN_BETWEEN_WAKES);
        }
        let work = Work::begin();
        let mut open = self.turn();
        for awake in &open {
            let graph = &mut self.graphs[awake.graph];
            graph.begin_span(&host.blocks, switches.get(awake.slot), now);
        }
        std::thread::sleep(RECOVERY);
        let mut span = self.span(&mut open, switches, window);
        let mut ends = 0;
        let mut ended = Vec::with_capacity(open.len());
        for awake in &open {
            let graph = &mut self.graphs[awake.graph];
            let was_closed = awake.seen.left == 0;
            let seen = Seen {
                // Before the counters are read: a thread that was just counting may have gone on.
                closed: was_closed && switches.close(awake.slot),
                ..awake.seen
            };
            let seen = graph.see_span(&host.blocks, seen, span.length.is_some(), window);
            if was_closed && seen.remaining > 0 {
                switches.set(awake.slot, seen.remaining);
            }
            ends += seen.ends;
            ended.push(seen);
        }
        span.length = span.length.map(|length| own(length, ends));
        for (awake, ended) in open.iter().zip(ended) {
            self.graphs[awake.graph].end_span(ended, span);
        }
        self.spans += 1;
        self.looks.done(&work, LOOKING, SPAN * IN_SPANS);
    }

    /// The graphs whose turn it is.
    fn turn(&mut self) -> Vec<Awake> {
        let first = self.awake.partition_point(|awake| awake.turn <= self.turn);
        let (before, from) = self.awake.split_at(first);
        let mut rates = 0.0;
        let all = from.iter().chain(before).enumerate();
        let open = all.take_while(|(position, awake)| {
            rates += awake.rate;
            *position == 0 || rates <= MAX_RATE_IN_SPAN
        });
        let open: Vec<Awake> = open.map(|(_, awake)| *awake).collect();
        self.turn = open.last().map_or(self.turn, |last| last.turn);
        open
    }

    /// Looks for graphs of which paths have ended, and that have kept their probes. Those with the fewest
    /// path ends are counted throughout: their counts are exact, and loops in them are scaled by these.
    fn wake(&mut self, blocks: &ThreadBlocks, switches: Switches, window: i32, now: f64) {
        self.changed = false;
        self.awake.clear();
        let seconds = now - std::mem::replace(&mut self.woken, now);
        let mut rates = Vec::new();
        for (index, graph) in self.graphs.iter_mut().enumerate() {
            if graph.is_armed() && graph.is_dense() && graph.is_awake(switches.get(graph.slot()), window, now)
            {
                rates.push((graph.look(blocks, now, seconds), index));
            }
        }
        rates.sort_by(|one, other| one.0.total_cmp(&other.0));
        let mut all = 0.0;
        let mut counted = Vec::new();
        for (rate, index) in rates {
            all += rate;
            let graph = &mut self.graphs[index];
            // What has become hotter stays for some time: it shows the program's pace.
            let most = if graph.is_counted_throughout() { 2.0 } else { 1.0 } * MAX_RATE_THROUGHOUT;
            let few = all <= most;
            if few != graph.is_counted_throughout() {
                graph.count_throughout(blocks, few, switches.get(graph.slot()), now);
                switches.set(graph.slot(), if few { -1 } else { 0 });
            }
            if few {
                counted.push(Counted {
                    graph: index,
                    ends: graph.recent_ends(),
                    rate,
                });
            } else {
                self.awake.push(Awake {
                    graph: index,
                    slot: graph.slot(),
                    turn: turn(index),
                    rate: if graph.has_rate() {
                        rate
                    } else {
                        MAX_RATE_IN_SPAN / MAX_NEW_IN_SPAN
                    },
                    seen: Seen::default(),
                });
            }
        }
        self.awake.sort_unstable_by_key(|awake| awake.turn);
        counted.sort_unstable_by_key(|known| known.graph);
        self.pace.look(now, counted);
    }

    /// Both passes over the switches do nothing else, and in the same order: the span is as long for the last
    /// graph as for the first.
    fn span(&mut self, open: &mut [Awake], switches: Switches, window: i32) -> Span {
        let before = self.time.now();
        for awake in &mut *open {
            awake.seen.left = switches.get(awake.slot);
            // Where a thread has written over what closed it, it stays: if it were set now and written over
            // again, all that was counted since would seem to have ended in this span.
            if awake.seen.left <= LIFTED {
                switches.set(awake.slot, i32::MAX);
            }
        }
        let begin = self.time.now();
        let mut end = begin;
        for _ in 0..MAX_SPANS {
            std::thread::sleep(SPAN);
            end = self.time.now();
            if end - begin >= SPAN.as_secs_f64() / 2.0 {
                break;
            }
        }
        for awake in &mut *open {
            awake.seen.ended = ended(awake.seen.left, switches.get(awake.slot));
            let left = match awake.seen.left {
                0 => 0,
                _ => remaining(window, awake.seen.ended),
            };
            switches.set(awake.slot, left);
        }
        let after = self.time.now();
        let (inner, outer) = (end - begin, after - before);
        let length = (inner + outer) / 2.0;
        let is_known = inner >= SPAN.as_secs_f64() / 4.0 && outer <= MAX_OUTER_RATIO * inner;
        Span {
            begin: before,
            end: after,
            length: is_known.then_some(length),
        }
    }

    /// Takes in what open windows have counted so far, and what is hashed; at the `last` look what closed
    /// ones stand for as well.
    fn settle(&mut self, host: &Host, window: Option<NonZeroU32>, hashed: &[(Hashed, i64)], last: bool) {
        let now = self.time.now();
        self.refresh(&host.registry, now);
        let Some(switches) = host.blocks.switches() else {
            return;
        };
        let untouched = window.map_or(0, |paths| paths.get() as i32);
        for graph in &mut self.graphs {
            if graph.is_dense() && graph.is_armed() {
                let left = switches.get(graph.slot());
                // A closed one stands for the time until the next span.
                if left != untouched && (last || left != 0) {
                    graph.settle(&host.blocks, left, now);
                }
            }
        }
        let by_slot: FxHashMap<CounterSlot, usize> = (self.graphs.iter().enumerate())
            .filter(|(_, graph)| !graph.is_dense())
            .map(|(index, graph)| (graph.slot(), index))
            .collect();
        for &((slot, path), count) in hashed {
            if let Some(&index) = by_slot.get(&CounterSlot(slot.0)) {
                self.graphs[index].set_hashed(u64::from(path), count.max(0) as u64);
            }
        }
        for index in by_slot.into_values() {
            if self.graphs[index].is_armed() {
                self.graphs[index].look_hashed(now);
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
            if sum > 0.0 && missing <= MAX_REST_SHARE * sum {
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
        self.changed = true;
        let now = self.time.now();
        self.pace.changed(now);
        let paces = LazyCell::new(|| self.pace.steps());
        for (position, &silent) in silent.iter().enumerate() {
            let Some(graphs) = self.methods.get(&first_method.at(position)) else {
                continue;
            };
            for graph in &mut self.graphs[graphs.clone()] {
                if graph.is_armed() != silent {
                    continue;
                }
                let left = switches.get(graph.slot());
                let state = if silent {
                    0
                } else {
                    Switches::at_first(window, graph.is_dense())
                };
                switches.set(graph.slot(), state);
                if silent {
                    graph.disarm(blocks, left, now);
                    graph.silence(now);
                } else {
                    graph.end_silence(now, &paces);
                    graph.arm(blocks, now);
                }
            }
        }
    }

    /// Profiling begins, or continues: all graphs have their probes.
    pub fn begin(&mut self, blocks: &ThreadBlocks, window: Option<NonZeroU32>) {
        let Some(switches) = blocks.switches() else { return };
        self.changed = true;
        let now = self.time.now();
        self.looks = Looks::default();
        self.pace = Pace::default();
        for graph in &mut self.graphs {
            switches.set(graph.slot(), Switches::at_first(window, graph.is_dense()));
            graph.arm(blocks, now);
        }
    }

    /// Profiling stops.
    pub fn stop(&mut self, blocks: &ThreadBlocks) {
        let now = self.time.now();
        let paces = self.pace.steps();
        for graph in &mut self.graphs {
            let mut left = -1;
            if let Some(switches) = blocks.switches() {
                left = switches.get(graph.slot());
                switches.set(graph.slot(), 0);
            }
            graph.disarm(blocks, left, now);
            graph.end_silence(now, &paces);
        }
    }

    /// Forgets all counts.
    pub fn reset(&mut self, blocks: &ThreadBlocks) {
        self.spans = 0;
        let now = self.time.now();
        let paces = self.pace.steps();
        for graph in &mut self.graphs {
            graph.reset(blocks, now, &paces);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use trodden_instrumenter::CounterSlot;

    use super::{Awake, LIFTED, Looks, MAX_RATE_IN_SPAN, Mean, Seen, Windows, Work, ended, turn};

    /// One of them is hotter than a span may be: it is alone.
    #[test]
    fn graphs_take_turns() {
        let rate = |graph: usize| match graph {
            7 => 3.0 * MAX_RATE_IN_SPAN,
            _ => MAX_RATE_IN_SPAN / 4.5,
        };
        let awake = |graph| Awake {
            graph,
            slot: CounterSlot(graph as u32),
            turn: turn(graph),
            rate: rate(graph),
            seen: Seen::default(),
        };
        let mut awake: Vec<Awake> = (0..50).map(awake).collect();
        awake.sort_unstable_by_key(|awake| awake.turn);
        let mut windows = Windows {
            awake,
            ..Windows::default()
        };
        let mut turns = [0u32; 50];
        while turns[7] < 20 {
            let open = windows.turn();
            assert!((1..=4).contains(&open.len()));
            assert!(open.len() == 1 || open.iter().all(|awake| awake.graph != 7));
            for awake in open {
                turns[awake.graph] += 1;
            }
        }
        assert!(turns.iter().all(|turns| (19..=21).contains(turns)), "{turns:?}");
    }

    /// The time that a single look takes hardly changes the distance.
    #[test]
    fn the_distance_of_looks_is_by_their_mean() {
        let mut looks = Looks {
            mean: Mean(Some(0.1)),
            ..Looks::default()
        };
        let work = Work::begin();
        let begin = work.begin;
        looks.done(&work, 50, Duration::ZERO);
        let apart = looks.next.expect("one is due some time") - begin;
        assert!(apart >= Duration::from_millis(4_750), "{apart:?}");
        assert!(!looks.are_due() && Looks::default().are_due());
    }

    #[test]
    fn a_few_graphs_are_all_in_each_span() {
        assert!(Windows::default().turn().is_empty());
        let awake = |graph| Awake {
            graph,
            slot: CounterSlot(graph as u32),
            turn: turn(graph),
            rate: 1e6,
            seen: Seen::default(),
        };
        let mut windows = Windows {
            awake: vec![awake(0), awake(1)],
            ..Windows::default()
        };
        for _ in 0..3 {
            assert_eq!(windows.turn().len(), 2);
        }
    }

    #[test]
    fn what_a_racing_thread_writes_over_a_lifted_limit_is_no_path_end() {
        assert_eq!(ended(0, i32::MAX), 0);
        assert_eq!(ended(57, i32::MAX - 3), 3);
        // It had read 57 before the limit was lifted, wrote 56 afterwards, and went on from there.
        assert_eq!(ended(57, 50), 7);
        // The switch was read in between.
        assert_eq!(ended(57, 58), 0);
    }

    /// A thread had written over what closed the last span: two million path ends since are not this one's.
    #[test]
    fn a_span_begins_where_the_last_one_was_not_closed() {
        let before = i32::MAX - 2_000_000;
        assert_eq!(ended(before, before - 300), 300);
        assert_eq!(ended(LIFTED + 10, LIFTED - 20), 30);
    }
}
