//! The sequential test: when the level of a series of days has changed for good.
//!
//! For each day on which the change may have happened there is a Bayes factor of a step against none, with the right Haar
//! prior on level and spread and a normal prior on the step in units of the spread: of days that only scatter it is
//! an e-process, whatever their level and spread are. The sum of those of all starts is an e-detector (Shin, Ramdas and
//! Rinaldo, *E-detectors*, section 2): its average time to a false alarm is at least the threshold. Days are taken as
//! normal and independent, with a level of their own at weekends.

/// Days of a level that are needed before a change of it can be seen.
pub(super) const MIN_BASELINE: usize = 7;
/// Days behind which the level is not looked for any more.
const MAX_BASELINE: usize = 42;
/// Days within which a change has to be seen.
const MAX_AGE: usize = 14;
/// Days that a change has to last: what is over on the next day is transient.
const MIN_AGE: usize = 2;
/// Variance of steps that are expected, in variances of a day.
const EXPECTED: f64 = 25.0;
/// The share of the step that each of the first and the last two days has to show.
const SHOWN: f64 = 0.5;

/// A day of a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Point {
    /// Days since 1970-01-01.
    pub day: i32,
    pub value: f64,
    /// The part of its variance that is due to counting: the least that it has.
    pub variance: f64,
}

impl Point {
    fn is_weekend(&self) -> bool {
        // 1970-01-01 was a Thursday.
        matches!((self.day + 3).rem_euclid(7), 5 | 6)
    }
}

/// A change of the level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Change {
    /// The first day of the new level.
    pub from: i32,
    /// The day on which it was seen.
    pub seen: i32,
    /// The level before.
    pub before: f64,
    /// The new level less the one before.
    pub step: f64,
    /// Standard error of the step.
    pub error: f64,
    /// Natural logarithm of the evidence.
    pub evidence: f64,
}

/// A step at a given day.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    before: f64,
    pub size: f64,
    pub error: f64,
    /// Natural logarithm of the Bayes factor.
    factor: f64,
}

impl Step {
    /// Of points, all from `at` on being after it. None if there is too little of either side.
    pub(super) fn new(points: &[Point], at: usize) -> Option<Step> {
        let n = points.len() as f64;
        if at < 2 || at >= points.len() {
            return None;
        }
        let weekends = points[..at].iter().filter(|point| point.is_weekend()).count();
        // A level of its own for weekends takes several of both kinds.
        let apart = weekends >= 2 && at - weekends >= 3;
        let scale = points.iter().map(|point| point.value.abs()).fold(0.0, f64::max);
        if scale <= 0.0 {
            return None;
        }
        // Sums of squares and products, of deviations from the mean: x is 1 after the step, w at weekends.
        let mean = |of: &dyn Fn(usize, &Point) -> f64| {
            points
                .iter()
                .enumerate()
                .map(|(place, point)| of(place, point))
                .sum::<f64>()
                / n
        };
        let x = |place: usize, _: &Point| f64::from(u8::from(place >= at));
        let w = |_: usize, point: &Point| f64::from(u8::from(apart && point.is_weekend()));
        let y = |_: usize, point: &Point| point.value / scale;
        let (mean_x, mean_w, mean_y) = (mean(&x), mean(&w), mean(&y));
        let (mut xx, mut xw, mut ww, mut xy, mut wy, mut yy) = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0);
        for (place, point) in points.iter().enumerate() {
            let (x, w, y) = (
                x(place, point) - mean_x,
                w(place, point) - mean_w,
                y(place, point) - mean_y,
            );
            xx += x * x;
            xw += x * w;
            ww += w * w;
            xy += x * y;
            wy += w * y;
            yy += y * y;
        }
        let mut freedom = n - 1.0;
        if ww > 0.0 {
            freedom -= 1.0;
            xx -= xw * xw / ww;
            xy -= xw * wy / ww;
            yy -= wy * wy / ww;
        }
        if xx < 1e-9 {
            return None;
        }
        let size = xy / xx;
        let explained = xy * size;
        let counted = points
            .iter()
            .map(|point| point.variance / (scale * scale))
            .sum::<f64>()
            / n
            * freedom;
        // Rounding leaves no less than this.
        let left = (yy - explained).max(counted).max(1e-12);
        let fit = explained / (explained + left);
        let spread = EXPECTED * xx;
        let factor = -0.5 * spread.ln_1p() - 0.5 * freedom * (-(spread / (1.0 + spread)) * fit).ln_1p();
        let before = points[..at].iter().map(|point| point.value).sum::<f64>() / at as f64;
        Some(Step {
            before,
            size: size * scale,
            error: (left / (freedom - 1.0).max(1.0) / xx).sqrt() * scale,
            factor,
        })
    }
}

