//! Calling contexts of programs that run already when profiling begins.

use std::time::{Duration, Instant};

use trodden_profile::Profile;
use trodden_tests::Result;
use trodden_tests::contexts::{
    Counts, INCLUDE, Sites, by_name, check, each_of_oracle, none, oracle_flag, trodden,
};
use trodden_tests::events::{fact, whole};
use trodden_tests::jdk::Jdk;
use trodden_tests::obedient::Obedient;
use trodden_tests::profile::SUSPICIOUS;

const LIMIT: Duration = Duration::from_secs(600);

/// Activations from before the attach have no probes: walks leave them out, as if they were code without.
#[test]
fn bursts_in_threads_that_run_already() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("late.trodden").display().to_string();
    for jdk in Jdk::ends()? {
        let mut program = Obedient::start(&jdk)?;
        let pid = program.pid();
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
        // The clock decides what falls into a burst: until all of it has.
        let until_seen = |program: &mut Obedient, prefix: &str| -> Result<()> {
            let since = Instant::now();
            loop {
                program.obey(&"w".repeat(300))?;
                trodden(&["attach", &pid, "dump"])?;
                let found = by_name(&Profile::load(&file)?)?;
                if below(prefix).iter().all(|path| found.contains_key(path)) {
                    return Ok(());
                }
                assert!(since.elapsed() < LIMIT, "JDK {}: {found:#?}", jdk.feature);
            }
        };
        until_seen(&mut program, "")?;
        program.obey("d")?;
        until_seen(&mut program, "obey ")?;
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
        let known = [&below("")[..], &below("obey ")[..], &["obey".to_owned()]].concat();
        assert!(found.keys().all(|path| known.contains(path)), "{found:#?}");
        assert!(found.len() >= 2 * jobs.len(), "{found:#?}");
        program.obey("u")?;
        program.tell(b'u')?;
        program.end()?;
    }
    Ok(())
}

/// The oracle's contexts of the program when it obeys these letters.
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
    let pid = program.pid();
    let rest = ["--include", INCLUDE, "--file", &file];
    trodden(&[&["attach", &pid, "start"], options, &rest].concat())?;
    program.tell(b'g')?;
    program.hear("over")?;
    program.end()?;
    Ok(Profile::load(&file)?)
}

/// Profiling begins while threads are in the middle of whatever there is to be in the middle of. What these
/// activations call then, and after some of them have ended, is called by those that are still there.
#[test]
#[cfg_attr(feature = "change", ignore = "all: many attaches")]
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
                    "--weight",
                    "call-paths",
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
        let bytes = attached_late(&jdk, &["late", "1"], &options_of(&["alloc:0"]))?;
        whole(&bytes)?;
        assert_eq!(sum(&bytes, "lateMakes")?, 4000 * SIZE, "JDK {}", jdk.feature);
        let made = sum(&bytes, "makes")?;
        assert!(
            made.is_multiple_of(SIZE) && made <= 16_000 * SIZE,
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
        let pid = program.pid();
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
        // Stopped in the middle of what was followed, and started again: calls in progress may end in any
        // way.
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
        program.tell(b'u')?;
        program.end()?;
    }
    Ok(())
}
