//! Short versions of `trodden_tests::stress`; the long ones: `cargo run --release -p trodden-tests --bin
//! stress`.

use std::time::Duration;

use trodden_tests::jdk::Jdk;
use trodden_tests::{Result, chance, stress};

use crate::alone;

/// Those that count every path.
const PROBES: [&str; 2] = ["counters", "events"];

/// The memory that a JVM itself takes comes in steps, at a moment of its choice. A loss per round grows with
/// the rounds: a leak fails with twice as many, too.
fn growth_is_no_leak<T>(rounds: T, test: impl Fn(T) -> Result<()>) -> Result<()>
where
    T: Copy + std::fmt::Debug + std::ops::Add<Output = T>,
{
    chance::with_more(&[rounds, rounds + rounds], test)
}

#[test]
fn sixteen_threads_lose_nothing() -> Result<()> {
    let _alone = alone();
    for jdk in Jdk::ends()? {
        for probe in PROBES {
            let calls = stress::shared_hot(&jdk, probe, 16, Duration::from_secs(3))?;
            assert!(
                calls > 100_000,
                "{probe}: only {calls} calls on JDK {}",
                jdk.feature
            );
        }
    }
    Ok(())
}

#[test]
fn virtual_threads_lose_nothing() -> Result<()> {
    let _alone = alone();
    match Jdk::all()?.last() {
        Some(jdk) if jdk.feature >= 21 => {
            for probe in PROBES {
                stress::virtual_threads(jdk, probe, 500, 100)?;
            }
            growth_is_no_leak(100_000, |threads| stress::virtual_streams(jdk, threads).map(drop))
        }
        _ => {
            eprintln!("no JDK with virtual threads here");
            Ok(())
        }
    }
}

#[test]
#[cfg_attr(feature = "change", ignore = "all: measures memory over many rounds")]
fn unloaded_classes_keep_their_counts_and_leave_no_memory() -> Result<()> {
    let _alone = alone();
    Jdk::ends()?
        .iter()
        .try_for_each(|jdk| growth_is_no_leak(2000, |rounds| stress::unloading(jdk, rounds).map(drop)))
}

#[test]
fn every_way_to_end_writes_a_profile() -> Result<()> {
    let _alone = alone();
    Jdk::ends()?.iter().try_for_each(stress::exits)
}

#[test]
fn a_refused_attach_harms_nothing() -> Result<()> {
    let _alone = alone();
    Jdk::ends()?.iter().try_for_each(stress::refused)
}

#[test]
#[cfg_attr(feature = "change", ignore = "all: measures memory over many rounds")]
fn attach_and_stop_again_and_again() -> Result<()> {
    let _alone = alone();
    for jdk in Jdk::ends()? {
        for probe in PROBES {
            growth_is_no_leak(10, |times| stress::attach(&jdk, probe, times).map(drop))?;
        }
    }
    Ok(())
}
