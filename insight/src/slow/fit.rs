//! Cost of what requests do: a non-negative fit of their time to how often they do it, robust against outliers, with intervals by
//! bootstrap.

use fastrand::Rng;

/// Things whose cost is looked for at once, at most: the fit tries every subset of them.
pub const MAX_TERMS: usize = 5;
/// Seed of the draws, so that a profile has one answer.
const SEED: u64 = 0x5eed;
/// Draws for intervals.
const RESAMPLES: usize = 200;
/// Rounds of weighing outliers down.
const ROUNDS: usize = 8;
/// Huber's constant: standard deviations from which a residual counts less.
const HUBER: f64 = 1.345;
/// Median absolute deviation of a normal distribution, times this, is its standard deviation.
const OF_MEDIAN: f64 = 1.4826;
/// Requests of each kind, marked ones and others, that the fit uses.
const MAX_POINTS: usize = 2_000;

/// A request.
#[derive(Clone, Copy, Debug)]
pub struct Point {
    /// Its time.
    pub time: f64,
    /// The number of requests that it represents.
    pub weight: f64,
    /// Number of times that it did each thing.
    pub counts: [f64; MAX_TERMS],
    /// True if it does one of them more often than most: these are few, and say what the things cost.
    pub is_marked: bool,
}

/// Cost of one more of each thing, in the unit of the times.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fit {
    /// Cost of each.
    pub costs: Vec<f64>,
    /// Bounds of each in 95 of 100 draws.
    pub intervals: Vec<[f64; 2]>,
}

/// The costs of the first `terms` counts.
pub fn costs(points: &[Point], terms: usize) -> Vec<f64> {
    let points = thinned(points, &mut Rng::with_seed(SEED));
    let once = vec![1.0; points.len()];
    robust(&points, &once, terms, None).beta[1..=terms].to_vec()
}

/// The costs of the first `terms` counts, and how certain they are.
pub fn fit(points: &[Point], terms: usize) -> Fit {
    if terms == 0 {
        return Fit::default();
    }
    let mut random = Rng::with_seed(SEED);
    let points = thinned(points, &mut random);
    let once = vec![1.0; points.len()];
    let whole = robust(&points, &once, terms, None);
    let mut draws: Vec<Vec<f64>> = vec![Vec::with_capacity(RESAMPLES); terms];
    let mut times = vec![0.0; points.len()];
    for _ in 0..RESAMPLES {
        times.fill(0.0);
        for _ in 0..points.len() {
            times[random.usize(..points.len())] += 1.0;
        }
        let drawn = robust(&points, &times, terms, Some(&whole));
        for (all, cost) in draws.iter_mut().zip(&drawn.beta[1..]) {
            all.push(*cost);
        }
    }
    let bounds = |mut all: Vec<f64>| {
        all.sort_by(f64::total_cmp);
        let at = |share: f64| {
            all.get((share * (RESAMPLES - 1) as f64).round() as usize)
                .copied()
        };
        [at(0.025).unwrap_or(0.0), at(0.975).unwrap_or(0.0)]
    };
    let costs = whole.beta[1..=terms].to_vec();
    let widest = |([low, high], &cost): ([f64; 2], &f64)| [low.min(cost), high.max(cost)];
    Fit {
        intervals: draws.into_iter().map(bounds).zip(&costs).map(widest).collect(),
        costs,
    }
}

/// Fewer points that represent all.
fn thinned(points: &[Point], random: &mut Rng) -> Vec<Point> {
    let (with, without): (Vec<&Point>, Vec<&Point>) = points.iter().partition(|point| point.is_marked);
    let mut kept = Vec::new();
    for mut all in [with, without] {
        if all.len() > MAX_POINTS {
            random.shuffle(&mut all);
        }
        let more = all.len() as f64 / all.len().clamp(1, MAX_POINTS) as f64;
        kept.extend(all.into_iter().take(MAX_POINTS).map(|point| Point {
            weight: point.weight * more,
            ..*point
        }));
    }
    kept
}

/// Coefficients, the first of what requests take that do none of the things; and the scale of residuals.
struct Robust {
    beta: [f64; MAX_TERMS + 1],
    scale: f64,
}

