use proptest::prelude::*;

use std::collections::BTreeSet;
use std::num::NonZeroU32;
use std::time::Duration;

use super::*;

fn parse(text: &str) -> AgentCommand {
    AgentCommand::parse(text).unwrap_or_else(|e| panic!("{text}: {e}"))
}

fn error(text: &str) -> String {
    AgentCommand::parse(text).expect_err(text).to_string()
}

#[test]
fn the_string_of_the_issue() {
    let command = parse(
        "start,probe=yieldpoint,schedule=sag:64:17,interval=20ms,include=a.*,file=out-%p.trodden,loglevel=debug",
    );
    assert_eq!(command.action, Action::Start);
    let o = command.options;
    assert_eq!(o.probe, Probe::Yieldpoint);
    assert_eq!(o.sampling.schedule.to_string(), "sag:64:17");
    assert_eq!(o.sampling.interval, Duration::from_millis(20));
    assert_eq!(o.code.include, ["a.*"]);
    assert_eq!(o.output.file.as_str(), "out-%p.trodden");
    assert_eq!(o.output.loglevel, LogLevel::Debug);
    assert!(o.is_given("schedule") && o.is_given("file") && !o.is_given("exclude"));
}

#[test]
fn empty_means_start_with_defaults() {
    for text in ["", "start", " ", ",", "start,"] {
        let command = parse(text);
        assert_eq!(command.action, Action::Start, "{text:?}");
        assert_eq!(command.options, ProfileOptions::default(), "{text:?}");
    }
}

#[test]
fn actions_lead() {
    for action in Action::ALL {
        assert_eq!(parse(action.name()).action, *action);
        assert_eq!(parse(&format!("{action},quiet")).action, *action);
    }
    assert_eq!(error("quiet,stop"), "action 'stop' must be the first word");
}

