//! Time by method and bytecode index, and how sure it is.

use std::collections::{BTreeMap, HashMap};

use super::{CpuSamples, CpuTime};

/// Time of a place in the code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlaceTime {
    /// Samples whose innermost frame was there.
    pub own: CpuTime,
    /// Samples with a frame there, however deep: what it called is in it. If several frames of its method are on the stack
    /// (recursion), a sample is with the place of the innermost one.
    pub total: CpuTime,
}

/// Time of a method.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MethodTime {
    /// The sum of its places.
    pub all: PlaceTime,
    /// By bytecode index; `None`: where in the method is not known.
    pub places: BTreeMap<Option<u16>, PlaceTime>,
}

impl CpuSamples {
    /// Time by method and bytecode index, parallel to [`frames`](Self::frames).
    pub fn by_place(&self) -> Vec<MethodTime> {
        let mut methods = vec![MethodTime::default(); self.frames.len()];
        let totals = self.tree.totals();
        // Frames of the current stack, and of each method on it the places, the innermost last.
        let mut stack: Vec<u32> = Vec::new();
        let mut on_stack: HashMap<u32, Vec<Option<u16>>> = HashMap::new();
        for (node, &total) in self.tree.nodes().iter().zip(&totals) {
            for gone in stack.drain(node.depth as usize - 1..) {
                on_stack.entry(gone).and_modify(|places| _ = places.pop());
            }
            stack.push(node.frame);
            let of_frame = on_stack.entry(node.frame).or_default();
            let outer = of_frame.last().copied();
            of_frame.push(node.bci);
            let Some(method) = methods.get_mut(node.frame as usize) else {
                continue;
            };
            if let Some(outer) = outer {
                let place = method.places.entry(outer).or_default();
                place.total = place.total.less(total);
            } else {
                method.all.total = method.all.total.plus(total);
            }
            let place = method.places.entry(node.bci).or_default();
            place.total = place.total.plus(total);
            place.own = place.own.plus(node.own);
            method.all.own = method.all.own.plus(node.own);
        }
        methods
    }
}

/// Standard errors on either side of an interval that holds in 95 of 100 cases.
pub const STANDARD_ERRORS: f64 = 1.959_963_984_540_054;

/// Bounds of a share, with 95 % certainty, that `part` of `whole` samples have (Wilson's interval). `(0, 1)`
/// if there is no sample.
pub fn share_interval(part: u64, whole: u64) -> (f64, f64) {
    share_interval_of(part, whole, STANDARD_ERRORS)
}

/// Like [`share_interval`], with as many standard errors on either side.
pub fn share_interval_of(part: u64, whole: u64, errors: f64) -> (f64, f64) {
    if whole == 0 {
        return (0.0, 1.0);
    }
    let n = whole as f64;
    let p = (part as f64 / n).min(1.0);
    let z2 = errors * errors / n;
    let centre = (p + z2 / 2.0) / (1.0 + z2);
    let half = errors / (1.0 + z2) * (p * (1.0 - p) / n + z2 / (4.0 * n)).sqrt();
    ((centre - half).max(0.0), (centre + half).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_wilsons() {
        // R: prop.test(x, n, correct = FALSE)$conf.int
        for (part, whole, low, high) in [
            (10, 100, 0.055_229, 0.174_366),
            (0, 50, 0.0, 0.071_347),
            (1, 1, 0.206_549, 1.0),
        ] {
            let (from, to) = share_interval(part, whole);
            assert!(
                (from - low).abs() < 1e-5 && (to - high).abs() < 1e-5,
                "{part} of {whole}: {from} to {to}"
            );
        }
        assert_eq!(share_interval(0, 0), (0.0, 1.0));
        let (from, to) = share_interval(u64::MAX, u64::MAX);
        assert!(from > 0.99 && to <= 1.0);
    }
}
