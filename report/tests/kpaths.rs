//! k-iteration path forests in all formats: over made-up activations of the paper's figures 3, 4 and 9.

use std::collections::BTreeMap;

use crate::common;
use scraper::{Html, Selector};
use serde_json::Value;
use trodden_insight::kpaths::KPathsOptions;
use trodden_profile::BlockExit::{Branch, FallThrough, Goto, Return};
use trodden_profile::{KPaths, PathForest, Profile};
use trodden_report::{Report, ReportOptions};

/// The forest of some activations, each with how often it happened.
fn forest(activations: &[(Vec<u64>, u64)], k: usize) -> PathForest {
    let mut counts = BTreeMap::new();
    for (stream, times) in activations {
        for from in 0..stream.len() {
            for to in from + 1..=stream.len().min(from + k) {
                *counts.entry(&stream[from..to]).or_insert(0u64) += times;
            }
        }
    }
    let rows = counts
        .into_iter()
        .map(|(sequence, count)| (sequence.len() as u32, *sequence.last().unwrap(), count));
    PathForest::from_preorder(rows).unwrap()
}

fn profile(method: common::Method, forest: PathForest, k: u32) -> Profile {
    Profile {
        run: common::run(true),
        classes: vec![common::class("demo/Filter", Some("Filter.java"), vec![method])],
        kpaths: Some(KPaths {
            k,
            slab_nodes: 120,
            slab_bytes: 4096,
            methods: [((0, 0), forest)].into(),
            ..KPaths::default()
        }),
        ..Profile::default()
    }
}

/// The loop of k-BLPP's figure 3: six blocks A to F, A, B: if C else D; E: back to B or on to F.
fn figure_3() -> common::Method {
    common::Method::new("walk", "(I)V")
        .block(&[3], FallThrough, &[1])
        .block(&[4], Branch, &[3, 2])
        .block(&[5], Goto, &[4])
        .block(&[7], FallThrough, &[4])
        .block(&[9], Branch, &[1, 5])
        .block(&[10], Return, &[])
}

/// The masked filter of figure 4.
fn filter() -> common::Method {
    common::Method::new("filter", "([B[B)V")
        .block(&[70], FallThrough, &[1])
        .block(&[70], Branch, &[6, 2])
        .block(&[71], Branch, &[4, 3])
        .block(&[72], Goto, &[5])
        .block(&[74], FallThrough, &[5])
        .block(&[70], Goto, &[1])
        .block(&[77], Return, &[])
}

/// Rows of an image: long runs of copies (c), shorter runs of convolutions (f).
fn filtered() -> Profile {
    let method = filter();
    let (enter, leave) = (method.number(&[0]), method.number(&[1, 6]));
    let copy = method.number(&[1, 2, 3, 5]);
    let convolve = method.number(&[1, 2, 4, 5]);
    let mut stream = vec![enter];
    for run in [180, 60, 240, 35, 400, 50, 300] {
        let path = if stream.len() == 1 || *stream.last().unwrap() == convolve {
            copy
        } else {
            convolve
        };
        stream.extend(std::iter::repeat_n(path, run));
    }
    stream.push(leave);
    let forest = forest(&[(stream, 20)], 10);
    profile(method, forest, 10)
}

/// Figure 9: a sequence of five paths that comes again and again, most of the time.
fn alternating() -> Profile {
    let numbers = [38u64, 86, 86, 86, 755];
    let mut stream = Vec::new();
    for round in 0..200 {
        stream.extend(numbers);
        if round % 3 == 2 {
            stream.extend([38, 87]);
        }
    }
    // Numbers that this method does not have: the tree is there, and the report tells.
    profile(figure_3(), forest(&[(stream, 1)], 11), 11)
}

fn report<'p>(profile: &'p Profile, kpaths: KPathsOptions) -> Report<'p> {
    let options = ReportOptions {
        kpaths,
        ..ReportOptions::default()
    };
    Report::new(profile, &options).unwrap()
}

fn json(profile: &Profile, kpaths: KPathsOptions) -> Value {
    serde_json::from_str(&report(profile, kpaths).json().unwrap()).unwrap()
}

const ALL: KPathsOptions = KPathsOptions {
    min_parent: Some(0.0),
    min_root: Some(0.0),
    unfold: false,
};

#[test]
fn goldens() {
    let profile = filtered();
    let report = report(&profile, KPathsOptions::default());
    insta::assert_snapshot!("text", report.text(false));
    insta::assert_snapshot!("dot", report.dot().unwrap());
    let document: Value = serde_json::from_str(&report.json().unwrap()).unwrap();
    let tree = &document["kpaths"]["methods"][0]["trees"][2];
    insta::assert_snapshot!("json_tree", serde_json::to_string_pretty(tree).unwrap());
    let alternating = alternating();
    insta::assert_snapshot!(
        "alternating",
        self::report(
            &alternating,
            KPathsOptions {
                min_root: Some(0.1),
                ..KPathsOptions::default()
            }
        )
        .text(false)
    );
}

