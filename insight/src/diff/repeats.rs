//! Several runs of a side: what they differ by, though nothing was changed.

use std::collections::HashMap;

use trodden_profile::Profile;

use super::amount::Amount;
use super::effect::Costs;
use super::pairing::pair;
use super::side::{Side, sides};
use super::spread::{Family, critical, mean, moderated};

/// The difference that counts are taken to have between two runs of one program, as a part of themselves, until runs say otherwise.
const COUNTS: f64 = 0.02;

/// The runs of both sides.
pub struct Repeats<'p> {
    each: [Vec<Sided<'p>>; 2],
}

/// One run.
pub struct Sided<'p> {
    sides: Vec<Side<'p>>,
    by_name: HashMap<(&'p str, &'p str, &'p str), usize>,
    /// How much of the same it did, in terms of the mean of its side.
    pub factor: f64,
}

impl<'p> Sided<'p> {
    fn new(run: &'p Profile, (of_mean, costs): (&[Side], &Costs)) -> Self {
        let sides = sides(run);
        let pairs = pair(of_mean, &sides);
        let own = Costs::new(&sides);
        let factor = Amount::new([of_mean, &sides], &pairs, [costs, &own]).factor;
        let by_name = (0..).zip(&sides).map(|(at, side)| (names(side), at)).collect();
        Sided {
            sides,
            by_name,
            factor,
        }
    }

    /// A method of the mean of the side in this run.
    pub fn method(&self, of_mean: &Side) -> Option<&Side<'p>> {
        let side = &self.sides[*self.by_name.get(&names(of_mean))?];
        (side.map.num_blocks() == of_mean.map.num_blocks()).then_some(side)
    }
}

fn names<'s>(side: &Side<'s>) -> (&'s str, &'s str, &'s str) {
    (side.class, &side.map.name, &side.map.descriptor)
}

impl<'p> Repeats<'p> {
    /// `None` if there is one run a side only.
    pub fn new(each: [&'p [Profile]; 2], means: [(&[Side], &Costs); 2]) -> Option<Self> {
        if each.iter().all(|runs| runs.len() < 2) {
            return None;
        }
        let of_side = |which: usize| {
            each[which]
                .iter()
                .map(|run| Sided::new(run, means[which]))
                .collect()
        };
        Some(Repeats {
            each: [of_side(0), of_side(1)],
        })
    }

    /// Do the values of both sides differ by more than chance explains, `compared` values having been looked at? Yes, if a side has
    /// none.
    pub fn differ(&self, compared: usize, value: impl Fn(usize, &Sided) -> Option<f64>) -> bool {
        let values = [0, 1].map(|which| -> Vec<f64> {
            let runs = self.each[which].iter();
            runs.filter_map(|run| value(which, run)).collect()
        });
        if values.iter().any(Vec::is_empty) {
            return true;
        }
        let [before, after] = [&values[0], &values[1]].map(|values| mean(values));
        let known = (COUNTS * (before.abs() + after.abs()) / 2.0).powi(2);
        let variance: f64 = values
            .iter()
            .map(|of| moderated(of, known) / of.len() as f64)
            .sum();
        let critical = critical(Family::Unchanged, compared, [values[0].len(), values[1].len()]);
        (after - before).abs() > critical * variance.sqrt()
    }
}
