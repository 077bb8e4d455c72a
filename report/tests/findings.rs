//! What stands out, and decisions in the source's terms: profiles made by hand, where the answer is known.

use crate::common::{self, Method, class, run, sources};
use trodden_profile::BlockExit::{Branch, FallThrough, Goto, Return};
use trodden_profile::{
    BlockShape, Callee, CompilerMade, Condition, ConditionKind, MethodConditions, MethodShape, Outcome,
    PathForest, Profile, Skipped,
};
use trodden_report::{Finding, FindingKind, Report, ReportOptions, Repository};

fn profile_of(methods: Vec<Method>, conditions: &[(u32, MethodConditions)]) -> Profile {
    let mut profile = Profile {
        run: run(true),
        classes: vec![class("demo/Shop", Some("Shop.java"), methods)],
        ..Profile::default()
    };
    for name in ["cut_paths", "open_paths"] {
        let value = if name == "cut_paths" { "count" } else { "read" };
        let facts = std::mem::take(&mut profile.run.facts);
        let texts = facts.texts().map(|(n, v)| (n.to_owned(), v.into_owned()));
        profile.run.facts = texts.chain([(name.to_owned(), value.to_owned())]).collect();
    }
    for (method, of) in conditions {
        profile.conditions.insert((0, *method), of.clone());
    }
    profile
}

fn condition(block: u32, text: &str) -> Condition {
    Condition {
        block,
        kind: ConditionKind::If,
        text: Some(text.to_owned()),
        outcomes: vec![Outcome::No, Outcome::Yes],
        made: None,
    }
}

fn conditions(all: Vec<Condition>) -> MethodConditions {
    MethodConditions {
        conditions: all,
        ..MethodConditions::default()
    }
}

fn findings(profile: &Profile) -> Vec<Finding> {
    Report::new(profile, &ReportOptions::default())
        .unwrap()
        .findings()
}

fn of_kind(all: &[Finding], kind: FindingKind) -> Vec<&Finding> {
    all.iter().filter(|finding| finding.kind == kind).collect()
}

/// `if (a) {…} if (b) {…}`: blocks 0 and 3 decide.
fn two_ifs() -> Method {
    Method::new("two", "()V")
        .block(&[5], Branch, &[2, 1])
        .block(&[6], FallThrough, &[2])
        .block(&[8], Branch, &[4, 3])
        .block(&[9], FallThrough, &[4])
        .block(&[11], Return, &[])
}

#[test]
fn a_condition_that_an_earlier_one_decides() {
    let both = || conditions(vec![condition(0, "a"), condition(2, "b")]);
    let correlated = two_ifs().count(&[0, 1, 2, 3, 4], 600).count(&[0, 2, 4], 900);
    let found = findings(&profile_of(vec![correlated], &[(0, both())]));
    let correlated = of_kind(&found, FindingKind::Correlated);
    assert_eq!(correlated.len(), 1, "{found:?}");
    assert_eq!(
        correlated[0].text,
        "Shop.two (Shop.java:8): `b` is always decided by `a` (line 5)"
    );
    assert_eq!(
        correlated[0].evidence,
        "no → no (60.0 %), yes → yes (40.0 %) in 1,500 executions"
    );
    assert_eq!(correlated[0].line, Some(8));

    // One path that contradicts, and there is no such finding: counts of edges are nearly the same.
    let independent = two_ifs()
        .count(&[0, 1, 2, 3, 4], 600)
        .count(&[0, 2, 4], 899)
        .count(&[0, 2, 3, 4], 1);
    let found = findings(&profile_of(vec![independent], &[(0, both())]));
    assert_eq!(of_kind(&found, FindingKind::Correlated), [] as [&Finding; 0]);
}

