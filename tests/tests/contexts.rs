//! Calling contexts in real JVMs: however methods call and end, the cursor is right.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use trodden_profile::Profile;
use trodden_profile::options::ContextWeight;
use trodden_tests::contexts::{
    Counts, INCLUDE, Sites, counts, difference, each_of_oracle, expected, java, live, none, oracle_flag,
    plain, trodden, true_contexts, under_agent,
};
use trodden_tests::contexts_apps::Program;
use trodden_tests::events::{fact, whole};
use trodden_tests::jdk::Jdk;
use trodden_tests::profile::SUSPICIOUS;
use trodden_tests::{Result, build};

fn check(how: &str, expected: &Counts, profile: &Profile) -> Result<()> {
    whole(profile).map_err(|e| format!("{how}: {e}"))?;
    none(
        how,
        profile,
        &[
            "contexts_orphans",
            "contexts_lost_exits",
            "contexts_gaps",
            "contexts_bad_words",
            "contexts_unknown",
        ],
    )?;
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

/// A part of what the command `contexts` compares; it takes applications as well.
#[test]
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

/// Whatever a burst falls upon: what is counted in it is a context that there is. Where bursts begin is chance, so the program
/// does the same again and again.
#[test]
fn bursts_count_calls_in_their_true_contexts() -> Result<()> {
    for jdk in Jdk::ends()? {
        for (program, few, many) in [("all", "4", "1000"), ("native", "2", "10000")] {
            let (_, known) = expected(&jdk, &[program, few])?;
            let (all, _) = live(&jdk, "profile=contexts,algorithm=exact", &[program, many])?;
            for burst in ["static:3ms:1ms", "adaptive:3ms:1ms:10", "adaptive:3ms:1ms:none"] {
                let how = format!("JDK {} {program} {burst}", jdk.feature);
                let options = format!("profile=contexts,algorithm=exact,burst={burst}");
                let (found, profile) = live(&jdk, &options, &[program, many])?;
                assert_eq!(found.stdout, all.stdout, "{how}");
                assert_eq!(found.stderr, all.stderr, "{how}");
                whole(&profile).map_err(|e| format!("{how}: {e}"))?;
                none(
                    &how,
                    &profile,
                    &[
                        "contexts_orphans",
                        "contexts_lost_exits",
                        "contexts_bad_words",
                        "bursts_too_deep",
                    ],
                )?;
                true_contexts(&how, &known, &counts(&profile)?);
                let skipped = fact(&profile, "bursts_skipped")?;
                assert_eq!(skipped > 0, burst.starts_with("adaptive"), "{how}: {skipped}");
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

/// Contexts told apart by the paths that led to the calls: without them, they are the oracle's.
#[test]
fn calls_along_each_path() -> Result<()> {
    const TIMES: u64 = 3000;
    for jdk in Jdk::ends()? {
        let options = "profile=contexts,algorithm=exact,call-paths=on";
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
        let all = "profile=contexts,algorithm=exact,weight=alloc,alloc-interval=0";
        let (_, profile) = live(&jdk, all, &["makes", "10000"])?;
        whole(&profile)?;
        let contexts = by_name(&profile)?;
        // The thread was there before the agent: until the JVM would have told of it next (once in 512 KiB by default), it tells
        // nothing.
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

/// The guarantee, as `trodden compare` sees it: nothing hot is missed, and what is there is known to the exact tree.
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
        // Two threads, which share the two outermost contexts. The first has DEPTH + 1 activations above them, the second
        // one, then DEPTH + 1, and the constructor of what they throw.
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
        // Wherever the overflows struck: afterwards the thread is where it was. (Paths of all nodes would take gigabytes.)
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

/// The program, obeying letters.
struct Obedient {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Obedient {
    fn start(jdk: &Jdk) -> Result<Self> {
        Self::start_as(jdk, &SUSPICIOUS.map(str::to_owned), &["obey"])
    }

    fn start_as(jdk: &Jdk, flags: &[String], arguments: &[&str]) -> Result<Self> {
        let mut child = java(jdk, flags, arguments)?
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let input = child.stdin.take().ok_or("no stdin")?;
        let output = BufReader::new(child.stdout.take().ok_or("no stdout")?);
        let mut program = Obedient { child, input, output };
        program.hear("ready")?;
        Ok(program)
    }

    fn hear(&mut self, word: &str) -> Result<()> {
        let mut line = String::new();
        // The JVM itself may warn of agents that come late.
        while line.trim() != word {
            line.clear();
            if self.output.read_line(&mut line)? == 0 {
                return Err(format!("it ended before it said '{word}'").into());
            }
        }
        Ok(())
    }

    /// What it does when there are no more letters.
    fn end(mut self) -> Result<()> {
        drop(self.input);
        match self.child.wait()? {
            status if status.success() => Ok(()),
            status => Err(format!("it ended with {status}").into()),
        }
    }

    fn obey(&mut self, letters: &str) -> Result<()> {
        for letter in letters.bytes() {
            self.input.write_all(&[letter, b'\n'])?;
            self.input.flush()?;
            self.hear("ready")?;
        }
        Ok(())
    }
}

/// Contexts by the names of their methods.
fn by_name(profile: &Profile) -> Result<BTreeMap<String, u64>> {
    let mut all = BTreeMap::new();
    for (path, calls) in counts(profile)? {
        let names = path
            .iter()
            .map(|(name, _)| name.split(['.', '(']).nth(1).unwrap_or_default());
        *all.entry(names.collect::<Vec<_>>().join(" ")).or_default() += calls;
    }
    Ok(all)
}

/// Activations from before the attach have no probes: walks leave them out, as if they were code without.
#[test]
fn bursts_in_threads_that_run_already() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("late.trodden").display().to_string();
    for jdk in Jdk::ends()? {
        let mut program = Obedient::start(&jdk)?;
        let pid = program.child.id().to_string();
        program.obey("dd")?;
        let start = [
            "--profile",
            "contexts",
            "--algorithm",
            "exact",
            "--burst",
            "static:4ms:3ms",
        ];
        let rest = ["--include", INCLUDE, "--file", &file];
        trodden(&[&["attach", &pid, "start"], &start[..], &rest[..]].concat())?;
        program.obey(&"w".repeat(300))?;
        program.obey("d")?;
        program.obey(&"w".repeat(300))?;
        program.obey("uu")?;
        program.obey(&"w".repeat(300))?;
        trodden(&["attach", &pid, "stop"])?;
        let profile = Profile::load(&file)?;
        none(
            &format!("JDK {}", jdk.feature),
            &profile,
            &["contexts_orphans", "contexts_lost_exits", "contexts_bad_words"],
        )?;
        let found = by_name(&profile)?;
        let jobs = [
            "branch",
            "branch leaf",
            "caught",
            "caught fail",
            "caught fail fail",
            "caught fail fail fail",
            "caught fail fail fail <init>",
            "caught leaf",
        ];
        let below = |prefix: &str| jobs.map(|job| format!("{prefix}{job}"));
        let known = [&below("")[..], &below("obey ")[..], &["obey".to_owned()]].concat();
        assert!(found.keys().all(|path| known.contains(path)), "{found:#?}");
        assert!(found.len() >= 2 * jobs.len(), "{found:#?}");
        program.obey("u")?;
        program.input.write_all(b"u\n")?;
        drop(program.input);
        assert!(program.child.wait()?.success());
    }
    Ok(())
}

/// What the oracle sees of the program when it obeys these letters.
fn expected_of(jdk: &Jdk, arguments: &[&str], letters: &str) -> Result<Counts> {
    let folder = tempfile::tempdir()?;
    let log = folder.path().join("log");
    let flag = oracle_flag(jdk, &log, "LCalls", Sites::Bytecode)?;
    let mut program = Obedient::start_as(jdk, &[flag], arguments)?;
    program.obey(letters)?;
    program.end()?;
    let mut counts = Counts::new();
    each_of_oracle(&log, |path, calls| *counts.entry(path).or_default() += calls)?;
    Ok(counts)
}

/// The calls of the one that are not in the other.
fn without(all: Counts, some: &Counts) -> Counts {
    let left = |(path, calls): (Vec<_>, u64)| {
        let other = some.get(&path).copied().unwrap_or(0);
        let left = calls
            .checked_sub(other)
            .expect("calls more often what it does for longer");
        (path, left)
    };
    all.into_iter()
        .map(left)
        .filter(|&(_, calls)| calls > 0)
        .collect()
}

/// The program's profile, when it begins while its threads wait in the middle of something.
fn attached_late(jdk: &Jdk, arguments: &[&str], options: &[&str]) -> Result<Profile> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("late.trodden").display().to_string();
    let mut program = Obedient::start_as(jdk, &SUSPICIOUS.map(str::to_owned), arguments)?;
    let pid = program.child.id().to_string();
    let rest = ["--include", INCLUDE, "--file", &file];
    trodden(&[&["attach", &pid, "start"], options, &rest].concat())?;
    program.input.write_all(b"g")?;
    program.hear("over")?;
    program.end()?;
    Ok(Profile::load(&file)?)
}

/// Profiling begins while threads are in the middle of whatever there is to be in the middle of. What these activations call then, and after
/// some of them have ended, is called by those that are still there.
#[test]
fn contexts_begin_where_threads_are() -> Result<()> {
    for jdk in Jdk::ends()? {
        let virtual_ones = jdk.feature >= 21;
        for arguments in [&["late", "1"][..], &["late", "1", "virtual"]] {
            if arguments.len() > 2 && !virtual_ones {
                continue;
            }
            let before = [&["late", "0"][..], &arguments[2..]].concat();
            let before = expected_of(&jdk, &before, "")?;
            let expected = without(expected_of(&jdk, arguments, "")?, &before);
            // Of the 300 that wait in one another each makes calls, at least.
            assert!(expected.len() > 1500, "{} contexts", expected.len());
            for options in [
                &["--profile", "contexts", "--algorithm", "exact"][..],
                &["--profile", "contexts", "--algorithm", "lss", "--phi", "1e-5"],
                &[
                    "--profile",
                    "contexts",
                    "--algorithm",
                    "exact",
                    "--call-paths",
                    "on",
                ],
                &["--profile", "contexts+paths+kpaths", "--algorithm", "exact"],
            ] {
                let how = format!("JDK {} {arguments:?} {options:?}", jdk.feature);
                let profile = attached_late(&jdk, arguments, options)?;
                check(&how, &expected, &profile)?;
                let walks = fact(&profile, "stacks_walked")?;
                assert!(walks > 20_000, "{how}: {walks}");
                assert_eq!(fact(&profile, "stacks_given_up")?, 0, "{how}");
            }
        }
    }
    Ok(())
}

#[test]
fn weights_of_activations_from_before() -> Result<()> {
    const SIZE: u64 = 1016;
    for jdk in Jdk::ends()? {
        let options = ["--profile", "contexts", "--algorithm", "exact", "--weight"];
        let options_of = |weight: &[&'static str]| -> Vec<&str> { [&options[..], weight].concat() };
        let sum = |profile: &Profile, last: &str| -> Result<u64> {
            let contexts = by_name(profile)?;
            let of = contexts
                .iter()
                .filter(|(path, _)| path.rsplit(' ').next() == Some(last));
            Ok(of.map(|(_, weight)| weight).sum())
        };
        let bytes = attached_late(
            &jdk,
            &["late", "1"],
            &options_of(&["alloc", "--alloc-interval", "0"]),
        )?;
        whole(&bytes)?;
        assert_eq!(sum(&bytes, "lateMakes")?, 4000 * SIZE, "JDK {}", jdk.feature);
        let made = sum(&bytes, "makes")?;
        assert!(
            made.is_multiple_of(SIZE) && made <= 4000 * SIZE,
            "JDK {}: {made}",
            jdk.feature
        );
        let time = attached_late(&jdk, &["late", "1"], &options_of(&["time"]))?;
        whole(&time)?;
        let napped = sum(&time, "lateNaps")?;
        assert!(napped >= 60_000_000, "JDK {}: {napped}", jdk.feature);
    }
    Ok(())
}

#[test]
fn threads_that_run_already() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("late.trodden").display().to_string();
    for jdk in Jdk::ends()? {
        let known = without(
            expected_of(&jdk, &["obey"], "ddwdwuwuwduw")?,
            &expected_of(&jdk, &["obey"], "dd")?,
        );
        let mut program = Obedient::start(&jdk)?;
        let pid = program.child.id().to_string();
        program.obey("dd")?;
        let start = [
            "--profile",
            "contexts",
            "--algorithm",
            "exact",
            "--include",
            INCLUDE,
            "--file",
            &file,
        ];
        trodden(&[&["attach", &pid, "start"], &start[..]].concat())?;
        program.obey("wdwuw")?;
        let said = trodden(&["attach", &pid, "report"])?;
        assert!(said.contains("Calls.caught(int)"), "{said}");
        // Asked of the same counts: no context has half of all calls.
        let raised = trodden(&["attach", &pid, "report", "--phi", "0.5"])?;
        assert!(raised.contains("No context is hot"), "{raised}");
        // Out of one of those that were there, and into another one.
        program.obey("uwduw")?;
        trodden(&["attach", &pid, "dump"])?;
        check("attached", &known, &Profile::load(&file)?)?;
        trodden(&["attach", &pid, "reset"])?;
        // Stopped in the middle of what was followed, and started again: what is under way may end as it likes.
        program.obey("dw")?;
        trodden(&["attach", &pid, "stop"])?;
        program.obey("wdwuw")?;
        trodden(&[&["attach", &pid, "start"], &start[..]].concat())?;
        program.obey("wuwdwu")?;
        trodden(&["attach", &pid, "dump"])?;
        let calls = by_name(&Profile::load(&file)?)?;
        let sum = |name: &str| -> u64 {
            let of = calls
                .iter()
                .filter(|(path, _)| path.rsplit(' ').next() == Some(name));
            of.map(|(_, calls)| calls).sum()
        };
        assert_eq!(
            (sum("branch"), sum("caught"), sum("fail")),
            (4, 4, 12),
            "{calls:?}"
        );
        assert!(
            calls
                .keys()
                .all(|path| path.split(' ').filter(|name| *name == "caught").count() < 2),
            "{calls:?}"
        );
        for path in ["branch", "caught", "obey branch", "obey caught"] {
            let path = format!("main obey obey {path}");
            assert!(calls.contains_key(&path), "{path}: {calls:?}");
        }
        assert!(
            calls.keys().all(|path| path.starts_with("main obey obey ")),
            "{calls:?}"
        );
        program.obey("u")?;
        program.input.write_all(b"u\n")?;
        program.end()?;
    }
    Ok(())
}
