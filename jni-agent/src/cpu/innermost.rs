//! Which of the methods that are inlined into one compiled method code belongs to.
//!
//! The compiler computes what several of them have in common once, and puts all of that down to one of them,
//! also where another one uses it. Its probes have the address of the thread's counters in common; two loops
//! over one array have its length.

use super::buffer::RawFrame;

/// Frames of a look: those of a probe, the method that it is inlined in, and its callers.
pub const INNERMOST: usize = 8;
/// Bytes from one look to the next.
const STRIDE: isize = 8;
/// Looks at most on a side: as far as the increments of a loop's paths reach.
const LOOKS: isize = 16;

/// The methods of probes.
pub struct Probes {
    /// Those whose results all probes of a compiled method share.
    shared: Vec<usize>,
    /// These, and those that call them.
    all: Vec<usize>,
}

impl Probes {
    /// By methods' ids. `count`: those that call the shared ones.
    pub fn new(shared: Vec<usize>, count: Vec<usize>) -> Self {
        let all = shared.iter().copied().chain(count).collect();
        Probes { shared, all }
    }

    /// The innermost frames of a stack with at least one.
    pub fn innermost(&self, stack: &[RawFrame]) -> Innermost {
        let count = stack.len().min(INNERMOST);
        let mut frames = [RawFrame::default(); INNERMOST];
        frames[..count].copy_from_slice(&stack[..count]);
        let of_probe = frames[..count]
            .iter()
            .rposition(|frame| self.all.contains(&frame.method));
        Innermost {
            frames,
            count,
            owner: of_probe.map_or(0, |at| at + 1).min(count - 1),
        }
    }

    /// True for code that several probes share.
    pub fn is_shared(&self, of: &Innermost) -> bool {
        self.shared.contains(&of.place().method)
    }

    /// The distance to code of the activation that the code in question belongs to, if that is another one
    /// than it is put down to. `look`: the frames at a distance, within the compiled method.
    ///
    /// The nearest other code on both sides has to be of one activation. If the code in question is not a
    /// shared probe's, that has to be a sibling of the named one, neither its caller nor called by it, with
    /// more places than one around here, while the named one has this place only: what runs here has a
    /// decision, a probe, and more.
    pub fn elsewhere(
        &self,
        named: &Innermost,
        mut look: impl FnMut(isize) -> Option<Innermost>,
    ) -> Option<isize> {
        let is_shared = self.is_shared(named);
        let mut nearest: [Option<(isize, Innermost)>; 2] = [None; 2];
        let mut has_several = is_shared;
        for (nearest, stride) in nearest.iter_mut().zip([-STRIDE, STRIDE]) {
            for offset in (1..=LOOKS).map(|looks| looks * stride) {
                let Some(found) = look(offset) else { break };
                if found.place() == named.place() || self.is_shared(&found) {
                    continue;
                }
                if !is_shared && (found.is_same(named) || found.is_below(named)) {
                    return None;
                }
                let of_another = if is_shared {
                    found.method() != named.method()
                } else {
                    found.is_beside(named)
                };
                match nearest {
                    None if of_another => *nearest = Some((offset, found)),
                    None => return None,
                    Some((_, of)) => has_several |= found.is_same(of) && found.place() != of.place(),
                }
                if is_shared {
                    break;
                }
            }
        }
        let [Some((offset, before)), Some((_, behind))] = nearest else {
            return None;
        };
        has_several |= before.place() != behind.place();
        (before.is_same(&behind) && has_several).then_some(offset)
    }
}

/// The innermost frames of a stack.
#[derive(Clone, Copy)]
pub struct Innermost {
    frames: [RawFrame; INNERMOST],
    count: usize,
    /// The frame that the innermost probe is inlined in; 0 if there is none.
    owner: usize,
}

impl Innermost {
    /// The frame that the code is attributed to.
    fn place(&self) -> RawFrame {
        self.frames[0]
    }

    /// The method that the code belongs to.
    pub fn method(&self) -> usize {
        self.frames[self.owner].method
    }

    fn callers(&self) -> &[RawFrame] {
        &self.frames[self.owner + 1..self.count]
    }

    /// True if its caller is known.
    pub fn has_callers(&self) -> bool {
        !self.callers().is_empty()
    }

    /// True for the same activation of the same method, as far as that is known.
    fn is_same(&self, other: &Self) -> bool {
        let mut callers = self.callers().iter().zip(other.callers());
        self.method() == other.method() && callers.all(|(one, other)| one == other)
    }

    /// True for code that the other activation called.
    fn is_below(&self, other: &Self) -> bool {
        (self.callers().iter().zip(1..)).any(|(caller, next)| {
            let mut above = self.callers()[next..].iter().zip(other.callers());
            caller.method == other.method() && above.all(|(one, other)| one == other)
        })
    }