#[test]
fn never_is_said_of_exact_counts_only() {
    let of = || conditions(vec![condition(0, "a"), condition(2, "b")]);
    let one_way = || two_ifs().count(&[0, 2, 3, 4], 2_000).count(&[0, 2, 4], 500);
    let mut profile = profile_of(vec![one_way()], &[(0, of())]);
    let found = findings(&profile);
    let never = of_kind(&found, FindingKind::OneWay);
    assert_eq!(never.len(), 1, "{found:?}");
    assert_eq!(never[0].text, "Shop.two (Shop.java:5): `a` was never true");
    assert!(
        never[0]
            .evidence
            .starts_with("2,500 times a → no; 4 bytes of code behind the other way never ran"),
        "{never:?}"
    );

    profile.run.facts = common::run(true).facts;
    let found = findings(&profile);
    let evidence = &of_kind(&found, FindingKind::OneWay)[0].evidence;
    assert!(
        evidence.contains("a → no (paths that were cut off are not counted)"),
        "{evidence}"
    );

    profile.run = run(false);
    assert_eq!(
        of_kind(&findings(&profile), FindingKind::OneWay),
        [] as [&Finding; 0]
    );
    let rare = profile_of(vec![two_ifs().count(&[0, 2, 4], 999)], &[(0, of())]);
    assert_eq!(
        of_kind(&findings(&rare), FindingKind::OneWay),
        [] as [&Finding; 0]
    );
}

#[test]
fn a_rare_path_that_costs_much() {
    let method = |rare: &[u32]| {
        Method::new("rare", "()V")
            .block(&[5], Branch, &[2, 1])
            .block(rare, FallThrough, &[2])
            .block(&[9], Return, &[])
            .count(&[0, 2], 9_900)
            .count(&[0, 1, 2], 100)
    };
    let many: Vec<u32> = (20..120).collect();
    let found = findings(&profile_of(vec![method(&many)], &[]));
    let rare = of_kind(&found, FindingKind::RarePath);
    assert_eq!(rare.len(), 1, "{found:?}");
    assert!(
        rare[0].text.starts_with(
            "Shop.rare (Shop.java:5): one path, 1.0 % of those from its start, does 34.0 % of the method's work"
        ),
        "{rare:?}"
    );
    assert_eq!(
        of_kind(
            &findings(&profile_of(vec![method(&[20])], &[])),
            FindingKind::RarePath
        )
        .len(),
        0
    );
}

#[test]
fn iterations_that_alternate() {
    let looping = || {
        Method::new("turns", "()V")
            .block(&[4], FallThrough, &[1])
            .block(&[5], Branch, &[4, 2])
            .block(&[6], Goto, &[3])
            .block(&[7], Goto, &[1])
            .block(&[8], Branch, &[5, 3])
            .block(&[9], Return, &[])
    };
    let (a, b) = (looping().number(&[1, 2, 3]), looping().number(&[1, 4, 3]));
    let with_forest = |nodes: Vec<(u32, u64, u64)>| {
        let mut profile = profile_of(
            vec![looping().count(&[1, 2, 3], 5_000).count(&[1, 4, 3], 5_000)],
            &[],
        );
        let mut kpaths = trodden_profile::KPaths {
            k: 2,
            ..Default::default()
        };
        kpaths
            .methods
            .insert((0, 0), PathForest::from_preorder(nodes).unwrap());
        profile.kpaths = Some(kpaths);
        profile
    };
    let mut alternating = vec![(1, a, 5_000), (2, b, 4_999), (1, b, 5_000), (2, a, 4_999)];
    let mut mixed = vec![
        (1, a, 5_000),
        (2, a, 2_500),
        (2, b, 2_500),
        (1, b, 5_000),
        (2, a, 2_500),
        (2, b, 2_500),
    ];
    if a > b {
        alternating.rotate_left(2);
        mixed = vec![
            (1, b, 5_000),
            (2, b, 2_500),
            (2, a, 2_500),
            (1, a, 5_000),
            (2, b, 2_500),
            (2, a, 2_500),
        ];
    }
    let found = findings(&with_forest(alternating));
    let turns = of_kind(&found, FindingKind::Alternates);
    assert_eq!(turns.len(), 1, "{found:?}");
    assert!(
        turns[0].text.contains("two ways through its loop alternate"),
        "{turns:?}"
    );
    assert_eq!(
        of_kind(&findings(&with_forest(mixed)), FindingKind::Alternates),
        [] as [&Finding; 0]
    );
}

