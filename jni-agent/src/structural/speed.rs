//! How fast the program runs in spans, compared with the time between them.
//!
//! In a span every graph is counted, which delays the program by more than the additions take: switches and
//! counters have left the caches. So a rate that was seen in a span is lower than that of the time around
//! it. Graphs that are counted throughout show by how much.

use std::ops::Range;

use trodden_instrumenter::CounterSlot;

use crate::threads::ThreadBlocks;

/// The part of what earlier spans showed that is kept at each span: a mean over about fifty.
const KEPT: f64 = 0.98;
/// Path ends in spans from which the ratio is known: to about a twentieth.
const MIN_ENDS: f64 = 400.0;
/// Bounds of the ratio.
const MIN_SPEED: f64 = 0.25;

/// Path ends, and the program's time that they took: sums in which what is older has less weight.
#[derive(Clone, Copy, Debug, Default)]
pub struct Flow {
    ends: f64,
    seconds: f64,
}

impl Flow {
    /// Adds path ends of a number of seconds, with that part of the sums `kept`.
    pub fn add(&mut self, kept: f64, ends: f64, seconds: f64) {
        self.ends = self.ends * kept + ends;
        self.seconds = self.seconds * kept + seconds;
    }

    /// Path ends per second.
    pub fn rate(self) -> f64 {
        self.ends / self.seconds.max(1e-6)
    }
}

/// What graphs that are counted throughout show.
#[derive(Debug, Default)]
pub struct Speed {
    /// Their counters.
    graphs: Vec<Range<CounterSlot>>,
    /// Their path ends per second. Flows are in seconds' worth of it: others come later, with other rates.
    rate: f64,
    /// The sum of counters when a span began or ended, and when that was.
    last: Option<(u64, f64)>,
    inside: Flow,
    outside: Flow,
    /// Path ends in spans.
    seen: f64,
}

impl Speed {
    /// From now on these graphs are counted throughout, each of which has that number of path ends per
    /// second.
    pub fn watch(&mut self, graphs: Vec<(Range<CounterSlot>, f64)>) {
        self.rate = graphs.iter().map(|(_, rate)| rate).sum();
        let graphs: Vec<_> = graphs.into_iter().map(|(slots, _)| slots).collect();
        if self.graphs != graphs {
            self.graphs = graphs;
            self.last = None;
        }
    }

    /// A span begins.
    pub fn begin_span(&mut self, blocks: &ThreadBlocks, now: f64) {
        if let Some((ends, seconds)) = self.since(blocks, now) {
            self.outside.add(KEPT, ends / self.rate, seconds);
        }
    }

    /// The span ends.
    pub fn end_span(&mut self, blocks: &ThreadBlocks, now: f64) {
        if let Some((ends, seconds)) = self.since(blocks, now) {
            self.inside.add(KEPT, ends / self.rate, seconds);
            self.seen = self.seen * KEPT + ends;
        }
    }

    /// The program's speed in spans as a part of that between them, at most 1. `None`: too few path ends
    /// were counted.
    pub fn in_spans(&self) -> Option<f64> {
        let speed = self.inside.rate() / self.outside.rate();
        (self.seen >= MIN_ENDS && speed.is_finite()).then(|| speed.clamp(MIN_SPEED, 1.0))
    }

    /// Path ends and seconds since the last time, if that is known.
    fn since(&mut self, blocks: &ThreadBlocks, now: f64) -> Option<(f64, f64)> {
        let sum = self.sum(blocks);
        let (before, at) = self.last.replace((sum, now))?;
        (self.rate > 0.0).then(|| (sum.wrapping_sub(before) as f64, now - at))
    }

    fn sum(&self, blocks: &ThreadBlocks) -> u64 {
        let counts = self.graphs.iter().flat_map(|slots| blocks.sums(slots.clone()));
        counts.fold(0, u64::wrapping_add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_compared_with_the_time_between_them() {
        let blocks = ThreadBlocks::new();
        let block = blocks.reserve().expect("memory for a block");
        let mut speed = Speed::default();
        speed.watch(vec![(CounterSlot(20)..CounterSlot(22), 1_000.0)]);
        let mut now = 0.0;
        for span in 0..200 {
            // 1,000 a second outside, 500 in it.
            block.count_for_test(20, 1_000);
            now += 1.0;
            speed.begin_span(&blocks, now);
            block.count_for_test(21, 50);
            now += 0.1;
            speed.end_span(&blocks, now);
            assert_eq!(speed.in_spans().is_some(), span >= 8, "{span}");
        }
        assert!((speed.in_spans().unwrap() - 0.5).abs() < 1e-9);
    }

    /// A graph that was a thousand times as hot has the weight of its time only.
    #[test]
    fn hotter_graphs_of_before_do_not_outweigh_those_of_now() {
        let blocks = ThreadBlocks::new();
        let block = blocks.reserve().expect("memory for a block");
        let mut speed = Speed::default();
        let mut now = 0.0;
        for (slot, rate, inside) in [(20, 1_000_000, 1.0), (30, 1_000, 0.5)] {
            speed.watch(vec![(CounterSlot(slot)..CounterSlot(slot + 1), f64::from(rate))]);
            for _ in 0..200 {
                block.count_for_test(slot, rate as u64);
                now += 1.0;
                speed.begin_span(&blocks, now);
                block.count_for_test(slot, (inside * f64::from(rate) / 10.0) as u64);
                now += 0.1;
                speed.end_span(&blocks, now);
            }
        }
        let speed = speed.in_spans().unwrap();
        assert!((speed - 0.5).abs() < 0.02, "{speed}");
    }

    #[test]
    fn other_graphs_begin_with_their_own_counts() {
        let blocks = ThreadBlocks::new();
        let block = blocks.reserve().expect("memory for a block");
        block.count_for_test(30, 1_000_000);
        let mut speed = Speed::default();
        speed.watch(vec![(CounterSlot(30)..CounterSlot(31), 1_000.0)]);
        speed.begin_span(&blocks, 1.0);
        speed.end_span(&blocks, 2.0);
        assert_eq!((speed.inside.ends, speed.outside.seconds), (0.0, 0.0));
    }
}
