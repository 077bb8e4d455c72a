//! Calling contexts in all formats.

mod common;

use scraper::{Html, Selector};
use serde_json::Value;
use trodden_profile::BlockExit::Return;
use trodden_profile::options::ContextWeight;
use trodden_profile::{ContextNode, ContextTree, Contexts, Profile};
use trodden_report::{ContextsOptions, Report, ReportError, ReportOptions, StackKind};

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

#[test]
fn html_has_a_flame_graph_of_its_own() {
    let profile = example();
    let page = report(&profile, ContextsOptions::default()).html().unwrap();
    let page = Html::parse_document(&page);
    let frame = page
        .select(&Selector::parse("iframe.flame").unwrap())
        .next()
        .unwrap();
    let picture = frame.value().attr("srcdoc").unwrap();
    assert!(picture.contains("demo.App.work (5,497 calls"), "{picture}");
    assert!(
        !picture.contains("src=\"http") && !picture.contains("href=\"http"),
        "{picture}"
    );
    let rows = page
        .select(&Selector::parse("#contexts tbody tr").unwrap())
        .count();
    assert_eq!(rows, 6);
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