#[test]
fn methods_too_big_for_the_compiler() {
    let cold: Vec<u32> = (20..110).collect();
    let big = |cold: &[u32], calls: u64| {
        Method::new("big", "()V")
            .block(&[5], Branch, &[2, 1])
            .block(cold, FallThrough, &[2])
            .block(&[9], Return, &[])
            .count(&[0, 2], calls)
    };
    let found = findings(&profile_of(vec![big(&cold, 20_000)], &[]));
    let too_big = of_kind(&found, FindingKind::TooBig);
    assert_eq!(too_big.len(), 1, "{found:?}");
    assert_eq!(
        too_big[0].text,
        "Shop.big (Shop.java:5) has 368 bytes of bytecode: it is not inlined"
    );
    assert_eq!(
        too_big[0].evidence,
        "HotSpot's limit is 325 bytes; 360 bytes never ran: moved to a method of their own, lines 20–109 would bring it \
         under the limit"
    );
    assert_eq!(
        of_kind(
            &findings(&profile_of(vec![big(&cold, 9_999)], &[])),
            FindingKind::TooBig
        )
        .len(),
        0
    );
}

#[test]
fn what_the_compiler_made_is_folded() {
    let mut of = conditions(vec![condition(0, "a"), condition(2, "b")]);
    of.conditions[0].made = Some(CompilerMade::Assert);
    let method = two_ifs().count(&[0, 1, 2, 3, 4], 600).count(&[0, 2, 4], 900);
    let profile = profile_of(vec![method], &[(0, of)]);
    let options = |bytecode| ReportOptions {
        all: true,
        bytecode,
        ..ReportOptions::default()
    };
    let text = Report::new(&profile, &options(false)).unwrap().text(false);
    assert!(
        text.contains("5–8 b → yes") || text.contains("5–6 · 8 b → yes"),
        "{text}"
    );
    assert!(text.contains("and 1 that the compiler made on its own"), "{text}");
    assert!(!text.contains("a → "), "{text}");
    let bytecode = Report::new(&profile, &options(true)).unwrap().text(false);
    assert!(bytecode.contains("5 not taken → 6 → 8 not taken"), "{bytecode}");
}

#[test]
fn the_first_screen_fits_sixty_lines() {
    let methods: Vec<Method> = (0..40)
        .map(|i| {
            let mut method = two_ifs()
                .count(&[0, 1, 2, 3, 4], 600 + i)
                .count(&[0, 2, 4], 900)
                .count(&[0, 2, 3, 4], 20)
                .count(&[0, 1, 2, 4], 7);
            method.rename(&format!("method{i}WithAVeryLongNameThatIsNeverCut"));
            method
        })
        .collect();
    let both = || conditions(vec![condition(0, "a"), condition(2, "b")]);
    let all: Vec<_> = (0..40).map(|i| (i, both())).collect();
    let profile = profile_of(methods, &all);
    for width in [60, 80, 100, 160] {
        let options = ReportOptions {
            width,
            sources: vec![sources()],
            ..ReportOptions::default()
        };
        let text = Report::new(&profile, &options).unwrap().text(false);
        assert!(text.lines().count() <= 60, "{text}");
        assert!(
            text.lines().all(|line| line.chars().count() <= width),
            "{width}:\n{text}"
        );
        assert!(
            text.contains("method39WithAVeryLongNameThatIsNeverCut("),
            "{text}"
        );
        assert!(text.contains("a → yes"), "{text}");
    }
}

