//! `trodden instrument` and then `java -jar`: the program does what it did, and its probes count what the
//! agent's do.

use std::path::Path;

use trodden_profile::Profile;
use trodden_tests::jdk::Jdk;
use trodden_tests::profile::{self, Counts};
use trodden_tests::sweep::{Container, Judge};
use trodden_tests::target::Target;
use trodden_tests::{Result, ahead, build};

/// Among them one that ends by an exception that is not caught, and one with more paths than slots.
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
    let path = |name: &str| folder.path().join(name);
    let jar = ahead::jar(target, jdk, folder.path())?;
    let plain = ahead::run(&jar, jdk, &[])?;
    assert_eq!(plain, profile::run_plain(target, jdk)?);
    let file = path("agent.trodden");
    profile::run_profiled(target, jdk, "counters", &file)?;
    let agent = Profile::load(&file)?;
    for probe in ["yieldpoint", "counters", "safepoint"] {
        let instrumented = ahead::instrument(&jar, probe, &path(&format!("{probe}.jar")))?;
        assert_eq!(instrumented.map.run.probe, probe);
        let expected = observable(&agent, &instrumented.map)?;
        assert!(expected.len() > 2, "{expected:?}");
        assert_eq!(
            ahead::run(&instrumented.file, jdk, &[])?,
            plain,
            "{probe}, no library"
        );
        if probe == "safepoint" {
            continue;
        }
        let file = path(&format!("{probe}.trodden"));
        let ticks = if probe == "yieldpoint" {
            ",interval=1ms"
        } else {
            ""
        };
        let flags = ahead::library_with(jdk, &file, ticks)?;
        let with_library = ahead::run(&instrumented.file, jdk, &flags)?;
        assert_eq!(with_library, plain, "{probe}");
        let found = Profile::load(&file)?;
        assert_eq!(
            (found.run.probe.as_str(), found.run.exact),
            (probe, probe == "counters")
        );
        assert_eq!(found.classes.len(), instrumented.map.classes.len());
        if probe == "counters" {
            assert_eq!(profile::counts(&found), expected);
            assert_eq!(found.run.facts.text("lost").as_deref(), Some("0"));
            // The agent as well: it leaves the classes alone, and they count into its profile, once.
            let both = path("both.trodden");
            let flag = profile::agent_flag(probe, "*", &both)?;
            assert_eq!(ahead::run(&instrumented.file, jdk, &[flag])?, plain);
            let both = Profile::load(&both)?;
            assert_eq!(profile::counts(&both), expected);
            assert_eq!(both.run.facts.text("instrumented_ahead").as_deref(), Some("1"));
            // With another probe than theirs, they are not counted, and the profile says so.
            let other = path("other.trodden");
            let flag = profile::agent_flag("yieldpoint", "*", &other)?.replace("quiet=true,", "");
            let outcome = ahead::run(&instrumented.file, jdk, &[flag])?;
            assert_eq!(outcome.stdout, plain.stdout);
            assert!(
                outcome
                    .stderr
                    .contains("instrumented with probe counters, but this run's is yieldpoint"),
                "{}",
                outcome.stderr
            );
            let other = Profile::load(&other)?;
            assert_eq!(other.classes, []);
            let alone: Vec<_> = other
                .skipped
                .iter()
                .filter(|s| s.reason.contains("already"))
                .collect();
            assert!(!alone.is_empty());
        }
    }
    Ok(())
}

/// The agent's exact counts, without the paths that the other probe does not report (iterations of loops with
/// only one path). Both must have numbered the paths alike.
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

/// All classes of a library, not only those that some program loads: HotSpot accepts them, and all other
/// entries are what they were, in the order in which they were. Behind them comes the class that the probes
/// call.
#[test]
#[cfg_attr(feature = "change", ignore = "all: a whole library")]
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
        let added = names(&after).split_off(before.len());
        assert_eq!(names(&before), names(&after)[..before.len()]);
        let is_runtime = |name: &String| name.starts_with("kotlin/") && name.contains("/Trodden$");
        assert!(added.iter().all(is_runtime), "{added:?}");
        assert_eq!(added.len(), usize::from(probe != "safepoint"));
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
