//! How long the next subpath is to be: OSP's `choosePathLength`.

use std::fmt;
use std::str::FromStr;

use trodden_profile::MAX_SUBPATH;
use trodden_profile::options::{SubpathLengths, ValueError};

use super::SubpathError;
use super::draws::Draws;

/// How many magnitudes there are.
pub(super) const MAGNITUDES: usize = MAX_SUBPATH.ilog2() as usize + 1;

/// Lengths from 2^n to 2^(n+1) - 1 have the magnitude n.
pub(super) fn magnitude(length: u32) -> usize {
    length.clamp(1, MAX_SUBPATH).ilog2() as usize
}

/// The lengths that subpaths may have, and how likely each is drawn (OSP section 2.3, "Subpaths" and "Path
/// Length Bias").
///
/// | in options | lengths | probability |
/// | --- | --- | --- |
/// | `pow2:LIMIT` | powers of two from 2 to LIMIT | of 2^n proportional to 2^-n: the default, to 1024 |
/// | `pow2-uniform:LIMIT` | the same | equal |
/// | `any:LIMIT` | all from 2 to LIMIT | of n proportional to 1/n (OSP section 3.1, "Arbitrary Length") |
/// | `any-uniform:LIMIT` | the same | equal |
///
/// The probabilities sum up to 1: what the paper's leave over beyond the limit is shared out in proportion.
///
/// ```
/// use trodden_analyses::subpaths::Lengths;
///
/// let lengths: Lengths = "pow2:8".parse().unwrap();
/// assert_eq!(lengths.all().collect::<Vec<_>>(), [2, 4, 8]);
/// assert_eq!(lengths.probability(4), 2.0 / 7.0);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Lengths {
    name: String,
    /// Length, probability, and the sum of probabilities up to here; ascending.
    table: Vec<(u32, f64, f64)>,
}

impl Default for Lengths {
    fn default() -> Self {
        Lengths::powers(1024)
    }
}

impl Lengths {
    /// Powers of two up to a limit, which is rounded down to one and into 2..=[`MAX_SUBPATH`].
    pub fn powers(limit: u32) -> Self {
        let limit = 1 << limit.clamp(2, MAX_SUBPATH).ilog2();
        Lengths::new(
            format!("pow2:{limit}"),
            powers(limit).map(|n| (n, 1.0 / f64::from(n))),
        )
    }

    /// Any lengths with any weights (OSP section 2.4). `name` is what reports call it.
    ///
    /// # Errors
    /// If there is no length, one is twice there, 0 or beyond [`MAX_SUBPATH`], or a weight is not a positive
    /// number.
    pub fn weighted(name: &str, weights: &[(u32, f64)]) -> Result<Self, SubpathError> {
        let mut sorted = weights.to_vec();
        sorted.sort_by_key(|&(length, _)| length);
        let good = |&(length, weight): &(u32, f64)| {
            (1..=MAX_SUBPATH).contains(&length) && weight > 0.0 && weight.is_finite()
        };
        if sorted.is_empty() || !sorted.iter().all(good) || sorted.windows(2).any(|w| w[0].0 == w[1].0) {
            return Err(SubpathError::Lengths(format!(
                "'{name}' must have lengths from 1 to {MAX_SUBPATH}, each once and with a weight above 0"
            )));
        }
        Ok(Lengths::new(name.to_owned(), sorted.into_iter()))
    }

    fn new(name: String, weights: impl Iterator<Item = (u32, f64)> + Clone) -> Self {
        let whole: f64 = weights.clone().map(|(_, weight)| weight).sum();
        let mut sum = 0.0;
        let table = weights.map(|(length, weight)| {
            sum += weight / whole;
            (length, weight / whole, sum)
        });
        Lengths {
            name,
            table: table.collect(),
        }
    }

