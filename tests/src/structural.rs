//! Structural profiles against the oracle: each activation followed through all structure graphs of its
//! method.

use std::collections::BTreeMap;

use trodden_numbering::structure::Walker;
use trodden_numbering::{EdgeRef, FlowGraph, PathEnd, StartKind};
use trodden_profile::structural::structure_of;
use trodden_profile::{MethodMap, Profile};

use crate::jdk::Jdk;
use crate::profile::{methods, oracle_paths, run_oracle, run_plain, run_profiled, run_unchecked};
use crate::target::Target;
use crate::trace::MethodId;
use crate::{Result, events};

/// Path number to count, per structure graph.
type Tables = Vec<BTreeMap<u64, u64>>;

/// Runs a target with a structural profile, of every path and in small windows: it does the same, and what
/// was counted is what the oracle's activations say. Returns how many methods and loops were compared.
///
/// Methods of which an activation was left by an exception, or caught one, are left out: the oracle's paths
/// do not say where it was then.
///
/// # Errors
/// If something differs.
pub fn judge(target: &Target, jdk: &Jdk) -> Result<(usize, usize)> {
    let activations = run_oracle(target, jdk, &run_unchecked(target, jdk)?)?;
    let plain = run_plain(target, jdk)?;
    let folder = tempfile::tempdir()?;
    let record = |options: &str| -> Result<Profile> {
        let file = folder.path().join("profile.trodden");
        let outcome = run_profiled(target, jdk, &format!("auto,profile=structural,{options}"), &file)?;
        if outcome != plain {
            return Err(format!("{options} changed the program: {plain:#?}\n{outcome:#?}").into());
        }
        let profile = Profile::load(&file)?;
        for fact in ["lost", "panics"] {
            if events::fact(&profile, fact)? != 0 {
                return Err(format!("{options}, {fact}: {:?}", profile.run.facts).into());
            }
        }
        Ok(profile)
    };
    record("window=3")?;
    let profile = record("window=all")?;
    let counted = local(&profile)?;
    let mut compared = (0, 0);
    for (id, sequences) in oracle_paths(&activations, &profile)? {
        let map = methods(&profile).find(|(other, ..)| *other == id);
        let (_, map, counts) = map.ok_or("a method without a map")?;
        let expected = sequences
            .iter()
            .try_fold(Tables::new(), |sum, paths| follow(map, paths, sum));
        let Some(expected) = expected else { continue };
        if target.uncounted.contains(&id.name) {
            continue;
        }
        let found = counted.get(&id).cloned().unwrap_or_default();
        if found != expected {
            return Err(format!("{id:?}:\nexpected {expected:?}\nfound    {found:?}").into());
        }
        whole_paths(map, counts, &sequences).map_err(|e| format!("{id:?}: {e}"))?;
        compared.0 += 1;
        compared.1 += expected.len() - 1;
    }
    Ok(compared)
}

/// Whole paths, joined from structural ones, take each edge as often as the activations did. They are
/// rounded, so an edge may be off by half for each path.
fn whole_paths(map: &MethodMap, found: &BTreeMap<u64, u64>, sequences: &[Vec<u64>]) -> Result<()> {
    let mut edges: BTreeMap<EdgeRef, [f64; 2]> = BTreeMap::new();
    let expected = sequences.iter().flatten().map(|&path| (path, 1.0, 1));
    let found = found.iter().map(|(&path, &count)| (path, count as f64, 0));
    let mut paths = 0u32;
    for (path, count, of) in found.chain(expected) {
        paths += 1 - of as u32;
        let path = map.dag.regenerate(&map.graph, path)?;
        for edge in path.edges {
            edges.entry(edge).or_default()[of] += count;
        }
    }
    let rounding = 1e-6 + f64::from(paths) / 2.0;
    for (edge, [found, expected]) in edges {
        if (found - expected).abs() > rounding {
            return Err(format!("{edge:?}: {found} for {expected}").into());
        }
    }
    Ok(())
}

/// Local counts of all methods.
fn local(profile: &Profile) -> Result<BTreeMap<MethodId, Tables>> {
    let structural = profile.structural.as_ref().ok_or("no structural profile")?;
    let mut all: BTreeMap<MethodId, Tables> = BTreeMap::new();
    for (&(class, method), counts) in &structural.methods {
        let class = &profile.classes[class as usize].map;
        let id = MethodId::new(class, &class.methods[method as usize]);
        let sums = all.entry(id).or_default();
        sums.resize(counts.graphs.len(), BTreeMap::new());
        for (sums, graph) in sums.iter_mut().zip(&counts.graphs) {
            for (&path, &count) in &graph.local {
                *sums.entry(path).or_default() += count;
            }
        }
    }
    Ok(all)
}

/// Adds the structural paths of an activation that took these Ball-Larus paths; nothing if they do not join
/// from entry to exit.
fn follow(map: &MethodMap, paths: &[u64], mut sums: Tables) -> Option<Tables> {
    let structure = structure_of(&map.graph).ok()?;
    sums.resize(structure.graphs().len(), BTreeMap::new());
    let mut walker = Walker::new(&structure, &map.graph);
    let mut count = |graph: usize, path: u64| *sums[graph].entry(path).or_default() += 1;
    walker.enter(&mut count);
    let mut at = map.graph.entry();
    let mut left = false;
    for (index, &number) in paths.iter().enumerate() {
        let path = map.dag.regenerate(&map.graph, number).ok()?;
        let begins = match path.start {
            StartKind::Entry => index == 0,
            StartKind::Header | StartKind::Cut => index > 0,
            StartKind::Handler => false,
        };
        if !begins || path.first != at {
            return None;
        }
        for &edge in &path.edges {
            walker.follow(edge, &mut count);
            let EdgeRef { from, index } = edge;
            at = map.graph.successors(from)[index as usize];
        }
        if let PathEnd::Exit(block) = path.end {
            walker.exit(block, &mut count);
            left = true;
        }
    }
    left.then_some(sums)
}