#[test]
fn what_was_not_measured_but_is_called_often() {
    // Block 1 calls `Lexer.next`, blocks 0 and 3 something else.
    let caller = || two_ifs().count(&[0, 1, 2, 4], 1_500).count(&[0, 2, 4], 10);
    let mut profile = profile_of(vec![caller()], &[]);
    let callee = Callee::new("demo/Lexer", "next", "(I)I");
    let map = std::sync::Arc::make_mut(&mut profile.classes[0].map);
    map.methods[0].shape = Some(MethodShape {
        code: 1,
        blocks: (0..5)
            .map(|block| BlockShape {
                opcodes: 1,
                instructions: 3,
                calls: u32::from(matches!(block, 0 | 1 | 3)),
                allocations: None,
            })
            .collect(),
        calls: vec![
            Callee::new("demo/Other", "next", "(I)I"),
            callee,
            Callee::new("demo/Lexer", "next", "(J)I"),
        ],
    });
    let skipped = |class: &str, method: Option<&str>| Skipped {
        class: class.to_owned(),
        method: method.map(str::to_owned),
        reason: "constant pool is full".to_owned(),
    };
    profile.skipped = vec![
        skipped("demo/Lexer", None),
        skipped("demo/Lexer", Some("idle()V")),
        skipped("demo/Lexer", Some("next(I)I")),
    ];
    let found = findings(&profile);
    let found = of_kind(&found, FindingKind::NotMeasured);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(
        found[0].text,
        "Lexer.next was not measured, and is called often: constant pool is full"
    );
    assert!(
        found[0]
            .evidence
            .starts_with("measured methods called it at least 1,500 times"),
        "{found:?}"
    );
    // Its share of the work is not known, so there is none.
    assert_eq!((found[0].share, found[0].method), (None, None));
    let json = Report::new(&profile, &ReportOptions::default())
        .unwrap()
        .json()
        .unwrap();
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let all = json["findings"].as_array().unwrap();
    let one = all.iter().find(|f| f["kind"] == "not-measured").unwrap();
    assert_eq!(
        (&one["class"], &one["name"]),
        (&"demo/Lexer".into(), &"next".into())
    );
    assert!(one["share"].is_null(), "{one}");

    // Called a little less often, it is not worth a sentence.
    profile.classes[0].counts[0]
        .paths
        .values_mut()
        .for_each(|count| *count = (*count).min(999));
    let found = findings(&profile);
    assert_eq!(of_kind(&found, FindingKind::NotMeasured), [] as [&Finding; 0]);
}

#[test]
fn a_method_that_takes_time_though_none_of_its_paths_ended() {
    let counted = two_ifs().count(&[0, 1, 2, 3, 4], 600);
    let idle = Method::new("main", "([Ljava/lang/String;)V").block(&[20], Return, &[]);
    let mut profile = profile_of(vec![counted, idle], &[]);
    let java = |name: &str, descriptor: &str| {
        common::cpu::frame("demo/Shop", name, descriptor, trodden_profile::CpuFrameKind::Java)
    };
    let frames = vec![java("main", "([Ljava/lang/String;)V"), java("two", "()V")];
    let rows = [
        common::cpu::row(None, 0, Some(0), common::cpu::time(90)),
        common::cpu::row(Some(0), 1, Some(0), common::cpu::time(10)),
    ];
    profile.cpu = Some(common::cpu::samples(frames, &rows));
    let found = findings(&profile);
    assert_eq!(found[0].kind, FindingKind::HotMethod, "{found:?}");
    assert_eq!(
        found[0].text,
        "Shop.main (Shop.java:20) takes 90.0 % of the whole time"
    );
    assert_eq!(
        found[0].evidence,
        "its paths are not known: none of them came to an end"
    );
    assert_eq!((found[0].share, found[0].method), (Some(0.9), None));
    assert_eq!(
        of_kind(&found, FindingKind::UnderWay),
        [] as [&Finding; 0],
        "it is said once"
    );

    // A little time is worth a line below the causes.
    let rows = [
        common::cpu::row(None, 0, Some(0), common::cpu::time(5)),
        common::cpu::row(Some(0), 1, Some(0), common::cpu::time(95)),
    ];
    let cpu = profile.cpu.as_mut().unwrap();
    let frames = vec![java("main", "([Ljava/lang/String;)V"), java("two", "()V")];
    cpu.set_stacks(frames, &rows);
    let found = findings(&profile);
    let idle = of_kind(&found, FindingKind::UnderWay);
    assert_eq!(
        idle[0].text,
        "Shop.main (Shop.java:20) takes 5.0 % of the whole time, and none of its paths came to an end"
    );
    assert_eq!(
        (idle[0].share, idle[0].line, idle[0].method, idle[0].aside),
        (Some(0.05), Some(20), None, true)
    );

    // Sampled paths tell nothing of those that were not seen; a method may have been left alone; and nothing at
    // all may have been counted.
    let mut sampled = profile.clone();
    sampled.run.exact = false;
    assert_eq!(
        of_kind(&findings(&sampled), FindingKind::UnderWay),
        [] as [&Finding; 0]
    );
    let mut left = profile.clone();
    left.skipped = vec![Skipped {
        class: "demo/Shop".to_owned(),
        method: Some("main([Ljava/lang/String;)V".to_owned()),
        reason: "constant pool is full".to_owned(),
    }];
    assert_eq!(
        of_kind(&findings(&left), FindingKind::UnderWay),
        [] as [&Finding; 0]
    );
    profile.classes[0]
        .counts
        .iter_mut()
        .for_each(|counts| counts.paths.clear());
    let found = findings(&profile);
    let kinds: Vec<FindingKind> = found.iter().map(|finding| finding.kind).collect();
    assert_eq!(
        kinds,
        [FindingKind::HotMethod, FindingKind::UnderWay],
        "{found:?}"
    );
}

