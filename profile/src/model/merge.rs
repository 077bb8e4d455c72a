//! Several profiles into one.
//!
//! Classes are matched by name and SHA-256, methods by name and descriptor; counts are summed, saturating. Paths that two
//! maps of the same method number differently are translated. The result does not depend on the order of the inputs, nor
//! on how they are grouped (but for rounding of [`RunInfo::seconds`]).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use trodden_numbering::{BlockId, FlowGraph};

use crate::model::counts::MethodCounts;
use crate::model::errors::MergeError;
use crate::model::facts;
use crate::model::kinds::KINDS;
use crate::model::map::{ClassMap, MethodMap};
use crate::model::places::{no_such_path, renumbering};
use crate::model::profile::{ClassProfile, Profile, RunInfo, Skipped};
use crate::model::several::list;

/// Merges profiles. None gives the empty profile.
///
/// About the run: seconds are summed; the start is the earliest; `exact` holds if it holds for all; texts that differ
/// (JVM, command, probe, schedule, options, version, most facts) are listed, sorted, with ` + ` between them; the
/// smallest interval is kept; facts add up as their table says ([`facts`]); and the fact `runs` says how many runs went in. A profile with a default [`RunInfo`] has no run and changes nothing of this.
///
/// A path that is unobserved in one of the profiles is so in the result, though it may have counts from the others. A
/// method's skip reasons stay listed even if another run profiled it. Methods are in class-file order if all profiles of
/// the class have the same ones, else sorted by name and descriptor.
///
/// Other kinds of data add up as well, each in its own way. A profile without a kind adds nothing to that of the others,
/// so the result's path forest, say, may speak of fewer path ends than its counts.
///
/// # Errors
/// If two profiles cut the same method of the same class bytes into different paths, a number that has to be translated
/// names no path, or data were recorded with settings that have nothing to add up.
pub fn merge<'a>(profiles: impl IntoIterator<Item = &'a Profile>) -> Result<Profile, MergeError> {
    let mut run: Option<RunInfo> = None;
    let mut classes: BTreeMap<(&str, [u8; 32]), Vec<&ClassProfile>> = BTreeMap::new();
    let mut skipped: BTreeSet<&Skipped> = BTreeSet::new();
    let profiles: Vec<&Profile> = profiles.into_iter().collect();
    for profile in &profiles {
        if profile.run != RunInfo::default() {
            run = Some(match run {
                None => profile.run.clone(),
                Some(before) => merge_runs(before, &profile.run),
            });
        }
        for class in &profile.classes {
            classes
                .entry((&class.map.name, class.map.sha256))
                .or_default()
                .push(class);
        }
        skipped.extend(&profile.skipped);
    }
    let classes: Vec<ClassProfile> = classes
        .into_values()
        .map(|same| merge_classes(&same))
        .collect::<Result<_, _>>()?;
    let mut merged = Profile {
        run: run.unwrap_or_default(),
        classes,
        skipped: skipped.into_iter().cloned().collect(),
        ..Profile::default()
    };
    for kind in KINDS {
        kind.merge(&profiles, &mut merged)?;
    }
    Ok(merged)
}

fn merge_runs(a: RunInfo, b: &RunInfo) -> RunInfo {
    let runs = |run: &RunInfo| run.facts.get(facts::RUNS).unwrap_or(1);
    let runs = runs(&a).saturating_add(runs(b));
    let mut facts = a.facts.clone();
    facts.merge(&b.facts);
    facts.set(facts::RUNS, runs);
    // 0 stands for "not known".
    let known = [a.started_ms, b.started_ms].into_iter().filter(|&ms| ms != 0);
    RunInfo {
        jvm: list(&a.jvm, &b.jvm),
        command: list(&a.command, &b.command),
        started_ms: known.min().unwrap_or(0),
        seconds: a.seconds + b.seconds,
        probe: list(&a.probe, &b.probe),
        schedule: match (a.schedule, &b.schedule) {
            (Some(a), Some(b)) => Some(list(&a, b)),
            (a, b) => a.or_else(|| b.clone()),
        },
        interval_ns: [a.interval_ns, b.interval_ns].into_iter().flatten().min(),
        exact: a.exact && b.exact,
        options: list(&a.options, &b.options),
        version: list(&a.version, &b.version),
        facts,
    }
}