#[test]
fn lists_repeat_or_join_and_escape() {
    let o = parse(r"include=a.*+b\+c,include=d\,e,include=f\\\,g,exclude=x\y+z\\").options;
    assert_eq!(o.code.include, ["a.*", "b+c", "d", "e", "f,g"]);
    assert_eq!(o.code.exclude, [r"x\y", r"z\"]);
    // On the command line and in properties files a comma is a joint like the plus sign.
    for value in ["a.*,b.*", "a.*+b.*"] {
        let o = ProfileOptions::from_pairs(&[("include", value), ("profile", "paths,kpaths")]).unwrap();
        assert_eq!(o.code.include, ["a.*", "b.*"]);
        assert_eq!(o.profile, [ProfileKind::Paths, ProfileKind::KPaths]);
    }
}

#[test]
fn hot_classes_are_numbered_again_where_probes_stay() {
    for text in [
        "use-profile=own:5s,probe=yieldpoint",
        "use-profile=own:5s,probe=counters",
        "use-profile=own:5s,schedule=span:1ms:256",
    ] {
        let options = parse(text).options;
        assert_eq!(options.renumber_after(), Some(Duration::from_secs(5)), "{text}");
        assert_eq!(options.former_profile(), None, "{text}");
    }
    let former = parse("use-profile=./own:5s,probe=counters").options;
    assert_eq!(former.former_profile(), Some("./own:5s"));
}

#[test]
fn errors_name_the_option_and_suggest() {
    for (text, expected) in [
        ("prob=counters", "unknown option 'prob'; did you mean 'probe'?"),
        (
            "Interval=20ms",
            "unknown option 'Interval'; did you mean 'interval'?",
        ),
        ("xyzzy=1", "unknown option 'xyzzy'"),
        ("strat", "unknown option 'strat'; did you mean 'start'?"),
        (
            "probe",
            "option 'probe' needs a value: probe=yieldpoint|counters|safepoint|events|auto|none",
        ),
        (
            "probe=counter",
            "option 'probe': unknown probe 'counter'; did you mean 'counters'? (known: auto, yieldpoint, counters, safepoint, events, none)",
        ),
        (
            "profile=paths+structural",
            "option 'profile': 'structural' stands alone",
        ),
        (
            "profile=path",
            "option 'profile': unknown profile 'path'; did you mean 'paths'? (known: paths, kpaths, contexts, subpaths, structural, coverage, null)",
        ),
        (
            "profile=structural,probe=counters",
            "option 'probe': profile 'structural' has probes of its own; leave 'probe' out",
        ),
        (
            "profile=structural,file=a.trace",
            "option 'file': a trace holds no structural profile",
        ),
        (
            "use-profile=own:5s",
            "option 'use-profile': 'own:5s' is for plain paths with probe=counters, or probe=yieldpoint and a schedule of spans",
        ),
        (
            "use-profile=own:5s,probe=yieldpoint,schedule=sag:64:17",
            "option 'use-profile': 'own:5s' is for plain paths with probe=counters, or probe=yieldpoint and a schedule of spans",
        ),
        (
            "use-profile=own:5s,profile=kpaths",
            "option 'use-profile': 'own:5s' is for plain paths with probe=counters, or probe=yieldpoint and a schedule of spans",
        ),
        (
            "window=0",
            "option 'window': '0' is neither a number of paths from 1 to 1000000 nor 'all'",
        ),
        (
            "phi=0",
            "option 'phi': '0' is not a share above 0 and up to 1, such as 1e-4",
        ),
        (
            "profile=contexts,phi=0.1,epsilon=0.1",
            "option 'epsilon': 0.1 is not below phi = 0.1",
        ),
        (
            "profile=contexts,phi=1e-8",
            "option 'phi': 1e-8 is too small: at least 5e-8",
        ),
        (
            "footprint=12",
            "option 'footprint': '12' is not a number of bytes from 1k to 1024M, such as 64k",
        ),
        (
            "lengths=pow2:100",
            "option 'lengths': 'pow2:100' is none of pow2:N, pow2-uniform:N, any:N and any-uniform:N with N from 2 to 65536, a power of two for pow2",
        ),
        ("k=1", "option 'k': '1' is not a number from 2 to 1024"),
        ("k=5000", "option 'k': '5000' is not a number from 2 to 1024"),
        (
            "budget=5x",
            "option 'budget': '5x' is neither a number of nodes such as 200k, nor a share such as 1%, nor 'none'",
        ),
        (
            "profile=kpaths,budget=39",
            "option 'budget': 39 nodes are too few for k=10: at least 40 are needed",
        ),
        (
            "burst=static:10:20",
            "option 'burst': a window of 20 does not fit an interval of 10",
        ),
        (
            "profile=contexts,burst=static:1ms:1ms",
            "option 'burst': a window of 1ms leaves no time between windows of an interval of 1ms",
        ),
        (
            "profile=contexts+kpaths,burst=static:2ms:200us",
            "option 'burst': bursts by the clock are for profile=contexts, kpaths or subpaths alone",
        ),
        (
            "profile=contexts,burst=static:2ms:200us,file=x.trace",
            "option 'burst': bursts by the clock are for running programs, not for traces",
        ),
        (
            "profile=contexts,burst=jvm:1000:64",
            "option 'burst': 'jvm:1000:64' is none of off, static:INTERVAL:LENGTH (in activations, or times), jvm:INTERVAL:LENGTH (times) and adaptive:INTERVAL:LENGTH:RR",
        ),
        (
            "profile=contexts+paths,burst=jvm:50ms:2ms",
            "option 'burst': bursts by the clock are for profile=contexts, kpaths or subpaths alone",
        ),
        (
            "profile=subpaths,burst=static:2ms:200us",
            "option 'burst': bursts by the clock of kpaths and subpaths are the JVM's, such as jvm:100ms:2ms",
        ),
        (
            "profile=subpaths,burst=static:1000:64",
            "option 'burst': profile=subpaths takes bursts by the clock, such as jvm:100ms:2ms",
        ),
        (
            "profile=subpaths,burst=jvm:50ms:2ms,file=x.trace",
            "option 'burst': bursts by the clock are for running programs, not for traces",
        ),
        (
            "profile=contexts,burst=jvm:50ms:2ms,weight=call-paths",
            "option 'weight': paths to calls are for profile=contexts alone, without bursts by the clock",
        ),
        (
            "profile=contexts,burst=jvm:50ms:2ms,weight=time",
            "option 'weight': weights other than calls go without bursts",
        ),
        (
            "profile=contexts,burst=jvm:50ms:2ms,file=x.trace",
            "option 'burst': bursts by the clock are for running programs, not for traces",
        ),
        (
            "profile=contexts,weight=time,file=x.trace",
            "option 'weight': weights other than calls are for running programs, not for traces",
        ),
        (
            "profile=contexts,weight=alloc,burst=static:100:10",
            "option 'weight': weights other than calls go without bursts",
        ),
        (
            "profile=contexts+paths,weight=time",
            "option 'weight': 'time' is for profile=contexts alone",
        ),
        (
            "profile=contexts+paths,weight=call-paths",
            "option 'weight': paths to calls are for profile=contexts alone, without bursts by the clock",
        ),
        (
            "profile=contexts,weight=alloc:64b",
            "option 'weight': 'alloc:64b' has no number of bytes such as alloc:0, alloc:4096, alloc:64k or alloc:1M",
        ),
        (
            "burst=10:20",
            "option 'burst': '10:20' is none of off, static:INTERVAL:LENGTH (in activations, or times), jvm:INTERVAL:LENGTH (times) and adaptive:INTERVAL:LENGTH:RR",
        ),
        (
            "burst=adaptive:10:5:0.1",
            "option 'burst': '0.1' is neither 'none' nor a percentage that divides 100, such as 5, 10 or 20",
        ),
        (
            "profile=kpaths,probe=counters",
            "option 'probe': profile 'kpaths' needs probe=events, not 'counters'",
        ),
        (
            "probe=yieldpoint,file=a.trace",
            "option 'probe': the trace 'a.trace' needs probe=events, not 'yieldpoint'",
        ),
        (
            "interval=20",
            "option 'interval': duration '20' lacks a unit (ns, us, ms, s, m, h, d or w)",
        ),
        (
            "interval=0ms",
            "option 'interval': duration '0ms' must be longer than zero",
        ),
        (
            "interval=99999999999999999999s",
            "option 'interval': duration '99999999999999999999s' is too long",
        ),
        (
            "interval=5x",
            "option 'interval': unknown unit 'x' in '5x' (known: ns, us, ms, s, m, h, d, w)",
        ),
        (
            "interval=",
            "option 'interval': '' is not a duration such as 20ms",
        ),
        ("include=a++b", "option 'include': a pattern is empty"),
        (
            "include=a.*:b.*",
            "option 'include': 'a.*:b.*' matches nothing, as no name holds ':'; patterns are joined by '+' or ',': a.*+b.*",
        ),
        (
            "include=a.*,b.*",
            "'b.*' has no name: values of 'include' are joined by '+', include=a.*+b.*",
        ),
        (
            "weight=time",
            "option 'weight' is for profile=contexts; use it with profile=contexts, or leave it out",
        ),
        (
            "k=10",
            "option 'k' is for profile=kpaths; use it with profile=kpaths, or leave it out",
        ),
        (
            "probe=counters,schedule=sag:64:17",
            "option 'schedule' is for probe=yieldpoint; use it with probe=yieldpoint, or leave it out",
        ),
        (
            "profile=kpaths,interval=5ms",
            "option 'interval' is for probe=yieldpoint or probe=safepoint or profile=structural with windows; use it with probe=yieldpoint, or leave it out",
        ),
        (
            "budget=200k",
            "option 'budget': '200000' is a number of nodes, for profile=kpaths; a share of the run is a percentage such as 1%",
        ),
        (
            "profile=kpaths,budget=2%",
            "option 'budget': '2%' is a share of the run, for probe=auto on plain paths, or profile=structural; profile=kpaths takes a number of nodes such as 200k",
        ),
        (
            "stop,probe=counters",
            "option 'probe' means nothing to 'stop'; it takes config, file, quiet, loglevel, log, out",
        ),
        (
            "status,file=x",
            "option 'file' means nothing to 'status'; it takes config, quiet, loglevel, log, out",
        ),
        (
            "use_profiles=5",
            "unknown option 'use_profiles'; did you mean 'use-profile'?",
        ),
        (
            "spool=s,fleet=1/2:5ms",
            "option 'fleet': '1/2:5ms': a draw holds for a whole number of seconds",
        ),
        (
            "sample=asink:5ms",
            "option 'sample': unknown way to read stacks 'asink'; did you mean 'async'? (known: auto, async, timer, safepoint)",
        ),
        (
            "seed=-1",
            "option 'seed': '-1' is not a number from 0 to 18446744073709551615",
        ),
        (
            "quiet=maybe",
            "option 'quiet': 'maybe' is neither 'true' nor 'false'",
        ),
        ("quiet,quiet", "option 'quiet' is given twice"),
        (
            "file=a%q",
            "option 'file': unknown '%q' in 'a%q' (known: %p, %t, %{ENV}, %%)",
        ),
    ] {
        assert_eq!(error(text), expected, "{text}");
    }
    assert!(error("schedule=sag:64").contains("SAMPLES and STRIDE are both needed"));
}

/// The seeds' own methods are recorded; other choices that their papers leave open are for replays.
#[test]
fn research_on_event_streams_is_for_replays() {
    for (text, name, value) in [
        ("profile=null", "profile", "null"),
        ("profile=paths+null", "profile", "paths+null"),
        ("profile=contexts,algorithm=bss", "algorithm", "bss"),
        ("profile=contexts,algorithm=lc", "algorithm", "lc"),
        ("profile=contexts,algorithm=sticky", "algorithm", "sticky"),
        ("profile=contexts,algorithm=null", "algorithm", "null"),
        (
            "profile=contexts,burst=adaptive:1000:64:5",
            "burst",
            "adaptive:1000:64:5",
        ),
        ("starts=headers", "starts", "headers"),
        ("profile=subpaths,starts=headers", "starts", "headers"),
        ("profile=subpaths,identity=rotation", "identity", "rotation"),
        ("profile=subpaths,half-life=5M", "half-life", "5000000"),
        ("profile=subpaths,sliding-window=5M", "sliding-window", "5000000"),
        ("profile=subpaths,distance=5:9", "distance", "5:9"),
        ("profile=subpaths,threshold=top:5", "threshold", "top:5"),
        ("profile=subpaths,counts=exact", "counts", "exact"),
    ] {
        let expected = format!(
            "option '{name}': '{value}' is research on event streams and taken by 'trodden replay' only; record the \
             program's events with file=x.trace, and give it there"
        );
        assert_eq!(error(text), expected, "{text}");
        let pairs: Vec<(&str, &str)> = text
            .split(',')
            .map(|pair| pair.split_once('=').unwrap())
            .collect();
        match ProfileOptions::for_replay(&pairs) {
            Ok(options) => assert!(options.pairs().contains(&(name, value.to_owned())), "{text}"),
            Err(e) => assert!(e.to_string().contains("is for profile=subpaths"), "{text}: {e}"),
        }
    }
    let adaptive = [("profile", "contexts"), ("burst", "adaptive:2ms:200us:10")];
    let error = ProfileOptions::for_replay(&adaptive).unwrap_err().to_string();
    assert!(error.contains("is none of off"), "{error}");
}

/// The number of options has to stay small: a new option takes the place of another one, or becomes a value.
#[test]
fn there_are_few_options() {
    let recorded = options().filter(|option| option.is_recorded());
    assert!(recorded.count() <= 40);
}

#[test]
fn paths_that_follow_each_other_come_from_bursts_of_steps() {
    let mut options = parse("profile=kpaths,k=4").options;
    let before = options.clone();
    assert!(!options.take_bursts_unless_told(BurstEvents::Probes));
    assert_eq!(options, before);
    assert!(options.take_bursts_unless_told(BurstEvents::Jvm));
    assert_eq!(options.burst.to_string(), "jvm:200ms:2ms");
    assert!(options.has_steps_of_jvm());
    options.check().unwrap();
}

#[test]
fn contexts_of_a_running_program_come_from_bursts_unless_told_otherwise() {
    for (events, burst) in [
        (BurstEvents::Jvm, "jvm:100ms:2ms"),
        (BurstEvents::Probes, "static:2ms:200us"),
    ] {
        for text in ["profile=contexts", "profile=contexts,phi=0.01,include=a.*"] {
            let mut options = parse(text).options;
            assert!(options.take_bursts_unless_told(events), "{text}");
            assert_eq!(options.burst.to_string(), burst);
            assert_eq!(options.has_events_of_jvm(), events == BurstEvents::Jvm);
            options.check().unwrap();
            // It is read back as it is, and not taken twice.
            let mut again = ProfileOptions::from_pairs(&options.pairs()).unwrap();
            assert!(!again.take_bursts_unless_told(BurstEvents::Probes));
            assert_eq!(again.fingerprint(), options.fingerprint());
        }
    }
    for text in [
        "",
        "profile=contexts,burst=off",
        "profile=contexts,burst=static:1000:64",
        "profile=contexts,algorithm=exact",
        "profile=contexts,algorithm=lss",
        "profile=contexts,weight=time",
        "profile=contexts,weight=call-paths",
        "profile=contexts,file=x.trace",
        "profile=contexts+paths",
        "profile=kpaths,burst=off",
        "profile=kpaths,budget=2k",
        "profile=kpaths,file=x.trace",
        "profile=kpaths+paths",
        "profile=subpaths",
    ] {
        let before = parse(text).options;
        let mut options = before.clone();
        assert!(!options.take_bursts_unless_told(BurstEvents::Jvm), "{text}");
        assert_eq!(options, before, "{text}");
    }
}

#[test]
fn the_automatic_probe_follows_what_is_profiled() {
    for (text, probe) in [
        ("", Probe::Counters),
        ("schedule=sag:64:17", Probe::Yieldpoint),
        ("probe=counters", Probe::Counters),
        ("profile=kpaths", Probe::Events),
        ("profile=paths+kpaths,probe=auto", Probe::Events),
        ("file=%p.trace", Probe::Events),
        ("probe=events", Probe::Events),
    ] {
        let options = parse(text).options;
        assert_eq!(options.probe_in_use(), probe, "{text}");
    }
    let o = parse("profile=contexts,phi=0.001,algorithm=exact,burst=static:1000:64").options;
    assert_eq!(
        (o.thresholds(), o.contexts.algorithm),
        ((0.001, 0.0002), ContextAlgorithm::Exact)
    );
    assert_eq!(o.burst.to_string(), "static:1000:64");
    assert_eq!(o.probe_in_use(), Probe::Events);
    let o = parse("profile=subpaths,footprint=16k,lengths=any-uniform:77").options;
    let lengths = SubpathLengths {
        powers: false,
        uniform: true,
        limit: 77,
    };
    assert_eq!(
        (o.subpaths.footprint, o.subpaths.lengths, o.probe_in_use()),
        (16 << 10, lengths, Probe::Events)
    );
    assert!(o.skips_in_probes());
    for other in [
        "profile=subpaths+paths",
        "profile=subpaths,burst=jvm:50ms:2ms",
        "profile=subpaths,file=a.trace",
        "profile=paths",
    ] {
        assert!(!parse(other).options.skips_in_probes(), "{other}");
    }
    for (given, length, events) in [
        ("static:2ms:200us", 200, BurstEvents::Probes),
        ("jvm:2000us:1ms", 1000, BurstEvents::Jvm),
    ] {
        let o = parse(&format!("profile=contexts,burst={given},weight=calls")).options;
        let expected = Burst::Timed {
            interval: Duration::from_millis(2),
            length: Duration::from_micros(length),
            events,
        };
        assert_eq!(o.burst, expected, "{given}");
        assert_eq!(o.burst.to_string().parse(), Ok(expected));
        assert!(o.has_bursts_in_program());
    }
    let o = parse("profile=contexts,burst=jvm:50ms:2ms").options;
    assert!(o.has_events_of_jvm() && o.has_bursts_in_program() && !o.has_steps_of_jvm());
    let o = parse("profile=subpaths,burst=jvm:50ms:2ms").options;
    assert!(o.has_steps_of_jvm() && !o.skips_in_probes());
    assert!(o.pairs().contains(&("burst", "jvm:50ms:2ms".to_owned())));
    let o = parse("profile=contexts,weight=alloc:0").options;
    assert_eq!(
        (o.contexts.weight, o.contexts.alloc_interval),
        (ContextWeight::Alloc, 0)
    );
    assert!(!o.has_bursts_in_program());

    let o = parse("profile=kpaths,k=16,budget=200k,burst=static:1000:64").options;
    assert_eq!(
        (o.kpaths.k, o.kpaths.budget, o.burst.to_string().as_str()),
        (16, Some(200_000), "static:1000:64")
    );
}

#[test]
fn probe_auto_retires_where_nothing_else_is_asked_for() {
    for (text, retires) in [
        ("", true),
        ("schedule=timer", false),
        ("probe=yieldpoint", false),
        ("probe=auto", true),
        ("probe=auto,budget=2.5%", true),
        ("probe=auto,schedule=sag:64:17", false),
        ("probe=auto,profile=kpaths", false),
        ("probe=auto,file=x.trace", false),
        ("probe=counters", false),
        ("profile=structural", true),
        ("profile=structural,window=20", true),
        ("profile=structural,window=all", false),
        ("profile=structural,window=20:keep", false),
    ] {
        let options = parse(text).options;
        assert_eq!(options.retires(), retires, "{text}");
        if retires {
            assert_eq!(options.probe_in_use(), Probe::Counters, "{text}");
        }
    }
}

#[test]
fn a_budget_is_a_number_of_nodes_or_a_share_of_the_run() {
    assert_eq!(parse("").options.allowance(), 0.01);
    let share = parse("budget=2.5%").options;
    assert_eq!((share.allowance(), share.kpaths.budget), (0.025, None));
    let fixed = parse("budget=2%:20s").options;
    assert_eq!(
        (fixed.allowance(), fixed.retiring.rearm),
        (0.02, Some(Duration::from_secs(20)))
    );
    assert_eq!(fixed.to_owned().pairs(), [("budget", "2%:20s".to_owned())]);
    let nodes = parse("profile=kpaths,budget=2k").options;
    assert_eq!((nodes.allowance(), nodes.kpaths.budget), (0.01, Some(2000)));
    for wrong in [
        "budget=0%",
        "budget=101%",
        "budget=x%",
        "budget=%",
        "budget=-1%",
        "budget=NaN%",
        "budget=1%5s",
    ] {
        let error = AgentCommand::parse(wrong).unwrap_err().to_string();
        assert!(error.contains("is not a share of the run"), "{wrong}: {error}");
    }
}

#[test]
fn properties_file() {
    let text = "# comment\n! too\n\nprobe = counters\ninclude: a.*+b.*\nlog=/x,y\n";
    let o = ProfileOptions::from_pairs(&lines(text).unwrap()).unwrap();
    assert_eq!(o.probe, Probe::Counters);
    assert_eq!(o.code.include, ["a.*", "b.*"]);
    assert_eq!(o.output.log.as_deref(), Some("/x,y"));
    let error = lines("probe=auto\nnonsense\n").unwrap_err();
    assert_eq!(error.to_string(), "line 2: 'nonsense' is not name=value");
}

#[test]
fn config_file_gives_way_to_what_is_given() {
    let path = std::env::temp_dir().join(format!("trodden-options-{}.properties", std::process::id()));
    std::fs::write(&path, "probe=yieldpoint\ninclude=a.*\nschedule=ag:8:3\n").unwrap();
    let text = format!("config={},include=b.*,schedule=ag:8:9", path.display());
    let result = AgentCommand::parse(&text);
    std::fs::write(&path, "config=x\n").unwrap();
    let circular = AgentCommand::parse(&text);
    std::fs::remove_file(&path).unwrap();
    let o = result.unwrap().options;
    assert_eq!(o.probe, Probe::Yieldpoint);
    assert_eq!(o.code.include, ["b.*"]);
    assert_eq!(o.sampling.schedule.to_string(), "ag:8:9");
    assert!(
        circular
            .unwrap_err()
            .to_string()
            .contains("cannot be used inside")
    );
    let missing = AgentCommand::parse(&text).unwrap_err().to_string();
    assert!(missing.contains("trodden-options-"), "{missing}");
}

#[test]
fn a_config_is_judged_together_with_what_is_given() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("options.properties");
    std::fs::write(&path, "k=16\ninclude=a.*,b.*\n").unwrap();
    let with = |more: &str| AgentCommand::parse(&format!("config={}{more}", path.display()));
    let o = with(",profile=kpaths").unwrap().options;
    assert_eq!((o.kpaths.k, o.code.include.len()), (16, 2));
    let error = with("").unwrap_err().to_string();
    assert!(error.contains("option 'k' is for profile=kpaths"), "{error}");
    // What a file says is for the action that begins.
    assert_eq!(
        AgentCommand::parse(&format!("stop,config={}", path.display()))
            .unwrap()
            .to_agent_string(),
        "stop"
    );
}

#[test]
fn underscores_are_taken() {
    for text in ["use_profile=9", "use-profile=9"] {
        assert_eq!(parse(text).options.former_profile(), Some("9"));
        assert_eq!(parse(text).to_agent_string(), "start,use-profile=9");
    }
    let o = parse("profile=contexts,weight=call-paths").options;
    assert!(o.contexts.call_paths);
    assert!(option_named("use_profile").is_none());
    assert!(matches!(
        AgentCommand::parse("use-profile=9,use_profile=9"),
        Err(OptionError::Twice { name: "use-profile" })
    ));
}

/// Names and values of an agent string without an action, in which no value has a comma.
fn pairs_of(text: &str) -> Vec<(&str, &str)> {
    let words = text.split(',').filter(|word| !word.is_empty());
    words.map(|word| word.split_once('=').expect(word)).collect()
}

/// The options of a text as what takes an option reads them.
fn read(option: &OptionEntry, text: &str) -> ProfileOptions {
    let pairs = pairs_of(text);
    let read = if option.is_recorded() {
        ProfileOptions::from_pairs(&pairs)
    } else {
        ProfileOptions::for_replay(&pairs)
    };
    read.unwrap_or_else(|e| panic!("{text}: {e}"))
}

/// The options of a use, and the same with an example of this option.
fn with_example(option: &OptionEntry, one: Option<&Use>) -> (String, String) {
    let with = one.map_or("", |one| one.with).to_owned();
    let value = match (option.name, &*with) {
        ("budget", "probe=auto") => "2%",
        ("burst", "profile=subpaths") => "jvm:50ms:2ms",
        _ => option.example,
    };
    let given = format!("{with},{}={value}", option.name);
    (with, given)
}

#[test]
fn every_option_reads_prints_and_belongs_where_it_says() {
    for option in options().filter(|option| option.name != CONFIG) {
        // A name that is not there yet, and that no other one hides.
        let named = options().filter(|other| other.is_named(option.name, true));
        assert_eq!(named.count(), 1, "{}", option.name);
        assert!(!option.help.is_empty() && !option.value.is_empty() && !option.default.is_empty());
        assert!(!option.name.contains('_'));
        let uses: Vec<Option<&Use>> = match option.uses {
            [] => vec![None],
            uses => uses.iter().map(Some).collect(),
        };
        for one in uses {
            let (with, given) = with_example(option, one);
            let (plain, changed) = (read(option, &with), read(option, &given));
            assert!(option.applies(&changed), "{given}");
            assert!(changed.is_given(option.name));
            let command = AgentCommand {
                action: Action::Start,
                options: changed.clone(),
            };
            let text = command.to_agent_string();
            assert_eq!(
                read(option, text.trim_start_matches("start,")),
                changed,
                "{given}"
            );
            assert_ne!(changed.pairs(), plain.pairs(), "{given}");
            assert_ne!(option.value_in(&changed), option.value_in(&plain), "{given}");
        }
        if !option.uses.is_empty() {
            // No option belongs to everything that is there: some use of another one is none of its own.
            let replayed = |one: &Use| {
                let text = format!("{},{}={}", one.with, option.name, option.example);
                ProfileOptions::for_replay(&pairs_of(&text))
            };
            let other = options().flat_map(|other| other.uses).find(|one| {
                let options = parse(one.with).options;
                // `coverage=paths` makes counted paths of them.
                !option.applies(&options) && replayed(one).is_err()
            });
            let other = other.unwrap_or_else(|| panic!("{} belongs everywhere", option.name));
            let error = replayed(other).unwrap_err().to_string();
            assert!(error.contains("or leave it out"), "{}: {error}", option.name);
        }
    }
}

#[test]
fn the_fingerprint_changes_with_what_changes_classes_or_counts() {
    for option in options().filter(|option| !matches!(option.name, CONFIG | "file")) {
        let uses: Vec<Option<&Use>> = match option.uses {
            [] => vec![None],
            uses => uses.iter().map(Some).collect(),
        };
        for one in uses {
            let (with, given) = with_example(option, one);
            let (plain, changed) = (read(option, &with), read(option, &given));
            let differs = match option.effect {
                Effect::Nothing => false,
                Effect::Classes => true,
                Effect::Counts(uses) => uses.iter().any(|one| one.holds(&changed)),
            };
            assert_eq!(plain.fingerprint() != changed.fingerprint(), differs, "{given}");
        }
    }
    let of = |text: &str| parse(text).options.fingerprint();
    // Samples of two schedules mean different things; so do a trace and a profile, and analyses with other
    // seeds.
    assert_ne!(of("schedule=span:1ms:256"), of("schedule=sag:64:17"));
    assert_ne!(of("probe=events,file=a.trodden"), of("probe=events,file=a.trace"));
    assert_ne!(of("profile=subpaths"), of("profile=subpaths,seed=5"));
    // The same in other words, and what is scaled by the interval.
    assert_eq!(of("profile=kpaths"), of("profile=kpaths,probe=events"));
    assert_eq!(of("probe=yieldpoint"), of("probe=yieldpoint,interval=5ms"));
    assert_ne!(of("schedule=sag:64:17"), of("schedule=sag:64:17,interval=5ms"));
    assert_eq!(of("file=a.trodden"), of("file=b.html"));
}

#[test]
fn the_documentation_has_the_table() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/agent-options.md");
    let docs = std::fs::read_to_string(path).unwrap();
    let (begin, end) = ("<!-- options: begin -->\n", "<!-- options: end -->");
    let (before, rest) = docs.split_once(begin).expect("the mark of the table's beginning");
    let (table, after) = rest.split_once(end).expect("the mark of the table's end");
    if std::env::var_os("TRODDEN_UPDATE_DOCS").is_some() {
        std::fs::write(path, format!("{before}{begin}{}{end}{after}", markdown())).unwrap();
        return;
    }
    assert_eq!(
        table,
        markdown(),
        "to write it anew: TRODDEN_UPDATE_DOCS=1 cargo test -p trodden-profile"
    );
}

