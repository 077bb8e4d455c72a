//! One structure graph: its windows, and what they say. Times are in seconds.

use std::collections::BTreeMap;
use std::ops::Range;

use trodden_instrumenter::CounterSlot;

use super::Mean;
use super::pace::Steps;
use crate::threads::ThreadBlocks;

/// Windows after which a graph's distribution is known.
const FULL_WINDOWS: u32 = 10;
/// A graph's window is opened at each of its spans at first, at every second one after this number of
/// windows, then at every third, up to a limit. What ends in spans is seen all the same.
const WINDOWS_PER_STEP: u32 = 8;
const MAX_WAIT: u32 = 64;

/// The part of earlier looks that the rate of the last seconds keeps at each look: a mean over about a
/// hundred.
const RECENT: f64 = 0.99;

/// A span represents half of the time to the next one, and since the one before, up to that many times
/// their mean distance. The rest of a longer time has the rate of the last seconds: with bursts, one span
/// next to it would decide too much (ECJ's lexer runs for 2 % of the time, and spans that are 20 ms apart
/// were sometimes 100: a hit then was 8 % of all path ends).
const MAX_GAP: f64 = 2.0;

/// The least time of the program from which path ends make a rate.
const MIN_RATE_SECONDS: f64 = 1e-3;

/// A switch above this has its limit lifted.
pub const LIFTED: i32 = i32::MAX / 2;

/// A path of a method's structure graphs in one number: the graph in the upper half.
pub fn key(graph: usize, path: u64) -> u64 {
    (graph as u64) << 32 | path & 0xffff_ffff
}

/// Path ends, and the program's time that they took: sums in which what is older has less weight.
#[derive(Clone, Copy, Debug, Default)]
struct Flow {
    ends: f64,
    seconds: f64,
}

impl Flow {
    /// Adds path ends of a number of seconds, with that part of the sums `kept`.
    fn add(&mut self, kept: f64, ends: f64, seconds: f64) {
        self.ends = self.ends * kept + ends;
        self.seconds = self.seconds * kept + seconds;
    }

    /// Path ends per second.
    fn rate(self) -> f64 {
        self.ends / self.seconds.max(MIN_RATE_SECONDS)
    }
}

/// A graph, and its counts.
pub struct Graph {
    slot: CounterSlot,
    /// Its paths; 0 if they are hashed.
    paths: u32,
    armed: bool,
    /// True while every path end is counted.
    throughout: bool,
    /// Counters when they were read last.
    counted: Vec<u64>,
    /// Counters when counts were last forgotten.
    baseline: Vec<u64>,
    /// Path ends of the whole run, as far as there were probes.
    estimated: Vec<f64>,
    hashed: BTreeMap<u64, u64>,
    hashed_baseline: BTreeMap<u64, u64>,
    /// All its counters together when they were read last, and what its windows may have counted since,
    /// outside of spans.
    total: u64,
    allowed: u64,
    /// Up to when it is known how many paths ended.
    at: f64,
    windows: u64,
    since: Since,
    /// Since when it has no probes, and the rate that it had.
    silent: Option<(f64, f64)>,
    /// Path ends in earlier times without probes.
    missed: f64,
}

/// The state of a graph since it got its probes.
#[derive(Default)]
struct Since {
    awake: bool,
    /// Path ends per second in the last span, if there was one.
    rate: Option<f64>,
    /// Seconds between two spans, on the mean of the last ones.
    gap: Mean,
    /// Counts of the last span that has any, with those of the window after it.
    last: Vec<u64>,
    /// True if its window was open after the last span.
    opened: bool,
    /// The part of what the last span represents that is in the estimate already.
    taken: f64,
    /// Windows filled, and path ends.
    windows: u32,
    ends: f64,
    /// Path ends at the last look, and those of the last seconds.
    looked: f64,
    recent: Flow,
    /// Ticks with spans of known length until its window is opened again; none if that was not decided yet.
    wait: Option<u32>,
}

/// The rest of a window in which a number of paths has ended.
pub fn remaining(window: i32, ended: u64) -> i32 {
    let ended = i32::try_from(ended).unwrap_or(i32::MAX);
    window.saturating_sub(ended).max(0)
}

