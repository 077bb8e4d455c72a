//! The ready questions find what was planted in a made fleet, and nothing else.

mod common;
mod fleet;
mod support;

use std::collections::BTreeSet;
use std::path::PathBuf;

use common::{DAY, HOUR, Window, fixture};
use support::{Asked, Kept, ask, given};
use trodden_profile::options::ContextWeight;
use trodden_profile::{Profile, facts};
use trodden_store::log::Granularity;
use trodden_store::query::Value;
use trodden_store::{AddOptions, Adder, CompactOptions};

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

/// A store of some windows of a fleet, each changed first; it is left out if the change says so.
async fn stored_but(fleet: &fleet::Fleet, change: impl Fn(&mut Profile) -> bool) -> Kept {
    let kept = support::empty().await;
    let mut files = Vec::new();
    for (name, mut profile) in fleet.windows() {
        if change(&mut profile) {
            files.push(save(&kept, &name, &profile));
        }
    }
    add(&kept, &files).await;
    kept
}

/// A file next to the store.
fn save(kept: &Kept, name: &str, profile: &Profile) -> PathBuf {
    let path = kept.folder.path().join(name);
    profile.save(&path).unwrap();
    path
}

async fn add(kept: &Kept, files: &[PathBuf]) -> trodden_store::Added {
    let added = Adder::new(&kept.store)
        .add(files, &AddOptions::default())
        .await
        .unwrap();
    assert_eq!(added.windows, files.len() as u64);
    added
}

fn fact(profile: &Profile, name: &str) -> String {
    profile.run.facts.text(name).unwrap_or_default().into_owned()
}

/// A window of the first host in build two, by its number.
fn is_window(profile: &Profile, number: u64) -> bool {
    let window = profile.run.facts.get(facts::WINDOW);
    fact(profile, "host") == "host-0000" && fact(profile, "build") == "two" && window == Some(number)
}

/// The lost window may have had the only run: nothing is "never" then.
#[tokio::test(flavor = "multi_thread")]
async fn windows_that_did_not_come_in() {
    let fleet = fleet::Fleet::default();
    for (lost, reason) in [
        (1, "shop: not known, as 1 window of 1 recording did not come in"),
        (2, "shop: not known, as 1 window of 1 recording did not come in"),
        (
            3,
            "shop: not known, as the last window of 1 recording is not there",
        ),
    ] {
        let kept = stored_but(&fleet, |profile| !is_window(profile, lost)).await;
        for compacted in [false, true] {
            if compacted {
                let options = CompactOptions {
                    to: Some(Granularity::Day),
                    older_than_ms: 0,
                    ..CompactOptions::default()
                };
                kept.store.compact(&options).await.unwrap();
            }
            for name in ["never-taken", "never-ran"] {
                let asked = ask(&kept, name, &[]).await;
                assert!(!asked.answer.rows.is_empty());
                assert!(
                    asked.all("certain", &Value::Flag(false)),
                    "{name} without window {lost}"
                );
                let text = asked.answer.text(20);
                assert!(text.contains(reason) && text.contains("  not known  "), "{text}");
                assert!(asked.answer.markdown(20).contains(reason));
            }
        }
    }
    // Before the day that is asked about it does no harm.
    let last = day(fleet.change_ms() + 2 * fleet::DAY_MS);
    let certain_without = async |lost: u64| {
        let kept = stored_but(&fleet, |profile| !is_window(profile, lost)).await;
        let asked = ask(&kept, "never-taken", &given(&[("since", &last)])).await;
        let text = asked.answer.text(20);
        (asked.all("certain", &Value::Flag(true)), text)
    };
    let (certain, text) = certain_without(1).await;
    assert!(certain, "{text}");
    // The only window of the day: all that is there of the recording is older.
    let (certain, text) = certain_without(3).await;
    assert!(
        !certain && text.contains("the last window of 1 recording"),
        "{text}"
    );
    // Of days without a window nothing is said.
    let kept = stored_but(&fleet, |profile| fact(profile, "window_last").is_empty()).await;
    let asked = ask(&kept, "never-ran", &given(&[("since", &last)])).await;
    assert!(asked.answer.rows.is_empty(), "{}", asked.answer.text(20));
}