fn text() -> impl Strategy<Value = String> {
    "[a-zA-Z0-9.*?$#,+\\\\/ =äß]{1,12}"
}

fn duration() -> impl Strategy<Value = Duration> {
    (1u64..1_000_000_000_000).prop_map(Duration::from_nanos)
}

fn schedule() -> impl Strategy<Value = Schedule> {
    let number = || (1u32..).prop_map(|n| NonZeroU32::new(n).unwrap());
    prop_oneof![
        Just(Schedule::Timer),
        (number(), number()).prop_map(|(samples, stride)| Schedule::Ag { samples, stride }),
        (number(), number()).prop_map(|(samples, stride)| Schedule::Sag { samples, stride }),
        (1u64..=100_000_000, 0..=12u32).prop_map(|(nanos, log)| Schedule::Span {
            duration: Duration::from_nanos(nanos),
            samples: NonZeroU32::new(1 << log).unwrap(),
        }),
    ]
}

fn burst() -> impl Strategy<Value = Burst> {
    let window = (1..1000u32, 0..1000u64).prop_map(|(length, more)| Burst::Static {
        interval: std::num::NonZeroU64::new(u64::from(length) + more).unwrap(),
        length: NonZeroU32::new(length).unwrap(),
    });
    let rates = [None, Some(1), Some(5), Some(10), Some(20)].map(|n| n.and_then(NonZeroU32::new));
    let adaptive = prop::sample::select(rates.to_vec()).prop_map(|reenable| Burst::Adaptive {
        interval: std::num::NonZeroU64::new(1000).unwrap(),
        length: NonZeroU32::new(10).unwrap(),
        reenable,
    });
    let events = prop::sample::select(vec![BurstEvents::Probes, BurstEvents::Jvm]);
    let timed = (1..1000u64, 1..1000u64, events).prop_map(|(length, more, events)| Burst::Timed {
        interval: Duration::from_micros(length + more),
        length: Duration::from_micros(length),
        events,
    });
    prop_oneof![Just(Burst::Off), window, adaptive, timed]
}

