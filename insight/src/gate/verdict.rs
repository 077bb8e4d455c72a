//! The outcome of a test: when it fails, and when a difference is no proof.

use super::GateTest;

/// A test that differs from itself fails if it grows by over so many times what it differs by …
///
/// By five times and a half, commons-codec's tests of random input would be a false alarm in 0.9 % of comparisons with
/// itself (all choices of two and two of 14 runs); by these, in 0.1 %.
const SPREADS: f64 = 10.0;
/// … and by over that share: if it does more than twice the work.
const FAR: f64 = 1.0;

/// Threads whose work one test may have now, and another one the next time.
pub const OTHERS: &str = "threads that began before the test, or outlived it";

/// The outcome of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It does more work than allowed.
    Broken,
    /// It does more work, or less, and that is allowed.
    Changed,
    /// It does the same work; if it is unstable, no other work than before.
    Same,
    /// It did more in each run than in any before, or less, but it is unstable, or did so only in threads that may have
    /// done another test's work: no proof of a change, so nothing fails by it but its own limit.
    Unsure,
    /// It was not there before.
    New,
    /// It is not there any more.
    Gone,
}

impl Verdict {
    /// The word in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Broken => "broken",
            Verdict::Changed => "changed",
            Verdict::Same => "same",
            Verdict::Unsure => "unsure",
            Verdict::New => "new",
            Verdict::Gone => "gone",
        }
    }
}

/// True if runs differ, and only in the work of threads that are not the test's own.
pub fn only_others(pair: [Option<&GateTest>; 2]) -> bool {
    let mut unstable = (pair.into_iter().flatten())
        .filter(|test| test.unstable.is_some())
        .peekable();
    unstable.peek().is_some() && unstable.all(GateTest::differs_by_others)
}

/// The reason for a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    Plain,
    /// Only threads that may have done another test's work did other work.
    Others,
    /// It has grown by far more than runs of one build differ.
    Far,
}

