//! Dumps during a run, and the sampling schedules, in real JVMs. Nothing here depends on how fast they are:
//! the program runs until enough was seen.

use trodden_profile::{Profile, Schedule};
use trodden_tests::jdk::Jdk;
use trodden_tests::profile::{Counts, counts, methods};
use trodden_tests::{Result, live};

/// Dumps with other counts that are wanted of each run.
const DUMPS: usize = 4;
/// Samples that are wanted of each run.
const SAMPLES: u64 = 300;

fn total(profile: &Profile) -> u64 {
    let all = profile.classes.iter().flat_map(|c| &c.counts);
    all.map(|c| c.total()).sum()
}

fn fact(profile: &Profile, name: &str) -> u64 {
    let value = profile.run.facts.text(name).map(|v| v.parse());
    value
        .unwrap_or_else(|| panic!("no fact {name}"))
        .expect("a number")
}

/// Counts never fall from one dump to the next, path by path, and grow in the end. No dump claims less time.
fn assert_growing(dumps: &[Profile]) {
    for pair in dumps.windows(2) {
        let (before, after) = (counts(&pair[0]), counts(&pair[1]));
        for (method, paths) in &before {
            for (path, count) in paths {
                let now = after.get(method).and_then(|p| p.get(path)).copied();
                assert!(
                    now >= Some(*count),
                    "{method:?} path {path}: {count}, then {now:?}"
                );
            }
        }
        assert!(pair[0].run.seconds <= pair[1].run.seconds);
        assert_eq!(pair[0].run.started_ms, pair[1].run.started_ms);
    }
    assert!(total(&dumps[0]) < total(&dumps[dumps.len() - 1]));
}

/// Says "enough" at the dump with which there are `wanted` with different totals.
fn different(mut wanted: usize) -> impl FnMut(&Profile) -> bool {
    let mut last = 0;
    move |dump| {
        if total(dump) > last {
            last = total(dump);
            wanted = wanted.saturating_sub(1);
        }
        wanted == 0
    }
}

#[test]
fn dumps_during_a_run_with_exact_counts() -> Result<()> {
    for jdk in Jdk::ends()? {
        let once = live::one_round(&jdk)?;
        let run = live::steady(&jdk, "counters", different(DUMPS))?;
        assert_growing(&run.dumps);
        // Every round is counted in the end, and no dump had paths that are not in a round.
        let mut all = once.clone();
        for count in all.values_mut().flat_map(|paths| paths.values_mut()) {
            *count *= run.rounds;
        }
        assert_eq!(
            counts(run.dumps.last().expect("one")),
            all,
            "{} rounds",
            run.rounds
        );
        for dump in &run.dumps {
            assert!(dump.run.exact && dump.run.schedule.is_none());
            assert_known(dump, &once);
        }
    }
    Ok(())
}

#[test]
fn schedules_sample_only_paths_that_ran() -> Result<()> {
    for jdk in Jdk::ends()? {
        let once = live::one_round(&jdk)?;
        for schedule in ["timer", "ag:64:17", "sag:64:17", "ag:5:3", "sag:1:1"] {
            let mut dumps = different(DUMPS);
            let enough = |dump: &Profile| dumps(dump) && fact(dump, "samples") >= SAMPLES;
            let options = format!("yieldpoint,schedule={schedule},interval=2ms");
            let run = live::steady(&jdk, &options, enough)?;
            assert_growing(&run.dumps);
            for dump in &run.dumps {
                assert_sampled(dump, schedule, &once);
            }
            // The hot method is found, and with enough samples more than one of its paths.
            let last = counts(run.dumps.last().expect("one"));
            let hot = last.iter().find(|(method, _)| method.name == "hot");
            assert!(
                hot.is_some_and(|(_, paths)| paths.len() > 3),
                "{schedule}: {last:?}"
            );
        }
    }
    Ok(())
}

fn assert_sampled(dump: &Profile, schedule: &str, once: &Counts) {
    assert_eq!(dump.run.probe, "yieldpoint");
    assert_eq!(dump.run.schedule.as_deref(), Some(schedule));
    assert_eq!(dump.run.interval_ns, Some(2_000_000));
    assert!(!dump.run.exact);
    assert_known(dump, once);
    // All samples are of this class, and each was counted once.
    assert_eq!(fact(dump, "unknown_samples"), 0);
    assert_eq!(total(dump), fact(dump, "samples"));
    // At each tick the window of the tick before is taken in; all have as many samples as the schedule says,
    // but for those that were still open or were raced for.
    let per_tick = u64::from(schedule.parse::<Schedule>().expect("a schedule").samples());
    let full = (fact(dump, "ticks") - 1) * per_tick;
    let samples = fact(dump, "samples");
    let missing = fact(dump, "short_windows") * per_tick + fact(dump, "lost");
    assert!(
        samples <= full && samples + missing >= full,
        "{schedule}: {:?}",
        dump.run.facts
    );
}

/// Every path number is one of its method's, and the path is one that a round takes.
fn assert_known(dump: &Profile, once: &Counts) {
    for (id, map, paths) in methods(dump) {
        for path in paths.keys() {
            assert!(*path < map.num_paths(), "{id:?}: path {path}");
            let known = once.get(&id).is_some_and(|paths| paths.contains_key(path));
            assert!(known, "{id:?}: path {path} never ran");
        }
    }
}
