//! `trodden instrument` and then `java -jar`: the program does what it did, and its probes count what the agent's do.

use std::path::Path;

use trodden_profile::Profile;
use trodden_tests::jdk::Jdk;
use trodden_tests::profile::{self, Counts};
use trodden_tests::sweep::{Container, Judge};
use trodden_tests::target::Target;
use trodden_tests::{Result, ahead, build};

/// Among them one that ends by an exception that nobody catches, and one with more paths than slots.
const TARGETS: [&str; 5] = ["Classes", "Exceptions", "Loops", "ManyPaths", "Switches"];

#[test]
fn an_instrumented_jar_runs_as_before_and_counts_as_under_the_agent() -> Result<()> {
    let targets = Target::all()?;
    for name in TARGETS {
        let target = targets.iter().find(|t| t.name == name).ok_or(name)?;
        for jdk in Jdk::ends()? {
            compare(target, &jdk).map_err(|e| format!("{name} on JDK {}: {e}", jdk.feature))?;
        }
    }
    Ok(())
}

fn compare(target: &Target, jdk: &Jdk) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let jar = ahead::jar(target, jdk, folder.path())?;
    let plain = ahead::run(&jar, jdk, None)?;
    assert_eq!(plain, profile::run_plain(target, jdk)?);
    let file = folder.path().join("agent.trodden");
    profile::run_profiled(target, jdk, "counters", &file)?;
    let agent = Profile::load(&file)?;
    for probe in ["yieldpoint", "counters", "safepoint"] {
        let out = folder.path().join(format!("{probe}.jar"));
        let instrumented = ahead::instrument(&jar, probe, &out)?;
        assert_eq!(instrumented.map.run.probe, probe);
        // Probe safepoint calls nothing, so nothing need be there.
        let counts = folder.path().join(format!("{probe}.counts"));
        let counting = (probe != "safepoint").then_some(counts.as_path());
        let outcome = ahead::run(&instrumented.file, jdk, counting)?;
        assert_eq!(outcome, plain, "{probe}");
        if let Some(counts) = counting {
            let expected = observable(&agent, &instrumented.map)?;
            assert!(expected.len() > 2, "{expected:?}");
            assert_eq!(ahead::counts(&instrumented, counts)?, expected, "{probe}");
        }
    }
    Ok(())
}

/// The agent's exact counts, without the paths that the other probe does not report (iterations of loops with only
/// one path). Both must have numbered the paths alike.
fn observable(exact: &Profile, other: &Profile) -> Result<Counts> {
    let mut counts = profile::counts(exact);
    for class in &exact.classes {
        let same = other.classes.iter().find(|c| c.map.sha256 == class.map.sha256);
        let same = same.ok_or_else(|| format!("{} is not in the map", class.map.name))?;
        for (a, b) in class.map.methods.iter().zip(&same.map.methods) {
            assert_eq!((&a.name, &a.graph, &a.dag), (&b.name, &b.graph, &b.dag));
        }
    }
    for (id, map, _) in profile::methods(other) {
        if let Some(paths) = counts.get_mut(&id) {
            paths.retain(|path, _| !map.unobserved.contains(path));
        }
    }
    counts.retain(|_, paths| !paths.is_empty());
    Ok(counts)
}

/// All classes of a library, not only those that some program loads: HotSpot accepts them, and all other entries
/// are what they were, in the order in which they were.
#[test]
fn hotspot_accepts_every_class_of_an_instrumented_library() -> Result<()> {
    let jars = build::jars()?;
    let library = std::fs::read_dir(&jars)?
        .flatten()
        .map(|e| e.path())
        .find(|p| p.to_string_lossy().contains("/kotlin-stdlib-"))
        .ok_or("no kotlin-stdlib")?;
    let before = ahead::entries(&library)?;
    let folder = tempfile::tempdir()?;
    for probe in ["yieldpoint", "counters", "safepoint"] {
        let instrumented = ahead::instrument(&library, probe, &folder.path().join(format!("{probe}.jar")))?;
        let after = ahead::entries(&instrumented.file)?;
        let names = |entries: &[(String, Vec<u8>)]| -> Vec<String> {
            entries.iter().map(|(name, _)| name.clone()).collect()
        };
        assert_eq!(names(&before), names(&after));
        let mut changed: Vec<(&str, Vec<u8>)> = Vec::new();
        for ((name, was), (_, is)) in before.iter().zip(&after) {
            if was != is {
                changed.push((name, is.clone()));
            }
        }
        let mut mapped: Vec<&str> = instrumented
            .map
            .classes
            .iter()
            .map(|c| c.map.name.as_str())
            .collect();
        let mut named: Vec<&str> = changed
            .iter()
            .map(|(entry, _)| {
                entry
                    .trim_end_matches(".class")
                    .trim_start_matches("META-INF/versions/9/")
            })
            .collect();
        mapped.sort_unstable();
        named.sort_unstable();
        assert_eq!(mapped, named, "exactly the classes of the path map were changed");
        assert!(changed.len() >= 400, "{}", changed.len());
        for jdk in Jdk::ends()? {
            judge(&jdk, &library, &changed, folder.path()).map_err(|e| format!("{probe}: {e}"))?;
        }
    }
    Ok(())
}

fn judge(jdk: &Jdk, library: &Path, changed: &[(&str, Vec<u8>)], work: &Path) -> Result<()> {
    let jars = [library.to_owned()];
    let mut judge = Judge::start(jdk, &jars)?;
    let verdicts = judge.verify(&Container::Jar(library.to_owned()), changed, work)?;
    assert_eq!(verdicts.rejected, [], "JDK {}", jdk.feature);
    // What is refused in its original form too has something missing.
    assert_eq!(verdicts.accepted + verdicts.original.len(), changed.len());
    assert!(
        verdicts.original.len() < changed.len() / 20,
        "{:?}",
        verdicts.original
    );
    Ok(())
}