/// A test that differs from itself has done other work only if none of the runs of one side did as much as one of the
/// other's. Of two runs each that is so by chance once in three times, so only a limit of its own lets such a test fail,
/// or growth that is out of all proportion to what the runs differ by.
///
/// Work that moves from the test's own threads to others, or back, is no growth; nor is what others do on top, which
/// may be another test's. So both have to grow: the test's own work, and all of it.
///
/// `fail_on`: growth that fails a test without a limit of its own.
pub fn verdict(before: &GateTest, after: &GateTest, fail_on: Option<f64>) -> (Verdict, Why) {
    if after.instructions <= before.most && before.instructions <= after.most {
        return (Verdict::Same, Why::Plain);
    }
    let size = before.most as f64;
    let more = after.instructions as f64 - size;
    let limit = after.limit.or(fail_on);
    let beyond = |more: f64| limit.is_some_and(|limit| more > limit * size);
    if after.limit.is_some() {
        let verdict = if beyond(more) {
            Verdict::Broken
        } else {
            Verdict::Changed
        };
        return (verdict, Why::Plain);
    }
    let (Some(b), Some(a)) = (before.own, after.own) else {
        return (Verdict::Unsure, Why::Plain);
    };
    // As many instructions as the runs of one side lie apart.
    let spread = |[least, most]: [u64; 2]| most.saturating_sub(least) as f64;
    let own_spread = spread(b).max(spread(a));
    let own_more = a[0] as f64 - b[1] as f64;
    let own_less = b[0] as f64 - a[1] as f64;
    if own_more <= 0.0 && own_less <= 0.0 {
        return (Verdict::Unsure, Why::Others);
    }
    let grown = more.min(own_more);
    if own_spread == 0.0 {
        // What others do may differ: the test's own work does not.
        return match () {
            () if beyond(grown) => (Verdict::Broken, Why::Plain),
            () if beyond(more) => (Verdict::Unsure, Why::Others),
            () => (Verdict::Changed, Why::Plain),
        };
    }
    let all = [before, after].map(|test| spread([test.instructions, test.most]));
    let differs_by = own_spread.max(all[0]).max(all[1]);
    if grown > SPREADS * differs_by && grown > FAR * size && beyond(grown) {
        (Verdict::Broken, Why::Far)
    } else {
        (Verdict::Unsure, Why::Plain)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn test(least: u64, most: u64, own: [u64; 2]) -> GateTest {
        GateTest {
            instructions: least,
            most,
            own: Some(own),
            unstable: (least != most).then(|| "differs from itself".to_owned()),
            ..GateTest::default()
        }
    }

    fn plain(least: u64, most: u64) -> GateTest {
        test(least, most, [least, most])
    }

    #[test]
    fn what_differs_from_itself_fails_by_its_own_limit_or_by_far() {
        let limited = |limit| GateTest {
            limit: Some(limit),
            ..plain(1_100, 1_200)
        };
        let stable = plain(1_000, 1_000);
        let unknown = GateTest {
            own: None,
            ..plain(9_000, 9_000)
        };
        for (before, after, expected) in [
            (&stable, plain(1_004, 1_004), (Verdict::Changed, Why::Plain)),
            (&stable, plain(1_006, 1_006), (Verdict::Broken, Why::Plain)),
            (&stable, plain(990, 1_001), (Verdict::Same, Why::Plain)),
            (&stable, plain(1_100, 1_200), (Verdict::Unsure, Why::Plain)),
            (&stable, limited(0.2), (Verdict::Changed, Why::Plain)),
            (&stable, limited(0.05), (Verdict::Broken, Why::Plain)),
            // It drifts, and was the same twice by chance.
            (
                &plain(900, 1_000),
                plain(1_100, 1_100),
                (Verdict::Unsure, Why::Plain),
            ),
            (&plain(900, 1_000), plain(800, 800), (Verdict::Unsure, Why::Plain)),
            // More than twice the work, but not by ten times what it differs by; the other way round; both.
            (
                &plain(890, 1_000),
                plain(2_050, 2_050),
                (Verdict::Unsure, Why::Plain),
            ),
            (
                &plain(990, 1_000),
                plain(1_990, 1_990),
                (Verdict::Unsure, Why::Plain),
            ),
            (
                &plain(990, 1_000),
                plain(2_010, 2_020),
                (Verdict::Broken, Why::Far),
            ),
            (
                &plain(900, 1_000),
                plain(2_100, 2_200),
                (Verdict::Broken, Why::Far),
            ),
            (&plain(900, 1_000), plain(100, 100), (Verdict::Unsure, Why::Plain)),
            // Not all was counted, or not in each run: no growth is far.
            (&plain(900, 1_000), unknown, (Verdict::Unsure, Why::Plain)),
        ] {
            let limit = Some(0.005);
            assert_eq!(verdict(before, &after, limit), expected, "{before:?} {after:?}");
        }
        // Nothing fails without a limit.
        let far = verdict(&plain(900, 1_000), &plain(2_100, 2_200), None);
        assert_eq!(far, (Verdict::Unsure, Why::Plain));
    }

    #[test]
    fn what_other_threads_do_fails_nothing() {
        let stable = test(1_000, 1_000, [900, 900]);
        let drifts = test(1_000, 1_050, [900, 900]);
        for (before, after, expected) in [
            // A server's thread had more to do; less.
            (
                &stable,
                test(1_100, 1_100, [900, 900]),
                (Verdict::Unsure, Why::Others),
            ),
            (
                &stable,
                test(950, 950, [900, 900]),
                (Verdict::Unsure, Why::Others),
            ),
            (
                &drifts,
                test(1_100, 1_100, [900, 900]),
                (Verdict::Unsure, Why::Others),
            ),
            // The test's own work grew, too, but by less than is allowed.
            (
                &stable,
                test(1_100, 1_100, [902, 902]),
                (Verdict::Unsure, Why::Others),
            ),
            (
                &stable,
                test(1_100, 1_100, [1_000, 1_000]),
                (Verdict::Broken, Why::Plain),
            ),
            // The test differs from itself, but not in its own threads.
            (
                &drifts,
                test(1_100, 1_120, [1_000, 1_000]),
                (Verdict::Broken, Why::Plain),
            ),
            (
                &drifts,
                test(1_060, 1_120, [904, 904]),
                (Verdict::Unsure, Why::Others),
            ),
            (
                &drifts,
                test(1_054, 1_120, [904, 904]),
                (Verdict::Changed, Why::Plain),
            ),
            // Work that moved from others to the test's own threads.
            (
                &stable,
                test(1_000, 1_000, [1_000, 1_000]),
                (Verdict::Same, Why::Plain),
            ),
            (
                &stable,
                test(1_002, 1_002, [1_000, 1_000]),
                (Verdict::Changed, Why::Plain),
            ),
        ] {
            assert_eq!(
                verdict(before, &after, Some(0.005)),
                expected,
                "{before:?} {after:?}"
            );
        }
        // Its own limit is for all of its work.
        let mut limited = test(1_100, 1_100, [900, 900]);
        limited.limit = Some(0.05);
        assert_eq!(verdict(&stable, &limited, limited.limit).0, Verdict::Broken);
    }
}