/// `Shop.serve` calls `Shop.audit` for a few users, which spends its time below `String.format`; `Shop.main` loops over `serve`, and
/// what comes after its first loop is all of the rest.
fn served(audited: u64, usual: u64, other: u64) -> Profile {
    let serve = Method::new("serve", "()V")
        .block(&[5], Branch, &[2, 1])
        .block(&[6], Goto, &[2])
        .block(&[8], Return, &[])
        .count(&[0, 1, 2], 2_000)
        .count(&[0, 2], 98_000);
    let audit = Method::new("audit", "()V")
        .block(&[10], Branch, &[2, 1])
        .block(&[11], Goto, &[2])
        .block(&[12], Return, &[])
        .count(&[0, 1, 2], 1_000)
        .count(&[0, 2], 1_000);
    let start = Method::new("start", "()V")
        .block(&[30], FallThrough, &[1])
        .block(&[31], Branch, &[3, 2])
        .block(&[32], Goto, &[1])
        .block(&[34], Return, &[])
        .count(&[0], 100)
        .count(&[1, 2], 9_900)
        .count(&[1, 3], 100);
    let mut profile = profile_of(
        vec![serve, audit, start],
        &[
            (0, conditions(vec![condition(0, "user.audited()")])),
            (1, conditions(vec![condition(0, "first")])),
        ],
    );
    let java =
        |class: &str, name: &str| common::cpu::frame(class, name, "()V", trodden_profile::CpuFrameKind::Java);
    let frames = vec![
        java("demo/Shop", "start"),
        java("demo/Shop", "serve"),
        java("demo/Shop", "audit"),
        java("java/lang/String", "format"),
        java("demo/Other", "spin"),
    ];
    let time = common::cpu::time;
    // The last block of `start` calls `serve`, whose second block calls `audit`.
    let rows = [
        common::cpu::row(None, 0, Some(12), time(0)),
        common::cpu::row(Some(0), 1, Some(1), time(usual)),
        common::cpu::row(Some(0), 1, Some(4), time(0)),
        common::cpu::row(Some(2), 2, Some(8), time(10)),
        common::cpu::row(Some(3), 3, None, time(audited)),
        common::cpu::row(None, 4, None, time(other)),
    ];
    profile.cpu = Some(common::cpu::samples(frames, &rows));
    profile
}

