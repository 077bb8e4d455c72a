//! Bursts of the JVM's own events (`burst=jvm:…`) in real JVMs: nothing is in the code, and contexts are
//! those of the stack.

use std::process::Stdio;
use std::time::{Duration, Instant};

use trodden_profile::Profile;
use trodden_tests::Result;
use trodden_tests::burst::{self, ENDLESS};
use trodden_tests::contexts::{
    INCLUDE, counts, difference, expected, java, java_class, live, none, plain, trodden, true_contexts,
};
use trodden_tests::events::{fact, whole};
use trodden_tests::jdk::Jdk;
use trodden_tests::obedient::Obedient;
use trodden_tests::profile::{SUSPICIOUS, agent_flag};
use trodden_tests::{process, stress};

/// Longest time to wait for what the agent's clock does in its own time.
const LIMIT: Duration = Duration::from_secs(600);

/// Facts that a stream which reports everything once does not have.
const NONE: [&str; 6] = [
    "contexts_orphans",
    "contexts_lost_exits",
    "contexts_bad_words",
    "contexts_unknown",
    "bursts_too_deep",
    "lost",
];

fn sound(how: &str, profile: &Profile) -> Result<()> {
    whole(profile).map_err(|e| format!("{how}: {e}"))?;
    none(how, profile, &NONE)
}

/// The program's output and profile, if all of it runs within one burst.
fn in_one_burst(jdk: &Jdk, options: &str, arguments: &[&str]) -> Result<(String, Profile)> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("burst.trodden");
    let mut flags = SUSPICIOUS.map(str::to_owned).to_vec();
    let options = format!("events,profile=contexts,burst={ENDLESS},{options}");
    flags.push(agent_flag(&options, INCLUDE, &file)?);
    let outcome = burst::in_one_burst(&mut java_class(jdk, &flags, "OtherStart", arguments)?)?.success()?;
    assert_eq!(outcome.stderr, "", "{arguments:?}");
    Ok((outcome.stdout, Profile::load(&file)?))
}

/// What runs within one burst has the contexts of the oracle, to the last call.
#[test]
fn a_burst_reports_everything() -> Result<()> {
    for jdk in Jdk::ends()? {
        let mut programs = vec![["all", "2"], ["native", "20"]];
        if jdk.feature >= 21 {
            programs.push(["virtual", "300"]);
        }
        for arguments in programs {
            let (outcome, known) = expected(&jdk, &arguments)?;
            let mut ways = vec!["algorithm=exact"];
            if arguments[0] == "all" {
                ways.push("algorithm=lss,phi=1e-5");
            }
            for options in ways {
                let how = format!("JDK {} {arguments:?} {options}", jdk.feature);
                let (said, profile) = in_one_burst(&jdk, options, &arguments)?;
                assert_eq!(said, outcome.stdout, "{how}");
                sound(&how, &profile)?;
                assert_eq!(fact(&profile, "bursts")?, 1, "{how}");
                if let Some(difference) = difference(&known, &counts(&profile)?) {
                    return Err(format!("{how}: {difference}").into());
                }
                assert_eq!(profile.skipped, [], "{how}");
            }
        }
    }
    Ok(())
}

/// Depth, and exceptions through all of it, in the interpreter; and a stack that is full when events are
/// reported.
#[test]
fn a_burst_in_deep_recursion() -> Result<()> {
    const DEPTH: u32 = 100_000;
    for jdk in Jdk::ends()? {
        let (said, profile) = in_one_burst(&jdk, "algorithm=exact", &["deep", &DEPTH.to_string()])?;
        assert_eq!(said.lines().count(), 2, "{said}");
        sound("deep", &profile)?;
        let contexts = profile.contexts.as_ref().ok_or("no contexts")?;
        let nodes = contexts.tree.nodes();
        assert_eq!(nodes.iter().map(|node| node.depth).max(), Some(DEPTH + 5));
        assert!(
            nodes
                .iter()
                .filter(|node| node.depth > 10)
                .all(|node| node.calls == Some((1, 1)))
        );
        let (said, profile) = in_one_burst(&jdk, "algorithm=exact", &["overflow"])?;
        assert_eq!(said, plain(&jdk, &["overflow"])?.stdout);
        let contexts = profile.contexts.as_ref().ok_or("no contexts")?;
        // Wherever the overflows struck: afterwards the thread is where it was.
        let after = contexts.tree.nodes().iter().filter(|node| {
            let class = &profile.classes[node.class as usize].map;
            let name = &class.methods[node.method as usize].name;
            node.estimate() > 0 && ["branch", "leaf"].contains(&name.as_str())
        });
        let after: Vec<u32> = after.map(|node| node.depth).collect();
        assert!(
            after.len() >= 2 && after.iter().all(|&depth| depth <= 4),
            "{after:?}"
        );
    }
    Ok(())
}

