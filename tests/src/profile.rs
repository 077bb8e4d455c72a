//! Running targets under the agent and under the oracle.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use trodden_instrumenter::{InstrumentOptions, Instrumenter, Preparation, ProbeKind};
use trodden_profile::{ClassProfile, MethodCounts, MethodMap, Profile};

use crate::jdk::Jdk;
use crate::process::Outcome;
use crate::target::Target;
use crate::trace::{self, Activation, MethodId};
use crate::{Result, artefacts, build, process, walk};

/// Longest time for one run of a target.
pub(crate) const LIMIT: Duration = Duration::from_secs(120);

/// Flags that make the JVM suspicious of us: it verifies every class and checks every call of a JNI function.
pub const SUSPICIOUS: [&str; 2] = ["-Xverify:all", "-Xcheck:jni"];

/// Runs a target without the agent.
///
/// # Errors
/// If it cannot be run. What it returns or prints is no error.
pub fn run_plain(target: &Target, jdk: &Jdk) -> Result<Outcome> {
    process::run(&mut target.command(jdk, &SUSPICIOUS.map(str::to_owned))?, LIMIT)
}

/// Runs a target without the agent, without the flags of suspicion.
///
/// # Errors
/// If it cannot be run.
pub fn run_unchecked(target: &Target, jdk: &Jdk) -> Result<Outcome> {
    process::run(&mut target.command(jdk, &[])?, LIMIT)
}

/// Runs a target under the agent, which writes the profile to `file`.
///
/// # Errors
/// If it cannot be run.
pub fn run_profiled(target: &Target, jdk: &Jdk, probe: &str, file: &Path) -> Result<Outcome> {
    let mut flags = SUSPICIOUS.map(str::to_owned).to_vec();
    let samples = probe.starts_with("yieldpoint") || probe.starts_with("safepoint");
    let windows = probe.contains("window=") && !probe.contains("window=all");
    let ticks = if samples || windows { ",interval=1ms" } else { "" };
    flags.push(agent_flag(
        &format!("{probe}{ticks}"),
        &format!("{}*", target.name),
        file,
    )?);
    process::run(&mut target.command(jdk, &flags)?, LIMIT)
}

/// The flag that loads the agent.
///
/// # Errors
/// If the agent cannot be built.
pub fn agent_flag(probe: &str, include: &str, file: &Path) -> Result<String> {
    let agent = &artefacts::artefacts()?.agent;
    Ok(format!(
        "-agentpath:{}=start,probe={probe},include={include},quiet=true,file={}",
        agent.display(),
        file.display()
    ))
}

/// Exact counts: method to path number to count. Only methods that counted anything.
pub type Counts = BTreeMap<MethodId, BTreeMap<u64, u64>>;

/// Per method, the paths of each of its activations in order.
pub type Sequences = BTreeMap<MethodId, Vec<Vec<u64>>>;

/// Per method, how often each sequence of consecutive paths occurred.
pub type SequenceCounts = BTreeMap<MethodId, BTreeMap<Vec<u64>, u64>>;

/// A profile's counts, without those that are 0.
pub fn counts(profile: &Profile) -> Counts {
    let mut all = Counts::new();
    for (id, _, counts) in methods(profile) {
        for (&number, &count) in counts.iter().filter(|&(_, &count)| count > 0) {
            *all.entry(id.clone()).or_default().entry(number).or_default() += count;
        }
    }
    all
}

/// Fails if anything but this file is in its folder.
///
/// # Errors
/// What is there.
pub fn nothing_beside(file: &Path) -> Result<()> {
    let folder = file.parent().ok_or("a file in no folder")?;
    let left: Vec<_> = std::fs::read_dir(folder)?
        .flatten()
        .map(|e| e.file_name())
        .collect();
    match left.as_slice() {
        [only] if Some(only.as_os_str()) == file.file_name() => Ok(()),
        _ => Err(format!("left behind: {left:?}").into()),
    }
}

/// All methods of a profile: identity, map, counts.
pub fn methods(profile: &Profile) -> impl Iterator<Item = (MethodId, &MethodMap, &BTreeMap<u64, u64>)> {
    profile.classes.iter().flat_map(|class| {
        let methods = class.map.methods.iter().zip(&class.counts);
        methods.map(|(map, counts)| (MethodId::new(&class.map, map), map, &counts.paths))
    })
}

/// Runs a target under the oracle; `expected` is what it does without. All activations of its methods.
///
/// # Errors
/// If it cannot be run, or its outcome differs from `expected`.
pub fn run_oracle(target: &Target, jdk: &Jdk, expected: &Outcome) -> Result<Vec<Activation>> {
    let folder = tempfile::tempdir()?;
    let log = folder.path().join("log");
    let flags = [format!(
        "-javaagent:{}={},{}",
        build::oracle_jar()?.display(),
        log.display(),
        target.name
    )];
    let outcome = process::run(&mut target.command(jdk, &flags)?, LIMIT)?;
    if outcome != *expected {
        return Err(format!("the oracle changed the program's outcome: {outcome:#?}").into());
    }
    trace::read(&std::fs::read(&log)?)
}

