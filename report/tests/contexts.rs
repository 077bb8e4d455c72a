//! Calling contexts in all formats.

use crate::common;
use scraper::{Html, Selector};
use serde_json::Value;
use trodden_insight::contexts::ContextsOptions;
use trodden_profile::BlockExit::Return;
use trodden_profile::options::ContextWeight;
use trodden_profile::{
    ContextNode, ContextTree, Contexts, CpuFrame, CpuFrameKind, CpuRow, CpuSamples, CpuTime, Profile,
};
use trodden_report::{Report, ReportError, ReportOptions, StackKind};

type Node = (u32, u32, Option<u16>, Option<(u64, u64)>);

/// `main` calls `work` in two places, which calls `leaf` and an overload of it.
fn profile(thresholds: Option<(f64, f64)>, nodes: &[Node]) -> Profile {
    let method = |name: &str, descriptor: &str, line: u32| {
        common::Method::new(name, descriptor).block(&[line], Return, &[])
    };
    let nodes: Vec<ContextNode> = nodes
        .iter()
        .map(|&(depth, method, site, calls)| ContextNode {
            depth,
            class: 0,
            method,
            site,
            prefix: None,
            calls,
        })
        .collect();
    Profile {
        run: common::run(true),
        classes: vec![common::class(
            "demo/App",
            Some("App.java"),
            vec![
                method("main", "([Ljava/lang/String;)V", 3),
                method("work", "()V", 10),
                method("leaf", "(I)I", 20),
                method("leaf", "(J)J", 30),
            ],
        )],
        contexts: Some(Contexts {
            algorithm: if thresholds.is_some() { "lss" } else { "exact" }.to_owned(),
            thresholds,
            calls: nodes.iter().map(ContextNode::estimate).sum(),
            tree: ContextTree::from_preorder(nodes).unwrap(),
            ..Contexts::default()
        }),
        ..Profile::default()
    }
}

fn exact(calls: u64) -> Option<(u64, u64)> {
    Some((calls, calls))
}

fn example() -> Profile {
    profile(
        None,
        &[
            (1, 0, None, exact(1)),
            (2, 1, Some(0), exact(100)),
            (3, 2, Some(0), exact(5000)),
            (3, 3, Some(0), exact(40)),
            (2, 1, Some(1), exact(7)),
            (3, 2, Some(0), exact(350)),
        ],
    )
}

fn report(profile: &Profile, contexts: ContextsOptions) -> Report<'_> {
    let options = ReportOptions {
        contexts,
        ..ReportOptions::default()
    };
    Report::new(profile, &options).unwrap()
}

#[test]
fn text() {
    let profile = example();
    insta::assert_snapshot!("text", report(&profile, ContextsOptions::default()).text(false));
    let raised = ContextsOptions {
        phi: Some(0.5),
        ..ContextsOptions::default()
    };
    let text = report(&profile, raised).text(false);
    assert!(text.contains("1 are hot: 2,749 calls or more"), "{text}");
    assert!(!text.contains("350"), "{text}");
}

#[test]
fn collapsed_stacks_have_each_contexts_own_calls() {
    let profile = example();
    assert_eq!(
        report(&profile, ContextsOptions::default()).collapsed().unwrap(),
        "demo.App.main 1\n\
         demo.App.main;demo.App.work 107\n\
         demo.App.main;demo.App.work;demo.App.leaf 5390\n"
    );
    let by_line = ContextsOptions {
        call_sites: true,
        ..ContextsOptions::default()
    };
    let lines = report(&profile, by_line).collapsed().unwrap();
    assert!(
        lines.contains("demo.App.main;demo.App.work@3;demo.App.leaf@10 5390\n"),
        "{lines}"
    );
    let raised = ContextsOptions {
        phi: Some(0.5),
        ..ContextsOptions::default()
    };
    assert_eq!(
        report(&profile, raised).collapsed().unwrap(),
        "demo.App.main;demo.App.work;demo.App.leaf 5000\n"
    );
}