fn share() -> impl Strategy<Value = Share> {
    prop_oneof![1e-300..1.0f64, 0.0001..1.0f64, Just(1.0)].prop_map(|share| Share::new(share).unwrap())
}

fn subpath_choices() -> impl Strategy<Value = SubpathChoices> {
    let starts = prop_oneof![
        Just(SubpathStarts::Anywhere),
        Just(SubpathStarts::Headers),
        (1..=MAX_PREFERENCE).prop_map(|weight| SubpathStarts::Prefer(NonZeroU32::new(weight).unwrap())),
    ];
    let number = || (1u32..).prop_map(|n| NonZeroU32::new(n).unwrap());
    let large = || (1u64..).prop_map(|n| std::num::NonZeroU64::new(n).unwrap());
    let distance = prop_oneof![
        Just(SubpathDistance::Auto),
        (number(), number()).prop_map(|(a, b)| SubpathDistance::From {
            start: a.min(b),
            floor: a.max(b)
        }),
        (large(), number()).prop_map(|(blocks, gain)| SubpathDistance::Expect { blocks, gain }),
    ];
    let threshold = prop_oneof![
        Just(SubpathThreshold::None),
        number().prop_map(SubpathThreshold::Top),
        large().prop_map(SubpathThreshold::Samples),
        share().prop_map(SubpathThreshold::Share),
    ];
    let lengths =
        (any::<bool>(), any::<bool>(), 1u32..=16).prop_map(|(powers, uniform, log)| SubpathLengths {
            powers,
            uniform,
            limit: (1 << log) - u32::from(!powers && log > 1),
        });
    let identity = prop::sample::select(SubpathIdentity::ALL);
    let counts = prop::sample::select(SubpathCounts::ALL);
    (
        starts,
        identity,
        (prop::option::of(large()), any::<bool>()),
        distance,
        threshold,
        counts,
        (1u32 << 10..=1 << 30, lengths),
    )
        .prop_map(
            |(starts, identity, ages, distance, threshold, counts, (footprint, lengths))| SubpathChoices {
                starts,
                identity,
                half_life: ages.0.filter(|_| ages.1),
                sliding_window: ages.0.filter(|_| !ages.1 && counts == SubpathCounts::Sampled),
                distance,
                threshold,
                counts,
                footprint,
                lengths,
            },
        )
}

