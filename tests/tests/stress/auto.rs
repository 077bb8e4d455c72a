//! `probe=auto` on real JVMs; a longer version of the first test is in `cargo run --release -p trodden-tests
//! --bin stress`.

use std::time::Duration;

use trodden_tests::jdk::Jdk;
use trodden_tests::{Result, auto, chance};

use crate::alone;

/// Long enough for the controller to look often enough on a busy machine.
const PHASE: Duration = Duration::from_secs(10);

#[test]
fn retransformation_again_and_again_changes_nothing() -> Result<()> {
    let _alone = alone();
    for jdk in Jdk::ends()? {
        // On a busy machine there are fewer changes in the same time. And what the JVM itself takes comes in
        // steps (see `cycles`): memory that is lost is lost each time.
        chance::with_more(&[12, 60], |seconds| {
            let cycles = auto::cycles(&jdk, "", 4, Duration::from_secs(seconds))?;
            assert!(cycles.retransformations >= 8, "JDK {}: {cycles:?}", jdk.feature);
            assert!(cycles.rounds > 10, "JDK {}: {cycles:?}", jdk.feature);
            Ok(())
        })?;
    }
    Ok(())
}

/// Whatever `rearm` asks for, changing code takes no more than a fifth of the run, and one change more.
#[test]
#[cfg_attr(feature = "change", ignore = "all: twelve seconds and more")]
fn changes_of_code_take_a_bounded_part_of_the_run() -> Result<()> {
    let _alone = alone();
    for jdk in Jdk::ends()? {
        // A fast machine changes 600 classes in less than the part allowed: as many as make it wait.
        let mut copies = 600;
        loop {
            let changes = auto::copies(&jdk, copies, Duration::from_secs(12))?;
            assert!(changes.calls > 0, "JDK {}: {changes:?}", jdk.feature);
            // A call takes up to 128 classes.
            let one = f64::from(copies.div_ceil(128)) * changes.longest;
            assert!(
                changes.changing <= 0.2 * changes.seconds + one,
                "JDK {}: {changes:?}",
                jdk.feature
            );
            if changes.put_off > 0 {
                break;
            }
            copies *= 2;
            assert!(
                copies <= 4800,
                "JDK {}: nothing put off: {changes:?}",
                jdk.feature
            );
        }
    }
    Ok(())
}

#[test]
#[cfg_attr(feature = "change", ignore = "all: forty seconds and more")]
fn the_second_phase_appears_after_rearming() -> Result<()> {
    let _alone = alone();
    Jdk::at_both_ends(|jdk| {
        let share = |[first, second]: [u64; 2]| second as f64 / (first + second) as f64;
        // Without: the method is silent before its second phase begins, and the budget allows nothing so
        // early. On a busy machine it may be silent too late; not twice.
        chance::with_more(&[PHASE, PHASE], |phase| {
            let blind = auto::phases(jdk, ",budget=1%", phase)?;
            assert_eq!(blind.windows, 1, "JDK {}: {blind:?}", jdk.feature);
            assert_eq!(blind.found[1], 0, "JDK {}: {blind:?}", jdk.feature);
            Ok(())
        })?;
        // An estimate from windows of time: how fast the program is in them changes with what else runs. With
        // four times the windows it is half as far off.
        chance::with_more(&[PHASE, 4 * PHASE], |phase| {
            let seeing = auto::phases(jdk, ",budget=1%:1s", phase)?;
            assert!(seeing.windows >= 3, "JDK {}: {seeing:?}", jdk.feature);
            let (found, called) = (share(seeing.found), share(seeing.called));
            assert!((found - called).abs() < 0.25, "JDK {}: {seeing:?}", jdk.feature);
            Ok(())
        })?;
        Ok(())
    })
}

/// Without `budget` and `rearm` a short run is counted to its end: changing code is for programs that run for
/// long.
#[test]
#[cfg_attr(feature = "change", ignore = "all: twenty seconds")]
fn a_short_run_is_counted_exactly_and_its_code_is_left_alone() -> Result<()> {
    let _alone = alone();
    Jdk::at_both_ends(|jdk| {
        let all = auto::phases(jdk, "", PHASE)?;
        assert_eq!(all.retransformations, 0, "JDK {}: {all:?}", jdk.feature);
        // No interval without probes, so no observation.
        assert_eq!(all.windows, 0, "JDK {}: {all:?}", jdk.feature);
        assert_eq!(all.found, all.called, "JDK {}: {all:?}", jdk.feature);
        Ok(())
    })
}