/// Runs of the build before in another flow graph of a method say nothing about this one.
#[tokio::test(flavor = "multi_thread")]
async fn runs_of_other_flow_graphs_do_not_count() {
    let fleet = fleet::Fleet::default();
    // `serve` has other branches in build two, and does not run there.
    let kept = stored_but(&fleet, |profile| {
        let second = fact(profile, "build") == "two";
        for class in profile.classes.iter_mut().filter(|_| second) {
            let serve = class.map.methods.iter().position(|method| method.name == "serve");
            serve
                .into_iter()
                .for_each(|at| class.counts[at] = Default::default());
        }
        true
    })
    .await;
    let asked = ask(&kept, "never-taken", &[]).await;
    let found = ways(&asked);
    assert!(found.contains("label 42: amount < 0 → yes"), "{found:?}");
    assert!(!found.iter().any(|way| way.starts_with("serve ")), "{found:?}");
}

/// A host of 2100 and one of 1970: the days and builds that are asked about by default stay.
#[tokio::test(flavor = "multi_thread")]
async fn wrong_clocks() {
    let fleet = fleet::Fleet::default();
    let kept = stored_but(&fleet, |_| true).await;
    let names = ["hot-methods", "never-taken", "changed", "coverage", "odd-hosts"];
    let mut before = Vec::new();
    for name in names {
        before.push(ask(&kept, name, &[]).await.answer);
    }
    let wrong = [
        ("one", "1", "4102444800000", "2100-01-01"),
        ("two", "2", "86400000", "1970-01-02"),
    ];
    let mut files = Vec::new();
    for (build, digit, started, _) in wrong {
        let of_build = |profile: &Profile| fact(profile, "build") == build;
        let (_, mut profile) = fleet.windows().find(|(_, profile)| of_build(profile)).unwrap();
        let facts = [
            ("jvm_id", digit.repeat(32)),
            ("host", format!("wrong-{digit}")),
            ("window_started_ms", started.to_owned()),
            ("window_ended_ms", started.to_owned()),
            ("window_last", "true".to_owned()),
        ];
        let facts = facts.map(|(name, value)| (name.to_owned(), value));
        profile.run.facts.append(facts.into_iter().collect());
        files.push(save(&kept, &format!("{digit}.trodden"), &profile));
    }
    let added = add(&kept, &files).await;
    for (_, digit, _, day) in wrong {
        let host = format!("wrong-{digit}");
        let misdated = added.misdated[&host];
        assert_eq!((misdated.windows, misdated.day.to_string()), (1, day.to_owned()));
        let sentence = misdated.sentence(&host);
        assert!(
            sentence.contains(&format!("its clock said {day}; 1 window counts on")),
            "{sentence}"
        );
    }
    let claimed = support::sql(
        &kept,
        "SELECT host, claimed FROM windows WHERE claimed IS NOT NULL ORDER BY host",
    )
    .await;
    assert_eq!(
        claimed.csv(),
        "host,claimed\r\nwrong-1,2100-01-01T00:00:00.000Z\r\nwrong-2,1970-01-02T00:00:00.000Z\r\n"
    );
    for (name, before) in names.into_iter().zip(&before) {
        let after = ask(&kept, name, &[]).await.answer;
        let build = |answer: &trodden_store::query::Answer| {
            let of = |row: &Vec<Value>| (answer.get(row, "build").plain(), answer.get(row, "base").plain());
            answer.rows.iter().map(of).collect::<BTreeSet<_>>()
        };
        // Hosts are compared on the newest day, which is now that on which the last windows came.
        if name != "odd-hosts" {
            assert_eq!(build(&after), build(before), "{name}");
        }
        let days = |answer: &trodden_store::query::Answer| {
            let days = answer
                .params
                .iter()
                .filter(|(name, _)| name == "since" || name == "day");
            days.map(|(_, day)| day.clone()).collect::<Vec<_>>()
        };
        let limit = trodden_store::Day::of_ms(trodden_now());
        assert!(
            days(&after).iter().all(|day| *day <= limit.to_string()),
            "{name}: {:?}",
            after.params
        );
    }
    assert!(kept.store.verify().await.unwrap().problems.is_empty());
}

fn trodden_now() -> i64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.unwrap().as_millis() as i64
}