    /// All lengths, ascending.
    pub fn all(&self) -> impl Iterator<Item = u32> + '_ {
        self.table.iter().map(|&(length, ..)| length)
    }

    /// The longest one.
    pub fn longest(&self) -> u32 {
        self.table.last().map_or(0, |&(length, ..)| length)
    }

    /// Mean of the lengths drawn: what a sample costs.
    pub fn mean(&self) -> f64 {
        self.table
            .iter()
            .map(|&(length, p, _)| f64::from(length) * p)
            .sum()
    }

    /// The magnitudes of these lengths, ascending.
    pub(super) fn magnitudes(&self) -> impl Iterator<Item = usize> {
        let all = self.all().fold(0u32, |all, length| all | 1 << magnitude(length));
        (0..MAGNITUDES).filter(move |at| all >> at & 1 != 0)
    }

    /// How likely a length is drawn; 0 for one that never is.
    pub fn probability(&self, length: u32) -> f64 {
        let found = self.table.binary_search_by_key(&length, |&(length, ..)| length);
        found.map_or(0.0, |at| self.table[at].1)
    }

    pub(super) fn draw(&self, draws: &mut Draws) -> u32 {
        let unit = draws.unit();
        let at = self.table.partition_point(|&(.., sum)| sum <= unit);
        // The sums may end a rounding error below 1.
        self.table.get(at).map_or(self.longest(), |&(length, ..)| length)
    }
}

fn powers(limit: u32) -> impl Iterator<Item = u32> + Clone {
    (1..=limit.ilog2()).map(|n| 1 << n)
}

impl From<SubpathLengths> for Lengths {
    fn from(options: SubpathLengths) -> Self {
        let SubpathLengths {
            powers: only_powers,
            uniform,
            limit,
        } = options;
        let name = options.to_string();
        let weigh = |n: u32| (n, if uniform { 1.0 } else { 1.0 / f64::from(n) });
        if only_powers {
            Lengths::new(name, powers(limit).map(weigh))
        } else {
            Lengths::new(name, (2..=limit).map(weigh))
        }
    }
}

impl FromStr for Lengths {
    type Err = SubpathError;

    fn from_str(text: &str) -> Result<Self, SubpathError> {
        let options: SubpathLengths = text
            .parse()
            .map_err(|e: ValueError| SubpathError::Lengths(e.to_string()))?;
        Ok(options.into())
    }
}

impl fmt::Display for Lengths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_read_back() {
        for text in [
            "pow2:2",
            "pow2:1024",
            "pow2-uniform:64",
            "any:1024",
            "any-uniform:7",
        ] {
            let lengths: Lengths = text.parse().unwrap();
            assert_eq!(lengths.to_string(), text);
            let sum: f64 = lengths.all().map(|n| lengths.probability(n)).sum();
            assert!((sum - 1.0).abs() < 1e-9, "{text}: {sum}");
        }
        for text in [
            "",
            "pow2",
            "pow2:",
            "pow2:1",
            "pow2:1000",
            "any:1",
            "any:65537",
            "3:4",
            "pow2:-2",
        ] {
            let Err(SubpathError::Lengths(error)) = text.parse::<Lengths>() else {
                panic!("'{text}' is read");
            };
            assert!(error.starts_with(&format!("'{text}' is none of")), "{error}");
        }
        assert_eq!(Lengths::powers(1500), Lengths::default());
    }

    #[test]
    fn draws_are_as_likely_as_stated() {
        for text in ["pow2:1024", "pow2-uniform:8", "any:10"] {
            let lengths: Lengths = text.parse().unwrap();
            let mut draws = Draws::new(5, 0);
            let mut counts = std::collections::BTreeMap::<u32, u64>::new();
            (0..50_000).for_each(|_| *counts.entry(lengths.draw(&mut draws)).or_default() += 1);
            let mut statistic = 0.0;
            for length in lengths.all() {
                let expected = 50_000.0 * lengths.probability(length);
                let count = counts.remove(&length).unwrap_or_default() as f64;
                statistic += (count - expected).powi(2) / expected;
            }
            // 99.9 % with 9 degrees of freedom.
            assert!(statistic < 27.9 && counts.is_empty(), "{text}: {statistic}");
        }
    }

    #[test]
    fn any_weights_will_do() {
        let lengths = Lengths::weighted("thirds", &[(9, 2.0), (3, 1.0)]).unwrap();
        assert_eq!(lengths.all().collect::<Vec<_>>(), [3, 9]);
        assert_eq!(lengths.mean(), 7.0);
        for bad in [
            &[][..],
            &[(0, 1.0)],
            &[(3, 0.0)],
            &[(3, 1.0), (3, 1.0)],
            &[(3, f64::NAN)],
        ] {
            assert!(Lengths::weighted("bad", bad).is_err(), "{bad:?}");
        }
    }
}