/// Short bursts, wherever they fall: what they count is a context that there is.
#[test]
fn bursts_count_calls_in_their_true_contexts() -> Result<()> {
    for jdk in Jdk::ends()? {
        let mut programs = vec![("all", "4", "2000"), ("native", "2", "20000")];
        if jdk.feature >= 21 {
            programs.push(("virtual", "300", "20000"));
        }
        for (program, few, many) in programs {
            let (_, known) = expected(&jdk, &[program, few])?;
            let bare = plain(&jdk, &[program, many])?;
            for burst in ["jvm:5ms:1ms", "jvm:20ms:100us"] {
                let how = format!("JDK {} {program} {burst}", jdk.feature);
                let options = format!("profile=contexts,algorithm=exact,burst={burst}");
                let (found, profile) = live(&jdk, &options, &[program, many])?;
                assert!(found.stdout == bare.stdout, "{how}: {}", found.stdout);
                assert_eq!(found.stderr, "", "{how}");
                sound(&how, &profile)?;
                assert!(fact(&profile, "bursts")? > 5, "{how}");
                assert!(fact(&profile, "burst_switch_ns")? > 0, "{how}");
                true_contexts(&how, &known, &counts(&profile)?);
                let contexts = profile.contexts.as_ref().ok_or("no contexts")?;
                let groups = contexts.groups.as_ref().ok_or("no groups of bursts")?;
                assert_eq!(groups.all.total(), contexts.calls, "{how}");
                for (at, by_group) in &groups.contexts {
                    let calls = contexts.tree.nodes()[*at as usize].estimate();
                    assert_eq!(by_group.total(), calls, "{how}");
                }
            }
        }
    }
    Ok(())
}

/// HotSpot keeps a reference to what each method returns as long as no native method is called.
#[test]
fn what_methods_return_is_not_kept() -> Result<()> {
    for jdk in Jdk::ends()? {
        let folder = tempfile::tempdir()?;
        let options = "events,profile=contexts,burst=jvm:3ms:1ms";
        let agent = agent_flag(options, "Returned*", &folder.path().join("out.trodden"))?;
        let mut flags = SUSPICIOUS.map(str::to_owned).to_vec();
        flags.push(agent);
        let outcome = process::run(&mut stress::java("Returned", &jdk, &flags, &[])?, LIMIT)?.success()?;
        let said = (outcome.stdout.as_str(), outcome.stderr.as_str());
        assert_eq!(said, ("81920000000\n", ""), "JDK {}", jdk.feature);
    }
    Ok(())
}

/// Without options of bursts or algorithms there are these bursts; with `burst=off` every call is counted.
#[test]
fn the_default_from_the_start() -> Result<()> {
    for jdk in Jdk::ends()? {
        let (_, known) = expected(&jdk, &["all", "4"])?;
        let bare = plain(&jdk, &["all", "2000"])?;
        let (found, profile) = live(&jdk, "profile=contexts,phi=1e-5", &["all", "2000"])?;
        assert!(
            found.stdout == bare.stdout,
            "JDK {}: {}",
            jdk.feature,
            found.stdout
        );
        assert_eq!(found.stderr, "");
        sound("by default", &profile)?;
        // Only the JVM's own events take time to be switched.
        assert!(fact(&profile, "burst_switch_ns")? > 0);
        let bursts = profile.contexts.as_ref().and_then(|c| c.bursts.as_deref());
        assert!(
            bursts.is_some_and(|bursts| bursts.contains("100ms")),
            "{bursts:?}"
        );
        true_contexts("by default", &known, &counts(&profile)?);

        let (_, every) = live(&jdk, "profile=contexts,burst=off,phi=1e-5", &["all", "4"])?;
        assert_eq!(every.contexts.as_ref().and_then(|c| c.bursts.clone()), None);
        assert_eq!(difference(&known, &counts(&every)?), None);
    }
    Ok(())
}