/// A graph in a span, by its switch.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seen {
    /// The rest of its window before.
    pub left: i32,
    /// Paths that ended in it, by the switch.
    pub ended: u64,
    /// Nothing was left, and nothing has been counted since the span ended.
    pub closed: bool,
}

/// A graph in a span, by its counters.
#[derive(Debug)]
pub struct Ended {
    /// The rest of its window before.
    left: i32,
    /// The rest of its window now.
    pub remaining: i32,
    /// True if its window is opened.
    due: bool,
    /// Paths that ended in the span.
    pub ends: u64,
    /// Those counted since its counters were read before.
    counted: u64,
    /// Its counters, if they had to be read.
    counters: Option<Vec<u64>>,
}

/// A span of time.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    /// When it was about to begin.
    pub begin: f64,
    /// When it had ended.
    pub end: f64,
    /// Its length, less what counting took once that is known; none if it is not known well enough.
    pub length: Option<f64>,
}

impl Graph {
    /// With probes, before anything was counted.
    pub fn new(slot: CounterSlot, paths: u32, now: f64) -> Self {
        Graph {
            slot,
            paths,
            armed: true,
            throughout: false,
            counted: Vec::new(),
            baseline: Vec::new(),
            estimated: Vec::new(),
            hashed: BTreeMap::new(),
            hashed_baseline: BTreeMap::new(),
            total: 0,
            allowed: 0,
            at: now,
            windows: 0,
            since: Since::default(),
            silent: None,
            missed: 0.0,
        }
    }

    /// Its counters.
    pub fn slots(&self) -> Range<CounterSlot> {
        self.slot..self.slot.plus(self.paths)
    }

    /// True while every path end is counted, with no limit in its switch.
    pub fn is_counted_throughout(&self) -> bool {
        self.throughout
    }

    /// From now on every path end is counted, or no longer: what was counted until now is taken in. `left`:
    /// of its window.
    pub fn count_throughout(&mut self, blocks: &ThreadBlocks, throughout: bool, left: i32, now: f64) {
        self.settle(blocks, left, now);
        self.throughout = throughout;
        self.since.opened = false;
        // With no limit it is the rate of all the time, and what the time until the next span is filled with.
        self.since.rate = self.since.rate.map(|_| self.since.recent.rate());
    }

    /// Adds what was counted, if that is every path end. Returns path ends per second in the last looks, of
    /// which this one is `seconds` after the one before.
    pub fn look(&mut self, blocks: &ThreadBlocks, now: f64, seconds: f64) -> f64 {
        if self.throughout {
            self.settle(blocks, -1, now);
        }
        self.add_recent(seconds);
        self.since.recent.rate()
    }

    /// The same of a graph whose paths are hashed, with their counts set now.
    pub fn look_hashed(&mut self, now: f64) {
        let seconds = now - std::mem::replace(&mut self.at, now);
        self.add_recent(seconds);
    }

    fn add_recent(&mut self, seconds: f64) {
        let ends = self.since.ends - std::mem::replace(&mut self.since.looked, self.since.ends);
        self.since.recent.add(RECENT, ends, seconds);
    }

    /// Its first slot, which its switch is known by.
    pub fn slot(&self) -> CounterSlot {
        self.slot
    }

    /// True if each path has a slot.
    pub fn is_dense(&self) -> bool {
        self.paths > 0
    }

    /// True if it has had its turn since it got its probes.
    pub fn has_rate(&self) -> bool {
        self.since.rate.is_some()
    }

    /// True while it has probes.
    pub fn is_armed(&self) -> bool {
        self.armed
    }

    /// True if a path of it has ended since it got its probes. `left`: the rest of its window, which is
    /// `window` if nothing has been counted; then it is known that none has ended until now.
    pub fn is_awake(&mut self, left: i32, window: i32, now: f64) -> bool {
        self.since.awake |= left != window;
        if !self.since.awake {
            self.at = now;
        }
        self.since.awake
    }

    /// True if its window, which is closed, is to be opened at this tick. Asked at each one with a span of
    /// known length.
    fn is_due(&mut self) -> bool {
        let wait = self
            .since
            .wait
            .get_or_insert((self.since.windows / WINDOWS_PER_STEP).min(MAX_WAIT));
        if *wait == 0 {
            self.since.wait = None;
            return true;
        }
        *wait -= 1;
        false
    }

