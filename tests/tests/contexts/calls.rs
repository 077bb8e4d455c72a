//! Calling contexts in real JVMs: however methods call and end, the cursor is right.

use std::path::Path;

use trodden_profile::Profile;
use trodden_profile::options::ContextWeight;
use trodden_tests::contexts::{
    BURST_IS_SOUND, by_name, check, counts, expected, live, none, plain, trodden, true_contexts, under_agent,
};
use trodden_tests::contexts_apps::Program;
use trodden_tests::events::{fact, whole};
use trodden_tests::jdk::Jdk;
use trodden_tests::{Result, build};

#[test]
fn all_contexts_are_those_of_the_stack() -> Result<()> {
    for jdk in Jdk::ends()? {
        let arguments = ["all", "2"];
        let (outcome, expected) = expected(&jdk, &arguments)?;
        assert!(expected.len() > 200, "{} contexts", expected.len());
        assert_eq!(plain(&jdk, &arguments)?.stdout, outcome.stdout);
        for options in [
            "profile=contexts,algorithm=exact",
            "profile=contexts+paths+kpaths,algorithm=exact",
            "profile=contexts,algorithm=lss,phi=1e-5",
        ] {
            let (found, profile) = live(&jdk, options, &arguments)?;
            assert_eq!(found.stdout, outcome.stdout, "{options}");
            assert_eq!(found.stderr, "", "{options}");
            check(options, &expected, &profile)?;
        }
        let folder = tempfile::tempdir()?;
        let trace = folder.path().join("all.trace");
        let found = under_agent(&jdk, "profile=contexts", &arguments, &trace)?;
        assert_eq!((found.stdout, &*found.stderr), (outcome.stdout, ""));
        for algorithm in ["exact", "lss", "bss", "lc"] {
            let file = folder.path().join("replayed.trodden");
            let [from, to] = [&trace, &file].map(|path| path.display().to_string());
            let options = ["--profile", "contexts", "--algorithm", algorithm, "--phi", "1e-5"];
            trodden(&[&["replay", &from, "-o", &to][..], &options].concat())?;
            check(algorithm, &expected, &Profile::load(&file)?)?;
        }
    }
    Ok(())
}

/// A part of what the command `contexts` compares; it takes applications as well.
#[test]
#[cfg_attr(feature = "change", ignore = "all: the tests of single ways to call stay")]
fn kernels_have_the_contexts_of_the_oracle() -> Result<()> {
    let sources = Path::new(build::ROOT).join("../benchmarks-java/kernels/src");
    for jdk in Jdk::ends()? {
        for program in Program::kernels(&jdk, &sources)? {
            if ["recursion", "dispatch", "lexergen"].contains(&program.name.as_str()) {
                let comparison = program.compare(&jdk)?;
                assert!(comparison.calls > 1_000, "{comparison:#?}");
                assert_eq!(comparison.differing, 0, "{}: {comparison:#?}", program.name);
            }
        }
    }
    Ok(())
}

/// Native code that calls back, and forgets exceptions, is code without probes like any other.
#[test]
fn native_frames_between_java_frames() -> Result<()> {
    for jdk in Jdk::ends()? {
        let arguments = ["native", "20"];
        let (outcome, expected) = expected(&jdk, &arguments)?;
        assert_eq!(outcome.stdout.lines().count(), 20, "{outcome:#?}");
        assert!(expected.len() > 15, "{} contexts", expected.len());
        let (found, profile) = live(&jdk, "profile=contexts,algorithm=exact", &arguments)?;
        assert_eq!((found.stdout, found.stderr), (outcome.stdout, outcome.stderr));
        check("native", &expected, &profile)?;
    }
    Ok(())
}

/// Whatever a burst falls upon: what is counted in it is a context that there is. Where bursts begin is
/// chance, so the program does the same again and again.
#[test]
fn bursts_count_calls_in_their_true_contexts() -> Result<()> {
    for jdk in Jdk::ends()? {
        for (program, few, many) in [("all", "4", "1000"), ("native", "2", "10000")] {
            let (_, known) = expected(&jdk, &[program, few])?;
            let (all, _) = live(&jdk, "profile=contexts,algorithm=exact", &[program, many])?;
            for burst in ["static:3ms:1ms", "static:2ms:200us"] {
                let how = format!("JDK {} {program} {burst}", jdk.feature);
                let options = format!("profile=contexts,algorithm=exact,burst={burst}");
                let (found, profile) = live(&jdk, &options, &[program, many])?;
                assert_eq!(found.stdout, all.stdout, "{how}");
                assert_eq!(found.stderr, all.stderr, "{how}");
                whole(&profile).map_err(|e| format!("{how}: {e}"))?;
                none(&how, &profile, &BURST_IS_SOUND)?;
                true_contexts(&how, &known, &counts(&profile)?);
            }
        }
    }
    Ok(())
}