/// The JVM grants its events to agents that are there at the start, and ask for them.
#[test]
fn not_to_be_attached() -> Result<()> {
    for jdk in Jdk::ends()? {
        for early in [false, true] {
            let folder = tempfile::tempdir()?;
            let file = folder.path().join("a.trodden");
            let mut flags = Vec::new();
            if early {
                // There from the start, with other options.
                flags.push(agent_flag("counters", INCLUDE, &file)?);
            }
            // The agent complains of what it refuses there, too.
            let mut command = java(&jdk, &flags, &["obey"])?;
            let program = Obedient::run(command.stderr(Stdio::null()))?;
            let pid = program.pid();
            let start = ["attach", &pid, "start", "--profile", "contexts"];
            let options = ["--burst", "jvm:50ms:2ms"];
            if early {
                trodden(&["attach", &pid, "stop"])?;
            }
            let refused = trodden(&[&start[..], &options].concat());
            let message = refused.expect_err("it is refused").to_string();
            assert!(
                message.contains("burst=jvm needs the agent at JVM start-up"),
                "{message}"
            );
            // The JVM lives on, and takes what can be attached: bursts of probes. So it does if nothing is
            // said about bursts.
            let begun = trodden(&start)?;
            assert!(begun.contains("burst: static:2ms:200us"), "{begun}");
            let written = file.display().to_string();
            let stop = ["attach", &pid, "stop", "--file", &written];
            trodden(&stop)?;
            trodden(&[&start[..], &["--burst", "static:50ms:2ms"]].concat())?;
            trodden(&stop)?;
            program.end()?;
        }
    }
    Ok(())
}

/// Calls of the method that each `w` calls once.
fn calls_of_caught(profile: &Profile) -> Result<u64> {
    let counts = counts(profile)?;
    let of = counts.iter().filter(|(path, _)| {
        let last = path.last();
        last.is_some_and(|(name, _)| name.starts_with("Calls.caught("))
    });
    Ok(of.map(|(_, calls)| calls).sum())
}

/// Stopped in a burst, other probes, and the JVM's events again: threads keep what they need for each.
#[test]
fn one_profile_after_the_other() -> Result<()> {
    for jdk in Jdk::ends()? {
        let folder = tempfile::tempdir()?;
        let name = |name: &str| folder.path().join(name).display().to_string();
        let options = format!("events,profile=contexts,algorithm=exact,burst={ENDLESS}");
        let mut flags = SUSPICIOUS.map(str::to_owned).to_vec();
        flags.push(agent_flag(&options, INCLUDE, name("unused.trodden").as_ref())?);
        let mut program = Obedient::start_as(&jdk, &flags, &["obey"])?;
        let pid = program.pid();
        let start = [
            "attach",
            &pid,
            "start",
            "--profile",
            "contexts",
            "--algorithm",
            "exact",
        ];
        let jvm = ["--burst", ENDLESS];
        let probes = ["--burst", "static:4ms:3ms"];
        let include = ["--include", INCLUDE];
        for (number, burst) in [None, Some(&probes[..]), Some(&jvm), Some(&probes), Some(&jvm)]
            .into_iter()
            .enumerate()
        {
            if let Some(burst) = burst {
                trodden(&[&start[..], burst, &include].concat())?;
            }
            let begun = Instant::now();
            while !trodden(&["attach", &pid, "status"])?
                .lines()
                .any(|line| line.starts_with("bursts: ") && line != "bursts: 0")
            {
                assert!(begun.elapsed() < LIMIT, "no burst begins");
                std::thread::sleep(Duration::from_millis(20));
            }
            let is_jvm = burst != Some(&probes[..]);
            let times = if is_jvm { 10 } else { 300 };
            let file = name(&format!("{number}.trodden"));
            loop {
                program.obey(&"w".repeat(times))?;
                if is_jvm {
                    break;
                }
                // Until some of it has fallen into a burst.
                trodden(&["attach", &pid, "dump", "--file", &file])?;
                if calls_of_caught(&Profile::load(&file)?)? > 0 {
                    break;
                }
                assert!(begun.elapsed() < LIMIT, "nothing falls into a burst");
            }
            let before = Instant::now();
            trodden(&["attach", &pid, "stop", "--file", &file])?;
            // The burst in progress is not waited for: that one takes 15 minutes.
            assert!(before.elapsed() < LIMIT);
            let profile = Profile::load(&file)?;
            let how = format!("JDK {} profile {number}", jdk.feature);
            for name in NONE.iter().filter(|name| **name != "lost") {
                assert_eq!(fact(&profile, name)?, 0, "{how}: {name}");
            }
            let worked = calls_of_caught(&profile)?;
            if is_jvm {
                // `w` is one call of it.
                assert_eq!(worked, times as u64, "{how}")
            } else {
                assert!(worked > 0, "{how}")
            }
        }
        program.end()?;
    }
    Ok(())
}