/// Least squares whose outliers are weighed down; begins with, and keeps the scale of, an earlier fit.
fn robust(points: &[Point], times: &[f64], terms: usize, from: Option<&Robust>) -> Robust {
    let mut weights: Vec<f64> = points
        .iter()
        .zip(times)
        .map(|(point, times)| point.weight * times)
        .collect();
    let mut beta = from.map_or_else(|| least_squares(points, &weights, terms), |from| from.beta);
    let scale = from.map_or_else(|| scale_of(points, &beta, terms), |from| from.scale);
    for _ in 0..ROUNDS {
        for ((weight, point), times) in weights.iter_mut().zip(points).zip(times) {
            let far = residual(point, &beta, terms).abs() / (HUBER * scale);
            *weight = point.weight * times / far.max(1.0);
        }
        let next = least_squares(points, &weights, terms);
        let moved = beta
            .iter()
            .zip(&next)
            .map(|(a, b)| (a - b).abs() / a.abs().max(b.abs()).max(1.0));
        let moved = moved.fold(0.0, f64::max);
        beta = next;
        if moved < 1e-6 {
            break;
        }
    }
    Robust { beta, scale }
}

fn residual(point: &Point, beta: &[f64; MAX_TERMS + 1], terms: usize) -> f64 {
    let parts = point.counts[..terms].iter().zip(&beta[1..]);
    point.time - beta[0] - parts.map(|(count, cost)| count * cost).sum::<f64>()
}

/// The spread of residuals among marked requests.
fn scale_of(points: &[Point], beta: &[f64; MAX_TERMS + 1], terms: usize) -> f64 {
    let mut far: Vec<(f64, f64)> = points
        .iter()
        .filter(|point| point.is_marked)
        .map(|point| (residual(point, beta, terms).abs(), point.weight))
        .collect();
    far.sort_by(|a, b| a.0.total_cmp(&b.0));
    let half = far.iter().map(|(_, weight)| weight).sum::<f64>() / 2.0;
    let mut seen = 0.0;
    let median = far.iter().find(|(_, weight)| {
        seen += weight;
        seen >= half
    });
    (OF_MEDIAN * median.map_or(0.0, |(far, _)| *far)).max(1.0)
}

/// The best coefficients of which none but the first is negative: least squares with each subset of the things, the others
/// being 0.
fn least_squares(points: &[Point], weights: &[f64], terms: usize) -> [f64; MAX_TERMS + 1] {
    let mut moments = Moments::default();
    for (point, &weight) in points.iter().zip(weights) {
        if weight > 0.0 {
            moments.add(point, weight, terms);
        }
    }
    let mut best = [0.0; MAX_TERMS + 1];
    let mut most = f64::NEG_INFINITY;
    for subset in 0..1usize << terms {
        let chosen: Vec<usize> = std::iter::once(0)
            .chain(
                (0..terms)
                    .filter(|term| subset >> term & 1 == 1)
                    .map(|term| term + 1),
            )
            .collect();
        let Some(solution) = moments.solve(&chosen) else {
            continue;
        };
        if solution[1..].iter().any(|cost| *cost < 0.0) {
            continue;
        }
        // The part of the squares that these explain.
        let explained: f64 = chosen
            .iter()
            .zip(&solution)
            .map(|(&at, cost)| cost * moments.with_time[at])
            .sum();
        if explained > most {
            most = explained;
            best = [0.0; MAX_TERMS + 1];
            for (&at, &cost) in chosen.iter().zip(&solution) {
                best[at] = cost;
            }
        }
    }
    best
}

/// Weighted sums of products.
#[derive(Default)]
struct Moments {
    products: [[f64; MAX_TERMS + 1]; MAX_TERMS + 1],
    with_time: [f64; MAX_TERMS + 1],
}

impl Moments {
    fn add(&mut self, point: &Point, weight: f64, terms: usize) {
        let at = |index: usize| if index == 0 { 1.0 } else { point.counts[index - 1] };
        for row in 0..=terms {
            let weighted = weight * at(row);
            if weighted == 0.0 {
                continue;
            }
            for column in 0..=row {
                self.products[row][column] += weighted * at(column);
            }
            self.with_time[row] += weighted * point.time;
        }
    }