#[test]
fn without_contexts_there_are_no_stacks() {
    let profile = Profile::default();
    let report = Report::new(&profile, &ReportOptions::default()).unwrap();
    let error = report.collapsed().unwrap_err();
    assert!(matches!(error, ReportError::NoStacks(_)), "{error}");
    let error = error.to_string();
    assert!(
        error.contains("no path was counted") && error.contains("--profile paths"),
        "{error}"
    );
    let asked = ReportOptions {
        stacks: Some(StackKind::Calls),
        ..ReportOptions::default()
    };
    let report = Report::new(&profile, &asked).unwrap();
    for error in [
        report.collapsed().unwrap_err(),
        report.speedscope().unwrap_err(),
        report.pprof().unwrap_err(),
        report.firefox().unwrap_err(),
    ] {
        assert!(matches!(error, ReportError::NoContexts), "{error}");
    }
}

#[test]
fn json_has_callers_and_bounds() {
    let counted = profile(
        Some((0.1, 0.02)),
        &[
            (1, 0, None, None),
            (2, 1, Some(0), Some((90, 95))),
            (3, 2, Some(0), Some((10, 10))),
            (3, 3, None, Some((1, 3))),
        ],
    );
    let document: Value =
        serde_json::from_str(&report(&counted, ContextsOptions::default()).json().unwrap()).unwrap();
    let contexts = &document["contexts"];
    assert_eq!(
        (&contexts["threshold"], &contexts["hot"], &contexts["nodes"]),
        (&10.into(), &2.into(), &4.into())
    );
    let tree = contexts["tree"].as_array().unwrap();
    assert_eq!(tree.len(), 3);
    assert_eq!(
        (&tree[0]["calls"], &tree[0]["hot"]),
        (&Value::Null, &false.into())
    );
    assert_eq!(
        (&tree[1]["parent"], &tree[1]["calls"], &tree[1]["at_most"]),
        (&0.into(), &90.into(), &95.into())
    );
    assert_eq!(tree[2]["site"]["line"], 10);
    assert_eq!(tree[2]["name"], "leaf");
}

fn page_data(page: &str) -> Value {
    let page = Html::parse_document(page);
    let data = page
        .select(&Selector::parse("script#contexts-data").unwrap())
        .next();
    serde_json::from_str(&data.unwrap().text().collect::<String>()).unwrap()
}

#[test]
fn html_has_chains_and_the_sums_of_methods() {
    let profile = example();
    let text = report(&profile, ContextsOptions::default()).html().unwrap();
    let data = page_data(&text);
    let name = |at: &Value| {
        data["names"][at.as_u64().unwrap() as usize]
            .as_str()
            .unwrap()
            .to_owned()
    };
    // The two calls of `work` are one chain, the overloads of `leaf` two.
    let chains: Vec<(i64, String, u64, u64)> = data["chains"]
        .as_array()
        .unwrap()
        .iter()
        .map(|c| {
            (
                c[0].as_i64().unwrap(),
                name(&c[1]),
                c[2].as_u64().unwrap(),
                c[3].as_u64().unwrap(),
            )
        })
        .collect();
    let chain = |parent, name: &str, own| (parent, name.to_owned(), own, 0);
    assert_eq!(
        chains,
        [
            chain(-1, "demo.App.main(String[])", 1),
            chain(0, "demo.App.work()", 107),
            chain(1, "demo.App.leaf(int)", 5350),
            chain(1, "demo.App.leaf(long)", 40)
        ]
    );
    let methods: Vec<(String, u64, u64)> = data["methods"]
        .as_array()
        .unwrap()
        .iter()
        .map(|m| (name(&m[0]), m[1].as_u64().unwrap(), m[2].as_u64().unwrap()))
        .collect();
    let method = |name: &str, own, inclusive| (name.to_owned(), own, inclusive);
    assert_eq!(
        methods,
        [
            method("demo.App.main(String[])", 1, 5498),
            method("demo.App.work()", 107, 5497),
            method("demo.App.leaf(int)", 5350, 5350),
            method("demo.App.leaf(long)", 40, 40)
        ]
    );
    assert_eq!(data["total"], 5498);
    let page = Html::parse_document(&text);
    let rows = |selector: &str| page.select(&Selector::parse(selector).unwrap()).count();
    assert_eq!(rows("#contexts .chains tbody tr"), 6);
    assert_eq!(rows("#context-methods tbody tr"), 4);
}