/// k-BLPP's figure 3, its stream hand-fed: every node of the 4-IPF, with counters and shares. The paths are the paper's,
/// under our numbers.
#[test]
fn the_papers_example() {
    let walk = figure_3();
    let (enter, c, d, leave) = (
        walk.number(&[0]),
        walk.number(&[1, 2, 4]),
        walk.number(&[1, 3, 4]),
        walk.number(&[1, 2, 4, 5]),
    );
    let ours = |n: u64| {
        [(6, enter), (2, c), (0, d), (3, leave)]
            .into_iter()
            .find(|p| p.0 == n)
            .unwrap()
            .1
    };
    let stream = [6, 2, 0, 0, 2, 2, 0, 0, 2, 2, 0, 0, 2, 3].map(ours).to_vec();
    let forest = forest(&[(stream, 1)], 4);
    let profile = profile(figure_3(), forest.clone(), 4);
    let document = json(&profile, ALL);
    let kpaths = &document["kpaths"];
    assert_eq!(
        (&kpaths["k"], &kpaths["exact"], &kpaths["slab_nodes"]),
        (&4.into(), &true.into(), &120.into())
    );
    let method = &kpaths["methods"][0];
    assert_eq!(
        (&method["count"], &method["nodes"]),
        (&14.into(), &forest.nodes().len().into())
    );
    assert_eq!(method["last"][0], serde_json::json!({"path": leave, "count": 1}));
    let mut found = BTreeMap::new();
    for tree in method["trees"].as_array().unwrap() {
        let nodes = tree.as_array().unwrap();
        let mut sequence = Vec::new();
        for node in nodes {
            sequence.truncate(node["length"].as_u64().unwrap() as usize - 1);
            sequence.push(node["path"].as_u64().unwrap());
            let count = node["count"].as_u64().unwrap();
            if let Some(parent) = node["parent"].as_u64() {
                let above = nodes[parent as usize]["count"].as_f64().unwrap();
                assert_eq!(node["of_parent"].as_f64().unwrap(), count as f64 / above);
                assert_eq!(nodes[parent as usize]["path"], sequence[sequence.len() - 2]);
            }
            let root = nodes[0]["count"].as_f64().unwrap();
            assert_eq!(node["of_root"].as_f64().unwrap(), count as f64 / root);
            found.insert(sequence.clone(), count);
        }
    }
    found.insert(vec![leave], 1);
    assert_eq!(found, forest.sequences().collect());
    assert_eq!(found[&vec![c, d, d, c]], 3, "example 1");
    // Nothing is counted but the forest: its first level is the plain profile.
    assert_eq!(document["methods"][0]["count"], 14);
}

#[test]
fn pruning_is_by_parent_and_root() {
    let profile = filtered();
    let nodes = |min_parent, min_root| -> Vec<Value> {
        let options = KPathsOptions {
            min_parent,
            min_root,
            unfold: false,
        };
        let document = json(&profile, options);
        let trees = document["kpaths"]["methods"][0]["trees"]
            .as_array()
            .unwrap()
            .clone();
        trees
            .into_iter()
            .flat_map(|t| t.as_array().unwrap().clone())
            .collect()
    };
    let all = nodes(Some(0.0), Some(0.0));
    for (min_parent, min_root) in [(0.5, 0.0), (0.0, 0.2), (0.02, 0.02), (1.0, 1.0)] {
        let some = nodes(Some(min_parent), Some(min_root));
        assert!(some.len() < all.len());
        for node in &some {
            assert!(node["of_parent"].as_f64().unwrap() >= min_parent);
            assert!(node["of_root"].as_f64().unwrap() >= min_root);
        }
        // What is hidden and what ended is all that is left of each counter.
        for (i, node) in some
            .iter()
            .enumerate()
            .filter(|(_, n)| n["length"].as_u64() < Some(10))
        {
            let count = |n: &Value, key: &str| n[key].as_u64().unwrap();
            let length = count(node, "length");
            let below: u64 = some[i + 1..]
                .iter()
                .take_while(|n| count(n, "length") > length)
                .filter(|n| count(n, "length") == length + 1)
                .map(|n| count(n, "count"))
                .sum();
            let sum = below + count(node, "hidden_count") + count(node, "ended");
            assert_eq!(sum, count(node, "count"));
        }
    }
}

#[test]
fn runs_and_periods_are_folded() {
    let filtered = filtered();
    let copy = filter().number(&[1, 2, 3, 5]);
    let text = report(&filtered, KPathsOptions::default()).text(false);
    assert!(text.contains(&format!("{copy} ×9\n")), "{text}");
    let unfolded = report(
        &filtered,
        KPathsOptions {
            unfold: true,
            ..KPathsOptions::default()
        },
    )
    .text(false);
    assert!(!unfolded.contains("×9"), "{unfolded}");
    let alternating = alternating();
    let text = report(&alternating, KPathsOptions::default()).text(false);
    assert!(text.contains("86 ×3 → 755 → 38"), "{text}");
    assert!(text.contains("38:  names no path"), "{text}");
    for line in text.lines() {
        assert!(line.chars().count() <= 100, "{line}");
    }
}