/// A clock that is a hundred days behind is not far enough off to be seen; a build has more hosts than that.
#[tokio::test(flavor = "multi_thread")]
async fn builds_are_not_ordered_by_a_single_clock() {
    let fleet = fleet::Fleet::default();
    let kept = stored_but(&fleet, |profile| {
        if is_window(profile, 1) {
            let behind = |name: &str| {
                let ms: u64 = fact(profile, name).parse().unwrap();
                (name.to_owned(), (ms - 100 * fleet::DAY_MS).to_string())
            };
            let facts = ["window_started_ms", "window_ended_ms"].map(behind);
            profile.run.facts.append(facts.into_iter().collect());
        }
        true
    })
    .await;
    let asked = ask(&kept, "changed", &[]).await;
    assert!(!asked.answer.rows.is_empty());
    assert!(asked.all("build", &Value::Text("two".to_owned())));
    let asked = ask(&kept, "coverage", &[]).await;
    assert!(asked.all("build", &Value::Text("two".to_owned())));
    let page = page_of(&kept).await;
    let builds = page.split("id=\"builds\"").nth(1).unwrap();
    let at = |build: &str| builds.find(&format!("<td data-value=\"{build}\">")).unwrap();
    assert!(at("two") < at("one"), "{builds}");
}

/// Nor is an older build the newest because it has one more host, which has a wrong clock.
#[tokio::test(flavor = "multi_thread")]
async fn windows_that_are_set_apart_do_not_order_builds() {
    let kept = support::empty().await;
    let of = fixture("counters");
    let windows = [
        ("one", 1, DAY - 240 * HOUR),
        ("one", 2, 1_000),
        ("two", 3, DAY - 192 * HOUR),
    ];
    let files = windows.map(|(build, jvm, started_ms)| {
        let window = Window {
            build,
            ..Window::new(jvm, 1, started_ms)
        };
        window.save(&of, kept.folder.path())
    });
    assert_eq!(add(&kept, &files).await.misdated.len(), 1);
    let asked = ask(&kept, "coverage", &given(&[("since", "400d")])).await;
    assert!(!asked.answer.rows.is_empty());
    assert!(asked.all("build", &Value::Text("two".to_owned())));
}

async fn page_of(kept: &Kept) -> String {
    let options = trodden_store::page::PageOptions {
        store: "store".to_owned(),
        given: Default::default(),
        top: 20,
    };
    trodden_store::page::page(&support::engine(kept).await, &options)
        .await
        .unwrap()
}

/// Methods whose calls alone are counted have no paths.
#[tokio::test(flavor = "multi_thread")]
async fn methods_that_are_known_from_contexts_only() {
    let mut profile = Window::new(1, 1, DAY).profile(&fixture("contexts"));
    for counts in profile.classes.iter_mut().flat_map(|class| &mut class.counts) {
        *counts = Default::default();
    }
    // Time and bytes of contexts have no table, but the methods ran.
    for weight in [ContextWeight::Calls, ContextWeight::Time, ContextWeight::Alloc] {
        let kept = support::empty().await;
        let contexts = profile.contexts.as_mut().unwrap();
        contexts.weight = weight;
        let nodes = contexts.tree.nodes().iter();
        let called: BTreeSet<String> = nodes
            .map(|node| {
                let map = &profile.classes[node.class as usize].map;
                let method = &map.methods[node.method as usize];
                format!("{} {} {}", map.name, method.name, method.descriptor)
            })
            .collect();
        assert!(called.len() > 2, "{called:?}");
        let file = save(&kept, "contexts.trodden", &profile);
        add(&kept, &[file]).await;
        let never = ask(&kept, "never-ran", &[]).await;
        let never = texts(&never, &["class", "method", "descriptor"]);
        assert!(never.is_disjoint(&called), "{weight}: {never:?}");
        let coverage = ask(&kept, "coverage", &[]).await;
        let sum = |name: &str| -> i64 {
            let rows = coverage.answer.rows.iter();
            rows.filter_map(|row| coverage.answer.get(row, name).number())
                .sum()
        };
        assert_eq!(sum("methods_run"), called.len() as i64);
        assert_eq!(sum("methods"), (called.len() + never.len()) as i64);
    }
}

