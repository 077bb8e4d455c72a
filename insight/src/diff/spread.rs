//! How much shares of the CPU time differ between runs of the same program, and from when on a difference is a change.
//!
//! Chance in sampling is the smaller part of it: HotSpot inlines and compiles differently each time, and other programs take
//! turns on the machine. The decision `variance-between-runs` has what was measured.

/// How many runs the prior knowledge is worth: degrees of freedom of [`prior`].
const PRIOR_FREEDOM: f64 = 8.0;
/// Standard deviation of a method's share between runs of one program, as a part of the share.
const RELATIVE: f64 = 0.18;
/// The part of it that small shares have, too.
const ABSOLUTE: f64 = 0.008;

/// Methods that are compared together, so that the more there are, the more is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Their code is as before, and so are their counts: nothing but time speaks for a change.
    Unchanged,
    /// Their code changed, or their counts say that they behave differently.
    Changed,
}

impl Family {
    /// How often something may be said of a family in two runs without a change.
    fn error(self) -> f64 {
        match self {
            Family::Unchanged => 0.01,
            Family::Changed => 0.05,
        }
    }
}

/// Variance of a method's share between runs of a program that did not change, beyond that of sampling.
pub fn prior(share: f64) -> f64 {
    (RELATIVE * share).powi(2) + ABSOLUTE.powi(2)
}

/// The variance of values that several runs gave, moderated by a known one.
pub fn moderated(values: &[f64], known: f64) -> f64 {
    let freedom = values.len().saturating_sub(1) as f64;
    let mean = mean(values);
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (PRIOR_FREEDOM * known + squares) / (PRIOR_FREEDOM + freedom)
}

pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// How many standard errors a change has to exceed if `compared` methods were looked at, `runs` times before and after.
pub fn critical(family: Family, compared: usize, runs: [usize; 2]) -> f64 {
    let freedom: usize = runs.iter().map(|runs| runs.saturating_sub(1)).sum();
    quantile(
        family.error() / 2.0 / compared.max(1) as f64,
        PRIOR_FREEDOM + freedom as f64,
    )
}

/// The value that Student's distribution exceeds with this probability: by bisection of its integral.
fn quantile(probability: f64, freedom: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1e3);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if tail(middle, freedom) > probability {
            low = middle;
        } else {
            high = middle;
        }
    }
    (low + high) / 2.0
}

/// The probability that Student's t exceeds `t`: with *t = √ν tan θ* its density is that of *cos^(ν−1) θ*, by Simpson's rule.
fn tail(t: f64, freedom: f64) -> f64 {
    const STEPS: u32 = 2_000;
    let integral = |from: f64, to: f64| {
        let width = (to - from) / f64::from(STEPS);
        let at = |step: u32| {
            (from + width * f64::from(step))
                .cos()
                .max(0.0)
                .powf(freedom - 1.0)
        };
        let inner: f64 = (1..STEPS)
            .map(|step| {
                if step % 2 == 1 {
                    4.0 * at(step)
                } else {
                    2.0 * at(step)
                }
            })
            .sum();
        (at(0) + inner + at(STEPS)) * width / 3.0
    };
    let half = std::f64::consts::FRAC_PI_2;
    integral((t / freedom.sqrt()).atan(), half) / (2.0 * integral(0.0, half))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_students() {
        // R: qt(1 - p, df)
        for (p, freedom, value) in [
            (0.025, 8.0, 2.306_004),
            (0.0005, 8.0, 5.041_305),
            (0.005, 10.0, 3.169_273),
            (0.000_05, 16.0, 5.133_9),
        ] {
            let found = quantile(p, freedom);
            assert!((found - value).abs() < 2e-3, "{p} {freedom}: {found}");
        }
    }

    #[test]
    fn runs_outweigh_what_was_known() {
        let known = 4.0;
        assert_eq!(moderated(&[7.0], known), known);
        assert!(moderated(&[7.0; 9], known) < known * 0.51);
        assert!(moderated(&[0.0, 20.0, 0.0, 20.0], known) > known * 9.0);
        // More runs need fewer standard errors, more methods more of them.
        let critical = |compared, runs| critical(Family::Unchanged, compared, runs);
        assert!(critical(10, [1, 1]) > critical(10, [5, 5]));
        assert!(critical(100, [1, 1]) > critical(10, [1, 1]));
        assert!((critical(10, [1, 1]) - 5.041).abs() < 0.01);
        // Less is asked for where something else speaks for a change.
        assert!(super::critical(Family::Changed, 1, [1, 1]) < 2.4);
    }
}