    /// A span is about to begin, and so much is `left` of the graph's window. If it was open after the last
    /// span and has been filled, it shows, with that span, which paths that span's rate stands for.
    pub fn begin_span(&mut self, blocks: &ThreadBlocks, left: i32, now: f64) {
        let opened = std::mem::take(&mut self.since.opened);
        let Some(rate) = self.since.rate else { return };
        if left > LIFTED {
            // A thread has written over what closed it: until now all has been counted.
            self.settle(blocks, left, now);
        } else if opened && left == 0 {
            self.since.taken = self.represented(rate, (now - self.at).max(0.0));
            self.window(blocks, self.since.taken);
        }
    }

    /// Reads its counters after a span, if its switch says that something was counted. `known`: the span's
    /// length is. `window`: the length of its windows.
    ///
    /// A window that was filled before the span stays closed if its turn has not come.
    pub fn see_span(&mut self, blocks: &ThreadBlocks, seen: Seen, known: bool, window: i32) -> Ended {
        let Seen { left, mut ended, .. } = seen;
        let closed = left == 0;
        let due = !closed || (known && self.is_due());
        let remaining = if due { remaining(window, ended) } else { 0 };
        let (before, allowed) = (self.total, self.allowed);
        let read = ended > 0 || if closed { due } else { left != window };
        let counters = read.then(|| self.take(blocks, remaining));
        if !read && !closed {
            self.allowed = remaining as u64;
        }
        let counted = self.total.wrapping_sub(before);
        if read {
            // A thread that was interrupted while it counted may have written a number from long ago.
            ended = ended.min(counted);
        }
        if seen.closed && self.since.rate.is_some() {
            // Threads that race take one off the switch together: counters know better, unless they have
            // counted beyond the span.
            ended = ended.max(counted.saturating_sub(allowed));
        }
        Ended {
            left,
            remaining,
            due,
            ends: ended,
            counted,
            counters,
        }
    }

    /// Takes in a span, and what was counted of the graph in it.
    ///
    /// A window that was still open when the span began had counted everything (but where a thread that was
    /// interrupted while it counted has opened it again: what came before is left out). Of the time in which
    /// it was closed the span before it represents one half, the span after it the other, each with its rate
    /// and with the paths that it has counted, and a window that was filled right after it. With spans at
    /// random times the sum is right on average, whatever happens in bursts; rates over several spans, or
    /// counted on only while paths end, would show too little of that, and are for the rest of long pauses.
    pub fn end_span(&mut self, ended: Ended, span: Span) {
        let closed = ended.left == 0;
        let seconds = (span.begin - self.at).max(0.0);
        let known = match (closed, span.length) {
            // Nothing but that as many paths ended, sometime: that is left to the next span.
            (true, None) => return,
            (true, Some(length)) => {
                let rate = ended.ends as f64 / length;
                let before = self.since.rate.replace(rate);
                let mut known = self.represented(rate, seconds) + ended.ends as f64;
                match before {
                    Some(before) => {
                        self.spread(self.represented(before, seconds) - self.since.taken);
                        self.since.gap.add(seconds);
                    }
                    // Before its first span there was another rate, at least that of what was counted.
                    None => known = known.max(ended.counted as f64),
                }
                Some(known)
            }
            // All that ended since the last span has been counted. Where the program has hardly run since,
            // that is no rate: a few path ends seemed to be a hundred million a second.
            (false, None) => {
                let time = span.end - self.at;
                if time >= MIN_RATE_SECONDS {
                    self.since.rate = self.since.rate.map(|_| ended.counted as f64 / time);
                }
                None
            }
            (false, Some(length)) => {
                self.since.rate = Some(ended.ends as f64 / length);
                None
            }
        };
        self.at = span.end;
        self.since.taken = 0.0;
        self.since.opened = ended.remaining > 0;
        if let Some(counters) = ended.counters {
            self.harvest(counters, known);
        }
        if (closed && ended.due) || ended.left > LIFTED {
            self.windows += 1;
            self.since.windows += 1;
        }
    }

    /// Path ends that a span with this rate represents in the seconds between it and another one.
    fn represented(&self, rate: f64, seconds: f64) -> f64 {
        let gap = self.since.gap.get().filter(|_| self.since.recent.seconds > 0.0);
        let near = gap.map_or(seconds, |gap| seconds.min(gap * MAX_GAP));
        (rate * near + self.since.recent.rate() * (seconds - near)) / 2.0
    }

