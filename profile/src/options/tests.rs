use proptest::prelude::*;

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
        "start,probe=yieldpoint,samples=64,stride=17,interval=20ms,include=a.*,file=out-%p.trodden,loglevel=debug",
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
fn shorthands_change_the_schedule_in_any_order() {
    assert_eq!(
        parse("samples=3,schedule=ag:64:17")
            .options
            .sampling
            .schedule
            .to_string(),
        "ag:3:17"
    );
    assert_eq!(
        parse("stride=5").options.sampling.schedule.to_string(),
        "sag:64:5"
    );
    assert_eq!(
        parse("samples=5").options.sampling.schedule.to_string(),
        "sag:5:17"
    );
    assert_eq!(parse("").options.sampling.schedule.to_string(), "span:1ms:256");
    assert!(error("schedule=timer,stride=5").contains("takes one sample per tick"));
    assert_eq!(
        parse("samples=64,schedule=span:1ms:256")
            .options
            .sampling
            .schedule
            .to_string(),
        "span:1ms:64"
    );
    assert!(error("schedule=span:1ms:256,samples=100").contains("option 'samples'"));
    assert!(error("schedule=span:1ms:256,stride=5").contains("has no stride"));
}

#[test]
fn hot_classes_are_numbered_again_where_probes_stay() {
    for text in [
        "renumber=5s,probe=yieldpoint",
        "renumber=5s,probe=counters",
        "renumber=5s,probe=counters,use-profile=a",
        "renumber=5s,schedule=span:1ms:256",
    ] {
        assert_eq!(
            parse(text).options.code.renumber,
            Some(Duration::from_secs(5)),
            "{text}"
        );
    }
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
            "renumber=5s",
            "option 'renumber' is for plain paths with probe=counters, or probe=yieldpoint and a schedule of spans; use it with probe=counters, or leave it out",
        ),
        (
            "renumber=5s,probe=yieldpoint,schedule=sag:64:17",
            "option 'renumber' is for plain paths with probe=counters, or probe=yieldpoint and a schedule of spans; use it with probe=counters, or leave it out",
        ),
        (
            "renumber=5s,profile=kpaths",
            "option 'renumber' is for plain paths with probe=counters, or probe=yieldpoint and a schedule of spans; use it with probe=counters, or leave it out",
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
            "profile=kpaths+contexts,burst=adaptive:10:5:20",
            "option 'burst': 'adaptive' is for contexts; kpaths and subpaths take 'static' or 'off'",
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
            "profile=contexts,burst-events=jvm",
            "option 'burst-events' is for bursts by the clock, such as burst=static:50ms:2ms; use it with profile=contexts,burst=static:50ms:2ms, or leave it out",
        ),
        (
            "profile=contexts,burst=static:1000:64,burst-events=jvm",
            "option 'burst-events' is for bursts by the clock, such as burst=static:50ms:2ms; use it with profile=contexts,burst=static:50ms:2ms, or leave it out",
        ),
        (
            "profile=contexts+paths,burst=static:50ms:2ms,burst-events=jvm",
            "option 'burst': bursts by the clock are for profile=contexts, kpaths or subpaths alone",
        ),
        (
            "profile=subpaths,burst=static:2ms:200us",
            "option 'burst': bursts by the clock of kpaths and subpaths need burst-events=jvm",
        ),
        (
            "profile=subpaths,burst=static:1000:64",
            "option 'burst': profile=subpaths takes bursts by the clock, such as static:100ms:2ms",
        ),
        (
            "profile=kpaths,burst=adaptive:50ms:2ms:10,burst-events=jvm",
            "option 'burst': 'adaptive' is for contexts; kpaths and subpaths take 'static' or 'off'",
        ),
        (
            "profile=subpaths,burst=static:50ms:2ms,burst-events=jvm,file=x.trace",
            "option 'burst': bursts by the clock are for running programs, not for traces",
        ),
        (
            "profile=contexts,burst=static:50ms:2ms,burst-events=jvm,call-paths=on",
            "option 'call-paths': paths to calls are for profile=contexts alone, with weight=calls and no bursts by the clock",
        ),
        (
            "profile=contexts,burst=static:50ms:2ms,burst-events=jvm,weight=time",
            "option 'weight': weights other than calls go without bursts",
        ),
        (
            "profile=contexts,burst=static:50ms:2ms,burst-events=jvm,file=x.trace",
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
            "profile=contexts,weight=time,algorithm=lc",
            "option 'algorithm': 'lc' counts calls only; other weights take lss, exact or null",
        ),
        (
            "profile=contexts,call-paths=on,weight=time",
            "option 'call-paths': paths to calls are for profile=contexts alone, with weight=calls and no bursts by the clock",
        ),
        (
            "profile=contexts,alloc-interval=64b",
            "option 'alloc-interval': '64b' is not a number of bytes such as 0, 4096, 64k or 1M",
        ),
        (
            "burst=10:20",
            "option 'burst': '10:20' is neither 'off' nor static:INTERVAL:LENGTH (in activations) nor adaptive:INTERVAL:LENGTH:RR",
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
            "probe=counters,stride=5",
            "option 'stride' is for probe=yieldpoint; use it with probe=yieldpoint, or leave it out",
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
            "option 'budget': '2%' is a share of the run, for probe=auto without a schedule on plain paths, or profile=structural with retire=true; profile=kpaths takes a number of nodes such as 200k",
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
            "path_limits=5",
            "unknown option 'path_limits'; did you mean 'path-limit'?",
        ),
        (
            "path_limit=1",
            "option 'path-limit': '1' is not a number from 2 to 2147483647",
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
        (
            "samples=0",
            "option 'samples': '0' is not a number from 1 to 4294967295",
        ),
    ] {
        assert_eq!(error(text), expected, "{text}");
    }
    assert!(error("schedule=sag:64").contains("SAMPLES and STRIDE are both needed"));
}