#[test]
fn bursts_and_virtual_threads() -> Result<()> {
    match Jdk::all()?.last() {
        Some(jdk) if jdk.feature >= 21 => {
            let (_, known) = expected(jdk, &["virtual", "30"])?;
            let options = "profile=contexts,algorithm=exact,burst=static:3ms:1500us";
            let (_, profile) = live(jdk, options, &["virtual", "20000"])?;
            whole(&profile)?;
            true_contexts(options, &known, &counts(&profile)?);
            Ok(())
        }
        _ => {
            eprintln!("no JDK with virtual threads here");
            Ok(())
        }
    }
}

/// Contexts distinguished by the paths that led to the calls: without them, they are the oracle's.
#[test]
fn calls_along_each_path() -> Result<()> {
    const TIMES: u64 = 3000;
    for jdk in Jdk::ends()? {
        let options = "profile=contexts,algorithm=exact,weight=call-paths";
        for arguments in [["all", "2"], ["native", "5"], ["along", "300"]] {
            let (outcome, expected) = expected(&jdk, &arguments)?;
            let (found, profile) = live(&jdk, options, &arguments)?;
            assert_eq!((&found.stdout, &found.stderr), (&outcome.stdout, &outcome.stderr));
            check(options, &expected, &profile)?;
        }
        let folder = tempfile::tempdir()?;
        let file = folder.path().join("along.trodden");
        under_agent(&jdk, options, &["along", &TIMES.to_string()], &file)?;
        let json = trodden(&["report", &file.display().to_string(), "--format", "json"])?;
        let json: serde_json::Value = serde_json::from_str(&json)?;
        let tree = json["contexts"]["tree"].as_array().ok_or("no tree")?.clone();
        // Of the calls of `leaf` by these: which branches were taken on the way to them, and how often.
        let paths = |callers: [&str; 2]| -> Vec<(Vec<String>, u64)> {
            let mut found: Vec<(Vec<String>, u64)> = Vec::new();
            for node in &tree {
                let parent = node["parent"].as_u64().map(|at| &tree[at as usize]["name"]);
                let caller = parent.and_then(|name| name.as_str()).unwrap_or_default();
                let steps = node["along"]["steps"].as_array();
                let (Some(steps), Some(calls)) = (steps, node["calls"].as_u64()) else {
                    continue;
                };
                if callers[0] == caller
                    && node["name"]
                        .as_str()
                        .is_some_and(|name| name.starts_with(callers[1]))
                {
                    let steps = steps
                        .iter()
                        .map(|step| step["branch"].as_str().unwrap_or_default().to_owned());
                    found.push((steps.collect(), calls));
                }
            }
            found.sort();
            found
        };
        let times = |test: fn(u64) -> bool| (0..TIMES).filter(|&i| test(i)).count() as u64;
        // javac jumps over what is not to be done.
        let words = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<String>>();
        assert_eq!(
            paths(["along", "leaf"]),
            [
                (
                    words(&["not-taken", "not-taken"]),
                    times(|i| i % 2 == 0 && i % 3 == 0)
                ),
                (
                    words(&["not-taken", "taken"]),
                    times(|i| i % 2 == 0 && i % 3 != 0)
                ),
                (
                    words(&["taken", "not-taken"]),
                    times(|i| i % 2 != 0 && i % 3 == 0)
                ),
                (words(&["taken", "taken"]), times(|i| i % 2 != 0 && i % 3 != 0)),
            ]
        );
        assert_eq!(
            paths(["alongTwice", "lambda"]),
            [
                (words(&["not-taken"]), 2 * times(|i| i % 5 == 0)),
                (words(&["taken"]), 2 * times(|i| i % 5 != 0)),
            ]
        );
    }
    Ok(())
}

#[test]
fn bytes_are_charged_to_who_allocates_them() -> Result<()> {
    // An array of 1,000 bytes, with its header.
    const SIZE: u64 = 1016;
    for jdk in Jdk::ends()? {
        let all = "profile=contexts,algorithm=exact,weight=alloc:0";
        let (_, profile) = live(&jdk, all, &["makes", "10000"])?;
        whole(&profile)?;
        let contexts = by_name(&profile)?;
        // The thread was there before the agent: until the JVM would have reported it next (once in 512 KiB
        // by default), there is no event.
        let first = contexts.get("main makes").copied().unwrap_or(0);
        assert!(
            first.is_multiple_of(SIZE) && first < 10_001 * SIZE,
            "{contexts:?}"
        );
        assert_eq!(
            contexts.get("main makesMore makes"),
            Some(&(20_000 * SIZE)),
            "{contexts:?}"
        );
        assert_eq!(contexts.get("main makesMore"), None, "{contexts:?}");
        let weighed = profile.contexts.as_ref().map(|contexts| contexts.weight);
        assert_eq!(weighed, Some(ContextWeight::Alloc));
        // An estimate: some 4,650 samples of 300 MB in all, so a standard deviation of 1.5 per cent.
        let (_, profile) = live(&jdk, "profile=contexts,weight=alloc", &["makes", "100000"])?;
        whole(&profile)?;
        let samples = fact(&profile, "alloc_samples")?;
        assert!((3_500..6_000).contains(&samples), "{samples} samples");
        let contexts = by_name(&profile)?;
        for (path, bytes) in [
            ("main makes", 100_000 * SIZE),
            ("main makesMore makes", 200_000 * SIZE),
        ] {
            let found = contexts.get(path).copied().unwrap_or(0);
            assert!(found.abs_diff(bytes) < bytes / 6, "{path}: {found}, not {bytes}");
        }
    }
    Ok(())
}