#[test]
fn a_cause_is_said_once_with_its_share_of_the_whole_time() {
    let found = findings(&served(440, 300, 250));
    let causes: Vec<&Finding> = found.iter().filter(|finding| !finding.aside).collect();
    // Neither the method that it calls nor the loop's end behind which all of it is are said again.
    let first = causes[0];
    assert_eq!(first.kind, FindingKind::SlowOutcome, "{found:#?}");
    assert_eq!(
        first.text,
        "Shop.serve (Shop.java:5): `user.audited() → yes` takes 45.6 % of the whole time in 2.0 % of the cases, mostly in audit()"
    );
    assert_eq!(
        (first.condition.as_deref(), first.outcome.as_deref(), first.line),
        (Some("user.audited()"), Some("yes"), Some(5))
    );
    assert!((first.share.unwrap() - 0.456).abs() < 1e-9, "{first:?}");
    let others: Vec<&str> = causes[1..].iter().map(|finding| &*finding.text).collect();
    assert_eq!(
        others,
        ["Shop.serve (Shop.java:5) takes 30.0 % of the whole time, mostly on line 5"]
    );
    let asides: Vec<bool> = found.iter().map(|finding| finding.aside).collect();
    assert!(asides.is_sorted(), "{found:#?}");
    let shares: Vec<f64> = causes.iter().filter_map(|finding| finding.share).collect();
    assert!(shares.is_sorted_by(|a, b| a >= b), "{found:#?}");
}

#[test]
fn outcomes_come_before_methods_with_less_than_twice_their_time() {
    let ways = [FindingKind::SlowOutcome, FindingKind::HotMethod];
    let own = [FindingKind::HotMethod, FindingKind::SlowOutcome];
    for (usual, expected) in [(350, ways), (700, own)] {
        let found = findings(&served(200, usual, 90));
        let causes: Vec<_> = found.iter().filter(|finding| !finding.aside).collect();
        let kinds: Vec<FindingKind> = causes.iter().map(|finding| finding.kind).collect();
        assert_eq!(kinds, expected, "{found:#?}");
        let of_way = causes.iter().find(|finding| finding.kind == ways[0]).unwrap();
        let of_method = causes.iter().find(|finding| finding.kind == ways[1]).unwrap();
        assert!(of_way.share < of_method.share, "{found:#?}");
    }
}

#[test]
fn findings_of_little_of_the_whole_time_are_none() {
    // The same, in a program that does other things most of the time.
    let found = findings(&served(44, 30, 10_000));
    assert!(found.iter().all(|finding| finding.aside), "{found:#?}");
}

#[test]
fn json_says_which_decision_a_finding_is_about() {
    let report = served(440, 300, 250);
    let json = Report::new(&report, &ReportOptions::default())
        .unwrap()
        .json()
        .unwrap();
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let first = &json["findings"][0];
    for (key, value) in [
        ("kind", "slow-outcome"),
        ("severity", "cause"),
        ("class", "demo/Shop"),
        ("method", "serve"),
        ("condition", "user.audited()"),
        ("outcome", "yes"),
    ] {
        assert_eq!(first[key], value, "{first}");
    }
    assert_eq!(first["line"], 5);
}