fn use_profile() -> impl Strategy<Value = UseProfile> {
    prop_oneof![
        text().prop_map(UseProfile::Former),
        duration().prop_map(UseProfile::Own),
    ]
}

prop_compose! {
    fn code()(
        include in prop::collection::vec(text(), 0..4),
        (exclude, skip_main) in (prop::collection::vec(text(), 0..4), prop::collection::vec(text(), 0..4)),
        (use_profile, memory) in (prop::option::of(use_profile()), prop::option::of(text())),
        requests in prop::collection::vec(text(), 0..4),
    ) -> CodeChoices {
        CodeChoices { include, exclude, skip_main, requests, use_profile, memory }
    }
}

prop_compose! {
    fn output()(
        file in text(),
        dump in prop::option::of(duration()),
        (loglevel, quiet) in (prop::sample::select(LogLevel::ALL), any::<bool>()),
        arguments in prop::sample::select(Arguments::ALL),
        (log, out, lease) in (prop::option::of(text()), prop::option::of(text()), prop::option::of(text())),
    ) -> OutputChoices {
        let file = FilePattern::literal(&file).as_str().parse().unwrap();
        OutputChoices { file, dump, arguments, loglevel, log, quiet, out, lease }
    }
}

prop_compose! {
    fn fleet()(
        spool in prop::option::of(text()),
        limit in any::<u64>(),
        (service, build, host) in (prop::option::of(name()), prop::option::of(name()), prop::option::of(name())),
        labels in prop::collection::btree_map("[a-z._-]{1,8}", "[a-z:=\\\\ä#-]{1,8}", 0..4),
        fleet in prop::option::of((1u32.., 1u64..1_000_000)),
        hmac_key in prop::option::of(text()),
    ) -> FleetChoices {
        FleetChoices {
            spool, limit, service, build, host, labels,
            fleet: fleet.map(|(of, holds)| Fleet {
                of: NonZeroU32::new(of).unwrap(),
                holds: Duration::from_secs(holds),
            }),
            hmac_key,
        }
    }
}

