//! How fast the program runs after methods have lost their probes, compared with before.
//!
//! Rates of a method without probes are those that it had when they were taken out. But without them the
//! program runs faster, by a third and more. Graphs that are counted throughout show by how much: their
//! rates shortly after a change of code, over those shortly before it. What the program does differently
//! later is not in this.

use std::collections::VecDeque;

/// Seconds of the program's time before a change that it is compared with.
const BEFORE: f64 = 2.0;
/// Seconds after it until compiled code is back.
const COMPILING: f64 = 0.5;
/// Seconds after it from which the comparison ends.
const AFTER: f64 = 3.0;
/// The least time on either side.
const MIN_SECONDS: f64 = 0.25;
/// The least number of path ends on either side.
const MIN_ENDS: f64 = 1_000.0;
/// Seconds within which the classes of one change lose their probes.
const ONE_CHANGE: f64 = 0.1;
/// Bounds of one change. Other ratios are no effect of probes.
const BOUNDS: [f64; 2] = [0.25, 4.0];

/// Path ends so far of graphs that are counted throughout, by graph, in their order.
pub type Ends = Vec<(usize, f64)>;

/// Path ends at a time of the program.
#[derive(Clone, Debug)]
struct Look {
    at: f64,
    ends: Ends,
}

/// Changes of code, from the first to the last of them, with what was seen before and from when code was
/// compiled again.
#[derive(Debug)]
struct Change {
    first: f64,
    last: f64,
    before: [Look; 2],
    /// Right after the last of them.
    begin: Option<Look>,
    after: Option<Look>,
}

/// The program's pace, as a multiple of that with all probes.
#[derive(Debug, Default)]
pub struct Pace {
    looks: VecDeque<Look>,
    change: Option<Change>,
    /// From when on it was which, in order.
    steps: Vec<(f64, f64)>,
}

impl Pace {
    /// Adds the numbers of path ends until now.
    pub fn look(&mut self, now: f64, ends: Ends) {
        let look = Look { at: now, ends };
        if let Some(change) = &mut self.change {
            change.begin.get_or_insert_with(|| look.clone());
            if change.after.is_none() && now - change.last >= COMPILING {
                change.after = Some(look.clone());
            }
            if now - change.last >= AFTER {
                self.compare(&look);
            }
        }
        while self.looks.front().is_some_and(|first| now - first.at > BEFORE) {
            self.looks.pop_front();
        }
        self.looks.push_back(look);
    }

    /// Methods lose their probes, or have them back. Further changes before the first has been compared are
    /// compared with it.
    pub fn changed(&mut self, now: f64) {
        match (&mut self.change, self.looks.front(), self.looks.back()) {
            (Some(change), ..) => {
                change.last = now;
                (change.begin, change.after) = (None, None);
            }
            (none, Some(first), Some(last)) => {
                *none = Some(Change {
                    first: now,
                    last: now,
                    before: [first.clone(), last.clone()],
                    begin: None,
                    after: None,
                });
            }
            (_, _, _) => {}
        }
        // Looks of the time before are no good for later changes.
        self.looks.clear();
    }

    /// The run ends: the last change is compared as far as it has been seen.
    pub fn end(&mut self) {
        if let Some(change) = &mut self.change {
            change.after = change.after.take().or(self.looks.back().cloned());
        }
        if let Some(last) = self.looks.back().cloned() {
            self.compare(&last);
        }
    }

    /// Until code was compiled again, and from then on.
    fn compare(&mut self, last: &Look) {
        let Some(Change {
            first,
            before,
            begin: Some(begin),
            after: Some(after),
            ..
        }) = &self.change
        else {
            return;
        };
        let now = self.now();
        let pace = |from, to| {
            let ratio = ratio([&before[0], &before[1]], [from, to])?;
            Some(now * ratio.clamp(BOUNDS[0], BOUNDS[1]))
        };
        let steps = [(*first, pace(begin, after)), (after.at, pace(after, last))];
        let known = steps.into_iter().filter_map(|(at, pace)| Some((at, pace?)));
        self.steps.extend(known);
        self.change = None;
    }

