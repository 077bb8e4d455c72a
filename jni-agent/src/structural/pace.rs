//! How fast the program runs after methods have lost their probes, compared with before.
//!
//! Rates of a method without probes are those that it had when they were taken out. But without them the
//! program runs faster, by a third and more. Graphs that are counted throughout show by how much: how often
//! their paths have ended since a change of code, over how often they would have at their rates before it.

/// Seconds of the program's time after a change of code until compiled code is back.
const COMPILING: f64 = 0.5;
/// Seconds after it within which further changes are compared together with it.
const TOGETHER: f64 = 3.0;
/// The least time of a comparison.
const MIN_SECONDS: f64 = 0.25;
/// The least number of path ends, seen and expected.
const MIN_ENDS: f64 = 1_000.0;
/// Seconds within which the classes of one change lose their probes.
const ONE_CHANGE: f64 = 0.1;
/// Bounds of one change. Other ratios are no effect of probes.
const BOUNDS: [f64; 2] = [0.25, 4.0];

/// What is known of a graph that is counted throughout.
#[derive(Clone, Copy, Debug)]
pub struct Counted {
    /// Its number.
    pub graph: usize,
    /// Path ends so far.
    pub ends: f64,
    /// Path ends per second of the last seconds.
    pub rate: f64,
}

/// All of them at a time of the program, by graph.
#[derive(Clone, Debug)]
struct Look {
    at: f64,
    graphs: Vec<Counted>,
}

/// Changes of code, from the first to the last of them.
#[derive(Debug)]
struct Change {
    first: f64,
    last: f64,
    /// Before the first of them.
    before: Look,
    /// Right after the last of them.
    begin: Option<Look>,
    /// When code was compiled again.
    after: Option<Look>,
}

/// The program's pace, as a multiple of that with all probes.
#[derive(Debug, Default)]
pub struct Pace {
    last: Option<Look>,
    change: Option<Change>,
    /// From when on it was which, in order; without the last change.
    steps: Vec<(f64, f64)>,
}

impl Pace {
    /// Takes in what is known now.
    pub fn look(&mut self, now: f64, graphs: Vec<Counted>) {
        let look = Look { at: now, graphs };
        if let Some(change) = &mut self.change {
            change.begin.get_or_insert_with(|| look.clone());
            if change.after.is_none() && now - change.last >= COMPILING {
                change.after = Some(look.clone());
            }
        }
        self.last = Some(look);
    }

    /// Methods lose their probes, or have them back.
    pub fn changed(&mut self, now: f64) {
        if let Some(change) = &mut self.change {
            if now - change.last < TOGETHER {
                change.last = now;
                (change.begin, change.after) = (None, None);
                return;
            }
            self.steps = self.steps().paces;
        }
        self.change = self.last.clone().map(|before| Change {
            first: now,
            last: now,
            before,
            begin: None,
            after: None,
        });
    }

    /// All steps, with those of the last change until now: until code was compiled again, and from then on.
    /// Made once for all graphs, as it goes through all that are counted throughout.
    pub fn steps(&self) -> Steps {
        let mut steps = self.steps.clone();
        if let (Some(change), Some(last)) = (&self.change, &self.last)
            && let Some(begin) = &change.begin
        {
            let earlier = steps.last().map_or(1.0, |step| step.1);
            let pace = |from: &Look, to: &Look| {
                let ratio = change.before.ratio(from, to)?;
                Some(earlier * ratio.clamp(BOUNDS[0], BOUNDS[1]))
            };
            let after = change.after.as_ref().unwrap_or(last);
            let found = [(change.first, pace(begin, after)), (after.at, pace(after, last))];
            steps.extend(found.into_iter().filter_map(|(at, pace)| Some((at, pace?))));
        }
        Steps {
            paces: steps,
            change: self.change.as_ref().map(|change| change.first),
        }
    }
}

/// The program's paces until now.
#[derive(Debug)]
pub struct Steps {
    /// From when on it was which, in order.
    paces: Vec<(f64, f64)>,
    /// When the last change of code was.
    change: Option<f64>,
}

impl Steps {
    /// True if there was a change of code, and each has been compared.
    pub fn is_known(&self) -> bool {
        let last = self.paces.last();
        last.is_some_and(|last| self.change.is_none_or(|change| last.0 >= change))
    }

    /// The mean pace from a change of code to another time, over that just before.
    pub fn gained(&self, from: f64, to: f64) -> f64 {
        let steps = &self.paces;
        let (earlier, later) = steps.split_at(steps.partition_point(|step| step.0 < from - ONE_CHANGE));
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

impl Look {
    /// Path ends between two later looks, over as many as there would have been at the rates of this one.
    fn ratio(&self, from: &Look, to: &Look) -> Option<f64> {
        let ends = |look: &Look, graph| {
            let found = look.graphs.binary_search_by_key(&graph, |known| known.graph);
            found.ok().map(|at| look.graphs[at].ends)
        };
        let seconds = to.at - from.at;
        let (mut seen, mut expected) = (0.0, 0.0);
        for known in &self.graphs {
            if let (Some(from), Some(to)) = (ends(from, known.graph), ends(to, known.graph)) {
                seen += to - from;
                expected += known.rate * seconds;
            }
        }
        let enough = seconds >= MIN_SECONDS && seen >= MIN_ENDS && expected >= MIN_ENDS;
        enough.then(|| seen / expected)
    }
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
            let rate = if has_changed { 15_000.0 } else { 10_000.0 };
            let known = |graph, ends, rate| Counted { graph, ends, rate };
            pace.look(now, vec![known(3, ends, rate), known(7, now, 1.0)]);
            now += 0.1;
            ends += rate / 10.0;
        }
        pace
    }

    #[test]
    fn rates_after_a_change_are_compared_with_those_before() {
        for until in [6.5, 20.0] {
            let pace = run(until);
            assert!(pace.steps().is_known());
            assert!((pace.steps().gained(5.1, until) - 1.5).abs() < 0.01, "{pace:?}");
            // As many seconds before it as after it.
            assert!(
                (pace.steps().gained(until - 2.0 * (until - 5.0), until) - 1.25).abs() < 0.04,
                "{pace:?}"
            );
            assert_eq!(pace.steps().gained(0.0, 4.0), 1.0);
        }
    }

    /// What the program does twice as often later counts twice.
    #[test]
    fn the_pace_is_that_of_all_the_time_since() {
        let mut pace = run(20.0);
        let known = |ends| Counted {
            graph: 3,
            ends,
            rate: 0.0,
        };
        let before = pace.last.as_ref().unwrap().graphs[0].ends;
        pace.look(35.0, vec![known(before + 15.0 * 30_000.0)]);
        let gained = pace.steps().gained(5.0, 35.0);
        assert!((gained - 2.25).abs() < 0.02, "{gained}");
        // A second change: the last pace is that before it.
        pace.changed(35.0);
        assert!(!pace.steps().is_known());
        assert!((pace.steps().gained(5.0, 35.0) - gained).abs() < 1e-9);
    }

    #[test]
    fn with_no_time_or_nothing_counted_nothing_is_known() {
        assert_eq!(run(5.05).steps().gained(5.0, 5.05), 1.0);
        let mut pace = Pace::default();
        pace.changed(1.0);
        pace.look(9.0, Vec::new());
        assert_eq!(pace.steps().gained(1.0, 9.0), 1.0);
        assert!(!pace.steps().is_known() && run(20.0).steps().is_known());
    }
}