    /// Solves the normal equations of these rows by Cholesky's decomposition; `None` if they depend on each other.
    fn solve(&self, chosen: &[usize]) -> Option<Vec<f64>> {
        let size = chosen.len();
        let product = |row: usize, column: usize| {
            let (row, column) = (chosen[row], chosen[column]);
            self.products[row.max(column)][row.min(column)]
        };
        let mut lower = [[0.0; MAX_TERMS + 1]; MAX_TERMS + 1];
        for row in 0..size {
            for column in 0..=row {
                let done: f64 = (0..column).map(|at| lower[row][at] * lower[column][at]).sum();
                let left = product(row, column) - done;
                if row == column {
                    if left <= product(row, row) * 1e-10 {
                        return None;
                    }
                    lower[row][row] = left.sqrt();
                } else {
                    lower[row][column] = left / lower[column][column];
                }
            }
        }
        let mut solution = vec![0.0; size];
        for row in 0..size {
            let done: f64 = (0..row).map(|at| lower[row][at] * solution[at]).sum();
            solution[row] = (self.with_time[chosen[row]] - done) / lower[row][row];
        }
        for row in (0..size).rev() {
            let done: f64 = (row + 1..size).map(|at| lower[at][row] * solution[at]).sum();
            solution[row] = (solution[row] - done) / lower[row][row];
        }
        Some(solution)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Requests that take `base` and the cost of each thing, up to `noise` more or less.
    fn made(random: &mut Rng, size: usize, base: f64, costs: &[f64], noise: f64) -> Vec<Point> {
        let mut point = || {
            let mut counts = [0.0; MAX_TERMS];
            let mut time = base + (random.f64() - 0.5) * 2.0 * noise;
            for (count, cost) in counts.iter_mut().zip(costs) {
                *count = f64::from(random.u8(..4).saturating_sub(2));
                time += *count * cost;
            }
            Point {
                time,
                weight: 1.0 + random.f64(),
                counts,
                is_marked: counts.iter().any(|count| *count > 0.0),
            }
        };
        (0..size).map(|_| point()).collect()
    }

    #[test]
    fn costs_are_found() {
        for seed in 0..5 {
            let mut random = Rng::with_seed(seed);
            let costs = [38e6, 0.0, 5e6];
            let mut points = made(&mut random, 6_000, 2e6, &costs, 1e6);
            // Some that took long for other reasons.
            points
                .iter_mut()
                .step_by(50)
                .for_each(|point| point.time += 500e6);
            let fit = fit(&points, 3);
            for (found, truth) in fit.costs.iter().zip(costs) {
                assert!((found - truth).abs() < 0.3e6, "{:?}", fit.costs);
            }
            for ([low, high], truth) in fit.intervals.iter().zip(costs) {
                assert!(
                    low - 0.3e6 <= truth && truth <= high + 0.3e6,
                    "{:?}",
                    fit.intervals
                );
                assert!(high - low < 1e6);
            }
        }
    }

    /// A thing that everyone does hides none that few do.
    #[test]
    fn few_requests_are_not_lost_among_many() {
        let mut random = Rng::with_seed(9);
        let point = |at: usize| {
            let is_marked = at.is_multiple_of(1_000);
            let rounds = 10.0 + random.f64() * 50.0;
            Point {
                time: 2e6 + rounds * 2e4 + if is_marked { 25e6 } else { 0.0 },
                weight: 1.0,
                counts: [rounds, f64::from(u8::from(is_marked)), 0.0, 0.0, 0.0],
                is_marked,
            }
        };
        let points: Vec<Point> = (0..60_000).map(point).collect();
        let fit = fit(&points, 2);
        assert!(
            (fit.costs[0] - 2e4).abs() < 10.0 && (fit.costs[1] - 25e6).abs() < 1e4,
            "{fit:?}"
        );
        assert!(fit.intervals[1][0] > 24.9e6, "{fit:?}");
    }

    #[test]
    fn nothing_costs_less_than_nothing() {
        let mut random = Rng::with_seed(3);
        let fit = fit(&made(&mut random, 500, 50e6, &[-9e6, 4e6], 1e5), 2);
        assert_eq!((fit.costs[0], fit.intervals[0]), (0.0, [0.0, 0.0]));
        assert!(fit.costs[1] > 2e6, "{:?}", fit.costs);
    }

    #[test]
    fn what_is_always_the_same_has_no_cost_of_its_own() {
        let point = |time| Point {
            time,
            weight: 1.0,
            counts: [7.0, 7.0, 0.0, 0.0, 0.0],
            is_marked: true,
        };
        let points: Vec<Point> = (0..100).map(|at| point(f64::from(at) * 1e6)).collect();
        assert_eq!(fit(&points, 2).costs, [0.0, 0.0]);
        assert_eq!(fit(&[], 1).costs, [0.0]);
    }
}