/// The paths that the oracle saw, by the profile's path maps: per method, those of each activation in order.
///
/// # Errors
/// If the log contradicts a path map, or a method took a branch of which the profile knows nothing.
pub fn oracle_paths(activations: &[Activation], profile: &Profile) -> Result<Sequences> {
    let maps: BTreeMap<MethodId, &MethodMap> = methods(profile).map(|(id, map, _)| (id, map)).collect();
    let mut sequences = Sequences::new();
    for activation in activations {
        let id = &activation.method;
        if let Some(map) = maps.get(id) {
            let walked = walk::walk(map, &activation.events).map_err(|e| format!("{}: {e}", id.class))?;
            let paths = walked.paths;
            if !paths.is_empty() {
                sequences.entry(id.clone()).or_default().push(paths);
            }
        } else {
            let branched = activation
                .events
                .iter()
                .any(|e| matches!(e, trace::Event::Branch { .. }));
            let signature = format!("{}{}", id.name, id.descriptor);
            let listed = profile
                .skipped
                .iter()
                .any(|s| s.class == id.class && s.method.as_deref().is_none_or(|m| m == signature));
            if branched && !listed {
                return Err(
                    format!("{}.{signature} branches, but has no map and no reason", id.class).into(),
                );
            }
        }
    }
    Ok(sequences)
}

/// Counts the paths that the oracle saw.
///
/// # Errors
/// As [`oracle_paths`].
pub fn oracle_counts(activations: &[Activation], profile: &Profile) -> Result<Counts> {
    let mut counts = Counts::new();
    for (id, sequences) in oracle_paths(activations, profile)? {
        let counts = counts.entry(id).or_default();
        for path in sequences.into_iter().flatten() {
            *counts.entry(path).or_default() += 1;
        }
    }
    Ok(counts)
}

/// Per method, how often a path was cut off: by block and number of the prefix.
pub type CutCounts = BTreeMap<MethodId, BTreeMap<(u32, u64), u64>>;

/// A profile's cut paths.
pub fn cut_counts(profile: &Profile) -> CutCounts {
    let mut all = CutCounts::new();
    for class in &profile.classes {
        for (map, counts) in class.map.methods.iter().zip(&class.counts) {
            if !counts.partial.is_empty() {
                all.insert(MethodId::new(&class.map, map), counts.partial.clone());
            }
        }
    }
    all
}

/// Counts the cut paths that the oracle saw, of methods that the profile knows.
///
/// # Errors
/// If the log contradicts a path map.
pub fn oracle_cuts(activations: &[Activation], profile: &Profile) -> Result<CutCounts> {
    let maps: BTreeMap<MethodId, &MethodMap> = methods(profile).map(|(id, map, _)| (id, map)).collect();
    let mut counts = CutCounts::new();
    for Activation { method, events } in activations {
        let Some(map) = maps.get(method) else { continue };
        for cut in walk::walk(map, events)?.cut {
            *counts.entry(method.clone()).or_default().entry(cut).or_default() += 1;
        }
    }
    Ok(counts)
}

/// Counts all sequences of up to `k` consecutive paths of one activation, one after the other.
pub fn brute_force(sequences: &Sequences, k: usize) -> SequenceCounts {
    let mut counts = SequenceCounts::new();
    for (id, activations) in sequences {
        let counts = counts.entry(id.clone()).or_default();
        for paths in activations {
            for length in 1..=k {
                for window in paths.windows(length) {
                    *counts.entry(window.to_vec()).or_default() += 1;
                }
            }
        }
    }
    counts
}

/// The sequences in a profile's k-iteration path forests.
///
/// # Errors
/// If it has none.
pub fn forests(profile: &Profile) -> Result<SequenceCounts> {
    let kpaths = profile
        .kpaths
        .as_ref()
        .ok_or("no k-iteration paths in the profile")?;
    let ids: BTreeMap<(usize, usize), MethodId> = profile
        .classes
        .iter()
        .enumerate()
        .flat_map(|(c, class)| {
            let methods = class.map.methods.iter().enumerate();
            methods.map(move |(m, map)| ((c, m), MethodId::new(&class.map, map)))
        })
        .collect();
    let mut counts = SequenceCounts::new();
    for (place, forest) in &kpaths.methods {
        let id = ids.get(place).ok_or("a forest of no method")?;
        let counts = counts.entry(id.clone()).or_default();
        let mut sequence: Vec<u64> = Vec::new();
        for node in forest.nodes() {
            sequence.truncate(node.length as usize - 1);
            sequence.push(node.path);
            *counts.entry(sequence.clone()).or_default() += node.count;
        }
    }
    Ok(counts)
}

/// A profile of what the oracle saw, with path maps fresh from the instrumenter: the agent has no part in it.
///
/// # Errors
/// If a class cannot be read, or [`oracle_counts`] fails.
pub fn of_oracle(target: &Target, activations: &[Activation]) -> Result<Profile> {
    let instrumenter = Instrumenter::new(InstrumentOptions::new(ProbeKind::Counters));
    let mut profile = Profile::default();
    for file in std::fs::read_dir(target.classes()?)? {
        let file = file?.path();
        let name = file
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if !name.starts_with(&target.name) || !name.ends_with(".class") {
            continue;
        }
        match instrumenter.prepare(&std::fs::read(&file)?)? {
            Preparation::Ready(prepared) => {
                profile.skipped.extend_from_slice(prepared.skipped());
                profile.classes.push(ClassProfile {
                    map: prepared.map().clone(),
                    counts: vec![MethodCounts::default(); prepared.map().methods.len()],
                });
            }
            Preparation::Unchanged { skipped } => profile.skipped.extend(skipped),
        }
    }
    profile.classes.sort_by(|a, b| a.map.name.cmp(&b.map.name));
    let counts = oracle_counts(activations, &profile)?;
    for class in &mut profile.classes {
        for (map, method) in class.map.methods.iter().zip(&mut class.counts) {
            let id = MethodId::new(&class.map, map);
            method.paths = counts.get(&id).cloned().unwrap_or_default();
        }
    }
    Ok(profile)
}
