use proptest::prelude::*;

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
    assert_eq!(o.schedule.to_string(), "sag:64:17");
    assert_eq!(o.interval, Duration::from_millis(20));
    assert_eq!(o.include, ["a.*"]);
    assert_eq!(o.file.as_str(), "out-%p.trodden");
    assert_eq!(o.loglevel, LogLevel::Debug);
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
    let o = parse(r"include=a.*+b\+c,include=d\,e,exclude=x\y+z\\").options;
    assert_eq!(o.include, ["a.*", "b+c", "d,e"]);
    assert_eq!(o.exclude, [r"x\y", r"z\"]);
}

#[test]
fn shorthands_change_the_schedule_in_any_order() {
    assert_eq!(
        parse("samples=3,schedule=ag:64:17").options.schedule.to_string(),
        "ag:3:17"
    );
    assert_eq!(parse("stride=5").options.schedule.to_string(), "sag:64:5");
    assert_eq!(parse("samples=5").options.schedule.to_string(), "sag:5:17");
    assert_eq!(parse("").options.schedule.to_string(), "span:1ms:256");
    assert!(error("schedule=timer,stride=5").contains("takes one sample per tick"));
    assert_eq!(
        parse("samples=64,schedule=span:1ms:256")
            .options
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
            parse(text).options.renumber,
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
            "option 'probe' needs a value: probe=yieldpoint|counters|safepoint|events|auto",
        ),
        (
            "probe=counter",
            "option 'probe': unknown probe 'counter'; did you mean 'counters'? (known: auto, yieldpoint, counters, safepoint, events)",
        ),
        (
            "profile=paths+structural",
            "option 'profile': 'structural' stands alone",
        ),
        (
            "profile=path",
            "option 'profile': unknown profile 'path'; did you mean 'paths'? (known: paths, kpaths, contexts, subpaths, structural, null)",
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
            "option 'renumber': is for plain paths with probe=counters, or probe=yieldpoint and a schedule of spans",
        ),
        (
            "renumber=5s,probe=yieldpoint,schedule=sag:64:17",
            "option 'renumber': is for plain paths with probe=counters, or probe=yieldpoint and a schedule of spans",
        ),
        (
            "renumber=5s,profile=kpaths",
            "option 'renumber': is for plain paths with probe=counters, or probe=yieldpoint and a schedule of spans",
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
            "option 'burst': 'adaptive' is for contexts; kpaths takes 'static' or 'off'",
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
            "budget=39",
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
            "burst=static:2ms:200us",
            "option 'burst': bursts by the clock are for profile=contexts alone",
        ),
        (
            "profile=contexts,burst=static:2ms:200us,file=x.trace",
            "option 'burst': bursts by the clock are for running programs, not for traces",
        ),
        (
            "profile=contexts,burst-events=jvm",
            "option 'burst-events': 'jvm' is for bursts by the clock, such as burst=static:50ms:2ms with profile=contexts",
        ),
        (
            "profile=contexts,burst=static:1000:64,burst-events=jvm",
            "option 'burst-events': 'jvm' is for bursts by the clock, such as burst=static:50ms:2ms with profile=contexts",
        ),
        (
            "profile=contexts+paths,burst=static:50ms:2ms,burst-events=jvm",
            "option 'burst': bursts by the clock are for profile=contexts alone",
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
            "option 'interval': duration '20' lacks a unit (ns, us, ms, s or m)",
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
            "interval=5h",
            "option 'interval': unknown unit 'h' in '5h' (known: ns, us, ms, s, m)",
        ),
        (
            "interval=",
            "option 'interval': '' is not a duration such as 20ms",
        ),
        ("include=a++b", "option 'include': a pattern is empty"),
        (
            "path_limit=1",
            "option 'path_limit': '1' is not a number from 2 to 2147483647",
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
fn default_of_single_path_loops_follows_the_probe() {
    for (text, skips) in [
        ("", false),
        ("probe=yieldpoint", true),
        ("schedule=timer", true),
        ("probe=counters", false),
        ("probe=counters,single-path-loops=skip", true),
        ("probe=yieldpoint,single-path-loops=probe", false),
    ] {
        assert_eq!(parse(text).options.skips_single_path_loops(), skips, "{text}");
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
        assert_eq!(
            options.skips_single_path_loops(),
            probe == Probe::Yieldpoint,
            "{text}"
        );
    }
    let o = parse("profile=contexts,phi=0.001,algorithm=sticky,burst=adaptive:1000:64:5%").options;
    assert_eq!(
        (o.thresholds(), o.algorithm),
        ((0.001, 0.0002), ContextAlgorithm::StickySampling)
    );
    assert_eq!(o.burst.to_string(), "adaptive:1000:64:5");
    assert_eq!(o.probe_in_use(), Probe::Events);
    let o = parse("profile=subpaths,footprint=16k,lengths=any-uniform:77").options;
    let lengths = SubpathLengths {
        powers: false,
        uniform: true,
        limit: 77,
    };
    assert_eq!(
        (o.footprint, o.lengths, o.probe_in_use()),
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
        assert_eq!(o.burst, expected, "{given}");
        assert_eq!(o.burst.to_string().parse(), Ok(expected));
        assert!(o.has_bursts_in_program());
    }
    let o = parse("profile=contexts,burst=static:50ms:2ms,burst-events=jvm").options;
    assert!(o.has_events_of_jvm() && o.has_bursts_in_program());
    assert!(o.pairs().contains(&("burst-events", "jvm".to_owned())));
    let o = parse("profile=contexts,weight=alloc,alloc-interval=0").options;
    assert_eq!((o.weight, o.alloc_interval), (ContextWeight::Alloc, 0));
    assert!(!o.has_bursts_in_program());

    let o = parse("profile=kpaths,k=16,budget=200k,burst=static:1000:64").options;
    assert_eq!(
        (o.k, o.budget, o.burst.to_string().as_str()),
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
        ("probe=auto,interval=1ms,budget=2.5%", true),
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
    assert_eq!((share.allowance(), share.budget), (0.025, None));
    let nodes = parse("profile=kpaths,budget=2k").options;
    assert_eq!((nodes.allowance(), nodes.budget), (0.01, Some(2000)));
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
    assert_eq!(o.include, ["a.*", "b.*"]);
    assert_eq!(o.log.as_deref(), Some("/x,y"));
    let error = ProfileOptions::parse_properties("probe=auto\nnonsense\n").unwrap_err();
    assert_eq!(error.to_string(), "line 2: 'nonsense' is not name=value");
}

#[test]
fn config_file_gives_way_to_what_is_given() {
    let path = std::env::temp_dir().join(format!("trodden-options-{}.properties", std::process::id()));
    std::fs::write(&path, "probe=counters\ninclude=a.*\nschedule=ag:8:3\n").unwrap();
    let text = format!("config={},include=b.*,stride=9", path.display());
    let result = AgentCommand::parse(&text);
    std::fs::write(&path, "config=x\n").unwrap();
    let circular = AgentCommand::parse(&text);
    std::fs::remove_file(&path).unwrap();
    let o = result.unwrap().options;
    assert_eq!(o.probe, Probe::Counters);
    assert_eq!(o.include, ["b.*"]);
    assert_eq!(o.schedule.to_string(), "ag:8:9");
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
fn every_option_of_the_table_is_understood_and_documented() {
    let docs = include_str!("../../../docs/agent-options.md");
    for option in OPTIONS {
        let message = AgentCommand::parse(&format!("{}=", option.name));
        assert!(
            !matches!(message, Err(OptionError::Unknown { .. })),
            "{} is in the table but not parsed",
            option.name
        );
        let row = format!(
            "| `{}` | `{}` | {} | {} |",
            option.name,
            option.value.replace('|', "\\|"),
            option.default,
            option.help
        );
        assert!(
            docs.contains(&row),
            "docs/agent-options.md lacks this row:\n{row}"
        );
    }
}

fn text() -> impl Strategy<Value = String> {
    "[a-zA-Z0-9.*?$#,+\\\\/ =:äß]{1,12}"
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
    let identity = prop::sample::select(SubpathIdentity::ALL);
    let counts = prop::sample::select(SubpathCounts::ALL);
    (
        starts,
        identity,
        prop::option::of(large()),
        distance,
        threshold,
        counts,
    )
        .prop_map(
            |(starts, identity, half_life, distance, threshold, counts)| SubpathChoices {
                starts,
                identity,
                half_life,
                distance,
                threshold,
                counts,
            },
        )
}

prop_compose! {
    fn options()(
        probe in prop::sample::select(Probe::ALL),
        schedule in schedule(),
        interval in duration(),
        include in prop::collection::vec(text(), 0..4),
        exclude in prop::collection::vec(text(), 0..4),
        file in text(),
        dump in prop::option::of(duration()),
        path_limit in 2u32..=0x7fff_ffff,
        single_path_loops in prop::option::of(prop::sample::select(SinglePathLoops::ALL)),
        single_path_methods in prop::sample::select(SinglePathMethods::ALL),
        seed in any::<u64>(),
        (loglevel, quiet) in (prop::sample::select(LogLevel::ALL), any::<bool>()),
        (log, out, use_profile) in (prop::option::of(text()), prop::option::of(text()), prop::option::of(text())),
        (consumer, skipping) in (prop::sample::select(ConsumedBy::ALL), prop::sample::select(Skipping::ALL)),
        footprint in 1u32 << 10..=1 << 30,
        lengths in (any::<bool>(), any::<bool>(), 1u32..=16).prop_map(|(powers, uniform, log)| SubpathLengths {
            powers, uniform, limit: (1 << log) - u32::from(!powers && log > 1),
        }),
        subpaths in subpath_choices(),
        (k, budget, burst) in (2u32..=1024, prop::option::of(4096u32..), burst()),
        (run_share, rearm) in (prop::option::of(1u32..=10_000), prop::option::of(duration())),
        (phi, epsilon, algorithm) in (share(), prop::option::of(share()), prop::sample::select(ContextAlgorithm::ALL)),
    ) -> ProfileOptions {
        ProfileOptions {
            k, budget, burst, rearm, share: run_share.filter(|_| budget.is_none()), phi, epsilon, algorithm, footprint, lengths, skipping,
            subpaths,
            consumer, probe, schedule, interval, include, exclude,
            file: FilePattern::literal(&file).as_str().parse().unwrap(),
            dump, path_limit, single_path_loops, single_path_methods, use_profile, seed, loglevel, log, quiet, out,
            ..ProfileOptions::default()
        }
    }
}

proptest! {
    #[test]
    fn agent_string_round_trips(options in options(), action in prop::sample::select(Action::ALL)) {
        let command = AgentCommand { action, options };
        let text = command.to_agent_string();
        let mut back = AgentCommand::parse(&text).map_err(|e| TestCaseError::fail(format!("{text}: {e}")))?;
        prop_assert_eq!(&back.to_agent_string(), &text);
        back.options.given.clear();
        prop_assert_eq!(back, command, "{}", text);
    }

    #[test]
    fn pairs_round_trip(options in options()) {
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