/// What a method calls by recursion is its own already.
#[test]
fn recursion_counts_once() {
    let profile = profile(
        None,
        &[
            (1, 0, None, exact(1)),
            (2, 1, Some(0), exact(10)),
            (3, 2, Some(0), exact(5)),
            (4, 1, Some(0), exact(3)),
        ],
    );
    let data = page_data(&report(&profile, ContextsOptions::default()).html().unwrap());
    let sums: Vec<(u64, u64)> = data["methods"]
        .as_array()
        .unwrap()
        .iter()
        .map(|m| (m[1].as_u64().unwrap(), m[2].as_u64().unwrap()))
        .collect();
    // main, work (10 + 3 own; 18 with leaf, whose call of work is in it), leaf (5; 8).
    assert_eq!(sums, [(1, 19), (13, 18), (5, 8)]);
}

/// A context without a counter has a number that is not known; 0 would be wrong.
#[test]
fn chains_without_a_counter_are_not_known() {
    let counted = profile(
        Some((0.1, 0.02)),
        &[(1, 0, None, None), (2, 1, Some(0), Some((90, 95)))],
    );
    let text = report(&counted, ContextsOptions::default()).html().unwrap();
    assert_eq!(page_data(&text)["whole"], false);
    let page = Html::parse_document(&text);
    let row = page
        .select(&Selector::parse("#context-methods tbody tr").unwrap())
        .next();
    let cells: Vec<String> = row
        .unwrap()
        .child_elements()
        .map(|cell| cell.text().collect())
        .collect();
    assert_eq!(cells, ["demo.App.main(String[])", "100.0 %", "not known", ""]);
    let all = report(&example(), ContextsOptions::default()).html().unwrap();
    assert!(page_data(&all)["whole"] == true && !all.contains(", at least"));
}

/// Of very many chains the page has the largest, the sums of methods have all.
#[test]
fn small_chains_are_left_out_and_told() {
    // Each method calls two, fourteen levels deep.
    fn grow(depth: u32, nodes: &mut Vec<Node>) {
        for method in 0..2 {
            let calls = 1 + nodes.len() as u64 % 5;
            nodes.push((depth, method, None, exact(calls)));
            if depth < 14 {
                grow(depth + 1, nodes);
            }
        }
    }
    let mut nodes = Vec::new();
    grow(1, &mut nodes);
    assert_eq!(nodes.len(), (1 << 15) - 2);
    let many = profile(None, &nodes);
    let text = report(&many, ContextsOptions::default()).html().unwrap();
    let data = page_data(&text);
    let chains = data["chains"].as_array().unwrap();
    assert!((10_000..=20_000).contains(&chains.len()), "{}", chains.len());
    let sum = |key: usize| chains.iter().map(|c| c[key].as_u64().unwrap()).sum::<u64>();
    assert_eq!(data["total"].as_u64().unwrap(), sum(2) + sum(3));
    assert!(sum(3) > 0);
    let own: u64 = data["methods"]
        .as_array()
        .unwrap()
        .iter()
        .map(|m| m[1].as_u64().unwrap())
        .sum();
    assert_eq!(data["total"], own);
    assert!(text.contains(" chains with less than "));
    assert!(text.len() < 3 << 20, "{}", text.len());
}