fn name() -> impl Strategy<Value = String> {
    "[a-zA-Z0-9.,+\\\\/=äß][a-zA-Z0-9.,+\\\\/ =äß]{0,11}"
}

/// Any options, of which those that mean nothing together have been left out.
fn any_options() -> impl Strategy<Value = ProfileOptions> {
    let kinds = prop::sample::subsequence(ProfileKind::ALL.to_vec(), 1..3);
    let probe = prop::sample::select(Probe::ALL);
    let sample = prop::option::of((100_000u64..1_000_000_000_000).prop_map(Duration::from_nanos));
    let sampling = (
        schedule(),
        duration(),
        sample,
        prop::sample::select(SampledBy::ALL),
    )
        .prop_map(|(schedule, interval, sample, by)| SamplingChoices {
            schedule,
            interval,
            sample,
            sampled_by: if sample.is_some() { by } else { SampledBy::Auto },
        });
    let contexts = (
        share(),
        prop::option::of(share()),
        prop::sample::select(ContextAlgorithm::ALL),
    )
        .prop_map(|(phi, epsilon, algorithm)| ContextChoices {
            phi,
            epsilon,
            algorithm,
            ..ContextChoices::default()
        });
    let retiring = (prop::option::of(1u32..=10_000), prop::option::of(duration()));
    let k = (2u32..=1024, prop::option::of(4096u32..)).prop_map(|(k, budget)| KPathsChoices { k, budget });
    let rest = (
        contexts,
        burst(),
        retiring,
        k,
        subpath_choices(),
        (fleet(), any::<u64>()),
    );
    (kinds, probe, code(), output(), sampling, rest).prop_filter_map(
        "refused as a whole",
        |(
            profile,
            probe,
            code,
            output,
            sampling,
            (contexts, burst, (share, rearm), kpaths, subpaths, (fleet, seed)),
        )| {
            let share = share.filter(|_| kpaths.budget.is_none());
            let rearm = rearm.filter(|_| share.is_some());
            let retiring = RetiringChoices { share, rearm };
            let given = BTreeSet::new();
            let structural = StructuralChoices::default();
            let options = ProfileOptions {
                profile,
                coverage: CoverageOf::Branches,
                probe,
                seed,
                code,
                output,
                sampling,
                fleet,
                retiring,
                burst,
                kpaths,
                contexts,
                subpaths,
                structural,
                given,
            };
            without_the_inapplicable(options)
        },
    )
}

