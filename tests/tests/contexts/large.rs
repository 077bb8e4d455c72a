//! Calling contexts of methods that are too large for a probe in front of each call: they are there, and so
//! is what they call, without the places of the calls.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use trodden_profile::Profile;
use trodden_tests::contexts::{
    BURST_IS_SOUND, Counts, INCLUDE, Reportable, counts, difference, none, trodden, under_oracle,
};
use trodden_tests::events::whole;
use trodden_tests::jdk::Jdk;
use trodden_tests::process::{self, Outcome};
use trodden_tests::profile::{SUSPICIOUS, agent_flag};
use trodden_tests::{Result, build};

const WITHOUT_CALL_SITES: [&str; 5] = [
    "CallsLarge$Broken.<clinit>()V",
    "CallsLarge$Looping.<clinit>()V",
    "CallsLarge$Wide.<init>(I)V",
    "CallsLarge.huge(I)I",
    "CallsLarge.siteless(I)I",
];
const LEFT_ALONE: [&str; 2] = ["CallsLarge.alone(I)I", "CallsLarge.tooLarge(I)I"];

/// The program, its repeated statements written out.
fn java(jdk: &Jdk, flags: &[String], rounds: &str) -> Result<Command> {
    let template = std::fs::read_to_string(Path::new(build::ROOT).join("contexts/CallsLarge.java"))?;
    let mut text = String::new();
    for line in template.lines() {
        match line
            .trim()
            .strip_prefix("//@ ")
            .and_then(|line| line.split_once(' '))
        {
            Some((times, statement)) => text += &format!("{statement}\n").repeat(times.parse()?),
            None => text += &format!("{line}\n"),
        }
    }
    let folder = build::cached("contexts-large", &[], &[&jdk.feature.to_string(), &text], |out| {
        let source = tempfile::tempdir()?;
        let file = source.path().join("CallsLarge.java");
        std::fs::write(&file, &text)?;
        build::javac(jdk, ".", &[file], out)
    })?;
    let mut java = jdk.command("java");
    java.args(["-Xmx512m", "-XX:+UseSerialGC"]).args(flags);
    java.arg("-cp").arg(folder).args(["CallsLarge", rounds]);
    Ok(java)
}

fn under_agent(jdk: &Jdk, options: &str, rounds: &str, file: &Path) -> Result<Outcome> {
    let mut flags = SUSPICIOUS.map(str::to_owned).to_vec();
    flags.push(agent_flag(&format!("events,{options}"), INCLUDE, file)?);
    process::run(&mut java(jdk, &flags, rounds)?, Duration::from_secs(300))?.success()
}

/// Checks the profile's statements about methods that are too large.
fn says_what_it_left_out(profile: &Profile) {
    let named = |has_probes: bool| -> BTreeSet<String> {
        let named = profile.skipped.iter().filter(|s| s.has_probes() == has_probes);
        named
            .map(|s| format!("{}.{}", s.class, s.method.as_deref().unwrap_or("*")))
            .collect()
    };
    assert_eq!(
        named(true),
        WITHOUT_CALL_SITES.map(str::to_owned).into(),
        "{:#?}",
        profile.skipped
    );
    assert_eq!(
        named(false),
        LEFT_ALONE.map(str::to_owned).into(),
        "{:#?}",
        profile.skipped
    );
}

fn check(how: &str, oracle: &Counts, profile: &Profile) -> Result<()> {
    whole(profile).map_err(|e| format!("{how}: {e}"))?;
    none(
        how,
        profile,
        &[
            "contexts_orphans",
            "contexts_lost_exits",
            "contexts_bad_words",
            "contexts_unknown",
        ],
    )?;
    says_what_it_left_out(profile);
    match difference(&Reportable::new(profile).counts(oracle), &counts(profile)?) {
        None => Ok(()),
        Some(difference) => Err(format!("{how}: {difference}").into()),
    }
}

/// Calls by these methods, and how many of them have a call site.
fn calls_by(oracle: &Counts, callers: &[&str]) -> (usize, usize) {
    let by = |path: &&Vec<_>| {
        let caller = path.iter().rev().nth(1);
        caller.is_some_and(|(name, _): &(String, Option<u32>)| callers.contains(&name.as_str()))
    };
    let by: Vec<_> = oracle.keys().filter(by).collect();
    let with_site = by
        .iter()
        .filter(|path| path.last().is_some_and(|(_, site)| site.is_some()));
    (by.len(), with_site.count())
}

