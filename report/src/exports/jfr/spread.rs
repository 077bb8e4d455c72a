//! Samples as events: how many of each stack, when, and with which CPU time.
//!
//! A profile has a number of samples for each stack, and no times. Those of a stack are spread evenly over the recording, each
//! stack with a beginning of its own, so that any part of the recording has the same shares as all of it.

use trodden_profile::CpuTime;

/// An event of a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Event {
    /// Nanoseconds after the recording's begin.
    pub at: u64,
    /// Which stack.
    pub stack: u32,
    /// CPU time that it represents, in nanoseconds.
    pub ns: u64,
}

/// Number of events for each stack: one a sample or, if there are more than `most` samples, one for each of `most` equal
/// parts of all samples, one after the other.
pub(super) fn numbers(stacks: &[CpuTime], most: u64) -> Vec<u64> {
    let all: u128 = stacks.iter().map(|own| u128::from(own.samples)).sum();
    let events = all.min(u128::from(most));
    let mut before = 0u128;
    let up_to = |samples: u128| (samples * events / all.max(1)) as u64;
    let number = |own: &CpuTime| {
        let begins = up_to(before);
        before += u128::from(own.samples);
        up_to(before) - begins
    };
    stacks.iter().map(number).collect()
}

/// The events of stacks, by time; `numbers` has how many each stack has.
pub(super) fn events(stacks: &[CpuTime], numbers: &[u64], lasted_ns: u64) -> Vec<Event> {
    let total = |what: fn(&CpuTime) -> u64| stacks.iter().map(|own| u128::from(what(own))).sum::<u128>();
    let count: u64 = numbers.iter().sum();
    let is_whole = u128::from(count) == total(|own| own.samples);
    let all_ns = total(|own| own.ns).min(u64::MAX.into()) as u64;
    let mut events = Vec::with_capacity(count as usize);
    for (stack, (own, &of_stack)) in (0u32..).zip(stacks.iter().zip(numbers)) {
        for nth in 0..of_stack {
            // All of them are alike if they represent several samples each.
            let ns = if is_whole {
                part(own.ns, nth, of_stack)
            } else {
                part(all_ns, events.len() as u64, count)
            };
            let at = place(lasted_ns, nth, of_stack, stack);
            events.push(Event { at, stack, ns });
        }
    }
    events.sort_unstable();
    events
}

/// One of `parts` parts of a number, whose sum it is.
fn part(whole: u64, nth: u64, parts: u64) -> u64 {
    let up_to = |nth: u64| (u128::from(whole) * u128::from(nth) / u128::from(parts)) as u64;
    up_to(nth + 1) - up_to(nth)
}

/// The nth of evenly spaced times. Multiples of the golden ratio spread the beginnings.
fn place(lasted_ns: u64, nth: u64, of: u64, stack: u32) -> u64 {
    let begin = stack.wrapping_mul(0x9e37_79b9) >> 1;
    let at = (u128::from(nth) << 31) + u128::from(begin);
    (u128::from(lasted_ns) * at / (u128::from(of) << 31)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own(samples: u64, ns: u64) -> CpuTime {
        CpuTime { samples, ns }
    }

    #[test]
    fn a_sample_is_an_event() {
        let stacks = [own(3, 10), own(0, 0), own(7, 7_000)];
        let numbers = numbers(&stacks, 100);
        assert_eq!(numbers, [3, 0, 7]);
        let events = events(&stacks, &numbers, 1_000);
        let of = |stack: u32| -> Vec<Event> {
            events
                .iter()
                .copied()
                .filter(|event| event.stack == stack)
                .collect()
        };
        assert_eq!(of(0).iter().map(|event| event.ns).sum::<u64>(), 10);
        assert!(of(2).iter().all(|event| event.ns == 1_000));
        assert!(events.is_sorted() && events.iter().all(|event| event.at < 1_000));
        // Each tenth of the time has its share of the ten events.
        let half = events.iter().filter(|event| event.at < 500).count();
        assert!((4..=6).contains(&half), "{events:?}");
    }

    #[test]
    fn a_large_profile_has_a_bounded_number_of_events() {
        let stacks: Vec<CpuTime> = (0..1_000).map(|at| own(at * 1_000, at * 5_000_000)).collect();
        let numbers = numbers(&stacks, 10_000);
        assert_eq!(numbers.iter().sum::<u64>(), 10_000);
        let all: u64 = stacks.iter().map(|own| own.samples).sum();
        for (own, number) in stacks.iter().zip(&numbers) {
            let exact = own.samples as f64 * 10_000.0 / all as f64;
            assert!((*number as f64 - exact).abs() <= 1.0, "{number} for {exact}");
        }
        let events = events(&stacks, &numbers, 1_000);
        let ns: u64 = events.iter().map(|event| event.ns).sum();
        assert_eq!(ns, stacks.iter().map(|own| own.ns).sum::<u64>());
    }

    #[test]
    fn no_number_is_too_large() {
        let stacks = [own(u64::MAX, u64::MAX), own(u64::MAX, u64::MAX)];
        let numbers = numbers(&stacks, 10);
        assert_eq!(numbers, [5, 5]);
        let events = events(&stacks, &numbers, u64::MAX);
        assert_eq!(events.len(), 10);
        assert!(super::numbers(&[], 10).is_empty());
        assert!(super::events(&[], &[], 10).is_empty());
    }
}