    /// Takes in what was counted since the last time, between spans. If the window is closed (nothing is
    /// `left` of it), the last span's rate tells how much is missing.
    pub fn settle(&mut self, blocks: &ThreadBlocks, left: i32, now: f64) {
        let seconds = (now - self.at).max(0.0);
        self.at = now;
        let taken = std::mem::take(&mut self.since.taken);
        let rate = self.since.rate.filter(|_| left == 0);
        let missing = rate.map(|rate| rate * seconds - taken);
        match missing {
            Some(missing) if std::mem::take(&mut self.since.opened) => self.window(blocks, missing),
            _ => {
                let counters = self.take(blocks, left);
                self.harvest(counters, missing);
            }
        }
    }

    /// Takes in what was counted in a window that was open after a span, and has been filled: with the span,
    /// it stands for so many path ends.
    fn window(&mut self, blocks: &ThreadBlocks, ends: f64) {
        let counters = self.take(blocks, 0);
        let new = self.counted_since(counters);
        self.since.last.resize(new.len(), 0);
        for (sum, count) in self.since.last.iter_mut().zip(new) {
            *sum += count;
        }
        self.spread(ends);
    }

    /// Reads the counters. Until the next span, so much is left of the window.
    fn take(&mut self, blocks: &ThreadBlocks, left: i32) -> Vec<u64> {
        let counters = self.read(blocks);
        self.total = counters.iter().sum();
        self.allowed = left.max(0) as u64;
        counters
    }

    fn read(&self, blocks: &ThreadBlocks) -> Vec<u64> {
        blocks.sums(self.slots())
    }

    /// Adds what was counted since the last time to the estimate: as it is, or so many path `ends` in its
    /// proportions. If nothing was, in those of the last time.
    fn harvest(&mut self, counters: Vec<u64>, ends: Option<f64>) {
        let new = self.counted_since(counters);
        let all: u64 = new.iter().sum();
        if all > 0 {
            self.since.last = new;
        }
        self.spread(ends.unwrap_or(all as f64));
    }

    /// Counts since the last time.
    fn counted_since(&mut self, counters: Vec<u64>) -> Vec<u64> {
        self.counted.resize(counters.len(), 0);
        let new = counters.iter().zip(&self.counted);
        let new = new.map(|(now, before)| now.wrapping_sub(*before)).collect();
        self.counted = counters;
        new
    }

    /// Adds so many path ends to the estimate, in the proportions of what was counted last.
    fn spread(&mut self, ends: f64) {
        self.estimated.resize(self.counted.len(), 0.0);
        let all: u64 = self.since.last.iter().sum();
        if all == 0 || ends <= 0.0 {
            return;
        }
        for (sum, &count) in self.estimated.iter_mut().zip(&self.since.last) {
            *sum += count as f64 * ends / all as f64;
        }
        self.since.ends += ends;
    }

    /// Sets a count by hash.
    pub fn set_hashed(&mut self, path: u64, count: u64) {
        let known = self.hashed.entry(path).or_default();
        self.since.ends += count.saturating_sub(*known) as f64;
        *known = count;
    }

    /// Loses its probes, with so much left of its window.
    pub fn disarm(&mut self, blocks: &ThreadBlocks, left: i32, now: f64) {
        if self.armed && self.is_dense() {
            self.settle(blocks, left, now);
        }
        self.armed = false;
        self.throughout = false;
    }

    /// Has no probes from now on, while the program goes on.
    pub fn silence(&mut self, now: f64) {
        self.silent = Some((now, self.since.recent.rate()));
    }

    /// The time without probes ends.
    pub fn end_silence(&mut self, now: f64, pace: &Steps) {
        self.missed = self.without_probes(now, pace);
        self.silent = None;
    }

    /// Path ends in the time without probes: its rate before, at the program's pace since.
    pub fn without_probes(&self, now: f64, pace: &Steps) -> f64 {
        let silent = self.silent.map_or(0.0, |(since, rate)| {
            rate * (now - since) * pace.gained(since, now)
        });
        self.missed + silent
    }

