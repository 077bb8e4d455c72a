//! Changing code is for programs that run for long.
//!
//! HotSpot throws away all compiled code that has a changed method inlined: taking probes out of 5 or 6 hot
//! classes cost 8 to 20 s of processor time on warm programs. Nobody knows how long a program goes on; one
//! that ends right after a change has paid for nothing. So, unless the user asks for changes (`budget`), the
//! price of all changes so far and of the next one must be a small share of the processor time that the
//! program has taken already: it never pays more than that share for changes, whenever it ends.

/// Part of a program's processor time that changes of code may take.
pub const SHARE: f64 = 0.02;
/// The assumed minimum cost of a change, in seconds of processor time: the most expensive one on programs
/// that were warm.
const MIN_COST: f64 = 20.0;

/// True if one change more is allowed to a program that has taken `busy` seconds of processor time. `before`:
/// changes so far, and the seconds that they cost as far as it can be seen. `next`: what is known of the next
/// one's price, and how many changes it makes necessary (probes that are put back come out again).
pub fn allows(busy: f64, before: (u32, f64), next: (f64, u32)) -> bool {
    let (changes, spent) = before;
    let (price, more) = next;
    let mean = match changes {
        0 => 0.0,
        changes => spent / f64::from(changes),
    };
    let price = price.max(mean).max(MIN_COST);
    let before = spent.max(f64::from(changes) * MIN_COST);
    before + f64::from(more) * price <= SHARE * busy
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_minutes_are_left_alone_and_those_of_an_hour_are_not() {
        let first = |busy| allows(busy, (0, 0.0), (4.0, 1));
        // One busy processor: ten seconds, one minute, five minutes, an hour.
        assert_eq!(
            [10.0, 60.0, 300.0, 3_600.0].map(first),
            [false, false, false, true]
        );
        // 64 processors for a minute are long, too.
        assert!(first(64.0 * 60.0));
    }

    /// Whenever the program ends, changes have taken no more than their share.
    #[test]
    fn changes_never_take_more_than_their_share() {
        for (price, known) in [(20.0, 0.0), (8.0, 8.0), (2.0, 0.0), (60.0, 60.0)] {
            let (mut changes, mut spent) = (0, 0.0);
            for second in 1..40_000 {
                let busy = f64::from(second);
                if allows(busy, (changes, spent), (known, 1)) {
                    changes += 1;
                    spent += price;
                }
                assert!(spent <= SHARE * busy, "{price}: {spent} of {busy}");
            }
            assert!(changes > 10, "{price}: {changes}");
        }
    }

    #[test]
    fn what_was_seen_and_what_was_compiled_count_if_they_are_dearer() {
        assert!(allows(1_000.0, (0, 0.0), (20.0, 1)) && !allows(1_000.0, (0, 0.0), (20.1, 1)));
        // A change that took 50 s: the next one is thought to take as long.
        assert!(!allows(4_999.0, (1, 50.0), (0.0, 1)) && allows(5_000.0, (1, 50.0), (0.0, 1)));
        // Probes that are put back come out again.
        assert!(!allows(2_999.0, (1, 1.0), (0.0, 2)) && allows(3_000.0, (1, 1.0), (0.0, 2)));
    }
}
