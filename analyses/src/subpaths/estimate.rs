//! From a count in the sample to a count in the program.

/// How often something was executed, estimated from a sample.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Estimate {
    /// The estimate. Its expectation is the true count.
    pub value: f64,
    /// Least and greatest true count by which the sample is still no surprise: at the usual `z` of 1.96, an
    /// interval like this holds the true count in 95 % of all cases.
    pub low: f64,
    /// See [`low`](Self::low).
    pub high: f64,
}

impl Estimate {
    /// The estimate from samples `(count, weight)`, each element of which represents `weight` (1 or more)
    /// executions, since each execution was taken independently with probability `1 / weight`. `z`: half the
    /// interval's width, in standard deviations.
    ///
    /// The interval of one sample is Wilson's: all counts `C` for which the sample's count is within `z`
    /// standard deviations of what is expected, which are those of a binomial distribution. That needs no
    /// normal distribution at the low end, is never empty, and of no width where everything was taken. Those
    /// of several samples are combined by the squares of their halves (as independent errors are; Zou and
    /// Donner's MOVER), so that a small sample of large weight does not pass for a large one.
    pub fn new(samples: impl IntoIterator<Item = (u64, f64)>, z: f64) -> Estimate {
        let (mut seen, mut value, mut below, mut above) = (0.0, 0.0, 0.0, 0.0);
        for (count, weight) in samples {
            let count = count as f64;
            let own = count * weight;
            let unit = (weight - 1.0).max(0.0);
            let middle = unit * z * z / 2.0;
            let half = z * (own * unit + (unit * z / 2.0).powi(2)).sqrt();
            seen += count;
            value += own;
            below += (half - middle).powi(2);
            above += (half + middle).powi(2);
        }
        Estimate {
            value,
            // What was seen has happened.
            low: (value - below.sqrt()).max(seen),
            high: value + above.sqrt(),
        }
    }

    /// Half the interval's width as a share of the estimate.
    pub fn error(&self) -> f64 {
        if self.value > 0.0 {
            (self.high - self.low) / 2.0 / self.value
        } else {
            f64::INFINITY
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::subpaths::draws::Draws;

    #[test]
    fn nothing_is_uncertain_where_everything_was_taken() {
        let all = Estimate::new([(7, 1.0)], 1.96);
        assert_eq!((all.value, all.low, all.high), (7.0, 7.0, 7.0));
        let none = Estimate::new([(0, 100.0)], 1.96);
        assert_eq!((none.value, none.low), (0.0, 0.0));
        assert!((380.0..381.0).contains(&none.high), "{none:?}");
    }

    /// Over all samples that may come, weighted by how likely they are.
    #[test]
    fn intervals_hold_the_true_count_as_often_as_they_say() {
        let mut draws = Draws::new(6, 0);
        for (truth, keeps) in [(400u64, [0.5, 0.5]), (3000, [0.01, 0.01]), (5000, [0.1, 0.003])] {
            let hits = (0..4000).filter(|_| {
                let samples = keeps.map(|keep| (draws.survivors(truth / 2, keep), 1.0 / keep));
                let estimate = Estimate::new(samples, 1.96);
                assert!(estimate.low <= estimate.value && estimate.value <= estimate.high);
                (estimate.low..=estimate.high).contains(&(truth as f64))
            });
            let share = hits.count() as f64 / 4000.0;
            assert!((0.925..=0.985).contains(&share), "{truth} {keeps:?}: {share}");
        }
    }
}
