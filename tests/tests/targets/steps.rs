//! Paths from the JVM's single steps (`burst=jvm:…`): every target on the oldest and the newest JDK, all
//! of it within one burst. What was counted is what the oracle saw, and no class was changed.

use std::collections::BTreeMap;
use std::process::Command;
use std::time::Duration;

use libtest_mimic::Trial;
use trodden_profile::Profile;
use trodden_tests::burst::{ENDLESS, in_one_burst};
use trodden_tests::events::{fact, live};
use trodden_tests::jdk::Jdk;
use trodden_tests::profile::{self, SUSPICIOUS, SequenceCounts, agent_flag, counts};
use trodden_tests::target::{Target, some_in_changes, trial};
use trodden_tests::{Result, artefacts, process};

/// Longest time for a replay.
const LIMIT: Duration = Duration::from_secs(300);
/// Longest sequences of paths that are compared.
const K: usize = 4;
/// Programs of which not every step is seen, and none that was not: code that runs while a constant is
/// resolved, of which HotSpot reports no steps (nor of initialisers of classes); threads that change their
/// carriers; a handler that the code before it runs into; a decision that continues at the same place either
/// way.
const IN_PART: [(&str, &str); 5] = [
    ("Classes$Child", "compute"),
    ("Modern", "work"),
    ("Irreducible", "handlerIsTarget"),
    ("Irreducible", "handlerLoop"),
    ("Irreducible", "parallel"),
];
/// These have no room for probes, so the oracle knows nothing of them.
const FULL: [(&str, &str); 1] = [("Wide", "nearlyFull")];

pub fn trials() -> Result<Vec<Trial>> {
    let targets = Target::trials("steps", &Jdk::ends()?, |target| !target.oracle, judge)?;
    let mut trials: Vec<Trial> = some_in_changes(targets).collect();
    for jdk in Jdk::ends()? {
        let name = format!("steps::short bursts/jdk{}", jdk.feature);
        trials.push(trial(name, move || short_bursts(&jdk)));
    }
    Ok(trials)
}

/// Wherever bursts fall in many threads, what they count are paths that there were.
fn short_bursts(jdk: &Jdk) -> Result<()> {
    let mut programs = vec![["threads", "8", "200000"].as_slice(), &["thrown", "2000000"]];
    if jdk.feature >= 21 {
        programs.push(&["virtual", "200000"]);
    }
    for arguments in programs {
        let exact = counts(&live(jdk, "counters", arguments)?.1);
        let options = "events,profile=kpaths,k=3,burst=jvm:5ms:1ms";
        let (_, profile) = live(jdk, options, arguments)?;
        for name in ["lost", "panics", "bad_words"] {
            if fact(&profile, name)? != 0 {
                return Err(format!("{arguments:?}, {name}: {:?}", profile.run.facts).into());
            }
        }
        let found = counts(&profile);
        for (id, paths) in &found {
            for (path, count) in paths {
                let all = exact.get(id).and_then(|paths| paths.get(path));
                if all.is_none_or(|all| count > all) {
                    return Err(
                        format!("{arguments:?} {id:?}: path {path} {count} times, of {all:?}").into(),
                    );
                }
            }
        }
        if found.is_empty() || fact(&profile, "bursts")? < 3 {
            return Err(format!("{arguments:?}: too little was seen: {:?}", profile.run.facts).into());
        }
    }
    Ok(())
}