    /// True if each change of code so far has been compared.
    pub fn is_known(&self) -> bool {
        self.change.is_none() && !self.steps.is_empty()
    }

    /// The pace now.
    fn now(&self) -> f64 {
        self.steps.last().map_or(1.0, |step| step.1)
    }

    /// The mean pace from a change of code to another time, over that just before.
    pub fn gained(&self, from: f64, to: f64) -> f64 {
        let (earlier, later) = self
            .steps
            .split_at(self.steps.partition_point(|step| step.0 < from - ONE_CHANGE));
        let before = earlier.last().map_or(1.0, |step| step.1);
        let (mut sum, mut at, mut pace) = (0.0, from, before);
        for &(begin, next) in later.iter().take_while(|step| step.0 < to) {
            let begin = begin.max(from);
            sum += (begin - at) * pace;
            (at, pace) = (begin, next);
        }
        sum += (to - at) * pace;
        if to > from {
            sum / (to - from) / before
        } else {
            1.0
        }
    }
}

/// Rates in the second interval over those in the first, of graphs that were counted throughout both.
fn ratio(before: [&Look; 2], after: [&Look; 2]) -> Option<f64> {
    let looks = [before[0], before[1], after[0], after[1]];
    let in_all = |graph| {
        let found = looks.map(|look| look.ends.binary_search_by_key(&graph, |&(graph, _)| graph).ok());
        let [Some(a), Some(b), Some(c), Some(d)] = found else {
            return None;
        };
        Some([(a, 0), (b, 1), (c, 2), (d, 3)].map(|(at, look)| looks[look].ends[at].1))
    };
    let (mut first, mut second) = (0.0, 0.0);
    for ends in before[0].ends.iter().filter_map(|&(graph, _)| in_all(graph)) {
        first += ends[1] - ends[0];
        second += ends[3] - ends[2];
    }
    let seconds = [before[1].at - before[0].at, after[1].at - after[0].at];
    let enough =
        first >= MIN_ENDS && second >= MIN_ENDS && seconds.iter().all(|&seconds| seconds >= MIN_SECONDS);
    enough.then(|| second / seconds[1] / (first / seconds[0]))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A program that runs a graph 10,000 times a second, and half as fast again from 5 s on, when others
    /// lose their probes.
    fn run(until: f64) -> Pace {
        let mut pace = Pace::default();
        let mut ends = 0.0;
        let mut now = 0.0;
        let mut has_changed = false;
        while now < until {
            if now >= 5.0 && !has_changed {
                pace.changed(now);
                has_changed = true;
            }
            pace.look(now, vec![(3, ends), (7, now)]);
            now += 0.1;
            ends += if has_changed { 1_500.0 } else { 1_000.0 };
        }
        pace.end();
        pace
    }

    #[test]
    fn rates_after_a_change_are_compared_with_those_before() {
        for until in [6.5, 20.0] {
            let pace = run(until);
            assert!((pace.gained(5.1, until) - 1.5).abs() < 0.01, "{pace:?}");
            // As many seconds before it as after it.
            assert!(
                (pace.gained(until - 2.0 * (until - 5.0), until) - 1.25).abs() < 0.04,
                "{pace:?}"
            );
            assert_eq!(pace.gained(0.0, 4.0), 1.0);
        }
    }

    #[test]
    fn with_no_time_or_nothing_counted_nothing_is_known() {
        assert_eq!(run(5.3).gained(5.0, 5.3), 1.0);
        let mut pace = Pace::default();
        pace.changed(1.0);
        pace.look(9.0, Vec::new());
        pace.end();
        assert_eq!(pace.gained(1.0, 9.0), 1.0);
        assert!(!pace.is_known() && run(20.0).is_known());
    }
}