#[test]
fn loops_with_a_single_path_carry_a_probe_by_default() {
    for (text, skips) in [
        ("", false),
        ("probe=yieldpoint", false),
        ("schedule=timer", false),
        ("probe=counters", false),
        ("probe=counters,single-path-loops=skip", true),
        ("probe=yieldpoint,single-path-loops=skip", true),
    ] {
        assert_eq!(parse(text).options.skips_single_path_loops(), skips, "{text}");
    }
}

#[test]
fn contexts_of_a_running_program_come_from_bursts_unless_told_otherwise() {
    for (events, burst) in [
        (BurstEvents::Jvm, "static:100ms:2ms"),
        (BurstEvents::Probes, "static:2ms:200us"),
    ] {
        for text in ["profile=contexts", "profile=contexts,phi=0.01,include=a.*"] {
            let mut options = parse(text).options;
            assert!(options.take_bursts_unless_told(events), "{text}");
            assert_eq!(options.stream.burst.to_string(), burst);
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
        "profile=contexts,call-paths=on",
        "profile=contexts,consumer=agent",
        "profile=contexts,file=x.trace",
        "profile=contexts+paths",
        "profile=kpaths",
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
        ("stride=5,probe=auto", Probe::Yieldpoint),
        ("probe=counters", Probe::Counters),
        ("profile=kpaths", Probe::Events),
        ("profile=paths+kpaths,probe=auto", Probe::Events),
        ("file=%p.trace", Probe::Events),
        ("probe=events", Probe::Events),
    ] {
        let options = parse(text).options;
        assert_eq!(options.probe_in_use(), probe, "{text}");
        assert!(!options.skips_single_path_loops(), "{text}");
    }
    let o = parse("profile=contexts,phi=0.001,algorithm=sticky,burst=adaptive:1000:64:5%").options;
    assert_eq!(
        (o.thresholds(), o.contexts.algorithm),
        ((0.001, 0.0002), ContextAlgorithm::StickySampling)
    );
    assert_eq!(o.stream.burst.to_string(), "adaptive:1000:64:5");
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
        "profile=subpaths,consumer=agent",
        "profile=subpaths,skipping=consumer",
        "profile=subpaths,file=a.trace",
        "profile=paths",
    ] {
        assert!(!parse(other).options.skips_in_probes(), "{other}");
    }
    for (given, length, revisits) in [
        ("static:2ms:200us", 200, Revisits::All),
        (
            "adaptive:2000us:1ms:10",
            1000,
            Revisits::OneIn(NonZeroU32::new(10).unwrap()),
        ),
        ("adaptive:2ms:1us:none", 1, Revisits::None),
    ] {
        let o = parse(&format!("profile=contexts,burst={given},weight=calls")).options;
        let expected = Burst::Timed {
            interval: Duration::from_millis(2),
            length: Duration::from_micros(length),
            revisits,
        };
        assert_eq!(o.stream.burst, expected, "{given}");
        assert_eq!(o.stream.burst.to_string().parse(), Ok(expected));
        assert!(o.has_bursts_in_program());
    }
    let o = parse("profile=contexts,burst=static:50ms:2ms,burst-events=jvm").options;
    assert!(o.has_events_of_jvm() && o.has_bursts_in_program() && !o.has_steps_of_jvm());
    let o = parse("profile=subpaths,burst=static:50ms:2ms,burst-events=jvm").options;
    assert!(o.has_steps_of_jvm() && !o.skips_in_probes());
    assert!(o.pairs().contains(&("burst-events", "jvm".to_owned())));
    let o = parse("profile=contexts,weight=alloc,alloc-interval=0").options;
    assert_eq!(
        (o.contexts.weight, o.contexts.alloc_interval),
        (ContextWeight::Alloc, 0)
    );
    assert!(!o.has_bursts_in_program());

    let o = parse("profile=kpaths,k=16,budget=200k,burst=static:1000:64").options;
    assert_eq!(
        (o.kpaths.k, o.kpaths.budget, o.stream.burst.to_string().as_str()),
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
        ("probe=auto,stride=3", false),
        ("probe=auto,profile=kpaths", false),
        ("probe=auto,file=x.trace", false),
        ("probe=counters", false),
        ("profile=structural", true),
        ("profile=structural,window=20", true),
        ("profile=structural,window=all", false),
        ("profile=structural,retire=false", false),
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
    let nodes = parse("profile=kpaths,budget=2k").options;
    assert_eq!((nodes.allowance(), nodes.kpaths.budget), (0.01, Some(2000)));
    for wrong in [
        "budget=0%",
        "budget=101%",
        "budget=x%",
        "budget=%",
        "budget=-1%",
        "budget=NaN%",
    ] {
        let error = AgentCommand::parse(wrong).unwrap_err().to_string();
        assert!(error.contains("is not a share of the run"), "{wrong}: {error}");
    }
}

#[test]
fn properties_file() {
    let text = "# comment\n! too\n\nprobe = counters\ninclude: a.*+b.*\nlog=/x,y\n";
    let o = ProfileOptions::parse_properties(text).unwrap();
    assert_eq!(o.probe, Probe::Counters);
    assert_eq!(o.code.include, ["a.*", "b.*"]);
    assert_eq!(o.output.log.as_deref(), Some("/x,y"));
    let error = ProfileOptions::parse_properties("probe=auto\nnonsense\n").unwrap_err();
    assert_eq!(error.to_string(), "line 2: 'nonsense' is not name=value");
}

#[test]
fn config_file_gives_way_to_what_is_given() {
    let path = std::env::temp_dir().join(format!("trodden-options-{}.properties", std::process::id()));
    std::fs::write(&path, "probe=yieldpoint\ninclude=a.*\nschedule=ag:8:3\n").unwrap();
    let text = format!("config={},include=b.*,stride=9", path.display());
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
fn underscores_and_old_names_are_taken() {
    for text in ["path_limit=9", "path-limit=9"] {
        assert_eq!(parse(text).options.code.path_limit, 9);
        assert_eq!(parse(text).to_agent_string(), "start,path-limit=9");
    }
    let o = parse("profile=contexts,call_paths=on,single_path_methods=probe").options;
    assert_eq!(o.contexts.call_paths, CallPaths::On);
    assert!(option_named("path_limit").is_some() && option_named("call_paths").is_none());
    assert!(matches!(
        AgentCommand::parse("path-limit=9,path_limit=9"),
        Err(OptionError::Twice { name: "path-limit" })
    ));
}

/// The options of a use, and the same with an example of this option.
fn with_example(option: &OptionEntry, one: Option<&Use>) -> (String, String) {
    let with = one.map_or("", |one| one.with).to_owned();
    let value = match (option.name, &*with) {
        ("budget", "probe=auto") => "2%",
        ("burst", "profile=subpaths") => "static:50ms:2ms,burst-events=jvm",
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
            let (plain, changed) = (parse(&with).options, parse(&given).options);
            assert!(option.applies(&changed), "{given}");
            assert!(changed.is_given(option.part_of.unwrap_or(option.name)));
            assert_eq!(
                parse(&parse(&given).to_agent_string()).options,
                changed,
                "{given}"
            );
            assert_ne!(changed.pairs(), plain.pairs(), "{given}");
            if option.part_of.is_none() {
                assert_ne!(option.value_in(&changed), option.value_in(&plain), "{given}");
            }
        }
        if !option.uses.is_empty() {
            // No option belongs to everything that is there: some use of another one is none of its own.
            let other = options().flat_map(|other| other.uses).find(|one| {
                let options = parse(one.with).options;
                !option.applies(&options)
            });
            let other = other.unwrap_or_else(|| panic!("{} belongs everywhere", option.name));
            let text = format!("{},{}={}", other.with, option.name, option.example);
            let error = error(&text);
            assert!(error.contains("or leave it out"), "{text}: {error}");
        }
    }
}

#[test]
fn the_fingerprint_changes_with_what_changes_classes_or_counts() {
    for option in options().filter(|option| !matches!(option.name, CONFIG | "file" | "samples" | "stride")) {
        let uses: Vec<Option<&Use>> = match option.uses {
            [] => vec![None],
            uses => uses.iter().map(Some).collect(),
        };
        for one in uses {
            let (with, given) = with_example(option, one);
            let (plain, changed) = (parse(&with).options, parse(&given).options);
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
    assert_ne!(of("schedule=sag:64:17"), of("stride=5"));
    assert_ne!(of("probe=events,file=a.trodden"), of("probe=events,file=a.trace"));
    assert_ne!(of("profile=subpaths"), of("profile=subpaths,seed=5"));
    // The same in other words, and what is scaled by the interval.
    assert_eq!(of("schedule=sag:64:5"), of("stride=5"));
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
    prop_oneof![Just(Burst::Off), window, adaptive]
}

fn share() -> impl Strategy<Value = Share> {
    prop_oneof![1e-300..1.0f64, 0.0001..1.0f64, Just(1.0)].prop_map(|share| Share::new(share).unwrap())
}

fn subpath_choices() -> impl Strategy<Value = SubpathChoices> {
    let starts = prop_oneof![
        Just(SubpathStarts::Anywhere),
        Just(SubpathStarts::Headers),
        (1..=MOST_PREFERENCE).prop_map(|weight| SubpathStarts::Prefer(NonZeroU32::new(weight).unwrap())),
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
        (prop::sample::select(Skipping::ALL), 1u32 << 10..=1 << 30, lengths),
    )
        .prop_map(
            |(starts, identity, ages, distance, threshold, counts, (skipping, footprint, lengths))| {
                SubpathChoices {
                    starts,
                    identity,
                    half_life: ages.0.filter(|_| ages.1),
                    sliding_window: ages.0.filter(|_| !ages.1 && counts == SubpathCounts::Sampled),
                    distance,
                    threshold,
                    counts,
                    skipping,
                    footprint,
                    lengths,
                }
            },
        )
}

prop_compose! {
    fn code()(
        include in prop::collection::vec(text(), 0..4),
        (exclude, skip_main) in (prop::collection::vec(text(), 0..4), prop::collection::vec(text(), 0..4)),
        path_limit in 2u32..=0x7fff_ffff,
        single_path_loops in prop::option::of(prop::sample::select(SinglePathLoops::ALL)),
        single_path_methods in prop::sample::select(SinglePathMethods::ALL),
        (cut_paths, open_paths) in (
            prop::sample::select(CutPaths::ALL),
            prop::option::of(prop::sample::select(OpenPaths::ALL)),
        ),
        (use_profile, memory) in (prop::option::of(text()), prop::option::of(text())),
        renumber in prop::option::of(duration()),
    ) -> CodeChoices {
        CodeChoices {
            include, exclude, skip_main, path_limit, single_path_loops, single_path_methods, cut_paths, open_paths, use_profile,
            memory, renumber,
        }
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
        fleet in prop::option::of(1u32..),
        draw in 1u64..1_000_000,
        hmac_key in prop::option::of(text()),
    ) -> FleetChoices {
        FleetChoices {
            spool, limit, service, build, host, labels,
            fleet: fleet.and_then(std::num::NonZeroU32::new),
            draw: Duration::from_secs(draw),
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
    let (events, consumers) = (
        prop::sample::select(BurstEvents::ALL),
        prop::sample::select(ConsumedBy::ALL),
    );
    let stream = (burst(), events, consumers).prop_map(|(burst, events, consumer)| StreamChoices {
        burst_events: match burst {
            Burst::Timed { .. } => events,
            _ => BurstEvents::Probes,
        },
        burst,
        consumer,
    });
    let retiring = (prop::option::of(1u32..=10_000), prop::option::of(duration()));
    let k = (2u32..=1024, prop::option::of(4096u32..)).prop_map(|(k, budget)| KPathsChoices { k, budget });
    let rest = (
        contexts,
        stream,
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
            (contexts, stream, (share, rearm), kpaths, subpaths, (fleet, seed)),
        )| {
            let share = share.filter(|_| kpaths.budget.is_none());
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
                stream,
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
    options.check().is_ok().then_some(options)
}

proptest! {
    #[test]
    fn agent_string_round_trips(options in any_options(), action in prop::sample::select(Action::ALL)) {
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
        let mut back = ProfileOptions::from_pairs(&options.pairs()).unwrap();
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
    assert_eq!(paths.code.single_path_methods, SinglePathMethods::Probe);
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