/// All are of the same name and bytes.
fn merge_classes(same: &[&ClassProfile]) -> Result<ClassProfile, MergeError> {
    let first = same[0];
    if same.iter().all(|class| class.map == first.map) {
        let mut merged = first.clone();
        for class in &same[1..] {
            for (total, own) in merged.counts.iter_mut().zip(&class.counts) {
                total.add(own);
            }
        }
        return Ok(merged);
    }
    let keys =
        |class: &ClassProfile| -> Vec<MethodKey> { class.map.methods.iter().map(method_key).collect() };
    let order = keys(first);
    let mut methods: BTreeMap<MethodKey, Vec<(&MethodMap, &MethodCounts)>> = BTreeMap::new();
    for class in same {
        for (map, counts) in class.map.methods.iter().zip(&class.counts) {
            methods.entry(method_key(map)).or_default().push((map, counts));
        }
    }
    let order = if same.iter().all(|c| keys(c) == order) {
        order
    } else {
        methods.keys().cloned().collect()
    };
    let (mut maps, mut counts) = (Vec::new(), Vec::new());
    for key in order {
        // A class file cannot hold two methods of one key; a list that does would be folded into its first one.
        if let Some(versions) = methods.remove(&key) {
            let (map, count) = merge_methods(&first.map.name, &versions)?;
            maps.push(map);
            counts.push(count);
        }
    }
    let source_file = same.iter().filter_map(|c| c.map.source_file.clone()).min();
    let map = ClassMap {
        name: first.map.name.clone(),
        sha256: first.map.sha256,
        source_file,
        methods: maps,
    };
    Ok(ClassProfile {
        map: Arc::new(map),
        counts,
    })
}

type MethodKey = (String, String);

fn method_key(map: &MethodMap) -> MethodKey {
    (map.name.clone(), map.descriptor.clone())
}

fn merge_methods(
    class: &str,
    versions: &[(&MethodMap, &MethodCounts)],
) -> Result<(MethodMap, MethodCounts), MergeError> {
    // Any rule would do that does not depend on the order of the inputs.
    let Some(target) = versions
        .iter()
        .map(|(map, _)| *map)
        .min_by_key(|map| numbering_key(map))
    else {
        unreachable!("a method that was found has at least one version")
    };
    let mut merged = target.clone();
    let mut unobserved: BTreeSet<u64> = BTreeSet::new();
    let mut total = MethodCounts::default();
    for &(map, counts) in versions {
        let numbers = renumbering(class, map, target)?;
        let failed = no_such_path(class, map);
        for &number in &map.unobserved {
            unobserved.insert(numbers.whole(number).map_err(&failed)?);
        }
        total.add(&*numbers.counts(counts).map_err(&failed)?);
    }
    merged.unobserved = unobserved.into_iter().collect();
    let lines = versions.iter().map(|(map, _)| (&map.lines, &map.inlined)).min();
    let (lines, inlined) = lines
        .map(|(lines, inlined)| (lines.clone(), inlined.clone()))
        .unzip();
    merged.lines = lines.unwrap_or_default();
    merged.inlined = inlined.unwrap_or_default();
    merged.code_length = versions
        .iter()
        .map(|(map, _)| map.code_length)
        .min()
        .unwrap_or_default();
    Ok((merged, total))
}

/// The difference between two numberings of a method: starts (value, paths, block) and edge values per block.
type NumberingKey<'a> = (Vec<(u64, u64, usize)>, Vec<&'a [u64]>);

fn numbering_key(map: &MethodMap) -> NumberingKey<'_> {
    let starts = map
        .dag
        .starts()
        .iter()
        .map(|s| (s.value, s.paths, s.block.index()))
        .collect();
    let values = (0..map.graph.num_blocks())
        .map(|b| map.dag.values(BlockId::new(b)))
        .collect();
    (starts, values)
}