/// A class file may name a class anything.
#[tokio::test(flavor = "multi_thread")]
async fn names_cannot_steer_a_terminal_or_break_a_table() {
    let kept = support::empty().await;
    let mut profile = Window::new(1, 1, DAY).profile(&fixture("counters"));
    for class in &mut profile.classes {
        let mut map = (*class.map).clone();
        map.name = "shop/Sh\u{1b}[31m\nop\u{9b}".to_owned();
        class.map = map.into();
    }
    let steering = |name: &str| (name.to_owned(), format!("{name}|\u{1b}[31m\nop\u{9b}"));
    let facts = ["service", "build", "host"].map(steering);
    profile.run.facts.append(facts.clone().into_iter().collect());
    let mut second = profile.clone();
    let other = [("host", "second"), ("jvm_id", &*"2".repeat(32))];
    let other = other.map(|(name, text)| (name.to_owned(), text.to_owned()));
    second.run.facts.append(other.into_iter().collect());
    let files = [
        save(&kept, "steering.trodden", &profile),
        save(&kept, "second.trodden", &second),
    ];
    add(&kept, &files).await;
    for (name, params) in [
        ("coverage", vec![]),
        ("hot-methods", vec![]),
        ("odd-hosts", vec![]),
        ("coverage", vec![facts[0].clone()]),
    ] {
        let answer = ask(&kept, name, &params).await.answer;
        for text in [answer.text(20), answer.markdown(20)] {
            assert!(text.contains("u001b"), "{text}");
            assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "{text:?}");
        }
        let lines = answer
            .markdown(20)
            .lines()
            .filter(|line| line.starts_with('|'))
            .count();
        assert_eq!(lines, 2 + answer.rows.len(), "{name}");
    }
    let page = page_of(&kept).await;
    assert!(!page.contains('\u{1b}') && !page.contains('\u{9b}'));
}

/// Build two was taken back: of these days there is nothing to compare with.
#[tokio::test(flavor = "multi_thread")]
async fn builds_without_windows_in_the_range_are_not_compared() {
    let kept = support::empty().await;
    let of = fixture("counters");
    let windows = [("one", 1, 0), ("two", 2, 24), ("one", 3, 48)];
    let files = windows.map(|(build, jvm, hours)| {
        let window = Window {
            build,
            ..Window::new(jvm, 1, DAY - 240 * HOUR + hours * HOUR)
        };
        window.save(&of, kept.folder.path())
    });
    add(&kept, &files).await;
    let last = day(DAY - 192 * HOUR);
    for base in ["", "two"] {
        let asked = ask(&kept, "changed", &given(&[("since", &last), ("base", base)])).await;
        assert_eq!(asked.answer.rows, Vec::<Vec<Value>>::new(), "base {base}");
    }
    let asked = ask(&kept, "changed", &given(&[("since", &last), ("build", "two")])).await;
    assert!(asked.answer.rows.is_empty());
    let reason = format!(
        "no window of build two is there since {last}; the newest is of {}",
        day(DAY - 216 * HOUR)
    );
    assert!(
        asked.answer.text(20).contains(&reason),
        "{}",
        asked.answer.text(20)
    );
    // The newest build of these days is the one that runs.
    let asked = ask(&kept, "coverage", &given(&[("since", &last)])).await;
    assert!(asked.all("build", &Value::Text("one".to_owned())));
}

/// The newest build has run for a minute, or counted nothing so far: it is too early to call methods gone.
#[tokio::test(flavor = "multi_thread")]
async fn methods_are_gone_only_where_they_were_to_be_expected() {
    let of = fixture("counters");
    // Paths of the first method that counted any, in the newest build; all others did not run there.
    for (of_first, gone) in [(0, false), (1, false), (1_000_000, true)] {
        let kept = support::empty().await;
        let old = Window {
            times: 1_000,
            ..Window::new(1, 1, DAY)
        };
        let mut new = Window {
            build: "two",
            ..Window::new(2, 1, DAY + HOUR)
        }
        .profile(&of);
        let mut left = (of_first > 0).then_some(of_first);
        for counts in new.classes.iter_mut().flat_map(|class| &mut class.counts) {
            let first = counts.paths.first_key_value().map(|(path, _)| *path);
            *counts = Default::default();
            counts
                .paths
                .extend(first.and_then(|path| Some((path, left.take()?))));
        }
        let files = [
            old.save(&of, kept.folder.path()),
            save(&kept, "two.trodden", &new),
        ];
        add(&kept, &files).await;
        let asked = ask(&kept, "changed", &[]).await;
        let kinds = texts(&asked, &["kind"]);
        assert_eq!(kinds.contains("gone method"), gone, "{of_first}: {kinds:?}");
        if of_first == 0 {
            let reason = "there are no paths of two builds to compare since";
            assert!(
                asked.answer.text(20).contains(reason),
                "{}",
                asked.answer.text(20)
            );
        }
    }
}