#[test]
fn a_method_without_probes_has_a_row_with_its_reason() {
    let mut profile = served(440, 300, 250);
    let caller = two_ifs().count(&[0, 2, 4], 12);
    let map = std::sync::Arc::make_mut(&mut profile.classes[0].map);
    map.methods.push(caller.map());
    profile.classes[0].counts.push(caller.counts);
    let java =
        |class: &str, name: &str| common::cpu::frame(class, name, "()V", trodden_profile::CpuFrameKind::Java);
    let frames = vec![java("demo/Shop", "two"), java("demo/Interpreter", "loop")];
    let rows = [
        common::cpu::row(None, 0, Some(1), common::cpu::time(20)),
        common::cpu::row(Some(0), 1, Some(700), common::cpu::time(60)),
        common::cpu::row(Some(0), 1, Some(704), common::cpu::time(15)),
        common::cpu::row(Some(0), 1, Some(900), common::cpu::time(5)),
    ];
    let mut cpu = common::cpu::samples(frames.clone(), &rows);
    cpu.set_lines(&frames, [(1, 700, 91), (1, 704, 92)]);
    profile.cpu = Some(cpu);
    profile.skipped = vec![Skipped {
        class: "demo/Interpreter".to_owned(),
        method: Some("loop()V".to_owned()),
        reason: "would have more than 8,000 bytes".to_owned(),
    }];
    let report = Report::new(&profile, &ReportOptions::default()).unwrap();
    let left = &report.view().left_out;
    assert_eq!((left.len(), left[0].share(left[0].near)), (1, 0.8));
    // Its caller's own time is what is left.
    let two = report
        .view()
        .methods
        .iter()
        .find(|method| method.map.name == "two")
        .unwrap();
    assert_eq!(two.time.as_ref().unwrap().share, 0.2);
    let text = report.text(false);
    let at = |what: &str| text.find(what).unwrap_or_else(|| panic!("no {what}: {text}"));
    assert!(at("demo.Interpreter.loop()") < at("demo.Shop.two()"), "{text}");
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        words.contains("its paths are not known: would have more than 8,000 bytes"),
        "{text}"
    );
    // Its lines, by time; that of one place is not known.
    assert!(words.contains("60.0 % line 91 15.0 % line 92"), "{text}");
    let json: serde_json::Value = serde_json::from_str(&report.json().unwrap()).unwrap();
    let left = &json["left_out"][0];
    assert_eq!(
        (&left["name"], &left["time"]["near"]["share"]),
        (&"loop".into(), &0.8.into())
    );
    let line = |line: u32, samples: u64| {
        let seconds = samples as f64 / 1000.0;
        serde_json::json!({"line": line, "samples": samples, "seconds": seconds, "share": samples as f64 / 100.0})
    };
    assert_eq!(left["lines"], serde_json::json!([line(91, 60), line(92, 15)]));
    let first = &report.findings()[0];
    assert_eq!(first.text, "Interpreter.loop takes 80.0 % of the whole time");
    // It can be asked for.
    let options = ReportOptions {
        method: Some("Interpreter#loop".to_owned()),
        ..ReportOptions::default()
    };
    let text = Report::new(&profile, &options).unwrap().text(false);
    assert!(
        text.contains("80.0 %") && text.contains("would have more than"),
        "{text}"
    );
    assert!(text.contains("60.0 %") && text.contains("line 91"), "{text}");
}

#[test]
fn no_path_with_much_time_is_hidden_by_others_with_more_decisions() {
    // Eight flags: the path on which none is set decides least, and has the time.
    let mut method = Method::new("flags", "()V");
    for i in 0..8 {
        let (block, line) = (2 * i, 10 * i as u32 + 1);
        // The last block returns; the first of each pair decides.
        method =
            method
                .block(&[line], Branch, &[16, block + 1])
                .block(&[line + 1], FallThrough, &[block + 2]);
    }
    method = method.block(&[99], Return, &[]);
    for length in 1..=8usize {
        let mut blocks: Vec<usize> = (0..2 * length - 1).collect();
        blocks.push(16);
        method = method.count(&blocks, 1_000);
    }
    let mut profile = profile_of(vec![method], &[]);
    let frames = vec![common::cpu::frame(
        "demo/Shop",
        "flags",
        "()V",
        trodden_profile::CpuFrameKind::Java,
    )];
    // The first condition itself is slow, so all paths divide its time; the rest is of the last ones.
    let rows = [common::cpu::row(None, 0, Some(1), common::cpu::time(730))];
    profile.cpu = Some(common::cpu::samples(frames, &rows));
    let text = |options: ReportOptions| Report::new(&profile, &options).unwrap().text(false);
    let of_method = text(ReportOptions {
        method: Some("Shop#flags".to_owned()),
        ..ReportOptions::default()
    });
    let all = text(ReportOptions {
        all: true,
        ..ReportOptions::default()
    });
    for shown in [&of_method, &all] {
        assert_eq!(shown.matches(", 1,000 times").count(), 8, "{shown}");
    }
}