#[test]
fn a_deep_recursion_is_cut() {
    let nodes: Vec<Node> = (1..=20_000).map(|depth| (depth, 1, Some(0), exact(1))).collect();
    let profile = profile(None, &nodes);
    let everything = ReportOptions {
        all: true,
        ..ReportOptions::default()
    };
    let stacks = Report::new(&profile, &everything).unwrap().collapsed().unwrap();
    assert_eq!(stacks.lines().count(), 1025);
    assert!(stacks.contains("[deeper] 18976\n"), "{}", &stacks[..200]);
    let report = report(&profile, ContextsOptions::default());
    // Each of them is below 0.01 %, and two of them are that much.
    assert_eq!(report.collapsed().unwrap().lines().count(), 513);
    assert!(report.html().unwrap().len() < 1 << 20);
    assert!(report.text(false).len() < 1 << 14);
}

#[test]
fn what_was_counted_is_named() {
    for (weight, unit, title) in [
        (ContextWeight::Calls, "calls", "Calls"),
        (ContextWeight::Time, "ns", "Time, ns"),
        (ContextWeight::Alloc, "bytes", "Bytes"),
    ] {
        let mut profile = example();
        profile.contexts.as_mut().unwrap().weight = weight;
        let report = report(&profile, ContextsOptions::default());
        let text = report.text(false);
        assert!(text.contains(&format!("5,498 {unit} in")), "{text}");
        assert!(text.contains(&format!(" {unit} or more")), "{text}");
        let json: Value = serde_json::from_str(&report.json().unwrap()).unwrap();
        assert_eq!(json["contexts"]["weight"], weight.name());
        assert!(json["contexts"]["tree"][0].get("along").is_none());
        assert!(report.html().unwrap().contains(title));
    }
}

/// Samples are followed along the tree: what a context calls without probes is its own, what the tree does not have is only in
/// those above it, and of a stack that was cut nothing is known.
#[test]
fn samples_stand_at_the_contexts_that_they_are_in() {
    let mut profile = example();
    let frame = |class: &str, name: &str, descriptor: &str| CpuFrame {
        class: class.to_owned(),
        name: name.to_owned(),
        descriptor: descriptor.to_owned(),
        kind: CpuFrameKind::Java,
    };
    let frames = vec![
        frame("demo/App", "main", "([Ljava/lang/String;)V"),
        frame("demo/App", "work", "()V"),
        frame("demo/App", "leaf", "(I)I"),
        frame("demo/App", "leaf", "(J)J"),
        frame("java/util/Arrays", "sort", "([I)V"),
        CpuFrame::other("[frames cut off]"),
    ];
    let row = |parent, frame, bci, samples| CpuRow {
        parent,
        frame,
        bci,
        own: CpuTime {
            samples,
            ns: samples * 1_000_000,
        },
    };
    let rows = [
        row(None, 4, Some(9), 0),
        // main, called by code without probes, and calling work in two places.
        row(Some(0), 0, Some(0), 0),
        row(Some(1), 1, Some(0), 4),
        row(Some(2), 2, Some(7), 50),
        // sort, called by work: work's own time, and that of what sort calls back.
        row(Some(2), 4, Some(3), 6),
        row(Some(4), 3, Some(1), 20),
        row(Some(0), 0, Some(1), 0),
        row(Some(6), 1, Some(5), 1),
        // A call that the tree does not have.
        row(Some(7), 3, Some(2), 3),
        row(None, 5, None, 0),
        row(Some(9), 0, Some(0), 16),
    ];
    let mut cpu = CpuSamples::default();
    cpu.set_stacks(frames, &rows);
    profile.cpu = Some(cpu);
    let report = report(&profile, ContextsOptions::default());
    let json: Value = serde_json::from_str(&report.json().unwrap()).unwrap();
    let contexts = &json["contexts"];
    assert_eq!(contexts["time"]["sampled"]["samples"], 100);
    assert_eq!(contexts["time"]["placed"]["samples"], 81);
    let of = |at: usize| {
        let time = &contexts["tree"][at]["time"];
        (
            time["own"]["samples"].as_u64().unwrap(),
            time["total"]["samples"].as_u64().unwrap(),
        )
    };
    // main; work in the first place, its leaf and the overload; work in the second one and its leaf.
    let found: Vec<(u64, u64)> = (0..6).map(of).collect();
    assert_eq!(found, [(0, 84), (10, 80), (50, 50), (20, 20), (1, 4), (0, 0)]);
    let text = report.text(false);
    let work = text
        .lines()
        .find(|line| line.contains("bci 0: demo.App.work") || line.contains("line 3: demo.App.work"));
    let work = work.unwrap_or_else(|| panic!("{text}"));
    assert!(work.contains(" 10.0 % ") && work.contains(" 80.0 % "), "{work}");
    assert!(text.contains("81.0 % of it is in"), "{text}");
    let page = report.html().unwrap();
    assert!(
        page.contains("CPU time, own") && page.contains("80.0 %"),
        "no time in the page"
    );
}