fn judge(target: &Target, jdk: &Jdk) -> Result<()> {
    let activations = profile::run_oracle(target, jdk, &profile::run_unchecked(target, jdk)?)?;
    let paths = in_burst(target, jdk, &format!("events,profile=kpaths,k={K}"))?;
    let expected = profile::brute_force(&profile::oracle_paths(&activations, &paths)?, K);
    let found = profile::forests(&paths)?;
    let none = BTreeMap::new();
    let of = |counts: &SequenceCounts, id| counts.get(id).unwrap_or(&none).clone();
    let mut all_seen = true;
    for id in expected.keys().chain(found.keys()) {
        let (expected, found) = (of(&expected, id), of(&found, id));
        let name = (id.class.as_str(), id.name.as_str());
        all_seen &= expected == found;
        let right = if IN_PART.contains(&name) || id.name == "<clinit>" {
            (found.iter()).all(|(paths, count)| expected.get(paths).is_some_and(|all| count <= all))
        } else {
            expected == found
        };
        if !right && !FULL.contains(&name) && !target.uncounted.contains(&id.name) {
            return Err(format!("{id:?}:\nexpected {expected:?}\nfound    {found:?}").into());
        }
    }
    if found.is_empty() {
        return Err("nothing was counted".into());
    }
    // In the order of path ends, as probes report them: of equal streams the sampler takes equal samples.
    let options = "events,profile=subpaths,lengths=pow2:16";
    let steps = in_burst(target, jdk, options)?;
    let folder = tempfile::tempdir()?;
    let [trace, file] = ["probes.trace", "probes.trodden"].map(|name| folder.path().join(name));
    profile::run_profiled(target, jdk, options, &trace)?;
    let mut replay = Command::new(&artefacts::artefacts()?.cli);
    replay.arg("replay").arg(&trace).arg("-o").arg(&file);
    replay.args(["--profile", "subpaths", "--lengths", "pow2:16"]);
    process::run(&mut replay, LIMIT)?.success()?;
    let (expected, found) = (subpaths(&Profile::load(&file)?)?, subpaths(&steps)?);
    if all_seen && fact(&steps, "threads")? == 1 && expected != found {
        return Err(format!("subpaths:\nexpected {expected:?}\nfound    {found:?}").into());
    }
    Ok(())
}

/// The profile of a target that runs within one burst, and does what it does without.
fn in_burst(target: &Target, jdk: &Jdk, options: &str) -> Result<Profile> {
    let plain = profile::run_plain(target, jdk)?;
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("steps.trodden");
    // On JDK 17 `-Xcheck:jni` complains, in the midst of what the program says, of the JVM's own references.
    let flags = if jdk.feature >= 21 {
        &SUSPICIOUS[..]
    } else {
        &SUSPICIOUS[..1]
    };
    let mut flags: Vec<String> = flags.iter().map(|&flag| flag.to_owned()).collect();
    let options = format!("{options},burst={ENDLESS}");
    flags.push(agent_flag(&options, &format!("{}*", target.name), &file)?);
    let found = in_one_burst(&mut target.later(jdk, &flags)?)?;
    if (found.status, &found.stdout) != (plain.status, &plain.stdout) {
        return Err(format!("it does something else:\n{plain:#?}\n{found:#?}").into());
    }
    let profile = Profile::load(&file)?;
    let of_activations = ["lost_exits", "orphans"]
        .into_iter()
        .filter(|_| profile.kpaths.is_some());
    for name in ["lost", "panics", "bad_words", "gaps"]
        .into_iter()
        .chain(of_activations)
    {
        if fact(&profile, name)? != 0 {
            return Err(format!("{name}: {:?}", profile.run.facts).into());
        }
    }
    Ok(profile)
}

/// How often each subpath came, by its intervals of paths.
fn subpaths(profile: &Profile) -> Result<BTreeMap<Vec<String>, u64>> {
    let about = profile.subpaths.as_ref().ok_or("no subpaths")?;
    let mut found = BTreeMap::new();
    for subpath in &about.subpaths {
        let runs = subpath.runs.iter().map(|run| {
            let class = &profile.classes[run.class].map;
            let (path, from, blocks, times) = (run.path, run.from, run.blocks, run.times);
            format!(
                "{} {} {path} {from} {blocks} {times}",
                class.name, class.methods[run.method].name
            )
        });
        *found.entry(runs.collect()).or_default() += subpath.estimate;
    }
    Ok(found)
}
