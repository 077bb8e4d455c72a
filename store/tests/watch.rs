//! What `trodden store watch` says of a fleet in which the second build changes things.

mod fleet;
mod support;

use fleet::{DAY_MS, FIRST_MS, Fleet};
use trodden_store::Day;
use trodden_store::watch::{Finding, Kind, WatchOptions, Watched, json, markdown, sarif, watch, webhook};

fn day(number: u32) -> Day {
    Day::of_ms((FIRST_MS + u64::from(number) * DAY_MS) as i64)
}

async fn watched(fleet: &Fleet, since: u32, until: u32) -> Watched {
    let kept = support::stored(fleet).await;
    let options = WatchOptions {
        since: Some(day(since)),
        until: Some(day(until)),
        ..WatchOptions::default()
    };
    watch(&support::engine(&kept).await, &options).await.unwrap()
}

fn of<'a>(watched: &'a Watched, method: &str) -> &'a Finding {
    let found = watched
        .findings
        .iter()
        .find(|finding| finding.method.method == method);
    found.unwrap_or_else(|| panic!("no finding about {method}: {:#?}", watched.findings))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_build_that_changes_things() {
    let fleet = Fleet {
        days: 24,
        ..Fleet::default()
    };
    let change = fleet.change();
    let watched = watched(&fleet, 0, change + 4).await;
    // `two` gets many more items, and looks less of them up in its cache.
    let load = of(&watched, "load");
    assert_eq!((load.from, load.seen), (day(change), day(change + 1)));
    assert_eq!(load.builds, Some(("two".to_owned(), "one".to_owned())));
    assert_eq!(load.place.0.as_deref(), Some("Shop.java"));
    assert!(
        load.events
            .iter()
            .any(|event| event.kind == Kind::Work && event.after > 2.0 * event.before),
        "{load:#?}"
    );
    assert!(!load.is_moved());
    assert_eq!(
        watched.alarms(),
        watched
            .findings
            .iter()
            .filter(|finding| !finding.is_moved())
            .count()
    );

    let text = markdown(&watched);
    assert!(text.contains("* shop: `shop.Shop.load(int)`: "), "{text}");
    assert!(text.contains("with build two (before: one)"), "{text}");
    let parsed = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
    let findings = parsed(&json(&watched))["findings"].as_array().unwrap().clone();
    assert_eq!(findings.len(), watched.findings.len());
    assert!(
        findings.iter().any(|finding| finding["id"] == load.id().as_str()),
        "{findings:?}"
    );
    let body = parsed(&webhook(&watched));
    assert_eq!(
        (body["text"].as_str(), body["findings"].as_array()),
        (Some(text.as_str()), Some(&findings))
    );
    let sarif = parsed(&sarif(&watched).unwrap());
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    let uri = &results[0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
    assert_eq!(uri, "shop/Shop.java");
}

/// The first build alone has nothing but chance in it.
#[tokio::test(flavor = "multi_thread")]
async fn days_that_only_differ_by_chance() {
    let fleet = Fleet {
        days: 40,
        ..Fleet::default()
    };
    let watched = watched(&fleet, 0, fleet.change() - 1).await;
    assert_eq!(watched.findings, []);
    assert!(watched.series > 10, "{}", watched.series);
    assert!(markdown(&watched).ends_with("Nothing changed.\n"));
}

/// A finding is reported for the day on which it was first seen, and not again.
#[tokio::test(flavor = "multi_thread")]
async fn findings_are_reported_once() {
    let fleet = Fleet {
        days: 24,
        ..Fleet::default()
    };
    let change = fleet.change();
    let kept = support::stored(&fleet).await;
    let engine = support::engine(&kept).await;
    let mut seen = Vec::new();
    for until in change - 1..change + 5 {
        let options = WatchOptions {
            until: Some(day(until)),
            ..WatchOptions::default()
        };
        for finding in watch(&engine, &options).await.unwrap().findings {
            assert_eq!(finding.seen, day(until));
            seen.push(finding.id());
        }
    }
    let all = seen.len();
    seen.sort();
    seen.dedup();
    assert!(all > 0);
    assert_eq!(seen.len(), all);
}