/// The way to a call from the search for the next case of a `switch` over patterns: that is no loop of the source.
#[test]
fn paths_to_calls_are_in_the_sources_terms() {
    use trodden_profile::BlockExit::{Branch, Goto, Return, Switch};
    use trodden_profile::{Condition, ConditionKind, MethodConditions, Outcome};

    // Block 1 looks for the case, block 2 asks its guard and goes back to 1, block 4 calls.
    let caller = common::Method::new("area", "()V")
        .block(&[10], Goto, &[1])
        .block(&[11], Switch, &[3, 2])
        .block(&[12], Branch, &[4, 1])
        .block(&[13], Return, &[])
        .block(&[14], Return, &[])
        .cases(&[(&[], true), (&[0], false)]);
    let map = caller.map();
    let leaf = common::Method::new("leaf", "()V").block(&[30], Return, &[]);
    let from_search = (0..map.num_paths())
        .find(|&number| {
            let path = map.describe(number).unwrap();
            path.start_kind == trodden_numbering::StartKind::Header
                && path.blocks.last().unwrap().index() == 4
        })
        .unwrap();
    let mut profile = profile(None, &[(1, 0, None, exact(10)), (2, 1, Some(17), exact(7))]);
    let class = common::class("demo/App", Some("App.java"), vec![caller, leaf]);
    profile.classes = vec![class];
    let contexts = profile.contexts.as_mut().unwrap();
    let mut nodes = contexts.tree.nodes().to_vec();
    nodes[1].prefix = Some(from_search as u32);
    contexts.tree = ContextTree::from_preorder(nodes).unwrap();
    let words = |profile: &Profile, bytecode: bool| {
        let options = ReportOptions {
            bytecode,
            ..ReportOptions::default()
        };
        let text = Report::new(profile, &options).unwrap().text(false);
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let in_bytecode = words(&profile, false);
    assert!(
        in_bytecode.contains("[top of the loop, line 11, line 11 "),
        "{in_bytecode}"
    );
    let condition = |block, kind, text: &str, outcomes: Vec<Outcome>| Condition {
        block,
        kind,
        text: Some(text.to_owned()),
        outcomes,
        made: None,
    };
    let case = |text: &str| Outcome::Case(text.to_owned());
    let conditions = MethodConditions {
        conditions: vec![
            condition(
                1,
                ConditionKind::Switch,
                "shape",
                vec![case("default"), case("case Circle c when c.r() > 3")],
            ),
            condition(2, ConditionKind::If, "c.r() > 3", vec![Outcome::Yes, Outcome::No]),
        ],
        restarts: vec![1],
        ..MethodConditions::default()
    };
    profile.conditions.insert((0, 0), conditions);
    let report = Report::new(&profile, &ReportOptions::default()).unwrap();
    let text = words(&profile, false);
    let expected = "[next case of the switch, line 11, line 11 switch (shape) → case Circle c when c.r() > 3, \
                    line 12 c.r() > 3 → yes]";
    assert!(text.contains(expected), "{text}");
    let json: Value = serde_json::from_str(&report.json().unwrap()).unwrap();
    assert_eq!(json["contexts"]["tree"][1]["along"]["start"], "cut");
    assert_eq!(words(&profile, true), in_bytecode);
}