/// The changes of a series, its days ascending. `threshold`: natural logarithm of the average number of days between
/// two false alarms.
pub(super) fn changes(points: &[Point], threshold: f64) -> Vec<Change> {
    let mut found = Vec::new();
    let mut begin = 0;
    for end in MIN_BASELINE + MIN_AGE..=points.len() {
        let begins = begin.max(end.saturating_sub(MAX_BASELINE));
        let known = &points[begins..end];
        let first = MIN_BASELINE.max(known.len().saturating_sub(MAX_AGE));
        let mut best: Option<(usize, Step)> = None;
        let mut all = f64::NEG_INFINITY;
        for at in first..=known.len().saturating_sub(MIN_AGE) {
            let Some(step) = Step::new(known, at) else {
                continue;
            };
            all = log_sum(all, step.factor);
            if best.is_none_or(|(_, best)| step.factor > best.factor) {
                best = Some((at, step));
            }
        }
        let Some((at, step)) = best.filter(|_| all >= threshold) else {
            continue;
        };
        if !lasts(known, at, &step) {
            continue;
        }
        found.push(Change {
            from: known[at].day,
            seen: known[known.len() - 1].day,
            before: step.before,
            step: step.size,
            error: step.error,
            evidence: all,
        });
        begin = begins + at;
    }
    found
}

/// Returns true if the days at both ends of what is new show the step: no spike does.
fn lasts(points: &[Point], at: usize, step: &Step) -> bool {
    let new = &points[at..];
    let shows = |point: &Point| (point.value - step.before) * step.size.signum() >= SHOWN * step.size.abs();
    let at_least = MIN_AGE.min(new.len());
    new[..at_least].iter().all(shows) && new[new.len() - at_least..].iter().all(shows)
}

fn log_sum(one: f64, other: f64) -> f64 {
    let (more, less) = if one > other { (one, other) } else { (other, one) };
    if less == f64::NEG_INFINITY {
        more
    } else {
        more + (less - more).exp().ln_1p()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Normal numbers, by the sum of twelve uniform ones.
    struct Random(u64);

    impl Random {
        fn uniform(&mut self) -> f64 {
            self.0 = self
                .0
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 11) as f64 / (1u64 << 53) as f64
        }

        fn normal(&mut self) -> f64 {
            (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
        }
    }

    fn series(days: i32, value: impl Fn(i32) -> f64, seed: u64) -> Vec<Point> {
        let mut random = Random(seed);
        let point = |day| Point {
            day,
            value: value(day) + random.normal(),
            variance: 0.0,
        };
        (20_000..20_000 + days).map(point).collect()
    }

    /// On average, a false alarm comes not earlier than the threshold says: here after 300 days.
    #[test]
    fn false_alarms_are_bounded() {
        let alarms: usize = (0..400)
            .map(|seed| changes(&series(60, |_| 100.0, seed * 7 + 1), 300f64.ln()).len())
            .sum();
        // 400 series of 60 days: 80 at most on average; the standard deviation is 9.
        assert!(alarms <= 80 + 27, "{alarms}");
    }

    #[test]
    fn steps_are_seen_and_dated() {
        let threshold = 1e6f64.ln();
        for seed in 1..=20 {
            let found = changes(
                &series(40, |day| if day < 20_030 { 100.0 } else { 112.0 }, seed),
                threshold,
            );
            let [change] = &found[..] else {
                panic!("{seed}: {found:?}")
            };
            assert_eq!(change.from, 20_030);
            assert!(change.seen <= 20_033, "{seed}: {change:?}");
            assert!((change.step - 12.0).abs() < 5.0 * change.error, "{change:?}");
        }
    }

    #[test]
    fn spikes_and_weekends_are_no_changes() {
        let threshold = 1e6f64.ln();
        for seed in 1..=20 {
            let spike = series(40, |day| if day == 20_030 { 150.0 } else { 100.0 }, seed);
            assert_eq!(changes(&spike, threshold), [], "{seed}");
            let weekend = |day: i32| {
                if (day + 3).rem_euclid(7) >= 5 {
                    130.0
                } else {
                    100.0
                }
            };
            assert_eq!(changes(&series(60, weekend, seed), threshold), [], "{seed}");
        }
    }

    #[test]
    fn what_is_new_is_a_step() {
        let points = series(30, |day| if day < 20_020 { 0.0 } else { 50.0 }, 3);
        let quiet: Vec<Point> = points
            .iter()
            .map(|point| Point {
                value: if point.day < 20_020 { 0.0 } else { point.value },
                ..*point
            })
            .collect();
        let found = changes(&quiet, 1e9f64.ln());
        assert_eq!(found.len(), 1);
        assert_eq!(
            (found[0].from, found[0].seen, found[0].before),
            (20_020, 20_021, 0.0)
        );
    }
}
