//! Short versions of `trodden_tests::stress`; the long ones: `cargo run --release -p trodden-tests --bin
//! stress`.

use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use trodden_tests::jdk::Jdk;
use trodden_tests::{Result, stress};

/// Those that count every path.
const PROBES: [&str; 2] = ["counters", "events"];

/// They measure memory and load all processors: one at a time.
fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(|e| e.into_inner())
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
            stress::virtual_streams(jdk, 100_000).map(drop)
        }
        _ => {
            eprintln!("no JDK with virtual threads here");
            Ok(())
        }
    }
}

#[test]
fn unloaded_classes_keep_their_counts_and_leave_no_memory() -> Result<()> {
    let _alone = alone();
    Jdk::ends()?
        .iter()
        .try_for_each(|jdk| stress::unloading(jdk, 2000).map(drop))
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
fn attach_and_stop_again_and_again() -> Result<()> {
    let _alone = alone();
    for jdk in Jdk::ends()? {
        for probe in PROBES {
            stress::attach(&jdk, probe, 10)?;
        }
    }
    Ok(())
}