/// A bit that flipped on a disk is an error, never another sum.
#[tokio::test(flavor = "multi_thread")]
async fn flipped_bits_are_found_when_a_file_is_read() {
    const FLIPS: usize = 150;
    let kept = support::empty().await;
    let file = Window::new(1, 1, DAY).save(&fixture("counters"), kept.folder.path());
    add(&kept, &[file]).await;
    let sql = "SELECT sum(count) AS n, count(DISTINCT path) AS paths, min(method) AS first FROM paths WHERE count > 0";
    let right = support::sql(&kept, sql).await;
    let state = kept.store.state().await.unwrap();
    let [of_paths] = &state
        .files(trodden_store::tables::Table::Paths)
        .collect::<Vec<_>>()[..]
    else {
        panic!("one file")
    };
    let path = kept.folder.path().join("fleet").join(&of_paths.path);
    let good = std::fs::read(&path).unwrap();
    let query = trodden_store::query::Query::parse("sql", sql).unwrap();
    for flip in 0..FLIPS {
        let mut bytes = good.clone();
        let at = flip * bytes.len() / FLIPS;
        bytes[at] ^= 1 << (flip % 8);
        std::fs::write(&path, bytes).unwrap();
        let asked = support::engine(&kept)
            .await
            .ask(&query, &Default::default())
            .await;
        let error = asked.map(drop).expect_err(&format!("byte {at}")).to_string();
        assert!(
            error.contains("the log says") && error.contains("SHA-256"),
            "{error}"
        );
    }
    std::fs::write(&path, good).unwrap();
    assert_eq!(support::sql(&kept, sql).await, right);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_range_without_windows_is_named() {
    let (_, kept) = support::small().await;
    for (name, params, reason) in [
        (
            "hot-methods",
            vec![("since", "2031-01-01")],
            "no window is there since 2031-01-01; the newest is of 2026-10-06",
        ),
        (
            "odd-hosts",
            vec![("day", "2020-01-01")],
            "no window is there on 2020-01-01; the newest is of 2026-10-06",
        ),
        (
            "coverage",
            vec![("since", "2031-01-01"), ("service", "shop")],
            "no window of service shop is there since 2031-01-01",
        ),
    ] {
        let answer = ask(&kept, name, &given(&params)).await.answer;
        // Coverage says of each class that nothing of it ran.
        assert!(answer.rows.is_empty() || name == "coverage");
        for text in [answer.text(20), answer.markdown(20)] {
            assert!(text.contains(reason), "{text}");
        }
    }
    let answer = ask(&kept, "hot-methods", &[]).await.answer;
    assert_eq!(answer.notes(), Vec::<String>::new());
    // Windows are there, and nothing in them that the question is about.
    let counted = support::empty().await;
    let file = Window::new(1, 1, DAY).save(&fixture("counters"), counted.folder.path());
    add(&counted, &[file]).await;
    let since = given(&[("since", "2026-01-01"), ("to", "Shop")]);
    let answer = ask(&counted, "contexts-to", &since).await.answer;
    let reason = "no window has calling contexts since 2026-01-01";
    assert!(answer.text(20).contains(reason), "{}", answer.text(20));
    let answer = ask(&counted, "changed", &since[..1]).await.answer;
    let reason = "there are no paths of two builds to compare since 2026-01-01";
    assert!(answer.text(20).contains(reason), "{}", answer.text(20));
    // A question that finds nothing where there is something says no more.
    let nowhere = given(&[("to", "Nowhere")]);
    assert_eq!(
        ask(&kept, "contexts-to", &nowhere).await.answer.notes(),
        Vec::<String>::new()
    );
    let empty = support::empty().await;
    let answer = ask(&empty, "hot-methods", &[]).await.answer;
    assert!(answer.text(20).contains("no window of any JVM is in the store"));
}

#[tokio::test(flavor = "multi_thread")]
async fn labels_are_an_object() {
    let (_, kept) = support::small().await;
    let answer = support::sql(
        &kept,
        "SELECT DISTINCT labels['region'] AS region, labels FROM windows ORDER BY region",
    )
    .await;
    let json: serde_json::Value = serde_json::from_str(&answer.json()).unwrap();
    assert_eq!(json["rows"][0]["labels"]["region"], "eu", "{}", answer.json());
    assert_eq!(answer.csv(), "region,labels\r\neu,region:eu\r\nus,region:us\r\n");
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
