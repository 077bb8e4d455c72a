//! One structure graph: its windows, and what they say. Times are the process's own, in seconds of its
//! processors.

use super::SPAN;
use crate::threads::blocks::ThreadBlocks;
use std::collections::BTreeMap;

use trodden_instrumenter::CounterSlot;

/// Windows after which a graph's distribution is known.
const ENOUGH: u32 = 10;
/// A graph is opened at every tick at first, and at every second one after so many windows, then at every
/// third, up to a limit.
const EASE: u32 = 8;
const SELDOM: u32 = 64;

/// Spans are taken to be at least that long, in seconds.
const SHORTEST: f64 = 1e-5;
/// The least part of a span that is the program's own. What counting takes is known for one graph alone;
/// where a loop goes through two, both are counted side by side, and little would seem to be left: with an
/// eighth, a rate came out seven times too high on a busy machine. A third is less than tight loops leave:
/// rates of one came out a quarter too low.
const OWN: f64 = 1.0 / 4.0;

/// A path of a method's structure graphs in one number: the graph in the upper half.
pub fn key(graph: usize, path: u64) -> u64 {
    (graph as u64) << 32 | path & 0xffff_ffff
}

/// What is known of a graph.
pub struct Graph {
    slot: CounterSlot,
    /// Its paths; 0 if they are hashed.
    paths: u32,
    armed: bool,
    /// Counters when they were read last.
    counted: Vec<u64>,
    /// Counters when counts were last forgotten.
    baseline: Vec<u64>,
    /// Path ends of the whole run, as far as there were probes.
    estimated: Vec<f64>,
    hashed: BTreeMap<u64, u64>,
    hashed_baseline: BTreeMap<u64, u64>,
    /// When the last window was opened, or harvested; and at which tick.
    opened: f64,
    tick: u64,
    /// Path ends per second in the last spans, if there was one.
    rate: Option<f64>,
    /// Path ends in spans, and their lengths, older ones counting less.
    spans: (f64, f64),
    windows: u64,
    /// Windows filled, and path ends, since it got its probes.
    recent: u32,
    recent_ends: f64,
    /// Ticks until it is opened again; none if that was not decided yet.
    wait: Option<u32>,
    /// Was it left closed for some ticks?
    rested: bool,
}

impl Graph {
    /// With probes, before anything was counted.
    pub fn new(slot: CounterSlot, paths: u32, now: f64) -> Self {
        Graph {
            slot,
            paths,
            armed: true,
            counted: Vec::new(),
            baseline: Vec::new(),
            estimated: Vec::new(),
            hashed: BTreeMap::new(),
            hashed_baseline: BTreeMap::new(),
            opened: now,
            tick: 0,
            rate: None,
            spans: (0.0, 0.0),
            windows: 0,
            recent: 0,
            recent_ends: 0.0,
            wait: None,
            rested: false,
        }
    }

    /// Its first slot, which its switch is known by.
    pub fn slot(&self) -> CounterSlot {
        self.slot
    }

    /// Has each path a slot?
    pub fn is_dense(&self) -> bool {
        self.paths > 0
    }

    /// Has it probes?
    pub fn is_armed(&self) -> bool {
        self.armed
    }

    /// Is it to be opened at this tick? Asked at each one.
    pub fn is_due(&mut self, filled: bool) -> bool {
        if !filled {
            return true;
        }
        let wait = self.wait.get_or_insert((self.recent / EASE).min(SELDOM));
        if *wait == 0 {
            self.wait = None;
            return true;
        }
        *wait -= 1;
        self.rested = true;
        false
    }

    /// Is its window closed, and left so for some ticks?
    pub fn is_resting(&self) -> bool {
        self.wait.is_some()
    }

    fn read(&self, blocks: &ThreadBlocks) -> Vec<u64> {
        blocks.sums(self.slot..self.slot.plus(self.paths))
    }

    /// Takes in what was counted since the last time. If the window is `closed`, it was so for an unknown
    /// time, and what is missing follows from the rate in its span.
    pub fn harvest(&mut self, blocks: &ThreadBlocks, closed: bool, now: f64) {
        let counters = self.read(blocks);
        self.counted.resize(counters.len(), 0);
        self.estimated.resize(counters.len(), 0.0);
        let ended = |(now, before): (&u64, &u64)| now.wrapping_sub(*before);
        let all: u64 = counters.iter().zip(&self.counted).map(ended).sum();
        let seconds = (now - self.opened).max(0.0);
        let weight = match (closed, self.rate) {
            // Opened when its class was loaded, without a span.
            (true, Some(rate)) if all > 0 => rate * seconds / all as f64,
            _ => 1.0,
        };
        for ((sum, now), before) in self.estimated.iter_mut().zip(&counters).zip(&self.counted) {
            *sum += now.wrapping_sub(*before) as f64 * weight;
        }
        self.counted = counters;
        self.recent_ends += all as f64 * weight;
        self.opened = now;
    }

    /// Its window was filled.
    pub fn filled(&mut self) {
        self.windows += 1;
        self.recent += 1;
    }

    /// A window is opened, at the tick of that number.
    pub fn open(&mut self, now: f64, tick: u64) {
        self.opened = now;
        self.tick = tick;
        self.rate = None;
        self.rested = false;
    }