#[test]
fn methods_too_large_for_call_sites() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let path = |name: &str| folder.path().join(name);
    for jdk in Jdk::ends()? {
        let (outcome, oracle) = under_oracle(&jdk, |flag| java(&jdk, flag, "5"))?;
        assert_eq!(outcome.stdout.lines().count(), 6, "{outcome:#?}");
        let straight = calls_by(&oracle, &["CallsLarge$Straight.<clinit>()V"]);
        assert!(straight.0 > 500 && straight.1 >= straight.0 - 1, "{straight:?}");
        assert!(calls_by(&oracle, &WITHOUT_CALL_SITES).1 > 10_000);
        for options in [
            "profile=contexts,algorithm=exact",
            "profile=contexts+paths+kpaths,algorithm=exact",
            "profile=contexts,algorithm=exact,weight=call-paths",
        ] {
            let how = format!("JDK {} {options}", jdk.feature);
            let file = path("large.trodden");
            let found = under_agent(&jdk, options, "5", &file)?;
            assert_eq!(
                (&found.stdout, &found.stderr),
                (&outcome.stdout, &outcome.stderr),
                "{how}"
            );
            let profile = Profile::load(&file)?;
            check(&how, &oracle, &profile)?;
            let known = counts(&profile)?;
            assert_eq!(
                calls_by(&known, &["CallsLarge$Straight.<clinit>()V"]),
                straight,
                "{how}"
            );
            let (called, with_site) = calls_by(&known, &WITHOUT_CALL_SITES);
            assert!(called > 40 && with_site == 0, "{how}: {called} {with_site}");
        }
    }
    Ok(())
}

#[test]
fn time_in_methods_too_large_for_call_sites() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("large.trodden");
    for jdk in Jdk::ends()? {
        let (_, oracle) = under_oracle(&jdk, |flag| java(&jdk, flag, "3"))?;
        under_agent(&jdk, "profile=contexts,algorithm=exact,weight=time", "3", &file)?;
        let profile = Profile::load(&file)?;
        whole(&profile)?;
        says_what_it_left_out(&profile);
        let reportable = Reportable::new(&profile).counts(&oracle);
        let known = |path: &Vec<_>| reportable.keys().any(|other| other.starts_with(path));
        let unknown: Vec<_> = counts(&profile)?
            .into_keys()
            .filter(|path| !known(path))
            .collect();
        assert!(unknown.is_empty(), "JDK {}: {unknown:#?}", jdk.feature);
        assert!(calls_by(&counts(&profile)?, &WITHOUT_CALL_SITES).0 > 40);
    }
    Ok(())
}

#[test]
fn bursts_in_methods_too_large_for_call_sites() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("large.trodden");
    for jdk in Jdk::ends()? {
        let (_, oracle) = under_oracle(&jdk, |flag| java(&jdk, flag, "12"))?;
        // Rounds are alike after twelve; few of a hundred bursts begin in the initialisers.
        under_agent(
            &jdk,
            "profile=contexts,algorithm=exact,burst=static:3ms:2ms",
            "600",
            &file,
        )?;
        let profile = Profile::load(&file)?;
        whole(&profile)?;
        none(&format!("JDK {}", jdk.feature), &profile, &BURST_IS_SOUND)?;
        let reportable = Reportable::new(&profile).counts(&oracle);
        let found = counts(&profile)?;
        let unknown: Vec<_> = found
            .keys()
            .filter(|path| !reportable.contains_key(*path))
            .collect();
        assert!(unknown.is_empty(), "JDK {}: {unknown:#?}", jdk.feature);
        let (called, with_site) = calls_by(&found, &WITHOUT_CALL_SITES);
        assert!(
            called > 20 && with_site == 0,
            "JDK {}: {called} {with_site}",
            jdk.feature
        );
    }
    Ok(())
}

/// Methods that were left out are listed for a trace, and in reports, too.
#[test]
fn a_trace_says_which_call_sites_are_missing() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (trace, file) = (path("run.trace"), path("replayed.trodden"));
    for jdk in Jdk::ends()? {
        let (_, oracle) = under_oracle(&jdk, |flag| java(&jdk, flag, "2"))?;
        under_agent(&jdk, "profile=contexts", "2", trace.as_ref())?;
        let replay = [
            "replay",
            &trace,
            "--profile",
            "contexts",
            "--algorithm",
            "exact",
            "-o",
            &file,
        ];
        trodden(&replay)?;
        check("replayed", &oracle, &Profile::load(&file)?)?;
        let text = trodden(&["report", &file])?;
        let title = "Without call sites: what these call is known, but not from which line\n";
        let (_, list) = text.split_once(title).ok_or_else(|| text.clone())?;
        let reason = "\n  4: probes would push it over HotSpot's 8,000-byte compilation limit";
        assert!(list.contains(reason), "{text}");
        let json: serde_json::Value =
            serde_json::from_str(&trodden(&["report", &file, "--format", "json"])?)?;
        let lengths = ["skipped", "without_call_sites"].map(|key| json[key].as_array().map(Vec::len));
        assert_eq!(lengths, [Some(2), Some(5)]);
    }
    Ok(())
}
