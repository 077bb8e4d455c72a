//! `profile=coverage` against the oracle: the blocks that its log says began, and the ways that decisions
//! took.

use std::collections::{BTreeMap, BTreeSet};

use trodden_numbering::{BlockId, FlowGraph};
use trodden_profile::{MethodMap, Profile};

use crate::jdk::Jdk;
use crate::process::{self, Outcome};
use crate::profile::{LIMIT, SUSPICIOUS, agent_flag, methods, run_oracle, run_plain, run_unchecked};
use crate::target::Target;
use crate::trace::MethodId;
use crate::{Result, ahead, events, walk};

/// Methods with no room for the oracle's own code.
const LEFT_BY_ORACLE: [&str; 1] = ["nearlyFull"];

/// The parts of a method that ran: blocks, and ways out of blocks that have several.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Ran {
    blocks: BTreeSet<usize>,
    ways: BTreeSet<(usize, usize)>,
}

/// Runs a target with `profile=coverage` and these additional flags of the JVM: it does the same, and what
/// ran is what the oracle's log says. Returns numbers of methods and of blocks that were compared.
///
/// # Errors
/// If something differs.
pub fn judge(target: &Target, jdk: &Jdk, flags: &[&str]) -> Result<(usize, usize)> {
    let plain = run_plain(target, jdk)?;
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("profile.trodden");
    let mut all: Vec<String> = SUSPICIOUS
        .iter()
        .chain(flags)
        .map(|&flag| flag.to_owned())
        .collect();
    all.push(agent_flag(
        "auto,profile=coverage",
        &format!("{}*", target.name),
        &file,
    )?);
    let outcome: Outcome = process::run(&mut target.command(jdk, &all)?, LIMIT)?;
    if outcome != plain {
        return Err(format!("changed the program: {plain:#?}\n{outcome:#?}").into());
    }
    compare(target, jdk, &Profile::load(&file)?)
}

/// The same of a jar that was instrumented ahead of its run, without the agent at start-up.
///
/// # Errors
/// If something differs.
pub fn judge_ahead(target: &Target, jdk: &Jdk) -> Result<(usize, usize)> {
    let folder = tempfile::tempdir()?;
    let jar = ahead::jar(target, jdk, folder.path())?;
    let instrumented = ahead::instrument_with(
        &jar,
        &["--profile", "coverage"],
        &folder.path().join("probes.jar"),
    )?;
    let plain = run_plain(target, jdk)?;
    let alone = ahead::run(&instrumented.file, jdk, &[])?;
    let file = folder.path().join("profile.trodden");
    let flags = ahead::library_with(jdk, &file, "")?;
    let counted = ahead::run(&instrumented.file, jdk, &flags)?;
    if plain != alone || plain != counted {
        return Err(format!("changed the program: {plain:#?}\n{alone:#?}\n{counted:#?}").into());
    }
    compare(target, jdk, &Profile::load(&file)?)
}

/// Compares the coverage of a profile with the oracle's log.
fn compare(target: &Target, jdk: &Jdk, profile: &Profile) -> Result<(usize, usize)> {
    let activations = run_oracle(target, jdk, &run_unchecked(target, jdk)?)?;
    if events::fact(profile, "panics")? != 0 {
        return Err(format!("panics: {:?}", profile.run.facts).into());
    }
    let found = found(profile)?;
    let mut expected: BTreeMap<MethodId, Ran> = BTreeMap::new();
    let maps: BTreeMap<MethodId, &MethodMap> = methods(profile).map(|(id, map, _)| (id, map)).collect();
    for activation in &activations {
        let Some(map) = maps.get(&activation.method) else {
            continue;
        };
        let walked = walk::walk(map, &activation.events)?;
        let ran = expected.entry(activation.method.clone()).or_default();
        ran.blocks.extend(walked.blocks);
        let decides = |&(block, _): &(usize, usize)| map.graph.successors(BlockId::new(block)).len() > 1;
        ran.ways.extend(walked.edges.into_iter().filter(decides));
    }
    let mut compared = (0, 0);
    for id in expected.keys().chain(found.keys()).collect::<BTreeSet<_>>() {
        let left = target.uncounted.contains(&id.name) || target.unsteady.contains(&id.name);
        if left || LEFT_BY_ORACLE.contains(&id.name.as_str()) {
            continue;
        }
        if expected.get(id) != found.get(id) {
            return Err(format!(
                "{id:?}:\nexpected {:?}\nfound    {:?}",
                expected.get(id),
                found.get(id)
            )
            .into());
        }
        compared.0 += 1;
        compared.1 += expected.get(id).map_or(0, |ran| ran.blocks.len());
    }
    match compared {
        (0, _) => Err("no method was compared".into()),
        compared => Ok(compared),
    }
}

/// The coverage of a profile.
fn found(profile: &Profile) -> Result<BTreeMap<MethodId, Ran>> {
    let coverage = profile.coverage.as_ref().ok_or("no coverage in the profile")?;
    let mut found: BTreeMap<MethodId, Ran> = BTreeMap::new();
    for (&(class, method), covered) in &coverage.methods {
        let class = &profile.classes[class as usize].map;
        let map = &class.methods[method as usize];
        let ran = found.entry(MethodId::new(class, map)).or_default();
        let edges = covered.edge_profile(map);
        let blocks = edges.blocks.iter().enumerate().filter(|(_, count)| **count > 0);
        ran.blocks.extend(blocks.map(|(block, _)| block));
        for (block, ways) in edges.edges.iter().enumerate().filter(|(_, ways)| ways.len() > 1) {
            let gone = ways.iter().enumerate().filter(|(_, count)| **count > 0);
            ran.ways.extend(gone.map(|(way, _)| (block, way)));
        }
    }
    Ok(found)
}