/// The options without those that mean nothing; `None` if they contradict each other.
fn without_the_inapplicable(mut options: ProfileOptions) -> Option<ProfileOptions> {
    loop {
        let pairs = options.pairs();
        let kept: Vec<_> = pairs
            .iter()
            .filter(|(name, _)| option_named(name).unwrap().applies(&options))
            .cloned()
            .collect();
        if kept.len() == pairs.len() {
            break;
        }
        options = ProfileOptions::read_pairs(&kept).unwrap();
    }
    options.given.clear();
    options.check_together().is_ok().then_some(options)
}

proptest! {
    #[test]
    fn agent_string_round_trips(
        options in any_options().prop_filter("for replays", |options| options.check_recorded().is_ok()),
        action in prop::sample::select(Action::ALL),
    ) {
        let command = AgentCommand { action, options };
        let text = command.to_agent_string();
        let mut back = AgentCommand::parse(&text).map_err(|e| TestCaseError::fail(format!("{text}: {e}")))?;
        prop_assert_eq!(&back.to_agent_string(), &text);
        back.options.given.clear();
        // Other actions take a few of the options only.
        prop_assert!(action != Action::Start || back == command, "{}", text);
    }

    #[test]
    fn pairs_round_trip(options in any_options()) {
        let mut back = ProfileOptions::for_replay(&options.pairs()).unwrap();
        back.given.clear();
        prop_assert_eq!(back, options);
    }

    #[test]
    fn any_text_parses_or_is_refused(text in ".{0,60}") {
        if let Ok(command) = AgentCommand::parse(&text) {
            prop_assert_eq!(AgentCommand::parse(&command.to_agent_string()), Ok(command));
        }
    }
}

#[test]
fn coverage_of_paths_is_counted_paths() {
    let read = |text: &str| AgentCommand::parse(text).map(|command| command.options);
    let paths = read("start,profile=coverage,coverage=paths").unwrap();
    assert!(!paths.is_coverage() && paths.counts_cut_paths() && paths.reads_open_paths());
    assert_eq!(paths.probe_in_use(), Probe::Counters);
    assert!(paths.covers_paths());
    // What is printed is read back to the same.
    assert_eq!(ProfileOptions::from_pairs(&paths.pairs()).unwrap(), paths);
    for same in ["lines", "branches"] {
        let options = read(&format!("start,profile=coverage,coverage={same}")).unwrap();
        assert!(options.is_coverage() && !options.counts_cut_paths());
    }
    for wrong in [
        "coverage=paths",
        "profile=coverage,coverage=paths,probe=yieldpoint",
        "coverage=lines",
    ] {
        assert!(read(&format!("start,{wrong}")).is_err(), "{wrong}");
    }
}