#[test]
fn time_is_charged_to_who_takes_it() -> Result<()> {
    for jdk in Jdk::ends()? {
        for algorithm in ["exact", "lss"] {
            let options = format!("profile=contexts,algorithm={algorithm},weight=time");
            let (_, profile) = live(&jdk, &options, &["naps", "60"])?;
            whole(&profile)?;
            let contexts = by_name(&profile)?;
            // Sleeping may take longer, but not shorter.
            let least = |path: &str, millis: u64| {
                let found = contexts.get(path).copied().unwrap_or(0);
                assert!(found >= millis * 1_000_000, "{algorithm}: {path}: {contexts:?}");
            };
            least("main naps", 60);
            least("main napsTwice naps", 120);
            let all = profile.contexts.as_ref().ok_or("no contexts")?;
            let seconds = all.calls as f64 / 1e9;
            assert!(
                seconds <= profile.run.seconds,
                "{seconds} of {}",
                profile.run.seconds
            );
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
            trodden(&[
                "replay",
                &trace,
                "--profile",
                kinds,
                "--algorithm",
                "exact",
                "-o",
                &replayed,
            ])?;
            check(kinds, &expected, &Profile::load(&replayed)?)?;
            compares(&trace, &replayed, &path("hot.trodden"))?;
        }
    }
    Ok(())
}

/// The guarantee, as `trodden compare` sees it: nothing hot is missed, and what is there is known to the
/// exact tree.
fn compares(trace: &str, exact: &str, hot: &str) -> Result<()> {
    for algorithm in ["lss", "bss", "lc", "sticky"] {
        let options = ["--algorithm", algorithm, "--phi", "0.02", "--epsilon", "0.01"];
        trodden(
            &[
                &["replay", trace, "--profile", "contexts", "-o", hot],
                &options[..],
            ]
            .concat(),
        )?;
        let json: serde_json::Value =
            serde_json::from_str(&trodden(&["compare", exact, hot, "--format", "json"])?)?;
        let contexts = &json["contexts"];
        let number = |key: &str| contexts[key].as_u64().ok_or_else(|| format!("{key}: {contexts}"));
        assert_eq!(
            (number("false_negatives")?, number("unknown")?),
            (0, 0),
            "{algorithm}: {contexts}"
        );
        assert!(number("truly_hot")? > 3, "{algorithm}: {contexts}");
        assert_eq!(
            number("hot")?,
            number("truly_hot")? + number("false_positives")?,
            "{algorithm}"
        );
        assert!(
            number("contexts")? < number("exact_contexts")?,
            "{algorithm}: {contexts}"
        );
        assert_eq!(contexts["hot_edge_coverage"].as_array().map(Vec::len), Some(5));
        let stacks = trodden(&["report", hot, "--format", "collapsed"])?;
        assert!(stacks.contains("\nCalls.main;Calls."), "{stacks}");
    }
    let refused = trodden(&["report", hot, "--phi", "0.001"])
        .expect_err("phi can only be raised")
        .to_string();
    assert!(refused.contains("counted with phi = 0.02"), "{refused}");
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
#[cfg_attr(feature = "change", ignore = "all: a deep stack")]
fn a_million_activations_deep() -> Result<()> {
    const DEPTH: u32 = 1_000_000;
    for jdk in Jdk::ends()? {
        let (outcome, profile) = live(
            &jdk,
            "profile=contexts,algorithm=exact",
            &["deep", &DEPTH.to_string()],
        )?;
        assert_eq!(outcome.stdout.lines().count(), 2, "{outcome:#?}");
        whole(&profile)?;
        let contexts = profile.contexts.as_ref().ok_or("no contexts")?;
        // Two threads, which share the two outermost contexts. The first has DEPTH + 1 activations above
        // them, the second one, then DEPTH + 1, and the constructor of what they throw.
        let nodes = contexts.tree.nodes();
        let deepest = nodes.iter().map(|node| node.depth).max();
        assert_eq!(deepest, Some(DEPTH + 5));
        let mut deep = nodes.iter().filter(|node| node.depth > 10);
        assert_eq!(deep.clone().count(), 2 * DEPTH as usize - 12);
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
        let contexts = profile.contexts.as_ref().ok_or("no contexts")?;
        // Wherever the overflows struck: afterwards the thread is where it was. (Paths of all nodes would
        // take gigabytes.)
        let after: Vec<u32> = contexts
            .tree
            .nodes()
            .iter()
            .filter(|node| {
                let class = &profile.classes[node.class as usize].map;
                let name = &class.methods[node.method as usize].name;
                node.estimate() > 0 && ["branch", "leaf"].contains(&name.as_str())
            })
            .map(|node| node.depth)
            .collect();
        assert!(
            after.len() >= 2 && after.iter().all(|&depth| depth <= 4),
            "{after:?}"
        );
    }
    Ok(())
}
