//! Which classes are worth a retransformation.

use trodden_instrumenter::MethodId;

use super::budget::SLOW;

/// Seconds of processor time that a retransformation costs at least until all is compiled again that it threw
/// away, whatever it holds; each class in it costs [`SLOW`] more. On Xalan 66 classes cost 7.5 s at once, and
/// 11, 3 and 9 of them 2.5, 5.5 and 3 s, as each time the same large methods go that have others inlined.
const CALL: f64 = 2.0;

/// A method that ends many paths at the moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HotMethod {
    /// In the path map.
    pub position: usize,
    /// Path ends per second.
    pub rate: f64,
    /// True if its profile is known well enough.
    pub known: bool,
    /// True if it was waited for long enough, or no time is left in the budget.
    pub overdue: bool,
}

/// A class with probes.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// The class, by its first method.
    pub first_method: MethodId,
    /// Path ends per second of all its methods with probes.
    pub rate: f64,
    /// Path ends counted since it got its probes.
    pub counted: u64,
    /// Its hot ones.
    pub hot: Vec<HotMethod>,
    /// True if it must stay unchanged, because activations of its methods run on for long.
    pub blocked: bool,
}

impl Candidate {
    /// Share of a class's path ends that must be known before it goes silent.
    const MIN_KNOWN_SHARE: f64 = 0.9;

    /// True if enough of it is known, or was waited for. Methods of a class go silent together, as each time
    /// costs the same.
    pub fn is_ready(&self) -> bool {
        let hot: f64 = self.hot.iter().map(|method| method.rate).sum();
        let done = self.hot.iter().filter(|method| method.known || method.overdue);
        let done: f64 = done.map(|method| method.rate).sum();
        !self.blocked && hot > 0.0 && done >= Self::MIN_KNOWN_SHARE * hot
    }
}

/// True if counting these classes has cost as much, at a price per path end, as taking their probes out will.
/// How long the program goes on is not known. Waiting that long costs at most twice of what would have been
/// best (as with skis: rent them until that has cost what they cost to buy).
///
/// `compiled`: seconds that the JVM has spent on compiling so far. When all hot code goes, it has most of
/// that to do again, its methods' own profiles being gone too: ECJ, which had taken more than a minute of
/// that, took 2.4 times as long for the two minutes after 81 classes had lost their probes.
pub fn have_paid<'c>(classes: impl IntoIterator<Item = &'c Candidate>, price: f64, compiled: f64) -> bool {
    let (mut paid, mut number) = (0.0, 0);
    for class in classes {
        paid += class.counted as f64 * price;
        number += 1;
    }
    paid >= self::price(number).max(compiled)
}

/// Seconds of processor time that a change of a number of classes costs at least.
pub fn price(classes: usize) -> f64 {
    CALL + classes as f64 * SLOW
}

/// The classes that cost something, most expensive first. Left out are those that together end no more than
/// `tail` paths a second: they are counted to the end of the run.
pub fn expensive(mut candidates: Vec<Candidate>, tail: f64) -> Vec<Candidate> {
    candidates.sort_by(|a, b| {
        a.rate
            .total_cmp(&b.rate)
            .then(b.first_method.cmp(&a.first_method))
    });
    let mut sum = 0.0;
    let cheap = candidates.iter().take_while(|candidate| {
        sum += candidate.rate;
        sum <= tail
    });
    let cheap = cheap.count();
    candidates.drain(..cheap);
    candidates.reverse();
    candidates
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(first_method: u32, hot: &[(f64, bool, bool)]) -> Candidate {
        let method = |(position, &(rate, known, overdue))| HotMethod {
            position,
            rate,
            known,
            overdue,
        };
        Candidate {
            first_method: MethodId(first_method),
            rate: hot.iter().map(|h| h.0).sum(),
            counted: 1_000_000,
            hot: hot.iter().enumerate().map(method).collect(),
            blocked: false,
        }
    }

    #[test]
    fn the_cheap_ones_stay() {
        let classes = [5.0, 1.0, 100.0, 2.0, 40.0].map(|rate| class(rate as u32, &[(rate, true, false)]));
        let expensive = |tail| -> Vec<u32> {
            super::expensive(classes.to_vec(), tail)
                .iter()
                .map(|c| c.first_method.0)
                .collect()
        };
        assert_eq!(expensive(0.0), [100, 40, 5, 2, 1]);
        assert_eq!(expensive(8.0), [100, 40]);
        assert_eq!(expensive(7.9), [100, 40, 5]);
        assert_eq!(expensive(1e9), [0; 0]);
    }

    #[test]
    fn classes_pay_first() {
        let classes = [1, 2, 3].map(|first| class(first, &[(90.0, true, false)]));
        // Three million path ends, 2.24 s.
        assert!(have_paid(&classes, 7.5e-7, 0.0) && !have_paid(&classes, 7.4e-7, 0.0));
        assert!(!have_paid(&classes[..1], 7.5e-7, 0.0) && !have_paid(&[], 1.0, 0.0));
        // Much code had to be compiled until then.
        assert!(!have_paid(&classes, 7.5e-7, 30.0) && have_paid(&classes, 1e-5, 30.0));
    }

    #[test]
    fn a_class_is_ready_when_most_of_it_is() {
        assert!(class(0, &[(90.0, true, false), (10.0, false, false)]).is_ready());
        assert!(!class(0, &[(80.0, true, false), (20.0, false, false)]).is_ready());
        assert!(class(0, &[(80.0, true, false), (20.0, false, true)]).is_ready());
        assert!(!class(0, &[]).is_ready());
        let blocked = Candidate {
            blocked: true,
            ..class(0, &[(90.0, true, false)])
        };
        assert!(!blocked.is_ready());
    }
}
