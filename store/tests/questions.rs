//! The ready questions find what was planted in a made fleet, and nothing else.

mod fleet;
mod support;

use std::collections::BTreeSet;

use support::{Asked, ask, given};
use trodden_store::query::Value;

/// Days in text, from the fleet's milliseconds.
fn day(ms: u64) -> String {
    trodden_store::Day::of_ms(ms as i64).to_string()
}

/// `method line: condition → outcome` of all rows.
fn ways(asked: &Asked) -> BTreeSet<String> {
    let way = |row: &Vec<Value>| {
        let text = |name: &str| asked.answer.get(row, name).plain();
        format!(
            "{} {}: {} → {}",
            text("method"),
            text("line"),
            text("condition"),
            text("outcome")
        )
    };
    asked.answer.rows.iter().map(way).collect()
}

fn texts(asked: &Asked, columns: &[&str]) -> BTreeSet<String> {
    let row = |row: &Vec<Value>| {
        columns
            .iter()
            .map(|name| asked.answer.get(row, name).plain())
            .collect::<Vec<_>>()
            .join(" ")
    };
    asked.answer.rows.iter().map(row).collect()
}

fn set(items: &[&str]) -> BTreeSet<String> {
    items.iter().map(|&item| item.to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn branches_that_nobody_takes_any_more() {
    let (fleet, store) = support::small().await;
    // All days: build one took the children's branch of `price`, whose flow graph is the same in build two.
    // That of `serve` is not, so what build one did there says nothing.
    let asked = ask(&store, "never-taken", &[]).await;
    let both = set(&[
        "label 42: amount < 0 → yes",
        "serve 61: children → yes",
        "serve 61: request % 5 == 0 → no",
        "serve 61: request % 5 == 0 → yes",
    ]);
    assert_eq!(ways(&asked), both);
    assert!(asked.all("certain", &Value::Flag(true)));
    // Since build two: no visitor was a child.
    let since = day(fleet.change_ms());
    let asked = ask(&store, "never-taken", &given(&[("since", &since)])).await;
    let mut newest = both;
    newest.insert("price 9: age < 12 → yes".to_owned());
    assert_eq!(ways(&asked), newest);
}

#[tokio::test(flavor = "multi_thread")]
async fn methods_that_nobody_runs() {
    let (_, store) = support::small().await;
    let asked = ask(&store, "never-ran", &[]).await;
    assert_eq!(
        texts(&asked, &["class", "method", "descriptor"]),
        set(&["shop/Shop refund (I)I"])
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_build_does_differently() {
    let (_, store) = support::small().await;
    let asked = ask(&store, "changed", &[]).await;
    let found = texts(&asked, &["method", "kind"]);
    let planted = set(&[
        "audit new method",
        "label new path",
        "load graph changed",
        "lookup share",
        "price gone path",
        "price share",
        "serve graph changed",
    ]);
    assert_eq!(found, planted);
    assert!(
        asked
            .answer
            .rows
            .iter()
            .all(|row| asked.answer.get(row, "base").text() == Some("one"))
    );
    let new = asked.row("kind", "new path");
    assert!(
        asked.answer.get(new, "text").text().unwrap().contains("1000000"),
        "{new:?}"
    );
    // One of a hundred.
    let share = asked.answer.get(new, "new_share").float().unwrap();
    assert!((0.009..0.011).contains(&share), "{share}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_host_that_differs() {
    let (fleet, store) = support::small().await;
    let asked = ask(&store, "odd-hosts", &[]).await;
    let answer = &asked.answer;
    assert_eq!(answer.rows.len(), fleet.jvms as usize);
    let odd = &answer.rows[0];
    assert_eq!(answer.get(odd, "host").text(), Some(fleet.odd_host().as_str()));
    let distance = |row: &[Value]| answer.get(row, "distance").float().unwrap();
    // Elsewhere a quarter of all paths are those of `lookup`; here it is `load` that takes most.
    assert!(distance(odd) > 0.05, "{odd:?}");
    assert_eq!(answer.get(odd, "method").text(), Some("lookup"));
    assert!(answer.get(odd, "share").float().unwrap() > 0.99);
    assert!(answer.get(odd, "others_share").float().unwrap() < 0.01);
    for other in &answer.rows[1..] {
        assert!(distance(other) * 3.0 < distance(odd), "{other:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn classes_and_what_of_them_runs() {
    let (fleet, store) = support::small().await;
    let since = day(fleet.change_ms());
    let coverage = ask(&store, "coverage", &given(&[("since", &since)])).await;
    let never = ask(&store, "never-taken", &given(&[("since", &since)])).await;
    let [row] = &coverage.answer.rows[..] else {
        panic!("{:?}", coverage.answer.rows)
    };
    let number = |name: &str| coverage.answer.get(row, name).number().unwrap();
    // Only `refund` did not run, with its two ways out.
    assert_eq!(number("methods") - number("methods_run"), 1);
    assert_eq!(
        number("ways") - number("ways_taken"),
        never.answer.rows.len() as i64 + 2
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn ways_to_a_method() {
    let (_, store) = support::small().await;
    let asked = ask(&store, "contexts-to", &given(&[("to", "Shop.load")])).await;
    let [row] = &asked.answer.rows[..] else {
        panic!("{:?}", asked.answer.rows)
    };
    let chain = asked.answer.get(row, "chain").text().unwrap();
    let methods: Vec<&str> = chain.split(" < ").collect();
    assert_eq!(methods.len(), 4, "{chain}");
    for (method, name) in methods.iter().zip(["load", "lookup", "serve", "main"]) {
        assert!(method.contains(&format!("Shop.{name}")), "{chain}");
    }
    assert_eq!(asked.answer.get(row, "share"), &Value::Float(1.0));
}

#[tokio::test(flavor = "multi_thread")]
async fn sums_are_those_of_the_windows() {
    let (fleet, store) = support::small().await;
    let mut paths = 0u64;
    for (_, profile) in fleet.windows() {
        let counts = profile.classes.iter().flat_map(|class| &class.counts);
        paths += counts.map(trodden_profile::MethodCounts::total).sum::<u64>();
    }
    for sql in [
        "SELECT sum(count) AS n FROM paths",
        "SELECT sum(count) AS n FROM path_days",
        "SELECT sum(paths) AS n FROM method_days",
        "SELECT sum(path_ends) AS n FROM windows",
    ] {
        assert_eq!(
            support::sql(&store, sql).await.rows,
            [[Value::Number(paths as i64)]],
            "{sql}"
        );
    }
    let windows = support::sql(
        &store,
        "SELECT sum(merged), count(DISTINCT jvm), count(DISTINCT host) FROM windows",
    )
    .await;
    let jvms = i64::from(fleet.jvms);
    assert_eq!(
        windows.rows,
        [[fleet.len() as i64, 2 * jvms, jvms].map(Value::Number)]
    );
    let hot = ask(&store, "hot-methods", &[]).await;
    let decided: i64 = hot
        .answer
        .rows
        .iter()
        .filter_map(|row| hot.answer.get(row, "decisions").number())
        .sum();
    let days = support::sql(&store, "SELECT sum(decisions) AS n FROM method_days").await;
    assert_eq!(days.rows, [[Value::Number(decided)]]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_builds_own_rows() {
    let (_, store) = support::small().await;
    let one = ask(&store, "hot-methods", &given(&[("build", "one")])).await;
    assert!(!texts(&one, &["method"]).contains("audit"));
    let two = ask(&store, "hot-methods", &given(&[("build", "two")])).await;
    assert!(texts(&two, &["method"]).contains("audit"));
    let wrong = support::refused(&store, "hot-methods", &given(&[("build", "tow")])).await;
    assert!(wrong.contains("did you mean 'two'?"), "{wrong}");
    let wrong = support::refused(&store, "odd-hosts", &given(&[("since", "30d")])).await;
    assert!(
        wrong.contains("no parameter 'since'") && wrong.contains("day"),
        "{wrong}"
    );
    let wrong = support::refused(&store, "contexts-to", &[]).await;
    assert!(wrong.contains("--param to="), "{wrong}");
}

/// A thousand JVMs for a month: the same facts, found among more.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "long: makes and takes in 30,000 windows"]
async fn a_large_fleet() {
    let fleet = fleet::Fleet {
        jvms: 1_000,
        days: 30,
        ..fleet::Fleet::default()
    };
    let store = support::stored(&fleet).await;
    let since = day(fleet.change_ms());
    let asked = ask(&store, "never-taken", &given(&[("since", &since)])).await;
    assert_eq!(asked.answer.rows.len(), 5);
    assert!(ways(&asked).contains("price 9: age < 12 → yes"));
    let asked = ask(&store, "odd-hosts", &[]).await;
    let answer = &asked.answer;
    assert_eq!(answer.rows.len(), 1_000);
    let distance = |row: &[Value]| answer.get(row, "distance").float().unwrap();
    assert_eq!(
        answer.get(&answer.rows[0], "host").text(),
        Some(fleet.odd_host().as_str())
    );
    assert!(distance(&answer.rows[0]) > 10.0 * distance(&answer.rows[1]));
    let asked = ask(&store, "changed", &[]).await;
    assert!(texts(&asked, &["method", "kind"]).contains("label new path"));
}

/// The page of the questions names each, as it names itself.
#[test]
fn the_page_has_every_question() {
    let page = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/fleet/queries.md");
    let page = std::fs::read_to_string(page).unwrap();
    for (name, _) in trodden_store::query::READY {
        let query = trodden_store::query::ready(name).unwrap();
        assert!(
            page.contains(&format!("| {} | [`{name}`](#{name}) |", query.question)),
            "{name}"
        );
        let section = page
            .split(&format!("\n### {name}\n"))
            .nth(1)
            .unwrap_or_else(|| panic!("{name} has no section"));
        let section = section.split("\n### ").next().unwrap();
        assert!(
            section.contains(&format!("trodden store query fleet {name}")),
            "{name} has no example"
        );
    }
}