#[test]
fn what_was_pruned_while_recording_is_told() {
    let mut profile = filtered();
    let kpaths = profile.kpaths.as_mut().unwrap();
    let forest = kpaths
        .methods
        .remove(&(0, 0))
        .unwrap()
        .with_missing(vec![0, 40, 1_200]);
    kpaths.methods.insert((0, 0), forest);
    let text = report(&profile, KPathsOptions::default()).text(false);
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        words.contains("for sequences of 4 paths by at most 1,200 in total"),
        "{text}"
    );
    let document = json(&profile, ALL);
    assert_eq!(document["kpaths"]["exact"], false);
    let method = &document["kpaths"]["methods"][0];
    assert_eq!(method["missing"], serde_json::json!([0, 40, 1200]));
    for node in method["trees"][0].as_array().unwrap() {
        let get = |key: &str| node[key].as_u64().unwrap();
        let missing = [0, 0, 0, 40, 1200, 0]
            .get(get("length") as usize)
            .copied()
            .unwrap_or(0);
        assert!(get("at_most") >= get("count") && get("at_most") <= get("count") + missing);
    }
    assert!(
        report(&profile, ALL)
            .html()
            .unwrap()
            .contains("Rare sequences were dropped")
    );
}

/// Every edge joins two nodes that are there; each node but the roots is entered once.
#[test]
fn dot_can_be_drawn() {
    let mut drawn = Vec::new();
    for unfold in [false, true] {
        let options = KPathsOptions { unfold, ..ALL };
        let dot = report(&filtered(), options).dot().unwrap();
        assert_eq!(dot.matches('{').count(), dot.matches('}').count());
        let (mut nodes, mut entered) = (Vec::new(), Vec::new());
        for line in dot.lines().map(str::trim).filter(|l| l.starts_with("k0_")) {
            let (name, label) = line.split_once(" [label=\"").unwrap();
            assert!(label.contains('"') && label.ends_with("];"), "{line}");
            match name.split_once(" -> ") {
                Some((from, to)) => {
                    assert!(nodes.contains(&from.to_owned()), "{from} comes first");
                    assert!(label.contains(" % (") && label.contains(" %)"), "{label}");
                    entered.push(to.to_owned());
                }
                None => nodes.push(name.to_owned()),
            }
        }
        let mut inner: Vec<String> = nodes.iter().filter(|n| !n.ends_with("_n0")).cloned().collect();
        inner.sort();
        entered.sort();
        assert_eq!(inner, entered);
        drawn.push(nodes.len());
    }
    assert!(drawn[0] < drawn[1], "runs are folded: {drawn:?}");
}

#[test]
fn the_page_has_the_trees() {
    let profile = filtered();
    let text = report(&profile, KPathsOptions::default()).html().unwrap();
    let page = Html::parse_document(&text);
    let select = |selector: &str| -> Vec<String> {
        let selector = Selector::parse(selector).unwrap();
        page.select(&selector)
            .map(|e| e.text().collect::<String>())
            .collect()
    };
    let trees = select(".kpaths details.tree > summary");
    assert_eq!(trees.len(), 3, "{trees:?}");
    assert!(trees[0].contains("22,400 times"), "{trees:?}");
    assert!(select(".kpaths .tree li").iter().any(|line| line.contains("×9")));
    assert_eq!(select(".kpaths .legend dd").len(), 3);
    assert!(text.ends_with("</html>\n"));
    // None without a forest.
    let plain = common::profile();
    let page = report(&plain, KPathsOptions::default()).html().unwrap();
    assert!(!page.contains("class=\"kpaths\""));
    assert_eq!(json(&plain, ALL).get("kpaths"), None);
}

/// Forests as wide and deep as they come: every format within its limits.
#[test]
fn large_forests_stay_readable() {
    let wide: Vec<(Vec<u64>, u64)> = (0..300).map(|i| (vec![0, i, i + 1, 0], 1 + i)).collect();
    let deep = vec![((0..1_200).map(|i| i * i % 3).collect(), 1)];
    for (activations, k) in [(wide, 4), (deep, 300)] {
        let profile = profile(figure_3(), forest(&activations, k), k as u32);
        for unfold in [false, true] {
            let report = report(&profile, KPathsOptions { unfold, ..ALL });
            let text = report.text(false);
            assert!(
                text.lines().count() < 500 && text.lines().all(|l| l.chars().count() <= 100),
                "{text}"
            );
            report.html().unwrap();
            report.dot().unwrap();
            report.svg().unwrap();
            serde_json::from_str::<Value>(&report.json().unwrap()).unwrap();
        }
    }
}