    /// Has its probes again. What was counted meanwhile, by activations from before, is left out.
    pub fn arm(&mut self, blocks: &ThreadBlocks, now: f64) {
        if self.is_dense() {
            self.counted = self.take(blocks, 0);
        }
        self.armed = true;
        self.throughout = false;
        self.at = now;
        self.since = Since::default();
    }

    /// True if enough of its windows were filled since it got its probes. Hashed paths are counted
    /// throughout.
    pub fn is_full(&self) -> bool {
        !self.is_dense() || self.throughout || self.since.windows >= FULL_WINDOWS
    }

    /// Estimated path ends since it got its probes.
    pub fn recent_ends(&self) -> f64 {
        self.since.ends
    }

    /// Windows that were filled.
    pub fn windows(&self) -> u64 {
        self.windows
    }

    /// Paths that were taken, with the estimate of how often in the time with probes: never less than what
    /// was counted.
    pub fn estimated(&self) -> impl Iterator<Item = (u64, f64)> {
        let dense = self.estimated.iter().copied().zip(self.dense());
        let dense = dense.map(|(count, (path, local))| (path, count.max(local as f64)));
        let hashed = self.by_hash().map(|(path, count)| (path, count as f64));
        dense.chain(hashed).filter(|&(_, count)| count > 0.0)
    }

    /// Counts in windows.
    pub fn local(&self) -> BTreeMap<u64, u64> {
        let all = self.dense().chain(self.by_hash());
        all.filter(|&(_, count)| count > 0).collect()
    }

    /// Counts in slots since counts were last forgotten.
    fn dense(&self) -> impl Iterator<Item = (u64, u64)> {
        let before = self.baseline.iter().copied().chain(std::iter::repeat(0));
        let since = self.counted.iter().zip(before);
        (0..).zip(since.map(|(count, before)| count.wrapping_sub(before)))
    }

    /// Counts by hash since then.
    fn by_hash(&self) -> impl Iterator<Item = (u64, u64)> {
        self.hashed.iter().map(|(&path, &count)| {
            let before = self.hashed_baseline.get(&path).copied().unwrap_or(0);
            (path, count.saturating_sub(before))
        })
    }

