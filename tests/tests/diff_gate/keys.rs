//! Keys are the same whatever JVM, probes and numbering a profile comes from; and others can make them
//! (docs/keys.md).

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;
use trodden_profile::{Key, Profile, path_key};
use trodden_tests::jdk::Jdk;
use trodden_tests::target::Target;
use trodden_tests::trace::MethodId;
use trodden_tests::{Result, ahead, contexts, pages, profile};

const TARGETS: [&str; 5] = ["Classes", "Exceptions", "Loops", "ManyPaths", "Switches"];

/// Counts by keys: of the graph, and of the path.
type Keyed = BTreeMap<(MethodId, Key), BTreeMap<Key, u64>>;

/// The numbers that paths have.
type Numbers = BTreeSet<(MethodId, Key, u64)>;

fn keyed(file: &Path) -> Result<(Keyed, Numbers)> {
    let profile = Profile::load(file)?;
    let (mut all, mut numbers) = (Keyed::new(), Numbers::new());
    for (id, map, counts) in profile::methods(&profile) {
        let graph = map.graph_key();
        for (&number, &count) in counts.iter().filter(|&(_, &count)| count > 0) {
            let key = path_key(graph, &map.dag.regenerate(&map.graph, number)?);
            let paths = all.entry((id.clone(), graph)).or_default();
            assert_eq!(paths.insert(key, count), None, "two paths of {id:?} have one key");
            numbers.insert((id.clone(), key, number));
        }
    }
    Ok((all, numbers))
}

#[test]
fn eight_configurations_give_the_same_keys_and_counts() -> Result<()> {
    let targets = Target::all()?;
    let (mut renumbered, mut paths) = (0, 0);
    for name in TARGETS {
        let target = targets.iter().find(|t| t.name == name).ok_or(name)?;
        let folder = tempfile::tempdir()?;
        let file = |name: &str| folder.path().join(format!("{name}.trodden"));
        let mut all = Vec::new();
        for jdk in Jdk::both()? {
            let under_agent = |what: &str, options: &str| -> Result<_> {
                let file = file(&format!("{}-{what}", jdk.feature));
                profile::run_profiled(target, &jdk, options, &file)?;
                Ok((format!("{what}, JDK {}", jdk.feature), keyed(&file)?))
            };
            all.push(under_agent("counters", "counters")?);
            let former = file(&format!("{}-counters", jdk.feature));
            let guided = format!("counters,use-profile={}", former.display());
            all.push(under_agent("guided", &guided)?);
            all.push(under_agent("kpaths", "events,profile=paths+kpaths,k=3")?);
            let jar = ahead::jar(target, &jdk, folder.path())?;
            let jar = ahead::instrument(&jar, "counters", &folder.path().join("ahead.jar"))?;
            let counted = file(&format!("{}-ahead", jdk.feature));
            ahead::run(&jar.file, &jdk, &ahead::library(&jdk, &counted)?)?;
            all.push((format!("ahead, JDK {}", jdk.feature), keyed(&counted)?));
        }
        assert_eq!(all.len(), 8);
        let (_, (first, numbers)) = &all[0];
        paths += numbers.len();
        for (how, (counts, others)) in &all[1..] {
            assert_eq!(counts, first, "{name}, {how}");
            renumbered += others.difference(numbers).count();
        }
    }
    // Else it would be no wonder.
    assert!(paths > 100 && renumbered > 20, "{renumbered} of {paths}");
    Ok(())
}

/// Calls by the keys of contexts, and occurrences by those of sequences, as JSON has them.
fn of_json(jdk: &Jdk, profile: &str, file: &Path) -> Result<BTreeMap<String, u64>> {
    let targets = Target::all()?;
    let target = targets.iter().find(|t| t.name == "Classes").ok_or("Classes")?;
    profile::run_profiled(target, jdk, &format!("events,profile={profile}"), file)?;
    let file = file.display().to_string();
    let json = contexts::trodden(&["report", &file, "--format", "json", "--top", "1000"])?;
    let json: Value = serde_json::from_str(&json)?;
    let mut all = BTreeMap::new();
    let mut add = |of: &str, node: &Value, count: &str| -> Result<()> {
        let key = node["key"].as_str().ok_or("no key")?;
        *all.entry(format!("{of} {key}")).or_default() += node[count].as_u64().unwrap_or(0);
        Ok(())
    };
    for node in json["contexts"]["tree"].as_array().into_iter().flatten() {
        add("context", node, "calls")?;
    }
    for method in json["kpaths"]["methods"].as_array().into_iter().flatten() {
        let name = format!("{}{}", method["name"], method["descriptor"]);
        for tree in method["trees"].as_array().into_iter().flatten() {
            for node in tree.as_array().into_iter().flatten() {
                add(&name, node, "count")?;
            }
        }
    }
    Ok(all)
}

#[test]
fn contexts_and_sequences_have_the_same_keys_too() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("out.trodden");
    for (profile, least) in [
        ("contexts,algorithm=exact", 10),
        ("contexts,algorithm=exact,weight=call-paths", 10),
        ("kpaths,burst=off,k=3", 5),
    ] {
        let mut all = Vec::new();
        for jdk in Jdk::both()? {
            all.push(of_json(&jdk, profile, &file)?);
        }
        assert!(all[0].len() >= least, "{profile}: {:?}", all[0]);
        assert_eq!(all[0], all[1], "{profile}");
    }
    Ok(())
}

/// With `sha256sum`, from the texts that the page describes.
#[test]
fn keys_can_be_made_without_trodden() -> Result<()> {
    let jdk = Jdk::newest()?;
    let folder = tempfile::tempdir()?;
    let (blocks, outcome) = pages::run("keys.md", &jdk, folder.path())?;
    assert_eq!(blocks, 2);
    let lines: Vec<&str> = outcome.stdout.lines().collect();
    let (said, rest) = (lines[lines.len() - 2], lines[lines.len() - 1]);
    let (graph, path) = said
        .strip_prefix("graph ")
        .and_then(|said| said.split_once(", path "))
        .ok_or(said)?;
    assert!(graph.len() == 16 && path.len() == 16, "{said}");
    assert_eq!(rest, "2", "both are in the profile");
    Ok(())
}