    /// True if one activation led to both, by calls at different places, and neither called the
    /// other.
    fn is_beside(&self, other: &Self) -> bool {
        let (ours, others) = (self.callers(), other.callers());
        let common = (0..ours.len()).any(|at| {
            (0..others.len()).any(|other| {
                let mut above = ours[at + 1..].iter().zip(&others[other + 1..]);
                ours[at].method == others[other].method
                    && ours[at].bci != others[other].bci
                    && above.all(|(one, other)| one == other)
            })
        });
        common && !self.is_below(other) && !other.is_below(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROBE: usize = 1;
    const SHARED: usize = 2;
    const MAIN: usize = 10;
    const TOTAL: usize = 11;
    const PLAIN: usize = 12;
    const BOXED: usize = 13;

    fn probes() -> Probes {
        Probes::new(vec![SHARED], vec![PROBE])
    }

    /// Innermost frame first: method and bytecode index.
    fn innermost(stack: &[(usize, i32)]) -> Innermost {
        let frames: Vec<RawFrame> = stack
            .iter()
            .map(|&(method, bci)| RawFrame { bci, method })
            .collect();
        probes().innermost(&frames)
    }

    #[test]
    fn a_probe_belongs_to_the_method_that_it_is_inlined_in() {
        let of = innermost(&[(PROBE, 4), (PROBE, 0), (PLAIN, 7), (MAIN, 3)]);
        assert_eq!((of.method(), of.place().method), (PLAIN, PROBE));
        assert!(of.has_callers());
        // Nothing else is known.
        let alone = innermost(&[(PROBE, 4)]);
        assert_eq!(alone.method(), PROBE);
        assert!(!alone.has_callers());
    }

    #[test]
    fn methods_are_beside_each_other_if_one_activation_called_both_at_different_places() {
        let boxed = innermost(&[(BOXED, 21), (TOTAL, 17), (MAIN, 222)]);
        let plain = innermost(&[(PLAIN, 41), (TOTAL, 33), (MAIN, 222)]);
        let of_probe = innermost(&[(PROBE, 2), (PLAIN, 80), (TOTAL, 33), (MAIN, 222)]);
        assert!(plain.is_beside(&boxed) && boxed.is_beside(&plain) && of_probe.is_beside(&boxed));
        assert!(plain.is_same(&of_probe) && !plain.is_same(&boxed));
        // One of another activation, of which main is the common caller.
        let later = innermost(&[(PLAIN, 41), (TOTAL, 33), (MAIN, 258)]);
        assert!(later.is_beside(&boxed) && !later.is_same(&plain));
        // What calls it, what it calls, itself.
        let caller = innermost(&[(TOTAL, 5), (MAIN, 222)]);
        assert!(!caller.is_beside(&boxed) && !boxed.is_beside(&caller));
        assert!(!boxed.is_beside(&boxed));
        // Nothing in common.
        let other = innermost(&[(PLAIN, 41), (PLAIN, 7)]);
        assert!(!other.is_beside(&boxed));
    }
    /// Pieces of eight bytes of code; the place that each is put down to.
    fn elsewhere(code: &[&[(usize, i32)]], at: usize) -> Option<isize> {
        let look = |offset: isize| {
            let at = at.checked_add_signed(offset / 8)?;
            code.get(at).map(|stack| innermost(stack))
        };
        probes().elsewhere(&innermost(code[at]), look)
    }

    #[test]
    fn a_place_among_several_of_a_method_beside_it_is_of_that_one() {
        let (boxed, plain): (&[_], [&[_]; 2]) = (
            &[(BOXED, 21), (TOTAL, 17), (MAIN, 9)],
            [
                &[(PLAIN, 41), (TOTAL, 33), (MAIN, 9)],
                &[(PROBE, 3), (PLAIN, 26), (TOTAL, 33), (MAIN, 9)],
            ],
        );
        let code = [plain[0], boxed, boxed, plain[1], boxed, plain[0]];
        assert_eq!(elsewhere(&code, 1), Some(-8));
        assert_eq!(elsewhere(&code, 2), Some(-16));
        assert_eq!(elsewhere(&code, 4), Some(-8));
        // Not the other way round, though its neighbours are the wrong ones.
        assert_eq!(elsewhere(&code, 3), None);
        // It runs here: another place of its own, or code that it called.
        let own: &[_] = &[(BOXED, 30), (TOTAL, 17), (MAIN, 9)];
        let called: &[_] = &[(99, 2), (BOXED, 30), (TOTAL, 17), (MAIN, 9)];
        for runs in [own, called] {
            assert_eq!(elsewhere(&[plain[0], boxed, plain[1], runs], 1), None);
        }
        // One place on either side may be as wrong as this one.
        assert_eq!(elsewhere(&[plain[0], boxed, plain[0]], 1), None);
        // Different ones; an end of the compiled method; the caller.
        let other: &[_] = &[(98, 1), (TOTAL, 50), (MAIN, 9)];
        let caller: &[_] = &[(TOTAL, 5), (MAIN, 9)];
        for code in [
            [plain[0], boxed, other],
            [plain[0], plain[1], boxed],
            [plain[0], boxed, caller],
        ] {
            let at = code.iter().position(|&stack| stack == boxed).unwrap();
            assert_eq!(elsewhere(&code, at), None);
        }
    }

    #[test]
    fn shared_code_of_probes_is_of_the_method_on_both_sides() {
        let shared: &[_] = &[(SHARED, 3), (PROBE, 0), (BOXED, 21), (TOTAL, 17)];
        let plain: &[_] = &[(PLAIN, 41), (TOTAL, 33)];
        let caller: &[_] = &[(TOTAL, 5)];
        assert_eq!(elsewhere(&[plain, shared, shared, plain], 1), Some(-8));
        assert_eq!(elsewhere(&[caller, shared, caller], 1), Some(-8));
        assert_eq!(elsewhere(&[caller, shared, plain], 1), None);
        let own: &[_] = &[(BOXED, 50), (TOTAL, 17)];
        assert_eq!(elsewhere(&[own, shared, plain], 1), None);
    }
}