    /// Forgets all counts.
    pub fn reset(&mut self, blocks: &ThreadBlocks, now: f64, pace: &Steps) {
        if self.is_dense() && !self.counted.is_empty() {
            self.counted = self.take(blocks, 0);
        }
        self.baseline = self.counted.clone();
        self.hashed_baseline = self.hashed.clone();
        self.estimated.clear();
        self.since.taken = 0.0;
        self.windows = 0;
        self.at = now;
        self.missed = 0.0;
        if let Some((since, rate)) = self.silent {
            // It is that of the time with probes: from now on it is compared with the pace of now.
            self.silent = Some((now, rate * pace.gained(since, now)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::pace::{Counted, Pace};
    use super::*;

    const WINDOW: i32 = 100;

    /// A graph of two paths, and what counts one of them so many times.
    fn graph() -> (ThreadBlocks, Graph, impl Fn(u32, u64)) {
        let blocks = ThreadBlocks::new();
        let block = blocks.reserve().expect("memory for a block");
        let slot = CounterSlot(20);
        let count = move |path: u32, times: u64| block.count_for_test(slot.0 + path, times);
        (blocks, Graph::new(slot, 2, 0.0), count)
    }

    /// A span of a tenth of a second.
    fn span(end: f64) -> Span {
        Span {
            begin: end - 0.1,
            end,
            length: Some(0.1),
        }
    }

    fn seen(left: i32, ended: u64) -> Seen {
        Seen {
            left,
            ended,
            closed: left == 0,
        }
    }

    /// Returns what is left of its window.
    fn end_span(graph: &mut Graph, blocks: &ThreadBlocks, seen: Seen, span: Span, window: i32) -> i32 {
        let ended = graph.see_span(blocks, seen, span.length.is_some(), window);
        let remaining = ended.remaining;
        graph.end_span(ended, span);
        remaining
    }

    /// Estimates, in tenths.
    fn tenths(graph: &Graph) -> Vec<(u64, u64)> {
        let tenths = |(path, count): (u64, f64)| (path, (count * 10.0).round() as u64);
        graph.estimated().map(tenths).collect()
    }

    fn total(graph: &Graph) -> f64 {
        graph.estimated().map(|(_, count)| count).sum()
    }

    /// A graph that runs in one of ten seconds, 1,000 times a second: a span each second hits it once, and
    /// stands for half a second before it and half a second behind.
    #[test]
    fn bursts_count_as_often_as_spans_hit_them() {
        let (blocks, mut graph, count) = graph();
        assert_eq!(
            end_span(&mut graph, &blocks, seen(WINDOW, 0), span(0.0), WINDOW),
            WINDOW
        );
        // Its window is filled, and it ends in the middle of a span.
        count(0, 100);
        count(0, 100);
        let left = end_span(&mut graph, &blocks, seen(0, 100), span(1.0), WINDOW);
        assert_eq!(left, 0, "closed: the span has used it up");
        for second in 2..=10 {
            let second = f64::from(second);
            graph.begin_span(&blocks, 0, second - 0.1);
            end_span(&mut graph, &blocks, seen(0, 0), span(second), WINDOW);
        }
        graph.settle(&blocks, 0, 10.0);
        assert!((total(&graph) - 1_000.0).abs() < 1e-6, "{}", total(&graph));
    }

    #[test]
    fn windows_that_stay_open_count_everything() {
        let (blocks, mut graph, count) = graph();
        for second in 0..50 {
            count(0, 3);
            let span = span(f64::from(second));
            assert_eq!(end_span(&mut graph, &blocks, seen(97, 0), span, WINDOW), WINDOW);
        }
        assert_eq!(total(&graph), 150.0);
    }

    /// In a span of a tenth of a second 1,000 paths ended. 5,000 were counted: in the span, by threads that
    /// race, or beyond it, if one of them has written over what closed it.
    #[test]
    fn what_is_counted_beyond_a_span_is_no_rate() {
        for (closed, rate) in [(true, 50_000.0), (false, 10_000.0)] {
            let (blocks, mut graph, count) = graph();
            end_span(&mut graph, &blocks, seen(WINDOW, 0), span(0.0), WINDOW);
            count(0, 100);
            end_span(&mut graph, &blocks, seen(0, 100), span(1.0), WINDOW);
            count(0, 5_000);
            let late = Seen {
                closed,
                ..seen(0, 1_000)
            };
            end_span(&mut graph, &blocks, late, span(2.0), WINDOW);
            graph.settle(&blocks, 0, 2.0);
            // Two spans, half of 0.9 s of none, two times half of 0.9 s of 1,000, and one of that rate.
            let expected = 100.0 + 0.1 * rate + 900.0 + 0.45 * rate;
            assert!((total(&graph) - expected).abs() < 1e-6, "{}", total(&graph));
        }
    }

    /// A span of which the length is not known leaves the rate of a closed graph as it was.
    #[test]
    fn spans_of_unknown_length_say_nothing() {
        let (blocks, mut graph, count) = graph();
        count(0, 50);
        end_span(&mut graph, &blocks, seen(WINDOW, 50), span(0.0), WINDOW);
        count(0, 150);
        let unknown = Span {
            length: None,
            ..span(1.0)
        };
        end_span(&mut graph, &blocks, seen(0, 5_000), unknown, WINDOW);
        graph.settle(&blocks, 0, 1.0);
        assert_eq!(total(&graph), 550.0);
    }

    /// An open window counts 30 paths while the program takes no time that a clock could see: the rate stays
    /// that of the span before.
    #[test]
    fn path_ends_in_no_time_are_no_rate() {
        let (blocks, mut graph, count) = graph();
        count(0, 50);
        end_span(&mut graph, &blocks, seen(WINDOW, 50), span(0.0), WINDOW);
        count(0, 30);
        let moment = Span {
            begin: 1e-8,
            end: 2e-8,
            length: None,
        };
        end_span(&mut graph, &blocks, seen(50, 30), moment, WINDOW);
        count(0, 20);
        graph.settle(&blocks, 0, 1.0);
        // 500 a second for a second.
        assert!((total(&graph) - 580.0).abs() < 1e-3, "{}", total(&graph));
    }

    /// For two seconds a path ends 10,000 times a second, then another one ten times: each span's rate stands
    /// for the paths that it has counted, in the time before it and behind it.
    #[test]
    fn rates_stand_for_the_paths_of_their_own_spans() {
        let (blocks, mut graph, count) = graph();
        end_span(&mut graph, &blocks, seen(WINDOW, 0), span(0.0), WINDOW);
        count(0, 1_100);
        end_span(&mut graph, &blocks, seen(0, 1_000), span(1.0), WINDOW);
        graph.begin_span(&blocks, 0, 1.9);
        count(0, 1_000);
        end_span(&mut graph, &blocks, seen(0, 1_000), span(2.0), WINDOW);
        graph.begin_span(&blocks, 0, 2.9);
        count(1, 1);
        assert_eq!(
            end_span(&mut graph, &blocks, seen(0, 1), span(3.0), WINDOW),
            WINDOW - 1
        );
        assert_eq!(tenths(&graph), [(0, 200_000), (1, 55)]);
    }

    /// A burst is hit by the last span before a pause of ten times the usual distance: it represents twice
    /// that, and the rest has the mean rate.
    #[test]
    fn a_span_next_to_a_long_pause_represents_no_more_than_others() {
        let (blocks, mut graph, count) = graph();
        end_span(&mut graph, &blocks, seen(WINDOW, 0), span(0.0), WINDOW);
        count(0, 100);
        for second in 1..=3 {
            end_span(&mut graph, &blocks, seen(0, 0), span(f64::from(second)), WINDOW);
        }
        graph.since.recent.add(1.0, 100.0, 10.0);
        count(0, 1_000);
        end_span(&mut graph, &blocks, seen(0, 1_000), span(4.0), WINDOW);
        let before = total(&graph);
        end_span(&mut graph, &blocks, seen(0, 0), span(13.1), WINDOW);
        // 9 s, of which 1.8 are near.
        let expected = (10_000.0 * 1.8 + 10.0 * 7.2) / 2.0 + 10.0 * 7.2 / 2.0;
        assert!(
            (total(&graph) - before - expected).abs() < 1e-6,
            "{}",
            total(&graph) - before
        );
    }

    /// A graph's first window is filled before its first span, and nothing follows.
    #[test]
    fn what_comes_before_all_spans_is_counted() {
        let (blocks, mut graph, count) = graph();
        count(0, 100);
        assert_eq!(
            end_span(&mut graph, &blocks, seen(0, 0), span(1.0), WINDOW),
            WINDOW
        );
        end_span(&mut graph, &blocks, seen(WINDOW, 0), span(2.0), WINDOW);
        assert_eq!(tenths(&graph), [(0, 1_000)]);
        // That it had been counted was no part of the span.
        graph.settle(&blocks, 0, 10.0);
        assert_eq!(tenths(&graph), [(0, 1_000)]);
    }

    /// In a span one path ends 40 times, 400 times a second, and another one 60 times right after it. The
    /// next span sees nothing.
    #[test]
    fn a_window_after_a_span_shows_what_that_spans_rate_stands_for() {
        // Whether there was a dump in between, and whether the next span's length was known.
        let run = |dump: bool, known: bool| {
            let (blocks, mut graph, count) = graph();
            let span = |graph: &mut Graph, ended: u64, end: f64, known: bool| {
                let span = Span {
                    length: known.then_some(0.1),
                    ..span(end)
                };
                end_span(graph, &blocks, seen(0, ended), span, WINDOW)
            };
            count(0, 100);
            span(&mut graph, 0, 0.0, true);
            count(0, 100);
            graph.begin_span(&blocks, 0, 0.9);
            count(0, 40);
            assert_eq!(span(&mut graph, 40, 1.0, true), 60);
            assert_eq!(
                tenths(&graph),
                [(0, 3_200)],
                "100 before, 40 in it, half of 0.9 s before it"
            );
            count(1, 60);
            if dump {
                graph.settle(&blocks, 0, 1.45);
            }
            graph.begin_span(&blocks, 0, 1.9);
            span(&mut graph, 0, 2.0, known);
            if !known {
                graph.begin_span(&blocks, 0, 2.9);
                span(&mut graph, 0, 3.0, true);
            }
            tenths(&graph)
        };
        // Half of 0.9 s: 180.
        assert_eq!(run(false, true), [(0, 3_920), (1, 1_080)]);
        // Half of 1.9 s: 380.
        assert_eq!(run(false, false), [(0, 4_720), (1, 2_280)]);
        // All of 0.45 s, and half of as much: 270.
        assert_eq!(run(true, true), [(0, 4_280), (1, 1_620)]);
    }

    /// Between two spans all is counted, and nothing is estimated; afterwards its rate is that of the last
    /// look.
    #[test]
    fn counted_throughout_nothing_is_estimated() {
        let (blocks, mut graph, count) = graph();
        end_span(&mut graph, &blocks, seen(WINDOW, 0), span(0.0), WINDOW);
        count(0, 100);
        end_span(&mut graph, &blocks, seen(0, 100), span(1.0), WINDOW);
        let before = total(&graph);
        graph.count_throughout(&blocks, true, 0, 1.0);
        graph.look(&blocks, 1.0, 0.0);
        graph.since.recent = Flow::default();
        count(1, 700);
        assert_eq!(graph.look(&blocks, 3.0, 2.0), 350.0);
        assert!(graph.is_counted_throughout() && graph.is_full());
        assert_eq!(total(&graph), before + 700.0);
        graph.count_throughout(&blocks, false, -1, 3.0);
        graph.settle(&blocks, 0, 5.0);
        assert_eq!(total(&graph), before + 700.0 + 2.0 * 350.0);
    }

    /// A graph with 100 path ends a second loses its probes at 5 s, when the program becomes twice as fast.
    /// Counts are forgotten at 9 s.
    #[test]
    fn without_probes_its_rate_goes_with_the_programs_pace() {
        let mut pace = Pace::default();
        let mut ends = 0.0;
        for tenth in 0..=90 {
            let now = f64::from(tenth) / 10.0;
            if tenth == 50 {
                pace.changed(now);
            }
            let rate = if tenth < 50 { 10_000.0 } else { 20_000.0 };
            pace.look(now, vec![Counted { graph: 0, ends, rate }]);
            ends += rate / 10.0;
        }
        let (blocks, mut graph, _) = graph();
        graph.since.recent.add(1.0, 100.0, 1.0);
        graph.silence(5.0);
        assert!((graph.without_probes(9.0, &pace.steps()) - 800.0).abs() < 1.0);
        graph.reset(&blocks, 9.0, &pace.steps());
        assert!((graph.without_probes(11.0, &pace.steps()) - 400.0).abs() < 1.0);
        graph.end_silence(11.0, &pace.steps());
        assert!((graph.without_probes(20.0, &pace.steps()) - 400.0).abs() < 1.0);
    }

    /// Hashed paths end 100 times a second, and the method loses its probes after two looks.
    #[test]
    fn hashed_paths_have_a_rate_without_probes() {
        let mut graph = Graph::new(CounterSlot(20), 0, 1.0);
        for (at, count) in [(2.0, 100), (5.0, 400)] {
            graph.set_hashed(7, count);
            graph.look_hashed(at);
        }
        graph.silence(5.0);
        let missing = graph.without_probes(9.0, &Pace::default().steps());
        assert!((missing - 400.0).abs() < 1.0, "{missing}");
    }

    /// Two thousand path ends were counted before a thread's writing over what closed a graph was seen: that
    /// is all there were, and those of the span show what its rate stands for.
    #[test]
    fn a_graph_that_a_thread_has_reopened_has_counted_all() {
        let (blocks, mut graph, count) = graph();
        count(0, 100);
        end_span(&mut graph, &blocks, seen(0, 0), span(0.0), WINDOW);
        count(0, 2_000);
        let left = i32::MAX - 1_900;
        graph.begin_span(&blocks, left, 0.9);
        count(1, 200);
        // A thread that was interrupted has written what the switch was a million path ends ago.
        assert_eq!(
            end_span(&mut graph, &blocks, seen(left, 1_000_000), span(1.0), WINDOW),
            0
        );
        assert_eq!(tenths(&graph), [(0, 21_000), (1, 2_000)]);
        graph.begin_span(&blocks, 0, 1.9);
        end_span(&mut graph, &blocks, seen(0, 0), span(2.0), WINDOW);
        // 2,000 a second for half of 0.9 s.
        assert_eq!(tenths(&graph), [(0, 21_000), (1, 11_000)]);
        assert_eq!(graph.windows(), 3);
    }
}