    /// It is open since the tick of that number, at that time, if not since later.
    pub fn opened_at(&mut self, now: f64, tick: u64) {
        if self.tick < tick {
            self.open(now.max(self.opened), tick);
        }
    }

    /// Nothing had ended in it at the tick of that number, at that time: its window stayed open, and its span
    /// saw nothing.
    pub fn stayed_open(&mut self, now: f64, tick: u64) {
        if !self.rested && self.tick < tick && now > self.opened {
            self.opened = now;
            self.tick = tick;
            self.rate = Some(0.0);
            self.spans = (0.0, 2.0 * SPAN.as_secs_f64());
        }
    }

    /// Path ends since it was harvested.
    pub fn ended_since(&self, blocks: &ThreadBlocks) -> u64 {
        let counters = self.read(blocks);
        let before = |path: usize| self.counted.get(path).copied().unwrap_or(0);
        let ended = |(path, &now): (usize, &u64)| now.wrapping_sub(before(path));
        counters.iter().enumerate().map(ended).sum()
    }

    /// So many paths ended in its span, which is over. Counting itself took some of it. Spans before count as
    /// well, each half as much as the one after it: in a span in which the program did not run, nothing is to
    /// be learnt.
    pub fn end_span(&mut self, ended: u64, at: f64, delay: f64) {
        let length = (at - self.opened).max(0.0);
        let (ends, time) = &mut self.spans;
        *ends = *ends / 2.0 + ended as f64;
        *time = *time / 2.0 + (length - delay).max(length * OWN);
        self.rate = Some(*ends / time.max(SHORTEST));
    }

    /// What is counted by hash.
    pub fn set_hashed(&mut self, path: u64, count: u64) {
        let known = self.hashed.entry(path).or_default();
        self.recent_ends += count.saturating_sub(*known) as f64;
        *known = count;
    }

    /// Loses its probes.
    pub fn disarm(&mut self, blocks: &ThreadBlocks, closed: bool, now: f64) {
        if self.armed && self.is_dense() {
            self.harvest(blocks, closed, now);
        }
        self.armed = false;
    }

    /// Has its probes again. What was counted meanwhile, by activations from before, is left out.
    pub fn arm(&mut self, blocks: &ThreadBlocks, now: f64) {
        if self.is_dense() {
            self.counted = self.read(blocks);
        }
        self.armed = true;
        self.opened = now;
        self.rate = None;
        self.spans = (0.0, 0.0);
        self.recent = 0;
        self.recent_ends = 0.0;
        self.wait = None;
        self.rested = false;
    }

    /// Were enough of its windows filled since it got its probes? What is counted by hash is counted
    /// throughout.
    pub fn is_full(&self) -> bool {
        !self.is_dense() || self.recent >= ENOUGH
    }

    /// Estimated path ends since it got its probes.
    pub fn recent_ends(&self) -> f64 {
        self.recent_ends
    }

    /// Windows that were filled.
    pub fn windows(&self) -> u64 {
        self.windows
    }

    /// Paths that were taken, with the estimate of how often in the time with probes.
    pub fn estimated(&self) -> impl Iterator<Item = (u64, f64)> {
        let dense = (0..).zip(self.estimated.iter().copied());
        let hashed = self.hashed.iter().map(|(&path, &count)| {
            let before = self.hashed_baseline.get(&path).copied().unwrap_or(0);
            (path, count.saturating_sub(before) as f64)
        });
        dense.chain(hashed).filter(|&(_, count)| count > 0.0)
    }

    /// What was counted in windows.
    pub fn local(&self) -> BTreeMap<u64, u64> {
        let before = |path: usize| self.baseline.get(path).copied().unwrap_or(0);
        let dense = self.counted.iter().enumerate();
        let dense = dense.map(|(path, &count)| (path as u64, count.wrapping_sub(before(path))));
        let hashed = self.hashed.iter().map(|(&path, &count)| {
            let before = self.hashed_baseline.get(&path).copied().unwrap_or(0);
            (path, count.saturating_sub(before))
        });
        dense.chain(hashed).filter(|&(_, count)| count > 0).collect()
    }

    /// Forgets all counts.
    pub fn reset(&mut self, blocks: &ThreadBlocks, now: f64) {
        if self.is_dense() && !self.counted.is_empty() {
            self.counted = self.read(blocks);
        }
        self.baseline = self.counted.clone();
        self.hashed_baseline = self.hashed.clone();
        self.estimated.clear();
        self.windows = 0;
        self.opened = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1,000 path ends in 100 µs.
    fn rate(delay: f64) -> f64 {
        let mut graph = Graph::new(CounterSlot(0), 4, 0.0);
        graph.open(1.0, 1);
        graph.end_span(1_000, 1.0 + 1e-4, delay);
        graph.rate.unwrap_or_default()
    }

    #[test]
    fn what_counting_takes_is_no_time_of_the_program() {
        let near = |rate: f64, expected: f64| assert!((rate / expected - 1.0).abs() < 1e-6, "{rate}");
        near(rate(0.0), 1e7);
        near(rate(5e-5), 2e7);
        // But it does not take all.
        near(rate(9.9e-5), 4e7);
        near(rate(5e-4), 4e7);
    }
}
