//! Calling contexts in real JVMs: however methods call and end, the cursor is right.

use trodden_profile::Profile;
use trodden_tests::Result;
use trodden_tests::contexts::{Counts, counts, difference, expected, live, plain, trodden, under_agent};
use trodden_tests::events::{fact, whole};
use trodden_tests::jdk::Jdk;

fn check(how: &str, expected: &Counts, profile: &Profile) -> Result<()> {
    whole(profile).map_err(|e| format!("{how}: {e}"))?;
    for name in ["contexts_orphans", "contexts_lost_exits", "contexts_gaps", "contexts_bad_words", "contexts_unknown"] {
        assert_eq!(fact(profile, name)?, 0, "{how}: {name}");
    }
    match difference(expected, &counts(profile)?) {
        None => Ok(()),
        Some(difference) => Err(format!("{how}: {difference}").into()),
    }
}

#[test]
fn all_contexts_are_those_of_the_stack() -> Result<()> {
    for jdk in Jdk::ends()? {
        let arguments = ["all", "2"];
        let (outcome, expected) = expected(&jdk, &arguments)?;
        assert!(expected.len() > 200, "{} contexts", expected.len());
        assert_eq!(plain(&jdk, &arguments)?.stdout, outcome.stdout);
        for options in [
            "profile=contexts,algorithm=exact",
            "profile=contexts+paths+kpaths,algorithm=exact,consumer=agent",
            "profile=contexts,algorithm=lss,phi=1e-5",
            "profile=contexts,algorithm=bss,phi=1e-5",
            "profile=contexts,algorithm=lc,phi=1e-5",
        ] {
            let (found, profile) = live(&jdk, options, &arguments)?;
            assert_eq!(found.stdout, outcome.stdout, "{options}");
            assert_eq!(found.stderr, "", "{options}");
            check(options, &expected, &profile)?;
        }
    }
    Ok(())
}

#[test]
fn a_trace_has_the_same_contexts() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (trace, replayed) = (path("run.trace"), path("replayed.trodden"));
    for jdk in Jdk::ends()? {
        let arguments = ["all", "1"];
        let (_, expected) = expected(&jdk, &arguments)?;
        for kinds in ["contexts", "contexts+kpaths"] {
            under_agent(&jdk, &format!("profile={kinds}"), &arguments, trace.as_ref())?;
            trodden(&["replay", &trace, "--profile", kinds, "--algorithm", "exact", "-o", &replayed])?;
            check(kinds, &expected, &Profile::load(&replayed)?)?;
        }
    }
    Ok(())
}

#[test]
fn virtual_threads_that_change_carriers() -> Result<()> {
    match Jdk::all()?.last() {
        Some(jdk) if jdk.feature >= 21 => {
            let arguments = ["virtual", "300"];
            let (_, expected) = expected(jdk, &arguments)?;
            let (_, profile) = live(jdk, "profile=contexts,algorithm=exact", &arguments)?;
            check("virtual", &expected, &profile)
        }
        _ => {
            eprintln!("no JDK with virtual threads here");
            Ok(())
        }
    }
}

#[test]
fn a_million_activations_deep() -> Result<()> {
    const DEPTH: u32 = 1_000_000;
    for jdk in Jdk::ends()? {
        let (outcome, profile) = live(&jdk, "profile=contexts,algorithm=exact", &["deep", &DEPTH.to_string()])?;
        assert_eq!(outcome.stdout.lines().count(), 2, "{outcome:#?}");
        whole(&profile)?;
        let contexts = profile.contexts.as_ref().ok_or("no contexts")?;
        // Two threads, each with two or three activations below the DEPTH + 1 of the recursion.
        let nodes = contexts.tree.nodes();
        let deepest = nodes.iter().map(|node| node.depth).max();
        assert!(deepest.is_some_and(|depth| depth > DEPTH && depth < DEPTH + 5), "{deepest:?}");
        let mut deep = nodes.iter().filter(|node| node.depth > 10);
        assert_eq!(deep.clone().count(), 2 * DEPTH as usize - 13, "{deepest:?}");
        assert!(deep.all(|node| node.calls == Some((1, 1))));
        // What was called after the exception had passed all of them is not below them.
        let after: Vec<_> = nodes
            .iter()
            .filter(|node| {
                let class = &profile.classes[node.class as usize].map;
                class.methods[node.method as usize].name == "branch"
            })
            .collect();
        assert!(after.len() == 1 && after[0].depth < 5, "{after:?}");
    }
    Ok(())
}

#[test]
fn the_stack_overflows() -> Result<()> {
    for jdk in Jdk::ends()? {
        let (outcome, profile) = live(&jdk, "profile=contexts,algorithm=exact", &["overflow"])?;
        assert_eq!(outcome.stdout, plain(&jdk, &["overflow"])?.stdout);
        let counts = counts(&profile)?;
        // Wherever the overflows struck: afterwards the thread is where it was.
        let after: Vec<usize> = counts
            .keys()
            .filter(|path| path.last().is_some_and(|(name, _)| name.contains(".branch(") || name.contains(".leaf(")))
            .map(Vec::len)
            .collect();
        assert!(after.len() >= 2 && after.iter().all(|&depth| depth <= 4), "{after:?}");
    }
    Ok(())
}