#[test]
fn rows_of_paths_are_told_apart_at_every_width() {
    // Four ifs in a row with long conditions: sixteen paths that begin and end alike.
    let mut method = Method::new("rows", "()V");
    for i in 0..4 {
        let (block, line) = (2 * i, 60 + 3 * i as u32);
        method = method.block(&[line], Branch, &[block + 2, block + 1]).block(
            &[line + 1],
            FallThrough,
            &[block + 2],
        );
    }
    method = method.block(&[99], Return, &[]);
    let of: Vec<_> = (0..4)
        .map(|i| condition(2 * i, &format!("the.same.user().has(right{i}) && user.audited()")))
        .collect();
    for flags in 0..16u64 {
        let mut blocks = Vec::new();
        for i in 0..4 {
            blocks.push(2 * i);
            if flags >> i & 1 == 1 {
                blocks.push(2 * i + 1);
            }
        }
        blocks.push(8);
        method = method.count(&blocks, 100 + flags);
    }
    let profile = profile_of(vec![method], &[(0, conditions(of))]);
    for width in [60, 80, 100, 200] {
        let options = ReportOptions {
            width,
            paths: 16,
            ..ReportOptions::default()
        };
        let text = Report::new(&profile, &options).unwrap().text(false);
        assert!(
            text.lines().all(|line| line.chars().count() <= width),
            "{width}:\n{text}"
        );
        let mut rows: Vec<String> = Vec::new();
        for line in text
            .lines()
            .skip_while(|line| !line.contains("Shop.rows("))
            .skip(1)
        {
            let begins = line.trim_start().contains(" %  ×");
            match rows.last_mut() {
                _ if begins => rows.push(line.split_once('×').unwrap().1[3..].trim().to_owned()),
                Some(row) if line.starts_with("     ") => *row += line.trim(),
                None => (),
                Some(_) => break,
            }
        }
        assert!(rows.len() >= 10, "{width}:\n{text}");
        for (at, row) in rows.iter().enumerate() {
            assert!(!rows[..at].contains(row), "{width}: {row}\n{text}");
        }
    }
}

/// Each finding is a result at its line, or a notification if it has no place.
#[test]
fn sarif_has_each_finding_once() {
    let mut results_seen = 0;
    for profile in [
        common::profile(),
        common::cpu::shop([9_000, 1_000], [0, 50, 30, 0], 700, 100),
    ] {
        let report = Report::new(&profile, &ReportOptions::default()).unwrap();
        let text = report.sarif(&Repository::default()).unwrap();
        let sarif: serde_json::Value = serde_json::from_str(&text).unwrap();
        let run = &sarif["runs"][0];
        let list = |value: &serde_json::Value| value.as_array().cloned().unwrap_or_default();
        let results = list(&run["results"]);
        let notifications = list(&run["invocations"][0]["toolExecutionNotifications"]);
        let (mut messages, mut fingerprints) = (Vec::new(), std::collections::BTreeSet::new());
        let rules: Vec<_> = list(&run["tool"]["driver"]["rules"]);
        let findings = report.findings();
        for result in &results {
            messages.push(result["message"]["text"].as_str().unwrap().to_owned());
            assert!(
                fingerprints.insert(result["partialFingerprints"].to_string()),
                "{text}"
            );
            let finding = findings
                .iter()
                .find(|finding| messages.last().unwrap().starts_with(&finding.text))
                .unwrap();
            assert_eq!(result["ruleId"], finding.kind.name());
            assert!(rules.iter().any(|rule| rule["id"] == finding.kind.name()));
            let place = &result["locations"][0]["physicalLocation"];
            assert!(place["artifactLocation"]["uri"].is_string());
            if let Some(line) = finding.line {
                assert_eq!(place["region"]["startLine"], line);
            }
        }
        let notices = notifications.iter().map(|notice| &notice["message"]["text"]);
        messages.extend(notices.map(|text| text.as_str().unwrap().to_owned()));
        let mut expected: Vec<String> = findings
            .iter()
            .map(|finding| format!("{} ({})", finding.text, finding.evidence))
            .collect();
        messages.sort();
        expected.sort();
        assert_eq!(messages, expected);
        results_seen += results.len();
    }
    assert!(results_seen > 0);
}
